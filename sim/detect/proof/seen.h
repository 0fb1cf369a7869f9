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

/* Whose values count for a lane. */
typedef enum SeenBy {
  SEEN_BY_WARP,  /* its own */
  SEEN_BY_BLOCK, /* those of the same lane of all warps of its block */
  SEEN_BY_LAUNCH /* or of its launch */
} SeenBy;

/* What a warp did in a window. */
typedef struct SeenWarp {
  bool issued;
  bool yielded; /* some of its lanes have given way, and wait for their turn */
} SeenWarp;

typedef struct SeenLoads {
  const Warp *warp;   /* whose loads and exchanges; NULL: all warps, and exchanges alone */
  GHashTable *values; /* warp (or by `by`), lane, part and instruction -> SeenValues */
  SeenBy by;
  SeenWarp *warps; /* of each warp slot of the machine; NULL before the first window of all warps */
  bool moved;      /* something changed, or depended on the time */
} SeenLoads;

/* The only warp that can issue, if it runs the only lanes that can: all others wait for it, at barriers or on its
 * stack. NULL if there are several, or none. */
Warp *seen_only_warp(const Gpu *gpu);
/* Runs so many instructions and notes what that warp reads. NULL if the run stopped (*stop says why). */
SeenLoads *seen_record(Gpu *gpu, const Warp *warp, uint64_t instructions, uint64_t limit_cycles, GpuStop *stop);
/* Asked now and then: what was seen is enough once it says so. */
typedef bool (*SeenEnough)(void *user);
typedef struct SeenWindow {
  uint64_t instructions; /* at the most */
  bool words_change;     /* words and lock bits may change */
  SeenEnough enough;     /* if it never says so nothing was seen. NULL: all of the window is wanted */
  void *user;
} SeenWindow;
/* The same of what the lanes of all warps exchange, if meanwhile no load finds an old copy, all warps that can
 * issue do, no turns of lanes depend on the time, and no word or lock bit changes that mustn't. False otherwise,
 * or if the run stopped. `seen` may have what windows before had. */
bool seen_record_exchanges(SeenLoads *seen, Gpu *gpu, const SeenWindow *window, uint64_t limit_cycles, GpuStop *stop);
/* From now on what one of them was seen to get counts for all, where they do the same in the same state. */
void seen_join(SeenLoads *seen, const Gpu *gpu, SeenBy by);
/* Of all warps, and nothing so far. */
SeenLoads *seen_new_exchanges(void);
/* NULL is fine. */
void seen_free(SeenLoads *seen);
/* What word `part` of the load, or the exchange, at `pc` gave to the lane of a warp that was watched; NULL if that
 * isn't known. */
const SeenValues *seen_values(const SeenLoads *seen, const Sm *sm, const Warp *warp, unsigned lane, uint32_t pc,
                              uint32_t part);

#endif
