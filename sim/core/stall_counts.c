#include "sim/core/decode.h"

enum { ROWS_MAX = 256, DIVISORS_MAX = 8 };

/* Along straight code: when what arithmetic has written can be read, in cycles of issue; and divisors whose
 * reciprocals are at hand. */
typedef struct Straight {
  uint32_t reg[ROWS_MAX], pred[PRED_ROWS], guard[PRED_ROWS];
  bool product[ROWS_MAX]; /* by the unit that multiplies */
  int16_t divisor[DIVISORS_MAX];
  unsigned divisors;
} Straight;

static bool is_product(const Inst *inst) {
  switch ((Opcode)inst->op) {
  case OP_IMUL:
  case OP_IMAD:
  case OP_IMULW:
  case OP_FMUL:
  case OP_FFMA: return true;
  default: return false;
  }
}

static uint32_t operands_come(const Straight *straight, const Machine *machine, const Kernel *kernel,
                              const Inst *inst, const Decoded *decoded) {
  RegList reads = inst_reads(inst);
  uint32_t time = 0;
  for (unsigned i = 0; i < reads.count; i++) {
    uint32_t row = (uint32_t)reads.reg[i];
    if (row >= kernel->nregs || !straight->reg[row])
      continue;
    bool other = straight->product[row] != is_product(inst);
    time = MAX(time, straight->reg[row] + (other ? machine->sm.latency.other_unit : 0));
  }
  for (uint32_t rest = inst_pred_reads(inst); rest; rest &= rest - 1)
    time = MAX(time, straight->pred[__builtin_ctz(rest)]);
  for (uint32_t rest = decoded->guard_wait; rest; rest &= rest - 1)
    time = MAX(time, straight->guard[__builtin_ctz(rest)]);
  return time;
}

static void note_results(Straight *straight, const Kernel *kernel, const Inst *inst, const Decoded *decoded,
                         bool fixed, uint32_t time) {
  uint32_t comes = fixed ? time + decoded->latency : 0;
  for (unsigned i = 0; i < decoded->writes; i++) {
    if (decoded->write[i] < kernel->nregs) {
      straight->reg[decoded->write[i]] = comes;
      straight->product[decoded->write[i]] = is_product(inst);
    }
    for (unsigned d = 0; d < straight->divisors; d++)
      if (straight->divisor[d] == decoded->write[i])
        straight->divisor[d] = straight->divisor[--straight->divisors];
  }
  for (uint32_t rest = decoded->pred_write; rest; rest &= rest - 1) {
    straight->pred[__builtin_ctz(rest)] = comes;
    straight->guard[__builtin_ctz(rest)] = fixed ? comes + decoded->guard_lag : 0;
  }
}

/* The first division by a value makes its reciprocal. */
static bool makes_reciprocal(Straight *straight, int16_t divisor) {
  for (unsigned d = 0; d < straight->divisors; d++)
    if (straight->divisor[d] == divisor)
      return false;
  if (straight->divisors < DIVISORS_MAX)
    straight->divisor[straight->divisors++] = divisor;
  return true;
}

/* Its result comes when its latency has passed, and no earlier. */
static bool is_fixed(const Machine *machine, const Inst *inst, const Decoded *decoded) {
  return op_info[inst->op].unit == UNIT_ALU && decoded->latency < machine->sm.encoded.slow;
}

/* The first instruction behind it that reads its result has nothing else that differs by lane: ptxas reads the clock
 * into a uniform register then (S2UR), and otherwise by CS2R, which takes no longer than arithmetic. */
static bool is_uniform_clock(const Kernel *kernel, const bool *targets, uint32_t pc) {
  int32_t uniform_from = (int32_t)(kernel->nregs - kernel->uniform_registers);
  int16_t result = kernel->insts[pc].dst;
  for (uint32_t at = pc + 1; at < kernel->ninsts && !targets[at]; at++) {
    RegList reads = inst_reads(&kernel->insts[at]);
    unsigned of_result = 0, uniform = 0;
    for (unsigned i = 0; i < reads.count; i++) {
      of_result += reads.reg[i] == result;
      uniform += reads.reg[i] >= uniform_from;
    }
    if (of_result)
      return of_result + uniform == reads.count;
    if (op_info[kernel->insts[at].op].flags & OPF_BRANCH)
      return false;
  }
  return false;
}

static bool is_plain_clock(const Kernel *kernel, const bool *targets, uint32_t pc) {
  const Inst *inst = &kernel->insts[pc];
  return inst->op == OP_S2R && special_is_clock(inst->mode) && !is_uniform_clock(kernel, targets, pc);
}

/* Whom some branch goes to. */
static bool *find_targets(const Kernel *kernel) {
  bool *targets = g_new0(bool, kernel->ninsts + 1);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_BRA)
      targets[kernel->insts[pc].target] = true;
  return targets;
}

/* ---- atomic operations whose result nobody reads ---- */

/* The first instruction of the innermost loop around one, from the target of the branch that goes back over the
 * fewest instructions; ninsts: none is around it. */
static uint32_t loop_of(const Kernel *kernel, uint32_t pc) {
  uint32_t head = kernel->ninsts, fewest = UINT32_MAX;
  for (uint32_t back = pc; back < kernel->ninsts; back++) {
    const Inst *inst = &kernel->insts[back];
    if (inst->op != OP_BRA || inst->target > (int32_t)pc || back - (uint32_t)inst->target >= fewest)
      continue;
    head = (uint32_t)inst->target;
    fewest = back - head;
  }
  return head;
}

static uint32_t block_end(const Kernel *kernel, const bool *targets, uint32_t pc) {
  while (pc + 1 < kernel->ninsts && !targets[pc + 1] && !(op_info[kernel->insts[pc].op].flags & OPF_BRANCH))
    pc++;
  return pc;
}

/* EXCH and CAS have no form without a result. */
static bool raises_for_nobody(const Inst *inst, const Decoded *decoded) {
  return inst->op == OP_ATOM && decoded->sends && !decoded->writes;
}

/* Who waits for the scoreboard of the round before: the last instruction of the loop's first block, or the operation
 * itself, if that is where it stands. Read out of what ptxas 13.0 makes of the CUDA sources of this repository: 1207
 * of 1254 operations in loops whose scoreboard outlasts the round. Those of straight code share one: each round comes
 * to them in one go. */
static void share_scoreboards(const Kernel *kernel, const bool *targets, Decoded decoded[]) {
  unsigned scoreboard = 0;
  bool together = false;
  if (kernel->nregs + SINK_ROWS + CONTROL_SCOREBOARDS > UINT8_MAX)
    return;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    together &= !targets[pc] && !(op_info[kernel->insts[pc].op].flags & OPF_BRANCH);
    if (!raises_for_nobody(&kernel->insts[pc], &decoded[pc]) || (!together && scoreboard == CONTROL_SCOREBOARDS))
      continue;
    uint32_t head = loop_of(kernel, pc);
    if (head == kernel->ninsts)
      continue;
    if (!together) {
      uint32_t waits = MIN(block_end(kernel, targets, head), pc);
      decode_wait(&decoded[waits], (int16_t)scoreboard_row(kernel, scoreboard++));
    }
    decoded[pc].raises = (uint8_t)scoreboard;
    together = true;
  }
}

void decode_stall_counts(const Gpu *gpu, const Kernel *kernel, Decoded decoded[]) {
  const Machine *machine = gpu->machine;
  g_autofree Straight *straight = g_new0(Straight, 1);
  g_autofree bool *targets = find_targets(kernel);
  uint32_t time = 0;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    straight->divisors = targets[pc] ? 0 : straight->divisors;
    if (is_plain_clock(kernel, targets, pc))
      decoded[pc].latency = machine->sm.latency.alu + machine->sm.latency.other_unit;
    if ((inst->op == OP_IDIV || inst->op == OP_IREM) && makes_reciprocal(straight, inst->b))
      decoded[pc].latency += machine->sm.latency.reciprocal;
    time = MAX(time, operands_come(straight, machine, kernel, inst, &decoded[pc]));
    note_results(straight, kernel, inst, &decoded[pc], is_fixed(machine, inst, &decoded[pc]), time);
    uint32_t next = time + (inst->op == OP_BRA ? machine->sm.latency.branch_not_taken : decoded[pc].apart);
    if (pc + 1 < kernel->ninsts && inst->op != OP_BRA)
      next = MAX(next, operands_come(straight, machine, kernel, inst + 1, &decoded[pc + 1]));
    decoded[pc].apart = (uint8_t)MIN(next - time, UINT8_MAX);
    decoded[pc].skip = MAX(decoded[pc].skip, decoded[pc].apart);
    time = next;
  }
  share_scoreboards(kernel, targets, decoded);
}
