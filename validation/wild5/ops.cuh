// Loads, stores and atomic operations with their order and scope, by their PTX.
#pragma once
typedef unsigned int u32;
typedef unsigned long long u64;

#define LOAD(name, how, type, letter)                                                                                \
  __device__ __forceinline__ type name(const type *at) {                                                             \
    type value;                                                                                                      \
    asm volatile("ld." how " %0, [%1];" : "=" letter(value) : "l"(at) : "memory");                                   \
    return value;                                                                                                    \
  }
#define STORE(name, how, type, letter)                                                                               \
  __device__ __forceinline__ void name(type *at, type value) {                                                       \
    asm volatile(how " [%0], %1;" : : "l"(at), letter(value) : "memory");                                            \
  }
#define ATOM(name, how, type, letter)                                                                                \
  __device__ __forceinline__ type name(type *at, type value) {                                                       \
    type old;                                                                                                        \
    asm volatile("atom." how " %0, [%1], %2;" : "=" letter(old) : "l"(at), letter(value) : "memory");                \
    return old;                                                                                                      \
  }
#define CAS(name, how, type, letter)                                                                                 \
  __device__ __forceinline__ type name(type *at, type expected, type desired) {                                      \
    type old;                                                                                                        \
    asm volatile("atom." how " %0, [%1], %2, %3;"                                                                    \
                 : "=" letter(old)                                                                                   \
                 : "l"(at), letter(expected), letter(desired)                                                        \
                 : "memory");                                                                                        \
    return old;                                                                                                      \
  }

LOAD(ld_relaxed, "relaxed.gpu.global.u32", u32, "r")
LOAD(ld_acquire, "acquire.gpu.global.u32", u32, "r")
LOAD(ld_acquire_sys, "acquire.sys.global.u32", u32, "r")
LOAD(ld_relaxed64, "relaxed.gpu.global.u64", u64, "l")
LOAD(ld_acquire64, "acquire.gpu.global.u64", u64, "l")
STORE(st_relaxed, "st.relaxed.gpu.global.u32", u32, "r")
STORE(st_release, "st.release.gpu.global.u32", u32, "r")
STORE(st_release_cta, "st.release.cta.global.u32", u32, "r")
STORE(st_release_sys, "st.release.sys.global.u32", u32, "r")
STORE(st_relaxed64, "st.relaxed.gpu.global.u64", u64, "l")
STORE(st_release64, "st.release.gpu.global.u64", u64, "l")
STORE(red_add_release, "red.release.gpu.global.add.u32", u32, "r")
STORE(red_and_release, "red.release.gpu.global.and.b32", u32, "r")
ATOM(add_relaxed, "relaxed.gpu.global.add.u32", u32, "r")
ATOM(add_acq_rel, "acq_rel.gpu.global.add.u32", u32, "r")
ATOM(or_acquire, "acquire.gpu.global.or.b32", u32, "r")
ATOM(exch_acquire, "acquire.gpu.global.exch.b32", u32, "r")
ATOM(exch_acquire_sys, "acquire.sys.global.exch.b32", u32, "r")
CAS(cas_relaxed, "relaxed.gpu.global.cas.b32", u32, "r")
CAS(cas_acquire, "acquire.gpu.global.cas.b32", u32, "r")
CAS(cas_acquire_cta, "acquire.cta.global.cas.b32", u32, "r")
CAS(cas_acq_rel, "acq_rel.gpu.global.cas.b32", u32, "r")

__device__ __forceinline__ void fence_acq_rel() { asm volatile("fence.acq_rel.gpu;" : : : "memory"); }
__device__ __forceinline__ void fence_sc() { asm volatile("fence.sc.gpu;" : : : "memory"); }

__device__ __forceinline__ u32 mix(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

// Work of some instructions, which depend on each other.
__device__ __forceinline__ u32 work(u32 x, int steps) {
#pragma unroll 1
  for (int i = 0; i < steps; i++)
    x = x * 1664525u + 1013904223u;
  return x;
}
