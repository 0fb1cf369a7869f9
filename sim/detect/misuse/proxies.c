/* Copies in bulk out of shared memory, which see what threads have stored there only behind a fence between the two
 * kinds of access (fence.proxy.async).
 * A word that a thread has stored to needs that thread's fence behind the store, or one of the thread that copies it,
 * behind what may have told it of the store: a barrier, or a strong load or atomic operation. Generous, since on the
 * way from one to the other a third thread may have made it, and since it isn't known what a load has told. */
#include <string.h>

#include "base/pages.h"
#include "sim/detect/misuse/report.h"

/* The newest store to a word by a thread, in the order of stores and fences of all; 0: there was none, or a copy in
 * bulk has written it since. */
typedef struct ProxyStore {
  uint64_t order;
  uint32_t warp, lane, pc;
} ProxyStore;

/* A lane. Each is a place in the order of all; 0: none. */
typedef struct ProxyLane {
  uint64_t fence;  /* its newest one */
  uint64_t told;   /* it may know of others' stores before */
  uint64_t covers; /* its newest fence covers others' stores before */
  bool asks;       /* it has loaded strongly from global memory, so it isn't known when it was told */
} ProxyLane;

/* Of an SM: its words, and the lanes of each warp slot. */
typedef struct ProxySm {
  ProxyStore *store;
  ProxyLane (*lane)[WARP_LANES];
} ProxySm;

struct ProxyWatch {
  uint64_t order;
  ProxySm *sms; /* `count` of them */
  uint32_t count;
  const Kernel *kernel; /* of the block that started last */
  bool wanted;          /* the kernel of some block that has started copies out of shared memory */
};

static ProxySm *sm_of(const Misuse *misuse, const ProbePoint *point) {
  const Machine *machine = point->gpu->machine;
  ProxySm *sm = &misuse->proxies->sms[point->sm->index];
  if (!sm->store) {
    sm->store = PAGES_NEW(ProxyStore, machine->sm.shared.bytes / 4 + 1);
    sm->lane = g_malloc0_n(machine->sm.max_warps, sizeof *sm->lane);
  }
  return sm;
}

static void clear_range(ProxySm *sm, uint32_t address, uint32_t bytes) {
  memset(&sm->store[address / 4], 0, (size_t)(bytes / 4) * sizeof *sm->store);
}

/* What orders others' stores before what the lanes do next. */
static void tell(Misuse *misuse, const ProbePoint *point, uint32_t slot, uint32_t lanes) {
  ProxyLane *lane = sm_of(misuse, point)->lane[slot];
  uint64_t order = ++misuse->proxies->order;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    lane[__builtin_ctz(rest)].told = order;
}

/* A load or atomic operation may tell of what others have stored: of PTX a strong one, or a look at a barrier. */
static void note_load(Misuse *misuse, const ProbePoint *point, bool at_once) {
  const Inst *inst = point->inst;
  bool weak = point->block->launch->program->dialect == DIALECT_PTX && inst->sem == SEM_WEAK &&
              !(op_info[inst->op].flags & OPF_ATOMIC) && !(inst->op == OP_LDS && inst->lop);
  if (weak)
    return;
  ProxyLane *lane = sm_of(misuse, point)->lane[point->warp->slot];
  for (uint32_t rest = at_once ? 0 : point->lanes; rest; rest &= rest - 1)
    lane[__builtin_ctz(rest)].asks = true;
  tell(misuse, point, point->warp->slot, point->lanes);
}

static void access_shared(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                          const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  (void)taken, (void)unlock;
  Misuse *misuse = user;
  if (misuse->proxies->wanted && kind != ACCESS_WRITE)
    note_load(misuse, point, space == SPACE_SHARED && !number);
  if (!misuse->proxies->wanted || space != SPACE_SHARED || kind == ACCESS_READ || number) /* or another block's */
    return;
  ProxySm *sm = sm_of(misuse, point);
  bool copied = inst_is_bulk(&point->block->launch->kernel->insts[point->pc]);
  uint64_t order = ++misuse->proxies->order;
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    for (uint32_t part = 0; part < MAX(bytes / 4, 1u); part++)
      sm->store[address[lane] / 4 + part] =
          copied ? (ProxyStore){0}
                 : (ProxyStore){.order = order, .warp = point->warp->slot, .lane = lane, .pc = point->pc};
  }
}

static void fence(void *user, const ProbePoint *point) {
  Misuse *misuse = user;
  if (!misuse->proxies->wanted)
    return;
  ProxySm *sm = sm_of(misuse, point);
  uint64_t order = ++misuse->proxies->order;
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    ProxyLane *lane = &sm->lane[point->warp->slot][__builtin_ctz(rest)];
    lane->fence = order;
    lane->covers = lane->asks ? order : lane->told;
  }
}

static void warp_sync(void *user, const ProbePoint *point) {
  Misuse *misuse = user;
  if (misuse->proxies->wanted)
    tell(misuse, point, point->warp->slot, point->lanes);
}

static void barrier_complete(void *user, const ProbePoint *point, uint32_t id, uint32_t arrived, uint32_t waiting) {
  (void)id, (void)arrived;
  Misuse *misuse = user;
  for (uint32_t rest = misuse->proxies->wanted ? waiting : 0; rest; rest &= rest - 1)
    tell(misuse, point, point->block->warp_slot[__builtin_ctz(rest)], UINT32_MAX);
}

static void add_finding(Misuse *misuse, const ProbePoint *point, const ProxyStore *store, uint32_t address) {
  const Launch *launch = point->block->launch;
  if (report_is_known(misuse, report_key(FINDING_PROXY_FENCE, point)))
    return;
  g_autofree char *who = report_who(point), *where = locate_shared_text(point->block, address);
  g_autofree char *writer = locate_lanes_text(point->gpu, launch, point->block->index,
                                              point->sm->warps[store->warp].warp_in_block, 1u << store->lane);
  const ProxyLane *own = &sm_of(misuse, point)->lane[point->warp->slot][__builtin_ctz(point->lanes)];
  const char *lacks = own->fence > store->order
                          ? "the fence of the first (fence.proxy.async) stands before what orders the store before it"
                          : "neither has made a fence between the two (fence.proxy.async)";
  char *message = g_strdup_printf("%s copies %s, to which %s has stored, and %s", who, where, writer, lacks);
  Finding *finding = report_add(misuse, FINDING_PROXY_FENCE, point, message,
                                "put fence.proxy.async.shared::cta (cde::fence_proxy_async_shared_cta()) behind the "
                                "stores, in each thread that stores, before the barrier that lets the copy begin");
  finding->space = g_strdup("shared");
  finding->address = address - point->block->shared_base;
  locate_evidence(finding, launch, store->pc, g_strdup("stored by this"));
}

static void bulk(void *user, const ProbePoint *point, uint64_t address, uint32_t bytes, bool writes) {
  Misuse *misuse = user;
  ProxySm *sm = sm_of(misuse, point);
  uint32_t slot = point->warp->slot, number = (uint32_t)__builtin_ctz(point->lanes);
  const ProxyLane *own = &sm->lane[slot][number];
  for (uint32_t at = (uint32_t)address; !writes && at < (uint32_t)address + bytes; at += 4) {
    const ProxyStore *store = &sm->store[at / 4];
    bool is_own = store->warp == slot && store->lane == number;
    if (store->order > (is_own ? own->fence : own->covers) &&
        store->order > sm->lane[store->warp][store->lane].fence) {
      add_finding(misuse, point, store, at);
      return;
    }
  }
}

static bool copies_out(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (inst_is_bulk(&kernel->insts[pc]) && kernel->insts[pc].op != OP_BULKLOAD)
      return true;
  return false;
}

static void block_start(void *user, const ProbePoint *point) {
  Misuse *misuse = user;
  const Kernel *kernel = point->block->launch->kernel;
  if (kernel != misuse->proxies->kernel)
    misuse->proxies->wanted |= copies_out(kernel);
  misuse->proxies->kernel = kernel;
  if (!misuse->proxies->wanted)
    return;
  ProxySm *sm = sm_of(misuse, point);
  clear_range(sm, point->block->shared_base, point->block->shared_bytes);
  for (uint32_t i = 0; i < point->block->warps; i++)
    memset(sm->lane[point->block->warp_slot[i]], 0, sizeof *sm->lane);
}

void misuse_free_proxies(Misuse *misuse) {
  if (!misuse)
    return;
  for (uint32_t i = 0; i < misuse->proxies->count; i++) {
    pages_free(misuse->proxies->sms[i].store);
    g_free(misuse->proxies->sms[i].lane);
  }
  g_free(misuse->proxies->sms);
  g_free(misuse->proxies);
  misuse_free(misuse);
}

Misuse *misuse_new_proxies(Gpu *gpu, GPtrArray *findings) {
  Misuse *misuse = report_new(gpu, findings,
                              (Probe){.access = access_shared,
                                      .proxy_fence = fence,
                                      .warp_sync = warp_sync,
                                      .barrier_complete = barrier_complete,
                                      .bulk = bulk,
                                      .block_start = block_start});
  misuse->proxies = g_new0(struct ProxyWatch, 1);
  misuse->proxies->count = gpu->machine->gpu.sms;
  misuse->proxies->sms = g_new0(ProxySm, misuse->proxies->count);
  return misuse;
}
