/* shadow.h - which accesses to a word of memory can still race with a later one.
 * A cell keeps few of them: an access is dropped once a later one that is ordered after it conflicts with everything
 * that it conflicts with, and an access that its own warp repeats is kept once. So most cells hold one or two.
 * A row of words has one list for all of them as long as each access to it is a plain one by lanes that touch a word
 * each, one after the other; it is taken apart into cells for good when another access comes. What is kept is the
 * same.
 *
 * The observation order of PTX: a strong access comes after the strong writes of the chain that it reads from, which
 * is a write and the atomic operations behind it, each on what the one before left. So what comes after that access
 * (or is it) comes after those writes, with no fence. Cells number the chains; numbers come again, and then a race
 * can be missed. Bytes of a word that are stored apart, two locks of 16 bits, have chains of their own.
 *
 * A strong access is added when it is issued, and stays until it is performed; what it read or left is known only
 * then.
 *
 * Bounded: CELL_ACCESSES_MAX for a cell, SHADOW_ACCESSES_MAX, SHADOW_PAGES_MAX and SHADOW_ROWS_MAX (taken apart) for
 * all.
 * Beyond them the oldest access of the cell is forgotten, or words are not watched: a race can then be missed, none
 * is invented. A write whose observers may be among those forgotten counts as observed by whoever asks. */
#ifndef LOCKSTEP_DETECT_RACE_SHADOW_H
#define LOCKSTEP_DETECT_RACE_SHADOW_H

#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/detect/race/vclock.h"

enum {
  CELL_ACCESSES_MAX = 64,
  ROW_ACCESSES_MAX = 16,
  SHADOW_ACCESSES_MAX = 2 << 20,
  ROW_WORDS = 32,
  SHADOW_PAGE_ROWS = 8,
  SHADOW_PAGES_MAX = 1 << 16,
  SHADOW_ROWS_MAX = 1 << 16,
  SHADOW_RECENT = 64,
};

/* Who a strong access is strong for. Those of threads that are in both scopes don't race with each other. */
typedef enum { ACCESS_WEAK, ACCESS_STRONG_IN_BLOCK, ACCESS_STRONG_ON_GPU, ACCESS_STRONG } AccessStrength;

/* A warp instruction that touched a word. All its lanes touched the same bytes of the word. `actor` and `time`
 * stand together, as do `chain` and what follows: shadow.c compares them as a whole. */
typedef struct Access {
  uint64_t cycle;
  uint32_t actor, time; /* of the warp's vector clock */
  uint32_t
      lanes; /* those that touched the word; in a row: the words, of which lane (word - shift) % 32 touched each */
  uint32_t pc;
  uint32_t chain; /* of the word's values: that it left or read; 0 in a row; under way: its number (race_flight.h) */
  uint8_t bytes;  /* of the word */
  bool write : 1;
  bool dropped : 1; /* of a load: a select drops the value, so the source doesn't have it */
  bool flying : 1;  /* a strong access that is under way */
  bool open : 1; /* ... and reads: what comes before it, and whether it writes, isn't known until it is performed */
  bool in_turn : 1; /* an atomic operation of lanes one after the other, the lowest first, whose results are used */
  uint8_t strong;   /* AccessStrength */
  uint8_t shift;
} Access;
static_assert(sizeof(Access) == 32, "an Access is kept for every word that a program touches");
static_assert(offsetof(Access, time) == offsetof(Access, actor) + 4 && offsetof(Access, chain) + 8 == sizeof(Access),
              "shadow.c compares them together");

typedef struct AccessList {
  Access *access; /* oldest first; behind the `space` of them a tag of each, of `actor` and `time` (shadow.c) */
  uint8_t count, space;
  uint8_t weakest; /* no access is less strong (AccessStrength) */
  uint32_t forgot; /* of strong accesses that have seen chains before this one some may be forgotten */
} AccessList;

/* What some bytes of a word have together: all of them, until narrower stores part them. */
typedef struct CellPart {
  uint32_t chain; /* of the value that they have; of the whole word: the newest */
  /* For the caller: */
  uint32_t released;         /* which clock their strong writes left; 0: none */
  uint32_t handed;           /* what the newest plain store handed on (handoff.h); 0: nothing */
  uint32_t handed_time : 30; /* the time of its warp then */
  uint32_t flag : 1;         /* of the whole word: a polling load has read it, ... */
  uint32_t raced : 1;        /* ... and some accesses to it race */
} CellPart;

enum { CELL_PARTS_MAX = 4, CELL_BYTES = 0xf };

/* The parts, whose bytes are the word's, none of them twice. */
typedef struct CellParts {
  uint8_t count, bytes[CELL_PARTS_MAX];
  CellPart part[CELL_PARTS_MAX];
} CellParts;

typedef struct Cell {
  AccessList list;
  CellPart whole;
  CellParts *parts; /* NULL: `whole` has all */
} Cell;

/* The next part from number *at on that has some of these bytes; NULL: none. */
static inline CellPart *cell_next_part(Cell *cell, uint32_t bytes, unsigned *at) {
  if (!cell->parts)
    return (*at)++ ? NULL : &cell->whole;
  while (*at < cell->parts->count) {
    unsigned number = (*at)++;
    if (cell->parts->bytes[number] & bytes)
      return &cell->parts->part[number];
  }
  return NULL;
}
/* The bytes are parted from the others of their word, with what there was in both parts: the caller sees to its own
 * fields in `added`, the new parts. Returns how many they are. */
unsigned cell_part(Cell *cell, uint32_t bytes, CellPart *added[CELL_PARTS_MAX]);

typedef struct Row {
  AccessList list;
  Cell *cells;    /* ROW_WORDS, once it was taken apart; NULL: `list` has all */
  uint32_t raced; /* words, for the caller */
} Row;

/* How two threads stand to each other: what scope includes both. */
typedef enum { IN_ONE_BLOCK, ON_ONE_GPU, IN_ONE_SYSTEM } Nearness;

/* What is asked of the access that is being added. */
typedef struct AccessOrder {
  const void *user;
  uint32_t actor;                                          /* whose access it is */
  const VClock *clock;                                     /* what it has of other actors is ordered before it */
  bool clock_has_all;                                      /* nothing else of them is */
  bool (*before)(const void *user, const Access *earlier); /* `earlier` is ordered before it, in its lanes */
  bool (*hidden)(const void *user,
                 const Access *earlier); /* it isn't ordered, although `clock` has it; NULL: none is */
  bool (*handed)(const void *user, const Access *earlier); /* it would be, if each strong access were a fence */
  Nearness (*nearness)(const void *user, const Access *earlier);
  Nearness farthest; /* any two threads are at least so near */
  bool by_lanes;     /* lanes of a warp may race with each other */
  bool reads;        /* it is no store */
  bool later;        /* a store that doesn't change the word yet: shadow_end_chain() when it does */
} AccessOrder;

typedef struct ShadowPage ShadowPage;

typedef struct Shadow {
  GHashTable *pages; /* page number -> ShadowPage, for sparse memories */
  struct {
    uint64_t number;
    ShadowPage *page; /* NULL: none */
  } recent[SHADOW_RECENT];
  uint32_t accesses, rows; /* allocated; taken apart */
} Shadow;

void shadow_init(Shadow *shadow);
void shadow_clear(Shadow *shadow);
/* The row of a word (address / 4), or NULL if there are too many. */
Row *shadow_row(Shadow *shadow, uint64_t word);
/* The cell of a word; takes its row apart. NULL if there are too many. */
Cell *shadow_cell(Shadow *shadow, uint64_t word);
/* Calls `forgotten` for each cell and row (one of the two is NULL) of these words, and forgets all accesses to
 * them; a row that is partly among them is taken apart. */
typedef void (*ShadowForgotten)(void *user, uint64_t word, Cell *cell, const Row *row);
void shadow_forget(Shadow *shadow, uint64_t first, uint64_t count, ShadowForgotten forgotten, void *user);
/* Adds an access, and copies up to `max` earlier ones that it races with to `race`. Returns how many. */
unsigned shadow_add(Shadow *shadow, Cell *cell, const Access *access, const AccessOrder *order, Access *race,
                    unsigned max);
/* The same without adding it: what it would race with. */
unsigned shadow_look(const Cell *cell, const Access *access, const AccessOrder *order, Access *race, unsigned max);
/* True if strong accesses of the block of who asks are under way to the word: what it does now is performed behind
 * them. */
bool shadow_is_behind(const Cell *cell, const AccessOrder *order);
uint32_t shadow_chain_of_parts(const Cell *cell, uint32_t bytes);
void shadow_end_chain_of_parts(Cell *cell, uint32_t bytes);
/* Of the newest value of these bytes. */
static inline uint32_t shadow_chain(const Cell *cell, uint32_t bytes) {
  return cell->parts ? shadow_chain_of_parts(cell, bytes) : cell->whole.chain;
}
/* A store to these bytes that wasn't strong is performed. */
static inline void shadow_end_chain(Cell *cell, uint32_t bytes) {
  cell->whole.chain++;
  if (cell->parts)
    shadow_end_chain_of_parts(cell, bytes);
}
/* A strong access is issued; `access->chain` is its number. Those that it races with as far as is known now are
 * copied. */
unsigned shadow_issue(Shadow *shadow, Cell *cell, const Access *access, const AccessOrder *order, Access *race,
                      unsigned max);
/* Lanes of it are performed: `access` has these lanes, and whether they write. False: its warp did the same before,
 * and what it races with was told then. */
bool shadow_perform(Shadow *shadow, Cell *cell, const Access *access, const AccessOrder *order);
/* The access, if it reads, comes after the strong write `old` in observation order. */
bool shadow_observes(const Access *next, const Access *old, const AccessOrder *order);
/* True if the write, of which actor, time and instruction count, is still kept, and neither it nor anything that has
 * observed it comes before the access. */
bool shadow_may_be_unseen(const Cell *cell, const Access *write, const AccessOrder *order);
/* `earlier`, a copy of an access to the cell from some time ago, comes before something that observed it and that the
 * access asked about comes after. */
bool shadow_was_observed(const Cell *cell, const Access *earlier, const AccessOrder *order);
/* The first access of `actor` that has read what the strong write `write`, a copy, made of the word, or what followed
 * that in its chain. False: none is kept. */
bool shadow_first_read(const Cell *cell, const Access *write, uint32_t actor, Access *found);
/* A strong read, which read `access->chain`: true if it sees a strong write of others because a hand-off by another
 * word comes between, but nothing guarantees that order: `found` is that write. What it sees after it was seen before
 * is guaranteed. `missed`: it doesn't see it, which is of a later chain or still under way. */
bool shadow_relies(const Cell *cell, const Access *access, const AccessOrder *order, Access *found, bool *missed);
/* shadow_add() for a row that wasn't taken apart, and a plain access whose `lanes` are words. The races have the
 * words that both touched. False: it has to be taken apart, and nothing was added. */
bool shadow_add_row(Shadow *shadow, Row *row, const Access *access, const AccessOrder *order, Access *race,
                    unsigned max, unsigned *races);
/* The same without adding it. */
bool shadow_look_row(const Row *row, const Access *access, const AccessOrder *order, Access *race, unsigned max,
                     unsigned *races);

#endif
