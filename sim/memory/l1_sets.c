#include "sim/memory/l1_sets.h"

/* All 32 exclusive ors of five numbers: the one at i has those whose bits are set in i. */
#define OF_ONE(x, a) (x), (x) ^ (a)
#define OF_TWO(x, a, b) OF_ONE(x, a), OF_ONE((x) ^ (b), a)
#define OF_THREE(x, a, b, c) OF_TWO(x, a, b), OF_TWO((x) ^ (c), a, b)
#define OF_FOUR(x, a, b, c, d) OF_THREE(x, a, b, c), OF_THREE((x) ^ (d), a, b, c)
#define OF_FIVE(a, b, c, d, e) OF_FOUR(0, a, b, c, d), OF_FOUR((e), a, b, c, d)

uint32_t l1_sets_hashed(uint64_t number) {
  /* What bits 9 to 13, 14 to 18, 19 to 23 and 24 to 28 of the number change. */
  static const uint16_t changes[4][32] = {{OF_FIVE(0x071, 0x01b, 0x176, 0x149, 0x039)},
                                          {OF_FIVE(0x1e1, 0x1dd, 0x0ee, 0x194, 0x08d)},
                                          {OF_FIVE(0x1ac, 0x0f4, 0x12f, 0x082, 0x0f0)},
                                          {OF_FIVE(0x115, 0x1fc, 0x15f, 0x13d, 0x1e9)}};
  return (number & (L1_HASHED_SETS - 1)) ^ changes[0][number >> 9 & 31] ^ changes[1][number >> 14 & 31] ^
         changes[2][number >> 19 & 31] ^ changes[3][number >> 24 & 31];
}
