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

// Half of a warp waits for what the other half stores behind their common operation; the words are those of all blocks.
extern "C" __global__ void halves(volatile int *done, int in_order) {
  int lane = threadIdx.x;
  if (lane < 16) {
    if (in_order)
      done[lane] = 1;
    __syncwarp();
    done[lane] = 1;
  } else {
    while (done[lane - 16] == 0) {
    }
    __syncwarp();
  }
}
