/* abstract_memory.h - what each memory word and lock bit may hold from now on, whatever the schedule.
 *
 * The proof of a deadlock (explore.h) needs all values that the unfinished threads could ever put into a word. A word
 * starts with the set {its value now}; each possible store adds to it. A set above VALUES_MAX becomes "anything". Sets only
 * grow. Each keeps who read it: when it grows, its readers go to `woken`, to be explored again. So a fixpoint is reached when
 * nobody is left there.
 *
 * Counters. What a lane adds to a word from now on lies between the lowest and the highest sum on any of its ways. An
 * add that it comes to once counts once; where it comes round, and all that it adds on the way round is taken away
 * again there, each round counts nothing: so who waits for a semaphore by lowering it and raising it again. A word
 * that is changed by such adds alone stays between its value now less all lanes' lowest sums and that value plus all
 * highest ones; behind what is stored to it besides, between the sums of any part of their ways. Sums are listed
 * while they are few (in steps of the numbers' greatest common divisor), and are a range above VALUES_MAX. A word to
 * which a lane may add more and more may hold anything. That hides no proof: what nobody's exit depends on may be
 * anything.
 *
 * Words of pending (not yet resident) blocks' shared memory live in an address space of their own. */
#ifndef LOCKSTEP_DETECT_PROOF_ABSTRACT_MEMORY_H
#define LOCKSTEP_DETECT_PROOF_ABSTRACT_MEMORY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/core/gpu.h"

enum { VALUES_MAX = 48 };

/* Names a word: shared words by SM and physical word index, global ones by byte address / 4, local ones by SM, warp
 * slot, lane and word. */
typedef uint64_t WordKey;
static inline WordKey word_key_shared(uint32_t sm, uint32_t word) {
  return UINT64_C(1) << 63 | (uint64_t)sm << 32 | word;
}
static inline WordKey word_key_global(uint64_t address) { return address / 4; }
static inline WordKey word_key_local(uint32_t sm, uint32_t slot, uint32_t lane, uint32_t word) {
  return UINT64_C(1) << 62 | (uint64_t)sm << 40 | (uint64_t)slot << 32 | lane << 27 | word;
}
/* Not a word: what the leader of a shuffle gives to the others of its warp (leaders.h). */
static inline WordKey word_key_given(uint32_t sm, uint32_t slot, uint32_t pc) {
  return UINT64_C(1) << 61 | (uint64_t)sm << 40 | (uint64_t)slot << 32 | pc;
}
static inline bool word_key_is_given(WordKey key) { return key >> 61 == 1; }
static inline uint32_t word_key_slot(WordKey key) { return key >> 32 & 0xff; }
static inline uint32_t word_key_lane(WordKey key) { return key >> 27 & 31; }
static inline uint32_t word_key_local_word(WordKey key) { return key & 0x7ffffff; }
static inline bool word_key_is_local(WordKey key) { return key >> 62 == 1; }
static inline bool word_key_is_shared(WordKey key) { return key >> 63; }
/* Of a shared word. */
static inline uint32_t word_key_sm(WordKey key) { return (uint32_t)(key >> 32) & 0x7fffffff; }

/* Names a lock bit of an SM. */
typedef uint64_t BitKey;
/* Of a lock bit, that it is freed; with BIT_TAKEN, that it is taken: what a lane waits for, and what one does. */
#define BIT_TAKEN (UINT64_C(1) << 63)
static inline BitKey bit_key(uint32_t sm, uint32_t bit) { return (uint64_t)sm << 32 | bit; }
static inline uint32_t bit_key_sm(BitKey key) { return (uint32_t)(key >> 32) & 0x7fffffff; }

/* Between which sums atomic adds change a word. */
typedef struct AddSums {
  uint64_t up, down;             /* from now on */
  uint64_t later_up, later_down; /* from any later moment on */
  uint32_t step;                 /* divides them all */
} AddSums;

/* What atomic adds may still do to a word. */
typedef struct AddsLeft {
  AddSums sums;
  uint32_t count;
  bool rises; /* more is added again and again, and the word doesn't come round (AbstractMemory.rising) */
  uint32_t base[VALUES_MAX]; /* the word's value now, then what is stored to it later */
} AddsLeft;

/* Who has read a word or bit: numbers of warps (WarpView.index). */
typedef struct Readers {
  uint32_t *reader;
  uint32_t count, space;
} Readers;

enum { VALUES_INLINE = 4 };

typedef struct ValueSet {
  WordKey key;
  Readers readers;
  uint32_t changes; /* how often it has grown */
  uint16_t count, space;
  bool anything;
  bool restored; /* what it holds now may be stored to it again, later */
  bool ranged; /* anything, but low <= value <= high; if high < low, round past UINT32_MAX */
  uint32_t low, high;
  uint32_t *value; /* `count` of them; `few`, or on the heap */
  uint32_t few[VALUES_INLINE];
  AddsLeft *adds; /* NULL: none; then the values are those stored */
} ValueSet;

typedef struct BitSet {
  BitKey key;
  Readers readers;
  bool may_be_free, may_be_held;
} BitSet;

/* Who may say what in a vote: lanes of the warp that may vote true, and false. */
typedef struct VoteSet {
  uint64_t key;
  uint32_t may_true, may_false;
} VoteSet;

typedef struct AbstractMemory {
  Gpu *gpu;
  GHashTable *words;           /* WordKey -> ValueSet */
  GHashTable *bits;            /* BitKey -> BitSet */
  GHashTable *votes;           /* warp and pc -> VoteSet */
  GHashTable *copies;          /* SM and word -> ValueSet: what a copy that stays in its L1 (copies.h) may hold */
  GArray *woken;               /* uint32_t: readers of words and bits that have grown since they were read */
  uint64_t version;            /* counts what has grown */
  bool rising; /* counters to which lanes add again and again don't come round, which takes long */
  struct AbstractMemory *base; /* of a layer: what it lies on, and leaves as it is; else NULL */
} AbstractMemory;

void abstract_memory_init(AbstractMemory *memory, Gpu *gpu);
/* A layer on `base`: it starts with the sets of that, and what is added to it goes again with it. `spare`: an empty memory that is
 * used for it, if its `words` isn't NULL, and that it becomes again: making one takes as long as exploring a short lane. */
void abstract_memory_layer(AbstractMemory *layer, AbstractMemory *base, AbstractMemory *spare);
void abstract_memory_unlayer(AbstractMemory *layer, AbstractMemory *spare);
void abstract_memory_clear(AbstractMemory *memory);

/* The set of a word; `sm` is where shared keys are looked up (its current value starts the set; what leaders give starts empty). Borrowed. The copies that L1s
 * hold don't belong to it. */
ValueSet *abstract_word(AbstractMemory *memory, const Sm *sm, WordKey key);
/* The set of the SM's copy of a global word, which holds `copy` now. */
ValueSet *abstract_copy(AbstractMemory *memory, const Sm *sm, WordKey key, uint32_t copy);
BitSet *abstract_bit(AbstractMemory *memory, const Sm *sm, uint32_t bit);
VoteSet *abstract_vote(AbstractMemory *memory, const Warp *warp, const Sm *sm, uint32_t pc);

/* `reader` depends on the word or bit from now on, until it is woken. */
void abstract_note_reader(Readers *readers, uint32_t reader);
void abstract_add(AbstractMemory *memory, ValueSet *set, uint32_t value);
void abstract_add_anything(AbstractMemory *memory, ValueSet *set);
/* Somebody may add and take away so much more than was known. */
void abstract_add_sums(AbstractMemory *memory, ValueSet *set, const AddSums *more);
/* The number is added once, some time. */
AddSums abstract_sums_of(uint32_t number);
/* A lane may add a positive number again and again: the word holds anything from its lowest value on. */
void abstract_add_rising(AbstractMemory *memory, ValueSet *set);
uint32_t abstract_common_step(uint32_t a, uint32_t b);
bool abstract_has(const ValueSet *set, uint32_t value);
void abstract_free_bit(AbstractMemory *memory, BitSet *bit);
void abstract_hold_bit(AbstractMemory *memory, BitSet *bit);

#endif
