// Locks and a stack of words of 128 bits, which sm_90 compares and swaps at once: nvcc -ptx -lineinfo -arch=sm_90.
typedef unsigned long long Half;
struct __align__(16) Pair {
  Half low, high;
};

static __device__ bool same(Pair a, Pair b) { return a.low == b.low && a.high == b.high; }

// ---- locks ----

// The owner and the complement of its number; free: {0, 0}.
static __device__ bool try_lock(Pair *lock, unsigned me) {
  Pair free = {0, 0};
  bool taken = same(atomicCAS(lock, free, Pair{me + 1, ~(Half)me}), free);
  if (taken)
    __threadfence();
  return taken;
}

static __device__ void unlock(Pair *lock, Pair free) {
  __threadfence();
  atomicExch(lock, free);
}

// Each thread counts under the lock. `kept`: what is left in the upper half when the lock is given back.
static __device__ void count(Pair *lock, volatile int *counter, int kept) {
  unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  for (bool done = false; !done;)
    if (try_lock(lock, me)) {
      *counter = *counter + 1;
      unlock(lock, Pair{0, (Half)kept});
      done = true;
    }
}

extern "C" __global__ void wide_lock(Pair *lock, int *counter, int kept) { count(lock, counter, kept); }

extern "C" __global__ void wide_lock_shared(int *counter, int kept) {
  __shared__ Pair lock;
  __shared__ int mine;
  if (threadIdx.x == 0) {
    lock = Pair{0, 0};
    mine = 0;
  }
  __syncthreads();
  count(&lock, &mine, kept);
  __syncthreads();
  if (threadIdx.x == 0)
    counter[blockIdx.x] = mine;
}

// Two blocks take two locks, in the same order or crosswise.
extern "C" __global__ void wide_two(Pair *locks, int *counter, int crosswise) {
  unsigned first = crosswise ? blockIdx.x & 1 : 0;
  while (!try_lock(&locks[first], blockIdx.x))
    ;
  while (!try_lock(&locks[1 - first], blockIdx.x))
    ;
  ++*(volatile int *)counter;
  unlock(&locks[1 - first], Pair{0, 0});
  unlock(&locks[first], Pair{0, 0});
}

// ---- a stack with a tag that counts its changes ----

static __device__ Pair load(Pair *from) {
  __int128 value;
  Pair pair;
  __nv_atomic_load((__int128 *)from, &value, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  pair.low = (Half)value;
  pair.high = (Half)(value >> 64);
  return pair;
}

static __device__ bool change(Pair *head, Pair from, Half top) {
  __int128 old = (__int128)from.high << 64 | from.low, next = (__int128)(from.high + 1) << 64 | top;
  return __nv_atomic_compare_exchange_n((__int128 *)head, &old, next, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED,
                                        __NV_THREAD_SCOPE_DEVICE);
}

static __device__ int get(const int *word) {
  int value;
  __nv_atomic_load(word, &value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  return value;
}

static __device__ void put(int *word, int value) {
  __nv_atomic_store(word, &value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

static __device__ int pop(Pair *head, const int *next) {
  for (;;) {
    Pair top = load(head);
    if (top.low && change(head, top, get(&next[top.low])))
      return (int)top.low;
  }
}

static __device__ void push(Pair *head, int *next, int node) {
  Pair top;
  do {
    top = load(head);
    put(&next[node], (int)top.low);
  } while (!change(head, top, node));
}

// Each block takes a node, counts in it, and gives it back: nodes from 1 on, linked by `next`.
extern "C" __global__ void wide_stack(Pair *head, int *next, int *counts, int rounds) {
  for (int i = 0; i < rounds; i++) {
    int node = pop(head, next);
    counts[node] = counts[node] + 1;
    push(head, next, node);
  }
}

// ---- values ----

static __device__ Pair *steps(Pair *word, Pair *out) {
  *out++ = atomicCAS(word, Pair{1, 2}, Pair{5, 6});  // the upper half differs
  *out++ = atomicCAS(word, Pair{0, 4}, Pair{5, 6});  // the lower one does
  *out++ = atomicCAS(word, Pair{1, 4}, Pair{5, 6});
  *out++ = atomicExch(word, Pair{7, ~(Half)0});
  *out++ = *(volatile Half *)&word->low == 7 ? atomicExch(word, Pair{~(Half)0, 8}) : Pair{0, 0};
  *out++ = *word;
  return out;
}

// {1, 4} at first in `word`, and in shared memory; then again by addresses of which the compiler doesn't know where they lie.
extern "C" __global__ void wide_values(Pair *word, Pair *out, int where) {
  __shared__ Pair near[2];
  near[0] = near[1] = Pair{1, 4};
  Pair *one = where ? word + 1 : &near[1], *other = where ? &near[1] : word + 1;
  out = steps(word, out);
  out = steps(&near[0], out);
  out = steps(one, out);
  steps(other, out);
}

// Lanes in order: each finds what the one before it left.
extern "C" __global__ void wide_lanes(Pair *word, Pair *out) {
  out[threadIdx.x] = atomicExch(word, Pair{threadIdx.x + 1, 100 + threadIdx.x});
}

extern "C" __global__ void wide_crooked(char *word, int by) { atomicExch((Pair *)(word + by), Pair{1, 2}); }

extern "C" __global__ void wide_crooked_shared(int *out, int by) {
  __shared__ Pair near[2];
  out[0] = (int)atomicExch((Pair *)((char *)near + by), Pair{1, 2}).low;
}

// ---- races ----

// One block swaps, the other writes the last word, plainly or as a swap.
extern "C" __global__ void wide_write(Pair *word, int plainly) {
  Pair zero = {0, 0};
  if (blockIdx.x == 0)
    atomicCAS(word, zero, Pair{1, 1});
  else if (plainly)
    ((int *)word)[3] = 5;
  else
    atomicCAS(word, zero, Pair{0, (Half)5 << 32});
}

// A message of 128 bits behind a flag that is part of it, or behind one that is none.
extern "C" __global__ void wide_message(Pair *word, int *data, int *out, int relaxed) {
  __int128 ready = (__int128)1 << 64, seen = 0;
  if (blockIdx.x == 0) {
    *data = 42;
    if (relaxed)
      __nv_atomic_store((__int128 *)word, &ready, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    else
      __nv_atomic_store((__int128 *)word, &ready, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    return;
  }
  while (!seen)
    __nv_atomic_load((__int128 *)word, &seen, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  *out = *data;
}
