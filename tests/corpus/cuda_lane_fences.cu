// Each lane of a warp writes its word and fences, and one lane tells: what the others did came before that only if they met.
template <bool MEET> static __device__ void give(int *data, volatile int *flag) {
  int lane = threadIdx.x;
  data[lane] = lane + 1;
  __threadfence();
  if (MEET)
    __syncwarp();
  if (lane == 0)
    *flag = 1;
}

static __device__ void take(const int *data, volatile int *flag, int *out) {
  while (*flag == 0)
    ;
  __threadfence();
  out[threadIdx.x] = data[threadIdx.x];
}

extern "C" __global__ void lanes_meet(int *data, int *flag, int *out) {
  if (blockIdx.x == 0)
    give<true>(data, flag);
  else
    take(data, flag, out);
}
extern "C" __global__ void lanes_apart(int *data, int *flag, int *out) {
  if (blockIdx.x == 0)
    give<false>(data, flag);
  else
    take(data, flag, out);
}
