// Open addressing: what a probe finds decides only where the search ends. Keys and values in one word, each looked up
// for itself; and keys and values apart, where whoever finds a key relies on its value.
__device__ __forceinline__ unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  return x ^ x >> 13;
}

// Words of a key (high) and a mark. Each thread puts keys in, marks some that are there, and looks up others.
extern "C" __global__ void words(unsigned long long *slots, unsigned mask, int each, unsigned *found) {
  unsigned self = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
  for (int i = 0; i < each; i++) {
    unsigned key = (self * each + i) % (mask / 2) + 2, at = mix(key) & mask, there;
    for (;;) {
      there = (unsigned)(*(volatile unsigned long long *)&slots[at] >> 32);
      if (there == key || there == 0)
        break;
      at = (at + 1) & mask;
    }
    if (i % 4 == 0)
      atomicCAS(&slots[at], 0ull, (unsigned long long)key << 32);
    else if (i % 4 > 1)
      count++;
    else if (there == key)
      atomicExch(&slots[at], (unsigned long long)key << 32 | 1);
  }
  atomicAdd(found, count);
}

// A thread of even number puts a key in, the next one waits until it finds that, and takes the value.
template <bool fenced>
__device__ __forceinline__ void apart(unsigned *keys, unsigned *values, unsigned mask, unsigned *bad) {
  unsigned number = blockIdx.x / 2, key = number + 2, at = mix(key) & mask;
  if (blockIdx.x % 2 == 0) {
    while (atomicCAS(&keys[at], 0, 1) != 0)
      at = (at + 1) & mask;
    *(volatile unsigned *)&values[at] = 3 * key;
    if (fenced)
      __threadfence();
    *(volatile unsigned *)&keys[at] = key;
    return;
  }
  bool is_there = false;
  while (!is_there) {
    unsigned there;
    for (at = mix(key) & mask; (there = *(volatile unsigned *)&keys[at]) != key && there != 0; at = (at + 1) & mask)
      ;
    is_there = there == key;
  }
  if (fenced)
    __threadfence();
  if (*(volatile unsigned *)&values[at] != 3 * key)
    atomicAdd(bad, 1);
}
extern "C" __global__ void values_fenced(unsigned *keys, unsigned *values, unsigned mask, unsigned *bad) {
  apart<true>(keys, values, mask, bad);
}
extern "C" __global__ void values_unfenced(unsigned *keys, unsigned *values, unsigned mask, unsigned *bad) {
  apart<false>(keys, values, mask, bad);
}
