/* tags.h - what the slices of the L2 hold: lines of sectors, in sets of ways.
 * Models: valid and dirty sectors, replacement of the line used longest ago, write-back of dirty sectors, lines on
 * their way from memory; a start with the host's data in the L2 (memory.l2.start).
 * Does not model: values, which are the backing's.
 * Ownership: owns its tags; pages of them that no access comes to take no memory. */
#ifndef LOCKSTEP_MEMORY_TAGS_H
#define LOCKSTEP_MEMORY_TAGS_H

#include <stdbool.h>

#include "sim/machine/machine.h"

typedef struct TagLine {
  uint64_t used;
  uint64_t
      busy_until; /* its sectors come from memory then, or the other half's copy is void then; who asks meanwhile waits */
  uint32_t valid, dirty;
  bool in_order; /* who waits goes on one behind the other, a cycle apart: as they came */
} TagLine;

/* A line that made room. */
typedef struct Evicted {
  uint64_t line;
  uint32_t dirty; /* to be written back; 0: nothing is */
} Evicted;

typedef struct Tags {
  uint64_t *numbers; /* of each way, its line's number and 1; 0: it is free. NULL without L2 */
  TagLine *lines;
  uint32_t sets, ways, slices; /* sets of each slice; slices of a half */
  uint32_t all;                /* sectors of a line */
  bool warm;
  uint64_t uses;
} Tags;

void tags_init(Tags *tags, const Machine *machine);
void tags_clear(Tags *tags);
/* The line's set will be looked at soon. */
void tags_prefetch(const Tags *tags, uint32_t slice, uint64_t line);
/* The line's tag in that slice, used now; NULL: there is none. */
TagLine *tags_find(Tags *tags, uint32_t slice, uint64_t line);
/* A tag for a line that has none. `cycle`: a line that is busy then isn't replaced. NULL: all are. */
TagLine *tags_claim(Tags *tags, uint32_t slice, uint64_t line, uint64_t cycle, Evicted *evicted);

#endif
