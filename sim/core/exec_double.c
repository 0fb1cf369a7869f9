/* Double-precision arithmetic, and tests of what kind of number a float is. As in exec_float.c, directed roundings are
 * soft_float.h's. */
#include <math.h>

#include "sim/core/exec_rows.h"
#include "sim/core/soft_float.h"

static const uint64_t SIGN_BIT = UINT64_C(1) << 63;

/* An operand with its modifiers: |x|, -x. */
static void read_operand(const Issue *issue, int16_t slot, uint32_t absolute, uint32_t negative,
                         uint64_t row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  uint64_t keep = inst->flags & absolute ? ~SIGN_BIT : UINT64_MAX, flip = inst->flags & negative ? SIGN_BIT : 0;
  read_wide(issue, slot, row);
  ROW row[l] = (row[l] & keep) ^ flip;
}

static void read_operands(const Issue *issue, uint64_t a[WARP_LANES], uint64_t b[WARP_LANES]) {
  read_operand(issue, issue->inst->a, INST_ABS_A, INST_NEG_A, a);
  read_operand(issue, issue->inst->b, INST_ABS_B, INST_NEG_B, b);
}

static uint64_t result(double value) { return isnan(value) ? NAN_F64 : double_bits(value); }

void exec_DADD(Issue *issue) {
  FloatRound round = issue->inst->round;
  uint64_t a[WARP_LANES], b[WARP_LANES];
  read_operands(issue, a, b);
  if (round == FROUND_NEAREST)
    ROW a[l] = result(double_of(a[l]) + double_of(b[l]));
  else
    ROW a[l] = soft_add(SOFT_F64, a[l], b[l], round);
  write_wide(issue, issue->inst->dst, a);
}

void exec_DMUL(Issue *issue) {
  FloatRound round = issue->inst->round;
  uint64_t a[WARP_LANES], b[WARP_LANES];
  read_operands(issue, a, b);
  if (round == FROUND_NEAREST)
    ROW a[l] = result(double_of(a[l]) * double_of(b[l]));
  else
    ROW a[l] = soft_mul(SOFT_F64, a[l], b[l], round);
  write_wide(issue, issue->inst->dst, a);
}

void exec_DFMA(Issue *issue) {
  FloatRound round = issue->inst->round;
  uint64_t a[WARP_LANES], b[WARP_LANES], c[WARP_LANES];
  read_operands(issue, a, b);
  read_operand(issue, issue->inst->c, 0, INST_NEG_C, c);
  if (round == FROUND_NEAREST)
    ROW a[l] = result(fma(double_of(a[l]), double_of(b[l]), double_of(c[l])));
  else
    ROW a[l] = soft_fma(SOFT_F64, a[l], b[l], c[l], round);
  write_wide(issue, issue->inst->dst, a);
}

void exec_DDIV(Issue *issue) {
  FloatRound round = issue->inst->round;
  uint64_t a[WARP_LANES], b[WARP_LANES];
  read_operands(issue, a, b);
  if (round == FROUND_NEAREST)
    ROW a[l] = result(double_of(a[l]) / double_of(b[l]));
  else
    ROW a[l] = soft_div(SOFT_F64, a[l], b[l], round);
  write_wide(issue, issue->inst->dst, a);
}

/* RSQ is an approximation on every machine; here it is the reciprocal of the root. */
void exec_DMUFU(Issue *issue) {
  const Inst *inst = issue->inst;
  FloatRound round = inst->round;
  uint64_t a[WARP_LANES];
  read_operand(issue, inst->a, INST_ABS_A, INST_NEG_A, a);
  if (inst->mode == MUFU_RSQ)
    ROW a[l] = result(1.0 / sqrt(double_of(a[l])));
  else if (inst->mode == MUFU_SQRT && round == FROUND_NEAREST)
    ROW a[l] = result(sqrt(double_of(a[l])));
  else if (inst->mode == MUFU_SQRT)
    ROW a[l] = soft_sqrt(SOFT_F64, a[l], round);
  else if (round == FROUND_NEAREST)
    ROW a[l] = result(1.0 / double_of(a[l]));
  else
    ROW a[l] = soft_div(SOFT_F64, double_bits(1.0), a[l], round);
  write_wide(issue, inst->dst, a);
}

/* As FMNMX: -0 is less than +0, and a number wins over a NaN. */
void exec_DMNMX(Issue *issue) {
  uint64_t a[WARP_LANES], b[WARP_LANES];
  uint32_t minimum = issue_pred(issue, 0);
  read_operands(issue, a, b);
  ROW {
    double x = double_of(a[l]), y = double_of(b[l]);
    bool less = x < y || (x == y && signbit(x) && !signbit(y)), is_minimum = minimum >> l & 1;
    bool take_x = isnan(x) ? false : isnan(y) ? true : less == is_minimum;
    a[l] = result(take_x ? x : y);
  }
  write_wide(issue, issue->inst->dst, a);
}

void exec_DSETP(Issue *issue) {
  uint64_t a[WARP_LANES], b[WARP_LANES];
  uint32_t less = 0, equal = 0, unordered = 0;
  read_operands(issue, a, b);
  ROW {
    double x = double_of(a[l]), y = double_of(b[l]);
    less |= x < y ? lane_bit[l] : 0;
    equal |= x == y ? lane_bit[l] : 0;
    unordered |= isunordered(x, y) ? lane_bit[l] : 0;
  }
  set_relation(issue, relation(issue->inst->cmp, less, equal, unordered));
}

/* ---- kinds of numbers ---- */

static uint32_t test(TestpMode mode, uint32_t finite, uint32_t nan, uint32_t subnormal) {
  switch (mode) {
  case TESTP_FINITE: return finite;
  case TESTP_INFINITE: return ~(finite | nan);
  case TESTP_NUMBER: return ~nan;
  case TESTP_NOTANUMBER: return nan;
  case TESTP_NORMAL: return finite & ~subnormal; /* zeros are normal */
  case TESTP_SUBNORMAL: return subnormal;
  }
  return 0;
}

void exec_TESTP(Issue *issue) {
  const Inst *inst = issue->inst;
  uint64_t magnitude[WARP_LANES], infinity, least;
  uint32_t finite = 0, nan = 0, subnormal = 0;
  if (inst->type == TYPE_F64) {
    infinity = double_bits(INFINITY), least = UINT64_C(1) << 52;
    read_wide(issue, inst->a, magnitude);
    ROW magnitude[l] &= ~SIGN_BIT;
  } else {
    const uint32_t *a = issue_operand(issue, inst->a);
    infinity = float_bits(INFINITY), least = 1u << 23;
    ROW magnitude[l] = a[l] & 0x7fffffff;
  }
  ROW {
    finite |= magnitude[l] < infinity ? lane_bit[l] : 0;
    nan |= magnitude[l] > infinity ? lane_bit[l] : 0;
    subnormal |= magnitude[l] != 0 && magnitude[l] < least ? lane_bit[l] : 0;
  }
  issue_set_pred(issue, inst->pdst, test(inst->mode, finite, nan, subnormal));
}
