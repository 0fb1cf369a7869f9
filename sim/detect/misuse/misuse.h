/* misuse.h - findings of every run that concern what one warp does (SEMANTICS, "Lock unit", "Misuse"). One finding for each
 * place; of stale loads, for each pair of a load and a store.
 * Ownership: a Misuse is one detector of a Gpu, to which it subscribes and which must not run after it is freed. */
#ifndef LOCKSTEP_DETECT_MISUSE_MISUSE_H
#define LOCKSTEP_DETECT_MISUSE_MISUSE_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"

typedef struct Misuse Misuse;

/* Locks freed by who doesn't hold them, exits while holding, registers read before they are written, loads of stale copies in
 * an L1. `findings` (Finding *) is borrowed, as below. */
Misuse *misuse_new(Gpu *gpu, GPtrArray *findings);
/* Block barriers that part of a warp comes to, and member masks that don't fit who comes. */
Misuse *misuse_new_lanes(Gpu *gpu, GPtrArray *findings);
/* When the run has ended: barriers that part of a warp with lane groups has come to, and that never completed. */
void misuse_conclude_lanes(Misuse *misuse);
/* Values of shared, local and global memory that nothing has written. */
Misuse *misuse_new_uninitialized(Gpu *gpu, GPtrArray *findings);
/* Registers of machine code that are used before an instruction under way has written them. */
Misuse *misuse_new_hazards(Gpu *gpu, GPtrArray *findings);
/* Copies in bulk of shared memory that a thread has stored to without a fence. */
Misuse *misuse_new_proxies(Gpu *gpu, GPtrArray *findings);
void misuse_free_proxies(Misuse *misuse);
/* NULL is allowed. */
void misuse_free(Misuse *misuse);

#endif
