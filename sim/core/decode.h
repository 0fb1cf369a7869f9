/* decode.h - what each instruction of a kernel means on a machine: its executor, what it waits for, what it takes.
 * Made once for each launch. */
#ifndef LOCKSTEP_CORE_DECODE_H
#define LOCKSTEP_CORE_DECODE_H

#include "sim/core/state.h"

/* `inst`, one of kernel->insts. */
Decoded decode_inst(const Gpu *gpu, const Kernel *kernel, const Inst *inst);
/* What depends on the instructions before one, in machine code with encodings (kernel->control); `decoded` has
 * kernel->ninsts of them.
 * Who reads the result of an IMAD.HI or IMAD.WIDE sooner than sm.encoded.wide_high or wide_low after it waits for
 * that, though no control bit says so: the instruction before it stalls longer. Only along straight code. Measured:
 * validation/hardware/mc_wide.cu, chains beside independent products.
 * ERRBAR and CCTL behind a fence are a part of the fence. Measured: validation/hardware/mc_poll.cu, fences in a
 * row. */
void decode_in_order(const Gpu *gpu, const Kernel *kernel, Decoded decoded[]);

#endif
