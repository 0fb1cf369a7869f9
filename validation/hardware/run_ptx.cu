// run_ptx.cu - runs PTX programs on a real GPU, each in a process of its own with a time limit, so that one that hangs
// is a result like any other. What it prints is what tests/script/hardware.sh compares `lockstep run` with.
//
// Build: nvcc -O2 -std=c++17 -o run_ptx run_ptx.cu -lcuda
// Run:   make validation/hardware/gpu_list
//        validation/hardware/gpu_list h200 traces/*/*.yaml >list && ./run_ptx list >traces.csv
//
// The list is described in gpu_list.c; paths in it are relative to the current folder. Output: CSV rows
// scenario,outcome,runs,buffer,alike,sum,words: the outcome is `completed`, `hung` (a launch took over HANG_SECONDS) or
// `fault` (and which). A completed scenario has a row for each buffer: how many of the runs left the contents of the
// first run, the sum of all words, and the first MOST_WORDS of them. A hung or faulty one has one row.
//
// `run_ptx -c list` runs the recorded machine code beside each module, x.sm_90.cubin beside x.ptx, one scenario at a
// time, and tells how long its launches take: scenario,outcome,launches,runs,warm,ns,low,high: the median and the range
// over the runs by the global timer, from a kernel before the launches to one behind them, less what as many empty
// kernels take. Each run has its buffers in another place, since it decides how far an SM has to the half of the L2.
// warm: 1 if its instructions had been read in a run before; 0 if the module was loaded for each run, since it has
// variables. Launches of one stream have a row each as well, scenario#1:kernel.
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
enum { RUNS = 20, PLACE_BYTES = 37 * 4096, PROCESSES = 8, HANG_SECONDS = 3, START_SECONDS = 60, MOST_WORDS = 512 };

struct Buffer {
  std::string name;
  std::vector<uint32_t> initial;
};
struct Launch {
  std::string kernel;
  unsigned grid[3], block[3], shared;
  int stream;
  bool cooperative;
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
      words >> launch.shared >> launch.stream >> launch.cooperative;
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

typedef std::map<std::string, CUdeviceptr> Addresses;

// `=HEX@BYTE:BUFFER...` at `to`.
static void put_bytes(const std::string &text, const Addresses &addresses, char *to) {
  size_t end = std::min(text.find('@'), text.size());
  for (size_t at = 1; at < end; at += 2)
    to[at / 2] = (char)strtoul(text.substr(at, 2).c_str(), NULL, 16);
  for (size_t at = end; at < text.size();) {
    size_t colon = text.find(':', at), next = std::min(text.find('@', at + 1), text.size());
    CUdeviceptr address = addresses.at(text.substr(colon + 1, next - colon - 1));
    memcpy(to + strtoul(text.c_str() + at + 1, NULL, 10), &address, sizeof address);
    at = next;
  }
}

// A number takes the width of the kernel's parameter, which the driver knows.
static size_t put_arguments(CUfunction function, const Launch &launch, const Addresses &addresses, char *block) {
  size_t bytes = 0;
  for (size_t i = 0; i < launch.arguments.size(); i++) {
    const std::string &text = launch.arguments[i];
    size_t offset, size;
    check(cuFuncGetParamInfo(function, i, &offset, &size), "cuFuncGetParamInfo");
    auto found = addresses.find(text);
    uint64_t value = found != addresses.end() ? found->second : (uint64_t)strtoll(text.c_str(), NULL, 0);
    if (text[0] == '=')
      put_bytes(text, addresses, block + offset);
    else
      memcpy(block + offset, &value, size);
    bytes = offset + size;
  }
  return bytes;
}

// The streams of a scenario, which run side by side. All work between begin() and end() of the default stream.
struct Streams {
  std::map<int, CUstream> streams;
  CUevent begun, ended;
  explicit Streams(const Case &what) {
    for (const Launch &launch : what.launches)
      if (!streams.count(launch.stream))
        check(cuStreamCreate(&streams[launch.stream], CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuEventCreate(&begun, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    check(cuEventCreate(&ended, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  bool several() const { return streams.size() > 1; }
  CUstream of(const Launch &launch) const { return several() ? streams.at(launch.stream) : NULL; }
  void begin() const {
    check(cuEventRecord(begun, NULL), "cuEventRecord");
    for (const auto &stream : streams)
      check(cuStreamWaitEvent(stream.second, begun, 0), "cuStreamWaitEvent");
  }
  void end() const {
    for (const auto &stream : streams) {
      check(cuEventRecord(ended, stream.second), "cuEventRecord");
      check(cuStreamWaitEvent(NULL, ended, 0), "cuStreamWaitEvent");
    }
  }
};

static void launch_one(CUmodule module, const Launch &launch, const Addresses &addresses, const Streams &streams) {
  CUfunction function;
  check(cuModuleGetFunction(&function, module, launch.kernel.c_str()), "cuModuleGetFunction");
  std::vector<char> block(4096);
  size_t bytes = put_arguments(function, launch, addresses, block.data());
  if (launch.shared)
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared),
          "shared memory");
  // Kernels that wait for each other fit an SM together only if it gives them all the shared memory that it has.
  if (streams.several())
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100), "carve-out");
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config = {};
  config.gridDimX = launch.grid[0], config.gridDimY = launch.grid[1], config.gridDimZ = launch.grid[2];
  config.blockDimX = launch.block[0], config.blockDimY = launch.block[1], config.blockDimZ = launch.block[2];
  config.sharedMemBytes = launch.shared;
  config.hStream = streams.of(launch);
  config.attrs = &attribute;
  config.numAttrs = launch.cooperative;
  say(std::string(1, START_LAUNCH));
  check(cuLaunchKernelEx(&config, function, NULL, extra), "cuLaunchKernel");
  if (measures || streams.several())
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
// Until all launches are in the stream, since how fast the CPU sends them must not show; or 20 ms, if there are more
// than it holds.
__global__ void hold(volatile int *go) {
  for (long long start = clock64(); !*go && clock64() - start < 40000000;)
    ;
}

// Nanoseconds between stamps: of all launches, then of each if there are several and they run one behind the other.
// `launches` is called with what goes before the first launch and behind each.
template <typename Launches>
static std::vector<double> between_stamps(const Case &what, bool each, Launches launches) {
  static unsigned long long *times;
  static volatile int *go;
  size_t count = 0;
  if (!times) {
    check(cuMemAlloc((CUdeviceptr *)&times, (what.launches.size() + 1) * sizeof *times), "cuMemAlloc");
    check(cuMemAllocHost((void **)&go, sizeof *go), "cuMemAllocHost");
  }
  *go = 0;
  hold<<<1, 1>>>(go);
  stamp<<<1, 1>>>(times + count++);
  launches([&] {
    if (each && count < what.launches.size())
      stamp<<<1, 1>>>(times + count++);
  });
  stamp<<<1, 1>>>(times + count++);
  *go = 1;
  std::vector<unsigned long long> got(count);
  check(cuMemcpyDtoH(got.data(), (CUdeviceptr)times, count * sizeof *times), "cuMemcpyDtoH");
  say(std::string(1, END_LAUNCH));
  std::vector<double> took = {(double)(got.back() - got[0])};
  for (size_t i = 1; each && i < count; i++)
    took.push_back((double)(got[i] - got[i - 1]));
  return took;
}

static double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

// A row of all launches, and one of each: scenario#1:kernel.
static void say_times(const Case &what, const std::vector<std::vector<double>> &took, bool warm) {
  bool each = took[0].size() > 1;
  std::vector<std::vector<double>> empty;
  for (int run = 0; run < RUNS; run++)
    empty.push_back(between_stamps(what, each, [&](auto behind) {
      for (size_t i = 0; i < what.launches.size(); i++)
        nothing<<<1, 32>>>(), behind();
    }));
  auto part = [](const std::vector<std::vector<double>> &of, size_t which) {
    std::vector<double> column;
    for (const std::vector<double> &run : of)
      column.push_back(run[which]);
    std::sort(column.begin(), column.end());
    return column;
  };
  std::ostringstream rows;
  for (size_t i = 0; i < took[0].size(); i++) {
    std::vector<double> column = part(took, i);
    double less = median(part(empty, i));
    rows << what.name;
    if (i)
      rows << '#' << i << ':' << what.launches[i - 1].kernel;
    rows << ",completed," << (i ? 1 : what.launches.size()) << ',' << RUNS << ',' << warm << ','
         << median(column) - less << ',' << column.front() - less << ',' << column.back() - less << '\n';
  }
  say(rows.str());
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
  // A kernel that is loaded when it is launched waits for the one that waits for it.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  CUdevice device;
  CUcontext context;
  CUmodule module;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  Addresses base, addresses;
  Streams streams(what);
  for (const Buffer &buffer : what.buffers)
    check(cuMemAlloc(&base[buffer.name], 4 * buffer.initial.size() + (measures ? RUNS * PLACE_BYTES : 0)),
          "cuMemAlloc");
  std::vector<std::vector<uint32_t>> first(what.buffers.size());
  std::vector<int> alike(what.buffers.size());
  std::vector<std::vector<double>> took;
  // A module with variables is loaded for each run. Else one that is measured stays, and its first run, whose
  // instructions come from DRAM, doesn't count.
  bool stays = measures && !has_variables(what.module);
  for (int run = stays ? -1 : 0; run < RUNS; run++) {
    for (const Buffer &buffer : what.buffers)
      addresses[buffer.name] = base[buffer.name] + (measures && run > 0 ? run * PLACE_BYTES : 0);
    for (const Buffer &buffer : what.buffers)
      check(cuMemcpyHtoD(addresses[buffer.name], buffer.initial.data(), 4 * buffer.initial.size()), "cuMemcpyHtoD");
    if (!stays || run < 0)
      check(cuModuleLoad(&module, (measures ? machine_code(what.module) : what.module).c_str()), "cuModuleLoad");
    auto launch_all = [&](auto behind) {
      if (streams.several())
        streams.begin();
      for (const Launch &launch : what.launches)
        launch_one(module, launch, addresses, streams), behind();
      if (streams.several())
        streams.end();
    };
    if (measures)
      took.push_back(between_stamps(what, !streams.several() && what.launches.size() > 1, launch_all));
    else
      launch_all([] {});
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    say(std::string(1, END_LAUNCH));
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
    say_times(what, took, stays);
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
