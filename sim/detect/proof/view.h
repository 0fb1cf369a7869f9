/* view.h - what the proof (explore.h) knows of each unfinished warp while it explores: where its lanes may get,
 * what its block's warps may do, and who has to be looked at again because something that they depend on has
 * grown.
 *
 * Ownership: an Explorer owns its views; warps, blocks and launches are the Gpu's. What is worked out of a kernel
 * once (KernelFacts) stays for all looks of one run. */
#ifndef LOCKSTEP_DETECT_PROOF_VIEW_H
#define LOCKSTEP_DETECT_PROOF_VIEW_H

#include "sim/core/gpu.h"
#include "sim/detect/proof/abstract_memory.h"
#include "sim/detect/proof/copies.h"
#include "sim/detect/proof/lane_state.h"
#include "sim/detect/proof/leaders.h"
#include "sim/detect/proof/mask_set.h"
#include "sim/detect/proof/seen.h"

/* Where a lane may get to, by what is known so far; it only grows. Entries are indices into the warp's stack; a
 * lane above all of them is at its depth. */
typedef struct LaneReach {
  bool may_exit;           /* it executes EXIT, or faults */
  bool may_fault;          /* it faults, which ends the run */
  uint32_t lowest_entry;   /* the lowest stack entry it arrives at; its own level while it arrives nowhere */
  uint32_t block_barriers; /* bit: a block barrier that it comes to and waits at */
  uint32_t says[2];        /* the same, to a BAR.RED with a predicate that is false, or true */
  /* -- with lane groups -- */
  /* It comes to a point where another group may get its turn; block barriers and EXIT, which are such points too,
   * don't count here. */
  bool may_switch;
  /* It executes YIELD or NANOSLEEP, or has and hasn't run since: lanes that wait at a BSYNC may go on without whom
   * they wait for. */
  bool may_yield;
  /* Of the WARPSYNCs that it comes to or waits at, the masks that have it: lanes that wait at one of these masks for
   * it go on. */
  MaskSet meets;
  /* The same of a WARPSYNC.ALL; WarpView.meet tells which one. */
  bool meets_all;
  /* It comes to a WARPSYNC of either kind, or waits at one: lanes that are wanted there leave their BSYNC. */
  bool calls_waiters;
  /* bit: a convergence barrier where nobody has to wait for it, since it comes to the BSYNC, waits there, leaves
   * by BREAK or begins anew by BSSY. */
  uint32_t conv_barriers;
} LaneReach;

/* Where a lane goes on from. */
typedef struct LanePlace {
  uint32_t pc, level;           /* level: entries of the warp's stack below it */
  uint32_t barrier_pc, barrier; /* the BAR that it waits at, if `at_barrier`, and its number */
  bool at_barrier;
} LanePlace;

/* What a lane may still add to a word, over all passes. */
typedef struct AddShare {
  WordKey key;
  uint32_t lane;
  AddSums sums;
} AddShare;

/* A BAR whose barrier or count is in a register, as one lane comes to it: all lanes that execute it must name the
 * same. */
typedef struct BarOperands {
  uint32_t pc, lane, id, count;
} BarOperands;

/* What the proof needs of a kernel. */
typedef struct KernelFacts {
  const Kernel *kernel;
  Liveness liveness;
  NeededBits needed;
  StateSet states;  /* of the lane that is explored */
  RegSet *reads;    /* one for each instruction: registers that it reads */
  Leader *leaders;  /* of each instruction; NULL: none */
  GArray *meetings; /* uint32_t: the WARPSYNC.ALLs, by rising pc */
} KernelFacts;

struct WarpView;

/* The views of one block's warps, by warp in the block; NULL for those that have finished. */
typedef struct BlockView {
  struct WarpView *warp[BLOCK_WARPS_MAX];
  guint users;
  uint32_t dirty; /* warps that have to be explored (again) */
  uint32_t asked; /* warps whose exploration depends on what the others do: they asked whether a barrier opens */
  uint32_t next;  /* the warp to look at first */
  bool queued;    /* in Explorer.queue */
} BlockView;

/* A warp that hasn't finished, as it stands. */
typedef struct WarpView {
  guint index; /* in Explorer.views */
  Sm *sm;
  Warp *warp;
  Block *block;
  BlockView *of_block;
  Launch *launch;
  KernelFacts *facts;
  bool any_block; /* stands for each block from number `first_block` to `last_block`, not for its own */
  uint64_t first_block, last_block;
  uint8_t *entry_open;    /* one for each stack entry */
  GArray *shares;         /* AddShare */
  uint32_t local_unknown; /* lanes that may store to any word of their local memory */
  uint32_t *explored;     /* bit pc: the proof found that a lane may come to it */
  uint32_t *ways;         /* bits 2 * pc and 2 * pc + 1: lanes may pass a guarded call, or take it */
  uint32_t *meet;         /* one for each of facts->meetings: lanes that may come to it */
  LaneReach reach[WARP_LANES];
  uint32_t arrives[BLOCK_BARRIERS];      /* lanes that may arrive (wait) at each barrier */
  uint32_t signals;                      /* barriers that some lane may signal with BAR.ARV */
  uint32_t uncounted;                    /* barriers that some lane may arrive at without a thread count */
  uint32_t fewest[BLOCK_BARRIERS];       /* the smallest thread count that its arrivals give, 0 for none */
  uint32_t most[BLOCK_BARRIERS];         /* the largest */
  uint32_t says[2][BLOCK_BARRIERS];      /* lanes that may bring false, or true, to a BAR.RED of each */
  uint32_t says_nothing[BLOCK_BARRIERS]; /* lanes that may come to it without */
  GArray *bars;                          /* BarOperands */
  const GArray *meets;                   /* Explorer.meets */
  GHashTable *clusters;                  /* Explorer.clusters */
  GPtrArray
      *flights; /* const Flight *: accesses under way that are steps of its lanes (explore_flight.h); NULL: none */
} WarpView;

/* A word that an exploration read, and how often it had grown at the first time. */
typedef struct WordSeen {
  ValueSet *set;
  uint32_t changes;
} WordSeen;

enum { EFFECT_WORDS_MAX = 32 };

/* What an exploration did besides adding to words and bits: what it would do to another lane alike (lane_memo.h). */
typedef struct WalkEffects {
  GPtrArray *masks; /* uint32_t *: masks of the view that the lane is added to */
  GArray *words;    /* WordSeen, unless `of_warp` */
  bool of_lane;     /* it depends on which lane of the warp it is */
  bool of_warp;     /* it depends on the warp: on its block, its stack, what its other lanes may do */
} WalkEffects;

typedef struct Explorer {
  Gpu *gpu;
  AbstractMemory memory;
  AbstractMemory spare; /* an empty one for the next layer, if its `words` isn't NULL */
  Copies *copies;
  GPtrArray *views;    /* WarpView *, by SM, then slot */
  GHashTable *blocks;  /* Block * -> BlockView *, owned by their views; never iterated */
  GHashTable *facts;   /* Kernel * -> KernelFacts *; never iterated */
  GArray *meets;       /* bool, of each launch: its blocks may all come to SYNCBLOCKS */
  GHashTable *clusters; /* Cluster *: all warps of theirs may come to its barrier */
  GQueue queue;        /* BlockView *: those with dirty warps */
  GArray *changes;     /* LaneChange of the lane that is explored */
  GArray *adds;        /* LaneAdds of that lane */
  WalkEffects effects; /* of the same, its arrays */
  struct LaneMemo *memo;
  uint32_t *scratch_rows;
  uint32_t scratch_preds[PRED_ROWS];
  uint64_t steps;        /* instructions explored, and what the views took to make */
  uint64_t budget;       /* the proof gives up after so many steps; 0: never */
  const SeenLoads *seen; /* what the loads of one warp find; borrowed; NULL: whatever the words may hold */
  const SeenLoads *exchanged; /* what the exchanges of all warps give; borrowed; NULL: anything */
  bool *host_added;      /* which steps of the host have been counted as adds; NULL: no host */
  bool explores_all;     /* also behind the first warp that may finish */
  bool gave_up;
  const WarpView *finisher; /* after LIVE: the warp that may finish */
} Explorer;

/* The view of a warp, entered among those of its block, and to be explored. */
WarpView *view_add(Explorer *explorer, Sm *sm, Warp *warp);
void view_free(gpointer view);

static inline bool view_explored(const WarpView *view, uint32_t pc) { return view->explored[pc / 32] >> pc % 32 & 1; }
static inline void view_note_explored(WarpView *view, uint32_t pc) { view->explored[pc / 32] |= 1u << pc % 32; }
/* Bit 0: lanes may pass the instruction's guard, bit 1: they may not. */
static inline uint32_t view_ways(const WarpView *view, uint32_t pc) { return view->ways[pc / 16] >> pc % 16 * 2 & 3; }

/* The warp has to be explored (again). */
void view_wake(Explorer *explorer, WarpView *view);
/* A copy in an L1 that warps of this SM read may go now. */
void view_wake_sm(Explorer *explorer, const Sm *sm);
/* What the warp may do at block barriers has grown: so have those of its block that asked, and itself. */
void view_wake_block(Explorer *explorer, WarpView *view);
/* Adds lanes to a mask of the view (arrivals, votes ...). If that is news, the warp and who depends on it are
 * woken. */
void view_add_lanes(Explorer *explorer, WarpView *view, uint32_t *mask, uint32_t lanes);
/* The lane may take the guarded call at `pc`, or pass it. True if that is news. */
bool view_note_way(Explorer *explorer, WarpView *view, uint32_t pc, bool taken);
/* The lanes that may come to the WARPSYNC.ALL at `pc`. */
uint32_t *view_meeting(const WarpView *view, uint32_t pc);

/* The stack entry that a lane waits in, if it isn't on the running path; -1 otherwise. Without lane groups. */
int explorer_waiting_entry(const WarpView *view, unsigned lane);
/* All its lanes may exit; some lane may fault. */
bool view_may_finish(const WarpView *view);
bool view_may_fault(const WarpView *view);

#endif
