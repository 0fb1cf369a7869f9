/* polling.h - which loads wait for another thread's store. Machine code doesn't show what was `volatile` in the
 * source, but a compiler leaves such a load in its loop only if it was.
 *
 * A polling load
 * - lies in a loop (a cycle of the flow graph, from a jump backwards to its target) that passes no barrier: at a
 *   barrier a plain load is repeated too;
 * - has the same address each time: no register of it depends on what an earlier round left;
 * - reaches, within the loop, the guard of a branch that leaves it. It may pass registers and predicates, and choose
 *   by branches and guards what others become (`done = true`), but isn't compared with or added to what each round
 *   changes: `i < *n` and `sum += *x` are no polls. What rounds change under one choice of the load only (the number
 *   of an epoch: `if (*served == epoch) { ...; epoch++; }`) stands still while it waits;
 * - isn't stored back to its word, changed or not, in every round: `i = *next; *next = i + 1` is a counter.
 * So is the copy of such a load that stands before the loop, if a loop was turned round to test at its end, and each
 * look at the phase of an mbarrier (sm_90).
 *
 * Does not model: values that pass through memory, registers above R63; in a kernel whose loops are very many or very
 * long (POLLING_STEPS_MAX) those looked at last. */
#ifndef LOCKSTEP_DETECT_RACE_POLLING_H
#define LOCKSTEP_DETECT_RACE_POLLING_H

#include "sim/detect/race/polling_loop.h"

/* For each instruction whether it is one (LDS and LD only), or NULL if none is. Free with g_free. */
bool *polling_loads(const Kernel *kernel);
/* The same, with atomic operations (ATOM, ATOMS) and LDSLK whose result or predicate decides: those that try to take
 * a lock. Whether a try has succeeded shows only when it runs. */
bool *polling_tries(const Kernel *kernel);
/* Polling loads, and those of which an old value leads to another round, past nothing that changes memory, unless
 * something that is loaded behind them ends the loop (`while (more) { if (head >= tail) continue; ... }`). Not those
 * where an old value leads out if what was loaded before them says so (`closed = ...; if (head < tail) ...; else if
 * (closed) break;`). `atomicAdd(p, 0)` is a load there. */
bool *polling_waits(const Kernel *kernel);

#endif
