/* decode.h - what each instruction of a kernel means on a machine: its executor, what it waits for, what it takes.
 * Made once for each launch. */
#ifndef LOCKSTEP_CORE_DECODE_H
#define LOCKSTEP_CORE_DECODE_H

#include "sim/core/state.h"

/* `inst`, one of kernel->insts. */
Decoded decode_inst(const Gpu *gpu, const Kernel *kernel, const Inst *inst);
/* Machine code with encodings (kernel->control): who reads the result of an IMAD.HI or IMAD.WIDE sooner than
 * sm.encoded.wide_high or wide_low after it waits for that, though no control bit says so: the instruction before it
 * stalls longer in `decoded`, kernel->ninsts of them. Only along straight code.
 * Measured: validation/hardware/mc_wide.cu, chains beside independent products. */
void decode_products(const Gpu *gpu, const Kernel *kernel, Decoded decoded[]);

#endif
