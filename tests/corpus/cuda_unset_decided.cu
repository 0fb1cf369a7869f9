// Values that no path has set where they don't matter: another condition decides, or other bits of the register are read.
static __device__ __forceinline__ bool accept(unsigned *count, unsigned found) {
  if (threadIdx.x >= 32)
    return false;
  unsigned before = 0;
  if (threadIdx.x % 32 == 0)
    before = atomicAdd(count, found & 3);
  before = __shfl_sync(~0u, before, 0);
  if (before > 1000)
    return false;
  __threadfence_block();
  return before != 5;
}

template <bool decides>
__device__ __forceinline__ void work(unsigned *out, unsigned *count, const unsigned *in, int rounds,
                                     unsigned wanted) {
  unsigned sum = 0, lane = threadIdx.x % 32;
  for (int i = 0; i < rounds; i++) {
    unsigned word[2];
    bool has = lane < (wanted >> (i & 1));
    if (has) {
      word[0] = in[threadIdx.x + 32 * i];
      word[1] = in[threadIdx.x + 32 * i + 1];
    }
    __threadfence_block();
    __syncwarp();
    if ((has || !decides) && (word[0] & 0x80000000u)) {
      __threadfence();
      atomicAdd(out + 64 + (word[0] & 31), 1);
      has = false;
    }
    unsigned found = __ballot_sync(~0u, has);
    bool taken = found && accept(count, found);
    do {
      if (has && atomicCAS(count + 1 + (word[1] & 7), 0, 1) == 0) {
        __threadfence();
        sum += word[0];
        atomicExch(count + 1 + (word[1] & 7), 0);
        has = false;
      }
    } while (__any_sync(~0u, has));
    if (!taken)
      sum ^= i;
    else if (i == rounds - 1)
      break;
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void decided(unsigned *out, unsigned *count, const unsigned *in, int rounds, unsigned wanted) {
  work<true>(out, count, in, rounds, wanted);
}
extern "C" __global__ void undecided(unsigned *out, unsigned *count, const unsigned *in, int rounds,
                                     unsigned wanted) {
  work<false>(out, count, in, rounds, wanted);
}
