// Copies in bulk between global and shared memory. PTX: nvcc -ptx -lineinfo -arch=sm_90, with the bare file name.
enum { TILE = 256 };

static __device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ __forceinline__ void prepare(unsigned long long *bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ __forceinline__ void expect(unsigned long long *bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void wait(unsigned long long *bar, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}
static __device__ __forceinline__ void load(void *to, const void *from, unsigned bytes, unsigned long long *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(bar)) : "memory");
}
static __device__ __forceinline__ void store(void *to, const void *from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT_WRITTEN asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define WAIT_READ asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")

// A tile comes; thread 0 expects so many bytes more than it has.
extern "C" __global__ void tile_in(const int *in, int *out, int more, int waits) {
  __shared__ alignas(128) int tile[TILE];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0)
    prepare(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&bar, sizeof tile + more);
    load(tile, in, sizeof tile, &bar);
  }
  if (waits)
    wait(&bar, 0);
  for (int i = threadIdx.x; i < TILE; i += blockDim.x)
    out[i] = tile[i] + 1;
}

// Two lanes of each warp copy half a tile each: bytes of several threads count at one barrier, in two phases.
extern "C" __global__ void halves_in(const int *in, int *out, int rounds) {
  __shared__ alignas(128) int tile[2 * TILE];
  __shared__ unsigned long long bar;
  int sum = 0;
  if (threadIdx.x == 0)
    prepare(&bar, 2);
  __syncthreads();
  for (int round = 0; round < rounds; round++) {
    if (threadIdx.x < 2) {
      expect(&bar, sizeof tile / 2);
      load(tile + threadIdx.x * TILE, in + (round * 2 + threadIdx.x) * TILE, sizeof tile / 2, &bar);
    }
    wait(&bar, round & 1);
    for (int i = threadIdx.x; i < 2 * TILE; i += blockDim.x)
      sum += tile[i];
    __syncthreads();
  }
  atomicAdd(out, sum);
}

// A tile leaves, behind a fence between the stores and the copy or without one.
extern "C" __global__ void tile_out(int *out, int fences) {
  __shared__ alignas(128) int tile[TILE];
  for (int i = threadIdx.x; i < TILE; i += blockDim.x)
    tile[i] = 3 * i;
  if (fences)
    fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(out, tile, sizeof tile);
    COMMIT;
    WAIT_WRITTEN;
  }
}

// A tile leaves twice; between, it is changed, once it has been read or at once.
extern "C" __global__ void tile_again(int *out, int waits) {
  __shared__ alignas(128) int tile[4 * TILE];
  for (int round = 0; round < 2; round++) {
    for (int i = threadIdx.x; i < 4 * TILE; i += blockDim.x)
      tile[i] = round * 1000 + i;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      store(out + round * 4 * TILE, tile, sizeof tile);
      COMMIT;
      if (waits)
        WAIT_READ;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    WAIT_WRITTEN;
}

// Block 0 copies a tile to global memory and sets a flag, when the copy is over or at once; the other blocks read it.
extern "C" __global__ void tile_flag(int *out, int *flag, int *sums, int waits) {
  __shared__ alignas(128) int tile[TILE];
  if (blockIdx.x == 0) {
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
      tile[i] = i;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      store(out, tile, sizeof tile);
      COMMIT;
      if (waits)
        WAIT_WRITTEN;
      asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
      WAIT_WRITTEN;
    }
    return;
  }
  int set = 0, sum = 0;
  while (!set)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
  for (int i = threadIdx.x; i < TILE; i += blockDim.x)
    sum += out[i];
  atomicAdd(sums + blockIdx.x, sum);
}

// Each block adds its tile to one in global memory, and takes the larger one of each pair of 64 bits.
extern "C" __global__ void tile_sums(unsigned *sums, unsigned long long *largest) {
  __shared__ alignas(128) unsigned tile[TILE];
  __shared__ alignas(128) unsigned long long wide[TILE / 2];
  for (int i = threadIdx.x; i < TILE; i += blockDim.x)
    tile[i] = i + blockIdx.x;
  for (int i = threadIdx.x; i < TILE / 2; i += blockDim.x)
    wide[i] = (unsigned long long)(blockIdx.x == (unsigned)i % gridDim.x ? 7 : blockIdx.x) << 32 | i;
  fence_async();
  __syncthreads();
  if (threadIdx.x)
    return;
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(sums), "r"(at(tile)), "r"((unsigned)sizeof tile) : "memory");
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u64 [%0], [%1], %2;" ::"l"(largest), "r"(at(wide)), "r"((unsigned)sizeof wide) : "memory");
  COMMIT;
  WAIT_WRITTEN;
}

// The tile begins so many bytes further on in global memory.
extern "C" __global__ void tile_odd(const char *in, int *out, int offset, int bytes) {
  __shared__ alignas(128) int tile[TILE];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    prepare(&bar, 1);
    expect(&bar, bytes);
    load(tile, in + offset, bytes, &bar);
    wait(&bar, 0);
    out[0] = tile[0];
  }
}

// Thread 1 puts values into shared memory that are complete at a barrier, and the others wait for them.
extern "C" __global__ void __cluster_dims__(1) put(int *out, int more) {
  __shared__ alignas(16) int tile[8];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    prepare(&bar, 1);
    expect(&bar, 24 + more);
  }
  __syncthreads();
  if (threadIdx.x == 1) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %1, %2}, [%3];" ::"r"(at(tile)), "r"(5), "r"(6), "r"(at(&bar)) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(at(tile + 4)), "l"(7ull), "r"(at(&bar)) : "memory");
  }
  wait(&bar, 0);
  if (threadIdx.x < 6)
    out[threadIdx.x] = tile[threadIdx.x];
}
