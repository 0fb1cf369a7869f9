#include "sim/detect/proof/lane_state.h"

enum { TABLE_INITIAL = 1024 };

/* Whether somebody may ask for a way back to a state: where words are changed by more than known values. */
static bool has_atomics(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (op_info[kernel->insts[pc].op].flags & OPF_ATOMIC)
      return true;
  return false;
}

void state_set_init(StateSet *set, const Kernel *kernel, const Liveness *liveness) {
  *set = (StateSet){
      .nregs = kernel->nregs,
      .ninsts = kernel->ninsts,
      .liveness = liveness,
      .stride = lane_state_bytes(kernel->nregs),
      .edges = g_array_new(FALSE, FALSE, sizeof(StateEdge)),
      .back_edges = g_array_new(FALSE, FALSE, sizeof(StateEdge)),
      .keeps_edges = has_atomics(kernel),
      .from = NO_STATE,
      .next_at_pc = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
      .newest_at_pc = g_new0(uint32_t, kernel->ninsts),
      .count_at_pc = g_new0(uint32_t, kernel->ninsts),
      .tried_at_pc = g_new0(uint32_t, kernel->ninsts),
      .widened = g_new0(RegSet, kernel->ninsts),
      .table = g_new0(uint64_t, TABLE_INITIAL),
      .generation = 1,
      .table_size = TABLE_INITIAL,
      .dirty = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
  };
}

void state_set_clear(StateSet *set) {
  g_free(set->states);
  g_array_free(set->edges, TRUE);
  g_array_free(set->back_edges, TRUE);
  g_array_free(set->next_at_pc, TRUE);
  g_array_free(set->dirty, TRUE);
  g_free(set->newest_at_pc);
  g_free(set->count_at_pc);
  g_free(set->tried_at_pc);
  g_free(set->widened);
  g_free(set->table);
}

void state_set_reset(StateSet *set) {
  for (guint i = 0; i < set->dirty->len; i++) {
    uint32_t pc = g_array_index(set->dirty, uint32_t, i);
    set->newest_at_pc[pc] = set->count_at_pc[pc] = set->tried_at_pc[pc] = 0;
    set->widened[pc] = (RegSet){0};
  }
  g_array_set_size(set->dirty, 0);
  set->count = 0;
  set->from = NO_STATE;
  g_array_set_size(set->edges, 0);
  g_array_set_size(set->back_edges, 0);
  g_array_set_size(set->next_at_pc, 0);
  if (++set->generation == 0) {
    memset(set->table, 0, set->table_size * sizeof *set->table);
    set->generation = 1;
  }
  set->overflow = false;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

static uint32_t hash_state(const StateSet *set, const LaneState *state) {
  uint64_t hash = mix(state->pc, (uint64_t)state->level << 32 | state->depth);
  hash = state->begun ? mix(hash, state->begun) : hash;
  hash = mix(hash, (uint64_t)state->preds << 32 | state->preds_unknown);
  hash = state->ranged ? mix(hash, mix(state->ranged, (uint64_t)state->low << 32 | state->high)) : hash;
  for (unsigned i = 0; i < (set->nregs + 63) / 64; i++)
    hash = mix(hash, state->unknown.word[i]);
  for (uint32_t i = 0; i < state->depth; i++)
    hash = mix(hash, (uint64_t)state->stack[i].kind << 32 | state->stack[i].pc);
  for (uint32_t i = 0; i < set->nregs; i++)
    hash = mix(hash, state->regs[i]);
  return (uint32_t)(hash >> 16);
}

static bool same(const StateSet *set, const LaneState *a, const LaneState *b) {
  return a->pc == b->pc && a->level == b->level && a->begun == b->begun && a->depth == b->depth &&
         a->preds == b->preds && a->preds_unknown == b->preds_unknown && regset_equal(a->unknown, b->unknown) &&
         a->ranged == b->ranged && a->low == b->low && a->high == b->high &&
         memcmp(a->stack, b->stack, a->depth * sizeof(LaneFrame)) == 0 &&
         memcmp(a->regs, b->regs, set->nregs * sizeof(uint32_t)) == 0;
}

static void forget(const StateSet *set, LaneState *state, RegSet live, RegSet make_unknown) {
  state->unknown = regset_and(regset_or(state->unknown, make_unknown), live);
  if (state->ranged && !regset_has(&state->unknown, state->ranged - 1))
    state->ranged = state->low = state->high = 0;
  for (uint32_t reg = 0; reg < set->nregs; reg++)
    if (!regset_has(&live, reg) || regset_has(&state->unknown, reg))
      state->regs[reg] = 0;
}

/* Registers that take many values among the states of this instruction. One that isn't live there has one, 0. */
static RegSet find_widening(StateSet *set, uint32_t pc) {
  RegSet found = {0}, candidates = regset_without(set->liveness->live_regs[pc], set->widened[pc]);
  for (uint32_t reg = 0; reg < set->nregs; reg++) {
    if (!regset_has(&candidates, reg))
      continue;
    uint32_t values[VALUES_BEFORE_WIDENING + 1], count = 0;
    for (uint32_t at = set->newest_at_pc[pc]; at && count <= VALUES_BEFORE_WIDENING;
         at = g_array_index(set->next_at_pc, uint32_t, at - 1)) {
      const LaneState *state = state_set_at(set, at - 1);
      uint32_t i = 0;
      if (regset_has(&state->unknown, reg))
        continue;
      while (i < count && values[i] != state->regs[reg])
        i++;
      if (i == count)
        values[count++] = state->regs[reg];
    }
    if (count > VALUES_BEFORE_WIDENING)
      regset_put(&found, reg);
  }
  return found;
}

static bool in_use(uint64_t entry, uint32_t generation) { return entry >> 32 == generation; }

static void place(uint64_t *table, uint32_t size, uint32_t generation, uint32_t hash, uint32_t index) {
  uint32_t at = hash & (size - 1);
  while (in_use(table[at], generation))
    at = (at + 1) & (size - 1);
  table[at] = (uint64_t)generation << 32 | index;
}

static void grow(StateSet *set) {
  uint32_t size = set->table_size * 2;
  uint64_t *table = g_new0(uint64_t, size);
  for (uint32_t i = 0; i < set->count; i++)
    place(table, size, set->generation, hash_state(set, state_set_at(set, i)), i);
  g_free(set->table);
  set->table = table;
  set->table_size = size;
}

/* Index of that state, or NO_STATE. */
static uint32_t find(const StateSet *set, const LaneState *state, uint32_t hash) {
  for (uint32_t at = hash & (set->table_size - 1); in_use(set->table[at], set->generation);
       at = (at + 1) & (set->table_size - 1))
    if (same(set, state_set_at(set, (uint32_t)set->table[at]), state))
      return (uint32_t)set->table[at];
  return NO_STATE;
}

static void connect(StateSet *set, uint32_t to) {
  if (!set->keeps_edges || set->from == NO_STATE)
    return;
  StateEdge edge = {set->from, to};
  g_array_append_val(set->edges, edge);
  if (to <= set->from)
    g_array_append_val(set->back_edges, edge);
}

static void append(StateSet *set, const LaneState *state, uint32_t hash) {
  if (2 * (set->count + 1) > set->table_size)
    grow(set);
  if (set->count == set->space) {
    set->space = MAX(64, 2 * set->space);
    set->states = g_realloc_n(set->states, set->space, set->stride);
  }
  lane_state_copy(state_set_at(set, set->count), state, set->nregs);
  g_array_append_val(set->next_at_pc, set->newest_at_pc[state->pc]);
  place(set->table, set->table_size, set->generation, hash, set->count);
  set->newest_at_pc[state->pc] = ++set->count;
  set->count_at_pc[state->pc]++;
}

bool state_set_add(StateSet *set, LaneState *state) {
  uint32_t pc = state->pc;
  forget(set, state, set->liveness->live_regs[pc], set->widened[pc]);
  state->preds &= set->liveness->live_preds[pc] & ~state->preds_unknown;
  state->preds_unknown &= set->liveness->live_preds[pc];
  uint32_t hash = hash_state(set, state), known = find(set, state, hash), count = set->count_at_pc[pc];
  if (known == NO_STATE && count >= STATES_BEFORE_WIDENING && count % 8 == 0 && set->tried_at_pc[pc] != count) {
    set->tried_at_pc[pc] = count;
    RegSet wider = find_widening(set, pc);
    if (!regset_empty(regset_without(wider, set->widened[pc]))) {
      set->widened[pc] = regset_or(set->widened[pc], wider);
      forget(set, state, set->liveness->live_regs[pc], set->widened[pc]);
      hash = hash_state(set, state);
      known = find(set, state, hash);
    }
  }
  if (known != NO_STATE) {
    connect(set, known);
    return false;
  }
  if (count >= STATES_AT_ONE_PC_MAX) {
    set->overflow = true;
    return false;
  }
  if (count == 0)
    g_array_append_val(set->dirty, pc);
  append(set, state, hash);
  connect(set, set->count - 1);
  return true;
}

/* Index of the first edge (sorted) from that state or a later one. */
static guint first_edge(const GArray *edges, uint32_t from) {
  guint low = 0, high = edges->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (g_array_index(edges, StateEdge, middle).from < from)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* A way that leaves a state for newer ones, and comes back, has an edge back past it. */
static bool may_return(const StateSet *set, uint32_t index) {
  for (guint i = 0; i < set->back_edges->len; i++) {
    const StateEdge *edge = &g_array_index(set->back_edges, StateEdge, i);
    if (edge->to <= index && index <= edge->from)
      return true;
  }
  return false;
}

/* States are stepped in the order of their indices, so the edges stand sorted. */
bool state_set_returns(const StateSet *set, uint32_t index) {
  if (!set->keeps_edges)
    return true;
  if (!may_return(set, index))
    return false;
  g_autofree uint8_t *seen = g_new0(uint8_t, set->count);
  g_autoptr(GArray) todo = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_array_append_val(todo, index);
  while (todo->len > 0 && !seen[index]) {
    uint32_t from = g_array_index(todo, uint32_t, todo->len - 1);
    g_array_set_size(todo, todo->len - 1);
    for (guint i = first_edge(set->edges, from); i < set->edges->len; i++) {
      StateEdge edge = g_array_index(set->edges, StateEdge, i);
      if (edge.from != from)
        break;
      if (seen[edge.to])
        continue;
      seen[edge.to] = 1;
      g_array_append_val(todo, edge.to);
    }
  }
  return seen[index];
}
