/* occupancy.h - how many blocks of a launch an SM holds at once, and which of its limits says so. */
#ifndef LOCKSTEP_CORE_OCCUPANCY_H
#define LOCKSTEP_CORE_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/program.h"
#include "sim/machine/machine.h"

/* What of an SM a block takes. Its threads are 32 for each warp (sim/machine/machine_check.c). */
typedef enum {
  OCCUPANCY_BLOCKS,
  OCCUPANCY_WARPS,
  OCCUPANCY_REGISTERS,
  OCCUPANCY_SHARED,
  OCCUPANCY_LIMITS
} OccupancyLimit;

typedef struct Occupancy {
  uint32_t blocks;               /* of an SM */
  uint32_t warps, max_warps;     /* of these blocks; that the SM has room for */
  uint32_t thread_registers;     /* of a thread */
  uint32_t spill_bytes;          /* of a thread's local memory, for registers beyond the kernel's limit */
  uint32_t shared_bytes;         /* of a block, static and dynamic */
  bool limits[OCCUPANCY_LIMITS]; /* what allows no further block */
} Occupancy;

/* Registers that a block of so many warps takes. */
uint32_t occupancy_block_registers(const Machine *machine, const Kernel *kernel, uint32_t warps);
/* Bytes of shared memory that a block with so many of its own takes: what the system keeps of it counts, too. */
uint32_t occupancy_block_shared(const Machine *machine, uint32_t bytes);

Occupancy occupancy_of(const Machine *machine, const Kernel *kernel, const uint32_t block[3],
                       uint32_t dynamic_shared_bytes);
const char *occupancy_limit_name(OccupancyLimit limit);
/* "registers" or "blocks and warps". Free with g_free. */
char *occupancy_limits_text(const Occupancy *occupancy);

#endif
