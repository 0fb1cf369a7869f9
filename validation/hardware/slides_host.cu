// What a real GPU and its CPU do with the CPU-GPU synchronization of the slides "Synchronization": the numbers from 0
// on, even ones by the CPU and odd ones by the GPU, with one kernel a step (copied or pinned counter) and with a
// persistent kernel; whether 10 gets lost.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o slides_host slides_host.cu
// Run:   ./slides_host > slides_host.csv
//
// Both sides stop waiting after a time limit. Instead of printing, each side notes its numbers; the detail shows
// them.
#include "hardware.cuh"

enum { NUMBERS = 10, LOG = 32, GPU_STEPS = 40000 };

// One kernel a step. log[0] counts, the numbers follow.
extern "C" __global__ void printk(int *counter, int *log) {
  ++*counter;
  log[1 + log[0]++] = *counter;
}

// The persistent kernel. Volatile, as it must be; the plain form never sees the CPU's increments. `late`: cycles
// between its increment and its test of the end.
template <typename Word>
__device__ __forceinline__ void persist(Word *counter, int *log, int late, int *gave_up, int limit) {
  int noted = 0;
  do {
    Patience patience(limit);
    while ((*counter % 2 == 0) & patience.lasts()) {
    }
    if (patience.over()) {
      give_up(gave_up);
      break;
    }
    if (noted < LOG - 1)
      log[++noted] = *counter;
    *counter = *counter + 1;
    if (late)
      dawdle(late);
  } while (*counter < NUMBERS);
  log[0] = noted;
}
extern "C" __global__ void printk_persistent(volatile int *counter, int *log, int late, int *gave_up, int limit) {
  persist<volatile int>(counter, log, late, gave_up, limit);
}
extern "C" __global__ void printk_persistent_plain(int *counter, int *log, int late, int *gave_up, int limit) {
  persist<int>(counter, log, late, gave_up, limit);
}

// ---- host ----

// Both sides' numbers in order, e.g. "0 to 10".
static Result judge_numbers(bool timed_out, const std::vector<int> &cpu, const std::vector<int> &gpu, int last) {
  std::vector<int> seen(2 * LOG);
  bool sides = true;
  auto note = [&](int number, bool odd) {
    if (number < 0 || number >= 2 * LOG || (number % 2 == 1) != odd)
      sides = false;
    else
      seen[number]++;
  };
  for (int number : cpu)
    note(number, false);
  for (int number : gpu)
    note(number, true);
  int end = 0;
  while (end < 2 * LOG && seen[end] == 1)
    end++;
  for (int number = end; number < 2 * LOG; number++)
    sides &= !seen[number];
  std::string kind = sides && end ? "0 to " + std::to_string(end - 1) : "out of order";
  if (timed_out)
    return {TIMED_OUT, kind, ""};
  return {sides && end == last + 1 ? RIGHT : WRONG, kind, ""};
}

static std::vector<int> noted(const int *log) { return std::vector<int>(log + 1, log + 1 + log[0]); }

// As printed, these two end after 9.
static void kernel_a_step(bool pinned) {
  int *counter, *log;
  check_cuda(pinned ? cudaHostAlloc(&counter, sizeof(int), 0) : cudaMalloc(&counter, sizeof(int)), "counter");
  check_cuda(cudaHostAlloc(&log, sizeof(int) * LOG, 0), "log");
  measure("printk", pinned ? "pinned kernel-a-step" : "copied kernel-a-step", 1, 1, 200, [&] {
    std::vector<int> cpu;
    log[0] = 0;
    if (pinned) {
      *(volatile int *)counter = 0;
      do {
        cpu.push_back(int(*(volatile int *)counter));
        printk<<<1, 1>>>(counter, log);
        finish("printk");
        ++*(volatile int *)counter;
      } while (*(volatile int *)counter < NUMBERS);
    } else {
      int hcounter = 0;
      do {
        cpu.push_back(hcounter);
        check_cuda(cudaMemcpy(counter, &hcounter, sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
        printk<<<1, 1>>>(counter, log);
        check_cuda(cudaMemcpy(&hcounter, counter, sizeof(int), cudaMemcpyDeviceToHost), "cudaMemcpy");
      } while (++hcounter < NUMBERS);
    }
    return judge_numbers(false, cpu, noted(log), NUMBERS - 1);
  });
  check_cuda(pinned ? cudaFreeHost(counter) : cudaFree(counter), "free");
  check_cuda(cudaFreeHost(log), "free");
}

// late_cpu: seconds that the CPU takes between its increment to 9 and its test of the end; late_gpu: the same in
// cycles for each increment of the GPU. Right means that 10 is printed.
template <typename Kernel> static void persistent(const char *variant, Kernel kernel, double late_cpu, int late_gpu) {
  int *shared, *log;
  check_cuda(cudaHostAlloc(&shared, sizeof(int), 0), "counter");
  check_cuda(cudaHostAlloc(&log, sizeof(int) * LOG, 0), "log");
  volatile int *counter = shared;
  Words gave_up(1);
  measure("printk_persistent", variant, 1, 1, 200, [&] {
    gave_up.fill(0);
    *counter = 0;
    log[0] = 0;
    kernel<<<1, 1>>>(shared, log, late_gpu, gave_up, GPU_STEPS);
    check_cuda(cudaGetLastError(), "printk_persistent");
    cudaStreamQuery(0); // some drivers hold a launch back until something asks
    std::vector<int> cpu;
    bool over = false;
    do {
      double deadline = seconds() + 0.1;
      while (*counter % 2 == 1 && !over)
        over = seconds() > deadline;
      if (over)
        break;
      cpu.push_back(int(*counter));
      *counter = *counter + 1;
      if (late_cpu > 0 && *counter >= NUMBERS - 1)
        for (double start = seconds(); seconds() - start < late_cpu;) {
        }
    } while (*counter < NUMBERS);
    finish("printk_persistent");
    return judge_numbers(over || gave_up.get(0), cpu, noted(log), NUMBERS);
  });
  check_cuda(cudaFreeHost(shared), "free");
  check_cuda(cudaFreeHost(log), "free");
}

int main() {
  begin();
  case_seconds = 1;
  kernel_a_step(false);
  kernel_a_step(true);
  persistent("volatile", printk_persistent, 0, 0);
  persistent("volatile late-cpu", printk_persistent, 200e-6, 0); // the interleaving of the slide: 10 gets lost
  persistent("volatile late-gpu", printk_persistent, 0, 200000);
  persistent("plain", printk_persistent_plain, 0, 0);
  return 0;
}
