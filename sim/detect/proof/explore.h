/* explore.h - what can the unfinished threads still do, whatever the schedule? The proof behind every deadlock verdict.
 *
 * Method: thread-modular exploration. Each lane is explored alone, from its present state, through every step it can
 * take while memory words and lock bits show any of the values that anybody could put there (abstract_memory.h); its
 * own stores add values; passes repeat until nothing is added. This admits every interleaving of lanes and warps, and
 * more: what no lane reaches here, no schedule reaches. Of the SIMT stack the exploration keeps that lanes below
 * the running path stay where they are until every lane above them may have arrived; of barriers, that they hold
 * until every missing warp may arrive. What holds a lane group, where there are groups, is in explore_groups.h. So a warp that can't finish here can't finish on any machine with that program.
 *
 * A fault that some lane may come to counts as an end of the run: then nothing is proved. So does an access to an
 * address that isn't known.
 * Cost is bounded; where a cap is hit the answer is EXPLORE_UNPROVABLE, never a wrong EXPLORE_STUCK. */
#ifndef LOCKSTEP_DETECT_PROOF_EXPLORE_H
#define LOCKSTEP_DETECT_PROOF_EXPLORE_H

#include "sim/core/gpu.h"
#include "sim/detect/proof/abstract_memory.h"
#include "sim/detect/proof/copies.h"
#include "sim/detect/proof/lane_state.h"
#include "sim/detect/proof/seen.h"

/* Where a lane can get to. Entries are indices into the warp's stack; a lane above all of them is at its depth. */
typedef struct LaneReach {
  bool exits;        /* it may exit (or fault) */
  bool faults;       /* it may fault, which ends the run */
  uint32_t lowest;   /* the lowest stack entry it may arrive at; its own level while it arrives nowhere */
  uint32_t barriers; /* block barriers it may arrive at, waiting */
  /* With lane groups: */
  bool stops;     /* it may come to a point where its warp may switch (other than a block barrier, BSYNC or EXIT) */
  bool rejoins;   /* it may come to a BSYNC, where its warp switches unless its group is whole */
  bool yields;    /* it may execute YIELD or NANOSLEEP */
  bool warpsyncs; /* it is at a WARPSYNC whose mask has it, or may come to one */
  bool meets;     /* it is at a WARPSYNC.ALL, or may come to one */
  bool
      calls; /* it is at a WARPSYNC of either kind, or may come to one: lanes that it wants leave their BSYNC for it */
  uint32_t syncs; /* convergence barriers whose BSYNC (or BSSY, or BREAK) it is at or may come to */
} LaneReach;

/* Where a lane goes on from. */
typedef struct LanePlace {
  uint32_t pc, level;  /* level: entries of the warp's stack below it */
  uint32_t barrier_pc; /* the BAR that it waits at, if `at_barrier` */
  bool at_barrier;
  bool runs; /* it may go on now, by what is known so far */
} LanePlace;

/* What a lane may still add to a word, over all passes. */
typedef struct AddShare {
  WordKey key;
  uint32_t lane, step;
  uint64_t up, down;
} AddShare;

/* A BAR whose barrier or count is in a register, as one lane comes to it: all lanes that execute it must name the same. */
typedef struct BarOperands {
  uint32_t pc, lane, id, count;
} BarOperands;

/* The views of one block's warps, by warp in the block; NULL for those that have finished. */
typedef struct BlockView {
  struct WarpView *warp[BLOCK_WARPS_MAX];
  guint users;
  uint64_t changes; /* how often what its lanes reach has grown */
} BlockView;

/* A warp that hasn't finished, as it stands. */
typedef struct WarpView {
  guint index; /* in Explorer.views */
  Sm *sm;
  Warp *warp;
  Block *block;
  BlockView *of_block;
  Launch *launch;
  const Liveness *liveness;
  StateSet *states;       /* shared by all warps of one launch */
  bool any_block;         /* stands for each block from number `first_block` to `last_block`, not for its own */
  uint64_t first_block, last_block;
  uint8_t *entry_open;    /* one for each stack entry */
  GArray *shares;         /* AddShare */
  uint32_t local_unknown; /* lanes that may store to any word of their local memory */
  uint8_t *explored;      /* one for each instruction: the proof found that a lane may come to it */
  uint32_t *meet; /* one for each instruction, with lane groups: a WARPSYNC.ALL that these lanes may come to */
  uint8_t *
      ways; /* one for each instruction: bit 0: lanes may pass a guarded branch or call, bit 1: they may take it; with
                  * lane groups, of a branch only those of the running group count */
  bool parts; /* some branch may part the running group */
  LaneReach reach[WARP_LANES];
  uint32_t arrives[BLOCK_BARRIERS]; /* lanes that may arrive (wait) at each barrier */
  uint32_t signals;                 /* barriers that some lane may signal with BAR.ARV */
  uint32_t uncounted;               /* barriers that some lane may arrive at without a thread count */
  uint32_t fewest[BLOCK_BARRIERS];  /* the smallest thread count that its arrivals give, 0 for none */
  uint32_t most[BLOCK_BARRIERS];    /* the largest */
  GArray *bars;                     /* BarOperands */
  bool was_explored;                /* then: what its newest exploration began with, and took */
  uint64_t seen_version, seen_changes, steps;
} WarpView;

/* One access that an exploration made. */
typedef struct Touch {
  uint64_t key;      /* WordKey or BitKey */
  uint32_t pc;       /* the instruction */
  uint32_t physical; /* lock bits: the shared address it was wanted or freed for */
  uint32_t value;    /* stores: the value, if `one_value` */
  bool one_value;
} Touch;

/* Notes what an exploration touches, the first access of each word and bit: key -> Touch. NULL members aren't wanted. */
typedef struct Footprint {
  GHashTable *reads;
  GHashTable *lock_reads;
  GHashTable *stores; /* words that are stored to or changed */
  GHashTable *writes; /* only words given a value that their set (of a layer: the set below) doesn't have */
  GHashTable *frees;  /* lock bits freed */
  GHashTable *wild;   /* by pc: instructions that store at an address that isn't known */
} Footprint;

void footprint_init(Footprint *footprint);
void footprint_clear(Footprint *footprint);

/* What a lane is assumed to find, beyond the fixpoint: for "who waits for what" questions. */
typedef struct Assumption {
  GHashTable *free_words;  /* WordKey set: these hold anything */
  GHashTable *free_bits;   /* BitKey set: these may be free */
  GHashTable *fixed_words; /* WordKey set: all other words hold anything; NULL: all words are fixed */
  GHashTable *fixed_bits;  /* BitKey set: all other lock bits may be free; NULL: all are fixed */
  bool fresh;              /* loads read memory, whatever an L1 keeps */
  const Touch *stored;     /* a load of that word may find its value, too, beside what was seen (Explorer.seen); or NULL */
  bool all_open;           /* every stack entry and barrier lets lanes through */
  bool read_only;          /* adds nothing to the abstract memory, nor to what is known of the warp and its barriers */
  bool stores;             /* read_only, but for words, bits and votes: the memory is a layer (explorer_push_memory()) */
} Assumption;

typedef struct Explorer {
  Gpu *gpu;
  AbstractMemory memory;
  Copies *copies;
  GPtrArray *views;    /* WarpView *, by SM, then slot */
  GHashTable *blocks;  /* Block * -> BlockView *, owned by their views; never iterated */
  GPtrArray *liveness; /* Liveness *, one for each launch */
  GPtrArray *states;   /* StateSet *, one for each launch */
  Issue scratch;
  GArray *changes; /* LaneChange of the lane that is explored */
  uint32_t *scratch_rows;
  uint32_t scratch_preds[PRED_ROWS];
  uint64_t steps;   /* instructions explored */
  const SeenLoads *seen; /* what the loads of one warp find; borrowed; NULL: whatever the words may hold */
  bool *host_added; /* which steps of the host have been counted as adds; NULL: no host */
  bool gave_up;
  const WarpView *finisher; /* after LIVE: the warp that may finish */
} Explorer;

typedef enum { EXPLORE_LIVE, EXPLORE_STUCK, EXPLORE_UNPROVABLE } ExploreResult;

Explorer *explorer_new(Gpu *gpu);
void explorer_free(Explorer *explorer);

/* LIVE: some warp may finish (or fault). STUCK: none can, in any interleaving. UNPROVABLE: a cap was hit, or a counter without
 * bound goes to memory. */
ExploreResult explorer_prove(Explorer *explorer);

/* Adds a view of one more warp (of a block that isn't resident). */
WarpView *explorer_add_view(Explorer *explorer, Sm *sm, Warp *warp);
/* Forgets the views from number `first` on. */
void explorer_drop_views(Explorer *explorer, guint first);
/* Where a lane starts from, and whether it may run now (it is on the running path, or its entry is open, or its group may
 * go on). */
bool explorer_start(const WarpView *view, unsigned lane, LaneState *start);
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
/* The stack entry that a lane waits in, if it isn't on the running path; -1 otherwise. Without lane groups. */
int explorer_waiting_entry(const WarpView *view, unsigned lane);
/* True if that barrier of the warp's block may complete, given what all warps of the block may do. */
bool explorer_barrier_opens(const WarpView *view, uint32_t id);

#endif
