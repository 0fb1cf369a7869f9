/* question.h - what an exploration of one lane may be asked beyond the proof: what it would do if some words or bits held
 * what it likes, and what it touches. For "who waits for what". */
#ifndef LOCKSTEP_DETECT_PROOF_QUESTION_H
#define LOCKSTEP_DETECT_PROOF_QUESTION_H

#include "sim/detect/proof/abstract_memory.h"

/* One access that an exploration made. */
typedef struct Touch {
  uint64_t key;      /* WordKey or BitKey */
  uint32_t pc;       /* the instruction */
  uint32_t physical; /* lock bits: the shared address it was wanted or freed for */
} Touch;

/* Notes what an exploration touches, the first access of each word and bit: key -> Touch. NULL members aren't wanted. */
typedef struct Footprint {
  GHashTable *reads;
  GHashTable *lock_reads;
  GHashTable *writes; /* only words given a value that their set doesn't have */
  GHashTable *frees;  /* lock bits freed */
} Footprint;

void footprint_init(Footprint *footprint);
void footprint_clear(Footprint *footprint);
/* Keeps the first touch of a key. */
void footprint_note(GHashTable *touches, uint64_t key, uint32_t pc, uint32_t physical);

/* What a lane is assumed to find, beyond the fixpoint. */
typedef struct Assumption {
  GHashTable *free_words; /* WordKey set: these hold anything */
  GHashTable *free_bits;  /* BitKey set: these may be free */
  bool all_open;          /* every stack entry and barrier lets lanes through */
  bool read_only;         /* don't add to the abstract memory */
} Assumption;

#endif
