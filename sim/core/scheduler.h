/* scheduler.h - a scheduler of an SM: which of its warps issues next, and what an instruction keeps busy that they
 * share: units, and the ports of the registers. Machine code alone names units (isa/mc/mc_issue.h). */
#ifndef LOCKSTEP_CORE_SCHEDULER_H
#define LOCKSTEP_CORE_SCHEDULER_H

#include "sim/core/exec.h"
#include "sim/core/spin_backoff.h"
#include "sim/core/state.h"

static inline Scheduler *sm_scheduler(Sm *sm, const Warp *warp) {
  return &sm->scheduler[warp->scheduler];
}

/* Those of `ready` whose unit takes an instruction in cycle `time`. */
WarpSet scheduler_free_units(const Scheduler *scheduler, WarpSet ready, uint64_t time);

/* Those of `awake`, warps of the scheduler, that could issue in cycle `time`. */
static inline WarpSet scheduler_eligible(const Sm *sm, const Scheduler *scheduler, WarpSet awake, uint64_t time) {
  WarpSet ready = scheduler->send_at > time ? awake & ~sm->senders : awake;
  return G_UNLIKELY(scheduler->units_free > time) ? scheduler_free_units(scheduler, ready, time) : ready;
}

/* When somebody of `ready` could, from `time` on, as far as units are concerned. */
uint64_t scheduler_wait_for_unit(const Scheduler *scheduler, WarpSet ready, uint64_t time);
static inline uint64_t scheduler_unit_takes(const Scheduler *scheduler, WarpSet ready, uint64_t time) {
  bool any = scheduler->units_free <= time || ready & scheduler->of_unit[ISSUE_ANY];
  return any ? time : scheduler_wait_for_unit(scheduler, ready, time);
}

/* The slot of one of `ready`, by sm.policy. scheduler_pick_of(): of several; under greedy policies the one that
 * issued last isn't among them, or isn't to go on: under POLICY_GREEDY warps that wait to send an access take
 * turns. */
unsigned scheduler_pick_of(const Sm *sm, Scheduler *scheduler, WarpSet ready);
static inline unsigned scheduler_pick(const Sm *sm, Scheduler *scheduler, WarpSet ready) {
  SchedulerPolicy policy = sm->gpu->machine->sm.policy;
  if (warp_set_rest(ready) == 0)
    return warp_set_first(ready);
  scheduler->chose = true;
  if (G_UNLIKELY(sm->spin_backoff != NULL))
    ready = spin_backoff_first(sm, ready);
  WarpSet last = (WarpSet)1 << scheduler->last;
  bool alone = !(sm->senders & last) || (ready & sm->senders) == last;
  if (ready & last && (policy == POLICY_GTO || (policy == POLICY_GREEDY && alone)))
    return scheduler->last;
  return scheduler_pick_of(sm, scheduler, ready);
}

/* `decoded` is the warp's next instruction. */
static inline void scheduler_come_to(Sm *sm, Warp *warp, const Decoded *decoded) {
  if (warp->unit != decoded->unit) {
    Scheduler *scheduler = sm_scheduler(sm, warp);
    warp_set_remove(&scheduler->of_unit[warp->unit], warp->slot);
    warp_set_add(&scheduler->of_unit[decoded->unit], warp->slot);
    warp->unit = decoded->unit;
  }
  if (warp->sends != decoded->sends) {
    warp_set_put(&sm->senders, warp->slot, decoded->sends);
    warp->sends = decoded->sends;
  }
}

/* It issues nothing for so many cycles more than usual. */
void scheduler_hold(Scheduler *scheduler, uint64_t cycles);

/* `unit` takes nothing before `until`. */
static inline void scheduler_occupy(Scheduler *scheduler, IssueUnit unit, uint64_t until) {
  scheduler->unit_free[unit] = MAX(scheduler->unit_free[unit], until);
  scheduler->units_free = MAX(scheduler->units_free, until);
}

/* A fence of the block, of a warp, for `takes` cycles at least. It stands in line with what warps of its scheduler do
 * to shared memory: it begins behind what came before, sm.encoded.fence_gap after another warp's fence, and lasts
 * until their stores are done. Returns when it is over. */
uint64_t scheduler_fence(const Issue *issue, uint32_t takes);
/* An access to shared memory has taken its turn: one that came before such a fence was over has waited for it, and
 * takes sm.encoded.fence_behind more. */
void scheduler_behind_fence(const Issue *issue);

/* Machine code: lanes of a warp part, or others of them are chosen, `choices` times in a row. A scheduler does that
 * for one of its warps at a time (sm.encoded.choice_interval). Returns for how many cycles the warp
 * waits for its turn. */
uint64_t scheduler_choose(const Issue *issue, uint32_t choices);

/* The same of its convergence unit, which says who goes on where lanes give way or come to a WARPSYNC for others
 * (sm.encoded.yield_interval). */
uint64_t scheduler_converge(const Issue *issue);

/* A warp issues `decoded` at `now`: its unit takes another instruction when it has taken this one. Behind
 * a product of 64 bits, or a division of PTX, the scheduler issues later, and so it does when reading registers lags
 * behind issue by more than `lag` cycles (sm.encoded.register_lag). */
static inline void scheduler_take(Scheduler *scheduler, const Decoded *decoded, uint32_t lag, uint64_t now) {
  uint64_t least = scheduler->free_at + decoded->holds;
  scheduler_occupy(scheduler, decoded->unit, now + decoded->occupies);
  if (decoded->reads) {
    scheduler->read_until = MAX(scheduler->read_until, now) + decoded->reads;
    least = scheduler->read_until > least + lag ? scheduler->read_until - lag : least;
  }
  if (G_UNLIKELY(least > scheduler->free_at))
    scheduler_hold(scheduler, least - scheduler->free_at);
}

/* An instruction behind a block barrier takes its unit at `time`, or when those that did before let it. Returns
 * when. */
uint64_t scheduler_take_behind(Scheduler *scheduler, const Decoded *decoded, uint64_t time);

#endif
