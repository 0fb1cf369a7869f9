/* oracle.h - what instructions do to one lane, said plainly and apart from the executors: the words of op_cases.def
 * and row_cases.def, and the operands that the cases are tried on. */
#ifndef LOCKSTEP_TESTS_ORACLE_H
#define LOCKSTEP_TESTS_ORACLE_H

#include <math.h>
#include <string.h>

#include "isa/program.h"
#include "sim/engine/rng.h"

__extension__ typedef __int128 Int128;

/* ---- operands ---- */

enum { OPERAND_EDGES = 55, OPERAND_WIDE_EDGES = 53 };
extern const uint32_t operand_edges[OPERAND_EDGES];
extern const uint64_t operand_wide_edges[OPERAND_WIDE_EDGES];
/* An edge, a small number, a float of moderate size or any word. */
uint32_t operand_word(Rng *rng);
uint64_t operand_wide(Rng *rng);

/* ---- integers and floats of one word ---- */

#define SIGN 0x80000000u

static inline int64_t s(uint32_t word) { return word < SIGN ? (int64_t)word : (int64_t)word - 4294967296; }
static inline uint64_t u(uint32_t word) { return word; }
static inline uint32_t low(uint64_t value) { return (uint32_t)(value & 0xffffffff); }
static inline uint32_t high(uint64_t value) { return (uint32_t)(value >> 32); }

static inline uint32_t clamp(int64_t value) {
  return low((uint64_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value));
}

/* Rounds down, as an arithmetic shift does. */
static inline uint32_t divide_by_power(int64_t value, uint32_t power) {
  int64_t divisor = INT64_C(1) << power, quotient = value / divisor;
  return low((uint64_t)(quotient - (value % divisor < 0)));
}

static inline unsigned bit(uint32_t word, unsigned position) { return word >> position & 1; }

/* PTX's bfe and bfi, bit by bit. */
static inline uint32_t field(uint32_t word, uint32_t where, bool is_signed) {
  unsigned position = where & 0xff, length = where >> 8 & 0xff, result = 0;
  unsigned last = position + length - 1 < 31 ? position + length - 1 : 31;
  unsigned filler = is_signed && length > 0 ? bit(word, last) : 0;
  for (unsigned i = 0; i < 32; i++)
    result |= (i < length && position + i <= 31 ? bit(word, position + i) : filler) << i;
  return result;
}

static inline uint32_t with_field(uint32_t word, uint32_t value, uint32_t where) {
  unsigned position = where & 0xff, length = where >> 8 & 0xff;
  for (unsigned i = 0; i < length && i < 32; i++)
    if (position + i <= 31)
      word = (word & ~(1u << (position + i))) | bit(value, i) << (position + i);
  return word;
}

static inline uint32_t ones(uint32_t word) {
  uint32_t count = 0;
  for (unsigned i = 0; i < 32; i++)
    count += bit(word, i);
  return count;
}

static inline uint32_t top_bit(uint32_t word) {
  uint32_t position = UINT32_MAX;
  for (unsigned i = 0; i < 32; i++)
    position = bit(word, i) ? i : position;
  return position;
}

static inline bool related(unsigned bits, double x, double y) {
  return bits & (x < y ? 1 : x == y ? 2 : x > y ? 4 : 8);
}

static inline double f(uint32_t word) {
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

static inline uint32_t flushed(uint32_t word) { return word << 1 < 0x01000000 ? word & SIGN : word; }
static inline double fz(uint32_t word) { return f(flushed(word)); }

/* Sums and products of two floats, exact or rounded to odd in a double, round to the right float. */
static inline uint32_t single(double value) {
  float rounded = (float)value;
  uint32_t word;
  memcpy(&word, &rounded, sizeof word);
  return rounded != rounded ? 0x7fffffff : word;
}

static inline uint32_t unit_interval(double value) { return single(value >= 1 ? 1 : value > 0 ? value : 0); }

/* x * y + z rounded to odd (Boldo and Melquiond): the product is exact, and an inexact sum gets an odd last bit. */
static inline double fused(double x, double y, double z) {
  volatile double product = x * y, sum = product + z;
  if (!(fabs(sum) < INFINITY))
    return sum;
  volatile double part = sum - product, error = (product - (sum - part)) + (z - part);
  int64_t bits;
  memcpy(&bits, (const double *)&sum, sizeof bits);
  if (error != 0 && bits % 2 == 0)
    bits += (error > 0) == (sum > 0) ? 1 : -1;
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return odd;
}

/* Order of floats with -0 below +0; a NaN loses. */
static inline int64_t rank(uint32_t word) { return word & SIGN ? -(int64_t)(word & ~SIGN) - 1 : (int64_t)word; }
static inline bool is_nan(uint32_t word) { return word << 1 > 0xff000000; }
static inline uint32_t choose(uint32_t x, uint32_t y, bool take_x) {
  return is_nan(x) && is_nan(y) ? 0x7fffffff : is_nan(x) ? y : is_nan(y) ? x : take_x ? x : y;
}
static inline uint32_t lesser(uint32_t x, uint32_t y) { return choose(x, y, rank(x) < rank(y)); }
static inline uint32_t greater(uint32_t x, uint32_t y) { return choose(x, y, rank(x) > rank(y)); }

enum Rounding { TOWARDS_ZERO, DOWN, UP, TO_EVEN };

static inline uint32_t integer(double value, enum Rounding rounding, double least, double most) {
  if (isnan(value))
    return 0;
  if (value >= 4294967296.0 || value <= -4294967296.0)
    return low((uint64_t)(int64_t)(value > 0 ? most : least));
  double below = (double)(int64_t)value - ((double)(int64_t)value > value), rest = value - below;
  bool odd = (int64_t)below % 2 != 0;
  double whole = rounding == DOWN           ? below
                 : rounding == UP           ? below + (rest > 0)
                 : rounding == TOWARDS_ZERO ? below + (rest > 0 && value < 0)
                                            : below + (rest > 0.5 || (rest == 0.5 && odd));
  return low((uint64_t)(int64_t)(whole < least ? least : whole > most ? most : whole));
}

/* ---- 64 bits ---- */

static inline uint64_t top_half(Int128 value) { return (uint64_t)(value >> 64); }
static inline bool is_nan64(uint64_t bits) { return bits << 1 > UINT64_C(0xffe0000000000000); }

static inline double d(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint64_t two_words(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? UINT64_C(0xfff8000000000000) : bits;
}

uint64_t wide_field(uint64_t value, uint32_t where, bool is_signed);
uint64_t with_wide_field(uint64_t word, uint64_t value, uint32_t where);
uint32_t ones_of(uint64_t value);
/* Position of the highest bit that is set, 0xffffffff if none is. */
uint32_t top_of(uint64_t value);
/* The lowest `bits` bits backwards. */
uint64_t backwards(uint64_t value, unsigned bits);
/* a / b with the sign bit at `bits` - 1 or none; all ones if b is 0. */
uint64_t quotient(uint64_t a, uint64_t b, bool is_signed, unsigned bits);
uint64_t remainder_of(uint64_t a, uint64_t b, bool is_signed, unsigned bits);
/* PTX's prmt: byte by byte from its tables. */
uint32_t permuted(PrmtMode mode, uint32_t a, uint32_t b, uint32_t c);
uint32_t table_logic(uint8_t table, uint32_t a, uint32_t b, uint32_t c);
/* PTX's shfl, from its pseudocode: the lane read, and whether it is in range. */
unsigned shuffle_source(ShflMode mode, unsigned lane, uint32_t b, uint32_t c);
bool shuffle_in_range(ShflMode mode, unsigned lane, uint32_t b, uint32_t c);

/* ---- rounding: by the host's floating-point unit ---- */

/* False under valgrind, which rounds to nearest whatever the mode. */
bool host_rounds(void);
uint32_t rounded(char operation, uint32_t a, uint32_t b, uint32_t c, FloatRound round);
uint64_t rounded64(char operation, uint64_t a, uint64_t b, uint64_t c, FloatRound round);
/* PTX's cvt of `value` (the low bits of a row or pair), as the row or pair it gives. */
uint64_t converted(const Inst *inst, uint64_t value);
/* f16 and bfloat16, by their bits. A double that rounds as the number does to 40 bits or fewer: what doesn't fit
 * makes it odd. */
double from_half(uint32_t half);
uint32_t to_half(double value, FloatRound round);
uint32_t to_brain(double value, FloatRound round);
double rounded_to_odd(Int128 number);

#endif
