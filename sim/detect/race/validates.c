#include "sim/detect/race/validates.h"

#include "isa/flow/cfg.h"

enum { STEPS_MAX = 512, SOURCES_MAX = 16 };

/* Loads from which a value comes. */
typedef struct Sources {
  uint32_t pc[SOURCES_MAX];
  unsigned count;
} Sources;

static bool is_strong_load(const Inst *inst) {
  const OpInfo *info = &op_info[inst->op];
  return info->unit == UNIT_GLOBAL && info->flags & OPF_LOAD && !(info->flags & OPF_ATOMIC) && inst->sem != SEM_WEAK;
}

static bool is_same_address(const Inst *one, const Inst *other) {
  return one->a == other->a && one->imm == other->imm && one->space == other->space && one->width == other->width;
}

static bool writes(const Kernel *kernel, const Inst *inst, int16_t value) {
  RegList list = inst_writes(inst, kernel->nregs);
  for (unsigned i = 0; i < list.count; i++)
    if (list.reg[i] == value)
      return true;
  return false;
}

static const CfgBlock *block_at(const Cfg *cfg, uint32_t block) { return g_ptr_array_index(cfg->blocks, block); }

/* ---- values ---- */

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
} Walk;

static void want(Walk *walk, uint32_t block, uint32_t end, int16_t value) {
  Want wanted = {block, end, value};
  if (value >= 0 && walk->wants->len < STEPS_MAX)
    g_array_append_val(walk->wants, wanted);
}

static void come_to(Walk *walk, uint32_t pc) {
  const Inst *inst = &walk->kernel->insts[pc];
  if (is_strong_load(inst) && walk->sources->count < SOURCES_MAX)
    walk->sources->pc[walk->sources->count++] = pc;
  if (!unit_is_arithmetic(op_info[inst->op].unit))
    return;
  RegList list = inst_reads(inst);
  for (unsigned i = 0; i < list.count; i++)
    want(walk, walk->cfg->block_of[pc], pc, list.reg[i]);
}

static void follow(Walk *walk, Want wanted) {
  const CfgBlock *block = block_at(walk->cfg, wanted.block);
  for (uint32_t pc = wanted.end; pc-- > block->first;) {
    const Inst *inst = &walk->kernel->insts[pc];
    if (!writes(walk->kernel, inst, wanted.value))
      continue;
    come_to(walk, pc);
    if (!inst_is_guarded(inst))
      return;
  }
  for (guint i = 0; i < block->predecessors->len; i++) {
    uint32_t from = g_array_index(block->predecessors, uint32_t, i);
    gpointer key = GUINT_TO_POINTER(from << 16 | (uint16_t)wanted.value);
    if (g_hash_table_add(walk->whole, key))
      want(walk, from, block_at(walk->cfg, from)->last + 1, wanted.value);
  }
}

/* The strong loads that an operand of instruction `pc` comes from. */
static Sources sources_of(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t operand) {
  Sources sources = {.count = 0};
  g_autoptr(GArray) wants = g_array_new(FALSE, FALSE, sizeof(Want));
  g_autoptr(GHashTable) whole = g_hash_table_new(g_direct_hash, g_direct_equal);
  Walk walk = {kernel, cfg, wants, whole, &sources};
  want(&walk, cfg->block_of[pc], pc, operand);
  for (guint i = 0; i < wants->len; i++)
    follow(&walk, g_array_index(wants, Want, i));
  return sources;
}

/* ---- paths ---- */

/* The instructions that paths from behind `from` (from the first one: NO_TARGET) come to, which end at `past`. */
static bool *reach(const Kernel *kernel, const Cfg *cfg, int32_t from, uint32_t past) {
  bool *reached = g_new0(bool, kernel->ninsts);
  g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  uint32_t start = from == NO_TARGET ? 0 : (uint32_t)from;
  bool skips = from != NO_TARGET;
  g_array_append_val(next, start);
  for (guint i = 0; i < next->len; i++) {
    uint32_t pc = g_array_index(next, uint32_t, i);
    const CfgBlock *block = block_at(cfg, cfg->block_of[pc]);
    bool open = true;
    for (pc += skips && i == 0; open && pc <= block->last; pc++) {
      open = !reached[pc] && pc != past;
      reached[pc] = true;
    }
    for (guint k = 0; open && k < block->successors->len; k++) {
      uint32_t first = block_at(cfg, g_array_index(block->successors, uint32_t, k))->first;
      g_array_append_val(next, first);
    }
  }
  return reached;
}

/* What paths from the first to the second pass; NULL: the second can be come to without the first, as in a poll,
 * or the address has changed. */
static bool *find_between(const Kernel *kernel, const Cfg *cfg, uint32_t first, uint32_t second) {
  g_autofree bool *without = reach(kernel, cfg, NO_TARGET, first),
                  *again = reach(kernel, cfg, (int32_t)second, first);
  bool *from_first = reach(kernel, cfg, (int32_t)first, second);
  bool good = from_first[second] && !without[second] && !again[second] && !inst_is_guarded(&kernel->insts[first]);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    from_first[pc] &= pc != first && pc != second;
    if (good && from_first[pc]) {
      g_autofree bool *there = reach(kernel, cfg, (int32_t)pc, first);
      from_first[pc] = there[second];
      good = !there[second] || !writes(kernel, &kernel->insts[pc], kernel->insts[second].a);
    }
  }
  if (!good)
    g_clear_pointer(&from_first, g_free);
  return from_first;
}

/* ---- pairs ---- */

typedef struct Pair {
  uint32_t first, second;
} Pair;

static void add_pair(GArray *pairs, uint32_t first, uint32_t second) {
  Pair pair = {first, second};
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *other = &g_array_index(pairs, Pair, i);
    if (other->first == first && other->second == second)
      return;
  }
  g_array_append_val(pairs, pair);
}

static bool compares(const Inst *inst) {
  return inst->op == OP_ISETP &&
         (inst->cmp == CMP_EQ || inst->cmp == CMP_NE || inst->cmp == CMP_EQU || inst->cmp == CMP_NEU);
}

/* Loads of one address that are compared, either way round. */
static GArray *find_pairs(const Kernel *kernel, const Cfg *cfg) {
  GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (!compares(inst) || inst->a < 0 || inst->b < 0)
      continue;
    Sources one = sources_of(kernel, cfg, pc, inst->a), other = sources_of(kernel, cfg, pc, inst->b);
    for (unsigned i = 0; i < one.count; i++)
      for (unsigned k = 0; k < other.count; k++)
        if (one.pc[i] != other.pc[k] && is_same_address(&kernel->insts[one.pc[i]], &kernel->insts[other.pc[k]])) {
          add_pair(pairs, one.pc[i], other.pc[k]);
          add_pair(pairs, other.pc[k], one.pc[i]);
        }
  }
  return pairs;
}

static bool may_have_any(const Kernel *kernel) {
  unsigned loads = 0;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    loads += is_strong_load(&kernel->insts[pc]);
  return loads > 2 && loads <= VALIDATES_LOADS_MAX;
}

static bool has_load(const Kernel *kernel, const bool *between) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (between[pc] && is_strong_load(&kernel->insts[pc]))
      return true;
  return false;
}

bool *validates_find(const Kernel *kernel) {
  if (!may_have_any(kernel))
    return NULL;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  g_autoptr(GArray) pairs = find_pairs(kernel, cfg);
  bool *validates = NULL;
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index(pairs, Pair, i);
    g_autofree bool *between = find_between(kernel, cfg, pair->first, pair->second);
    if (!between || !has_load(kernel, between))
      continue;
    validates = validates ? validates : g_new0(bool, kernel->ninsts);
    validates[pair->second] = true;
  }
  return validates;
}

void validates_mark(const Kernel *kernel, uint32_t pc, bool *loads) {
  if (!may_have_any(kernel) || !is_strong_load(&kernel->insts[pc]))
    return;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  g_autoptr(GArray) pairs = find_pairs(kernel, cfg);
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index(pairs, Pair, i);
    g_autofree bool *between = pair->second == pc ? find_between(kernel, cfg, pair->first, pc) : NULL;
    for (uint32_t at = 0; between && at < kernel->ninsts; at++)
      loads[at] |= between[at] && is_strong_load(&kernel->insts[at]);
  }
}
