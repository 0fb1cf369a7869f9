/* Arithmetic and logic of 32 bits, as Fermi has it. Each executor computes a whole row into a local array, which the
 * compiler vectorises, and issue_write() merges it under the mask (the plain `if (mask >> lane & 1)` loop is several
 * times slower). */
#include "base/bits.h"
#include "sim/core/exec_rows.h"

const uint32_t lane_bit[WARP_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

void exec_NOP(Issue *issue) {}

void exec_MOV(Issue *issue) { issue_write(issue, issue->inst->dst, issue_operand(issue, issue->inst->a)); }

void exec_MOV32I(Issue *issue) { exec_MOV(issue); }

/* The general sum: carry in and out, signed saturation. `ones` is what completes the complements of negated terms. A
 * difference adds the complement and one; with .X the carry stands in for that one, so that two instructions make a
 * 64-bit difference. */
static void add_carrying(Issue *issue, const uint32_t x[WARP_LANES], const uint32_t y[WARP_LANES], uint32_t ones) {
  const Inst *inst = issue->inst;
  uint32_t row[WARP_LANES], carry_in = issue->pred[PRED_CARRY], carry_out = 0;
  bool takes_carry = inst->flags & INST_CARRY_IN, saturates = inst->flags & INST_SAT;
  ROW {
    uint32_t one = takes_carry ? (carry_in >> l) & 1 : ones;
    int64_t sum = (int64_t)(int32_t)x[l] + (int32_t)y[l] + one;
    row[l] = saturates && sum > INT32_MAX   ? (uint32_t)INT32_MAX
             : saturates && sum < INT32_MIN ? (uint32_t)INT32_MIN
                                            : (uint32_t)sum;
    carry_out |= (uint32_t)(((uint64_t)x[l] + y[l] + one) >> 32 != 0) << l;
  }
  issue_write(issue, inst->dst, row);
  if (inst->flags & INST_CARRY_OUT)
    issue_set_pred(issue, PRED_CARRY, carry_out);
}

enum { CARRYING = INST_SAT | INST_CARRY_IN | INST_CARRY_OUT };

static void add_rows(Issue *issue, bool negate_a, bool negate_b) {
  const uint32_t *a = issue_operand(issue, issue->inst->a), *b = issue_operand(issue, issue->inst->b);
  uint32_t x[WARP_LANES], y[WARP_LANES], na = negate_a ? UINT32_MAX : 0, nb = negate_b ? UINT32_MAX : 0;
  ROW x[l] = a[l] ^ na;
  ROW y[l] = b[l] ^ nb;
  add_carrying(issue, x, y, (uint32_t)negate_a + negate_b);
}

WIDE_CLONES void exec_IADD(Issue *issue) {
  const Inst *inst = issue->inst;
  if (inst->flags & CARRYING) {
    add_rows(issue, inst->flags & INST_NEG_A, inst->flags & INST_NEG_B);
    return;
  }
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], na = sign_of(inst, INST_NEG_A), nb = sign_of(inst, INST_NEG_B);
  ROW row[l] = ((a[l] ^ na) - na) + ((b[l] ^ nb) - nb);
  issue_write(issue, inst->dst, row);
}

WIDE_CLONES void exec_ISUB(Issue *issue) {
  const Inst *inst = issue->inst;
  if (inst->flags & CARRYING) {
    add_rows(issue, inst->flags & INST_NEG_A, !(inst->flags & INST_NEG_B));
    return;
  }
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], na = sign_of(inst, INST_NEG_A), nb = sign_of(inst, INST_NEG_B);
  ROW row[l] = ((a[l] ^ na) - na) - ((b[l] ^ nb) - nb);
  issue_write(issue, inst->dst, row);
}

/* Product of two words under the instruction's type and .HI, all of it negated if `negate` is all ones. */
WIDE_CLONES static void multiply(const Issue *issue, uint32_t row[WARP_LANES], uint32_t negate) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint64_t negate_wide = negate ? UINT64_MAX : 0;
  if (!(inst->flags & INST_HI))
    ROW row[l] = ((a[l] * b[l]) ^ negate) - negate;
  else if (inst->type == TYPE_U32)
    ROW row[l] = (uint32_t)(((((uint64_t)a[l] * b[l]) ^ negate_wide) - negate_wide) >> 32);
  else
    ROW row[l] = (uint32_t)((((uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) ^ negate_wide) - negate_wide) >> 32);
}

WIDE_CLONES void exec_IMUL(Issue *issue) {
  uint32_t row[WARP_LANES];
  multiply(issue, row, 0);
  issue_write(issue, issue->inst->dst, row);
}

WIDE_CLONES void exec_IMAD(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES], nc = sign_of(inst, INST_NEG_C), n = sign_of(inst, INST_NEG_A) ^ sign_of(inst, INST_NEG_B);
  if (!(inst->flags & (INST_HI | CARRYING))) {
    ROW row[l] = ((a[l] * b[l]) ^ n) - n + ((c[l] ^ nc) - nc);
    issue_write(issue, inst->dst, row);
    return;
  }
  multiply(issue, row, n);
  if (inst->flags & CARRYING) {
    uint32_t term[WARP_LANES];
    ROW term[l] = c[l] ^ nc;
    add_carrying(issue, row, term, nc & 1);
    return;
  }
  ROW row[l] += (c[l] ^ nc) - nc;
  issue_write(issue, inst->dst, row);
}

WIDE_CLONES void exec_ISCADD(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], na = sign_of(inst, INST_NEG_A), nb = sign_of(inst, INST_NEG_B), shift = inst->mode & 31u;
  ROW row[l] = (((a[l] ^ na) - na) << shift) + ((b[l] ^ nb) - nb);
  issue_write(issue, inst->dst, row);
}

WIDE_CLONES void exec_SHL(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], keep = inst->flags & INST_WRAP ? 31u : UINT32_MAX;
  ROW row[l] = (b[l] & keep) > 31 ? 0 : a[l] << (b[l] & 31);
  issue_write(issue, inst->dst, row);
}

WIDE_CLONES void exec_SHR(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], keep = inst->flags & INST_WRAP ? 31u : UINT32_MAX;
  if (inst->type == TYPE_U32)
    ROW row[l] = (b[l] & keep) > 31 ? 0 : a[l] >> (b[l] & 31);
  else
    ROW row[l] = (uint32_t)((int32_t)a[l] >> ((b[l] & keep) > 31 ? 31 : (b[l] & 31)));
  issue_write(issue, inst->dst, row);
}

WIDE_CLONES void exec_LOP(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], ia = sign_of(inst, INST_INV_A), ib = sign_of(inst, INST_INV_B);
  switch ((LogicOp)inst->lop) {
  case LOP_AND: ROW row[l] = (a[l] ^ ia) & (b[l] ^ ib); break;
  case LOP_OR: ROW row[l] = (a[l] ^ ia) | (b[l] ^ ib); break;
  case LOP_XOR: ROW row[l] = (a[l] ^ ia) ^ (b[l] ^ ib); break;
  case LOP_PASS_B: ROW row[l] = b[l] ^ ib; break;
  }
  issue_write(issue, inst->dst, row);
}

WIDE_CLONES void exec_IMNMX(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], minimum[WARP_LANES];
  spread(issue_pred(issue, 0), minimum);
  /* Flipping the sign bit makes a signed comparison of an unsigned one. */
  uint32_t flip = inst->type == TYPE_U32 ? 0x80000000u : 0;
  ROW {
    bool less = (int32_t)(a[l] ^ flip) < (int32_t)(b[l] ^ flip);
    row[l] = less == (minimum[l] != 0) ? a[l] : b[l];
  }
  issue_write(issue, inst->dst, row);
}

WIDE_CLONES void exec_SEL(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], first[WARP_LANES];
  spread(issue_pred(issue, 0), first);
  ROW row[l] = (a[l] & first[l]) | (b[l] & ~first[l]);
  issue_write(issue, inst->dst, row);
}

/* Mask of the lanes for which (a cmp b) holds on integers. */
WIDE_CLONES static uint32_t compare(const Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t flip = inst->type == TYPE_U32 ? 0x80000000u : 0, less = 0, equal = 0;
  ROW {
    less |= (int32_t)(a[l] ^ flip) < (int32_t)(b[l] ^ flip) ? lane_bit[l] : 0;
    equal |= a[l] == b[l] ? lane_bit[l] : 0;
  }
  return relation(inst->cmp, less, equal, 0);
}

void exec_ISET(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t row[WARP_LANES], value = inst->flags & INST_BF ? 0x3f800000u : UINT32_MAX;
  spread(combine_masks(inst->lop, compare(issue), issue_pred(issue, 0)), row);
  ROW row[l] &= value;
  issue_write(issue, inst->dst, row);
}

void exec_ISETP(Issue *issue) { set_relation(issue, compare(issue)); }

void exec_PSETP(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t main = combine_masks(inst->lop, issue_pred(issue, 0), issue_pred(issue, 1)), other = issue_pred(issue, 2);
  set_both(issue, combine_masks(inst->lop2, main, other), combine_masks(inst->lop2, ~main, other));
}

static uint32_t low_ones(uint32_t count) { return count >= 32 ? UINT32_MAX : (1u << count) - 1; }

static uint32_t extract(uint32_t value, uint32_t field, bool is_signed) {
  uint32_t position = field & 0xff, length = (field >> 8) & 0xff;
  if (length == 0)
    return 0;
  uint32_t sign = is_signed && value >> 31 ? UINT32_MAX : 0;
  uint32_t shifted = position > 31 ? sign : (uint32_t)((int64_t)(((uint64_t)sign << 32) | value) >> position);
  if (length >= 32)
    return shifted;
  uint32_t bits = shifted & low_ones(length);
  return is_signed && (shifted >> (length - 1)) & 1 ? bits | ~low_ones(length) : bits;
}

void exec_BFE(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES];
  ROW row[l] = extract(a[l], b[l], inst->type == TYPE_S32);
  issue_write(issue, inst->dst, row);
}

void exec_BFI(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES];
  ROW {
    uint32_t position = b[l] & 0xff, length = (b[l] >> 8) & 0xff;
    uint32_t field = position > 31 ? 0 : low_ones(length) << position;
    row[l] = (c[l] & ~field) | (position > 31 ? 0 : (a[l] << position) & field);
  }
  issue_write(issue, inst->dst, row);
}

void exec_POPC(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], ia = sign_of(inst, INST_INV_A), ib = sign_of(inst, INST_INV_B);
  ROW row[l] = bits_count((a[l] ^ ia) & (b[l] ^ ib));
  issue_write(issue, inst->dst, row);
}

void exec_FLO(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a);
  uint32_t row[WARP_LANES], ia = sign_of(inst, INST_INV_A);
  ROW {
    uint32_t value = a[l] ^ ia;
    if (inst->type == TYPE_S32 && value >> 31)
      value = ~value;
    uint32_t highest = value ? 31u - (uint32_t)__builtin_clz(value) : UINT32_MAX;
    row[l] = inst->flags & INST_SH && value ? 31u - highest : highest;
  }
  issue_write(issue, inst->dst, row);
}
