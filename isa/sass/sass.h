/* sass.h - the Fermi SASS front end: text in the syntax of cuobjdump/asfermi and of the paper's listings -> Program.
 * The syntax and the directives are described in doc/sass.md. */
#ifndef LOCKSTEP_ISA_SASS_SASS_H
#define LOCKSTEP_ISA_SASS_SASS_H

#include "base/diag.h"
#include "isa/program.h"

/* Parses `text` of `length` bytes (it may hold anything). `file` names it in messages. Returns NULL after errors, all
 * of them in `diag`. The program has been through cfg_annotate(). */
Program *sass_parse(const char *file, const char *text, gsize length, Diag *diag);

#endif
