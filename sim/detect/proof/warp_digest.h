/* warp_digest.h - the architectural state of a warp as one number: where its lanes are, SIMT stack or lane groups,
 * and those bits of registers and those predicates that reach a branch, an address or a stored value (needed_bits.h).
 * Attempt counters that reach none are left out. Memory, its own local one too, isn't in it.
 * Ownership: the caller's KernelState, between kernel_state_init() and kernel_state_clear(). */
#ifndef LOCKSTEP_DETECT_PROOF_WARP_DIGEST_H
#define LOCKSTEP_DETECT_PROOF_WARP_DIGEST_H

#include "isa/flow/cfg.h"
#include "isa/flow/needed_bits.h"
#include "sim/core/gpu.h"

/* What matters of a kernel's state. */
typedef struct KernelState {
  NeededBits needed;
  RegSet needed_rows; /* registers of which some bits are needed */
  RegSet shuffled;    /* what shuffles read: of any lane, wherever that one is */
  Liveness liveness;
  bool clocked; /* a clock's value is among them, or what printing returns, which tells when no more room is left:
                 * then a state that comes back says nothing about the next time */
} KernelState;

/* `state` is all zeros, or has been made of that kernel before. */
void kernel_state_init(KernelState *state, const Kernel *kernel);
/* All zeros are fine. */
void kernel_state_clear(KernelState *state);

/* `hash` and the state of a warp of that kernel, mixed. Registers that wait for a reply count with what it brings
 * once that has been read. */
uint64_t warp_digest(uint64_t hash, const Sm *sm, const Warp *warp, const KernelState *state);

/* What a lane has in a register, those bits of it that matter, as one number; the same of lanes that have the same.
 * */
typedef void (*WarpValue)(gpointer user, uint64_t value);
void warp_values(const Sm *sm, const Warp *warp, const KernelState *state, WarpValue each, gpointer user);

#endif
