/* bits.h - counting and reversing bits, and hashing 64-bit keys for GHashTable. Baseline x86-64 has no instruction that counts, and the
 * compiler's builtin calls a function there; g_int64_hash folds the halves together, so that pairs of numbers collide. */
#ifndef LOCKSTEP_BASE_BITS_H
#define LOCKSTEP_BASE_BITS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint32_t bits_count(uint32_t x) {
  x -= x >> 1 & 0x55555555u;
  x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
  return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/* True if the bits that are set, at least one, stand side by side. */
static inline bool bits_in_a_row(uint32_t x) { return ((x + (x & -x)) & x) == 0; }

static inline uint32_t bits_reverse(uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
  return x >> 16 | x << 16;
}

/* The function of three words that an 8-bit table gives, bit by bit: bit 4 a + 2 b + c of the table. */
static inline uint32_t bits_by_table(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 8; i++)
    if (table >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}

/* A hash, and behind it one more value. */
static inline uint64_t bits_mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 32);
}

static inline guint bits_hash_key(gconstpointer key) {
  uint64_t value = *(const uint64_t *)key * UINT64_C(0x9e3779b97f4a7c15);
  return (guint)(value >> 32);
}

#endif
