// Slides, "atomics", "Atomics in ATMs", "Single using atomicCAS", "What is the output?" (the k1 puzzle).
// PTX: make_ptx.sh atomics.cu
#include <limits.h>
#include <stdio.h>

extern "C" __global__ void increment(int *x) { ++x[0]; }
extern "C" __global__ void increment_atomic(unsigned *x) { atomicInc(&x[0], UINT_MAX); }

// Twins at an ATM: each withdraws 1000 if the balance allows it. cash[i] is what twin i gets.
extern "C" __global__ void atm(volatile int *balance, int *cash) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (*balance >= 1000) {
    *balance = *balance - 1000;
    cash[id] = 1000;
  }
}
// Only the update is atomic: the balance can become negative.
extern "C" __global__ void atm_atomic_update(int *balance, int *cash) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (*(volatile int *)balance >= 1000) {
    atomicSub(balance, 1000);
    cash[id] = 1000;
  }
}
// Check and update are one step.
extern "C" __global__ void atm_atomic(int *balance, int *cash) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  int seen = *(volatile int *)balance;
  while (seen >= 1000) {
    int old = atomicCAS(balance, seen, seen - 1000);
    if (old == seen) {
      cash[id] = 1000;
      break;
    }
    seen = old;
  }
}

// One arbitrary thread executes the section.
extern "C" __global__ void single(int *lockvar, int *times) {
  if (atomicCAS(lockvar, 0, 1) == 0)
    atomicAdd(times, 1);
}
// With what the slide warns of: lockvar set to 0 at the end of the section. `late`: cycles before a block's first look.
extern "C" __global__ void single_reset(int *lockvar, int *times, int late) {
  for (long long start = clock64(); clock64() - start < late * blockIdx.x;)
    ;
  if (atomicCAS(lockvar, 0, 1) == 0) {
    atomicAdd(times, 1);
    atomicExch(lockvar, 0);
  }
}

// The puzzle: which threads succeed? Besides printing, success[i] counts and thread[i] notes who.
extern "C" __global__ void k1(int *gg, int *success, int *thread) {
  int old = atomicCAS(gg, 0, threadIdx.x + 1);
  if (old == 0) {
    printf("Thread %d succeeded 1.\n", threadIdx.x);
    atomicAdd(&success[0], 1);
    thread[0] = threadIdx.x;
  }
  old = atomicCAS(gg, 0, threadIdx.x + 1);
  if (old == 0) {
    printf("Thread %d succeeded 2.\n", threadIdx.x);
    atomicAdd(&success[1], 1);
    thread[1] = threadIdx.x;
  }
  old = atomicCAS(gg, threadIdx.x, -1);
  if (old == threadIdx.x) {
    printf("Thread %d succeeded 3.\n", threadIdx.x);
    atomicAdd(&success[2], 1);
    thread[2] = threadIdx.x;
  }
}
