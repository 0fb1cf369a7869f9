/* handoff.h - what plain stores hand on to those who poll their words: all that the storing warp knew then. Words and
 * warps refer to it by number (0: nothing) and count as its users; stores between which a warp learned nothing share
 * one.
 * Bounded: beyond HANDOFFS_MAX a store hands on everything. A race is then missed; none is invented. */
#ifndef LOCKSTEP_DETECT_RACE_HANDOFF_H
#define LOCKSTEP_DETECT_RACE_HANDOFF_H

#include <glib.h>

#include "sim/detect/race/vclock.h"

enum { HANDOFFS_MAX = 16384 };

typedef struct HandOffs {
  GArray *items; /* HandOff */
  uint32_t free; /* number of the first unused one, 0: none */
} HandOffs;

void handoffs_init(HandOffs *handoffs);
void handoffs_clear(HandOffs *handoffs);
/* What `actor` knows; its caller is the first user. */
uint32_t handoff_new(HandOffs *handoffs, uint32_t actor, const VClock *knows);
void handoff_use(HandOffs *handoffs, uint32_t number);
void handoff_drop(HandOffs *handoffs, uint32_t number);
/* All of it, whoever made it. */
void handoff_join(const HandOffs *handoffs, uint32_t number, VClock *clock);
/* True if `clock` learned something: the store was made in that time of its actor. */
bool handoff_take(const HandOffs *handoffs, uint32_t number, uint32_t time, VClock *clock);

#endif
