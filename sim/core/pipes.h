/* pipes.h - what an SM's warps share besides shared memory: pipes that take one instruction each so many cycles
 * (sm.interval), and the latencies of instructions whose unit has several kinds.
 * Models: in order of issue; a warp waits for its turn before it goes on. Schedulers aren't told apart.
 * Ownership: an Sm holds its Pipes. */
#ifndef LOCKSTEP_CORE_PIPES_H
#define LOCKSTEP_CORE_PIPES_H

#include "sim/core/exec.h"

typedef enum {
  PIPE_NONE,
  PIPE_SYSREG,
  PIPE_BALLOT,
  PIPE_SHUFFLE,
  PIPE_MATCH,
  PIPE_REDUX,
  PIPE_CONSTANT,
  PIPE_COUNT
} PipeKind;

typedef struct Pipes {
  uint64_t free_milli[PIPE_COUNT];
} Pipes;

/* Which pipe takes an instruction, one that writes a register or doesn't; its interval; and its latency, which is
 * that of its unit unless its kind has one of its own. */
PipeKind pipe_of(const Inst *inst, bool writes_register);
Milli pipe_interval(const Machine *machine, PipeKind pipe);
uint32_t pipe_latency(const Machine *machine, PipeKind pipe, uint32_t unit_latency);

/* The instruction has executed: its result, and the warp's next instruction, wait for its turn. */
static inline void pipe_take(Pipes *pipes, PipeKind pipe, Milli interval, Issue *issue) {
  uint64_t wait = milli_cycle(milli_serve(&pipes->free_milli[pipe], issue->now, interval)) - issue->now;
  issue->ready += wait;
  issue->next += wait;
}

#endif
