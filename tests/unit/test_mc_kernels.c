/* Kernels of machine code (tests/machine_code/NAME.cu and the cubins that nvcc made of them) against a CPU
 * reference; copies and barriers as PTX, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/mc/mc_listing.h"
#include "isa/mc/mc_lower.h"
#include "sim/core/gpu.h"
#include "sim/core/symbols.h"
#include "tests/unit/mc_lab.h"
#include "tests/unit/oracle.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

enum { BLOCKS = 2, THREADS = 96, N = BLOCKS * THREADS, CYCLES_MAX = 5000000, DYNAMIC_BYTES = 96 };

/* A thread's result: `t` counts in the grid, `in` is the whole input. */
typedef uint32_t (*Reference)(uint32_t t, const uint32_t *in);

typedef struct KernelCase {
  const char *file, *kernel;
  Reference reference;
} KernelCase;

static uint32_t low_byte(const uint32_t *in, uint32_t t) { return in[t] & 255; }

/* ---- pointers.cu ---- */

static uint32_t called(uint32_t function, uint32_t a, uint32_t b) {
  return function == 0 ? a + b : function == 1 ? a * b + 1 : a - b;
}

static uint32_t by_table(uint32_t t, const uint32_t *in) {
  uint32_t which = low_byte(in, t) % 3;
  return 3 * called(which, t, 7) + called(2 - which, t, 3);
}

static uint32_t virtuals(uint32_t t, const uint32_t *in) {
  uint32_t value = low_byte(in, t);
  return value & 1 ? t * t * value + 4000 : t * 5 + value;
}

static uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static uint32_t recursion(uint32_t t, const uint32_t *in) { return fibonacci(low_byte(in, t) % 9); }

static uint32_t ackermann(uint32_t m, uint32_t n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static uint32_t nested(uint32_t t, const uint32_t *in) { return ackermann(low_byte(in, t) % 3, t % 5); }

static uint32_t frames(uint32_t t, const uint32_t *in) {
  enum { VALUES = 24 };
  uint32_t value = low_byte(in, t), values[VALUES], sum = 0;
  for (uint32_t i = 0; i < VALUES; i++)
    values[i] = value * (i + 3);
  values[value % VALUES] += t;
  for (uint32_t i = 0; i < VALUES; i++)
    sum += values[i * (value % 7) % VALUES] * (i + 1);
  return sum;
}

static uint32_t switches(uint32_t t, const uint32_t *in) {
  uint32_t value = low_byte(in, t), r = t;
  for (uint32_t i = 0; i < 3; i++)
    switch ((value + i) % 12) {
    case 0: r += t * 3; break;
    case 1: r ^= 55; break;
    case 2: r = r * 7 + 1; break;
    case 3: r -= value; break;
    case 4: r += value * value; break;
    case 5: r = ~r; break;
    case 6: r *= 4; break;
    case 7: r ^= t; break;
    case 8: r += 17; break;
    case 9: r = (uint32_t)((int32_t)r / 3); break;
    case 10: r = -r; break;
    default: r++;
    }
  return r;
}

/* ---- debug.cu ---- */

static uint32_t turns(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < N; i++)
    sum += (uint32_t)((int32_t)in[i] % 100);
  return t < N ? sum : 0;
}

static uint32_t pointed(uint32_t t, const uint32_t *in) {
  static const uint32_t first[] = {5, 7, 11}, second[] = {2, 3, 13};
  uint32_t value = low_byte(in, t), constant = (value & 1 ? first : second)[value % 3];
  return BLOCKS + (value % 2 ? value / constant : value + constant);
}

/* ---- sorted.cu ---- */

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint32_t sorted(uint32_t t, const uint32_t *in) {
  enum { VALUES = 10 };
  uint32_t values[VALUES];
  for (uint32_t i = 0; i < VALUES; i++)
    values[i] = in[(t + i) % N] & 1023;
  qsort(values, VALUES, sizeof *values, by_number);
  return values[3] + 1000 * values[8];
}

/* ---- mbarrier.cu ---- */

static uint32_t rounds(uint32_t t, const uint32_t *in) {
  uint32_t other = t / THREADS * THREADS + (t % THREADS + 1) % THREADS, sum = 0;
  for (uint32_t i = 0; i < 4; i++)
    sum = sum * 3 + in[other] + i;
  return sum;
}

static uint32_t drops(uint32_t t, const uint32_t *in) {
  uint32_t warp = t % THREADS / 32, producer = t / THREADS * THREADS + (t % 32 ^ 1), sum = 0;
  for (uint32_t i = 0; i < (warp == 2 ? 3u : 5u); i++)
    sum = sum * 7 + in[producer] * (i + 1);
  return warp ? sum : in[t];
}

static uint32_t neighbour(uint32_t t, const uint32_t *in) { return in[t ^ 1]; }

static uint32_t hopper(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 3; i++)
    sum = sum * 3 + in[t ^ 1] + i;
  return sum;
}

static uint32_t counted(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < THREADS; i++)
    sum += in[t / THREADS * THREADS + i];
  return sum;
}

/* ---- copies.cu ---- */

static uint32_t sizes(uint32_t t, const uint32_t *in) { return (in[t ^ 1] * 5 + in[t ^ 3]) * 3 + in[t ^ 5]; }

/* Of the four words of lane 4 * i, i modulo 4 have come. */
static uint32_t filled(uint32_t t, const uint32_t *in) {
  uint32_t other = (t % THREADS) ^ 1;
  return other % 4 < other / 4 % 4 ? in[t ^ 1] : 0;
}

static uint32_t stages(uint32_t t, const uint32_t *in) {
  uint32_t other = t / THREADS * THREADS + (t % THREADS + 1) % THREADS, sum = 0;
  for (uint32_t i = 0; i < 6; i++)
    sum = sum * 5 + in[(other + i * 7) % N];
  return sum;
}

/* ---- arrivals.cu ---- */

static uint32_t added(uint32_t t, const uint32_t *in) {
  uint32_t other = t / THREADS * THREADS + (t % THREADS + 1) % THREADS, sum = 0;
  for (uint32_t i = 0; i < 3; i++)
    sum = sum * 5 + in[(other + i * 7) % N];
  return sum;
}

static uint32_t ignored(uint32_t t, const uint32_t *in) { return in[t ^ 1] & 1 ? 0 : in[t ^ 1]; }

/* ---- pairs.cu ---- */

typedef double Value(uint32_t bits);
typedef uint32_t Bits(double value);

static double brain(uint32_t bits) { return f(bits << 16); }
static uint32_t half_bits(double value) { return to_half(value, FROUND_NEAREST); }
static uint32_t brain_bits(double value) { return to_brain(value, FROUND_NEAREST); }
static uint32_t word_of(const uint32_t *in, uint32_t t) { return in[t] * UINT32_C(2654435761); }
static uint32_t joined(uint32_t low, uint32_t high) { return low | high << 16; }

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

static uint32_t half_compared(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), from_half), b = pair_of(word_of(in, t ^ 1), from_half);
  uint32_t sum = compared(1, a, b, 0xffff) + 3 * compared(10, a, (Pair){b.low, b.low}, 0xffff) +
                 5 * compared(6, sizes_of(a), negated(b), 0x3c00) + 7 * compared(13, a, (Pair){1.5, -2}, 0x3c00);
  return sum + (a.low < b.low ? 11 : 0) + (related(12, a.low, b.low) && related(12, a.high, b.high) ? 13 : 0) +
         (isnan(a.high) ? 17 : 0);
}

static uint32_t half_extremes(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), from_half), b = pair_of(word_of(in, t ^ 1), from_half);
  return extremes(a, b, true, false, half_bits) + 3 * extremes(a, b, false, true, half_bits) +
         5 * extremes(sizes_of(a), (Pair){0.25, 100}, false, false, half_bits);
}

static double positive(double value) { return signbit(value) && !isnan(value) ? 0 : value; }
static double unit_of(double value) { return value >= 1 ? 1 : value > 0 ? value : 0; }

static uint32_t half_sums(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), from_half), b = pair_of(word_of(in, t ^ 1), from_half);
  uint32_t fma =
      joined(half_bits(positive(fused(a.low, b.low, a.low))), half_bits(positive(fused(a.high, b.high, a.high))));
  return fma + 3 * joined(half_bits(unit_of(a.low + b.low)), half_bits(unit_of(a.high + b.high)));
}

static uint32_t brain_compared(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), brain), b = pair_of(word_of(in, t ^ 1), brain);
  uint32_t sum = compared(1, a, b, 0xffff) + 3 * compared(10, a, b, 0xffff) + 5 * compared(14, a, b, 0x3f80);
  return sum + (a.low < b.low ? 11 : 0) + extremes(a, b, true, false, brain_bits) +
         3 * extremes(a, b, false, true, brain_bits);
}

static uint32_t brains_fused(Pair a, Pair b, Pair c) {
  return joined(brain_bits(fused(a.low, b.low, c.low)), brain_bits(fused(a.high, b.high, c.high)));
}

static uint32_t brain_sums(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t), brain), b = pair_of(word_of(in, t ^ 1), brain);
  uint32_t relu =
      joined(brain_bits(positive(fused(a.low, b.low, b.low))), brain_bits(positive(fused(a.high, b.high, b.high))));
  return brains_fused(a, (Pair){1, 1}, b) + 3 * brains_fused(a, (Pair){1.5, -3}, (Pair){-0.0, -0.0}) +
         5 * brains_fused(a, b, a) + 7 * relu;
}

static uint32_t brain_converted(uint32_t t, const uint32_t *in) {
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

static uint32_t halves_added(uint32_t t, const uint32_t *in) {
  return pairs_added(word_of(in, t), word_of(in, t ^ 1), from_half, half_bits);
}

static uint32_t brains_added(uint32_t t, const uint32_t *in) {
  return pairs_added(word_of(in, t), word_of(in, t ^ 1), brain, brain_bits);
}

/* ---- bits.cu ---- */

static uint32_t ones_from(uint32_t first, uint32_t count) {
  return first > 31 ? 0 : (count > 31 ? UINT32_MAX : (1u << count) - 1) << first;
}

static uint32_t bit_masks(uint32_t t, const uint32_t *in) {
  uint32_t first = in[t] & 63, count = in[t] >> 6 & 63;
  return ones_from(first & 31, count & 31) + 3 * ones_from(first, count);
}

static uint32_t itself(uint32_t t, const uint32_t *in) { return in[t]; }

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

static uint32_t dots(uint32_t t, const uint32_t *in) {
  uint32_t a = word_of(in, t), b = word_of(in, t ^ 1), c = word_of(in, t ^ 3);
  return dot(a, b, c, false, false, false) + 3 * dot(a, b, c, true, true, true) +
         5 * dot(a, b, c, false, true, false) + 7 * dot(a, b, c, true, false, true);
}

static uint32_t differences(uint32_t t, const uint32_t *in) {
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

static uint32_t integer_extremes(uint32_t t, const uint32_t *in) {
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

static uint32_t three_halves(uint32_t t, const uint32_t *in) {
  Pair c = pair_of(word_of(in, t ^ 3), from_half), a = pair_of(word_of(in, t), from_half),
       b = pair_of(word_of(in, t ^ 1), from_half);
  Pair most = pair_of(extremes(a, b, false, true, half_bits), from_half),
       least = pair_of(extremes(a, b, true, true, half_bits), from_half);
  return extremes(most, c, false, true, half_bits) + 3 * extremes(least, c, true, true, half_bits);
}

static uint32_t rounded_halves(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t) & 0x57ff57ff, from_half);
  return joined(half_bits(floor(a.low)), half_bits(floor(a.high))) +
         3 * joined(half_bits(ceil(a.low)), half_bits(ceil(a.high))) +
         5 * joined(half_bits(trunc(a.low)), half_bits(trunc(a.high))) +
         7 * joined(half_bits(rint(a.low)), half_bits(rint(a.high)));
}

static double tangent(double value) { return (float)tanh(value); }

static uint32_t tangents(uint32_t t, const uint32_t *in) {
  Pair a = pair_of(word_of(in, t) & 0xbfffbfff, from_half), b = pair_of(word_of(in, t) & 0xbfffbfff, brain);
  return joined(half_bits(tangent(a.low)), half_bits(tangent(a.high))) +
         3 * joined(brain_bits(tangent(b.low)), brain_bits(tangent(b.high)));
}

static double half_fused(double a, double b, double c) { return from_half(half_bits(fused(a, b, c))); }

static uint32_t complex_numbers(uint32_t t, const uint32_t *in) {
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

static uint32_t quotients(uint32_t t, const uint32_t *in) {
  double a = (int32_t)word_of(in, t) * 0.75;
  uint64_t sum = bits_of(a / 100.) + 3 * bits_of(a / 0.3);
  return (uint32_t)(sum ^ sum >> 32);
}

static uint32_t blocks_apart(uint32_t t, const uint32_t *in) {
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

static uint32_t floats_added(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 4; i++)
    sum += low_byte(in, t / 4 * 4 + i) * (t % 4 + 1);
  return float_bits((float)sum);
}

/* Adds v to 0, v to v, and 2 v to 2 v. */
static uint32_t floats_fetched(uint32_t t, const uint32_t *in) { return float_bits(4 * (float)low_byte(in, t)); }

/* ---- rest.cu ---- */

/* A thread and those of its tile of `size` threads. */
static uint32_t ballot_of_tile(uint32_t t, uint32_t size, const uint32_t *in, uint32_t bit) {
  uint32_t votes = 0;
  for (uint32_t i = 0; i < size; i++)
    votes |= (low_byte(in, t / size * size + i) & bit ? 1u : 0) << i;
  return votes;
}

static uint32_t tile_votes(uint32_t t, const uint32_t *in) {
  enum { PAIR = 16, FOUR = 4 };
  bool all = true;
  for (uint32_t i = 0; i < FOUR; i++)
    all = all && low_byte(in, t / FOUR * FOUR + i) > 3;
  uint32_t r = low_byte(in, t ^ 1) * 3 + ballot_of_tile(t, PAIR, in, 1);
  return (r * 5 + all) * 7 + (ballot_of_tile(t, FOUR, in, 64) != 0);
}

static uint32_t double_extremes(uint32_t t, const uint32_t *in) {
  double a = in[t] & 1 ? NAN : (in[t] & 255) * 0.5 - 20, b = in[t] & 2 ? NAN : (in[t] >> 8 & 63) - 7.0;
  double low = fmin(a, b), high = fmax(a, b);
  return (uint32_t)((isnan(low) ? 1000 : (int)(low * 4)) * 3 + (isnan(high) ? 2000 : (int)(high * 4)));
}

static double as_half(double value) {
  enum { PRECISION = 11 };
  int exponent;
  double part = frexp(value, &exponent);
  return ldexp(rint(ldexp(part, PRECISION)), exponent - PRECISION);
}

static uint32_t bare(uint32_t t, const uint32_t *in) {
  uint32_t bits = (in[t] & 0x7f) << 8 | 1, exponent = bits >> 10;
  double part = exponent ? 1024 + (bits & 1023) : bits & 1023, half = ldexp(part, (int)MAX(exponent, 1) - 25);
  double d = (in[t] & 255) - 100.0;
  int root = exponent == 31 ? -1 : (int)(as_half(sqrt(half)) * 16);
  return (uint32_t)(root * 5 + (int)(fabs(d * 3 - 50) - d * d));
}

static int32_t clamped(int64_t value, int64_t low, int64_t high) { return (int32_t)CLAMP(value, low, high); }

static uint32_t saturated(uint32_t t, const uint32_t *in) {
  int32_t a = (int32_t)(in[t] << (in[t] & 31)), b = (int32_t)(in[t] * 77777777u), s = (int32_t)(in[t] * 5);
  uint32_t r = (uint32_t)clamped((int64_t)a + b, INT32_MIN, INT32_MAX);
  r = r * 3 + (uint32_t)clamped((int64_t)a - b, INT32_MIN, INT32_MAX);
  r = r * 3 + (uint32_t)clamped(s - 300, 0, UINT8_MAX);
  r = r * 3 + (uint32_t)clamped((int32_t)((uint32_t)s << 8), INT16_MIN, INT16_MAX);
  return r * 3 + (b == -1 ? 32u : (uint32_t)__builtin_clz(~(uint32_t)b));
}

static uint32_t less(uint32_t t, const uint32_t *in) {
  int64_t x = (int64_t)(int32_t)in[t] * (int32_t)(in[t] * 99991u) - (int32_t)in[t ^ 1];
  return (uint32_t)(x >> 7) + 5 * (uint32_t)(x >> 32);
}

static uint32_t reduced(uint32_t t, const uint32_t *in) {
  enum { LANES = 32, SOME = 10 };
  uint32_t first = t / LANES * LANES, odd = 0, least = UINT32_MAX;
  for (uint32_t i = 0; i < LANES; i++) {
    odd += low_byte(in, first + i) & 1 ? low_byte(in, first + i) : 0;
    least = i < SOME ? MIN(least, low_byte(in, first + i)) : least;
  }
  return (low_byte(in, t) & 1 ? odd : 0) + (t % LANES < SOME ? 1000 * least : 0);
}

static uint32_t dynamic(uint32_t t, const uint32_t *in) { return in[t] + DYNAMIC_BYTES; }

/* ---- special.cu ---- */

static uint32_t sums_of_halves(uint32_t t, const uint32_t *in) { return 3 * low_byte(in, t) + 1; }

static uint32_t positive_halves(uint32_t t, const uint32_t *in) {
  double a = low_byte(in, t) - 100.0, b = 50.0 - (in[t] & 127);
  return joined(half_bits(MAX(b, 0)), half_bits(MAX(a, 0)));
}

static uint32_t with_policies(uint32_t t, const uint32_t *in) { return in[t] + 3; }

static uint32_t elected(uint32_t t, const uint32_t *in) {
  (void)in;
  return t % 32 == 5;
}

static uint32_t several_halves(uint32_t t, const uint32_t *in) {
  double low = in[t & ~1u] & 1 ? 4 : 2, high = in[t & ~1u] & 1 ? 2 : 4;
  return t % 2 ? joined(half_bits(2), half_bits(2)) : joined(half_bits(low), half_bits(high));
}

static uint32_t reductions(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0, most = 0, all = UINT32_MAX, any = 0, odd = 0;
  for (uint32_t i = 0; i < THREADS; i++) {
    sum += i - 3 * 2;
    most = MAX(most, i * 3 % 50);
    all &= ~(i & 12);
    any |= 1u << (i & 15);
    odd ^= i;
  }
  return t < N && in ? sum + 5 * most - 7 * (THREADS - 1) + 11 * all + 13 * any + 17 * odd : 0;
}

static uint32_t system_shared(uint32_t t, const uint32_t *in) {
  return in[t ^ 1] + 3 * (in[t / THREADS * THREADS + t % 32] + 1);
}

static uint32_t machine_numbers(uint32_t t, const uint32_t *in) {
  (void)in;
  return t < N;
}

/* ---- all ---- */

static const KernelCase cases[] = {
    {"pointers", "by_table", by_table},
    {"pointers", "virtuals", virtuals},
    {"pointers", "recursion", recursion},
    {"pointers", "nested", nested},
    {"pointers", "frames", frames},
    {"pointers", "switches", switches},
    {"pointers_linked", "by_table", by_table},
    {"pointers_linked", "virtuals", virtuals},
    {"pointers_linked", "recursion", recursion},
    {"pointers_linked", "nested", nested},
    {"pointers_linked", "frames", frames},
    {"pointers_linked", "switches", switches},
    {"debug", "turns", turns},
    {"debug", "pointed", pointed},
    {"sorted", "sorted", sorted},
    {"mbarrier", "rounds", rounds},
    {"mbarrier", "drops", drops},
    {"mbarrier", "raw", neighbour},
    {"mbarrier", "hopper", hopper},
    {"mbarrier", "counted", counted},
    {"arrivals", "added", added},
    {"arrivals", "counted", neighbour},
    {"arrivals", "library", neighbour},
    {"arrivals", "alone", neighbour},
    {"arrivals", "ignored", ignored},
    {"copies", "sizes", sizes},
    {"bits", "ones", bit_masks},
    {"pairs", "half_compared", half_compared},
    {"pairs", "half_extremes", half_extremes},
    {"pairs", "half_sums", half_sums},
    {"pairs", "brain_compared", brain_compared},
    {"pairs", "brain_sums", brain_sums},
    {"pairs", "brain_converted", brain_converted},
    {"pairs", "halves_added", halves_added},
    {"pairs", "brains_added", brains_added},
    {"vectors", "dots", dots},
    {"vectors", "differences", differences},
    {"vectors", "extremes", integer_extremes},
    {"vectors", "extremes_of_halves", three_halves},
    {"vectors", "rounded", rounded_halves},
    {"vectors", "tangents", tangents},
    {"vectors", "complex_numbers", complex_numbers},
    {"vectors", "quotients", quotients},
    {"vectors", "blocks_apart", blocks_apart},
    {"vectors", "floats_added", floats_added},
    {"vectors", "floats_fetched", floats_fetched},
    {"copies", "filled", filled},
    {"copies", "stages", stages},
    {"copies", "pipelined", stages},
    {"copies", "together", neighbour},
    {"copies", "waited", itself},
    {"special", "sums_of_halves", sums_of_halves},
    {"special", "positive_halves", positive_halves},
    {"special", "policies", with_policies},
    {"special", "elected", elected},
    {"special", "several_halves", several_halves},
    {"special", "reductions", reductions},
    {"special", "system_shared", system_shared},
    {"special", "machine_numbers", machine_numbers},
    {"rest", "tile_votes", tile_votes},
    {"rest", "double_extremes", double_extremes},
    {"rest", "bare", bare},
    {"rest", "saturated", saturated},
    {"rest", "less", less},
    {"rest", "dynamic", dynamic},
    {"rest", "reduced", reduced},
};

typedef struct Architecture {
  unsigned sm;
  const char *machine;
} Architecture;

/* sm_75 runs on the RTX 3070's machine here: no machine of that generation is described. */
static const Architecture architectures[] = {{75, "rtx3070"}, {80, "rtx3070"}, {86, "rtx3070"}, {90, "h200"}};

static const Kernel *find_kernel(const Program *program, const char *name) {
  for (guint i = 0; i < program->kernels->len; i++)
    if (strcmp(program_kernel(program, i)->name, name) == 0)
      return program_kernel(program, i);
  ck_abort_msg("no kernel %s", name);
}

/* The kernel's `out`. */
static void run(const Program *program, const Machine *machine, const char *name, const uint32_t *in, uint32_t *out) {
  g_autoptr(GByteArray) args = g_byte_array_new();
  Backing *backing = backing_new();
  uint64_t *symbols = symbols_place(program, backing);
  guint result = backing_add(backing, "out", N, out), input = backing_add(backing, "in", N, in);
  g_byte_array_append(args, (const guint8 *)&backing_buffer(backing, result)->base, 8);
  g_byte_array_append(args, (const guint8 *)&backing_buffer(backing, input)->base, 8);
  Gpu *gpu = gpu_new(machine, backing, 1);
  LaunchConfig config = {.program = program,
                         .kernel = find_kernel(program, name),
                         .grid = {BLOCKS, 1, 1},
                         .block = {THREADS, 1, 1},
                         .args = args->data,
                         .args_bytes = args->len,
                         .shared_bytes = DYNAMIC_BYTES,
                         .symbols = symbols};
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s: %s", name, why);
  GpuStop stop = gpu_run(gpu, CYCLES_MAX, UINT64_MAX);
  ck_assert_msg(stop == GPU_FINISHED, "%s on %s: stopped by %d: %s", name, machine->name, (int)stop,
                gpu->fault.happened ? gpu->fault.message : "");
  memcpy(out, backing_buffer(backing, result)->data, N * sizeof *out);
  gpu_free(gpu);
  g_free(symbols);
  backing_free(backing);
}

static char *path_of(const KernelCase *kernel, const Architecture *architecture, const char *ending) {
  return g_strdup_printf("%s/tests/machine_code/%s.sm_%u.%s", g_getenv("SRCDIR"), kernel->file, architecture->sm,
                         ending);
}

static bool is_recorded(const KernelCase *kernel, const Architecture *architecture, const char *ending) {
  g_autofree char *path = path_of(kernel, architecture, ending);
  return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* As machine code, or as PTX. */
static Program *load(const KernelCase *kernel, const Architecture *architecture, const char *ending) {
  if (strcmp(ending, "cubin") == 0) {
    g_autofree char *file = g_strdup_printf("%s.sm_%u.cubin", kernel->file, architecture->sm);
    return mc_lab_cubin_of("tests/machine_code", file, architecture->sm, NULL);
  }
  PtxTarget target = {.capability = architecture->sm,
                      .convergence_barriers = true,
                      .max_registers = 255,
                      .sm_registers = 65536,
                      .register_granule = 256};
  g_autofree char *path = path_of(kernel, architecture, ending), *text = NULL;
  ck_assert(g_file_get_contents(path, &text, NULL, NULL));
  return ptx_lab_lower_good(text, &target);
}

static void check(const KernelCase *kernel, const Architecture *architecture, const char *ending) {
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load(architecture->machine, NULL, diag);
  Program *program = load(kernel, architecture, ending);
  uint32_t in[N], out[N] = {0};
  for (uint32_t i = 0; i < N; i++)
    in[i] = (i + 11) * UINT32_C(2654435761) >> 7;
  run(program, machine, kernel->kernel, in, out);
  for (uint32_t t = 0; t < N; t++) {
    uint32_t want = kernel->reference(t, in);
    UNIT_ASSERT(out[t] == want, "%s of %s.sm_%u.%s: thread %u: %u, expected %u", kernel->kernel, kernel->file,
                architecture->sm, ending, t, out[t], want);
  }
  program_free(program);
  machine_free(machine);
}

START_TEST(kernels) {
  unsigned checked = 0;
  for (guint i = 0; i < G_N_ELEMENTS(architectures); i++)
    if (is_recorded(&cases[_i], &architectures[i], "cubin")) {
      check(&cases[_i], &architectures[i], "cubin");
      checked++;
    }
  ck_assert_uint_eq(checked, 3); /* of the four each file has three */
}
END_TEST

START_TEST(kernels_of_ptx) {
  unsigned checked = 0;
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++)
    for (guint i = 0; i < G_N_ELEMENTS(architectures); i++)
      if (is_recorded(&cases[c], &architectures[i], "ptx")) {
        check(&cases[c], &architectures[i], "ptx");
        checked++;
      }
  ck_assert_uint_eq(checked, 48);
}
END_TEST

/* By hand, without encodings: what ptxas makes of such code only where it runs out of uniform predicates. */
START_TEST(words_of_uniform_registers) {
  enum { LOW_BYTES = 0xabcdef, PREDICATES = 0x55, CHOSEN = 0x10 + 0x30, SUM = 2 * 3 + 5 };
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "tests", "machine_code", "uniform_words.txt", NULL),
                  *text = NULL;
  gsize length;
  g_autoptr(Diag) diag = diag_new();
  ck_assert(g_file_get_contents(path, &text, &length, NULL));
  g_autoptr(McModule) module = mc_listing_parse(path, text, length, diag);
  Machine *machine = machine_load("h200", NULL, diag);
  Program *program = module ? mc_lower(module, 90, NULL, diag) : NULL;
  uint32_t in[N] = {0}, out[N] = {0};
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program && !program_kernel(program, 0)->refusal, "%s", messages);
  run(program, machine, "uniform_words", in, out);
  for (uint32_t t = 0; t < N; t++)
    ck_assert_msg(out[t] == (PREDICATES << 24 | LOW_BYTES) + CHOSEN + SUM, "thread %u: %#x", t, out[t]);
  program_free(program);
  machine_free(machine);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("mc_kernels");
  TCase *tcase = tcase_create("mc_kernels");
  tcase_add_loop_test(tcase, kernels, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, kernels_of_ptx);
  tcase_add_test(tcase, words_of_uniform_registers);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
