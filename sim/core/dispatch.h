/* dispatch.h - the dispatcher: which blocks go to which SM, and when, and when launches begin and end.
 * Models: blocks leave in the order of grid.dispatch_order, one each grid.dispatch_interval, to the SMs in turn as far as there is room;
 * a launch begins grid.launch_overhead after what it follows, and finds empty L1s; it ends when its blocks have exited and its accesses
 * are performed. */
#ifndef LOCKSTEP_CORE_DISPATCH_H
#define LOCKSTEP_CORE_DISPATCH_H

#include "sim/core/state.h"

/* Places blocks of the launches that may run, as far as there is room. */
void dispatch_blocks(Gpu *gpu, uint64_t now);
/* Launches end whose blocks and accesses have; the host hears of it. */
void dispatch_end_launches(Gpu *gpu);
/* True if the block waits for room. */
bool dispatch_is_pending(const Gpu *gpu, const Launch *launch, uint64_t block);
/* The blocks of a launch that wait for room are among *first to *last; there are some. */
void dispatch_pending_blocks(const Gpu *gpu, const Launch *launch, uint64_t *first, uint64_t *last);

#endif
