/* ptx_calls.h - which call the lines of a function belong to that were inlined.
 *
 * A `.loc` names where its function was inlined by a place alone. nvcc writes the `.loc` of that place in front of it
 * once for each call. In copies that it makes of a loop's body the innermost line stands by itself. Such a line is a
 * copy of one before, its original, and which one it is has to be told: copies stand in the order of their originals,
 * and the body begins anew behind its end. Of all ways to choose originals the one that breaks this order least is
 * taken (ptx_calls.c). Where two calls on different lines fit equally well a line belongs to none: PtxLoc.parent is
 * PTX_NO_INDEX, and the place that the line itself names is all that is known. Time is linear in the lines. */
#ifndef LOCKSTEP_ISA_PTX_PTX_CALLS_H
#define LOCKSTEP_ISA_PTX_PTX_CALLS_H

#include "isa/ptx/ptx_tree.h"

/* Sets `parent` of the locs from `first` to the module's last one, which are those of a function whose instructions
 * are the module's last ones. */
void ptx_calls_find(PtxModule *module, uint32_t first);

#endif
