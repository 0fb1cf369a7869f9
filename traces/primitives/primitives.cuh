// Synchronization primitives between the blocks of a grid: barriers, mutexes, semaphores, after Stuart and Owens, "Efficient
// Synchronization Primitives for GPUs" (2011), with condition variables and a reader-writer lock, which that paper leaves as future
// work. For CUDA C++14 and later; nothing else is included. doc/primitives.md says how to choose.
//
//   using namespace primitives;
//   BlockMutex<FaMutex<>> mutex(FaMutex<>(words, words + 32));  // ticket and turn in two lines
//   mutex.lock();
//   ... // all threads of the block, one block at a time
//   mutex.unlock();
//
// A primitive is a view of a few words in global memory, which all blocks share and which are 0 at first (a semaphore has its
// `start`). The next launch can go on with them as they are, but for barriers, which say below what they want. Where the words lie is the caller's choice, and decides how fast it is. Each thread that calls has a view of its own.
//
// Block semantics: FaMutex and its like are for one thread of a block, the others mustn't call. BlockMutex and its like are for a
// whole block: all threads call, thread 0 acts, and a __syncthreads() behind lock() and before unlock() holds the others back.
// Without the first one they would enter before the lock is taken, without the second one it would be free before they are done.
// Barriers are for whole blocks, and no more blocks than are resident at once.
//
// `Order` chooses how memory is ordered:
// - Fenced (the default): what a block did before it unlocks (posts, signals, arrives) is seen by the block that locks next (waits,
//   wakes, leaves), as the memory model of PTX has it.
// - AsPrinted: what the paper prints, without any fence. Data that are handed over can be old. For comparison only.
#ifndef PRIMITIVES_CUH
#define PRIMITIVES_CUH

namespace primitives {

using Word = unsigned;

struct Fenced {
  static constexpr bool fenced = true;
  static __device__ __forceinline__ void fence() { __threadfence(); }
};
struct AsPrinted {
  static constexpr bool fenced = false;
  static __device__ __forceinline__ void fence() {}
};

static __device__ __forceinline__ Word look(const Word *word) { return *(const volatile Word *)word; }
static __device__ __forceinline__ void put(Word *word, Word value) { *(volatile Word *)word = value; }
static __device__ __forceinline__ Word take_number(Word *word) { return atomicAdd(word, 1); }
// Has a counter that wraps around gone past a number that was taken from another one?
static __device__ __forceinline__ bool is_past(Word counter, Word number) { return (int)(counter - number) > 0; }
static __device__ __forceinline__ bool is_first_thread() { return threadIdx.x + threadIdx.y + threadIdx.z == 0; }
static __device__ __forceinline__ Word block_number() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

static __device__ __forceinline__ Word number_of_blocks() { return gridDim.x * gridDim.y * gridDim.z; }

// --- what a thread does between two attempts ---

struct NoBackoff {
  __device__ __forceinline__ void begin() {}
  __device__ __forceinline__ void pause() {}
};

// Section 5: I, Imin at first, is the number of noncontentious volatile reads that a pause takes. Each pause adds 1; beyond Imax
// I is Imin again. `own` is a word that nobody else touches, best in a line of its own, and holds 0: each read waits for the last.
class Backoff {
  const Word *own_;
  Word least_, most_, now_;

public:
  __device__ __forceinline__ Backoff(const Word *own, Word imin, Word imax)
      : own_(own), least_(imin), most_(imax), now_(imin) {}
  __device__ __forceinline__ void begin() { now_ = least_; }
  __device__ __forceinline__ void pause() {
#pragma unroll 1
    for (Word left = now_; left; left -= 1 + look(own_))
      ;
    now_ = now_ < most_ ? now_ + 1 : least_;
  }
};

// The nearest to a Linux mutex that section 5 sees: some attempts at once, and backoff from then on.
class AttemptsThenBackoff {
  Backoff backoff_;
  Word attempts_, left_;

public:
  __device__ __forceinline__ AttemptsThenBackoff(Word attempts, const Backoff &backoff)
      : backoff_(backoff), attempts_(attempts), left_(attempts) {}
  __device__ __forceinline__ void begin() {
    backoff_.begin();
    left_ = attempts_;
  }
  __device__ __forceinline__ void pause() {
    if (left_)
      left_--;
    else
      backoff_.pause();
  }
};

// --- mutexes: lock(), unlock() ---

// How a block that alone may change a word does it (the owner of a spin lock frees it; whoever found a spin semaphore's count puts it
// back). Algorithms 1 and 4 exchange, "because the atomic queue has predictable behavior"; Algorithm 2 and the text of section 5 have
// "a simple assignment" and "sets S to".
struct ByExchange {
  static __device__ __forceinline__ void set(Word *word, Word value) { atomicExch(word, value); }
};
struct ByStore {
  static __device__ __forceinline__ void set(Word *word, Word value) { put(word, value); }
};

// Algorithms 1 and 2. (As printed, Algorithm 2 tests `Locked` in its loop and sets `Acquired`: it never ends.) Not fair. One word.
template <class Order = Fenced, class Pause = NoBackoff, class Unlock = ByExchange> class SpinMutex {
  Word *word_;
  Pause pause_;

public:
  __device__ __forceinline__ explicit SpinMutex(Word *word, const Pause &pause = Pause())
      : word_(word), pause_(pause) {}
  __device__ __forceinline__ void lock() {
    pause_.begin();
    while (atomicExch(word_, 1))
      pause_.pause();
    Order::fence();
  }
  __device__ __forceinline__ void unlock() {
    Order::fence();
    Unlock::set(word_, 0);
  }
};

// Algorithm 3, fetch and add: fair. Two words, `ticket` and `turn`; in one line or in two makes a great difference.
template <class Order = Fenced, class Pause = NoBackoff> class FaMutex {
  Word *ticket_, *turn_;
  Pause pause_;

public:
  __device__ __forceinline__ FaMutex(Word *ticket, Word *turn, const Pause &pause = Pause())
      : ticket_(ticket), turn_(turn), pause_(pause) {}
  __device__ __forceinline__ void lock() {
    Word mine = take_number(ticket_);
    pause_.begin();
    while (look(turn_) != mine)
      pause_.pause();
    Order::fence();
  }
  __device__ __forceinline__ void unlock() {
    Order::fence();
    put(turn_, look(turn_) + 1);
  }
};

// Section 5, "a ring-buffer based sleeping mutex": a block places itself at the end, and looks at the item at the front. Fair.
// `slots`: at least as many as blocks that may wait, 0 at first; a power of two, so that numbers may wrap around.
// As printed a block puts itself into its slot; what it put there a lap ago then lets it in when its old slot is at the front
// again and the new owner hasn't come to store yet. Fenced puts the number of its place, which no lap repeats.
template <class Order = Fenced, class Pause = NoBackoff> class RingMutex {
  Word *tail_, *head_, *slots_, size_;
  Pause pause_;

public:
  __device__ __forceinline__ RingMutex(Word *tail, Word *head, Word *slots, Word size, const Pause &pause = Pause())
      : tail_(tail), head_(head), slots_(slots), size_(size), pause_(pause) {}
  __device__ __forceinline__ void lock() {
    Word place = take_number(tail_), item = Order::fenced ? place + 1 : block_number() + 1;
    put(slots_ + (place & (size_ - 1)), item);
    pause_.begin();
    while (look(slots_ + (look(head_) & (size_ - 1))) != item)
      pause_.pause();
    Order::fence();
  }
  __device__ __forceinline__ void unlock() {
    Order::fence();
    put(head_, look(head_) + 1);
  }
};

// --- semaphores: wait(), post() ---

// Algorithm 4. One word, which holds start(initial) at first, and 0 while somebody looks at it. Post has no backoff, as section 5
// says (Algorithm 4 has it in both; `PostPause`).
template <class Order = Fenced, class Pause = NoBackoff, class PostPause = NoBackoff, class Restore = ByExchange>
class SpinSemaphore {
  Word *word_;
  Pause pause_;
  PostPause post_pause_;

public:
  static constexpr __host__ __device__ Word start(Word initial) { return initial + 1; }
  __device__ __forceinline__ explicit SpinSemaphore(Word *word, const Pause &pause = Pause(),
                                                    const PostPause &post_pause = PostPause())
      : word_(word), pause_(pause), post_pause_(post_pause) {}
  __device__ __forceinline__ void wait() {
    pause_.begin();
    for (;;) {
      Word old = atomicExch(word_, 0);
      if (old > 1) {
        Restore::set(word_, old - 1);
        break;
      }
      if (old == 1)
        Restore::set(word_, 1);
      pause_.pause();
    }
    Order::fence();
  }
  __device__ __forceinline__ void post() {
    Order::fence();
    post_pause_.begin();
    Word old;
    while (!(old = atomicExch(word_, 0)))
      post_pause_.pause();
    Restore::set(word_, old + 1);
  }
};

// When is it a sleeping block's turn? Algorithm 5 has `turn > number`, the text of section 5 "greater than or equal", which lets the
// first block in that finds the semaphore at capacity.
struct TurnPast {
  static __device__ __forceinline__ bool is_due(Word turn, Word number) { return is_past(turn, number); }
};
struct TurnReached {
  static __device__ __forceinline__ bool is_due(Word turn, Word number) { return !is_past(number, turn); }
};

// Algorithm 5. Fair. Three words: `count` (with a sign: posts may come before waits), `ticket`, `turn`, all 0 at first.
template <class Order = Fenced, class Turn = TurnPast> class SleepSemaphore {
  Word *count_, *ticket_, *turn_, most_;

public:
  __device__ __forceinline__ SleepSemaphore(Word *count, Word *ticket, Word *turn, Word initial)
      : count_(count), ticket_(ticket), turn_(turn), most_(initial) {}
  __device__ __forceinline__ void wait() {
    if ((int)atomicAdd(count_, 1) >= (int)most_) {
      Word mine = take_number(ticket_);
      while (!Turn::is_due(look(turn_), mine))
        ;
    }
    Order::fence();
  }
  __device__ __forceinline__ void post() {
    Order::fence();
    if ((int)atomicSub(count_, 1) > (int)most_)
      atomicAdd(turn_, 1);
  }
};

// --- barriers: wait(), for all threads of all blocks ---

// The words of a barrier count on, so a view has to know how often all blocks have passed it with these words: never, if the host
// clears them before each launch (cudaMemsetAsync); else `passed`, how many wait() each block has called in the launches before.

// Xiao and Feng (2010), as section 5 has it: each block sets its flag in `arrived`; the threads of one block, `checker`, look at all
// flags and answer in `leave`. No atomics. Two arrays of a word for each block. A thread looks at several flags if there are
// more blocks than threads. As printed, thread 0 sets the flag when it comes itself; Fenced waits for the whole block.
template <class Order = Fenced> class XfBarrier {
  Word *arrived_, *leave_, checker_, goal_;

public:
  __device__ __forceinline__ XfBarrier(Word *arrived, Word *leave, Word checker = 0, Word passed = 0)
      : arrived_(arrived), leave_(leave), checker_(checker), goal_(passed) {}
  __device__ __forceinline__ void wait() {
    goal_++;
    if (Order::fenced)
      __syncthreads();
    Word thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    if (thread == 0) {
      Order::fence();
      put(arrived_ + block_number(), goal_);
    }
    if (block_number() == checker_)
      answer(thread);
    if (thread == 0) {
      while (look(leave_ + block_number()) != goal_)
        ;
      Order::fence();
    }
    __syncthreads();
  }

private:
  __device__ __forceinline__ void answer(Word thread) {
    Word blocks = number_of_blocks(), threads = blockDim.x * blockDim.y * blockDim.z;
#pragma unroll 1
    for (Word i = thread; i < blocks; i += threads)
      while (look(arrived_ + i) != goal_)
        ;
    Order::fence();
    __syncthreads();
    Order::fence();
#pragma unroll 1
    for (Word i = thread; i < blocks; i += threads)
      put(leave_ + i, goal_);
  }
};

// One atomic counter: each block adds 1, then looks at the counter until all have. One word; it only grows.
template <class Order = Fenced> class AtomicBarrier {
  Word *counter_, goal_;

public:
  __device__ __forceinline__ explicit AtomicBarrier(Word *counter, Word passed = 0)
      : counter_(counter), goal_(passed * number_of_blocks()) {}
  __device__ __forceinline__ void wait() {
    goal_ += number_of_blocks();
    __syncthreads();
    if (is_first_thread()) {
      Order::fence();
      atomicAdd(counter_, 1);
      while (is_past(goal_, look(counter_)))
        ;
      Order::fence();
    }
    __syncthreads();
  }
};

// The same, but the block that comes last sets `flag`, at which the others look. Two words.
template <class Order = Fenced> class AtomicFlagBarrier {
  Word *counter_, *flag_, round_;

public:
  __device__ __forceinline__ AtomicFlagBarrier(Word *counter, Word *flag, Word passed = 0)
      : counter_(counter), flag_(flag), round_(passed) {}
  __device__ __forceinline__ void wait() {
    round_++;
    __syncthreads();
    if (is_first_thread()) {
      Order::fence();
      if (atomicAdd(counter_, 1) + 1 == round_ * number_of_blocks()) {
        Order::fence();
        put(flag_, round_);
      } else {
        while (look(flag_) != round_)
          ;
        Order::fence();
      }
    }
    __syncthreads();
  }
};

// Two stages, an atomic counter for each: a block counts itself in and looks at `arrived` until all have, then counts itself out and
// looks at `departed` until all have. Two atomics a block. Two words, which only grow, so that nobody sets them back.
template <class Order = Fenced> class TwoStageBarrier {
  Word *arrived_, *departed_, goal_;

  __device__ __forceinline__ void pass(Word *counter) {
    atomicAdd(counter, 1);
    while (is_past(goal_, look(counter)))
      ;
  }

public:
  __device__ __forceinline__ TwoStageBarrier(Word *arrived, Word *departed, Word passed = 0)
      : arrived_(arrived), departed_(departed), goal_(passed * number_of_blocks()) {}
  __device__ __forceinline__ void wait() {
    goal_ += number_of_blocks();
    __syncthreads();
    if (is_first_thread()) {
      Order::fence();
      pass(arrived_);
      pass(departed_);
      Order::fence();
    }
    __syncthreads();
  }
};

// --- what the paper leaves as future work ---

template <class Mutex> class BlockMutex;
template <class Mutex> struct IsOfBlocks { static constexpr bool value = false; };
template <class Mutex> struct IsOfBlocks<BlockMutex<Mutex>> { static constexpr bool value = true; };

// Wait, signal, broadcast, each called by a thread that holds the mutex. Waiters wake in the order in which they came, and none
// without a signal. Two words, 0 at first.
template <class Mutex, class Order = Fenced> class Condition {
  static_assert(!IsOfBlocks<Mutex>::value, "one thread calls a Condition: BlockCondition is for a BlockMutex");
  Mutex &mutex_;
  Word *ticket_, *turn_;

public:
  __device__ __forceinline__ Condition(Mutex &mutex, Word *ticket, Word *turn)
      : mutex_(mutex), ticket_(ticket), turn_(turn) {}
  __device__ __forceinline__ void wait() {
    Word mine = look(ticket_);
    put(ticket_, mine + 1);
    mutex_.unlock();
    while (!is_past(look(turn_), mine))
      ;
    Order::fence();
    mutex_.lock();
  }
  __device__ __forceinline__ void signal() {
    Word turn = look(turn_);
    if (look(ticket_) == turn)
      return;
    Order::fence();
    put(turn_, turn + 1);
  }
  __device__ __forceinline__ void broadcast() {
    Order::fence();
    put(turn_, look(ticket_));
  }
};

// Any number of readers, or one writer, in the order in which they came. Three words, 0 at first: `ticket`, and whose turn it is to
// read and to write.
template <class Order = Fenced, class Pause = NoBackoff> class ReaderWriterLock {
  Word *ticket_, *read_, *write_;
  Pause pause_;

  __device__ __forceinline__ Word wait_for(const Word *turn) {
    Word mine = take_number(ticket_);
    pause_.begin();
    while (look(turn) != mine)
      pause_.pause();
    Order::fence();
    return mine;
  }

public:
  __device__ __forceinline__ ReaderWriterLock(Word *ticket, Word *read, Word *write, const Pause &pause = Pause())
      : ticket_(ticket), read_(read), write_(write), pause_(pause) {}
  __device__ __forceinline__ void lock_read() { put(read_, wait_for(read_) + 1); } // the next may read, too
  __device__ __forceinline__ void unlock_read() {
    Order::fence();
    atomicAdd(write_, 1);
  }
  __device__ __forceinline__ void lock_write() { wait_for(write_); }
  __device__ __forceinline__ void unlock_write() {
    Order::fence();
    put(read_, look(read_) + 1);
    Order::fence(); // the next writer counts there, too
    atomicAdd(write_, 1);
  }
};

// --- for whole blocks ---

template <class Mutex> class BlockMutex {
  Mutex mutex_;

public:
  using Inner = Mutex;
  __device__ __forceinline__ Mutex &inner() { return mutex_; }
  __device__ __forceinline__ explicit BlockMutex(const Mutex &mutex) : mutex_(mutex) {}
  __device__ __forceinline__ void lock() {
    if (is_first_thread())
      mutex_.lock();
    __syncthreads();
  }
  __device__ __forceinline__ void unlock() {
    __syncthreads();
    if (is_first_thread())
      mutex_.unlock();
  }
};

template <class Semaphore> class BlockSemaphore {
  Semaphore semaphore_;

public:
  __device__ __forceinline__ explicit BlockSemaphore(const Semaphore &semaphore) : semaphore_(semaphore) {}
  __device__ __forceinline__ void wait() {
    if (is_first_thread())
      semaphore_.wait();
    __syncthreads();
  }
  __device__ __forceinline__ void post() {
    __syncthreads();
    if (is_first_thread())
      semaphore_.post();
  }
};

// A Condition of a BlockMutex: the whole block holds it, and calls.
template <class Mutex, class Order = Fenced> class BlockCondition {
  Condition<typename Mutex::Inner, Order> condition_;

public:
  __device__ __forceinline__ BlockCondition(Mutex &mutex, Word *ticket, Word *turn)
      : condition_(mutex.inner(), ticket, turn) {}
  __device__ __forceinline__ void wait() {
    __syncthreads();
    if (is_first_thread())
      condition_.wait();
    __syncthreads();
  }
  __device__ __forceinline__ void signal() {
    __syncthreads();
    if (is_first_thread())
      condition_.signal();
  }
  __device__ __forceinline__ void broadcast() {
    __syncthreads();
    if (is_first_thread())
      condition_.broadcast();
  }
};

template <class Lock> class BlockReaderWriterLock {
  Lock lock_;

public:
  __device__ __forceinline__ explicit BlockReaderWriterLock(const Lock &lock) : lock_(lock) {}
  __device__ __forceinline__ void lock_read() {
    if (is_first_thread())
      lock_.lock_read();
    __syncthreads();
  }
  __device__ __forceinline__ void unlock_read() {
    __syncthreads();
    if (is_first_thread())
      lock_.unlock_read();
  }
  __device__ __forceinline__ void lock_write() {
    if (is_first_thread())
      lock_.lock_write();
    __syncthreads();
  }
  __device__ __forceinline__ void unlock_write() {
    __syncthreads();
    if (is_first_thread())
      lock_.unlock_write();
  }
};

} // namespace primitives

#endif
