#include "sim/core/scheduler.h"

#include "sim/engine/wheel.h"

/* ---- which warp ---- */

static unsigned pick_oldest(const Sm *sm, WarpSet ready, bool youngest) {
  unsigned best = warp_set_first(ready);
  for (WarpSet rest = warp_set_rest(ready); rest; rest = warp_set_rest(rest)) {
    unsigned slot = warp_set_first(rest);
    if ((sm->warps[slot].age < sm->warps[best].age) != youngest)
      best = slot;
  }
  return best;
}

/* The one that has issued nothing for the longest time. */
static unsigned pick_waiting(const Sm *sm, WarpSet ready) {
  unsigned best = warp_set_first(ready);
  for (WarpSet rest = warp_set_rest(ready); rest; rest = warp_set_rest(rest)) {
    unsigned slot = warp_set_first(rest);
    if (sm->warps[slot].issued < sm->warps[best].issued)
      best = slot;
  }
  return best;
}

/* Those of `ready` that belong to the same block as the oldest of them. */
static WarpSet oldest_block(const Sm *sm, WarpSet ready) {
  uint32_t block = sm->warps[pick_oldest(sm, ready, false)].block_slot;
  WarpSet own = 0;
  for (WarpSet rest = ready; rest; rest = warp_set_rest(rest))
    if (sm->warps[warp_set_first(rest)].block_slot == block)
      warp_set_add(&own, warp_set_first(rest));
  return own;
}

/* The one that has waited for the longest time. If it sends an access, and others could, warps of the oldest block
 * do first, sm.older_block_turns times in a row. */
static unsigned pick_greedily(const Sm *sm, Scheduler *scheduler, WarpSet ready) {
  unsigned best = pick_waiting(sm, ready);
  WarpSet senders = ready & sm->senders;
  uint32_t turns = sm->gpu->machine->sm.older_block_turns;
  if (!turns || !warp_set_has(senders, best) || !warp_set_rest(senders))
    return best;
  WarpSet older = oldest_block(sm, senders), younger = senders & ~older;
  if (!younger)
    return best;
  bool turn_is_over = scheduler->older_sent >= turns;
  scheduler->older_sent = turn_is_over ? 0 : scheduler->older_sent + 1;
  return pick_waiting(sm, turn_is_over ? younger : older);
}

/* The next slot behind that which issued last. */
static unsigned pick_next(const Scheduler *scheduler, WarpSet ready) {
  WarpSet after = ready & (~(WarpSet)1 << scheduler->last);
  return warp_set_first(after ? after : ready);
}

unsigned scheduler_pick_of(const Sm *sm, Scheduler *scheduler, WarpSet ready) {
  switch (sm->gpu->machine->sm.policy) {
  case POLICY_GTO: return pick_oldest(sm, ready, false);
  case POLICY_GREEDY: return pick_greedily(sm, scheduler, ready);
  case POLICY_YOUNGEST: return pick_oldest(sm, ready, true);
  case POLICY_RANDOM: {
    uint32_t skip = rng_below(&scheduler->rng, warp_set_count(ready));
    while (skip--)
      ready = warp_set_rest(ready);
    return warp_set_first(ready);
  }
  default: return pick_next(scheduler, ready);
  }
}

/* ---- units ---- */

WarpSet scheduler_free_units(const Scheduler *scheduler, WarpSet ready, uint64_t time) {
  for (unsigned unit = 1; unit < ISSUE_UNITS; unit++)
    if (scheduler->unit_free[unit] > time)
      ready &= ~scheduler->of_unit[unit];
  return ready;
}

uint64_t scheduler_wait_for_unit(const Scheduler *scheduler, WarpSet ready, uint64_t time) {
  uint64_t first = WHEEL_NEVER;
  for (unsigned unit = 1; unit < ISSUE_UNITS; unit++)
    if (ready & scheduler->of_unit[unit])
      first = MIN(first, MAX(time, scheduler->unit_free[unit]));
  return first;
}

void scheduler_hold(Scheduler *scheduler, uint64_t cycles) {
  scheduler->free_at += cycles;
  scheduler->held_until = scheduler->free_at;
  scheduler->held = cycles;
}

uint64_t scheduler_take_behind(Scheduler *scheduler, const Decoded *decoded, uint64_t time) {
  if (!decoded->occupies)
    return time;
  time = MAX(time, scheduler->shadow_free[decoded->unit]);
  scheduler->shadow_free[decoded->unit] = time + decoded->occupies;
  scheduler_occupy(scheduler, decoded->unit, time + decoded->occupies);
  return time;
}

uint64_t scheduler_fence(const Issue *issue, uint32_t takes) {
  const Machine *machine = issue->gpu->machine;
  Scheduler *scheduler = sm_scheduler(issue->sm, issue->warp);
  SharedMemory *shared = &issue->sm->shared;
  uint64_t start = issue->now;
  if (scheduler->fence_slot != issue->warp->slot + 1)
    start = MAX(start, MAX(scheduler->fence_free, shared_line_free(shared, issue->warp->scheduler)));
  uint64_t end = start + takes;
  if (scheduler->last_store)
    end = MAX(end, scheduler->last_store + machine->sm.encoded.fence_store);
  shared_line_hold(shared, issue->warp->scheduler, end);
  scheduler->fence_slot = issue->warp->slot + 1;
  scheduler->fence_over = MAX(scheduler->fence_over, end);
  scheduler->fence_free = MAX(scheduler->fence_free, end + machine->sm.encoded.fence_gap);
  return end;
}

void scheduler_behind_fence(const Issue *issue) {
  if (G_UNLIKELY(sm_scheduler(issue->sm, issue->warp)->fence_over > issue->now))
    shared_line_delay(&issue->sm->shared, issue->warp->scheduler, issue->gpu->machine->sm.encoded.fence_behind);
}

uint64_t scheduler_choose(const Issue *issue, uint32_t choices) {
  if (!issue->encoded)
    return 0;
  Scheduler *scheduler = sm_scheduler(issue->sm, issue->warp);
  uint64_t start = MAX(issue->now, scheduler->choice_free);
  scheduler->choice_free = start + issue->gpu->machine->sm.encoded.choice_interval;
  return start - issue->now;
}

uint64_t scheduler_converge(const Issue *issue) {
  Scheduler *scheduler = sm_scheduler(issue->sm, issue->warp);
  uint64_t start = MAX(issue->now, scheduler->converge_free);
  scheduler->converge_free = start + issue->gpu->machine->sm.encoded.yield_interval;
  return start - issue->now;
}
