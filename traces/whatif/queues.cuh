// Queues between the blocks of a grid, of `unsigned` values: in hardware, as Stuart and Owens ask for (section 7), and in software, as
// programs have them today. All have bool put(value), which is false if the queue is full, and bool take(&value), false if it is
// empty; or, if they wait themselves, the same and always true. One thread of a block calls.
// What a thread wrote before put() is seen behind the take() that gets the value if `Order` is Fenced.
#ifndef QUEUES_CUH
#define QUEUES_CUH
#include "../primitives/primitives.cuh"

// The instructions of machines with memory.queue.bytes; others refuse them. __enqueue: 1, or 0 if the queue is full. __dequeue: the
// value in the low word and 1 in the high one, or 0 if the queue is empty. Both are relaxed, like an atomic operation.
extern "C" __device__ int __enqueue(void *queue, unsigned value);
extern "C" __device__ unsigned long long __dequeue(void *queue);

namespace queues {
using namespace primitives;

// In hardware. A queue takes memory.queue.bytes (128), at a multiple of these. Its first word says how many values it may have and
// is start(capacity) at first: bits 0 to 7 are the slot of the oldest value, 8 to 15 how many there are, 16 to 23 the capacity, at
// most 31. The slots are the words behind it.
template <class Order = Fenced> class HardwareQueue {
  Word *words_;

public:
  static constexpr __host__ __device__ Word start(Word capacity) { return capacity << 16; }
  __device__ __forceinline__ explicit HardwareQueue(Word *words) : words_(words) {}
  __device__ __forceinline__ bool put(Word value) {
    Order::fence();
    return __enqueue(words_, value);
  }
  __device__ __forceinline__ bool take(Word *value) {
    unsigned long long taken = __dequeue(words_);
    *value = (Word)taken;
    Order::fence();
    return taken >> 32;
  }
};

// In software, under a mutex (whose fences order what is handed over). `words`: head and count, both 0 at first, then the slots.
template <class Mutex> class LockedQueue {
  Mutex mutex_;
  Word *words_, capacity_;

public:
  __device__ __forceinline__ LockedQueue(const Mutex &mutex, Word *words, Word capacity)
      : mutex_(mutex), words_(words), capacity_(capacity) {}
  __device__ __forceinline__ bool put(Word value) {
    mutex_.lock();
    Word head = look(words_), count = look(words_ + 1), slot = head + count;
    bool room = count < capacity_;
    if (room) {
      primitives::put(words_ + 2 + (slot < capacity_ ? slot : slot - capacity_), value);
      primitives::put(words_ + 1, count + 1);
    }
    mutex_.unlock();
    return room;
  }
  __device__ __forceinline__ bool take(Word *value) {
    mutex_.lock();
    Word head = look(words_), count = look(words_ + 1);
    if (count) {
      *value = look(words_ + 2 + head);
      primitives::put(words_, head + 1 < capacity_ ? head + 1 : 0);
      primitives::put(words_ + 1, count - 1);
    }
    mutex_.unlock();
    return count;
  }
};

// In software, without locks: whoever puts or takes draws a number, and waits for its slot. `turns`: a word for each slot; in lap n
// a slot may be filled when its turn is 2n, and emptied when it is 2n + 1, so that no lap repeats what another one had. `tail`,
// `head` and all turns are 0 at first. For less than 2^32 values.
template <class Order = Fenced> class RingQueue {
  Word *tail_, *head_, *turns_, *slots_, size_;

public:
  __device__ __forceinline__ RingQueue(Word *tail, Word *head, Word *turns, Word *slots, Word size)
      : tail_(tail), head_(head), turns_(turns), slots_(slots), size_(size) {}
  __device__ __forceinline__ bool put(Word value) {
    Word number = take_number(tail_), at = number % size_, turn = number / size_ * 2;
    while (look(turns_ + at) != turn)
      ;
    Order::fence();
    primitives::put(slots_ + at, value);
    Order::fence();
    primitives::put(turns_ + at, turn + 1);
    return true;
  }
  __device__ __forceinline__ bool take(Word *value) {
    Word number = take_number(head_), at = number % size_, turn = number / size_ * 2 + 1;
    while (look(turns_ + at) != turn)
      ;
    Order::fence();
    *value = look(slots_ + at);
    Order::fence();
    primitives::put(turns_ + at, turn + 1);
    return true;
  }
};

} // namespace queues
#endif
