/* race_memory.h - a made-up memory that tells a race detector what warps issue, and when it is performed: later, in
 * any order, in parts, when the warp has exited.
 *
 * Warps a and b are one block, c and d another; e is of a block that takes the slots of a and b (`a.exit`). A step is
 * `a.set`, warp a issues the instruction of that name, or `a.set!`, its oldest one that is under way is performed;
 * plain accesses of PTX are so at once. `a3.set` has lanes 0 and 1 (a mask); without a number lane 0. `a.sync` is
 * __syncwarp(), `ab.bar` a block barrier. */
#ifndef LOCKSTEP_TESTS_RACE_MEMORY_H
#define LOCKSTEP_TESTS_RACE_MEMORY_H

#include "sim/detect/race/race.h"
#include "tests/unit/lab.h"

typedef struct RaceMemory {
  Lab *lab;
  RaceDetector *detector;
  GPtrArray *findings; /* Finding * */
  uint32_t *words;     /* the instructions access the first three */
  Block next;          /* of warp e */
  GArray *under;       /* accesses under way */
  uint64_t accesses, cycle;
  bool fermi;
  bool in_order; /* plain accesses of PTX are performed by steps, too */
} RaceMemory;

/* `settings` of the machine, as for lab_new(). `fermi`: not PTX, so plain accesses are performed by steps, too. */
RaceMemory *race_memory_new(const char *settings, bool fermi);
void race_memory_step(RaceMemory *memory, const char *step);
/* Everything must have been performed. The findings are complete then. */
void race_memory_finish(RaceMemory *memory);
void race_memory_free(RaceMemory *memory);
/* The instruction of that name; its index is that in the kernel. */
unsigned race_memory_inst(const char *name);
/* The name of an instruction, and of the one in a line. */
const char *race_memory_name_of(unsigned inst);
const char *race_memory_name(unsigned line);

#endif
