/* bits.h - counting bits. Baseline x86-64 has no instruction for it, and the compiler's builtin calls a function there. */
#ifndef LOCKSTEP_BASE_BITS_H
#define LOCKSTEP_BASE_BITS_H

#include <stdint.h>

static inline uint32_t bits_count(uint32_t x) {
  x -= x >> 1 & 0x55555555u;
  x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
  return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

#endif
