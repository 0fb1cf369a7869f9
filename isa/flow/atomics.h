/* atomics.h - a program whose `x++`, a load, an operation and a store, are atomic operations: what is run to see
 * whether that mends it.
 * Ownership: what comes back borrows all but the kernels' instructions from the program, which must outlive it. */
#ifndef LOCKSTEP_ISA_FLOW_ATOMICS_H
#define LOCKSTEP_ISA_FLOW_ATOMICS_H

#include "isa/program.h"

/* In the place of the load; of 32 bits. The store is left out. */
typedef struct AtomicUpdate {
  uint32_t load, store;
  int16_t operand; /* what is added ... */
  AtomOp op;
  DataType type;
} AtomicUpdate;

/* Those of one kernel. */
typedef struct AtomicUpdates {
  const char *kernel; /* its name */
  GArray *all;        /* AtomicUpdate */
} AtomicUpdates;

/* Of PTX. Free with fenced_free(). */
Program *atomics_new(const Program *program, const AtomicUpdates *updates);

#endif
