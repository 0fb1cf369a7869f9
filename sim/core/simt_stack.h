/* simt_stack.h - divergence on the SIMT stack of Fermi (SEMANTICS, "Reconvergence on a SIMT stack").
 * Models: SSY and the `.S` pop; divergent branches; implicit reconvergence at the immediate post-dominator; PBK/BRK,
 * PCNT/CONT, CAL/RET. Lanes that have joined wait in the mask of their entry; a path whose next instruction is the
 * join target of the top entry isn't pushed at all, its lanes just wait.
 * Functions return false if the stack overflows or underflows: the caller raises a fault. */
#ifndef LOCKSTEP_CORE_SIMT_STACK_H
#define LOCKSTEP_CORE_SIMT_STACK_H

#include <stdbool.h>

#include "sim/core/warp.h"
#include "sim/machine/machine.h"

/* Pushes an entry of `kind` for the active lanes. */
bool simt_push(Warp *warp, uint32_t depth_max, StackKind kind, uint32_t pc);
/* A branch whose lanes go two ways: `taken` to inst->target, the rest of the active lanes to the next instruction.
 * *ordered is set where the branch order decides which goes first. */
bool simt_diverge(Warp *warp, const Machine *machine, const Inst *inst, uint32_t taken, bool *ordered);
/* The active lanes have joined by `.S`: the next pending path runs, or the entry's lanes resume. False if no SSY is
 * there to join at. */
bool simt_join(Warp *warp);
/* Active lanes have all gone (exited, broken out): whoever is next on the stack runs. A warp without lanes is
 * done. */
void simt_pop(Warp *warp);
/* `lanes` leave to the innermost entry of `kind` (BRK, CONT, RET) and wait there. False if there is none. */
bool simt_leave(Warp *warp, StackKind kind, uint32_t lanes);
/* The same for lanes that reach the join target. To be called when warp->pc names an instruction with
 * INST_JOIN_TARGET. */
void simt_arrive(Warp *warp);

#endif
