#include "sim/machine/carveout.h"

#include <glib.h>

enum { KIB = 1024, MOST_BLOCKS = 32 };

/* The parts in KiB, and the largest one that the driver gives for more blocks than an SM holds. */
typedef struct Parts {
  const uint32_t *kibibytes;
  uint32_t count, half; /* half in KiB */
} Parts;

/* Those that leave an L1. */
static Parts parts_of(const Machine *machine) {
  static const uint32_t sm_86[] = {8, 16, 32, 64, 100}, sm_90[] = {8, 16, 32, 64, 100, 132, 164, 196, 228};
  bool is_86 = machine->sm.l1.carveout == CARVEOUT_SM_86;
  Parts parts = is_86 ? (Parts){sm_86, G_N_ELEMENTS(sm_86), 64} : (Parts){sm_90, G_N_ELEMENTS(sm_90), 132};
  while (parts.count && parts.kibibytes[parts.count - 1] * KIB >= machine->sm.l1.bytes)
    parts.count--;
  return parts;
}

/* The smallest part that has so many bytes, else the largest one. */
static uint32_t part_for(const Parts *parts, uint64_t bytes) {
  uint32_t i = 0;
  while (i + 1 < parts->count && (uint64_t)parts->kibibytes[i] * KIB < bytes)
    i++;
  return parts->kibibytes[i];
}

/* Without shared memory. */
static uint32_t least_part(const Parts *parts, const CarveoutWish *wish) {
  uint32_t kibibytes = wish->threads >= 512 ? 16 : 32;
  if (wish->blocks <= 1 || wish->threads >= 768)
    kibibytes = 8;
  return part_for(parts, (uint64_t)kibibytes * KIB);
}

/* For twice the blocks of an SM, unless these take the half. */
static uint32_t part_for_blocks(const Parts *parts, const CarveoutWish *wish) {
  uint64_t bytes = (uint64_t)wish->blocks * wish->shared_bytes, twice = bytes;
  if (wish->blocks > 1 && wish->threads < 960)
    twice = (uint64_t)MIN(2 * wish->blocks, MAX(wish->blocks, MOST_BLOCKS)) * wish->shared_bytes;
  uint32_t part = part_for(parts, twice);
  return part > parts->half ? MAX(MIN(part, parts->half), part_for(parts, bytes)) : part;
}

uint32_t carveout_bytes(const Machine *machine, const CarveoutWish *wish) {
  if (machine->sm.l1.carveout == CARVEOUT_NONE)
    return 0;
  Parts parts = parts_of(machine);
  if (!parts.count)
    return 0;
  uint32_t least = wish->shared_bytes ? part_for(&parts, wish->shared_bytes) : least_part(&parts, wish);
  if (!wish->asked)
    return (wish->shared_bytes ? part_for_blocks(&parts, wish) : least) * KIB;
  uint32_t asked = part_for(&parts, (uint64_t)(wish->asked - 1) * parts.kibibytes[parts.count - 1] * KIB / 100);
  return MAX(asked, least) * KIB;
}
