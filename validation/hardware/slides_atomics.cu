// What a real GPU does with the atomics of the slides "Synchronization": increments with and without atomics, the
// twins at the ATM, single, the k1 puzzle, worklists, grading and histogram, shortest paths, work donation.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o slides_atomics slides_atomics.cu
// Run:   ./slides_atomics > slides_atomics.csv
//
// No kernel here waits for another thread except at __syncthreads, which all threads reach. (The retries of
// atm_atomic end: each failed one means that another thread has withdrawn.)
#include "hardware.cuh"
#include <algorithm>
#include <climits>
#include <random>

// ---- ++x[0] by all threads ----

extern "C" __global__ void increment(int *x) { ++x[0]; }
extern "C" __global__ void increment_volatile(volatile int *x) { x[0] = x[0] + 1; }
extern "C" __global__ void increment_atomic(unsigned *x) { atomicInc(&x[0], UINT_MAX); }

// ---- Twins at the ATM: each withdraws 1000 if the balance allows. cash[i] is what twin i gets. ----

extern "C" __global__ void atm(volatile int *balance, int *cash) {
  int id = global_id();
  if (*balance >= 1000) {
    *balance = *balance - 1000;
    cash[id] = 1000;
  }
}
// The update alone is atomic: the balance can become negative.
extern "C" __global__ void atm_atomic_update(volatile int *balance, int *cash) {
  int id = global_id();
  if (*balance >= 1000) {
    atomicSub((int *)balance, 1000);
    cash[id] = 1000;
  }
}
// Check and update in one atomic step.
extern "C" __global__ void atm_atomic(int *balance, int *cash) {
  int id = global_id();
  int seen = *(volatile int *)balance;
  while (seen >= 1000) {
    int old = atomicCAS(balance, seen, seen - 1000);
    if (old == seen) {
      cash[id] = 1000;
      break;
    }
    seen = old;
  }
}

// ---- Single: one arbitrary thread executes the section. `reset` lowers the lock again, which the slides warn of.
// ----

extern "C" __global__ void single(int *lockvar, int *times, int *who) {
  if (atomicCAS(lockvar, 0, 1) == 0) {
    atomicAdd(times, 1);
    *who = global_id();
  }
}
extern "C" __global__ void single_reset(int *lockvar, int *times, int *who) {
  if (atomicCAS(lockvar, 0, 1) == 0) {
    atomicAdd(times, 1);
    *who = global_id();
    *lockvar = 0;
  }
}

// ---- The k1 puzzle: which threads succeed? success[i]: how many at step i; who[i]: the last one, by its global id
// ----

extern "C" __global__ void k1(int *gg, int *success, int *who) {
  int thread = threadIdx.x;
  int old = atomicCAS(gg, 0, thread + 1);
  if (old == 0) {
    atomicAdd(&success[0], 1);
    who[0] = global_id();
  }
  old = atomicCAS(gg, 0, thread + 1);
  if (old == 0) {
    atomicAdd(&success[1], 1);
    who[1] = global_id();
  }
  old = atomicCAS(gg, thread, -1);
  if (old == thread) {
    atomicAdd(&success[2], 1);
    who[2] = global_id();
  }
}

// ---- Worklists. Thread t adds nelem[t] elements t * 64 + i; the order doesn't matter. ----

extern "C" __global__ void worklist_racy(const int *nelem, int *list, volatile int *size) {
  int id = global_id();
  for (int i = 0; i < nelem[id]; i++) {
    int at = *size;
    *size = at + 1;
    list[at] = id * 64 + i;
  }
}
extern "C" __global__ void worklist_atomic_element(const int *nelem, int *list, int *size) {
  int id = global_id();
  for (int i = 0; i < nelem[id]; i++)
    list[atomicAdd(size, 1)] = id * 64 + i;
}
extern "C" __global__ void worklist_atomic_thread(const int *nelem, int *list, int *size) {
  int id = global_id();
  int at = atomicAdd(size, nelem[id]);
  for (int i = 0; i < nelem[id]; i++)
    list[at + i] = id * 64 + i;
}
// Start offsets by a prefix sum, no atomics. One block of at most 1024 threads.
extern "C" __global__ void worklist_prefix_sum(const int *nelem, int *list, int *size) {
  __shared__ int a[1024];
  int tid = threadIdx.x, n = blockDim.x, tmp = 0;
  a[tid] = nelem[tid];
  __syncthreads();
  for (int off = 1; off < n; off *= 2) {
    if (tid >= off)
      tmp = a[tid - off];
    __syncthreads();
    if (tid >= off)
      a[tid] += tmp;
    __syncthreads();
  }
  int at = a[tid] - nelem[tid];
  for (int i = 0; i < nelem[tid]; i++)
    list[at + i] = tid * 64 + i;
  if (tid == n - 1)
    *size = a[tid];
}

// ---- Grading and histogram. Grades S A B C D E U are 0 to 6, S from 90, E from 40. ----

__device__ __forceinline__ int grade_of(int marks) { return marks >= 90 ? 0 : marks < 40 ? 6 : 9 - marks / 10; }

extern "C" __global__ void grading(const int *marks, int *grade, int *histogram, int n) {
  int id = global_id();
  if (id >= n)
    return;
  grade[id] = grade_of(marks[id]);
  histogram[grade[id]]++;
}
extern "C" __global__ void grading_atomic(const int *marks, int *grade, int *histogram, int n) {
  int id = global_id();
  if (id >= n)
    return;
  grade[id] = grade_of(marks[id]);
  atomicAdd(&histogram[grade[id]], 1);
}
// A private histogram for each block, added up at its end.
extern "C" __global__ void grading_shared(const int *marks, int *grade, int *histogram, int n) {
  __shared__ int mine[7];
  int id = global_id();
  if (threadIdx.x < 7)
    mine[threadIdx.x] = 0;
  __syncthreads();
  if (id < n) {
    grade[id] = grade_of(marks[id]);
    atomicAdd(&mine[grade[id]], 1);
  }
  __syncthreads();
  if (threadIdx.x < 7)
    atomicAdd(&histogram[threadIdx.x], mine[threadIdx.x]);
}

// ---- Shortest paths, one sweep: each thread relaxes the edges of its node (edges first[id] to first[id + 1]) ----

extern "C" __global__ void dsssp(const int *first, const int *to, const int *weight, unsigned *dist, int *changed,
                                 int n) {
  int id = global_id();
  if (id >= n)
    return;
  for (int edge = first[id]; edge < first[id + 1]; edge++) {
    unsigned altdist = dist[id] + weight[edge];
    if (altdist < dist[to[edge]]) {
      dist[to[edge]] = altdist;
      *changed = 1;
    }
  }
}
extern "C" __global__ void dsssp_atomic(const int *first, const int *to, const int *weight, unsigned *dist,
                                        int *changed, int n) {
  int id = global_id();
  if (id >= n)
    return;
  for (int edge = first[id]; edge < first[id + 1]; edge++) {
    unsigned altdist = dist[id] + weight[edge];
    if (altdist < dist[to[edge]]) {
      atomicMin(&dist[to[edge]], altdist);
      *changed = 1;
    }
  }
}

// ---- Work donation, one block: who has more than the average plus K pushes the rest to a worklist ----

extern "C" __global__ void work_donation(int *work, int *list, int *size, int k) {
  __shared__ int sum;
  int id = threadIdx.x;
  if (id == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, work[id]);
  __syncthreads();
  int most = sum / (int)blockDim.x + k;
  if (work[id] > most) {
    list[atomicAdd(size, 1)] = work[id] - most;
    work[id] = most;
  }
}
// Without the barrier before the average is used.
extern "C" __global__ void work_donation_no_barrier(int *work, int *list, int *size, int k) {
  __shared__ int sum;
  int id = threadIdx.x;
  if (id == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, work[id]);
  int most = *(volatile int *)&sum / (int)blockDim.x + k;
  if (work[id] > most) {
    list[atomicAdd(size, 1)] = work[id] - most;
    work[id] = most;
  }
}

// ---- host ----

static std::mt19937 random_numbers(1);
static int below(int limit) { return random_numbers() % limit; }

template <typename Kernel> static void increments(const char *variant, Kernel kernel) {
  const int shapes[][2] = {{2, 1}, {1, 2}, {1, 32}, {2, 32}, {1, 1024}, {132, 1}, {132, 128}};
  Words x(1);
  for (auto &shape : shapes) {
    measure("increment", variant, shape[0], shape[1], 1000, [&] {
      x.fill(0);
      kernel(shape[0], shape[1], x);
      finish("increment");
      return judge(0, x.get(0), shape[0] * shape[1]);
    });
  }
}

template <typename Kernel> static void twins(const char *variant, Kernel kernel) {
  const int shapes[][2] = {{2, 1}, {1, 2}, {1, 64}, {64, 1}};
  for (auto &shape : shapes) {
    int n = shape[0] * shape[1];
    Words balance(1), cash(n);
    measure("atm", variant, shape[0], shape[1], 1000, [&] {
      balance.fill(1000), cash.fill(0);
      kernel<<<shape[0], shape[1]>>>(balance, cash);
      finish("atm");
      long paid = 0;
      for (int got : cash.get())
        paid += got;
      int left = balance.get(0);
      return Result{paid == 1000 && left == 0 ? RIGHT : WRONG,
                    "balance " + std::to_string(left) + " cash " + std::to_string(paid), ""};
    });
  }
}

template <typename Kernel> static void singles(const char *program, Kernel kernel) {
  const int shapes[][2] = {{1, 2}, {1, 32}, {1, 256}, {2, 1}, {4, 256}, {132, 32}};
  Words lockvar(1), times(1), who(1);
  for (auto &shape : shapes) {
    measure(program, "", shape[0], shape[1], 1000, [&] {
      lockvar.fill(0), times.fill(0), who.fill(-1);
      kernel<<<shape[0], shape[1]>>>(lockvar, times, who);
      finish(program);
      int one = who.get(0);
      std::string which = "block " + std::to_string(one / shape[1]) + " thread " + std::to_string(one % shape[1]);
      return judge(0, times.get(0), 1, times.get(0) == 1 ? which : "");
    });
  }
}

static void puzzle() {
  const int shapes[][2] = {{2, 32}, {1, 32}, {1, 64}, {2, 64}, {8, 32}, {132, 32}};
  Words gg(1), success(3), who(3);
  for (auto &shape : shapes) {
    measure("k1", "", shape[0], shape[1], 1000, [&] {
      gg.fill(0), success.fill(0), who.fill(-1);
      k1<<<shape[0], shape[1]>>>(gg, success, who);
      finish("k1");
      std::vector<int> times = success.get(), last = who.get();
      std::string kind;
      for (int i = 0; i < 3; i++) {
        if (!times[i])
          continue;
        kind += (kind.empty() ? "" : "; ") + std::string("success ") + std::to_string(i + 1) + ": block " +
                std::to_string(last[i] / shape[1]) + " thread " + std::to_string(last[i] % shape[1]);
        if (times[i] > 1)
          kind += " and " + std::to_string(times[i] - 1) + " more";
      }
      // What the slides say: one thread t succeeds first, nobody second, and thread t + 1 of a block third if there
      // is one.
      int t = last[0] % shape[1];
      bool third = t + 1 < shape[1] ? times[2] == 1 && last[2] % shape[1] == t + 1 : times[2] == 0;
      return Result{times[0] == 1 && times[1] == 0 && third ? RIGHT : WRONG, kind, ""};
    });
  }
}

template <typename Kernel>
static void worklist(const char *program, const char *variant, Kernel kernel, int blocks, int threads, bool varying) {
  int n = blocks * threads;
  std::vector<int> count(n), want;
  for (int t = 0; t < n; t++) {
    count[t] = varying ? below(8) : 4;
    for (int i = 0; i < count[t]; i++)
      want.push_back(t * 64 + i);
  }
  Words nelem(n), list(8 * n), size(1);
  nelem.set(count);
  measure(program, variant + std::string(varying ? " varying" : " equal"), blocks, threads, 200, [&] {
    list.fill(-1), size.fill(0);
    kernel(blocks, threads, nelem, list, size);
    finish(program);
    std::vector<int> got = list.get();
    std::sort(got.begin(), got.end());
    got.erase(got.begin(), std::upper_bound(got.begin(), got.end(), -1));
    if (got == want && size.get(0) == (int)want.size())
      return Result{RIGHT, "", ""};
    return judge(0, got.size(), want.size(), "elements missing");
  });
}

template <typename Kernel> static void grades(const char *variant, Kernel kernel) {
  const int shapes[][3] = {{1, 80, 80}, {1, 96, 80}, {3, 32, 80}, {80, 1, 80}, {80, 1024, 80000}};
  for (auto &shape : shapes) {
    int n = shape[2];
    std::vector<int> mark(n), want(7);
    for (int &one : mark) {
      one = below(101);
      want[one >= 90 ? 0 : one < 40 ? 6 : 9 - one / 10]++;
    }
    Words marks(n), grade(n), histogram(7);
    marks.set(mark);
    measure("grading", variant, shape[0], shape[1], 200, [&] {
      histogram.fill(0);
      kernel<<<shape[0], shape[1]>>>(marks, grade, histogram, n);
      finish("grading");
      return judge_array(0, histogram.get(), want);
    });
  }
}

struct Graph {
  int n;
  std::vector<int> first, to, weight, start; // start: the distances before the sweeps
};

static Graph graph_of(int n, std::vector<std::vector<std::pair<int, int>>> edges, std::vector<int> start) {
  Graph graph{n, {0}, {}, {}, start};
  for (auto &out : edges) {
    for (auto &edge : out)
      graph.to.push_back(edge.first), graph.weight.push_back(edge.second);
    graph.first.push_back(graph.to.size());
  }
  return graph;
}

static std::vector<int> shortest(const Graph &graph) {
  std::vector<int> dist(graph.start);
  for (bool changed = true; changed;) {
    changed = false;
    for (int node = 0; node < graph.n; node++)
      for (int e = graph.first[node]; e < graph.first[node + 1]; e++)
        if (dist[node] + graph.weight[e] < dist[graph.to[e]]) {
          dist[graph.to[e]] = dist[node] + graph.weight[e];
          changed = true;
        }
  }
  return dist;
}

enum { FAR = 1000000000 };

// sweeps: how many; 0: until a sweep changes nothing.
template <typename Kernel>
static void paths(const char *variant, Kernel kernel, const Graph &graph, int threads, int sweeps) {
  Words first(graph.n + 1), to(graph.to.size()), weight(graph.to.size()), dist(graph.n), changed(1);
  first.set(graph.first), to.set(graph.to), weight.set(graph.weight);
  std::vector<int> want = shortest(graph);
  int blocks = (graph.n + threads - 1) / threads;
  measure("dsssp", variant, blocks, threads, 200, [&] {
    dist.set(graph.start);
    int limit = sweeps ? sweeps : 4 * graph.n;
    for (int sweep = 0; sweep < limit; sweep++) {
      changed.fill(0);
      kernel<<<blocks, threads>>>(first, to, weight, dist.as_unsigned(), changed, graph.n);
      finish("dsssp");
      if (!sweeps && !changed.get(0))
        break;
    }
    return judge_array(0, dist.get(), want);
  });
}

template <typename Kernel> static void all_paths(const std::string &variant, Kernel kernel) {
  // Seven towns, both ways along each road.
  std::vector<std::vector<std::pair<int, int>>> towns(7);
  const int roads[][3] = {{0, 1, 3}, {0, 2, 7}, {1, 3, 4}, {2, 3, 1}, {3, 4, 6},
                          {3, 5, 2}, {5, 4, 3}, {4, 6, 5}, {5, 6, 9}};
  for (auto &road : roads) {
    towns[road[0]].push_back({road[1], road[2]});
    towns[road[1]].push_back({road[0], road[2]});
  }
  std::vector<int> from_first(7, FAR);
  from_first[0] = 0;
  Graph map = graph_of(7, towns, from_first);
  paths((variant + " seven-towns n-1-sweeps").c_str(), kernel, map, 32, 6);
  paths((variant + " seven-towns until-unchanged").c_str(), kernel, map, 32, 0);
  paths((variant + " seven-towns until-unchanged").c_str(), kernel, map, 1, 0);
  // A star: many threads improve one node's distance at once; the last node is the best. One sweep shows lost
  // updates.
  for (int n : {32, 1024}) {
    std::vector<std::vector<std::pair<int, int>>> rays(n);
    std::vector<int> start(n, 0);
    for (int node = 1; node < n; node++)
      rays[node].push_back({0, 2 * n - ((node * 17) % n)});
    start[0] = FAR;
    Graph star = graph_of(n, rays, start);
    for (int threads : {32, 256}) {
      if (threads > n)
        continue;
      paths((variant + " star one-sweep").c_str(), kernel, star, threads, 1);
      paths((variant + " star until-unchanged").c_str(), kernel, star, threads, 0);
    }
  }
  // A random graph of 512 nodes.
  std::vector<std::vector<std::pair<int, int>>> edges(512);
  for (auto &out : edges)
    for (int i = 0; i < 8; i++)
      out.push_back({below(512), 1 + below(100)});
  std::vector<int> start(512, FAR);
  start[0] = 0;
  Graph net = graph_of(512, edges, start);
  paths((variant + " random until-unchanged").c_str(), kernel, net, 128, 0);
}

template <typename Kernel> static void donation(const char *variant, Kernel kernel) {
  const int k = 5;
  for (int n : {32, 64, 1024}) {
    std::vector<int> given(n);
    int total = 0;
    for (int &one : given)
      total += one = below(100);
    int most = total / n + k;
    std::vector<int> left(given), want;
    for (int &one : left) {
      if (one > most) {
        want.push_back(one - most);
        one = most;
      }
    }
    std::sort(want.begin(), want.end());
    Words work(n), list(n), size(1);
    measure("work_donation", variant, 1, n, 500, [&] {
      work.set(given), list.fill(0), size.fill(0);
      kernel<<<1, n>>>(work, list, size, k);
      finish("work_donation");
      std::vector<int> pushed = list.get();
      pushed.resize(size.get(0));
      std::sort(pushed.begin(), pushed.end());
      Result result = judge_array(0, work.get(), left);
      if (result.outcome == RIGHT && pushed != want)
        result = {WRONG, "the worklist is wrong", ""};
      return result;
    });
  }
}

int main() {
  begin();
  case_seconds = 0.15;
  increments("plain", [](int blocks, int threads, const Words &x) { increment<<<blocks, threads>>>(x); });
  increments("volatile", [](int blocks, int threads, const Words &x) { increment_volatile<<<blocks, threads>>>(x); });
  increments("atomic",
             [](int blocks, int threads, const Words &x) { increment_atomic<<<blocks, threads>>>(x.as_unsigned()); });
  twins("volatile", atm);
  twins("atomic-update", atm_atomic_update);
  twins("atomic", atm_atomic);
  singles("single", single);
  singles("single_reset", single_reset);
  puzzle();
  for (bool varying : {false, true}) {
    const int shapes[][2] = {{1, 32}, {1, 256}, {1, 1024}, {64, 128}};
    for (auto &shape : shapes) {
      int b = shape[0], t = shape[1];
      auto racy = [](int b, int t, int *n, int *l, int *s) { worklist_racy<<<b, t>>>(n, l, s); };
      auto element = [](int b, int t, int *n, int *l, int *s) { worklist_atomic_element<<<b, t>>>(n, l, s); };
      auto thread = [](int b, int t, int *n, int *l, int *s) { worklist_atomic_thread<<<b, t>>>(n, l, s); };
      auto scan = [](int b, int t, int *n, int *l, int *s) { worklist_prefix_sum<<<b, t>>>(n, l, s); };
      worklist("worklist", "racy", racy, b, t, varying);
      worklist("worklist", "atomic-per-element", element, b, t, varying);
      worklist("worklist", "atomic-per-thread", thread, b, t, varying);
      if (b == 1)
        worklist("worklist", "prefix-sum", scan, b, t, varying);
    }
  }
  grades("plain", grading);
  grades("atomic", grading_atomic);
  grades("shared", grading_shared);
  all_paths("plain", dsssp);
  all_paths("atomicMin", dsssp_atomic);
  donation("barrier", work_donation);
  donation("no-barrier", work_donation_no_barrier);
  return 0;
}
