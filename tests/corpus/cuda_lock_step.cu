// Lanes of a warp that tell each other something by volatile words of shared memory, as warps did that ran in lock-step. And right twins: with
// __syncwarp() between, and where an old value does no harm. PTX: traces/make_ptx.sh cuda_lock_step.cu

extern "C" __global__ void sum(const int *in, int *out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t + 32] = 0;
  s[t] = in[t];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
  if (t == 0)
    out[0] = s[0];
}
extern "C" __global__ void sum_in_loop(const int *in, int *out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t + 32] = 0;
  s[t] = in[t];
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2)
    s[t] += s[t + d];
  if (t == 0)
    out[0] = s[0];
}
// Between the steps, but not between the loads and the stores of one: lane 8 stores s[8] where lane 0 loads it.
extern "C" __global__ void sum_half_synced(const int *in, int *out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t + 32] = 0;
  s[t] = in[t];
  for (int d = 16; d > 0; d /= 2) {
    __syncwarp();
    s[t] += s[t + d];
  }
  __syncwarp();
  if (t == 0)
    out[0] = s[0];
}
extern "C" __global__ void sum_synced(const int *in, int *out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x, v = in[t];
  s[t + 32] = 0;
  s[t] = v;
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    v += s[t + d];
    __syncwarp();
    s[t] = v;
    __syncwarp();
  }
  if (t == 0)
    out[0] = s[0];
}
// Only lanes that no lane above them stores for.
extern "C" __global__ void sum_of_the_lower(const int *in, int *out) {
  __shared__ volatile int s[32];
  int t = threadIdx.x;
  s[t] = in[t];
  for (int d = 16; d > 0; d /= 2) {
    __syncwarp();
    if (t < d)
      s[t] += s[t + d];
  }
  if (t == 0)
    out[0] = s[0];
}
extern "C" __global__ void all_count(int *out) {
  __shared__ volatile int counter;
  if (threadIdx.x == 0)
    counter = 0;
  __syncthreads();
  counter++;
  __syncthreads();
  if (threadIdx.x == 0)
    out[0] = counter;
}
// Who sees an old size takes nothing.
extern "C" __global__ void hints(int *out) {
  __shared__ volatile int size[32];
  int t = threadIdx.x;
  size[t] = 0;
  __syncwarp();
  size[t] = t;
  int next = size[(t + 1) % 32];
  atomicAdd(out, next < 0 || next > 31);
}
// Each lane waits for the one before it.
extern "C" __global__ void in_turn(int *out) {
  __shared__ volatile int come[33], sum[33];
  int t = threadIdx.x;
  come[t + 1] = 0;
  sum[t + 1] = 0;
  if (t == 0) {
    come[0] = 1;
    sum[0] = 0;
  }
  __syncwarp();
  while (come[t] == 0)
    ;
  __threadfence_block();
  sum[t + 1] = sum[t] + t;
  __threadfence_block();
  come[t + 1] = 1;
  if (t == 31)
    out[0] = sum[32];
}
