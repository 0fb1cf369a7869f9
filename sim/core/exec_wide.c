/* 64-bit integers, each in a pair of rows. */
#include "base/bits.h"
#include "sim/core/exec_rows.h"

__extension__ typedef unsigned __int128 Product;
__extension__ typedef __int128 SignedProduct;

void exec_MOV64(Issue *issue) {
  const Inst *inst = issue->inst;
  issue_write(issue, inst->dst, issue_operand(issue, inst->a));
  issue_write(issue, (int16_t)(inst->dst + 1), issue_operand(issue, high_row(inst->a)));
}

/* x + y + ones with the carry in and out, as add_carrying() of exec_alu.c. */
static void add_carrying(Issue *issue, const uint64_t x[WARP_LANES], const uint64_t y[WARP_LANES], uint32_t ones) {
  const Inst *inst = issue->inst;
  uint32_t carry_in = issue->pred[PRED_CARRY], carry_out = 0;
  bool takes_carry = inst->flags & INST_CARRY_IN;
  uint64_t row[WARP_LANES];
  ROW {
    uint64_t one = takes_carry ? (carry_in >> l) & 1 : ones, sum = x[l] + y[l];
    row[l] = sum + one;
    carry_out |= (uint32_t)(sum < x[l] || row[l] < sum) << l;
  }
  write_wide(issue, inst->dst, row);
  if (inst->flags & INST_CARRY_OUT)
    issue_set_pred(issue, PRED_CARRY, carry_out);
}

/* By words, as the compiler vectorises it. */
WIDE_CLONES static void add_words(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  const uint32_t *a_high = issue_operand(issue, high_row(inst->a)), *b_high = issue_operand(issue, high_row(inst->b));
  uint32_t low[WARP_LANES], high[WARP_LANES];
  ROW low[l] = a[l] + b[l];
  ROW high[l] = a_high[l] + b_high[l] + (low[l] < a[l]);
  issue_write(issue, inst->dst, low);
  issue_write(issue, (int16_t)(inst->dst + 1), high);
}

WIDE_CLONES static void subtract_words(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  const uint32_t *a_high = issue_operand(issue, high_row(inst->a)), *b_high = issue_operand(issue, high_row(inst->b));
  uint32_t low[WARP_LANES], high[WARP_LANES];
  ROW low[l] = a[l] - b[l];
  ROW high[l] = a_high[l] - b_high[l] - (a[l] < b[l]);
  issue_write(issue, inst->dst, low);
  issue_write(issue, (int16_t)(inst->dst + 1), high);
}

static void add(Issue *issue, bool subtracts) {
  const Inst *inst = issue->inst;
  if (!(inst->flags & (INST_CARRY_IN | INST_CARRY_OUT))) {
    if (subtracts)
      subtract_words(issue);
    else
      add_words(issue);
    return;
  }
  uint64_t a[WARP_LANES], b[WARP_LANES], complement = subtracts ? UINT64_MAX : 0;
  read_wide(issue, inst->a, a);
  read_wide(issue, inst->b, b);
  ROW b[l] ^= complement;
  add_carrying(issue, a, b, subtracts);
}

void exec_IADD64(Issue *issue) { add(issue, false); }

void exec_ISUB64(Issue *issue) { add(issue, true); }

static void multiply(const Issue *issue, uint64_t row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  uint64_t a[WARP_LANES], b[WARP_LANES];
  read_wide(issue, inst->a, a);
  read_wide(issue, inst->b, b);
  if (!(inst->flags & INST_HI))
    ROW row[l] = a[l] * b[l];
  else if (inst->type == TYPE_U64)
    ROW row[l] = (uint64_t)((Product)a[l] * b[l] >> 64);
  else
    ROW row[l] = (uint64_t)((SignedProduct)(int64_t)a[l] * (int64_t)b[l] >> 64);
}

void exec_IMUL64(Issue *issue) {
  uint64_t row[WARP_LANES];
  multiply(issue, row);
  write_wide(issue, issue->inst->dst, row);
}

void exec_IMAD64(Issue *issue) {
  const Inst *inst = issue->inst;
  uint64_t row[WARP_LANES], c[WARP_LANES];
  multiply(issue, row);
  read_wide(issue, inst->c, c);
  if (inst->flags & (INST_CARRY_IN | INST_CARRY_OUT)) {
    add_carrying(issue, row, c, 0);
    return;
  }
  ROW row[l] += c[l];
  write_wide(issue, inst->dst, row);
}

/* The 64-bit product of two words. */
WIDE_CLONES static void multiply_words(const Issue *issue, uint64_t row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  if (inst->type == TYPE_U32)
    ROW row[l] = (uint64_t)a[l] * b[l];
  else
    ROW row[l] = (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]);
}

WIDE_CLONES void exec_IMULW(Issue *issue) {
  uint64_t row[WARP_LANES];
  multiply_words(issue, row);
  write_wide(issue, issue->inst->dst, row);
}

void exec_IMADW(Issue *issue) {
  uint64_t row[WARP_LANES], c[WARP_LANES];
  multiply_words(issue, row);
  read_wide(issue, issue->inst->c, c);
  ROW row[l] += c[l];
  write_wide(issue, issue->inst->dst, row);
}

void exec_SHL64(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *b = issue_operand(issue, inst->b);
  uint64_t row[WARP_LANES];
  read_wide(issue, inst->a, row);
  ROW row[l] = b[l] > 63 ? 0 : row[l] << (b[l] & 63);
  write_wide(issue, inst->dst, row);
}

void exec_SHR64(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *b = issue_operand(issue, inst->b);
  uint64_t row[WARP_LANES];
  read_wide(issue, inst->a, row);
  if (inst->type == TYPE_U64)
    ROW row[l] = b[l] > 63 ? 0 : row[l] >> (b[l] & 63);
  else
    ROW row[l] = (uint64_t)((int64_t)row[l] >> (b[l] > 63 ? 63 : b[l]));
  write_wide(issue, inst->dst, row);
}

void exec_LOP64(Issue *issue) {
  const Inst *inst = issue->inst;
  uint64_t a[WARP_LANES], b[WARP_LANES];
  uint64_t ia = inst->flags & INST_INV_A ? UINT64_MAX : 0, ib = inst->flags & INST_INV_B ? UINT64_MAX : 0;
  read_wide(issue, inst->a, a);
  read_wide(issue, inst->b, b);
  switch ((LogicOp)inst->lop) {
  case LOP_AND: ROW a[l] = (a[l] ^ ia) & (b[l] ^ ib); break;
  case LOP_OR: ROW a[l] = (a[l] ^ ia) | (b[l] ^ ib); break;
  case LOP_XOR: ROW a[l] = (a[l] ^ ia) ^ (b[l] ^ ib); break;
  case LOP_PASS_B: ROW a[l] = b[l] ^ ib; break;
  }
  write_wide(issue, inst->dst, a);
}

/* Flipping the sign bit makes a signed comparison of an unsigned one. */
static uint64_t sign_flip(const Inst *inst) { return inst->type == TYPE_U64 ? UINT64_C(1) << 63 : 0; }

/* In the lanes of `first` a, in the others b. */
static void select_wide(Issue *issue, uint32_t first, const uint64_t a[WARP_LANES], const uint64_t b[WARP_LANES]) {
  uint64_t row[WARP_LANES];
  ROW row[l] = (first & lane_bit[l]) ? a[l] : b[l];
  write_wide(issue, issue->inst->dst, row);
}

void exec_IMNMX64(Issue *issue) {
  const Inst *inst = issue->inst;
  uint64_t a[WARP_LANES], b[WARP_LANES], flip = sign_flip(inst);
  uint32_t less = 0;
  read_wide(issue, inst->a, a);
  read_wide(issue, inst->b, b);
  ROW less |= (int64_t)(a[l] ^ flip) < (int64_t)(b[l] ^ flip) ? lane_bit[l] : 0;
  select_wide(issue, ~(less ^ issue_pred(issue, 0)), a, b);
}

void exec_SEL64(Issue *issue) {
  uint64_t a[WARP_LANES], b[WARP_LANES];
  read_wide(issue, issue->inst->a, a);
  read_wide(issue, issue->inst->b, b);
  select_wide(issue, issue_pred(issue, 0), a, b);
}

void exec_ISETP64(Issue *issue) {
  const Inst *inst = issue->inst;
  uint64_t a[WARP_LANES], b[WARP_LANES], flip = sign_flip(inst);
  uint32_t less = 0, equal = 0;
  read_wide(issue, inst->a, a);
  read_wide(issue, inst->b, b);
  ROW {
    less |= (int64_t)(a[l] ^ flip) < (int64_t)(b[l] ^ flip) ? lane_bit[l] : 0;
    equal |= a[l] == b[l] ? lane_bit[l] : 0;
  }
  set_relation(issue, relation(inst->cmp, less, equal, 0));
}

void exec_IABS64(Issue *issue) {
  uint64_t row[WARP_LANES];
  read_wide(issue, issue->inst->a, row);
  ROW row[l] = row[l] >> 63 ? 0 - row[l] : row[l];
  write_wide(issue, issue->inst->dst, row);
}

/* ---- bits ---- */

void exec_POPC64(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *low = issue_operand(issue, inst->a), *high = issue_operand(issue, high_row(inst->a));
  uint32_t row[WARP_LANES];
  ROW row[l] = bits_count(low[l]) + bits_count(high[l]);
  issue_write(issue, inst->dst, row);
}

void exec_FLO64(Issue *issue) {
  const Inst *inst = issue->inst;
  uint64_t a[WARP_LANES];
  uint32_t row[WARP_LANES];
  read_wide(issue, inst->a, a);
  ROW {
    uint64_t value = inst->type == TYPE_S64 && a[l] >> 63 ? ~a[l] : a[l];
    uint32_t leading = value ? (uint32_t)__builtin_clzll(value) : 0;
    row[l] = !value ? UINT32_MAX : inst->flags & INST_SH ? leading : 63 - leading;
  }
  issue_write(issue, inst->dst, row);
}

void exec_BREV64(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *low = issue_operand(issue, inst->a), *high = issue_operand(issue, high_row(inst->a));
  uint64_t row[WARP_LANES];
  ROW row[l] = (uint64_t)bits_reverse(low[l]) << 32 | bits_reverse(high[l]);
  write_wide(issue, inst->dst, row);
}

static uint64_t low_ones(uint32_t count) { return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1; }

static uint64_t extract(uint64_t value, uint32_t field, bool is_signed) {
  uint32_t position = field & 0xff, length = (field >> 8) & 0xff;
  if (length == 0)
    return 0;
  uint64_t sign = is_signed && value >> 63 ? UINT64_MAX : 0, above = low_ones(length);
  uint64_t shifted = position > 63 ? sign : position ? value >> position | sign << (64 - position) : value;
  bool fills = is_signed && length < 64 && (shifted >> (length - 1)) & 1;
  return fills ? shifted | ~above : shifted & above;
}

void exec_BFE64(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *b = issue_operand(issue, inst->b);
  uint64_t row[WARP_LANES];
  read_wide(issue, inst->a, row);
  ROW row[l] = extract(row[l], b[l], inst->type == TYPE_S64);
  write_wide(issue, inst->dst, row);
}

void exec_BFI64(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *b = issue_operand(issue, inst->b);
  uint64_t a[WARP_LANES], c[WARP_LANES];
  read_wide(issue, inst->a, a);
  read_wide(issue, inst->c, c);
  ROW {
    uint32_t position = b[l] & 0xff;
    uint64_t field = position > 63 ? 0 : low_ones((b[l] >> 8) & 0xff) << position;
    c[l] = (c[l] & ~field) | (a[l] << (position & 63) & field);
  }
  write_wide(issue, inst->dst, c);
}
