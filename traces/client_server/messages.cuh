// Messages from thread blocks to thread blocks through buffers in global memory, after Wang, Fussell and Lin, "Fast Fine-Grained
// Global Synchronization on GPUs" (2019), section 3.2. For CUDA C++14 and later; nothing else is included. doc/client_server.md says
// what is tested, and what the paper leaves open.
//
//   using namespace messages;
//   Channel<2> channel(words, 4096);               // one for each receiver block: channel_words(4096, 2) words of 0
//   basic_send(channel, message);                  // any thread; waits while the buffer is full
//   BasicReceiver<2> receiver(channel, &next);     // each thread of the receiver block; `next`: a shared word of 0
//   while (...) if (receiver.receive(message)) ...
//
// A channel is a circular buffer of `entries` messages of WORDS words, with
// - a write index: senders reserve places by adding to it;
// - a read index: all places before it have been read; the place p may be written once p - read index < entries;
// - a bit mask, one bit for each entry: set by the sender behind the message's data, reset by the receiver.
// Indices count on for ever and wrap around at 2^32, so `entries` is a power of two.
//
// Whoever receives frees the entries in order. A read index that each reader adds 1 to when it is done, as the paper has it, lets a
// sender overwrite a message that a slow thread still reads, while others have read messages behind it (FreeAtOnce below).
//
// `Rules` is Sound for all but tests: messages.cu breaks one rule after the other.
#ifndef MESSAGES_CUH
#define MESSAGES_CUH

namespace messages {

using Word = unsigned;

enum { LANES = 32 };
enum : Word { ALL_LANES = ~0u };

struct Sound {
  static constexpr bool fence_before_mask = true; // the sender: between the data and the bit
  static constexpr bool reset_behind_read = true; // the receiver: mask and read index behind the data's reads
  static constexpr bool free_in_order = true;     // the read index passes a place only when all before it are read
  static constexpr bool wait_together = true;     // lanes that have room don't wait for lanes that have none
  static constexpr bool empty_at_end = true;      // the receiver looks for messages once more behind the flag
};

static __device__ __forceinline__ Word look(const Word *word) { return *(const volatile Word *)word; }
static __device__ __forceinline__ void put(Word *word, Word value) { *(volatile Word *)word = value; }
static __device__ __forceinline__ unsigned lane_number() { return threadIdx.x & (LANES - 1); }
static __device__ __forceinline__ unsigned warp_number() { return threadIdx.x / LANES; }

// The finalizer of MurmurHash3, of `index` in the row of `seed`.
static __device__ __forceinline__ Word hash32(Word seed, Word index) {
  Word h = seed ^ index * 0x9E3779B9u;
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

template <int WORDS> struct Message { Word word[WORDS]; };

// --- a channel: the buffer of one receiver block ---

enum { READ_AT = 32, MASK_AT = 64 }; // the write index in a line, the read index in another

static constexpr __host__ __device__ Word mask_words(Word entries) { return entries < LANES ? 1 : entries / LANES; }
static constexpr __host__ __device__ Word channel_words(Word entries, Word words) {
  return MASK_AT + mask_words(entries) + entries * words;
}

template <int WORDS> class Channel {
  Word *base_, entries_;

  // Word w of all messages lies together, so that lanes with messages in a row access words in a row.
  __device__ __forceinline__ Word *data() const { return base_ + MASK_AT + mask_words(entries_); }

public:
  // `base`: as many words as channel_words() says, 0 at first.
  __device__ __forceinline__ Channel(Word *base, Word entries) : base_(base), entries_(entries) {}
  __device__ __forceinline__ Word entries() const { return entries_; }
  __device__ __forceinline__ Word slot(Word place) const { return place & (entries_ - 1); }
  __device__ __forceinline__ Word *write_index() const { return base_; }
  __device__ __forceinline__ Word *read_index() const { return base_ + READ_AT; }
  __device__ __forceinline__ Word *mask(Word place) const { return base_ + MASK_AT + slot(place) / LANES; }
  __device__ __forceinline__ Word bit(Word place) const { return 1u << slot(place) % LANES; }
  __device__ __forceinline__ bool has_room(Word place, Word read) const { return place - read < entries_; }
  __device__ __forceinline__ void store(Word place, const Message<WORDS> &message) const {
#pragma unroll
    for (int w = 0; w < WORDS; w++)
      data()[w * entries_ + slot(place)] = message.word[w];
  }
  __device__ __forceinline__ void load(Word place, Message<WORDS> &message) const {
#pragma unroll
    for (int w = 0; w < WORDS; w++)
      message.word[w] = data()[w * entries_ + slot(place)];
  }
};

// --- the basic algorithm (3.2.1): each thread for itself ---

template <class Rules, int WORDS>
static __device__ __forceinline__ void basic_put(const Channel<WORDS> &to, Word place,
                                                 const Message<WORDS> &message) {
  __threadfence(); // who has read this entry, a lap ago, is done
  to.store(place, message);
  if (Rules::fence_before_mask)
    __threadfence();
  atomicOr(to.mask(place), to.bit(place));
}

// Waits while the buffer is full. A lane that has room goes on at once: on a SIMT stack it would otherwise wait behind the loop for
// lanes that wait for the receiver, who waits for its message. The vote keeps the compiler from moving the body behind the loop.
template <class Rules = Sound, int WORDS>
static __device__ __forceinline__ void basic_send(const Channel<WORDS> &to, const Message<WORDS> &message) {
  Word place = atomicAdd(to.write_index(), 1);
  if (!Rules::wait_together) {
    while (!to.has_room(place, look(to.read_index())))
      ;
    basic_put<Rules>(to, place, message);
    return;
  }
  unsigned together = __activemask();
  bool sent = false;
#pragma unroll 1
  do {
    if (!sent && to.has_room(place, look(to.read_index()))) {
      basic_put<Rules>(to, place, message);
      sent = true;
    }
  } while (__any_sync(together, !sent));
}

// Each thread of the receiver block has one. A thread waits for the message of one place, and when it has read that frees the place
// as soon as all before it are free. It never blocks. No more threads than entries: of two places in one entry a thread couldn't
// tell whose bit is set.
template <int WORDS, class Rules = Sound> class BasicReceiver {
  Channel<WORDS> from_;
  Word *next_, place_;
  bool freeing_;

  __device__ __forceinline__ void reset() {
    atomicAnd(from_.mask(place_), ~from_.bit(place_));
    __threadfence(); // a sender that finds the entry free sets the bit behind this
  }
  __device__ __forceinline__ void free() {
    atomicAdd(from_.read_index(), 1);
    place_ = atomicAdd(next_, 1);
    freeing_ = false;
  }

public:
  // `next`: a word of 0 in shared memory; the next place that no thread waits for.
  __device__ __forceinline__ BasicReceiver(const Channel<WORDS> &from, Word *next)
      : from_(from), next_(next), place_(atomicAdd(next, 1)), freeing_(false) {}
  // True: here is a message.
  __device__ __forceinline__ bool receive(Message<WORDS> &message) {
    bool found = false;
    if (!freeing_ && (look(from_.mask(place_)) & from_.bit(place_))) {
      found = true;
      Word place = place_;
      __threadfence();
      if (!Rules::reset_behind_read) {
        reset();
        free();
        from_.load(place, message);
        return true;
      }
      from_.load(place, message);
      __threadfence();
      reset();
      freeing_ = true;
    }
    if (freeing_ && (!Rules::free_in_order || look(from_.read_index()) == place_)) {
      __threadfence(); // what the earlier ones have read and reset is done, too
      free();
    }
    return found;
  }
};

// --- the end: a word that counts the sender blocks that are done ---

// All threads of a sender block call this, when all that they send is sent.
static __device__ __forceinline__ void finish_sending(Word *finished) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(finished, 1);
}
// One thread of a receiver block: true if no message will come any more, and none is in the buffer.
template <class Rules = Sound, int WORDS>
static __device__ __forceinline__ bool is_over(const Channel<WORDS> &from, const Word *finished, Word senders) {
  Word done = look(finished);
  __threadfence(); // if all have been sent the write index has its last value
  if (done != senders)
    return false;
  return !Rules::empty_at_end || look(from.write_index()) == look(from.read_index());
}

} // namespace messages

#endif
