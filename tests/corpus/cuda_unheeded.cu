// An attempt at a lock whose outcome nobody looks at, and then the critical section. And twins: the attempt is repeated, or what it guards is left
// out; a compare-and-swap that is none at a lock, since nothing sets the word back.
// PTX: traces/make_ptx.sh cuda_unheeded.cu

static __device__ bool try_lock(int *lock) {
  if (atomicCAS(lock, 0, 1) != 0)
    return false;
  __threadfence();
  return true;
}
static __device__ void unlock(int *lock) {
  __threadfence();
  atomicExch(lock, 0);
}

extern "C" __global__ void swaps_once(int *lock, volatile int *counter) {
  atomicCAS(lock, 0, 1);
  __threadfence();
  counter[0] = counter[0] + 1;
  unlock(lock);
}
extern "C" __global__ void tries_once(int *lock, int *counter) {
  try_lock(lock);
  counter[0] = counter[0] + 1;
  unlock(lock);
}
extern "C" __global__ void exchanges_once(int *lock, int *counter) {
  atomicExch(lock, 1);
  __threadfence();
  counter[0] = counter[0] + 1;
  unlock(lock);
}
extern "C" __global__ void in_shared(int *out) {
  __shared__ int lock, counter;
  if (threadIdx.x == 0)
    lock = counter = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    atomicCAS(&lock, 0, 1);
    __threadfence_block();
    counter = counter + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    out[0] = counter;
}
extern "C" __global__ void tries_again(int *lock, int *counter) {
  while (!try_lock(lock))
    ;
  counter[0] = counter[0] + 1;
  unlock(lock);
}
extern "C" __global__ void tries_and_leaves(int *lock, int *counter) {
  if (!try_lock(lock))
    return;
  counter[0] = counter[0] + 1;
  unlock(lock);
}
// Says that somebody has come, and takes no lock.
extern "C" __global__ void says(int *come, int *counter) {
  atomicCAS(come, 0, 1);
  __threadfence();
  counter[0] = counter[0] + 1;
}
