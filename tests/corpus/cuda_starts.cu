// How blocks of a cluster come to use each other's mbarriers, barriers of no arrivals, and a number of one's own beside the one that is waited
// for. PTX: nvcc -ptx -lineinfo -arch=sm_90, with the bare file name; cubin: -cubin -lineinfo -arch=sm_90.
static __device__ __forceinline__ unsigned mine(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ __forceinline__ unsigned theirs(const void *p, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(mine(p)), "r"(rank));
  return at;
}
static __device__ __forceinline__ void wait(unsigned long long *bar, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(mine(bar)), "r"(parity) : "memory");
}

// As CUTLASS starts: the barriers are made, a fence for them, a relaxed barrier of the cluster. Then each block stores to the other, arrives
// there (`narrow`: for its own block only), and waits with the default scope.
template <bool FENCE, bool NARROW> static __device__ void start(unsigned *out) {
  __shared__ unsigned x[32];
  __shared__ unsigned long long bar;
  unsigned rank, t = threadIdx.x;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(mine(&bar)) : "memory");
    if (FENCE)
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(theirs(x + t, rank ^ 1)), "r"(t + 100 * rank) : "memory");
  if (NARROW)
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(theirs(&bar, rank ^ 1)) : "memory");
  else
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(theirs(&bar, rank ^ 1)) : "memory");
  wait(&bar, 0);
  out[blockIdx.x * 32 + t] = x[31 - t];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
extern "C" __global__ void starts(unsigned *out) { start<true, false>(out); }
extern "C" __global__ void starts_unfenced(unsigned *out) { start<false, false>(out); }
extern "C" __global__ void starts_narrow(unsigned *out) { start<true, true>(out); }

// All threads wait for each other at a barrier of so many arrivals.
extern "C" __global__ void meets(unsigned *out, int count) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mine(&bar)), "r"(count) : "memory");
  __syncthreads();
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(mine(&bar)) : "memory");
  wait(&bar, 0);
  out[threadIdx.x] = 1;
}

// Blocks wait for their turn by a number that they keep in shared memory; the next one has the turn if it is handed on by 1.
extern "C" __global__ void turns(int *tick, int *now, int *out, int by) {
  __shared__ int my;
  if (threadIdx.x == 0) {
    int v;
    my = atomicAdd(tick, 1);
    do
      asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(now) : "memory");
    while (v != my);
  }
  __syncthreads();
  out[threadIdx.x] = out[threadIdx.x] * 2 + 1;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(now), "r"(my + by) : "memory");
}
