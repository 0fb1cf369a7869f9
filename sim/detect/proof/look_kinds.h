/* look_kinds.h - which instructions a watch of looks (closure.h) sees through, and which of them are looks. */
#ifndef LOCKSTEP_DETECT_PROOF_LOOK_KINDS_H
#define LOCKSTEP_DETECT_PROOF_LOOK_KINDS_H

#include "sim/detect/proof/warp_digest.h"

/* What the special register (SR_...) gives is the same for all warps of a launch. */
bool look_is_of_launch(unsigned special);
/* The watch follows such an access: `bytes` of each lane; `taken` and `unlock` as Probe.access has them. */
bool look_sees_through(const ProbePoint *point, AccessKind kind, uint32_t bytes, uint32_t taken, bool unlock);
/* It is a shuffle that takes a value of a lane that isn't in it, as far as that is still known. */
bool look_takes_from_others(const ProbePoint *point);
/* Lanes of the access may act on what it finds, or what it stores depends on that. `shuffles`: a lane may take what
 * another one that isn't with it has read. */
bool look_is_one(const KernelState *state, const ProbePoint *point, AccessKind kind, bool shuffles);

#endif
