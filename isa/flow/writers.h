/* writers.h - which instruction makes the value of each register: what passes go by that move or replace arithmetic.
 * Private to isa/.
 * A unit is a row of a register, as in LiveRanges. */
#ifndef LOCKSTEP_ISA_FLOW_WRITERS_H
#define LOCKSTEP_ISA_FLOW_WRITERS_H

#include "isa/flow/live_range.h"
#include "isa/flow/loops.h"

enum { WRITER_NONE = -1, WRITER_MANY = -2 };

typedef struct Writers {
  VKernel *vkernel;
  Flow flow;
  Loops loops;
  LiveRanges ranges;
  int32_t *writer; /* of each unit: its only instruction, or WRITER_ */
} Writers;

/* Of the instructions as they are; `ranges` has no spans (live_range.h). */
void writers_init(Writers *writers, VKernel *vkernel);
void writers_clear(Writers *writers);

VInst *writers_inst(const Writers *writers, uint32_t i);
/* The unit of a register's row. */
uint32_t writers_unit(const Writers *writers, int32_t reg, unsigned row);

/* True if every path to instruction `later` comes past instruction `first`, which stands before it in the text
 * too. */
bool writers_before(const Writers *writers, uint32_t first, uint32_t later);

/* The last place that comes before `place`, isn't in a loop that instruction `i` isn't in, and stands before an
 * instruction. */
uint32_t writers_leave_loops(const Writers *writers, uint32_t i, uint32_t place);

/* The only instruction that writes the rows of an operand of instruction `i`, if it alone writes them and comes
 * before `i`; or NULL. */
const VInst *writers_maker(const Writers *writers, uint32_t i, int32_t reg, uint8_t row, uint8_t rows);

#endif
