/* regset.h - a set of register rows, for liveness, slicing and exploration. */
#ifndef LOCKSTEP_ISA_FLOW_REGSET_H
#define LOCKSTEP_ISA_FLOW_REGSET_H

#include <stdbool.h>
#include <stdint.h>

enum { REGSET_MAX = 256, REGSET_WORDS = REGSET_MAX / 64 };

typedef struct RegSet {
  uint64_t word[REGSET_WORDS];
} RegSet;

#define REGSET_EACH for (unsigned regset_i = 0; regset_i < REGSET_WORDS; regset_i++)

static inline RegSet regset_all(void) {
  RegSet set;
  REGSET_EACH set.word[regset_i] = UINT64_MAX;
  return set;
}
static inline bool regset_has(const RegSet *set, unsigned reg) { return set->word[reg / 64] >> (reg % 64) & 1; }
static inline void regset_put(RegSet *set, unsigned reg) { set->word[reg / 64] |= UINT64_C(1) << (reg % 64); }
static inline void regset_drop(RegSet *set, unsigned reg) { set->word[reg / 64] &= ~(UINT64_C(1) << (reg % 64)); }
static inline RegSet regset_or(RegSet a, RegSet b) {
  REGSET_EACH a.word[regset_i] |= b.word[regset_i];
  return a;
}
static inline RegSet regset_and(RegSet a, RegSet b) {
  REGSET_EACH a.word[regset_i] &= b.word[regset_i];
  return a;
}
static inline RegSet regset_without(RegSet a, RegSet b) {
  REGSET_EACH a.word[regset_i] &= ~b.word[regset_i];
  return a;
}
static inline bool regset_equal(RegSet a, RegSet b) {
  uint64_t differ = 0;
  REGSET_EACH differ |= a.word[regset_i] ^ b.word[regset_i];
  return differ == 0;
}
static inline bool regset_empty(RegSet a) {
  uint64_t any = 0;
  REGSET_EACH any |= a.word[regset_i];
  return any == 0;
}

#endif
