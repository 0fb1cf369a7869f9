// What goes wrong only where a thread is slow at one place, held up between two steps that it thinks of as one.
static __device__ void lock(int *word) {
  while (atomicExch(word, 1) != 0) {
  }
  __threadfence();
}
static __device__ void unlock(int *word) {
  __threadfence();
  atomicExch(word, 0);
}

// A condition variable by a number that each signal raises. Who looks at it only once the lock is free may miss the
// signal that it waits for.
template <bool LATE> static __device__ void wait_for(int *word, int *signals, int *ready) {
  lock(word);
  while (!*ready) {
    int seen = LATE ? 0 : atomicAdd(signals, 0);
    unlock(word);
    if (LATE)
      seen = atomicAdd(signals, 0);
    while (atomicAdd(signals, 0) == seen) {
    }
    lock(word);
  }
  unlock(word);
}
template <bool LATE> static __device__ void signal_once(int *word, int *signals, int *ready) {
  if (blockIdx.x) {
    wait_for<LATE>(word, signals, ready);
    return;
  }
  lock(word);
  *ready = 1;
  unlock(word);
  atomicAdd(signals, 1);
}
extern "C" __global__ void slow_condition(int *word, int *signals, int *ready) {
  signal_once<false>(word, signals, ready);
}
extern "C" __global__ void slow_condition_late(int *word, int *signals, int *ready) {
  signal_once<true>(word, signals, ready);
}

// A barrier of blocks, used again and again. Without the number of the round, who is slow to look finds the counter of
// the next round.
template <bool ROUNDS> static __device__ void meet(int *count, volatile int *round) {
  __threadfence();
  int now = *round;
  if (atomicAdd(count, 1) == gridDim.x - 1) {
    atomicExch(count, 0);
    __threadfence();
    *round = now + 1;
  } else if (ROUNDS) {
    while (*round == now) {
    }
  } else {
    while (atomicAdd(count, 0) != 0) {
    }
  }
  __threadfence();
}
template <bool ROUNDS> static __device__ void rounds(int *count, int *round, int *data, int n) {
  for (int i = 0; i < n; i++) {
    int from = (i & 1) * gridDim.x, to = gridDim.x - from;
    data[to + blockIdx.x] = data[from + (blockIdx.x + 1) % gridDim.x] + 1;
    meet<ROUNDS>(count, round);
  }
}
extern "C" __global__ void slow_barrier(int *count, int *round, int *data, int n) {
  rounds<true>(count, round, data, n);
}
extern "C" __global__ void slow_barrier_reset(int *count, int *round, int *data, int n) {
  rounds<false>(count, round, data, n);
}

// The bakery, with and without saying that one is choosing a number.
template <bool SAYS> static __device__ void bakery(volatile int *choosing, volatile int *number, int *data) {
  int me = blockIdx.x, most = 0;
  if (SAYS)
    choosing[me] = 1;
  __threadfence();
  for (int i = 0; i < gridDim.x; i++)
    most = max(most, number[i]);
  number[me] = most + 1;
  __threadfence();
  choosing[me] = 0;
  __threadfence();
  for (int i = 0; i < gridDim.x; i++) {
    while (SAYS && choosing[i]) {
    }
    __threadfence();
    for (int other = number[i]; other && (other < most + 1 || (other == most + 1 && i < me)); other = number[i]) {
    }
  }
  __threadfence();
  *data += 1;
  __threadfence();
  number[me] = 0;
}
extern "C" __global__ void slow_bakery(int *choosing, int *number, int *data) { bakery<true>(choosing, number, data); }
extern "C" __global__ void slow_bakery_silent(int *choosing, int *number, int *data) {
  bakery<false>(choosing, number, data);
}

// A queue whose tail is raised before the item is there: the consumer waits for the item, or takes what it finds.
template <bool WAITS> static __device__ void pass_on(volatile int *item, int *tail, int *sum, int n) {
  for (int i = 0; i < n; i++) {
    if (blockIdx.x) {
      int place = atomicAdd(tail, 1);
      item[place] = 1;
    } else {
      while (atomicAdd(tail, 0) <= i) {
      }
      int found = item[i];
      while (WAITS && !found)
        found = item[i];
      *sum += found;
    }
  }
  if (!blockIdx.x && *sum != n)
    __trap();
}
extern "C" __global__ void slow_item(int *item, int *tail, int *sum, int n) { pass_on<true>(item, tail, sum, n); }
extern "C" __global__ void slow_item_unasked(int *item, int *tail, int *sum, int n) {
  pass_on<false>(item, tail, sum, n);
}
