/* disasm_new.h - how the printer spells what Fermi SASS has no words for: the instructions and fields that only PTX
 * is lowered to.
 * For people; sass_parse() doesn't read it. Private to isa/disasm.c. */
#ifndef LOCKSTEP_ISA_DISASM_NEW_H
#define LOCKSTEP_ISA_DISASM_NEW_H

#include "isa/program.h"

/* The modifiers of a mnemonic, each with its dot, behind those that sass_names_print() writes. */
void disasm_new_modifiers(GString *out, const Inst *inst);

#endif
