/* undefined_rows.h - the marks of one warp's registers and predicates: what exec_undefined.c (instructions that
 * compute) and undefined_memory.c (loads, stores, atomic operations) share. Private to them. */
#ifndef LOCKSTEP_CORE_UNDEFINED_ROWS_H
#define LOCKSTEP_CORE_UNDEFINED_ROWS_H

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/tell.h"
#include "sim/core/undefined.h"

static inline uint32_t rows_of(const Issue *issue) {
  return warp_block(issue->sm, issue->warp)->launch->kernel->nregs;
}

/* Lanes in which some of those bits are undefined. */
static inline uint32_t lanes_with(const UndefinedRow *row, uint32_t bits) {
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    lanes |= row->bits[lane] & bits ? lane_bit[lane] : 0;
  return lanes;
}

static inline uint32_t lanes_of(const UndefinedRow *row) { return lanes_with(row, UINT32_MAX); }

static inline bool is_marked(const UndefinedRow *row) { return lanes_of(row) != 0; }

/* Rows behind the registers hold the marks of predicates. */
static inline uint32_t pred_row(const Issue *issue, unsigned predicate) { return rows_of(issue) + predicate; }

/* `lanes` of a register get the marks of `value` (NULL: none). */
static inline void set_row(Warp *warp, uint32_t reg, uint32_t lanes, const UndefinedRow *value) {
  UndefinedRow *row = &warp->undefined[reg];
  bool before = is_marked(row), some = false;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    if (!(lanes & lane_bit[lane]))
      continue;
    row->bits[lane] = value ? value->bits[lane] : 0;
    some |= row->bits[lane] != 0;
  }
  if (some)
    row->from = value->from;
  bool after = is_marked(row);
  warp->undefined_rows += (uint32_t)after - (uint32_t)before;
}

static inline const UndefinedRow *row_of(const Issue *issue, int16_t slot) {
  return slot >= 0 && (uint32_t)slot < rows_of(issue) && is_marked(&issue->warp->undefined[slot])
             ? &issue->warp->undefined[slot]
             : NULL;
}

static inline void tell(const Issue *issue, uint32_t lanes, const UndefinedFrom *from) {
  ProbePoint point = issue_point(issue, lanes);
  point.pc = issue->pc;
  point.block = issue->block;
  tell_undefined_use(&point, from);
}

/* Row `i` of a value that begins at `slot`; NULL if it is defined. */
static inline const UndefinedRow *value_row(const Issue *issue, int16_t slot, unsigned i, bool wide) {
  return slot < 0 || (i && !wide) ? NULL : row_of(issue, (int16_t)(slot + (int16_t)i));
}

#endif
