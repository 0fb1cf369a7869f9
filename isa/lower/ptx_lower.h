/* ptx_lower.h - PTX to the internal form, for one generation of machines. */
#ifndef LOCKSTEP_ISA_LOWER_PTX_LOWER_H
#define LOCKSTEP_ISA_LOWER_PTX_LOWER_H

#include "base/diag.h"
#include "isa/lower/ptx_target.h"
#include "isa/program.h"
#include "isa/ptx/ptx_tree.h"

/* Every kernel (.entry) of the module. One that can't be lowered is there, too, refused: Kernel.refusal has its
 * errors, which name the PTX line. NULL after errors of the module itself, in `diag`. The program keeps nothing of
 * the module. */
Program *ptx_lower(const PtxModule *module, const PtxTarget *target, Diag *diag);

#endif
