#include "sim/core/swap_loop.h"

#include "base/pages.h"
#include "sim/core/access.h"

bool swap_loop_is(const Issue *issue) {
  const Inst *inst = issue->inst;
  if (issue->block->launch->kernel->control || !machine_knows_code(issue->gpu->machine))
    return false;
  switch ((AtomOp)inst->mode) {
  case ATOM_EXCH:
  case ATOM_CAS:
  case ATOM_ARRIVE: return false;
  case ATOM_ADD: return type_is_float(inst->type) || inst->width == WIDTH_64;
  default: return inst->width == WIDTH_64;
  }
}

/* ---- one round ---- */

/* What a round of the loop takes, in cycles. */
typedef struct Round {
  SharedCost load, swap; /* of the lanes that are still in it */
  uint32_t before;       /* from the load to the compare-and-swap */
  uint32_t behind;       /* from that to the next round */
} Round;

static uint32_t cycles_of(const SharedMemory *shared, const SharedCost *cost) {
  return (uint32_t)milli_cycle(cost->own_milli) + shared->latency + cost->extra;
}

static uint32_t arithmetic(const Issue *issue) {
  const Machine *machine = issue->gpu->machine;
  return issue->inst->type == TYPE_F64          ? machine->sm.latency.fp64
         : width_bytes[issue->inst->width] == 8 ? 2 * machine->sm.latency.alu
                                                : machine->sm.latency.alu;
}

static Round round_of(Issue *issue, const uint32_t physical[32], uint32_t lanes, uint32_t bytes) {
  SharedMemory *shared = &issue->sm->shared;
  const Machine *machine = issue->gpu->machine;
  uint32_t words = access_words(bytes);
  SharedPasses passes = shared_access_passes(shared, NULL, physical, lanes, words, true);
  Round round = {.load = shared_cost(shared, passes.passes),
                 .swap = shared_atomic_cost(shared, SHARED_CAS, physical, lanes, words)};
  shared_add_parts(shared, &round.load, passes.parts, true);
  round.before = cycles_of(shared, &round.load) + arithmetic(issue);
  round.behind = cycles_of(shared, &round.swap) + (words - 1) * machine->sm.latency.alu + machine->sm.latency.guard;
  return round;
}

static void add_cost(SharedCost *all, const SharedCost *cost) {
  all->passes += cost->passes;
  all->hold_milli += cost->hold_milli;
  all->until_milli += cost->until_milli;
}

/* ---- all of them ---- */

/* The lanes that change their word in a round that loads in cycle `loads` and swaps in cycle `swaps`: the lowest of
 * each word, unless it was changed behind the load. */
static uint32_t lanes_that_swap(Sm *sm, const uint32_t physical[32], uint32_t lanes, uint64_t loads, uint64_t swaps) {
  uint32_t swapped = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t *changed = &sm->swapped[physical[lane] / 4];
    if (*changed > loads)
      continue;
    *changed = swaps;
    swapped |= 1u << lane;
  }
  return swapped;
}

uint64_t swap_loop_serve(Issue *issue, const uint32_t physical[WARP_LANES], uint32_t bytes) {
  Sm *sm = issue->sm;
  const Machine *machine = issue->gpu->machine;
  uint64_t free = milli_cycle(sm->shared.free_milli), now = MAX(issue->now, free);
  uint32_t again = machine->sm.latency.branch_taken, parts = machine->sm.lane_groups.switch_latency;
  uint32_t lanes = issue_merges(issue) ? issue->mask & -issue->mask : issue->mask;
  SharedCost all = {0};
  if (!sm->swapped)
    sm->swapped = PAGES_NEW(uint64_t, sm->shared.bytes / 4 + 1);
  while (lanes) {
    Round round = round_of(issue, physical, lanes, bytes);
    uint32_t swapped = lanes_that_swap(sm, physical, lanes, now, now + round.before);
    add_cost(&all, &round.load);
    add_cost(&all, &round.swap);
    lanes &= ~swapped;
    now += round.before + round.behind + (lanes ? again : 0) + (lanes && swapped ? parts : 0);
  }
  sm->counters.shared_accesses++;
  sm->counters.shared_passes += all.passes;
  SharedService service = shared_take(issue, &all);
  issue->next = MAX(issue->next, now + machine->sm.latency.branch_not_taken + machine->sm.lane_groups.bsync_latency);
  issue->ready = MAX(service.ready, issue->next);
  return service.start;
}
