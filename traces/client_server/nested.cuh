// Servers for two nested locks (Wang, Fussell and Lin 2019, 3.3). A client sends its order to the server of the lower of both locks.
// That asks for the other one, which may belong to another server, by a request; gets it by a reply; takes its own; executes the
// critical section; and gives the other one back by an unlock message. Retries stay in shared memory.
//
// Why it ends: the higher lock is taken first, and the hierarchy is one of all servers' locks. Whoever waits for a request's lock
// holds nothing. Replies and unlocks have channels and warps of their own, which never wait; so have requests, since all who execute
// orders may be waiting for replies. Who has a lock never waits for room in a channel of requests: some of a warp's requests may be
// granted before others have found room there, which may come only when those locks are given back. So a warp looks after
// its orders between two looks for room. Requests go through local buffers; replies and unlocks, which others wait for, don't.
//
// A server block: the leaders of orders and of requests, the warps that handle replies and unlocks, `workers` followers for orders, and
// the rest for requests.
#ifndef NESTED_CUH
#define NESTED_CUH

#include "servers.cuh"

namespace messages {

enum { ORDER_LEADER, REQUEST_LEADER, REPLY_HANDLER, UNLOCK_HANDLER, WORKERS_AT };
enum : Word { UNLOCK = 1u << 31 }; // in a request: this is an unlock message (for the broken form with one channel)
enum : Word { WAITED = 1u << 15 }; // in a reply: the lock was another one's when it was asked for; threads have smaller numbers

struct NestedSpace {
  ReceiverSpace orders, requests;
  Word replied[LANES]; // a bit for each thread: the lock that it asked for is its own
};

// What all servers share. `separate`: 0 (broken): unlock messages go the way of requests.
struct NestedShape {
  Word *orders, *requests, *replies, *unlocks; // channels, one for each server
  Word entries, local, servers, clients, period, workers, separate; // local: entries of a local buffer of requests
  Word *finished, *served; // clients, and servers, that are done
};

// `Clock` measures how long locks go from owner to owner (locks.cuh of traces/irregular): who has a lock is who may execute the critical
// section, whichever thread took it in its server's shared memory. Its locks have the numbers of the hierarchy. If Clock::MEASURES, only
// locks that somebody waited for count, or, if Clock.every, each new owner; Clock.waited is shared memory of LANES zeros: a bit for each
// thread that its reply was waited for.
template <class Section, class Clock> class NestedServer {
  NestedShape shape_;
  NestedSpace *space_;
  LocalLocks locks_;
  Sender<2> requests_;
  Section section_;
  Clock &clock_;
  Word me_;

  template <int WORDS> __device__ __forceinline__ Channel<WORDS> channel(Word *channels, Word server) const {
    return Channel<WORDS>(channels + server * channel_words(shape_.entries, WORDS), shape_.entries);
  }
  __device__ __forceinline__ Word *reply_word(Word thread) const { return &space_->replied[thread / LANES]; }
  __device__ __forceinline__ bool take_reply() const {
    Word bit = 1u << lane_number();
    if (!(look(reply_word(threadIdx.x)) & bit))
      return false;
    __threadfence_block(); // behind the critical sections of the lock's owners before; who noted the reply had the GPU's fence
    atomicAnd(reply_word(threadIdx.x), ~bit);
    return true;
  }
  // What take_reply() took was waited for.
  __device__ __forceinline__ bool reply_waited() const {
    bool waited = false;
    if constexpr (Clock::MEASURES) {
      Word *word = &clock_.waited[threadIdx.x / LANES], bit = 1u << lane_number();
      waited = look(word) & bit;
      if (waited)
        atomicAnd(word, ~bit);
    }
    return waited;
  }
  __device__ __forceinline__ void note_taken(Word number, bool waited) const {
    if constexpr (Clock::MEASURES) {
      if (waited || clock_.every) {
        clock_.has_lock();
        clock_.taken(locks_.rank_of(number));
      }
    }
  }
  __device__ __forceinline__ void give_back(Word number) const {
    Word index = locks_.index_of(number), server = locks_.server_of(number);
    Message<1> message = {{index}};
    if (shape_.separate)
      basic_send(channel<1>(shape_.unlocks, server), message);
    else
      basic_send(channel<2>(shape_.requests, server), Message<2>{{index | UNLOCK, 0}});
  }

public:
  // `buffers`: sender_words(servers, local, 2) words of shared memory.
  __device__ __forceinline__ NestedServer(const NestedShape &shape, NestedSpace *space, Word *buffers,
                                          const LocalLocks &locks, const Section &section, Clock &clock)
      : shape_(shape), space_(space), locks_(locks),
        requests_(buffers, shape.requests, shape.servers, shape.entries, shape.local), section_(section),
        clock_(clock), me_(blockIdx.x) {}

  // Orders: the number of the lower lock's data, that of the other one's, and a word for the section.
  __device__ __forceinline__ void operator()(bool has, const Message<3> &order) {
    Word own = order.word[0], other = order.word[1];
    bool remote = locks_.server_of(other) != me_, same = locks_.rank_of(other) == locks_.rank_of(own), holds = false;
    bool waited = false; // for the lock that it tries next
    Word *mine = locks_.lock(locks_.index_of(own)), *its = locks_.lock(locks_.index_of(other)), target = locks_.server_of(other),
         round = warp_number();
    Message<2> request = {{locks_.index_of(other), me_ << 16 | threadIdx.x}};
    typename Sender<2>::Sending sending = requests_.begin_sending(has && remote, target);
    do {
      if (sending.goes_on()) {
        requests_.send_step(sending, target, request, round);
        if (sending.left && !sending.run.count)
          continue;
      }
      if (has && !holds) {
        holds = same || (remote ? take_reply() : try_lock(its));
        if (holds && !same) {
          note_taken(other, remote ? reply_waited() : waited);
          waited = false;
        } else if (!holds) {
          waited = true;
        }
      }
      bool tries = has && holds;
      if (tries && try_lock(mine)) {
        note_taken(own, waited);
        section_(own, other, order.word[2]);
        clock_.frees(locks_.rank_of(own));
        if (!same)
          clock_.frees(locks_.rank_of(other));
        __threadfence();
        unlock(mine);
        if (remote)
          give_back(other);
        else if (!same)
          unlock(its);
        has = tries = false;
      }
      waited |= tries;
    } while (__any_sync(ALL_LANES, has) || sending.goes_on());
  }
  // Requests: which lock, and who asks for it. The reply says that it is taken.
  __device__ __forceinline__ void operator()(bool has, const Message<2> &request) {
    if (has && (request.word[0] & UNLOCK)) {
      __threadfence();
      unlock(locks_.lock(request.word[0] & ~UNLOCK));
      has = false;
    }
    Word waited = 0;
    do {
      if (has && try_lock(locks_.lock(request.word[0]))) { // the message's fences are the lock's, too
        Message<1> reply = {{(request.word[1] & 0xffff) | waited}};
        basic_send(channel<1>(shape_.replies, request.word[1] >> 16), reply);
        has = false;
      }
      if (Clock::MEASURES)
        waited = WAITED;
    } while (__any_sync(ALL_LANES, has));
  }
  __device__ __forceinline__ void run() {
    begin_receiver(&space_->orders);
    begin_receiver(&space_->requests);
    locks_.begin();
    requests_.begin();
    if (threadIdx.x < LANES)
      space_->replied[threadIdx.x] = 0;
    __syncthreads();
    Word warp = warp_number(), requesters_at = WORKERS_AT + shape_.workers, period = shape_.period;
    if (warp == ORDER_LEADER) {
      lead(channel<3>(shape_.orders, me_), &space_->orders, shape_.workers, shape_.finished, shape_.clients, period);
      __threadfence();
      if (lane_number() == 0)
        atomicAdd(shape_.served, 1);
    } else if (warp == REQUEST_LEADER) {
      lead(channel<2>(shape_.requests, me_), &space_->requests, blockDim.x / LANES - requesters_at, shape_.served,
           shape_.servers, period);
    } else if (warp == REPLY_HANDLER) {
      auto note = [&](bool has, const Message<1> &reply) {
        if (!has)
          return;
        Word thread = Clock::MEASURES ? reply.word[0] & ~WAITED : reply.word[0], bit = 1u << thread % LANES;
        if constexpr (Clock::MEASURES) {
          if (reply.word[0] & WAITED)
            atomicOr(&clock_.waited[thread / LANES], bit);
          __threadfence_block();
        }
        atomicOr(reply_word(thread), bit);
      };
      handle(channel<1>(shape_.replies, me_), shape_.served, shape_.servers, period, note);
    } else if (warp == UNLOCK_HANDLER) {
      auto free = [&](bool has, const Message<1> &message) {
        if (has)
          unlock(locks_.lock(message.word[0]));
      };
      handle(channel<1>(shape_.unlocks, me_), shape_.served, shape_.servers, period, free);
    } else if (warp < requesters_at) {
      follow(channel<3>(shape_.orders, me_), &space_->orders, warp - WORKERS_AT, *this);
    } else {
      follow(channel<2>(shape_.requests, me_), &space_->requests, warp - requesters_at, *this);
    }
  }
};

} // namespace messages

#endif
