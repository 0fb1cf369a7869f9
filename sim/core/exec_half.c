/* Arithmetic on pairs of halves (f16) and of bfloat16s, of machine code and of PTX. Operands of which one half
 * is taken twice have been made pairs by PRMT before. */
#include "sim/core/exec_rows.h"
#include "sim/core/soft_float.h"

/* What differs between the two formats. */
typedef struct HalfFormat {
  SoftFormat soft;
  uint32_t one, infinity; /* an exponent of all ones, too */
} HalfFormat;

static const HalfFormat f16 = {SOFT_F16, 0x3c00, 0x7c00}, bf16 = {SOFT_BF16, 0x3f80, 0x7f80};

static const HalfFormat *format_of(const Inst *inst) { return inst->type == TYPE_BF16 ? &bf16 : &f16; }

static bool is_nan(const HalfFormat *format, uint32_t half) { return (half & 0x7fff) > format->infinity; }

static uint32_t flushed(const Inst *inst, uint32_t half) {
  bool tiny = !(half & format_of(inst)->infinity);
  return inst->flags & INST_FTZ && tiny ? half & 0x8000 : half;
}

/* An operand's pair with its signs, |x|, then -x, each half flushed. */
static void half_row(const Issue *issue, int16_t slot, uint32_t negates, uint32_t absolute,
                     uint32_t row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  const uint32_t *from = issue_operand(issue, slot);
  uint32_t keep = inst->flags & absolute ? 0x7fff7fffu : UINT32_MAX, flip = inst->flags & negates ? 0x80008000u : 0;
  ROW row[l] = (from[l] & keep) ^ flip;
  if (inst->flags & INST_FTZ)
    ROW row[l] = flushed(inst, row[l] & 0xffff) | flushed(inst, row[l] >> 16) << 16;
}

/* One half of operands a, b and c to one half. */
typedef uint32_t HalfOf(const Inst *inst, uint32_t a, uint32_t b, uint32_t c);

static void compute(Issue *issue, HalfOf *of, bool third) {
  const Inst *inst = issue->inst;
  uint32_t a[WARP_LANES], b[WARP_LANES], c[WARP_LANES] = {0}, row[WARP_LANES] = {0};
  half_row(issue, inst->a, INST_NEG_A, INST_ABS_A, a);
  half_row(issue, inst->b, INST_NEG_B, INST_ABS_B, b);
  if (third)
    half_row(issue, inst->c, INST_NEG_C, 0, c);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned l = (unsigned)__builtin_ctz(rest);
    row[l] = of(inst, a[l] & 0xffff, b[l] & 0xffff, c[l] & 0xffff) | of(inst, a[l] >> 16, b[l] >> 16, c[l] >> 16)
                                                                         << 16;
  }
  issue_write(issue, inst->dst, row);
}

/* ---- sums and products ---- */

/* Between 0 and 1, or at least 0: a NaN becomes 0 by the former, and stays by the latter. */
static uint32_t finish(const Inst *inst, uint64_t value) {
  const HalfFormat *format = format_of(inst);
  uint32_t half = flushed(inst, (uint32_t)value);
  if (inst->flags & INST_SAT)
    return half & 0x8000 || is_nan(format, half) ? 0 : MIN(half, format->one);
  return inst->mode && half & 0x8000 && !is_nan(format, half) ? 0 : half;
}

static uint32_t sum(const Inst *inst, uint32_t a, uint32_t b, uint32_t c) {
  return finish(inst, soft_add(format_of(inst)->soft, a, b, FROUND_NEAREST));
}

static uint32_t product(const Inst *inst, uint32_t a, uint32_t b, uint32_t c) {
  return finish(inst, soft_mul(format_of(inst)->soft, a, b, FROUND_NEAREST));
}

static uint32_t fused(const Inst *inst, uint32_t a, uint32_t b, uint32_t c) {
  return finish(inst, soft_fma(format_of(inst)->soft, a, b, c, FROUND_NEAREST));
}

void exec_HADD2(Issue *issue) { compute(issue, sum, false); }
void exec_HMUL2(Issue *issue) { compute(issue, product, false); }
void exec_HFMA2(Issue *issue) { compute(issue, fused, true); }

/* ---- order ---- */

/* As integers they compare like the numbers, -0 before +0. */
static int32_t rank(uint32_t half) { return half & 0x8000 ? -(int32_t)(half & 0x7fff) - 1 : (int32_t)half; }

static uint32_t lesser(const Inst *inst, uint32_t a, uint32_t b, bool minimum) {
  const HalfFormat *format = format_of(inst);
  bool a_is_none = is_nan(format, a), b_is_none = is_nan(format, b), keeps = inst->flags & INST_KEEP_NAN;
  if ((a_is_none && b_is_none) || (keeps && (a_is_none || b_is_none)))
    return NAN_F16;
  return a_is_none ? b : b_is_none ? a : (rank(a) < rank(b)) == minimum ? a : b;
}

void exec_HMNMX2(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t a[WARP_LANES], b[WARP_LANES], row[WARP_LANES] = {0}, minimum = issue_pred(issue, 0);
  half_row(issue, inst->a, INST_NEG_A, INST_ABS_A, a);
  half_row(issue, inst->b, INST_NEG_B, INST_ABS_B, b);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned l = (unsigned)__builtin_ctz(rest);
    bool least = minimum >> l & 1;
    row[l] = lesser(inst, a[l] & 0xffff, b[l] & 0xffff, least) | lesser(inst, a[l] >> 16, b[l] >> 16, least) << 16;
  }
  issue_write(issue, inst->dst, row);
}

/* Lanes in which the halves at bit `at` compare so. */
static uint32_t compare(const Inst *inst, const uint32_t a[WARP_LANES], const uint32_t b[WARP_LANES], unsigned at) {
  const HalfFormat *format = format_of(inst);
  uint32_t less = 0, equal = 0, unordered = 0;
  ROW {
    uint32_t x = a[l] >> at & 0xffff, y = b[l] >> at & 0xffff;
    bool none = is_nan(format, x) || is_nan(format, y), zeros = ((x | y) & 0x7fff) == 0;
    unordered |= none ? lane_bit[l] : 0;
    equal |= !none && (x == y || zeros) ? lane_bit[l] : 0;
    less |= !none && !zeros && rank(x) < rank(y) ? lane_bit[l] : 0;
  }
  return relation(inst->cmp, less, equal, unordered);
}

/* Of the low halves, and of the high ones. */
static void compare_both(Issue *issue, uint32_t *low, uint32_t *high) {
  const Inst *inst = issue->inst;
  uint32_t a[WARP_LANES], b[WARP_LANES], other = issue_pred(issue, 0);
  half_row(issue, inst->a, INST_NEG_A, INST_ABS_A, a);
  half_row(issue, inst->b, INST_NEG_B, INST_ABS_B, b);
  *low = combine_masks(inst->lop, compare(inst, a, b, 0), other);
  *high = combine_masks(inst->lop, compare(inst, a, b, 16), other);
}

void exec_HSETP2(Issue *issue) {
  uint32_t low, high;
  compare_both(issue, &low, &high);
  set_both(issue, low, high);
}

void exec_HSET2(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t low, high, row[WARP_LANES], value = inst->flags & INST_BF ? format_of(inst)->one : 0xffff;
  compare_both(issue, &low, &high);
  ROW row[l] = (low & lane_bit[l] ? value : 0) | (high & lane_bit[l] ? value << 16 : 0);
  issue_write(issue, inst->dst, row);
}
