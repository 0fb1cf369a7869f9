#include "sim/detect/proof/lane_state.h"

#include "base/wide.h"

enum { TABLE_INITIAL = 1024 };

/* The values that a register takes among states of one instruction, up to one more than a register may. */
struct Values {
  uint32_t value[VALUES_BEFORE_WIDENING + 1], count;
};

/* Whether somebody may ask for a way back to a state: where words are changed by more than known values. */
static bool has_atomics(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (op_info[kernel->insts[pc].op].flags & OPF_ATOMIC)
      return true;
  return false;
}

static RegSet *registers_kept(const Kernel *kernel, const Liveness *liveness, const NeededBits *needed) {
  RegSet *kept = g_memdup2(liveness->live_regs, kernel->ninsts * sizeof *kept);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    for (uint32_t reg = 0; reg < kernel->nregs; reg++)
      if (!needed_bits_before(needed, pc)[reg])
        regset_drop(&kept[pc], reg);
  return kept;
}

void state_set_init(StateSet *set, const Kernel *kernel, const Liveness *liveness, const NeededBits *needed) {
  *set = (StateSet){
      .nregs = kernel->nregs,
      .ninsts = kernel->ninsts,
      .liveness = liveness,
      .needed = needed,
      .kept = registers_kept(kernel, liveness, needed),
      .stride = lane_state_bytes(kernel->nregs),
      .edges = g_array_new(FALSE, FALSE, sizeof(StateEdge)),
      .keeps_edges = has_atomics(kernel),
      .from = NO_STATE,
      .next_at_pc = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
      .newest_at_pc = g_new0(uint32_t, kernel->ninsts),
      .count_at_pc = g_new0(uint32_t, kernel->ninsts),
      .tried_at_pc = g_new0(uint32_t, kernel->ninsts),
      .values_at_pc = g_new0(Values *, kernel->ninsts),
      .widened = g_new0(RegSet, kernel->ninsts),
      .table = g_new0(uint64_t, TABLE_INITIAL),
      .table_size = TABLE_INITIAL,
      .table_space = TABLE_INITIAL,
      .dirty = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
  };
}

void state_set_clear(StateSet *set) {
  g_free(set->kept);
  g_free(set->states);
  g_array_free(set->edges, TRUE);
  g_free(set->returns);
  g_array_free(set->next_at_pc, TRUE);
  g_array_free(set->dirty, TRUE);
  g_free(set->newest_at_pc);
  g_free(set->count_at_pc);
  g_free(set->tried_at_pc);
  for (uint32_t pc = 0; pc < set->ninsts; pc++)
    g_free(set->values_at_pc[pc]);
  g_free(set->values_at_pc);
  g_free(set->widened);
  g_free(set->table);
}

void state_set_reset(StateSet *set) {
  for (guint i = 0; i < set->dirty->len; i++) {
    uint32_t pc = g_array_index(set->dirty, uint32_t, i);
    set->newest_at_pc[pc] = set->count_at_pc[pc] = set->tried_at_pc[pc] = 0;
    set->widened[pc] = (RegSet){0};
    for (uint32_t reg = 0; set->values_at_pc[pc] && reg < set->nregs; reg++)
      set->values_at_pc[pc][reg].count = 0;
  }
  g_array_set_size(set->dirty, 0);
  set->count = 0;
  set->from = NO_STATE;
  set->change = set->roots = 0;
  g_array_set_size(set->edges, 0);
  g_clear_pointer(&set->returns, g_free);
  g_array_set_size(set->next_at_pc, 0);
  memset(set->table, 0, set->table_size * sizeof *set->table);
  set->table_size = TABLE_INITIAL; /* what is in use stays in the cache */
  set->overflow = false;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

static unsigned reg_words(const StateSet *set) { return (set->nregs + 63) / 64; }

/* Of the 64 registers from 64 * `word` on those whose value the state has; it is 0 of all others. */
static uint64_t known_regs(const StateSet *set, const LaneState *state, unsigned word) {
  unsigned beyond = 64 * (word + 1) > set->nregs ? 64 * (word + 1) - set->nregs : 0;
  return set->kept[state->pc].word[word] & ~state->unknown.word[word] & UINT64_MAX >> beyond;
}

static uint32_t hash_state(const StateSet *set, const LaneState *state) {
  uint64_t hash = mix(state->pc, (uint64_t)state->level << 32 | state->depth);
  hash = state->begun ? mix(hash, state->begun) : hash;
  hash = mix(hash, (uint64_t)state->preds << 32 | state->preds_unknown);
  hash = state->ranged ? mix(hash, mix(state->ranged, (uint64_t)state->low << 32 | state->high)) : hash;
  for (uint32_t i = 0; i < state->depth; i++)
    hash = mix(hash, (uint64_t)state->stack[i].kind << 32 | state->stack[i].pc);
  for (unsigned word = 0; word < reg_words(set); word++) {
    hash = mix(hash, state->unknown.word[word]);
    const uint32_t *regs = state->regs + 64 * word;
    for (uint64_t rest = known_regs(set, state, word); rest; rest &= rest - 1) {
      uint64_t pair = regs[__builtin_ctzll(rest)];
      rest &= rest - 1;
      hash = mix(hash, rest ? pair << 32 | regs[__builtin_ctzll(rest)] : pair);
    }
  }
  return (uint32_t)(hash >> 16);
}

static bool same(const StateSet *set, const LaneState *a, const LaneState *b) {
  return a->pc == b->pc && a->level == b->level && a->begun == b->begun && a->depth == b->depth &&
         a->preds == b->preds && a->preds_unknown == b->preds_unknown && regset_equal(a->unknown, b->unknown) &&
         a->ranged == b->ranged && a->low == b->low && a->high == b->high &&
         memcmp(a->stack, b->stack, a->depth * sizeof(LaneFrame)) == 0 &&
         memcmp(a->regs, b->regs, set->nregs * sizeof(uint32_t)) == 0;
}

/* Makes those of up to 32 registers 0 that aren't known, and of the others the bits that don't matter. */
WIDE_CLONES static void keep_known(uint32_t *regs, uint32_t known, const uint32_t *bits, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    regs[i] &= -(known >> i & 1) & bits[i];
}

static void forget(const StateSet *set, LaneState *state) {
  RegSet unknown = regset_or(state->unknown, set->widened[state->pc]);
  state->unknown = regset_and(unknown, set->kept[state->pc]);
  if (state->ranged && !regset_has(&state->unknown, state->ranged - 1))
    state->ranged = state->low = state->high = 0;
  const uint32_t *bits = needed_bits_before(set->needed, state->pc);
  for (unsigned first = 0; first < set->nregs; first += 32) {
    uint64_t known = known_regs(set, state, first / 64) >> first % 64;
    keep_known(state->regs + first, (uint32_t)known, bits + first, MIN(set->nregs - first, 32));
  }
}

static void add_value(Values *values, uint32_t value) {
  for (uint32_t i = 0; i < values->count; i++)
    if (values->value[i] == value)
      return;
  if (values->count <= VALUES_BEFORE_WIDENING)
    values->value[values->count++] = value;
}

/* Registers that take many values among the states of this instruction; where states are very many because of several
 * registers, that with most values. One that isn't live there has one, 0. The
 * newest `count` states are new since this was asked last. */
static RegSet find_widening(StateSet *set, uint32_t pc, uint32_t count) {
  RegSet found = {0}, candidates = regset_without(set->kept[pc], set->widened[pc]);
  if (!set->values_at_pc[pc])
    set->values_at_pc[pc] = g_new0(Values, set->nregs);
  Values *values = set->values_at_pc[pc];
  for (uint32_t at = set->newest_at_pc[pc]; at && count;
       at = g_array_index(set->next_at_pc, uint32_t, at - 1), count--) {
    const LaneState *state = state_set_at(set, at - 1);
    for (unsigned word = 0; word < reg_words(set); word++)
      for (uint64_t rest = candidates.word[word] & known_regs(set, state, word); rest; rest &= rest - 1) {
        unsigned reg = 64 * word + (unsigned)__builtin_ctzll(rest);
        add_value(&values[reg], state->regs[reg]);
      }
  }
  uint32_t most = set->nregs;
  for (uint32_t reg = 0; reg < set->nregs; reg++) {
    if (!regset_has(&candidates, reg))
      continue;
    if (values[reg].count > VALUES_BEFORE_WIDENING)
      regset_put(&found, reg);
    if (values[reg].count > (most < set->nregs ? values[most].count : VALUES_CROWDED))
      most = reg;
  }
  if (regset_empty(found) && most < set->nregs && set->count_at_pc[pc] >= STATES_CROWDED)
    regset_put(&found, most);
  return found;
}

/* An entry of the table: 1 + the index of a state, under its hash; 0 where there is none. */
static void place(uint64_t *table, uint32_t size, uint64_t entry) {
  uint32_t at = (uint32_t)(entry >> 32) & (size - 1);
  while (table[at])
    at = (at + 1) & (size - 1);
  table[at] = entry;
}

static void grow(StateSet *set) {
  uint32_t size = set->table_size * 2;
  g_autofree uint64_t *old = g_memdup2(set->table, set->table_size * sizeof *set->table);
  if (size > set->table_space) {
    g_free(set->table);
    set->table = g_new0(uint64_t, size);
    set->table_space = size;
  } else {
    memset(set->table, 0, set->table_size * sizeof *set->table);
  }
  for (uint32_t i = 0; i < set->table_size; i++)
    if (old[i])
      place(set->table, size, old[i]);
  set->table_size = size;
}

/* Index of that state, or NO_STATE. */
static uint32_t find(const StateSet *set, const LaneState *state, uint32_t hash) {
  uint32_t last = set->table_size - 1;
  for (uint32_t at = hash & last; set->table[at]; at = (at + 1) & last) {
    uint32_t index = (uint32_t)set->table[at] - 1;
    if (set->table[at] >> 32 == hash && same(set, state_set_at(set, index), state))
      return index;
  }
  return NO_STATE;
}

static void connect(StateSet *set, uint32_t to) {
  if (!set->keeps_edges || set->from == NO_STATE)
    return;
  StateEdge edge = {set->from, to, set->change};
  g_array_append_val(set->edges, edge);
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
  place(set->table, set->table_size, (uint64_t)hash << 32 | (set->count + 1));
  set->newest_at_pc[state->pc] = ++set->count;
  set->count_at_pc[state->pc]++;
}

bool state_set_add(StateSet *set, LaneState *state) {
  uint32_t pc = state->pc;
  forget(set, state);
  uint32_t preds = set->liveness->live_preds[pc] & set->needed->preds;
  state->preds &= preds & ~state->preds_unknown;
  state->preds_unknown &= preds;
  uint32_t hash = hash_state(set, state), known = find(set, state, hash), count = set->count_at_pc[pc];
  if (known == NO_STATE && count >= STATES_BEFORE_WIDENING && count % 8 == 0 && set->tried_at_pc[pc] != count) {
    RegSet wider = find_widening(set, pc, count - set->tried_at_pc[pc]);
    set->tried_at_pc[pc] = count;
    if (!regset_empty(regset_without(wider, set->widened[pc]))) {
      set->widened[pc] = regset_or(set->widened[pc], wider);
      forget(set, state);
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

/* ---- ways back ---- */

/* Tarjan's search for strongly connected components, without recursion. A state is on a way back to itself if its
 * component has others, or if it leads to itself. */
typedef struct Search {
  const StateSet *set;
  uint32_t *first;  /* of each state: its first edge; edges stand sorted, as states are stepped in their order */
  uint32_t *next;   /* of each state: the edge to look at next */
  uint32_t *number; /* of each state, from 1 in the order in which they are found; 0: not yet */
  uint32_t *low;    /* the lowest number that it leads to among open ones */
  uint8_t *open;    /* its component isn't complete */
  uint32_t *path, *stack; /* states that are being looked at; those that are open: each once at most */
  uint32_t on_path, on_stack, found;
} Search;

static void search_enter(Search *search, uint32_t state) {
  search->number[state] = search->low[state] = ++search->found;
  search->next[state] = search->first[state];
  search->open[state] = 1;
  search->path[search->on_path++] = state;
  search->stack[search->on_stack++] = state;
}

/* All that the state leads to has been looked at. */
static void search_leave(Search *search, uint32_t state, uint8_t *returns) {
  if (--search->on_path > 0) {
    uint32_t parent = search->path[search->on_path - 1];
    search->low[parent] = MIN(search->low[parent], search->low[state]);
  }
  if (search->low[state] != search->number[state])
    return;
  bool alone = search->stack[search->on_stack - 1] == state;
  uint32_t member;
  do {
    member = search->stack[--search->on_stack];
    search->open[member] = 0;
    returns[member] |= !alone;
  } while (member != state);
}

static void search_from(Search *search, uint32_t start, uint8_t *returns) {
  search_enter(search, start);
  while (search->on_path > 0) {
    uint32_t state = search->path[search->on_path - 1];
    if (search->next[state] == search->first[state + 1]) {
      search_leave(search, state, returns);
      continue;
    }
    uint32_t to = g_array_index(search->set->edges, StateEdge, search->next[state]++).to;
    returns[state] |= to == state;
    if (!search->number[to])
      search_enter(search, to);
    else if (search->open[to])
      search->low[state] = MIN(search->low[state], search->number[to]);
  }
}

static void find_returns(StateSet *set) {
  gsize count = set->count;
  g_autofree uint32_t *memory = g_new(uint32_t, 6 * count + 1);
  uint32_t *rest = memory + count + 1;
  g_autofree uint8_t *open = g_new0(uint8_t, count);
  Search search = {.set = set,
                   .first = memory,
                   .next = rest,
                   .number = rest + count,
                   .low = rest + 2 * count,
                   .open = open,
                   .path = rest + 3 * count,
                   .stack = rest + 4 * count};
  memset(search.number, 0, count * sizeof *search.number);
  uint32_t edge = 0;
  for (uint32_t state = 0; state <= set->count; state++) {
    while (edge < set->edges->len && g_array_index(set->edges, StateEdge, edge).from < state)
      edge++;
    search.first[state] = edge;
  }
  g_free(set->returns);
  set->returns = g_new0(uint8_t, set->count);
  for (uint32_t state = 0; state < set->count; state++)
    if (!search.number[state])
      search_from(&search, state, set->returns);
}

bool state_set_returns(StateSet *set, uint32_t index) {
  if (!set->keeps_edges)
    return true;
  if (set->returns_of != set->edges->len || !set->returns)
    find_returns(set);
  set->returns_of = set->edges->len;
  return set->returns[index];
}
