#include "sim/core/sm.h"

#include <glib.h>

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/barrier.h"
#include "sim/core/gpu.h"
#include "sim/core/lane_groups.h"
#include "sim/core/members.h"
#include "sim/core/occupancy.h"
#include "sim/core/simt_stack.h"
#include "sim/core/undefined.h"

const Executor executors[OP_COUNT] = {
#define OP(id, sass, unit, form, flags, doc) [OP_##id] = exec_##id,
#include "isa/opcodes.def"
};

enum { STREAM_JITTER = 1, STREAM_POLICY = 1 << 16 };
enum { NOISE_EVERY = 16, NOISE_CYCLES = 1024, HELD_CYCLES = 1 << 30 };

void sm_init(Sm *sm, Gpu *gpu, uint32_t index) {
  sm->gpu = gpu;
  sm->index = index;
  rng_seed(&sm->jitter, gpu->seed, STREAM_JITTER + index);
  const Machine *machine = gpu->machine;
  for (uint32_t i = 0; i < machine->sm.schedulers; i++) {
    Scheduler *scheduler = &sm->scheduler[i];
    for (uint32_t slot = i; slot < SM_WARPS_MAX; slot += machine->sm.schedulers)
      scheduler->mine |= UINT64_C(1) << slot;
    rng_seed(&scheduler->rng, gpu->seed, STREAM_POLICY + 1 + index * SM_SCHEDULERS_MAX + i);
  }
  flights_init(&sm->flights);
  wheel_init(&sm->wheel);
  sm->event_time = WHEEL_NEVER;
}

/* Arrays are made when the first block comes: a machine with many SMs costs nothing for those that stay empty. */
static void make_arrays(Sm *sm) {
  const Machine *machine = sm->gpu->machine;
  uint32_t rows = sm->gpu->register_rows, warps = machine->sm.max_warps, depth = machine->sm.simt_stack.depth;
  sm->register_rows = g_malloc_n((size_t)warps * rows * WARP_LANES, sizeof(uint32_t));
  sm->ready_rows = g_new0(uint64_t, (size_t)warps * rows);
  sm->written_rows = g_new0(uint32_t, (size_t)warps * rows);
  if (machine->sm.convergence == CONVERGENCE_BARRIER)
    sm->lane_groups = g_new(LaneGroups, warps);
  else
    sm->stack_rows = g_malloc_n((size_t)warps * depth, sizeof(StackEntry));
  for (uint32_t i = 0; i < warps; i++) {
    Warp *warp = &sm->warps[i];
    warp->slot = i;
    warp->regs = sm->register_rows + (size_t)i * rows * WARP_LANES;
    warp->reg_ready = sm->ready_rows + (size_t)i * rows;
    warp->groups = sm->lane_groups ? &sm->lane_groups[i] : NULL;
    warp->stack = sm->stack_rows ? sm->stack_rows + (size_t)i * depth : NULL;
  }
  shared_init(&sm->shared, machine);
  lock_unit_init(&sm->lock_unit, machine);
  sm->ready = true;
}

void sm_clear(Sm *sm) {
  flights_clear(&sm->flights);
  if (!sm->ready)
    return;
  for (uint32_t i = 0; i < sm->gpu->machine->sm.max_warps; i++) {
    local_memory_clear(&sm->warps[i].local);
    local_defined_clear(&sm->warps[i].local_defined);
    g_free(sm->warps[i].undefined);
  }
  g_free(sm->register_rows);
  g_free(sm->ready_rows);
  g_free(sm->written_rows);
  g_free(sm->stack_rows);
  g_free(sm->lane_groups);
  shared_clear(&sm->shared);
  lock_unit_clear(&sm->lock_unit);
  l1_free(sm->l1);
}

/* ---- placing a block ---- */

static uint32_t round_up(uint32_t value, uint32_t granule) { return (value + granule - 1) / granule * granule; }

uint32_t sm_block_registers(const Machine *machine, const Launch *launch) {
  return launch->block_warps * round_up(kernel_registers(launch->kernel) * WARP_LANES, machine->sm.register_granule);
}

/* First fit from 0 in granules; false if no hole is large enough. */
static bool find_shared(const Sm *sm, uint32_t bytes, uint32_t *base) {
  const Machine *machine = sm->gpu->machine;
  uint32_t need = occupancy_block_shared(machine, bytes), candidate = 0;
  if (bytes == 0) {
    *base = 0;
    return true;
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < machine->sm.max_blocks; i++) {
      const Block *block = &sm->blocks[i];
      uint32_t end = block->shared_base + occupancy_block_shared(machine, block->shared_bytes);
      if (block->launch && block->shared_bytes && block->shared_base < candidate + need && candidate < end) {
        candidate = end;
        moved = true;
      }
    }
  }
  *base = candidate;
  return candidate + need <= machine->sm.shared.bytes;
}

/* The warp can issue from cycle `time` on. */
static void wake(Sm *sm, Warp *warp, uint64_t time) {
  Scheduler *scheduler = &sm->scheduler[warp->slot % sm->gpu->machine->sm.schedulers];
  time = MAX(time, sm->wheel.now);
  wheel_insert(&sm->wheel, warp->slot, time);
  uint64_t due = MAX(time, scheduler->free_at);
  if (due < sm->event_time) {
    sm->event_time = due;
    event_queue_push(&sm->gpu->queue, due, sm_source(sm));
  }
}

static void start_warp(Sm *sm, Block *block, uint32_t warp_in_block, uint32_t slot, uint64_t now) {
  const Launch *launch = block->launch;
  Warp *warp = &sm->warps[slot];
  uint32_t rows = launch->kernel->nregs + SINK_ROWS, threads = launch->block_threads - warp_in_block * WARP_LANES;
  uint32_t lanes = threads >= WARP_LANES ? ALL_LANES : (1u << threads) - 1;
  Warp fresh = {.regs = warp->regs,
                .reg_ready = warp->reg_ready,
                .stack = warp->stack,
                .groups = warp->groups,
                .local = warp->local,
                .local_defined = warp->local_defined,
                .undefined = warp->undefined,
                .undefined_room = warp->undefined_room,
                .undefined_rows = warp->undefined_rows,
                .slot = slot,
                .consts = launch->const_rows,
                .active = lanes,
                .alive = lanes,
                .lanes = lanes,
                .state = WARP_RUNNING,
                .block_slot = block->slot,
                .warp_in_block = warp_in_block,
                .age = sm->gpu->ages++};
  fresh.pred[PRED_TRUE] = ALL_LANES;
  memset(fresh.left_from, 0xff, sizeof fresh.left_from); /* PAST_NOWHERE */
  if (launch->tracks_unset) {
    fresh.written = sm->written_rows + (size_t)slot * sm->gpu->register_rows;
    memset(fresh.written, 0, rows * sizeof(uint32_t));
  }
  *warp = fresh;
  if (warp->groups)
    lane_groups_reset(warp->groups);
  local_memory_start(&warp->local, (launch->kernel->local_bytes + 3) / 4);
  local_defined_start(&warp->local_defined, (launch->kernel->local_bytes + 3) / 4);
  if (warp->undefined_rows)
    undefined_reset(warp);
  memset(warp->regs, 0, (size_t)rows * WARP_LANES * sizeof(uint32_t));
  memset(warp->reg_ready, 0, rows * sizeof(uint64_t));
  block->warp_slot[warp_in_block] = (uint8_t)slot;
  uint32_t jitter = sm->gpu->machine->sm.jitter_cycles;
  wake(sm, warp, now + (jitter ? rng_below(&sm->jitter, jitter + 1) : 0));
}

static Block *free_block(Sm *sm) {
  for (uint32_t i = 0; i < sm->gpu->machine->sm.max_blocks; i++)
    if (!sm->blocks[i].launch)
      return &sm->blocks[i];
  return NULL;
}

static bool has_room(const Sm *sm, const Launch *launch) {
  const Machine *machine = sm->gpu->machine;
  return sm->resident_blocks < machine->sm.max_blocks &&
         sm->resident_warps + launch->block_warps <= machine->sm.max_warps &&
         sm->resident_threads + launch->block_warps * WARP_LANES <= machine->sm.max_threads &&
         sm->registers_used + sm_block_registers(machine, launch) <= machine->sm.registers;
}

bool sm_try_place(Sm *sm, Launch *launch, uint64_t index, uint64_t now) {
  uint32_t base;
  if (!has_room(sm, launch) || !find_shared(sm, launch->shared_bytes, &base))
    return false;
  if (!sm->ready)
    make_arrays(sm);
  Block *block = free_block(sm);
  *block = (Block){.launch = launch,
                   .index = index,
                   .slot = (uint32_t)(block - sm->blocks),
                   .shared_base = base,
                   .shared_bytes = launch->shared_bytes,
                   .warps = launch->block_warps,
                   .warps_left = launch->block_warps};
  block->ctaid[0] = (uint32_t)(index % launch->grid[0]);
  block->ctaid[1] = (uint32_t)(index / launch->grid[0] % launch->grid[1]);
  block->ctaid[2] = (uint32_t)(index / launch->grid[0] / launch->grid[1]);
  for (uint32_t id = 0; id < BLOCK_BARRIERS; id++)
    block->barrier[id] = (Barrier){.all = true};
  shared_reset_range(&sm->shared, base, launch->shared_bytes, launch->program->dialect != DIALECT_PTX);
  sm->resident_blocks++;
  sm->resident_warps += launch->block_warps;
  sm->resident_threads += launch->block_warps * WARP_LANES;
  sm->registers_used += sm_block_registers(sm->gpu->machine, launch);
  sm->gpu->counters.blocks++;
  sm->gpu->counters.warps += launch->block_warps;
  sm->gpu->progress++;
  for (uint32_t warp = 0, slot = 0; warp < launch->block_warps; slot++)
    if (sm->warps[slot].state == WARP_FREE)
      start_warp(sm, block, warp++, slot, now);
  ProbePoint point = {.gpu = sm->gpu, .sm = sm, .block = block, .cycle = now};
  PROBE_FIRE(sm->gpu, block_start, &point);
  return true;
}

static void retire_block(Sm *sm, Block *block, uint64_t now) {
  Gpu *gpu = sm->gpu;
  Launch *launch = block->launch;
  ProbePoint point = {.gpu = gpu, .sm = sm, .block = block, .cycle = now};
  PROBE_FIRE(gpu, block_end, &point);
  gpu_count_shared_bytes(gpu, sm, block);
  for (uint32_t i = 0; i < block->warps; i++)
    sm->warps[block->warp_slot[i]].state = WARP_FREE;
  sm->resident_blocks--;
  sm->resident_warps -= launch->block_warps;
  sm->resident_threads -= launch->block_warps * WARP_LANES;
  sm->registers_used -= sm_block_registers(gpu->machine, launch);
  block->launch = NULL;
  gpu_block_finished(gpu, launch, now);
}

static void finish_warp(Sm *sm, Warp *warp, uint64_t now) {
  Block *block = warp_block(sm, warp);
  warp->state = WARP_DONE;
  block->finished |= 1u << warp->warp_in_block;
  block->warps_left--;
  sm->gpu->progress++;
  sm->gpu->end_cycle = now;
  if (block->warps_left == 0)
    retire_block(sm, block, now);
  else
    barrier_warp_exited(sm, block, now);
}

/* ---- issuing ---- */

static unsigned pick_oldest(const Sm *sm, uint64_t ready, bool youngest) {
  unsigned best = (unsigned)__builtin_ctzll(ready);
  for (uint64_t rest = ready & (ready - 1); rest; rest &= rest - 1) {
    unsigned slot = (unsigned)__builtin_ctzll(rest);
    if ((sm->warps[slot].age < sm->warps[best].age) != youngest)
      best = slot;
  }
  return best;
}

static unsigned pick(Sm *sm, Scheduler *scheduler) {
  uint64_t ready = scheduler->ready;
  if ((ready & (ready - 1)) == 0)
    return (unsigned)__builtin_ctzll(ready);
  switch (sm->gpu->machine->sm.policy) {
  case POLICY_GTO: return ready >> scheduler->last & 1 ? scheduler->last : pick_oldest(sm, ready, false);
  case POLICY_YOUNGEST: return pick_oldest(sm, ready, true);
  case POLICY_RANDOM: {
    uint32_t skip = rng_below(&scheduler->rng, (uint32_t)__builtin_popcountll(ready));
    while (skip--)
      ready &= ready - 1;
    return (unsigned)__builtin_ctzll(ready);
  }
  default: {
    uint64_t after = ready & (~UINT64_C(1) << scheduler->last);
    return (unsigned)__builtin_ctzll(after ? after : ready);
  }
  }
}

/* Some lanes never wrote what the instruction reads. In PTX that matters once the value does: `int v; if (p) v = *a;` is common. */
static void unset_read(const Issue *issue, unsigned number, bool is_predicate, uint32_t lanes) {
  if (warp_block(issue->sm, issue->warp)->launch->program->dialect == DIALECT_PTX) {
    undefined_unset(issue, number, is_predicate, lanes);
    return;
  }
  ProbePoint point = issue_point(issue, lanes);
  PROBE_FIRE(issue->gpu, unset_read, &point, number, is_predicate);
}

/* Reads of rows that a lane never wrote (only instructions that some path reaches with unwritten rows get here). */
static void check_unset(const Issue *issue) {
  const Warp *warp = issue->warp;
  RegList reads = inst_reads(issue->inst);
  for (unsigned i = 0; i < reads.count; i++) {
    uint32_t lanes = issue->mask & ~warp->written[reads.reg[i]];
    if (lanes)
      unset_read(issue, (unsigned)reads.reg[i], false, lanes);
  }
  for (uint32_t rest = inst_pred_reads(issue->inst); rest; rest &= rest - 1) {
    unsigned predicate = (unsigned)__builtin_ctz(rest);
    uint32_t readers = predicate == issue->inst->guard ? warp->active : issue->mask;
    uint32_t lanes = readers & ~warp->pred_written[predicate];
    if (lanes)
      unset_read(issue, predicate, true, lanes);
  }
}

static void note_written(Warp *warp, const Decoded *decoded, uint32_t mask) {
  for (unsigned i = 0; i < decoded->writes; i++)
    warp->written[decoded->write[i]] |= mask;
  for (uint32_t rest = decoded->pred_write; rest; rest &= rest - 1)
    warp->pred_written[__builtin_ctz(rest)] |= mask;
}

/* Destinations of an access that is under way. */
static void set_pending(Warp *warp, const Decoded *decoded) {
  for (unsigned i = 0; i < decoded->writes; i++)
    warp->reg_ready[decoded->write[i]] = REG_PENDING;
  warp->pending += decoded->writes;
}

static void set_ready(Warp *warp, const Decoded *decoded, uint64_t ready) {
  for (unsigned i = 0; i < decoded->writes; i++)
    warp->reg_ready[decoded->write[i]] = ready;
  for (uint32_t rest = decoded->pred_write; rest; rest &= rest - 1)
    warp->pred_ready[__builtin_ctz(rest)] = ready;
  if ((decoded->writes | decoded->pred_write) && ready > warp->latest_ready)
    warp->latest_ready = ready;
}

/* When the instruction at warp->pc can issue, not before `time`; REG_PENDING: after a reply of global memory. */
static uint64_t operands_ready(const Warp *warp, const Decoded *decoded, uint64_t time) {
  if (warp->latest_ready <= time && !warp->pending)
    return time;
  for (unsigned i = 0; i < decoded->waits; i++)
    time = MAX(time, warp->reg_ready[decoded->wait[i]]);
  for (uint32_t rest = decoded->pred_wait; rest; rest &= rest - 1)
    time = MAX(time, warp->pred_ready[__builtin_ctz(rest)]);
  return time;
}

/* It waits for a reply of global memory. */
static void block_warp(Warp *warp, uint64_t from, uint64_t delay) {
  warp->blocked = true;
  warp->blocked_from = from;
  warp->blocked_delay = delay;
}

void sm_resume(Sm *sm, Warp *warp, uint64_t time) {
  const Launch *launch = warp_block(sm, warp)->launch;
  uint64_t ready = operands_ready(warp, &launch->decoded[warp->pc], time);
  if (ready == REG_PENDING)
    block_warp(warp, time, 0);
  else
    wake(sm, warp, ready);
}

void sm_suspend(Sm *sm, Warp *warp) {
  if (warp->blocked)
    warp->blocked = warp->drains = false;
  else
    wheel_remove(&sm->wheel, warp->slot);
}

uint64_t sm_wakes(const Sm *sm, const Warp *warp) {
  return warp->blocked ? flights_last(&sm->flights, warp) : sm->wheel.wake[warp->slot];
}

/* ---- replies of global memory ---- */

/* The access leaves; its reply comes at `time`. */
static void send(Sm *sm, Warp *warp, const Decoded *decoded, Flight *flight, uint64_t time) {
  flight->decoded = decoded;
  warp->under_way++;
  set_pending(warp, decoded);
  flights_send(&sm->flights, flight, warp, time);
}

/* The lanes get what they loaded. */
static void write_reply(Warp *warp, const Flight *flight) {
  Issue issue = {.regs = warp->regs, .mask = flight->request.mask};
  uint32_t rows = MIN(access_words(flight->request.bytes), flight->decoded->writes);
  for (uint32_t part = 0; part < rows; part++)
    issue_write(&issue, flight->decoded->write[part], flight->data[part]);
}

/* A reply has come: the warp goes on if that was what it waited for. */
static void unblock(Sm *sm, Warp *warp, uint64_t now) {
  if (warp->drains) {
    if (warp->under_way)
      return;
    warp->drains = false;
    warp->blocked_from = MAX(warp->blocked_from, now + sm->gpu->machine->memory.fence_latency);
  }
  const Decoded *decoded = &warp_block(sm, warp)->launch->decoded[warp->pc];
  uint64_t ready = operands_ready(warp, decoded, warp->blocked_from);
  if (ready == REG_PENDING)
    return;
  warp->blocked = false;
  wake(sm, warp, ready + warp->blocked_delay);
}

static void deliver(Sm *sm, const Flight *flight, uint64_t now) {
  Warp *warp = &sm->warps[flight->slot];
  if (warp->age != flight->age)
    return;
  if (op_info[flight->inst->op].flags & OPF_LOAD)
    write_reply(warp, flight);
  if (warp->state == WARP_DONE || warp->state == WARP_FREE)
    return;
  warp->under_way--;
  warp->pending -= flight->decoded->writes;
  set_ready(warp, flight->decoded, now);
  if (PROBE_WANTED(sm->gpu, replied)) {
    ProbePoint point = {.gpu = sm->gpu,
                        .sm = sm,
                        .block = warp_block(sm, warp),
                        .warp = warp,
                        .inst = flight->inst,
                        .pc = flight->pc,
                        .lanes = flight->request.mask,
                        .cycle = now};
    PROBE_FIRE(sm->gpu, replied, &point);
  }
  if (warp->blocked)
    unblock(sm, warp, now);
}

static void deliver_due(Sm *sm, uint64_t now) {
  for (Flight *flight; (flight = flights_take(&sm->flights, now));) {
    deliver(sm, flight, now);
    flights_release(&sm->flights, flight);
  }
}

/* All lanes of a path of `active` lanes have left by this instruction (EXIT, BRK, CONT, RET): another one runs already. */
static bool path_left(const Issue *issue, uint32_t active) {
  return op_info[issue->inst->op].flags & OPF_BRANCH && issue->inst->op != OP_BRA && issue->mask == active;
}

/* `.S`, and reaching a join target: the path, of `active` lanes before the instruction, ends here. */
static void join_paths(Issue *issue, uint32_t active) {
  Warp *warp = issue->warp;
  uint32_t before = warp->pc;
  bool fine = true;
  if (issue->inst->flags & INST_POP && warp->active && !path_left(issue, active))
    fine = simt_join(warp);
  if (fine && warp->active && warp_block(issue->sm, warp)->launch->kernel->insts[warp->pc].flags & INST_JOIN_TARGET)
    simt_arrive(warp);
  if (!fine)
    gpu_raise_fault(issue, issue->mask, NULL, 0, g_strdup("pop of a SIMT stack whose top isn't a convergence point"),
                    g_strdup("each .S needs an SSY before it; BRK, CONT and RET pop their own kind"));
  if (warp->pc != before)
    issue->next = MAX(issue->next, issue->now + issue->gpu->machine->sm.latency.branch_taken);
}

static void fire_marks(Gpu *gpu, const Kernel *kernel, uint32_t pc, uint64_t now) {
  for (uint32_t i = 0; i < kernel->nmarks; i++)
    if (kernel->marks[i].pc == pc)
      gpu_mark(gpu, kernel->marks[i].number, now);
}

void sm_release(Sm *sm, Warp *warp, uint64_t now) {
  Scheduler *scheduler = &sm->scheduler[warp->slot % sm->gpu->machine->sm.schedulers];
  if (warp->state != WARP_RUNNING || scheduler->ready >> warp->slot & 1)
    return; /* it waits for a barrier, or could issue anyhow */
  sm_suspend(sm, warp);
  sm_resume(sm, warp, now);
}

/* A delay for one instruction of NOISE_EVERY, else none; for long if another warp is to go on alone. */
static uint64_t noise(Sm *sm, const Warp *warp) {
  if (sm->gpu->alone)
    return warp == sm->gpu->alone ? 0 : HELD_CYCLES;
  return rng_below(&sm->jitter, NOISE_EVERY) ? 0 : rng_below(&sm->jitter, NOISE_CYCLES);
}

/* The running lanes may exit without further work. */
static void note_leaving(Warp *warp) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    warp->left_from[lane] = warp->active & lane_bit[lane] ? warp->pc : warp->left_from[lane];
}

/* The executor has been there: the warp's pc is already the next one. */
static void tell_issued(const Issue *issue, uint32_t pc) {
  ProbePoint point = issue_point(issue, issue->mask);
  point.pc = pc;
  uint64_t until = MAX(issue->next, issue->ready);
  if (issue->drains)
    until = MAX(issue->next, issue->warp->last_global) + issue->gpu->machine->memory.fence_latency;
  PROBE_FIRE(issue->gpu, issued, &point, until);
}

/* A fence: the warp goes on when its accesses are performed. */
static void wait_for_drain(const Issue *issue, const Decoded *decoded, uint64_t delay) {
  Warp *warp = issue->warp;
  const Machine *machine = issue->gpu->machine;
  uint64_t next = MAX(issue->next, issue->now + machine->sm.issue_interval + machine->memory.fence_latency);
  uint64_t time = operands_ready(warp, decoded, next);
  warp->drains = warp->under_way;
  if (warp->drains || time == REG_PENDING)
    block_warp(warp, next, delay);
  else
    wheel_insert(&issue->sm->wheel, warp->slot, time + delay);
}

/* The warp goes on with its next instruction, once that may issue and its operands are there. */
static void wait_for_operands(const Issue *issue, const Decoded *decoded) {
  Warp *warp = issue->warp;
  uint64_t delay = G_UNLIKELY(issue->gpu->noisy) ? noise(issue->sm, warp) : 0;
  if (G_UNLIKELY(issue->drains)) {
    wait_for_drain(issue, decoded, delay);
    return;
  }
  uint64_t time = operands_ready(warp, decoded, issue->next);
  if (time == REG_PENDING)
    block_warp(warp, issue->next, delay);
  else
    wheel_insert(&issue->sm->wheel, warp->slot, time + delay);
}

static void issue_warp(Sm *sm, Warp *warp, uint64_t now) {
  Gpu *gpu = sm->gpu;
  Launch *launch = warp_block(sm, warp)->launch;
  const Inst *inst = &launch->kernel->insts[warp->pc];
  const Decoded *decoded = &launch->decoded[warp->pc];
  uint32_t guard = warp->pred[inst->guard], active = warp->active;
  Issue issue = {.inst = inst,
                 .regs = warp->regs,
                 .consts = warp->consts,
                 .pred = warp->pred,
                 .mask = active & (inst->flags & INST_GUARD_NOT ? ~guard : guard),
                 .next_pc = warp->pc + 1,
                 .now = now,
                 .ready = now + decoded->latency,
                 .next = now + gpu->machine->sm.issue_interval,
                 .gpu = gpu,
                 .sm = sm,
                 .warp = warp};
  gpu->counters.warp_instructions++;
  gpu->counters.lane_instructions += bits_count(issue.mask);
  if (G_UNLIKELY(inst->flags & (INST_MARKS | INST_MAYBE_UNSET | INST_SYNCED | INST_LEAVES))) {
    if (inst->flags & INST_LEAVES)
      note_leaving(warp);
    if (inst->flags & INST_SYNCED && PROBE_WANTED(gpu, warp_sync)) {
      ProbePoint point = issue_point(&issue, active);
      PROBE_FIRE(gpu, warp_sync, &point);
    }
    if (inst->flags & INST_SYNCED && PROBE_WANTED(gpu, odd_mask))
      members_tell_synced(&issue);
    if (inst->flags & INST_MARKS)
      fire_marks(gpu, launch->kernel, warp->pc, now);
    if (inst->flags & INST_MAYBE_UNSET && warp->written)
      check_unset(&issue);
  }
  if (G_UNLIKELY(warp->undefined_rows))
    undefined_step(&issue, active);
  if (G_LIKELY(issue.mask)) {
    decoded->executor(&issue);
    if (decoded->interval)
      pipe_take(&sm->pipes, decoded->pipe, decoded->interval, &issue);
    if (G_UNLIKELY(warp->written != NULL))
      note_written(warp, decoded, issue.mask);
  } else {
    issue.next = now + decoded->skip;
    issue.ready = now + decoded->skip_latency;
  }
  if (issue.flight)
    send(sm, warp, decoded, issue.flight, issue.ready);
  else
    set_ready(warp, decoded, issue.ready);
  if (G_UNLIKELY(PROBE_WANTED(gpu, issued)))
    tell_issued(&issue, (uint32_t)(inst - launch->kernel->insts));
  warp->pc = issue.next_pc;
  if (G_UNLIKELY(gpu->fault.happened))
    return;
  if (warp->alive == 0) {
    finish_warp(sm, warp, now);
    return;
  }
  if (inst->flags & INST_POP || launch->kernel->insts[warp->pc].flags & INST_JOIN_TARGET)
    join_paths(&issue, active);
  if (warp->state == WARP_RUNNING)
    wait_for_operands(&issue, &launch->decoded[warp->pc]);
}

/* The scheduler issues at `now`. */
static void run_scheduler(Sm *sm, Scheduler *scheduler, uint64_t now) {
  Gpu *gpu = sm->gpu;
  unsigned slot = pick(sm, scheduler);
  gpu->cycle = now;
  scheduler->ready &= ~(UINT64_C(1) << slot);
  scheduler->last = slot;
  scheduler->free_at = now + gpu->machine->sm.issue_interval;
  issue_warp(sm, &sm->warps[slot], now);
  gpu->budget--;
}

/* Warps of the SM that wake by `now` could issue. */
static void wake_warps(Sm *sm, uint64_t now) {
  uint64_t woken = wheel_advance(&sm->wheel, now);
  for (uint32_t i = 0; woken && i < sm->gpu->machine->sm.schedulers; i++)
    sm->scheduler[i].ready |= woken & sm->scheduler[i].mine;
}

/* When something is due, at `now` or later. */
static uint64_t next_event(const Sm *sm, uint64_t now) {
  uint64_t next = MIN(sm->flights.event_time, wheel_next(&sm->wheel));
  for (uint32_t i = 0; i < sm->gpu->machine->sm.schedulers; i++)
    if (sm->scheduler[i].ready)
      next = MIN(next, MAX(sm->scheduler[i].free_at, now));
  return next;
}

uint64_t sm_run(Sm *sm, uint64_t now) {
  Gpu *gpu = sm->gpu;
  uint32_t schedulers = gpu->machine->sm.schedulers;
  sm->event_time = 0; /* nobody pushes an event for it while it runs */
  for (;;) {
    if (sm->flights.event_time <= now)
      deliver_due(sm, now);
    wake_warps(sm, now);
    bool stops = false;
    for (uint32_t i = 0; i < schedulers && !stops; i++) {
      Scheduler *scheduler = &sm->scheduler[i];
      if (!scheduler->ready || scheduler->free_at > now)
        continue;
      run_scheduler(sm, scheduler, now);
      stops = gpu->budget <= 0 || gpu->fault.happened;
    }
    uint64_t next = next_event(sm, now);
    if (stops || next == WHEEL_NEVER || next > gpu->limit_cycles ||
        !event_queue_is_first(&gpu->queue, next, sm_source(sm))) {
      sm->event_time = next;
      return next;
    }
    now = next;
  }
}
