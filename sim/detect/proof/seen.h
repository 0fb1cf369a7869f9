/* seen.h - what the lanes of one warp read while the machine goes round in a circle.
 *
 * Where a single warp can issue, and nothing else acts, its next steps are given by its state: once the state comes back, it goes
 * on for ever, in the only order there is. The exploration of lanes (explore.h) would still let each load find any
 * value that a word ever holds, and each shuffle any at all, and so find a way out that doesn't exist. With what each
 * did give it stays in the circle. */
#ifndef LOCKSTEP_DETECT_PROOF_SEEN_H
#define LOCKSTEP_DETECT_PROOF_SEEN_H

#include "sim/core/gpu.h"

enum { SEEN_VALUES_MAX = 8 };

typedef struct SeenValues {
  uint32_t count; /* above SEEN_VALUES_MAX: too many to keep */
  uint32_t value[SEEN_VALUES_MAX];
} SeenValues;

typedef struct SeenLoads {
  const Warp *warp;
  GHashTable *values; /* lane, part and instruction -> SeenValues */
} SeenLoads;

/* The only warp that can issue, if it runs the only lanes that can: all others wait for it, at barriers or on its stack. NULL if
 * there are several, or none. */
Warp *seen_only_warp(const Gpu *gpu);
/* Runs so many instructions and notes what that warp reads. NULL if the run stopped (*stop says why). */
SeenLoads *seen_record(Gpu *gpu, const Warp *warp, uint64_t instructions, uint64_t limit_cycles, GpuStop *stop);
void seen_free(SeenLoads *seen);
/* What word `part` of the load, or the shuffle, at `pc` gave to the lane; NULL if that isn't known. */
const SeenValues *seen_values(const SeenLoads *seen, unsigned lane, uint32_t pc, uint32_t part);

#endif
