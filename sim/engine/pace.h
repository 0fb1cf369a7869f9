/* pace.h - does it pay, on this host, that threads share the work? How long a line of the host's cache takes from one
 * processor to another differs by seven times, on one host from hour to hour (doc/performance.md).
 * Work comes in portions. Either way is measured by turns: some portions until the caches have settled, some that are
 * timed, and then many the quicker way. Results don't hang on it. */
#ifndef LOCKSTEP_ENGINE_PACE_H
#define LOCKSTEP_ENGINE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* All zeros: nothing is known. */
typedef struct Pace {
  double cost[2];     /* of an item of work, nanoseconds: alone, shared; 0: it isn't known */
  double spent, done; /* nanoseconds and work of the portions that have been timed */
  uint32_t portions;  /* of this turn, so far */
  bool alone;         /* this turn's way */
  bool rests;         /* this turn's way is the quicker one, as far as is known, and its turn is a long one */
} Pace;

/* Whether the next portion is to be shared. */
static inline bool pace_shares(const Pace *pace) { return !pace->alone; }
/* It took so many nanoseconds by the clock on the wall for so much work. */
void pace_note(Pace *pace, uint64_t work, uint64_t nanoseconds);

#endif
