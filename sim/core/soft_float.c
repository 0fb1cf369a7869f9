#include "sim/core/soft_float.h"

#include "sim/core/exec_rows.h"

__extension__ typedef unsigned __int128 Wide;

/* A number: significand * 2^exponent, the top bit of the significand set. Results have 64 bits with everything below
 * folded into the lowest one ("rounded to odd"), which is enough to round them to 53 bits or fewer in any direction. */
typedef struct Parts {
  enum { PART_ZERO, PART_FINITE, PART_INFINITE, PART_NAN } kind;
  bool negative;
  int exponent;
  uint64_t significand;
} Parts;

typedef struct Layout {
  unsigned bits, fraction;
  int bias;
  uint64_t nan;
} Layout;

static const Layout layouts[] = {[SOFT_F16] = {16, 10, 15, NAN_F16},
                                 [SOFT_F32] = {32, 23, 127, NAN_F32},
                                 [SOFT_F64] = {64, 52, 1023, NAN_F64},
                                 [SOFT_BF16] = {16, 7, 127, NAN_F16}};

static Parts unpack(SoftFormat format, uint64_t bits) {
  const Layout *layout = &layouts[format];
  unsigned fraction = layout->fraction;
  uint64_t rest = bits & ((UINT64_C(1) << fraction) - 1), top = (UINT64_C(1) << (layout->bits - 1 - fraction)) - 1;
  uint64_t field = bits >> fraction & top;
  Parts parts = {.negative = bits >> (layout->bits - 1) & 1};
  if (field == top) {
    parts.kind = rest ? PART_NAN : PART_INFINITE;
    return parts;
  }
  if (field == 0 && rest == 0)
    return parts;
  parts.kind = PART_FINITE;
  parts.significand = field ? rest | UINT64_C(1) << fraction : rest;
  parts.exponent = (field ? (int)field : 1) - layout->bias - (int)fraction;
  int shift = __builtin_clzll(parts.significand);
  parts.significand <<= shift;
  parts.exponent -= shift;
  return parts;
}

/* Whether a value that lies `rest` of `unit` above the kept bits is rounded away from zero. */
static bool rounds_up(FloatRound round, bool negative, bool odd, Wide rest, Wide unit) {
  switch (round) {
  case FROUND_NEAREST: return rest > unit / 2 || (rest == unit / 2 && odd);
  case FROUND_ZERO: return false;
  case FROUND_DOWN: return negative && rest;
  case FROUND_UP: return !negative && rest;
  }
  return false;
}

static uint64_t pack(SoftFormat format, Parts parts, FloatRound round) {
  const Layout *layout = &layouts[format];
  unsigned fraction = layout->fraction;
  uint64_t sign = (uint64_t)parts.negative << (layout->bits - 1);
  uint64_t infinity = ((UINT64_C(1) << (layout->bits - 1 - fraction)) - 1) << fraction;
  if (parts.kind == PART_NAN)
    return layout->nan;
  if (parts.kind == PART_ZERO)
    return sign;
  if (parts.kind == PART_INFINITE)
    return sign | infinity;
  int biased = parts.exponent + 63 + layout->bias; /* of the leading bit; subnormals have less than 1 */
  uint64_t bits = infinity;
  if (biased < 2 * layout->bias + 1) {
    /* 65 dropped bits and more are alike: less than half of the least number. */
    int dropped = MIN(63 - (int)fraction + MAX(1 - biased, 0), 65);
    Wide unit = (Wide)1 << dropped, value = parts.significand;
    uint64_t kept = (uint64_t)(value >> dropped);
    kept += rounds_up(round, parts.negative, kept & 1, value & (unit - 1), unit);
    /* The implicit bit adds the last 1 to the exponent, and a carry out of the fraction one more. */
    bits = biased < 1 ? kept : ((uint64_t)(biased - 1) << fraction) + kept;
  }
  if (bits >= infinity) {
    bool grows = round == FROUND_NEAREST || round == (parts.negative ? FROUND_DOWN : FROUND_UP);
    bits = grows ? infinity : infinity - 1;
  }
  return sign | bits;
}

/* significand * 2^exponent of up to 128 bits; the lowest may stand for others below it. */
static Parts parts_of(bool negative, Wide significand, int exponent) {
  if (significand == 0)
    return (Parts){.kind = PART_ZERO, .negative = negative};
  uint64_t high = (uint64_t)(significand >> 64);
  int shift = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)significand);
  significand <<= shift;
  return (Parts){.kind = PART_FINITE,
                 .negative = negative,
                 .exponent = exponent - shift + 64,
                 .significand = (uint64_t)(significand >> 64) | ((uint64_t)significand != 0)};
}

static Parts not_a_number(void) { return (Parts){.kind = PART_NAN}; }

static Wide shift_right(Wide value, int by) {
  if (by > 127)
    return value != 0;
  return value >> by | ((value & (((Wide)1 << by) - 1)) != 0);
}

/* x * 2^xe + y * 2^ye of opposite or equal signs. The top bits of x and y are clear, and so are enough low ones that no
 * bit is lost unless the exponents are too far apart for cancellation. */
static Parts add_wide(bool x_negative, Wide x, int xe, bool y_negative, Wide y, int ye, FloatRound round) {
  if (xe < ye)
    x = shift_right(x, ye - xe), xe = ye;
  else
    y = shift_right(y, xe - ye);
  if (x_negative == y_negative)
    return parts_of(x_negative, x + y, xe);
  if (x == y)
    return (Parts){.kind = PART_ZERO, .negative = round == FROUND_DOWN};
  return x > y ? parts_of(x_negative, x - y, xe) : parts_of(y_negative, y - x, xe);
}

static Parts sum_of_specials(Parts x, Parts y, FloatRound round) {
  if (x.kind == PART_NAN || y.kind == PART_NAN)
    return not_a_number();
  if (x.kind == PART_INFINITE && y.kind == PART_INFINITE)
    return x.negative == y.negative ? x : not_a_number();
  if (x.kind == PART_INFINITE || y.kind == PART_INFINITE)
    return x.kind == PART_INFINITE ? x : y;
  if (x.kind == PART_ZERO && y.kind == PART_ZERO)
    return (Parts){.negative = x.negative == y.negative ? x.negative : round == FROUND_DOWN};
  return x.kind == PART_ZERO ? y : x;
}

uint64_t soft_add(SoftFormat format, uint64_t a, uint64_t b, FloatRound round) {
  Parts x = unpack(format, a), y = unpack(format, b);
  if (x.kind != PART_FINITE || y.kind != PART_FINITE)
    return pack(format, sum_of_specials(x, y, round), round);
  Wide wide_x = (Wide)x.significand << 63, wide_y = (Wide)y.significand << 63;
  return pack(format, add_wide(x.negative, wide_x, x.exponent - 63, y.negative, wide_y, y.exponent - 63, round),
              round);
}

static Parts product(Parts x, Parts y) {
  bool negative = x.negative != y.negative;
  if (x.kind == PART_NAN || y.kind == PART_NAN)
    return not_a_number();
  if (x.kind == PART_INFINITE || y.kind == PART_INFINITE)
    return x.kind == PART_ZERO || y.kind == PART_ZERO ? not_a_number()
                                                      : (Parts){.kind = PART_INFINITE, .negative = negative};
  if (x.kind == PART_ZERO || y.kind == PART_ZERO)
    return (Parts){.kind = PART_ZERO, .negative = negative};
  return parts_of(negative, (Wide)x.significand * y.significand, x.exponent + y.exponent);
}

uint64_t soft_mul(SoftFormat format, uint64_t a, uint64_t b, FloatRound round) {
  return pack(format, product(unpack(format, a), unpack(format, b)), round);
}

uint64_t soft_fma(SoftFormat format, uint64_t a, uint64_t b, uint64_t c, FloatRound round) {
  Parts x = unpack(format, a), y = unpack(format, b), z = unpack(format, c), xy = product(x, y);
  if (xy.kind != PART_FINITE || z.kind != PART_FINITE)
    return pack(format, xy.kind == PART_FINITE && z.kind == PART_ZERO ? xy : sum_of_specials(xy, z, round), round);
  /* At most 53 bits each: the product has 22 zeros at the end. */
  Wide exact = ((Wide)x.significand * y.significand) >> 1;
  return pack(format,
              add_wide(xy.negative, exact, x.exponent + y.exponent + 1, z.negative, (Wide)z.significand << 63,
                       z.exponent - 63, round),
              round);
}

uint64_t soft_div(SoftFormat format, uint64_t a, uint64_t b, FloatRound round) {
  Parts x = unpack(format, a), y = unpack(format, b), quotient = {.negative = x.negative != y.negative};
  bool both_zero = x.kind == PART_ZERO && y.kind == PART_ZERO;
  bool both_infinite = x.kind == PART_INFINITE && y.kind == PART_INFINITE;
  if (x.kind == PART_NAN || y.kind == PART_NAN || both_zero || both_infinite) {
    quotient = not_a_number();
  } else if (x.kind == PART_INFINITE || y.kind == PART_ZERO) {
    quotient.kind = PART_INFINITE;
  } else if (x.kind == PART_FINITE && y.kind == PART_FINITE) {
    Wide numerator = (Wide)x.significand << 63;
    Wide bits = numerator / y.significand | (numerator % y.significand != 0);
    quotient = parts_of(quotient.negative, bits, x.exponent - 63 - y.exponent);
  }
  return pack(format, quotient, round);
}

/* The integer square root, with the lowest bit set if it isn't exact. */
static uint64_t root_of(Wide value) {
  Wide root = 0, rest = value;
  for (Wide bit = (Wide)1 << 126; bit; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return (uint64_t)root | (rest != 0);
}

uint64_t soft_sqrt(SoftFormat format, uint64_t a, FloatRound round) {
  Parts x = unpack(format, a);
  if (x.kind == PART_ZERO || x.kind == PART_NAN)
    return pack(format, x, round);
  if (x.negative)
    return pack(format, not_a_number(), round);
  if (x.kind == PART_FINITE) {
    int shift = x.exponent % 2 == 0 ? 64 : 63;
    x = parts_of(false, root_of((Wide)x.significand << shift), (x.exponent - shift) / 2);
  }
  return pack(format, x, round);
}

uint64_t soft_convert(SoftFormat to, SoftFormat from, uint64_t bits, FloatRound round) {
  return pack(to, unpack(from, bits), round);
}

uint64_t soft_integer(SoftFormat to, bool negative, uint64_t magnitude, FloatRound round) {
  return pack(to, parts_of(negative && magnitude, magnitude, 0), round);
}
