// Locks that stay taken, and barriers in shared memory that somebody uses before they are there.
// PTX for sm_90: see make_ptx.sh; machine code: nvcc -cubin -arch=sm_90 -lineinfo -o cuda_kept.sm_90.cubin cuda_kept.cu

// Functions that are called: what they change is saved on the stack, and read from there behind the call.
static __device__ __noinline__ bool try_lock(int *lock) {
  bool taken = atomicCAS(lock, 0, 1) == 0;
  if (taken)
    __threadfence();
  return taken;
}
static __device__ __noinline__ void unlock(int *lock) {
  __threadfence();
  atomicExch(lock, 0);
}
template <bool LEAVES> static __device__ void count(int *lock, int *counter, int rounds) {
  for (int i = 0; i < rounds;) {
    if (!try_lock(lock)) {
      __nanosleep(20);
      continue;
    }
    i++;
    if (LEAVES && i == 2 && blockIdx.x == 1)
      continue; // with the lock
    (*counter)++;
    unlock(lock);
  }
}
extern "C" __global__ void count_called(int *lock, int *counter, int rounds) { count<false>(lock, counter, rounds); }
extern "C" __global__ void count_leaving(int *lock, int *counter, int rounds) { count<true>(lock, counter, rounds); }

// A lock of 16 bits in shared memory, which warps take in turn and then meet at a barrier.
template <bool KEEPS> static __device__ void halves(int *sum) {
  __shared__ unsigned short locks[2];
  __shared__ int count;
  if (threadIdx.x == 0)
    locks[0] = locks[1] = count = 0;
  __syncthreads();
  for (int i = 0; threadIdx.x % 32 == 0 && i < 2; i++) {
    while (atomicCAS(&locks[1], (unsigned short)0, (unsigned short)1)) {
    }
    __threadfence_block();
    count++;
    __threadfence_block();
    if (KEEPS && i)
      break;
    *(volatile unsigned short *)&locks[1] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0)
    *sum = count;
}
extern "C" __global__ void half_in_shared(int *sum) { halves<false>(sum); }
extern "C" __global__ void half_in_shared_kept(int *sum) { halves<true>(sum); }

// Thread 0 initialises a barrier at which warp 1 waits for what warp 0 has stored.
template <bool SYNCS> static __device__ void hand_over(int *out) {
  __shared__ unsigned long long barrier;
  __shared__ int data[32];
  unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
  if (SYNCS)
    __syncthreads();
  else
    __syncwarp();
  if (threadIdx.x < 32) {
    __nanosleep(2000); // meanwhile warp 1 looks
    data[threadIdx.x] = threadIdx.x;
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    return;
  }
  int done;
  do
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at)
                 : "memory");
  while (!done);
  out[threadIdx.x - 32] = data[63 - threadIdx.x];
}
extern "C" __global__ void init_synced(int *out) { hand_over<true>(out); }
extern "C" __global__ void init_early(int *out) { hand_over<false>(out); }

// Two lanes initialise one barrier each, of as many arrivals as a word says: ptxas makes a loop of that.
extern "C" __global__ void init_loaded(const volatile int *count, int *out) {
  __shared__ unsigned long long barrier[2];
  unsigned at = (unsigned)__cvta_generic_to_shared(&barrier[threadIdx.x % 2]);
  if (threadIdx.x < 2)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count[threadIdx.x]) : "memory");
  __syncthreads();
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
  int done;
  do
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at), "l"(state)
                 : "memory");
  while (!done);
  out[threadIdx.x] = 1;
}

// A barrier that expects more than come, among warps that hand two buffers to and fro.
template <int EMPTIED> static __device__ void to_and_fro(int *out) {
  __shared__ unsigned long long full[2], empty[2];
  __shared__ int data[2][32];
  unsigned at[2] = {(unsigned)__cvta_generic_to_shared(full), (unsigned)__cvta_generic_to_shared(empty)};
  int lane = threadIdx.x % 32, sum = 0, producer = threadIdx.x < 32;
  for (int i = 0; i < 2 && threadIdx.x == 0; i++) {
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at[0] + 8 * i) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at[1] + 8 * i), "r"(EMPTIED) : "memory");
  }
  __syncthreads();
  for (int i = 0; i < 6; i++) {
    unsigned waits = at[producer] + i % 2 * 8, arrives = at[!producer] + i % 2 * 8, parity = (i / 2 + producer) % 2;
    int done;
    do
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(waits), "r"(parity)
                   : "memory");
    while (!done);
    if (producer)
      data[i % 2][lane] = i + lane;
    else
      sum += data[i % 2][31 - lane];
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(arrives) : "memory");
  }
  if (!producer)
    out[lane] = sum;
}
extern "C" __global__ void emptied(int *out) { to_and_fro<32>(out); }
extern "C" __global__ void emptied_by_more(int *out) { to_and_fro<33>(out); }
