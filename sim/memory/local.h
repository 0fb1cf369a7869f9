/* local.h - one warp's local memory: word w of each lane, side by side as on the hardware; only its lane sees it.
 * Takes space for what is written: a page is made when a word of it first becomes other than zero, and as long as all
 * lanes have the same in each of its words it holds one lane's.
 * Ownership: embedded in a Warp, whose slot keeps the pages from block to block. */
#ifndef LOCKSTEP_MEMORY_LOCAL_H
#define LOCKSTEP_MEMORY_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

enum { LOCAL_PAGE_WORDS = 64, LOCAL_LANES = 32 };

typedef struct LocalPage {
  uint32_t common[LOCAL_PAGE_WORDS]; /* what all lanes have, unless they differ */
  uint32_t *each;                    /* LOCAL_LANES words for each word; may be left from an earlier block */
  uint32_t differs;                  /* 1: `each` holds the words */
} LocalPage;

typedef struct LocalMemory {
  LocalPage **pages; /* NULL: zeros */
  uint32_t count;
} LocalMemory;

/* All words become zero; `words` is how many a lane has. */
void local_memory_start(LocalMemory *local, uint32_t words);
void local_memory_clear(LocalMemory *local);

static inline uint32_t local_memory_word(const LocalMemory *local, uint32_t word, unsigned lane) {
  const LocalPage *page = local->pages[word / LOCAL_PAGE_WORDS];
  uint32_t at = word % LOCAL_PAGE_WORDS;
  return !page ? 0 : page->differs ? page->each[at * LOCAL_LANES + lane] : page->common[at];
}

/* Stores values[lane] for each lane of `mask`. What lanes outside of `alive` have doesn't matter any more. */
void local_memory_store(LocalMemory *local, uint32_t word, uint32_t mask, uint32_t alive,
                        const uint32_t values[LOCAL_LANES]);

#endif
