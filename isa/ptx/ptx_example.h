/* ptx_example.h - an instruction of each form of ptx_ops.def, for the reference page and for tests. */
#ifndef LOCKSTEP_ISA_PTX_PTX_EXAMPLE_H
#define LOCKSTEP_ISA_PTX_PTX_EXAMPLE_H

#include <glib.h>

#include "isa/ptx/ptx_ops.h"

/* The mnemonic (of ptx_ops_example()) with operands: the first is %p1 %h1 %r1 %l1 %f1 or %d1, as its type asks for,
 * the next has number 2 and so on; addresses [%l2+8], the label DONE, the TABLE, `callee, (%r1)`. Free with
 * g_free. */
char *ptx_example(const PtxOps *ops, const char *mnemonic);

#endif
