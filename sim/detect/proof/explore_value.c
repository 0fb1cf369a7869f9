/* Registers and predicates of one lane: what is known of them, and arithmetic by the simulator's own executors. */
#include "sim/detect/proof/explore_step.h"

void explore_set_register(const LaneWalk *walk, LaneState *state, int reg, bool unknown, uint32_t value) {
  if ((uint32_t)reg >= walk_nregs(walk))
    return; /* the sink */
  if (state->ranged == (uint32_t)reg + 1)
    state->ranged = state->low = state->high = 0;
  if (unknown)
    regset_put(&state->unknown, (unsigned)reg);
  else
    regset_drop(&state->unknown, (unsigned)reg);
  state->regs[reg] = unknown ? 0 : value;
}

void explore_set_range(const LaneWalk *walk, LaneState *state, int reg, uint32_t low, uint32_t high) {
  if ((uint32_t)reg < walk_nregs(walk))
    lane_state_set_range(state, (unsigned)reg, low, high);
}

bool explore_source_predicate(const LaneState *state, const Inst *inst, unsigned index) {
  unsigned predicate = inst->psrc[index];
  bool value = predicate == PRED_TRUE || (state->preds >> predicate & 1);
  return value != (inst->psrc_not >> index & 1);
}

void explore_set_predicate(LaneState *state, unsigned predicate, bool value) {
  if (predicate == PRED_SINK || predicate == PRED_TRUE)
    return;
  state->preds_unknown &= ~(1u << predicate);
  state->preds = (state->preds & ~(1u << predicate)) | (uint32_t)value << predicate;
}

void explore_forget_writes(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  RegList writes = inst_writes(inst, walk_nregs(walk));
  for (unsigned i = 0; i < writes.count; i++)
    explore_set_register(walk, state, writes.reg[i], true, 0);
  uint32_t predicates = inst_pred_writes(inst);
  state->preds_unknown |= predicates;
  state->preds &= ~predicates;
}

/* Runs the simulator's own executor on one lane. */
static void execute(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  Explorer *explorer = walk->explorer;
  unsigned lane = walk->lane;
  RegList reads = inst_reads(inst), writes = inst_writes(inst, walk_nregs(walk));
  uint32_t *rows = explorer->scratch_rows;
  for (unsigned i = 0; i < reads.count; i++)
    rows[reads.reg[i] * WARP_LANES + (int)lane] = state->regs[reads.reg[i]];
  for (unsigned predicate = 0; predicate < PRED_ROWS; predicate++)
    explorer->scratch_preds[predicate] = state->preds >> predicate & 1 ? ALL_LANES : 0;
  explorer->scratch_preds[PRED_TRUE] = ALL_LANES;
  Issue issue = {.inst = inst,
                 .regs = rows,
                 .consts = walk->view->warp->consts,
                 .pred = explorer->scratch_preds,
                 .mask = 1u << lane,
                 .gpu = explorer->gpu,
                 .sm = walk->view->sm,
                 .warp = walk->view->warp};
  executors[inst->op](&issue);
  for (unsigned i = 0; i < writes.count; i++)
    explore_set_register(walk, state, writes.reg[i], false, rows[writes.reg[i] * WARP_LANES + (int)lane]);
  for (uint32_t rest = inst_pred_writes(inst); rest; rest &= rest - 1) {
    unsigned predicate = (unsigned)__builtin_ctz(rest);
    explore_set_predicate(state, predicate, explorer->scratch_preds[predicate] >> lane & 1);
  }
}

static bool reads_unknown(const LaneState *state, const Inst *inst) {
  RegList reads = inst_reads(inst);
  for (unsigned i = 0; i < reads.count; i++)
    if (slot_unknown(state, reads.reg[i]))
      return true;
  return false;
}

static void select_operand(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  bool first = explore_source_predicate(state, inst, 0), wide = inst->op == OP_SEL64;
  int16_t chosen = first ? inst->a : inst->b;
  bool unknown[2];
  uint32_t value[2], parts = wide ? 2 : 1;
  for (uint32_t part = 0; part < parts; part++) {
    int16_t slot = slot_part(chosen, part, wide);
    unknown[part] = slot_unknown(state, slot);
    value[part] = slot_value(walk, state, slot);
  }
  for (uint32_t part = 0; part < parts; part++)
    explore_set_register(walk, state, inst->dst + (int)part, unknown[part], value[part]);
}

/* Compares each end of a range with a number. True if they agree; then so does all between. */
static bool range_decides(CmpOp cmp, bool is_signed, uint32_t low, uint32_t high, uint32_t number, bool *result) {
  bool inside = number - low <= high - low, equality = cmp == CMP_EQ || cmp == CMP_NE;
  uint32_t flip = is_signed ? UINT32_C(0x80000000) : 0;
  low ^= flip, high ^= flip, number ^= flip;
  if (!equality && low > high)
    return false; /* the range comes round, or passes from positive to negative */
  switch (cmp) {
  case CMP_LT: *result = low < number; return low >= number || high < number;
  case CMP_LE: *result = low <= number; return low > number || high <= number;
  case CMP_GT: *result = low > number; return low > number || high <= number;
  case CMP_GE: *result = low >= number; return low >= number || high < number;
  case CMP_EQ: *result = low == high && inside; return !inside || low == high;
  case CMP_NE: *result = !(low == high && inside); return !inside || low == high;
  default: return false;
  }
}

/* A comparison of what isn't known, combined with a predicate that decides: ptxas makes one of `tries < n || !seen`,
 * where the count of tries doesn't matter as long as nothing is seen. */
static bool combine_decides(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  bool compares = inst->op == OP_ISETP || inst->op == OP_ISETPX || inst->op == OP_ISETP64 || inst->op == OP_FSETP ||
                  inst->op == OP_DSETP || inst->op == OP_HSETP2;
  if (!compares || (inst->lop != LOP_AND && inst->lop != LOP_OR))
    return false;
  bool other = explore_source_predicate(state, inst, 0);
  if (other != (inst->lop == LOP_OR))
    return false;
  explore_forget_writes(walk, state, inst);
  explore_set_predicate(state, inst->pdst, other);
  explore_set_predicate(state, inst->pdst2, other);
  return true;
}

static CmpOp mirrored(CmpOp cmp) {
  switch (cmp) {
  case CMP_LT: return CMP_GT;
  case CMP_LE: return CMP_GE;
  case CMP_GT: return CMP_LT;
  case CMP_GE: return CMP_LE;
  default: return cmp;
  }
}

/* An integer comparison of the register of which a range is known with a known value: decided if all of the range
 * compares alike. */
static bool compare_range(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  if (inst->op != OP_ISETP || state->ranged == 0 || inst->flags & INST_CARRY_IN)
    return false;
  int16_t ranged = (int16_t)(state->ranged - 1);
  int16_t other = inst->a == ranged ? inst->b : inst->a;
  bool result, is_signed = inst->type == TYPE_S32;
  if ((inst->a != ranged && inst->b != ranged) || slot_unknown(state, other) ||
      inst->flags & (INST_NEG_A | INST_NEG_B | INST_ABS_A | INST_ABS_B))
    return false;
  CmpOp cmp = inst->a == ranged ? (CmpOp)inst->cmp : mirrored((CmpOp)inst->cmp);
  if (!range_decides(cmp, is_signed, state->low, state->high, slot_value(walk, state, other), &result))
    return false;
  /* One value of the range stands for all. */
  uint32_t low = state->low, high = state->high;
  explore_set_register(walk, state, ranged, false, low);
  execute(walk, state, inst);
  explore_set_range(walk, state, ranged, low, high);
  return true;
}

static bool is_linear(const Inst *inst) {
  return inst->op == OP_MOV || inst->op == OP_IADD || inst->op == OP_ISUB || inst->op == OP_IMUL ||
         inst->op == OP_IMAD || inst->op == OP_SHL;
}

/* The number that a linear instruction gives for one value of its ranged operand. */
static uint32_t execute_for(const LaneWalk *walk, const LaneState *state, const Inst *inst, uint32_t value) {
  LaneSpace space;
  lane_state_copy(&space.state, state, walk_nregs(walk));
  explore_set_register(walk, &space.state, (int)state->ranged - 1, false, value);
  execute(walk, &space.state, inst);
  return space.state.regs[inst->dst];
}

/* A known number is added to what has a range. */
static bool shift_range(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  int16_t ranged = (int16_t)((int)state->ranged - 1);
  if (inst->op != OP_IADD || ranged < 0 || (inst->a == ranged) == (inst->b == ranged) ||
      inst->flags & (INST_CARRY_IN | INST_NEG_A | INST_NEG_B | INST_SAT) || inst_pred_writes(inst) ||
      slot_unknown(state, inst->a == ranged ? inst->b : inst->a) || (uint32_t)inst->dst >= walk_nregs(walk))
    return false;
  uint32_t width = state->high - state->low, first = execute_for(walk, state, inst, state->low);
  explore_set_range(walk, state, inst->dst, first, first + width);
  return true;
}

/* The range of what is worked out from the index of any block, where that doesn't wrap. */
static bool follow_range(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  RegList reads = inst_reads(inst);
  if (!walk->view->any_block || !state->ranged || !is_linear(inst) ||
      inst->flags & (INST_CARRY_IN | INST_NEG_A | INST_NEG_B) || (uint32_t)inst->dst >= walk_nregs(walk))
    return false;
  for (unsigned i = 0; i < reads.count; i++)
    if (slot_unknown(state, reads.reg[i]) && (uint32_t)reads.reg[i] + 1 != state->ranged)
      return false;
  uint32_t low = state->low, high = state->high, first = execute_for(walk, state, inst, low);
  uint64_t step = low != high ? execute_for(walk, state, inst, low + 1) - first : 0;
  uint64_t last = first + step * (high - low);
  if (low > high || step > UINT32_MAX / 2 || last > UINT32_MAX ||
      execute_for(walk, state, inst, high) != (uint32_t)last)
    return false;
  explore_set_range(walk, state, inst->dst, first, (uint32_t)last);
  return true;
}

/* ---- halves of 64 bits ---- */

/* Every bit that they give is one bit of each operand at most; the second of some says which one. */
static bool moves_bits(const LaneState *state, const Inst *inst) {
  switch ((Opcode)inst->op) {
  case OP_MOV64:
  case OP_LOP64:
  case OP_BREV64: return true;
  case OP_SHL64:
  case OP_SHR64:
  case OP_BFE64:
  case OP_SHFX: return !slot_unknown(state, inst->b);
  default: return false;
  }
}

static void run_with(const LaneWalk *walk, const LaneState *state, const Inst *inst, const int16_t *unknown,
                     unsigned count, uint32_t ones, LaneState *result) {
  lane_state_copy(result, state, walk_nregs(walk));
  for (unsigned i = 0; i < count; i++)
    explore_set_register(walk, result, unknown[i], false, ones >> i & 1 ? UINT32_MAX : 0);
  execute(walk, result, inst);
}

uint64_t explore_with_zeros(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  LaneSpace zeros;
  lane_state_copy(&zeros.state, state, walk_nregs(walk));
  RegList reads = inst_reads(inst), writes = inst_writes(inst, walk_nregs(walk));
  for (unsigned i = 0; i < reads.count; i++)
    if (slot_unknown(state, reads.reg[i]))
      explore_set_register(walk, &zeros.state, reads.reg[i], false, 0);
  execute(walk, &zeros.state, inst);
  uint64_t result = 0;
  for (unsigned i = 0; i < writes.count; i++)
    if ((uint32_t)writes.reg[i] < walk_nregs(walk))
      result |= (uint64_t)zeros.state.regs[writes.reg[i]] << 32 * i;
  return result;
}

/* What it reads and isn't known. False: too many. */
static bool list_unknown(const LaneState *state, const Inst *inst, int16_t unknown[], unsigned max, unsigned *count) {
  RegList reads = inst_reads(inst);
  *count = 0;
  for (unsigned i = 0; i < reads.count; i++) {
    bool again = false;
    for (unsigned k = 0; k < *count; k++)
      again |= unknown[k] == reads.reg[i];
    if (again || !slot_unknown(state, reads.reg[i]))
      continue;
    if (*count == max)
      return false;
    unknown[(*count)++] = reads.reg[i];
  }
  return true;
}

/* One half may be known although the other isn't: what of it is the same whatever bits are unknown. */
static bool move_halves(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  enum { UNKNOWN_MAX = 4 };
  int16_t unknown[UNKNOWN_MAX];
  unsigned count;
  if (!moves_bits(state, inst) || inst_pred_writes(inst) || !list_unknown(state, inst, unknown, UNKNOWN_MAX, &count))
    return false;
  RegList writes = inst_writes(inst, walk_nregs(walk));
  LaneSpace first, other;
  run_with(walk, state, inst, unknown, count, 0, &first.state);
  uint32_t differs = 0;
  for (uint32_t ones = 1; ones >> count == 0; ones++) {
    run_with(walk, state, inst, unknown, count, ones, &other.state);
    for (unsigned i = 0; i < writes.count; i++)
      differs |= other.state.regs[writes.reg[i]] != first.state.regs[writes.reg[i]] ? 1u << i : 0;
  }
  for (unsigned i = 0; i < writes.count; i++)
    explore_set_register(walk, state, writes.reg[i], differs >> i & 1, first.state.regs[writes.reg[i]]);
  return true;
}

/* Halves that differ decide whether 64 bits are equal, and high ones which are less. */
static bool compare_halves(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  enum { UNKNOWN_MAX = 4 };
  int16_t unknown[UNKNOWN_MAX];
  unsigned count;
  if (inst->op != OP_ISETP64 || inst->flags & (INST_NEG_A | INST_NEG_B | INST_ABS_A | INST_ABS_B))
    return false;
  bool equality = inst->cmp == CMP_EQ || inst->cmp == CMP_NE, decided = false;
  for (uint32_t part = equality ? 0 : 1; part < 2; part++) {
    int16_t a = slot_part(inst->a, part, true), b = slot_part(inst->b, part, true);
    decided |= !slot_unknown(state, a) && !slot_unknown(state, b) &&
               slot_value(walk, state, a) != slot_value(walk, state, b);
  }
  if (!decided || !list_unknown(state, inst, unknown, UNKNOWN_MAX, &count))
    return false;
  LaneSpace any;
  run_with(walk, state, inst, unknown, count, 0, &any.state);
  state->preds = any.state.preds;
  state->preds_unknown = any.state.preds_unknown;
  return true;
}

void explore_arithmetic(LaneWalk *walk, LaneState *state, const Inst *inst) {
  if (inst->op == OP_SEL || inst->op == OP_SEL64) {
    select_operand(walk, state, inst); /* its predicate is known here; only the chosen operand matters */
  } else if (!reads_unknown(state, inst)) {
    execute(walk, state, inst);
  } else if (!combine_decides(walk, state, inst) && !compare_range(walk, state, inst) &&
             !shift_range(walk, state, inst) && !follow_range(walk, state, inst)) {
    if (explore_give_few(walk, state, inst))
      return;
    if (!move_halves(walk, state, inst) && !compare_halves(walk, state, inst) &&
        !explore_give_range(walk, state, inst))
      explore_forget_writes(walk, state, inst);
  }
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* Where a block that isn't resident will run isn't known. */
static bool is_place(unsigned special) {
  return (special >= SR_CTAID_X && special <= SR_CTAID_Z) || special == SR_SMID || special == SR_WARPID ||
         (special >= SR_CLUSTERID_X && special <= SR_CLUSTERID_Z) ||
         (special >= SR_CLUSTER_CTAID_X && special <= SR_CLUSTER_CTAID_Z) || special == SR_CLUSTER_CTARANK;
}

/* The same of a lane that stands for others, of its block or of any. */
static bool is_unknown_place(const LaneWalk *walk, unsigned special) {
  return walk->assumption->one_block ? special == SR_WARPID : is_place(special);
}

/* The index of a block that stands for several, in a grid of one dimension. */
static bool range_of_index(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  const WarpView *view = walk->view;
  if (!view->any_block || view->launch->grid[1] != 1 || view->launch->grid[2] != 1)
    return false;
  if (inst->mode == SR_CTAID_X)
    explore_set_range(walk, state, inst->dst, (uint32_t)view->first_block, (uint32_t)view->last_block);
  else if (inst->mode == SR_CTAID_Y || inst->mode == SR_CTAID_Z)
    explore_set_register(walk, state, inst->dst, false, 0);
  else
    return false;
  return true;
}

void explore_sysreg(LaneWalk *walk, LaneState *state, const Inst *inst) {
  unsigned special = inst->mode;
  bool of_lane = special == SR_LANEID || (special >= SR_TID_X && special <= SR_TID_Z) ||
                 (special >= SR_LANEMASK_EQ && special <= SR_LANEMASK_GE);
  walk->effects.of_lane |= of_lane;
  walk->effects.of_warp = true;
  if (range_of_index(walk, state, inst)) {
    explore_go_on(walk, state, inst, state->pc + 1);
    return;
  }
  if (special_is_clock(inst->mode) || (walk->view->any_block && is_place(inst->mode)) ||
      (is_any_lane(walk) && (of_lane || is_unknown_place(walk, inst->mode))))
    explore_forget_writes(walk, state, inst);
  else
    execute(walk, state, inst);
  explore_go_on(walk, state, inst, state->pc + 1);
}
