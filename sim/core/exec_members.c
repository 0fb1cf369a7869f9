#include "sim/core/members.h"
#include "sim/core/tell.h"

const Inst *members_exchange(const Kernel *kernel, uint32_t pc) {
  const Inst *next = pc + 1 < kernel->ninsts ? &kernel->insts[pc + 1] : NULL;
  switch (next ? (Opcode)next->op : OP_NOP) {
  case OP_SHFL:
  case OP_MATCH:
  case OP_REDUX:
  case OP_ELECT: return next;
  case OP_VOTE: return next->flags & INST_HAS_MASK ? next : NULL;
  default: return NULL;
  }
}

bool members_alike(const Kernel *kernel, uint32_t a, uint32_t b) {
  const Inst *one = members_exchange(kernel, a), *other = members_exchange(kernel, b);
  if (!one || !other)
    return !one && !other;
  return one->op == other->op && one->mode == other->mode && one->type == other->type;
}

void members_tell(const Issue *issue, uint32_t pc, uint32_t lanes, const uint32_t members[WARP_LANES],
                  uint32_t elsewhere) {
  uint32_t named = members ? 0 : ALL_LANES, strangers = 0;
  for (uint32_t rest = members ? lanes : 0; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    named |= members[lane];
    strangers |= lane_bit[lane] & ~members[lane];
  }
  uint32_t absent = named & issue->warp->lanes & ~lanes & ~elsewhere;
  if (!(absent | strangers))
    return;
  ProbePoint point = issue_point(issue, lanes);
  point.pc = pc;
  point.inst = &point.block->launch->kernel->insts[pc];
  tell_odd_mask(&point, absent, strangers);
}

void members_tell_sync(const Issue *issue, uint32_t lanes, const uint32_t members[WARP_LANES]) {
  if (!PROBE_WANTED(issue->gpu, warp_sync))
    return;
  for (uint32_t rest = lanes; rest;) {
    uint32_t mask = members ? members[__builtin_ctz(rest)] : ALL_LANES, alike = members ? 0 : rest;
    for (uint32_t others = members ? rest : 0; others; others &= others - 1)
      alike |= members[__builtin_ctz(others)] == mask ? others & -others : 0;
    ProbePoint point = issue_point(issue, alike);
    PROBE_FIRE(issue->gpu, warp_sync, &point);
    rest &= ~alike;
  }
}

void members_tell_synced(const Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *members = NULL;
  if ((inst->op == OP_VOTE && inst->flags & INST_HAS_MASK) || inst->op == OP_ELECT)
    members = issue_operand(issue, inst->a);
  else if (inst->op == OP_MATCH || inst->op == OP_REDUX)
    members = issue_operand(issue, inst->b);
  members_tell(issue, issue->warp->pc, issue->warp->active, members, 0);
}
