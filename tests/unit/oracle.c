#include "tests/unit/oracle.h"

#include <fenv.h>

/* ---- operands ---- */

const uint32_t operand_edges[OPERAND_EDGES] = {
    0,
    1,
    2,
    3,
    31,
    32,
    33,
    0xff,
    0x100,
    0x505,
    0x801,
    0x1f1f,
    0x2000,
    0x2020,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7ffffffe,
    0x7fffffff /* and a NaN */,
    0x80000000 /* and -0.0 */,
    0x80000001 /* and a denormal */,
    0x55555555,
    0xfffffffd,
    0xfffffffe,
    0xffffffff,
    0x007fffff,
    0x00800000,
    0x80800000,
    0x00800001,
    0x33800000, /* largest denormal, least normal floats, 2^-24 */
    0x3f000000,
    0xbf000000,
    0x3effffff,
    0x3f800000,
    0xbf800000,
    0x3f800001, /* 0.5, 1.0 */
    0x3fc00000,
    0x40200000,
    0xc0200000,
    0x40600000, /* 1.5, 2.5, 3.5: ties */
    0x4effffff,
    0x4f000000,
    0xcf000000,
    0xcf000001,
    0x4f7fffff,
    0x4f800000,
    0x4b800001, /* 2^31, 2^32, 2^24 */
    0x7f7fffff,
    0xff7fffff,
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0x7f800001,
    0xffc12345, /* largest, infinite, NaNs */
};

const uint64_t operand_wide_edges[OPERAND_WIDE_EDGES] = {
    0,
    1,
    2,
    3,
    31,
    32,
    33,
    63,
    64,
    65,
    0xff,
    0x505,
    0x2020,
    0x4000,
    0x4040,
    0x7fff,
    0x8000,
    0xffff,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x100000001,
    0xe0000000,
    0xe8000000,
    0xf0000004,
    0x1e0000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xfffffffffffffffe,
    0xffffffffffffffff,
    0xffffffff80000000,
    0xffffffff7fffffff, /* a NaN, too */
    0x000fffffffffffff,
    0x0010000000000000,
    0x8010000000000001, /* largest subnormal, least normal double */
    0x3ca0000000000000,
    0x3ff0000000000000,
    0xbff0000000000000,
    0x3ff0000000000001,
    0x3fe0000000000000,
    0xc004000000000000, /* 2^-53, 1, 0.5, -2.5 */
    0x41dfffffffc00000,
    0x41e0000000000000,
    0x43e0000000000000,
    0x43f0000000000000, /* 2^31 - 1, 2^31, 2^63, 2^64 */
    0x47efffffe0000000,
    0x47effffff0000000, /* the largest float, and half a step more */
    0x7fefffffffffffff,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff0000000000001, /* largest, infinite, NaN */
};

uint32_t operand_word(Rng *rng) {
  uint32_t word = (uint32_t)rng_next(rng);
  switch (rng_below(rng, 4)) {
  case 0: return operand_edges[rng_below(rng, OPERAND_EDGES)];
  case 1: return word >> rng_below(rng, 32);
  case 2: return (word & 0x80ffffff) + ((112 + rng_below(rng, 32)) << 23); /* a float of moderate size */
  default: return word;
  }
}

uint64_t operand_wide(Rng *rng) {
  uint64_t bits = rng_next(rng), exponent;
  switch (rng_below(rng, 6)) {
  case 0: return operand_wide_edges[rng_below(rng, OPERAND_WIDE_EDGES)];
  case 1: return bits >> rng_below(rng, 64);
  case 2: return ~(bits >> rng_below(rng, 64));
  case 3: exponent = 1023 - 60 + rng_below(rng, 120); break; /* moderate doubles */
  case 4:
    exponent = rng_below(rng, 2) ? 480 + rng_below(rng, 70) : 1500 + rng_below(rng, 60);
    break; /* products at the ends */
  default: return bits;
  }
  return (bits & UINT64_C(0x800fffffffffffff)) | exponent << 52;
}

/* ---- integers ---- */

static unsigned bit64(uint64_t value, unsigned position) { return value >> position & 1; }

uint64_t wide_field(uint64_t value, uint32_t where, bool is_signed) {
  unsigned position = where & 0xff, length = where >> 8 & 0xff;
  unsigned last = position + length - 1 < 63 ? position + length - 1 : 63;
  uint64_t result = 0, filler = is_signed && length > 0 ? bit64(value, last) : 0;
  for (unsigned i = 0; i < 64; i++)
    result |= (i < length && position + i <= 63 ? bit64(value, position + i) : filler) << i;
  return result;
}

uint64_t with_wide_field(uint64_t word, uint64_t value, uint32_t where) {
  unsigned position = where & 0xff, length = where >> 8 & 0xff;
  for (unsigned i = 0; i < length && i < 64; i++)
    if (position + i <= 63)
      word = (word & ~(UINT64_C(1) << (position + i))) | (uint64_t)bit64(value, i) << (position + i);
  return word;
}

uint32_t ones_of(uint64_t value) { return ones(low(value)) + ones(high(value)); }

uint32_t top_of(uint64_t value) { return high(value) ? 32 + top_bit(high(value)) : top_bit(low(value)); }

uint64_t backwards(uint64_t value, unsigned bits) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++)
    result |= (uint64_t)bit64(value, i) << (bits - 1 - i);
  return result;
}

static Int128 as_number(uint64_t value, bool is_signed, unsigned bits) {
  Int128 number = value;
  return is_signed && bit64(value, bits - 1) ? number - ((Int128)1 << bits) : number;
}

static uint64_t low_bits(Int128 value, unsigned bits) { return (uint64_t)value & UINT64_MAX >> (64 - bits); }

uint64_t quotient(uint64_t a, uint64_t b, bool is_signed, unsigned bits) {
  return b ? low_bits(as_number(a, is_signed, bits) / as_number(b, is_signed, bits), bits) : low_bits(-1, bits);
}

uint64_t remainder_of(uint64_t a, uint64_t b, bool is_signed, unsigned bits) {
  return b ? low_bits(as_number(a, is_signed, bits) % as_number(b, is_signed, bits), bits) : low_bits(-1, bits);
}

uint32_t permuted(PrmtMode mode, uint32_t a, uint32_t b, uint32_t c) {
  /* Rows of the table in the PTX manual: the bytes of d, the highest first, for c = 0 to 3. */
  static const char *const tables[][4] = {
      [PRMT_F4E] = {"3210", "4321", "5432", "6543"}, [PRMT_B4E] = {"5670", "6701", "7012", "0123"},
      [PRMT_RC8] = {"0000", "1111", "2222", "3333"}, [PRMT_ECL] = {"3210", "3211", "3222", "3333"},
      [PRMT_ECR] = {"0000", "1110", "2210", "3210"}, [PRMT_RC16] = {"1010", "3232", "1010", "3232"}};
  uint8_t bytes[8];
  for (unsigned i = 0; i < 8; i++)
    bytes[i] = (uint8_t)((i < 4 ? a : b) >> (8 * (i % 4)));
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; i++) {
    unsigned index = mode == PRMT_INDEX ? c >> (4 * i) & 7 : (unsigned)(tables[mode][c & 3][3 - i] - '0');
    bool spreads = mode == PRMT_INDEX && c >> (4 * i) & 8;
    result += (uint32_t)(spreads ? (int8_t)bytes[index] < 0 ? 255 : 0 : bytes[index]) << (8 * i);
  }
  return result;
}

uint32_t table_logic(uint8_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 32; i++)
    result |= (uint32_t)(table >> (bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) & 1) << i;
  return result;
}

static int shuffle(ShflMode mode, unsigned lane, uint32_t b, uint32_t c, bool *in_range) {
  unsigned bval = b & 31, cval = c & 31, mask = c >> 8 & 31;
  int max = (int)((lane & mask) | (cval & ~mask)), min = (int)(lane & mask), j = 0;
  switch (mode) {
  case SHFL_UP: j = (int)lane - (int)bval; break;
  case SHFL_DOWN: j = (int)(lane + bval); break;
  case SHFL_BFLY: j = (int)(lane ^ bval); break;
  case SHFL_IDX: j = min | (int)(bval & ~mask); break;
  }
  *in_range = mode == SHFL_UP ? j >= max : j <= max;
  return *in_range ? j : (int)lane;
}

unsigned shuffle_source(ShflMode mode, unsigned lane, uint32_t b, uint32_t c) {
  bool in_range;
  return (unsigned)shuffle(mode, lane, b, c, &in_range);
}

bool shuffle_in_range(ShflMode mode, unsigned lane, uint32_t b, uint32_t c) {
  bool in_range;
  shuffle(mode, lane, b, c, &in_range);
  return in_range;
}

/* ---- rounding ---- */

static const int host_modes[] = {[FROUND_NEAREST] = FE_TONEAREST,
                                 [FROUND_ZERO] = FE_TOWARDZERO,
                                 [FROUND_DOWN] = FE_DOWNWARD,
                                 [FROUND_UP] = FE_UPWARD};

/* Operands and results are volatile: gcc moves arithmetic across a change of the mode otherwise. */
static float host_float(char operation, float a, float b, float c, FloatRound round) {
  volatile float x = a, y = b, z = c, result = 0;
  fesetround(host_modes[round]);
  switch (operation) {
  case '+': result = x + y; break;
  case '*': result = x * y; break;
  case '/': result = x / y; break;
  case 'f': result = fmaf(x, y, z); break;
  case 'r': result = sqrtf(x); break;
  }
  fesetround(FE_TONEAREST);
  return result;
}

static double host_double(char operation, double a, double b, double c, FloatRound round) {
  volatile double x = a, y = b, z = c, result = 0;
  fesetround(host_modes[round]);
  switch (operation) {
  case '+': result = x + y; break;
  case '*': result = x * y; break;
  case '/': result = x / y; break;
  case 'f': result = fma(x, y, z); break;
  case 'r': result = sqrt(x); break;
  }
  fesetround(FE_TONEAREST);
  return result;
}

bool host_rounds(void) {
  return host_double('/', 1, 3, 0, FROUND_UP) > host_double('/', 1, 3, 0, FROUND_DOWN) &&
         host_float('+', 1, 1e-30f, 0, FROUND_UP) > 1;
}

uint32_t rounded(char operation, uint32_t a, uint32_t b, uint32_t c, FloatRound round) {
  return single(host_float(operation, (float)f(a), (float)f(b), (float)f(c), round));
}

uint64_t rounded64(char operation, uint64_t a, uint64_t b, uint64_t c, FloatRound round) {
  return two_words(host_double(operation, d(a), d(b), d(c), round));
}

/* ---- conversions ---- */

static double integral(double value, FloatRound round) {
  switch (round) {
  case FROUND_ZERO: return trunc(value);
  case FROUND_DOWN: return floor(value);
  case FROUND_UP: return ceil(value);
  default: return rint(value);
  }
}

static bool is_floating(DataType type) {
  return type == TYPE_F16 || type == TYPE_BF16 || type == TYPE_F32 || type == TYPE_F64;
}
static bool has_sign(DataType type) {
  return type == TYPE_S8 || type == TYPE_S16 || type == TYPE_S32 || type == TYPE_S64;
}

static unsigned width_of(DataType type) {
  static const unsigned bits[] = {
      [TYPE_S8] = 8,   [TYPE_U8] = 8,   [TYPE_S16] = 16, [TYPE_U16] = 16, [TYPE_F16] = 16, [TYPE_S32] = 32,
      [TYPE_U32] = 32, [TYPE_F32] = 32, [TYPE_S64] = 64, [TYPE_U64] = 64, [TYPE_F64] = 64, [TYPE_BF16] = 16};
  return bits[type];
}

double from_half(uint32_t half) {
  int exponent = half >> 10 & 31, fraction = half & 1023;
  double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                : exponent     ? ldexp(1024 + fraction, exponent - 25)
                               : ldexp(fraction, -24);
  return half >> 15 ? -size : size;
}

uint32_t to_half(double value, FloatRound round) {
  if (isnan(value))
    return 0x7fff;
  int exponent = isfinite(value) && value != 0 ? ilogb(value) : 0;
  double step = ldexp(1, (exponent < -14 ? -14 : exponent) - 10);
  double size = fabs(integral(value / step, round) * step);
  uint32_t sign = signbit(value) ? 0x8000 : 0;
  if (isinf(value))
    return sign | 0x7c00;
  if (size > 65504)
    return sign | (round == FROUND_NEAREST || round == (sign ? FROUND_DOWN : FROUND_UP) ? 0x7c00 : 0x7bff);
  if (size < ldexp(1, -14))
    return sign | (uint32_t)(size * 16777216);
  exponent = ilogb(size);
  return sign | (uint32_t)(exponent + 15) << 10 | ((uint32_t)ldexp(size, 10 - exponent) & 1023);
}

uint32_t to_brain(double value, FloatRound round) {
  if (isnan(value))
    return 0x7fff;
  uint32_t sign = signbit(value) ? 0x8000 : 0;
  if (isinf(value))
    return sign | 0x7f80;
  int exponent = value != 0 ? ilogb(value) : -126;
  double step = ldexp(1, (exponent < -126 ? -126 : exponent) - 7), units = fabs(integral(value / step, round));
  double size = units * step;
  if (size >= ldexp(1, 128))
    return sign | (round == FROUND_NEAREST || round == (sign ? FROUND_DOWN : FROUND_UP) ? 0x7f80 : 0x7f7f);
  if (size < ldexp(1, -126))
    return sign | (uint32_t)ldexp(size, 133);
  exponent = ilogb(size);
  return sign | (uint32_t)(exponent + 127) << 7 | ((uint32_t)ldexp(size, 7 - exponent) & 127);
}

double rounded_to_odd(Int128 number) {
  Int128 size = number < 0 ? -number : number;
  double value = size >> 40 ? (double)((uint64_t)(size >> 20) | ((size & 0xfffff) != 0)) * 0x1p20 : (double)size;
  return number < 0 ? -value : value;
}

/* What an H200 makes of a NaN of f64: its sign, and the head of its payload. */
static uint32_t half_nan(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return 0x7e00 | (bits >> 63 ? 0x8000 : 0) | (uint32_t)(bits >> 42) % 512;
}

/* A number that fits into no double is given as an integer. */
static uint64_t to_floating(const Inst *inst, double value, bool is_integer, Int128 number) {
  volatile double wide = value;
  volatile float narrow;
  volatile uint64_t magnitude = (uint64_t)(number < 0 ? -number : number);
  volatile int64_t negative = number < 0 ? (int64_t)number : 0;
  if (inst->type == TYPE_BF16)
    return to_brain(is_integer ? rounded_to_odd(number) : value, inst->round);
  if (inst->type == TYPE_F16 && inst->type2 == TYPE_F64 && isnan(value))
    return half_nan(value);
  if (inst->type == TYPE_F16)
    return to_half(is_integer ? (double)number : value, inst->round);
  fesetround(host_modes[inst->round]);
  if (is_integer && negative)
    wide = (double)negative, narrow = (float)negative;
  else if (is_integer)
    wide = (double)magnitude, narrow = (float)magnitude;
  else
    narrow = (float)wide;
  fesetround(FE_TONEAREST);
  if (inst->type == TYPE_F64)
    return two_words(wide);
  return inst->flags & INST_FTZ ? flushed(single(narrow)) : single(narrow);
}

static uint64_t to_integral(const Inst *inst, double value) {
  unsigned bits = width_of(inst->type);
  Int128 least = has_sign(inst->type) ? -((Int128)1 << (bits - 1)) : 0;
  Int128 most = ((Int128)1 << (bits - has_sign(inst->type))) - 1;
  if (isnan(value))
    return inst->type2 == TYPE_F64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
  double whole = inst->mode == ROUND_TRUNC   ? trunc(value)
                 : inst->mode == ROUND_FLOOR ? floor(value)
                 : inst->mode == ROUND_CEIL  ? ceil(value)
                                             : rint(value);
  Int128 number = whole > 1e30 ? most : whole < -1e30 ? least : (Int128)whole;
  return low_bits(number < least ? least : number > most ? most : number, bits);
}

static double as_floating(const Inst *inst, uint64_t value) {
  if (inst->type2 == TYPE_F16)
    return from_half((uint32_t)value & 0xffff);
  if (inst->type2 == TYPE_BF16)
    return f(low(value) << 16);
  if (inst->type2 == TYPE_F32)
    return inst->flags & INST_FTZ ? fz(low(value)) : f(low(value));
  return d(value);
}

/* The lowest bits of an integer, extended over its row as its type says. */
static uint64_t in_row(DataType type, uint64_t value) {
  unsigned bits = width_of(type);
  return bits == 64 ? value : low((uint64_t)as_number(low_bits(value, bits), has_sign(type), bits));
}

static uint64_t floating_converted(const Inst *inst, double value) {
  if (!is_floating(inst->type))
    return in_row(inst->type, to_integral(inst, value));
  if (inst->flags & INST_INTEGRAL)
    value = inst->mode == ROUND_TRUNC   ? trunc(value)
            : inst->mode == ROUND_FLOOR ? floor(value)
            : inst->mode == ROUND_CEIL  ? ceil(value)
                                        : rint(value);
  if (inst->flags & INST_SAT)
    value = value >= 1 ? 1 : value > 0 ? value : 0;
  return to_floating(inst, value, false, 0);
}

uint64_t converted(const Inst *inst, uint64_t value) {
  unsigned bits = width_of(inst->type), source_bits = width_of(inst->type2);
  if (is_floating(inst->type2))
    return floating_converted(inst, as_floating(inst, value));
  Int128 number = as_number(low_bits(value, source_bits), has_sign(inst->type2), source_bits);
  bool saturates = inst->flags & INST_SAT;
  if (is_floating(inst->type))
    return saturates ? to_floating(inst, number > 0, false, 0) : to_floating(inst, 0, true, number);
  Int128 least = has_sign(inst->type) ? -((Int128)1 << (bits - 1)) : 0;
  Int128 most = ((Int128)1 << (bits - has_sign(inst->type))) - 1;
  if (saturates)
    number = number < least ? least : number > most ? most : number;
  return in_row(inst->type, (uint64_t)number);
}
