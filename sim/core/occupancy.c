#include "sim/core/occupancy.h"

#include "sim/core/warp.h"

static uint32_t round_up(uint32_t value, uint32_t granule) { return (value + granule - 1) / granule * granule; }

uint32_t occupancy_block_registers(const Machine *machine, const Kernel *kernel, uint32_t warps) {
  uint32_t of_warp = kernel_registers(kernel) * WARP_LANES, granule = machine->sm.register_granule;
  if (machine->sm.register_owner == REGISTERS_OF_BLOCK)
    return round_up(round_up(warps, 2) * of_warp, granule);
  return warps * round_up(of_warp, granule);
}

uint32_t occupancy_block_shared(const Machine *machine, uint32_t bytes) {
  return round_up(bytes + machine->sm.shared.reserved, machine->sm.shared.granule);
}

/* How many of `need` fit into `all`. */
static uint32_t times(uint32_t all, uint32_t need) { return need ? all / need : UINT32_MAX; }

Occupancy occupancy_of(const Machine *machine, const Kernel *kernel, const uint32_t block[3],
                       uint32_t dynamic_shared_bytes) {
  uint32_t warps = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES;
  Occupancy occupancy = {.max_warps = machine->sm.max_warps,
                         .thread_registers = kernel_registers(kernel),
                         .spill_bytes = kernel->spill_bytes,
                         .shared_bytes = kernel->shared_bytes - kernel->shared_system + dynamic_shared_bytes};
  const uint32_t fits[OCCUPANCY_LIMITS] = {
      [OCCUPANCY_BLOCKS] = machine->sm.max_blocks,
      [OCCUPANCY_WARPS] = times(machine->sm.max_warps, warps),
      [OCCUPANCY_REGISTERS] = times(machine->sm.registers, occupancy_block_registers(machine, kernel, warps)),
      [OCCUPANCY_SHARED] =
          times(machine->sm.shared.bytes,
                occupancy.shared_bytes == 0 ? 0 : occupancy_block_shared(machine, occupancy.shared_bytes)),
  };
  occupancy.blocks = UINT32_MAX;
  for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++)
    occupancy.blocks = MIN(occupancy.blocks, fits[i]);
  for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++)
    occupancy.limits[i] = fits[i] == occupancy.blocks;
  occupancy.warps = occupancy.blocks * warps;
  return occupancy;
}

const char *occupancy_limit_name(OccupancyLimit limit) {
  static const char *const names[] = {"blocks", "warps", "registers", "shared memory"};
  return names[limit];
}

char *occupancy_limits_text(const Occupancy *occupancy) {
  GString *text = g_string_new(NULL);
  for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++)
    if (occupancy->limits[i])
      g_string_append_printf(text, "%s%s", text->len ? ", " : "", occupancy_limit_name(i));
  return g_string_free(text, FALSE);
}
