/* decides.h - which loads and atomic operations decide whether some accesses happen, or where: a backward slice.
 * What comes behind a loop happens because the loop ended, so what ends it decides, too. A value passes through
 * registers, and through what stores of the kernel leave in memory for its weak loads. Generous: a store is taken
 * to reach each weak load of its memory. */
#ifndef LOCKSTEP_DETECT_RACE_DECIDES_H
#define LOCKSTEP_DETECT_RACE_DECIDES_H

#include <stdbool.h>

#include "isa/program.h"
#include "sim/detect/race/search_loops.h"

/* Of each instruction of the kernel: true if it is a load or atomic operation whose value decides whether an
 * instruction of `accesses` (one bool for each instruction) is executed, or what its address is. `by_stores`: by
 * way of what stores leave in global or shared memory, too. `ending`, if not NULL: these loops end in any case, and
 * what ends one decides only what happens on one way out of it, or depends on what the loop leaves; rounds behind the
 * first don't count. Free with g_free. */
bool *decides_find(const Kernel *kernel, const bool *accesses, bool by_stores, const SearchLoops *ending);

#endif
