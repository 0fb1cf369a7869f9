/* rng.h - seeded random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014). Small, fast, and the same on every host; not for cryptography.
 * Streams: generators with one seed and different `stream`s are independent, so that each user of randomness (a
 * warp's start, the jitter of a unit, a buffer's values) has its own and adding one doesn't shift the others. */
#ifndef LOCKSTEP_ENGINE_RNG_H
#define LOCKSTEP_ENGINE_RNG_H

#include <stdint.h>

typedef struct Rng {
  uint64_t state;
} Rng;

/* The finaliser of SplitMix64: a bijection that spreads every input bit. */
static inline uint64_t rng_mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline void rng_seed(Rng *rng, uint64_t seed, uint64_t stream) {
  rng->state = rng_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) ^ rng_mix((stream + 1) * UINT64_C(0xd1342543de82ef95));
}

static inline uint64_t rng_next(Rng *rng) {
  rng->state += UINT64_C(0x9e3779b97f4a7c15);
  return rng_mix(rng->state);
}

/* 0 to bound-1, or 0 if bound is 0. Multiply-shift of the upper half: the bias is below bound / 2^32. */
static inline uint32_t rng_below(Rng *rng, uint32_t bound) {
  return (uint32_t)(((rng_next(rng) >> 32) * bound) >> 32);
}

#endif
