/* updates.h - stores whose value is a change of what the same thread has loaded before: `x++`, `x += n`, `x |= bit`
 * of words that are volatile or relaxed. A compiler makes a load, an operation and a store of each, between which
 * others may store.
 *
 * The operation is one that has an effect whatever the word held (a sum, XOR), or bits that are set or taken away.
 * Its other operand, and whether the store is come to, don't depend on the load: who advances an epoch only if all
 * have seen it may do so beside others, who store the same.
 * Does not model: products, minima and maxima, values that pass through memory, narrow and vector accesses. */
#ifndef LOCKSTEP_DETECT_RACE_UPDATES_H
#define LOCKSTEP_DETECT_RACE_UPDATES_H

#include "isa/flow/atomics.h"

typedef enum {
  UPDATE_ADDS,
  UPDATE_FLIPS,
  UPDATE_SETS,
  UPDATE_CLEARS,
  UPDATE_MIXES,   /* sums and XOR */
  UPDATE_NOTHING, /* while it is looked for: what was loaded, as it is */
  UPDATE_OTHER    /* something else */
} UpdateKind;

/* Both are of 32 or 64 bits. Whether they have one address shows when they run. */
typedef struct Update {
  uint32_t load, store;
  UpdateKind kind;
  bool floats;
} Update;

/* The kernel's: Update. The caller owns the array. */
GArray *updates_find(const Kernel *kernel);
/* True if what it stores says that nothing of `now`, which others have left there since `loaded`, is lost. Of one
 * word. */
bool updates_keeps(UpdateKind kind, uint32_t loaded, uint32_t now, uint32_t stored);

/* The update as one atomic operation in the place of its load, with the store left out; false: it is none that can be
 * written so, as where the address is computed again, or what is added only behind the load. */
bool updates_as_atomic(const Kernel *kernel, const Update *update, AtomicUpdate *atomic);

#endif
