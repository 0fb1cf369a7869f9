// The primitives of primitives.cuh with critical sections that check themselves. `fences`: 1 as the memory model of PTX needs them;
// 0 as the paper prints them. `words`: the primitive's words, `apart` words between two of them. The `counter` is counted up with
// plain accesses by the last thread of a block, while thread 0 holds the lock: with a fence or a __syncthreads() too few it is a race.
// PTX: make_ptx.sh sections.cu
#include "primitives.cuh"
using namespace primitives;

enum { OWN = 64 };

static __device__ __forceinline__ bool is_last_thread() { return threadIdx.x == blockDim.x - 1; }
static __device__ __forceinline__ Backoff backoff(const Word *own, int imin, int imax) {
  return Backoff(own + blockIdx.x * OWN, imin, imax);
}

// --- mutexes ---

template <class Mutex> static __device__ __forceinline__ void count(Mutex view, Word *counter, int ops) {
  BlockMutex<Mutex> mutex(view);
#pragma unroll 1
  for (int op = 0; op < ops; op++) {
    mutex.lock();
    if (is_last_thread())
      *counter += 1;
    mutex.unlock();
  }
}
template <class Order>
static __device__ __forceinline__ void count_spin(Word *words, Word *counter, int ops, int store) {
  if (store)
    count(SpinMutex<Order, NoBackoff, ByStore>(words), counter, ops);
  else
    count(SpinMutex<Order>(words), counter, ops);
}
extern "C" __global__ void mutex_spin(Word *words, Word *counter, int ops, int fences, int store) {
  if (fences)
    count_spin<Fenced>(words, counter, ops, store);
  else
    count_spin<AsPrinted>(words, counter, ops, store);
}
extern "C" __global__ void mutex_spin_backoff(Word *words, Word *counter, const Word *own, int ops, int imin,
                                              int imax, int fences) {
  Backoff pause = backoff(own, imin, imax);
  if (fences)
    count(SpinMutex<Fenced, Backoff>(words, pause), counter, ops);
  else
    count(SpinMutex<AsPrinted, Backoff>(words, pause), counter, ops);
}
extern "C" __global__ void mutex_spin_then_backoff(Word *words, Word *counter, const Word *own, int ops, int attempts,
                                                   int imin, int imax, int fences) {
  AttemptsThenBackoff pause(attempts, backoff(own, imin, imax));
  if (fences)
    count(SpinMutex<Fenced, AttemptsThenBackoff>(words, pause), counter, ops);
  else
    count(SpinMutex<AsPrinted, AttemptsThenBackoff>(words, pause), counter, ops);
}
extern "C" __global__ void mutex_fa(Word *words, int apart, Word *counter, int ops, int fences) {
  if (fences)
    count(FaMutex<Fenced>(words, words + apart), counter, ops);
  else
    count(FaMutex<AsPrinted>(words, words + apart), counter, ops);
}
extern "C" __global__ void mutex_fa_backoff(Word *words, int apart, Word *counter, const Word *own, int ops, int imin,
                                            int imax, int fences) {
  Backoff pause = backoff(own, imin, imax);
  if (fences)
    count(FaMutex<Fenced, Backoff>(words, words + apart, pause), counter, ops);
  else
    count(FaMutex<AsPrinted, Backoff>(words, words + apart, pause), counter, ops);
}
extern "C" __global__ void mutex_ring(Word *words, int apart, int size, Word *counter, int ops, int fences) {
  Word *slots = words + 2 * apart;
  if (fences)
    count(RingMutex<Fenced>(words, words + apart, slots, size), counter, ops);
  else
    count(RingMutex<AsPrinted>(words, words + apart, slots, size), counter, ops);
}

// Algorithm 2 to the letter: the loop asks for `locked`, which nothing sets.
extern "C" __global__ void mutex_spin_algorithm2(Word *word, Word *counter) {
  if (threadIdx.x)
    return;
  bool locked = false, acquired = false;
  while (!locked) {
    if (atomicExch(word, 1) == 0)
      acquired = true;
  }
  *counter += acquired;
  put(word, 0);
}

// --- semaphores ---

// At most `initial` blocks are between wait and post at a time: `inside` counts them, `crowded` says whether there ever were more. With
// `initial` 1 the counter is safe.
template <class Semaphore>
static __device__ __forceinline__ void visit(Semaphore view, Word *counter, Word *inside, Word *crowded, int ops,
                                             int initial) {
  BlockSemaphore<Semaphore> semaphore(view);
#pragma unroll 1
  for (int op = 0; op < ops; op++) {
    semaphore.wait();
    if (is_last_thread()) {
      if (atomicAdd(inside, 1) >= initial)
        atomicExch(crowded, 1);
      if (initial == 1)
        *counter += 1;
      else
        atomicAdd(counter, 1);
      atomicSub(inside, 1);
    }
    semaphore.post();
  }
}
template <class Order>
static __device__ __forceinline__ void visit_spin(Word *words, Word *counter, Word *inside, Word *crowded, int ops,
                                                  int initial, int store) {
  if (store)
    visit(SpinSemaphore<Order, NoBackoff, NoBackoff, ByStore>(words), counter, inside, crowded, ops, initial);
  else
    visit(SpinSemaphore<Order>(words), counter, inside, crowded, ops, initial);
}
extern "C" __global__ void semaphore_spin(Word *words, Word *counter, Word *inside, Word *crowded, int ops,
                                          int initial, int fences, int store) {
  if (fences)
    visit_spin<Fenced>(words, counter, inside, crowded, ops, initial, store);
  else
    visit_spin<AsPrinted>(words, counter, inside, crowded, ops, initial, store);
}
extern "C" __global__ void semaphore_spin_backoff(Word *words, Word *counter, Word *inside, Word *crowded,
                                                  const Word *own, int ops, int initial, int imin, int imax,
                                                  int fences) {
  Backoff pause = backoff(own, imin, imax);
  if (fences)
    visit(SpinSemaphore<Fenced, Backoff>(words, pause), counter, inside, crowded, ops, initial);
  else
    visit(SpinSemaphore<AsPrinted, Backoff>(words, pause), counter, inside, crowded, ops, initial);
}
// `reached`: 1: lets a block in when the turn is "greater than or equal to its ticket number" (the text of section 5), 0: when it
// is greater (Algorithm 5).
extern "C" __global__ void semaphore_sleep(Word *words, int apart, Word *counter, Word *inside, Word *crowded,
                                           int ops, int initial, int fences, int reached) {
  Word *ticket = words + apart, *turn = words + 2 * apart;
  if (reached)
    visit(SleepSemaphore<Fenced, TurnReached>(words, ticket, turn, initial), counter, inside, crowded, ops, initial);
  else if (fences)
    visit(SleepSemaphore<Fenced>(words, ticket, turn, initial), counter, inside, crowded, ops, initial);
  else
    visit(SleepSemaphore<AsPrinted>(words, ticket, turn, initial), counter, inside, crowded, ops, initial);
}

// A semaphore of 0 that says what is ready: block 0 waits for an item of each block, and adds them up. It posts its own before it
// waits.
template <class Semaphore>
static __device__ __forceinline__ void gather(Semaphore semaphore, Word *items, Word *sum) {
  items[blockIdx.x] = blockIdx.x + 1;
  semaphore.post();
  if (blockIdx.x)
    return;
#pragma unroll 1
  for (Word i = 0; i < gridDim.x; i++)
    semaphore.wait();
#pragma unroll 1
  for (Word i = 0; i < gridDim.x; i++)
    *sum += items[i];
}
extern "C" __global__ void semaphore_ahead(Word *words, int apart, Word *items, Word *sum, int sleeps) {
  if (threadIdx.x)
    return;
  if (sleeps)
    gather(SleepSemaphore<>(words, words + apart, words + 2 * apart, 0), items, sum);
  else
    gather(SpinSemaphore<>(words), items, sum);
}

// --- barriers ---

// Each thread leaves a mark, and looks at the mark of a thread of the next block behind the barrier. `wrong` counts old ones. The second
// barrier of a round keeps fast blocks from marking again too early.
template <class Barrier>
static __device__ __forceinline__ void rounds(Barrier barrier, Word *marks, Word *wrong, int ops) {
  Word thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
#pragma unroll 1
  for (int op = 1; op <= ops; op++) {
    marks[thread] = op;
    barrier.wait();
    if (marks[(thread + blockDim.x + 1) % threads] != op)
      atomicAdd(wrong, 1);
    barrier.wait();
  }
}
extern "C" __global__ void barrier_xf(Word *words, Word *marks, Word *wrong, int ops, int fences, int checker) {
  Word *leave = words + gridDim.x;
  if (fences)
    rounds(XfBarrier<Fenced>(words, leave, checker), marks, wrong, ops);
  else
    rounds(XfBarrier<AsPrinted>(words, leave, checker), marks, wrong, ops);
}
extern "C" __global__ void barrier_atomic(Word *words, int apart, Word *marks, Word *wrong, int ops, int fences,
                                          int flag) {
  if (flag && fences)
    rounds(AtomicFlagBarrier<Fenced>(words, words + apart), marks, wrong, ops);
  else if (flag)
    rounds(AtomicFlagBarrier<AsPrinted>(words, words + apart), marks, wrong, ops);
  else if (fences)
    rounds(AtomicBarrier<Fenced>(words), marks, wrong, ops);
  else
    rounds(AtomicBarrier<AsPrinted>(words), marks, wrong, ops);
}
extern "C" __global__ void barrier_two_stage(Word *words, int apart, Word *marks, Word *wrong, int ops, int fences) {
  if (fences)
    rounds(TwoStageBarrier<Fenced>(words, words + apart), marks, wrong, ops);
  else
    rounds(TwoStageBarrier<AsPrinted>(words, words + apart), marks, wrong, ops);
}

// The same by launches one behind the other, which go on with the words as they are. `passed`: how often a block has called wait() before.
extern "C" __global__ void barrier_again(Word *words, int apart, Word *marks, Word *wrong, int ops, int kind, int passed) {
  if (kind == 0)
    rounds(XfBarrier<>(words, words + gridDim.x, 0, passed), marks, wrong, ops);
  else if (kind == 1)
    rounds(AtomicBarrier<>(words, passed), marks, wrong, ops);
  else if (kind == 2)
    rounds(AtomicFlagBarrier<>(words, words + apart, passed), marks, wrong, ops);
  else
    rounds(TwoStageBarrier<>(words, words + apart, passed), marks, wrong, ops);
}

// --- condition variables ---

// A place for one item: even blocks put items in, odd ones take them out. `place`: the item, 0 if there is none. `sum`: of all that
// was taken. One condition for each direction; who has changed the place wakes one of the other side. `words`: six of them, the
// mutex's and each condition's. `broadcast`: wakes all instead.
template <class Order>
static __device__ __forceinline__ void exchange(Word *words, int apart, Word *place, Word *sum, int ops,
                                                int broadcast) {
  FaMutex<Order> mutex(words, words + apart);
  Condition<FaMutex<Order>, Order> filled(mutex, words + 2 * apart, words + 3 * apart);
  Condition<FaMutex<Order>, Order> emptied(mutex, words + 4 * apart, words + 5 * apart);
  bool puts = blockIdx.x % 2 == 0;
  Condition<FaMutex<Order>, Order> &mine = puts ? emptied : filled, &others = puts ? filled : emptied;
#pragma unroll 1
  for (int op = 1; op <= ops; op++) {
    mutex.lock();
    while ((*place == 0) != puts)
      mine.wait();
    if (puts)
      *place = op;
    else {
      *sum += *place;
      *place = 0;
    }
    if (broadcast)
      others.broadcast();
    else
      others.signal();
    mutex.unlock();
  }
}
extern "C" __global__ void condition(Word *words, int apart, Word *place, Word *sum, int ops, int broadcast,
                                     int fences) {
  if (threadIdx.x)
    return;
  if (fences)
    exchange<Fenced>(words, apart, place, sum, ops, broadcast);
  else
    exchange<AsPrinted>(words, apart, place, sum, ops, broadcast);
}

// --- reader-writer lock ---

// Block 0, and each `writers`-th behind it, counts two counters up; the others read both and compare. `torn` counts differences.
// `first`, and each so-manieth counter behind it, is the calling thread's.
template <class Lock>
static __device__ __forceinline__ void share(Lock lock, Word *pair, Word *torn, int ops, int writers, int first, int step) {
#pragma unroll 1
  for (int op = 0; op < ops; op++)
    if (blockIdx.x % writers == 0) {
      lock.lock_write();
#pragma unroll
      for (int i = 0; i < 2; i += step)
        if (first + i < 2)
          pair[first + i] += 1;
      lock.unlock_write();
    } else {
      lock.lock_read();
      if (pair[0] != pair[1])
        atomicAdd(torn, 1);
      lock.unlock_read();
    }
}
extern "C" __global__ void readers_writers(Word *words, int apart, Word *pair, Word *torn, int ops, int writers,
                                           int fences) {
  if (threadIdx.x)
    return;
  if (fences)
    share(ReaderWriterLock<>(words, words + apart, words + 2 * apart), pair, torn, ops, writers, 0, 1);
  else
    share(ReaderWriterLock<AsPrinted>(words, words + apart, words + 2 * apart), pair, torn, ops, writers, 0, 1);
}

// --- whole blocks ---

// As condition(), by all threads of a block: the last one of each puts an item in or takes it out.
extern "C" __global__ void block_condition(Word *words, int apart, Word *place, Word *sum, int ops) {
  using Mutex = BlockMutex<FaMutex<>>;
  Mutex mutex(FaMutex<>(words, words + apart));
  BlockCondition<Mutex> filled(mutex, words + 2 * apart, words + 3 * apart);
  BlockCondition<Mutex> emptied(mutex, words + 4 * apart, words + 5 * apart);
  bool puts = blockIdx.x % 2 == 0;
  BlockCondition<Mutex> &mine = puts ? emptied : filled, &others = puts ? filled : emptied;
#pragma unroll 1
  for (int op = 1; op <= ops; op++) {
    mutex.lock();
    while ((*place == 0) != puts)
      mine.wait();
    __syncthreads(); // all have looked
    if (is_last_thread()) {
      if (!puts)
        *sum += *place;
      *place = puts ? op : 0;
    }
    others.signal();
    mutex.unlock();
  }
}

// As readers_writers(): all threads of a block hold the lock.
extern "C" __global__ void block_readers_writers(Word *words, int apart, Word *pair, Word *torn, int ops, int writers) {
  BlockReaderWriterLock<ReaderWriterLock<>> lock(ReaderWriterLock<>(words, words + apart, words + 2 * apart));
  share(lock, pair, torn, ops, writers, threadIdx.x, 2);
}
