/* windows.h - SMs and memory that run side by side.
 * SMs reach each other only by way of memory, and each way takes time: nothing that an SM sends in cycle t comes to
 * a slice, and no reply that a slice sends then comes to an SM, before t plus memsys_window(). So from cycle t on
 * every SM, and memory, runs so many cycles on its own, on as many threads as there are. An SM sends by itself;
 * parts of accesses are put in order when they come to their slices. Then the words that these came to are read and
 * changed, and replies are delivered, in shares by SM. Each thread has SMs of its own, those that it ran last, so
 * that they stay in one processor's cache.
 * Where parts of all SMs pass one place in order (a link to the host, a machine without slices), requests are kept
 * until SMs have ended the window, and go to memory by (cycle, SM, order).
 * What comes out is what the loop of gpu_run() gives, event by event, whatever the number of threads.
 * Blocks may wait for room if it takes that long to fill a place (grid.refill_latency): the dispatcher hears of a
 * free place when the window ends.
 * Not while something else passes between SMs at once: a launch waits for another, blocks wait and places are filled
 * sooner, the host takes part, kernels print or use the device heap, detectors follow each instruction. Then
 * gpu_run() goes event by event.
 * A budget of instructions ends between windows. */
#ifndef LOCKSTEP_CORE_WINDOWS_H
#define LOCKSTEP_CORE_WINDOWS_H

#include "sim/core/state.h"

/* True if the machine can run windows until gpu_run() returns, as far as the dispatcher allows
 * (dispatch_waits_for_room()). */
bool windows_may_come(const Gpu *gpu);
/* Runs windows until the budget is used up, something faults, nothing more is due up to gpu->limit_cycles, the
 * dispatcher doesn't allow it, or all is done. */
void windows_run(Gpu *gpu);

#endif
