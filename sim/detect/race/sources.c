#include "sim/detect/race/sources.h"

enum { STEPS_MAX = 512 };

bool sources_is_load(const Inst *inst) {
  const OpInfo *info = &op_info[inst->op];
  return info->unit == UNIT_GLOBAL && info->flags & OPF_LOAD && (inst->sem != SEM_WEAK || info->flags & OPF_ATOMIC);
}

/* A register as of before instruction `end` of a block. */
typedef struct Want {
  uint32_t block, end;
  int16_t value;
} Want;

typedef struct Walk {
  const Kernel *kernel;
  const Cfg *cfg;
  GArray *wants;     /* Want */
  GHashTable *whole; /* block << 16 | register: followed through the whole block */
  Sources *sources;
  bool atomics;
} Walk;

static void want(Walk *walk, uint32_t block, uint32_t end, int16_t value) {
  Want wanted = {block, end, value};
  if (value >= 0 && walk->wants->len < STEPS_MAX)
    g_array_append_val(walk->wants, wanted);
}

static void come_to(Walk *walk, uint32_t pc) {
  const Inst *inst = &walk->kernel->insts[pc];
  bool counts = sources_is_load(inst) && (walk->atomics || !(op_info[inst->op].flags & OPF_ATOMIC));
  if (counts && walk->sources->count < SOURCES_MAX)
    walk->sources->pc[walk->sources->count++] = pc;
  if (!unit_is_arithmetic(op_info[inst->op].unit))
    return;
  RegList list = inst_reads(inst);
  for (unsigned i = 0; i < list.count; i++)
    want(walk, walk->cfg->block_of[pc], pc, list.reg[i]);
}

static void follow(Walk *walk, Want wanted) {
  const CfgBlock *block = cfg_block(walk->cfg, wanted.block);
  for (uint32_t pc = wanted.end; pc-- > block->first;) {
    const Inst *inst = &walk->kernel->insts[pc];
    if (!inst_writes_to(inst, walk->kernel->nregs, wanted.value))
      continue;
    come_to(walk, pc);
    if (!inst_is_guarded(inst))
      return;
  }
  for (guint i = 0; i < block->predecessors->len; i++) {
    uint32_t from = g_array_index(block->predecessors, uint32_t, i);
    gpointer key = GUINT_TO_POINTER(from << 16 | (uint16_t)wanted.value);
    if (g_hash_table_add(walk->whole, key))
      want(walk, from, cfg_block(walk->cfg, from)->last + 1, wanted.value);
  }
}

Sources sources_of(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t operand, bool atomics) {
  Sources sources = {.count = 0};
  g_autoptr(GArray) wants = g_array_new(FALSE, FALSE, sizeof(Want));
  g_autoptr(GHashTable) whole = g_hash_table_new(g_direct_hash, g_direct_equal);
  Walk walk = {kernel, cfg, wants, whole, &sources, atomics};
  want(&walk, cfg->block_of[pc], pc, operand);
  for (guint i = 0; i < wants->len; i++)
    follow(&walk, g_array_index(wants, Want, i));
  return sources;
}
