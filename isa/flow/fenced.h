/* fenced.h - a program with fences put in: what is run to see whether they mend it.
 * Ownership: what comes back borrows all but the changed kernels from the program, which must outlive it. */
#ifndef LOCKSTEP_ISA_FLOW_FENCED_H
#define LOCKSTEP_ISA_FLOW_FENCED_H

#include "isa/program.h"

/* A place behind an instruction, which who branches to the next one goes past; or before one, which nobody does. */
static inline uint32_t fenced_behind(uint32_t pc) { return 2 * pc + 1; }
static inline uint32_t fenced_before(uint32_t pc) { return 2 * pc; }
static inline uint32_t fenced_inst(uint32_t place) { return place / 2; }

/* Places of one kernel, rising, at each of which there is to be a fence.sc of the GPU, by the lanes that execute the
 * instruction. */
typedef struct FencedPlaces {
  const char *kernel;
  const uint32_t *place;
  uint32_t count;
} FencedPlaces;

/* Of PTX; at most one FencedPlaces for each kernel. */
Program *fenced_new(const Program *program, const FencedPlaces *places, unsigned count);
void fenced_free(Program *fenced);
/* Which instruction was there before the fences came. */
uint32_t fenced_original(const FencedPlaces *places, uint32_t pc);

#endif
