// Stuart and Owens (2011), section 6: operations a second of each primitive. Each block does `ops` operations: a barrier, or lock and
// unlock, or wait and post, with nothing between. One thread of a block acts, the others exit; at a barrier all take part.
// PTX: make_ptx.sh benchmarks.cu
//
// Of all kernels: `words`: the primitive's words, `apart` words between two of them (32: a line of 128 bytes each). `fences`: 0 as the
// paper prints it, 1 as the memory model of PTX needs it. `own`: a word for each block in 256 bytes of its own, which its backoff
// reads. `imin`, `imax`: of the backoff; `imax` 0: none.
// The loop is unrolled (the paper: "one unrolled loop").
#include "primitives.cuh"
using namespace primitives;

enum { OWN = 64 };

static __device__ __forceinline__ Backoff backoff(const Word *own, int imin, int imax) {
  return Backoff(own + blockIdx.x * OWN, imin, imax);
}

template <class Mutex> static __device__ __forceinline__ void locks(Mutex mutex, int ops) {
#pragma unroll 4
  for (int op = 0; op < ops; op++) {
    mutex.lock();
    mutex.unlock();
  }
}
template <class Semaphore> static __device__ __forceinline__ void waits(Semaphore semaphore, int ops) {
#pragma unroll 4
  for (int op = 0; op < ops; op++) {
    semaphore.wait();
    semaphore.post();
  }
}
template <class Barrier> static __device__ __forceinline__ void meets(Barrier barrier, int ops) {
#pragma unroll 2 // 20 registers: six blocks of 128 threads are resident on an SM of a GTX 295, as in the paper
  for (int op = 0; op < ops; op++)
    barrier.wait();
}

// --- barriers ---

// `words`: a word for each block, and behind them another one for each. `checker`: the block that looks at all others.
extern "C" __global__ void barrier_xf(Word *words, int ops, int fences, int checker) {
  Word *leave = words + gridDim.x;
  if (fences)
    meets(XfBarrier<Fenced>(words, leave, checker), ops);
  else
    meets(XfBarrier<AsPrinted>(words, leave, checker), ops);
}
// `flag`: 0: all look at the counter; 1: at a flag that the last one sets.
extern "C" __global__ void barrier_atomic(Word *words, int apart, int ops, int fences, int flag) {
  if (flag && fences)
    meets(AtomicFlagBarrier<Fenced>(words, words + apart), ops);
  else if (flag)
    meets(AtomicFlagBarrier<AsPrinted>(words, words + apart), ops);
  else if (fences)
    meets(AtomicBarrier<Fenced>(words), ops);
  else
    meets(AtomicBarrier<AsPrinted>(words), ops);
}
// Two counters, `apart` words between them.
extern "C" __global__ void barrier_two_stage(Word *words, int apart, int ops, int fences) {
  if (fences)
    meets(TwoStageBarrier<Fenced>(words, words + apart), ops);
  else
    meets(TwoStageBarrier<AsPrinted>(words, words + apart), ops);
}

// --- mutexes ---

// `store`: unlock by 0: an exchange (Algorithm 1); 1: a store (Algorithm 2).
template <class Order, class Pause>
static __device__ __forceinline__ void spin_locks(Word *word, const Pause &pause, int ops, int store) {
  if (store)
    locks(SpinMutex<Order, Pause, ByStore>(word, pause), ops);
  else
    locks(SpinMutex<Order, Pause, ByExchange>(word, pause), ops);
}
template <class Pause>
static __device__ __forceinline__ void spin_locks(Word *word, const Pause &pause, int ops, int fences, int store) {
  if (threadIdx.x)
    return;
  if (fences)
    spin_locks<Fenced>(word, pause, ops, store);
  else
    spin_locks<AsPrinted>(word, pause, ops, store);
}
extern "C" __global__ void mutex_spin(Word *words, int ops, int fences, int store) {
  spin_locks(words, NoBackoff(), ops, fences, store);
}
extern "C" __global__ void mutex_spin_backoff(Word *words, const Word *own, int ops, int imin, int imax, int fences,
                                              int store) {
  spin_locks(words, backoff(own, imin, imax), ops, fences, store);
}
// `attempts`: so many at once, then backoff.
extern "C" __global__ void mutex_spin_then_backoff(Word *words, const Word *own, int ops, int attempts, int imin,
                                                   int imax, int fences, int store) {
  spin_locks(words, AttemptsThenBackoff(attempts, backoff(own, imin, imax)), ops, fences, store);
}

template <class Pause>
static __device__ __forceinline__ void fa_locks(Word *words, int apart, const Pause &pause, int ops, int fences) {
  if (threadIdx.x)
    return;
  if (fences)
    locks(FaMutex<Fenced, Pause>(words, words + apart, pause), ops);
  else
    locks(FaMutex<AsPrinted, Pause>(words, words + apart, pause), ops);
}
extern "C" __global__ void mutex_fa(Word *words, int apart, int ops, int fences) {
  fa_locks(words, apart, NoBackoff(), ops, fences);
}
extern "C" __global__ void mutex_fa_backoff(Word *words, int apart, const Word *own, int ops, int imin, int imax,
                                            int fences) {
  fa_locks(words, apart, backoff(own, imin, imax), ops, fences);
}
// `size`: slots of the ring, a power of two; they lie `apart` words behind the head.
extern "C" __global__ void mutex_ring(Word *words, int apart, int size, int ops, int fences) {
  if (threadIdx.x)
    return;
  if (fences)
    locks(RingMutex<Fenced>(words, words + apart, words + 2 * apart, size), ops);
  else
    locks(RingMutex<AsPrinted>(words, words + apart, words + 2 * apart, size), ops);
}

// --- semaphores ---

// `store`: the count is put back by 0: an exchange (Algorithm 4); 1: a store.
template <class Order, class Pause, class PostPause>
static __device__ __forceinline__ void spin_waits(Word *word, const Pause &pause, const PostPause &post_pause,
                                                  int ops, int store) {
  if (store)
    waits(SpinSemaphore<Order, Pause, PostPause, ByStore>(word, pause, post_pause), ops);
  else
    waits(SpinSemaphore<Order, Pause, PostPause, ByExchange>(word, pause, post_pause), ops);
}
template <class Pause, class PostPause>
static __device__ __forceinline__ void spin_waits(Word *word, const Pause &pause, const PostPause &post_pause,
                                                  int ops, int fences, int store) {
  if (threadIdx.x)
    return;
  if (fences)
    spin_waits<Fenced>(word, pause, post_pause, ops, store);
  else
    spin_waits<AsPrinted>(word, pause, post_pause, ops, store);
}
extern "C" __global__ void semaphore_spin(Word *words, int ops, int fences, int store) {
  spin_waits(words, NoBackoff(), NoBackoff(), ops, fences, store);
}
// `post_backoff`: 1: post() has it, too (Algorithm 4); 0: it hasn't (section 5).
extern "C" __global__ void semaphore_spin_backoff(Word *words, const Word *own, int ops, int imin, int imax,
                                                  int fences, int store, int post_backoff) {
  Backoff pause = backoff(own, imin, imax);
  if (post_backoff)
    spin_waits(words, pause, pause, ops, fences, store);
  else
    spin_waits(words, pause, NoBackoff(), ops, fences, store);
}
extern "C" __global__ void semaphore_sleep(Word *words, int apart, int ops, int initial, int fences) {
  if (threadIdx.x)
    return;
  Word *ticket = words + apart, *turn = words + 2 * apart;
  if (fences)
    waits(SleepSemaphore<Fenced>(words, ticket, turn, initial), ops);
  else
    waits(SleepSemaphore<AsPrinted>(words, ticket, turn, initial), ops);
}
