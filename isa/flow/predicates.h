/* predicates.h - numbers for the predicates of a virtual kernel. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_PREDICATES_H
#define LOCKSTEP_ISA_FLOW_PREDICATES_H

#include "isa/flow/live_range.h"

enum { PREDICATE_PLACES = 29 }; /* P0 to P6, P10 to P31 */

/* The number of each virtual predicate; PRED_SINK: it found no place. `keep` (may be NULL) tells which must have one:
 * others give way to them. Free with g_free(). */
uint32_t *predicates_place(const VKernel *vkernel, const LiveRanges *ranges, const uint8_t *keep);

#endif
