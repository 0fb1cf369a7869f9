// Memory that is read before it is written, and its nearest neighbours that are right. Blocks of 64 or 128 threads.
struct Pair {
  char kind; // three bytes of padding behind it
  int value;
};

// Nobody writes element 0.
extern "C" __global__ void static_shared(int *out) {
  __shared__ int s[128];
  if (threadIdx.x)
    s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];
}

extern "C" __global__ void static_shared_written(int *out) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x ? 1 : 0;
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];
}

// The launch gives more than the threads write.
extern "C" __global__ void dynamic_shared(int *out, int n) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += s[i];
  out[threadIdx.x] = sum;
}

// A byte of a word is missing: the word as a whole is read.
extern "C" __global__ void byte_missing(int *out) {
  __shared__ unsigned char s[256];
  for (int i = 0; i < 4; i++)
    if (i != 2 || threadIdx.x != 5)
      s[4 * threadIdx.x + i] = i;
  __syncthreads();
  out[threadIdx.x] = ((volatile int *)s)[threadIdx.x] == 0x03020100;
}

// Each byte that is read was written, others of its word weren't.
extern "C" __global__ void bytes_used(int *out) {
  __shared__ unsigned char s[256];
  s[4 * threadIdx.x + 1] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[4 * (threadIdx.x ^ 1) + 1];
}

// A vector is loaded whole, and only its written parts are used.
extern "C" __global__ void vector_part(int *out) {
  __shared__ int4 s[64];
  s[threadIdx.x].x = threadIdx.x;
  s[threadIdx.x].z = 2;
  __syncthreads();
  int4 v = s[threadIdx.x ^ 1];
  asm volatile("" ::"r"(v.w));
  out[threadIdx.x] = v.x + v.z;
}

// The same, and an unwritten part is used.
extern "C" __global__ void vector_whole(int *out) {
  __shared__ int4 s[64];
  s[threadIdx.x].x = threadIdx.x;
  s[threadIdx.x].z = 2;
  __syncthreads();
  int4 v = s[threadIdx.x ^ 1];
  out[threadIdx.x] = v.x + v.y + v.z;
}

// The load may come before the test: its value is dropped there.
extern "C" __global__ void dropped(int *out, int n) {
  __shared__ int s[64];
  if (threadIdx.x < n)
    s[threadIdx.x] = 7;
  __syncthreads();
  int v = *(volatile int *)&s[threadIdx.x];
  out[threadIdx.x] = threadIdx.x < n ? v : 0;
}

// Structs with padding are copied into shared memory, moved about there, and out.
extern "C" __global__ void padding(Pair *out, const Pair *in) {
  __shared__ Pair s[64], t[64];
  Pair mine = {(char)threadIdx.x, (int)threadIdx.x};
  s[threadIdx.x] = mine;
  __syncthreads();
  ((unsigned *)t)[2 * threadIdx.x] = ((unsigned *)s)[2 * (threadIdx.x ^ 1)];
  t[threadIdx.x].value = s[threadIdx.x ^ 1].value;
  __syncthreads();
  ((unsigned *)out)[2 * threadIdx.x] = ((unsigned *)t)[2 * (threadIdx.x ^ 2)];
  out[threadIdx.x].value = t[threadIdx.x ^ 2].value;
}

// A counter in shared memory that nobody has set to zero.
extern "C" __global__ void counter_unset(int *out) {
  __shared__ int count;
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

extern "C" __global__ void counter_set(int *out) {
  __shared__ int count;
  if (threadIdx.x == 0)
    count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

// An array of each thread's own, written up to n.
extern "C" __global__ void local_array(int *out, int n, int k) {
  int own[32];
  for (int i = 0; i < n; i++)
    own[i] = i + threadIdx.x;
  out[threadIdx.x] = own[k];
}

// Two buffers: one is only written, the other is written and then read.
extern "C" __global__ void global_written(int *out, int *temporary) {
  temporary[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = temporary[threadIdx.x ^ 1];
}

extern "C" __global__ void global_counter(int *out, int *count) {
  int mine = atomicAdd(count, 1);
  out[mine % 64] = threadIdx.x;
}

extern "C" __global__ void global_tail(int *out, const int *in) {
  if (in[threadIdx.x] > 3)
    out[threadIdx.x] = 1;
}

// Sums of warps: a block of two warps writes two of 32, and the first warp adds up all.
extern "C" __global__ void warp_sums(int *out, const int *in, int warps) {
  __shared__ int sums[32];
  int v = in[threadIdx.x];
  for (int o = 16; o; o /= 2)
    v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < warps ? sums[threadIdx.x] : 0;
    for (int o = 16; o; o /= 2)
      v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x == 0)
      out[0] = v;
  }
}

// Whatever was there goes; who looks at it depends on it.
extern "C" __global__ void exchanged(int *out, int *old, int wanted) {
  __shared__ int slot[64];
  int before = atomicExch(&slot[threadIdx.x], threadIdx.x);
  out[threadIdx.x] = slot[threadIdx.x];
  if (wanted)
    old[threadIdx.x] = before;
}

// Each warp clears its own bit of a word, and looks at those that were cleared: so do the barriers of cooperative groups.
extern "C" __global__ void bits_cleared(int *out, unsigned looked_at) {
  __shared__ unsigned bits;
  if (threadIdx.x % 32 == 0)
    atomicAnd(&bits, ~(1u << threadIdx.x / 32));
  __syncthreads();
  unsigned before = 0;
  if (threadIdx.x % 32 == 0)
    before = atomicOr(&bits, 1u << threadIdx.x / 32);
  if (threadIdx.x == 0)
    out[0] = (before & looked_at) != 0;
}

// A flag that who finds something sets, and nobody clears.
extern "C" __global__ void flag_unset(int *out, const int *in) {
  __shared__ int found;
  if (in[threadIdx.x] == 7)
    atomicOr(&found, 1);
  __syncthreads();
  if (found)
    out[threadIdx.x] = 1;
}

// The element behind the last one is compared, and what comes out is dropped where the bound says so.
extern "C" __global__ void compared(int *out, const int *in, int n) {
  __shared__ int s[65];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int next = *(volatile int *)&s[threadIdx.x + 1], own = s[threadIdx.x];
  bool less = (threadIdx.x < n) & (own < next);
  if (less)
    out[threadIdx.x] = next;
}

// The sum of the first n lanes' elements, whose other lanes have no value. ALL: theirs are added, too.
template <bool ALL> static __device__ void sum_first(int *out, const int *in, int n) {
  int value;
  if (threadIdx.x < n)
    value = in[threadIdx.x];
  for (int apart = 1; apart < 32; apart *= 2) {
    int other = __shfl_down_sync(~0u, value, apart);
    if (ALL || threadIdx.x + apart < n)
      value += other;
  }
  if (threadIdx.x == 0)
    *out = value;
}
extern "C" __global__ void sum_of_lanes(int *out, const int *in, int n) { sum_first<true>(out, in, n); }
extern "C" __global__ void sum_of_values(int *out, const int *in, int n) { sum_first<false>(out, in, n); }

// A sum over all of a block's words, of which only the first n were written: sums of sums are undefined as well.
extern "C" __global__ void reduced(int *out, int n) {
  __shared__ int part[64];
  if (threadIdx.x < n)
    part[threadIdx.x] = 1;
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 32)
    out[0] = part[0];
}
