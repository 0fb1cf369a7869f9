/* primitives_text.h - the best primitives of a machine, and its characteristics: `rank --primitives`, `machine
 * classify`. */
#ifndef LOCKSTEP_CLI_PRIMITIVES_TEXT_H
#define LOCKSTEP_CLI_PRIMITIVES_TEXT_H

#include "sim/cli/options.h"

/* The whole of `rank --primitives` on the machines named, at the numbers of blocks of --blocks. */
int primitives_rank_machines(const Options *options, Diag *diag);
/* The whole of `machine classify NAME`. */
int primitives_classify_machine(const char *name, const Options *options, Diag *diag);

#endif
