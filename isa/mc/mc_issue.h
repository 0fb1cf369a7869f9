/* mc_issue.h - which unit of its scheduler an instruction of machine code issues to, and for how long it takes it:
 * what several warps of a scheduler wait for and the encoding doesn't say.
 * Units were told apart by kernels of one kind of instruction, one to 32 warps, on an H200
 * (validation/hardware/mc_alu.cu). */
#ifndef LOCKSTEP_ISA_MC_MC_ISSUE_H
#define LOCKSTEP_ISA_MC_MC_ISSUE_H

#include "isa/mc/mc_tree.h"

/* CONTROL_UNIT, CONTROL_READS and CONTROL_TWICE of an instruction. `before` is the one before it in the code, whose
 * operands may still be there; NULL: none. */
uint32_t mc_issue_bits(const McModule *module, const McInst *inst, const McInst *before);

#endif
