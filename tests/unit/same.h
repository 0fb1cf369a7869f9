/* same.h - whether two programs say the same: for what is printed and read back. */
#ifndef LOCKSTEP_TESTS_SAME_H
#define LOCKSTEP_TESTS_SAME_H

#include "isa/program.h"
#include "isa/ptx/ptx_tree.h"

/* True if both programs have the same kernels, instruction for instruction, places in the text and raw addresses
 * aside (targets compare by index). */
bool same_program(const Program *a, const Program *b);
/* True if both modules say the same, places in the text aside. */
bool same_module(const PtxModule *a, const PtxModule *b);

#endif
