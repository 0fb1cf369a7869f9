// What a real GPU does with the kernels of the blog "Writing a lock in CUDA": the counter under a spin lock, first by
// all lanes of a warp at once, then lane by lane; with and without volatile and fences; atomicAdd made of atomicCAS;
// a lock for each lane.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o blog blog.cu
// Run:   ./blog > blog.csv
//
// The full size of the blog (1024 blocks of 1024) takes seconds a kernel, since a million critical sections follow
// each other: it is run once a variant, for as many variants as fit into 30 s, those first that tell most. Elsewhere
// no kernel takes over 0.2 s.
#include "hardware.cuh"
#include <algorithm>

struct Lock {
  int *locked;
  __device__ __forceinline__ bool acquire_lock(int *gave_up, int limit) {
    Patience patience(limit);
    while ((atomicCAS(locked, 0, 1) != 0) & patience.lasts()) {
    }
    if (patience.over())
      give_up(gave_up);
    return !patience.over();
  }
  __device__ __forceinline__ void unlock() { atomicExch(locked, 0); }
};

typedef volatile int vint;

// BEFORE: __threadfence after the lock was got; AFTER: __threadfence before it is released.
template <typename Word, bool BEFORE, bool AFTER>
__device__ __forceinline__ bool count(Lock lock, Word *total, int *gave_up, int limit) {
  if (!lock.acquire_lock(gave_up, limit))
    return false;
  if (BEFORE)
    __threadfence();
  *total = *total + 1;
  if (AFTER)
    __threadfence();
  lock.unlock();
  return true;
}

// All lanes of a warp at once, and lane by lane as the blog repairs it.
#define COUNTER(suffix, word, before, after)                                                          \
  extern "C" __global__ void counter_naive##suffix(Lock lock, word *total, int *gave_up, int limit) { \
    count<word, before, after>(lock, total, gave_up, limit);                                          \
  }                                                                                                   \
  extern "C" __global__ void counter##suffix(Lock lock, word *total, int *gave_up, int limit) {       \
    _Pragma("unroll") for (int lane = 0; lane < 32; ++lane) {                                         \
      if (threadIdx.x % 32 == lane)                                                                   \
        count<word, before, after>(lock, total, gave_up, limit);                                      \
    }                                                                                                 \
  }
COUNTER(, int, false, false)
COUNTER(_volatile, vint, false, false)
COUNTER(_fence, int, false, true)
COUNTER(_fences, int, true, true)
COUNTER(_volatile_fence, vint, false, true)

// The first form of the unlock in the blog: a plain store.
extern "C" __global__ void counter_naive_plain_unlock(Lock lock, vint *total, int *gave_up, int limit) {
  if (!lock.acquire_lock(gave_up, limit))
    return;
  *total = *total + 1;
  *lock.locked = 0;
}

// atomicAdd made of atomicCAS.
extern "C" __global__ void atomic_add_cas(Lock lock, int *total, int *gave_up, int limit) {
  Patience patience(limit);
  int old = *total, assumed;
  do {
    assumed = old;
    old = atomicCAS(total, assumed, assumed + 1);
  } while ((assumed != old) & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}

// One lock for each lane (and one total for each): lanes of a warp don't compete.
extern "C" __global__ void counter_32_locks(Lock lock, vint *total, int *gave_up, int limit) {
  int lane = threadIdx.x % 32;
  count<vint, false, true>(Lock{lock.locked + lane}, total + lane, gave_up, limit);
}

// ---- host ----

template <typename Kernel>
static void run(const char *program, const char *variant, Kernel kernel, int blocks, int threads, int runs,
                int limit) {
  Words locked(32), total(32), gave_up(1);
  measure(program, variant, blocks, threads, runs, [&] {
    locked.fill(0), total.fill(0), gave_up.fill(0);
    kernel<<<blocks, threads>>>(Lock{locked}, total, gave_up, limit);
    finish(program);
    long sum = 0;
    for (int part : total.get())
      sum += part;
    return judge(gave_up.get(0), sum, (long)blocks * threads);
  });
}

template <typename Kernel> static void sizes(const char *program, const char *variant, Kernel kernel) {
  const int shapes[][2] = {{1, 2}, {1, 32}, {1, 64}, {2, 32}, {2, 1}, {32, 1}, {32, 64}};
  for (auto &shape : shapes)
    run(program, variant, kernel, shape[0], shape[1], 100, shape[0] * shape[1] <= 64 ? 4000 : 20000);
}

template <typename Kernel> static void full_size(const char *variant, Kernel kernel) {
  static double longest = 0;
  double start = seconds();
  if (start + longest > 29) {
    fprintf(stderr, "counter %s with 1024 blocks left out: no time\n", variant);
    return;
  }
  run("counter", variant, kernel, 1024, 1024, 1, 1 << 20);
  longest = std::max(longest, seconds() - start);
}

int main() {
  begin();
  case_seconds = 0.1;
  sizes("counter_naive", "plain", counter_naive);
  sizes("counter_naive", "volatile", counter_naive_volatile);
  sizes("counter_naive", "fence", counter_naive_fence);
  sizes("counter_naive", "fences", counter_naive_fences);
  sizes("counter_naive", "volatile fence", counter_naive_volatile_fence);
  sizes("counter_naive", "volatile plain-unlock", counter_naive_plain_unlock);
  sizes("counter", "plain", counter);
  sizes("counter", "volatile", counter_volatile);
  sizes("counter", "fence", counter_fence);
  sizes("counter", "fences", counter_fences);
  sizes("counter", "volatile fence", counter_volatile_fence);
  sizes("atomic_add_cas", "", atomic_add_cas);
  sizes("counter_32_locks", "volatile fence", counter_32_locks);
  full_size("plain", counter);
  full_size("volatile fence", counter_volatile_fence);
  full_size("fence", counter_fence);
  full_size("volatile", counter_volatile);
  full_size("fences", counter_fences);
  return 0;
}
