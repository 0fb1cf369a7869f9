// Lanes of a warp that come to one atomic operation together, and hand on to each other by it: they take turns.

// A tree is summed from its leaves, as that of a BVH: of two children the one that comes second goes on.
template <bool FENCE_BEHIND, unsigned FIRST> static __device__ __forceinline__ void climb(unsigned *came, unsigned *sum) {
  unsigned node = blockDim.x * gridDim.x + blockIdx.x * blockDim.x + threadIdx.x;
  sum[node] = 1;
  while (node > 1) {
    __threadfence();
    node /= 2;
    if (atomicAdd(&came[node], 1) == FIRST)
      return;
    if (FENCE_BEHIND)
      __threadfence();
    sum[node] = sum[2 * node] + sum[2 * node + 1];
  }
}

extern "C" __global__ void climb_second(unsigned *came, unsigned *sum) { climb<true, 0>(came, sum); }
extern "C" __global__ void climb_no_acquire(unsigned *came, unsigned *sum) { climb<false, 0>(came, sum); }
extern "C" __global__ void climb_first(unsigned *came, unsigned *sum) { climb<true, 1>(came, sum); }

// Who drew the last ticket sets the counter back, by a plain store.
template <bool LAST> static __device__ __forceinline__ void set_back(unsigned *drawn, unsigned *ticket) {
  unsigned mine = atomicAdd(drawn, 1), all = blockDim.x * gridDim.x;
  if (mine == (LAST ? all - 1 : 0))
    *drawn = 0;
  ticket[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

extern "C" __global__ void set_back_last(unsigned *drawn, unsigned *ticket) { set_back<true>(drawn, ticket); }
extern "C" __global__ void set_back_first(unsigned *drawn, unsigned *ticket) { set_back<false>(drawn, ticket); }
