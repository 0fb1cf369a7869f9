/* race_words.h - an access word by word, as the race detector sees it: which lanes touch which bytes, whether they
 * write, what it asks of the order, and the races that it finds.
 * Lanes and bytes stay paired: lanes that touch different bytes of a word are apart. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_WORDS_H
#define LOCKSTEP_DETECT_RACE_RACE_WORDS_H

#include "sim/core/remote.h"
#include "sim/detect/race/race_flight.h"
#include "sim/detect/race/race_report.h"
#include "sim/detect/race/race_trial.h"

/* A race of what was issued later with what has been performed now. */
typedef struct SettledRace {
  LaterAccess *later;
  uint64_t word;
  Access first, then;
} SettledRace;

/* What a strong read of a word might have given instead of what the newest write left: the newest value before that
 * which is another one, and the oldest that it could, where that is one more. `alike`: there is none, since all
 * writes that the read may miss left the word as it was (atomicAdd() of 0). */
typedef struct OlderReading {
  bool alike;
  unsigned loads;
  OlderLoad load[RACE_OLDER_LOADS];
} OlderReading;

/* A strong read of a word that has been performed, before others that its warp had issued before. */
typedef struct HeldReading {
  uint64_t word;
  Access access;
  OlderReading older;
  ProbePoint point;
  WarpMoment before;
} HeldReading;

/* A race whose cause isn't clear yet. */
typedef struct HeldRace {
  Race race;
  ProbePoint point;
  WarpMoment moment;
  WarpMoment behind; /* of an access under way of another warp that it comes behind; no view: there is none */
  uint32_t actor;    /* whose moment it is */
  bool observed;     /* ... and something that stands before it has observed the other access */
} HeldRace;

/* A race of a strong write with an access that was issued before, but behind others to the word that were under
 * way and read: if one of them observes the write, that came first (race_observer.h). */
typedef struct ObservableRace {
  Race race;
  Access write;
  ProbePoint point;
  WarpMoment moment; /* of the write */
  WarpMoment behind; /* of an access under way that may observe it, and that the other one comes behind */
  bool observed;
} ObservableRace;

/* What is kept of older values (race_older.h). */
typedef struct RaceOlder {
  GHashTable *words;    /* word -> WordPast */
  uint32_t doubted;     /* how many of these are of global memory, up to what counts */
  GHashTable *looks;    /* actor and word -> OlderLook */
  GHashTable *writers;  /* actor -> OlderWriter */
  GHashTable *in_doubt; /* actor -> OlderLook *, borrowed: its newest load is in doubt */
  GHashTable *places;   /* Kernel * -> uint64_t *, locate_key() of each instruction that was asked for, or 0 */
  GHashTable *together; /* actor -> where and when its lanes looked at several words at once */
  GArray *cases;        /* OlderCase */
} RaceOlder;

typedef struct RaceValidated RaceValidated; /* race_validated.h */

/* What steps have in common. */
typedef struct RaceWatch {
  RaceOrder order;
  Shadow shadow[2]; /* by AccessSpace */
  RaceFlights flights;
  RaceReport report;
  RaceTrial trial;
  RaceOlder older;
  RaceLate *late;     /* NULL: no store is late */
  RaceValidated *validated;
  GArray *settled;    /* SettledRace, of the lanes that are being performed */
  GArray *held;       /* HeldRace */
  GArray *readings;   /* HeldReading */
  GArray *observable; /* ObservableRace */
  GHashTable *own;    /* of a doubt: what its warp's own store to a word rested on (race_own.h) */
  bool flags[2];      /* some kernel polls that AccessSpace */
  GHashTable *waits;  /* Kernel * of PTX -> bool *, its polling loads and guesses; those that were asked for */
} RaceWatch;

typedef struct RaceAccess {
  const uint64_t *address; /* of each lane in `lanes` */
  uint32_t lanes, bytes;
  AccessSpace space;
  AccessKind kind;
  bool locks;       /* LDSLK that took the bit, or STSUL: strong to each other, and hands nothing on by the word */
  bool polls;       /* a polling load */
  uint32_t dropped; /* lanes of a load in which a select drops the value (speculation.h) */
  bool perhaps_dropped;       /* a select may drop it: that isn't known yet */
  const uint32_t (*data)[32]; /* AccessPart.data; NULL: the warp's registers have it */
} RaceAccess;

/* Lanes of an instruction that touch the same bytes of one word. */
typedef struct Group {
  uint64_t word; /* address / 4 */
  uint32_t lanes, bytes;
  Cell *cell;
} Group;

enum { RACES_MAX = 8, GROUPS_MAX = WARP_LANES, HELD_MAX = 1024 };

typedef struct Step {
  RaceWatch *watch;
  const ProbePoint *point;
  WarpOrder *warp;
  const RaceAccess *access;
  AccessStrength strong;
  bool hands_over;    /* atomic, volatile or stronger */
  uint32_t part;      /* which word of 64- and 128-bit accesses */
  uint32_t bytes;     /* of a lane in a word */
  LaterAccess *later; /* if it races with what is under way; else NULL. It has one user more than races, the step */
  uint64_t number; /* AccessPart.number, of one that is being performed */
  bool looks;  /* nothing is added */
  bool behind; /* a plain store, some of whose words are performed behind strong accesses of its block (shadow.h) */
  unsigned groups, races;
  Group group[GROUPS_MAX];
  Race race[RACES_MAX];
} Step;

/* What is asked of the accesses of some lanes. */
typedef struct Question {
  const Step *step;
  uint32_t lanes;
} Question;

/* Words of shared memory by SM: one can hold far less than this many. `word`: of the SM's own, or of a
 * remote_address(). */
static inline uint64_t race_words_shared(const Sm *sm, uint64_t word) {
  return (uint64_t)remote_sm(4 * word, sm->index) << 20 | (uint32_t)(4 * word) / 4;
}
static inline Shadow *race_words_shadow(const Step *step) { return &step->watch->shadow[step->access->space]; }

/* Begins a step; `step` needn't be cleared: it is large, and its arrays are filled as far as they count. `point`
 * without a block where the host or memory has it. */
void race_words_begin(Step *step, RaceWatch *watch, const ProbePoint *point, WarpOrder *warp,
                      const RaceAccess *access);
/* Sets the groups of lanes that touch step->part of their words. */
void race_words_group(Step *step, uint32_t lanes);
/* The number of a word in the shadow. */
uint64_t race_words_number(const Step *step, uint64_t word);
/* A CAS that no lane wins leaves the word alone, as does STSUL of what it holds. */
bool race_words_writes(const Step *step, const Group *group);
/* Its lanes that change the word, of an atomic operation one after the other. */
uint32_t race_words_writers(const Step *step, const Group *group);
/* An attempt (attempts.h) that leaves the word as it is. */
bool race_words_is_in_vain(const Step *step, const Group *group);

AccessOrder race_words_order(const Step *step, const Question *question);
/* The step's access by these lanes. */
Access race_words_access(const Step *step, uint32_t lanes, uint32_t bytes, bool write);
RaceEnd race_words_end(const Step *step, const Access *access);
/* Of an access that the warp was handed. */
RaceCause race_words_missing_fence(const RaceOrder *order, const WarpOrder *warp, const Access *earlier);
/* The step is a load of memory that nothing writes while the kernel runs (ld.global.nc), and `earlier` a write of its
 * launch: no order of the model applies to the two. */
bool race_words_breaks_read_only(const Step *step, const Access *earlier);
/* Of an access of these lanes. */
RaceCause race_words_cause(const RaceOrder *order, const WarpOrder *warp, uint32_t lanes, bool strong,
                           const Access *earlier);
/* `own`, of the step's lanes, races with `first` on the word. Words that race in the same way count together as long
 * as they follow each other. */
void race_words_add(Step *step, uint64_t word, uint32_t words, const Access *own, const Access *first,
                    RaceCause cause);
/* Lanes of one store that differ in the bytes they share. */
void race_words_compare(Step *step, const Group *group);
/* Tells the report what was added by an access of the warp's present, or of a moment. What its warp issued before,
 * and still waits for, may hand over what it races with: the races are held until that is known. */
void race_words_tell(const Step *step, const WarpMoment *moment);
/* Access `number` has been performed: held races with it know its chain. */
void race_words_performed(RaceWatch *watch, uint32_t number, uint32_t chain);
/* Reports held races whose cause is clear by now, or all of them. */
void race_words_settle(RaceWatch *watch, bool all);
/* Frees them. */
void race_words_forget(RaceWatch *watch);

#endif
