/* validates.h - loads that look whether a word has changed since an earlier load, so that what was loaded between the
 * two belongs together: the second look at the number of a seqlock.
 *
 * Of a pair of strong loads of one address, the values of which are compared, the second one validates if no path
 * leads to it past the first: who finds another value begins anew. A poll (`old = *p; while (*p == old);`) is none,
 * even if the compiler took its first look out of the loop; nor is the first look of a round that the end of the
 * round before makes, where a compiler turned the loop. The second look may be that with which the next round begins
 * (`before = after;`): if the loop goes on where the two differ, and is left only where they are the same.
 * That the word hasn't changed says something of the loads between only if it was looked at behind them, and behind
 * what their writer did before. So what these loads took counts for the one that validates.
 *
 * Does not model: addresses that are computed again into another register, values that pass through memory, kernels
 * with more than VALIDATES_LOADS_MAX strong loads. */
#ifndef LOCKSTEP_DETECT_RACE_VALIDATES_H
#define LOCKSTEP_DETECT_RACE_VALIDATES_H

#include "isa/program.h"

enum { VALIDATES_LOADS_MAX = 512 };

/* For each instruction whether it validates; NULL: none does. Free with g_free. */
bool *validates_find(const Kernel *kernel);
/* Marks the strong loads that instruction `pc` validates, if it does so. */
void validates_mark(const Kernel *kernel, uint32_t pc, bool *loads);

#endif
