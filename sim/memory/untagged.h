/* untagged.h - lines of a slice that come from memory without a tag, since all ways of their set were busy.
 * Models: who comes to such a line meanwhile waits, as it would at a busy tag: it must not pass what was there first.
 * Does not model: how a GPU keeps them. Few are under way at a time, on most machines none.
 * Ownership: owns its list. */
#ifndef LOCKSTEP_MEMORY_UNTAGGED_H
#define LOCKSTEP_MEMORY_UNTAGGED_H

#include <glib.h>

typedef struct UntaggedLine {
  uint64_t until; /* cycle in which it comes */
  uint32_t line;
} UntaggedLine;

/* Of a slice; zeros: none. */
typedef struct Untagged {
  UntaggedLine *of;
  uint32_t count, size;
} Untagged;

static inline void untagged_clear(Untagged *untagged) { g_free(untagged->of); }

/* The line comes in that cycle. */
static inline void untagged_add(Untagged *untagged, uint32_t line, uint64_t until) {
  if (untagged->count == untagged->size) {
    untagged->size = MAX(8, 2 * untagged->size);
    untagged->of = g_renew(UntaggedLine, untagged->of, untagged->size);
  }
  untagged->of[untagged->count++] = (UntaggedLine){until, line};
}

/* The cycle in which the line comes; 0: it isn't on its way. Forgets those that have come. */
static inline uint64_t untagged_until(Untagged *untagged, uint32_t line, uint64_t cycle) {
  uint64_t until = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < untagged->count; i++) {
    UntaggedLine one = untagged->of[i];
    if (one.until <= cycle)
      continue;
    untagged->of[kept++] = one;
    if (one.line == line)
      until = MAX(until, one.until);
  }
  untagged->count = kept;
  return until;
}

#endif
