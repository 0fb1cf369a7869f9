// hardware.cuh - what the programs of this folder share: a bound for every waiting loop, buffers, and the counting of
// outcomes. They run the synchronization programs of the slides and of the blog on a real GPU; what that GPU did is
// what `lockstep` is then expected to say for it.
//
// Output: CSV rows on stdout, program,variant,blocks,threads,runs,outcome,count,detail. A row for each outcome that
// occurred: completed-right, completed-wrong, timed-out (a waiting loop reached its limit), and how many of `runs`
// gave it. Fewer runs than asked for were made if they took too long. The exit status is 0 unless CUDA reported an
// error.
//
// The bound of a loop must not change what ptxas makes of the loop. It is therefore merged into the loop's own
// condition with `&`, never a `break` or `&&` of its own: a third way out of a loop costs it the YIELD that it has
// without bound (ptxas 13.0, sm_90), and then a warp hangs that doesn't hang otherwise. `nvcc -DUNBOUNDED` takes the
// bounds out again: the kernels are then the plain programs (for `nvcc -ptx`; don't run those on a GPU).
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

// ---- device ----

// A thread's patience at one waiting loop: `while (condition & patience.lasts());`
#ifdef UNBOUNDED
struct Patience {
  __device__ explicit Patience(int) {}
  __device__ bool lasts() { return true; }
  __device__ bool over() const { return false; }
};
#else
struct Patience {
  int left;
  __device__ explicit Patience(int limit) : left(limit) {}
  __device__ bool lasts() { return --left >= 0; }
  __device__ bool over() const { return left < 0; }
};
#endif

// A thread whose patience is over counts itself here and leaves.
__device__ __forceinline__ void give_up(int *gave_up) { atomicAdd(gave_up, 1); }

__device__ __forceinline__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The number of this thread among the participants, which are `apart` threads apart, or -1. With apart = 1 all
// threads take part; with 32 the first lane of each warp.
__device__ __forceinline__ int participant(int apart) { return global_id() % apart ? -1 : global_id() / apart; }

// Keeps the thread busy for so many cycles.
__device__ __forceinline__ void dawdle(int cycles) {
  for (long long start = clock64(); clock64() - start < cycles;) {
  }
}

// ---- host ----

static void check_cuda(cudaError_t error, const char *where) {
  if (error == cudaSuccess)
    return;
  fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(error));
  exit(1);
}

static double seconds() {
  using namespace std::chrono;
  static const steady_clock::time_point start = steady_clock::now();
  return duration<double>(steady_clock::now() - start).count();
}

// Waits for the kernel just launched. No kernel here runs long; should one hang after all, the program ends.
[[maybe_unused]] static void finish(const char *what) {
  check_cuda(cudaGetLastError(), what);
  double deadline = seconds() + 20;
  cudaError_t error;
  while ((error = cudaStreamQuery(0)) == cudaErrorNotReady) {
    if (seconds() < deadline)
      continue;
    fprintf(stderr, "%s: the kernel hangs\n", what);
    fflush(stdout);
    _exit(1);
  }
  check_cuda(error, what);
}

// Words of device memory.
class Words {
public:
  explicit Words(size_t count) : count(count) { check_cuda(cudaMalloc(&words, 4 * count), "cudaMalloc"); }
  ~Words() { cudaFree(words); }
  Words(const Words &) = delete;
  Words &operator=(const Words &) = delete;
  operator int *() const { return words; }
  unsigned *as_unsigned() const { return reinterpret_cast<unsigned *>(words); }
  void set(const std::vector<int> &from) {
    check_cuda(cudaMemcpy(words, from.data(), 4 * from.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void fill(int value) { set(std::vector<int>(count, value)); }
  std::vector<int> get() const {
    std::vector<int> to(count);
    check_cuda(cudaMemcpy(to.data(), words, 4 * count, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return to;
  }
  int get(size_t index) const {
    int value;
    check_cuda(cudaMemcpy(&value, words + index, 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }

private:
  int *words;
  size_t count;
};

enum Outcome { RIGHT, WRONG, TIMED_OUT };

// How one run ended. Runs of one outcome and `kind` share a row, which shows the first run's `example` and the range
// of `value` (if `valued`).
struct Result {
  Outcome outcome;
  std::string kind, example;
  bool valued = false;
  long value = 0;
};

// The usual judgement: nobody gave up, and a number is what it should be.
[[maybe_unused]] static Result judge(int gave_up, long got, long want, const std::string &kind = "") {
  std::string example = std::to_string(got) + " of " + std::to_string(want);
  if (gave_up)
    return {TIMED_OUT, kind, std::to_string(gave_up) + " gave up with " + example, true, got};
  if (got == want)
    return {RIGHT, kind, ""};
  return {WRONG, kind, example, true, got};
}

// The same for an array: the first element that is wrong, and how many are.
[[maybe_unused]] static Result judge_array(int gave_up, const std::vector<int> &got, const std::vector<int> &want) {
  long wrong = 0, first = -1;
  for (size_t i = 0; i < want.size(); i++) {
    if (got[i] == want[i])
      continue;
    if (!wrong++)
      first = i;
  }
  std::string example;
  if (wrong) {
    example = "[" + std::to_string(first) + "] is " + std::to_string(got[first]) + " for " +
              std::to_string(want[first]) + "; wrong elements " + std::to_string(wrong);
  }
  if (gave_up)
    return {TIMED_OUT, "", std::to_string(gave_up) + " gave up; " + example, true, wrong};
  return {wrong ? WRONG : RIGHT, "", example, wrong != 0, wrong};
}

[[maybe_unused]] static void header() { puts("program,variant,blocks,threads,runs,outcome,count,detail"); }

enum { PROGRAM_SECONDS = 24, MOST_ROWS = 12 };
static double case_seconds = 0.25; // a case stops after so long

// Makes `runs` runs of a case (a function that returns a Result) and prints its rows. Once the program's time is
// spent, a case gets two runs.
template <typename Run>
void measure(const std::string &program, const std::string &variant, int blocks, int threads, int runs, Run run) {
  static const char *const names[] = {"completed-right", "completed-wrong", "timed-out"};
  struct Tally {
    int count = 0;
    std::string example;
    bool valued = false;
    long low = 0, high = 0;
  };
  std::map<std::pair<Outcome, std::string>, Tally> tallies;
  double start = seconds();
  int made = 0;
  while (made < runs) {
    bool late = start > PROGRAM_SECONDS || seconds() - start > case_seconds;
    if (late && made >= 2)
      break;
    Result result = run();
    Tally &tally = tallies[{result.outcome, result.kind}];
    if (!tally.count++) {
      tally.example = result.example;
      tally.valued = result.valued;
      tally.low = tally.high = result.value;
    }
    if (result.value < tally.low)
      tally.low = result.value;
    if (result.value > tally.high)
      tally.high = result.value;
    made++;
  }
  std::vector<std::tuple<int, int, std::string, std::string>> rows; // -count, outcome, kind, detail
  for (const auto &entry : tallies) {
    const Tally &tally = entry.second;
    std::string detail = entry.first.second;
    if (!tally.example.empty())
      detail += (detail.empty() ? "" : "; ") + std::string("first: ") + tally.example;
    if (tally.valued && tally.low != tally.high)
      detail += "; range " + std::to_string(tally.low) + " to " + std::to_string(tally.high);
    rows.emplace_back(-tally.count, entry.first.first, entry.first.second, detail);
  }
  std::map<int, std::pair<int, int>> others; // outcome -> kinds left out, their runs
  std::vector<std::tuple<int, int, std::string, std::string>> sorted(rows);
  for (size_t i = 1; i < sorted.size(); i++)
    for (size_t k = i; k > 0 && sorted[k] < sorted[k - 1]; k--)
      std::swap(sorted[k], sorted[k - 1]);
  int printed = 0;
  for (const auto &row : sorted) {
    if (printed++ >= MOST_ROWS) {
      others[std::get<1>(row)].first++;
      others[std::get<1>(row)].second += -std::get<0>(row);
      continue;
    }
    printf("%s,%s,%d,%d,%d,%s,%d,%s\n", program.c_str(), variant.c_str(), blocks, threads, made,
           names[std::get<1>(row)], -std::get<0>(row), std::get<3>(row).c_str());
  }
  for (const auto &other : others)
    printf("%s,%s,%d,%d,%d,%s,%d,%d other kinds\n", program.c_str(), variant.c_str(), blocks, threads, made,
           names[other.first], other.second.second, other.second.first);
  fflush(stdout);
}

[[maybe_unused]] static int sm_count() {
  static int count = 0;
  if (!count)
    check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), "sm_count");
  return count;
}

// Says on stderr which GPU this is, and prints the header.
[[maybe_unused]] static void begin() {
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  fprintf(stderr, "%s sm_%d%d, %d SMs\n", properties.name, properties.major, properties.minor,
          properties.multiProcessorCount);
  header();
}
