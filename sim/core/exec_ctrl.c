/* Control flow: branches and the SIMT stack, or lane groups. Executors set next_pc to where the warp goes on. */
#include <glib.h>

#include "sim/core/barrier.h"
#include "sim/core/lane_groups.h"
#include "sim/core/record.h"
#include "sim/core/scheduler.h"
#include "sim/core/simt_stack.h"
#include "sim/core/spin_backoff.h"
#include "sim/core/tell.h"

static void overflow(Issue *issue) {
  record_fault(issue, issue->warp->active, NULL, 0,
               g_strdup_printf("the SIMT stack is full (%u entries)", issue->gpu->machine->sm.simt_stack.depth),
               g_strdup("pushes (SSY, PBK, PCNT, CAL) without their pops inside a loop?"));
}

/* A taken branch of machine code: it takes longer to the last instruction of a line of code. */
static uint32_t encoded_branch(const Issue *issue) {
  enum { LINE = 128, LAST = LINE - 16 };
  const Machine *machine = issue->gpu->machine;
  uint32_t to = issue->block->launch->kernel->insts[issue->warp->pc].address;
  return machine->sm.latency.branch_taken + (to % LINE == LAST ? machine->sm.encoded.branch_line : 0);
}

/* The warp goes on at warp->pc, which some stack operation chose. */
static void redirect(Issue *issue) {
  issue->next_pc = issue->warp->pc;
  const Machine *machine = issue->gpu->machine;
  uint32_t taken = issue->encoded ? encoded_branch(issue) : machine->sm.latency.branch_taken;
  issue->next = MAX(issue->next, issue->now + taken);
}

/* The running group goes one of so many ways. */
static void redirect_apart(Issue *issue, uint32_t ways) {
  redirect(issue);
  issue->next += ways > 1 ? scheduler_choose(issue, ways - 1) : 0;
}

void exec_BRA(Issue *issue) {
  const Machine *machine = issue->gpu->machine;
  Warp *warp = issue->warp;
  if (issue->inst->flags & INST_POP) { /* with `.S` all lanes go to the convergence point */
    issue->next = issue->now + machine->sm.latency.branch_not_taken;
    return;
  }
  uint32_t from = warp->pc, ways = 1;
  if (issue->mask == warp->active) {
    warp->pc = (uint32_t)issue->inst->target;
  } else {
    issue->sm->counters.divergent_branches++;
    if (warp->groups) {
      lane_groups_diverge(issue, issue->mask, (uint32_t)issue->inst->target, warp->pc + 1);
      ways = 2;
    } else if (!simt_diverge(warp, machine, issue->inst, issue->mask, &issue->sm->ordered)) {
      overflow(issue);
      return;
    }
  }
  redirect_apart(issue, ways);
  if (issue->sm->spin_backoff && (uint32_t)issue->inst->target <= from)
    spin_backoff_turn(issue, from);
}

/* All lanes of the path go one way. */
void exec_BRADIV(Issue *issue) {
  Warp *warp = issue->warp;
  unsigned first = (unsigned)__builtin_ctz(issue->mask);
  uint32_t members = issue_operand(issue, issue->inst->a)[first], here = issue_operand(issue, issue->inst->b)[first];
  uint32_t missing = members & warp->alive & ~(warp->active & here);
  bool converged = issue->inst->mode == BRANCH_CONVERGED;
  if ((missing == 0) != converged)
    return;
  bool apart = issue->mask != warp->active;
  if (apart)
    lane_groups_diverge(issue, issue->mask, (uint32_t)issue->inst->target, warp->pc + 1);
  else
    warp->pc = (uint32_t)issue->inst->target;
  redirect_apart(issue, apart ? 2 : 1);
}

void exec_BRX(Issue *issue) {
  Warp *warp = issue->warp;
  const Kernel *kernel = warp_block(issue->sm, warp)->launch->kernel;
  const uint32_t *a = issue_operand(issue, issue->inst->a);
  uint32_t target[WARP_LANES];
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t address = a[lane] + (uint32_t)issue->inst->imm;
    int32_t to = kernel_at_address(kernel, address);
    if (to < 0) {
      record_fault(issue, 1u << lane, NULL, 0,
                   g_strdup_printf("branch to 0x%x, where no instruction of `%s` is", address, kernel->name),
                   g_strdup("the register holds no place of the kernel"));
      return;
    }
    target[lane] = (uint32_t)to;
  }
  if (!warp->groups) {
    record_fault(issue, issue->mask, NULL, 0, g_strdup("an indirect branch on a machine with a SIMT stack"), NULL);
    return;
  }
  redirect_apart(issue, lane_groups_scatter(issue, issue->mask, target));
  issue->next += issue->inst->mode == JUMP_OF_WARP ? 0 : issue->gpu->machine->sm.encoded.branch_indirect;
}

static void push_target(Issue *issue, StackKind kind) {
  if (!simt_push(issue->warp, issue->gpu->machine->sm.simt_stack.depth, kind, (uint32_t)issue->inst->target))
    overflow(issue);
}

void exec_SSY(Issue *issue) { push_target(issue, STACK_SSY); }
void exec_PBK(Issue *issue) { push_target(issue, STACK_BREAK); }
void exec_PCNT(Issue *issue) { push_target(issue, STACK_CONTINUE); }

static void leave(Issue *issue, StackKind kind, const char *what, const char *pushed_by) {
  Warp *warp = issue->warp;
  uint32_t staying = warp->active & ~issue->mask;
  if (!simt_leave(warp, kind, issue->mask)) {
    record_fault(issue, issue->mask, NULL, 0, g_strdup_printf("%s without an enclosing %s", what, pushed_by),
                 g_strdup_printf("execute %s before it", pushed_by));
    return;
  }
  if (staying)
    issue->next = issue->now + issue->gpu->machine->sm.latency.branch_not_taken;
  else
    redirect(issue);
}

void exec_BRK(Issue *issue) { leave(issue, STACK_BREAK, "BRK", "PBK"); }
void exec_CONT(Issue *issue) { leave(issue, STACK_CONTINUE, "CONT", "PCNT"); }
void exec_RET(Issue *issue) { leave(issue, STACK_CALL, "RET", "CAL"); }

/* A call under a guard is a call for the guard's lanes; the others wait behind it, so it must be uniform. */
void exec_CAL(Issue *issue) {
  Warp *warp = issue->warp;
  if (issue->mask != warp->active) {
    record_fault(issue, issue->mask, NULL, 0, g_strdup("CAL that only part of the active lanes takes"),
                 g_strdup("branch around the call instead of guarding it"));
    return;
  }
  if (!simt_push(warp, issue->gpu->machine->sm.simt_stack.depth, STACK_CALL, warp->pc + 1)) {
    overflow(issue);
    return;
  }
  warp->pc = (uint32_t)issue->inst->target;
  redirect(issue);
}

/* Tells the detectors which lock bits the leaving lanes still hold. */
static void check_held(Issue *issue) {
  const LockUnit *unit = &issue->sm->lock_unit;
  if (!(issue->warp->holding & issue->mask))
    return;
  ThreadId threads = warp_thread_base(warp_block(issue->sm, issue->warp), issue->warp);
  for (uint32_t i = 0; i < unit->bits; i++) {
    const LockBit *bit = &unit->bit[i];
    if (!bit->held || !thread_same_warp(bit->owner, threads))
      continue;
    uint32_t lane = 1u << thread_lane(bit->owner);
    if (lane & issue->mask) {
      ProbePoint point = issue_point(issue, lane);
      tell_exit_holding(&point, i, bit);
    }
  }
}

void exec_EXIT(Issue *issue) {
  Warp *warp = issue->warp;
  check_held(issue);
  warp->alive &= ~issue->mask;
  warp->active &= ~issue->mask;
  if (warp->groups) {
    lane_groups_lanes_exited(issue);
    barrier_lanes_exited(issue);
    lane_groups_switch(issue, issue->mask);
    return;
  }
  if (warp->active)
    return;
  simt_pop(warp);
  redirect(issue);
}
