/* mc_link.h - functions with a section of their own, put behind the kernels that call them.
 *
 * `nvcc -G` makes such a section of every inline function, and `nvlink` leaves one of each function of an object
 * file.
 * Each is called by its address (CALL.ABS), which a loader writes into the instruction. */
#ifndef LOCKSTEP_ISA_MC_MC_LINK_H
#define LOCKSTEP_ISA_MC_MC_LINK_H

#include "isa/mc/mc_tree.h"

/* Gives each function of the module an address above the code of all kernels, the same in each of them, so that a
 * pointer to it means the same everywhere. What names a function then has its address: operands and words of data.
 * Each kernel gets the code of the functions that it calls, and of those that they call, behind its own; where it
 * calls by pointers, of all whose address the module takes.
 *
 * Each call has a copy of the function, above all those addresses, whose RET goes straight to the place behind the
 * call, and whose places in the source have the call's behind them, as if the compiler had inlined it. Functions that
 * call themselves, those that pointers lead to, and what would be more than COPIED_INSTS_MAX instructions have one
 * copy for all. */
void mc_link(McModule *module);

#endif
