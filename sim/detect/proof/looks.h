/* looks.h - looks at memory that warps were seen to take, each with what decides about it, what it found, and
 * which one came behind it then (closure.h).
 * Ownership: who watches owns the words; Looks owns what was kept. */
#ifndef LOCKSTEP_DETECT_PROOF_LOOKS_H
#define LOCKSTEP_DETECT_PROOF_LOOKS_H

#include "base/bits.h"
#include "sim/core/gpu.h"

enum { LOOK_VALUES_MOST = 8 }; /* of a word */

/* A word that somebody comes to. */
typedef struct LookWord {
  const Sm *sm; /* whose shared memory it is in; NULL: global memory */
  uint64_t address;
  uint32_t count, value[LOOK_VALUES_MOST];
  uint64_t owner; /* age of the only warp that comes to it, and 1; 0: there are several, or none so far */
  uint32_t held;  /* a bit for each value: it held that in this window */
  bool met;       /* some warp has come to it */
} LookWord;

/* A look at memory under way, or one that is over while its warp waits for others. */
typedef struct Look {
  uint32_t pc, lanes, rows; /* rows of words that a lane looks at */
  uint64_t number;          /* of an atomic operation in global memory; 0: another one */
  uint64_t key[WARP_LANES]; /* place of each lane's first word */
  uint8_t byte[WARP_LANES]; /* where each lane's value begins in it */
  bool atomic, known;       /* what it found is known */
  bool odd;                 /* it found what its words weren't seen to hold: older copies of them */
  uint64_t found;
} Look;

typedef struct Looks {
  GHashTable *kept; /* by what decides about it */
  uint64_t grown;   /* how often something was new */
  bool broken;      /* what is looked at wasn't decided by what was taken for that */
} Looks;

/* What it holds now. */
uint32_t look_word_value(const Gpu *gpu, const LookWord *word);
/* What the only warp that comes to the word will find there, behind all that it has under way. False: that isn't
 * known. */
bool look_word_ahead(const Gpu *gpu, const LookWord *word, const Sm *sm, const Warp *warp, uint32_t *value);

void looks_init(Looks *looks);
void looks_clear(Looks *looks);
/* Nothing is kept any more. */
void looks_forget(Looks *looks);
/* What decides about a look, given what decides about what came before. */
static inline uint64_t look_key(uint64_t before, const Look *look) {
  return bits_mix(bits_mix(before, look->pc), look->lanes);
}
/* Keeps looks of one warp (GArray of Look), which are known; `start` decides about the first, `next` is the key of
 * the one that came behind the last. `words`: LookWord *, by place. */
void looks_keep(Looks *looks, const GArray *of_warp, uint64_t start, uint64_t next, GHashTable *words);
/* True if each look that may come behind those with these keys (uint64_t), themselves included, was kept, and has
 * found all that its words may hold. Appends to `keys`. */
bool looks_have_all(const Looks *looks, GArray *keys);

#endif
