#include "sim/detect/race/guess_state.h"

#include <string.h>

const GuessHeld *guess_state_reg(const GuessState *state, int16_t reg) {
  for (unsigned i = 0; i < state->count; i++)
    if (state->held[i].what == reg)
      return &state->held[i];
  return NULL;
}

GuessKind guess_state_kind(const GuessState *state, int16_t reg) {
  const GuessHeld *held = reg >= 0 ? guess_state_reg(state, reg) : NULL;
  return held ? (GuessKind)held->kind : FRESH;
}

bool guess_kind_is_old(GuessKind kind) {
  return kind == VALUE || kind == HIGH || kind == PART || kind == DERIVED || kind == EARLIER;
}

GuessKind guess_kind_mix(GuessKind one, GuessKind other) {
  return one == EARLIER || other == EARLIER                   ? EARLIER
         : guess_kind_is_old(one) || guess_kind_is_old(other) ? DERIVED
                                                              : FRESH;
}

const GuessHeld *guess_state_pred(const GuessState *state, unsigned pred) {
  for (unsigned i = 0; i < state->preds; i++)
    if (state->pred[i].what == (int16_t)pred)
      return &state->pred[i];
  return NULL;
}

bool guess_state_put(GuessHeld *list, uint8_t *count, unsigned max, GuessHeld held) {
  unsigned at = 0;
  while (at < *count && list[at].what < held.what)
    at++;
  if (at < *count && list[at].what == held.what) {
    list[at] = held;
    return true;
  }
  if (*count == max)
    return false;
  memmove(list + at + 1, list + at, (*count - at) * sizeof *list);
  list[at] = held;
  ++*count;
  return true;
}

void guess_state_take_out(GuessHeld *list, uint8_t *count, unsigned at) {
  --*count;
  memmove(list + at, list + at + 1, (*count - at) * sizeof *list);
  memset(list + *count, 0, sizeof *list);
}

bool guess_pred_is_old(const GuessHeld *pred) {
  return pred && pred->kind != PRED_LOOKED && pred->kind != PRED_HOLDS && pred->kind != PRED_HOLDS_NOT;
}

GuessKind guess_state_reads(const GuessState *state, const Inst *inst) {
  RegList reads = inst_reads(inst);
  GuessKind kind = FRESH;
  for (unsigned i = 0; i < reads.count; i++)
    kind = guess_kind_mix(kind, guess_state_kind(state, reads.reg[i]));
  for (uint32_t rest = inst_pred_reads(inst); rest; rest &= rest - 1) {
    const GuessHeld *pred = guess_state_pred(state, (unsigned)__builtin_ctz(rest));
    if (guess_pred_is_old(pred))
      kind = guess_kind_mix(kind, pred->kind == PRED_EARLIER ? EARLIER : DERIVED);
  }
  return kind;
}

/* A result of the instruction depends on a word that was looked at behind the value. */
static bool reads_looked(const GuessState *state, const Inst *inst) {
  RegList reads = inst_reads(inst);
  for (unsigned i = 0; i < reads.count; i++)
    if (guess_state_kind(state, reads.reg[i]) == LOOKED)
      return true;
  for (uint32_t rest = inst_pred_reads(inst); rest; rest &= rest - 1) {
    const GuessHeld *pred = guess_state_pred(state, (unsigned)__builtin_ctz(rest));
    if (pred && pred->kind == PRED_LOOKED)
      return true;
  }
  return false;
}

GuessKind guess_state_result(const GuessState *state, const Inst *inst) {
  GuessKind old = guess_state_reads(state, inst);
  return old == FRESH && reads_looked(state, inst) ? LOOKED : old;
}
