// Where the time of transfers between accounts goes (traces/irregular/accounts.cu, the form that gives back its first lock): what each step takes, the
// mean over all threads, each thread one transfer. The same kernels run in lockstep: accounts_steps.yaml.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o accounts_steps accounts_steps.cu
// Run:   ./accounts_steps > accounts_steps.txt
// A line: tries of the first lock and of the second (cycles, and how many a transfer), loads of the two balances, the fence behind their stores, lanes
// that have both locks at once, the mean end of a thread and the last one.
#include "../../traces/irregular/inputs.cuh"
#include "hardware.cuh"
using namespace inputs;

struct Account {
  Word lock, balance;
};
enum Part { FIRST, FIRSTS, SECOND, SECONDS, LOAD1, LOAD2, FENCE, LANES, END, PARTS };
enum { THREADS = 1024 };

static __device__ __forceinline__ Word look(const Word *word) { return *(const volatile Word *)word; }
static __device__ __forceinline__ void put(Word *word, Word value) { *(volatile Word *)word = value; }
static __device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}
// The time at which `value` has come.
static __device__ __forceinline__ unsigned now_with(unsigned value) {
  static __shared__ unsigned sink[32];
  asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(sink + threadIdx.x % 32)), "r"(value)
               : "memory");
  return now();
}

// `touch`: 0, the balances aren't accessed. `parts`: PARTS words a thread.
extern "C" __global__ void transfer(Account *accounts, unsigned pool, int touch, unsigned seed, unsigned *parts) {
  unsigned start = now(), spent[PARTS] = {};
  Transfer t = transfer_of(seed, thread_number(), pool);
  Account *first = accounts + min(t.from, t.to), *second = accounts + max(t.from, t.to), *from = accounts + t.from,
          *to = accounts + t.to;
  int done = 0;
  do {
    unsigned before = now(), taken = atomicCAS(&first->lock, 0, 1);
    spent[FIRST] += now_with(taken) - before;
    spent[FIRSTS]++;
    if (!taken) {
      before = now();
      taken = atomicCAS(&second->lock, 0, 1);
      spent[SECOND] += now_with(taken) - before;
      spent[SECONDS]++;
      if (!taken) {
        spent[LANES] = __popc(__activemask());
        if (touch) {
          before = now();
          Word balance = look(&from->balance);
          spent[LOAD1] = now_with(balance) - before;
          put(&from->balance, balance - t.amount);
          before = now();
          balance = look(&to->balance);
          spent[LOAD2] = now_with(balance) - before;
          put(&to->balance, balance + t.amount);
        }
        before = now();
        __threadfence();
        spent[FENCE] = now() - before;
        put(&second->lock, 0);
        done = 1;
      }
      put(&first->lock, 0);
    }
    asm volatile("" : "+r"(done));
  } while (!done);
  spent[END] = now() - start;
  for (int part = 0; part < PARTS; part++)
    parts[PARTS * thread_number() + part] = spent[part];
}

extern "C" __global__ void add_up(const unsigned *parts, unsigned threads, unsigned long long *sums) {
  for (unsigned i = thread_number(); i < threads; i += thread_count()) {
    for (int part = 0; part < PARTS; part++)
      atomicAdd(&sums[part], (unsigned long long)parts[PARTS * i + part]);
    atomicMax(&sums[PARTS], (unsigned long long)parts[PARTS * i + END]);
  }
}

extern "C" __global__ void say(const unsigned long long *sums, unsigned pool, unsigned blocks, int touch) {
  double threads = blocks * THREADS;
  printf("pool %u, %u blocks, touch %d: first lock %.0f, %.2f times; second %.0f, %.2f times; loads %.0f and %.0f; fence %.0f; "
         "%.1f lanes; end %.0f, last %llu\n",
         pool, blocks, touch, (double)sums[FIRST] / sums[FIRSTS], sums[FIRSTS] / threads, (double)sums[SECOND] / sums[SECONDS],
         sums[SECONDS] / threads, sums[LOAD1] / threads, sums[LOAD2] / threads, sums[FENCE] / threads, sums[LANES] / threads,
         sums[END] / threads, sums[PARTS]);
}

int main() {
  enum { MOST_BLOCKS = 56, BYTES = 8 << 20 };
  Account *accounts;
  unsigned *parts;
  unsigned long long *sums;
  check_cuda(cudaMalloc(&accounts, BYTES), "cudaMalloc");
  check_cuda(cudaMalloc(&parts, MOST_BLOCKS * THREADS * PARTS * 4), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, (PARTS + 1) * 8), "cudaMalloc");
  for (unsigned pool : {1048576u, 131072u, 32768u, 4096u})
    for (unsigned blocks : {8u, (unsigned)MOST_BLOCKS})
      for (int touch : {0, 1}) {
        for (int run = 0; run < 2; run++) { // the first one reads the instructions
          check_cuda(cudaMemset(accounts, 0, BYTES), "cudaMemset");
          check_cuda(cudaMemset(sums, 0, (PARTS + 1) * 8), "cudaMemset");
          transfer<<<blocks, THREADS>>>(accounts, pool, touch, 1, parts);
        }
        add_up<<<MOST_BLOCKS, THREADS>>>(parts, blocks * THREADS, sums);
        say<<<1, 1>>>(sums, pool, blocks, touch);
        finish("transfer");
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
      }
  return 0;
}
