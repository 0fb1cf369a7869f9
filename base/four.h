/* four.h - four words of 32 bits that are compared at a time. */
#ifndef LOCKSTEP_BASE_FOUR_H
#define LOCKSTEP_BASE_FOUR_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Which of the four words are `wanted`, by bit. */
static inline uint32_t four_equal(const uint32_t word[4], uint32_t wanted) {
#ifdef __SSE2__
  __m128i same = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(const void *)word), _mm_set1_epi32((int)wanted));
  return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(same));
#else
  return (word[0] == wanted) | (word[1] == wanted) << 1 | (word[2] == wanted) << 2 | (word[3] == wanted) << 3;
#endif
}

#endif
