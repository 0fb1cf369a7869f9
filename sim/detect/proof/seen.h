/* seen.h - what lanes read while the machine goes round in a circle.
 *
 * Where a single warp can issue, and nothing else acts, its next steps are given by its state: once the state
 * comes back, it goes on for ever, in the only order there is. The exploration of lanes (explore.h) would still
 * let each load find any value that a word ever holds, and each shuffle any at all, and so find a way out that
 * doesn't exist. With what each did give it stays in the circle.
 *
 * Where several warps issue, but no word of memory changes all the way round, each of them finds what it would
 * find if it ran by itself: every order of steps is as good as this one, and none leads out. Loads need no help
 * then, since the words have one value each; ballots and shuffles give each lane what they gave it. */
#ifndef LOCKSTEP_DETECT_PROOF_SEEN_H
#define LOCKSTEP_DETECT_PROOF_SEEN_H

#include "sim/core/gpu.h"

enum { SEEN_VALUES_MAX = 8 };

typedef struct SeenValues {
  uint32_t count; /* above SEEN_VALUES_MAX: too many to keep */
  uint32_t value[SEEN_VALUES_MAX];
} SeenValues;

typedef struct SeenLoads {
  const Warp *warp;   /* whose loads and exchanges; NULL: all warps, and exchanges alone */
  GHashTable *values; /* warp, lane, part and instruction -> SeenValues */
  GHashTable *issued; /* Warp *: those that issued something; never iterated */
  bool moved;         /* something changed, or depended on the time */
} SeenLoads;

/* The only warp that can issue, if it runs the only lanes that can: all others wait for it, at barriers or on its
 * stack. NULL if there are several, or none. */
Warp *seen_only_warp(const Gpu *gpu);
/* Runs so many instructions and notes what that warp reads. NULL if the run stopped (*stop says why). */
SeenLoads *seen_record(Gpu *gpu, const Warp *warp, uint64_t instructions, uint64_t limit_cycles, GpuStop *stop);
/* The same of what the lanes of all warps exchange, if meanwhile no word or lock bit changes, no load finds an old
 * copy, all warps that can issue do, and no turns of lanes depend on the time. NULL otherwise, or if the run
 * stopped. `enough`: asked now and then; what was seen is enough once it says so, and isn't if it never does. NULL:
 * all of the window is wanted. */
typedef bool (*SeenEnough)(void *user);
SeenLoads *seen_record_still(Gpu *gpu, uint64_t instructions, uint64_t limit_cycles, SeenEnough enough, void *user,
                             GpuStop *stop);
void seen_free(SeenLoads *seen);
/* What word `part` of the load, or the exchange, at `pc` gave to the lane of a warp that was watched; NULL if that
 * isn't known. */
const SeenValues *seen_values(const SeenLoads *seen, const Sm *sm, const Warp *warp, unsigned lane, uint32_t pc,
                              uint32_t part);

#endif
