/* spin_backoff.h - a warp scheduler that finds loops in which warps spin, and holds such warps back, like BOWS with
 * DDOS (ElTantawy and Aamodt, HPCA 2018; "like": from the abstract and what is recalled of the paper, see below).
 * Models: a turn of a warp through a loop in which the values compared are those of the turn before, by one lane, is
 * one of spinning. A backward branch where such turns outnumber others by `confidence` is a spin loop's; a warp that
 * takes it issues nothing for `least` to `most` cycles from its turn before. The delay is adapted for each SM: longer
 * while many of its instructions are such branches, shorter when a smaller share of them is useful than in the window
 * before.
 * Differs from the paper, as recalled: compared values are those of the loop's own comparisons, hashed with all their
 * bits, instead of histories of 8 bits for values and paths; a warp that is held back has no lower priority behind
 * its delay.
 * Ownership: an Sm owns its SpinBackoff. Time: cycles of the SM clock. */
#ifndef LOCKSTEP_CORE_SPIN_BACKOFF_H
#define LOCKSTEP_CORE_SPIN_BACKOFF_H

#include "sim/core/exec.h"

typedef struct SpinBackoff SpinBackoff;

/* NULL if the machine has none (sm.spin_backoff.confidence is 0). */
SpinBackoff *spin_backoff_new(const Machine *machine);
void spin_backoff_free(SpinBackoff *backoff);

/* The lanes of issue->mask take the branch at `pc` backwards: may put off the warp's next instruction
 * (Issue.next). */
void spin_backoff_turn(Issue *issue, uint32_t pc);

#endif
