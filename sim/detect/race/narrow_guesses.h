/* narrow_guesses.h - loads of bytes and halves that are a guess (guesses.h): what CUDA's own atomic operations on
 * halves begin with before they exist in hardware. `old = *p; do { seen = old; old = atomicCAS(p, seen, f(seen)); }
 * while (old != seen);` is two loops in machine code, since a compare-and-swap of a half is one of its word.
 *
 * Such a load's value, and what is computed of it, goes into what compare-and-swaps compare and store, and into
 * comparisons with their results; no address, no store, no other lane, and no branch that hasn't such a result in its
 * condition. Where such a comparison finds the two equal the value was the newest one, and may be used.
 * Isn't as strict as guesses.h: doesn't look whether the compare-and-swap is of the same word. */
#ifndef LOCKSTEP_DETECT_RACE_NARROW_GUESSES_H
#define LOCKSTEP_DETECT_RACE_NARROW_GUESSES_H

#include "isa/flow/cfg.h"

/* Whether the load of the kernel at instruction `pc` is one. */
bool narrow_guesses_has(const Kernel *kernel, const Cfg *cfg, uint32_t pc);

#endif
