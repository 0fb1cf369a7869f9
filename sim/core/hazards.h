/* hazards.h - reads and writes of a register that an earlier instruction of machine code hasn't written yet. Its
 * control bits must make the later one wait; where they don't, a GPU computes with whatever stands in the register,
 * and the run goes on with the right value and tells Probe.hazard.
 *
 * A row is open in the lanes of an access to global memory until its reply, and of an instruction that raises a
 * scoreboard until its result is there. Instructions that raise none return in order behind one of their unit that
 * does, and aren't looked at. */
#ifndef LOCKSTEP_CORE_HAZARDS_H
#define LOCKSTEP_CORE_HAZARDS_H

#include "sim/core/state.h"

/* A new warp has nothing open. */
void hazards_start(const Gpu *gpu, const Kernel *kernel, Warp *warp);
void hazards_clear(Warp *warp);
/* Issued: `decoded` will have written in the lanes of the issue at `ready`; REG_PENDING: when the reply to its access
 * comes. */
void hazards_open(const Issue *issue, const Decoded *decoded, uint64_t ready);
/* The reply has come. */
void hazards_close(Warp *warp, const Flight *flight);
/* Tells what of the registers of `decoded` is open in lanes of the issue. */
void hazards_check(const Issue *issue, const Decoded *decoded);

/* True if something may be open. */
static inline bool hazards_any(const Warp *warp, uint64_t now) {
  return warp->open_until > now || (warp->pending && warp->open_rows);
}

#endif
