#include "isa/flow/needed_bits.h"

#include <string.h>

#include "base/assert.h"
#include "isa/flow/flow.h"

/* What an instruction needs of its operands a, b and c. */
typedef struct Needs {
  uint32_t a, b, c;
} Needs;

static const Needs all = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

/* Bits of a sum, a product or a difference depend on bits of the same place and lower ones. */
static uint32_t up_to(uint32_t bits) { return bits ? UINT32_MAX >> __builtin_clz(bits) : 0; }

/* The value of an operand, if it is a number. */
static bool is_number(const Kernel *kernel, int16_t operand, uint32_t *value) {
  if (operand >= 0 || kernel->consts[~operand].kind != CONST_IMMEDIATE)
    return false;
  *value = kernel->consts[~operand].value;
  return true;
}

/* Where a number decides that a bit of the other operand doesn't matter. */
static uint64_t logic_leaves(const Inst *inst, uint64_t number, uint32_t inverts) {
  if (inst->flags & inverts)
    number = ~number;
  return inst->lop == LOP_AND ? number : inst->lop == LOP_OR ? ~number : UINT64_MAX;
}

static Needs of_logic(const Kernel *kernel, const Inst *inst, uint32_t bits) {
  Needs needs = {inst->lop == LOP_PASS_B ? 0 : bits, bits, 0};
  uint32_t number;
  if (inst->lop != LOP_PASS_B && is_number(kernel, inst->b, &number))
    needs.a &= (uint32_t)logic_leaves(inst, number, INST_INV_B);
  if (inst->lop != LOP_PASS_B && is_number(kernel, inst->a, &number))
    needs.b &= (uint32_t)logic_leaves(inst, number, INST_INV_A);
  return needs;
}

/* Whether bit `place` of operand `which` (0: a) can change what the table of LOP3 gives, where the others are what
 * they can be. */
static bool table_needs(const Kernel *kernel, const Inst *inst, unsigned which, unsigned place) {
  int16_t operand[] = {inst->a, inst->b, inst->c};
  unsigned may_be[3]; /* bit 0: may be 0; bit 1: may be 1 */
  for (unsigned i = 0; i < 3; i++) {
    uint32_t number;
    may_be[i] = is_number(kernel, operand[i], &number) ? 1u << (number >> place & 1) : 3;
  }
  unsigned own = 4u >> which;
  for (unsigned index = 0; index < 8; index++) {
    bool possible = !(index & own);
    for (unsigned i = 0; i < 3; i++)
      possible &= i == which || may_be[i] >> (index >> (2 - i) & 1) & 1;
    if (possible && (inst->mode >> index & 1) != (inst->mode >> (index | own) & 1))
      return true;
  }
  return false;
}

static Needs of_table(const Kernel *kernel, const Inst *inst, uint32_t bits) {
  uint32_t needs[3] = {0};
  for (uint32_t rest = bits; rest; rest &= rest - 1)
    for (unsigned which = 0; which < 3; which++)
      if (table_needs(kernel, inst, which, (unsigned)__builtin_ctz(rest)))
        needs[which] |= rest & -rest;
  return (Needs){needs[0], needs[1], needs[2]};
}

static Needs of_shift(const Kernel *kernel, const Inst *inst, uint32_t bits) {
  bool left = inst->op == OP_SHL, sign = !left && inst->type != TYPE_U32;
  uint32_t keep = inst->flags & INST_WRAP ? 31 : UINT32_MAX, by;
  if (!is_number(kernel, inst->b, &by))
    return (Needs){left ? up_to(bits) : UINT32_MAX, keep, 0};
  by &= keep;
  uint32_t moved = by > 31 ? 0 : left ? bits >> by : bits << by;
  return (Needs){moved | (sign ? UINT32_C(1) << 31 : 0), 0, 0};
}

static Needs of_funnel(const Kernel *kernel, const Inst *inst, uint32_t bits) {
  uint32_t keep = inst->flags & INST_WRAP ? 31 : UINT32_MAX, by;
  if (!is_number(kernel, inst->c, &by))
    return (Needs){UINT32_MAX, UINT32_MAX, keep};
  by = MIN(by & keep, 32);
  if (inst->mode == 0)
    return (Needs){(uint32_t)((uint64_t)bits << (32 - by)), (uint32_t)((uint64_t)bits >> by), 0};
  return (Needs){(uint32_t)((uint64_t)bits << by), (uint32_t)((uint64_t)bits >> (32 - by)), 0};
}

static Needs of_field(const Kernel *kernel, const Inst *inst) {
  uint32_t field;
  if (!is_number(kernel, inst->b, &field))
    return all;
  uint32_t place = field & 0xff, length = field >> 8 & 0xff;
  if (length == 0 || place + length > 32)
    return all;
  return (Needs){UINT32_MAX >> (32 - length) << place, 0, 0};
}

/* The same of 64 bits, which are two constants. */
static bool is_wide_number(const Kernel *kernel, int16_t operand, uint64_t *value) {
  uint32_t low, high;
  if (!is_number(kernel, operand, &low) || !is_number(kernel, (int16_t)(operand - 1), &high))
    return false;
  *value = (uint64_t)high << 32 | low;
  return true;
}

static uint64_t up_to_wide(uint64_t bits) { return bits ? UINT64_MAX >> __builtin_clzll(bits) : 0; }

/* What an instruction that writes 64 bits needs of its operands. */
typedef struct WideNeeds {
  uint64_t a, b, c;
} WideNeeds;

static WideNeeds of_wide_logic(const Kernel *kernel, const Inst *inst, uint64_t bits) {
  WideNeeds needs = {inst->lop == LOP_PASS_B ? 0 : bits, bits, 0};
  uint64_t number;
  if (inst->lop != LOP_PASS_B && is_wide_number(kernel, inst->b, &number))
    needs.a &= logic_leaves(inst, number, INST_INV_B);
  if (inst->lop != LOP_PASS_B && is_wide_number(kernel, inst->a, &number))
    needs.b &= logic_leaves(inst, number, INST_INV_A);
  return needs;
}

static WideNeeds of_wide_shift(const Kernel *kernel, const Inst *inst, uint64_t bits) {
  bool left = inst->op == OP_SHL64, sign = !left && inst->type == TYPE_S64;
  uint32_t by;
  if (!is_number(kernel, inst->b, &by))
    return (WideNeeds){left ? up_to_wide(bits) : UINT64_MAX, UINT32_MAX, 0};
  uint64_t moved = by > 63 ? 0 : left ? bits >> by : bits << by;
  return (WideNeeds){moved | (sign ? UINT64_C(1) << 63 : 0), 0, 0};
}

/* True if something is known of how the bits of its result come about. */
static bool needs_of_wide(const Kernel *kernel, const Inst *inst, uint64_t bits, WideNeeds *needs) {
  uint64_t low = up_to_wide(bits);
  if (inst->flags & (INST_SAT | INST_CARRY_IN | INST_CARRY_OUT | INST_ABS_A | INST_ABS_B | INST_WRAP))
    return false;
  switch (inst->op) {
  case OP_MOV64: *needs = (WideNeeds){bits, 0, 0}; return true;
  case OP_SEL64: *needs = (WideNeeds){bits, bits, 0}; return true;
  case OP_IADD64:
  case OP_ISUB64: *needs = (WideNeeds){low, low, 0}; return true;
  case OP_IMULW:
  case OP_IMADW: *needs = (WideNeeds){(uint32_t)low, (uint32_t)low, low}; return true;
  case OP_SHL64:
  case OP_SHR64: *needs = of_wide_shift(kernel, inst, bits); return true;
  case OP_LOP64: *needs = of_wide_logic(kernel, inst, bits); return true;
  default: return false;
  }
}

/* What an instruction that writes one register needs so that `bits` of that come out right. */
static Needs needs_of(const Kernel *kernel, const Inst *inst, uint32_t bits) {
  uint32_t low = up_to(bits);
  if (inst->flags & (INST_SAT | INST_CARRY_IN | INST_CARRY_OUT | INST_ABS_A | INST_ABS_B) || inst->wide)
    return all;
  switch (inst->op) {
  case OP_MOV: return (Needs){bits, 0, 0};
  case OP_SEL: return (Needs){bits, bits, 0};
  case OP_IADD:
  case OP_ISUB:
  case OP_ISCADD:
  case OP_IADD3: return (Needs){low, low, low};
  case OP_IMUL:
  case OP_IMAD:
  case OP_LEA: return inst->flags & INST_HI ? all : (Needs){low, low, low};
  case OP_LOP: return of_logic(kernel, inst, bits);
  case OP_LOP3: return of_table(kernel, inst, bits);
  case OP_SHL:
  case OP_SHR: return of_shift(kernel, inst, bits);
  case OP_SHF: return of_funnel(kernel, inst, bits);
  case OP_BFE: return of_field(kernel, inst);
  default: return all;
  }
}

/* True if all that the instruction reads decides what it does itself. */
static bool is_root(const Inst *inst) {
  uint32_t flags = op_info[inst->op].flags;
  Unit unit = op_info[inst->op].unit;
  if (inst->op == OP_NANOSLEEP)
    return false; /* how long it takes is no state */
  return inst->op == OP_BRA || flags & (OPF_BRANCH | OPF_CONTROL) || unit == UNIT_BARRIER || unit == UNIT_VOTE ||
         unit == UNIT_SHARED || unit == UNIT_GLOBAL || unit == UNIT_LOCAL;
}

/* ---- along the paths ---- */

typedef struct Search {
  const Kernel *kernel;
  const Flow *flow;
  NeededBits found;              /* so far */
  uint32_t shuffled[REGSET_MAX]; /* bits that a shuffle may read, of a lane that is anywhere */
  uint32_t (*begin)[REGSET_MAX]; /* what is needed where each block begins */
  uint32_t now[REGSET_MAX];
  bool grown; /* predicates or what shuffles read */
} Search;

static void need_bits(Search *search, int reg, uint32_t bits) {
  search->now[reg] |= bits;
  search->found.reg[reg] |= search->now[reg];
}

static void need_preds(Search *search, uint32_t preds) {
  search->grown |= (preds & ~search->found.preds) != 0;
  search->found.preds |= preds;
}

static void need(Search *search, const Inst *inst, Needs needs) {
  RegList reads = inst_reads(inst);
  for (unsigned i = 0; i < reads.count; i++) {
    int reg = reads.reg[i];
    /* The second register of a pair is none of the operands. */
    bool is_operand = reg == inst->a || reg == inst->b || reg == inst->c;
    need_bits(search, reg,
              (reg == inst->a ? needs.a : 0) | (reg == inst->b ? needs.b : 0) | (reg == inst->c ? needs.c : 0) |
                  (is_operand ? 0 : UINT32_MAX));
  }
  need_preds(search, inst_pred_reads(inst));
}

/* Another lane's value, wherever that one is; five bits of b say which. */
static void shuffle(Search *search, const Inst *inst, uint32_t bits) {
  if (inst->a >= 0) {
    search->grown |= (bits & ~search->shuffled[inst->a]) != 0;
    search->shuffled[inst->a] |= bits;
  }
  need(search, inst, (Needs){bits, 31, UINT32_MAX});
}

/* `wide`: the operand is a pair of registers. */
static void need_operand(Search *search, int reg, bool wide, uint64_t bits) {
  if (reg < 0)
    return;
  need_bits(search, reg, (uint32_t)bits);
  if (wide)
    need_bits(search, reg + 1, (uint32_t)(bits >> 32));
}

/* True if it was an instruction that writes 64 bits of which something is known. */
static bool need_wide(Search *search, const Inst *inst, uint64_t bits) {
  WideNeeds needs;
  if (!needs_of_wide(search->kernel, inst, bits, &needs))
    return false;
  RegList reads = inst_reads(inst);
  for (unsigned i = 0; i < reads.count; i++) { /* operands that it has */
    int reg = reads.reg[i];
    need_operand(search, reg == inst->a ? reg : -1, inst->wide & WIDE_A, needs.a);
    need_operand(search, reg == inst->b ? reg : -1, inst->wide & WIDE_B, needs.b);
    need_operand(search, reg == inst->c ? reg : -1, inst->wide & WIDE_C, needs.c);
  }
  need_preds(search, inst_pred_reads(inst));
  return true;
}

/* From behind an instruction to in front of it. */
static void pass(Search *search, const Inst *inst) {
  RegList writes = inst_writes(inst, search->kernel->nregs);
  bool tells = inst_pred_writes(inst) & search->found.preds;
  uint32_t bits = 0;
  uint64_t pair = 0; /* the same of two registers, the lower one first */
  for (unsigned i = 0; i < writes.count; i++) {
    uint32_t *now = &search->now[writes.reg[i]], own = *now | search->shuffled[writes.reg[i]];
    bits |= own;
    pair |= (uint64_t)own << (writes.reg[i] == inst->dst ? 0 : 32);
    if (!inst_is_guarded(inst)) /* other lanes keep what they have */
      *now = 0;
  }
  if (is_root(inst))
    need(search, inst, all);
  else if (inst->op == OP_NANOSLEEP) /* whether a lane comes there, and others of its warp have their turn */
    need_preds(search, inst_pred_reads(inst));
  else if (inst->op == OP_SHFL && (bits || tells))
    shuffle(search, inst, bits);
  else if (writes.count == 2 && bits && !tells && need_wide(search, inst, pair))
    return;
  else if (bits || tells)
    need(search, inst, tells || writes.count > 1 ? all : needs_of(search->kernel, inst, bits));
}

/* From the end of a block to its beginning. True if something more is needed there. */
static bool pass_block(Search *search, uint32_t block) {
  const Flow *flow = search->flow;
  memset(search->now, 0, sizeof search->now);
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
    for (uint32_t reg = 0; reg < search->kernel->nregs; reg++)
      search->now[reg] |= search->begin[flow->out.to[e]][reg];
  uint32_t nregs = search->kernel->nregs;
  for (uint32_t pc = flow->first[block + 1]; pc-- > flow->first[block];) {
    pass(search, &search->kernel->insts[pc]);
    for (uint32_t reg = 0; reg < nregs; reg++)
      search->found.before[(size_t)pc * nregs + reg] = search->now[reg] | search->shuffled[reg];
  }
  bool more = memcmp(search->now, search->begin[block], sizeof search->now) != 0;
  memcpy(search->begin[block], search->now, sizeof search->now);
  return more;
}

/* Where a limit has cut the walk that finds the paths. */
static NeededBits all_bits(const Kernel *kernel) {
  NeededBits needed = {.preds = UINT32_MAX, .nregs = kernel->nregs};
  memset(needed.reg, 0xff, kernel->nregs * sizeof *needed.reg);
  return needed;
}

NeededBits needed_bits(const Kernel *kernel) {
  LS_REQUIRE("needed-bits-registers", kernel->nregs <= REGSET_MAX);
  Flow flow;
  flow_init(&flow, kernel);
  g_autofree Search *search = g_new0(Search, 1);
  search->kernel = kernel;
  search->flow = &flow;
  search->found.nregs = kernel->nregs;
  search->found.before = g_new0(uint32_t, (size_t)kernel->ninsts * kernel->nregs + 1);
  search->begin = g_malloc0_n(flow.nblocks + 1, sizeof *search->begin);
  bool more = !flow.incomplete;
  while (more) {
    more = search->grown = false;
    for (uint32_t block = flow.nblocks; block-- > 0;)
      more |= pass_block(search, block);
    more |= search->grown;
  }
  if (flow.incomplete)
    g_clear_pointer(&search->found.before, g_free);
  NeededBits found = flow.incomplete ? all_bits(kernel) : search->found;
  g_free(search->begin);
  flow_clear(&flow);
  return found;
}

void needed_bits_clear(NeededBits *needed) { g_clear_pointer(&needed->before, g_free); }
