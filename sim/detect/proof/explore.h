/* explore.h - what can the unfinished threads still do, whatever the schedule? The proof behind every deadlock verdict.
 *
 * Method: thread-modular exploration. Each lane is explored alone, from its present state, through every step it can
 * take while memory words and lock bits show any of the values that anybody could put there (abstract_memory.h); its
 * own stores add values; who read a word that has grown is explored again, until nothing grows. This admits every interleaving
 * of lanes and warps, and more: what no lane reaches here, no schedule reaches. Of the SIMT stack the exploration keeps that lanes
 * below the running path stay where they are until every lane above them may have arrived; of barriers, that they hold
 * until every missing warp may arrive (opens.h). What holds a lane group, where there are groups, is in explore_groups.h. So a
 * warp that can't finish here can't finish on any machine with that program.
 *
 * A fault that some lane may come to counts as an end of the run: then nothing is proved. So does an access to an
 * address that isn't known.
 * Cost: one block after the other is explored until it is at rest, the one first that could finish when the last proof failed;
 * lanes alike are explored once (lane_memo.h). It is bounded; where a cap or the budget is hit the answer is EXPLORE_UNPROVABLE,
 * never a wrong EXPLORE_STUCK. */
#ifndef LOCKSTEP_DETECT_PROOF_EXPLORE_H
#define LOCKSTEP_DETECT_PROOF_EXPLORE_H

#include "sim/detect/proof/opens.h"
#include "sim/detect/proof/question.h"

typedef enum { EXPLORE_LIVE, EXPLORE_STUCK, EXPLORE_UNPROVABLE } ExploreResult;

Explorer *explorer_new(Gpu *gpu);
/* The machine has moved on: forgets all but what it knows of kernels. */
void explorer_restart(Explorer *explorer);
void explorer_free(Explorer *explorer);

/* A block of a launch. */
typedef struct ExploreFirst {
  bool known;
  uint32_t launch;
  uint64_t block;
} ExploreFirst;
/* Begins with that block, if it is there; after LIVE: that of the warp that may finish. */
void explorer_begin_with(Explorer *explorer, const ExploreFirst *first);
ExploreFirst explorer_first(const Explorer *explorer);

/* LIVE: some warp may finish (or fault), or the host may start a kernel. STUCK: none can, in any interleaving. UNPROVABLE: a cap
 * was hit. */
ExploreResult explorer_prove(Explorer *explorer);
/* The same, but goes on behind the first warp that may finish: afterwards the views and the memory have all that the
 * threads may do before a block or a kernel comes. False if a cap was hit. tests/property/test_exploration.c compares it
 * with what they do; a proof needs no more than explorer_prove(). */
bool explorer_explore_all(Explorer *explorer);

/* Adds a view of one more warp (of a block that isn't resident). */
WarpView *explorer_add_view(Explorer *explorer, Sm *sm, Warp *warp);
/* Forgets the views from number `first` on. */
void explorer_drop_views(Explorer *explorer, guint first);
/* Explores one lane from `start` under an assumption (may be NULL) and notes its footprint (may be NULL). */
LaneReach explorer_lane(Explorer *explorer, WarpView *view, unsigned lane, const LaneState *start,
                        const Assumption *assumption, Footprint *footprint);
/* Puts a layer on the memory, for explorations of `count` views from number `first` on; takes it off again, with all that these
 * have done to it. */
typedef struct MemoryLayer {
  AbstractMemory below;
  guint first, count;
  GPtrArray *shares; /* GArray * for each of these views: a copy, or NULL for an empty one */
  bool gave_up;
} MemoryLayer;
void explorer_push_memory(Explorer *explorer, MemoryLayer *layer, guint first, guint count);
void explorer_pop_memory(Explorer *explorer, MemoryLayer *layer);

#endif
