#include "sim/memory/slice_hash.h"

#include <glib.h>

enum {
  THIRDS = 3,
  THIRD = 8,                                         /* pairs of slices */
  REGION_PAGES = 16,                                 /* 64 KB */
  REGION_COUPLES = REGION_PAGES / 2,                 /* one page of each half */
  PAGE_CHUNKS = 4,                                   /* of four granules, which the slices of a pair share in turn */
  REGION_CHUNKS = REGION_PAGES / 2 * PAGE_CHUNKS / 2 /* of one half's pages; half of them */
};

static uint32_t shift_of(uint32_t bytes, uint32_t line) {
  return bytes > line ? (uint32_t)__builtin_ctz(bytes / line) : 0;
}

void slice_map_init(SliceMap *map, const Machine *machine, uint64_t seed) {
  uint64_t partner = seed - !(seed & 1); /* the odd seed of the two whose homes are opposite */
  *map = (SliceMap){.policy = machine->memory.l2.hash,
                    .slices = MAX(machine->memory.slices / machine->memory.l2.halves, 1u),
                    .halves = machine->memory.l2.halves,
                    .granule_shift = shift_of(machine->memory.l2.granule, machine->memory.l2.line),
                    .copies = machine->memory.l2.copies,
                    .page_shift = shift_of(machine->memory.l2.page, machine->memory.l2.line),
                    .page_granules =
                        MAX(machine->memory.l2.page / MAX(machine->memory.l2.granule, machine->memory.l2.line), 4u),
                    .salt = rng_mix(seed + 1),
                    .home_salt = rng_mix(partner + 1),
                    .home_flip = partner != seed};
  map->thirds = map->policy == HASH_PAIRS && map->slices == 2 * THIRDS * THIRD && map->granule_shift == 1 &&
                map->page_granules == 4 * PAGE_CHUNKS;
  map->same_shift = map->halves == 1 ? map->granule_shift : MIN(map->granule_shift, map->page_shift);
}

uint32_t slice_map_by_rounds(const SliceMap *map, uint64_t granule) {
  uint64_t round = granule / map->slices;
  uint32_t place = (uint32_t)(granule - round * map->slices);
  if (map->policy == HASH_MODULO)
    return place;
  place += (uint32_t)((rng_mix(round ^ map->salt) >> 32) * map->slices >> 32);
  return place >= map->slices ? place - map->slices : place;
}

/* One of the orders of 0 to n - 1, n a power of two of at least 8. */
static uint32_t shuffled(uint32_t i, uint32_t n, uint64_t bits) {
  for (uint32_t round = 0; round < 3; round++, bits >>= 8) {
    i = (i * ((uint32_t)bits | 1) + ((uint32_t)bits >> 4)) & (n - 1);
    i ^= i >> 2;
  }
  return i;
}

/* Which of its third's pairs a chunk has, of those at both ends of a page (outer) or between them. Couples 4 to 7
 * have the pairs of couples 0 to 3 again, but for two that two couples have in common: of 32 KB these have two
 * chunks, in the first half of a region the one and in the second the other (an H200: mem_map_h200.csv). */
static uint32_t in_third(uint32_t couple, uint32_t chunk, bool outer) {
  uint32_t low = couple % (REGION_COUPLES / 2), again = couple >= REGION_COUPLES / 2, right = chunk / 2;
  if (outer)
    return (low ? 2 : 0) + (right ^ again);
  return right ? 6 + ((low == 2) ^ again) : 4 + again;
}

/* The pair of a chunk of a page, in three thirds of eight pairs each: a third has half of the chunks of a region, two
 * of each page, and the others one each. */
static uint32_t by_thirds(const SliceMap *map, uint32_t page, uint32_t chunk) {
  uint32_t region = page / REGION_PAGES, couple = page % REGION_PAGES / 2,
           third = (uint32_t)((rng_mix(~(region / 2) ^ map->salt) >> 32) * THIRDS >> 32);
  uint64_t key = rng_mix(map->salt + region * 2 + slice_map_home(map, (uint64_t)page << map->page_shift));
  bool ends = chunk % 3 == 0, outer = !((couple ^ couple >> 1) & 1);
  if (ends == outer)
    return shuffled(in_third(couple, chunk, outer), THIRD, key) * THIRDS + third;
  uint32_t rest = shuffled(couple * 2 + chunk / 2, REGION_CHUNKS, ~key);
  return rest % THIRD * THIRDS + (third + 1 + rest / THIRD) % THIRDS;
}

/* An odd number of slices has as many pairs, and each slice is in two of them. */
uint32_t slice_map_by_pairs(const SliceMap *map, uint64_t granule) {
  bool odd = map->slices & 1;
  uint32_t pairs = odd ? map->slices : map->slices / 2, in_page = map->page_granules;
  uint32_t page = (uint32_t)granule / in_page, in_order = (uint32_t)granule % in_page / 4;
  if (page & 1 && in_page >= 16) /* in another order than its neighbour: what is at one place of both doesn't meet */
    in_order ^= 1 + (uint32_t)(rng_mix(page ^ map->salt) >> 32) % 3;
  uint32_t chunk = page / 2 * (in_page / 4) + in_order, place;
  if (map->thirds) {
    place = by_thirds(map, page, (uint32_t)granule % in_page / 4);
    chunk = (uint32_t)granule / 4;
  } else {
    uint32_t round = chunk / pairs;
    place = chunk - round * pairs + (uint32_t)((rng_mix(round ^ map->salt) >> 32) * pairs >> 32);
    if (place >= pairs)
      place -= pairs;
  }
  uint32_t first = (uint32_t)rng_mix(~(chunk ^ map->salt)) & 1; /* of the chunk, so that strides reach both */
  uint32_t second = ((uint32_t)granule ^ first) & 1;
  return odd ? (place + second * (pairs / 2 + 1)) % pairs : 2 * place + second;
}
