#include "sim/detect/race/search_loops.h"

#include "sim/detect/race/values.h"

enum { BLOCKS_MAX = 4000, LOOP_BLOCKS_MAX = 64 };

typedef struct Search {
  const Kernel *kernel;
  const Cfg *cfg;
  SearchLoops *loops;
  uint32_t *entry;  /* of each block: its immediate dominator */
  uint32_t *order;  /* of each block: its place in a walk in which a block stands before those that it dominates */
  GArray *body;     /* uint32_t: blocks of the loop that is looked at */
  GArray *followed; /* uint32_t: values that an address depends on; registers, then predicates */
} Search;

enum { UNSEEN = UINT32_MAX };

static const CfgBlock *block_at(const Search *search, uint32_t block) {
  return g_ptr_array_index(search->cfg->blocks, block);
}

static bool has(const GArray *list, uint32_t value) {
  for (guint i = 0; i < list->len; i++)
    if (g_array_index(list, uint32_t, i) == value)
      return true;
  return false;
}

/* ---- who dominates whom ---- */

/* Blocks that can be reached, each behind one that leads to it, those that lead back apart. */
static GArray *walk(const Search *search) {
  GArray *reached = g_array_new(FALSE, FALSE, sizeof(uint32_t)), *stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autofree guint *next = g_new0(guint, search->cfg->blocks->len);
  g_autofree bool *seen = g_new0(bool, search->cfg->blocks->len);
  uint32_t block = 0;
  seen[0] = true;
  g_array_append_val(stack, block);
  while (stack->len) {
    block = g_array_index(stack, uint32_t, stack->len - 1);
    const GArray *row = block_at(search, block)->successors;
    if (next[block] == row->len) {
      g_array_prepend_val(reached, block);
      g_array_set_size(stack, stack->len - 1);
      continue;
    }
    uint32_t to = g_array_index(row, uint32_t, next[block]++);
    if (!seen[to])
      g_array_append_val(stack, to);
    seen[to] = true;
  }
  g_array_free(stack, TRUE);
  return reached;
}

/* The nearest block that dominates both. */
static uint32_t common(const Search *search, uint32_t a, uint32_t b) {
  while (a != b)
    if (search->order[a] > search->order[b])
      a = search->entry[a];
    else
      b = search->entry[b];
  return a;
}

/* Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm". */
static void find_dominators(Search *search) {
  g_autoptr(GArray) reached = walk(search);
  for (uint32_t i = 0; i < search->cfg->blocks->len; i++)
    search->entry[i] = search->order[i] = UNSEEN;
  for (guint i = 0; i < reached->len; i++)
    search->order[g_array_index(reached, uint32_t, i)] = i;
  search->entry[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (guint i = 1; i < reached->len; i++) {
      uint32_t block = g_array_index(reached, uint32_t, i), entry = UNSEEN;
      const GArray *before = block_at(search, block)->predecessors;
      for (guint k = 0; k < before->len; k++) {
        uint32_t from = g_array_index(before, uint32_t, k);
        if (search->entry[from] != UNSEEN)
          entry = entry == UNSEEN ? from : common(search, entry, from);
      }
      changed |= search->entry[block] != entry;
      search->entry[block] = entry;
    }
  }
}

static bool dominates(const Search *search, uint32_t above, uint32_t block) {
  while (block != above && block != 0)
    block = search->entry[block];
  return block == above;
}

/* ---- loops ---- */

/* The blocks from which the latch can be reached without passing the head. False: they are too many. */
static bool find_body(Search *search, uint32_t head, uint32_t latch) {
  g_array_set_size(search->body, 0);
  g_array_append_val(search->body, head);
  if (latch != head)
    g_array_append_val(search->body, latch);
  for (guint next = 1; next < search->body->len && search->body->len <= LOOP_BLOCKS_MAX; next++) {
    const GArray *before = block_at(search, g_array_index(search->body, uint32_t, next))->predecessors;
    for (guint i = 0; i < before->len; i++)
      if (!has(search->body, g_array_index(before, uint32_t, i)))
        g_array_append_val(search->body, g_array_index(before, uint32_t, i));
  }
  return search->body->len <= LOOP_BLOCKS_MAX;
}

static bool is_load(const Inst *inst) {
  const OpInfo *info = &op_info[inst->op];
  return info->flags & OPF_LOAD && (info->unit == UNIT_GLOBAL || info->unit == UNIT_SHARED) &&
         inst->space != MEM_CONST && inst->space != MEM_PARAM;
}

static bool acts(const Inst *inst) {
  const OpInfo *info = &op_info[inst->op];
  return info->flags & (OPF_STORE | OPF_ATOMIC | OPF_FENCE | OPF_BARRIER) || info->unit == UNIT_BARRIER ||
         inst->op == OP_CAL;
}

/* It goes round from the latch to the head alone, and only loads. */
static bool is_quiet(const Search *search, uint32_t head, uint32_t latch) {
  for (guint i = 0; i < search->body->len; i++) {
    uint32_t number = g_array_index(search->body, uint32_t, i);
    const CfgBlock *block = block_at(search, number);
    if (search->loops->of[number])
      return false;
    for (uint32_t pc = block->first; pc <= block->last; pc++)
      if (acts(&search->kernel->insts[pc]))
        return false;
    for (guint k = 0; k < block->successors->len; k++) {
      uint32_t to = g_array_index(block->successors, uint32_t, k);
      if (has(search->body, to) && search->order[to] <= search->order[number] && (to != head || number != latch))
        return false;
    }
  }
  return true;
}

/* ---- addresses ---- */

static void add_operands(const Inst *inst, GArray *values) {
  RegList list = inst_reads(inst);
  for (unsigned i = 0; i < list.count; i++) {
    uint32_t value = (uint32_t)list.reg[i];
    if (list.reg[i] >= 0 && !has(values, value))
      g_array_append_val(values, value);
  }
  for (uint32_t rest = inst_pred_reads(inst); rest; rest &= rest - 1) {
    uint32_t value = VALUE_PRED + (uint32_t)__builtin_ctz(rest);
    if (value != VALUE_PRED + PRED_TRUE && !has(values, value))
      g_array_append_val(values, value);
  }
}

/* Adds what `value` depends on, over one instruction of the loop. False: it was loaded there. */
static bool follow(const Search *search, uint32_t value, GArray *values) {
  for (guint i = 0; i < search->body->len; i++) {
    const CfgBlock *block = block_at(search, g_array_index(search->body, uint32_t, i));
    for (uint32_t pc = block->first; pc <= block->last; pc++) {
      const Inst *inst = &search->kernel->insts[pc];
      if (!value_is_written(search->kernel, inst, value))
        continue;
      if (is_load(inst))
        return false;
      add_operands(inst, values);
    }
  }
  return true;
}

/* Each round computes the value from that of the round before. */
static bool goes_on(const Search *search, uint32_t value) {
  g_autoptr(GArray) from = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  if (!follow(search, value, from))
    return false;
  for (guint next = 0; next < from->len && !has(from, value); next++)
    if (!follow(search, g_array_index(from, uint32_t, next), from))
      return false;
  return has(from, value);
}

/* The load of the loop goes from place to place by itself. */
static bool moves(const Search *search, const Inst *load) {
  GArray *values = search->followed;
  g_array_set_size(values, 0);
  add_operands(load, values);
  for (guint next = 0; next < values->len; next++)
    if (!follow(search, g_array_index(values, uint32_t, next), values))
      return false;
  for (guint i = 0; i < values->len; i++)
    if (goes_on(search, g_array_index(values, uint32_t, i)))
      return true;
  return false;
}

static bool searches(const Search *search) {
  bool loads = false;
  for (guint i = 0; i < search->body->len; i++) {
    const CfgBlock *block = block_at(search, g_array_index(search->body, uint32_t, i));
    for (uint32_t pc = block->first; pc <= block->last; pc++) {
      const Inst *inst = &search->kernel->insts[pc];
      if (!is_load(inst))
        continue;
      loads = true;
      if (!moves(search, inst))
        return false;
    }
  }
  return loads;
}

/* ---- the first round ---- */

/* Some way out of the loop leads to the block. */
static bool ends_at(const Search *search, uint32_t to) {
  for (guint i = 0; i < search->body->len; i++) {
    const GArray *row = block_at(search, g_array_index(search->body, uint32_t, i))->successors;
    for (guint k = 0; k < row->len && !has(search->body, to); k++)
      if (g_array_index(row, uint32_t, k) == to)
        return true;
  }
  return false;
}

static bool loads_in(const Search *search, const CfgBlock *block) {
  for (uint32_t pc = block->first; pc <= block->last; pc++)
    if (is_load(&search->kernel->insts[pc]))
      return true;
  return false;
}

/* The one way into the loop begins at a block that loads, and otherwise leads to where the loop ends. */
static void find_first_round(Search *search, uint32_t head, uint32_t latch) {
  uint32_t at = head;
  for (unsigned steps = 0; steps < LOOP_BLOCKS_MAX; steps++) {
    const GArray *before = block_at(search, at)->predecessors;
    uint32_t from = UNSEEN;
    for (guint i = 0; i < before->len; i++) {
      uint32_t one = g_array_index(before, uint32_t, i);
      if (at == head && one == latch)
        continue;
      if (from != UNSEEN)
        return;
      from = one;
    }
    if (from == UNSEEN)
      return;
    const CfgBlock *block = block_at(search, from);
    if (block->successors->len == 2) {
      uint32_t a = g_array_index(block->successors, uint32_t, 0), b = g_array_index(block->successors, uint32_t, 1);
      if (!loads_in(search, block) || search->loops->of[from] || !ends_at(search, a == at ? b : a))
        return;
      search->loops->first[from] = search->loops->head->len;
      g_array_index(search->loops->door, uint32_t, search->loops->head->len - 1) = at;
      return;
    }
    at = from;
  }
}

static void look_at(Search *search, uint32_t head, uint32_t latch) {
  if (!find_body(search, head, latch) || !is_quiet(search, head, latch) || !searches(search))
    return;
  g_array_append_val(search->loops->head, head);
  g_array_append_val(search->loops->door, head);
  for (guint i = 0; i < search->body->len; i++)
    search->loops->of[g_array_index(search->body, uint32_t, i)] = search->loops->head->len;
  find_first_round(search, head, latch);
}

SearchLoops *search_loops_find(const Kernel *kernel, const Cfg *cfg) {
  uint32_t count = cfg->blocks->len;
  SearchLoops *loops = g_new0(SearchLoops, 1);
  loops->of = g_new0(uint32_t, count);
  loops->first = g_new0(uint32_t, count);
  loops->head = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  loops->door = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  if (count == 0 || count > BLOCKS_MAX)
    return loops;
  Search search = {.kernel = kernel,
                   .cfg = cfg,
                   .loops = loops,
                   .entry = g_new0(uint32_t, count),
                   .order = g_new0(uint32_t, count),
                   .body = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                   .followed = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
  find_dominators(&search);
  for (uint32_t latch = 0; latch < count; latch++) {
    const GArray *row = block_at(&search, latch)->successors;
    for (guint i = 0; i < row->len && search.entry[latch] != UNSEEN; i++)
      if (dominates(&search, g_array_index(row, uint32_t, i), latch))
        look_at(&search, g_array_index(row, uint32_t, i), latch);
  }
  g_free(search.entry);
  g_free(search.order);
  g_array_free(search.body, TRUE);
  g_array_free(search.followed, TRUE);
  return loops;
}

void search_loops_free(SearchLoops *loops) {
  if (!loops)
    return;
  g_free(loops->of);
  g_free(loops->first);
  g_array_free(loops->head, TRUE);
  g_array_free(loops->door, TRUE);
  g_free(loops);
}
