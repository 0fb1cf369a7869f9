#include "isa/flow/merge.h"

enum { NOT_MADE = -1, MADE_OFTEN = -2, REDUX_CAPABILITY = 80 };

typedef struct Merge {
  VKernel *vkernel;
  const Flow *flow;
  const Loops *loops;
  const Divergence *divergence;
  unsigned capability;
  int32_t *maker, *pred_maker; /* of each register and predicate: the instruction that writes it, or NOT_MADE ... */
  uint8_t *wanted;             /* of each register: something reads it */
  uint8_t *called;             /* of each register: what a called function gave has part in it */
} Merge;

static const VInst *inst_at(const Merge *merge, uint32_t i) {
  return &g_array_index(merge->vkernel->insts, VInst, i);
}

static void note_maker(int32_t *maker, guint i) { *maker = *maker == NOT_MADE ? (int32_t)i : MADE_OFTEN; }

static void find_makers(Merge *merge) {
  guint registers = merge->vkernel->rows->len, preds = merge->vkernel->npreds;
  merge->maker = g_new(int32_t, registers + 1);
  merge->pred_maker = g_new(int32_t, preds + 1);
  merge->wanted = g_new0(uint8_t, registers + 1);
  for (guint r = 0; r < registers; r++)
    merge->maker[r] = NOT_MADE;
  for (guint p = 0; p < preds; p++)
    merge->pred_maker[p] = NOT_MADE;
  for (guint i = 0; i < merge->vkernel->insts->len; i++) {
    VRegUse uses[8];
    int32_t written[2];
    unsigned count = vinst_writes(inst_at(merge, i), uses);
    for (unsigned u = 0; u < count; u++)
      note_maker(&merge->maker[uses[u].reg], i);
    count = vinst_pred_writes(inst_at(merge, i), written);
    for (unsigned p = 0; p < count; p++)
      note_maker(&merge->pred_maker[written[p]], i);
    count = vinst_reads(inst_at(merge, i), uses);
    for (unsigned u = 0; u < count; u++)
      merge->wanted[uses[u].reg] = 1;
  }
}

/* -- where only one lane can be -- */

/* The instruction that gives an operand its only value; NULL: a constant, or several do. */
static const VInst *maker_of(const Merge *merge, int32_t operand) {
  enum { COPIES = 4 };
  const VInst *maker = NULL;
  for (unsigned copy = 0; copy < COPIES; copy++) {
    if (operand < 0 || operand == VREG_SINK || merge->maker[operand] < 0)
      break;
    maker = inst_at(merge, (uint32_t)merge->maker[operand]);
    if (maker->inst.op != OP_MOV || vinst_is_guarded(maker))
      break;
    operand = maker->a;
  }
  return maker;
}

static bool is_special(const Merge *merge, int32_t operand, SpecialReg special) {
  const VInst *maker = maker_of(merge, operand);
  return maker && maker->inst.op == OP_S2R && maker->inst.mode == special;
}

/* An immediate or a parameter. */
static bool is_constant(const Merge *merge, int32_t operand) {
  const VInst *maker = maker_of(merge, operand);
  return operand < 0 || (maker && maker->inst.op == OP_MOV && maker->a < 0);
}

/* The predicate compares %tid.x with a constant, or %laneid with what is the same for all lanes; `*equal`: for
 * equality. */
static bool picks_lane(const Merge *merge, int32_t predicate, bool *equal) {
  int32_t i = predicate >= 0 ? merge->pred_maker[predicate] : NOT_MADE;
  if (i < 0)
    return false;
  const VInst *compare = inst_at(merge, (uint32_t)i);
  if (compare->inst.op != OP_ISETP || compare->psrc[0] != VPRED_TRUE || compare->pdst != predicate ||
      (compare->inst.cmp != CMP_EQ && compare->inst.cmp != CMP_NE))
    return false;
  *equal = compare->inst.cmp == CMP_EQ;
  return (is_special(merge, compare->a, SR_TID_X) && is_constant(merge, compare->b)) ||
         (is_special(merge, compare->a, SR_LANEID) && !(merge->divergence->differs[i] & DIFFERS_B));
}

/* All lanes but one leave the block's straight way at its end. */
static bool leaves_one(const Merge *merge, uint32_t block) {
  const Flow *flow = merge->flow;
  const VInst *last = inst_at(merge, flow->first[block + 1] - 1);
  bool equal, negated = last->inst.flags & INST_GUARD_NOT;
  return block + 1 < flow->nblocks && (last->inst.op == OP_BRA || last->inst.op == OP_EXIT) &&
         flow->in.start[block + 2] - flow->in.start[block + 1] == 1 && picks_lane(merge, last->guard, &equal) &&
         equal == negated;
}

/* Of each block: ptxas sees that one lane at most comes to it. */
static uint8_t *find_lone_blocks(const Merge *merge) {
  uint32_t n = merge->flow->nblocks;
  uint8_t *lone = g_new0(uint8_t, n + 1);
  for (uint32_t b = 0; b < n; b++) {
    if (!leaves_one(merge, b))
      continue;
    for (uint32_t inside = 0; inside < n; inside++)
      lone[inside] |= merge->flow->reachable[inside] && loops_dominates(merge->loops, b + 1, inside);
  }
  return lone;
}

static bool has_lone_guard(const Merge *merge, const VInst *vinst) {
  bool equal;
  return picks_lane(merge, vinst->guard, &equal) && equal == !(vinst->inst.flags & INST_GUARD_NOT);
}

/* -- values of functions -- */

/* ptxas calls a function for the rare cases of these divisions and roots, and takes its result for different in each
 * lane here, though branches by it don't part. */
static bool calls(const VInst *vinst) {
  return op_info[vinst->inst.op].unit == UNIT_DIVIDE && vinst->inst.op != OP_IDIV && vinst->inst.op != OP_IREM;
}

/* Wherever the registers are written. */
static bool spread_called(Merge *merge) {
  bool changed = false;
  for (guint i = 0; i < merge->vkernel->insts->len; i++) {
    VRegUse uses[8];
    const VInst *vinst = inst_at(merge, i);
    bool called = calls(vinst);
    unsigned count = vinst_reads(vinst, uses);
    for (unsigned u = 0; u < count; u++)
      called |= merge->called[uses[u].reg];
    count = called ? vinst_writes(vinst, uses) : 0;
    for (unsigned u = 0; u < count; u++) {
      changed |= !merge->called[uses[u].reg];
      merge->called[uses[u].reg] = 1;
    }
  }
  return changed;
}

static void find_called(Merge *merge) {
  enum { ROUNDS = 16 };
  merge->called = g_new0(uint8_t, merge->vkernel->rows->len + 1);
  for (unsigned round = 0; round < ROUNDS && spread_called(merge); round++)
    ;
}

static uint8_t differs_at(const Merge *merge, uint32_t i) {
  const VInst *vinst = inst_at(merge, i);
  uint8_t differs = merge->divergence->differs[i];
  differs |= vinst->a >= 0 && vinst->a != VREG_SINK && merge->called[vinst->a] ? DIFFERS_A : 0;
  differs |= vinst->b >= 0 && vinst->b != VREG_SINK && merge->called[vinst->b] ? DIFFERS_B : 0;
  return differs;
}

/* -- which operations -- */

static bool is_integer(uint8_t type) {
  return type == TYPE_U32 || type == TYPE_S32 || type == TYPE_U64 || type == TYPE_S64;
}

static bool is_unit_constant(const Merge *merge, int32_t operand) {
  const VInst *maker = maker_of(merge, operand);
  int32_t row = operand < 0 ? operand : maker && maker->inst.op == OP_MOV ? maker->a : 0;
  const ConstRef *constant = row < 0 ? &merge->vkernel->kernel->consts[~row] : NULL;
  return constant && constant->kind == CONST_IMMEDIATE && constant->value == 1;
}

static MergeMode mode_of_sum(const Merge *merge, const VInst *vinst, bool wanted, bool differs) {
  bool wide = vinst->inst.width == WIDTH_64, shared = vinst->inst.op == OP_ATOMS;
  bool counts = merge->capability >= REDUX_CAPABILITY; /* ATOMS.POPC.INC, which needs no merging */
  if (!differs)
    return shared && !wide && !wanted && counts && is_unit_constant(merge, vinst->b) ? MERGE_NONE : MERGE_COUNT;
  if (wide)
    return MERGE_NONE;
  return wanted || merge->capability < REDUX_CAPABILITY ? MERGE_WARP : MERGE_REDUX;
}

static MergeMode mode_of(const Merge *merge, uint32_t i) {
  const VInst *vinst = inst_at(merge, i);
  uint8_t differs = differs_at(merge, i);
  bool wanted = vinst->dst >= 0 && vinst->dst != VREG_SINK && merge->wanted[vinst->dst];
  if (differs & DIFFERS_A || !is_integer(vinst->inst.type))
    return MERGE_NONE;
  switch ((AtomOp)vinst->inst.mode) {
  case ATOM_ADD: return mode_of_sum(merge, vinst, wanted, differs & DIFFERS_B);
  case ATOM_MIN:
  case ATOM_MAX:
  case ATOM_AND:
  case ATOM_OR:
  case ATOM_XOR:
    if (wanted || vinst->inst.width == WIDTH_64)
      return MERGE_NONE;
    return merge->capability < REDUX_CAPABILITY ? MERGE_WARP : MERGE_REDUX;
  default: return MERGE_NONE;
  }
}

bool atomics_merge(VKernel *vkernel, unsigned capability, const Flow *flow, const Loops *loops,
                   const Divergence *divergence) {
  Merge merge = {
      .vkernel = vkernel, .flow = flow, .loops = loops, .divergence = divergence, .capability = capability};
  g_autofree uint8_t *lone = NULL;
  bool counts = false;
  if (vkernel->kernel->max_threads == 1)
    return false;
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    if (vinst->inst.op != OP_ATOM && vinst->inst.op != OP_RED && vinst->inst.op != OP_ATOMS)
      continue;
    if (!lone) {
      find_makers(&merge);
      find_called(&merge);
      lone = find_lone_blocks(&merge);
    }
    if (!lone[flow->block_of[i]] && !has_lone_guard(&merge, vinst))
      vinst->inst.cmp = (uint8_t)mode_of(&merge, i);
    counts |= vinst->inst.cmp == MERGE_COUNT;
  }
  g_free(merge.maker);
  g_free(merge.pred_maker);
  g_free(merge.wanted);
  g_free(merge.called);
  return counts;
}
