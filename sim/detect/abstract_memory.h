/* abstract_memory.h - what each memory word and lock bit may hold from now on, whatever the schedule.
 *
 * The proof of a deadlock (explore.h) needs all values that the unfinished threads could ever put into a word. A word
 * starts with the set {its value now}; each possible store adds to it. Sets only grow, and `version` grows with them, so
 * a fixpoint is reached when a pass leaves it unchanged. A set above VALUES_MAX becomes "anything" and is remembered as
 * unbounded: a program that counts in memory is not provably periodic (SEMANTICS, "Verdicts").
 * Words of pending (not yet resident) blocks' shared memory live in an address space of their own. */
#ifndef LOCKSTEP_DETECT_ABSTRACT_MEMORY_H
#define LOCKSTEP_DETECT_ABSTRACT_MEMORY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/core/gpu.h"

enum { VALUES_MAX = 48 };

/* Names a word: shared words by SM and physical word index, global ones by byte address / 4. */
typedef uint64_t WordKey;
static inline WordKey word_key_shared(uint32_t sm, uint32_t word) {
  return UINT64_C(1) << 63 | (uint64_t)sm << 32 | word;
}
static inline WordKey word_key_global(uint64_t address) { return address / 4; }
static inline bool word_key_is_shared(WordKey key) { return key >> 63; }

/* Names a lock bit of an SM. */
typedef uint64_t BitKey;
static inline BitKey bit_key(uint32_t sm, uint32_t bit) { return (uint64_t)sm << 32 | bit; }

typedef struct ValueSet {
  uint32_t count;
  bool anything;
  uint32_t value[VALUES_MAX];
} ValueSet;

typedef struct BitSet {
  bool may_be_free, may_be_held;
} BitSet;

/* Who may say what in a vote: lanes of the warp that may vote true, and false. */
typedef struct VoteSet {
  uint32_t may_true, may_false;
} VoteSet;

typedef struct AbstractMemory {
  Gpu *gpu;
  GHashTable *words; /* WordKey -> ValueSet */
  GHashTable *bits;  /* BitKey -> BitSet */
  GHashTable *votes; /* warp and pc -> VoteSet */
  uint64_t version;
  bool unbounded; /* some word took more values than a set holds, or a store went to an unknown address */
} AbstractMemory;

void abstract_memory_init(AbstractMemory *memory, Gpu *gpu);
void abstract_memory_clear(AbstractMemory *memory);

/* The set of a word; `sm` is where shared keys are looked up (its current value starts the set). Borrowed. */
ValueSet *abstract_word(AbstractMemory *memory, const Sm *sm, WordKey key);
BitSet *abstract_bit(AbstractMemory *memory, const Sm *sm, uint32_t bit);
VoteSet *abstract_vote(AbstractMemory *memory, const Warp *warp, const Sm *sm, uint32_t pc);

void abstract_add(AbstractMemory *memory, ValueSet *set, uint32_t value);
void abstract_add_anything(AbstractMemory *memory, ValueSet *set);
bool abstract_has(const ValueSet *set, uint32_t value);
void abstract_free_bit(AbstractMemory *memory, BitSet *bit);
void abstract_hold_bit(AbstractMemory *memory, BitSet *bit);

#endif
