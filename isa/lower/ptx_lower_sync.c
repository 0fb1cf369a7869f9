/* Barriers, and what the lanes of a warp do together. */
#include "isa/lower/ptx_lower_state.h"

/* The lanes of the mask come together first. Where they are together anyhow, a later pass takes it away. */
static void meet(Lower *lower, Value mask) { lower_op1(lower, OP_WARPSYNC, VALUE_SINK, mask); }

/* -- barriers of the block -- */

static BarMode bar_mode(const PtxInst *inst) {
  if (inst->mods.mode != PTX_RED)
    return inst->mods.mode == PTX_ARRIVE ? BAR_ARV : BAR_SYNC;
  return inst->mods.mode2 == PTX_POPC ? BAR_RED_POPC : inst->mods.mode2 == PTX_AND ? BAR_RED_AND : BAR_RED_OR;
}

static void barrier(Lower *lower, bool aligned) {
  const PtxInst *inst = lower->inst;
  bool reduces = inst->mods.mode == PTX_RED;
  unsigned first = reduces ? 1 : 0, last = inst->noperands - (reduces ? 1u : 0u);
  bool counted = last - first == 2;
  Value id = lower_value(lower, first, PTX_U32), count = counted ? lower_value(lower, first + 1, PTX_U32) : id;
  Value dst = VALUE_SINK;
  int32_t pdst = VPRED_SINK;
  if (reduces && inst->mods.mode2 == PTX_POPC)
    dst = lower_result(lower, 0, PTX_U32).value;
  else if (reduces)
    pdst = lower_pred_result(lower, lower_operand(lower, 0));
  VInst *vinst = lower_op0(lower, OP_BAR);
  vinst->a = id.index;
  vinst->a_row = id.row;
  if (counted) {
    vinst->b = count.index;
    vinst->b_row = count.row;
    vinst->inst.flags |= INST_HAS_COUNT;
  }
  vinst->dst = dst.index;
  vinst->dst_row = dst.row;
  vinst->pdst = pdst;
  vinst->inst.mode = (uint8_t)bar_mode(inst);
  vinst->inst.flags |= aligned ? 0 : (uint32_t)INST_UNALIGNED;
  if (reduces)
    lower_set_psrc(vinst, 0, lower_pred(lower, last));
}

void lower_BAR(Lower *lower, const PtxInst *inst) {
  if (inst->mods.flags & PTX_FLAG_WARP)
    meet(lower, lower_value(lower, 0, PTX_B32));
  else
    barrier(lower, true);
}

/* Of several blocks: an arrival is a release unless it is relaxed, and a wait an acquire. */
static void meet_cluster(Lower *lower, bool aligned) {
  bool arrives = lower->inst->mods.mode == PTX_ARRIVE;
  if (arrives && lower->inst->mods.sem != PTX_RELAXED)
    lower_fence_of_gpu(lower);
  VInst *vinst = lower_op0(lower, OP_CLUSTERBAR);
  vinst->inst.mode = arrives ? CLUSTERBAR_ARRIVE : CLUSTERBAR_WAIT;
  vinst->inst.flags |= aligned ? 0 : (uint32_t)INST_UNALIGNED;
  if (arrives)
    return;
  vinst = lower_op0(lower, OP_CCTL); /* no copy in the L1 is older */
  vinst->inst.mode = FENCE_GL;
  vinst->inst.scope = SCOPE_GPU;
  vinst->inst.sem = SEM_ACQUIRE;
}

/* Of a cluster of one block ptxas 13.0 makes nothing of the arrival, and BAR.SYNC 0 of the wait. */
static void cluster_barrier(Lower *lower, bool aligned) {
  if (!lower_needs(lower, 90, "barrier.cluster"))
    return;
  if (lower->kernel->ranked) {
    meet_cluster(lower, aligned);
    return;
  }
  if (lower->inst->mods.mode == PTX_ARRIVE)
    return;
  VInst *vinst = lower_op0(lower, OP_BAR);
  vinst->a = lower_imm(lower, 0).index;
  vinst->inst.mode = BAR_SYNC;
  vinst->inst.flags |= aligned ? 0 : (uint32_t)INST_UNALIGNED;
}

void lower_BARRIER(Lower *lower, const PtxInst *inst) {
  bool aligned = inst->mods.flags & PTX_FLAG_ALIGNED;
  if (inst->mods.scope == PTX_CLUSTER)
    cluster_barrier(lower, aligned);
  else
    barrier(lower, aligned);
}

/* -- votes -- */

void lower_VOTE(Lower *lower, const PtxInst *inst) {
  bool ballot = inst->mods.mode == PTX_BALLOT, has_mask = inst->mods.flags & PTX_FLAG_SYNC;
  Value dst = ballot ? lower_result(lower, 0, PTX_B32).value : VALUE_SINK, mask = VALUE_SINK;
  int32_t pdst = ballot ? VPRED_SINK : lower_pred_result(lower, lower_operand(lower, 0));
  Pred voter = lower_pred(lower, 1);
  if (has_mask)
    meet(lower, mask = lower_value(lower, 2, PTX_B32));
  VInst *vinst = lower_op0(lower, OP_VOTE);
  vinst->dst = dst.index;
  vinst->dst_row = dst.row;
  vinst->pdst = pdst;
  vinst->inst.mode = inst->mods.mode == PTX_ANY ? VOTE_ANY : inst->mods.mode == PTX_UNI ? VOTE_EQ : VOTE_ALL;
  lower_set_psrc(vinst, 0, voter);
  if (has_mask) {
    vinst->a = mask.index;
    vinst->a_row = mask.row;
    vinst->inst.flags |= INST_HAS_MASK;
  }
}

void lower_ACTIVEMASK(Lower *lower, const PtxInst *inst) {
  Value dst = lower_result(lower, 0, PTX_B32).value;
  VInst *vinst = lower_op0(lower, OP_VOTE);
  vinst->dst = dst.index;
  vinst->dst_row = dst.row;
  vinst->inst.mode = VOTE_ALL;
}

/* -- exchange -- */

/* The parts of `d|p`; the predicate is the sink if there is none. */
static Value split_result(Lower *lower, int32_t *pdst) {
  const PtxOperand *first = lower_operand(lower, 0);
  bool pair = first->kind == PTX_OPERAND_PAIR;
  *pdst = pair ? lower_pred_result(lower, lower_part(lower, first, 1)) : VPRED_SINK;
  return lower_result_of(lower, pair ? lower_part(lower, first, 0) : first, PTX_B32).value;
}

void lower_SHFL(Lower *lower, const PtxInst *inst) {
  static const uint8_t modes[PTX_WORD_COUNT] = {
      [PTX_UP] = SHFL_UP, [PTX_DOWN] = SHFL_DOWN, [PTX_BFLY] = SHFL_BFLY, [PTX_IDX] = SHFL_IDX};
  int32_t pdst;
  if (!lower_needs(lower, 30, "shfl"))
    return;
  Value dst = split_result(lower, &pdst);
  Value a = lower_value(lower, 1, PTX_B32), b = lower_value(lower, 2, PTX_B32), c = lower_value(lower, 3, PTX_B32);
  if (inst->mods.flags & PTX_FLAG_SYNC)
    meet(lower, lower_value(lower, 4, PTX_B32));
  VInst *vinst = lower_op3(lower, OP_SHFL, dst, a, b, c);
  vinst->inst.mode = modes[inst->mods.mode];
  vinst->pdst = pdst;
}

void lower_MATCH(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  int32_t pdst;
  if (!lower_needs(lower, 70, "match"))
    return;
  Value dst = split_result(lower, &pdst), a = lower_value(lower, 1, type), mask = lower_value(lower, 2, PTX_B32);
  meet(lower, mask);
  VInst *vinst = lower_op2(lower, OP_MATCH, dst, a, mask);
  vinst->inst.mode = inst->mods.mode == PTX_ALL ? MATCH_ALL : MATCH_ANY;
  vinst->inst.wide = lower_is_wide(type) ? WIDE_A : 0;
  vinst->pdst = pdst;
}

void lower_REDUX(Lower *lower, const PtxInst *inst) {
  static const uint8_t modes[PTX_WORD_COUNT] = {[PTX_ADD] = ATOM_ADD, [PTX_MIN] = ATOM_MIN, [PTX_MAX] = ATOM_MAX,
                                                [PTX_AND] = ATOM_AND, [PTX_OR] = ATOM_OR,   [PTX_XOR] = ATOM_XOR};
  PtxWord type = (PtxWord)inst->mods.type;
  if (!lower_needs(lower, 80, "redux"))
    return;
  Value dst = lower_result(lower, 0, type).value, a = lower_value(lower, 1, type);
  Value mask = lower_value(lower, 2, PTX_B32);
  meet(lower, mask);
  VInst *vinst = lower_op2(lower, OP_REDUX, dst, a, mask);
  vinst->inst.mode = modes[inst->mods.op];
  vinst->inst.type = (uint8_t)lower_int_type(type);
}

void lower_ELECT(Lower *lower, const PtxInst *inst) {
  int32_t pdst;
  if (!lower_needs(lower, 90, "elect"))
    return;
  Value dst = split_result(lower, &pdst), mask = lower_value(lower, 1, PTX_B32);
  meet(lower, mask);
  lower_op1(lower, OP_ELECT, dst, mask)->pdst = pdst;
}

/* Older machines haven't it, but it only delays. */
void lower_NANOSLEEP(Lower *lower, const PtxInst *inst) {
  lower_op1(lower, OP_NANOSLEEP, VALUE_SINK, lower_value(lower, 0, PTX_U32));
}
