// Accesses to global memory from many blocks and by many lanes: what one word, one line and the whole L2 take.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_rate mem_rate.cu
// Run:   ./mem_rate > mem_rate.csv
#include "mem.cuh"

enum { TIMES = 1000, LINE = 32 /* words */ };

// One thread of each block accesses a word, `apart` words behind that of the block before it. DEPENDENT: each access waits for the one
// before.
template <int ACCESS, bool DEPENDENT> __global__ void master(unsigned *words, int apart, long long *took) {
  if (threadIdx.x)
    return;
  unsigned *at = words + (size_t)blockIdx.x * apart, sum = 0;
  for (int i = 0; i < 50; i++)
    sum += touch<ACCESS>(at + (DEPENDENT ? sum : 0));
  long long start = now();
#pragma unroll 4
  for (int i = 0; i < TIMES; i++)
    sum += touch<ACCESS>(at + (DEPENDENT ? sum : 0));
  took[blockIdx.x] = now_with(sum) - start;
}

template <int ACCESS, bool DEPENDENT> static void masters(unsigned *words) {
  static const int grids[] = {1, 2, 4, 8, 16, 33, 66, 132, 264, 528, 1056};
  static const struct {
    const char *name;
    int apart;
  } places[] = {{"one word", 0}, {"one line each", LINE}, {"one page each", 1024}};
  for (const auto &place : places)
    for (int grid : grids) {
      Buffer<long long> took(grid);
      master<ACCESS, DEPENDENT><<<grid, 32>>>(words, place.apart, took.data);
      finish("master");
      row("rate", std::string("master ") + access_names[ACCESS] + (DEPENDENT ? ", dependent, " : ", ") + place.name,
          grid, 32, 1, TIMES, as_doubles(took.get()));
    }
}

// How the lanes of a warp share words: `stride` words from lane to lane, or all on one.
template <int ACCESS> __global__ void by_lanes(unsigned *words, int lanes, int stride, int apart, long long *took) {
  unsigned sum = 0, *at = words + (size_t)blockIdx.x * apart + threadIdx.x * stride;
  if (threadIdx.x < lanes) {
    for (int i = 0; i < 20; i++)
      sum += touch<ACCESS>(at + sum);
    __syncwarp(__activemask());
    long long start = now();
    for (int i = 0; i < 200; i++)
      sum += touch<ACCESS>(at + sum);
    long long end = now_with(sum);
    if (threadIdx.x == 0)
      took[blockIdx.x] = end - start;
  }
}

template <int ACCESS> static void lanes(unsigned *words) {
  static const struct {
    const char *name;
    int stride;
  } shapes[] = {{"one word", 0}, {"one line", 1}, {"own sectors", 8}, {"own lines", LINE}};
  for (const auto &shape : shapes)
    for (int shared = 1; shared >= 0; shared--) /* all blocks on the same words, or each on its own */
      for (int grid : {1, 8, 132, 1056})
        for (int count : {1, 2, 4, 8, 16, 32}) {
          if (grid == 1 && !shared)
            continue;
          Buffer<long long> took(grid);
          by_lanes<ACCESS><<<grid, 32>>>(words, count, shape.stride, shared ? 0 : LINE * 32, took.data);
          finish("lanes");
          row("rate",
              std::string("lanes ") + access_names[ACCESS] + ", " + shape.name +
                  (grid == 1 ? ""
                   : shared  ? ", shared"
                             : ", own"),
              grid, 32, count, 200, as_doubles(took.get()));
        }
}

// Loads and stores that don't wait for each other, from whole warps: bandwidth. `n` is the words between the lanes' words.
template <int ACCESS> __global__ void stream(unsigned *words, unsigned mask, int stride, long long *took) {
  unsigned sum = 0, at = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  long long start = now();
#pragma unroll 4
  for (int i = 0; i < 200; i++)
    sum += touch<ACCESS>(words + ((at + i * gridDim.x * blockDim.x * stride) & mask));
  long long end = now_with(sum);
  if (threadIdx.x == 0)
    took[blockIdx.x] = end - start;
}

template <int ACCESS> static void streams(unsigned *words) {
  for (int stride : {1, 2, 8, 32})
    for (int grid : {1, 8, 132, 264})
      for (int threads : {32, 128, 512}) {
        Buffer<long long> took(grid);
        stream<ACCESS><<<grid, threads>>>(words, (1 << 21) - 1, stride, took.data); /* 8 MB */
        stream<ACCESS><<<grid, threads>>>(words, (1 << 21) - 1, stride, took.data);
        finish("stream");
        row("rate", std::string("stream ") + access_names[ACCESS] + ", 8 MB", grid, threads, stride, 200,
            as_doubles(took.get()));
      }
}

int main() {
  mem_begin();
  Buffer<unsigned> words(1 << 22);
  words.clear();
  masters<LOAD_VOLATILE, true>(words.data);
  masters<LOAD_VOLATILE, false>(words.data);
  masters<STORE, false>(words.data);
  masters<ATOM_ADD, true>(words.data);
  masters<ATOM_ADD, false>(words.data);
  masters<RED_ADD, false>(words.data);
  masters<ATOM_EXCH, true>(words.data);
  masters<ATOM_CAS, true>(words.data);
  lanes<LOAD_VOLATILE>(words.data);
  lanes<STORE>(words.data);
  lanes<ATOM_ADD>(words.data);
  lanes<RED_ADD>(words.data);
  lanes<ATOM_CAS>(words.data);
  streams<LOAD_L2>(words.data);
  streams<STORE>(words.data);
  streams<RED_ADD>(words.data);
}
