/* How a warp issues an instruction: what it may have to wait for first, its executor, and when the warp goes on. */
#include <glib.h>

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/cached.h"
#include "sim/core/constants.h"
#include "sim/core/hazards.h"
#include "sim/core/hold_once.h"
#include "sim/core/locks.h"
#include "sim/core/members.h"
#include "sim/core/record.h"
#include "sim/core/scheduler.h"
#include "sim/core/simt_stack.h"
#include "sim/core/slots.h"
#include "sim/core/sm.h"
#include "sim/core/sm_inner.h"
#include "sim/core/tell.h"
#include "sim/core/undefined.h"

enum { NOISE_EVERY = 16, NOISE_CYCLES = 1024, HELD_EVERY = 8 };
/* Behind a store or an atomic operation: fewer than 16 to 32768 cycles. */
enum { CHANGE_EVERY = 8, CHANGE_LEAST = 4, CHANGE_STEPS = 12 };

/* Some lanes never wrote what the instruction reads. In what a compiler made that matters once the value does:
 * `int v; if (p) v = *a;` is common. */
static void unset_read(const Issue *issue, unsigned number, bool is_predicate, uint32_t lanes) {
  if (program_is_compiled(warp_block(issue->sm, issue->warp)->launch->program)) {
    undefined_unset(issue, number, is_predicate, lanes);
    return;
  }
  ProbePoint point = issue_point(issue, lanes);
  tell_unset_read(&point, number, is_predicate);
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

/* The warp goes on when its reply has come. */
static bool waits_as_acquire(const Issue *issue, const Decoded *decoded) {
  const Inst *inst = issue->inst;
  bool of_block = issue->gpu->machine->memory.block_orders == BLOCK_ORDERS_LOADS && inst->scope == SCOPE_CTA;
  /* A shuffle comes behind it. */
  bool merged = !issue->encoded && inst->op == OP_ATOM && inst->cmp != MERGE_NONE && decoded->writes;
  return merged || cached_is_acquire(inst) || (of_block && (inst->sem == SEM_ACQUIRE || inst->sem == SEM_ACQ_REL));
}

/* Its access is under way: what it writes is pending. */
static void await(Warp *warp, const Decoded *decoded, const Issue *issue) {
  issue->flight->decoded = decoded;
  for (unsigned i = 0; i < decoded->writes; i++)
    warp->reg_ready[decoded->write[i]] = REG_PENDING;
  warp->pending += decoded->writes;
  if (decoded->raises | decoded->sources) {
    const Kernel *kernel = issue->block->launch->kernel;
    Decoded sources = {.sources = decoded->sources};
    sm_raise_until_reply(warp, kernel, decoded);
    sm_raise(warp, kernel, &sources, 0, issue->sources);
  }
  warp->newest_access = issue->flight->number;
  warp->awaits = waits_as_acquire(issue, decoded) ? warp->newest_access : 0;
}

/* What it writes is there at a time that is known. */
static void raise_scoreboards(const Issue *issue, const Decoded *decoded) {
  sm_raise(issue->warp, issue->block->launch->kernel, decoded, issue->ready, issue->sources);
}

/* All lanes of a path of `active` lanes have left by this instruction (EXIT, BRK, CONT, RET): another one runs
 * already. */
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
    record_fault(issue, issue->mask, NULL, 0, g_strdup("pop of a SIMT stack whose top isn't a convergence point"),
                 g_strdup("each .S needs an SSY before it; BRK, CONT and RET pop their own kind"));
  if (warp->pc != before)
    issue->next = MAX(issue->next, issue->now + issue->gpu->machine->sm.latency.branch_taken);
  if (fine && PROBE_WANTED(issue->gpu, joined)) {
    ProbePoint point = issue_point(issue, issue->mask);
    PROBE_FIRE(issue->gpu, joined, &point);
  }
}

static void fire_marks(Sm *sm, const Kernel *kernel, uint32_t pc, uint64_t now) {
  for (uint32_t i = 0; i < kernel->nmarks; i++)
    if (kernel->marks[i].pc == pc)
      tell_mark(sm, kernel->marks[i].number, now);
}

/* A delay for one instruction of NOISE_EVERY, else none; for long if another warp is to go on alone. Behind what
 * changes memory there is one more, more often, of any length: between two changes others have their chance. */
static uint64_t noise(const Issue *issue, const Warp *warp) {
  Sm *sm = issue->sm;
  if (sm->gpu->alone)
    return warp == sm->gpu->alone ? 0 : SM_HELD_CYCLES;
  uint64_t delay = rng_below(&sm->jitter, NOISE_EVERY) ? 0 : rng_below(&sm->jitter, NOISE_CYCLES);
  if (op_info[issue->inst->op].flags & (OPF_STORE | OPF_ATOMIC) && !rng_below(&sm->jitter, CHANGE_EVERY))
    delay += rng_below(&sm->jitter, UINT64_C(1) << (CHANGE_LEAST + rng_below(&sm->jitter, CHANGE_STEPS)));
  return delay;
}

/* Half as often for a short while only: what goes wrong where others are just by needs that. */
uint64_t sm_hold_up(Sm *sm) {
  enum { BRIEFLY = 5 };
  uint64_t choice = rng_below(&sm->held, 2 * HELD_EVERY);
  if (choice > 2)
    return 0;
  uint64_t held = rng_below(&sm->held, sm->gpu->machine->sm.held_up);
  return choice < 2 ? held : held >> BRIEFLY;
}

static uint64_t hold_behind(const Issue *issue) {
  if (!hold_is_place(issue->inst, issue->block->launch->program->dialect))
    return 0;
  if (!issue->gpu->machine->sm.held_once)
    return sm_hold_up(issue->sm);
  return issue->warp->released ? 0 : hold_once_behind(issue); /* a release comes by twice, first as its fence */
}

/* The running lanes may exit without further work. */
static void note_leaving(Warp *warp) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    warp->left_from[lane] = warp->active & lane_bit[lane] ? warp->pc : warp->left_from[lane];
}

/* The executor has been there: the warp's pc is already the next one. When the reply of global memory comes isn't
 * known. */
static void tell_issued(const Issue *issue) {
  ProbePoint point = issue_point(issue, issue->mask);
  point.pc = issue->pc;
  bool waits = issue->flight || issue->drains;
  PROBE_FIRE(issue->gpu, issued, &point, waits ? UINT64_MAX : MAX(issue->next, issue->ready));
}

/* The warp goes on with its next instruction, once that may issue and its operands are there. */
static void go_on(const Issue *issue) {
  Warp *warp = issue->warp;
  uint64_t delay = G_UNLIKELY(issue->gpu->noisy) ? noise(issue, warp) : 0;
  if (G_UNLIKELY(issue->gpu->holds_up))
    delay += hold_behind(issue);
  const Decoded *decoded = &issue->block->launch->decoded[warp->pc];
  if (G_LIKELY(!issue->drains)) {
    sm_wait_for_operands(issue->sm, warp, decoded, issue->next, delay);
    return;
  }
  SmDrain drain = {.from = issue->next,
                   .delay = delay,
                   .system = issue->drains_system,
                   .reads = issue->drains_reads,
                   .empties_l1 = issue->empties_l1};
  sm_wait_for_drain(issue->sm, warp, decoded, &drain);
}

/* A release is a fence before the access: the warp comes to it a second time when that is over. */
static bool waits_as_fence(Issue *issue, const Decoded *decoded) {
  if (!decoded->releases || !issue->mask || issue->warp->released) {
    issue->warp->released = false;
    return false;
  }
  issue->warp->released = true;
  issue->next = issue->now;
  issue->drains = issue->inst->scope != SCOPE_CTA;
  issue->drains_system = issue->inst->scope == SCOPE_SYS;
  if (!issue->drains)
    issue->next = scheduler_fence(issue, issue->gpu->machine->memory.fence_block);
  slots_lose(issue, STALL_FENCE);
  go_on(issue);
  return true;
}

/* Nobody can tell whether the stores before a fence come before or behind it. */
static bool passes_stores(const Inst *inst) {
  const OpInfo *info = &op_info[inst->op];
  if (inst->op == OP_MEMBAR && inst->sem != SEM_SC)
    return true; /* such a fence, too */
  if (info->unit == UNIT_GLOBAL || info->unit == UNIT_SHARED)
    return info->flags & OPF_LOAD && !(info->flags & (OPF_STORE | OPF_ATOMIC | OPF_LOCK | OPF_UNLOCK));
  return info->unit != UNIT_BARRIER && !(info->flags & (OPF_FENCE | OPF_BARRIER)) && inst->op != OP_EXIT;
}

/* A fence before the access, where only loads have passed the stores before it so far: the warp comes to the access a
 * second time when they have been performed. */
static bool waits_for_stores(Issue *issue) {
  if (!issue->mask || passes_stores(issue->inst))
    return false;
  issue->next = issue->now;
  issue->drains = true;
  issue->drains_system = issue->warp->owes - 1 == FENCE_SYS;
  issue->warp->owes = 0;
  slots_lose(issue, STALL_FENCE);
  go_on(issue);
  return true;
}

/* The warp comes to the instruction again behind a reply. */
static void block_at_issue(const Issue *issue, Stall stall) {
  issue->warp->blocked = true;
  issue->warp->blocked_from = issue->now;
  issue->warp->blocked_delay = 0;
  slots_lose(issue, stall);
}

/* No reply will come that invites who waits in Sm.crowded. */
static bool nothing_is_under_way(const Sm *sm) { return flights_oldest(&sm->flights) == UINT64_MAX; }

/* As many accesses wait at the SM's port as it has room for: the warp comes to this one again when a reply has come
 * and it is its turn. Who was invited to a release waits as a fence first, and finds others before it then: it goes
 * on if nothing is under way, and its own reply invites the next. */
static bool waits_for_room(const Issue *issue, const Decoded *decoded) {
  Sm *sm = issue->sm;
  Warp *warp = issue->warp;
  bool room = sm_port_has_room(sm, warp, issue->now) || nothing_is_under_way(sm);
  bool turn = !sm->crowded || warp->invited || nothing_is_under_way(sm);
  if (!decoded->sends || !issue->mask || (room && turn)) {
    warp->invited = false;
    return false;
  }
  warp_set_add(&sm->crowded, warp->slot);
  flights_await_places(&sm->flights);
  warp->crowded_since = warp->invited ? warp->crowded_since : issue->now;
  warp->invited = false;
  block_at_issue(issue, STALL_PORT);
  return true;
}

/* A warp that was invited to send an access, or went on since nothing was under way, had no need to: somebody else
 * is, where no reply would see to that, and behind a lock, since warps come for a lock again and again. */
static void decline(Sm *sm, const Inst *inst, uint64_t now) {
  if (sm->crowded && (nothing_is_under_way(sm) || locks_are_meant(sm->gpu, inst)))
    sm_end_crowd(sm, now);
}

/* On some machines a load of a warp waits until what the warp has under way has been answered. */
static bool waits_for_loads(const Issue *issue) {
  Warp *warp = issue->warp;
  if (!issue->gpu->machine->memory.port.warp_loads || issue->inst->op != OP_LD || !issue->mask || !warp->pending)
    return false;
  warp->awaits_loads = true;
  block_at_issue(issue, STALL_MEMORY);
  return true;
}

/* What is due before an instruction executes: marks, and what detectors want to know. */
static void tell_flags(const Issue *issue, uint32_t active) {
  Sm *sm = issue->sm;
  const Gpu *gpu = issue->gpu;
  const Inst *inst = issue->inst;
  if (inst->flags & INST_LEAVES)
    note_leaving(issue->warp);
  if (inst->flags & INST_SYNCED && PROBE_WANTED(gpu, warp_sync)) {
    ProbePoint point = issue_point(issue, active);
    PROBE_FIRE(gpu, warp_sync, &point);
  }
  if (inst->flags & INST_SYNCED && PROBE_WANTED(gpu, odd_mask))
    members_tell_synced(issue);
  if (inst->flags & INST_MARKS)
    fire_marks(sm, issue->block->launch->kernel, issue->pc, issue->now);
  if (inst->flags & INST_MAYBE_UNSET && issue->warp->written)
    check_unset(issue);
}

enum { TOLD_FLAGS = INST_MARKS | INST_MAYBE_UNSET | INST_SYNCED | INST_LEAVES };

/* Executes the instruction at the warp's pc beside others of the same cycle, and goes to the next. Returns when its
 * result is there. */
static uint64_t issue_beside(Sm *sm, Warp *warp, uint64_t now) {
  Launch *launch = warp_block(sm, warp)->launch;
  const Inst *inst = &launch->kernel->insts[warp->pc];
  const Decoded *decoded = &launch->decoded[warp->pc];
  Issue issue = {.inst = inst,
                 .regs = warp->regs,
                 .consts = warp->consts,
                 .pred = warp->pred,
                 .mask = sm_executing(warp, inst),
                 .pc = warp->pc,
                 .next_pc = warp->pc + 1,
                 .now = now,
                 .ready = now + decoded->latency,
                 .next = now + 1,
                 .encoded = decoded->stall,
                 .turns = 1,
                 .sources = now + decoded->sources_cycles,
                 .gpu = sm->gpu,
                 .sm = sm,
                 .block = warp_block(sm, warp),
                 .warp = warp};
  if (G_UNLIKELY(inst->flags & TOLD_FLAGS))
    tell_flags(&issue, warp->active);
  if (G_UNLIKELY(warp->undefined_rows))
    undefined_step(&issue, warp->active);
  if (issue.mask) {
    decoded->executor(&issue);
    if (G_UNLIKELY(warp->written != NULL))
      note_written(warp, decoded, issue.mask);
    if (issue.flight) /* one of several operations of an instruction (ATOMG.F32x2) */
      await(warp, decoded, &issue);
    else if (!decoded->stall)
      sm_set_ready(warp, decoded, now);
  } else if (G_UNLIKELY(decoded->hazards)) {
    hazards_skip(&issue, warp->active);
  }
  warp->pc++;
  return op_info[inst->op].unit == UNIT_ALU ? now : issue.ready;
}

/* The parts of an instruction of machine code before its last. *ready: when their results are there. False after a
 * fault. */
static bool issue_parts(Sm *sm, Warp *warp, uint64_t now, uint64_t *ready) {
  const Inst *insts = warp_block(sm, warp)->launch->kernel->insts;
  while (insts[warp->pc].flags & INST_FUSED) {
    uint64_t part_ready = issue_beside(sm, warp, now);
    *ready = MAX(*ready, part_ready);
    if (G_UNLIKELY(sm->faulted))
      return false;
  }
  return true;
}

/* While a warp of machine code waits at a block barrier it goes on with arithmetic: what it would have done by now it
 * does at once. False if it isn't yet time for the instruction behind that. */
static bool issue_shadow(Sm *sm, Warp *warp, uint64_t now) {
  const Launch *launch = warp_block(sm, warp)->launch;
  uint32_t pc = warp->pc;
  uint64_t time = warp->shadow;
  warp->shadow = 0;
  for (; time < now; time += launch->decoded[warp->pc - 1].stall) {
    const Decoded *decoded = &launch->decoded[warp->pc];
    const Inst *inst = &launch->kernel->insts[warp->pc];
    bool computes = decoded->way == WAY_PLAIN || op_info[inst->op].unit == UNIT_ALU || inst->op == OP_S2R;
    if (!computes || inst->flags & INST_FUSED || decoded->waits || decoded->raises)
      break;
    if (decoded->constant)
      time = constants_operand_comes(sm, launch, decoded->constant - 1u, time);
    if (time >= now)
      break;
    time = scheduler_take_behind(sm_scheduler(sm, warp), decoded, time);
    if (sm_issue_way(sm, warp, decoded) == WAY_PLAIN) {
      sm_begin_briefly(sm, warp, inst, sm_executing(warp, inst));
      if (sm->brief.mask)
        decoded->executor(&sm->brief);
      warp->pc++;
    } else {
      issue_beside(sm, warp, time);
    }
    sm->counters.warp_instructions++;
    sm->counters.lane_instructions += sm_count_lanes(warp, warp->active);
  }
  if (time <= now && (warp->pc == pc || sm_has_operands(sm, warp, &launch->decoded[warp->pc], now)))
    return true;
  time = MAX(time, now);
  sm_wait_for_operands(sm, warp, &launch->decoded[warp->pc], time, 0);
  return false;
}

/* An access to shared memory whose guard holds in no lane takes its turn of the pipe, and has no result. */
static void pass_by(Issue *issue) {
  SharedCost cost = shared_skip_cost(&issue->sm->shared);
  shared_take(issue, &cost);
}

/* The next instruction names a word of constant memory that isn't at hand. A line for which the warp has waited
 * serves it when it comes, though others may have displaced it since: else two kernels could displace each other's
 * for ever. */
static bool waits_for_constant(Sm *sm, Warp *warp, uint64_t now) {
  const Launch *launch = warp_block(sm, warp)->launch;
  const Decoded *decoded = &launch->decoded[warp->pc];
  bool served = warp->line_comes && warp->line_comes <= now;
  warp->line_comes = 0;
  if (served)
    return false;
  uint64_t comes = constants_operand_comes(sm, launch, decoded->constant - 1u, now);
  if (comes <= now)
    return false;
  warp->line_comes = comes;
  sm_wait_for_operands(sm, warp, decoded, comes, 0);
  return true;
}

/* PTX says nothing of the scoreboards behind which machine code writes registers that an access still has to read. A
 * loop mostly does with those of its round before. */
static void come_back(Issue *issue) {
  if (issue->next_pc <= issue->pc && !issue->encoded)
    issue->next = MAX(issue->next, issue->warp->read_until);
}

void sm_issue(Sm *sm, Warp *warp, uint64_t now) {
  Gpu *gpu = sm->gpu;
  Block *block = warp_block(sm, warp);
  Launch *launch = block->launch;
  uint64_t parts_ready = 0;
  if (launch->decoded[warp->pc].constant && waits_for_constant(sm, warp, now))
    return;
  if (G_UNLIKELY(warp->shadow) && !issue_shadow(sm, warp, now))
    return;
  if (G_UNLIKELY(launch->kernel->insts[warp->pc].flags & INST_FUSED) && !issue_parts(sm, warp, now, &parts_ready))
    return;
  const Inst *inst = &launch->kernel->insts[warp->pc];
  const Decoded *decoded = &launch->decoded[warp->pc];
  uint32_t active = warp->active;
  Issue issue = {.inst = inst,
                 .regs = warp->regs,
                 .consts = warp->consts,
                 .pred = warp->pred,
                 .mask = sm_executing(warp, inst),
                 .pc = warp->pc,
                 .next_pc = warp->pc + 1,
                 .now = now,
                 .ready = now + decoded->latency,
                 .next = now + (decoded->stall ? decoded->stall : decoded->apart),
                 .encoded = decoded->stall,
                 .turns = 1,
                 .sources = now + decoded->sources_cycles,
                 .gpu = gpu,
                 .sm = sm,
                 .block = block,
                 .warp = warp};
  bool invited = warp->invited || (decoded->sends && sm->crowded && nothing_is_under_way(sm));
  if (G_UNLIKELY(decoded->sends) && (waits_for_loads(&issue) || waits_for_room(&issue, decoded)))
    return;
  if ((G_UNLIKELY(warp->owes) && waits_for_stores(&issue)) ||
      (G_UNLIKELY(decoded->releases) && waits_as_fence(&issue, decoded))) {
    if (invited && sm->crowded && nothing_is_under_way(sm))
      sm_end_crowd(sm, now);
    return;
  }
  sm->counters.warp_instructions++;
  sm->counters.lane_instructions += sm_count_lanes(warp, issue.mask);
  if (G_UNLIKELY(inst->flags & TOLD_FLAGS))
    tell_flags(&issue, active);
  if (G_UNLIKELY(warp->undefined_rows))
    undefined_step(&issue, active);
  if (G_LIKELY(issue.mask)) {
    decoded->executor(&issue);
    if (decoded->interval)
      pipe_take(&sm->pipes, decoded->pipe, decoded->interval * issue.turns, &issue);
    if (decoded->occupies | decoded->holds | decoded->reads)
      scheduler_take(sm_scheduler(sm, warp), decoded, gpu->machine->sm.encoded.register_lag, now);
    if (G_UNLIKELY(warp->written != NULL))
      note_written(warp, decoded, issue.mask);
  } else {
    issue.next = now + decoded->skip;
    issue.ready = now + decoded->skip_latency;
    if (G_UNLIKELY(decoded->passes_by))
      pass_by(&issue);
    if (G_UNLIKELY(decoded->hazards))
      hazards_skip(&issue, active);
  }
  issue.ready = MAX(issue.ready, parts_ready);
  if (G_UNLIKELY(invited)) {
    if (!issue.flight)
      decline(sm, inst, now);
    else if (sm->crowded && sm_crowd_has_room(sm, now))
      sm_end_crowd(sm, now);
  }
  if (issue.flight)
    await(warp, decoded, &issue);
  else if (decoded->raises | decoded->sources)
    raise_scoreboards(&issue, decoded);
  else if (!decoded->stall)
    sm_set_ready(warp, decoded, issue.ready);
  if (decoded->way == WAY_STEERS)
    come_back(&issue);
  warp->pc = issue.next_pc;
  if (G_UNLIKELY(PROBE_WANTED(gpu, issued)))
    tell_issued(&issue);
  if (G_UNLIKELY(sm->faulted))
    return;
  if (warp->alive == 0) {
    sm_finish_warp(sm, warp, now);
    return;
  }
  if (!warp->groups && (inst->flags & INST_POP || launch->kernel->insts[warp->pc].flags & INST_JOIN_TARGET))
    join_paths(&issue, active);
  if (warp->state == WARP_RUNNING)
    go_on(&issue);
}

void sm_steer(Sm *sm, Warp *warp, uint64_t now) {
  Block *block = warp_block(sm, warp);
  const Inst *inst = &block->launch->kernel->insts[warp->pc];
  const Decoded *decoded = &block->launch->decoded[warp->pc];
  Issue *issue = &sm->brief;
  uint32_t mask = sm_executing(warp, inst);
  sm_begin_briefly(sm, warp, inst, mask);
  issue->pc = warp->pc;
  issue->next_pc = warp->pc + 1;
  issue->now = now;
  issue->ready = now + decoded->latency;
  issue->next = now + (mask ? decoded->stall ? decoded->stall : decoded->apart : decoded->skip);
  issue->encoded = decoded->stall;
  issue->block = block;
  issue->warp = warp;
  if (mask)
    decoded->executor(issue);
  sm_count_briefly(sm, warp, decoded, mask, now);
  come_back(issue);
  warp->pc = issue->next_pc;
  if (warp->state == WARP_RUNNING && G_LIKELY(!sm->faulted))
    sm_go_on_briefly(sm, warp, &block->launch->decoded[warp->pc], issue->next);
}
