/* race_trial.h - a repair that is tried: a fence or barrier put in for the race detector only. What runs stays as it is, and
 * what the warps know of each other becomes what it would be.
 * A block barrier puts each access into a phase of its warp, the number of barriers before it: those of other phases are
 * ordered, whichever came first here. It is misplaced where part of a warp passes it, or some warps of a block more
 * often. That and a barrier of the warp are where lanes went past it and exited (isa/flow/past.h), or left its loop.
 * A doubt (EDIT_NOTHING) puts nothing in: it takes away what doesn't decide the access that it is about (decides.h).
 * Misses order that is handed on behind such a barrier: then a repair that would help isn't proposed. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_TRIAL_H
#define LOCKSTEP_DETECT_RACE_RACE_TRIAL_H

#include "sim/detect/naming/finding.h"
#include "sim/detect/race/race_order.h"

typedef struct RaceTrial {
  const Repair *repair; /* NULL: none, and nothing below */
  GHashTable *marks;    /* Kernel * -> uint8_t for each instruction: mask of the edits there */
  GHashTable
      *deciding; /* Kernel * -> uint8_t of each instruction: whether what it is handed counts for a doubt: Decides */
  GHashTable *skipped; /* how exited lanes passed an instruction: the launch, it and where they left -> Past */
  GHashTable *passed;  /* the actor and the instruction -> its lanes that have been there */
  GPtrArray *phases;   /* of each actor: GArray of the times in which its phases began, or NULL */
  bool misplaced;
} RaceTrial;

void race_trial_init(RaceTrial *trial, const Repair *repair);
void race_trial_clear(RaceTrial *trial);
/* What the order has to know of a doubt; none: no doubt. Borrows the trial. */
OrderDoubt race_trial_doubt(RaceTrial *trial);
/* Does what is put in before or behind the access. */
void race_trial_access(RaceTrial *trial, RaceOrder *order, WarpOrder *warp, const ProbePoint *point, bool behind);
/* The trial takes a value that some load reads for an older one (race_older.h); this value of the one at `pc`. */
static inline bool race_trial_asks_older(const RaceTrial *trial) {
  return trial->repair && trial->repair->edit[0].kind == EDIT_OLDER;
}
bool race_trial_takes_older(RaceTrial *trial, const Launch *launch, uint32_t pc, uint32_t value);
/* True if a barrier was put in and has been passed. */
static inline bool race_trial_has_phases(const RaceTrial *trial) { return trial->repair && trial->phases->len; }
/* True if a barrier that was put in orders `earlier` and what the warp does now. */
bool race_trial_orders(const RaceTrial *trial, const RaceOrder *order, const WarpOrder *warp, const Access *earlier);
/* At the end: true if all can stand where they are. */
bool race_trial_fits(const RaceTrial *trial, const RaceOrder *order);

#endif
