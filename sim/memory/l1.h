/* l1.h - one SM's L1 cache of global memory. It holds values of its own and isn't coherent: a copy stays what it was
 * when it was fetched, whatever other SMs write, until it is replaced, evicted or invalidated.
 * Models: sets of sm.l1.ways tags, by the line's number or a hash of it (sm.l1.set_hash). There may be more tags than
 * there is memory for lines (sm.l1.sets): then a line may take the memory of one of another set. In a set the line
 * goes next that was used longest ago, but lines that were used since they came go last, as many as sm.l1.kept_ways.
 * Models: a line has one tag and sectors that are fetched one by one; stores write through, and update or evict the
 * own SM's copy (sm.l1.global_stores). Where shared memory and the L1 are one array, carveout.h says what this one
 * has.
 * Does not model: banks; a limit to the misses on their way.
 * Time: accesses take turns (l1_take()); else none of its own. A miss takes a line at once; its sectors are pending
 * until they come (l1_expect(), l1_fill()). A store, an atomic operation or an invalidation meanwhile gives the
 * pending sector up: what comes then isn't kept. Ownership: an Sm owns its cache, and makes it at the first load that
 * may use it. */
#ifndef LOCKSTEP_MEMORY_L1_H
#define LOCKSTEP_MEMORY_L1_H

#include "sim/machine/machine.h"
#include "sim/memory/backing.h"

typedef struct L1 L1;

/* Bytes of memory that such a cache takes. */
size_t l1_memory_bytes(const Machine *machine, uint32_t bytes);
/* What the caches of a machine share for the hash of its state. */
typedef struct L1Hash {
  uint64_t *value;
  uint32_t watch;   /* the number of the watch that is on; 0: none */
  uint32_t changed; /* parts of all caches that the value doesn't have yet */
} L1Hash;
/* A cache of `bytes`, in `memory`, borrowed, which is all zeros. `hash`, borrowed, too: during a watch each change of
 * what the cache holds, or of the order of use, moves the value, by l1_settle_hash() at the latest: it comes back
 * when the cache's state does. */
L1 *l1_new(const Machine *machine, uint32_t bytes, void *memory, uint32_t sm, L1Hash *hash);
/* Puts what has changed into the value. */
void l1_settle_hash(L1 *l1);
void l1_free(L1 *l1);

/* How addresses are divided. */
typedef struct L1Shape {
  uint32_t line_shift, sector_shift;
} L1Shape;
const L1Shape *l1_shape(const L1 *l1);
static inline uint64_t l1_line(const L1Shape *shape, uint64_t address) { return address >> shape->line_shift; }
/* The sectors of [address, address + bytes), all in one line, by bit. */
static inline uint32_t l1_sectors(const L1Shape *shape, uint64_t address, uint32_t bytes) {
  uint64_t offset = address & ((UINT64_C(1) << shape->line_shift) - 1);
  uint32_t first = (uint32_t)(offset >> shape->sector_shift);
  uint32_t last = (uint32_t)((offset + bytes - 1) >> shape->sector_shift);
  return (UINT32_MAX >> (31 - (last - first))) << first;
}

/* When an access has its turn, in thousandths of a cycle; and the cycle in which the scheduler can issue the next
 * one, since as many wait here at most as at the port (memory.port.queue). */
typedef struct L1Turn {
  uint64_t start_milli, room;
} L1Turn;
/* An access of that scheduler that comes in cycle `now` takes the L1 for so many thousandths of a cycle; and for
 * `array_takes` of them the array that it has in common with shared memory (sm.l1.carveout), which is free from
 * *array_milli on. */
L1Turn l1_take(L1 *l1, uint32_t scheduler, uint64_t now, uint64_t takes_milli, uint64_t array_takes,
               uint64_t *array_milli);

/* True if what a load wants of a line comes at one time: no line lies in several of the L2. */
bool l1_comes_as_one(const L1 *l1);

/* What there is of the line of an address. Good until the cache changes. */
typedef struct L1Look {
  const uint32_t *words;   /* the line's; NULL: it isn't there */
  uint32_t valid, pending; /* its sectors, by bit */
} L1Look;
L1Look l1_look(L1 *l1, uint64_t address);
/* The line of an address, mostly there, is wanted soon. */
void l1_prefetch(const L1 *l1, uint64_t address);
/* A load uses the line, which is there. */
void l1_use(L1 *l1, uint64_t address);
/* When the sector of `address`, a valid one, was read from memory. */
uint64_t l1_since(const L1 *l1, uint64_t address);
/* The copy of a word without using it; false if there is none. */
bool l1_peek(const L1 *l1, uint64_t address, uint32_t *word);
/* True if some sector of that line is held or pending. */
bool l1_has_line(const L1 *l1, uint64_t address);
/* The number of the set that the line of `address` belongs to, and how many of that set's ways hold nothing. */
uint64_t l1_set(const L1 *l1, uint64_t address);
uint32_t l1_room(const L1 *l1, uint64_t address);
/* How many lines may come before one takes the memory of one of another set; UINT32_MAX: none ever does. */
uint32_t l1_spare(const L1 *l1);
/* True if the sector of `address` is on its way; then *fetcher brings it. */
bool l1_pending(const L1 *l1, uint64_t address, uint32_t *fetcher);
/* These sectors of the line of `address` are on their way from now on: `fetcher`, a number of the caller's, brings
 * them. */
void l1_expect(L1 *l1, uint64_t address, uint32_t sectors, uint32_t fetcher);
/* Sectors of one line, `bytes` from `start` on, come as they were in memory in cycle `since`. Those are kept that are
 * still expected from `fetcher`. */
void l1_fill(L1 *l1, uint64_t start, uint32_t bytes, uint32_t fetcher, const uint32_t *words, uint64_t since);
/* Bytes of the word at `address` (a multiple of 4) now have these values in memory: those in `mask` (bit per byte)
 * are the own SM's store, which updates a copy. Returns whether there is one. */
bool l1_update(L1 *l1, uint64_t address, uint32_t word, uint32_t mask);
/* The same for words in a row, all of their bytes, in one line. */
bool l1_update_words(L1 *l1, uint64_t address, const uint32_t *words, uint32_t count);
/* Gives up these sectors of the line of `address`. */
void l1_evict(L1 *l1, uint64_t address, uint32_t sectors);
/* Gives up everything. */
void l1_invalidate(L1 *l1);

#endif
