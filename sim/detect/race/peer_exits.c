#include "sim/detect/race/peer_exits.h"

#include "sim/core/remote.h"
#include "sim/detect/naming/locate.h"

/* The newest access of a warp by an instruction to the shared memory of a block. */
typedef struct PeerUse {
  uint32_t actor, time, pc, lanes;
  ThreadId base;
  uint64_t cycle;
  uint32_t byte; /* of the block's shared memory, of the lowest lane */
} PeerUse;

struct PeerExits {
  const Gpu *gpu;
  GPtrArray *findings;
  GArray **uses;     /* PeerUse, of the block in each slot of each SM; NULL: none */
  guint count;       /* of `uses` */
  GHashTable *known; /* launch and instruction that a finding names */
};

PeerExits *peer_exits_new(const Gpu *gpu, GPtrArray *findings) {
  PeerExits *exits = g_new0(PeerExits, 1);
  exits->gpu = gpu;
  exits->findings = findings;
  exits->count = gpu->machine->gpu.sms * SM_BLOCKS_MAX;
  exits->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  return exits;
}

void peer_exits_free(PeerExits *exits) {
  for (guint i = 0; exits->uses && i < exits->count; i++)
    if (exits->uses[i])
      g_array_free(exits->uses[i], TRUE);
  g_free(exits->uses);
  g_hash_table_destroy(exits->known);
  g_free(exits);
}

/* ---- findings ---- */

static bool is_new(PeerExits *exits, const PeerUse *use) {
  gint64 key = (gint64)((uint64_t)use->base.launch << 32 | use->pc);
  if (g_hash_table_contains(exits->known, &key))
    return false;
  g_hash_table_add(exits->known, g_memdup2(&key, sizeof key));
  return true;
}

static void tell(PeerExits *exits, const PeerUse *use, const Block *peer, const char *when) {
  const Launch *launch = gpu_launch(exits->gpu, use->base.launch);
  if (!is_new(exits, use))
    return;
  g_autofree char *who = locate_lanes_text(exits->gpu, launch, use->base.block, thread_warp(use->base), use->lanes);
  char *message = g_strdup_printf("%s: shared memory of block %" G_GUINT64_FORMAT " of the cluster is accessed, %s",
                                  who, peer->index, when);
  Finding *finding = locate_finding(FINDING_EXITED_PEER, message, launch, use->pc);
  finding->cycle = use->cycle;
  finding->block = (int64_t)use->base.block;
  finding->warp = thread_warp(use->base);
  finding->lanes = use->lanes;
  finding->space = g_strdup("shared");
  finding->address = use->byte;
  finding->repair = g_strdup("let all blocks of the cluster meet behind their last access to each other's shared "
                             "memory (cluster.sync(); barrier.cluster.arrive and .wait)");
  g_ptr_array_add(exits->findings, finding);
}

/* ---- what happens ---- */

static GArray **uses_of(PeerExits *exits, const Sm *sm, const Block *block) {
  if (!exits->uses)
    exits->uses = g_new0(GArray *, exits->count);
  return &exits->uses[sm->index * SM_BLOCKS_MAX + block->slot];
}

static void note_use(PeerExits *exits, const Sm *sm, const Block *peer, const PeerUse *use) {
  GArray **uses = uses_of(exits, sm, peer);
  if (peer->warps_left == 0) {
    tell(exits, use, peer, "which has exited");
    return;
  }
  *uses = *uses ? *uses : g_array_new(FALSE, FALSE, sizeof(PeerUse));
  for (guint i = 0; i < (*uses)->len; i++) {
    PeerUse *before = &g_array_index(*uses, PeerUse, i);
    if (before->actor == use->actor && before->pc == use->pc) {
      *before = *use;
      return;
    }
  }
  g_array_append_val(*uses, *use);
}

void peer_exits_access(PeerExits *exits, const ProbePoint *point, const WarpOrder *warp, const uint64_t address[32]) {
  for (uint32_t rest = point->lanes; rest;) {
    unsigned first = (unsigned)__builtin_ctz(rest);
    const Block *peer = locate_shared_block(exits->gpu, point->sm, address[first]);
    const Sm *sm = &exits->gpu->sms[remote_sm(address[first], point->sm->index)];
    PeerUse use = {.actor = warp->actor,
                   .time = warp->time,
                   .pc = point->pc,
                   .base = warp->base,
                   .cycle = point->cycle,
                   .byte = (uint32_t)address[first] - peer->shared_base};
    for (uint32_t others = rest; others; others &= others - 1) {
      unsigned lane = (unsigned)__builtin_ctz(others);
      bool same = remote_sm(address[lane], point->sm->index) == sm->index &&
                  (uint32_t)address[lane] - peer->shared_base < peer->shared_bytes;
      use.lanes |= same ? 1u << lane : 0;
    }
    rest &= ~use.lanes;
    note_use(exits, sm, peer, &use);
  }
}

void peer_exits_block_ends(PeerExits *exits, const ProbePoint *point, const WarpOrder *warps) {
  const Block *block = point->block;
  GArray *uses = exits->uses ? *uses_of(exits, point->sm, block) : NULL;
  for (guint i = 0; uses && i < uses->len; i++) {
    const PeerUse *use = &g_array_index(uses, PeerUse, i);
    bool known = false;
    for (uint32_t warp = 0; warp < block->warps && !known; warp++)
      known = vclock_knows(&warps[block->warp_slot[warp]].clock, use->actor, use->time);
    if (!known)
      tell(exits, use, block, "and nothing lets that block's exit wait for it");
  }
  if (uses)
    g_array_set_size(uses, 0);
}
