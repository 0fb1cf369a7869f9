// Slides, "Synchronization Patterns": overlapping accesses, benign overlaps, algebraic properties, scatter and gather.
// PTX: make_ptx.sh patterns.cu

// ---- race and resolve: thread t wants elements t, t + 1 and t + 2 of a ring, all or none. One block. ----

// owners[e] counts who took element e for its own.
__device__ void take(int *owners, int t, int n) {
  for (int i = 0; i < 3; i++)
    atomicAdd(&owners[(t + i) % n], 1);
}

// Marks that race, marks of those with the higher number over those with a lower one, and a look at what is left.
extern "C" __global__ void own_prioritized(volatile int *mark, int *owners, int n) {
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++)
    mark[(t + i) % n] = t;
  __syncthreads();
  for (int i = 0; i < 3; i++)
    if (mark[(t + i) % n] < t)
      mark[(t + i) % n] = t;
  __syncthreads();
  bool mine = true;
  for (int i = 0; i < 3; i++)
    mine = mine && mark[(t + i) % n] == t;
  if (mine)
    take(owners, t, n);
}

// Without the priority: as safe, but it may be that nobody gets what it wants.
extern "C" __global__ void own_marked(volatile int *mark, int *owners, int n) {
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++)
    mark[(t + i) % n] = t;
  __syncthreads();
  bool mine = true;
  for (int i = 0; i < 3; i++)
    mine = mine && mark[(t + i) % n] == t;
  if (mine)
    take(owners, t, n);
}

// A look before the marks instead of behind them: who found its elements free takes them, and so does another one.
extern "C" __global__ void own_unchecked(volatile int *mark, int *owners, int n) {
  int t = threadIdx.x;
  bool mine = true;
  for (int i = 0; i < 3; i++)
    mine = mine && mark[(t + i) % n] < 0;
  for (int i = 0; i < 3; i++)
    mark[(t + i) % n] = t;
  __syncthreads();
  if (mine)
    take(owners, t, n);
}

// An atomic for each element; who doesn't get all gives back what it has, so that it may be that nobody gets what it wants.
extern "C" __global__ void own_atomic(int *mark, int *owners, int n) {
  int t = threadIdx.x, got = 0;
  while (got < 3 && atomicCAS(&mark[(t + got) % n], -1, t) == -1)
    got++;
  if (got == 3)
    take(owners, t, n);
  for (int i = 0; got < 3 && i < got; i++)
    atomicExch(&mark[(t + i) % n], -1);
}

// verdict[0]: whether two took one element; verdict[1]: whether anybody took any.
extern "C" __global__ void own_verify(const int *owners, int *verdict) {
  if (owners[threadIdx.x] > 1)
    atomicOr(&verdict[0], 1);
  if (owners[threadIdx.x] > 0)
    atomicOr(&verdict[1], 1);
}

// ---- unique insertion: each value goes into the list once, however many threads have it. One block. ----

// Marks that race, and a look at whose is left.
extern "C" __global__ void unique_marked(const int *value, volatile int *mark, int *list, int *size) {
  int t = threadIdx.x, v = value[t];
  mark[v] = t;
  __syncthreads();
  if (mark[v] == t)
    list[atomicAdd(size, 1)] = v;
}
extern "C" __global__ void unique_atomic(const int *value, int *mark, int *list, int *size) {
  int v = value[threadIdx.x];
  if (atomicExch(&mark[v], 1) == -1)
    list[atomicAdd(size, 1)] = v;
}
// A test and a mark behind it: all lanes that have a value see it unmarked.
extern "C" __global__ void unique_tested(const int *value, volatile int *mark, int *list, int *size) {
  int v = value[threadIdx.x];
  if (mark[v] == -1) {
    mark[v] = 1;
    list[atomicAdd(size, 1)] = v;
  }
}

// ---- benign overlaps: level-by-level breadth-first search; a thread for each node, a launch for each level ----

extern "C" __global__ void bfs_plain(const int *first, const int *to, int *level, int now, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n || level[id] != now)
    return;
  for (int edge = first[id]; edge < first[id + 1]; edge++)
    if (level[to[edge]] < 0)
      level[to[edge]] = now + 1; // all who come here write the same
}
extern "C" __global__ void bfs_atomic(const int *first, const int *to, int *level, int now, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n || atomicAdd(&level[id], 0) != now)
    return;
  for (int edge = first[id]; edge < first[id + 1]; edge++)
    atomicCAS(&level[to[edge]], -1, now + 1);
}
// All levels in one launch of one block, with a barrier between two; and without one, where a warp runs ahead.
extern "C" __global__ void bfs_barrier(const int *first, const int *to, volatile int *level, int levels) {
  int id = threadIdx.x;
  for (int now = 0; now < levels; now++) {
    if (level[id] == now)
      for (int edge = first[id]; edge < first[id + 1]; edge++)
        if (level[to[edge]] < 0)
          level[to[edge]] = now + 1;
    __syncthreads();
  }
}
extern "C" __global__ void bfs_no_barrier(const int *first, const int *to, volatile int *level, int levels) {
  int id = threadIdx.x;
  for (int now = 0; now < levels; now++)
    if (level[id] == now)
      for (int edge = first[id]; edge < first[id + 1]; edge++)
        if (level[to[edge]] < 0)
          level[to[edge]] = now + 1;
}

// ---- monotonicity: distances only fall, so a lost update is made again as long as somebody has a better one ----

extern "C" __global__ void relax(const int *offer, volatile int *dist) {
  if (offer[threadIdx.x] < *dist)
    *dist = offer[threadIdx.x];
}
extern "C" __global__ void relax_atomic(const int *offer, int *dist) { atomicMin(dist, offer[threadIdx.x]); }

// ---- idempotency: a node may be in the worklist several times ----

extern "C" __global__ void settle_twice(const int *list, const int *weight, int *cost) {
  int node = list[threadIdx.x];
  cost[node] = 10 + weight[node]; // the same, however often
}
// What adds up isn't idempotent; then only one of the instances may be processed.
extern "C" __global__ void add_twice(const int *list, const int *weight, int *cost) {
  int node = list[threadIdx.x];
  atomicAdd(&cost[node], weight[node]);
}
extern "C" __global__ void add_once(const int *list, const int *weight, int *cost, int *done) {
  int node = list[threadIdx.x];
  if (atomicExch(&done[node], 1) == 0)
    atomicAdd(&cost[node], weight[node]);
}

// ---- associativity: what threads push to a node is put together by a prefix sum of the lengths, in their order ----

extern "C" __global__ void push_prefix_sum(const int *count, const int *from, const int *item, int *pushed) {
  __shared__ int sum[64];
  int t = threadIdx.x;
  sum[t] = count[t];
  __syncthreads();
  for (int off = 1; off < blockDim.x; off *= 2) {
    int add = t >= off ? sum[t - off] : 0;
    __syncthreads();
    sum[t] += add;
    __syncthreads();
  }
  for (int i = 0; i < count[t]; i++)
    pushed[sum[t] - count[t] + i] = item[from[t] + i];
}
// One barrier less: a warp adds what another one has changed already.
extern "C" __global__ void push_no_barrier(const int *count, const int *from, const int *item, int *pushed) {
  __shared__ int sum[64];
  int t = threadIdx.x;
  sum[t] = count[t];
  __syncthreads();
  for (int off = 1; off < blockDim.x; off *= 2) {
    int add = t >= off ? sum[t - off] : 0;
    sum[t] += add;
    __syncthreads();
  }
  for (int i = 0; i < count[t]; i++)
    pushed[sum[t] - count[t] + i] = item[from[t] + i];
}

// ---- scatter and gather: each node gets the sum of its neighbours' values ----

// A thread for each edge pushes.
extern "C" __global__ void scatter_plain(const int *from, const int *to, const int *value, int *sum) {
  sum[to[threadIdx.x]] += value[from[threadIdx.x]];
}
extern "C" __global__ void scatter_atomic(const int *from, const int *to, const int *value, int *sum) {
  atomicAdd(&sum[to[threadIdx.x]], value[from[threadIdx.x]]);
}
// A thread for each node pulls along the edges that lead to it: nothing is written twice.
extern "C" __global__ void gather(const int *first, const int *source, const int *value, int *sum) {
  int id = threadIdx.x, all = 0;
  for (int edge = first[id]; edge < first[id + 1]; edge++)
    all += value[source[edge]];
  sum[id] = all;
}

// Whether a result isn't what it should be.
extern "C" __global__ void differs(const int *found, const int *wanted, int *flag) {
  if (found[threadIdx.x] != wanted[threadIdx.x])
    atomicOr(flag, 1);
}
