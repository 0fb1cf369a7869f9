#include "sim/core/pipes.h"

PipeKind pipe_of(const Inst *inst, bool writes_register) {
  switch ((Opcode)inst->op) {
  case OP_S2R: return PIPE_SYSREG;
  case OP_VOTE: return writes_register ? PIPE_BALLOT : PIPE_NONE;
  case OP_SHFL:
  case OP_ELECT: return PIPE_SHUFFLE;
  case OP_MATCH: return PIPE_MATCH;
  case OP_REDUX: return PIPE_REDUX;
  case OP_LD: return inst->space == MEM_CONST || inst->space == MEM_PARAM ? PIPE_CONSTANT : PIPE_NONE;
  default: return PIPE_NONE;
  }
}

Milli pipe_interval(const Machine *machine, PipeKind pipe) {
  switch (pipe) {
  case PIPE_SYSREG: return machine->sm.interval.sysreg;
  case PIPE_BALLOT: return machine->sm.interval.ballot;
  case PIPE_SHUFFLE: return machine->sm.interval.shuffle;
  case PIPE_MATCH: return machine->sm.interval.match;
  case PIPE_REDUX: return machine->sm.interval.redux;
  case PIPE_CONSTANT: return machine->sm.interval.constant;
  default: return 0;
  }
}

uint32_t pipe_latency(const Machine *machine, PipeKind pipe, uint32_t unit_latency) {
  switch (pipe) {
  case PIPE_BALLOT: return machine->sm.latency.ballot;
  case PIPE_MATCH: return machine->sm.latency.match;
  case PIPE_REDUX: return machine->sm.latency.redux;
  case PIPE_CONSTANT: return machine->sm.latency.constant;
  default: return unit_latency;
  }
}
