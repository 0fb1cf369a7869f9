/* vclock.h - vector clocks: for each actor (a warp of the run), up to which of its times everything is known.
 * Actors are numbered as they start. From VCLOCK_PINNED on, numbers are the caller's, and never forgotten.
 * Bounded: at VCLOCK_MAX entries a clock forgets its oldest half by taking everything that those actors ever did as
 * known. A race with one of them is then missed; none is invented.
 * Ownership: a VClock is embedded. Entries are shared between clocks that were assigned, until one of them changes:
 * after a barrier many warps know the same. */
#ifndef LOCKSTEP_DETECT_RACE_VCLOCK_H
#define LOCKSTEP_DETECT_RACE_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { VCLOCK_MAX = 1024 };
#define VCLOCK_PINNED UINT32_C(0x80000000)

typedef struct VClockEntry {
  uint32_t actor, time;
} VClockEntry;

typedef struct VClock {
  VClockEntry *entry; /* by rising actor, none below `floor`; behind the number of clocks that have them */
  uint32_t count, space;
  uint32_t floor; /* everything of the actors below it is known */
} VClock;

/* A VClock of zeros knows nothing. */
void vclock_clear(VClock *clock);
/* Knows nothing again, and keeps its memory where no other clock has it. */
void vclock_reset(VClock *clock);
/* The first entry of `actor` or a later one. */
uint32_t vclock_find(const VClock *clock, uint32_t actor);
static inline uint32_t vclock_time(const VClock *clock, uint32_t actor) {
  if (clock->count == 0 || actor < clock->entry[0].actor)
    return 0;
  uint32_t at = actor - clock->entry[0].actor; /* warps that start together mostly stand together, without a gap */
  if (at < clock->count && clock->entry[at].actor == actor)
    return clock->entry[at].time;
  at = vclock_find(clock, actor);
  return at < clock->count && clock->entry[at].actor == actor ? clock->entry[at].time : 0;
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
