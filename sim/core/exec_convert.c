/* CVT: between all integers and floats, as PTX's cvt. A row goes through three stages: the source as a 64-bit integer or
 * a double (which holds each float exactly), the conversion, and the cut to the destination's width. */
#include <math.h>

#include "sim/core/exec_rows.h"
#include "sim/core/soft_float.h"

static bool is_unsigned(DataType type) {
  return type == TYPE_U8 || type == TYPE_U16 || type == TYPE_U32 || type == TYPE_U64;
}

static SoftFormat format_of(DataType type) {
  return type == TYPE_F16    ? SOFT_F16
         : type == TYPE_BF16 ? SOFT_BF16
         : type == TYPE_F32  ? SOFT_F32
                             : SOFT_F64;
}

/* ---- in ---- */

/* Source bits as they are: a pair, or the low bits of a row. */
static void read_bits(const Issue *issue, uint64_t row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  if (type_bits(inst->type2) == 64) {
    read_wide(issue, inst->a, row);
    return;
  }
  const uint32_t *a = issue_operand(issue, inst->a);
  uint32_t keep = UINT32_MAX >> (32 - type_bits(inst->type2));
  ROW row[l] = a[l] & keep;
}

static void extend_sign(uint64_t row[WARP_LANES], unsigned bits) {
  uint64_t sign = UINT64_C(1) << (bits - 1);
  ROW row[l] = (row[l] ^ sign) - sign;
}

static void read_floats(const Issue *issue, double row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  uint64_t bits[WARP_LANES];
  read_bits(issue, bits);
  if (inst->type2 == TYPE_F64)
    ROW row[l] = double_of(bits[l]);
  else if (inst->type2 == TYPE_F32 && inst->flags & INST_FTZ)
    ROW row[l] = float_of(flush((uint32_t)bits[l]));
  else if (inst->type2 == TYPE_F32)
    ROW row[l] = float_of((uint32_t)bits[l]);
  else
    ROW row[l] = double_of(soft_convert(SOFT_F64, format_of(inst->type2), bits[l], FROUND_NEAREST));
}

/* ---- out ---- */

/* Integers: cut to the destination's width and extended as its type says. */
static void write_integers(Issue *issue, uint64_t row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  unsigned bits = type_bits(inst->type);
  if (bits == 64) {
    write_wide(issue, inst->dst, row);
    return;
  }
  uint32_t low[WARP_LANES], keep = UINT32_MAX >> (32 - bits), sign = is_unsigned(inst->type) ? 0 : 1u << (bits - 1);
  ROW low[l] = (((uint32_t)row[l] & keep) ^ sign) - sign;
  issue_write(issue, inst->dst, low);
}

/* From f64 a NaN keeps its sign and the head of its payload (validation/hardware/ptx_forms_half.csv; seen on payloads
 * of ones). */
static uint32_t half_of(double value, FloatRound round) {
  uint64_t bits = double_bits(value);
  if (isnan(value))
    return (uint32_t)(bits >> 63 << 15) | 0x7e00 | (uint32_t)(bits >> 42 & 0x1ff);
  return (uint32_t)soft_convert(SOFT_F16, SOFT_F64, bits, round);
}

static void write_floats(Issue *issue, const double row[WARP_LANES]) {
  const Inst *inst = issue->inst;
  uint32_t low[WARP_LANES];
  if (inst->type == TYPE_F64) {
    uint64_t wide[WARP_LANES];
    ROW wide[l] = isnan(row[l]) ? NAN_F64 : double_bits(row[l]);
    write_wide(issue, inst->dst, wide);
    return;
  }
  if (inst->type == TYPE_F32 && inst->round == FROUND_NEAREST)
    ROW low[l] = isnan(row[l]) ? NAN_F32 : float_bits((float)row[l]);
  else if (inst->type == TYPE_F16 && inst->type2 == TYPE_F64)
    ROW low[l] = half_of(row[l], inst->round);
  else
    ROW low[l] = (uint32_t)soft_convert(format_of(inst->type), SOFT_F64, double_bits(row[l]), inst->round);
  if (inst->type == TYPE_F32 && inst->flags & INST_FTZ)
    ROW low[l] = flush(low[l]);
  issue_write(issue, inst->dst, low);
}

/* ---- between ---- */

/* Least and greatest value of an integer type, as bits. */
static uint64_t least_of(DataType type) { return is_unsigned(type) ? 0 : UINT64_MAX << (type_bits(type) - 1); }

static uint64_t greatest_of(DataType type) { return UINT64_MAX >> (64 - type_bits(type) + !is_unsigned(type)); }

/* Clamps to the destination's range. */
static void saturate(const Inst *inst, uint64_t row[WARP_LANES]) {
  uint64_t least = least_of(inst->type), most = greatest_of(inst->type);
  if (is_unsigned(inst->type2))
    ROW row[l] = MIN(row[l], most);
  else if (is_unsigned(inst->type))
    ROW row[l] = (int64_t)row[l] < 0 ? 0 : MIN(row[l], most);
  else
    ROW row[l] = (int64_t)row[l] < (int64_t)least ? least : (int64_t)row[l] > (int64_t)most ? most : row[l];
}

static void integer_to_integer(Issue *issue) {
  const Inst *inst = issue->inst;
  uint64_t row[WARP_LANES];
  read_bits(issue, row);
  if (!is_unsigned(inst->type2))
    extend_sign(row, type_bits(inst->type2));
  if (inst->flags & INST_SAT)
    saturate(inst, row);
  write_integers(issue, row);
}

static double round_to_integral(RoundMode mode, double value) {
  switch (mode) {
  case ROUND_TRUNC: return trunc(value);
  case ROUND_FLOOR: return floor(value);
  case ROUND_CEIL: return ceil(value);
  case ROUND_NEAREST: return nearbyint(value);
  }
  return value;
}

/* Out of range gives the nearest end of it. A NaN gives 0, but the top bit alone from f64 and to 64 bits (PTX ISA 9.0). */
static void float_to_integer(Issue *issue) {
  const Inst *inst = issue->inst;
  DataType type = inst->type;
  bool positive = is_unsigned(type);
  double in[WARP_LANES], end = ldexp(1.0, (int)type_bits(type) - !positive), start = positive ? 0 : -end;
  uint64_t row[WARP_LANES], least = least_of(type), most = greatest_of(type);
  uint64_t not_a_number = inst->type2 == TYPE_F64 || type_bits(type) == 64 ? UINT64_C(1) << (type_bits(type) - 1) : 0;
  read_floats(issue, in);
  ROW {
    double value = round_to_integral(inst->mode, in[l]);
    row[l] = isnan(value)     ? not_a_number
             : value <= start ? least
             : value >= end   ? most
             : positive       ? (uint64_t)value
                              : (uint64_t)(int64_t)value;
  }
  write_integers(issue, row);
}

static double unit_interval(double value) {
  return value > 1.0 ? 1.0 : value > 0.0 ? value : 0.0; /* NaN becomes 0 */
}

/* Rounds once, to the destination. */
static void integer_to_float(Issue *issue) {
  const Inst *inst = issue->inst;
  uint64_t row[WARP_LANES];
  bool takes_sign = !is_unsigned(inst->type2), saturates = inst->flags & INST_SAT;
  read_bits(issue, row);
  if (takes_sign)
    extend_sign(row, type_bits(inst->type2));
  double out[WARP_LANES];
  if (inst->round != FROUND_NEAREST || type_bits(inst->type) == 16) {
    SoftFormat format = format_of(inst->type);
    ROW {
      bool negative = takes_sign && row[l] >> 63;
      uint64_t bits = soft_integer(format, negative, negative ? 0 - row[l] : row[l], inst->round);
      out[l] = double_of(soft_convert(SOFT_F64, format, bits, FROUND_NEAREST));
    }
  } else if (inst->type == TYPE_F64) {
    ROW out[l] = takes_sign ? (double)(int64_t)row[l] : (double)row[l];
  } else {
    ROW out[l] = takes_sign ? (float)(int64_t)row[l] : (float)row[l];
  }
  if (saturates)
    ROW out[l] = unit_interval(out[l]);
  write_floats(issue, out);
}

static void float_to_float(Issue *issue) {
  const Inst *inst = issue->inst;
  double row[WARP_LANES];
  read_floats(issue, row);
  if (inst->flags & INST_INTEGRAL)
    ROW row[l] = round_to_integral(inst->mode, row[l]);
  if (inst->flags & INST_SAT)
    ROW row[l] = unit_interval(row[l]);
  write_floats(issue, row);
}

void exec_CVT(Issue *issue) {
  bool from_float = type_is_float(issue->inst->type2), to_float = type_is_float(issue->inst->type);
  if (from_float)
    (to_float ? float_to_float : float_to_integer)(issue);
  else
    (to_float ? integer_to_float : integer_to_integer)(issue);
}
