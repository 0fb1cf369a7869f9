#include "sim/core/decode.h"

#include "base/assert.h"
#include "sim/core/cached.h"
#include "sim/core/constants.h"
#include "sim/core/hazards.h"
#include "sim/core/sm.h"
#include "sim/core/spin_backoff.h"
#include "sim/core/spin_history.h"
#include "sim/core/try_wait.h"

void decode_wait(Decoded *decoded, int16_t reg) {
  for (unsigned i = 0; i < decoded->waits; i++)
    if (decoded->wait[i] == reg)
      return;
  LS_REQUIRE("decoded-waits", decoded->waits < G_N_ELEMENTS(decoded->wait));
  decoded->wait[decoded->waits++] = (uint8_t)reg;
}

/* How an instruction goes by whose guard holds in no lane: it takes its issue slot, a branch until it is known where
 * the warp goes on. Its destinations are held as long as its unit takes (measured of LDS); no request leaves the
 * SM. */
static void decode_skip(Decoded *decoded, const Gpu *gpu, Opcode op) {
  bool branches = op == OP_BRA || op == OP_BRK || op == OP_CONT || op == OP_RET || op == OP_CAL;
  decoded->skip = branches ? gpu->machine->sm.latency.branch_not_taken : gpu->machine->sm.issue_interval;
  decoded->skip_latency = op_info[op].unit == UNIT_GLOBAL ? gpu->unit_latency[UNIT_SHARED] : decoded->latency;
}

/* Reading registers takes floats and doubles of their unit, others of what the scheduler's units share. */
static bool reads_take_unit(uint32_t control) {
  IssueUnit unit = (IssueUnit)(control >> CONTROL_UNIT_SHIFT & 15);
  return unit == ISSUE_FLOAT || unit == ISSUE_DOUBLE;
}

/* For how long an instruction of machine code takes its unit. */
static uint32_t occupies(const Machine *machine, uint32_t control) {
  uint32_t of_unit = 0;
  switch ((IssueUnit)(control >> CONTROL_UNIT_SHIFT & 15)) {
  case ISSUE_LOGIC: of_unit = machine->sm.encoded.logic_interval; break;
  case ISSUE_MULTIPLY: of_unit = machine->sm.encoded.multiply_interval; break;
  case ISSUE_FLOAT: of_unit = machine->sm.encoded.float_interval; break;
  case ISSUE_DOUBLE: of_unit = machine->sm.encoded.double_interval; break;
  case ISSUE_SLOW: of_unit = machine->sm.encoded.slow_interval; break;
  default: return 0;
  }
  of_unit *= control & CONTROL_TWICE ? 2 : 1;
  return reads_take_unit(control) ? MAX(of_unit, control >> CONTROL_READS_SHIFT & 3) : of_unit;
}

static bool is_uniform(const Kernel *kernel, int16_t row) {
  int named = (int)(kernel->nregs - kernel->uniform_registers), inner = (int)(kernel->nregs - kernel->inner_rows);
  return row >= named && row < inner;
}

/* How long an instruction of machine code takes whose result comes at a time that isn't in its stall count. */
static uint32_t encoded_latency(const Machine *machine, const Kernel *kernel, const Inst *inst, uint32_t usual) {
  uint32_t control = kernel->control[inst - kernel->insts];
  bool clock = special_is_clock(inst->mode);
  if ((control >> CONTROL_UNIT_SHIFT & 15) == ISSUE_SLOW)
    return machine->sm.encoded.slow;
  switch ((Opcode)inst->op) {
  case OP_MOV: /* B2R, or S2R of a register that is always the same: others raise no scoreboard */
    return inst->a < 0 && !is_uniform(kernel, inst->dst) ? machine->sm.encoded.special : machine->sm.latency.sysreg;
  case OP_PLOP3: return machine->sm.latency.sysreg; /* B2R */
  case OP_LDC:
  case OP_LDC64: return machine->sm.encoded.constant;
  case OP_LD:
    return inst->space == MEM_CONST || inst->space == MEM_PARAM ? machine->sm.encoded.constant_indexed : usual;
  case OP_REDUX: return machine->sm.encoded.redux;
  case OP_SHFL: return inst->mode == SHFL_IDX ? machine->sm.encoded.shuffle_index : usual;
  case OP_S2R: return clock || is_uniform(kernel, inst->dst) ? usual : machine->sm.encoded.special;
  default: return usual;
  }
}

/* How long it takes to read the sources. */
static uint32_t sources_cycles(const Machine *machine, const Inst *inst) {
  Unit unit = op_info[inst->op].unit;
  if (inst->op == OP_MEMBAR && inst->mode == FENCE_CTA)
    return machine->sm.encoded.fence;
  return unit == UNIT_GLOBAL || unit == UNIT_LOCAL ? machine->sm.encoded.sources_global
                                                   : machine->sm.encoded.sources_shared;
}

/* Machine code says itself what it waits for. */
static void decode_control(Decoded *decoded, const Gpu *gpu, const Kernel *kernel, const Inst *inst) {
  uint32_t control = kernel->control[inst - kernel->insts], waits = control >> CONTROL_WAIT_SHIFT & 63;
  uint32_t write = control >> CONTROL_WRITE_SHIFT & 7, read = control >> CONTROL_READ_SHIFT & 7;
  decoded->waits = 0;
  decoded->pred_wait = decoded->guard_wait = 0;
  for (unsigned i = 0; i < CONTROL_SCOREBOARDS; i++)
    if (waits >> i & 1)
      decoded->wait[decoded->waits++] = (uint8_t)scoreboard_row(kernel, i);
  decoded->hazards = hazards_has(kernel, (uint32_t)(inst - kernel->insts));
  decoded->executor = decoded->hazards ? hazards_execute : decoded->executor;
  decoded->stall = (uint8_t)MAX(control & CONTROL_STALL, 1);
  decoded->raises = write < CONTROL_SCOREBOARDS ? (uint8_t)(write + 1) : 0;
  decoded->sources = read < CONTROL_SCOREBOARDS ? (uint8_t)(read + 1) : 0;
  decoded->sources_cycles = (uint16_t)sources_cycles(gpu->machine, inst);
  decoded->skip = decoded->stall;
  decoded->holds = (uint8_t)(control & CONTROL_TWICE ? gpu->machine->sm.encoded.wide_issue : 0);
  decoded->stall += decoded->holds;
  decoded->latency = encoded_latency(gpu->machine, kernel, inst, decoded->latency);
  decoded->interval = inst->op == OP_VOTE ? 0 : decoded->interval;
  decoded->unit = (uint8_t)(control >> CONTROL_UNIT_SHIFT & 15);
  decoded->passes_by = op_info[inst->op].unit == UNIT_SHARED;
  decoded->occupies = (uint8_t)occupies(gpu->machine, control);
  if (gpu->machine->sm.encoded.register_lag && !reads_take_unit(control))
    decoded->reads = (uint8_t)(control >> CONTROL_READS_SHIFT & 3);
}

/* A fence comes before it. One of the block, too, where that takes time; machine code has it as an instruction. */
static bool is_release(const Machine *machine, const Kernel *kernel, const Inst *inst) {
  bool of_block = inst->scope == SCOPE_CTA && (inst->sem == SEM_RELEASE || inst->sem == SEM_ACQ_REL);
  return cached_is_release(inst) || (of_block && !kernel->control && machine->memory.fence_block);
}

/* The instruction is one with a fence before it: in a cluster also of the block's own shared memory, since what comes
 * before may be in another's. What st.async counts goes the way of its data, and waits for nothing else. */
static bool waits_before(const Machine *machine, const Kernel *kernel, const Inst *inst) {
  Unit unit = op_info[inst->op].unit;
  if (!is_release(machine, kernel, inst) || inst->op == OP_MEMBAR || inst->op == OP_CCTL)
    return false;
  if (inst->op == OP_RED && inst->mode == ATOM_ARRIVE && inst->lop == MBARRIER_COMPLETES)
    return false;
  return unit == UNIT_GLOBAL || (unit == UNIT_SHARED && kernel->ranked && inst->scope != SCOPE_CTA);
}

enum { LOADS_BASES_FROM = 90 };

/* 64 bits of the constant bank come by an LDC, which ptxas puts at the beginning of the block. */
static bool loads_base(const Machine *machine, const Kernel *kernel, int16_t operand) {
  return operand < 0 && ~operand < (int)kernel->nconsts && kernel->consts[~operand].kind == CONST_BANK &&
         machine->gpu.compute_capability >= LOADS_BASES_FROM;
}

/* Latencies that the unit doesn't say, of a GPU whose machine code is known. */
static uint32_t known_latency(const Machine *machine, const Kernel *kernel, const Inst *inst, uint32_t usual) {
  switch ((Opcode)inst->op) {
  case OP_LD: return inst->space == MEM_CONST && inst->a >= 0 ? machine->sm.encoded.constant_indexed : usual;
  case OP_MOV64: return loads_base(machine, kernel, inst->a) ? machine->sm.encoded.constant : usual;
  case OP_POPC:
  case OP_FLO:
  case OP_BREV:
  case OP_I2F:
  case OP_F2I:
  case OP_CVT: return machine->sm.encoded.slow;
  case OP_IADD:
  case OP_IADD64: return inst->mode == SUM_OF_WINDOW ? machine->sm.latency.sysreg + usual : usual;
  case OP_IMUL:
  case OP_IMAD: return inst->flags & INST_HI ? machine->sm.encoded.wide_high : usual;
  default: return usual;
  }
}

/* Who reads a predicate in order to choose lanes reads it later than those who compute with it. */
static void decode_guards(Decoded *decoded, const Machine *machine, const Inst *inst) {
  uint32_t guard = inst_is_guarded(inst) ? 1u << inst->guard : 0;
  bool votes = inst->op == OP_VOTE, computes = votes || op_info[inst->op].unit == UNIT_ALU;
  uint32_t alu = machine->sm.latency.alu;
  decoded->guard_wait = votes ? inst_pred_reads(inst) : guard;
  decoded->guard_lag = (uint8_t)(computes && decoded->pred_write ? MAX(machine->sm.latency.guard, alu) - alu : 0);
}

Decoded decode_inst(const Gpu *gpu, const Kernel *kernel, const Inst *inst) {
  RegList reads = inst_reads(inst), writes = inst_writes(inst, kernel->nregs);
  PipeKind pipe = pipe_of(inst, writes.count > 0);
  Decoded decoded = {.executor = executors[inst->op],
                     .latency = pipe_latency(gpu->machine, pipe, gpu->unit_latency[op_info[inst->op].unit]),
                     .pipe = pipe,
                     .interval = pipe_interval(gpu->machine, pipe),
                     .sends = op_info[inst->op].unit == UNIT_GLOBAL && inst->op != OP_MEMBAR && inst->op != OP_CCTL &&
                              !inst_is_bulk(inst),
                     .releases = waits_before(gpu->machine, kernel, inst)};
  if (gpu->machine->sm.latency.operand_line)
    decoded.constant = (uint8_t)(constants_operand_line(kernel, inst) + 1);
  if (inst->op == OP_ISETP && inst->mode == ISETP_OF_TRY)
    decoded.executor = try_wait_compare;
  else if (gpu->machine->sm.spin_backoff.confidence && spin_history_notes(inst->op))
    decoded.executor = spin_backoff_compare;
  if (inst->op == OP_IDIV || inst->op == OP_IREM)
    decoded.holds = (uint8_t)gpu->machine->sm.latency.divide_issue;
  decode_skip(&decoded, gpu, inst->op);
  for (unsigned i = 0; i < reads.count; i++)
    decode_wait(&decoded, reads.reg[i]);
  for (unsigned i = 0; i < writes.count; i++) {
    decode_wait(&decoded, writes.reg[i]);
    decoded.write[decoded.writes++] = (uint8_t)writes.reg[i];
  }
  decoded.apart = (uint8_t)gpu->machine->sm.issue_interval;
  if (machine_knows_code(gpu->machine))
    decoded.latency = known_latency(gpu->machine, kernel, inst, decoded.latency);
  decoded.pred_write = inst_pred_writes(inst);
  decoded.pred_wait = inst_pred_reads(inst) | decoded.pred_write;
  decode_guards(&decoded, gpu->machine, inst);
  if (inst->op == OP_MOV64 && !kernel->control && loads_base(gpu->machine, kernel, inst->a))
    decoded.executor = constants_load_base;
  if (kernel->control)
    decode_control(&decoded, gpu, kernel, inst);
  return decoded;
}

/* ---- products of 64 bits ---- */

/* A product whose result comes later than its stall count says; rows of its result, and when they come. */
typedef struct Product {
  int16_t row[2];
  uint32_t comes[2];
} Product;

enum { PRODUCTS_MAX = 4 };

/* Those under way. */
typedef struct Products {
  Product product[PRODUCTS_MAX];
  unsigned next;
} Products;

/* The cycle in which all of `reads` are there, `time` at least. */
static uint32_t products_ready(const Products *products, const RegList *reads, uint32_t time) {
  for (unsigned i = 0; i < reads->count; i++)
    for (unsigned k = 0; k < PRODUCTS_MAX; k++)
      for (unsigned part = 0; part < 2; part++)
        if (products->product[k].row[part] == reads->reg[i])
          time = MAX(time, products->product[k].comes[part]);
  return time;
}

static void products_add(Products *products, const Machine *machine, const RegList *writes, uint32_t time) {
  Product *product = &products->product[products->next++ % PRODUCTS_MAX];
  for (unsigned part = 0; part < 2; part++) {
    bool low = part == 0 && writes->count > 1;
    product->row[part] = part < writes->count ? writes->reg[part] : -1;
    product->comes[part] = time + (low ? machine->sm.encoded.wide_low : machine->sm.encoded.wide_high);
  }
}

static void products_forget(Products *products, const RegList *writes) {
  for (unsigned i = 0; i < writes->count; i++)
    for (unsigned k = 0; k < PRODUCTS_MAX; k++)
      for (unsigned part = 0; part < 2; part++)
        if (products->product[k].row[part] == writes->reg[i])
          products->product[k].row[part] = -1;
}

static void wait_for_products(const Gpu *gpu, const Kernel *kernel, Decoded decoded[]) {
  Products products = {0};
  Decoded *before = NULL; /* the instruction before, if the next one follows it for certain */
  uint32_t time = 0;
  memset(products.product, -1, sizeof products.product);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    RegList reads = inst_reads(inst), writes = inst_writes(inst, kernel->nregs);
    uint32_t ready = before ? products_ready(&products, &reads, time) : time;
    if (ready > time) {
      before->stall = (uint8_t)MIN(before->stall + (ready - time), UINT8_MAX);
      before->skip += ready - time;
    }
    time = ready;
    products_forget(&products, &writes);
    if (kernel->control[pc] & CONTROL_TWICE)
      products_add(&products, gpu->machine, &writes, time);
    if (inst->flags & INST_FUSED)
      continue;
    time += decoded[pc].stall;
    before = op_info[inst->op].flags & OPF_BRANCH ? NULL : &decoded[pc];
  }
}

/* ---- fences ---- */

/* memory.fence_least and its like were measured from clock to clock, so they have what ptxas puts behind a MEMBAR in
 * them: ERRBAR and CGAERRBAR, which do nothing here, and CCTL. */
static void count_fences_once(const Kernel *kernel, Decoded decoded[]) {
  bool behind = false;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    behind &= inst->op == OP_NOP || inst->op == OP_CCTL;
    if (behind)
      decoded[pc].stall = 1;
    behind |= inst->op == OP_MEMBAR && fence_drains(inst->mode);
  }
}

void decode_in_order(const Gpu *gpu, const Kernel *kernel, Decoded decoded[]) {
  if (gpu->machine->sm.encoded.wide_high || gpu->machine->sm.encoded.wide_low)
    wait_for_products(gpu, kernel, decoded);
  count_fences_once(kernel, decoded);
}

/* ---- short ways ---- */

/* What a warp's stack or a listener wants to know of. */
enum { NOTED_FLAGS = INST_POP | INST_FUSED | INST_MARKS | INST_MAYBE_UNSET | INST_SYNCED | INST_LEAVES };

static bool steers(Opcode op) {
  return op == OP_BRA || op == OP_BSSY || op == OP_BSYNC || op == OP_BREAK || op == OP_YIELD || op == OP_NOP;
}

static IssueWay way_of(const Inst *inst, const Decoded *decoded) {
  bool loads = inst->op == OP_LDC || inst->op == OP_LDC64;
  bool waits = decoded->constant || decoded->interval || decoded->raises || decoded->sources;
  if (waits || inst->flags & NOTED_FLAGS || decoded->executor != executors[inst->op])
    return WAY_WHOLE;
  if (steers(inst->op))
    return WAY_STEERS;
  return op_info[inst->op].unit == UNIT_ALU && !loads ? WAY_PLAIN : WAY_WHOLE;
}

void decode_ways(const Gpu *gpu, const Kernel *kernel, Decoded decoded[]) {
  bool stacks = gpu->machine->sm.convergence == CONVERGENCE_STACK;
  for (uint32_t pc = 0; pc + 1 < kernel->ninsts; pc++) {
    IssueWay way = way_of(&kernel->insts[pc], &decoded[pc]);
    bool joins = way == WAY_STEERS || kernel->insts[pc + 1].flags & INST_JOIN_TARGET;
    decoded[pc].way = stacks && joins ? WAY_WHOLE : way;
  }
}
