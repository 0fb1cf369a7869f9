// Copies in bulk out of shared memory, in groups: a stage of two is filled again by another copy, behind a wait that leaves one group or two; and what was
// written is read again, behind a wait for the group or for its reads alone.
// PTX: nvcc -ptx -lineinfo -arch=sm_90, with the bare file name.
static __device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static __device__ __forceinline__ void put(void *to, const void *from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
static __device__ __forceinline__ void get(void *to, const void *from, unsigned bytes, unsigned long long *full) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(full)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(full))
               : "memory");
}
static __device__ __forceinline__ void wait(unsigned long long *full, unsigned phase) {
  unsigned done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(at(full)), "r"(phase) : "memory");
}

enum { THREADS = 64, TILES = 5 };

template <int LEFT> static __device__ __forceinline__ void stages(const int *in, int *out) {
  __shared__ __align__(128) int tile[2][THREADS];
  __shared__ unsigned long long full[2];
  int i = threadIdx.x;
  if (i < 2)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&full[i])) : "memory");
  fence();
  __syncthreads();
  for (int t = 0; t < TILES; t++) {
    if (i == 0) {
      asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
      get(tile[t % 2], in + t * THREADS, sizeof tile[0], &full[t % 2]);
    }
    wait(&full[t % 2], t / 2 % 2);
    tile[t % 2][i] = 2 * tile[t % 2][i] + 1;
    fence();
    __syncthreads();
    if (i == 0)
      put(out + t * THREADS, tile[t % 2], sizeof tile[0]);
  }
}

extern "C" __global__ void two_stages(const int *in, int *out) { stages<1>(in, out); }
extern "C" __global__ void two_stages_early(const int *in, int *out) { stages<2>(in, out); }

template <bool READ> static __device__ __forceinline__ void turned(int *out) {
  __shared__ __align__(128) int tile[THREADS];
  int i = threadIdx.x;
  tile[i] = i;
  fence();
  __syncthreads();
  if (i == 0) {
    put(out, tile, sizeof tile);
    if (READ)
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    else
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  out[THREADS + i] = out[THREADS - 1 - i];
}

extern "C" __global__ void turned_around(int *out) { turned<false>(out); }
extern "C" __global__ void turned_early(int *out) { turned<true>(out); }

// The same tile is changed as soon as the copy has been read: what was written isn't looked at.
extern "C" __global__ void same_tile(int *out) {
  __shared__ __align__(128) int tile[THREADS];
  int i = threadIdx.x;
  for (int t = 0; t < TILES; t++) {
    tile[i] = t * THREADS + i;
    fence();
    __syncthreads();
    if (i == 0) {
      put(out + t * THREADS, tile, sizeof tile);
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
}
