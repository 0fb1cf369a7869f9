// Atomic operations of all threads on `words` words (a power of two), at random: additions whose result nobody reads, such that somebody reads, of 64 bits
// and of floats, minimum, compare-and-swap in a loop, exchange, and additions of the lanes that are there together.
#include <cooperative_groups.h>
#include "../wild/util.cuh"
namespace cg = cooperative_groups;
#define EACH(...) \
  u32 t = blockIdx.x * blockDim.x + threadIdx.x; \
  for (int i = 0; i < each; i++) { \
    u32 h = mix(t * each + i), at = h & (words - 1); \
    __VA_ARGS__; \
  }
__global__ void c_add(u32 *data, u32 words, int each) { EACH(atomicAdd(&data[at], 3)) }
__global__ void c_fetch(u32 *data, u32 words, int each, u32 *out) {
  u32 most = 0;
  EACH(most = max(most, atomicAdd(&data[at], 3)))
  atomicMax(out, most);
}
__global__ void c_add64(u64 *data, u32 words, int each) { EACH(atomicAdd(&data[at], 3ull)) }
__global__ void c_float(float *data, u32 words, int each) { EACH(atomicAdd(&data[at], 1.0f)) }
__global__ void c_min(u32 *data, u32 words, int each) { EACH(atomicMin(&data[at], h >> 12)) }
__global__ void c_exch(u32 *data, u32 words, int each, u32 *out) { // what is exchanged away, and what is left, is all that was put in
  u32 sum = 0;
  EACH(sum += atomicExch(&data[at], 1))
  atomicAdd(out, sum);
}
__global__ void c_cas(u32 *data, u32 words, int each) {
  EACH(
    u32 seen = *(volatile u32 *)&data[at], old;
    do { old = seen; seen = atomicCAS(&data[at], old, old + 3); } while (seen != old);
  )
}
__global__ void c_together(u32 *count, u32 *data, int each) { // numbers from one counter, for those of the lanes whose number is odd
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < each; i++)
    if (mix(t * each + i) & 1) {
      auto g = cg::coalesced_threads();
      u32 base;
      if (g.thread_rank() == 0) base = atomicAdd(count, g.size());
      data[g.shfl(base, 0) + g.thread_rank()] = 1;
    }
}
