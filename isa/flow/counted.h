/* counted.h - loops that count: how often they go round, and what that depends on. Private to isa/.
 *
 * A counted loop lies in one piece, its first block at the top, and goes back at one place only, the branch at its
 * end. That asks for a comparison of a counter, which each round adds a constant to, with a bound that the loop
 * leaves alone. Loops within others only; a loop with a loop in it isn't one. */
#ifndef LOCKSTEP_ISA_FLOW_COUNTED_H
#define LOCKSTEP_ISA_FLOW_COUNTED_H

#include "isa/flow/live_range.h"
#include "isa/flow/loops.h"

/* The instructions that write each register and predicate: those of unit u of `number` are
 * by[start[u]] ... by[start[u + 1] - 1]; a register is a unit whatever its rows, and predicates come behind them. */
typedef struct WrittenBy {
  uint32_t *start, *by;
} WrittenBy;

typedef struct Counting {
  VKernel *vkernel;
  const Flow *flow;
  const Loops *loops;
  const LiveRanges *ranges; /* with spans */
  WrittenBy written;
} Counting;

typedef struct CountedLoop {
  uint32_t first, end;     /* instructions; the branch back is the last */
  uint32_t header, latch;  /* blocks: the first and the last */
  uint32_t compare, steps; /* the comparison, and the instruction that adds */
  int32_t counter;         /* register */
  int32_t bound;           /* operand */
  uint8_t bound_row;
  bool wide;      /* 64 bits */
  bool lone_exit; /* lanes leave it at its end only */
  bool old;       /* what is compared is the counter before the addition */
  int64_t step;
  CmpOp cmp;      /* it goes on while the counter compares so to the bound */
  uint64_t trips; /* rounds at most, if start and bound are constants; 0: they aren't, or it's more than TRIPS_MAX */
} CountedLoop;

enum { TRIPS_MAX = 65536 };

void counting_init(Counting *counting, VKernel *vkernel, const Flow *flow, const Loops *loops,
                   const LiveRanges *ranges);
void counting_clear(Counting *counting);
/* Whether the loop of that header is a counted one. */
bool counting_find(const Counting *counting, uint32_t header, CountedLoop *loop);
/* The rounds depend on nothing but the kernel's parameters. */
bool counting_is_known(const Counting *counting, const CountedLoop *loop);
/* Whether a row of a register, or a predicate (units as in LiveRanges), holds a value that is wanted in the next
 * round, or where the loop is left, at its end or before. */
bool counting_survives(const Counting *counting, const CountedLoop *loop, uint32_t unit, bool at_end, bool before);
/* A register of the loop that each round adds a constant to, and nobody else in it writes. */
typedef struct Induction {
  int32_t reg;
  uint32_t steps, written; /* the instruction that adds; it, or the move of its result, is what writes the register */
  bool wide;
  int64_t step;
} Induction;
/* False: the register isn't one, or is wanted where lanes leave the loop before its end. */
bool counting_find_induction(const Counting *counting, const CountedLoop *loop, int32_t reg, Induction *induction);

/* Of an operand: an immediate of 32 bits, or 64, that isn't in the bank or a symbol. */
bool vkernel_constant(const VKernel *vkernel, int32_t operand, bool wide, uint64_t *value);

#endif
