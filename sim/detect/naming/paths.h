/* paths.h - what a thread may have executed when it comes to an instruction. */
#ifndef LOCKSTEP_DETECT_NAMING_PATHS_H
#define LOCKSTEP_DETECT_NAMING_PATHS_H

#include "isa/program.h"

typedef bool (*PathsMark)(const Inst *inst, const void *user);

/* Some path of the kernel leads from an instruction that `mark` knows to `pc`. */
bool paths_lead(const Kernel *kernel, PathsMark mark, const void *user, uint32_t pc);

#endif
