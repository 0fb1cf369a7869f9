#include "sim/detect/proof/look_kinds.h"

#include "sim/core/exec.h"

bool look_is_of_launch(unsigned special) {
  return special == SR_LANEID || (special >= SR_NTID_X && special <= SR_NCTAID_Z) ||
         (special >= SR_LANEMASK_EQ && special <= SR_LANEMASK_GE);
}

bool look_sees_through(const ProbePoint *point, AccessKind kind, uint32_t bytes, uint32_t taken, bool unlock) {
  switch ((Opcode)point->inst->op) {
  case OP_LD:
  case OP_LDS:
  case OP_ATOM:
  case OP_ATOMS:
  case OP_RED: break;
  case OP_ST:
  case OP_STS:
    if (bytes < 4)
      return false;
    break;
  default: return false;
  }
  return !taken && !unlock && (kind != ACCESS_ATOMIC || bytes >= 4);
}

bool look_takes_from_others(const ProbePoint *point) {
  const Inst *inst = point->inst;
  if (inst->op != OP_SHFL || point->lanes == ALL_LANES || point->lanes == 0)
    return false;
  Issue issue = {.inst = inst, .regs = point->warp->regs, .consts = point->warp->consts, .mask = point->lanes};
  return inst->dst == inst->b || inst->dst == inst->c || shuffle_takers(&issue, ~point->lanes);
}

/* Somebody may read what it writes: a lane of its own, further on, or any by a shuffle, if shuffles do that. */
static bool is_wanted(const KernelState *state, const ProbePoint *point, bool shuffles) {
  RegList writes = inst_writes(point->inst, point->block->launch->kernel->nregs);
  for (unsigned i = 0; i < writes.count; i++)
    if (regset_has(&state->liveness.live_regs[point->pc + 1], (unsigned)writes.reg[i]) ||
        (shuffles && regset_has(&state->shuffled, (unsigned)writes.reg[i])))
      return true;
  return false;
}

bool look_is_one(const KernelState *state, const ProbePoint *point, AccessKind kind, bool shuffles) {
  bool depends = kind == ACCESS_ATOMIC && point->inst->mode != ATOM_EXCH;
  return depends || (kind != ACCESS_WRITE && is_wanted(state, point, shuffles));
}
