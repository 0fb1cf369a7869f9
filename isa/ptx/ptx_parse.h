/* ptx_parse.h - PTX text to a PtxModule.
 *
 * Reads what nvcc writes and what older versions of PTX say; an instruction or directive that isn't supported is an
 * error with its place. Errors are appended to `diag`, and reading goes on with the next statement.
 * Limits: 16 MiB, 2,097,152 lines, 1,048,576 instructions, blocks 32 deep; see doc/ptx.md. Time is linear in the
 * text. */
#ifndef LOCKSTEP_ISA_PTX_PTX_PARSE_H
#define LOCKSTEP_ISA_PTX_PTX_PARSE_H

#include "base/diag.h"
#include "isa/ptx/ptx_tree.h"

/* The module, or NULL after errors. `file` is what messages name. */
PtxModule *ptx_parse(const char *file, const char *text, gsize length, Diag *diag);

#endif
