/* Single-precision arithmetic. Contraction is off (-ffp-contract=off): FMUL then FADD must round twice, FFMA once.
 * Rounding to nearest is the host's; the directed roundings, which are rare, are soft_float.h's. */
#include <math.h>

#include "sim/core/exec_rows.h"
#include "sim/core/soft_float.h"

enum { SIGN_BIT = 0x80000000u };

/* An operand with its modifiers: |x|, -x, and denormals to zero under .FTZ. */
static float operand(const Inst *inst, uint32_t bits, uint32_t absolute, uint32_t negative) {
  if (inst->flags & INST_FTZ)
    bits = flush(bits);
  if (inst->flags & absolute)
    bits &= ~SIGN_BIT;
  if (inst->flags & negative)
    bits ^= SIGN_BIT;
  return float_of(bits);
}

static uint32_t result(const Inst *inst, float value) {
  if (inst->flags & INST_SAT)
    value = value > 1.0f ? 1.0f : value > 0.0f ? value : 0.0f; /* NaN becomes 0 */
  uint32_t bits = isnan(value) ? NAN_F32 : float_bits(value);
  return inst->flags & INST_FTZ ? flush(bits) : bits;
}

/* Instructions of two and three operands with a directed rounding. */
typedef uint64_t (*SoftBinary)(SoftFormat format, uint64_t a, uint64_t b, FloatRound round);

static void round_binary(Issue *issue, SoftBinary function) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES];
  ROW {
    uint32_t x = float_bits(operand(inst, a[l], INST_ABS_A, INST_NEG_A));
    uint32_t y = float_bits(operand(inst, b[l], INST_ABS_B, INST_NEG_B));
    row[l] = result(inst, float_of((uint32_t)function(SOFT_F32, x, y, inst->round)));
  }
  issue_write(issue, inst->dst, row);
}

static void round_fma(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES];
  ROW {
    uint32_t x = float_bits(operand(inst, a[l], INST_ABS_A, INST_NEG_A));
    uint32_t y = float_bits(operand(inst, b[l], INST_ABS_B, INST_NEG_B));
    uint32_t z = float_bits(operand(inst, c[l], 0, INST_NEG_C));
    row[l] = result(inst, float_of((uint32_t)soft_fma(SOFT_F32, x, y, z, inst->round)));
  }
  issue_write(issue, inst->dst, row);
}

void exec_FADD(Issue *issue) {
  const Inst *inst = issue->inst;
  if (inst->round != FROUND_NEAREST) {
    round_binary(issue, soft_add);
    return;
  }
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES];
  ROW row[l] =
      result(inst, operand(inst, a[l], INST_ABS_A, INST_NEG_A) + operand(inst, b[l], INST_ABS_B, INST_NEG_B));
  issue_write(issue, inst->dst, row);
}

void exec_FMUL(Issue *issue) {
  const Inst *inst = issue->inst;
  if (inst->round != FROUND_NEAREST) {
    round_binary(issue, soft_mul);
    return;
  }
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES];
  ROW row[l] =
      result(inst, operand(inst, a[l], INST_ABS_A, INST_NEG_A) * operand(inst, b[l], INST_ABS_B, INST_NEG_B));
  issue_write(issue, inst->dst, row);
}

void exec_FFMA(Issue *issue) {
  const Inst *inst = issue->inst;
  if (inst->round != FROUND_NEAREST) {
    round_fma(issue);
    return;
  }
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES];
  ROW row[l] = result(inst, fmaf(operand(inst, a[l], INST_ABS_A, INST_NEG_A),
                                 operand(inst, b[l], INST_ABS_B, INST_NEG_B), operand(inst, c[l], 0, INST_NEG_C)));
  issue_write(issue, inst->dst, row);
}

void exec_FDIV(Issue *issue) {
  const Inst *inst = issue->inst;
  if (inst->round != FROUND_NEAREST) {
    round_binary(issue, soft_div);
    return;
  }
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES];
  ROW row[l] =
      result(inst, operand(inst, a[l], INST_ABS_A, INST_NEG_A) / operand(inst, b[l], INST_ABS_B, INST_NEG_B));
  issue_write(issue, inst->dst, row);
}

/* -0 is less than +0; a number wins over a NaN unless NaNs are to be kept. */
void exec_FMNMX(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], minimum = issue_pred(issue, 0);
  bool keeps_nan = inst->flags & INST_KEEP_NAN;
  ROW {
    float x = operand(inst, a[l], INST_ABS_A, INST_NEG_A), y = operand(inst, b[l], INST_ABS_B, INST_NEG_B);
    bool less = x < y || (x == y && signbit(x) && !signbit(y)), is_minimum = minimum >> l & 1;
    bool take_x = isnan(x) ? keeps_nan : isnan(y) ? !keeps_nan : less == is_minimum;
    row[l] = result(inst, take_x ? x : y);
  }
  issue_write(issue, inst->dst, row);
}

void exec_FSETP(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t less = 0, equal = 0, unordered = 0;
  ROW {
    float x = operand(inst, a[l], INST_ABS_A, INST_NEG_A), y = operand(inst, b[l], INST_ABS_B, INST_NEG_B);
    less |= x < y ? lane_bit[l] : 0;
    equal |= x == y ? lane_bit[l] : 0;
    unordered |= isunordered(x, y) ? lane_bit[l] : 0;
  }
  set_relation(issue, relation(inst->cmp, less, equal, unordered));
}

/* ---- functions of one operand ---- */

/* Reciprocals and roots are exact to the last bit. The rest are approximations on every machine: computed in double,
 * whose last bits, where libraries differ, don't show in the float. */
static float apply(MufuFunction function, float x) {
  switch (function) {
  case MUFU_RCP: return 1.0f / x;
  case MUFU_RSQ: return (float)(1.0 / sqrt((double)x));
  case MUFU_SQRT: return sqrtf(x);
  case MUFU_SIN: return (float)sin((double)x);
  case MUFU_COS: return (float)cos((double)x);
  case MUFU_EX2: return (float)exp2((double)x);
  case MUFU_LG2: return (float)log2((double)x);
  case MUFU_TANH: return (float)tanh((double)x);
  case MUFU_SIN_TURNS: return (float)sin(2 * G_PI * remainder((double)x, 1.0));
  case MUFU_COS_TURNS: return (float)cos(2 * G_PI * remainder((double)x, 1.0));
  case MUFU_RCP64H:
  case MUFU_RSQ64H: break;
  }
  return x;
}

/* The high word of a function of the double whose high word is given. */
static void apply_high(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a);
  uint32_t row[WARP_LANES], keep = ~(sign_of(inst, INST_ABS_A) & SIGN_BIT),
                            flip = sign_of(inst, INST_NEG_A) & SIGN_BIT;
  ROW {
    double x = double_of((uint64_t)((a[l] & keep) ^ flip) << 32);
    row[l] = (uint32_t)(double_bits(inst->mode == MUFU_RCP64H ? 1 / x : 1 / sqrt(x)) >> 32);
  }
  issue_write(issue, inst->dst, row);
}

void exec_MUFU(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a);
  uint32_t row[WARP_LANES];
  if (inst->mode >= MUFU_RCP64H) {
    apply_high(issue);
    return;
  }
  bool directed = inst->round != FROUND_NEAREST;
  ROW {
    float x = operand(inst, a[l], INST_ABS_A, INST_NEG_A);
    if (directed && inst->mode == MUFU_RCP)
      x = float_of((uint32_t)soft_div(SOFT_F32, float_bits(1.0f), float_bits(x), inst->round));
    else if (directed && inst->mode == MUFU_SQRT)
      x = float_of((uint32_t)soft_sqrt(SOFT_F32, float_bits(x), inst->round));
    else
      x = apply(inst->mode, x);
    row[l] = result(inst, x);
  }
  issue_write(issue, inst->dst, row);
}

void exec_I2F(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a);
  uint32_t row[WARP_LANES];
  ROW {
    uint32_t value = inst->flags & INST_NEG_A ? 0u - a[l] : a[l];
    row[l] = float_bits(inst->type == TYPE_U32 ? (float)value : (float)(int32_t)value);
  }
  issue_write(issue, inst->dst, row);
}

static float round_to(RoundMode mode, float value) {
  switch (mode) {
  case ROUND_TRUNC: return truncf(value);
  case ROUND_FLOOR: return floorf(value);
  case ROUND_CEIL: return ceilf(value);
  case ROUND_NEAREST: return nearbyintf(value);
  }
  return value;
}

/* Out of range saturates; NaN gives 0 (CUDA: __float2int_rz). */
static uint32_t to_integer(float value, bool is_signed) {
  if (isnan(value))
    return 0;
  if (is_signed)
    return value >= 2147483648.0f    ? (uint32_t)INT32_MAX
           : value <= -2147483648.0f ? SIGN_BIT
                                     : (uint32_t)(int32_t)value;
  return value >= 4294967296.0f ? UINT32_MAX : value <= 0.0f ? 0 : (uint32_t)value;
}

void exec_F2I(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a);
  uint32_t row[WARP_LANES];
  ROW row[l] = to_integer(round_to(inst->mode, operand(inst, a[l], INST_ABS_A, INST_NEG_A)), inst->type == TYPE_S32);
  issue_write(issue, inst->dst, row);
}
