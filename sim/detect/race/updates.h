/* updates.h - stores whose value is a change of what the same thread has loaded before: `x++`, `x += n`, `x |= bit`
 * of words that are volatile or relaxed. A compiler makes a load, an operation and a store of each, between which
 * others may store.
 *
 * The operation is one that has an effect whatever the word held (a sum, XOR, a product), or bits that are set or
 * taken away. Its other operand, and whether the store is come to, don't depend on the load: who advances an epoch
 * only if all have seen it may do so beside others, who store the same.
 * Or what is stored is the greater or the smaller of the load and another value, by an operation or by a comparison
 * that decides whether the other one is stored: `if (x < v) x = v`.
 * Does not model: values that pass through memory, narrow and vector accesses. */
#ifndef LOCKSTEP_DETECT_RACE_UPDATES_H
#define LOCKSTEP_DETECT_RACE_UPDATES_H

#include "isa/flow/atomics.h"
#include "isa/flow/cfg.h"

typedef enum {
  UPDATE_ADDS,
  UPDATE_FLIPS,
  UPDATE_SETS,
  UPDATE_CLEARS,
  UPDATE_MIXES,   /* sums and XOR */
  UPDATE_SCALES,  /* a product */
  UPDATE_RAISES,  /* the maximum of both */
  UPDATE_LOWERS,  /* the minimum */
  UPDATE_NOTHING, /* while it is looked for: what was loaded, as it is */
  UPDATE_OTHER    /* something else */
} UpdateKind;

/* Both are of 32 or 64 bits. Whether they have one address shows when they run. */
typedef struct Update {
  uint32_t load, store;
  UpdateKind kind;
  bool floats;
  bool chosen;   /* a maximum or minimum by a comparison that decides whether the store happens */
  DataType type; /* how a maximum or minimum compares */
} Update;

/* It raises or lowers a word. */
static inline bool update_is_extreme(const Update *update) {
  return update->kind == UPDATE_RAISES || update->kind == UPDATE_LOWERS;
}

/* The kernel's: Update. The caller owns the array. */
GArray *updates_find(const Kernel *kernel);
/* Its part: adds those whose store happens or not because of a comparison. */
void updates_find_chosen(const Kernel *kernel, const Cfg *cfg, GArray *updates);
/* A volatile or stronger access by a load or a store, `flag`, of 32 or 64 bits. */
bool updates_is_strong(const Inst *inst, uint32_t flag);

/* What a word, or two, had when it was loaded, has now, and will have. */
typedef struct UpdateValues {
  const uint32_t *loaded, *now, *stored;
} UpdateValues;
/* True if what it stores says that nothing of what others have left there since the load is lost in that word. */
bool updates_keeps(const Update *update, const UpdateValues *values, uint32_t word);
/* Of one that raises or lowers: `stored` has what `now` had to say. */
bool updates_outdoes(const Update *update, const uint32_t *stored, const uint32_t *now);

/* The update as one atomic operation in the place of its load, with the store left out; false: it is none that can be
 * written so, as where the address is computed again, or what is added only behind the load. */
bool updates_as_atomic(const Kernel *kernel, const Update *update, AtomicUpdate *atomic);

#endif
