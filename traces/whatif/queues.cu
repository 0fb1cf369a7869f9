// Stuart and Owens, section 7: queues in hardware, beside those in software.
// To make the PTX: traces/make_ptx.sh, which knows that __enqueue() and __dequeue() aren't defined anywhere.
extern "C" __device__ int __enqueue(void *queue, unsigned value);
#include "queues.cuh"
using namespace queues;

enum { LINE = 32, OWN = 64 }; // words; of each block's own word for its backoff, as in ../primitives/benchmarks.cu

// Both wait; what a block does between two attempts is its `pause`.
template <class Queue, class Pause> static __device__ __forceinline__ void put(Queue &queue, Pause &pause, Word value) {
  pause.begin();
  while (!queue.put(value))
    pause.pause();
}
template <class Queue, class Pause> static __device__ __forceinline__ Word take(Queue &queue, Pause &pause) {
  Word value;
  pause.begin();
  while (!queue.take(&value))
    pause.pause();
  return value;
}

// --- how fast: each block puts a value and takes one, `ops` times; one thread acts, the others exit ---

template <class Queue, class Pause>
static __device__ __forceinline__ void exchange(Queue queue, Pause pause, Word *sum, int ops) {
  Word taken = 0;
#pragma unroll 1
  for (int op = 0; op < ops; op++) {
    put(queue, pause, blockIdx.x * ops + op + 1);
    taken += take(queue, pause);
  }
  atomicAdd(sum, taken);
}

// Of all four: `words`: the queue's, all 0 (in hardware: HardwareQueue::start(capacity)); `own`: see LINE; `sum`: of what was taken.
extern "C" __global__ void queue_hardware(Word *words, const Word *own, Word *sum, int ops, int imin, int imax) {
  if (!is_first_thread())
    return;
  HardwareQueue<> queue(words);
  if (imax)
    exchange(queue, Backoff(own + blockIdx.x * OWN, imin, imax), sum, ops);
  else
    exchange(queue, NoBackoff(), sum, ops);
}
// A spin lock with backoff in the first line, the queue behind it.
extern "C" __global__ void queue_spin(Word *words, const Word *own, Word *sum, int ops, int capacity, int imin, int imax) {
  if (!is_first_thread())
    return;
  SpinMutex<Fenced, Backoff> mutex(words, Backoff(own + blockIdx.x * OWN, imin, imax));
  exchange(LockedQueue<SpinMutex<Fenced, Backoff>>(mutex, words + LINE, capacity), NoBackoff(), sum, ops);
}
// Fetch and add: ticket and turn in the first two lines.
extern "C" __global__ void queue_fa(Word *words, Word *sum, int ops, int capacity) {
  if (!is_first_thread())
    return;
  FaMutex<> mutex(words, words + LINE);
  exchange(LockedQueue<FaMutex<>>(mutex, words + 2 * LINE, capacity), NoBackoff(), sum, ops);
}
// `tail` and `head` in the first two lines, then the turns, then the slots.
extern "C" __global__ void queue_ring(Word *words, Word *sum, int ops, int capacity) {
  if (!is_first_thread())
    return;
  RingQueue<> queue(words, words + LINE, words + 2 * LINE, words + 2 * LINE + capacity, capacity);
  exchange(queue, NoBackoff(), sum, ops);
}

// --- whether they are right: even blocks make items and put their numbers, odd ones take them ---

// `seen`: a word for each item; `last`: for each consumer, which item of each producer it took last, and 1. An item has to come once,
// whole, and behind those that its producer made before.
template <class Queue, class Pause>
static __device__ __forceinline__ void work(Queue queue, Pause pause, Word *items, Word *seen, Word *last, Word *errors, int ops) {
  Word pair = blockIdx.x / 2, pairs = gridDim.x / 2;
#pragma unroll 1
  for (int op = 0; op < ops; op++) {
    if (blockIdx.x % 2 == 0) {
      Word item = pair * ops + op;
      items[item] = 3 * item + 1;
      put(queue, pause, item);
      continue;
    }
    Word item = take(queue, pause), *before = last + pair * pairs + item / ops;
    if (items[item] != 3 * item + 1 || *before > item || atomicAdd(seen + item, 1))
      atomicAdd(errors, 1);
    *before = item + 1;
  }
}

extern "C" __global__ void section_hardware(Word *words, Word *items, Word *seen, Word *last, Word *errors, int ops, int fences) {
  if (!is_first_thread())
    return;
  if (fences)
    work(HardwareQueue<>(words), NoBackoff(), items, seen, last, errors, ops);
  else
    work(HardwareQueue<AsPrinted>(words), NoBackoff(), items, seen, last, errors, ops);
}
extern "C" __global__ void section_fa(Word *words, Word *items, Word *seen, Word *last, Word *errors, int ops, int capacity) {
  if (!is_first_thread())
    return;
  FaMutex<> mutex(words, words + LINE);
  work(LockedQueue<FaMutex<>>(mutex, words + 2 * LINE, capacity), NoBackoff(), items, seen, last, errors, ops);
}
extern "C" __global__ void section_spin(Word *words, const Word *own, Word *items, Word *seen, Word *last, Word *errors, int ops,
                                        int capacity) {
  if (!is_first_thread())
    return;
  SpinMutex<Fenced, Backoff> mutex(words, Backoff(own + blockIdx.x * OWN, 1, 32));
  work(LockedQueue<SpinMutex<Fenced, Backoff>>(mutex, words + LINE, capacity), NoBackoff(), items, seen, last, errors, ops);
}
extern "C" __global__ void section_ring(Word *words, Word *items, Word *seen, Word *last, Word *errors, int ops, int capacity) {
  if (!is_first_thread())
    return;
  work(RingQueue<>(words, words + LINE, words + 2 * LINE, words + 2 * LINE + capacity, capacity), NoBackoff(), items, seen, last,
       errors, ops);
}
