#include "sim/detect/race/merges.h"

enum { DEPTH_MAX = 4 };

/* Each of the four digits is its own place, or of the second value. */
static bool is_merging(uint32_t chooses) {
  for (unsigned place = 0; place < 4; place++) {
    uint32_t digit = chooses >> 4 * place & 15;
    if (digit != place && (digit < 4 || digit > 7))
      return false;
  }
  return true;
}

typedef struct Search {
  const Kernel *kernel;
  const Cfg *cfg;
} Search;

static bool is_merging_operand(const Search *search, uint32_t pc, int16_t operand, unsigned depth);

/* What the instruction gives. */
static bool gives_merging(const Search *search, uint32_t pc, unsigned depth) {
  const Inst *inst = &search->kernel->insts[pc];
  if (inst->op != OP_MOV && inst->op != OP_MOV32I && inst->op != OP_SEL)
    return false;
  return is_merging_operand(search, pc, inst->a, depth + 1) &&
         (inst->op != OP_SEL || is_merging_operand(search, pc, inst->b, depth + 1));
}

static bool writes(const Search *search, uint32_t pc, int16_t reg) {
  RegList list = inst_writes(&search->kernel->insts[pc], search->kernel->nregs);
  for (unsigned i = 0; i < list.count; i++)
    if (list.reg[i] == reg)
      return true;
  return false;
}

/* All that may have written the register before `pc` does so. */
static bool is_merging_register(const Search *search, uint32_t pc, int16_t reg, unsigned depth) {
  g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autofree bool *seen = g_new0(bool, search->cfg->blocks->len);
  g_array_append_val(ends, pc);
  for (guint i = 0; i < ends->len; i++) {
    uint32_t end = g_array_index(ends, uint32_t, i);
    uint32_t number = search->cfg->block_of[i ? end - 1 : end];
    const CfgBlock *block = g_ptr_array_index(search->cfg->blocks, number);
    bool whole = false;
    for (uint32_t at = end; at-- > block->first && !whole;) {
      if (!writes(search, at, reg))
        continue;
      if (!gives_merging(search, at, depth))
        return false;
      whole = !inst_is_guarded(&search->kernel->insts[at]);
    }
    if (whole)
      continue;
    if (block->first == 0)
      return false;
    for (guint k = 0; k < block->predecessors->len; k++) {
      uint32_t before = g_array_index(block->predecessors, uint32_t, k);
      if (seen[before])
        continue;
      seen[before] = true;
      uint32_t next = ((const CfgBlock *)g_ptr_array_index(search->cfg->blocks, before))->last + 1;
      g_array_append_val(ends, next);
    }
  }
  return true;
}

static bool is_merging_operand(const Search *search, uint32_t pc, int16_t operand, unsigned depth) {
  if (operand >= 0)
    return depth < DEPTH_MAX && is_merging_register(search, pc, operand, depth);
  const ConstRef *constant = &search->kernel->consts[~operand];
  return constant->kind == CONST_IMMEDIATE && is_merging(constant->value);
}

bool merges_keeps_places(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t operand) {
  Search search = {kernel, cfg};
  return is_merging_operand(&search, pc, operand, 0);
}
