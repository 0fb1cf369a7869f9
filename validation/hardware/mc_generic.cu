// Accesses to shared memory by generic addresses, as cuda::atomic_ref and pointers that nobody knows the space of make them: alone, in a chain, by many
// warps, and what fences of the block and polls take beside them.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_generic mc_generic.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

typedef unsigned long long Wide;
// A generic address of shared memory that ptxas can't see through: `words` is global, and `zero` 0.
#define CELLS                                                                                                         \
  __shared__ unsigned cells[2048];                                                                                    \
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x)                                                           \
    cells[i] = 0;                                                                                                     \
  __syncthreads();                                                                                                    \
  unsigned *base = zero ? words : cells, *own = base + threadIdx.x;                                                   \
  unsigned at = 0;                                                                                                    \
  (void)own
#define LOAD(how, to, from) asm volatile("ld." how ".u32 %0, [%1];" : "=r"(to) : "l"(from) : "memory");
#define STORE(how, to, value) asm volatile("st." how ".u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
#define ATOM(how, out, to, value) asm volatile("atom." how " %0, [%1], %2;" : "=r"(out) : "l"(to), "r"(value) : "memory");
#define RED(how, to, value) asm volatile("red." how " [%0], %1;" ::"l"(to), "r"(value) : "memory");
#define CAS(how, out, to) asm volatile("atom." how ".cas.b32 %0, [%1], 1, 1;" : "=r"(out) : "l"(to) : "memory");
#define FENCE(how) asm volatile("fence." how ";" ::: "memory");
#define GENERIC(name, ...) ROUNDS(name, WARPS_EACH, {64}, CELLS, __VA_ARGS__ x += at;)

// Chains: the next address needs the value, which is 0.
GENERIC(chain_weak, LOAD("volatile", at, own + at))
GENERIC(chain_relaxed, LOAD("relaxed.cta", at, own + at))
GENERIC(chain_acquire, LOAD("acquire.cta", at, own + at))
GENERIC(chain_one_word, LOAD("relaxed.cta", at, base + at))
GENERIC(chain_one_lane, if (lane == 0) LOAD("relaxed.cta", at, base + at))
GENERIC(chain_device, LOAD("relaxed.gpu", at, own + at))
GENERIC(chain_shared, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(cells) + 4 * threadIdx.x + at) : "memory");)
// Four that don't need each other.
GENERIC(four_relaxed, unsigned b; unsigned c; unsigned d; LOAD("relaxed.cta", at, own) LOAD("relaxed.cta", b, own + 32) LOAD("relaxed.cta", c, own + 64) LOAD("relaxed.cta", d, own + 96) at += b + c + d;)
GENERIC(store_weak, STORE("volatile", own, x))
GENERIC(store_relaxed, STORE("relaxed.cta", own, x))
GENERIC(store_release, STORE("release.cta", own, x))
GENERIC(store_four, STORE("relaxed.cta", own, x) STORE("relaxed.cta", own + 32, x) STORE("relaxed.cta", own + 64, x) STORE("relaxed.cta", own + 96, x))
GENERIC(store_load, STORE("relaxed.cta", own, x) LOAD("relaxed.cta", at, own))
// Atomic operations: own words, one word of all lanes, one lane.
GENERIC(exch_own, ATOM("relaxed.cta.exch.b32", at, own + at, 0u))
GENERIC(exch_word, ATOM("relaxed.cta.exch.b32", at, base + at, 0u))
GENERIC(exch_lane, if (lane == 0) ATOM("relaxed.cta.exch.b32", at, base + at, 0u))
GENERIC(add_own, ATOM("relaxed.cta.add.u32", at, own + at, x))
GENERIC(add_word, ATOM("relaxed.cta.add.u32", at, base + at, x))
GENERIC(add_lane, if (lane == 0) ATOM("relaxed.cta.add.u32", at, base + at, x))
GENERIC(cas_own, CAS("relaxed.cta", at, own + at))
GENERIC(cas_word, CAS("relaxed.cta", at, base + at))
GENERIC(cas_lane, if (lane == 0) CAS("relaxed.cta", at, base + at))
GENERIC(cas_lane_device, if (lane == 0) CAS("relaxed.gpu", at, base + at))
GENERIC(exch_lane_acquire, if (lane == 0) ATOM("acquire.cta.exch.b32", at, base + at, 0u))
GENERIC(exch_lane_device, if (lane == 0) ATOM("acq_rel.gpu.exch.b32", at, base + at, 0u))
GENERIC(red_own, RED("relaxed.cta.add.u32", own, x))
GENERIC(red_lane, if (lane == 0) RED("relaxed.cta.add.u32", base, x))
GENERIC(exch_shared_lane, if (lane == 0) asm volatile("atom.shared.exch.b32 %0, [%1], 0;" : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(cells) + at) : "memory");)
// Fences of the block beside them.
GENERIC(fence_store, STORE("relaxed.cta", own, x) FENCE("acq_rel.cta") STORE("relaxed.cta", own + 32, x))
GENERIC(fence_load, LOAD("relaxed.cta", at, own + at) FENCE("acq_rel.cta"))
GENERIC(fence_sc_load, LOAD("relaxed.cta", at, own + at) FENCE("sc.cta"))
GENERIC(lock_lane, if (lane == 0) { ATOM("acquire.cta.exch.b32", at, base + 64 * (threadIdx.x / 32), 0u) STORE("release.cta", base + 64 * (threadIdx.x / 32) + at, 0u) })
