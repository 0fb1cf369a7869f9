/* lane_state.h - one lane's own state during exploration, and the set of states a lane can be in.
 *
 * A register is a known value or unknown; of one unknown register at a time a range is known (a counter's). Registers
 * that are dead at the state's instruction are zero, and so are bits that can't matter from there on (needed_bits.h),
 * so that states which differ only in what nobody heeds are one state. Where a lane shows too many states at one
 * instruction, the registers that take many values there (attempt counters, backoff lengths, delays) are made
 * unknown: the set stays finite, and what doesn't depend on them stays exact. That is the slicing of SEMANTICS,
 * "Verdicts", done on demand.
 *
 * A state costs what its kernel's registers need: the set keeps them at that stride, and functions pass pointers. A
 * function that takes a LaneState that isn't const may use it up. */
#ifndef LOCKSTEP_DETECT_PROOF_LANE_STATE_H
#define LOCKSTEP_DETECT_PROOF_LANE_STATE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa/flow/cfg.h"
#include "isa/flow/needed_bits.h"
#include "isa/program.h"

enum {
  LANE_STACK_MAX = 12,
  STATES_BEFORE_WIDENING = 80, /* at one instruction */
  VALUES_BEFORE_WIDENING = 33, /* a register with more values than this among them is made unknown */
  STATES_CROWDED = 512, /* at one instruction: from then on the register with most values is made unknown ... */
  VALUES_CROWDED = 8,   /* ... if these are more */
  STATES_AT_ONE_PC_MAX = 768,
};
#define NO_STATE UINT32_MAX
#define SEVERAL_CHANGES UINT32_MAX

typedef struct LaneFrame {
  uint32_t kind; /* StackKind */
  uint32_t pc;
} LaneFrame;

typedef struct LaneState {
  uint32_t pc;
  uint32_t level; /* entries of the warp's stack (as it was found) below this lane */
  uint32_t begun; /* convergence barriers of which the lane executed a BSSY, a BSYNC or a BREAK, by bit */
  uint32_t depth; /* frames the lane pushed itself */
  uint32_t preds; /* bit p: value of predicate p */
  uint32_t preds_unknown;
  uint32_t ranged; /* one unknown register, plus 1, of which low <= value <= high is known; 0: none */
  uint32_t low, high;
  RegSet unknown; /* registers that are unknown (their value is then 0) */
  LaneFrame stack[LANE_STACK_MAX];
  uint32_t regs[]; /* as many as the kernel has */
} LaneState;

/* Room for a state of any kernel. */
typedef union LaneSpace {
  LaneState state;
  uint64_t room[(sizeof(LaneState) + REGSET_MAX * sizeof(uint32_t) + 7) / 8];
} LaneSpace;

static inline size_t lane_state_bytes(uint32_t nregs) {
  return (sizeof(LaneState) + nregs * sizeof(uint32_t) + 7) & ~(size_t)7;
}
static inline void lane_state_copy(LaneState *to, const LaneState *from, uint32_t nregs) {
  memcpy(to, from, lane_state_bytes(nregs));
}

/* Of the register only that is known. */
static inline void lane_state_set_range(LaneState *state, unsigned reg, uint32_t low, uint32_t high) {
  bool known = low == high;
  if (state->ranged == reg + 1)
    state->ranged = state->low = state->high = 0;
  state->regs[reg] = known ? low : 0;
  if (known) {
    regset_drop(&state->unknown, reg);
    return;
  }
  regset_put(&state->unknown, reg);
  state->ranged = reg + 1;
  state->low = low;
  state->high = high;
}

/* The lane may go on from one state of the set to another (indices). */
typedef struct StateEdge {
  uint32_t from, to;
  uint32_t change; /* StateSet.change, as it was then */
} StateEdge;

typedef struct Values Values;

typedef struct StateSet {
  uint32_t nregs, ninsts;
  const Liveness *liveness;
  const NeededBits *needed;
  RegSet *kept;    /* for each instruction: registers that are live, and of which some bit matters */
  size_t stride;   /* bytes of a state */
  uint8_t *states; /* `count` of them */
  uint32_t count, space;
  GArray *edges; /* StateEdge, if `keeps_edges` */
  bool keeps_edges;
  uint8_t *returns;       /* of each state: a lane may come back to it; NULL: not known, ... */
  guint returns_of;       /* ... or known with so many edges */
  uint32_t from;          /* the state that is being stepped, whose successors are added; NO_STATE before the first */
  uint32_t change;        /* 1 + the number of a change on the way from there, SEVERAL_CHANGES; 0: none */
  uint32_t roots;         /* so many states were there before the first step */
  GArray *next_at_pc;     /* uint32_t: chain of states of one instruction */
  uint32_t *newest_at_pc; /* for each instruction: index + 1 of its newest state, 0 if none */
  uint32_t *count_at_pc;
  uint32_t *tried_at_pc; /* for how many states widening was tried last */
  Values **values_at_pc; /* ... and what its registers held in them; NULL: it never was */
  RegSet *widened;       /* for each instruction: registers made unknown there */
  uint64_t *table;       /* open addressing: hash << 32 | 1 + index of a state; 0: empty */
  uint32_t table_size;   /* entries in use: few for few states, so that they stay in the cache */
  uint32_t table_space;  /* entries that there is room for */
  GArray *dirty;       /* uint32_t: instructions whose entries are in use, for a cheap reset */
  bool overflow;       /* a lane showed more states than the caps allow: nothing is proved */
} StateSet;

/* What is known of the kernel is borrowed. */
void state_set_init(StateSet *set, const Kernel *kernel, const Liveness *liveness, const NeededBits *needed);
void state_set_clear(StateSet *set);
/* Forgets all states and widenings. */
void state_set_reset(StateSet *set);
/* Adds a state, which it canonicalises and maybe widens in place; true if it is new. Its index is then count - 1. */
bool state_set_add(StateSet *set, LaneState *state);
/* True if a lane may come back to that state, and always without `keeps_edges`. */
bool state_set_returns(StateSet *set, uint32_t index);

/* Borrowed until the next state is added. */
static inline LaneState *state_set_at(const StateSet *set, uint32_t index) {
  return (LaneState *)(void *)(set->states + index * set->stride);
}

#endif
