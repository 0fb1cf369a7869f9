#include "sim/detect/race/narrow_guesses.h"

#include <string.h>

#include "isa/flow/regset.h"

/* What holds before an instruction: the registers and predicates that depend on the load's value, and on the result
 * of a compare-and-swap; registers that have some bytes of a word only (those beside the half, by which the loop
 * within knows whether they have changed); predicates that say whether value and result are the same, or whether they
 * differ. */
typedef struct Facts {
  RegSet old, result, some;
  uint32_t old_preds, result_preds, same, differ;
} Facts;

typedef struct Search {
  const Kernel *kernel;
  const Cfg *cfg;
  uint32_t load;
  Facts *before; /* of each instruction */
  bool *known;
  GArray *todo; /* uint32_t */
  bool swaps, refused;
} Search;

static bool reads(const RegSet *set, const RegList *list) {
  for (unsigned i = 0; i < list->count; i++)
    if (list->reg[i] >= 0 && list->reg[i] < REGSET_MAX && regset_has(set, (unsigned)list->reg[i]))
      return true;
  return false;
}

static bool is_empty(const RegSet *set) {
  uint64_t any = 0;
  REGSET_EACH any |= set->word[regset_i];
  return any == 0;
}

/* Predicates that agree on both ways only. */
static bool join(Facts *to, const Facts *from, bool first) {
  Facts sum = {.old = regset_or(to->old, from->old),
               .result = regset_or(to->result, from->result),
               .some = regset_or(to->some, from->some),
               .old_preds = to->old_preds | from->old_preds,
               .result_preds = to->result_preds | from->result_preds,
               .same = first ? from->same : to->same & from->same,
               .differ = first ? from->differ : to->differ & from->differ};
  bool changes = first || memcmp(&sum, to, sizeof sum) != 0;
  *to = sum;
  return changes;
}

static void go(Search *search, const Facts *facts, uint32_t pc) {
  bool first = !search->known[pc];
  search->known[pc] = true;
  if (join(&search->before[pc], facts, first))
    g_array_append_val(search->todo, pc);
}

/* The value was the newest one. */
static Facts settled(const Facts *facts) {
  Facts next = *facts;
  next.old = (RegSet){{0}};
  next.old_preds = next.same = next.differ = 0;
  return next;
}

static void branch(Search *search, uint32_t pc, const Inst *inst, const Facts *facts) {
  uint32_t guard = inst_is_guarded(inst) && inst->guard < 32 ? 1u << inst->guard : 0;
  const CfgBlock *block = g_ptr_array_index(search->cfg->blocks, search->cfg->block_of[pc]);
  bool decides = guard & facts->old_preds;
  search->refused |= decides && (!(guard & facts->result_preds) || inst->op != OP_BRA || block->exits);
  bool by_not = inst->flags & INST_GUARD_NOT;
  for (guint i = 0; i < block->successors->len; i++) {
    const CfgBlock *next = g_ptr_array_index(search->cfg->blocks, g_array_index(block->successors, uint32_t, i));
    bool taken = inst->target == (int32_t)next->first, holds = taken != by_not;
    bool same = decides && (holds ? guard & facts->same : guard & facts->differ);
    Facts behind = same ? settled(facts) : *facts;
    go(search, &behind, next->first);
  }
}

static bool is_pure(const Inst *inst) {
  Unit unit = op_info[inst->op].unit;
  return unit == UNIT_ALU || unit == UNIT_SYSREG || unit == UNIT_SFU || unit == UNIT_FP64;
}

static bool compares(const Inst *inst, CmpOp cmp) {
  return inst->op == OP_ISETP && inst->cmp == cmp && inst->lop == LOP_AND && inst->psrc[0] == PRED_TRUE;
}

/* PRMT R11, R14, RZ, R8. */
static bool takes_some(const Facts *facts, const Inst *inst) {
  RegList list = inst_reads(inst);
  return (inst->op == OP_PRMT && inst->b < 0 && inst->c >= 0) || reads(&facts->some, &list);
}

static void put(Search *search, Facts *facts, const Inst *inst, bool old, bool result) {
  RegList writes = inst_writes(inst, search->kernel->nregs);
  bool some = is_pure(inst) && takes_some(facts, inst);
  uint32_t preds = inst_pred_writes(inst);
  bool keeps = inst_is_guarded(inst);
  for (unsigned i = 0; i < writes.count; i++) {
    if (writes.reg[i] < 0 || writes.reg[i] >= REGSET_MAX)
      continue;
    unsigned reg = (unsigned)writes.reg[i];
    if (!keeps) {
      regset_drop(&facts->old, reg);
      regset_drop(&facts->result, reg);
      regset_drop(&facts->some, reg);
    }
    if (some)
      regset_put(&facts->some, reg);
    if (old)
      regset_put(&facts->old, reg);
    if (result)
      regset_put(&facts->result, reg);
  }
  facts->old_preds = (keeps ? facts->old_preds : facts->old_preds & ~preds) | (old ? preds : 0);
  facts->result_preds = (keeps ? facts->result_preds : facts->result_preds & ~preds) | (result ? preds : 0);
  bool both = old && result && !keeps && !some;
  facts->same = (facts->same & ~preds) | (both && compares(inst, CMP_EQ) ? preds : 0);
  facts->differ = (facts->differ & ~preds) | (both && compares(inst, CMP_NE) ? preds : 0);
}

static void step(Search *search, uint32_t pc) {
  const Inst *inst = &search->kernel->insts[pc];
  Facts facts = search->before[pc];
  RegList list = inst_reads(inst), address = {.count = 2, .reg = {inst->a, (int16_t)(inst->a + 1)}};
  bool old = reads(&facts.old, &list) || (inst_pred_reads(inst) & facts.old_preds);
  bool result = reads(&facts.result, &list) || (inst_pred_reads(inst) & facts.result_preds);
  bool swaps = (inst->op == OP_ATOM || inst->op == OP_ATOMS) && inst->mode == ATOM_CAS && !inst_is_guarded(inst);
  const CfgBlock *block = g_ptr_array_index(search->cfg->blocks, search->cfg->block_of[pc]);
  if (pc == search->load) {
    search->refused |= old;
    put(search, &facts, inst, true, false);
  } else if (swaps) {
    search->refused |= inst->a >= 0 && reads(&facts.old, &address);
    search->swaps |= old;
    put(search, &facts, inst, false, true);
  } else if (is_pure(inst)) {
    put(search, &facts, inst, old, result);
  } else {
    search->refused |= old && !(op_info[inst->op].flags & OPF_BRANCH);
    search->refused |= inst->op == OP_BRX && !is_empty(&facts.old);
    put(search, &facts, inst, false, false);
  }
  if (pc < block->last)
    go(search, &facts, pc + 1);
  else
    branch(search, pc, inst, &facts);
}

static bool is_narrow(const Inst *inst) {
  bool narrow =
      inst->width == WIDTH_U8 || inst->width == WIDTH_S8 || inst->width == WIDTH_U16 || inst->width == WIDTH_S16;
  return (inst->op == OP_LD || inst->op == OP_LDS) && narrow && !inst_is_guarded(inst) &&
         inst->space != MEM_CONST && inst->space != MEM_PARAM;
}

bool narrow_guesses_has(const Kernel *kernel, const Cfg *cfg, uint32_t pc) {
  if (!is_narrow(&kernel->insts[pc]))
    return false;
  Search search = {.kernel = kernel,
                   .cfg = cfg,
                   .load = pc,
                   .before = g_new0(Facts, kernel->ninsts),
                   .known = g_new0(bool, kernel->ninsts),
                   .todo = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
  go(&search, &(Facts){0}, pc);
  for (guint i = 0; i < search.todo->len && !search.refused; i++)
    step(&search, g_array_index(search.todo, uint32_t, i));
  g_free(search.before);
  g_free(search.known);
  g_array_unref(search.todo);
  return search.swaps && !search.refused;
}
