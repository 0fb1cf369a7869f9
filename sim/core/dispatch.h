/* dispatch.h - the dispatcher: which blocks go to which SM, and when, and when launches begin and end.
 * Models: blocks leave in the order of grid.dispatch_order, one each grid.dispatch_interval, to the SMs in turn as
 * far as there is room, none of a launch while one of an earlier launch finds none (grid.launch_order); a block that
 * takes another one's place starts grid.refill_latency after its exit; a launch begins grid.launch_overhead after
 * what it follows, and finds empty L1s; it ends when its blocks have exited and its accesses are performed. */
#ifndef LOCKSTEP_CORE_DISPATCH_H
#define LOCKSTEP_CORE_DISPATCH_H

#include "sim/core/state.h"

/* Places blocks of the launches that may run, as far as there is room. */
void dispatch_blocks(Gpu *gpu, uint64_t now);
/* The same when a block has exited: those that have waited take its place grid.refill_latency later. */
void dispatch_refill(Gpu *gpu, uint64_t now);
/* True if all blocks that aren't placed yet wait for room, or for launches whose blocks do, and start at least so
 * many cycles after a place is free. */
bool dispatch_waits_for_room(Gpu *gpu, uint32_t cycles);
/* Launches end whose blocks and accesses have; the host hears of it. */
void dispatch_end_launches(Gpu *gpu);
/* True if the block waits for room. */
bool dispatch_is_pending(const Gpu *gpu, const Launch *launch, uint64_t block);
/* The blocks of a launch that wait for room are among *first to *last; there are some. */
void dispatch_pending_blocks(const Gpu *gpu, const Launch *launch, uint64_t *first, uint64_t *last);

#endif
