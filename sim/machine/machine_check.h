/* machine_check.h - checks of a machine's values against each other, after all files and overrides are in.
 * Private to sim/machine. */
#ifndef LOCKSTEP_MACHINE_MACHINE_CHECK_H
#define LOCKSTEP_MACHINE_MACHINE_CHECK_H

#include "sim/machine/machine.h"

/* Called for each violation: the paths of the values that disagree (NULL-terminated; the place of the one that was
 * given last is where a user should look), and a sentence. */
typedef void (*MachineCheckReport)(const char *const *paths, const char *message, gpointer user);

void machine_check(const Machine *machine, MachineCheckReport report, gpointer user);

#endif
