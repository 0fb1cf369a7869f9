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
                    .salt = rng_mix(seed + 1)};
}

uint32_t slice_map_by_rounds(const SliceMap *map, uint64_t granule) {
  uint64_t round = granule / map->slices;
  uint32_t place = (uint32_t)(granule - round * map->slices);
  if (map->policy == HASH_MODULO)
    return place;
  place += (uint32_t)((rng_mix(round ^ map->salt) >> 32) * map->slices >> 32);
  return place >= map->slices ? place - map->slices : place;
}
