// A lock for each bucket, tried by every lane in a loop: the lanes of a warp take one lock after the other, so that
// its attempts come behind its own release.
template <bool FENCED> static __device__ void count(int *locks, int *counts, int buckets) {
  int bucket = (blockIdx.x * blockDim.x + threadIdx.x) % buckets;
  for (bool done = false; !done;)
    if (atomicCAS(&locks[bucket], 0, 1) == 0) {
      __threadfence();
      counts[bucket]++;
      if (FENCED)
        __threadfence();
      atomicExch(&locks[bucket], 0);
      done = true;
    }
}
extern "C" __global__ void buckets(int *locks, int *counts, int buckets) { count<true>(locks, counts, buckets); }
extern "C" __global__ void buckets_unfenced(int *locks, int *counts, int buckets) {
  count<false>(locks, counts, buckets);
}
