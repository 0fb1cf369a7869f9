/* carveout.h - which part of the array that shared memory and the L1 have in common a launch gives to shared memory.
 * Models: an array of parts that CUDA allows (sm.l1.carveout), and the driver's choice among them, as an H200 shows
 * it: room for twice the blocks that an SM holds, if that takes no more than half of the array, else for those that
 * it holds (validation/hardware/mem_sets.cu: of 987 launches 6 take a smaller part than here; in 97 the largest two
 * parts can't be told apart).
 * A program can ask for a part by percent of the largest one (cudaFuncAttributePreferredSharedMemoryCarveout). */
#ifndef LOCKSTEP_MACHINE_CARVEOUT_H
#define LOCKSTEP_MACHINE_CARVEOUT_H

#include "sim/machine/machine.h"

/* Of a launch. */
typedef struct CarveoutWish {
  uint32_t threads, blocks; /* of a block; that an SM holds at once */
  uint32_t shared_bytes;    /* of a block, with what the system keeps; 0: it has no shared memory */
  uint32_t asked;           /* 1 and the percent that it asks for; 0: it asks for nothing */
} CarveoutWish;

/* Bytes that shared memory takes of the array; 0 without a carveout. */
uint32_t carveout_bytes(const Machine *machine, const CarveoutWish *wish);

#endif
