/* dataflow.h - which registers and predicates are set, and which are still wanted, at each instruction. Private to
 * isa/; the results reach others through cfg.h. Both analyses are linear in the program: a block's facts are a
 * set that only shrinks or only grows. */
#ifndef LOCKSTEP_ISA_FLOW_DATAFLOW_H
#define LOCKSTEP_ISA_FLOW_DATAFLOW_H

#include "isa/flow/flow.h"
#include "isa/flow/liveness.h"

/* Sets INST_MAYBE_UNSET on the instructions that read what some path from the start leaves unwritten. A write under a
 * guard counts for reads under the same guard in the same block. */
void dataflow_mark_unset(Kernel *kernel, const Flow *flow);

Liveness dataflow_liveness(const Kernel *kernel, const Flow *flow);

#endif
