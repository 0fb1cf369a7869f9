// Synchronization as programs have it: single-pass scan, queues, stacks, tables, locks of several kinds, barriers, seqlocks, combining.
// How long they take on an H200 is recorded (../hardware/run_cycles_h200.csv); nothing in machines is fitted on them.
// PTX: traces/make_ptx.sh mix.cu; machine code: ptxas -arch=sm_90 --generate-line-info.

typedef unsigned int Word;

static __device__ __forceinline__ Word look(const Word *word) { return *(const volatile Word *)word; }
static __device__ __forceinline__ void set(Word *word, Word value) { *(volatile Word *)word = value; }

static __device__ __forceinline__ Word sum_of_warp(Word value) {
  for (int step = 16; step; step /= 2)
    value += __shfl_down_sync(~0u, value, step);
  return value;
}

// ---- single-pass scan with decoupled look-back: tiles by a ticket; state: value << 2 | 1 (own sum), 2 (all sums up to here)

extern "C" __global__ void scan_look_back(const Word *in, Word *out, Word *state, Word *ticket, int tiles) {
  __shared__ Word tile, before, sums[32];
  for (;;) {
    if (threadIdx.x == 0)
      tile = atomicAdd(ticket, 1);
    __syncthreads();
    Word mine = tile;
    if (mine >= tiles)
      return;
    Word at = mine * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Word value = in[at];
    for (int step = 1; step < 32; step *= 2) {
      Word other = __shfl_up_sync(~0u, value, step);
      value += lane >= step ? other : 0;
    }
    if (lane == 31)
      sums[warp] = value;
    __syncthreads();
    Word total = 0, below = 0;
    for (int i = 0; i < blockDim.x / 32; i++) {
      below += i < warp ? sums[i] : 0;
      total += sums[i];
    }
    if (threadIdx.x == 0) {
      atomicExch(&state[mine], total << 2 | (mine == 0 ? 2 : 1));
      Word sum = 0;
      for (int i = (int)mine - 1; i >= 0;) {
        Word seen = look(&state[i]);
        if ((seen & 3) == 0)
          continue;
        sum += seen >> 2;
        if ((seen & 3) == 2)
          break;
        i--;
      }
      before = sum;
      if (mine)
        atomicExch(&state[mine], (sum + total) << 2 | 2);
    }
    __syncthreads();
    out[at] = before + below + value;
    __syncthreads();
  }
}

// ---- bounded queue of many producers and consumers (a number in each slot says whose turn it is)

struct Slot {
  Word turn, value;
};

static __device__ void put(Slot *slots, Word *tail, Word mask, Word value) {
  Word at = atomicAdd(tail, 1), turn = at / (mask + 1) * 2;
  Slot *slot = &slots[at & mask];
  while (look(&slot->turn) != turn)
    ;
  __threadfence();
  set(&slot->value, value);
  __threadfence();
  set(&slot->turn, turn + 1);
}

static __device__ Word get(Slot *slots, Word *head, Word mask) {
  Word at = atomicAdd(head, 1), turn = at / (mask + 1) * 2 + 1;
  Slot *slot = &slots[at & mask];
  while (look(&slot->turn) != turn)
    ;
  __threadfence();
  Word value = look(&slot->value);
  __threadfence();
  set(&slot->turn, turn + 1);
  return value;
}

// One thread of each block; even blocks put, odd ones get.
extern "C" __global__ void queue(Slot *slots, Word *ends, Word *sum, int mask, int each) {
  if (threadIdx.x)
    return;
  Word all = 0;
  for (int i = 0; i < each; i++)
    if (blockIdx.x % 2)
      all += get(slots, &ends[0], mask);
    else
      put(slots, &ends[32], mask, blockIdx.x * each + i);
  if (blockIdx.x % 2)
    atomicAdd(sum, all);
}

// ---- Treiber's stack: indices with a count against ABA, one thread of each warp pops and pushes

extern "C" __global__ void stack(unsigned long long *top, Word *next, Word *tries, int each) {
  if (threadIdx.x % 32)
    return;
  Word tried = 0;
  for (int i = 0; i < each; i++) {
    unsigned long long old = *(volatile unsigned long long *)top, now;
    for (;;) { // pop
      tried++;
      Word node = (Word)old;
      if (!node)
        break;
      Word behind = look(&next[node]);
      now = atomicCAS(top, old, ((old >> 32) + 1) << 32 | behind);
      if (now == old)
        break;
      old = now;
    }
    Word node = (Word)old;
    if (!node)
      continue;
    old = *(volatile unsigned long long *)top;
    for (;;) { // push
      tried++;
      set(&next[node], (Word)old);
      __threadfence();
      now = atomicCAS(top, old, ((old >> 32) + 1) << 32 | node);
      if (now == old)
        break;
      old = now;
    }
  }
  atomicAdd(tries, tried);
}

// ---- table with open addressing: each thread adds keys by compare-and-swap, and counts them

extern "C" __global__ void table(Word *keys, Word *counts, int mask, int kinds, int each) {
  Word thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < each; i++) {
    Word key = (thread * each + i) * 2654435761u % kinds + 1;
    for (Word at = key * 40503u;; at++) {
      Word old = look(&keys[at & mask]);
      if (old == 0)
        old = atomicCAS(&keys[at & mask], 0, key);
      if (old == 0 || old == key) {
        atomicAdd(&counts[at & mask], 1);
        break;
      }
    }
  }
}

// ---- locks of blocks: thread 0 takes the lock, all threads add to data, which it guards

static __device__ __forceinline__ void guarded(Word *data) { set(&data[threadIdx.x], look(&data[threadIdx.x]) + 1); }

extern "C" __global__ void lock_nap(Word *lock, Word *data, int each, int most) {
  for (int i = 0; i < each; i++) {
    if (threadIdx.x == 0) {
      for (int nap = 32; atomicCAS(lock, 0, 1); nap = min(nap * 2, most))
        __nanosleep(nap);
      __threadfence();
    }
    __syncthreads();
    guarded(data);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      atomicExch(lock, 0);
  }
}

extern "C" __global__ void lock_ticket(Word *lock, Word *data, int each) {
  for (int i = 0; i < each; i++) {
    if (threadIdx.x == 0) {
      Word mine = atomicAdd(&lock[0], 1);
      for (Word now; (now = look(&lock[32])) != mine;)
        __nanosleep((mine - now) * 200);
      __threadfence();
    }
    __syncthreads();
    guarded(data);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      set(&lock[32], look(&lock[32]) + 1);
  }
}

// MCS: nodes[b]: 32 words of block b: next, locked; names are b + 1.
extern "C" __global__ void lock_mcs(Word *tail, Word *nodes, Word *data, int each) {
  Word *node = &nodes[blockIdx.x * 64];
  for (int i = 0; i < each; i++) {
    if (threadIdx.x == 0) {
      set(&node[0], 0);
      set(&node[32], 1);
      __threadfence();
      Word before = atomicExch(tail, blockIdx.x + 1);
      if (before) {
        set(&nodes[(before - 1) * 64], blockIdx.x + 1);
        while (look(&node[32]))
          ;
      }
      __threadfence();
    }
    __syncthreads();
    guarded(data);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && (look(&node[0]) || atomicCAS(tail, blockIdx.x + 1, 0) != blockIdx.x + 1)) {
      Word next;
      while (!(next = look(&node[0])))
        ;
      set(&nodes[(next - 1) * 64 + 32], 0);
    }
  }
}

// ---- barriers of the grid: a counter whose turns have a sense; a tree of counters; every block tells every block of its group

extern "C" __global__ void barrier_sense(Word *words, Word *data, int rounds) {
  for (int i = 0; i < rounds; i++) {
    data[blockIdx.x * blockDim.x + threadIdx.x] += i;
    __syncthreads();
    if (threadIdx.x == 0) {
      Word sense = look(&words[32]);
      __threadfence();
      if (atomicAdd(&words[0], 1) == gridDim.x - 1) {
        set(&words[0], 0);
        __threadfence();
        set(&words[32], !sense);
      } else {
        while (look(&words[32]) == sense)
          ;
      }
      __threadfence();
    }
    __syncthreads();
  }
}

extern "C" __global__ void barrier_dissemination(Word *flags, Word *data, int rounds) {
  for (int i = 0; i < rounds; i++) {
    data[blockIdx.x * blockDim.x + threadIdx.x] += i;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      int step = 0;
      for (Word far = 1; far < gridDim.x; far *= 2, step++) {
        set(&flags[((blockIdx.x + far) % gridDim.x * 8 + step) * 8], i + 1);
        while (look(&flags[(blockIdx.x * 8 + step) * 8]) < i + 1)
          ;
      }
      __threadfence();
    }
    __syncthreads();
  }
}

extern "C" __global__ void barrier_tree(Word *words, Word *data, int rounds, int width) {
  Word groups = (gridDim.x + width - 1) / width, group = blockIdx.x / width;
  Word mates = group + 1 < groups ? width : gridDim.x - group * width;
  for (int i = 0; i < rounds; i++) {
    data[blockIdx.x * blockDim.x + threadIdx.x] += i;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      if (atomicAdd(&words[64 + group * 32], 1) == (i + 1) * mates - 1) {
        __threadfence();
        if (atomicAdd(&words[0], 1) == (i + 1) * groups - 1)
          set(&words[32], i + 1);
      }
      while (look(&words[32]) < i + 1)
        ;
      __threadfence();
    }
    __syncthreads();
  }
}

// ---- a seqlock: block 0 writes, the threads 0 of others read until it was whole

extern "C" __global__ void seqlock(Word *words, Word *tries, int each) {
  if (threadIdx.x)
    return;
  Word tried = 0;
  for (int i = 0; i < each; i++) {
    if (blockIdx.x == 0) {
      Word number = look(&words[0]);
      set(&words[0], number + 1);
      __threadfence();
      for (int k = 1; k < 8; k++)
        set(&words[k], i);
      __threadfence();
      set(&words[0], number + 2);
      for (int k = 0; k < 20; k++)
        __nanosleep(20);
    } else {
      Word before, sum, after;
      do {
        tried++;
        before = look(&words[0]);
        __threadfence();
        sum = 0;
        for (int k = 1; k < 8; k++)
          sum += look(&words[k]);
        __threadfence();
        after = look(&words[0]);
      } while (before % 2 || before != after || sum % 7);
    }
  }
  atomicAdd(tries, tried);
}

// ---- work: blocks take pieces out of their own counter, then out of others'

extern "C" __global__ void steal(Word *pieces, Word *done, int each, int rounds) {
  __shared__ Word piece;
  for (Word k = 0; k < gridDim.x; k++) {
    Word whose = (blockIdx.x + k) % gridDim.x;
    for (;;) {
      if (threadIdx.x == 0)
        piece = look(&pieces[whose * 32]) < each ? atomicAdd(&pieces[whose * 32], 1) : each;
      __syncthreads();
      Word mine = piece;
      __syncthreads();
      if (mine >= each)
        break;
      Word value = mine + threadIdx.x;
      for (int i = 0; i < rounds * (whose % 4); i++)
        value = value * 1664525 + 1013904223;
      if (value != 1)
        atomicAdd(&done[whose], 1);
    }
  }
}

// ---- a list is filled: lanes that keep something add together, one atomic a warp or one a lane

extern "C" __global__ void compact_warp(const Word *in, Word *out, Word *count, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Word value = in[i], keep = value % 3 == 0, mask = __ballot_sync(~0u, keep), base = 0;
    if (threadIdx.x % 32 == 0)
      base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(~0u, base, 0);
    if (keep)
      out[base + __popc(mask & ((1u << threadIdx.x % 32) - 1))] = value;
  }
}

extern "C" __global__ void compact_block(const Word *in, Word *out, Word *count, int n) {
  __shared__ Word all, base;
  for (int from = blockIdx.x * blockDim.x; from < n; from += gridDim.x * blockDim.x) {
    if (threadIdx.x == 0)
      all = 0;
    __syncthreads();
    Word value = in[from + threadIdx.x], at = 0;
    if (value % 3 == 0)
      at = atomicAdd(&all, 1);
    __syncthreads();
    if (threadIdx.x == 0)
      base = atomicAdd(count, all);
    __syncthreads();
    if (value % 3 == 0)
      out[base + at] = value;
  }
}

// ---- the last block adds what all left

extern "C" __global__ void last_adds(const Word *in, Word *parts, Word *count, Word *sum, int n) {
  __shared__ Word all[32], last;
  Word value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    value += in[i];
  value = sum_of_warp(value);
  if (threadIdx.x % 32 == 0)
    all[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < blockDim.x / 32; i++)
      value += all[i];
    set(&parts[blockIdx.x], value);
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x < 32) {
    Word total = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 32)
      total += look(&parts[i]);
    total = sum_of_warp(total);
    if (threadIdx.x == 0)
      *sum = total;
  }
}

// ---- hot words: threads add to some words, which all come to in the same order; with a look at each before
template <bool LOOKS> static __device__ __forceinline__ void add_to(Word *words, Word *sum, int kinds, int each) {
  Word thread = blockIdx.x * blockDim.x + threadIdx.x, seen = 0;
  for (int i = 0; i < each; i++) {
    Word which = (thread * each + i) * 2654435761u % kinds, *at = words + which * 40503u % 8192;
    if (LOOKS && look(at) == 0x7fffffff)
      seen++;
    atomicAdd(at, 1);
  }
  if (seen)
    *sum = seen;
}

extern "C" __global__ void hot_words(Word *words, Word *sum, int kinds, int each) { add_to<false>(words, sum, kinds, each); }
extern "C" __global__ void hot_words_seen(Word *words, Word *sum, int kinds, int each) { add_to<true>(words, sum, kinds, each); }
