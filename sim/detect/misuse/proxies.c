/* Copies in bulk out of shared memory, which see what threads have stored there only behind a fence between the two
 * kinds of access (fence.proxy.async).
 * A word that a thread has stored to needs that thread's fence behind the store, or one of the thread that copies it:
 * generous, since on the way from one to the other a third thread may have made it. */
#include <string.h>

#include "base/pages.h"
#include "sim/detect/misuse/report.h"

/* The newest store to a word by a thread, in the order of stores and fences of all; 0: there was none, or a copy in
 * bulk has written it since. */
typedef struct ProxyStore {
  uint64_t order;
  uint32_t warp, lane, pc;
} ProxyStore;

/* Of an SM: its words, and the newest fence of each lane of each warp slot. */
typedef struct ProxySm {
  ProxyStore *store;
  uint64_t (*fence)[WARP_LANES];
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
    sm->fence = g_malloc0_n(machine->sm.max_warps, sizeof *sm->fence);
  }
  return sm;
}

static void clear_range(ProxySm *sm, uint32_t address, uint32_t bytes) {
  memset(&sm->store[address / 4], 0, (size_t)(bytes / 4) * sizeof *sm->store);
}

static void access_shared(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                          const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  (void)taken, (void)unlock;
  Misuse *misuse = user;
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
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1)
    sm->fence[point->warp->slot][__builtin_ctz(rest)] = order;
}

static void add_finding(Misuse *misuse, const ProbePoint *point, const ProxyStore *store, uint32_t address) {
  const Launch *launch = point->block->launch;
  if (report_is_known(misuse, report_key(FINDING_PROXY_FENCE, point)))
    return;
  g_autofree char *who = report_who(point), *where = locate_shared_text(point->block, address);
  g_autofree char *writer = locate_lanes_text(point->gpu, launch, point->block->index,
                                              point->sm->warps[store->warp].warp_in_block, 1u << store->lane);
  char *message =
      g_strdup_printf("%s copies %s, to which %s has stored, and neither has made a fence between the two "
                      "(fence.proxy.async)",
                      who, where, writer);
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
  uint64_t own = sm->fence[point->warp->slot][__builtin_ctz(point->lanes)];
  for (uint32_t at = (uint32_t)address; !writes && at < (uint32_t)address + bytes; at += 4) {
    const ProxyStore *store = &sm->store[at / 4];
    if (store->order > own && store->order > sm->fence[store->warp][store->lane]) {
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
  if (misuse->proxies->wanted)
    clear_range(sm_of(misuse, point), point->block->shared_base, point->block->shared_bytes);
}

void misuse_free_proxies(Misuse *misuse) {
  if (!misuse)
    return;
  for (uint32_t i = 0; i < misuse->proxies->count; i++) {
    pages_free(misuse->proxies->sms[i].store);
    g_free(misuse->proxies->sms[i].fence);
  }
  g_free(misuse->proxies->sms);
  g_free(misuse->proxies);
  misuse_free(misuse);
}

Misuse *misuse_new_proxies(Gpu *gpu, GPtrArray *findings) {
  Misuse *misuse =
      report_new(gpu, findings,
                 (Probe){.access = access_shared, .proxy_fence = fence, .bulk = bulk, .block_start = block_start});
  misuse->proxies = g_new0(struct ProxyWatch, 1);
  misuse->proxies->count = gpu->machine->gpu.sms;
  misuse->proxies->sms = g_new0(ProxySm, misuse->proxies->count);
  return misuse;
}
