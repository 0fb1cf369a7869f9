/* Convergence barriers and other points where the lane groups of a warp switch. A machine with SIMT stacks has no groups:
 * there YIELD does nothing, the lanes of a WARPSYNC are together, and NANOSLEEP holds the warp. */
#include "sim/core/lane_groups.h"
#include "sim/core/members.h"

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
    ProbePoint point = issue_point(issue, issue->mask);
    PROBE_FIRE(issue->gpu, warp_sync, &point);
    members_tell(issue, issue->warp->pc, issue->mask, members, 0);
  }
}

/* How long a YIELD of machine code takes: longer beside lanes of the warp that wait, and beside other warps of its scheduler. */
static uint64_t yield_cycles(const Issue *issue) {
  const Machine *machine = issue->gpu->machine;
  const Sm *sm = issue->sm;
  uint32_t schedulers = machine->sm.schedulers, mine = issue->warp->slot % schedulers, others = 0;
  for (uint32_t slot = mine; slot < machine->sm.max_warps; slot += schedulers)
    others += sm->warps[slot].state == WARP_RUNNING && slot != issue->warp->slot;
  uint64_t alone = issue->warp->groups->count ? machine->sm.encoded.yield_beside : machine->sm.encoded.yield;
  return alone + milli_cycle(others * machine->sm.encoded.yield_neighbour);
}

void exec_YIELD(Issue *issue) {
  if (issue->warp->groups)
    lane_groups_yield(issue, issue->encoded ? yield_cycles(issue) : 0);
}

/* How long a sleep of `wanted` nanoseconds takes on an H200: up to the next power of two, 40 ns at least. The longest that
 * can be asked for is 1 ms (PTX ISA, nanosleep). */
static uint64_t sleep_cycles(const Machine *machine, uint32_t wanted) {
  enum { SHORTEST_NS = 40, LONGEST_WANTED_NS = 1000000 };
  uint32_t ns = 1;
  while (ns <= MIN(wanted, (uint32_t)LONGEST_WANTED_NS))
    ns *= 2;
  return (uint64_t)(MAX(ns, (uint32_t)SHORTEST_NS) * machine->clocks.sm / 1e9 + 0.5);
}

void exec_NANOSLEEP(Issue *issue) {
  const uint32_t *wanted = issue_operand(issue, issue->inst->a);
  uint32_t longest = 0;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1)
    longest = MAX(longest, wanted[__builtin_ctz(rest)]);
  uint64_t cycles = sleep_cycles(issue->gpu->machine, longest);
  if (issue->warp->groups)
    lane_groups_yield(issue, cycles);
  else
    issue->next = MAX(issue->next, issue->now + cycles);
}

void exec_ENDCOLLECTIVE(Issue *issue) {
  if (issue->warp->groups) {
    lane_groups_end_collective(issue, issue->mask);
    issue->next_pc = issue->warp->pc;
  }
}

void exec_BMOVR(Issue *issue) {
  uint32_t row[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    row[lane] =
        issue->warp->groups ? lane_groups_participants(issue->warp->groups, issue->inst->mode, lane) : issue->mask;
  issue_write(issue, issue->inst->dst, row);
  if (issue->warp->groups)
    lane_groups_save(issue, issue->inst->mode, issue->mask);
}

void exec_BMOVW(Issue *issue) {
  if (issue->warp->groups)
    lane_groups_restore(issue, issue->inst->mode, issue_operand(issue, issue->inst->a), issue->mask);
}
