/* shadow.h - which accesses to a word of memory can still race with a later one.
 * A cell keeps few of them: an access is dropped once a later one that is ordered after it conflicts with everything
 * that it conflicts with, and an access that its own warp repeats is kept once. So most cells hold one or two.
 * Bounded: CELL_ACCESSES_MAX for a cell, SHADOW_ACCESSES_MAX and SHADOW_PAGES_MAX for all. Beyond them the oldest access
 * of the cell is forgotten, or words are not watched: a race can then be missed, none is invented. */
#ifndef LOCKSTEP_DETECT_RACE_SHADOW_H
#define LOCKSTEP_DETECT_RACE_SHADOW_H

#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  CELL_ACCESSES_MAX = 64,
  SHADOW_ACCESSES_MAX = 2 << 20,
  SHADOW_PAGE_WORDS = 256,
  SHADOW_PAGES_MAX = 8192,
};

/* Strong accesses of threads that are in both scopes don't race with each other. */
typedef enum { ACCESS_WEAK, ACCESS_STRONG_IN_BLOCK, ACCESS_STRONG } AccessStrength;

/* A warp instruction that touched a word. */
typedef struct Access {
  uint64_t cycle;
  uint32_t actor, time; /* of the warp's vector clock */
  uint32_t lanes;       /* those that touched the word */
  uint32_t pc : 25;
  uint32_t bytes : 4; /* of the word */
  uint32_t write : 1;
  uint32_t strong : 2; /* AccessStrength */
} Access;
static_assert(sizeof(Access) == 24, "an Access is kept for every word that a program touches");

typedef struct Cell {
  Access *access; /* oldest first */
  uint16_t count, space;
  /* For the caller: */
  uint32_t released;         /* which clock the word's strong writes left; 0: none */
  uint32_t handed;           /* what the newest plain store handed on (handoff.h); 0: nothing */
  uint32_t handed_time : 30; /* the time of its warp then */
  uint32_t flag : 1;         /* a polling load has read the word */
  uint32_t raced : 1;
} Cell;

/* What is asked of the access that is being added. */
typedef struct AccessOrder {
  const void *user;
  bool (*before)(const void *user, const Access *earlier); /* `earlier` is ordered before it */
  bool (*same_block)(const void *user, const Access *earlier);
  bool by_lanes; /* lanes of a warp may race with each other */
} AccessOrder;

typedef struct Shadow {
  GHashTable *pages; /* page number -> Cell[SHADOW_PAGE_WORDS], for sparse memories */
  Cell *last;        /* the page found last */
  uint64_t last_page;
  uint32_t accesses; /* allocated */
} Shadow;

void shadow_init(Shadow *shadow);
void shadow_clear(Shadow *shadow);
/* The cell of a word (address / 4), or NULL if there are too many. */
Cell *shadow_cell(Shadow *shadow, uint64_t word);
/* Forgets all accesses to the word of a cell. */
void shadow_forget(Shadow *shadow, Cell *cell);
/* Adds an access, and copies up to `max` earlier ones that it races with to `race`. Returns how many. */
unsigned shadow_add(Shadow *shadow, Cell *cell, const Access *access, const AccessOrder *order, Access *race,
                    unsigned max);

#endif
