// Hand-offs between blocks and between warps, wrong and right.
enum { SLOTS = 4 };
struct Ring {
  volatile unsigned head, tail;
  int slot[SLOTS];
};

// Block 0 produces, block 1 consumes.
template <bool FENCES> static __device__ void pass_on(Ring *ring, int *sum, int items) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    for (int i = 0; i < items; i++) {
      while (ring->head - ring->tail == SLOTS) {
      }
      if (FENCES)
        __threadfence();
      ring->slot[i % SLOTS] = i + 1;
      if (FENCES)
        __threadfence();
      ring->head = i + 1;
    }
  } else {
    int total = 0;
    for (int i = 0; i < items; i++) {
      while (ring->head == ring->tail) {
      }
      if (FENCES)
        __threadfence();
      total += ring->slot[i % SLOTS];
      if (FENCES)
        __threadfence();
      ring->tail = i + 1;
    }
    *sum = total;
  }
}
extern "C" __global__ void ring(Ring *ring, int *sum, int items) { pass_on<true>(ring, sum, items); }
extern "C" __global__ void ring_without_fences(Ring *ring, int *sum, int items) { pass_on<false>(ring, sum, items); }

// Warp 0 produces, warp 1 consumes: barriers 1 and 2 say that a buffer is full, 3 and 4 that it is empty.
static __device__ void wait_at(int number) { asm volatile("bar.sync %0, 64;" ::"r"(number) : "memory"); }
static __device__ void arrive_at(int number) { asm volatile("bar.arrive %0, 64;" ::"r"(number) : "memory"); }

extern "C" __global__ void warps(int *sum, int items, int starts_empty) {
  __shared__ int buffer[2][32];
  int lane = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    for (int i = 0; i < items; i++) {
      wait_at(3 + (i & 1));
      buffer[i & 1][lane] = i;
      arrive_at(1 + (i & 1));
    }
    return;
  }
  int total = 0;
  if (starts_empty) {
    arrive_at(3);
    arrive_at(4);
  }
  for (int i = 0; i < items; i++) {
    wait_at(1 + (i & 1));
    total += buffer[i & 1][31 - lane];
    if (i + 2 < items)
      arrive_at(3 + (i & 1));
  }
  atomicAdd(sum, total);
}

// The reader arrives where it should wait.
extern "C" __global__ void warps_arrive(int *sum) {
  __shared__ int buffer[32];
  int lane = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    buffer[lane] = lane;
    wait_at(1);
  } else {
    arrive_at(1);
    atomicAdd(sum, buffer[31 - lane]);
  }
}

// Persistent threads: the next piece of work is in shared memory. Without the first barrier a fast warp overwrites it.
template <bool SYNC> static __device__ void work(int *next, int *out, int items) {
  __shared__ int base;
  for (;;) {
    if (SYNC)
      __syncthreads();
    if (threadIdx.x == 0)
      base = atomicAdd(next, blockDim.x);
    __syncthreads();
    if (base >= items)
      return;
    int i = base + threadIdx.x;
    if (i < items)
      out[i] = i * i;
  }
}
extern "C" __global__ void persistent(int *next, int *out, int items) { work<true>(next, out, items); }
extern "C" __global__ void persistent_one_barrier(int *next, int *out, int items) { work<false>(next, out, items); }

// The last block adds up what the others left: with and without the fences.
__device__ unsigned arrived;
__device__ int partial[64];
template <bool FENCES> static __device__ void add_up(const int *in, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    if (FENCES)
      __threadfence();
    last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    if (FENCES)
      __threadfence();
  }
  __syncthreads();
  if (!last || threadIdx.x != 0)
    return;
  int total = 0;
  for (int i = 0; i < gridDim.x; i++)
    total += partial[i];
  *out = total;
}
extern "C" __global__ void last_block(const int *in, int *out) { add_up<true>(in, out); }
extern "C" __global__ void last_block_without_fences(const int *in, int *out) { add_up<false>(in, out); }

// Chase-Lev: block 0 owns the deque, the others steal.
struct Deque {
  volatile int top, bottom;
  volatile int task[64];
};
static __device__ int take(Deque *deque) {
  int bottom = deque->bottom - 1;
  deque->bottom = bottom;
  __threadfence();
  int top = deque->top;
  if (top > bottom) {
    deque->bottom = top;
    return -1;
  }
  int task = deque->task[bottom];
  if (top != bottom)
    return task;
  if (atomicCAS((int *)&deque->top, top, top + 1) != top)
    task = -1;
  deque->bottom = top + 1;
  return task;
}
static __device__ int steal(Deque *deque) {
  int top = deque->top;
  __threadfence();
  int bottom = deque->bottom;
  if (top >= bottom)
    return -1;
  int task = deque->task[top];
  return atomicCAS((int *)&deque->top, top, top + 1) == top ? task : -1;
}
extern "C" __global__ void work_stealing(Deque *deque, int *done, int *hits, int tasks) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0)
    for (int i = 0; i < tasks; i++) {
      deque->task[deque->bottom] = i;
      __threadfence();
      deque->bottom = deque->bottom + 1;
    }
  while (*(volatile int *)done < tasks) {
    int task = blockIdx.x == 0 ? take(deque) : steal(deque);
    if (task >= 0) {
      atomicAdd(&hits[task], 1);
      atomicAdd(done, 1);
    }
  }
}

// Decoupled look-back: each tile adds what the tiles before it have published.
__device__ volatile int status[64], aggregate[64], prefix[64];
__device__ unsigned tiles;
extern "C" __global__ void look_back(const int *in, int *out) {
  if (threadIdx.x != 0)
    return;
  int tile = atomicAdd(&tiles, 1), before = 0;
  aggregate[tile] = in[tile];
  __threadfence();
  status[tile] = 1;
  for (int at = tile - 1; at >= 0; at--) {
    int state;
    while ((state = status[at]) == 0) {
    }
    __threadfence();
    if (state == 2) {
      before += prefix[at];
      break;
    }
    before += aggregate[at];
  }
  prefix[tile] = before + in[tile];
  __threadfence();
  status[tile] = 2;
  out[tile] = before + in[tile];
}
