/* machine_runs.h - instructions that only some machines have, whatever their generation. (What a generation lacks is
 * refused when PTX is lowered, isa/lower/ptx_target.h.) */
#ifndef LOCKSTEP_SCENARIO_MACHINE_RUNS_H
#define LOCKSTEP_SCENARIO_MACHINE_RUNS_H

#include "base/diag.h"
#include "isa/program.h"
#include "sim/machine/machine.h"

/* True if the machine has every instruction of the kernel; otherwise an error for each line with one that it
 * lacks. */
bool machine_runs_kernel(const Machine *machine, const Program *program, const Kernel *kernel, Diag *diag);

#endif
