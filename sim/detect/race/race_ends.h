/* race_ends.h - a race: its two ends, and why nothing orders them. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_ENDS_H
#define LOCKSTEP_DETECT_RACE_RACE_ENDS_H

#include "sim/core/gpu.h"
#include "sim/detect/race/race_order.h"

/* Why two accesses race. */
typedef enum {
  RACE_IN_INSTRUCTION, /* lanes of one store */
  RACE_LANES,          /* lanes of one warp, which don't run in lock-step */
  RACE_UNORDERED,
  RACE_SCOPES,         /* both are strong, one of them for its own block only */
  RACE_NO_RELEASE,     /* handed over, but the writer has no fence between the first access and the flag */
  RACE_NO_ACQUIRE,     /* handed over, but the reader has no fence between the flag and the second access */
  RACE_NARROW_RELEASE, /* the writer's fence, or its write, has too small a scope */
  RACE_NARROW_ACQUIRE, /* the reader's fence */
  RACE_NARROW_TAKE,    /* the reader's access that takes what is handed over */
  RACE_NO_SYNC,        /* handed over by a lane that hadn't met the lanes of the first access */
  RACE_SPECULATIVE,    /* a load whose value a select drops */
  RACE_READ_ONLY,      /* ordered, but the load is one to which no order applies (ld.global.nc) */
} RaceCause;

/* One end of a race. */
typedef struct RaceEnd {
  ThreadId base; /* lane 0 of its warp, or THREAD_HOST */
  uint32_t lanes;
  uint32_t pc; /* of the host: which step */
  uint64_t cycle;
  bool write, strong;
  bool dropped; /* a load whose value a select drops */
} RaceEnd;

enum { RACE_OLDER_LOADS = 2 };

typedef struct Race {
  RaceEnd first; /* what the instruction that is issued now races with */
  Access with;   /* the same, as it is kept */
  RaceCause cause;
  HandOver handed;   /* RACE_NO_RELEASE and the other four: where the order breaks off */
  uint32_t taker;    /* whose launch took that: of the second access, or of a thread between the two */
  uint32_t fence_pc; /* RACE_NARROW_ACQUIRE */
  ThreadId base;     /* of the instruction that is issued now, like `first.base` */
  AccessSpace space;
  uint64_t address; /* physical, if shared */
  unsigned words;   /* one after the other */
  uint64_t word;    /* number of the first in the shadow */
  uint32_t lanes;   /* of the instruction that is issued now */
  uint8_t bytes;    /* of the word that they touch, by bit */
  bool write, strong;
  bool missed;          /* it reads, and doesn't see what `first` wrote, though a hand-off comes between */
  bool perhaps_dropped; /* it is a load whose value a select may drop */
  unsigned older_loads; /* it reads, and might have given these values instead */
  OlderLoad older[RACE_OLDER_LOADS];
  bool omitted; /* it is one because a trial takes a value for an older one */
} Race;

enum { OLDER_WRITES = 4 };

/* A load reads a value that the word had before, too: it might have read that one. */
typedef struct OlderCase {
  uint32_t launch, pc; /* of the load */
  uint64_t word;       /* address / 4 */
  uint32_t value;
  Access write;    /* what ended the older one */
  ThreadId writer; /* its lane 0, and the load's */
  ThreadId reader;
  uint32_t lanes; /* of the load */
  uint64_t cycle;
  bool announced;               /* before the load its warp wrote to another word, at which the writer looks, too */
  bool fenced;                  /* between what it wrote last and the load there is a fence */
  uint32_t store;               /* what wrote that */
  uint64_t wrote[OLDER_WRITES]; /* the words that it wrote last; 0: none */
} OlderCase;

static inline const Launch *race_launch_of(const ProbePoint *point, const RaceEnd *end) {
  return gpu_launch(point->gpu, end->base.launch);
}
static inline bool race_is_host(const RaceEnd *end) { return thread_is_host(end->base); }
static inline bool race_of_one_launch(const Race *race, const RaceEnd *second) {
  return race->first.base.launch == second->base.launch;
}
static inline bool race_of_one_block(const Race *race, const RaceEnd *second) {
  return thread_same_block(race->first.base, second->base);
}
/* A fence would do, or another scope. */
static inline bool race_is_handed(const Race *race) {
  return race->cause == RACE_NO_RELEASE || race->cause == RACE_NO_ACQUIRE || race->cause == RACE_NARROW_RELEASE ||
         race->cause == RACE_NARROW_ACQUIRE || race->cause == RACE_NARROW_TAKE;
}

#endif
