// Work stealing: each block's leader has a Chase-Lev deque; a task n > 1 splits in two; a task 1 counts. Block 0 starts.
#include "util.cuh"
enum { CAP = 256 };
struct __align__(128) Deque { int top, bottom; u32 task[CAP]; };
__device__ void push(Deque &d, u32 task) {
  int b = aref<int>(d.bottom).load(memory_order_relaxed);
  aref<u32>(d.task[b % CAP]).store(task, memory_order_relaxed);
  aref<int>(d.bottom).store(b + 1, memory_order_release);
}
__device__ u32 take(Deque &d) {
  int b = aref<int>(d.bottom).load(memory_order_relaxed) - 1;
  aref<int>(d.bottom).store(b, memory_order_relaxed);
  cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
  int t = aref<int>(d.top).load(memory_order_relaxed);
  u32 task = 0;
  if (t <= b) {
    task = aref<u32>(d.task[b % CAP]).load(memory_order_relaxed);
    if (t == b) {
      if (!aref<int>(d.top).compare_exchange_strong(t, t + 1, memory_order_seq_cst, memory_order_relaxed)) task = 0;
      aref<int>(d.bottom).store(b + 1, memory_order_relaxed);
    }
  } else
    aref<int>(d.bottom).store(b + 1, memory_order_relaxed);
  return task;
}
__device__ u32 steal(Deque &d) {
  int t = aref<int>(d.top).load(memory_order_acquire);
  cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
  int b = aref<int>(d.bottom).load(memory_order_acquire);
  if (t >= b) return 0;
  u32 task = aref<u32>(d.task[t % CAP]).load(memory_order_relaxed);
  return aref<int>(d.top).compare_exchange_strong(t, t + 1, memory_order_seq_cst, memory_order_relaxed) ? task : 0;
}
__global__ void wsdeque(Deque *deques, u32 *left, u32 size, u32 *done, u32 *spin) {
  if (threadIdx.x) return;
  Deque &mine = deques[blockIdx.x];
  u32 count = 0, rng = mix(blockIdx.x + 1), x = rng;
  if (blockIdx.x == 0) push(mine, size);
  while (aref<u32>(*left).load(memory_order_acquire)) {
    u32 task = take(mine);
    if (!task) {
      rng = mix(rng + 1);
      task = steal(deques[rng % gridDim.x]);
    }
    if (!task) continue;
    while (task > 1) { push(mine, task / 2); task -= task / 2; }
    for (int w = 0; w < 200; w++) x = mix(x);
    count++;
    aref<u32>(*left).fetch_sub(1, memory_order_release);
  }
  done[blockIdx.x] = count;
  spin[blockIdx.x] = x;
}
