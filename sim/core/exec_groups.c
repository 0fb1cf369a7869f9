/* Convergence barriers and other points where the lane groups of a warp switch. A machine with SIMT stacks has no groups:
 * there YIELD does nothing, the lanes of a WARPSYNC are together, and NANOSLEEP holds the warp. */
#include "sim/core/lane_groups.h"
#include "sim/core/members.h"
#include "sim/core/scheduler.h"

void exec_BSSY(Issue *issue) { lane_groups_begin(issue, issue->inst->mode, issue->mask); }

void exec_BSYNC(Issue *issue) { lane_groups_sync(issue, issue->inst->mode, issue->mask); }

void exec_BREAK(Issue *issue) { lane_groups_break(issue, issue->inst->mode, issue->mask); }

void exec_WARPSYNC(Issue *issue) {
  if (issue->warp->groups && issue->inst->mode == WARPSYNC_ALL) {
    lane_groups_meet(issue, issue->mask);
  } else if (issue->warp->groups) {
    lane_groups_warpsync(issue, issue_operand(issue, issue->inst->a), issue->mask);
  } else {
    const uint32_t *members = issue->inst->mode == WARPSYNC_ALL ? NULL : issue_operand(issue, issue->inst->a);
    members_tell_sync(issue, issue->mask, members);
    members_tell(issue, issue->warp->pc, issue->mask, members, 0);
  }
}

/* The convergence unit chooses twice if only those can go on that give way. Other warps of the scheduler delay it. */
static void give_way(Issue *issue) {
  const Machine *machine = issue->gpu->machine;
  Sm *sm = issue->sm;
  uint32_t others = warp_set_count(sm->running & sm->slots_of[issue->warp->scheduler]) - 1;
  uint64_t waits = scheduler_converge(issue),
           delay = MAX(waits, milli_cycle(others * machine->sm.encoded.yield_neighbour));
  YieldCost cost = {.ready = machine->sm.lane_groups.switch_latency + delay,
                    .away = machine->sm.encoded.yield + delay,
                    .back = machine->sm.encoded.yield_beside + delay};
  if (lane_groups_give_way(issue, &cost))
    scheduler_converge(issue);
}

void exec_YIELD(Issue *issue) {
  if (!issue->warp->groups)
    return;
  give_way(issue);
}

__extension__ typedef unsigned __int128 Wide;

/* The cycle from `now` on in which the global timer is next a multiple of `ns`. */
static uint64_t next_multiple(const Gpu *gpu, uint64_t now, uint32_t ns) {
  const Wide giga = 1000000000, clock = (Wide)gpu->machine->clocks.sm;
  Wide phase = gpu->timer_phase * clock, period = ns * clock; /* nanoseconds times the clock: cycles times giga */
  Wide end = (now * giga + phase + period - 1) / period * period - phase;
  return (uint64_t)((end + giga - 1) / giga);
}

/* 0 is RZ. */
static bool is_immediate(const Issue *issue, int16_t operand) {
  const ConstRef *constant = operand < 0 ? &issue->block->launch->kernel->consts[~operand] : NULL;
  return constant && constant->kind == CONST_IMMEDIATE && constant->value;
}

/* When a sleep of `wanted` nanoseconds is over that begins in cycle `start`. The longest that can be asked for is
 * 1 ms (PTX ISA, nanosleep). Those that the grid doesn't tell apart end with a clock of as many nanoseconds that
 * isn't known: when it is next over is drawn. */
static uint64_t sleeps_until(const Issue *issue, uint32_t wanted, uint64_t start) {
  enum { LONGEST_WANTED_NS = 1000000 };
  const Machine *machine = issue->gpu->machine;
  uint32_t ns = 1, grid = machine->sm.sleep.grid;
  while (ns <= MIN(wanted, (uint32_t)LONGEST_WANTED_NS))
    ns *= 2;
  uint64_t cycles = (uint64_t)(MAX(ns, grid) * machine->clocks.sm / 1e9 + 0.5);
  uint64_t end = !grid       ? start + cycles
                 : ns > grid ? next_multiple(issue->gpu, start, ns)
                             : start + rng_below(&issue->sm->jitter, MAX(cycles, 1u));
  return MAX(end, start + machine->sm.sleep.least) + machine->sm.sleep.wake;
}

void exec_NANOSLEEP(Issue *issue) {
  const uint32_t *wanted = issue_operand(issue, issue->inst->a);
  uint32_t longest = 0;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1)
    longest = MAX(longest, wanted[__builtin_ctz(rest)]);
  const Machine *machine = issue->gpu->machine;
  uint64_t waits = issue->warp->groups ? scheduler_converge(issue) : 0, start = issue->now + waits;
  start += is_immediate(issue, issue->inst->a) ? 0 : machine->sm.sleep.operand;
  uint64_t until = sleeps_until(issue, longest, start),
           beside = start + machine->sm.sleep.least + machine->sm.sleep.wake + machine->sm.encoded.warpsync_beside;
  if (!issue->warp->groups)
    issue->next = MAX(issue->next, until);
  else if (lane_groups_sleep(issue, until, beside, machine->sm.encoded.yield + waits))
    scheduler_converge(issue);
}

void exec_ENDCOLLECTIVE(Issue *issue) {
  if (issue->warp->groups) {
    lane_groups_end_collective(issue, issue->mask);
    issue->next_pc = issue->warp->pc;
    issue->next += issue->gpu->machine->sm.encoded.branch_indirect + scheduler_converge(issue);
  }
}

void exec_BMOVR(Issue *issue) {
  uint32_t row[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    row[lane] = issue->warp->groups
                    ? sync_records_of(&issue->warp->groups->sync, issue->inst->mode, 1u << lane)
                    : issue->mask;
  issue_write(issue, issue->inst->dst, row);
  if (issue->warp->groups)
    lane_groups_save(issue, issue->inst->mode, issue->mask);
}

void exec_BMOVW(Issue *issue) {
  if (issue->warp->groups)
    lane_groups_restore(issue, issue->inst->mode, issue_operand(issue, issue->inst->a), issue->mask);
}
