// divergent.cu - kernels whose lanes part and meet in many ways, race-free, so that every correct machine gives the
// same result (tests/script/hardware.sh compares them with a real GPU). All take an output and an input of a word for
// each thread. The .ptx: traces/make_ptx.sh.
typedef unsigned u32;
#define KERNEL extern "C" __global__ void
#define SELF (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL 0xffffffffu
#define LANE (threadIdx.x % 32)

__device__ __forceinline__ u32 mix(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

// ---- branches and loops ----

KERNEL nested_ifs(u32 *out, const u32 *in) {
  u32 x = in[SELF], y = 0;
  if (x & 1) {
    if (x & 2) {
      y = mix(x);
      if (y & 4)
        y += 3;
      else
        y = mix(y) - x;
    } else if (x & 8) {
      y = x / 3;
    }
    y ^= 0x55;
  } else {
    if (x & 16)
      y = x % 7 ? mix(x + 1) : x;
    else if (x & 32)
      y = ~x;
    else
      y = 9;
    y += x >> 5;
  }
  out[SELF] = y;
}

KERNEL loop_lengths(u32 *out, const u32 *in) {
  u32 x = in[SELF], sum = 0;
  for (u32 i = 0; i < x % 13; i++)
    for (u32 k = i; k < x % (i + 5); k++)
      sum = mix(sum + i * 31 + k);
  out[SELF] = sum;
}

KERNEL loop_breaks(u32 *out, const u32 *in) {
  u32 x = in[SELF], found = 0;
  for (u32 i = 0; i < 20; i++) {
    x = mix(x + i);
    if (x % 3 == 0)
      continue;
    for (u32 k = 0; k < 8; k++) {
      if ((x >> k) % 11 == 0)
        break;
      if ((x >> k) % 29 == 0)
        goto done;
      found += k;
    }
    if (x % 17 == 0)
      break;
    found ^= x;
  }
done:
  out[SELF] = found + x;
}

// A loop with two entries.
KERNEL two_entries(u32 *out, const u32 *in) {
  u32 x = in[SELF], steps = 0;
  if (x & 1)
    goto inside;
  while (x % 64 != 5 && steps < 200) {
    x = mix(x);
    steps++;
  inside:
    x = x * 5 + 1;
    if (x & 256)
      steps += 2;
  }
  out[SELF] = x + steps;
}

KERNEL binary_search(u32 *out, const u32 *in) {
  u32 x = in[SELF] % 5000, low = 0, high = 100;
  while (low < high) {
    u32 middle = (low + high) / 2;
    if (middle * middle == x) {
      out[SELF] = 1000 + middle;
      return;
    }
    if (middle * middle < x)
      low = middle + 1;
    else
      high = middle;
  }
  out[SELF] = low;
}

// An interpreter: each lane is at another instruction of its own program.
KERNEL interpreter(u32 *out, const u32 *in) {
  u32 program = in[SELF], at = 0, a = SELF, b = 1;
  for (u32 steps = 0; steps < 60; steps++) {
    switch ((program >> at) & 7) {
    case 0: a += b; break;
    case 1: b = a ^ 3; break;
    case 2: a = a * 3 + 1; break;
    case 3:
      if (a & 1)
        at += 3;
      break;
    case 4: a = mix(a); break;
    case 5: b += steps; break;
    case 6:
      if (b % 5 == 0)
        steps += 4;
      break;
    default: goto halt;
    }
    at = (at + 3) % 27;
  }
halt:
  out[SELF] = a + b;
}

// Depth first over a tree that the input spans, with a stack of its own for each lane.
KERNEL tree_walk(u32 *out, const u32 *in) {
  u32 stack[24], top = 0, visited = 0, sum = 0;
  stack[top++] = in[SELF] % 40 + 1;
  while (top > 0 && visited < 300) {
    u32 node = stack[--top];
    visited++;
    if (node > 600) {
      sum += node;
      continue;
    }
    if (mix(node) & 3)
      stack[top++] = 2 * node;
    if (mix(node) & 12)
      stack[top++] = 2 * node + 1;
  }
  out[SELF] = sum * 512 + visited;
}

__device__ __noinline__ u32 greatest_divisor(u32 a, u32 b) {
  while (b) {
    u32 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// One function, called from both sides of a branch and from a loop.
KERNEL calls(u32 *out, const u32 *in) {
  u32 x = in[SELF], y;
  if (x & 1)
    y = greatest_divisor(x % 1000, 360);
  else
    y = greatest_divisor(x % 777, 210) * 1000;
  for (u32 i = 0; i < x % 4; i++)
    y += greatest_divisor(y + i, 48 + x % 9);
  out[SELF] = y;
}

// ---- lanes of a warp ----

// After a loop that lanes leave one by one all vote and shuffle again.
KERNEL meet_again(u32 *out, const u32 *in) {
  u32 x = in[SELF], n = 0;
  while (x % 10 && n < 50) {
    x = mix(x);
    if (x % 23 == 0)
      break;
    n++;
  }
  u32 votes = __ballot_sync(ALL, n & 1);
  u32 sum = n;
  for (u32 d = 16; d; d /= 2)
    sum += __shfl_xor_sync(ALL, sum, d);
  out[SELF] = sum * 64 + __popc(votes);
}

// The lanes of a branch agree on a mask and scan among themselves.
KERNEL scan_in_branch(u32 *out, const u32 *in) {
  u32 x = in[SELF], y = 0;
  bool odd = x & 1;
  u32 mask = __ballot_sync(ALL, odd);
  if (odd) {
    u32 rank = __popc(mask & ((1u << LANE) - 1));
    u32 count = __popc(mask);
    y = x % 1000;
    for (u32 d = 1; d < count; d *= 2) {
      u32 from = LANE;
      for (u32 i = 0; i < d && i < rank; i++) // the d-th lane of the mask below this one
        from = 31 - __clz(mask & ((1u << from) - 1));
      u32 below = __shfl_sync(mask, y, from);
      if (rank >= d)
        y += below;
    }
  } else if (mask) {
    y = __shfl_sync(~mask, x, __ffs(~mask) - 1) ^ x;
  }
  out[SELF] = y;
}

// A loop whose mask shrinks.
KERNEL shrinking_mask(u32 *out, const u32 *in) {
  u32 x = in[SELF], left = x % 12, mask = ALL, sum = 0;
  for (;;) {
    mask = __ballot_sync(mask, left > 0);
    if (left == 0)
      break;
    sum += __shfl_sync(mask, x + left, __ffs(mask) - 1) + __popc(mask);
    if (__any_sync(mask, x % 50 == left))
      sum ^= 0xf0f0;
    if (__all_sync(mask, left > 2))
      sum += 1000;
    left--;
  }
  out[SELF] = sum;
}

// Each value takes its turn, with all lanes that have it.
KERNEL take_turns(u32 *out, const u32 *in) {
  u32 x = in[SELF] % 6, todo = ALL, result = 0;
  while (todo) {
    u32 value = __shfl_sync(ALL, x, __ffs(todo) - 1);
    u32 same = __ballot_sync(ALL, x == value);
    if (x == value) {
      for (u32 i = 0; i < value; i++)
        result = mix(result + same);
      result += __popc(same & ((1u << LANE) - 1));
    }
    todo &= ~same;
  }
  out[SELF] = result;
}

// ---- the threads of a block ----

KERNEL barrier_in_loop(u32 *out, const u32 *in) {
  __shared__ u32 cell[2][128];
  u32 x = in[SELF], rounds = in[blockIdx.x] % 6 + 3;
  for (u32 i = 0; i < rounds; i++) {
    for (u32 k = 0; k < (x >> i) % 4; k++)
      x = mix(x);
    cell[i % 2][threadIdx.x] = x;
    __syncthreads();
    u32 other = cell[i % 2][(threadIdx.x + 7 * i + 1) % blockDim.x];
    if (other & 1)
      x += other;
    else if (other % 3)
      x ^= other >> 3;
  }
  out[SELF] = x;
}

// Until all threads of the block are content.
KERNEL barrier_until(u32 *out, const u32 *in) {
  u32 x = in[SELF] % 1000, rounds = 0;
  while (__syncthreads_or(x > 10)) {
    rounds++;
    if (x > 10)
      x = x & 1 ? x - 7 : x / 2;
    if (__syncthreads_count(x > 100) > 20)
      x += __syncthreads_and(x != 3) ? 1 : 0;
  }
  out[SELF] = x + 100 * rounds;
}

KERNEL transposition_sort(u32 *out, const u32 *in) {
  __shared__ u32 a[128];
  a[threadIdx.x] = in[SELF] % 10000;
  for (u32 round = 0; round < blockDim.x; round++) {
    __syncthreads();
    u32 i = threadIdx.x;
    if (i % 2 == round % 2 && i + 1 < blockDim.x && a[i] > a[i + 1]) {
      u32 keep = a[i];
      a[i] = a[i + 1];
      a[i + 1] = keep;
    }
  }
  __syncthreads();
  out[SELF] = a[threadIdx.x];
}

// Some lanes and one whole warp are gone before the barrier.
KERNEL early_return(u32 *out, const u32 *in) {
  __shared__ u32 cell[128];
  u32 x = in[SELF];
  cell[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x / 32 == 1 || threadIdx.x % 5 == 0) {
    out[SELF] = 1;
    return;
  }
  for (u32 i = 0; i < x % 9; i++)
    if ((x = mix(x)) % 40 == 0) {
      out[SELF] = 2;
      return;
    }
  cell[threadIdx.x] = x;
  __syncthreads();
  u32 sum = 0;
  for (u32 i = threadIdx.x % 16; i < blockDim.x; i += 16)
    sum += cell[i];
  out[SELF] = sum;
}

// The first warp makes, the second one takes, over two named barriers; the third does something else.
KERNEL named_barriers(u32 *out, const u32 *in) {
  __shared__ u32 cell[32];
  u32 warp = threadIdx.x / 32, x = in[SELF];
  if (warp == 0) {
    for (u32 i = 0; i < 4; i++) {
      asm volatile("bar.sync 2, 64;" ::: "memory"); // the cells are free
      cell[LANE] = mix(x + i);
      __threadfence_block();
      asm volatile("bar.arrive 1, 64;" ::: "memory"); // they are full
    }
  } else if (warp == 1) {
    for (u32 i = 0; i < 4; i++) {
      asm volatile("bar.arrive 2, 64;" ::: "memory");
      asm volatile("bar.sync 1, 64;" ::: "memory");
      x += cell[31 - LANE];
    }
  } else {
    while (x % 7)
      x = mix(x);
  }
  out[SELF] = x;
}

// A thread a cell of a hash table with open addressing: the sums of each key don't depend on the order.
KERNEL hash_table(u32 *out, const u32 *in) {
  __shared__ u32 key[64], sum[64];
  if (threadIdx.x < 64)
    key[threadIdx.x] = sum[threadIdx.x] = 0;
  __syncthreads();
  u32 mine = in[SELF] % 40 + 1, at = mix(mine) % 64;
  for (;;) {
    u32 old = atomicCAS(&key[at], 0, mine);
    if (old == 0 || old == mine)
      break;
    at = (at + 1) % 64;
  }
  atomicAdd(&sum[at], threadIdx.x + 1);
  __syncthreads();
  out[SELF] = sum[at];
}

// A lock in a warp: the section is in the loop.
KERNEL locked_sum(u32 *out, const u32 *in) {
  __shared__ u32 lock, count;
  __shared__ volatile u32 sum;
  if (threadIdx.x == 0)
    lock = count = sum = 0;
  __syncthreads();
  if (in[SELF] % 3) {
    for (bool done = false; !done;) {
      if (atomicCAS(&lock, 0, 1) == 0) {
        sum = sum + in[SELF];
        __threadfence_block();
        atomicExch(&lock, 0);
        done = true;
      }
    }
    atomicAdd(&count, 1);
  }
  __syncthreads();
  out[SELF] = sum + count;
}

// ---- the blocks of a grid ----

__device__ u32 arrived;
__device__ u32 sums[64];

// The last block to come adds up what all have left.
KERNEL last_block(u32 *out, const u32 *in) {
  __shared__ u32 sum;
  __shared__ bool last;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  u32 x = in[SELF];
  while (x % 5)
    x = mix(x);
  atomicAdd(&sum, x);
  out[SELF] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    u32 total = 0;
    for (u32 i = 0; i < gridDim.x; i++)
      total = total * 3 + *(volatile u32 *)&sums[i];
    out[gridDim.x * blockDim.x] = total;
  }
}
