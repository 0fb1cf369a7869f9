/* exec_rows.h - what the executors of arithmetic share: loops over lanes, pairs of rows, comparisons.
 *
 * An executor computes a whole row into a local array, which the compiler vectorises, and issue_write() merges it
 * under the mask. What is the same in all lanes (flags, type, rounding) is looked at outside the loop. */
#ifndef LOCKSTEP_CORE_EXEC_ROWS_H
#define LOCKSTEP_CORE_EXEC_ROWS_H

#include "base/wide.h"
#include "sim/core/exec.h"

#define ROW for (unsigned l = 0; l < WARP_LANES; l++)

/* All ones if the flag is set: x ^ s - s negates. */
static inline uint32_t sign_of(const Inst *inst, uint32_t flag) { return inst->flags & flag ? UINT32_MAX : 0; }

/* Row of all-ones or zero words from a mask of lanes. */
static inline void spread(uint32_t mask, uint32_t row[WARP_LANES]) {
  ROW row[l] = (mask & lane_bit[l]) ? UINT32_MAX : 0;
}

/* The row of the high word of the pair that begins with `slot`. */
static inline int16_t high_row(int16_t slot) { return (int16_t)(slot >= 0 ? slot + 1 : slot - 1); }

/* A 64-bit operand: two rows. */
static inline void read_wide(const Issue *issue, int16_t slot, uint64_t row[WARP_LANES]) {
  const uint32_t *low = issue_operand(issue, slot), *high = issue_operand(issue, high_row(slot));
  ROW row[l] = (uint64_t)high[l] << 32 | low[l];
}

static inline void write_wide(Issue *issue, int16_t slot, const uint64_t row[WARP_LANES]) {
  uint32_t low[WARP_LANES], high[WARP_LANES];
  ROW low[l] = (uint32_t)row[l];
  ROW high[l] = (uint32_t)(row[l] >> 32);
  issue_write(issue, slot, low);
  issue_write(issue, (int16_t)(slot + 1), high);
}

/* Both predicate results are made before either is written: a source may be a destination. */
static inline void set_both(Issue *issue, uint32_t value, uint32_t complement) {
  issue_set_pred(issue, issue->inst->pdst, value);
  issue_set_pred(issue, issue->inst->pdst2, complement);
}

/* The lanes for which a comparison holds, from those in which a is less than b, equal to it, and not ordered with it
 * (a NaN; 0 for integers). */
static inline uint32_t relation(CmpOp cmp, uint32_t less, uint32_t equal, uint32_t unordered) {
  switch (cmp) {
  case CMP_F: return 0;
  case CMP_LT: return less;
  case CMP_EQ: return equal;
  case CMP_LE: return less | equal;
  case CMP_GT: return ~(less | equal | unordered);
  case CMP_NE: return ~(equal | unordered);
  case CMP_GE: return ~(less | unordered);
  case CMP_T: return ALL_LANES;
  case CMP_LTU: return less | unordered;
  case CMP_EQU: return equal | unordered;
  case CMP_LEU: return less | equal | unordered;
  case CMP_GTU: return ~(less | equal);
  case CMP_NEU: return ~equal;
  case CMP_GEU: return ~less;
  case CMP_NUM: return ~unordered;
  case CMP_NAN: return unordered;
  }
  return 0;
}

/* Writes the predicates of a SETP. */
static inline void set_relation(Issue *issue, uint32_t holds) {
  uint32_t other = issue_pred(issue, 0);
  set_both(issue, combine_masks(issue->inst->lop, holds, other), combine_masks(issue->inst->lop, ~holds, other));
}

/* ---- floats ---- */

static inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint64_t double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* What every result that is not a number looks like. */
#define NAN_F16 UINT32_C(0x7fff) /* of bfloat16, too */
#define NAN_F32 UINT32_C(0x7fffffff)
#define NAN_F64 UINT64_C(0xfff8000000000000)

/* A subnormal float becomes a zero of its sign. */
static inline uint32_t flush(uint32_t bits) { return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits; }

#endif
