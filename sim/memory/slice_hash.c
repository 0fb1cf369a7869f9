#include "sim/memory/slice_hash.h"

#include <glib.h>

static uint32_t shift_of(uint32_t bytes, uint32_t line) {
  return bytes > line ? (uint32_t)__builtin_ctz(bytes / line) : 0;
}

void slice_map_init(SliceMap *map, const Machine *machine, uint64_t seed) {
  *map = (SliceMap){.policy = machine->memory.l2.hash,
                    .slices = MAX(machine->memory.slices / machine->memory.l2.halves, 1u),
                    .halves = machine->memory.l2.halves,
                    .granule_shift = shift_of(machine->memory.l2.granule, machine->memory.l2.line),
                    .copies = machine->memory.l2.copies,
                    .page_shift = shift_of(machine->memory.l2.page, machine->memory.l2.line),
                    .page_granules =
                        MAX(machine->memory.l2.page / MAX(machine->memory.l2.granule, machine->memory.l2.line), 4u),
                    .salt = rng_mix(seed + 1)};
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

uint32_t slice_map_by_pairs(const SliceMap *map, uint64_t granule) {
  uint32_t pairs = MAX(map->slices / 2, 1), in_page = map->page_granules;
  uint32_t page = (uint32_t)granule / in_page, in_order = (uint32_t)granule % in_page / 4;
  if (page & 1 && in_page >= 16) /* in another order than its neighbour: what is at one place of both doesn't meet */
    in_order ^= 1 + (uint32_t)(rng_mix(page ^ map->salt) >> 32) % 3;
  uint32_t chunk = page / 2 * (in_page / 4) + in_order;
  uint32_t round = chunk / pairs, place = chunk - round * pairs;
  place += (uint32_t)((rng_mix(round ^ map->salt) >> 32) * pairs >> 32);
  if (place >= pairs)
    place -= pairs;
  uint32_t first = (uint32_t)rng_mix(~(chunk ^ map->salt)) & 1; /* of the chunk, so that strides reach both */
  return (2 * place + (((uint32_t)granule ^ first) & 1)) % map->slices;
}
