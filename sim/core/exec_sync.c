/* Votes, special registers and barriers. */
#include <glib.h>

#include "sim/core/barrier.h"
#include "sim/core/gpu.h"
#include "sim/core/lane_groups.h"

void exec_VOTE(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t voters = issue->mask, yes = issue_pred(issue, 0) & voters;
  bool result = inst->mode == VOTE_ALL   ? yes == voters
                : inst->mode == VOTE_ANY ? yes != 0
                                         : yes == 0 || yes == voters;
  uint32_t row[32];
  for (unsigned lane = 0; lane < 32; lane++)
    row[lane] = yes;
  issue_write(issue, inst->dst, row);
  issue_set_pred(issue, inst->pdst, result ? ALL_LANES : 0);
}

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

/* A special register that is the same in all lanes. */
static uint32_t uniform_register(const Issue *issue, SpecialReg which) {
  const Block *block = warp_block(issue->sm, issue->warp);
  const Machine *machine = issue->gpu->machine;
  uint64_t clock = issue->now / machine->sm.clock.divisor;
  switch (which) {
  case SR_CTAID_X:
  case SR_CTAID_Y:
  case SR_CTAID_Z: return block->ctaid[which - SR_CTAID_X];
  case SR_NTID_X:
  case SR_NTID_Y:
  case SR_NTID_Z: return block->launch->block[which - SR_NTID_X];
  case SR_NCTAID_X:
  case SR_NCTAID_Y:
  case SR_NCTAID_Z: return block->launch->grid[which - SR_NCTAID_X];
  case SR_WARPID: return issue->warp->slot;
  case SR_NWARPID: return machine->sm.max_warps;
  case SR_SMID: return issue->sm->index;
  case SR_NSMID: return machine->gpu.sms;
  case SR_CLOCKLO: return (uint32_t)clock;
  case SR_CLOCKHI: return (uint32_t)(clock >> 32);
  default: return 0;
  }
}

void exec_S2R(Issue *issue) {
  SpecialReg which = issue->inst->mode;
  uint32_t row[32];
  if (which >= SR_TID_X && which <= SR_TID_Z) {
    thread_index(issue, which - SR_TID_X, row);
  } else if (which >= SR_LANEMASK_EQ && which <= SR_LANEMASK_GE) {
    lane_mask(which, row);
  } else {
    uint32_t value = uniform_register(issue, which);
    for (uint32_t lane = 0; lane < 32; lane++)
      row[lane] = which == SR_LANEID ? lane : value;
  }
  issue_write(issue, issue->inst->dst, row);
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
    gpu_raise_fault(issue, 1u << lane, NULL, 0,
                    g_strdup_printf("%s %u in lane %u, but %u in lane %d of the same warp", what, row[lane], lane,
                                    *value, __builtin_ctz(issue->mask)),
                    g_strdup("a warp arrives as a whole: give all its lanes the same value"));
    return false;
  }
  return true;
}

void exec_BAR(Issue *issue) {
  uint32_t id, count = 0, barriers = issue->gpu->machine->sm.barrier.count;
  if (issue->mask == 0)
    return;
  if (!uniform_operand(issue, issue->inst->a, "barrier", &id))
    return;
  if (issue->inst->flags & INST_HAS_COUNT && !uniform_operand(issue, issue->inst->b, "thread count", &count))
    return;
  if (id >= barriers) {
    gpu_raise_fault(issue, issue->mask, NULL, 0, g_strdup_printf("barrier %u of a block that has %u", id, barriers),
                    g_strdup_printf("use barriers 0 to %u", barriers - 1));
    return;
  }
  if (issue->inst->flags & INST_HAS_COUNT && (count == 0 || count % 32)) {
    gpu_raise_fault(issue, issue->mask, NULL, 0, g_strdup_printf("barrier with a thread count of %u", count),
                    g_strdup("the count must be a positive multiple of 32"));
    return;
  }
  Warp *warp = issue->warp;
  uint32_t absent = warp->groups ? 0 : warp->alive & ~issue->mask, before = warp->active;
  ProbePoint point = issue_point(issue, issue->mask);
  if (absent)
    PROBE_FIRE(issue->gpu, partial_barrier, &point, absent);
  PROBE_FIRE(issue->gpu, barrier_arrive, &point, id, issue->inst->mode != BAR_ARV);
  if (!barrier_arrive(issue, id, count))
    gpu_raise_fault(issue, issue->mask, NULL, 0,
                    g_strdup_printf("barrier %u with a thread count of %u, but an earlier arrival gave %u", id, count,
                                    warp_block(issue->sm, warp)->barrier[id].expected),
                    g_strdup("all arrivals at one barrier must give the same count"));
  else if (warp->groups)
    lane_groups_switch(issue, before);
}
