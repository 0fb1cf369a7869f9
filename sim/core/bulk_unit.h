/* bulk_unit.h - what an SM's unit for copies in bulk has under way, shared by bulk.c, which moves the bytes, and
 * bulk_tell.c, which says what its lanes do by that. See bulk.h. */
#ifndef LOCKSTEP_CORE_BULK_UNIT_H
#define LOCKSTEP_CORE_BULK_UNIT_H

#include "sim/core/bulk_copy.h"

/* What comes to shared memory, and what leaves it. */
typedef enum { WAY_IN, WAY_OUT, WAYS } Way;

/* How many groups each lane of a warp has ended, has waited for until they had been read, and until they had been
 * written. */
typedef struct BulkGroups {
  uint32_t ended[WARP_LANES], awaited[WARP_LANES], written[WARP_LANES];
} BulkGroups;

struct BulkUnit {
  GPtrArray *copies;       /* BulkCopy *, in order of issue: all that aren't over */
  GPtrArray *untold;       /* those to global memory that are, for whose group their lane hasn't waited */
  uint64_t free[WAYS];     /* in thousandths of a cycle: when it begins the next */
  BulkGroups *groups;      /* of each warp slot */
  const BulkCopy *telling; /* whose accesses are told now; NULL: no copy's */
};

static inline Way way_of(const BulkCopy *copy) { return copy->inst->op == OP_BULKLOAD ? WAY_IN : WAY_OUT; }
static inline bool is_end(const BulkCopy *copy) { return copy->inst->op == OP_BULKEND; }
static inline BulkCopy *copy_at(const Sm *sm, guint i) { return g_ptr_array_index(sm->bulk->copies, i); }

/* The warp that issued it, if it hasn't exited, or another one of its block is still there; else NULL. */
static inline Warp *warp_of(Sm *sm, const BulkCopy *copy) {
  Warp *warp = &sm->warps[copy->slot];
  return warp->age == copy->age && warp->state != WARP_FREE && warp_block(sm, warp)->launch ? warp : NULL;
}

/* To the detectors: a copy begins, after a look at what copies under way do to its bytes. */
void bulk_tell_begin(const Issue *issue, const BulkCopy *copy);
/* All its bytes are where they belong. What it does is done by its lane now, or (false) once that has waited. */
bool bulk_tell_end(Sm *sm, BulkCopy *copy, uint64_t now);
/* Its bytes count at its mbarrier. */
void bulk_tell_count(Sm *sm, Warp *warp, const BulkCopy *copy, uint64_t now);

#endif
