// Latencies of global memory: dependent accesses by footprint, by line (an L2 of two halves shows two modes), and by SM.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_latency mem_latency.cu
// Run:   ./mem_latency > mem_latency.csv
#include "mem.cuh"

enum { LINE = 32 /* words */, PAGE = 1024 /* words of 4 KB */ };

__global__ void warm(unsigned *words, size_t count) {
  for (size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * LINE; i < count;
       i += (size_t)gridDim.x * blockDim.x * LINE)
    touch<LOAD_L2>(words + i);
}

// Follows the chain that `words` holds: each word has the index of the next.
template <int ACCESS> __global__ void chase(unsigned *words, int steps, long long *took) {
  unsigned at = 0;
  for (int i = 0; i < steps / 4; i++)
    at = touch<ACCESS>(words + at);
  long long start = now();
  for (int i = 0; i < steps; i++)
    at = touch<ACCESS>(words + at);
  *took = now_with(at) - start;
}

template <int ACCESS> static void by_footprint(const char *variant) {
  enum { STEPS = 2000, REPEATS = 3 };
  static const long kilobytes[] = {4,    16,   32,    64,    96,    128,   160,   192,   224,   256,   512,   1024,
                                   4096, 8192, 16384, 20480, 24576, 28672, 32768, 40960, 49152, 65536, 131072};
  Buffer<long long> took(1);
  std::mt19937 random(1);
  for (long size : kilobytes) {
    size_t words = size * 256, lines = words / LINE;
    Buffer<unsigned> chain(words);
    std::vector<unsigned> order(lines), host(words);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin() + 1, order.end(), random);
    for (size_t i = 0; i < lines; i++)
      host[(size_t)order[i] * LINE] = order[(i + 1) % lines] * LINE;
    chain.set(host);
    std::vector<double> each;
    for (int i = 0; i < REPEATS; i++) {
      warm<<<264, 256>>>(chain.data, words);
      chase<ACCESS><<<1, 1>>>(chain.data, STEPS, took.data);
      finish("chase");
      each.push_back((double)took.get()[0]);
    }
    row("latency", variant, 1, 1, size * 1024, STEPS, each);
  }
}

// One thread of the block on SM `target` accesses `count` lines, `stride` words apart, one after the other.
template <int ACCESS>
__global__ void lines_from(unsigned target, unsigned *words, int count, int stride, unsigned short *took) {
  if (sm_id() != target || threadIdx.x)
    return;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < count; i++) {
      long long start = now();
      long long end = now_with(touch<ACCESS>(words + (size_t)i * stride));
      took[i] = (unsigned short)min(end - start, 65535ll);
    }
}

template <int ACCESS> static std::vector<double> lines(unsigned target, unsigned *words, int count, int stride) {
  Buffer<unsigned short> took(count);
  lines_from<ACCESS><<<sm_count(), 32, 200 * 1024>>>(target, words, count, stride, took.data);
  finish("lines");
  return as_doubles(took.get());
}

template <int ACCESS> static void allow_one_block_an_sm() {
  check_cuda(cudaFuncSetAttribute(lines_from<ACCESS>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024),
             "shared memory");
}

// 512 pages of 32 lines, as two SMs see them; `n` is the page.
template <int ACCESS> static void by_page(const char *variant, unsigned *words) {
  enum { PAGES = 512, LINES = PAGE / LINE };
  for (unsigned sm : {0u, 1u, 2u, 66u}) {
    std::vector<double> each = lines<ACCESS>(sm, words, PAGES * LINES, LINE);
    for (int page = 0; page < PAGES; page += 4)
      row("latency", std::string(variant) + " by page from SM " + std::to_string(sm), 1, 1, page, 1,
          std::vector<double>(each.begin() + page * LINES, each.begin() + (page + 1) * LINES));
    row("latency", std::string(variant) + " of all lines from SM " + std::to_string(sm), 1, 1, PAGES * LINES, 1,
        each);
  }
}

// 64 lines of one page, from each SM; `n` is the SM.
template <int ACCESS> static void by_sm(const char *variant, unsigned *words) {
  for (int sm = 0; sm < sm_count(); sm++)
    row("latency", std::string(variant) + " by SM", 1, 1, sm, 1, lines<ACCESS>(sm, words, 32, LINE));
}

int main() {
  mem_begin();
  by_footprint<LOAD_L1>("load by footprint");
  by_footprint<LOAD_L2>("load.cg by footprint");
  by_footprint<ATOM_ADD>("atom.add by footprint");
  Buffer<unsigned> words(1 << 22);
  words.clear();
  allow_one_block_an_sm<LOAD_L2>();
  allow_one_block_an_sm<ATOM_ADD>();
  allow_one_block_an_sm<ATOM_CAS>();
  by_page<LOAD_L2>("load.cg", words.data);
  by_page<ATOM_ADD>("atom.add", words.data);
  by_sm<LOAD_L2>("load.cg", words.data);
  by_sm<ATOM_ADD>("atom.add", words.data);
  by_sm<ATOM_CAS>("atom.cas", words.data + 4 * PAGE);
}
