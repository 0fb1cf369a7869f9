/* question.h - what an exploration of one lane may be asked beyond the proof: what it would do if some words or bits held
 * what it likes, and what it touches. For "who waits for what". */
#ifndef LOCKSTEP_DETECT_PROOF_QUESTION_H
#define LOCKSTEP_DETECT_PROOF_QUESTION_H

#include "sim/detect/proof/abstract_memory.h"

enum { TOUCH_VALUES_MAX = 4 };

/* One access that an exploration made; to a word that is stored to, all of them. */
typedef struct Touch {
  uint64_t key;      /* WordKey or BitKey */
  uint32_t pc;       /* the instruction */
  uint32_t physical; /* lock bits: the shared address it was wanted or freed for */
  uint32_t values;   /* stores: how many there are, 0: they aren't known, or are more than fit in */
  uint32_t value[TOUCH_VALUES_MAX];
} Touch;

/* Notes what an exploration touches, the first access of each word and bit: key -> Touch. NULL members aren't wanted. */
typedef struct Footprint {
  GHashTable *reads;
  GHashTable *lock_reads; /* lock bits asked; with BIT_TAKEN: by STSCUL */
  GHashTable *stores;     /* words that are stored to or changed */
  GHashTable *writes;     /* only words given a value that their set (of a layer: the set below) doesn't have */
  GHashTable *frees;      /* lock bits freed; with BIT_TAKEN, taken (where there is STSCUL) */
  GHashTable *wild;       /* by pc: instructions that store at an address that isn't known */
} Footprint;

void footprint_init(Footprint *footprint);
void footprint_clear(Footprint *footprint);
/* Forgets what it notes. */
void footprint_reset(Footprint *footprint);
/* Keeps the first touch of a key. */
void footprint_note(GHashTable *touches, uint64_t key, uint32_t pc, uint32_t physical);

/* What a lane is assumed to find, beyond the fixpoint. */
typedef struct Assumption {
  GHashTable *free_words;  /* WordKey set: these hold anything */
  GHashTable *free_bits;   /* BitKey set: these may be free, or with BIT_TAKEN held */
  GHashTable *fixed_words; /* WordKey set: all other words hold anything; NULL: all words are fixed */
  GHashTable
      *fixed_bits; /* BitKey set: all other lock bits may be free (or with BIT_TAKEN held); NULL: all are fixed */
  bool fresh;      /* loads read memory, whatever an L1 keeps */
  /* A load of that word may find its values, too, beside what was seen (Explorer.seen); or NULL. */
  const Touch *stored;
  /* The lane stands for any other of the kernel's: where and which it is isn't known, nor what lies in its shared and local
   * memory, nor which lock bits are free, nor how others vote. */
  bool any_lane;
  bool one_block; /* any_lane, but of its block */
  bool all_open;  /* every stack entry and barrier lets lanes through */
  bool read_only; /* adds nothing to the abstract memory, nor to what is known of the warp and its barriers */
  const uint64_t *ends_at; /* WordKey: the lane goes no further than what may change that word; or NULL */
  bool stores; /* read_only, but for words, bits and votes: the memory is a layer (explorer_push_memory()) */
} Assumption;

#endif
