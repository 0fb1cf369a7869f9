/* mc_lab.h - programs of machine code, for tests. */
#ifndef LOCKSTEP_TESTS_MC_LAB_H
#define LOCKSTEP_TESTS_MC_LAB_H

#include "isa/program.h"

/* The cubin `file` of `folder` below the source folder, as the program that runs in place of `like` (or NULL) on
 * sm_90; or a failed test with the messages. */
Program *mc_lab_cubin(const char *folder, const char *file, const Program *like);
/* The same of another architecture. */
Program *mc_lab_cubin_of(const char *folder, const char *file, unsigned sm, const Program *like);

#endif
