// A barrier in shared memory (mbarrier) from phase to phase: initialised again, and waited for by the wrong parity.
// PTX for sm_90: see make_ptx.sh

static __device__ unsigned place(unsigned long long *barrier) { return (unsigned)__cvta_generic_to_shared(barrier); }
static __device__ void start(unsigned long long *barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(place(barrier)) : "memory");
}
static __device__ void meet(unsigned long long *barrier, int parity) {
  int done;
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(place(barrier)) : "memory");
  do
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(place(barrier)), "r"(parity)
                 : "memory");
  while (!done);
}

// Thread 0 initialises the barrier for each round. `syncs`: once all threads are through the last one.
extern "C" __global__ void phases_again(int syncs, int *out) {
  __shared__ unsigned long long barrier;
  __shared__ int data[64];
  if (threadIdx.x == 0)
    start(&barrier);
  __syncthreads();
  for (int round = 0; round < 3; round++) {
    data[threadIdx.x] = threadIdx.x + round;
    meet(&barrier, 0);
    out[threadIdx.x] += data[63 - threadIdx.x];
    if (syncs)
      __syncthreads();
    if (threadIdx.x == 0)
      start(&barrier);
    __syncthreads();
  }
}

// Two phases a round. `flip`: 1 if each is waited for by its own parity, 0 if all are by the first one's.
extern "C" __global__ void phases_parity(int flip, int *out) {
  __shared__ unsigned long long barrier;
  __shared__ int data[64];
  if (threadIdx.x == 0)
    start(&barrier);
  __syncthreads();
  for (int round = 0, parity = 0; round < 3; round++) {
    data[threadIdx.x] = threadIdx.x + round;
    meet(&barrier, parity);
    parity ^= flip;
    out[threadIdx.x] += data[63 - threadIdx.x];
    meet(&barrier, parity);
    parity ^= flip;
  }
}
