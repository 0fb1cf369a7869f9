/* tags.h - what the slices of the L2 hold: lines of sectors, in sets of ways.
 * Models: valid and dirty sectors, replacement of the line used longest ago, write-back of dirty sectors, lines on
 * their way from memory; a start with the host's data in the L2 (memory.l2.start).
 * Does not model: values, which are the backing's.
 * Ownership: owns its tags; pages of them that no access comes to take no memory. What belongs to a set lies
 * together. */
#ifndef LOCKSTEP_MEMORY_TAGS_H
#define LOCKSTEP_MEMORY_TAGS_H

#include <stdbool.h>

#include "sim/machine/machine.h"

typedef struct TagLine {
  uint64_t busy : 1;     /* until the cycle that tags_busy_until() has */
  uint64_t in_order : 1; /* who waits goes on one behind the other, a cycle apart: as they came */
  uint64_t used : 62;
  uint32_t valid, dirty; /* sectors, by bit */
} TagLine;

/* A line that made room. */
typedef struct Evicted {
  uint64_t line;
  uint32_t dirty; /* to be written back; 0: nothing is */
} Evicted;

typedef struct Tags {
  /* Of each set one behind the other: of each way its line's number and 1 (0: it is free); its TagLine;
   * busy_until. */
  char *memory, *first_set;    /* what was allocated; NULL without L2 */
  uint32_t sets, ways, slices; /* sets of each slice; slices of a half */
  uint32_t lines_at, busy_at;  /* bytes in a set */
  uint64_t set_bytes;
  uint32_t all; /* sectors of a line */
  bool warm;
  uint64_t uses;
} Tags;

void tags_init(Tags *tags, const Machine *machine);
void tags_clear(Tags *tags);
static inline bool tags_are_there(const Tags *tags) { return tags->memory; }
/* The set, among those of all slices, of the line that has the number `order` in the slice (slice_map_order()). */
static inline uint32_t tags_set(const Tags *tags, uint32_t slice, uint32_t order) {
  return slice * tags->sets + order % tags->sets;
}
/* The line's set in the slice of the other half; `slice`: the one that `set` belongs to. */
static inline uint32_t tags_other_set(const Tags *tags, uint32_t slice, uint32_t set) {
  uint32_t half = tags->slices * tags->sets;
  return slice < tags->slices ? set + half : set - half;
}
/* The set will be looked at soon. */
static inline void tags_prefetch(const Tags *tags, uint32_t set) {
  const char *place = tags->first_set + set * tags->set_bytes;
  __builtin_prefetch(place);
  __builtin_prefetch(place + tags->lines_at, 1); /* the first ways fill first */
}
/* The line's tag in that set, used now; NULL: there is none. */
TagLine *tags_find(Tags *tags, uint32_t set, uint32_t line);
/* A tag for a line that has none. `cycle`: a line that is busy then isn't replaced. NULL: all are. */
TagLine *tags_claim(Tags *tags, uint32_t set, uint32_t line, uint64_t cycle, Evicted *evicted);
/* A way of the set has never been used: who isn't there may have been from the start. */
bool tags_has_room(const Tags *tags, uint32_t set);
/* Nothing of the line is there any longer: it makes room before all others. */
static inline void tags_void(TagLine *tag) {
  tag->valid = 0;
  tag->used = 0;
}
/* Of a busy tag: its sectors come from memory then, or the other half's copy is void then; who asks meanwhile
 * waits. */
uint64_t *tags_busy_until(const Tags *tags, const TagLine *tag);
/* The tag is busy up to cycle `until`. */
void tags_keep_busy(const Tags *tags, TagLine *tag, uint64_t until, bool in_order);

#endif
