#include "isa/flow/select.h"

#include "isa/flow/flow.h"

/* A predicate that is another one, or its opposite. */
typedef struct Alias {
  int32_t pred, of;
  bool negated;
} Alias;

static VInst *inst_at(const VKernel *vkernel, uint32_t i) { return &g_array_index(vkernel->insts, VInst, i); }

static bool is_number(const VKernel *vkernel, int32_t operand, uint32_t *value) {
  if (operand >= 0 || vkernel->kernel->consts[~operand].kind != CONST_IMMEDIATE)
    return false;
  *value = vkernel->kernel->consts[~operand].value;
  return true;
}

static bool is_plain(const VInst *vinst, Opcode op) {
  return vinst->inst.op == op && !vinst_is_guarded(vinst) && !(vinst->inst.flags & ~(uint32_t)INST_SYNCED);
}

static bool holds(CmpOp cmp, uint32_t flip, uint32_t a, uint32_t b) {
  bool less = (int32_t)(a ^ flip) < (int32_t)(b ^ flip);
  switch (cmp) {
  case CMP_LT: return less;
  case CMP_EQ: return a == b;
  case CMP_LE: return less || a == b;
  case CMP_GT: return !less && a != b;
  case CMP_NE: return a != b;
  default: return !less; /* CMP_GE */
  }
}

/* Whether the comparison `vinst` is of what `select` chooses, and comes out otherwise for one than for the other. */
static bool is_alias(const VKernel *vkernel, const VInst *select, const VInst *vinst, Alias *alias) {
  uint32_t first, second, with;
  bool compares = is_plain(vinst, OP_ISETP) && vinst->inst.cmp >= CMP_LT && vinst->inst.cmp <= CMP_GE &&
                  vinst->a == select->dst && vinst->a_row == select->dst_row && vinst->pdst >= 0 &&
                  vinst->pdst2 == VPRED_SINK && vinst->psrc[0] == VPRED_TRUE && !vinst->inst.psrc_not;
  if (!compares || !is_number(vkernel, vinst->b, &with) || !is_number(vkernel, select->a, &first) ||
      !is_number(vkernel, select->b, &second))
    return false;
  uint32_t flip = vinst->inst.type == TYPE_U32 ? 0x80000000u : 0;
  bool of_first = holds((CmpOp)vinst->inst.cmp, flip, first, with);
  *alias = (Alias){vinst->pdst, select->psrc[0], of_first == (select->inst.psrc_not & 1)};
  return of_first != holds((CmpOp)vinst->inst.cmp, flip, second, with);
}

static bool writes_register(const VInst *vinst, int32_t reg) {
  VRegUse uses[8];
  unsigned count = vinst_writes(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    if (uses[u].reg == reg)
      return true;
  return false;
}

static void replace(VInst *vinst, Alias alias) {
  if (vinst->guard == alias.pred) {
    vinst->guard = alias.of;
    vinst->inst.flags ^= alias.negated ? INST_GUARD_NOT : 0;
  }
  for (unsigned k = 0; k < G_N_ELEMENTS(vinst->psrc); k++)
    if (vinst->psrc[k] == alias.pred) {
      vinst->psrc[k] = alias.of;
      vinst->inst.psrc_not ^= (uint8_t)(alias.negated << k);
    }
}

/* Up to the end of the block, or where one of the two predicates changes. */
static void replace_behind(VKernel *vkernel, Alias alias, uint32_t from, uint32_t end) {
  for (uint32_t i = from; i < end; i++) {
    replace(inst_at(vkernel, i), alias);
    if (vinst_writes_pred(inst_at(vkernel, i), alias.pred) || vinst_writes_pred(inst_at(vkernel, i), alias.of))
      return;
  }
}

/* How often each register is read. */
static uint32_t *count_readers(const VKernel *vkernel) {
  uint32_t *readers = g_new0(uint32_t, vkernel->rows->len + 1);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VRegUse uses[8];
    unsigned count = vinst_reads(inst_at(vkernel, i), uses);
    for (unsigned u = 0; u < count; u++)
      readers[uses[u].reg]++;
  }
  return readers;
}

/* A number that is read elsewhere, too, stays as it is: it would have to live beside its predicate. */
static void fold_select(VKernel *vkernel, const uint32_t *readers, uint32_t at, uint32_t end) {
  const VInst select = *inst_at(vkernel, at);
  Alias alias;
  if (!is_plain(&select, OP_SEL) || select.dst == VREG_SINK || select.psrc[0] < 0 || readers[select.dst] != 1)
    return;
  for (uint32_t i = at + 1; i < end; i++) {
    const VInst *vinst = inst_at(vkernel, i);
    if (is_alias(vkernel, &select, vinst, &alias) && alias.pred != alias.of)
      replace_behind(vkernel, alias, i + 1, end);
    if (writes_register(vinst, select.dst) || vinst_writes_pred(vinst, select.psrc[0]))
      return;
  }
}

void vkernel_fold_selects(VKernel *vkernel) {
  Flow flow;
  g_autofree uint32_t *readers = count_readers(vkernel);
  vkernel_flow(vkernel, &flow);
  for (uint32_t block = 0; block < flow.nblocks; block++)
    for (uint32_t i = flow.first[block]; i < flow.first[block + 1]; i++)
      fold_select(vkernel, readers, i, flow.first[block + 1]);
  flow_clear(&flow);
}
