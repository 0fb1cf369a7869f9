#include "sim/core/sm.h"

#include <glib.h>

#include "base/bits.h"
#include "sim/core/scheduler.h"
#include "sim/core/slots.h"
#include "sim/core/sm_inner.h"

const Executor executors[OP_COUNT] = {
#define OP(id, sass, unit, form, flags, doc) [OP_##id] = exec_##id,
#include "isa/opcodes.def"
};

enum { STREAM_JITTER = 1, STREAM_POLICY = 1 << 16, STREAM_STARTS = 1 << 20, STREAM_HELD = 1 << 21 };

void sm_init(Sm *sm, Gpu *gpu, uint32_t index) {
  sm->gpu = gpu;
  sm->index = index;
}

void sm_begin(Sm *sm) {
  const Gpu *gpu = sm->gpu;
  uint32_t index = sm->index;
  rng_seed(&sm->jitter, gpu->seed, STREAM_JITTER + index);
  rng_seed(&sm->starts, gpu->seed, STREAM_STARTS + index);
  rng_seed(&sm->held, gpu->seed, STREAM_HELD + index);
  const Machine *machine = gpu->machine;
  for (uint32_t i = 0; i < machine->sm.schedulers; i++) {
    Scheduler *scheduler = &sm->scheduler[i];
    for (uint32_t slot = i; slot < machine->sm.max_warps; slot += machine->sm.schedulers)
      warp_set_add(&sm->slots_of[i], slot);
    scheduler->of_unit[ISSUE_ANY] = sm->slots_of[i];
    rng_seed(&scheduler->rng, gpu->seed, STREAM_POLICY + 1 + index * SM_SCHEDULERS_MAX + i);
  }
  sm->brief = (Issue){.turns = 1, .gpu = sm->gpu, .sm = sm};
  flights_init(&sm->flights);
  wheel_init(&sm->wheel);
  sm->ended = WHEEL_NEVER;
}

/* ---- the short way of arithmetic ---- */

/* Nobody listens to what warps issue, or holds them up behind it. */
static bool is_unwatched(const Gpu *gpu) {
  return !gpu->noisy && !gpu->holds_up && !PROBE_WANTED(gpu, issued);
}

/* As sm_issue(), of an instruction of WAY_PLAIN. */
static void issue_plainly(Sm *sm, Warp *warp, const Launch *launch, const Decoded *decoded, uint64_t now) {
  const Inst *inst = &launch->kernel->insts[warp->pc];
  uint32_t mask = sm_executing(warp, inst);
  uint64_t ready = now + decoded->skip_latency, next = now + decoded->skip;
  if (G_LIKELY(mask)) {
    sm_begin_briefly(sm, warp, inst, mask);
    decoded->executor(&sm->brief);
    ready = now + decoded->latency;
    next = now + (decoded->stall ? decoded->stall : decoded->apart);
  }
  sm_count_briefly(sm, warp, decoded, mask, now);
  if (!decoded->stall)
    sm_set_ready(warp, decoded, ready);
  warp->pc++;
  sm_go_on_briefly(sm, warp, decoded + 1, next);
}

/* ---- schedulers ---- */

static void issue(Sm *sm, Warp *warp, uint64_t now) {
  const Launch *launch = warp_block(sm, warp)->launch;
  const Decoded *decoded = &launch->decoded[warp->pc];
  switch (sm_issue_way(sm, warp, decoded)) {
  case WAY_PLAIN: issue_plainly(sm, warp, launch, decoded, now); break;
  case WAY_STEERS: sm_steer(sm, warp, now); break;
  default: sm_issue(sm, warp, now);
  }
}

/* The scheduler issues at `now`; `ready` could. */
static void run_scheduler(Sm *sm, Scheduler *scheduler, WarpSet ready, uint64_t now) {
  Gpu *gpu = sm->gpu;
  unsigned slot = scheduler_pick(sm, scheduler, ready);
  if (G_UNLIKELY(scheduler->send_at == now && now > scheduler->free_at && warp_set_has(sm->senders, slot)))
    sm->stall[slot] = STALL_PORT;
  if (G_UNLIKELY(sm->stall[slot]))
    slots_wait(sm, slot, now);
  sm->cycle = now;
  warp_set_remove(&sm->awake, slot);
  scheduler->last = slot;
  sm->warps[slot].issued = now + 1;
  scheduler->free_at = now + gpu->machine->sm.issue_interval;
  issue(sm, &sm->warps[slot], now);
  sm->budget--;
}

/* Schedulers first, ... end - 1 may have awake warps. */
typedef struct Busy {
  uint32_t first, end;
} Busy;

static inline Busy busy_schedulers(const Sm *sm) {
  WarpSet awake = sm->awake;
  if (!awake)
    return (Busy){0};
  if (warp_set_rest(awake))
    return (Busy){.end = sm->gpu->machine->sm.schedulers};
  uint32_t only = sm->warps[warp_set_first(awake)].scheduler;
  return (Busy){.first = only, .end = only + 1};
}

/* When something is due, at `now` or later. */
static uint64_t next_event(const Sm *sm, uint64_t now) {
  uint64_t next = MIN(sm->flights.event_time, wheel_next(&sm->wheel));
  if (G_UNLIKELY(sm->bulk != NULL || sm->remote != NULL))
    next = MIN(next, sm_next_piece(sm));
  Busy busy = busy_schedulers(sm);
  for (uint32_t i = busy.first; i < busy.end; i++) {
    const Scheduler *scheduler = &sm->scheduler[i];
    WarpSet awake = sm->awake & sm->slots_of[i];
    uint64_t from = MAX(scheduler->free_at, now);
    if (!awake || from >= next)
      continue;
    WarpSet others = awake & ~sm->senders;
    if (others)
      next = MIN(next, scheduler_unit_takes(scheduler, others, from));
    if (awake != others)
      next = MIN(next, MAX(from, scheduler->send_at));
  }
  return next;
}

/* All that is due at `now`. False: it stops, since the budget is used up, something faulted, or the dispatcher has
 * something to do. */
static bool run_cycle(Sm *sm, uint64_t now) {
  if (sm->flights.event_time <= now)
    sm_take_replies(sm, now);
  if (G_UNLIKELY(sm->bulk != NULL || sm->remote != NULL))
    sm_send_pieces(sm, now);
  if (G_UNLIKELY(sm->ended != WHEEL_NEVER))
    return false;
  sm->awake |= wheel_advance(&sm->wheel, now);
  Busy busy = busy_schedulers(sm);
  for (uint32_t i = busy.first; i < busy.end; i++) {
    Scheduler *scheduler = &sm->scheduler[i];
    WarpSet awake = sm->awake & sm->slots_of[i];
    if (!awake || scheduler->free_at > now)
      continue;
    WarpSet ready = scheduler_eligible(sm, scheduler, awake, now);
    if (!ready)
      continue;
    run_scheduler(sm, scheduler, ready, now);
    if (sm->budget <= 0 || sm->faulted || sm->ended != WHEEL_NEVER)
      return false;
  }
  return true;
}

uint64_t sm_run(Sm *sm, uint64_t now) {
  Gpu *gpu = sm->gpu;
  uint64_t *due = &gpu->due[sm->index], next = now;
  bool goes_on;
  *due = 0; /* nobody pushes an event for it while it runs */
  sm->budget = gpu->budget;
  sm->unwatched = is_unwatched(gpu);
  do {
    goes_on = run_cycle(sm, next);
    next = next_event(sm, next);
  } while (goes_on && next != WHEEL_NEVER && next <= gpu->limit_cycles &&
           event_queue_is_first(&gpu->queue, next, sm_source(sm)));
  gpu->budget = sm->budget;
  *due = next;
  return next;
}

void sm_run_until(Sm *sm, uint64_t now, uint64_t end) {
  uint64_t *due = &sm->gpu->due[sm->index], next = now;
  *due = 0;
  sm->unwatched = is_unwatched(sm->gpu);
  do {
    bool goes_on = run_cycle(sm, next);
    next = next_event(sm, next);
    if (!goes_on)
      break;
  } while (next < end);
  *due = next;
}
