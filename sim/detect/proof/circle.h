/* circle.h - what all warps do that go round for ever, for whoever explains it.
 * Ownership: who found the circle owns it; it owns what was seen in it. */
#ifndef LOCKSTEP_DETECT_PROOF_CIRCLE_H
#define LOCKSTEP_DETECT_PROOF_CIRCLE_H

#include "sim/core/remote.h"
#include "sim/detect/proof/seen.h"

/* Instructions that a watch may always take; more if the run has been that long. Those of a few dozen warps go round
 * in so many. */
enum { CIRCLE_SHARE_LEAST = 150000 };

/* A word that somebody looks at again and again. */
typedef struct CircleWord {
  const Sm *sm;     /* whose shared memory it is in; NULL: global memory */
  uint64_t address; /* of its first byte, physical if shared */
  const Block *block;
  const Launch *launch;
  uint32_t pc;      /* who looks, or tries, there: the first one that was seen */
  uint32_t threads; /* that do */
  bool atomic;      /* by an atomic operation, or to take or free a lock bit */
} CircleWord;

/* What all do from now on. */
typedef struct Circle {
  SeenLoads *seen;   /* what lanes exchange */
  GArray *words;     /* CircleWord: those of atomic operations first, then those that most threads look at */
  bool words_change; /* some do, again and again */
} Circle;

/* The words, as they are seen. */
typedef struct CircleWords {
  GHashTable *words; /* by place: CircleWord */
  GHashTable *lanes; /* by place and warp: those that were there */
} CircleWords;

void circle_words_init(CircleWords *words);
void circle_words_clear(CircleWords *words);
/* Lanes look at the words at these addresses (global, or physical of shared memory), or try to change them. */
void circle_words_note(CircleWords *words, const ProbePoint *point, AccessSpace space, bool atomic,
                       const uint64_t address[32]);

/* A number for the place of a word, given a byte of it. */
static inline uint64_t circle_place(const Sm *sm, AccessSpace space, uint64_t address) {
  enum { SM_SHIFT = 48 };
  return space == SPACE_GLOBAL
             ? address / 4 * 4
             : (uint32_t)address / 4 * 4 | (uint64_t)(remote_sm(address, sm->index) + 1) << SM_SHIFT;
}

/* Of each SM the number of its newest access so far, to be freed; and whether all up to these have been performed,
 * and no launch is about to end: they might have changed something. */
uint64_t *circle_issued(const Gpu *gpu);
bool circle_is_performed(const Gpu *gpu, const uint64_t *issued);

/* Takes `seen` over. */
Circle *circle_new(SeenLoads *seen, const CircleWords *words);
/* NULL is fine. */
void circle_free(Circle *circle);

#endif
