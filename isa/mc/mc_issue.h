/* mc_issue.h - which unit of its scheduler an instruction of machine code issues to, and for how long it takes it:
 * what several warps of a scheduler wait for and the encoding doesn't say.
 * Units were told apart by kernels of one kind of instruction, one to 32 warps, on an H200
 * (validation/hardware/mc_alu.cu), what reading registers takes by additions, logic and multiplications that take
 * turns (validation/hardware/mc_wide.cu). */
#ifndef LOCKSTEP_ISA_MC_MC_ISSUE_H
#define LOCKSTEP_ISA_MC_MC_ISSUE_H

#include "isa/mc/mc_tree.h"

/* Registers that instructions of integers, and of floats, marked as `.reuse`, by place among the sources; MC_RZ:
 * none. They stay until another is marked there, they are read there without a mark, or written. */
enum { MC_REUSE_PLACES = 3 };
typedef struct McReuse {
  int16_t integer[MC_REUSE_PLACES], floating[MC_REUSE_PLACES];
} McReuse;

void mc_reuse_init(McReuse *reuse);

/* CONTROL_UNIT, CONTROL_READS and CONTROL_TWICE of an instruction. `reuse` is what those before it in the code have
 * left, and then what it leaves. */
uint32_t mc_issue_bits(const McModule *module, const McInst *inst, McReuse *reuse);

#endif
