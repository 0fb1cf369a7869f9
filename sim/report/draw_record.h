/* draw_record.h - what a picture of a run is drawn from: for each warp what its lanes did and waited for, from issue
 * to issue.
 * Times are cycles of the SMs. A step is an instruction that a warp issued; what its lanes are in lasts until the
 * next.
 * A lane spins from one poll to the next if it came back to the same instruction (polling_tries()) and changed
 * nothing in between: no store, no atomic operation that changed its word, no lock bit taken, no block barrier.
 * A lane holds a lock from the cycle in which it takes a lock bit, or changes a word by a compare-and-swap or
 * exchange that polls, until the bit is freed, or the word is changed by anything but such a poll.
 * Ownership: a DrawRecord owns all that hangs from it, and copies of the texts: the run may be gone. */
#ifndef LOCKSTEP_REPORT_DRAW_RECORD_H
#define LOCKSTEP_REPORT_DRAW_RECORD_H

#include <glib.h>

#include "sim/core/probe.h"

/* So many steps are kept; what comes later isn't. */
enum { DRAW_STEPS_MAX = 4000000 };

/* What a lane is in. Of a lane that runs the warp's steps say more. */
typedef enum {
  DRAW_ABSENT,  /* its block hasn't come yet */
  DRAW_ACTIVE,  /* its warp issues for it, or waits for results of the SM */
  DRAW_SPIN,    /* it runs, but only polls */
  DRAW_MEMORY,  /* it waits for global memory */
  DRAW_QUEUE,   /* the same, in the queue of an atomic unit */
  DRAW_BARRIER, /* at a block barrier */
  DRAW_RECONV,  /* where lanes rejoin: for other lanes of its warp */
  DRAW_TURN,    /* it could go on, but other lanes of its warp run */
  DRAW_EXITED,
  DRAW_STATES
} DrawState;

/* Lanes of a warp that are in one state at one place. */
typedef struct DrawSet {
  uint32_t lanes, place;
  uint8_t state;
} DrawSet;

typedef struct DrawStep {
  uint64_t cycle;
  uint32_t place;
  uint32_t lanes;           /* that executed it */
  uint32_t first_set, sets; /* in DrawWarp.sets */
  uint32_t awaited;         /* place of the access whose reply the warp waits for behind it */
  bool waits;               /* it does */
} DrawStep;

typedef struct DrawSpan {
  uint64_t from, to; /* to: the first cycle that isn't in it; UINT64_MAX: it lasts */
  uint32_t place;    /* of a span of holding: the lock (draw_record_lock()) */
} DrawSpan;

/* Lanes whose access waits in an atomic unit. */
typedef struct DrawQueued {
  uint64_t from, to;
  uint32_t lanes;
} DrawQueued;

typedef struct DrawLane {
  GArray *spins, *holds; /* DrawSpan, by rising time; NULL: none */
  GArray *tries;         /* uint64_t: cycles of polls that came again; NULL: none */
  uint32_t poll;
  uint64_t polled; /* when it polled last, at instruction `poll`; UINT64_MAX: never */
  bool worked;     /* since then */
} DrawLane;

typedef struct DrawWarp {
  uint32_t launch, warp;
  uint64_t block;
  uint32_t lanes;
  uint64_t start;
  GArray *steps, *sets, *queued;
  DrawLane lane[32];
  uint32_t under_way; /* accesses whose result it hasn't got */
  uint32_t taken;     /* lanes that the instruction under way gives a lock bit */
} DrawWarp;

/* A line of the source. */
typedef struct DrawPlace {
  char *file; /* NULL: the program's own */
  char *text;
  unsigned line;
} DrawPlace;

typedef struct DrawRecord DrawRecord;

DrawRecord *draw_record_new(void);
void draw_record_free(DrawRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DrawRecord, draw_record_free)
/* What is to subscribe to one run (RunOptions.observer). If that run is started over, so is the record. */
Probe *draw_record_probe(DrawRecord *record);

/* DrawWarp *, in the order of launch, block and warp. Borrowed. */
const GPtrArray *draw_record_warps(DrawRecord *record);
const DrawPlace *draw_record_place(const DrawRecord *record, uint32_t place);
/* The name of the lock that a span of DrawLane.holds is of. Borrowed. */
const char *draw_record_lock(const DrawRecord *record, uint32_t lock);
/* The cycle up to which all steps were kept; UINT64_MAX: all were. */
uint64_t draw_record_end(const DrawRecord *record);

#endif
