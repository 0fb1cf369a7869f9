#include "sim/detect/race/decides.h"

#include "isa/flow/cfg.h"
#include "sim/detect/race/values.h"

/* A value as of the end of a part of a block: from its first instruction up to, and without, `end`. */
typedef struct Want {
  uint32_t block, end, value;
} Want;

typedef struct Slice {
  const Kernel *kernel;
  const Cfg *cfg;
  GArray *insts;           /* uint32_t: instructions whose operands have yet to be followed */
  GArray *wants;           /* Want: values likewise */
  bool *included;          /* of each instruction */
  bool *executed;          /* of each block: what decides whether it is executed has been looked for */
  GHashTable *whole;       /* values that were followed through a whole block: block << 32 | value */
  bool stored[UNIT_COUNT]; /* the stores of that unit are included, or aren't wanted */
  const SearchLoops *ending;
  bool *left; /* of each loop of `ending`: what ends it is included */
  bool *decides;
} Slice;

static const CfgBlock *block_at(const Slice *slice, uint32_t block) {
  return g_ptr_array_index(slice->cfg->blocks, block);
}

static void include(Slice *slice, uint32_t pc) {
  if (slice->included[pc])
    return;
  slice->included[pc] = true;
  g_array_append_val(slice->insts, pc);
}

/* ---- whether a block is executed ---- */

/* A search that ends goes this way, or that, whatever it finds: towards a block of it no way out counts, towards
 * others no further round. */
static bool is_left_out(const Slice *slice, uint32_t target, uint32_t from, uint32_t to) {
  const SearchLoops *loops = slice->ending;
  uint32_t loop = loops ? search_loops_round(loops, from) : 0;
  if (!loop)
    return false;
  if (search_loops_round(loops, target) != loop)
    return search_loops_go_on(loops, from, to);
  return loops->of[to] != loop && !search_loops_go_on(loops, from, to);
}

/* All ways out of the loop lead there. */
static bool ends_lead_there(const Slice *slice, uint32_t loop, const bool *sure) {
  const SearchLoops *loops = slice->ending;
  bool some = false;
  for (guint number = 0; number < slice->cfg->blocks->len; number++) {
    const CfgBlock *block = block_at(slice, number);
    for (guint i = 0; loops->of[number] == loop && i < block->successors->len; i++) {
      uint32_t to = g_array_index(block->successors, uint32_t, i);
      if (loops->of[to] != loop && !sure[to])
        return false;
      some |= loops->of[to] != loop;
    }
    if (loops->of[number] == loop && block->exits)
      return false;
  }
  return some;
}

static bool leads_there(const Slice *slice, uint32_t target, uint32_t number, const bool *sure) {
  uint32_t loop = slice->ending ? slice->ending->of[number] : 0;
  if (loop && search_loops_round(slice->ending, target) != loop && ends_lead_there(slice, loop, sure))
    return true;
  const CfgBlock *block = block_at(slice, number);
  bool some = false;
  for (guint i = 0; i < block->successors->len; i++) {
    uint32_t to = g_array_index(block->successors, uint32_t, i);
    bool counts = !is_left_out(slice, target, number, to);
    if (counts && !sure[to])
      return false;
    some |= counts;
  }
  return some && !block->exits;
}

/* The blocks from which every path leads to `block`. */
static bool *find_sure(const Slice *slice, uint32_t block) {
  bool *sure = g_new0(bool, slice->cfg->blocks->len);
  g_autoptr(GArray) work = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  sure[block] = true;
  g_array_append_val(work, block);
  for (guint next = 0; next < work->len; next++) {
    const GArray *before = block_at(slice, g_array_index(work, uint32_t, next))->predecessors;
    for (guint i = 0; i < before->len; i++) {
      uint32_t from = g_array_index(before, uint32_t, i);
      if (sure[from] || !leads_there(slice, block, from, sure))
        continue;
      sure[from] = true;
      g_array_append_val(work, from);
    }
  }
  return sure;
}

/* Some ways out of the block surely lead there, and others don't. */
static bool chooses(const Slice *slice, uint32_t target, uint32_t number, const bool *sure) {
  const CfgBlock *block = block_at(slice, number);
  bool some = false, others = block->exits;
  for (guint i = 0; i < block->successors->len; i++) {
    uint32_t to = g_array_index(block->successors, uint32_t, i);
    bool counts = !is_left_out(slice, target, number, to);
    some |= counts && sure[to];
    others |= counts && !sure[to];
  }
  return some && others;
}

static void follow_execution(Slice *slice, uint32_t block) {
  if (slice->executed[block])
    return;
  slice->executed[block] = true;
  g_autofree bool *sure = find_sure(slice, block);
  for (guint i = 0; i < slice->cfg->blocks->len; i++)
    if (chooses(slice, block, i, sure))
      include(slice, block_at(slice, i)->last);
}

/* ---- values ---- */

static void want(Slice *slice, uint32_t block, uint32_t end, uint32_t value) {
  Want wanted = {block, end, value};
  g_array_append_val(slice->wants, wanted);
}

/* What the loop leaves in a register depends on when it ended. */
static void include_ends(Slice *slice, uint32_t loop) {
  if (slice->left[loop - 1])
    return;
  slice->left[loop - 1] = true;
  for (guint number = 0; number < slice->cfg->blocks->len; number++) {
    const CfgBlock *block = block_at(slice, number);
    bool ends = slice->ending->of[number] == loop && block->exits;
    for (guint i = 0; slice->ending->of[number] == loop && i < block->successors->len; i++)
      ends |= slice->ending->of[g_array_index(block->successors, uint32_t, i)] != loop;
    if (ends)
      include(slice, block->last);
  }
}

/* Some instruction of the loop writes the value. */
static bool is_left_by(const Slice *slice, uint32_t loop, uint32_t value) {
  for (guint number = 0; number < slice->cfg->blocks->len; number++)
    for (uint32_t pc = block_at(slice, number)->first;
         slice->ending->of[number] == loop && pc <= block_at(slice, number)->last; pc++)
      if (value_is_written(slice->kernel, &slice->kernel->insts[pc], value))
        return true;
  return false;
}

static void follow_value(Slice *slice, Want wanted) {
  const CfgBlock *block = block_at(slice, wanted.block);
  for (uint32_t pc = wanted.end; pc-- > block->first;) {
    const Inst *inst = &slice->kernel->insts[pc];
    if (!value_is_written(slice->kernel, inst, wanted.value))
      continue;
    include(slice, pc);
    if (!inst_is_guarded(inst))
      return;
  }
  for (guint i = 0; i < block->predecessors->len; i++) {
    uint32_t from = g_array_index(block->predecessors, uint32_t, i);
    uint32_t loop = slice->ending ? slice->ending->of[from] : 0;
    if (search_loops_turn(slice->ending, from, wanted.block))
      continue;
    if (loop && loop != slice->ending->of[wanted.block] && is_left_by(slice, loop, wanted.value))
      include_ends(slice, loop);
    gpointer key = (gpointer)(uintptr_t)((uint64_t)from << 32 | wanted.value);
    if (g_hash_table_add(slice->whole, key))
      want(slice, from, block_at(slice, from)->last + 1, wanted.value);
  }
}

static void want_operands(Slice *slice, uint32_t pc) {
  const Inst *inst = &slice->kernel->insts[pc];
  uint32_t block = slice->cfg->block_of[pc];
  RegList list = inst_reads(inst);
  for (unsigned i = 0; i < list.count; i++)
    if (list.reg[i] >= 0)
      want(slice, block, pc, (uint32_t)list.reg[i]);
  for (uint32_t rest = inst_pred_reads(inst); rest; rest &= rest - 1)
    want(slice, block, pc, VALUE_PRED + (uint32_t)__builtin_ctz(rest));
}

/* What the kernel's stores leave there. */
static void follow_memory(Slice *slice, uint8_t unit) {
  if (slice->stored[unit])
    return;
  slice->stored[unit] = true;
  for (uint32_t pc = 0; pc < slice->kernel->ninsts; pc++) {
    const OpInfo *info = &op_info[slice->kernel->insts[pc].op];
    if (info->unit == unit && info->flags & OPF_STORE)
      include(slice, pc);
  }
}

static void follow_inst(Slice *slice, uint32_t pc) {
  const Inst *inst = &slice->kernel->insts[pc];
  const OpInfo *info = &op_info[inst->op];
  want_operands(slice, pc);
  follow_execution(slice, slice->cfg->block_of[pc]);
  if (!(info->flags & (OPF_LOAD | OPF_ATOMIC)))
    return;
  slice->decides[pc] = true;
  bool strong = info->flags & OPF_ATOMIC || inst->sem != SEM_WEAK || inst->cache == CACHE_CV;
  if (info->unit != UNIT_GLOBAL || !strong)
    follow_memory(slice, info->unit);
}

/* ---- all of it ---- */

static void begin(Slice *slice, const bool *accesses) {
  for (uint32_t pc = 0; pc < slice->kernel->ninsts; pc++) {
    if (!accesses[pc])
      continue;
    want_operands(slice, pc);
    follow_execution(slice, slice->cfg->block_of[pc]);
  }
}

bool *decides_find(const Kernel *kernel, const bool *accesses, bool by_stores, const SearchLoops *ending) {
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  Slice slice = {.kernel = kernel,
                 .cfg = cfg,
                 .insts = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                 .wants = g_array_new(FALSE, FALSE, sizeof(Want)),
                 .included = g_new0(bool, kernel->ninsts),
                 .executed = g_new0(bool, cfg->blocks->len),
                 .whole = g_hash_table_new(g_direct_hash, g_direct_equal),
                 .stored = {[UNIT_GLOBAL] = !by_stores, [UNIT_SHARED] = !by_stores},
                 .ending = ending,
                 .left = g_new0(bool, ending ? ending->head->len + 1 : 1),
                 .decides = g_new0(bool, kernel->ninsts)};
  begin(&slice, accesses);
  while (slice.insts->len || slice.wants->len) {
    while (slice.wants->len) {
      Want wanted = g_array_index(slice.wants, Want, slice.wants->len - 1);
      g_array_set_size(slice.wants, slice.wants->len - 1);
      follow_value(&slice, wanted);
    }
    if (slice.insts->len) {
      uint32_t pc = g_array_index(slice.insts, uint32_t, slice.insts->len - 1);
      g_array_set_size(slice.insts, slice.insts->len - 1);
      follow_inst(&slice, pc);
    }
  }
  g_array_free(slice.insts, TRUE);
  g_array_free(slice.wants, TRUE);
  g_free(slice.included);
  g_free(slice.executed);
  g_free(slice.left);
  g_hash_table_destroy(slice.whole);
  return slice.decides;
}
