/* Integer and logic instructions of machine code that PTX isn't lowered to. Their carries are predicates: psrc[0] and psrc[1] are
 * added, and what a sum carries goes to pdst and pdst2. */
#include "base/bits.h"
#include "sim/core/constants.h"
#include "sim/core/exec_rows.h"

/* A term of a sum: the operand; negated (its complement, in `space`, and one more in *ones); or, with `complements`, its complement. */
static const uint32_t *term_row(const Issue *issue, int16_t slot, uint32_t flag, bool complements,
                                uint32_t space[WARP_LANES], uint32_t *ones) {
  const uint32_t *from = issue_operand(issue, slot);
  if (!(issue->inst->flags & flag))
    return from;
  ROW space[l] = ~from[l];
  *ones += !complements;
  return space;
}

static const uint32_t none[WARP_LANES];

/* The sum of three rows, of `ones`, and of 1 in each lane of two masks: carry 1 if it left 32 bits, carry 2 if it left them twice. */
WIDE_CLONES static void write_sum(Issue *issue, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                                  uint32_t ones, uint32_t carry, uint32_t carry2) {
  uint32_t row[WARP_LANES], over[WARP_LANES], one = 0, two = 0;
  ROW {
    uint32_t first = a[l] + b[l], second = first + c[l];
    uint32_t more = ones + (carry & lane_bit[l] ? 1u : 0) + (carry2 & lane_bit[l] ? 1u : 0);
    row[l] = second + more;
    over[l] = (first < a[l] ? 1u : 0) + (second < first ? 1u : 0) + (row[l] < second ? 1u : 0);
  }
  ROW one |= over[l] ? lane_bit[l] : 0;
  ROW two |= over[l] > 1 ? lane_bit[l] : 0;
  issue_write(issue, issue->inst->dst, row);
  set_both(issue, one, two);
}

static bool has_carries(const Inst *inst) {
  return inst->pdst != PRED_SINK || inst->pdst2 != PRED_SINK || inst->lop || inst->psrc[0] != PRED_TRUE ||
         inst->psrc[1] != PRED_TRUE;
}

WIDE_CLONES void exec_IADD3(Issue *issue) {
  const Inst *inst = issue->inst;
  if (!has_carries(inst)) {
    const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                   *c = issue_operand(issue, inst->c);
    uint32_t row[WARP_LANES], na = sign_of(inst, INST_NEG_A), nb = sign_of(inst, INST_NEG_B),
                              nc = sign_of(inst, INST_NEG_C);
    ROW row[l] = ((a[l] ^ na) - na) + ((b[l] ^ nb) - nb) + ((c[l] ^ nc) - nc);
    issue_write(issue, inst->dst, row);
    return;
  }
  uint32_t space[3][WARP_LANES], ones = 0, carry = issue_pred(issue, 0), carry2 = issue_pred(issue, 1);
  const uint32_t *a = term_row(issue, inst->a, INST_NEG_A, inst->lop, space[0], &ones);
  const uint32_t *b = term_row(issue, inst->b, INST_NEG_B, inst->lop, space[1], &ones);
  const uint32_t *c = term_row(issue, inst->c, INST_NEG_C, inst->lop, space[2], &ones);
  write_sum(issue, a, b, c, ones, carry, carry2);
}

static uint64_t product(const Inst *inst, uint32_t a, uint32_t b) {
  return inst->type == TYPE_U32 ? (uint64_t)a * b : (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
}

WIDE_CLONES void exec_IMADX(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t space[WARP_LANES], carry = issue_pred(issue, 0),
                              negate = sign_of(inst, INST_NEG_A) ^ sign_of(inst, INST_NEG_B);
  uint32_t one = 0;
  const uint32_t *c = term_row(issue, inst->c, INST_NEG_C, true, space, &one);
  uint32_t factor[WARP_LANES];
  ROW {
    uint64_t whole = product(inst, a[l], b[l]);
    factor[l] = (uint32_t)(inst->flags & INST_HI ? whole >> 32 : whole);
    factor[l] = (factor[l] ^ negate) - negate;
  }
  write_sum(issue, factor, c, none, one, carry, 0);
}

WIDE_CLONES void exec_IMADWX(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint64_t c[WARP_LANES], row[WARP_LANES];
  uint32_t carry = issue_pred(issue, 0), carries = 0;
  read_wide(issue, inst->c, c);
  ROW {
    uint64_t whole = product(inst, a[l], b[l]);
    uint64_t sum = whole + c[l];
    row[l] = sum + (carry >> l & 1);
    carries |= sum < whole || row[l] < sum ? lane_bit[l] : 0;
  }
  write_wide(issue, inst->dst, row);
  issue_set_pred(issue, inst->pdst, carries);
}

/* What LEA adds to operand b: a, or a pair, shifted; with INST_HI the high word of that. */
static void shift_term(const Issue *issue, uint32_t row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *c = issue_operand(issue, inst->c);
  uint32_t shift = inst->mode & 31u, negate = sign_of(inst, INST_NEG_A);
  if (!(inst->flags & INST_HI)) {
    ROW row[l] = ((a[l] ^ negate) - negate) << shift;
    return;
  }
  uint32_t above[WARP_LANES], down = 31 - shift;
  if (inst->type == TYPE_S32)
    ROW above[l] = (uint32_t)((int32_t)a[l] >> 31);
  else
    ROW above[l] = c[l];
  if (negate)
    ROW {
      uint64_t whole = (0 - ((uint64_t)above[l] << 32 | a[l])) << shift;
      row[l] = (uint32_t)(whole >> 32);
    }
  else
    ROW row[l] = above[l] << shift | a[l] >> 1 >> down;
}

/* The usual LEA, which negates nothing. */
WIDE_CLONES static void lea_plain(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES], shift = inst->mode & 31u, down = 31 - shift, sign_down = MIN(32 - shift, 31);
  if (!(inst->flags & INST_HI))
    ROW row[l] = (a[l] << shift) + b[l];
  else if (inst->type == TYPE_S32)
    ROW row[l] = (uint32_t)((int32_t)a[l] >> sign_down) + b[l];
  else
    ROW row[l] = (c[l] << shift | a[l] >> 1 >> down) + b[l];
  issue_write(issue, inst->dst, row);
}

void exec_LEA(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t factor[WARP_LANES], space[WARP_LANES], one = 0, carry = issue_pred(issue, 0);
  bool sums = inst->pdst == PRED_SINK && inst->pdst2 == PRED_SINK && carry == 0;
  if (sums && !(inst->flags & (INST_NEG_A | INST_NEG_B))) {
    lea_plain(issue);
    return;
  }
  shift_term(issue, factor);
  const uint32_t *term = term_row(issue, inst->b, INST_NEG_B, false, space, &one);
  write_sum(issue, factor, term, none, one, carry, 0);
}

static uint64_t shift_pair(const Inst *inst, uint64_t value, uint32_t by) {
  uint32_t bits = inst->type == TYPE_U64 || inst->type == TYPE_S64 ? 64 : 32;
  bool arithmetic = inst->type == TYPE_S32 || inst->type == TYPE_S64;
  by = inst->flags & INST_WRAP ? by % bits : MIN(by, bits);
  if (inst->mode == 0)
    return by > 63 ? 0 : value << by;
  if (arithmetic)
    return (uint64_t)((int64_t)value >> MIN(by, 63u));
  return by > 63 ? 0 : value >> by;
}

void exec_SHFX(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES], part = inst->flags & INST_HI ? 32 : 0;
  ROW row[l] = (uint32_t)(shift_pair(inst, (uint64_t)c[l] << 32 | a[l], b[l]) >> part);
  issue_write(issue, inst->dst, row);
}

void exec_ISETPX(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t flip = inst->type == TYPE_U32 ? 0x80000000u : 0, less = 0, equal = 0, below = issue_pred(issue, 1);
  ROW {
    less |= (int32_t)(a[l] ^ flip) < (int32_t)(b[l] ^ flip) ? lane_bit[l] : 0;
    equal |= a[l] == b[l] ? lane_bit[l] : 0;
  }
  /* Where the high words are equal the low ones decide. */
  uint32_t high = relation(inst->cmp, less, 0, 0);
  if (inst->cmp == CMP_EQ)
    high = 0;
  set_relation(issue, (high & ~equal) | (equal & below));
}

void exec_PLOP3(Issue *issue) {
  uint32_t a = issue_pred(issue, 0), b = issue_pred(issue, 1), c = issue_pred(issue, 2);
  set_both(issue, bits_by_table(issue->inst->mode, a, b, c), bits_by_table((uint32_t)issue->inst->imm, a, b, c));
}

void exec_SGXT(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  bool wraps = inst->flags & INST_WRAP, keeps_sign = inst->type == TYPE_S32;
  uint32_t row[WARP_LANES];
  ROW {
    uint32_t bits = wraps ? b[l] & 31 : MIN(b[l], 32u), mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    bool sign = keeps_sign && bits && a[l] >> (bits - 1) & 1;
    row[l] = (a[l] & mask) | (sign ? ~mask : 0);
  }
  issue_write(issue, inst->dst, row);
}

void exec_BMSK(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], keep = inst->flags & INST_WRAP ? 31u : UINT32_MAX;
  ROW {
    uint32_t first = a[l] & keep, count = b[l] & keep;
    uint32_t ones = count > 31 ? UINT32_MAX : (1u << count) - 1;
    row[l] = first > 31 ? 0 : ones << first;
  }
  issue_write(issue, inst->dst, row);
}

void exec_LDC(Issue *issue) {
  exec_MOV(issue);
  if (issue->encoded)
    constants_load_known(issue, (uint32_t)issue->inst->imm);
}

void exec_LDC64(Issue *issue) {
  exec_MOV64(issue);
  if (issue->encoded)
    constants_load_known(issue, (uint32_t)issue->inst->imm);
}

/* ---- two halves of 16 bits ---- */

static uint32_t join_halves(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }

void exec_IADD2(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], na = sign_of(inst, INST_NEG_A), nb = sign_of(inst, INST_NEG_B);
  ROW row[l] =
      join_halves(((a[l] ^ na) - na) + ((b[l] ^ nb) - nb), (((a[l] >> 16) ^ na) - na) + (((b[l] >> 16) ^ nb) - nb));
  issue_write(issue, inst->dst, row);
}

/* Unsigned halves are compared as signed ones with their highest bit flipped. */
static uint32_t lesser_half(uint32_t a, uint32_t b, uint32_t flip, bool minimum) {
  bool less = (int16_t)(a ^ flip) < (int16_t)(b ^ flip);
  return less == minimum ? a : b;
}

void exec_IMNMX2(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], minimum = issue_pred(issue, 0), flip = inst->type == TYPE_U16 ? 0x8000 : 0;
  ROW row[l] = join_halves(lesser_half(a[l] & 0xffff, b[l] & 0xffff, flip, minimum >> l & 1),
                           lesser_half(a[l] >> 16, b[l] >> 16, flip, minimum >> l & 1));
  issue_write(issue, inst->dst, row);
}

/* ---- floats ---- */

/* The quotient and what the steps on the way to it make must be normal: true for any other pair. The program goes to a division
 * step by step then, which gives the same where both would do. */
static bool divides_slowly(uint32_t a, uint32_t b) {
  int of_a = (int)(a >> 23 & 255), of_b = (int)(b >> 23 & 255);
  return of_a == 255 || of_b == 255 || of_b < 2 || of_b > 252 || of_a - of_b > 126 || of_a - of_b < -126 ||
         (of_a < 24 && a << 1 != 0);
}

void exec_FCHK(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t slow = 0;
  ROW slow |= divides_slowly(a[l], b[l]) ? lane_bit[l] : 0;
  issue_set_pred(issue, inst->pdst, slow);
}
