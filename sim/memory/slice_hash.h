/* slice_hash.h - which slice of the L2 a line belongs to, and which half of the L2 is a page's home.
 * Models: any number of slices (11x2, 48x2, ...), memory.l2.hash and granule; two halves with a home for each page,
 * seeded (pairs: two neighbouring pages have different ones; seeds 1 and 2, 3 and 4 and so on have opposite ones, so
 * that a few seeds show both); which lines have a copy in the other half at first
 * (memory.l2.copies). Pairs of 48 slices a half have the statistics of an H200 (mem_thirds_h200.csv): three thirds,
 * of which one has half of the lines of 64 KB; of other numbers two neighbouring pages have the same slices of each
 * half, and each slice of an odd number is in two pairs. Does not model: a real chip's functions, which aren't
 * published. Time: none. */
#ifndef LOCKSTEP_MEMORY_SLICE_HASH_H
#define LOCKSTEP_MEMORY_SLICE_HASH_H

#include <stdbool.h>

#include "sim/engine/rng.h"
#include "sim/machine/machine.h"

typedef struct SliceMap {
  SliceHash policy;
  uint32_t slices;                            /* of a half */
  uint32_t halves, granule_shift, page_shift; /* in lines */
  uint32_t same_shift;                        /* lines whose numbers agree above have slice and home in common */
  uint32_t page_granules;                     /* pairs: of a page, at least 4 */
  bool thirds;                                /* pairs: in thirds, as an H200 has them */
  uint32_t copies;                            /* of 100 lines */
  uint64_t salt, home_salt;
  uint32_t home_flip; /* 1: homes are the opposite of what home_salt gives */
} SliceMap;

void slice_map_init(SliceMap *map, const Machine *machine, uint64_t seed);
/* Of slice_map_index(), where the policy has rounds of granules through all slices. */
uint32_t slice_map_by_rounds(const SliceMap *map, uint64_t granule);
/* The same, where pairs of slices take turns. */
uint32_t slice_map_by_pairs(const SliceMap *map, uint64_t granule);
/* Within its half. */
static inline uint32_t slice_map_index(const SliceMap *map, uint64_t line) {
  uint64_t granule = line >> map->granule_shift;
  if (map->policy == HASH_PAIRS)
    return slice_map_by_pairs(map, granule);
  if (map->policy != HASH_SPREAD)
    return slice_map_by_rounds(map, granule);
  return (uint32_t)((rng_mix(granule ^ map->salt) >> 32) * map->slices >> 32);
}

static inline uint32_t slice_map_home(const SliceMap *map, uint64_t line) {
  uint64_t page = line >> map->page_shift;
  if (map->policy == HASH_PAIRS)
    return map->halves == 1
               ? 0
               : (uint32_t)((rng_mix(map->home_salt ^ ~(page & ~UINT64_C(1))) ^ page ^ map->home_flip) & 1);
  return map->halves == 1 ? 0 : (uint32_t)((rng_mix(map->home_salt ^ ~page) ^ map->home_flip) & 1);
}
/* The number of a line among those of its slice, by which it has its set. Thirds: of 128 KB a slice has 16 places, of
 * which it takes 16 or 8, so that no set has many more lines than another (mem_size_h200.csv). */
static inline uint32_t slice_map_order(const SliceMap *map, uint32_t line) {
  if (!map->thirds)
    return line / map->slices;
  return (line >> 10 << 4) | (line >> 6 & 12) | (line >> 1 & 2) | (line & 1);
}
/* Whether the half that isn't the line's home has a copy before anybody has accessed the line. */
static inline bool slice_map_copied(const SliceMap *map, uint64_t line) {
  return map->copies && (rng_mix(map->salt + line) >> 32) * 100 >> 32 < map->copies;
}

#endif
