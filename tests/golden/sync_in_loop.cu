// Lanes that are done leave a loop with barriers, and wait behind it for the others of their warp.
extern "C" __global__ void sync_in_loop(int *data) {
  __shared__ int row[64];
  int at = threadIdx.x;
  row[at] = data[at];
  __syncthreads();
  for (;;) {
    int mine = row[at], next = at < 63 ? row[at + 1] : mine;
    __syncthreads();
    if (next <= mine)
      break;
    row[at] = next;
    __syncthreads();
  }
  data[at] = row[at];
  __syncthreads();
}
