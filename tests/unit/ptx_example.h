/* ptx_example.h - an instruction of each form of ptx_ops.def. */
#ifndef LOCKSTEP_TESTS_PTX_EXAMPLE_H
#define LOCKSTEP_TESTS_PTX_EXAMPLE_H

#include <glib.h>

#include "isa/ptx_ops.h"

/* The mnemonic (of ptx_ops_example()) with operands: %p1 %h1 %r1 %l1 %f1 %d1 as the types ask for, addresses [%l2+8], the
 * label DONE, the TABLE, `callee, (%r1)`. Free with g_free. */
char *ptx_example(const PtxOps *ops, const char *mnemonic);

#endif
