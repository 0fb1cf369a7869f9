// Spin locks of one byte: cuda::std::atomic_flag, `stride` of them apart; each guards a plain counter.
#include "util.cuh"
using flag = cuda::std::atomic_flag;
__global__ void flaglock(flag *flags, int locks, int stride, u32 *data, int each) {
  if (threadIdx.x % 32) return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < each; i++) {
    u32 which = mix(warp * each + i) % locks;
    while (flags[which * stride].test_and_set(memory_order_acquire)) ;
    data[which] += 1;
    flags[which * stride].clear(memory_order_release);
  }
}
__global__ void boollock(bool *flags, int locks, int stride, u32 *data, int each) {
  if (threadIdx.x % 32) return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < each; i++) {
    u32 which = mix(warp * each + i) % locks;
    aref<bool> f(flags[which * stride]);
    while (f.exchange(true, memory_order_acquire)) while (f.load(memory_order_relaxed)) ;
    data[which] += 1;
    f.store(false, memory_order_release);
  }
}
