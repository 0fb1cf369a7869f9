// Bounded buffer: even blocks put numbers, odd ones take them. By semaphores and a lock of libcu++, or by a lock and counters that are looked at under it.
#include <cuda/semaphore>
#include "../wild/util.cuh"
using counting = cuda::counting_semaphore<cuda::thread_scope_device, 100000>;
using binary = cuda::binary_semaphore<cuda::thread_scope_device>;
__global__ void make(counting *empty, counting *full, binary *mutex, int capacity) {
  new (empty) counting(capacity);
  new (full) counting(0);
  new (mutex) binary(1);
}
__global__ void buffer_std(counting *empty, counting *full, binary *mutex, u32 *at, u32 *ring, u32 capacity, int each, u32 *sum) {
  if (threadIdx.x % 32) return;
  u32 total = 0;
  for (int i = 0; i < each; i++)
    if (blockIdx.x % 2 == 0) {
      empty->acquire();
      mutex->acquire();
      ring[at[0]++ % capacity] = blockIdx.x + i;
      mutex->release();
      full->release();
    } else {
      full->acquire();
      mutex->acquire();
      total += ring[at[1]++ % capacity];
      mutex->release();
      empty->release();
    }
  if (total) atomicAdd(sum, total);
}
__global__ void buffer_hand(int *lock, volatile u32 *at, volatile u32 *ring, u32 capacity, int each, int sleep, u32 *sum) {
  if (threadIdx.x % 32) return;
  bool puts = blockIdx.x % 2 == 0;
  u32 total = 0;
  for (int i = 0; i < each;) {
    while (atomicExch(lock, 1)) ;
    __threadfence();
    u32 in = at[0], out = at[1];
    bool may = puts ? in - out < capacity : in != out;
    if (may) {
      if (puts) { ring[in % capacity] = blockIdx.x + i; at[0] = in + 1; }
      else { total += ring[out % capacity]; at[1] = out + 1; }
      i++;
    }
    __threadfence();
    atomicExch(lock, 0);
    if (!may) __nanosleep(sleep);
  }
  if (total) atomicAdd(sum, total);
}
