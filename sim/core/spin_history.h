/* spin_history.h - finds loops in which a warp spins, like DDOS (ElTantawy and Aamodt, HPCA 2018; "like": from the
 * abstract and what is recalled of the paper).
 * Models: each comparison that a warp executes leaves an entry in its history: where it stands (the path), and what
 * it compares in one lane, the lowest that executes it (the values). Places and values are hashed: their parts of
 * sm.spin_backoff.hash_bits are added without carry. A warp spins once the newest entries repeat, in path and in
 * values, those of the whole round before. Another lane begins a new history.
 * Differs from the paper, as recalled: nothing known. A comparison that tells of an mbarrier, whose warp sleeps, and
 * one that finds another instruction's result too early leave no entry; lock bits that set a predicate compare
 * nothing, so a loop of these isn't found, nor in the paper.
 * Time: none. */
#ifndef LOCKSTEP_CORE_SPIN_HISTORY_H
#define LOCKSTEP_CORE_SPIN_HISTORY_H

#include "sim/core/exec.h"

enum { SPIN_HISTORY_MAX = 32 };

/* One warp's. All zeros: it has compared nothing. */
typedef struct SpinHistory {
  uint32_t path[SPIN_HISTORY_MAX], values[SPIN_HISTORY_MAX][2]; /* hashed; the newest first */
  uint32_t count, lane;
  uint32_t period;  /* how many entries ago the newest one's place was come to before; 0: not yet */
  uint32_t matched; /* so many entries in a row had the values of those a period ago */
} SpinHistory;

/* True if the instruction leaves an entry. */
bool spin_history_notes(Opcode op);
/* The comparison is executed. */
void spin_history_add(SpinHistory *history, const Issue *issue);
/* True if the warp spins. */
static inline bool spin_history_spins(const SpinHistory *history) {
  return history->period && history->matched >= history->period;
}

#endif
