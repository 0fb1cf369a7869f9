/* ptx_lab.h - programs of PTX, for tests. */
#ifndef LOCKSTEP_TESTS_PTX_LAB_H
#define LOCKSTEP_TESTS_PTX_LAB_H

#include "isa/lower/ptx_lower.h"

/* The parts of a text with one kernel `k`: LAB_OPEN, statements, LAB_CLOSE. */
#define LAB_HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define LAB_REGS                                                                          \
  ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %l<8>; .reg .f32 %f<8>;" \
  ".reg .f64 %d<8>; .reg .b128 %q<8>;\n"                                                  \
  ".reg .v4 .u32 %v;\n"
#define LAB_OPEN LAB_HEAD ".visible .entry k(.param .u64 in, .param .align 4 .b8 big[12])\n{ " LAB_REGS
#define LAB_CLOSE "\nDONE: ret; }\n"
enum { LAB_LINE = 7 }; /* of what stands between LAB_OPEN and LAB_CLOSE */

/* The program of a text. NULL after errors of the module or of any kernel, in `diag`. */
Program *ptx_lab_lower(const char *file, const char *text, const PtxTarget *target, Diag *diag);
/* The program of a text, or a failed test with the messages. */
Program *ptx_lab_lower_good(const char *text, const PtxTarget *target);
/* The same of statements between LAB_OPEN and LAB_CLOSE. */
Program *ptx_lab_lower_body(const char *body, const PtxTarget *target);
/* The mnemonics of a kernel's instructions, one after the other, without operands. Free with g_free. */
char *ptx_lab_opcodes(const Kernel *kernel);

#endif
