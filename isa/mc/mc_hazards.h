/* mc_hazards.h - where control bits let an instruction of machine code issue too early, on some path through the
 * code:
 * - it reads or overwrites what an instruction of variable latency will write, and no wait for that one's scoreboard
 *   lies between;
 * - it reads a register or predicate fewer cycles behind an instruction of fixed latency than `ptxas` ever has it;
 * - it overwrites a register that an instruction of variable latency reads, and no wait for a scoreboard lies between
 *   that falls when that one has read it: its own, or one of a later access to memory, since those read in order.
 *
 * An instruction of variable latency that raises no write scoreboard counts as awaited with a later one of its unit
 * that returns results in order (conversions and MUFU; shared memory, shuffles and S2R; constants); otherwise with
 * none: ptxas has a scoreboard for each result that is read.
 *
 * Latencies are the least distances of `ptxas` (CUDA 13.0) in the listings of this repository's sources for sm_75 to
 * sm_90, so what is told is a distance that the compiler never takes, and a shorter one of a rare pair isn't told.
 * Not looked at: what lies behind BRX, RET and ENDCOLLECTIVE; results of CALL, BAR and R2UR; pairs whose guards
 * exclude each other; pairs very far from each other. */
#ifndef LOCKSTEP_ISA_MC_MC_HAZARDS_H
#define LOCKSTEP_ISA_MC_MC_HAZARDS_H

#include "isa/mc/mc_tree.h"
#include "isa/program.h"

/* Fills Kernel.hazards of a kernel with control bits, whose targets are set. */
void mc_hazards_find(const McModule *module, const McKernel *source, Kernel *kernel);

#endif
