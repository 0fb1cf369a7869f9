/* live_range.h - where each row of a virtual register and each virtual predicate holds a value somebody still reads.
 *
 * Positions: instruction i reads at 2i and writes at 2i + 1, in the order of the program. A unit is one row of a
 * register, or a predicate. Two units may share a place if their spans don't overlap: that is exact, holes included.
 * What no write can have reached isn't live: a register that is written and read under one guard doesn't reach back
 * to the kernel's start.
 * Time: linear in the instructions and in the blocks that each unit lives through. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_LIVE_RANGE_H
#define LOCKSTEP_ISA_FLOW_LIVE_RANGE_H

#include "isa/flow/virtual_view.h"

/* Half open. */
typedef struct Span {
  uint32_t from, to;
} Span;

typedef struct LiveRanges {
  uint32_t *unit_of_reg; /* registers + 1: the unit of each register's row 0; the last: of the first predicate */
  uint32_t nunits;
  GArray *spans;   /* Span, those of a unit in a row, ascending, never touching */
  uint32_t *start; /* nunits + 1 */
} LiveRanges;

/* False if the walk would take too long, which needs far more values live at once than any machine has registers. */
bool live_ranges_init(LiveRanges *ranges, const VKernel *vkernel, const Flow *flow);
/* The units alone, without spans. */
void live_ranges_number(LiveRanges *ranges, const VKernel *vkernel);
void live_ranges_clear(LiveRanges *ranges);

#endif
