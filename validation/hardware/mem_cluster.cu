// Clusters of blocks: how long loads, stores and atomic operations on another block's shared memory take by rank, how much goes between
// SMs by warps, what the barrier of a cluster costs by its size and by warps, and hand-offs from block to block: by a flag, by an arrival
// at the other block's mbarrier, by st.async.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_cluster mem_cluster.cu
// Run:   ./mem_cluster > mem_cluster_h200.csv
//
// `n` is the distance of ranks where a variant says so, else the blocks of the cluster. Waiting loops are bounded: a row whose variant ends
// in "gave up" counts threads that lost their patience, and its cycles mean nothing. Blocks meet at the end, since nobody may exit before
// the others have done with its shared memory.
#include "mem.cuh"

enum { TIMES = 128, ROUNDS = 64, PATIENCE = 1 << 20, LARGEST = 8 };

// ---- device ----

__device__ __forceinline__ unsigned own(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }
__device__ __forceinline__ unsigned other(const void *at, unsigned rank) {
  unsigned to;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(own(at)), "r"(rank));
  return to;
}
__device__ __forceinline__ unsigned rank_of_block() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned blocks_of_cluster() {
  unsigned blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}
__device__ __forceinline__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Kinds of access to another block's shared memory. The value of each decides the address of the next, by adding 0.
enum Operation { LOAD, STORE_LOAD, ADD, EXCH, CAS, REDUCE_LOAD, OPERATIONS };
static const char *const operation_names[] = {"ld", "st and ld", "atom.add", "atom.exch", "atom.cas", "red.add and ld"};

template <int OPERATION> __device__ __forceinline__ unsigned operate(unsigned value, unsigned at) {
  unsigned result = 0;
  at += value;
  if (OPERATION == STORE_LOAD)
    asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(0) : "memory");
  if (OPERATION == REDUCE_LOAD)
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 0;" ::"r"(at) : "memory");
  if (OPERATION == LOAD || OPERATION == STORE_LOAD || OPERATION == REDUCE_LOAD)
    asm volatile("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];" : "=r"(result) : "r"(at) : "memory");
  if (OPERATION == ADD)
    asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], 0;" : "=r"(result) : "r"(at) : "memory");
  if (OPERATION == EXCH)
    asm volatile("atom.relaxed.cluster.shared::cluster.exch.b32 %0, [%1], 0;" : "=r"(result) : "r"(at) : "memory");
  if (OPERATION == CAS)
    asm volatile("atom.relaxed.cluster.shared::cluster.cas.b32 %0, [%1], 7, 7;" : "=r"(result) : "r"(at) : "memory");
  return result;
}

// One warp of block 0; its lanes use words of the block `distance` ranks on, one after the other, or one word.
template <int OPERATION> __global__ void chain(unsigned distance, unsigned lanes, unsigned stride, long long *took, unsigned *sms) {
  static __shared__ unsigned words[32];
  words[threadIdx.x] = 0;
  meet();
  unsigned at = other(words + threadIdx.x * stride, distance % blocks_of_cluster()), value = 0;
  if (threadIdx.x == 0)
    sms[blockIdx.x] = sm_id();
  if (rank_of_block() == 0 && threadIdx.x < lanes) {
    for (int i = 0; i < 8; i++)
      value = operate<OPERATION>(value, at);
    long long start = now();
#pragma unroll 8
    for (int i = 0; i < TIMES; i++)
      value = operate<OPERATION>(value, at);
    long long end = now_with(value);
    if (threadIdx.x == 0)
      *took = end - start;
  }
  __syncthreads();
  meet();
}

// Independent accesses of several warps, each of 4 or 16 bytes a lane: of block 0 alone, or of all blocks to the next one.
enum Stream { LOADS, LOADS_WIDE, STORES, STORES_WIDE, REDUCTIONS, STREAMS };
static const char *const stream_names[] = {"ld of 4 bytes", "ld of 16 bytes", "st of 4 bytes", "st of 16 bytes", "red of 4 bytes"};

template <int STREAM> __global__ void stream(unsigned distance, bool all, long long *took) {
  static __shared__ uint4 words[32 * 32];
  bool wide = STREAM == LOADS_WIDE || STREAM == STORES_WIDE;
  words[threadIdx.x] = make_uint4(0, 0, 0, 0);
  meet();
  unsigned rank = rank_of_block(), sum = 0;
  unsigned at = other(wide ? (char *)(words + threadIdx.x) : (char *)words + 4 * threadIdx.x, (rank + distance) % blocks_of_cluster());
  if (rank == 0 || all) {
    __syncthreads();
    long long start = now();
#pragma unroll 8
    for (int i = 0; i < TIMES; i++) {
      unsigned a = 0, b = 0, c = 0, d = 0;
      if (STREAM == LOADS)
        asm volatile("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];" : "=r"(a) : "r"(at) : "memory");
      if (STREAM == LOADS_WIDE)
        asm volatile("ld.relaxed.cluster.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
      if (STREAM == STORES)
        asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(i) : "memory"); /* ptxas makes one of relaxed ones */
      if (STREAM == STORES_WIDE)
        asm volatile("st.volatile.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(i) : "memory");
      if (STREAM == REDUCTIONS)
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(at) : "memory");
      sum += a + b + c + d;
    }
    if (STREAM >= STORES) /* until they are performed */
      asm volatile("fence.acq_rel.cluster;" ::: "memory");
    long long end = now_with(sum);
    if (threadIdx.x % 32 == 0 && rank == 0)
      took[threadIdx.x / 32] = end - start;
  }
  __syncthreads();
  meet();
}

// Rounds of the barrier. RELAXED: its arrivals hand nothing on.
template <bool RELAXED> __global__ void barriers(long long *took) {
  for (int i = 0; i < 4; i++)
    meet();
  long long start = now();
#pragma unroll 4
  for (int i = 0; i < ROUNDS; i++) {
    if (RELAXED)
      asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    else
      meet();
  }
  long long end = now();
  if (threadIdx.x % 32 == 0)
    took[blockIdx.x * blockDim.x / 32 + threadIdx.x / 32] = end - start;
}

// Block 0 and the one `distance` ranks on send each other the turn. A round is there and back.
enum HandOff { FLAG, ARRIVE, ARRIVE_EXPECT, STORE_ASYNC, HAND_OFFS };
static const char *const hand_off_names[] = {"flag", "mbarrier.arrive", "mbarrier.arrive.expect_tx and complete_tx", "st.async"};

struct Box {
  unsigned long long bar;
  unsigned flag, word;
};

template <int HAND_OFF> __device__ __forceinline__ void give(Box *box, unsigned rank, unsigned turn) {
  unsigned bar = other(&box->bar, rank);
  if (HAND_OFF == FLAG)
    asm volatile("st.release.cluster.shared::cluster.u32 [%0], %1;" ::"r"(other(&box->flag, rank)), "r"(turn) : "memory");
  if (HAND_OFF == ARRIVE)
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
  if (HAND_OFF == ARRIVE_EXPECT) {
    asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 4;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 4;" ::"r"(bar) : "memory");
  }
  if (HAND_OFF == STORE_ASYNC)
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(other(&box->word, rank)), "r"(turn), "r"(bar) : "memory");
}

// Before its turn can come, where the barrier counts bytes that somebody has to expect.
template <int HAND_OFF> __device__ __forceinline__ void prepare(Box *box) {
  if (HAND_OFF == STORE_ASYNC)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;" ::"r"(own(&box->bar)) : "memory");
}

template <int HAND_OFF> __device__ __forceinline__ void take(Box *box, unsigned turn, Patience &patience) {
  unsigned there;
  do {
    if (HAND_OFF == FLAG) {
      asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(there) : "r"(own(&box->flag)) : "memory");
      there = there == turn;
    } else {
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                   : "=r"(there)
                   : "r"(own(&box->bar)), "r"((turn - 1) % 2)
                   : "memory");
    }
  } while (!there & patience.lasts());
}

template <int HAND_OFF> __global__ void hand_off(unsigned distance, long long *took, int *gave_up) {
  static __shared__ Box box;
  Patience patience(PATIENCE);
  unsigned rank = rank_of_block(), peer = distance % blocks_of_cluster();
  if (threadIdx.x == 0) {
    box.flag = 0;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(own(&box.bar)) : "memory");
    prepare<HAND_OFF>(&box);
  }
  meet();
  long long start = now();
  for (unsigned turn = 1; threadIdx.x == 0 && turn <= ROUNDS && (rank == 0 || rank == peer); turn++) {
    if (rank == 0)
      give<HAND_OFF>(&box, peer, turn);
    take<HAND_OFF>(&box, turn, patience);
    if (turn < ROUNDS)
      prepare<HAND_OFF>(&box);
    if (rank != 0)
      give<HAND_OFF>(&box, 0, turn);
    if (patience.over())
      break;
  }
  long long end = now();
  if (threadIdx.x == 0 && rank == 0)
    *took = end - start;
  if (patience.over())
    give_up(gave_up);
  meet();
}

// ---- host ----

// A launch of one cluster.
template <typename... Parameters, typename... Arguments>
static void launch(void (*kernel)(Parameters...), int blocks, int threads, Arguments... arguments) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = blocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.attrs = &cluster;
  config.numAttrs = 1;
  check_cuda(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "cudaLaunchKernelEx");
  finish("cluster");
}

template <int OPERATION> static void chains() {
  for (int blocks : {2, 4, 8})
    for (int distance = 0; distance < blocks; distance++)
      for (unsigned lanes : {1u, 32u})
        for (unsigned stride : {1u, 0u}) {
          if (lanes == 1 && stride == 0)
            continue;
          std::vector<double> each;
          Buffer<long long> took(1);
          Buffer<unsigned> sms(LARGEST);
          for (int run = 0; run < 7; run++) {
            launch(chain<OPERATION>, blocks, 32, distance, lanes, stride, took.data, sms.data);
            each.push_back((double)took.get()[0]);
          }
          std::vector<unsigned> at = sms.get();
          std::string variant = std::string(operation_names[OPERATION]) + "; cluster of " + std::to_string(blocks) + "; " +
                                std::to_string(lanes) + (stride ? " lanes" : " lanes on one word") + "; by distance; SM " +
                                std::to_string(at[0]) + " to " + std::to_string(at[distance]);
          row("cluster", variant, blocks, 32, distance, TIMES, each);
        }
}

template <int STREAM> static void streams() {
  for (int blocks : {2, 8})
    for (bool all : {false, true})
      for (int warps : {1, 2, 4, 8, 16, 32}) {
        Buffer<long long> took(warps);
        launch(stream<STREAM>, blocks, 32 * warps, 1, all, took.data);
        row("cluster", std::string(stream_names[STREAM]) + (all ? "; each block to the next" : "; block 0 to block 1"), blocks,
            32 * warps, blocks, TIMES, as_doubles(took.get()));
      }
}

template <bool RELAXED> static void barrier_rows() {
  for (int blocks : {1, 2, 4, 8})
    for (int warps : {1, 2, 4, 8, 16, 32}) {
      Buffer<long long> took(blocks * warps);
      launch(barriers<RELAXED>, blocks, 32 * warps, took.data);
      row("cluster", RELAXED ? "barrier; relaxed" : "barrier", blocks, 32 * warps, blocks, ROUNDS, as_doubles(took.get()));
    }
}

template <int HAND_OFF> static void hand_offs() {
  for (int blocks : {2, 8})
    for (int distance = 1; distance < blocks; distance++) {
      std::vector<double> each;
      Buffer<long long> took(1);
      Buffer<int> gave_up(1);
      gave_up.clear();
      for (int run = 0; run < 7; run++) {
        launch(hand_off<HAND_OFF>, blocks, 32, distance, took.data, gave_up.data);
        each.push_back((double)took.get()[0]);
      }
      int lost = gave_up.get()[0];
      row("cluster", std::string("there and back by ") + hand_off_names[HAND_OFF] + "; by distance" + (lost ? "; gave up" : ""),
          blocks, 32, distance, ROUNDS, each);
    }
}

int main() {
  mem_begin();
  chains<LOAD>(), chains<STORE_LOAD>(), chains<ADD>(), chains<EXCH>(), chains<CAS>(), chains<REDUCE_LOAD>();
  streams<LOADS>(), streams<LOADS_WIDE>(), streams<STORES>(), streams<STORES_WIDE>(), streams<REDUCTIONS>();
  barrier_rows<false>(), barrier_rows<true>();
  hand_offs<FLAG>(), hand_offs<ARRIVE>(), hand_offs<ARRIVE_EXPECT>(), hand_offs<STORE_ASYNC>();
  return 0;
}
