/* race_step.h - one access of a warp or the host, as the race detector sees it: which words and bytes each lane touches, whom
 * that races with, what it takes from others and hands on.
 * Lanes and bytes stay paired: lanes that touch different bytes of a word are apart. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_STEP_H
#define LOCKSTEP_DETECT_RACE_RACE_STEP_H

#include "sim/detect/race/race_order.h"
#include "sim/detect/race/race_report.h"
#include "sim/detect/race/race_trial.h"
#include "sim/detect/race/shadow.h"

/* What steps have in common. */
typedef struct RaceWatch {
  RaceOrder order;
  Shadow shadow[2]; /* by AccessSpace */
  RaceReport report;
  RaceTrial trial;
  bool flags[2];     /* some kernel polls that AccessSpace */
  GHashTable *waits; /* Kernel * of PTX -> bool *, its polling loads; those that were asked for */
} RaceWatch;

/* Words of shared memory by SM: one can hold far less than this many. */
static inline uint64_t race_step_shared_word(const Sm *sm, uint64_t word) { return (uint64_t)sm->index << 20 | word; }

typedef struct RaceAccess {
  const uint64_t *address; /* of each lane in `lanes` */
  uint32_t lanes, bytes;
  AccessSpace space;
  AccessKind kind;
  bool locks;       /* LDSLK that took the bit, or STSUL: strong to each other, and hands nothing on by the word */
  bool polls;       /* a polling load */
  uint32_t dropped; /* lanes of a load in which a select drops the value (speculation.h) */
  bool perhaps_dropped; /* a select may drop it: that isn't known yet */
} RaceAccess;

/* `point` without a block: a step of the host. */
void race_step(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access);

#endif
