// Kernels whose time is memory or arithmetic, with barriers of the block: what stands around locks in programs.
#include <cuda_pipeline.h>

__device__ __forceinline__ unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ x >> 16;
}

extern "C" __global__ void axpy(const float *x, float *y, float a, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}

extern "C" __global__ void gather(const unsigned *from, unsigned *to, unsigned words, unsigned each) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (unsigned i = 0; i < each; i++)
    sum += from[mix(thread * each + i) & (words - 1)];
  to[thread] = sum;
}

extern "C" __global__ void scatter(unsigned *to, unsigned words, unsigned each) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < each; i++)
    to[mix(thread * each + i) & (words - 1)] = thread;
}

// Each thread follows its own chain.
extern "C" __global__ void chase(const unsigned *next, unsigned *to, unsigned words, unsigned steps) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, at = mix(thread) & (words - 1);
  for (unsigned i = 0; i < steps; i++)
    at = (at * 5u + 1u + next[at]) & (words - 1);
  to[thread] = at;
}

extern "C" __global__ void transpose(const unsigned *from, unsigned *to, unsigned width) {
  __shared__ unsigned tile[32][33];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned i = 0; i < 32; i += 8)
    tile[threadIdx.y + i][threadIdx.x] = from[(y + i) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned i = 0; i < 32; i += 8)
    to[(y + i) * width + x] = tile[threadIdx.x][threadIdx.y + i];
}

// The same with all words of a column in one bank.
extern "C" __global__ void transpose_banks(const unsigned *from, unsigned *to, unsigned width) {
  __shared__ unsigned tile[32][32];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned i = 0; i < 32; i += 8)
    tile[threadIdx.y + i][threadIdx.x] = from[(y + i) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned i = 0; i < 32; i += 8)
    to[(y + i) * width + x] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void multiply(const float *a, const float *b, float *c, unsigned width) {
  __shared__ float as[16][16], bs[16][16];
  unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (unsigned k = 0; k < width; k += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * width + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * width + column];
    __syncthreads();
    for (unsigned i = 0; i < 16; i++)
      sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * width + column] = sum;
}

// The same with tiles that come while the one before is multiplied.
extern "C" __global__ void multiply_async(const float *a, const float *b, float *c, unsigned width) {
  __shared__ float as[2][16][16], bs[2][16][16];
  unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  __pipeline_memcpy_async(&as[0][threadIdx.y][threadIdx.x], &a[row * width + threadIdx.x], 4);
  __pipeline_memcpy_async(&bs[0][threadIdx.y][threadIdx.x], &b[threadIdx.y * width + column], 4);
  __pipeline_commit();
  for (unsigned k = 0, turn = 0; k < width; k += 16, turn ^= 1) {
    if (k + 16 < width) {
      __pipeline_memcpy_async(&as[turn ^ 1][threadIdx.y][threadIdx.x], &a[row * width + k + 16 + threadIdx.x], 4);
      __pipeline_memcpy_async(&bs[turn ^ 1][threadIdx.y][threadIdx.x], &b[(k + 16 + threadIdx.y) * width + column], 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (unsigned i = 0; i < 16; i++)
      sum += as[turn][threadIdx.y][i] * bs[turn][i][threadIdx.x];
    __syncthreads();
  }
  c[row * width + column] = sum;
}

// Sorts blockDim.x * 2 words in shared memory.
extern "C" __global__ void sort(unsigned *words) {
  extern __shared__ unsigned own[];
  unsigned size = blockDim.x * 2, first = blockIdx.x * size;
  own[threadIdx.x] = words[first + threadIdx.x];
  own[threadIdx.x + blockDim.x] = words[first + threadIdx.x + blockDim.x];
  for (unsigned run = 2; run <= size; run <<= 1)
    for (unsigned step = run >> 1; step; step >>= 1) {
      __syncthreads();
      unsigned low = 2 * threadIdx.x - (threadIdx.x & (step - 1)), high = low + step;
      unsigned x = own[low], y = own[high];
      bool up = (low & run) == 0;
      if ((x > y) == up) {
        own[low] = y;
        own[high] = x;
      }
    }
  __syncthreads();
  words[first + threadIdx.x] = own[threadIdx.x];
  words[first + threadIdx.x + blockDim.x] = own[threadIdx.x + blockDim.x];
}

// Forces between all pairs of bodies.
extern "C" __global__ void bodies(const float4 *place, float4 *force, unsigned n) {
  __shared__ float4 tile[128];
  unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  float4 at = place[own], sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (unsigned first = 0; first < n; first += 128) {
    tile[threadIdx.x] = place[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (unsigned i = 0; i < 128; i++) {
      float dx = tile[i].x - at.x, dy = tile[i].y - at.y, dz = tile[i].z - at.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), weight = tile[i].w * inverse * inverse * inverse;
      sum.x += dx * weight;
      sum.y += dy * weight;
      sum.z += dz * weight;
    }
    __syncthreads();
  }
  force[own] = sum;
}

// How long points stay: loops whose lanes end at different times.
extern "C" __global__ void escape(unsigned *counts, unsigned width, unsigned most) {
  unsigned pixel = blockIdx.x * blockDim.x + threadIdx.x;
  float cx = (pixel % width) * 3.0f / width - 2.0f, cy = (pixel / width) * 2.0f / width - 1.0f, x = 0.0f, y = 0.0f;
  unsigned i = 0;
  while (i < most && x * x + y * y < 4.0f) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    i++;
  }
  counts[pixel] = i;
}

// Rows of a sparse matrix, a warp each.
extern "C" __global__ void sparse_rows(const unsigned *rows, const unsigned *columns, const unsigned *values, const float *x, float *y, unsigned n) {
  unsigned lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, warps = gridDim.x * blockDim.x >> 5;
  for (unsigned row = warp; row < n; row += warps) {
    float sum = 0.0f;
    for (unsigned i = rows[row] + lane; i < rows[row + 1]; i += 32)
      sum += (float)values[i] * x[columns[i]];
    for (int step = 16; step; step >>= 1)
      sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
      y[row] = sum;
  }
}

// Sums before each word: a block, by shuffles.
extern "C" __global__ void block_scan(const unsigned *from, unsigned *to, unsigned *totals) {
  __shared__ unsigned of_warp[32];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  unsigned sum = from[i];
  for (unsigned step = 1; step < 32; step <<= 1) {
    unsigned other = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step)
      sum += other;
  }
  if (lane == 31)
    of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    unsigned part = lane < blockDim.x >> 5 ? of_warp[lane] : 0;
    for (unsigned step = 1; step < 32; step <<= 1) {
      unsigned other = __shfl_up_sync(0xffffffffu, part, step);
      if (lane >= step)
        part += other;
    }
    of_warp[lane] = part;
  }
  __syncthreads();
  if (warp)
    sum += of_warp[warp - 1];
  to[i] = sum;
  if (threadIdx.x == blockDim.x - 1)
    totals[blockIdx.x] = sum;
}

// A stencil of seven points, planes one after the other.
extern "C" __global__ void planes(const float *from, float *to, unsigned width, unsigned height, unsigned depth) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1)
    return;
  unsigned plane = width * height, at = y * width + x;
  float below = from[at], here = from[at + plane];
  for (unsigned z = 1; z < depth - 1; z++) {
    at += plane;
    float above = from[at + plane];
    to[at] = 0.4f * here + 0.1f * (below + above + from[at - 1] + from[at + 1] + from[at - width] + from[at + width]);
    below = here;
    here = above;
  }
}

// Products of doubles, added up by blocks.
extern "C" __global__ void dot(const double *x, const double *y, double *sum, unsigned n) {
  __shared__ double of_warp[32];
  double own = 0.0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    own += x[i] * y[i];
  for (int step = 16; step; step >>= 1)
    own += __shfl_down_sync(0xffffffffu, own, step);
  if ((threadIdx.x & 31) == 0)
    of_warp[threadIdx.x >> 5] = own;
  __syncthreads();
  if (threadIdx.x < 32) {
    own = threadIdx.x < blockDim.x >> 5 ? of_warp[threadIdx.x] : 0.0;
    for (int step = 16; step; step >>= 1)
      own += __shfl_down_sync(0xffffffffu, own, step);
    if (threadIdx.x == 0)
      atomicAdd(sum, own);
  }
}
