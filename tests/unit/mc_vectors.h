/* mc_vectors.h - what kernels of tests/machine_code/pairs.cu, bits.cu and vectors.cu compute: halves, bf16, bytes,
 * doubles and floats, said plainly for a thread. */
#ifndef LOCKSTEP_TESTS_MC_VECTORS_H
#define LOCKSTEP_TESTS_MC_VECTORS_H

#include "tests/unit/oracle.h"

/* Threads of a block, as tests/unit/test_mc_kernels.c runs them. */
enum { THREADS = 96 };

static inline uint32_t low_byte(const uint32_t *in, uint32_t t) { return in[t] & 255; }
static inline uint32_t half_bits(double value) { return to_half(value, FROUND_NEAREST); }
static inline uint32_t joined(uint32_t low, uint32_t high) { return low | high << 16; }

/* Of thread `t` of the grid; `in` is the whole input. */
typedef uint32_t Reference(uint32_t t, const uint32_t *in);
Reference half_compared, half_extremes, half_sums, brain_compared, brain_sums, brain_converted, halves_added,
    brains_added, bit_masks, itself, dots, differences, integer_extremes, three_halves, rounded_halves, tangents,
    complex_numbers, quotients, blocks_apart, floats_added, floats_fetched;

#endif
