/* symbols.h - module-scope variables: a run has a buffer for each, which a kernel finds by its address. */
#ifndef LOCKSTEP_CORE_SYMBOLS_H
#define LOCKSTEP_CORE_SYMBOLS_H

#include "isa/program.h"
#include "sim/memory/backing.h"

/* Adds a buffer for each of the program's variables, in order and with its initial value, to `backing`; those that
 * are `.const` can't be written. Returns their addresses, for LaunchConfig.symbols; free with g_free. */
uint64_t *symbols_place(const Program *program, Backing *backing);

#endif
