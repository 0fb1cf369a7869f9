/* search_loops.h - loops that search memory: each round loads from another place, and where doesn't depend on what
 * the rounds before have loaded, as a probe of a hash table does. What it loads decides when such a loop ends, but it
 * doesn't wait for anybody: it would end without others.
 * Compilers put the first round before the loop; its branch then leads into the loop or to where that ends.
 * A loop that loads one place again waits, and one that follows pointers goes where others lead it; both are left
 * out, as are loops that change memory, meet others or have loops within.
 * Ownership: the caller's, until search_loops_free(). */
#ifndef LOCKSTEP_DETECT_RACE_SEARCH_LOOPS_H
#define LOCKSTEP_DETECT_RACE_SEARCH_LOOPS_H

#include <glib.h>

#include "isa/flow/cfg.h"
#include "isa/program.h"

typedef struct SearchLoops {
  uint32_t *of;    /* of each block: which loop it is in, from 1; 0: none */
  uint32_t *first; /* of each block: of which loop it has the first round; 0: of none */
  GArray *head;    /* uint32_t: the first block of each loop */
  GArray *door;    /* uint32_t: where the first round leads to the others; that block itself if there is none */
} SearchLoops;

SearchLoops *search_loops_find(const Kernel *kernel, const Cfg *cfg);
/* NULL is fine. */
void search_loops_free(SearchLoops *loops);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SearchLoops, search_loops_free)

/* The way from a block to a successor begins another round of such a loop. */
static inline bool search_loops_turn(const SearchLoops *loops, uint32_t from, uint32_t to) {
  return loops && loops->of[from] && g_array_index(loops->head, uint32_t, loops->of[from] - 1) == to;
}
/* ... or the second round. */
static inline bool search_loops_go_on(const SearchLoops *loops, uint32_t from, uint32_t to) {
  return search_loops_turn(loops, from, to) ||
         (loops && loops->first[from] && g_array_index(loops->door, uint32_t, loops->first[from] - 1) == to);
}
/* The loop whose round, the first one or another, is in the block; 0: none. */
static inline uint32_t search_loops_round(const SearchLoops *loops, uint32_t block) {
  return loops->of[block] ? loops->of[block] : loops->first[block];
}

#endif
