/* mbarrier.h - barriers in shared memory (PTX mbarrier): a word of 64 bits that threads arrive at.
 * Models: the words that ptxas initialises, phases, expected arrivals, dropped ones, bytes that are expected and
 * complete.
 * Does not model: arrivals beyond those that the phase expects, which are undefined. */
#ifndef LOCKSTEP_CORE_MBARRIER_H
#define LOCKSTEP_CORE_MBARRIER_H

#include "isa/program.h"

enum { MBARRIER_BYTES = 8 };

/* The word after the instruction (ATOM_ARRIVE) of one lane, whose operand is `operand`. */
uint64_t mbarrier_arrive(const Inst *inst, uint64_t word, uint32_t operand);

/* What the word of a barrier at which `inst` arrives says. */
typedef struct MbarrierCounts {
  uint32_t expected, missing; /* arrivals of each phase, and those still to come in this one */
  uint32_t bytes;             /* still to come; `surplus`: more than were expected have come */
  bool surplus;
} MbarrierCounts;
MbarrierCounts mbarrier_counts(const Inst *inst, uint64_t word);

#endif
