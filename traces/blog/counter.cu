// "Writing a lock in CUDA" (Zihao Ye, 2021): a counter under a spin lock, first by all lanes of a warp at once, which
// hangs, then lane by lane.
// PTX: make_ptx.sh counter.cu
struct Lock {
  int *locked;
  __device__ __forceinline__ void acquire_lock() {
    while (atomicCAS(locked, 0, 1) != 0)
      ;
  }
  __device__ __forceinline__ void unlock() { atomicExch(locked, 0); }
};

extern "C" __global__ void counter_naive(Lock lock, int *total) {
  lock.acquire_lock();
  *total = *total + 1;
  lock.unlock();
}

// Lane by lane, as the blog has it.
extern "C" __global__ void counter(Lock lock, int *total) {
#pragma unroll
  for (int lane = 0; lane < 32; ++lane) {
    if (threadIdx.x % 32 == lane) {
      lock.acquire_lock();
      *total = *total + 1;
      lock.unlock();
    }
  }
}
extern "C" __global__ void counter_volatile(Lock lock, volatile int *total) {
#pragma unroll
  for (int lane = 0; lane < 32; ++lane) {
    if (threadIdx.x % 32 == lane) {
      lock.acquire_lock();
      *total = *total + 1;
      lock.unlock();
    }
  }
}
// A fence before the lock is let go orders the store, and makes the thread's next load fetch the word again.
extern "C" __global__ void counter_fence(Lock lock, int *total) {
#pragma unroll
  for (int lane = 0; lane < 32; ++lane) {
    if (threadIdx.x % 32 == lane) {
      lock.acquire_lock();
      *total = *total + 1;
      __threadfence();
      lock.unlock();
    }
  }
}
// Fences on both sides: what a lock owes its users.
extern "C" __global__ void counter_fences(Lock lock, int *total) {
#pragma unroll
  for (int lane = 0; lane < 32; ++lane) {
    if (threadIdx.x % 32 == lane) {
      lock.acquire_lock();
      __threadfence();
      *total = *total + 1;
      __threadfence();
      lock.unlock();
    }
  }
}
extern "C" __global__ void counter_volatile_fences(Lock lock, volatile int *total) {
#pragma unroll
  for (int lane = 0; lane < 32; ++lane) {
    if (threadIdx.x % 32 == lane) {
      lock.acquire_lock();
      __threadfence();
      *total = *total + 1;
      __threadfence();
      lock.unlock();
    }
  }
}

// The blog's AtomicAdd, made of atomicCAS.
extern "C" __global__ void atomic_add_cas(int *total) {
  int old = *total, assumed;
  do {
    assumed = old;
    old = atomicCAS(total, assumed, assumed + 1);
  } while (assumed != old);
}

// The blog's other way out: a lock (and a total) for each lane.
extern "C" __global__ void counter_32_locks(int *locked, volatile int *total) {
  int lane = threadIdx.x % 32;
  Lock lock = {locked + lane};
  lock.acquire_lock();
  __threadfence();
  total[lane] = total[lane] + 1;
  __threadfence();
  lock.unlock();
}

// For the expectations: is the total another than it should be?
extern "C" __global__ void lost_updates(const int *total, int right, int *lost) { *lost = *total != right; }
