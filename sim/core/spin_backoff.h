/* spin_backoff.h - a warp scheduler that holds warps back that spin, like BOWS (ElTantawy and Aamodt, HPCA 2018;
 * "like": from the abstract and what is recalled of the paper, see below).
 * Models: a backward branch that a spinning warp takes (spin_history.h) gains confidence, one that another warp takes
 * loses some; at sm.spin_backoff.confidence it is a spin loop's, and stays one. A warp that takes such a branch comes
 * behind all others of its scheduler until it issues again, and issues nothing for `least` to `most` cycles from its
 * turn before. The delay is adapted for each SM: longer while many of its instructions are such branches, shorter
 * when a smaller share of them is useful than in the window before.
 * Differs from the paper, as recalled: any number of branches is remembered; a turn begins when the warp could go on,
 * rather than when it does.
 * Ownership: an Sm owns its SpinBackoff. Time: cycles of the SM clock. */
#ifndef LOCKSTEP_CORE_SPIN_BACKOFF_H
#define LOCKSTEP_CORE_SPIN_BACKOFF_H

#include "sim/core/exec.h"
#include "sim/core/state.h"

typedef struct SpinBackoff SpinBackoff;

/* NULL if the machine has none (sm.spin_backoff.confidence is 0). */
SpinBackoff *spin_backoff_new(const Machine *machine);
void spin_backoff_free(SpinBackoff *backoff);

/* The executor of comparisons: a warp's history grows. */
void spin_backoff_compare(Issue *issue);

/* The lanes of issue->mask take the branch at `pc` backwards: may put off the warp's next instruction
 * (Issue.next). */
void spin_backoff_turn(Issue *issue, uint32_t pc);

/* Those of `ready` that come first: all but warps that have taken a spin loop's branch and issued nothing since, or
 * all if there are only such. */
WarpSet spin_backoff_first(const Sm *sm, WarpSet ready);

#endif
