// The optimised form of messages.cuh (Wang, Fussell and Lin 2019, 3.2.2 to 3.2.4): batches of messages share what the basic algorithm
// does for each. A sender block collects messages in local buffers in shared memory, one for each receiver, and copies runs of them.
// A receiver block has a leader warp, which reads the mask for all, and followers, which read messages in a row.
//
//   Sender<2> sender(shared, channels, receivers, 4096, 64); // sender_words(receivers, 64, 2) words of shared memory
//   sender.begin();                                  // all threads of the block
//   sender.send(has, target, message);               // whole warps; lanes without a message, too
//   sender.flush();                                  // all threads of the block, at the end
//
//   receive_all<2>(channel, space, finished, senders, period, handler); // all threads of a block of 2 to 32 warps
//   handler(has, message)                            // whole follower warps; returns when all messages have been handled
//
// Channels have 32 to 65536 entries here; blocks have one dimension and whole warps.
#ifndef BATCHES_CUH
#define BATCHES_CUH

#include "messages.cuh"

namespace messages {

enum : Word { STOP = ~0u };
enum { COUNTERS = 8 };

// Shared memory of a receiver block.
struct ReceiverSpace {
  // What a follower is to read: the first entry (16 bits), how many (6 bits), the reset counter. 0: it has nothing to do.
  Word assigned[LANES];
  // Reset counters: messages that have been read, of those that were assigned.
  Word current[COUNTERS], target[COUNTERS];
};

static __device__ __forceinline__ Word pack(Word slot, Word size, Word counter) {
  return slot | size << 16 | counter << 22;
}
static __device__ __forceinline__ Word slot_of(Word packed) { return packed & 0xffff; }
static __device__ __forceinline__ Word size_of(Word packed) { return packed >> 16 & 63; }
static __device__ __forceinline__ Word counter_of(Word packed) { return packed >> 22; }
static __device__ __forceinline__ Word from_first(Word value) { return __shfl_sync(ALL_LANES, value, 0); }
// Bits `from` to `to` - 1 of a word.
static __device__ __forceinline__ Word bits_between(Word from, Word to) {
  return (to < LANES ? (1u << to) - 1 : ~0u) & ~((1u << from) - 1);
}

// --- the leader warp ---

template <int WORDS, class Rules = Sound> class Leader {
  Channel<WORDS> from_;
  ReceiverSpace *space_;
  Word followers_, head_, freed_, oldest_, newest_; // messages assigned, messages freed, counters in use

  // The mask from the head on, a word each lane; the run of messages there ends at the first 0. Entries that are assigned and not
  // yet freed have their bits set, too: the run ends there at the latest, or it would go round and find them again.
  __device__ __forceinline__ Word find_run() {
    Word lane = lane_number(), words = mask_words(from_.entries());
    Word mine = lane < words ? look(from_.mask(head_ + lane * LANES)) : 0;
    if (lane == 0)
      mine |= bits_between(0, head_ % LANES);
    unsigned gaps = __ballot_sync(ALL_LANES, mine != ~0u);
    Word first = gaps ? __ffs(gaps) - 1 : LANES;
    Word last = __shfl_sync(ALL_LANES, mine, first % LANES);
    Word count = first * LANES + (gaps ? __ffs(~last) - 1 : 0) - head_ % LANES;
    return min(count, from_.entries() - (head_ - freed_));
  }
  // To followers that have nothing to do, up to 32 messages each; returns how many.
  __device__ __forceinline__ Word assign(Word found) {
    Word lane = lane_number();
    bool idle = lane < followers_ && look(&space_->assigned[lane]) == 0;
    unsigned ready = __ballot_sync(ALL_LANES, idle);
    Word start = __popc(ready & bits_between(0, lane)) * LANES, total = min(found, (Word)__popc(ready) * LANES);
    if (total == 0)
      return 0;
    Word counter = newest_ % COUNTERS;
    if (lane == 0)
      put(&space_->target[counter], look(&space_->target[counter]) + total);
    __threadfence(); // the messages' data, which the mask's bits stand for
    __syncwarp();
    if (idle && start < total)
      put(&space_->assigned[lane], pack(from_.slot(head_ + start), min(total - start, (Word)LANES), counter));
    head_ += total;
    return total;
  }
  // Resets the mask of `count` messages, from the first that isn't free, and frees them.
  __device__ __forceinline__ void reset(Word count) {
    __threadfence(); // behind the reads of the followers
    Word shift = freed_ % LANES;
    for (Word at = lane_number() * LANES; at < shift + count; at += LANES * LANES)
      atomicAnd(from_.mask(freed_ - shift + at), ~bits_between(at ? 0 : shift, min(shift + count - at, (Word)LANES)));
    __threadfence();
    __syncwarp();
    freed_ += count;
    if (lane_number() == 0)
      atomicAdd(from_.read_index(), count);
  }
  // Ends the oldest counter if all its messages have been read; the one that still collects, only if that's much, or nothing else
  // is to be done.
  __device__ __forceinline__ void free(bool idle) {
    Word counter = oldest_ % COUNTERS;
    __threadfence_block(); // behind the look at who is idle
    Word target = from_first(look(&space_->target[counter])), current = from_first(look(&space_->current[counter]));
    if (oldest_ == newest_ && target >= from_.entries() / 4 && newest_ + 1 - oldest_ < COUNTERS)
      newest_++;
    if (target == 0 || (current != target && Rules::reset_behind_read) || (oldest_ == newest_ && !idle))
      return;
    reset(target);
    if (lane_number() == 0) {
      put(&space_->target[counter], 0);
      if (Rules::reset_behind_read)
        put(&space_->current[counter], 0);
    }
    __syncwarp();
    newest_ += oldest_ == newest_;
    oldest_++;
  }

public:
  __device__ __forceinline__ Leader(const Channel<WORDS> &from, ReceiverSpace *space, Word followers)
      : from_(from), space_(space), followers_(followers), head_(0), freed_(0), oldest_(0), newest_(0) {}
  // Whole warp. True if there was something to assign.
  __device__ __forceinline__ bool step() {
    Word found = find_run();
    bool assigned = found && assign(found);
    free(!assigned);
    return assigned;
  }
  // The warp reads all messages itself, and calls action(has, message), which mustn't wait, for up to 32 at a time. It frees them when a
  // quarter of the buffer has been read, or nothing else is to be done. For messages whose handling is short and sure to succeed,
  // without followers.
  template <class Action> __device__ __forceinline__ bool step_directly(Action &action) {
    Word found = find_run();
    if (found) {
      __threadfence(); // the messages' data, which the mask's bits stand for
#pragma unroll 1
      for (Word at = lane_number(); at - lane_number() < found; at += LANES) {
        bool has = at < found;
        Message<WORDS> message;
        if (has)
          from_.load(head_ + at, message);
        action(has, message);
        __syncwarp();
      }
      head_ += found;
    }
    Word read = head_ - freed_;
    if (read && (!found || read >= from_.entries() / 4))
      reset(read);
    return found;
  }
  // Whole warp: true if no message will come any more, and all have been assigned.
  __device__ __forceinline__ bool is_over(const Word *finished, Word senders) const {
    Word over = 0;
    if (lane_number() == 0) {
      over = look(finished) == senders;
      __threadfence(); // if all have been sent the write index has its last value
      over = over && look(from_.write_index()) == head_;
    }
    return from_first(over);
  }
  // Waits until the followers have done what they had to do.
  __device__ __forceinline__ void settle() {
    while (freed_ != head_)
      free(true);
    bool busy = lane_number() < followers_;
    do
      busy = busy && look(&space_->assigned[lane_number()]) != 0;
    while (__any_sync(ALL_LANES, busy));
  }
  // Sends the followers away, once each has done what it had to do.
  __device__ __forceinline__ void stop() {
    settle();
    if (lane_number() < followers_)
      put(&space_->assigned[lane_number()], STOP);
  }
};

// --- a follower warp ---

template <int WORDS> class Follower {
  Channel<WORDS> from_;
  ReceiverSpace *space_;
  Word *assigned_;
  bool busy_;

public:
  __device__ __forceinline__ Follower(const Channel<WORDS> &from, ReceiverSpace *space, Word number)
      : from_(from), space_(space), assigned_(&space->assigned[number]), busy_(false) {}
  // Whole warp: what came before is done. Waits for messages; false: none will come any more.
  __device__ __forceinline__ bool take(bool &has, Message<WORDS> &message) {
    Word lane = lane_number(), assigned;
    __threadfence_block();
    __syncwarp();
    if (busy_ && lane == 0)
      put(assigned_, 0);
    __syncwarp();
    do
      assigned = from_first(look(assigned_));
    while (assigned == 0);
    if (assigned == STOP)
      return false;
    busy_ = true;
    __threadfence_block();
    has = lane < size_of(assigned);
    if (has)
      from_.load(slot_of(assigned) + lane, message);
    __threadfence_block();
    __syncwarp();
    if (lane == 0)
      atomicAdd(&space_->current[counter_of(assigned)], size_of(assigned));
    return true;
  }
};

// --- the warps of a receiver block ---

static __device__ __forceinline__ void begin_receiver(ReceiverSpace *space) {
  for (Word i = threadIdx.x; i < sizeof(ReceiverSpace) / sizeof(Word); i += blockDim.x)
    ((Word *)space)[i] = 0;
}
template <int WORDS, class Rules = Sound>
static __device__ __forceinline__ void lead(const Channel<WORDS> &from, ReceiverSpace *space, Word followers,
                                            const Word *finished, Word senders, Word period) {
  Leader<WORDS, Rules> leader(from, space, followers);
  Word idle = 0;
  do
    idle = leader.step() ? 0 : idle + 1;
  while (idle < period || (idle = 0, !leader.is_over(finished, senders)));
  leader.stop();
}
// A leader without followers.
template <int WORDS, class Action>
static __device__ __forceinline__ void handle(const Channel<WORDS> &from, const Word *finished, Word senders,
                                              Word period, Action &action) {
  Leader<WORDS> leader(from, nullptr, 0);
  Word idle = 0;
  do
    idle = leader.step_directly(action) ? 0 : idle + 1;
  while (idle < period || (idle = 0, !leader.is_over(finished, senders)));
}
template <int WORDS, class Handler>
static __device__ __forceinline__ void follow(const Channel<WORDS> &from, ReceiverSpace *space, Word number,
                                              Handler &handler) {
  Follower<WORDS> follower(from, space, number);
  bool has;
  Message<WORDS> message;
  while (follower.take(has, message))
    handler(has, message);
}

// `period`: the leader looks for the end each time it has found nothing so often.
template <int WORDS, class Rules = Sound, class Handler>
static __device__ __forceinline__ void receive_all(const Channel<WORDS> &from, ReceiverSpace *space,
                                                   const Word *finished, Word senders, Word period,
                                                   Handler &handler) {
  begin_receiver(space);
  __syncthreads();
  if (warp_number() == 0)
    lead<WORDS, Rules>(from, space, blockDim.x / LANES - 1, finished, senders, period);
  else
    follow<WORDS>(from, space, warp_number() - 1, handler);
}

// --- a sender block ---

enum { RESERVED_AT, COPIED_AT, BUSY_AT, KNOWN_AT, LOCAL_MASK_AT };

static constexpr __host__ __device__ Word local_words(Word local, Word words) {
  return LOCAL_MASK_AT + mask_words(local) + local * words;
}
static constexpr __host__ __device__ Word sender_words(Word targets, Word local, Word words) {
  return 1 + targets * local_words(local, words);
}

// A view of the local buffers: circular ones as a channel, with `local` entries (a power of two).
template <int WORDS, class Rules = Sound> class Sender {
  Word *turn_, *channels_, targets_, entries_, local_;

  __device__ __forceinline__ Word *buffer(Word target) const {
    return turn_ + 1 + target * local_words(local_, WORDS);
  }
  __device__ __forceinline__ Word *mask(Word target, Word place) const {
    return buffer(target) + LOCAL_MASK_AT + (place & (local_ - 1)) / LANES;
  }
  __device__ __forceinline__ Word bit(Word place) const { return 1u << (place & (local_ - 1)) % LANES; }
  __device__ __forceinline__ Word *data(Word target, Word place) const {
    return buffer(target) + LOCAL_MASK_AT + mask_words(local_) + (place & (local_ - 1));
  }
  __device__ __forceinline__ Channel<WORDS> channel(Word target) const {
    return Channel<WORDS>(channels_ + target * channel_words(entries_, WORDS), entries_);
  }

  // Waits until the place is free, by the block's copy of the read index, `read`, and by that itself where the copy is too old.
  __device__ __forceinline__ void await_room(const Channel<WORDS> &to, Word *known, Word read, Word place) const {
    while (!to.has_room(place, read)) {
      read = from_first(look(to.read_index()));
      __threadfence();
      if (lane_number() == 0)
        put(known, read);
    }
  }
  // Takes `count` places in a row, and waits until they are free.
  __device__ __forceinline__ Word reserve(Word target, Word count) const {
    Channel<WORDS> to = channel(target);
    Word *known = buffer(target) + KNOWN_AT, read = from_first(look(known)), first = 0;
    if (lane_number() == 0)
      first = atomicAdd(to.write_index(), count);
    first = from_first(first);
    await_room(to, known, read, first + count - 1);
    return first;
  }
  // True if the place is free, likewise. Doesn't wait.
  __device__ __forceinline__ bool has_room(const Channel<WORDS> &to, Word *known, Word place) const {
    if (to.has_room(place, from_first(look(known))))
      return true;
    Word read = from_first(look(to.read_index()));
    __threadfence();
    if (lane_number() == 0)
      put(known, read);
    return to.has_room(place, read);
  }
  // The first `count` lanes have a message each, for the places from `first` on, which are free.
  __device__ __forceinline__ void publish(Word target, Word first, Word count, const Message<WORDS> &message) const {
    Channel<WORDS> to = channel(target);
    Word lane = lane_number();
    __threadfence(); // who has read these entries, a lap ago, is done
    if (lane < count)
      to.store(first + lane, message);
    if (Rules::fence_before_mask)
      __threadfence();
    __syncwarp();
    Word shift = first % LANES, end = shift + count;
    if (lane == 0)
      atomicOr(to.mask(first), bits_between(shift, min(end, (Word)LANES)));
    if (lane == 1 && end > LANES)
      atomicOr(to.mask(first + count), bits_between(0, end - LANES));
  }
  // A run of messages on its way to a channel: the first `count` lanes have one each, for the places from `first` on.
  struct Run {
    Word target, first, count;
    Message<WORDS> message;
  };
  // Takes a run of messages out of a local buffer, if no other warp does, and publishes it; or, unless it `WAITS` for room, leaves that to
  // the caller: *later.
  template <bool WAITS> __device__ __forceinline__ void copy(Word target, Run *later) const {
    Word lane = lane_number(), *copied = buffer(target) + COPIED_AT, *busy = buffer(target) + BUSY_AT;
    if (from_first(lane == 0 ? atomicExch(busy, 1) : 0))
      return;
    __threadfence_block();
    Word first = from_first(look(copied)), place = first + lane;
    unsigned ready = __ballot_sync(ALL_LANES, lane < local_ && (look(mask(target, place)) & bit(place)));
    Word count = ~ready ? __ffs(~ready) - 1 : LANES;
    Message<WORDS> message;
    if (lane < count) {
      __threadfence_block();
#pragma unroll
      for (int w = 0; w < WORDS; w++)
        message.word[w] = data(target, place)[w * local_];
      __threadfence_block();
      atomicAnd(mask(target, place), ~bit(place));
    }
    __threadfence_block();
    __syncwarp();
    if (lane == 0) {
      put(copied, first + count);
      __threadfence_block();
      atomicExch(busy, 0);
    }
    if (WAITS && count)
      publish(target, reserve(target, count), count, message);
    if (!WAITS && count)
      *later = {target, from_first(lane == 0 ? atomicAdd(channel(target).write_index(), count) : 0), count, message};
  }

  // False if the local buffer is full.
  __device__ __forceinline__ bool enter(Word target, Word place, const Message<WORDS> &message) const {
    if (place - look(buffer(target) + COPIED_AT) >= local_)
      return false;
    __threadfence_block(); // who has copied this entry, a lap ago, is done
#pragma unroll
    for (int w = 0; w < WORDS; w++)
      data(target, place)[w * local_] = message.word[w];
    __threadfence_block();
    atomicOr(mask(target, place), bit(place));
    return true;
  }

public:
  __device__ __forceinline__ Sender(Word *shared, Word *channels, Word targets, Word entries, Word local)
      : turn_(shared), channels_(channels), targets_(targets), entries_(entries), local_(local) {}
  __device__ __forceinline__ void begin() const {
    for (Word i = threadIdx.x; i < sender_words(targets_, local_, WORDS); i += blockDim.x)
      turn_[i] = 0;
    __syncthreads();
  }
  // Puts the messages of a warp into local buffers, and copies one buffer, or more until all have found room.
  __device__ __forceinline__ void send(bool has, Word target, const Message<WORDS> &message) const {
    Word place = has ? atomicAdd(buffer(target) + RESERVED_AT, 1) : 0;
    do {
      has = has && !enter(target, place, message);
      __threadfence_block(); // the bits of this warp, for whoever takes the next turn
      __syncwarp();
      Word turn = lane_number() == 0 ? atomicInc(turn_, targets_ - 1) : 0;
      copy<true>(from_first(turn), nullptr);
    } while (__any_sync(ALL_LANES, has));
  }
  // The same step by step, for who has other things to do meanwhile: a message's place in the local buffer, and what of it is to be
  // done; and a run that waits for room.
  struct Sending {
    Word place;
    bool enters, waits; // it isn't in the local buffer yet; it hasn't left it yet
    unsigned left;      // lanes whose message hasn't
    Run run;            // its count is 0 if there is none
    __device__ __forceinline__ bool goes_on() const { return left || run.count; }
  };
  __device__ __forceinline__ Sending begin_sending(bool has, Word target) const {
    return {has ? atomicAdd(buffer(target) + RESERVED_AT, 1) : 0, has, has, __ballot_sync(ALL_LANES, has), {0, 0, 0, {}}};
  }
  // A whole warp whose sending goes on enters messages where there is room, takes a run out of a local buffer, and publishes it when there
  // is room in its channel. It never waits. `round`: of steps, counted up.
  __device__ __forceinline__ void send_step(Sending &sending, Word target, const Message<WORDS> &message, Word &round) const {
    Run &run = sending.run;
    if (run.count == 0) {
      sending.enters = sending.enters && !enter(target, sending.place, message);
      __threadfence_block(); // the bits of this warp, for whoever copies the buffer next
      __syncwarp();
      Word shift = round++ % LANES, lane = (__ffs(__funnelshift_r(sending.left, sending.left, shift)) - 1 + shift) % LANES;
      copy<false>(__shfl_sync(ALL_LANES, target, lane), &run);
      sending.waits = sending.waits && (int)(look(buffer(target) + COPIED_AT) - sending.place) <= 0;
      sending.left = __ballot_sync(ALL_LANES, sending.waits);
    }
    if (run.count && has_room(channel(run.target), buffer(run.target) + KNOWN_AT, run.first + run.count - 1)) {
      publish(run.target, run.first, run.count, run.message);
      run.count = 0;
    }
  }
  __device__ __forceinline__ void flush() const {
    __syncthreads();
    for (Word target = warp_number(); target < targets_; target += blockDim.x / LANES)
      while (from_first(look(buffer(target) + RESERVED_AT)) != from_first(look(buffer(target) + COPIED_AT)))
        copy<true>(target, nullptr);
  }
};

} // namespace messages

#endif
