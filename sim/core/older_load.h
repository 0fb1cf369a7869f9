/* older_load.h - loads of a run that give an older value of their word than the newest one, where nothing orders the
 * newest before them: the run is made again up to the first of them, and goes on with what comes of it. Or, where
 * only the lock-step of a warp orders a load from shared memory and a store of another lane, the value of the other
 * order.
 * Ownership: who makes the run has an OlderRun; the Gpu borrows it. */
#ifndef LOCKSTEP_CORE_OLDER_LOAD_H
#define LOCKSTEP_CORE_OLDER_LOAD_H

#include <stdbool.h>
#include <stdint.h>

enum { OLDER_LOAD_WORDS = 2, OLDER_LANES = 32 };

/* A load, and the write whose value it doesn't give. */
typedef struct OlderLoad {
  uint64_t access; /* AccessPart.number of the load; no two accesses of a run have the same; 0: of shared memory */
  uint64_t address;                 /* of the lanes that read the older value: byte address, in global memory */
  uint32_t bytes;                   /* 4, or 8; 0: no load, the run shows an older value by itself */
  uint32_t value[OLDER_LOAD_WORDS]; /* the older value */
  uint32_t reader;                  /* actors of the race detector (race_order.h) */
  uint32_t writer, time, pc;        /* of the write */
  /* Of 32 bits of the own block's shared memory, which `address` isn't used for: the load by its cycle, its warp (its
   * SM and slot) and its instruction, and which of its lanes. */
  uint64_t cycle;
  uint32_t sm, slot, at, lanes;
} OlderLoad;

/* Lanes of a load of 32 bits from the own block's shared memory, and what they give. */
typedef struct OlderLanes {
  uint64_t cycle;
  uint32_t sm, warp; /* their numbers; of the warp: its slot */
  uint32_t pc, lanes;
  uint32_t value[OLDER_LANES];
} OlderLanes;

/* The load, and further ones of its warp to its address. */
typedef struct OlderRun {
  OlderLoad load;
  uint32_t more;  /* how many of these give the older value, too, at most */
  uint64_t again; /* the newest of them, set before it is performed; 0: none yet */
  const OlderLanes *lanes; /* instead of a load; NULL: there is one. Borrowed */
} OlderRun;

/* True if it is such an access to this address. */
static inline bool older_run_has(const OlderRun *older, uint64_t access, uint64_t address) {
  return older && older->load.bytes && older->load.access && older->load.address == address &&
         (older->load.access == access || (older->again && older->again == access));
}

/* True if it is a load from shared memory, and this one. */
static inline bool older_run_has_shared(const OlderRun *older, uint64_t cycle, uint32_t sm, uint32_t slot,
                                        uint32_t pc) {
  return older && older->load.bytes && !older->load.access && older->load.cycle == cycle && older->load.sm == sm &&
         older->load.slot == slot && older->load.at == pc;
}

#endif
