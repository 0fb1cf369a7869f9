// Locks of loads and stores: each thread says in its own word that it wants to enter, then looks at the others'. Both may find the other's
// word as it was before: PTX orders a store before a later load of another word by fence.sc (__threadfence()) on both sides only.
// `data[0]` counts the entries.
#include <cuda/atomic>

using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto relaxed = cuda::memory_order_relaxed;
constexpr auto acquire = cuda::memory_order_acquire;
constexpr auto release = cuda::memory_order_release;
constexpr int rounds = 12;
enum Fence { NONE, ACQ_REL, SC };
enum Turn { STORED, EXCHANGED };

template <Fence F> static __device__ void fence() {
  if (F == ACQ_REL)
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
  if (F == SC)
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

// Peterson's, of blocks 0 and 1.
template <Fence F, Turn T> static __device__ void peterson(int *wants, int *turn, int *data) {
  int me = blockIdx.x, other = 1 - me;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    Word(wants[me]).store(1, release);
    fence<F>(); // the turn mustn't be seen before
    if (T == EXCHANGED)
      Word(*turn).exchange(other, cuda::memory_order_acq_rel);
    else
      Word(*turn).store(other, release);
    fence<F>();
    while (Word(wants[other]).load(acquire) && Word(*turn).load(acquire) == other)
      ;
    data[0]++;
    Word(wants[me]).store(0, release);
  }
}
extern "C" __global__ void peterson_acq_rel(int *wants, int *turn, int *data) { peterson<NONE, STORED>(wants, turn, data); }
extern "C" __global__ void peterson_fence(int *wants, int *turn, int *data) { peterson<ACQ_REL, STORED>(wants, turn, data); }
extern "C" __global__ void peterson_sc(int *wants, int *turn, int *data) { peterson<SC, STORED>(wants, turn, data); }
// Whose exchange comes second has read the first's, and sees that it wants to enter.
extern "C" __global__ void peterson_exchange(int *wants, int *turn, int *data) {
  peterson<NONE, EXCHANGED>(wants, turn, data);
}

// Dekker's, with a word of the data that is volatile: the sum shows that two at once are wrong.
template <Fence F> static __device__ void dekker(int *wants, int *turn, int *data) {
  int me = blockIdx.x, other = 1 - me;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    for (int k = 0; k < 10 * me; k++)
      Word(data[1]).fetch_add(0, relaxed); // the second one is slower, and often finds nobody there
    Word(wants[me]).store(1, release);
    fence<F>();
    while (Word(wants[other]).load(acquire)) {
      if (Word(*turn).load(acquire) == me)
        continue;
      Word(wants[me]).store(0, release);
      while (Word(*turn).load(acquire) != me)
        ;
      Word(wants[me]).store(1, release);
      fence<F>();
    }
    volatile int *sum = data;
    *sum = *sum + 1;
    Word(*turn).store(other, release);
    Word(wants[me]).store(0, release);
  }
}
extern "C" __global__ void dekker_acq_rel(int *wants, int *turn, int *data) { dekker<NONE>(wants, turn, data); }
extern "C" __global__ void dekker_sc(int *wants, int *turn, int *data) { dekker<SC>(wants, turn, data); }

// Lamport's bakery: who enters takes a number, and waits for all who have a lower one.
template <Fence F> static __device__ void bakery(int *choosing, int *number, int *data) {
  int me = blockIdx.x, last = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    Word(choosing[me]).store(1, release);
    fence<F>();
    int mine = 1 + max(Word(number[0]).load(acquire), Word(number[1]).load(acquire));
    Word(number[me]).store(mine, release);
    fence<F>();
    Word(choosing[me]).store(0, release);
    fence<F>();
    int other = 1 - me;
    while (Word(choosing[other]).load(acquire))
      ;
    do
      last = Word(number[other]).load(acquire);
    while (last && (last < mine || (last == mine && other < me)));
    data[0]++;
    Word(number[me]).store(0, release);
  }
}
extern "C" __global__ void bakery_acq_rel(int *choosing, int *number, int *data) { bakery<NONE>(choosing, number, data); }
extern "C" __global__ void bakery_sc(int *choosing, int *number, int *data) { bakery<SC>(choosing, number, data); }

// Readers count themselves, the writer raises a flag: each looks at what the other has done.
template <Fence F> static __device__ void readers(int *reading, int *writing, int *data) {
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    if (blockIdx.x == 0) {
      Word(*writing).exchange(1, cuda::memory_order_acq_rel);
      fence<F>();
      while (Word(*reading).load(acquire))
        ;
      data[0]++;
      Word(*writing).store(0, release);
      for (int k = 0; k < 30; k++)
        Word(data[2]).fetch_add(0, relaxed); // readers come in
    } else {
      for (;;) {
        Word(*reading).fetch_add(1, cuda::memory_order_acq_rel);
        fence<F>();
        if (!Word(*writing).load(acquire))
          break;
        Word(*reading).fetch_sub(1, cuda::memory_order_acq_rel);
      }
      for (int k = 0; k < 20; k++)
        Word(data[2]).fetch_add(0, relaxed); // long enough to be met
      if (data[0] > rounds)
        data[1] = 1;
      Word(*reading).fetch_sub(1, cuda::memory_order_acq_rel);
    }
  }
}
extern "C" __global__ void readers_acq_rel(int *reading, int *writing, int *data) { readers<NONE>(reading, writing, data); }
extern "C" __global__ void readers_sc(int *reading, int *writing, int *data) { readers<SC>(reading, writing, data); }

// Nobody says anything before it looks.
extern "C" __global__ void looks_only(int *busy, int *, int *data) {
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    while (Word(*busy).load(acquire))
      ;
    Word(*busy).store(1, release);
    data[0]++;
    Word(*busy).store(0, release);
  }
}
// What the load found is confirmed by an exchange.
extern "C" __global__ void looks_first(int *busy, int *, int *data) {
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    do
      while (Word(*busy).load(relaxed))
        ;
    while (Word(*busy).exchange(1, acquire));
    data[0]++;
    Word(*busy).store(0, release);
  }
}
// Each thread sets the word to what the other waits for: the older 0 is one that it has ended itself.
extern "C" __global__ void in_turn(int *word, int *, int *data) {
  int me = blockIdx.x, other = 1 - me;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    while (Word(*word).load(acquire) != me)
      ;
    data[0]++;
    Word(*word).store(other, release);
  }
}
// A barrier whose sense comes back: each has seen the other sense in between.
extern "C" __global__ void senses(int *arrived, int *sense, int *data) {
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    if (blockIdx.x == i % 2)
      data[0]++;
    int want = (i + 1) % 2;
    if (Word(*arrived).fetch_add(1, cuda::memory_order_acq_rel) == 1) {
      Word(*arrived).store(0, relaxed);
      Word(*sense).store(want, release);
    } else {
      while (Word(*sense).load(acquire) != want)
        ;
    }
  }
}
// Both may be in at once, and count by an atomic operation.
extern "C" __global__ void harmless(int *wants, int *, int *data) {
  int me = blockIdx.x, other = 1 - me;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    Word(wants[me]).store(1, release);
    while (me && Word(wants[other]).load(acquire))
      ;
    Word(data[0]).fetch_add(1, relaxed);
    Word(wants[me]).store(0, release);
  }
}
// The word was down before, too, but who looks knows that it has been up: the other word says so.
extern "C" __global__ void told(int *up, int *began, int *data) {
  if (blockIdx.x == 0) {
    Word(*up).store(1, relaxed);
    Word(*began).store(1, release);
    data[0] = rounds;
    Word(*up).store(0, release);
  } else {
    while (!Word(*began).load(acquire))
      ;
    while (Word(*up).load(acquire))
      ;
    data[0] += rounds;
  }
}
// The same without that.
extern "C" __global__ void untold(int *up, int *began, int *data) {
  if (blockIdx.x == 0) {
    Word(*up).store(1, relaxed);
    data[0] = rounds;
    Word(*up).store(0, release);
  } else {
    for (int i = 0; i < 2000; i++)
      Word(*began).fetch_add(0, relaxed); // late enough
    while (Word(*up).load(acquire))
      ;
    data[0] += rounds;
  }
}
// An owner takes from the end of a queue, a thief from its front: about the last task both look at the other's word.
template <Fence F> static __device__ void steal(int *ends, int *tasks, int *data) {
  Word bottom(ends[0]), top(ends[1]);
  if (blockIdx.x == 0) {
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
      int b = bottom.load(relaxed);
      Word(tasks[b]).store(i + 1, relaxed);
      bottom.store(b + 1, release);
      bottom.store(b, relaxed);
      fence<F>();
      int t = top.load(relaxed);
      bool mine = t < b || (t == b && top.compare_exchange_strong(t, t + 1, cuda::memory_order_acq_rel));
      bottom.store(b + 1, relaxed);
      if (mine)
        Word(data[0]).fetch_add(1, relaxed);
    }
    Word(ends[2]).store(1, release);
  } else {
    do {
      int t = top.load(acquire);
      fence<F>();
      int b = bottom.load(acquire);
      if (t >= b)
        continue;
      int task = Word(tasks[t]).load(relaxed);
      if (task && top.compare_exchange_strong(t, t + 1, cuda::memory_order_acq_rel))
        Word(data[0]).fetch_add(1, relaxed);
    } while (!Word(ends[2]).load(acquire));
  }
}
extern "C" __global__ void steal_sc(int *ends, int *tasks, int *data) { steal<SC>(ends, tasks, data); }
