/* mc_lower.h - from disassembled machine code to a Program that runs.
 *
 * Each instruction becomes one Inst, or several that issue as one (INST_FUSED). Rows of a thread: its registers, then
 * its uniform registers, then rows for values between the parts of an instruction. Uniform predicates UP0 to UP6 are
 * rows MC_UNIFORM_PREDICATES and on. A kernel with an instruction that isn't modelled is refused by name, with the
 * count of its uses; the others run. */
#ifndef LOCKSTEP_ISA_MC_MC_LOWER_H
#define LOCKSTEP_ISA_MC_MC_LOWER_H

#include "base/diag.h"
#include "isa/mc/mc_tree.h"
#include "isa/program.h"

/* The architecture of the module that a GPU of that compute capability runs: of its generation, and not newer; 0:
 * none. */
unsigned mc_choose_arch(const McModule *module, unsigned capability);
/* The kernels of architecture `sm`, in the order of the module; with `like`, the same program from PTX, in its order,
 * and with its parameters and variables, and, unless `wanted` is NULL, with instructions of those kernels only of
 * which that is true. `clusters`: some launch has clusters of blocks. NULL after errors. */
Program *mc_lower(const McModule *module, unsigned sm, const Program *like, const bool *wanted, bool clusters,
                  Diag *diag);

#endif
