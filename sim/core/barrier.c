#include "sim/core/barrier.h"

#include "sim/base/bits.h"
#include "sim/core/gpu.h"

static void give_result(Sm *sm, const Barrier *barrier, Warp *warp) {
  const Launch *launch = warp_block(sm, warp)->launch;
  Issue issue = {.inst = &launch->kernel->insts[warp->barrier_pc],
                 .regs = warp->regs,
                 .consts = warp->consts,
                 .pred = warp->pred,
                 .mask = warp->barrier_mask};
  uint32_t row[WARP_LANES];
  switch ((BarMode)issue.inst->mode) {
  case BAR_RED_POPC:
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      row[lane] = barrier->population;
    issue_write(&issue, issue.inst->dst, row);
    break;
  case BAR_RED_AND: issue_set_pred(&issue, issue.inst->pdst, barrier->all ? ALL_LANES : 0); break;
  case BAR_RED_OR: issue_set_pred(&issue, issue.inst->pdst, barrier->any ? ALL_LANES : 0); break;
  default: break;
  }
}

/* `self` is the arrival that completes it (its warp goes on at self->next), or NULL. */
static void complete(Sm *sm, Block *block, uint32_t id, uint64_t now, Issue *self) {
  Gpu *gpu = sm->gpu;
  Barrier barrier = block->barrier[id];
  block->barrier[id] = (Barrier){.all = true};
  gpu->counters.barriers_completed++;
  gpu->progress++;
  uint64_t resume = MAX(barrier.latest, now) + gpu->machine->sm.barrier.arrive_to_resume;
  ProbePoint point = {.gpu = gpu, .sm = sm, .block = block, .cycle = now};
  PROBE_FIRE(gpu, barrier_complete, &point, id, barrier.arrived, barrier.waiting);
  for (uint32_t rest = barrier.waiting; rest; rest &= rest - 1) {
    Warp *warp = &sm->warps[block->warp_slot[__builtin_ctz(rest)]];
    give_result(sm, &barrier, warp);
    warp->state = WARP_RUNNING;
    if (self && self->warp == warp)
      self->next = MAX(self->next, resume);
    else
      sm_resume(sm, warp, resume);
  }
}

static bool is_complete(const Block *block, const Barrier *barrier) {
  if (barrier->arrived == 0)
    return false;
  if (barrier->expected)
    return barrier->threads >= barrier->expected;
  uint32_t unfinished = ~block->finished & (block->warps == 32 ? UINT32_MAX : (1u << block->warps) - 1);
  return (unfinished & ~barrier->arrived) == 0;
}

static void reduce(Issue *issue, Barrier *barrier) {
  if (issue->inst->mode < BAR_RED_POPC)
    return;
  uint32_t value = issue_pred(issue, 0) & issue->mask;
  barrier->population += bits_count(value);
  barrier->all = barrier->all && value == issue->mask;
  barrier->any = barrier->any || value != 0;
}

/* True if this count and that of earlier arrivals go together: they are equal, or one names the whole block by its number
 * of threads and the other leaves the count out; the barrier then expects the block. */
static bool agree_on_count(const Block *block, Barrier *barrier, uint32_t expected) {
  uint32_t whole = block->warps * WARP_LANES;
  if ((barrier->expected == 0 && expected == whole) || (barrier->expected == whole && expected == 0))
    barrier->expected = expected = 0;
  return barrier->expected == expected;
}

bool barrier_arrive(Issue *issue, uint32_t id, uint32_t expected) {
  Sm *sm = issue->sm;
  Warp *warp = issue->warp;
  Block *block = warp_block(sm, warp);
  Barrier *barrier = &block->barrier[id];
  const Machine *machine = issue->gpu->machine;
  if (barrier->arrived == 0) {
    *barrier = (Barrier){.all = true, .expected = expected, .first_pc = warp->pc};
  } else if (!agree_on_count(block, barrier, expected)) {
    return false;
  }
  uint32_t drained = machine->sm.barrier.store_drain;
  uint64_t effective = drained && warp->last_store ? MAX(issue->now, warp->last_store + drained) : issue->now;
  barrier->latest = MAX(barrier->latest, effective);
  barrier->arrived |= 1u << warp->warp_in_block;
  barrier->threads += WARP_LANES;
  reduce(issue, barrier);
  issue->gpu->counters.barrier_arrivals++;
  if (issue->inst->mode != BAR_ARV) {
    barrier->waiting |= 1u << warp->warp_in_block;
    warp->state = WARP_AT_BARRIER;
    warp->barrier = id;
    warp->barrier_pc = warp->pc;
    warp->barrier_mask = issue->mask;
  }
  if (is_complete(block, barrier))
    complete(sm, block, id, issue->now, issue);
  return true;
}

void barrier_warp_exited(Sm *sm, Block *block, uint64_t now) {
  for (uint32_t id = 0; id < BLOCK_BARRIERS; id++) {
    Barrier *barrier = &block->barrier[id];
    if (!barrier->expected && is_complete(block, barrier))
      complete(sm, block, id, now, NULL);
  }
}
