// Stuart and Owens, section 7: a barrier of all blocks in hardware.
// To make the PTX: traces/make_ptx.sh, which knows that __syncblocks() isn't defined anywhere.
extern "C" __device__ void __syncblocks();

// As barrier_xf of ../primitives/benchmarks.cu: `ops` barriers.
extern "C" __global__ void syncblocks(int ops) {
  for (int i = 0; i < ops; i++)
    __syncblocks();
}

// Each round every block writes its word, and reads that of the next block behind the barrier.
extern "C" __global__ void syncblocks_section(unsigned *words, unsigned *errors, int ops) {
  unsigned next = (blockIdx.x + 1) % gridDim.x;
  for (int i = 1; i <= ops; i++) {
    if (threadIdx.x == 0)
      words[blockIdx.x] = i;
    __syncblocks();
    if (threadIdx.x == 0 && words[next] != i)
      atomicAdd(errors, 1u);
    __syncblocks();
  }
}

// The last block leaves before the barrier.
extern "C" __global__ void syncblocks_exit(unsigned *out, unsigned last) {
  if (blockIdx.x == last)
    return;
  __syncblocks();
  if (threadIdx.x == 0)
    out[blockIdx.x] = 1;
}
