// Guesses of 64 bits: two numbers in one word, which a compare-and-swap changes together.
// PTX: make_ptx.sh cuda_guesses_wide.cu
typedef unsigned long long u64;
typedef volatile int *Words;

static __device__ u64 look(u64 *word) { return *(volatile u64 *)word; }

// Who has seen the flag counts up both halves: until it is right, or once.
template <bool ONCE> static __device__ void count_behind_flag(u64 *word, Words flag) {
  const u64 both = 1ull << 32 | 1;
  if (blockIdx.x == 0) {
    atomicAdd(word, both);
    *flag = 1;
    return;
  }
  while (*flag == 0) {
  }
  u64 old = look(word), now = atomicCAS(word, old, old + both);
  while (!ONCE && now != old) {
    old = now;
    now = atomicCAS(word, old, old + both);
  }
}
extern "C" __global__ void count_in_loop(u64 *word, Words flag) { count_behind_flag<false>(word, flag); }
extern "C" __global__ void count_once(u64 *word, Words flag) { count_behind_flag<true>(word, flag); }

static __device__ void push(u64 *ends, Words item, int value) {
  u64 old = look(ends), next;
  while (true) {
    next = (old >> 32 << 32) | (unsigned)((unsigned)old + 1);
    u64 now = atomicCAS(ends, old, next);
    if (now == old)
      break;
    old = now;
  }
  item[(unsigned)old & 15] = value;
}

static __device__ int pop(u64 *ends, Words item, u64 seen) {
  unsigned head = seen >> 32;
  if (head == (unsigned)seen || atomicCAS(ends, seen, seen + (1ull << 32)) != seen)
    return 0;
  int value;
  while ((value = item[head & 15]) == 0) {
  }
  __threadfence();
  item[head & 15] = 0;
  return value;
}

// Work makes more work. Who sees an old queue looks again as long as something is left.
extern "C" __global__ void work_queue(u64 *ends, Words item, int *left, int *sum) {
  while (atomicAdd(left, 0) > 0) {
    int value = pop(ends, item, look(ends));
    if (value == 0)
      continue;
    atomicAdd(sum, value);
    if (value > 1) {
      atomicAdd(left, 1);
      push(ends, item, value - 1);
    }
    atomicSub(left, 1);
  }
}
