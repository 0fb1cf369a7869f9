/* `if (x < v) x = v`: a comparison of what was loaded with what is stored decides whether it is. */
#include "sim/detect/race/reaching.h"
#include "sim/detect/race/updates.h"
#include "sim/detect/race/values.h"
#include "sim/detect/race/ways.h"

/* A comparison of a strong load's value with another one. */
typedef struct Compared {
  uint32_t pc, load;
  int16_t other; /* the operand that isn't loaded */
  bool less;     /* it asks whether what was loaded is less, or else whether it is greater */
  bool holds;    /* for the store to happen */
} Compared;

static bool asks_less(unsigned cmp) { return cmp == CMP_LT || cmp == CMP_LE || cmp == CMP_LTU || cmp == CMP_LEU; }
static bool asks_greater(unsigned cmp) { return cmp == CMP_GT || cmp == CMP_GE || cmp == CMP_GTU || cmp == CMP_GEU; }

static bool compares(const Inst *inst) {
  enum { CHANGES = INST_NEG_A | INST_NEG_B | INST_ABS_A | INST_ABS_B };
  bool asks = inst->op == OP_ISETP || inst->op == OP_ISETP64 || inst->op == OP_FSETP || inst->op == OP_DSETP;
  return asks && (asks_less(inst->cmp) || asks_greater(inst->cmp)) && inst->lop == LOP_AND &&
         inst->psrc[0] == PRED_TRUE && !(inst->psrc_not & 1) && !(inst->flags & CHANGES) && !inst_is_guarded(inst) &&
         inst->pdst < PRED_TRUE;
}

static DataType type_of(const Inst *inst) {
  bool is_unsigned = inst->type == TYPE_U32 || inst->type == TYPE_U64;
  switch (inst->op) {
  case OP_FSETP: return TYPE_F32;
  case OP_DSETP: return TYPE_F64;
  case OP_ISETP64: return is_unsigned ? TYPE_U64 : TYPE_S64;
  default: return is_unsigned ? TYPE_U32 : TYPE_S32;
  }
}

/* The comparison alone has set the predicate that guards the instruction. */
static bool guards(const Kernel *kernel, const Cfg *cfg, uint32_t compared, uint32_t pc) {
  const Inst *inst = &kernel->insts[pc];
  if (!inst_is_guarded(inst) || inst->guard != kernel->insts[compared].pdst)
    return false;
  bool whole;
  Reached want = {.pc = pc, .mask = 1u << inst->guard, .reg = -1};
  g_autoptr(GArray) writers = reaching_writers(kernel, cfg, &want, &whole);
  return whole && writers->len == 1 && g_array_index(writers, uint32_t, 0) == compared;
}

/* The store is come to on one way out of the block only, and from the load by no other way. */
static bool chooses(const Kernel *kernel, const Cfg *cfg, const CfgBlock *block, uint32_t store, Compared *compared) {
  const Inst *last = &kernel->insts[block->last];
  bool branch = last->op == OP_BRA && last->target >= 0;
  if (!(branch || last->op == OP_EXIT) || !guards(kernel, cfg, compared->pc, block->last) ||
      block->last + 1 == kernel->ninsts)
    return false;
  bool taken = branch && ways_lead(kernel, cfg, (uint32_t)last->target, compared->load, store),
       next = ways_lead(kernel, cfg, block->last + 1, compared->load, store);
  g_autofree bool *other = ways_reach(kernel, cfg, compared->load, true, block->last);
  compared->holds = taken == !(last->flags & INST_GUARD_NOT);
  return taken != next && !other[store];
}

static bool decides(const Kernel *kernel, const Cfg *cfg, uint32_t store, Compared *compared) {
  if (guards(kernel, cfg, compared->pc, store)) {
    compared->holds = !(kernel->insts[store].flags & INST_GUARD_NOT);
    return true;
  }
  for (guint i = 0; i < cfg->blocks->len; i++)
    if (chooses(kernel, cfg, cfg_block(cfg, i), store, compared))
      return true;
  return false;
}

/* The load that gives that operand of a comparison; false: none. */
static bool find_load(const Kernel *kernel, const Cfg *cfg, Compared *compared, unsigned side) {
  const Inst *inst = &kernel->insts[compared->pc];
  Origin from = reaching_origin(kernel, cfg, compared->pc, side ? inst->b : inst->a);
  if (!from.known || from.constant || !updates_is_strong(&kernel->insts[from.pc], OPF_LOAD) ||
      from.reg != kernel->insts[from.pc].dst)
    return false;
  compared->load = from.pc;
  compared->other = side ? inst->a : inst->b;
  compared->less = asks_less(inst->cmp) != (side == 1);
  return true;
}

/* What is stored is the other value, or one more or less: `x < n + 1` may have become `!(x > n)`. */
static bool is_stored(const Kernel *kernel, const Cfg *cfg, uint32_t store, const Compared *compared) {
  Origin other = reaching_origin(kernel, cfg, compared->pc, compared->other),
         stored = reaching_origin(kernel, cfg, store, kernel->insts[store].b);
  if (reaching_is_same(&other, &stored))
    return true;
  const Inst *sum = stored.known && !stored.constant ? &kernel->insts[stored.pc] : NULL;
  if (!sum || sum->op != OP_IADD || !value_is_immediate(kernel, sum->b))
    return false;
  int32_t more = (int32_t)kernel->consts[~sum->b].value;
  Origin from = reaching_origin(kernel, cfg, stored.pc, sum->a);
  return (more == 1 || more == -1) && reaching_is_same(&other, &from);
}

/* The store is of the other value, and happens or not by the comparison. */
static void look(const Kernel *kernel, const Cfg *cfg, uint32_t store, Compared compared, GArray *updates) {
  const Inst *inst = &kernel->insts[compared.pc], *load = &kernel->insts[compared.load],
             *last = &kernel->insts[store];
  if (load->width != last->width || op_info[load->op].unit != op_info[last->op].unit)
    return;
  if (!is_stored(kernel, cfg, store, &compared) || !decides(kernel, cfg, store, &compared))
    return;
  Update update = {.load = compared.load,
                   .store = store,
                   .kind = compared.less == compared.holds ? UPDATE_RAISES : UPDATE_LOWERS,
                   .floats = (op_info[inst->op].flags & OPF_FLOAT) != 0,
                   .chosen = true,
                   .type = type_of(inst)};
  g_array_append_val(updates, update);
}

void updates_find_chosen(const Kernel *kernel, const Cfg *cfg, GArray *updates) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    for (unsigned side = 0; compares(&kernel->insts[pc]) && side < 2; side++) {
      Compared compared = {.pc = pc};
      if (!find_load(kernel, cfg, &compared, side))
        continue;
      for (uint32_t store = 0; store < kernel->ninsts; store++)
        if (updates_is_strong(&kernel->insts[store], OPF_STORE))
          look(kernel, cfg, store, compared, updates);
    }
}
