// Loads that hit in the L1, by the shape of a warp's addresses: one word, one line, a sector or a line for each lane; dependent loads of
// one warp (latency) and of many (how often the L1 takes one); 4 to 16 bytes a lane. And a word that each thread counts up, load and
// store by turns. What a load takes whose lanes go to many lines says how many tags the L1 looks at in a cycle.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_l1 mem_l1.cu
// Run:   ./mem_l1 > mem_l1.csv
// `n` of the rows: lanes that take part; all warps of the block use the same words. `cycles`: of one load, or of one round of load and
// store, of a warp.
#include "mem.cuh"

enum { ROUNDS = 200, WARM_UP = 20 };

// Lane i's words begin at i * stride; the word that a load brings, 0, leads to the next one.
template <int BYTES> static __device__ __forceinline__ unsigned load(const unsigned *at) {
  unsigned a, b, c, d;
  if (BYTES == 16)
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at) : "memory");
  else if (BYTES == 8)
    asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at) : "memory");
  else
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(at) : "memory");
  return a;
}

template <int BYTES> __global__ void hits(unsigned *words, int stride, int lanes, long long *took) {
  unsigned *own = words + threadIdx.x % 32 * stride, at = 0;
  long long start = 0;
  if ((int)(threadIdx.x % 32) < lanes) {
    for (int i = 0; i < WARM_UP; i++)
      at = load<BYTES>(own + at);
  }
  __syncthreads();
  if ((int)(threadIdx.x % 32) < lanes) {
    start = now_with(at);
    for (int i = 0; i < ROUNDS; i++)
      at = load<BYTES>(own + at);
    start = now_with(at) - start;
  }
  if (threadIdx.x % 32 == 0)
    took[threadIdx.x / 32] = start;
}

__global__ void count_up(unsigned *words, int stride, int lanes, long long *took) {
  unsigned *own = words + (threadIdx.x % 32 + threadIdx.x / 32 * 1024) * stride;
  long long start = 0;
  if ((int)(threadIdx.x % 32) < lanes) {
    for (int i = 0; i < WARM_UP; i++)
      asm volatile("{ .reg .u32 v; ld.global.ca.u32 v, [%0]; add.u32 v, v, 1; st.global.u32 [%0], v; }" ::"l"(own) : "memory");
    start = now();
    for (int i = 0; i < ROUNDS; i++)
      asm volatile("{ .reg .u32 v; ld.global.ca.u32 v, [%0]; add.u32 v, v, 1; st.global.u32 [%0], v; }" ::"l"(own) : "memory");
    start = now() - start;
  }
  if (threadIdx.x % 32 == 0)
    took[threadIdx.x / 32] = start;
}

struct Shape {
  const char *name;
  int stride;
};
static const Shape shapes[] = {{"one word", 0}, {"one line", 1}, {"own sectors", 8}, {"own lines", 32}, {"own lines apart", 96}};

template <int BYTES> static void all_hits(unsigned *words) {
  for (const Shape &shape : shapes)
    for (int threads : {32, 64, 128, 256, 512, 1024})
      for (int lanes : {1, 2, 4, 8, 16, 32}) {
        if ((threads > 32 && lanes != 8 && lanes != 32) || (shape.stride && shape.stride * 4 < BYTES))
          continue;
        Buffer<long long> took(threads / 32);
        std::vector<double> each;
        for (int run = 0; run < 3; run++) {
          hits<BYTES><<<1, threads>>>(words, shape.stride, lanes, took.data);
          finish("hits");
          for (long long cycles : took.get())
            each.push_back((double)cycles);
        }
        row("l1", "load of " + std::to_string(BYTES) + " bytes; " + shape.name, 1, threads, lanes, ROUNDS, each);
      }
}

int main() {
  mem_begin();
  Buffer<unsigned> words(4 << 20);
  words.clear();
  all_hits<4>(words.data);
  all_hits<8>(words.data);
  all_hits<16>(words.data);
  for (const Shape &shape : shapes)
    for (int threads : {32, 128, 1024})
      for (int lanes : {1, 2, 4, 8, 16, 32}) {
        if (!shape.stride)
          continue;
        Buffer<long long> took(threads / 32);
        std::vector<double> each;
        for (int run = 0; run < 3; run++) {
          count_up<<<1, threads>>>(words.data, shape.stride, lanes, took.data);
          finish("count_up");
          for (long long cycles : took.get())
            each.push_back((double)cycles);
        }
        row("l1", std::string("load and store; ") + shape.name, 1, threads, lanes, ROUNDS, each);
      }
  return 0;
}
