// Sparse triangular solves: row i needs x of the columns col[row[i]] to col[row[i + 1] - 1].

// A warp for each row, a column for each lane: the sum waits for all lanes.
extern "C" __global__ void solve_warps(volatile int *done, const int *row, const int *col, int *x, int rows) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (i >= rows)
    return;
  int sum = 0;
  for (int at = row[i] + lane; at < row[i + 1]; at += 32) {
    while (done[col[at]] == 0) {
    }
    __threadfence();
    sum += x[col[at]];
  }
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (lane == 0) {
    x[i] = sum + 1;
    __threadfence();
    done[i] = 1;
  }
}

// A thread for each row, which comes back to a column that isn't done.
extern "C" __global__ void solve_threads(volatile int *done, const int *row, const int *col, int *x, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows)
    return;
  int sum = 0, at = row[i];
  while (at <= row[i + 1]) {
    if (at == row[i + 1]) {
      x[i] = sum + 1;
      __threadfence();
      done[i] = 1;
      at++;
    } else if (done[col[at]]) {
      __threadfence();
      sum += x[col[at]];
      at++;
    }
  }
}
