// Loads that may give older values, and do no harm if they do; beside each what does harm. PTX: traces/make_ptx.sh cuda_older.cu

// A union-find as in ECL-CC (Jaiganesh and Burtscher): whatever a load of a parent finds is an ancestor, and the compare-and-swap
// finds out whether it is a root still.
static __device__ int find_root(int node, volatile int *parent) {
  int root = parent[node];
  if (root == node)
    return root;
  for (int before = node, next; root > (next = parent[root]); root = next) {
    parent[before] = next; // halves the path
    before = root;
  }
  return root;
}
extern "C" __global__ void unite(const int *from, const int *to, int *parent) {
  int edge = blockIdx.x * blockDim.x + threadIdx.x;
  int one = find_root(from[edge], parent), other = find_root(to[edge], parent);
  while (one != other) {
    int low = min(one, other), high = max(one, other);
    int old = atomicCAS(&parent[high], high, low);
    if (old == high)
      break;
    one = low;
    other = old;
  }
}
extern "C" __global__ void flatten(volatile int *parent) {
  int node = blockIdx.x * blockDim.x + threadIdx.x, root = parent[node], next;
  while (root > (next = parent[root]))
    root = next;
  parent[node] = root;
}

// The deque of Chase and Lev, one for each block: a thief that sees an old end finds nothing, and one that sees an old top fails.
struct Deque {
  volatile int top, end, task[64];
};
template <bool FENCE> static __device__ void push(Deque *deque, int task) {
  int end = deque->end;
  deque->task[end % 64] = task;
  if (FENCE)
    __threadfence();
  deque->end = end + 1;
}
static __device__ int take(Deque *deque) {
  int end = deque->end - 1;
  deque->end = end;
  __threadfence();
  int top = deque->top;
  if (top > end) {
    deque->end = top;
    return -1;
  }
  int task = deque->task[end % 64];
  if (top != end)
    return task;
  if (atomicCAS((int *)&deque->top, top, top + 1) != top)
    task = -1;
  deque->end = top + 1;
  return task;
}
static __device__ int steal(Deque *deque) {
  int top = deque->top;
  __threadfence();
  if (top >= deque->end)
    return -1;
  __threadfence();
  int task = deque->task[top % 64];
  return atomicCAS((int *)&deque->top, top, top + 1) == top ? task : -1;
}
// Task n brings two tasks n - 1.
template <bool FENCE> static __device__ void work(Deque *deque, int *left, int *done, int first) {
  if (threadIdx.x != 0)
    return;
  Deque *own = &deque[blockIdx.x];
  int victim = blockIdx.x;
  if (blockIdx.x == 0)
    push<FENCE>(own, first);
  while (*(volatile int *)left > 0) {
    int task = take(own);
    if (task < 0) {
      victim = (victim + 1) % gridDim.x;
      task = victim == blockIdx.x ? -1 : steal(&deque[victim]);
    }
    if (task < 0)
      continue;
    atomicAdd(&done[task], 1);
    if (task > 0) {
      atomicAdd(left, 2);
      push<FENCE>(own, task - 1);
      push<FENCE>(own, task - 1);
    }
    atomicSub(left, 1);
  }
}
extern "C" __global__ void thieves(Deque *deque, int *left, int *done, int first) {
  work<true>(deque, left, done, first);
}
extern "C" __global__ void thieves_no_fence(Deque *deque, int *left, int *done, int first) {
  work<false>(deque, left, done, first);
}
