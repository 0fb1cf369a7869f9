/* scratch.h - registers that the hardware's form of an instruction needs and the model's hasn't. Private to isa/.
 *
 * A division is one instruction here and some twenty there, and a store takes its value from a register even if that
 * is a constant. Such registers count while the instruction runs; nothing names them. */
#ifndef LOCKSTEP_ISA_FLOW_SCRATCH_H
#define LOCKSTEP_ISA_FLOW_SCRATCH_H

#include "isa/flow/virtual_view.h"

/* Registers that a division or the like needs beside its operands. */
unsigned scratch_registers(const VInst *vinst);

/* Registers for constants that the instruction brings to memory. */
unsigned scratch_constants(const VKernel *vkernel, const VInst *vinst);

/* True if operand b goes to memory at a 64-bit address. ptxas 13.0 has it in an odd register then, in 1,950 of 2,046
 * instructions for sm_90: the address is an even pair. */
bool scratch_wants_odd(const VInst *vinst);

/* True if the instruction reads its registers for some cycles after it was issued, so that ptxas avoids to write them
 * soon. */
bool scratch_reads_late(const VInst *vinst);

#endif
