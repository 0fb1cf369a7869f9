/* speculation.h - loads that the compiler made unconditional: `if (p) v = *a;` becomes a load and a select, since a load of an
 * address that is known to be good can't do harm. The lanes whose value the select drops read nothing by the source.
 * Such a load is plain; what it loads, or what is computed from it, goes into one select, later in the same basic
 * block, and nowhere else. What the select asks may be computed behind the load, by instructions that touch registers
 * only: they are executed ahead, on a copy.
 * Does not model: chains of selects; conditions that hang on a load which is itself under way, or comes later. */
#ifndef LOCKSTEP_DETECT_RACE_SPECULATION_H
#define LOCKSTEP_DETECT_RACE_SPECULATION_H

#include "sim/core/gpu.h"
#include "sim/core/probe.h"

typedef struct Speculation Speculation;

/* Of a kernel's loads, or NULL if none is such a one. */
Speculation *speculation_new(const Kernel *kernel);
/* NULL is allowed. */
void speculation_free(Speculation *speculation);
/* Lanes of the load at `point`, which is about to execute, in which a select drops the value. Sets `perhaps` if its
 * value goes into a select only, and what that asks isn't known yet; then there are none. */
uint32_t speculation_dropped(Speculation *speculation, const ProbePoint *point, bool *perhaps);

#endif
