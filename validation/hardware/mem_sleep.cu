// How long __nanosleep() sleeps: after pauses of random length, by several warps and by a part of the lanes, and in loops that poll a word; and what two blocks
// that send each other words with a number beside each (or one flag) need for a step; and which SMs blocks of small grids get, and how far these are from a page.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_sleep mem_sleep.cu
// Run:   ./mem_sleep > mem_sleep.csv
#include "mem.cuh"

__device__ __forceinline__ unsigned long long timer() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}
__device__ __forceinline__ unsigned scramble(unsigned x) {
  x ^= x >> 16; x *= 0x85ebca6bu; x ^= x >> 13; x *= 0xc2b2ae35u; x ^= x >> 16; return x;
}

// Each warp sleeps behind pauses of 0 to 4095 cycles; lanes of `mask` only. Also whether those lanes all sleep the same.
extern "C" __global__ void naps(unsigned nanoseconds, unsigned mask, int times, long long *took, unsigned long long *woke) {
  unsigned warp = blockIdx.x * blockDim.x / 32 + threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < times; i++) {
    long long until = now() + scramble(warp * 4096 + i) % 4096;
    while (now() < until)
      ;
    __syncwarp();
    long long start = now();
    if (mask >> lane & 1)
      __nanosleep(nanoseconds);
    __syncwarp();
    long long end = now();
    if (lane == 0) {
      took[warp * times + i] = end - start;
      woke[warp * times + i] = timer();
    }
  }
}

// A word that nobody changes, in a loop that sleeps.
extern "C" __global__ void polls(volatile unsigned *word, unsigned nanoseconds, int times, long long *took) {
  long long start = now();
  int left = times;
  while (*word == 0 && --left)
    __nanosleep(nanoseconds);
  if (threadIdx.x % 32 == 0)
    took[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = now() - start;
}

// Two blocks: each thread sends (number, value) and waits for that of the other block's thread.
extern "C" __global__ void exchange64(unsigned long long *boxes, int stride, int steps, long long *took) {
  unsigned t = threadIdx.x;
  volatile unsigned long long *mine = boxes + blockIdx.x * stride + t, *other = boxes + (1 - blockIdx.x) * stride + t;
  long long start = now();
  for (int s = 1; s <= steps; s++) {
    other[0] = (unsigned long long)s << 32 | t;
    int limit = 1 << 20;
    while (mine[0] >> 32 < s && --limit)
      ;
  }
  if (t % 32 == 0)
    took[blockIdx.x * blockDim.x / 32 + t / 32] = now() - start;
}
// The same by turns: block 1 answers.
extern "C" __global__ void turns64(unsigned long long *boxes, int stride, int steps, long long *took) {
  unsigned t = threadIdx.x;
  volatile unsigned long long *mine = boxes + blockIdx.x * stride + t, *other = boxes + (1 - blockIdx.x) * stride + t;
  long long start = now();
  for (int s = 1; s <= steps; s++) {
    if (blockIdx.x == 0)
      other[0] = (unsigned long long)s << 32 | t;
    int limit = 1 << 20;
    while (mine[0] >> 32 < s && --limit)
      ;
    if (blockIdx.x == 1)
      other[0] = (unsigned long long)s << 32 | t;
  }
  if (t % 32 == 0)
    took[blockIdx.x * blockDim.x / 32 + t / 32] = now() - start;
}
// One flag a warp, whose lanes poll it together.
extern "C" __global__ void turns_flag(unsigned *boxes, int stride, int steps, long long *took) {
  unsigned w = threadIdx.x / 32;
  volatile unsigned *mine = boxes + blockIdx.x * stride + w * 8, *other = boxes + (1 - blockIdx.x) * stride + w * 8;
  long long start = now();
  for (int s = 1; s <= steps; s++) {
    if (blockIdx.x == 0 && threadIdx.x % 32 == 0)
      other[0] = s;
    int limit = 1 << 20;
    while (mine[0] < s && --limit)
      ;
    if (blockIdx.x == 1 && threadIdx.x % 32 == 0)
      other[0] = s;
  }
  if (threadIdx.x % 32 == 0)
    took[blockIdx.x * blockDim.x / 32 + w] = now() - start;
}

// Where block `who` is, and what its atomic operations on a page take.
extern "C" __global__ void place(unsigned *page, unsigned who, long long *sm, long long *took) {
  if (blockIdx.x != who || threadIdx.x)
    return;
  *sm = sm_id();
  for (int i = 0; i < 96; i++) {
    long long start = now();
    unsigned value = atomicAdd(page + i % 32 * 32, 0);
    took[i] = now_with(value) - start;
  }
}

static void nap_rows() {
  enum { TIMES = 200 };
  auto go = [&](unsigned ns, unsigned mask, int blocks, int threads, const char *what) {
    int warps = blocks * threads / 32;
    Buffer<long long> took((size_t)warps * TIMES);
    Buffer<unsigned long long> woke((size_t)warps * TIMES);
    for (int twice = 0; twice < 2; twice++)
      naps<<<blocks, threads>>>(ns, mask, TIMES, took.data, woke.data);
    finish("naps");
    std::vector<double> all = as_doubles(took.get());
    double sum = 0;
    for (double x : all)
      sum += x;
    std::sort(all.begin(), all.end());
    printf("sleep,%s,%d,%d,%u,%d,%.2f,%.2f,%.2f\n", what, blocks, threads, ns, TIMES, sum / all.size(), all.front(), all[all.size() * 99 / 100]);
  };
  for (unsigned ns : {0u, 1u, 8u, 16u, 20u, 31u, 32u, 40u, 50u, 63u, 64u, 100u, 127u, 128u, 200u, 255u, 256u, 400u, 511u, 512u, 1000u, 1024u, 2000u, 4000u})
    go(ns, ~0u, 1, 32, "nap; mean");
  for (unsigned ns : {20u, 100u, 400u})
    for (int threads : {64, 128, 256, 512, 1024})
      go(ns, ~0u, 1, threads, "nap; mean");
  for (unsigned ns : {20u, 100u, 400u})
    go(ns, ~0u, 132, 128, "nap; mean");
  for (unsigned ns : {20u, 100u, 400u})
    for (unsigned mask : {1u, 0xffffu, 0xaaaaaaaau})
      go(ns, mask, 1, 32, mask == 1 ? "nap of lane 0; mean" : mask == 0xffff ? "nap of 16 lanes; mean" : "nap of every other lane; mean");
}

static void poll_rows() {
  enum { TIMES = 300 };
  Buffer<unsigned> word(1024);
  word.clear();
  for (unsigned ns : {0u, 10u, 20u, 32u, 40u, 64u, 100u, 128u, 200u, 256u, 400u, 1000u})
    for (int blocks : {1, 132})
      for (int threads : {32, 256}) {
        Buffer<long long> took(blocks * threads / 32);
        for (int twice = 0; twice < 2; twice++)
          polls<<<blocks, threads>>>(word.data, ns, TIMES, took.data);
        finish("polls");
        std::vector<double> all = as_doubles(took.get());
        row("sleep", "poll and sleep", blocks, threads, ns, TIMES, all);
      }
}

static void step_rows() {
  enum { STEPS = 200, STRIDE = 4096 };
  Buffer<unsigned long long> boxes(64 * STRIDE);
  for (int kind = 0; kind < 3; kind++)
    for (int threads : {32, 64, 128, 256, 1024}) {
      std::vector<double> all;
      for (int at = 0; at < 16; at++) {
        boxes.clear();
        Buffer<long long> took(2 * threads / 32);
        unsigned long long *from = boxes.data + at * 2 * 512;
        int stride = at % 2 ? 512 * 3 : 512 * 2; // pages
        if (threads == 1024)
          stride += 512;
        if (kind == 0)
          exchange64<<<2, threads>>>(from, stride, STEPS, took.data);
        if (kind == 1)
          turns64<<<2, threads>>>(from, stride, STEPS, took.data);
        if (kind == 2)
          turns_flag<<<2, threads>>>((unsigned *)from, stride * 2, STEPS, took.data);
        finish("steps");
        std::vector<double> these = as_doubles(took.get());
        all.push_back(*std::max_element(these.begin(), these.end()));
      }
      row("sleep", kind == 0 ? "step of an exchange, 64 bits" : kind == 1 ? "step of two by turns, 64 bits" : "step of two by turns, a flag", 2, threads, 0, STEPS, all);
    }
}

static void place_rows() {
  Buffer<unsigned> page(64 * 1024);
  page.clear();
  for (int blocks : {2, 4, 8, 16, 32, 66, 132})
    for (int who = 0; who < blocks; who++) {
      Buffer<long long> sm(1), took(96), took2(96);
      place<<<blocks, 32>>>(page.data, who, sm.data, took.data);
      place<<<blocks, 32>>>(page.data, who, sm.data, took.data);
      finish("place");
      std::vector<double> all = as_doubles(took.get());
      all.erase(all.begin(), all.begin() + 32);
      row("sleep", "atomic on a page; SM " + std::to_string(sm.get()[0]), blocks, 32, who, 1, all);
    }
}

int main() {
  mem_begin();
  nap_rows();
  poll_rows();
  step_rows();
  place_rows();
}
