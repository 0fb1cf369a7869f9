// What lacks a fence that only late stores show, or copies of loops hide, each with its right twin. LACKS says which fence is left out.
#include <cuda/atomic>

using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
using cuda::memory_order;
constexpr memory_order relaxed = cuda::memory_order_relaxed, acquire = cuda::memory_order_acquire, release = cuda::memory_order_release;

// Lamport's fast mutex of three, whose two words lie apart: LACKS is a mask.
template <unsigned LACKS> static __device__ void fast(volatile int *b, volatile int *xy, int *data) {
  int me = blockIdx.x + 1, n = gridDim.x;
  volatile int *x = xy, *y = xy + 64;
#pragma unroll 1
  for (int i = 0; i < 6; i++) {
  start:
    b[me] = 1;
    __threadfence();
    *x = me;
    if (!(LACKS & 1))
      __threadfence();
    if (*y) {
      b[me] = 0;
      while (*y)
        ;
      goto start;
    }
    __threadfence();
    *y = me;
    if (!(LACKS & 2))
      __threadfence();
    if (*x != me) {
      b[me] = 0;
      __threadfence();
      for (int j = 1; j <= n; j++)
        while (b[j])
          ;
      __threadfence();
      if (*y != me) {
        while (*y)
          ;
        goto start;
      }
    }
    __threadfence();
    data[0]++;
    __threadfence();
    *y = 0;
    __threadfence();
    b[me] = 0;
  }
}
extern "C" __global__ void fast_live(volatile int *b, volatile int *xy, int *data) { fast<0>(b, xy, data); }
extern "C" __global__ void fast_both(volatile int *b, volatile int *xy, int *data) { fast<3>(b, xy, data); }

// The lock of Mellor-Crummey and Scott. 1: nobody locks its node; 2: without the fence before the exchange.
struct Node {
  volatile int next, locked;
  int apart[30];
};
template <int LACKS> static __device__ void mcs(int *tail, Node *node, int *data) {
  int me = blockIdx.x + 1;
#pragma unroll 1
  for (int i = 0; i < 4; i++) {
    Node *mine = &node[me];
    mine->next = 0;
    if (LACKS != 1)
      mine->locked = 1;
    if (LACKS != 2)
      __threadfence();
    int before = atomicExch(tail, me);
    if (before) {
      node[before].next = me;
      while (mine->locked)
        ;
    }
    __threadfence();
    data[0]++;
    __threadfence();
    if (!mine->next) {
      if (atomicCAS(tail, me, 0) == me)
        continue;
      while (!mine->next)
        ;
    }
    __threadfence();
    node[mine->next].locked = 0;
  }
}
extern "C" __global__ void mcs_live(int *tail, Node *node, int *data) { mcs<0>(tail, node, data); }
extern "C" __global__ void mcs_unlocked(int *tail, Node *node, int *data) { mcs<1>(tail, node, data); }
extern "C" __global__ void mcs_no_fence(int *tail, Node *node, int *data) { mcs<2>(tail, node, data); }

// Who finds nothing says so, looks again, and sleeps; who brings something looks whether somebody sleeps. 1, 2: without a fence there.
template <int LACKS> static __device__ void sleeper(int *a, int *data) {
  volatile int *items = a, *waiting = a + 32, *wake = a + 64;
#pragma unroll 1
  for (int i = 1; i <= 4; i++) {
    if (blockIdx.x == 0) {
      if (*items < i) {
        *waiting = i;
        if (LACKS != 1)
          __threadfence();
        if (*items < i)
          while (*wake < i)
            ;
        *waiting = 0;
      }
      __threadfence();
      data[i] = data[32 + i];
    } else {
      data[32 + i] = i;
      __threadfence();
      *items = i;
      if (LACKS != 2)
        __threadfence();
      if (*waiting)
        *wake = i;
    }
  }
}
extern "C" __global__ void sleeper_live(int *a, int *b, int *data) { sleeper<0>(a, data); }
extern "C" __global__ void sleeper_first(int *a, int *b, int *data) { sleeper<1>(a, data); }
extern "C" __global__ void sleeper_second(int *a, int *b, int *data) { sleeper<2>(a, data); }

// A tournament: winners wait for losers, all for the champion. nvcc makes copies of the rounds. 1, 2: a relaxed load, or store.
template <int LACKS> static __device__ void tournament(int *flags, int *champion, int *data) {
  int n = gridDim.x, me = blockIdx.x;
  for (int round = 1; round <= 3; round++) {
    data[me * 32] = round * me;
    for (int d = 1; d < n && me % (2 * d) == 0; d *= 2)
      while (Word(flags[(me + d) * 32]).load(LACKS == 1 ? relaxed : acquire) < round)
        ;
    if (me) {
      Word(flags[me * 32]).store(round, LACKS == 2 ? relaxed : release);
      while (Word(*champion).load(acquire) < round)
        ;
    } else {
      int sum = 0;
      for (int j = 0; j < n; j++)
        sum += data[j * 32];
      data[1] = sum;
      Word(*champion).store(round, release);
    }
  }
}
extern "C" __global__ void tournament_live(int *a, int *b, int *data) { tournament<0>(a, b, data); }
extern "C" __global__ void tournament_load(int *a, int *b, int *data) { tournament<1>(a, b, data); }
extern "C" __global__ void tournament_store(int *a, int *b, int *data) { tournament<2>(a, b, data); }

// Hazard pointers: who takes a version away looks whether somebody reads it. 1: without a fence between the two.
template <int LACKS> static __device__ void hazard(int *head, int *reads, int *data) {
  int n = gridDim.x, *own = &reads[32 * blockIdx.x];
  if (blockIdx.x == 0) {
    for (int v = 2; v <= 4; v++) {
      data[v * 32] = v;
      int old = Word(*head).exchange(v, cuda::memory_order_acq_rel);
      if (LACKS != 1)
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
      for (int r = 1; r < n; r++)
        while (Word(reads[32 * r]).load(acquire) == old)
          ;
      data[old * 32] = -1;
    }
    return;
  }
  for (int i = 0; i < 3; i++) {
    int v;
    do {
      v = Word(*head).load(relaxed);
      Word(*own).store(v, relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    } while (v != Word(*head).load(acquire));
    data[256 + 32 * blockIdx.x] += data[v * 32];
    Word(*own).store(-1, release);
  }
}
extern "C" __global__ void hazard_live(int *a, int *b, int *data) { hazard<0>(a, b, data); }
extern "C" __global__ void hazard_no_fence(int *a, int *b, int *data) { hazard<1>(a, b, data); }
