/* speculation.h - loads that the compiler made unconditional: `if (p) v = *a;` becomes a load and a select, since a load of an
 * address that is known to be good can't do harm. The lanes whose value the select drops read nothing by the source.
 * Such a load is plain; what it loads goes into one select, later in the same basic block, and nowhere else.
 * Does not model: chains of selects, values that pass through arithmetic before they are dropped. */
#ifndef LOCKSTEP_DETECT_RACE_SPECULATION_H
#define LOCKSTEP_DETECT_RACE_SPECULATION_H

#include "sim/core/gpu.h"

/* Where a load's value goes. */
typedef struct Selection {
  uint32_t select;  /* the select, as an instruction index; 0: the load isn't such a one */
  bool is_second;   /* the select takes the value where its predicate is false */
  bool known_later; /* the predicate is written between the two */
} Selection;

/* One for each instruction, or NULL if no load is such a one. Free with g_free. */
Selection *speculation_find(const Kernel *kernel);
/* Lanes of `warp`, which is about to load, in which the select drops the value; 0 if that isn't known yet. */
uint32_t speculation_dropped(const Kernel *kernel, const Selection *selection, const Warp *warp);

#endif
