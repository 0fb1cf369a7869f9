#pragma once
#include <cuda/atomic>
typedef unsigned int u32;
typedef unsigned long long u64;
__device__ __forceinline__ u32 mix(u32 x) { // murmur3 finalizer
  x ^= x >> 16; x *= 0x85ebca6bu; x ^= x >> 13; x *= 0xc2b2ae35u; x ^= x >> 16; return x;
}
template <class T> using aref = cuda::atomic_ref<T, cuda::thread_scope_device>;
using cuda::std::memory_order_relaxed; using cuda::std::memory_order_acquire;
using cuda::std::memory_order_release; using cuda::std::memory_order_acq_rel;
using cuda::std::memory_order_seq_cst;
