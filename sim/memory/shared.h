/* shared.h - one SM's shared memory: words, banks, and the in-order pipe that serves a warp's access in passes.
 * Models: 4-byte banks with broadcast; one pass for each set of words that differ in bank (and, for LDSLK and STSUL,
 * in lock bit); one pass of the pipe each pass_interval cycles, and of one access each conflict_interval; accesses of
 * a scheduler scheduler_interval apart; lanes of an atomic that take turns; a result latency after its pass; 0 to
 * jitter_cycles of noise.
 * Loads and stores of 64 and 128 bits go by the words of all lanes, or by halves and quarters of the warp.
 * Time: the pipe serves accesses in the order of issue, so effects happen in issue order: sim/core applies them when
 * the instruction issues, which no instruction can tell from applying them at service.
 * Does the shadow (who changed a word) for findings. */
#ifndef LOCKSTEP_MEMORY_SHARED_H
#define LOCKSTEP_MEMORY_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/rng.h"
#include "sim/machine/machine.h"
#include "sim/memory/change_log.h"
#include "sim/memory/lock_unit.h"
#include "sim/memory/thread_id.h"

enum { SHARED_DEFINED = 4 }; /* shift of the second mask in SharedMemory.touched */

/* Native atomics differ in what they cost. */
/* SHARED_COUNT: an addition of 1 whose result nobody uses. */
typedef enum {
  SHARED_ARITHMETIC,
  SHARED_EXCHANGE,
  SHARED_CAS,
  SHARED_COUNT,
  SHARED_ARRIVAL,
  SHARED_ATOMICS
} SharedAtomic;

typedef struct SharedMemory {
  uint32_t *words;
  ChangeLog changes;
  uint8_t *
      touched; /* one for each word: mask of its bytes that were accessed since the block came, and of those that have
                     * a defined value, << SHARED_DEFINED */
  uint32_t bytes;
  uint32_t given; /* words from here on no block has had: they are as they were made */
  uint32_t banks, latency, jitter;
  Milli pass_interval, own_interval; /* between passes: of the pipe; of one access */
  Milli scheduler_interval;
  uint64_t free_milli;    /* when the pipe has served all that came so far */
  uint64_t start_milli;   /* when the newest access started */
  uint64_t held_milli;    /* and for how long it has the pipe */
  uint64_t turn_milli[8]; /* when the next access of each scheduler can start */
  bool turns_by_bank;     /* of atomics */
  bool by_parts;          /* loads and stores of 64 and 128 bits */
  Milli part_latency;     /* of such a load, for each part but one */
  Milli part_interval;    /* of such a store, for each part */
  Milli check_interval;   /* of looks at the phase of an mbarrier; 0: as a load */
  uint32_t check_extra;
  Milli generic_interval; /* what a store or reduction by a generic address holds the pipe at least */
  Milli copy_interval, group_interval; /* of a copy's scheduler; of the pipe, at the end of a group of copies */
  struct {
    Milli interval;
    uint32_t extra, wide_extra; /* of one word; of several beyond that */
    Milli quad_interval;        /* of the pipe, at least: of four words */
  } atomic[SHARED_ATOMICS];
  uint32_t quad_extra;
  uint32_t bank_mask; /* banks - 1 if a power of two, else 0 */
  uint32_t stamp;     /* of the scratch below */
  struct {
    uint32_t stamp, passes, word;
  } bank[64];
  struct {
    uint32_t stamp, passes;
  } * lock; /* one for each lock bit */
} SharedMemory;

/* What an access takes of the pipe. */
typedef struct SharedCost {
  uint32_t passes;
  uint32_t extra;       /* cycles beyond the latency */
  uint64_t hold_milli;  /* of the pipe's time */
  uint64_t own_milli;   /* from its first pass to its last; others' may come in between */
  uint64_t until_milli; /* from its first pass to that of the same scheduler's next access, at least */
} SharedCost;

/* When a warp's access was served. */
typedef struct SharedService {
  uint64_t start; /* first pass */
  uint64_t ready; /* the result can be used */
} SharedService;

void shared_init(SharedMemory *shared, const Machine *machine);
void shared_clear(SharedMemory *shared);
/* A block's share becomes zero, untouched and unchanged; `defined`: its zeros may be relied on. */
void shared_reset_range(SharedMemory *shared, uint32_t base, uint32_t bytes, bool defined);

/* Passes that the lanes of `mask` need for 4 * `words_each` bytes at `address` (physical, aligned to a word at
 * least).
 * `unit` is not NULL for LDSLK and STSUL. */
uint32_t shared_passes(SharedMemory *shared, const LockUnit *unit, const uint32_t address[32], uint32_t mask,
                       uint32_t words_each);

/* Of a load or store; with sm.shared.wide_access: parts those of its parts, each of half of the warp (64 bits) or a
 * quarter (128 bits). A load joins two halves, or two quarters of a half, where in all pairs of neighbours, or in all
 * pairs of lanes two apart, both have one place (mc_shared_h200.csv). */
typedef struct SharedPasses {
  uint32_t passes, parts;
} SharedPasses;
SharedPasses shared_access_passes(SharedMemory *shared, const LockUnit *unit, const uint32_t address[32],
                                  uint32_t mask, uint32_t words_each, bool load);
/* What it costs beyond its passes that it goes by parts. */
static inline void shared_add_parts(const SharedMemory *shared, SharedCost *cost, uint32_t parts, bool load) {
  if (parts < 2)
    return;
  if (load)
    cost->own_milli += (uint64_t)(parts - 1) * shared->part_latency;
  else
    cost->until_milli = MAX(cost->until_milli, shared->scheduler_interval + (uint64_t)parts * shared->part_interval);
}

/* Of a load or store with so many passes. */
static inline SharedCost shared_cost(const SharedMemory *shared, uint32_t passes) {
  return (SharedCost){.passes = passes,
                      .hold_milli = (uint64_t)passes * shared->pass_interval,
                      .own_milli = (uint64_t)(passes - 1) * shared->own_interval,
                      .until_milli = (uint64_t)passes * shared->own_interval};
}
/* Of a native atomic. Turns by word: distinct words take the passes that their banks need, then lanes on one word
 * follow each other. Turns by bank: so do lanes on one bank. What keeps one access waiting holds the pipe as far as a
 * pass would. Of four words each: turns are those of the first words, as measured on an H200 (mem_wide_h200.csv: 8
 * lanes side by side have one, 32 have four). */
SharedCost shared_atomic_cost(SharedMemory *shared, SharedAtomic kind, const uint32_t address[32], uint32_t mask,
                              uint32_t words_each);

/* Of a look at the phase of an mbarrier, by lanes that look at one. */
SharedCost shared_check_cost(const SharedMemory *shared, uint32_t passes);

/* Of an access whose guard holds in no lane. */
static inline SharedCost shared_skip_cost(const SharedMemory *shared) {
  return (SharedCost){.hold_milli = shared->pass_interval};
}
/* Of a copy from global memory (LDGSTS) that stores in so many passes, one behind the other: its addresses take one
 * more. */
static inline SharedCost shared_copy_cost(const SharedMemory *shared, uint32_t passes) {
  uint64_t hold = (uint64_t)(passes + 1) * shared->pass_interval;
  return (SharedCost){.passes = passes,
                      .hold_milli = hold,
                      .own_milli = hold - shared->pass_interval,
                      .until_milli = hold > shared->copy_interval ? hold : shared->copy_interval};
}
/* Of the end of a group of copies (LDGDEPBAR). */
static inline SharedCost shared_group_cost(const SharedMemory *shared) {
  return (SharedCost){.hold_milli = shared->group_interval};
}
/* The newest access holds the pipe for so long, at least. */
static inline void shared_hold(SharedMemory *shared, uint64_t milli) {
  shared->free_milli += milli > shared->held_milli ? milli - shared->held_milli : 0;
}

/* Takes the pipe for an access that a warp of a scheduler issues now. */
static inline SharedService shared_serve(SharedMemory *shared, unsigned scheduler, uint64_t now,
                                         const SharedCost *cost, Rng *rng) {
  uint64_t start = milli_serve(&shared->free_milli, now, cost->hold_milli);
  start = start > shared->turn_milli[scheduler] ? start : shared->turn_milli[scheduler];
  shared->start_milli = start;
  shared->held_milli = cost->hold_milli;
  shared->turn_milli[scheduler] =
      start + (cost->until_milli > shared->scheduler_interval ? cost->until_milli : shared->scheduler_interval);
  SharedService service = {milli_cycle(start), milli_cycle(start + cost->own_milli) + shared->latency + cost->extra};
  if (shared->jitter)
    service.ready += rng_below(rng, shared->jitter + 1);
  return service;
}

/* The line in which accesses by a scheduler's warps stand: when the next one can have the pipe; nobody has it before
 * cycle `until`; the newest takes so many cycles more of it. */
static inline uint64_t shared_line_free(const SharedMemory *shared, unsigned scheduler) {
  return milli_cycle(shared->turn_milli[scheduler]);
}

static inline void shared_line_hold(SharedMemory *shared, unsigned scheduler, uint64_t until) {
  uint64_t milli = milli_of(until), *turn = &shared->turn_milli[scheduler];
  *turn = milli > *turn ? milli : *turn;
}

static inline void shared_line_delay(SharedMemory *shared, unsigned scheduler, uint32_t cycles) {
  shared->turn_milli[scheduler] += milli_of(cycles);
}

#endif
