/* ptx_lower.h - PTX to the internal form, for one generation of machines. */
#ifndef LOCKSTEP_ISA_LOWER_PTX_LOWER_H
#define LOCKSTEP_ISA_LOWER_PTX_LOWER_H

#include "base/diag.h"
#include "isa/program.h"
#include "isa/ptx/ptx_tree.h"

/* What of a machine a program depends on. */
typedef struct PtxTarget {
  unsigned capability;       /* gpu.compute_capability: 20, 61, 75, 90 ...; an instruction it lacks is an error */
  bool convergence_barriers; /* sm.convergence: barrier */
  unsigned max_registers;    /* sm.max_thread_registers */
  unsigned sm_registers;     /* sm.registers; 0: launch bounds don't limit a kernel's registers */
  unsigned register_granule; /* sm.register_granule */
} PtxTarget;

/* Every kernel (.entry) of the module. One that can't be lowered is there, too, refused: Kernel.refusal has its errors, which name the
 * PTX line. NULL after errors of the module itself, in `diag`. The program keeps nothing of the module. */
Program *ptx_lower(const PtxModule *module, const PtxTarget *target, Diag *diag);

#endif
