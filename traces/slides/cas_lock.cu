// Slides, "Lock using atomicCAS": two attempts that aren't locks, the form for a CPU, the form for a GPU.
// `apart`: one thread of so many takes part.
// PTX: make_ptx.sh cas_lock.cu
static __device__ bool takes_part(int apart) { return (blockIdx.x * blockDim.x + threadIdx.x) % apart == 0; }

static __device__ void critical_section(volatile int *counter) {
  __threadfence();
  *counter = *counter + 1;
  __threadfence();
}

static __device__ void unlock(int *lockvar) { *(volatile int *)lockvar = 0; }

// "Does not ensure mutual exclusion."
extern "C" __global__ void lock_unchecked(int *lockvar, volatile int *counter, int apart) {
  if (!takes_part(apart))
    return;
  atomicCAS(lockvar, 0, 1);
  critical_section(counter);
  unlock(lockvar);
}

// "Does not block other threads."
extern "C" __global__ void lock_if(int *lockvar, volatile int *counter, int apart) {
  if (!takes_part(apart))
    return;
  if (atomicCAS(lockvar, 0, 1) == 0) {
    critical_section(counter);
    unlock(lockvar);
  }
}

// On CPU: the critical section follows the loop.
extern "C" __global__ void lock_cpu(int *lockvar, volatile int *counter, int apart) {
  if (!takes_part(apart))
    return;
  int old;
  do {
    old = atomicCAS(lockvar, 0, 1);
  } while (old != 0);
  critical_section(counter);
  unlock(lockvar);
}

// On GPU: critical section and unlock stand inside the loop. nvcc 13 knows that the loop is left exactly when
// old == 0, and moves both behind the loop: `lock_gpu_moved` is the slide's text and becomes the CPU form. The empty
// asm of `lock_gpu` hides that from nvcc (`old` might be another value after it), so that the PTX keeps the shape.
extern "C" __global__ void lock_gpu(int *lockvar, volatile int *counter, int apart) {
  if (!takes_part(apart))
    return;
  int old;
  do {
    old = atomicCAS(lockvar, 0, 1);
    if (old == 0) {
      critical_section(counter);
      unlock(lockvar);
    }
    asm volatile("" : "+r"(old));
  } while (old != 0);
}
extern "C" __global__ void lock_gpu_moved(int *lockvar, volatile int *counter, int apart) {
  if (!takes_part(apart))
    return;
  int old;
  do {
    old = atomicCAS(lockvar, 0, 1);
    if (old == 0) {
      critical_section(counter);
      unlock(lockvar);
    }
  } while (old != 0);
}

// The CPU form, where all lanes of the warp are asked to meet before the critical section.
extern "C" __global__ void lock_cpu_syncwarp(int *lockvar, volatile int *counter) {
  int old;
  do {
    old = atomicCAS(lockvar, 0, 1);
  } while (old != 0);
  __syncwarp();
  critical_section(counter);
  unlock(lockvar);
}
