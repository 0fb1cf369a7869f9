#include "sim/detect/misuse/misuse.h"

#include <string.h>

#include "base/bits.h"
#include "isa/flow/past.h"
#include "sim/core/lane_groups.h"
#include "sim/core/members.h"
#include "sim/core/undefined.h"
#include "sim/detect/naming/locate.h"

/* All launches of a run are of one program, so a line names a place. */
static uint64_t place_key(FindingId id, const ProbePoint *point) {
  return (uint64_t)id << 48 | locate_key(point->block->launch, point->pc);
}

/* "lane 3 reads", "lanes 3-4 read". */
static const char *ending(const ProbePoint *point) { return point->lanes & (point->lanes - 1) ? "" : "s"; }

static char *who_text(const ProbePoint *point) {
  return locate_lanes_text(point->gpu, point->block->launch, point->block->index, point->warp->warp_in_block,
                           point->lanes);
}

/* True if there is a finding of that key already: then it is counted. */
static bool is_known(const Misuse *misuse, uint64_t key) {
  Finding *known = g_hash_table_lookup(misuse->places, &key);
  if (known)
    known->count++;
  return known != NULL;
}

/* Adds a finding. Takes ownership of `message`. */
static Finding *add_new(Misuse *misuse, FindingId id, uint64_t key, const ProbePoint *point, char *message,
                        const char *repair) {
  Finding *finding = locate_finding(id, message, point->block->launch, point->pc);
  finding->cycle = point->cycle;
  finding->block = (int64_t)point->block->index;
  finding->warp = point->warp->warp_in_block;
  finding->lanes = point->lanes;
  finding->repair = g_strdup(repair);
  uint64_t *copy = g_new(uint64_t, 1);
  *copy = key;
  g_hash_table_insert(misuse->places, copy, finding);
  g_ptr_array_add(misuse->findings, finding);
  return finding;
}

/* Adds a finding, or counts one that is there already: then NULL. Takes ownership of `message`. */
static Finding *add(Misuse *misuse, FindingId id, const ProbePoint *point, char *message, const char *repair) {
  uint64_t key = place_key(id, point);
  if (!is_known(misuse, key))
    return add_new(misuse, id, key, point, message, repair);
  g_free(message);
  return NULL;
}

static void set_lock(Finding *finding, const ProbePoint *point, uint32_t physical, uint32_t bit) {
  finding->space = g_strdup("shared");
  finding->address = physical - point->block->shared_base;
  finding->lock_bit = bit;
}

static void unlock_not_owned(void *user, const ProbePoint *point, unsigned lane, uint32_t address, uint32_t bit,
                             const LockBit *was) {
  g_autofree char *who = who_text(point), *where = locate_shared_text(point->block, address);
  Finding *finding;
  ThreadId self = thread_plus(warp_thread_base(point->block, point->warp), lane);
  if (!was) {
    finding = add(user, FINDING_UNLOCK_NOT_HELD, point,
                  g_strdup_printf("%s free%s lock bit %u of %s, which nobody holds", who, ending(point), bit, where),
                  "release each lock once, on the path of the lane that took it");
  } else if (thread_same_warp(was->owner, self)) {
    g_autofree char *owner = locate_thread_text(point->gpu, was->owner);
    finding = add(
        user, FINDING_UNLOCK_OTHER_LANE, point,
        g_strdup_printf("%s free%s lock bit %u of %s, which %s holds", who, ending(point), bit, where, owner), NULL);
  } else {
    g_autofree char *owner = locate_thread_text(point->gpu, was->owner);
    finding = add(user, FINDING_UNLOCK_NOT_HELD, point,
                  g_strdup_printf("%s free%s lock bit %u of %s, which %s holds since cycle %" G_GUINT64_FORMAT, who,
                                  ending(point), bit, where, owner, was->since),
                  "let only the holder release a lock; check the address");
    g_autofree char *line = locate_line_text(gpu_launch(point->gpu, was->owner.launch), was->pc);
    if (finding)
      finding->holder = g_strdup_printf("%s, since cycle %" G_GUINT64_FORMAT " (%s)", owner, was->since, line);
  }
  if (finding)
    set_lock(finding, point, address, bit);
}

static void exit_holding(void *user, const ProbePoint *point, uint32_t bit, const LockBit *held) {
  g_autofree char *who = who_text(point), *where = locate_shared_text(point->block, held->address);
  g_autofree char *line = locate_line_text(point->block->launch, held->pc);
  Finding *finding =
      add(user, FINDING_EXIT_HOLDING, point,
          g_strdup_printf("%s exit%s holding lock bit %u of %s, taken in cycle %" G_GUINT64_FORMAT " (%s)", who,
                          ending(point), bit, where, held->since, line),
          "release the lock (STSUL) on every path to EXIT");
  if (!finding)
    return;
  set_lock(finding, point, held->address, bit);
  g_autofree char *source = locate_source(point->block->launch, held->pc);
  locate_evidence(finding, point->block->launch, held->pc, g_strdup_printf("taken here (`%s`)", source));
}

/* Those of `exited` that had worked behind the instruction before they exited. */
static uint32_t lanes_past(Misuse *misuse, const ProbePoint *point, uint32_t exited) {
  uint32_t past = 0;
  for (uint32_t rest = exited; rest; rest &= rest - 1) {
    const Launch *launch = point->block->launch;
    uint32_t left = point->warp->left_from[__builtin_ctz(rest)];
    uint64_t key = (uint64_t)launch->index << 48 ^ (uint64_t)point->pc << 24 ^ left;
    gpointer known;
    if (!g_hash_table_lookup_extended(misuse->skipped, &key, NULL, &known)) {
      known = GINT_TO_POINTER(past_skipped(launch->kernel, point->pc, left));
      g_hash_table_insert(misuse->skipped, g_memdup2(&key, sizeof key), known);
    }
    past |= known ? rest & -rest : 0;
  }
  return past;
}

static void partial_barrier(void *user, const ProbePoint *point, uint32_t absent, uint32_t exited) {
  bool each_by_itself = point->inst->flags & INST_UNALIGNED; /* who has exited isn't waited for */
  uint32_t past = each_by_itself ? 0 : lanes_past(user, point, exited);
  if (!(absent | past))
    return;
  g_autofree char *who = who_text(point), *others = lanes_text(absent | past);
  add(user, FINDING_PARTIAL_BARRIER, point,
      g_strdup_printf("%s arrive%s at a barrier without %s of the same warp%s", who, ending(point), others,
                      absent ? "" : ", which went past it and exited"),
      "let the lanes of a warp rejoin before the barrier");
}

static const char *operation_name(const ProbePoint *point) {
  const Inst *behind = members_exchange(point->block->launch->kernel, point->pc);
  switch ((Opcode)(point->inst->op == OP_WARPSYNC && behind ? behind : point->inst)->op) {
  case OP_SHFL: return "shuffle";
  case OP_VOTE: return "vote";
  case OP_MATCH: return "match";
  case OP_REDUX: return "reduction";
  case OP_ELECT: return "election";
  case OP_WARPSYNC: return "barrier of the warp";
  default: return "barrier of the warp (before this)";
  }
}

static void odd_mask(void *user, const ProbePoint *point, uint32_t absent, uint32_t strangers) {
  uint32_t alive = point->warp->alive, missing = (absent & alive) | lanes_past(user, point, absent & ~alive);
  if (!missing && !strangers)
    return;
  ProbePoint those = *point;
  if (strangers)
    those.lanes = strangers;
  g_autofree char *who = who_text(&those), *others = lanes_text(missing);
  if (strangers)
    add(user, FINDING_SYNC_MASK, &those,
        g_strdup_printf("%s execute%s a %s with a mask that leaves out the lane itself", who, ending(&those),
                        operation_name(point)),
        "each lane that executes it must be in its own mask");
  else
    add(user, FINDING_SYNC_MASK, point,
        g_strdup_printf("%s execute%s a %s whose mask names %s of the same warp, %s", who, ending(point),
                        operation_name(point), others,
                        missing & alive ? "which are elsewhere" : "which went past it and exited"),
        "compute the mask before the lanes part (__ballot_sync() of the condition), or take the operation out of "
        "the branch");
}

static void unset_read(void *user, const ProbePoint *point, unsigned reg, bool is_predicate) {
  g_autofree char *who = who_text(point);
  g_autofree char *name = !is_predicate       ? g_strdup_printf("R%u", reg)
                          : reg == PRED_CARRY ? g_strdup("the carry")
                                              : g_strdup_printf("P%u", reg);
  add(user, FINDING_UNSET_REGISTER, point,
      g_strdup_printf("%s read%s %s, which nothing has written there (it is 0)", who, ending(point), name),
      "give it a value on every path to here");
}

/* Found at the load, when its value matters. */
static void undefined_use(void *user, const ProbePoint *point, const UndefinedFrom *from) {
  ProbePoint load = *point;
  load.pc = from->pc;
  load.inst = &point->block->launch->kernel->insts[from->pc];
  if (is_known(user, place_key(FINDING_UNINITIALIZED_READ, &load)))
    return;
  load.lanes = 1u << from->lane;
  g_autofree char *who = who_text(&load), *users = lanes_text(point->lanes);
  g_autofree char *where = from->space == MEM_SHARED ? locate_shared_text(point->block, (uint32_t)from->address)
                           : from->space == MEM_LOCAL
                               ? g_strdup_printf("local address 0x%" G_GINT64_MODIFIER "x", from->address)
                               : locate_global_text(point->gpu, from->address);
  Finding *finding = add(user, FINDING_UNINITIALIZED_READ, &load,
                         g_strdup_printf("%s reads %s, which nothing has written", who, where),
                         from->space == MEM_GLOBAL ? "initialize the buffer (cudaMemset()), or write it before"
                                                   : "write it before, in every thread that has a part of it");
  finding->space = g_strdup(from->space == MEM_SHARED ? "shared" : from->space == MEM_LOCAL ? "local" : "global");
  finding->address = from->space == MEM_SHARED ? from->address - point->block->shared_base : from->address;
  if (from->pc != point->pc)
    locate_evidence(finding, point->block->launch, point->pc,
                    g_strdup_printf("%s use%s it here", users, ending(point)));
}

/* One for each pair of a load and a store. */
static void stale_read(void *user, const ProbePoint *point, unsigned lane, uint64_t address, uint32_t copy,
                       uint32_t now, const WordChange *newest, uint64_t since) {
  const Launch *writer = thread_is_host(newest->thread) ? NULL : gpu_launch(point->gpu, newest->thread.launch);
  uint64_t key = rng_mix(place_key(FINDING_STALE_READ, point)) ^ (writer ? locate_key(writer, newest->pc) : 0);
  key |= UINT64_C(1) << 63; /* apart from the keys of places */
  if (is_known(user, key))
    return;
  g_autofree char *who = who_text(point), *where = locate_global_text(point->gpu, address & ~UINT64_C(3));
  g_autofree char *by = locate_thread_text(point->gpu, newest->thread),
                  *when = locate_change_text(point->gpu, newest);
  char *message =
      g_strdup_printf("%s on SM %u reads %s as %u, a copy in the SM's L1 cache from cycle %" G_GUINT64_FORMAT
                      ", but it is %u: %s stored it in %s",
                      who, point->sm->index, where, copy, since, now, by, when);
  Finding *finding =
      add_new(user, FINDING_STALE_READ, key, point, message,
              "make the load volatile, or put a fence (__threadfence()) between learning that the value "
              "is there and the load; a release and an acquire do it too");
  finding->lanes = 1u << lane;
  finding->space = g_strdup("global");
  finding->address = address;
  if (writer) {
    locate_evidence(finding, writer, newest->pc, g_strdup_printf("%s stores the newer value here", by));
  }
}

void misuse_attach(Misuse *misuse, Gpu *gpu, GPtrArray *findings) {
  *misuse = (Misuse){.findings = findings,
                     .places = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL),
                     .skipped = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL),
                     .probe = {.user = misuse,
                               .unlock_not_owned = unlock_not_owned,
                               .exit_holding = exit_holding,
                               .partial_barrier = partial_barrier,
                               .odd_mask = odd_mask,
                               .unset_read = unset_read,
                               .undefined_use = undefined_use,
                               .stale_read = stale_read}};
  gpu_subscribe(gpu, &misuse->probe);
}

static void conclude_warp(Misuse *misuse, const Gpu *gpu, const Sm *sm, const Warp *warp) {
  const Block *block = &sm->blocks[warp->block_slot];
  for (uint32_t id = 0; id < BLOCK_BARRIERS; id++) {
    uint32_t come = warp->groups->come[id], pc = warp->groups->come_pc[id], absent = warp->alive & ~come;
    const Inst *inst = &block->launch->kernel->insts[pc];
    ProbePoint point = {.gpu = gpu,
                        .sm = sm,
                        .block = block,
                        .warp = warp,
                        .inst = inst,
                        .pc = pc,
                        .lanes = come,
                        .cycle = gpu->cycle};
    if (come && absent && !(inst->flags & INST_UNALIGNED))
      partial_barrier(misuse, &point, absent, 0);
  }
}

void misuse_conclude(Misuse *misuse, const Gpu *gpu) {
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].lane_groups && slot < gpu->machine->sm.max_warps; slot++) {
      const Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state == WARP_RUNNING || warp->state == WARP_AT_BARRIER)
        conclude_warp(misuse, gpu, &gpu->sms[i], warp);
    }
}

void misuse_clear(Misuse *misuse) {
  g_clear_pointer(&misuse->places, g_hash_table_destroy);
  g_clear_pointer(&misuse->skipped, g_hash_table_destroy);
}
