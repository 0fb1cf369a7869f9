// Blocks of a cluster: what they hand to each other, and what they leave out. PTX: nvcc -ptx -lineinfo -arch=sm_90, with
// the bare file name.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

static __device__ __forceinline__ unsigned mine(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
// The same place in the shared memory of block `rank`.
static __device__ __forceinline__ unsigned theirs(const void *p, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(mine(p)), "r"(rank));
  return at;
}
#define ARRIVE asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define ARRIVE_RELAXED asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
static __device__ __forceinline__ void prepare(unsigned long long *bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mine(bar)), "r"(count) : "memory");
}
static __device__ __forceinline__ void arrive(unsigned bar) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
}
static __device__ __forceinline__ void wait(unsigned long long *bar, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(mine(bar)), "r"(parity) : "memory");
}

// Each block reads its neighbour's words. Without the last sync() the neighbour may have exited.
extern "C" __global__ void pass(int *out, int last) {
  __shared__ int s[32];
  cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = 100 * cluster.block_rank() + threadIdx.x;
  cluster.sync();
  const int *next = cluster.map_shared_rank(s, (cluster.block_rank() + 1) % cluster.num_blocks());
  out[blockIdx.x * 32 + threadIdx.x] = next[threadIdx.x];
  if (last)
    cluster.sync();
}

// Each block counts an eighth of the values of each other; `first`: once all bins are zeros.
extern "C" __global__ void histogram(int *out, int first) {
  __shared__ int bins[8];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 8)
    bins[threadIdx.x] = 0;
  if (first)
    cluster.sync();
  unsigned value = (blockIdx.x * 32 + threadIdx.x) * 7 % (8 * cluster.num_blocks());
  atomicAdd(cluster.map_shared_rank(bins, value / 8) + value % 8, 1);
  cluster.sync();
  if (threadIdx.x < 8)
    out[blockIdx.x * 8 + threadIdx.x] = bins[threadIdx.x];
}

// Sums go round a ring of blocks, one step behind another. With `steps` each step ends before the next begins.
extern "C" __global__ void ring(int *out, int steps) {
  __shared__ int mail[2];
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  int sum = rank + 1, carried = sum;
  for (unsigned step = 1; step < blocks; step++) {
    if (threadIdx.x == 0)
      cluster.map_shared_rank(mail, (rank + 1) % blocks)[step % 2] = carried;
    if (steps)
      cluster.sync();
    carried = mail[step % 2];
    sum += carried;
  }
  cluster.sync();
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

// A relaxed arrival hands nothing on unless there is a fence before it.
extern "C" __global__ void relaxed(int *out, int fence) {
  __shared__ int word;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    word = 5 + blockIdx.x;
  if (fence)
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
  ARRIVE_RELAXED;
  WAIT;
  if (threadIdx.x == 0)
    out[blockIdx.x] = *cluster.map_shared_rank(&word, cluster.block_rank() ^ 1);
  ARRIVE;
  WAIT;
}

// Block 0 fills block 1's buffer and arrives at its barrier, for which `count` arrivals are expected.
extern "C" __global__ void produce(int *out, int count) {
  __shared__ int buffer[32];
  __shared__ unsigned long long full;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    prepare(&full, count);
  cluster.sync();
  if (cluster.block_rank() == 0) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(theirs(&buffer[threadIdx.x], 1)), "r"(threadIdx.x * threadIdx.x) : "memory");
    arrive(theirs(&full, 1));
  } else {
    wait(&full, 0);
    out[threadIdx.x] = buffer[31 - threadIdx.x];
  }
  cluster.sync();
}

// Each block stores to the other's buffer, whose barrier counts the bytes; it expects so many.
extern "C" __global__ void store(int *out, int bytes) {
  __shared__ int buffer[32];
  __shared__ unsigned long long full;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned other = cluster.block_rank() ^ 1;
  if (threadIdx.x == 0) {
    prepare(&full, 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mine(&full)), "r"(bytes) : "memory");
  }
  cluster.sync();
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(theirs(&buffer[threadIdx.x], other)), "r"(threadIdx.x + 10 * blockIdx.x), "r"(theirs(&full, other)) : "memory");
  wait(&full, 0);
  out[blockIdx.x * 32 + threadIdx.x] = buffer[threadIdx.x];
  cluster.sync();
}

// A flag in block 1's shared memory tells it of a word there.
template <bool release> static __device__ __forceinline__ void flag(int *out) {
  __shared__ int word, ready;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    ready = 0;
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    asm volatile("st.shared::cluster.u32 [%0], 42;" ::"r"(theirs(&word, 1)) : "memory");
    if (release)
      asm volatile("st.release.cluster.shared::cluster.u32 [%0], 1;" ::"r"(theirs(&ready, 1)) : "memory");
    else
      asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], 1;" ::"r"(theirs(&ready, 1)) : "memory");
  } else if (cluster.block_rank() == 1 && threadIdx.x == 0) {
    int seen = 0;
    while (!seen)
      asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(mine(&ready)) : "memory");
    out[0] = word;
  }
  cluster.sync();
}
extern "C" __global__ void flag_release(int *out) { flag<true>(out); }
extern "C" __global__ void flag_relaxed(int *out) { flag<false>(out); }

// The same from afar: block 1 polls a flag of block 0, which sets it if `sets`.
extern "C" __global__ void poll(int *out, int sets) {
  __shared__ int word, ready;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    ready = 0;
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0 && sets) {
    word = 43;
    asm volatile("st.release.cluster.shared::cta.u32 [%0], 1;" ::"r"(mine(&ready)) : "memory");
  } else if (cluster.block_rank() == 1 && threadIdx.x == 0) {
    int seen = 0;
    while (!seen)
      asm volatile("ld.acquire.cluster.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(theirs(&ready, 0)) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(theirs(&word, 0)) : "memory");
    out[0] = seen;
  }
  cluster.sync();
}

// Block 1 doesn't come to the barrier: it has exited, which is no harm, or it waits for what comes behind the barrier.
extern "C" __global__ void skip(volatile int *out, int waits) {
  cg::cluster_group cluster = cg::this_cluster();
  if (cluster.block_rank() == 1 && !waits)
    return;
  while (cluster.block_rank() == 1 && out[1] == 0)
    ;
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    out[1] = 1;
}

// Between arrival and wait there is something to do; a wait is left out if `once`.
extern "C" __global__ void split(int *out, int once) {
  __shared__ int word;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    word = 7 * blockIdx.x;
  ARRIVE;
  int sum = threadIdx.x;
  for (int i = 0; i < 20; i++)
    sum = sum * 5 + i;
  if (!once)
    WAIT;
  ARRIVE;
  WAIT;
  if (threadIdx.x == 0)
    out[blockIdx.x] = *cluster.map_shared_rank(&word, 0) + (sum == -1);
  ARRIVE;
  WAIT;
}

// Where a block is.
extern "C" __global__ void place(int *out) {
  cg::cluster_group cluster = cg::this_cluster();
  dim3 at = cluster.block_index(), size = cluster.dim_blocks();
  unsigned x, y, count;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(x));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(y));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
  unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
  out[2 * block] = cluster.block_rank() + 10 * at.x + 100 * at.y + 1000 * cluster.num_blocks();
  out[2 * block + 1] = x + 10 * y + 100 * count + 1000 * size.x + 10000 * size.y;
}

// Each block copies 128 bytes to the other's buffer, whose barrier counts them; it expects so many, and reads the
// buffer when they are there, or at once if `early`.
extern "C" __global__ void bulk(const int *in, int *out, int bytes, int early) {
  __shared__ alignas(16) int buffer[32];
  __shared__ unsigned long long full;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned other = cluster.block_rank() ^ 1;
  if (threadIdx.x == 0) {
    prepare(&full, 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mine(&full)), "r"(bytes) : "memory");
  }
  cluster.sync();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(theirs(buffer, other)), "l"(in + 32 * cluster.block_rank()), "r"(theirs(&full, other)) : "memory");
  if (!early)
    wait(&full, 0);
  out[blockIdx.x * 32 + threadIdx.x] = ((volatile int *)buffer)[threadIdx.x];
  wait(&full, 0);
  cluster.sync();
}
