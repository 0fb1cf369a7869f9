#include "sim/core/slots.h"

static uint32_t scheduler_of(const Sm *sm, uint32_t slot) { return sm->warps[slot].scheduler; }

void slots_wait(Sm *sm, uint32_t slot, uint64_t now) {
  uint32_t scheduler = scheduler_of(sm, slot);
  sm->slots[scheduler].stalled[sm->stall[slot]] += now - sm->scheduler[scheduler].free_at;
  sm->stall[slot] = STALL_LATENCY;
}

void slots_lose(const Issue *issue, Stall stall) {
  SlotTally *tally = &issue->sm->slots[scheduler_of(issue->sm, issue->warp->slot)];
  tally->stalled[stall] += issue->gpu->machine->sm.issue_interval;
  tally->lost_until = issue->now + issue->gpu->machine->sm.issue_interval;
  tally->lost_for = stall;
  issue->sm->stall[issue->warp->slot] = (uint8_t)stall;
}

void slots_begin(Sm *sm, uint32_t slot, uint64_t time) {
  SlotTally *tally = &sm->slots[scheduler_of(sm, slot)];
  uint64_t from = sm->scheduler[scheduler_of(sm, slot)].free_at;
  sm->stall[slot] = STALL_LATENCY;
  time = MAX(time, from);
  if (tally->warps++ == 0)
    tally->stalled[STALL_EMPTY] += time - from;
  else if (tally->begins > time) /* none has issued yet, and this one is earlier */
    tally->stalled[STALL_EMPTY] -= tally->begins - time;
  else
    return;
  tally->begins = time;
}

void slots_end(Sm *sm, const Warp *warp) { sm->slots[scheduler_of(sm, warp->slot)].warps--; }

/* What the scheduler, which has warps, waits for: the oldest of them. */
static Stall waits_for(const Sm *sm, uint32_t scheduler) {
  const Warp *oldest = NULL;
  for (uint32_t slot = 0; slot < sm->warp_slots; slot++) {
    const Warp *warp = &sm->warps[slot];
    bool lives = warp_set_has(sm->slots_of[scheduler], slot) &&
                 (warp->state == WARP_RUNNING || warp->state == WARP_AT_BARRIER);
    if (lives && (!oldest || warp->age < oldest->age))
      oldest = warp;
  }
  return oldest ? (Stall)sm->stall[oldest->slot] : STALL_EMPTY;
}

/* All but latency. Returns the slots of instructions that reach beyond `end`. */
static uint64_t read_scheduler(const Sm *sm, uint32_t index, uint64_t end, uint64_t slots[SLOTS_COUNT]) {
  const SlotTally *tally = &sm->slots[index];
  const Scheduler *scheduler = &sm->scheduler[index];
  uint64_t free_at = scheduler->free_at - (scheduler->held_until == scheduler->free_at ? scheduler->held : 0);
  for (unsigned stall = STALL_LATENCY + 1; stall < STALL_COUNT; stall++)
    slots[stall] += tally->stalled[stall];
  if (tally->warps && tally->begins > MAX(free_at, end))
    slots[STALL_EMPTY] -= tally->begins - MAX(free_at, end);
  if (end < free_at && tally->lost_until == free_at)
    slots[tally->lost_for] -= free_at - end;
  else if (end < free_at)
    return free_at - end;
  if (end <= free_at)
    return 0;
  Stall stall = tally->warps ? waits_for(sm, index) : STALL_EMPTY;
  if (stall != STALL_LATENCY)
    slots[stall] += end - free_at;
  return 0;
}

void slots_read(const Gpu *gpu, uint32_t index, uint64_t end, uint64_t slots[SLOTS_COUNT]) {
  const Machine *machine = gpu->machine;
  const Sm *sm = &gpu->sms[index];
  uint64_t beyond = 0, counted = 0, all = machine->sm.schedulers * end;
  memset(slots, 0, SLOTS_COUNT * sizeof *slots);
  for (uint32_t i = 0; i < machine->sm.schedulers; i++)
    beyond += read_scheduler(sm, i, end, slots);
  slots[SLOTS_ISSUED] = (sm->issued + sm->counters.warp_instructions) * machine->sm.issue_interval;
  slots[SLOTS_ISSUED] -= beyond;
  for (unsigned i = 0; i < SLOTS_COUNT; i++)
    counted += slots[i];
  slots[STALL_LATENCY] = all - counted;
}
