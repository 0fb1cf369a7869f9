#include "sim/detect/lane_state.h"

#include <string.h>

enum { TABLE_INITIAL = 1024 };

void state_set_init(StateSet *set, const Kernel *kernel, const Liveness *liveness) {
  *set = (StateSet){
      .nregs = kernel->nregs,
      .ninsts = kernel->ninsts,
      .liveness = liveness,
      .states = g_array_new(FALSE, FALSE, sizeof(LaneState)),
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
  g_array_free(set->states, TRUE);
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
  g_array_set_size(set->states, 0);
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
  hash = mix(hash, (uint64_t)state->preds << 32 | state->preds_unknown);
  for (unsigned i = 0; i < (set->nregs + 63) / 64; i++)
    hash = mix(hash, state->unknown.word[i]);
  for (uint32_t i = 0; i < state->depth; i++)
    hash = mix(hash, (uint64_t)state->stack[i].kind << 32 | state->stack[i].pc);
  for (uint32_t i = 0; i < set->nregs; i++)
    hash = mix(hash, state->regs[i]);
  return (uint32_t)(hash >> 16);
}

static bool same(const StateSet *set, const LaneState *a, const LaneState *b) {
  return a->pc == b->pc && a->level == b->level && a->depth == b->depth && a->preds == b->preds &&
         a->preds_unknown == b->preds_unknown && regset_equal(a->unknown, b->unknown) &&
         memcmp(a->stack, b->stack, a->depth * sizeof(LaneFrame)) == 0 &&
         memcmp(a->regs, b->regs, set->nregs * sizeof(uint32_t)) == 0;
}

static void forget(const StateSet *set, LaneState *state, RegSet live, RegSet make_unknown) {
  state->unknown = regset_and(regset_or(state->unknown, make_unknown), live);
  for (uint32_t reg = 0; reg < set->nregs; reg++)
    if (!regset_has(&live, reg) || regset_has(&state->unknown, reg))
      state->regs[reg] = 0;
}

/* Registers that take many values among the states of this instruction. */
static RegSet find_widening(StateSet *set, uint32_t pc) {
  RegSet found = {0};
  for (uint32_t reg = 0; reg < set->nregs; reg++) {
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
  for (guint i = 0; i < set->states->len; i++)
    place(table, size, set->generation, hash_state(set, state_set_at(set, i)), i);
  g_free(set->table);
  set->table = table;
  set->table_size = size;
}

static bool contains(StateSet *set, const LaneState *state, uint32_t hash) {
  for (uint32_t at = hash & (set->table_size - 1); in_use(set->table[at], set->generation);
       at = (at + 1) & (set->table_size - 1))
    if (same(set, state_set_at(set, (uint32_t)set->table[at]), state))
      return true;
  return false;
}

bool state_set_add(StateSet *set, const LaneState *given) {
  LaneState state = *given;
  uint32_t pc = state.pc;
  forget(set, &state, set->liveness->live_regs[pc], set->widened[pc]);
  state.preds &= set->liveness->live_preds[pc] & ~state.preds_unknown;
  state.preds_unknown &= set->liveness->live_preds[pc];
  uint32_t hash = hash_state(set, &state);
  if (contains(set, &state, hash))
    return false;
  uint32_t count = set->count_at_pc[pc];
  if (count >= STATES_BEFORE_WIDENING && count % 8 == 0 && set->tried_at_pc[pc] != count) {
    set->tried_at_pc[pc] = count;
    RegSet wider = find_widening(set, pc);
    if (!regset_empty(regset_without(wider, set->widened[pc]))) {
      set->widened[pc] = regset_or(set->widened[pc], wider);
      forget(set, &state, set->liveness->live_regs[pc], set->widened[pc]);
      hash = hash_state(set, &state);
      if (contains(set, &state, hash))
        return false;
    }
  }
  if (count >= STATES_AT_ONE_PC_MAX) {
    set->overflow = true;
    return false;
  }
  if (count == 0)
    g_array_append_val(set->dirty, pc);
  if (2 * (set->states->len + 1) > set->table_size)
    grow(set);
  g_array_append_val(set->states, state);
  g_array_append_val(set->next_at_pc, set->newest_at_pc[pc]);
  set->newest_at_pc[pc] = set->states->len;
  set->count_at_pc[pc]++;
  place(set->table, set->table_size, set->generation, hash, set->states->len - 1);
  return true;
}
