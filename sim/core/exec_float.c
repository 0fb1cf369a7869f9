/* Single-precision arithmetic. Contraction is off (-ffp-contract=off): FMUL then FADD must round twice, FFMA once. */
#include <math.h>

#include "sim/core/exec.h"

#define ROW for (unsigned l = 0; l < WARP_LANES; l++)

enum { SIGN_BIT = 0x80000000u };
static const uint32_t CANONICAL_NAN = 0x7fffffffu;

static float to_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint32_t flush(uint32_t bits) { return (bits & 0x7f800000u) == 0 ? bits & SIGN_BIT : bits; }

/* An operand with its modifiers: |x|, -x, and denormals to zero under .FTZ. */
static float operand(const Inst *inst, uint32_t bits, uint32_t absolute, uint32_t negative) {
  if (inst->flags & INST_FTZ)
    bits = flush(bits);
  if (inst->flags & absolute)
    bits &= ~SIGN_BIT;
  if (inst->flags & negative)
    bits ^= SIGN_BIT;
  return to_float(bits);
}

static uint32_t result(const Inst *inst, float value) {
  if (inst->flags & INST_SAT)
    value = value > 1.0f ? 1.0f : value > 0.0f ? value : 0.0f; /* NaN becomes 0 */
  uint32_t bits = isnan(value) ? CANONICAL_NAN : to_bits(value);
  return inst->flags & INST_FTZ ? flush(bits) : bits;
}

void exec_FADD(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES];
  ROW row[l] =
      result(inst, operand(inst, a[l], INST_ABS_A, INST_NEG_A) + operand(inst, b[l], INST_ABS_B, INST_NEG_B));
  issue_write(issue, inst->dst, row);
}

void exec_FMUL(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES];
  ROW row[l] =
      result(inst, operand(inst, a[l], INST_ABS_A, INST_NEG_A) * operand(inst, b[l], INST_ABS_B, INST_NEG_B));
  issue_write(issue, inst->dst, row);
}

void exec_FFMA(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES];
  ROW row[l] = result(inst, fmaf(operand(inst, a[l], INST_ABS_A, INST_NEG_A),
                                 operand(inst, b[l], INST_ABS_B, INST_NEG_B), operand(inst, c[l], 0, INST_NEG_C)));
  issue_write(issue, inst->dst, row);
}

void exec_FMNMX(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], minimum = issue_pred(issue, 0);
  ROW {
    float x = operand(inst, a[l], INST_ABS_A, INST_NEG_A), y = operand(inst, b[l], INST_ABS_B, INST_NEG_B);
    bool less = isnan(y) || x < y || (x == y && signbit(x) && !signbit(y));
    if (isnan(x))
      less = false;
    bool take_x = isnan(y) ? true : isnan(x) ? false : less == (bool)(minimum >> l & 1);
    row[l] = result(inst, take_x ? x : y);
  }
  issue_write(issue, inst->dst, row);
}

static bool holds(CmpOp cmp, float a, float b) {
  bool unordered = isnan(a) || isnan(b);
  switch (cmp) {
  case CMP_F: return false;
  case CMP_T: return true;
  case CMP_LT: return a < b;
  case CMP_EQ: return a == b;
  case CMP_LE: return a <= b;
  case CMP_GT: return a > b;
  case CMP_NE: return !unordered && a != b;
  case CMP_GE: return a >= b;
  case CMP_LTU: return unordered || a < b;
  case CMP_EQU: return unordered || a == b;
  case CMP_LEU: return unordered || a <= b;
  case CMP_GTU: return unordered || a > b;
  case CMP_NEU: return unordered || a != b;
  case CMP_GEU: return unordered || a >= b;
  case CMP_NUM: return !unordered;
  case CMP_NAN: return unordered;
  }
  return false;
}

void exec_FSETP(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t mask = 0, other = issue_pred(issue, 0);
  ROW {
    float x = operand(inst, a[l], INST_ABS_A, INST_NEG_A), y = operand(inst, b[l], INST_ABS_B, INST_NEG_B);
    mask |= (uint32_t)holds(inst->cmp, x, y) << l;
  }
  issue_set_pred(issue, inst->pdst, combine_masks(inst->lop, mask, other));
  issue_set_pred(issue, inst->pdst2, combine_masks(inst->lop, ~mask, other));
}

void exec_I2F(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a);
  uint32_t row[WARP_LANES];
  ROW {
    uint32_t value = inst->flags & INST_NEG_A ? 0u - a[l] : a[l];
    row[l] = to_bits(inst->type == TYPE_U32 ? (float)value : (float)(int32_t)value);
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
