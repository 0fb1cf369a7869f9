/* vclock.h - vector clocks: for each actor (a warp of the run), up to which of its times everything is known.
 * Actors are numbered as they start. From VCLOCK_PINNED on, numbers are the caller's, and never forgotten.
 * Bounded: a clock that knows of more than VCLOCK_MAX actors, or of VCLOCK_PARTS_MAX runs of them, forgets its oldest
 * half by taking everything that those actors ever did as known. A race with one of them is then missed; none is
 * invented.
 * Ownership: a VClock is embedded. What was assigned or joined is shared between clocks, whole or by runs of
 * neighbouring actors, until one of them changes: after a barrier many warps know the same, and who passes a lock on
 * has learned little that the one before didn't know. */
#ifndef LOCKSTEP_DETECT_RACE_VCLOCK_H
#define LOCKSTEP_DETECT_RACE_VCLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VCLOCK_MAX = 1024, VCLOCK_RUN = 32, VCLOCK_PARTS_MAX = 512 };
#define VCLOCK_PINNED UINT32_C(0x80000000)

/* Times of VCLOCK_RUN actors in a row; 0: nothing is known. */
typedef struct VClockRun {
  uint32_t users; /* parts that have it */
  uint32_t time[VCLOCK_RUN];
} VClockRun;

/* A run in a clock. */
typedef struct VClockPart {
  uint32_t first; /* its first actor, a multiple of VCLOCK_RUN */
  uint32_t known; /* times that aren't 0 */
  VClockRun *run;
} VClockPart;

typedef struct VClock {
  VClockPart *part; /* by rising actor, no time of one below `floor`; behind the number of clocks that have them */
  uint32_t count, space;
  uint32_t floor; /* everything of the actors below it is known */
} VClock;

/* A VClock of zeros knows nothing. */
void vclock_clear(VClock *clock);
/* Index of the first part that begins with `first` or later. */
uint32_t vclock_find(const VClock *clock, uint32_t first);
/* That of the actor; NULL: there is none. */
static inline const VClockPart *vclock_part(const VClock *clock, uint32_t actor) {
  uint32_t first = actor - actor % VCLOCK_RUN;
  if (clock->count == 0 || first < clock->part[0].first)
    return NULL;
  /* Warps that start together mostly stand together, without a gap. */
  uint32_t at = (first - clock->part[0].first) / VCLOCK_RUN;
  if (at >= clock->count || clock->part[at].first != first)
    at = vclock_find(clock, first);
  return at < clock->count && clock->part[at].first == first ? &clock->part[at] : NULL;
}
static inline uint32_t vclock_time(const VClock *clock, uint32_t actor) {
  const VClockPart *part = vclock_part(clock, actor);
  return part ? part->run->time[actor % VCLOCK_RUN] : 0;
}
/* Times only rise. */
void vclock_advance(VClock *clock, uint32_t actor, uint32_t time);
void vclock_join(VClock *clock, const VClock *other);
void vclock_assign(VClock *clock, const VClock *other);
/* The same with what `other` knew when its own `actor` was at `time`, if it has learned nothing else since. */
void vclock_join_as_of(VClock *clock, const VClock *other, uint32_t actor, uint32_t time);
void vclock_assign_as_of(VClock *clock, const VClock *other, uint32_t actor, uint32_t time);

static inline bool vclock_knows(const VClock *clock, uint32_t actor, uint32_t time) {
  return actor < clock->floor || vclock_time(clock, actor) >= time;
}

#endif
