#include "sim/detect/race/validates.h"

#include "isa/flow/cfg.h"
#include "sim/detect/race/sources.h"

static bool is_strong_load(const Inst *inst) {
  return sources_is_load(inst) && !(op_info[inst->op].flags & OPF_ATOMIC);
}

static bool is_same_address(const Inst *one, const Inst *other) {
  return one->a == other->a && one->imm == other->imm && one->space == other->space && one->width == other->width;
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
    const CfgBlock *block = cfg_block(cfg, cfg->block_of[pc]);
    bool open = true;
    for (pc += skips && i == 0; open && pc <= block->last; pc++) {
      open = !reached[pc] && pc != past;
      reached[pc] = true;
    }
    for (guint k = 0; open && k < block->successors->len; k++) {
      uint32_t first = cfg_block(cfg, g_array_index(block->successors, uint32_t, k))->first;
      g_array_append_val(next, first);
    }
  }
  return reached;
}

/* ---- pairs ---- */

/* Two loads, and where their values are compared. */
typedef struct Pair {
  uint32_t first, second, compared;
} Pair;

/* What paths from the first to the second pass; NULL: the second can be come to without the first, as in a poll,
 * the address has changed, or the first comes again before the two are compared: then the second was the look that
 * began that round, and its loop begins with the first. */
static bool *find_between(const Kernel *kernel, const Cfg *cfg, const Pair *pair) {
  uint32_t first = pair->first, second = pair->second;
  g_autofree bool *without = reach(kernel, cfg, NO_TARGET, first),
                  *again = reach(kernel, cfg, (int32_t)second, first);
  bool *from_first = reach(kernel, cfg, (int32_t)first, second);
  bool good = from_first[second] && !without[second] && !again[second] && again[pair->compared] &&
              !inst_is_guarded(&kernel->insts[first]);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    from_first[pc] &= pc != first && pc != second;
    if (good && from_first[pc]) {
      g_autofree bool *there = reach(kernel, cfg, (int32_t)pc, first);
      from_first[pc] = there[second];
      good = !there[second] || !inst_writes_to(&kernel->insts[pc], kernel->nregs, kernel->insts[second].a);
    }
  }
  if (!good)
    g_clear_pointer(&from_first, g_free);
  return from_first;
}

static void add_pair(GArray *pairs, uint32_t first, uint32_t second, uint32_t compared) {
  Pair pair = {first, second, compared};
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *other = &g_array_index(pairs, Pair, i);
    if (other->first == first && other->second == second && other->compared == compared)
      return;
  }
  g_array_append_val(pairs, pair);
}

static bool compares(const Inst *inst) {
  return (inst->op == OP_ISETP || inst->op == OP_ISETP64) &&
         (inst->cmp == CMP_EQ || inst->cmp == CMP_NE || inst->cmp == CMP_EQU || inst->cmp == CMP_NEU);
}

/* Loads of one address that are compared, either way round. */
static GArray *find_pairs(const Kernel *kernel, const Cfg *cfg) {
  GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (!compares(inst) || inst->a < 0 || inst->b < 0)
      continue;
    Sources one = sources_of(kernel, cfg, pc, inst->a, false), other = sources_of(kernel, cfg, pc, inst->b, false);
    for (unsigned i = 0; i < one.count; i++)
      for (unsigned k = 0; k < other.count; k++)
        if (one.pc[i] != other.pc[k] && is_same_address(&kernel->insts[one.pc[i]], &kernel->insts[other.pc[k]])) {
          add_pair(pairs, one.pc[i], other.pc[k], pc);
          add_pair(pairs, other.pc[k], one.pc[i], pc);
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
    g_autofree bool *between = find_between(kernel, cfg, pair);
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
    g_autofree bool *between = pair->second == pc ? find_between(kernel, cfg, pair) : NULL;
    for (uint32_t at = 0; between && at < kernel->ninsts; at++)
      loads[at] |= between[at] && is_strong_load(&kernel->insts[at]);
  }
}
