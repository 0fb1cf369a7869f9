#include "sim/detect/race/reaching.h"

static bool writes(const Kernel *kernel, uint32_t pc, const Reached *want) {
  const Inst *inst = &kernel->insts[pc];
  return (want->reg >= 0 && inst_writes_to(inst, kernel->nregs, want->reg)) || inst_pred_writes(inst) & want->mask;
}

/* It writes in all lanes that the other instruction, behind it in its block, is executed by. */
static bool covers(const Kernel *kernel, const Cfg *cfg, uint32_t pc, uint32_t other) {
  const Inst *inst = &kernel->insts[pc], *user = &kernel->insts[other];
  if (!inst_is_guarded(inst))
    return true;
  if (cfg->block_of[pc] != cfg->block_of[other] || pc >= other || inst->guard != user->guard ||
      (inst->flags ^ user->flags) & INST_GUARD_NOT)
    return false;
  bool same = true;
  for (uint32_t between = pc; between < other; between++)
    same &= !(inst_pred_writes(&kernel->insts[between]) >> user->guard & 1);
  return same;
}

GArray *reaching_writers(const Kernel *kernel, const Cfg *cfg, const Reached *want, bool *whole) {
  GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* of parts of blocks, behind the last */
  g_autofree bool *seen = g_new0(bool, cfg->blocks->len);
  g_array_append_val(ends, want->pc);
  *whole = true;
  for (guint i = 0; i < ends->len; i++) {
    uint32_t end = g_array_index(ends, uint32_t, i);
    const CfgBlock *block = cfg_block(cfg, cfg->block_of[i ? end - 1 : end]);
    bool written = false;
    for (uint32_t pc = end; pc-- > block->first && !written;) {
      if (!writes(kernel, pc, want))
        continue;
      g_array_append_val(found, pc);
      written = covers(kernel, cfg, pc, want->pc);
      *whole &= written;
    }
    *whole &= written || block->first > 0;
    for (guint k = 0; !written && k < block->predecessors->len; k++) {
      uint32_t before = g_array_index(block->predecessors, uint32_t, k);
      if (seen[before])
        continue;
      seen[before] = true;
      uint32_t next = cfg_block(cfg, before)->last + 1;
      g_array_append_val(ends, next);
    }
  }
  return found;
}

int32_t reaching_only(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t reg) {
  bool whole;
  Reached want = {.pc = pc, .reg = reg};
  g_autoptr(GArray) writers = reaching_writers(kernel, cfg, &want, &whole);
  return whole && writers->len == 1 ? (int32_t)g_array_index(writers, uint32_t, 0) : NO_TARGET;
}

Origin reaching_origin(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t operand) {
  enum { COPIES_MAX = 8 };
  for (unsigned i = 0; i < COPIES_MAX; i++) {
    if (operand < 0)
      return (Origin){.known = true, .constant = true, .value = kernel->consts[~operand]};
    int32_t writer = reaching_only(kernel, cfg, pc, operand);
    if (writer == NO_TARGET)
      return (Origin){.known = false};
    pc = (uint32_t)writer;
    const Inst *inst = &kernel->insts[pc];
    bool copies = inst->op == OP_MOV || inst->op == OP_MOV32I || (inst->op == OP_MOV64 && inst->dst == operand);
    if (!copies)
      return (Origin){.known = true, .pc = pc, .reg = operand};
    operand = inst->a;
  }
  return (Origin){.known = false};
}

bool reaching_is_same(const Origin *one, const Origin *other) {
  if (!one->known || !other->known || one->constant != other->constant)
    return false;
  if (!one->constant)
    return one->pc == other->pc && one->reg == other->reg;
  return one->value.kind == other->value.kind && one->value.value == other->value.value &&
         (one->value.kind != CONST_SYMBOL || one->value.symbol == other->value.symbol);
}
