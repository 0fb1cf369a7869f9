// mem_places.cuh - what programs that access random places share: a hash that says where, and the clock.
#pragma once
#include "hardware.cuh"

static __device__ __forceinline__ unsigned mixed(unsigned h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}
static __device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}
// The time at which `value` has come.
static __device__ __forceinline__ unsigned now_with(unsigned value) {
  static __shared__ unsigned sink[32];
  asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(sink + threadIdx.x % 32)), "r"(value)
               : "memory");
  return now();
}
