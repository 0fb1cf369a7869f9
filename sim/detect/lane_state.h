/* lane_state.h - one lane's own state during exploration, and the set of states a lane can be in.
 *
 * A register is a known value or unknown. Registers that are dead at the state's instruction are zero, so that states
 * which differ only in what nobody reads are one state. Where a lane shows too many states at one instruction, the
 * registers that take many values there (attempt counters, backoff lengths, delays) are made unknown: the set stays
 * finite, and what doesn't depend on them stays exact. That is the slicing of SEMANTICS, "Verdicts", done on demand. */
#ifndef LOCKSTEP_DETECT_LANE_STATE_H
#define LOCKSTEP_DETECT_LANE_STATE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/cfg.h"
#include "isa/program.h"

enum {
  LANE_REGS_MAX = 64, /* states are copied whole: room for every SASS register and no more */
  LANE_STACK_MAX = 12,
  STATES_BEFORE_WIDENING = 80, /* at one instruction */
  VALUES_BEFORE_WIDENING = 33, /* a register with more values than this among them is made unknown */
  STATES_AT_ONE_PC_MAX = 768,
};

typedef struct LaneFrame {
  uint32_t kind; /* StackKind */
  uint32_t pc;
} LaneFrame;

typedef struct LaneState {
  uint32_t pc;
  uint32_t level; /* entries of the warp's stack (as it was found) below this lane */
  uint32_t depth; /* frames the lane pushed itself */
  uint32_t preds; /* bit p: value of predicate p */
  uint32_t preds_unknown;
  RegSet unknown; /* registers that are unknown (their value is then 0) */
  LaneFrame stack[LANE_STACK_MAX];
  uint32_t regs[LANE_REGS_MAX];
} LaneState;

typedef struct StateSet {
  uint32_t nregs, ninsts;
  const Liveness *liveness;
  GArray *states;         /* LaneState */
  GArray *next_at_pc;     /* uint32_t: chain of states of one instruction */
  uint32_t *newest_at_pc; /* for each instruction: index + 1 of its newest state, 0 if none */
  uint32_t *count_at_pc;
  uint32_t *tried_at_pc; /* for how many states widening was tried last */
  RegSet *widened;       /* for each instruction: registers made unknown there */
  uint64_t *table;       /* open addressing: generation << 32 | index of a state */
  uint32_t table_size;
  uint32_t generation; /* entries of earlier ones are empty: a reset costs nothing */
  GArray *dirty;       /* uint32_t: instructions whose entries are in use, for a cheap reset */
  bool overflow;       /* a lane showed more states than the caps allow: nothing is proved */
} StateSet;

void state_set_init(StateSet *set, const Kernel *kernel, const Liveness *liveness);
void state_set_clear(StateSet *set);
/* Forgets all states and widenings. */
void state_set_reset(StateSet *set);
/* Adds a state (canonicalised and maybe widened); true if it is new. Its index is then states->len - 1. */
bool state_set_add(StateSet *set, const LaneState *state);

static inline LaneState *state_set_at(StateSet *set, guint index) {
  return &g_array_index(set->states, LaneState, index);
}

#endif
