// run_ptx.cu - runs PTX programs on a real GPU, each in a process of its own with a time limit, so that one that hangs
// is a result like any other. What it prints is what tests/script/hardware.sh compares `lockstep run` with.
//
// Build: nvcc -O2 -std=c++17 -o run_ptx run_ptx.cu -lcuda
// Run:   validation/hardware/scenarios.py h200 traces/*/*.yaml >list && ./run_ptx list >traces.csv
//
// The list is described in scenarios.py; paths in it are relative to the current folder. Output: CSV rows
// scenario,outcome,runs,buffer,alike,sum,words: the outcome is `completed`, `hung` (a launch took over HANG_SECONDS) or
// `fault` (and which). A completed scenario has a row for each buffer: how many of the runs left the contents of the
// first run, the sum of all words, and the first MOST_WORDS of them. A hung or faulty one has one row.
//
// `run_ptx -c list` runs the recorded machine code beside each module, x.sm_90.cubin beside x.ptx, one scenario at a
// time, and tells how long its launches take: scenario,outcome,launches,runs,warm,ns,low,high: the median and the range
// over the runs by the global timer, from a kernel before the launches to one behind them, less what as many empty
// kernels take. warm: 1 if its instructions had been read in a run before; 0 if the module was loaded for each run,
// since it has variables.
#include <cuda.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static bool measures; // -c
enum { RUNS = 20, PROCESSES = 8, HANG_SECONDS = 3, START_SECONDS = 60, MOST_WORDS = 512 };

struct Buffer {
  std::string name;
  std::vector<uint32_t> initial;
};
struct Launch {
  std::string kernel;
  unsigned grid[3], block[3], shared;
  std::vector<std::string> arguments;
};
struct Case {
  std::string name, module;
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
};

static std::vector<Case> read_list(const char *path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  std::string line, kind;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    words >> kind;
    if (kind == "case") {
      cases.emplace_back();
      words >> cases.back().name;
    } else if (kind == "module") {
      words >> cases.back().module;
    } else if (kind == "buffer") {
      Buffer buffer;
      size_t count;
      uint32_t word;
      words >> buffer.name >> count;
      while (words >> word)
        buffer.initial.push_back(word);
      buffer.initial.resize(count);
      cases.back().buffers.push_back(buffer);
    } else {
      Launch launch;
      std::string argument;
      words >> launch.kernel;
      for (unsigned &size : launch.grid)
        words >> size;
      for (unsigned &size : launch.block)
        words >> size;
      words >> launch.shared;
      while (words >> argument)
        launch.arguments.push_back(argument);
      cases.back().launches.push_back(launch);
    }
  }
  return cases;
}

// ---- in the child ----

// The child reports the start of a launch by START_LAUNCH, for the parent's clock, and its end by END_LAUNCH.
enum : char { START_LAUNCH = '\1', END_LAUNCH = '\2' };
static int report;

static void say(const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t count = write(report, text.data() + done, text.size() - done);
    if (count < 0)
      _exit(1);
    done += count;
  }
}

static void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  const char *name = "unknown";
  cuGetErrorName(result, &name);
  say(std::string("fault ") + what + " " + name);
  _exit(0);
}

// An argument takes the width of the kernel's parameter, which the driver knows.
static void launch_one(CUmodule module, const Launch &launch, const std::map<std::string, CUdeviceptr> &addresses) {
  CUfunction function;
  check(cuModuleGetFunction(&function, module, launch.kernel.c_str()), "cuModuleGetFunction");
  std::vector<char> block(4096);
  size_t bytes = 0;
  for (size_t i = 0; i < launch.arguments.size(); i++) {
    size_t offset, size;
    check(cuFuncGetParamInfo(function, i, &offset, &size), "cuFuncGetParamInfo");
    auto found = addresses.find(launch.arguments[i]);
    uint64_t value =
        found != addresses.end() ? found->second : (uint64_t)strtoll(launch.arguments[i].c_str(), NULL, 0);
    memcpy(&block[offset], &value, size);
    bytes = offset + size;
  }
  if (launch.shared)
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared),
          "shared memory");
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  say(std::string(1, START_LAUNCH));
  check(cuLaunchKernel(function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                       launch.block[2], launch.shared, NULL, NULL, extra),
        "cuLaunchKernel");
  if (measures)
    return;
  check(cuCtxSynchronize(), "cuCtxSynchronize");
  say(std::string(1, END_LAUNCH));
}

// ---- with -c ----

__global__ void stamp(unsigned long long *at) {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  *at = time;
}
__global__ void nothing() {}

// Nanoseconds from one stamp to the next around `launches`.
template <typename Launches> static double between_stamps(unsigned long long *times, Launches launches) {
  unsigned long long got[2];
  stamp<<<1, 1>>>(times);
  launches();
  stamp<<<1, 1>>>(times + 1);
  check(cuMemcpyDtoH(got, (CUdeviceptr)times, sizeof got), "cuMemcpyDtoH");
  say(std::string(1, END_LAUNCH));
  return (double)(got[1] - got[0]);
}

static double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

static void say_times(const Case &what, std::vector<double> took, bool warm, unsigned long long *times) {
  std::vector<double> empty;
  for (int run = 0; run < RUNS; run++)
    empty.push_back(between_stamps(times, [&] {
      for (size_t i = 0; i < what.launches.size(); i++)
        nothing<<<1, 32>>>();
    }));
  double less = median(empty);
  std::sort(took.begin(), took.end());
  std::ostringstream row;
  std::sort(took.begin(), took.end());
  row << what.name << ",completed," << what.launches.size() << ',' << RUNS << ',' << warm << ',' << median(took) - less << ','
      << took.front() - less << ',' << took.back() - less << '\n';
  say(row.str());
}

static std::string machine_code(const std::string &module) {
  return module.substr(0, module.size() - 4) + ".sm_90.cubin";
}

// Whether the module has variables, which keep what a run leaves.
static bool has_variables(const std::string &module) {
  std::ifstream file(module);
  std::string line;
  while (std::getline(file, line))
    if (line.compare(0, 8, ".global ") == 0 || line.compare(0, 17, ".visible .global ") == 0 ||
        line.compare(0, 14, ".weak .global ") == 0)
      return true;
  return false;
}

static void run_child(const Case &what) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  std::map<std::string, CUdeviceptr> addresses;
  for (const Buffer &buffer : what.buffers)
    check(cuMemAlloc(&addresses[buffer.name], 4 * buffer.initial.size()), "cuMemAlloc");
  std::vector<std::vector<uint32_t>> first(what.buffers.size());
  std::vector<int> alike(what.buffers.size());
  CUdeviceptr times;
  check(cuMemAlloc(&times, 16), "cuMemAlloc");
  std::vector<double> took;
  // A module with variables is loaded for each run. Else one that is measured stays, and its first run, whose
  // instructions come from DRAM, doesn't count.
  bool stays = measures && !has_variables(what.module);
  for (int run = stays ? -1 : 0; run < RUNS; run++) {
    for (const Buffer &buffer : what.buffers)
      check(cuMemcpyHtoD(addresses[buffer.name], buffer.initial.data(), 4 * buffer.initial.size()), "cuMemcpyHtoD");
    if (!stays || run < 0)
      check(cuModuleLoad(&module, (measures ? machine_code(what.module) : what.module).c_str()), "cuModuleLoad");
    auto launch_all = [&] {
      for (const Launch &launch : what.launches)
        launch_one(module, launch, addresses);
    };
    if (measures)
      took.push_back(between_stamps((unsigned long long *)times, launch_all));
    else
      launch_all();
    if (run < 0) {
      took.clear();
      continue;
    }
    if (!stays)
      check(cuModuleUnload(module), "cuModuleUnload");
    for (size_t i = 0; i < what.buffers.size(); i++) {
      std::vector<uint32_t> words(what.buffers[i].initial.size());
      check(cuMemcpyDtoH(words.data(), addresses[what.buffers[i].name], 4 * words.size()), "cuMemcpyDtoH");
      if (run == 0)
        first[i] = words;
      alike[i] += words == first[i];
    }
  }
  if (measures) {
    say_times(what, took, stays, (unsigned long long *)times);
    return;
  }
  std::ostringstream rows;
  for (size_t i = 0; i < what.buffers.size(); i++) {
    uint64_t sum = 0;
    for (uint32_t word : first[i])
      sum += word;
    rows << what.name << ",completed," << RUNS << ',' << what.buffers[i].name << ',' << alike[i] << ',' << sum << ',';
    for (size_t k = 0; k < first[i].size() && k < MOST_WORDS; k++)
      rows << (k ? " " : "") << first[i][k];
    rows << '\n';
  }
  say(rows.str());
}

// ---- in the parent ----

static double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

struct Child {
  pid_t pid;
  int from;
  size_t index;
  double deadline;
  std::string text;
};

static Child start(const Case &what, size_t index) {
  int ends[2];
  if (pipe(ends) != 0)
    exit(1);
  pid_t pid = fork();
  if (pid < 0)
    exit(1);
  if (pid == 0) {
    close(ends[0]);
    report = ends[1];
    run_child(what);
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0], index, seconds() + START_SECONDS, ""};
}

// Takes what the child says. False once it has ended.
static bool listen(Child &child) {
  char bytes[4096];
  ssize_t count = read(child.from, bytes, sizeof bytes);
  for (ssize_t i = 0; i < count; i++) {
    if (bytes[i] == START_LAUNCH)
      child.deadline = seconds() + HANG_SECONDS;
    else if (bytes[i] == END_LAUNCH)
      child.deadline = seconds() + START_SECONDS;
    else
      child.text += bytes[i];
  }
  return count > 0;
}

static std::string row(const Case &what, const Child &child, bool late) {
  if (late)
    return what.name + ",hung,1,,,,\n";
  if (child.text.compare(0, 6, "fault ") == 0)
    return what.name + ",fault,1,,,," + child.text.substr(6) + "\n";
  return child.text.empty() ? what.name + ",fault,1,,,,ended early\n" : child.text;
}

int main(int argc, char **argv) {
  measures = argc == 3 && std::string(argv[1]) == "-c";
  if (argc != 2 && !measures)
    return fprintf(stderr, "usage: run_ptx [-c] LIST\n"), 2;
  std::vector<Case> cases = read_list(argv[argc - 1]);
  size_t processes = measures ? 1 : PROCESSES;
  std::vector<std::string> rows(cases.size());
  std::vector<Child> children;
  size_t next = 0;
  while (next < cases.size() || !children.empty()) {
    while (next < cases.size() && children.size() < processes) {
      children.push_back(start(cases[next], next));
      next++;
    }
    std::vector<pollfd> polls;
    for (const Child &child : children)
      polls.push_back({child.from, POLLIN, 0});
    if (poll(polls.data(), polls.size(), 100) < 0 && errno != EINTR)
      return 1;
    for (size_t i = children.size(); i-- > 0;) {
      Child &child = children[i];
      bool ended = polls[i].revents && !listen(child), late = !ended && seconds() > child.deadline;
      if (!ended && !late)
        continue;
      kill(child.pid, SIGKILL);
      close(child.from);
      waitpid(child.pid, NULL, 0);
      rows[child.index] = row(cases[child.index], child, late);
      children.erase(children.begin() + i);
    }
  }
  puts(measures ? "scenario,outcome,launches,runs,warm,ns,low,high" : "scenario,outcome,runs,buffer,alike,sum,words");
  for (const std::string &text : rows)
    fputs(text.c_str(), stdout);
  return 0;
}
