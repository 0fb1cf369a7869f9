/* Arithmetic on pairs of halves (f16), of machine code. Operands have been made pairs by PRMT before. */
#include "sim/core/exec_rows.h"
#include "sim/core/soft_float.h"

/* An operand's pair with its signs: |x|, then -x. */
static void half_row(const Issue *issue, int16_t slot, uint32_t negates, uint32_t absolute,
                     uint32_t row[WARP_LANES]) {
  const uint32_t *from = issue_operand(issue, slot);
  uint32_t keep = issue->inst->flags & absolute ? 0x7fff7fffu : UINT32_MAX,
           flip = issue->inst->flags & negates ? 0x80008000u : 0;
  ROW row[l] = (from[l] & keep) ^ flip;
}

static uint32_t saturate(const Inst *inst, uint32_t half) {
  enum { ONE = 0x3c00, INFINITE = 0x7c00 };
  if (!(inst->flags & INST_SAT))
    return half;
  return half & 0x8000 || half > INFINITE ? 0 : MIN(half, (uint32_t)ONE);
}

typedef enum { HALF_ADD, HALF_MUL, HALF_FMA } HalfOp;

static uint32_t half(const Inst *inst, HalfOp op, uint32_t a, uint32_t b, uint32_t c) {
  uint64_t value = op == HALF_ADD   ? soft_add(SOFT_F16, a, b, FROUND_NEAREST)
                   : op == HALF_MUL ? soft_mul(SOFT_F16, a, b, FROUND_NEAREST)
                                    : soft_fma(SOFT_F16, a, b, c, FROUND_NEAREST);
  return saturate(inst, (uint32_t)value);
}

static void compute(Issue *issue, HalfOp op) {
  const Inst *inst = issue->inst;
  uint32_t a[WARP_LANES], b[WARP_LANES], c[WARP_LANES] = {0}, row[WARP_LANES] = {0};
  half_row(issue, inst->a, INST_NEG_A, INST_ABS_A, a);
  half_row(issue, inst->b, INST_NEG_B, INST_ABS_B, b);
  if (op == HALF_FMA)
    half_row(issue, inst->c, INST_NEG_C, 0, c);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned l = (unsigned)__builtin_ctz(rest);
    row[l] = half(inst, op, a[l] & 0xffff, b[l] & 0xffff, c[l] & 0xffff) |
             half(inst, op, a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16;
  }
  issue_write(issue, inst->dst, row);
}

void exec_HADD2(Issue *issue) { compute(issue, HALF_ADD); }
void exec_HMUL2(Issue *issue) { compute(issue, HALF_MUL); }
void exec_HFMA2(Issue *issue) { compute(issue, HALF_FMA); }
