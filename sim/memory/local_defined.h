/* local_defined.h - which bytes of one warp's local memory its lanes have given a value, beside local.h. Takes space
 * for what is written: as long as all lanes have written the same bytes of each word of a page, it holds one mask a
 * word.
 * Ownership: embedded in a Warp, whose slot keeps the pages from block to block. */
#ifndef LOCKSTEP_MEMORY_LOCAL_DEFINED_H
#define LOCKSTEP_MEMORY_LOCAL_DEFINED_H

#include "sim/memory/local.h"

typedef struct DefinedPage {
  uint8_t common[LOCAL_PAGE_WORDS]; /* mask of bytes that all lanes have written, unless they differ */
  uint8_t *each;                    /* LOCAL_LANES masks for each word; may be left from an earlier block */
  bool differs;                     /* `each` holds the masks */
} DefinedPage;

typedef struct LocalDefined {
  DefinedPage **pages; /* NULL: nothing is written */
  uint32_t count;
} LocalDefined;

/* Nothing is written; `words` is how many a lane has. */
void local_defined_start(LocalDefined *defined, uint32_t words);
void local_defined_clear(LocalDefined *defined);

/* Mask of the bytes of a word that have a value. */
static inline uint8_t local_defined_bytes(const LocalDefined *defined, uint32_t word, unsigned lane) {
  const DefinedPage *page = defined->pages[word / LOCAL_PAGE_WORDS];
  uint32_t at = word % LOCAL_PAGE_WORDS;
  return !page ? 0 : page->differs ? page->each[at * LOCAL_LANES + lane] : page->common[at];
}

/* Lanes of `mask` store bytes[lane] of a word, of which those of values[lane] have a value. What lanes outside of
 * `alive` have doesn't matter any more. */
void local_defined_store(LocalDefined *defined, uint32_t word, uint32_t mask, uint32_t alive,
                         const uint8_t bytes[LOCAL_LANES], const uint8_t values[LOCAL_LANES]);

#endif
