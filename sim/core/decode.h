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
/* The same of code without encodings, for a GPU whose compiler keeps results of a fixed latency apart from their
 * readers (sm_75 and newer; older ones have it too, but nobody has looked). It counts cycles of issue, not those that
 * a warp waits for a load, so what it adds is added to such a wait. Read out of what ptxas makes of
 * validation/hardware/mc_generic.cu: 12 cycles between an addition that waits for a load and the branch, whose
 * comparison stands 23 cycles before.
 * An atomic operation on global memory that has a result (EXCH, CAS) raises a scoreboard even if nobody reads that;
 * in a loop the next round's first block ends when that has fallen. */
void decode_stall_counts(const Gpu *gpu, const Kernel *kernel, Decoded decoded[]);

/* It waits for the row `reg` (a register's, or a scoreboard's), too. */
void decode_wait(Decoded *decoded, int16_t reg);

/* Sets Decoded.way of all, when all else is known. */
void decode_ways(const Gpu *gpu, const Kernel *kernel, Decoded decoded[]);

#endif
