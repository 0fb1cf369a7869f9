/* unexpected.h - what a scenario expects of buffers, in runs that no GPU does by itself but nothing forbids: stores
 * are late (memory.late_stores), or a warp is held up (sm.held_up). Other buffers than those are a finding there,
 * unexpected-result; other verdicts are findings of their own. */
#ifndef LOCKSTEP_STUDY_UNEXPECTED_H
#define LOCKSTEP_STUDY_UNEXPECTED_H

#include "sim/study/simulation.h"

/* The run isn't one that a GPU does by itself. */
static inline bool unexpected_may_be(const Machine *machine) {
  return machine->memory.late_stores || machine->sm.held_up;
}
/* Adds the finding to those of the simulation, which has come to its end with that verdict, before its detectors
 * conclude. */
void unexpected_tell(Simulation *simulation, const Machine *machine, Verdict verdict);

#endif
