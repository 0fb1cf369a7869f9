/* ptx_target.h - the machine that PTX is lowered for. */
#ifndef LOCKSTEP_ISA_LOWER_PTX_TARGET_H
#define LOCKSTEP_ISA_LOWER_PTX_TARGET_H

#include <stdbool.h>

/* What of a machine a program depends on. */
typedef struct PtxTarget {
  unsigned capability;       /* gpu.compute_capability: 20, 61, 75, 90 ...; an instruction it lacks is an error */
  bool convergence_barriers; /* sm.convergence: barrier */
  unsigned max_registers;    /* sm.max_thread_registers */
  unsigned sm_registers;     /* sm.registers; 0: launch bounds don't limit a kernel's registers */
  unsigned register_granule; /* sm.register_granule */
  bool clusters;             /* some launch has clusters of blocks: kernels may have several in one */
  bool without_code;         /* the kernels' parameters, marks and refusals are all that is wanted: no instructions */
  const bool *wanted;        /* of each kernel: its instructions are wanted; NULL: those of all. Borrowed */
} PtxTarget;

#endif
