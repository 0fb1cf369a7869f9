#include "tests/unit/mc_vectors.h"

#include <glib.h>

/* ---- pairs.cu ---- */

typedef double Value(uint32_t bits);
typedef uint32_t Bits(double value);

static double brain(uint32_t bits) { return f(bits << 16); }
static uint32_t brain_bits(double value) { return to_brain(value, FROUND_NEAREST); }
static uint32_t word_of(const uint32_t *in, uint32_t t) { return in[t] * UINT32_C(2654435761); }

/* A number of each half, of both values or of one and a number. */
typedef struct Pair {
  double low, high;
} Pair;

static Pair pair_of(uint32_t word, Value *value) { return (Pair){value(word & 0xffff), value(word >> 16)}; }
static Pair sizes_of(Pair a) { return (Pair){fabs(a.low), fabs(a.high)}; }
static Pair negated(Pair a) { return (Pair){-a.low, -a.high}; }

/* `bits` has 1 for less, 2 for equal, 4 for greater, 8 for unordered. */
static uint32_t compared(unsigned bits, Pair a, Pair b, uint32_t yes) {
  return joined(related(bits, a.low, b.low) ? yes : 0, related(bits, a.high, b.high) ? yes : 0);
}

static double extreme_of(double a, double b, bool least, bool none) {
  if (isnan(a) || isnan(b))
    return none || (isnan(a) && isnan(b)) ? NAN : isnan(a) ? b : a;
  bool less = a == b ? signbit(a) && !signbit(b) : a < b;
  return less == least ? a : b;
}

static uint32_t extremes(Pair a, Pair b, bool least, bool none, Bits *bits) {
  return joined(bits(extreme_of(a.low, b.low, least, none)), bits(extreme_of(a.high, b.high, least, none)));
}

uint32_t half_compared(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), from_half), b = pair_of(word_of(in, t ^ 1), from_half);
  uint32_t sum = compared(1, a, b, 0xffff) + 3 * compared(10, a, (Pair){b.low, b.low}, 0xffff) +
                 5 * compared(6, sizes_of(a), negated(b), 0x3c00) + 7 * compared(13, a, (Pair){1.5, -2}, 0x3c00);
  return sum + (a.low < b.low ? 11 : 0) + (related(12, a.low, b.low) && related(12, a.high, b.high) ? 13 : 0) +
         (isnan(a.high) ? 17 : 0);
}

uint32_t half_extremes(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), from_half), b = pair_of(word_of(in, t ^ 1), from_half);
  return extremes(a, b, true, false, half_bits) + 3 * extremes(a, b, false, true, half_bits) +
         5 * extremes(sizes_of(a), (Pair){0.25, 100}, false, false, half_bits);
}

static double positive(double value) { return signbit(value) && !isnan(value) ? 0 : value; }
static double unit_of(double value) { return value >= 1 ? 1 : value > 0 ? value : 0; }

uint32_t half_sums(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), from_half), b = pair_of(word_of(in, t ^ 1), from_half);
  uint32_t fma =
      joined(half_bits(positive(fused(a.low, b.low, a.low))), half_bits(positive(fused(a.high, b.high, a.high))));
  return fma + 3 * joined(half_bits(unit_of(a.low + b.low)), half_bits(unit_of(a.high + b.high)));
}

uint32_t brain_compared(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), brain), b = pair_of(word_of(in, t ^ 1), brain);
  uint32_t sum = compared(1, a, b, 0xffff) + 3 * compared(10, a, b, 0xffff) + 5 * compared(14, a, b, 0x3f80);
  return sum + (a.low < b.low ? 11 : 0) + extremes(a, b, true, false, brain_bits) +
         3 * extremes(a, b, false, true, brain_bits);
}

static uint32_t brains_fused(Pair a, Pair b, Pair c) {
  return joined(brain_bits(fused(a.low, b.low, c.low)), brain_bits(fused(a.high, b.high, c.high)));
}

uint32_t brain_sums(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), brain), b = pair_of(word_of(in, t ^ 1), brain);
  uint32_t relu =
      joined(brain_bits(positive(fused(a.low, b.low, b.low))), brain_bits(positive(fused(a.high, b.high, b.high))));
  return brains_fused(a, (Pair){1, 1}, b) + 3 * brains_fused(a, (Pair){1.5, -3}, (Pair){-0.0, -0.0}) +
         5 * brains_fused(a, b, a) + 7 * relu;
}

uint32_t brain_converted(uint32_t t, const uint32_t *in) {
  uint32_t word = word_of(in, t), sum = joined(brain_bits(f(word)), brain_bits(1.25));
  double low = brain(word & 0x43ff);
  const uint32_t parts[] = {brain_bits(f(word)),
                            to_brain(f(word), FROUND_ZERO),
                            to_brain(f(word), FROUND_DOWN),
                            to_brain(f(word), FROUND_UP),
                            brain_bits(rounded_to_odd((int32_t)word)),
                            brain_bits(rounded_to_odd(word)),
                            (uint32_t)(int32_t)low,
                            brain_bits(rint(low))};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    sum = (sum << 5 | sum >> 27) ^ parts[i];
  return sum;
}

/* b + a, and b again. */
static uint32_t pairs_added(uint32_t a, uint32_t b, Value *value, Bits *bits) {
  Pair first = pair_of(a, value), second = pair_of(b, value);
  uint32_t sum = joined(bits(fused(first.low, 1, second.low)), bits(fused(first.high, 1, second.high)));
  Pair both = pair_of(sum, value);
  return joined(bits(fused(both.low, 1, second.low)), bits(fused(both.high, 1, second.high)));
}

uint32_t halves_added(uint32_t t, const uint32_t *in) {
  return pairs_added(word_of(in, t), word_of(in, t ^ 1), from_half, half_bits);
}

uint32_t brains_added(uint32_t t, const uint32_t *in) {
  return pairs_added(word_of(in, t), word_of(in, t ^ 1), brain, brain_bits);
}

/* ---- bits.cu ---- */

static uint32_t ones_from(uint32_t first, uint32_t count) {
  return first > 31 ? 0 : (count > 31 ? UINT32_MAX : (1u << count) - 1) << first;
}

uint32_t bit_masks(uint32_t t, const uint32_t *in) {
  uint32_t first = in[t] & 63, count = in[t] >> 6 & 63;
  return ones_from(first & 31, count & 31) + 3 * ones_from(first, count);
}

uint32_t itself(uint32_t t, const uint32_t *in) { return in[t]; }

/* ---- vectors.cu ---- */

static int32_t byte_of(uint32_t word, uint32_t i, bool sign) {
  uint8_t byte = (uint8_t)(word >> (8 * i));
  return sign ? (int8_t)byte : byte;
}

static int32_t half_of(uint32_t word, uint32_t i, bool sign) {
  uint16_t half = (uint16_t)(word >> (16 * i));
  return sign ? (int16_t)half : half;
}

static uint32_t dot(uint32_t a, uint32_t b, uint32_t c, bool high, bool a_signed, bool b_signed) {
  for (uint32_t i = 0; i < 2; i++)
    c += (uint32_t)(half_of(a, i, a_signed) * byte_of(b, i + (high ? 2 : 0), b_signed));
  return c;
}

uint32_t dots(uint32_t t, const uint32_t *in) {
  uint32_t a = word_of(in, t), b = word_of(in, t ^ 1), c = word_of(in, t ^ 3);
  return dot(a, b, c, false, false, false) + 3 * dot(a, b, c, true, true, true) +
         5 * dot(a, b, c, false, true, false) + 7 * dot(a, b, c, true, false, true);
}

uint32_t differences(uint32_t t, const uint32_t *in) {
  uint32_t a = word_of(in, t), b = word_of(in, t ^ 1), c = word_of(in, t ^ 3), each = 0, sum = c, other = c;
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t apart = (uint32_t)abs(byte_of(a, i, false) - byte_of(b, i, false));
    each |= apart << (8 * i);
    sum += apart;
    other += (uint32_t)abs(byte_of(a, i, true) - byte_of(b, i, true));
  }
  return each + 3 * sum + 5 * other;
}

static int32_t least_of(int32_t a, int32_t b) { return MIN(a, b); }
static int32_t most_of(int32_t a, int32_t b) { return MAX(a, b); }

typedef int32_t Choice(int32_t a, int32_t b);

/* Of each half. */
static uint32_t both(uint32_t a, uint32_t b, bool sign, Choice *choice) {
  return joined((uint32_t)choice(half_of(a, 0, sign), half_of(b, 0, sign)) & 0xffff,
                (uint32_t)choice(half_of(a, 1, sign), half_of(b, 1, sign)) & 0xffff);
}

static uint32_t both_sums(uint32_t a, uint32_t b) {
  return joined((a + b) & 0xffff, ((a >> 16) + (b >> 16)) & 0xffff);
}
static uint32_t both_positive(uint32_t a) { return both(a, 0, true, most_of); }

static uint32_t told(uint32_t a, uint32_t result, uint32_t high, uint32_t low) {
  return (a >> 16 == result >> 16 ? high : 0) + ((uint16_t)a == (uint16_t)result ? low : 0);
}

uint32_t integer_extremes(uint32_t t, const uint32_t *in) {
  uint32_t a = word_of(in, t), b = word_of(in, t ^ 1), c = word_of(in, t ^ 3);
  int32_t x = (int32_t)a, y = (int32_t)b, z = (int32_t)c;
  uint32_t least = both(a, b, false, least_of), other = (b & 0xffff) | (a & 0xffff0000u),
           most = both(a, other, true, most_of);
  uint32_t sum = (uint32_t)MAX(MAX(x, y), 0) + 3 * (uint32_t)MAX(MIN(MIN(x, y), z), 0) +
                 5 * both_positive(both(a, b, true, most_of)) +
                 7 * both_positive(both(both(a, b, true, least_of), c, true, least_of)) +
                 11 * both(both_sums(a, b), c, true, least_of) +
                 13 * both_positive(both(both_sums(a, b), c, true, most_of)) +
                 17 * (uint32_t)MAX(MIN((int32_t)(a + b), z), 0) + 19 * both(both_sums(a, b), c, false, most_of) +
                 23 * both(both(a, b, false, most_of), c, false, most_of);
  return sum + 29 * least + 31 * most + told(a, least, 37, 41) + told(a, most, 43, 47);
}

uint32_t three_halves(uint32_t t, const uint32_t *in) {
  Pair c = pair_of(word_of(in, t ^ 3), from_half), a = pair_of(word_of(in, t), from_half),
       b = pair_of(word_of(in, t ^ 1), from_half);
  Pair most = pair_of(extremes(a, b, false, true, half_bits), from_half),
       least = pair_of(extremes(a, b, true, true, half_bits), from_half);
  return extremes(most, c, false, true, half_bits) + 3 * extremes(least, c, true, true, half_bits);
}

uint32_t rounded_halves(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t) & 0x57ff57ff, from_half);
  return joined(half_bits(floor(a.low)), half_bits(floor(a.high))) +
         3 * joined(half_bits(ceil(a.low)), half_bits(ceil(a.high))) +
         5 * joined(half_bits(trunc(a.low)), half_bits(trunc(a.high))) +
         7 * joined(half_bits(rint(a.low)), half_bits(rint(a.high)));
}

static double tangent(double value) { return (float)tanh(value); }

uint32_t tangents(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t) & 0xbfffbfff, from_half), b = pair_of(word_of(in, t) & 0xbfffbfff, brain);
  return joined(half_bits(tangent(a.low)), half_bits(tangent(a.high))) +
         3 * joined(brain_bits(tangent(b.low)), brain_bits(tangent(b.high)));
}

static double half_fused(double a, double b, double c) { return from_half(half_bits(fused(a, b, c))); }

uint32_t complex_numbers(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t) & 0xbfffbfff, from_half), b = pair_of(word_of(in, t ^ 1) & 0xbfffbfff, from_half),
       c = pair_of(word_of(in, t ^ 3) & 0xbfffbfff, from_half);
  double real = half_fused(a.low, b.low, c.low), imaginary = half_fused(a.low, b.high, c.high);
  return joined(half_bits(fused(-a.high, b.high, real)), half_bits(fused(a.high, b.low, imaginary)));
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint32_t quotients(uint32_t t, const uint32_t *in) {
  double a = (int32_t)word_of(in, t) * 0.75;
  uint64_t sum = bits_of(a / 100.) + 3 * bits_of(a / 0.3);
  return (uint32_t)(sum ^ sum >> 32);
}

uint32_t blocks_apart(uint32_t t, const uint32_t *in) {
  uint32_t reversed = 0;
  for (uint32_t i = 0; i < 32; i++)
    reversed |= (in[t] >> i & 1) << (31 - i);
  switch (t / THREADS) {
  case 0: return in[t] * 3 + 5;
  case 1: return in[t] ^ 1234;
  default: return reversed;
  }
}

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint32_t floats_added(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 4; i++)
    sum += low_byte(in, t / 4 * 4 + i) * (t % 4 + 1);
  return float_bits((float)sum);
}

/* Adds v to 0, v to v, and 2 v to 2 v. */
uint32_t floats_fetched(uint32_t t, const uint32_t *in) { return float_bits(4 * (float)low_byte(in, t)); }
