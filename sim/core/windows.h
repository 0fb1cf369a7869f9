/* windows.h - SMs that run side by side.
 * SMs reach each other only by way of memory, which takes time: nothing that an SM sends in cycle t comes back to anybody before t plus
 * twice memsys_window(). So from cycle t on every SM runs so many cycles on its own, on as many threads as there are; then their requests
 * go to memory by (cycle, SM, order), memory runs the same window, and its replies are delivered. What comes out is what the loop of
 * gpu_run() gives, event by event, whatever the number of threads.
 * Not while something else passes between SMs at once: a block or launch waits for room, the host takes part, kernels print or use the
 * device heap, detectors follow each instruction, or look at the order of copies in L1s. Then gpu_run() goes event by event.
 * A budget of instructions ends between windows. */
#ifndef LOCKSTEP_CORE_WINDOWS_H
#define LOCKSTEP_CORE_WINDOWS_H

#include "sim/core/state.h"

/* True if the machine can run windows until gpu_run() returns, while no block waits. */
bool windows_may_come(const Gpu *gpu);
/* Runs windows until the budget is used up, something faults, nothing more is due up to gpu->limit_cycles, or all is done. */
void windows_run(Gpu *gpu);

#endif
