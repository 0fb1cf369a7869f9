/* async_copy.h - copies from global to shared memory that go on while their warp does something else (LDGSTS:
 * cp.async).
 * Models: a copy is a load that the memory system, or the L1, serves as any other; its words are in shared memory
 * when the reply has come. It takes turns of the pipe of shared memory, and so does the end of a group (shared.h;
 * an H200: validation/hardware/mc_copies.cu); a wait for a group is over sm.shared.group_latency after that at the
 * earliest.
 * A warp's copies up to a COPYEND are a group; a COPYWAIT waits for all groups but the newest so many. Till the warp
 * has waited, an access to the words of a copy is a hazard; then the copy is a store of its lanes, as the race
 * detector hears of it. A COPYARRIVE arrives at a barrier in shared memory (mbarrier.h) when the copies of its lanes
 * up to there have come: they have been waited for then, and the arrival hands their words on to who waits at the
 * barrier.
 * Does not model: waits of single lanes (a wait of some lanes is one of the warp), the pipe that an arrival
 * takes; that the lanes of a copy which arrives read it before they look at the barrier, once it
 * has come.
 * Ownership: a Warp owns its copies, from block to block. */
#ifndef LOCKSTEP_CORE_ASYNC_COPY_H
#define LOCKSTEP_CORE_ASYNC_COPY_H

#include "sim/core/state.h"

/* What the lanes of one instruction copy. */
typedef struct AsyncCopy {
  uint64_t number; /* of its access to global memory (flight.h); 0: it has come, or there is none */
  uint64_t issued; /* in this cycle */
  uint32_t group, pc, lanes, bytes;
  uint32_t made;                 /* copies of the warp before it */
  bool waited;                   /* the warp has waited for it, or does */
  uint32_t physical[WARP_LANES]; /* of each lane: the first byte in shared memory */
  uint8_t valid[WARP_LANES];     /* so many bytes come from global memory, the others are zeros */
} AsyncCopy;

/* What the lanes of one COPYARRIVE do later. */
typedef struct AsyncArrival {
  uint32_t made; /* the copies before it */
  uint32_t pc, lanes;
  uint32_t physical[WARP_LANES]; /* of each lane: the barrier's first byte */
  uint32_t operand[WARP_LANES];
} AsyncArrival;

/* For a warp that starts: it has none. */
void async_copies_reset(Warp *warp);
void async_copies_clear(Warp *warp);
/* The reply of the access has come: its words go to shared memory, if the block is there. */
void async_copies_land(Sm *sm, Warp *warp, const Flight *flight, uint64_t now);
/* True if the warp is in a COPYWAIT for a copy that hasn't come. */
bool async_copies_awaited(const Warp *warp);
/* The copy that makes that access, or NULL. */
const AsyncCopy *async_copies_find(const Warp *warp, uint64_t number);
/* Its arrivals that wait for copies; valid until the warp does something. */
const AsyncArrival *async_copies_arrivals(const Warp *warp, uint32_t *count);
/* What a copy that is over does to the mbarrier whose first word in shared memory that is: as `inst`, of a lane. */
void async_copies_arrive(Sm *sm, const Inst *inst, uint32_t place, uint32_t operand, const WordChange *change,
                         unsigned lane);
/* Tells if the lanes of `issue` access words of copies in their block that nobody has waited for. */
void async_copies_check(const Issue *issue, const uint32_t physical[WARP_LANES], uint32_t bytes);

#endif
