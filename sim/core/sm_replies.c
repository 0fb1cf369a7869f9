/* Warps that wait: for operands, for replies of global memory, for fences. */
#include <glib.h>
#include <string.h>

#include "sim/core/access.h"
#include "sim/core/async_copy.h"
#include "sim/core/bulk.h"
#include "sim/core/cached.h"
#include "sim/core/due.h"
#include "sim/core/remote.h"
#include "sim/core/scheduler.h"
#include "sim/core/sm.h"
#include "sim/core/sm_inner.h"
#include "sim/core/tell.h"
#include "sim/core/undefined.h"

void sm_wake(Sm *sm, Warp *warp, uint64_t time) {
  Scheduler *scheduler = sm_scheduler(sm, warp);
  time = MAX(time, sm->wheel.now);
  wheel_insert(&sm->wheel, warp->slot, time);
  due_sm(sm, MAX(time, scheduler->free_at));
}

/* The scoreboard falls at `ready`, and when all accesses that raised it have been answered. */
static void hold(Warp *warp, uint32_t row, unsigned scoreboard, uint64_t ready) {
  warp->falls[scoreboard] = MAX(warp->falls[scoreboard], ready);
  if (!warp->under_way[scoreboard])
    warp->reg_ready[row] = warp->falls[scoreboard];
  warp->latest_ready = MAX(warp->latest_ready, ready);
}

void sm_raise(Warp *warp, const Kernel *kernel, const Decoded *decoded, uint64_t ready, uint64_t sources) {
  if (decoded->raises)
    hold(warp, scoreboard_row(kernel, decoded->raises - 1u), decoded->raises - 1u, ready);
  if (decoded->sources)
    hold(warp, scoreboard_row(kernel, decoded->sources - 1u), decoded->sources - 1u, sources);
}

void sm_raise_until_reply(Warp *warp, const Kernel *kernel, const Decoded *decoded) {
  if (!decoded->raises)
    return;
  warp->under_way[decoded->raises - 1]++;
  warp->pending++;
  warp->reg_ready[scoreboard_row(kernel, decoded->raises - 1u)] = REG_PENDING;
}

/* The reply has come. */
static void lower(Warp *warp, const Kernel *kernel, const Decoded *decoded, uint64_t now) {
  unsigned scoreboard = decoded->raises - 1u;
  warp->pending--;
  if (--warp->under_way[scoreboard] == 0)
    hold(warp, scoreboard_row(kernel, scoreboard), scoreboard, now);
}

/* When the instruction at warp->pc, which the warp comes to, can issue, not before `time`; REG_PENDING: after a reply
 * of global memory. */
static uint64_t operands_ready(Sm *sm, Warp *warp, const Decoded *decoded, uint64_t time) {
  scheduler_come_to(sm, warp, decoded);
  if (warp->latest_ready <= time && !warp->pending)
    return time;
  for (unsigned i = 0; i < decoded->waits; i++)
    time = MAX(time, warp->reg_ready[decoded->wait[i]]);
  for (uint32_t rest = decoded->pred_wait; rest; rest &= rest - 1)
    time = MAX(time, warp->pred_ready[__builtin_ctz(rest)]);
  for (uint32_t rest = decoded->guard_wait; rest; rest &= rest - 1)
    time = MAX(time, warp->guard_ready[__builtin_ctz(rest)]);
  return time;
}

/* True if it can't go on before a reply, whatever its operands are. */
static bool awaits_reply(const Sm *sm, Warp *warp) {
  warp->awaits_loads = warp->awaits_loads && warp->pending;
  return warp->awaits || warp->awaits_loads || (warp->copies && async_copies_awaited(warp)) ||
         G_UNLIKELY(sm->bulk && bulk_awaited(sm, warp));
}

/* It waits for a reply of global memory. */
static void block_warp(Sm *sm, Warp *warp, uint64_t from, uint64_t delay) {
  warp->blocked = true;
  warp->blocked_from = from;
  warp->blocked_delay = delay;
  sm->stall[warp->slot] = STALL_MEMORY;
}

bool sm_has_operands(Sm *sm, Warp *warp, const Decoded *decoded, uint64_t now) {
  return operands_ready(sm, warp, decoded, now) == now;
}

void sm_wait_for_operands(Sm *sm, Warp *warp, const Decoded *decoded, uint64_t from, uint64_t delay) {
  uint64_t time = operands_ready(sm, warp, decoded, from);
  if (time == REG_PENDING || awaits_reply(sm, warp))
    block_warp(sm, warp, from, delay);
  else
    wheel_insert(&sm->wheel, warp->slot, time + delay);
}

void sm_resume(Sm *sm, Warp *warp, uint64_t time) {
  const Launch *launch = warp_block(sm, warp)->launch;
  uint64_t ready = operands_ready(sm, warp, &launch->decoded[warp->pc], time);
  if (ready == REG_PENDING)
    block_warp(sm, warp, time, 0);
  else
    sm_wake(sm, warp, ready);
}

void sm_suspend(Sm *sm, Warp *warp) {
  if (warp->blocked)
    warp->blocked = false;
  else
    wheel_remove(&sm->wheel, warp->slot);
}

void sm_release(Sm *sm, Warp *warp, uint64_t now) {
  if (warp->state != WARP_RUNNING || warp_set_has(sm->awake, warp->slot))
    return; /* it waits for a barrier, or could issue anyhow */
  if (warp->blocked) {
    warp->blocked_delay = 0;
    return;
  }
  sm_suspend(sm, warp);
  sm_resume(sm, warp, now);
}

void sm_hold(Sm *sm, Warp *warp, uint64_t now) {
  if (warp->state != WARP_RUNNING)
    return;
  if (warp->blocked) {
    warp->blocked_delay = SM_HELD_CYCLES;
    return;
  }
  if (warp_set_has(sm->awake, warp->slot))
    warp_set_remove(&sm->awake, warp->slot);
  else
    wheel_remove(&sm->wheel, warp->slot);
  wheel_insert(&sm->wheel, warp->slot, now + SM_HELD_CYCLES);
}

/* Who sleeps until a reply comes sleeps as long as it waits for no newer access than now. */
SmSleep sm_sleep(const Sm *sm, const Warp *warp) {
  SmSleep sleep = {.blocked = warp->blocked, .until = sm->wheel.wake[warp->slot]};
  if (warp->blocked)
    sleep.until = warp->newest_access;
  return sleep;
}

/* ---- fences ---- */

/* What fences wait for: numbers of accesses; UINT64_MAX: there is none. */
typedef struct Undone {
  uint64_t oldest;                  /* that all wait for */
  uint64_t of_block[SM_BLOCKS_MAX]; /* and those of a block alone, by slot */
} Undone;

/* Fences wait for all that their SM has under way; under FENCES_BY_BATCH for its stores and reductions, and for what
 * else warps of their own block have: a block barrier may have ordered it before the fence. */
static Undone find_undone(const Sm *sm) {
  Undone undone;
  memset(undone.of_block, 0xff, sizeof undone.of_block);
  undone.oldest = flights_oldest(&sm->flights);
  if (sm->gpu->machine->memory.fence_order != FENCES_BY_BATCH)
    return undone;
  undone.oldest = UINT64_MAX;
  for (uint32_t at = sm->flights.oldest; at != NO_FLIGHT; at = flights_at(&sm->flights, at)->next) {
    const Flight *flight = flights_at(&sm->flights, at);
    const Warp *warp = &sm->warps[flight->slot];
    bool is_there = warp->age == flight->age && !mem_request_is_posted(&flight->request);
    uint64_t *oldest = is_there ? &undone.of_block[warp->block_slot] : &undone.oldest;
    *oldest = MIN(*oldest, flight->number);
  }
  return undone;
}

/* All that the fence waits for has been performed. */
static bool is_drained(const Sm *sm, const Warp *warp, const Undone *undone) {
  if (warp->drain_reads)
    return flights_oldest_read(&sm->flights) > warp->drains;
  return !warp->drain_begins && MIN(undone->oldest, undone->of_block[warp->block_slot]) > warp->drains;
}

static void end_drain(Sm *sm, Warp *warp) {
  if (warp->drain_empties_l1)
    cached_forget(sm);
  warp->drains = 0;
  warp_set_remove(&sm->draining, warp->slot);
}

/* The first cycle from which on one of the fences can begin that haven't; WHEEL_NEVER: there is none. */
static uint64_t first_fence(const Sm *sm) {
  uint64_t first = WHEEL_NEVER;
  for (WarpSet rest = sm->draining; rest; rest = warp_set_rest(rest)) {
    const Warp *warp = &sm->warps[warp_set_first(rest)];
    first = warp->drain_begins ? MIN(first, warp->drain_begins) : first;
  }
  return first;
}

static bool is_of_batch(const Warp *warp) { return !warp->drain_begins && !warp->drain_reads; }

/* Those begin that can by `by`, in cycle `start`. All of a batch are over at once. */
static void begin_by(Sm *sm, uint64_t by, uint64_t start) {
  FenceBatch *batch = &sm->fences;
  const Machine *machine = sm->gpu->machine;
  uint64_t end = start + machine->memory.fence_least;
  for (WarpSet rest = sm->draining; rest; rest = warp_set_rest(rest)) {
    Warp *warp = &sm->warps[warp_set_first(rest)];
    if (warp->drain_begins && warp->drain_begins <= by) {
      warp->drain_begins = 0;
      batch->up_to = MAX(batch->up_to, warp->drains);
    }
    end = is_of_batch(warp) ? MAX(end, warp->blocked_from) : end;
  }
  for (WarpSet rest = sm->draining; rest; rest = warp_set_rest(rest)) {
    Warp *warp = &sm->warps[warp_set_first(rest)];
    warp->blocked_from = is_of_batch(warp) ? end : warp->blocked_from;
  }
  batch->least = end - MIN(end, machine->memory.fence_port);
  if (!batch->joined)
    memsys_send_probes(sm->gpu->memsys, (uint32_t)sm->index, start, batch->up_to == sm->flights.made);
}

/* Those begin that can at `now`; true if there are any. When somebody has to look again is an event. */
static bool begin_fences(Sm *sm, uint64_t now, const Undone *undone) {
  FenceBatch *batch = &sm->fences;
  bool drained = undone->oldest > batch->up_to;
  uint64_t first = first_fence(sm);
  uint64_t sent = batch->began + sm->gpu->machine->memory.fence_port;
  if (batch->waits && first <= sent) { /* while probes are sent: they are sent again */
    begin_by(sm, sent, batch->began);
    batch->joined = true;
    return true;
  }
  batch->waits &= !drained || batch->least > now;
  if (first == WHEEL_NEVER || (batch->waits && !drained))
    return false;
  uint64_t start = MAX(first, batch->waits ? batch->least : now);
  if (start > now) {
    sm->flights.event_time = MIN(sm->flights.event_time, start);
    return false;
  }
  *batch = (FenceBatch){.began = now, .waits = true};
  begin_by(sm, now, now);
  return true;
}

/* The fence has been issued. Under FENCES_BY_BATCH it begins behind what its scheduler has waiting at the port, when
 * nobody waits for fences before. */
static void line_up(Sm *sm, Warp *warp, const SmDrain *drain, const Undone *undone) {
  bool lines_up =
      sm->gpu->machine->memory.fence_order == FENCES_BY_BATCH && !drain->reads && undone->oldest != UINT64_MAX;
  warp->drain_begins = lines_up ? MAX(drain->from, sm_scheduler(sm, warp)->queued_until) : 0;
}

void sm_wait_for_drain(Sm *sm, Warp *warp, const Decoded *decoded, const SmDrain *drain) {
  uint64_t next = drain->from + sm->gpu->machine->memory.fence_latency;
  if (!drain->reads)
    next = MAX(next, memsys_fence(sm->gpu->memsys, (uint32_t)sm->index, drain->from, drain->system));
  warp->drain_empties_l1 = drain->empties_l1;
  warp->drain_reads = drain->reads;
  warp->drains = sm->flights.made;
  Undone now = find_undone(sm);
  line_up(sm, warp, drain, &now);
  if (!drain->reads && !warp->drain_begins)
    memsys_send_probes(sm->gpu->memsys, (uint32_t)sm->index, drain->from, true);
  if (is_drained(sm, warp, &now)) {
    end_drain(sm, warp);
    sm->stall[warp->slot] = STALL_FENCE;
    sm_wait_for_operands(sm, warp, decoded, next, drain->delay);
    return;
  }
  warp_set_add(&sm->draining, warp->slot);
  block_warp(sm, warp, next, drain->delay);
  begin_fences(sm, drain->from, &now);
  sm->stall[warp->slot] = STALL_FENCE;
}

/* ---- replies ---- */

/* A reply has come: the warp goes on if that was what it waited for. */
static void unblock(Sm *sm, Warp *warp, const Undone *undone, uint64_t now) {
  if (warp->drains) {
    if (!is_drained(sm, warp, undone))
      return;
    end_drain(sm, warp);
    warp->blocked_from = MAX(warp->blocked_from, now + sm->gpu->machine->memory.fence_latency);
  }
  const Decoded *decoded = &warp_block(sm, warp)->launch->decoded[warp->pc];
  uint64_t ready = operands_ready(sm, warp, decoded, warp->blocked_from);
  if (ready == REG_PENDING || awaits_reply(sm, warp))
    return;
  warp->blocked = false;
  sm_wake(sm, warp, ready + warp->blocked_delay);
}

void sm_go_on(Sm *sm, Warp *warp, uint64_t now) {
  if (warp->blocked && !warp->drains && !warp_set_has(sm->crowded, warp->slot))
    unblock(sm, warp, NULL, now);
}

/* As the access that was issued, now that its reply has come. Its warp may have exited. */
static Issue issue_of(Sm *sm, const Flight *flight, Block *block, Warp *warp) {
  return (Issue){.inst = flight->inst,
                 .regs = warp->regs,
                 .mask = flight->lanes,
                 .pc = flight->pc,
                 .gpu = sm->gpu,
                 .sm = sm,
                 .block = block,
                 .warp = warp};
}

/* The word that the lanes' results of row `part` have their bytes without a value from, less 4 * part bytes. */
static void undefined_places(const Flight *flight, uint32_t part, uint64_t address[WARP_LANES]) {
  memcpy(address, flight->request.address, WARP_LANES * sizeof *address);
  for (unsigned lane = 0; flight->request.queue && lane < WARP_LANES; lane++)
    address[lane] += 4 * (uint64_t)flight->data[FLIGHT_OPERAND_C][lane] - 4 * part;
}

/* The lanes get what they loaded. */
static void write_reply(Sm *sm, Warp *warp, const Flight *flight) {
  Issue issue = issue_of(sm, flight, warp_block(sm, warp), warp);
  uint32_t rows = MIN(access_words(flight->request.bytes), flight->decoded->writes);
  for (uint32_t part = 0; part < rows; part++)
    issue_write(&issue, flight->decoded->write[part], flight->data[part]);
  bool marks = flight->undefined && warp_block(sm, warp)->launch; /* the block is there */
  for (uint32_t part = 0; G_UNLIKELY(marks) && part < rows; part++) {
    uint64_t address[WARP_LANES];
    undefined_places(flight, part, address);
    undefined_loaded(&issue, part, flight->undefined[part], MEM_GLOBAL, address);
  }
}

/* An atomic operation met memory that nobody had written. */
static void tell_undefined(Sm *sm, Warp *warp, const Flight *flight, bool resident) {
  Block gone = {.launch = flight->launch, .index = flight->thread.block};
  Warp exited = {.warp_in_block = flight->thread.thread / WARP_LANES, .pc = flight->pc};
  Issue issue = resident ? issue_of(sm, flight, warp_block(sm, warp), warp) : issue_of(sm, flight, &gone, &exited);
  undefined_atomic(&issue, flight->met, MEM_GLOBAL, resident);
}

static void count_queue(Sm *sm, const Flight *flight) {
  uint32_t row = flight->request.queue == MEM_ENQUEUE ? 0 : 1, done = 0;
  for (uint32_t rest = flight->lanes; rest; rest &= rest - 1)
    done += flight->data[row][__builtin_ctz(rest)];
  *(row ? &sm->counters.queue_takes : &sm->counters.queue_puts) += done;
  sm->counters.queue_fails += bits_count(flight->lanes) - done;
}

static void tell_replied(Sm *sm, const Warp *warp, const Flight *flight, uint64_t now) {
  ProbePoint point = {.gpu = sm->gpu,
                      .sm = sm,
                      .block = warp_block(sm, warp),
                      .warp = warp,
                      .inst = flight->inst,
                      .pc = flight->pc,
                      .lanes = flight->lanes,
                      .cycle = now};
  PROBE_FIRE(sm->gpu, replied, &point);
}

static void deliver(Sm *sm, const Flight *flight, uint64_t now) {
  Warp *warp = &sm->warps[flight->slot];
  bool resident = warp->age == flight->age && warp->state != WARP_DONE && warp->state != WARP_FREE;
  if (cached_is_acquire(flight->inst))
    cached_forget(sm);
  if (flight->request.kind == MEM_ATOMIC && !flight->remote)
    memsys_replied(sm->gpu->memsys, &flight->request);
  if (G_UNLIKELY(flight->request.queue))
    count_queue(sm, flight);
  if (warp->awaits == flight->number)
    warp->awaits = 0;
  if (warp->age == flight->age && op_info[flight->inst->op].flags & OPF_LOAD)
    write_reply(sm, warp, flight);
  if (warp->age == flight->age && flight->inst->op == OP_LDGSTS)
    async_copies_land(sm, warp, flight, now);
  if (G_UNLIKELY(flight->met != NULL))
    tell_undefined(sm, warp, flight, resident);
  if (!resident)
    return;
  warp->pending -= flight->decoded->writes;
  uint64_t ready = now + (flight->request.merged ? access_merge_delay(sm->gpu->machine, flight->inst) : 0);
  sm_set_ready(warp, flight->decoded, ready);
  if (flight->decoded->raises)
    lower(warp, warp_block(sm, warp)->launch->kernel, flight->decoded, now);
  if (PROBE_WANTED(sm->gpu, replied))
    tell_replied(sm, warp, flight, now);
  sm_go_on(sm, warp, now);
}

/* The oldest access is another one now, or the oldest that reads: fences may be over. */
static void end_each(Sm *sm, const Undone *undone, uint64_t now) {
  for (WarpSet rest = sm->draining; rest; rest = warp_set_rest(rest))
    unblock(sm, &sm->warps[warp_set_first(rest)], undone, now);
}

static void end_drains(Sm *sm, uint64_t now) {
  Undone left = find_undone(sm);
  do
    end_each(sm, &left, now);
  while (begin_fences(sm, now, &left));
}

/* Who has waited longest to send an access; there is one. */
static Warp *longest_in_crowd(Sm *sm) {
  Warp *first = NULL;
  for (WarpSet rest = sm->crowded; rest; rest = warp_set_rest(rest)) {
    Warp *warp = &sm->warps[warp_set_first(rest)];
    if (!first || warp->crowded_since < first->crowded_since)
      first = warp;
  }
  return first;
}

bool sm_crowd_has_room(Sm *sm, uint64_t now) { return sm_port_has_room(sm, longest_in_crowd(sm), now); }

void sm_end_crowd(Sm *sm, uint64_t now) {
  Warp *first = longest_in_crowd(sm);
  warp_set_remove(&sm->crowded, first->slot);
  first->invited = true;
  if (!first->drains) { /* nor does a fence wait that it had before */
    unblock(sm, first, NULL, now);
    return;
  }
  Undone left = find_undone(sm);
  unblock(sm, first, &left, now);
}

/* A reply that the access waits for. True if it was the last. */
static bool has_all(Sm *sm, Flight *flight, uint64_t now) {
  if (flight->waits == 0)
    return true;
  if (flight->fill_count)
    cached_arrive(sm, flight, now);
  if (--flight->waits)
    return false;
  if (flight->earliest <= now)
    return true;
  flights_answer(&sm->flights, flight, flight->earliest);
  return false;
}

/* Brings what the next replies come to to the host's cache: of the one after the next its access, of the next one,
 * whose access is there already, its warp and its sectors. */
static void look_ahead(const Sm *sm) {
  const Flight *next = flights_ahead(&sm->flights, 0), *second = flights_ahead(&sm->flights, 1);
  if (second)
    flight_prefetch(second);
  if (!next)
    return;
  const char *warp = (const char *)&sm->warps[next->slot];
  __builtin_prefetch(warp, 1);
  __builtin_prefetch(warp + 64, 1);
  __builtin_prefetch(warp + 128, 1);
  if (next->fill_count && sm->l1)
    l1_prefetch(sm->l1, next->fills[0].address);
}

uint64_t sm_next_piece(const Sm *sm) {
  uint64_t bulk = sm->bulk ? bulk_next(sm) : WHEEL_NEVER, remote = sm->remote ? remote_next(sm) : WHEEL_NEVER;
  return MIN(bulk, remote);
}

void sm_send_pieces(Sm *sm, uint64_t now) {
  if (sm->bulk)
    bulk_run(sm, now);
  if (sm->remote)
    remote_run(sm, now);
}

/* Of a copy in bulk. */
static void land_piece(Sm *sm, Flight *flight, bool oldest, uint64_t now) {
  if (flight->request.kind == MEM_ATOMIC)
    memsys_replied(sm->gpu->memsys, &flight->request);
  bulk_land(sm, flight, now);
  if (oldest && sm->draining)
    end_drains(sm, now);
  if (sm->crowded && flights_oldest(&sm->flights) == UINT64_MAX)
    sm_end_crowd(sm, now); /* no other reply will */
  flights_release(&sm->flights, flight);
}

/* Places on the way that atomics take may have come free: who waits for one goes on. */
static void take_places(Sm *sm, uint64_t now) {
  bool more = flights_places_due(&sm->flights) <= now;
  if (sm_crowd_has_room(sm, now) && more)
    sm_end_crowd(sm, now);
  flights_await_places(&sm->flights);
}

void sm_take_replies(Sm *sm, uint64_t now) {
  for (Flight *flight; (flight = flights_take(&sm->flights, now));) {
    look_ahead(sm);
    if (!has_all(sm, flight, now))
      continue;
    bool oldest = (!flight->apart && flight->previous == NO_FLIGHT) || sm->gpu->machine->memory.late_stores ||
                  sm->gpu->machine->memory.fence_order == FENCES_BY_BATCH;
    flights_land(&sm->flights, flight);
    if (G_UNLIKELY(flight->bulk != NULL)) {
      land_piece(sm, flight, oldest, now);
      continue;
    }
    deliver(sm, flight, now);
    if (oldest && sm->draining)
      end_drains(sm, now);
    if (sm->crowded)
      sm_end_crowd(sm, now);
    tell_access_ended(sm, flight->launch, now);
    flights_release(&sm->flights, flight);
  }
  if (G_UNLIKELY(sm->draining != 0) && first_fence(sm) != WHEEL_NEVER)
    end_drains(sm, now);
  if (G_UNLIKELY(sm->crowded != 0))
    take_places(sm, now);
}

void sm_free_places(Sm *sm, uint32_t turns, uint64_t time) {
  flights_free_places(&sm->flights, turns, time);
  if (!sm->crowded)
    return;
  flights_await_places(&sm->flights);
  due_sm(sm, time);
}

void sm_answer(Sm *sm, Flight *flight, uint64_t time) {
  flights_answer(&sm->flights, flight, time);
  due_sm(sm, time);
}
