/* constants.h - constant memory as machine code loads it: an SM's cache of lines, that of blocks behind it, and loads
 * whose lanes want several words.
 * Both caches are empty at the start of a launch. A load of several words takes them one after the other. Measured on
 * an H200 (validation/hardware/mc_warp.cu). PTX takes sm.latency.constant, whatever it loads.
 * Ownership: an Sm holds its ConstCache (state.h). */
#ifndef LOCKSTEP_CORE_CONSTANTS_H
#define LOCKSTEP_CORE_CONSTANTS_H

#include "sim/core/exec.h"

/* An issued LDC of a word of bank 0, which is at hand in the SM behind its cache of lines. */
void constants_load_known(Issue *issue, uint32_t offset);
/* An issued load at addresses in registers. */
void constants_load(Issue *issue, const uint64_t address[WARP_LANES]);

#endif
