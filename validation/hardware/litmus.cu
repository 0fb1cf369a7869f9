// litmus.cu - outcomes of litmus tests on a real GPU, with the very kernels that lockstep runs (tests/property/litmus.h).
//
// Build, in the build folder: make tests/property/litmus && tests/property/litmus ptx >litmus.ptx && tests/property/litmus list >list
//        nvcc -O2 -std=c++17 -arch=native -o litmus litmus.cu; ptxas -arch=sm_90 -o litmus.cubin litmus.ptx
// Run:   ./litmus litmus.cubin list >litmus_mine.csv
//
// Output: CSV rows test,form,fence,place,copies,tries,outcomes. place: the threads are lanes of a warp, warps of a block, blocks of
// an SM, on SMs 2k and 2k + 1 (TPC; of four threads 4k to 4k + 3), or on SMs as far apart by number as can be. copies: before each
// try each thread loads both words plainly, so that the L1 has copies. outcomes: what the loads gave, in the order of threads, then
// what the words hold in the end, and how often. Waiting loops in the kernels end after 100000 rounds; a try that wasn't made has
// the outcome 3.
#include <fstream>

#include "hardware.cuh"

enum {
  GROUPS = 32,
  ROUNDS = 128,
  REPEATS = 20,
  STRIDE = 4096 + 128, // from one word to the next: in another page of 4 KiB, and in another line of it
  SPREAD = 1024,       // a thread begins up to so many cycles after the others are there
  SLOTS = 8,
  LANES = 32,
  THREADS = 4,
  ACCESSES = 2,
  OUTCOMES = 1 << 12,
};
enum Place { WARP, BLOCK, SM, TPC, DISTANT, PLACES };
static const char *const place_names[] = {"warp", "block", "SM", "TPC", "distant"};

struct Kernel {
  std::string name, test, form, fence, loads;
  int threads;
};

// Counts outcomes: two bits for each load, in order, then two for each word.
__global__ void tally(const unsigned *results, const unsigned char *words, int tries, unsigned loads, unsigned *counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tries)
    return;
  unsigned outcome = 0, place = 0;
  for (int k = 0; k < THREADS * ACCESSES; k++)
    if (loads >> k & 1) {
      outcome |= (results[i * THREADS * ACCESSES + k] & 3) << place;
      place += 2;
    }
  for (int k = 0; k < 2; k++)
    outcome |= (*(const unsigned *)(words + ((size_t)i * 2 + k) * STRIDE) & 3) << (2 * THREADS + 2 * k);
  atomicAdd(&counts[outcome], 1u);
}

static int sm_of(Place place, int threads, int group, int role, int sms) {
  int size = threads > 2 ? 4 : 2, apart = sms / threads;
  if (place == TPC)
    return group * size + role;
  if (place == DISTANT)
    return group < apart ? group + role * apart : sms;
  return group;
}

// Who stands where: for each SM the group and role of each block that comes to it. Returns the groups.
static int fill_table(Place place, int threads, std::vector<unsigned> &table) {
  int sms = sm_count(), groups = 0, roles = place == WARP || place == BLOCK ? 1 : threads;
  table.assign((size_t)sms * SLOTS, 0xffffffffu);
  while (groups < GROUPS && sm_of(place, threads, groups, threads - 1, sms) < sms) {
    for (int role = 0; role < roles; role++)
      table[(size_t)sm_of(place, threads, groups, role, sms) * SLOTS + (place == SM ? role : 0)] =
          (unsigned)(groups * SLOTS + role);
    groups++;
  }
  return groups;
}

static void print_row(const Kernel &kernel, Place place, bool copies, const std::vector<unsigned> &counts) {
  std::string outcomes;
  unsigned tries = 0;
  int loads = 0;
  for (char letter : kernel.loads)
    loads += letter == 'R';
  for (unsigned outcome = 0; outcome < OUTCOMES; outcome++) {
    if (!counts[outcome])
      continue;
    outcomes += tries ? " " : "";
    for (int i = 0; i < loads; i++)
      outcomes += std::to_string(outcome >> 2 * i & 3);
    outcomes += "/" + std::to_string(outcome >> 2 * THREADS & 3) + std::to_string(outcome >> (2 * THREADS + 2) & 3) +
                ":" + std::to_string(counts[outcome]);
    tries += counts[outcome];
  }
  printf("%s,%s,%s,%s,%s,%u,%s\n", kernel.test.c_str(), kernel.form.c_str(), kernel.fence.c_str(), place_names[place],
         copies ? "yes" : "no", tries, outcomes.c_str());
}

struct Memory {
  unsigned *table, *claims, *meet, *results, *counts;
  unsigned char *words;
};
static const size_t most_tries = (size_t)GROUPS * ROUNDS;

static void run(cudaKernel_t function, const Kernel &kernel, Place place, bool copies, Memory &memory) {
  std::vector<unsigned> table, counts(OUTCOMES);
  unsigned loads = 0;
  for (int k = 0; k < THREADS * ACCESSES; k++)
    loads |= (unsigned)(kernel.loads[(size_t)k] == 'R') << k;
  int groups = fill_table(place, kernel.threads, table), tries = groups * ROUNDS, blocks = sm_count() * SLOTS;
  unsigned rounds = ROUNDS, stride = STRIDE, spread = SPREAD, warm = copies, apart = place == WARP ? 1 : LANES, seed;
  int threads = place == BLOCK ? LANES * kernel.threads : LANES;
  void *arguments[] = {&memory.table, &memory.claims, &memory.meet, &memory.words, &memory.results, &rounds,
                       &stride,       &apart,         &spread,      &warm,         &seed};
  check_cuda(cudaMemcpy(memory.table, table.data(), table.size() * sizeof table[0], cudaMemcpyHostToDevice), "table");
  check_cuda(cudaMemset(memory.counts, 0, OUTCOMES * sizeof(unsigned)), "counts");
  for (seed = 1; seed <= REPEATS; seed++) {
    cudaMemset(memory.claims, 0, (size_t)sm_count() * sizeof(unsigned));
    cudaMemset(memory.meet, 0, GROUPS * LANES * sizeof(unsigned));
    cudaMemset(memory.words, 0, most_tries * 2 * STRIDE);
    cudaMemset(memory.results, 0xff, (most_tries * THREADS * ACCESSES + 2) * sizeof(unsigned));
    check_cuda(cudaLaunchKernel((const void *)function, dim3(blocks), dim3(threads), arguments, 0, 0), "launch");
    tally<<<(tries + 255) / 256, 256>>>(memory.results, memory.words, tries, loads, memory.counts);
  }
  check_cuda(cudaMemcpy(counts.data(), memory.counts, OUTCOMES * sizeof(unsigned), cudaMemcpyDeviceToHost), "run");
  print_row(kernel, place, copies, counts);
}

int main(int argc, char **argv) {
  std::ifstream list(argc == 3 ? argv[2] : "");
  if (!list) {
    fprintf(stderr, "usage: litmus KERNELS LIST\n");
    return 2;
  }
  cudaDeviceProp properties;
  int driver = 0;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  cudaDriverGetVersion(&driver);
  printf("# %s (sm_%d%d), %d SMs, CUDA %d, driver API %d; %d groups of threads at once, up to %d cycles apart\n",
         properties.name, properties.major, properties.minor, properties.multiProcessorCount, CUDART_VERSION, driver,
         GROUPS, SPREAD);
  puts("test,form,fence,place,copies,tries,outcomes");
  cudaLibrary_t library;
  check_cuda(cudaLibraryLoadFromFile(&library, argv[1], nullptr, nullptr, 0, nullptr, nullptr, 0), argv[1]);
  Memory memory;
  check_cuda(cudaMalloc(&memory.table, (size_t)sm_count() * SLOTS * sizeof(unsigned)), "cudaMalloc");
  check_cuda(cudaMalloc(&memory.claims, (size_t)sm_count() * sizeof(unsigned)), "cudaMalloc");
  check_cuda(cudaMalloc(&memory.meet, GROUPS * LANES * sizeof(unsigned)), "cudaMalloc");
  check_cuda(cudaMalloc(&memory.words, most_tries * 2 * STRIDE), "cudaMalloc");
  check_cuda(cudaMalloc(&memory.results, (most_tries * THREADS * ACCESSES + 2) * sizeof(unsigned)), "cudaMalloc");
  check_cuda(cudaMalloc(&memory.counts, OUTCOMES * sizeof(unsigned)), "cudaMalloc");
  Kernel kernel;
  while (list >> kernel.name >> kernel.test >> kernel.form >> kernel.fence >> kernel.threads >> kernel.loads) {
    cudaKernel_t function;
    check_cuda(cudaLibraryGetKernel(&function, library, kernel.name.c_str()), kernel.name.c_str());
    for (int place = 0; place < PLACES; place++)
      for (bool copies : {false, true})
        run(function, kernel, (Place)place, copies, memory);
    fflush(stdout);
  }
}
