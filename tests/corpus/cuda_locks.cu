// Locks as CUDA programs have them, wrong and right.
#include <cuda/atomic>

class Mutex {
  int *word;

public:
  __device__ Mutex(int *at) : word(at) {}
  __device__ void acquire() {
    while (atomicCAS(word, 0, 1) != 0) {
    }
    __threadfence();
  }
  __device__ bool try_acquire() {
    bool mine = atomicCAS(word, 0, 1) == 0;
    if (mine)
      __threadfence();
    return mine;
  }
  __device__ void release() {
    __threadfence();
    atomicExch(word, 0);
  }
};

struct Guard {
  Mutex &mutex;
  __device__ Guard(Mutex &of) : mutex(of) { mutex.acquire(); }
  __device__ ~Guard() { mutex.release(); }
};

// Every lane takes it as a CPU's thread does: on a SIMT stack the winner waits for the losers.
extern "C" __global__ void mutex_every_lane(int *lock, int *count) {
  Mutex mutex(lock);
  mutex.acquire();
  *count += 1;
  mutex.release();
}

extern "C" __global__ void mutex_try(int *lock, int *count) {
  Mutex mutex(lock);
  for (bool done = false; !done;)
    if (mutex.try_acquire()) {
      *count += 1;
      mutex.release();
      done = true;
    }
}

// A lane at a time, with a guard.
extern "C" __global__ void mutex_guard(int *lock, int *count) {
  Mutex mutex(lock);
  for (int lane = 0; lane < 32; lane++)
    if ((threadIdx.x & 31) == lane) {
      Guard guard(mutex);
      *count += 1;
    }
}

// The early return forgets the lock.
extern "C" __global__ void mutex_forgotten(int *lock, int *count) {
  if (threadIdx.x != 0)
    return;
  Mutex mutex(lock);
  mutex.acquire();
  int now = *count;
  if (now == 3)
    return;
  *count = now + 1;
  mutex.release();
}

// Dining philosophers, each a block: all take the left fork first, or the one with the lower number.
extern "C" __global__ void philosophers(int *fork, int *meals, int ordered) {
  if (threadIdx.x != 0)
    return;
  int first = blockIdx.x, second = (blockIdx.x + 1) % gridDim.x;
  if (ordered && first > second) {
    int other = first;
    first = second;
    second = other;
  }
  for (int meal = 0; meal < 2; meal++) {
    Mutex left(&fork[first]), right(&fork[second]);
    left.acquire();
    __nanosleep(100);
    right.acquire();
    meals[blockIdx.x]++;
    right.release();
    left.release();
  }
}

// libcu++: an exchange of acquire order and a store of release order, or both relaxed.
template <int ORDER> static __device__ void count_under_flag(int *lock, int *count) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*lock);
  if (threadIdx.x != 0)
    return;
  while (flag.exchange(1, ORDER ? cuda::std::memory_order_acquire : cuda::std::memory_order_relaxed)) {
  }
  *count += 1;
  flag.store(0, ORDER ? cuda::std::memory_order_release : cuda::std::memory_order_relaxed);
}
extern "C" __global__ void atomic_ref_ordered(int *lock, int *count) { count_under_flag<1>(lock, count); }
extern "C" __global__ void atomic_ref_relaxed(int *lock, int *count) { count_under_flag<0>(lock, count); }

// Ticket lock. Without volatile the compiler loads the ticket served once, before the loop.
extern "C" __global__ void ticket_plain(unsigned *next, unsigned *serving, int *count) {
  if (threadIdx.x != 0)
    return;
  unsigned ticket = atomicAdd(next, 1);
  while (*serving != ticket) {
  }
  __threadfence();
  *count += 1;
  __threadfence();
  *serving = ticket + 1;
}
extern "C" __global__ void ticket_volatile(unsigned *next, volatile unsigned *serving, int *count) {
  if (threadIdx.x != 0)
    return;
  unsigned ticket = atomicAdd(next, 1);
  while (*serving != ticket) {
  }
  __threadfence();
  *count += 1;
  __threadfence();
  *serving = ticket + 1;
}

// MCS queue lock.
struct Node {
  Node *volatile next;
  volatile int locked;
};
__device__ Node nodes[64];
__device__ unsigned long long tail;

extern "C" __global__ void mcs(int *count) {
  if (threadIdx.x != 0)
    return;
  Node *me = &nodes[blockIdx.x];
  me->next = nullptr;
  me->locked = 1;
  __threadfence();
  Node *before = (Node *)atomicExch(&tail, (unsigned long long)me);
  if (before) {
    before->next = me;
    while (me->locked) {
    }
  }
  __threadfence();
  *count += 1;
  __threadfence();
  if (!me->next) {
    if (atomicCAS(&tail, (unsigned long long)me, 0ull) == (unsigned long long)me)
      return;
    while (!me->next) {
    }
  }
  me->next->locked = 0;
}

// Readers and writers: n readers, or -1 for a writer; a reader that writes isn't alone.
static __device__ void lock_read(int *lock) {
  for (;;) {
    int now = *(volatile int *)lock;
    if (now >= 0 && atomicCAS(lock, now, now + 1) == now)
      break;
  }
  __threadfence();
}
static __device__ void unlock_read(int *lock) {
  __threadfence();
  atomicSub(lock, 1);
}
extern "C" __global__ void readers_writers(int *lock, int *data, int *torn) {
  if (threadIdx.x != 0)
    return;
  for (int round = 0; round < 4; round++)
    if ((blockIdx.x & 3) == 0) {
      while (atomicCAS(lock, 0, -1) != 0)
        __nanosleep(50);
      __threadfence();
      data[0] += 1;
      data[1] += 1;
      __threadfence();
      atomicExch(lock, 0);
    } else {
      lock_read(lock);
      if (data[0] != data[1])
        atomicAdd(torn, 1);
      unlock_read(lock);
    }
}
extern "C" __global__ void reader_writes(int *lock, int *data) {
  if (threadIdx.x != 0)
    return;
  lock_read(lock);
  data[0] += 1;
  unlock_read(lock);
}
