/* guess_state.h - what registers and predicates have on a way from a load that may be a guess (guesses.h), towards
 * the loaded value. Plain values; lists are in the order of `what`, so that equal states are alike. */
#ifndef LOCKSTEP_DETECT_RACE_GUESS_STATE_H
#define LOCKSTEP_DETECT_RACE_GUESS_STATE_H

#include <stdbool.h>

#include "isa/program.h"

enum { HELD_MAX = 16, HELD_PREDS_MAX = 4, WHOLE = INT16_MAX };

/* What a register has: the loaded value, or its low half; its high half; the bytes of it that PRMT leaves, others
 * replaced; something else that depends on it, or on what an earlier round loaded; the result of the newest
 * compare-and-swap, or its low half; its high half; the same bytes of it; what another word, looked at behind the
 * value, decides; a constant. */
typedef enum {
  FRESH,
  VALUE,
  HIGH,
  PART,
  DERIVED,
  EARLIER,
  RESULT,
  RESULT_HIGH,
  RESULT_PART,
  LOOKED,
  FIXED
} GuessKind;
/* A predicate: depends on the value, or on an earlier one; says whether value and result are the same, or whether
 * they differ; the same of their low halves; depends on another word that was looked at behind the value; is
 * known. */
typedef enum {
  PRED_FRESH,
  PRED_DERIVED,
  PRED_EARLIER,
  PRED_SAME,
  PRED_DIFFERENT,
  PRED_SAME_LOW,
  PRED_DIFFERENT_LOW,
  PRED_LOOKED,
  PRED_HOLDS,
  PRED_HOLDS_NOT
} GuessPred;

/* `by`: of PART and RESULT_PART, the operand that chooses the bytes; of a predicate, too, or WHOLE; of FIXED, the
 * constant's slot. */
typedef struct GuessHeld {
  int16_t what, by;
  uint16_t kind;
} GuessHeld;

/* What holds before an instruction. No padding, and what isn't in use is zero: states are compared as bytes. */
typedef struct GuessState {
  uint32_t pc;
  uint8_t count, preds;
  bool moved;       /* the registers of the address have changed since the load */
  bool pending;     /* the value has decided something, or was compared: the word has to be looked at again */
  uint32_t stored;  /* 1 + the instruction that stored what depends on the value; 0: none */
  uint32_t overdue; /* the same of a value that wasn't right: it has to come again before a compare-and-swap */
  GuessHeld held[HELD_MAX], pred[HELD_PREDS_MAX];
} GuessState;

/* NULL: nothing is known of it. */
const GuessHeld *guess_state_reg(const GuessState *state, int16_t reg);
const GuessHeld *guess_state_pred(const GuessState *state, unsigned pred);
GuessKind guess_state_kind(const GuessState *state, int16_t reg);

/* It depends on the loaded value, or on an earlier one. */
bool guess_kind_is_old(GuessKind kind);
bool guess_pred_is_old(const GuessHeld *pred);
/* What depends on both. */
GuessKind guess_kind_mix(GuessKind one, GuessKind other);

/* False: there is no room. */
bool guess_state_put(GuessHeld *list, uint8_t *count, unsigned max, GuessHeld held);
void guess_state_take_out(GuessHeld *list, uint8_t *count, unsigned at);

/* What a result of the instruction depends on: FRESH, DERIVED or EARLIER; or LOOKED, if that is all. */
GuessKind guess_state_reads(const GuessState *state, const Inst *inst);
GuessKind guess_state_result(const GuessState *state, const Inst *inst);

#endif
