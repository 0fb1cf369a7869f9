/* Special registers and barriers. */
#include <glib.h>

#include "sim/core/barrier.h"
#include "sim/core/exec_rows.h"
#include "sim/core/lane_groups.h"
#include "sim/core/record.h"
#include "sim/core/tell.h"

__extension__ typedef unsigned __int128 Wide;

/* Fills `row` with coordinate `axis` of each lane's thread in its block. */
static void thread_index(const Issue *issue, unsigned axis, uint32_t row[32]) {
  const uint32_t *size = warp_block(issue->sm, issue->warp)->launch->block;
  for (uint32_t lane = 0; lane < 32; lane++) {
    uint32_t linear = issue->warp->warp_in_block * 32 + lane;
    row[lane] = axis == 0 ? linear % size[0] : axis == 1 ? linear / size[0] % size[1] : linear / size[0] / size[1];
  }
}

static void lane_mask(SpecialReg which, uint32_t row[32]) {
  for (uint32_t lane = 0; lane < 32; lane++) {
    uint32_t own = 1u << lane, below = own - 1;
    row[lane] = which == SR_LANEMASK_EQ   ? own
                : which == SR_LANEMASK_LT ? below
                : which == SR_LANEMASK_LE ? below | own
                : which == SR_LANEMASK_GT ? ~(below | own)
                                          : ~below;
  }
}

/* Nanoseconds since the start. */
static uint64_t nanoseconds(const Issue *issue) {
  const Machine *machine = issue->gpu->machine;
  Wide ticks = (Wide)issue->now * (uint64_t)machine->clocks.globaltimer;
  uint64_t steps = (uint64_t)(ticks / (uint64_t)machine->clocks.sm);
  return (uint64_t)((Wide)steps * 1000000000u / (uint64_t)machine->clocks.globaltimer);
}

/* A special register that is the same in all lanes. */
static uint64_t uniform_register(const Issue *issue, SpecialReg which) {
  const Block *block = warp_block(issue->sm, issue->warp);
  const Launch *launch = block->launch;
  const Machine *machine = issue->gpu->machine;
  uint64_t clock = issue->now / machine->sm.clock.divisor;
  switch (which) {
  case SR_CTAID_X:
  case SR_CTAID_Y:
  case SR_CTAID_Z: return block->ctaid[which - SR_CTAID_X];
  case SR_NTID_X:
  case SR_NTID_Y:
  case SR_NTID_Z: return launch->block[which - SR_NTID_X];
  case SR_NCTAID_X:
  case SR_NCTAID_Y:
  case SR_NCTAID_Z: return launch->grid[which - SR_NCTAID_X];
  case SR_WARPID: return issue->warp->slot;
  case SR_NWARPID: return machine->sm.max_warps;
  case SR_SMID: return issue->sm->index;
  case SR_NSMID: return machine->gpu.sms;
  case SR_CLOCKLO: return (uint32_t)clock;
  case SR_CLOCKHI: return clock >> 32;
  case SR_CLOCK64: return clock;
  case SR_GLOBALTIMERLO: return (uint32_t)nanoseconds(issue);
  case SR_GLOBALTIMERHI: return nanoseconds(issue) >> 32;
  case SR_GLOBALTIMER: return nanoseconds(issue);
  case SR_GRIDID: return launch->index;
  case SR_SHARED_BYTES: return launch->shared_bytes;
  case SR_DYNAMIC_SHARED_BYTES:
    return launch->shared_bytes - launch->kernel->shared_bytes - launch->kernel->shared_behind;
  case SR_ENVREG1: return launch->envreg >> 32;
  case SR_ENVREG2: return (uint32_t)launch->envreg;
  default: return cluster_register(block, which);
  }
}

void exec_S2R(Issue *issue) {
  SpecialReg which = issue->inst->mode;
  uint32_t row[32], high[32] = {0};
  if (which >= SR_TID_X && which <= SR_TID_Z) {
    thread_index(issue, which - SR_TID_X, row);
  } else if (which >= SR_LANEMASK_EQ && which <= SR_LANEMASK_GE) {
    lane_mask(which, row);
  } else {
    uint64_t value = uniform_register(issue, which);
    ROW row[l] = which == SR_LANEID ? l : (uint32_t)value;
    ROW high[l] = (uint32_t)(value >> 32);
  }
  issue_write(issue, issue->inst->dst, row);
  if (issue->inst->wide & WIDE_DST)
    issue_write(issue, (int16_t)(issue->inst->dst + 1), high);
}

/* The operand's value in the lowest executing lane; a fault if the others differ. */
static bool uniform_operand(Issue *issue, int16_t slot, const char *what, uint32_t *value) {
  const uint32_t *row = issue_operand(issue, slot);
  *value = row[__builtin_ctz(issue->mask)];
  if (slot < 0)
    return true; /* a constant */
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    if (row[lane] == *value)
      continue;
    record_fault(issue, 1u << lane, NULL, 0,
                 g_strdup_printf("%s %u in lane %u, but %u in lane %d of the same warp", what, row[lane], lane,
                                 *value, __builtin_ctz(issue->mask)),
                 g_strdup("a warp arrives as a whole: give all its lanes the same value"));
    return false;
  }
  return true;
}

/* Lanes of a SIMT stack that wait at an EXIT for those that run, and do nothing else any more. */
static uint32_t lanes_at_exit(const Issue *issue) {
  const Warp *warp = issue->warp;
  const Kernel *kernel = warp_block(issue->sm, warp)->launch->kernel;
  uint32_t at_exit = 0, above = warp->active;
  for (uint32_t i = warp->depth; i-- > 0;) {
    const StackEntry *entry = &warp->stack[i];
    if (entry->pc < kernel->ninsts && kernel->insts[entry->pc].op == OP_EXIT &&
        !inst_is_guarded(&kernel->insts[entry->pc]))
      at_exit |= entry->mask & ~above;
    above |= entry->mask;
  }
  return at_exit & warp->alive;
}

static void tell_arrival(const Issue *issue, uint32_t id) {
  const Warp *warp = issue->warp;
  uint32_t missing = warp->groups ? 0 : warp->lanes & ~issue->mask;
  ProbePoint point = issue_point(issue, issue->mask);
  if (missing) {
    uint32_t here = warp->alive & ~lanes_at_exit(issue);
    tell_partial_barrier(&point, missing & here, missing & ~here);
  }
  PROBE_FIRE(issue->gpu, barrier_arrive, &point, id, issue->inst->mode != BAR_ARV);
}

void exec_SYNCBLOCKS(Issue *issue) {
  uint32_t before = issue->warp->active;
  tell_arrival(issue, GRID_BARRIER);
  barrier_arrive(issue, GRID_BARRIER, 0);
  if (issue->warp->groups)
    lane_groups_switch(issue, before);
}

static bool misuse_of_cluster(Issue *issue, uint32_t lanes, const char *what, const char *repair) {
  record_fault(issue, lanes, NULL, 0, g_strdup(what), g_strdup(repair));
  return false;
}

static bool arrive_at_cluster(Issue *issue, uint32_t lanes) {
  uint32_t *owes = issue->warp->groups->owes;
  if ((owes[0] | owes[1]) & lanes)
    return misuse_of_cluster(issue, (owes[0] | owes[1]) & lanes,
                             "a second arrival at the barrier of the cluster, without a wait behind the first",
                             "wait (barrier.cluster.wait) before each arrival but the first");
  owes[issue->block->cluster_phase & 1] |= lanes;
  tell_arrival(issue, CLUSTER_BARRIER);
  barrier_arrive(issue, CLUSTER_BARRIER, 0);
  return true;
}

static bool wait_for_cluster(Issue *issue, uint32_t lanes) {
  uint32_t *owes = issue->warp->groups->owes, phase = issue->block->cluster_phase & 1;
  uint32_t open = lanes & owes[phase], over = lanes & owes[phase ^ 1];
  if (lanes & ~(open | over))
    return misuse_of_cluster(issue, lanes & ~(open | over),
                             "a wait at the barrier of the cluster by a thread that hasn't arrived there",
                             "arrive (barrier.cluster.arrive) before each wait");
  if (open && over)
    return misuse_of_cluster(issue, lanes,
                             "lanes of one warp wait together for different phases of the barrier of their cluster, "
                             "which isn't modelled",
                             "let the lanes of a warp come together before they arrive (__syncwarp())");
  owes[0] &= ~lanes;
  owes[1] &= ~lanes;
  if (open) {
    barrier_cluster_wait(issue);
    return true;
  }
  issue->next = MAX(issue->next, issue->block->cluster_over);
  ProbePoint point = issue_point(issue, issue->mask);
  PROBE_FIRE(issue->gpu, cluster_pass, &point);
  return true;
}

void exec_CLUSTERBAR(Issue *issue) {
  Warp *warp = issue->warp;
  uint32_t before = warp->active, lanes = issue->inst->flags & INST_UNALIGNED ? issue->mask : warp->active;
  bool good =
      issue->inst->mode == CLUSTERBAR_ARRIVE ? arrive_at_cluster(issue, lanes) : wait_for_cluster(issue, lanes);
  if (good)
    lane_groups_switch(issue, before);
}

void exec_BAR(Issue *issue) {
  uint32_t id, count = 0, barriers = issue->gpu->machine->sm.barrier.count;
  uint64_t without = issue->next; /* when the warp would go on if it waited for nobody */
  if (!uniform_operand(issue, issue->inst->a, "barrier", &id))
    return;
  if (issue->inst->flags & INST_HAS_COUNT && !uniform_operand(issue, issue->inst->b, "thread count", &count))
    return;
  if (!barrier_exists(issue->gpu->machine, id)) {
    record_fault(issue, issue->mask, NULL, 0, g_strdup_printf("barrier %u of a block that has %u", id, barriers),
                 g_strdup_printf("use barriers 0 to %u", barriers - 1));
    return;
  }
  bool whole_block = issue->inst->lop && count == 0;
  if (issue->inst->flags & INST_HAS_COUNT && !whole_block && !barrier_counts_warps(count)) {
    record_fault(issue, issue->mask, NULL, 0, g_strdup_printf("barrier with a thread count of %u", count),
                 g_strdup("the count must be a positive multiple of 32"));
    return;
  }
  Warp *warp = issue->warp;
  uint32_t before = warp->active;
  tell_arrival(issue, id);
  if (!barrier_arrive(issue, id, count)) {
    uint32_t given = warp_block(issue->sm, warp)->barrier[id].expected;
    g_autofree char *before_it = given ? g_strdup_printf("%u", given) : g_strdup("none, so all threads of the block");
    g_autofree char *here = count ? g_strdup_printf("a thread count of %u", count) : g_strdup("no thread count");
    record_fault(issue, issue->mask, NULL, 0,
                 g_strdup_printf("barrier %u with %s, but an earlier arrival gave %s", id, here, before_it),
                 g_strdup("all arrivals at one barrier must give the same count"));
  } else if (warp->groups) {
    lane_groups_switch(issue, before);
  }
  if (issue->encoded && issue->inst->mode == BAR_SYNC && issue->mask == warp->alive)
    warp->shadow = without;
}
