/* fenced.h - a program with fences put in: what is run to see whether they mend it.
 * Ownership: what comes back borrows all but the changed kernels from the program, which must outlive it. */
#ifndef LOCKSTEP_ISA_FLOW_FENCED_H
#define LOCKSTEP_ISA_FLOW_FENCED_H

#include "isa/program.h"

/* Instructions of one kernel, rising, behind each of which there is to be a fence.sc of the GPU, by the lanes that
 * execute it. */
typedef struct FencedPlaces {
  const char *kernel;
  const uint32_t *pc;
  uint32_t count;
} FencedPlaces;

/* Of PTX; at most one FencedPlaces for each kernel. */
Program *fenced_new(const Program *program, const FencedPlaces *places, unsigned count);
void fenced_free(Program *fenced);
/* Which instruction was at that place before the fences came. */
uint32_t fenced_before(const FencedPlaces *places, uint32_t pc);

#endif
