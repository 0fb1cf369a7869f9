/* disasm.h - prints instructions and programs back as SASS that sass_parse() accepts: the parse of the print equals
 * the parse (tests/unit/same.h). What PTX was lowered to is printed for people only: Fermi SASS has no words for all
 * of it. */
#ifndef LOCKSTEP_ISA_DISASM_H
#define LOCKSTEP_ISA_DISASM_H

#include "isa/program.h"

/* One instruction, `@!P0 BRA 0x68` style, without address and semicolon. `v[2]` is the address of the program's
 * variable 2. Free with g_free. */
char *disasm_inst(const Kernel *kernel, const Inst *inst);
/* The whole program with directives, labels as addresses, marks; no kernels that are refused. Free with g_free. */
char *disasm_program(const Program *program);
/* The same of one kernel. */
char *disasm_kernel(const Program *program, guint kernel);

#endif
