// Synchronisation as it is found in the wild.

// Readers let waiting writers go first. A reader that asks again while it reads waits for the writer that waits for it.
struct Preferring {
  int readers, writer, waiting;
};
static __device__ void read_lock(Preferring *lock) {
  for (;;) {
    while (*(volatile int *)&lock->waiting || *(volatile int *)&lock->writer) {
    }
    atomicAdd(&lock->readers, 1);
    __threadfence();
    if (!*(volatile int *)&lock->writer) {
      __threadfence();
      return;
    }
    atomicSub(&lock->readers, 1);
  }
}
static __device__ void read_unlock(Preferring *lock) {
  __threadfence();
  atomicSub(&lock->readers, 1);
}
static __device__ void write_lock(Preferring *lock) {
  atomicAdd(&lock->waiting, 1);
  while (atomicCAS(&lock->writer, 0, 1) != 0) {
  }
  __threadfence();
  while (*(volatile int *)&lock->readers) {
  }
  __threadfence();
}
static __device__ void write_unlock(Preferring *lock) {
  atomicSub(&lock->waiting, 1);
  __threadfence();
  atomicExch(&lock->writer, 0);
}
template <bool TWICE> static __device__ void prefer(Preferring *lock, int *data, int *seen) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    __nanosleep(1000);
    write_lock(lock);
    *data += 1;
    write_unlock(lock);
  } else {
    read_lock(lock);
    int before = *data;
    __nanosleep(3000);
    if (TWICE)
      read_lock(lock);
    seen[blockIdx.x] = *data == before;
    if (TWICE)
      read_unlock(lock);
    read_unlock(lock);
  }
}
extern "C" __global__ void prefer_once(Preferring *lock, int *data, int *seen) { prefer<false>(lock, data, seen); }
extern "C" __global__ void prefer_twice(Preferring *lock, int *data, int *seen) { prefer<true>(lock, data, seen); }

// A big lock for readers: each has a flag of its own, and a writer looks at all of them. A reader takes its flag down while it
// waits for the writer, or keeps it up.
template <bool DOWN> static __device__ void big_reader(volatile int *reading, int *writing, int *data, int *torn) {
  if (threadIdx.x != 0)
    return;
  int me = blockIdx.x;
  for (int r = 0; r < 3; r++)
    if (me == 0) {
      while (atomicCAS(writing, 0, 1) != 0) {
      }
      __threadfence();
      for (int i = 1; i < gridDim.x; i++)
        while (reading[i]) {
        }
      __threadfence();
      data[0]++;
      data[1]++;
      __threadfence();
      atomicExch(writing, 0);
    } else {
      for (;;) {
        reading[me] = 1;
        __threadfence();
        if (!*(volatile int *)writing)
          break;
        if (DOWN)
          reading[me] = 0;
        while (*(volatile int *)writing) {
        }
      }
      __threadfence();
      if (data[0] != data[1])
        atomicAdd(torn, 1);
      __threadfence();
      reading[me] = 0;
    }
}
extern "C" __global__ void flag_down(volatile int *reading, int *writing, int *data, int *torn) {
  big_reader<true>(reading, writing, data, torn);
}
extern "C" __global__ void flag_up(volatile int *reading, int *writing, int *data, int *torn) {
  big_reader<false>(reading, writing, data, torn);
}

// Who asks for work tries again until nothing is pending: it needn't see the newest end at once.
extern "C" __global__ void tried_again(volatile int *pending, volatile int *ends, int *done) {
  if (threadIdx.x != 0)
    return;
  while (*pending > 0) {
    int head = ends[0];
    if (head >= ends[1])
      continue;
    if (atomicCAS((int *)&ends[0], head, head + 1) != head)
      continue;
    atomicAdd(done, 1);
    if (head < 8)
      atomicAdd((int *)&ends[1], 1);
    else
      atomicSub((int *)pending, 1);
  }
}
// The last three words of shared memory, which ptxas loads as four; and a length that is halved in uniform registers.
extern "C" __global__ void last_words(int *out, int n) {
  extern __shared__ int room[];
  __shared__ alignas(16) int sum[3];
  room[n / 2 + threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 3)
    sum[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[threadIdx.x] = sum[0] + sum[1] + sum[2] + room[n / 2 + 31 - threadIdx.x];
}

// A wait that sleeps a millisecond each time, for one signal or for a second one that nobody gives.
extern "C" __global__ void sleeps_long(int *flag, int *out, int wanted) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    atomicAdd(flag, 1);
  } else {
    while (atomicAdd(flag, 0) < wanted)
      __nanosleep(1000000);
    out[0] = 1;
  }
}
