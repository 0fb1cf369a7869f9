// Clients and servers that work in rounds: what clients send in a round has been handled before any client goes on.
// Servers stay for all rounds. For algorithms whose next step reads what the critical sections of this one have left.
//
//   Rounds rounds = {finished, served, met, last, clients, servers}; // words of 0 in global memory; numbers of blocks
//   rounds.handled(number);  // all threads of each client block, behind what they have sent: number 1, 2, 3 ...
//   rounds.meet(number);     // all threads of each client block: a barrier of the client blocks
//   rounds.end();            // the same threads, once, when no round will follow
//
//   serve_rounds<4>(channel, space, rounds, period, handler); // receive_all() for rounds: all threads of a server block
//   handler(has, message)    // as of receive_all()
//   handler.end_round()      // the leader warp, when all messages of a round have been handled
//
// `Rules` is Sound for all but tests.
#ifndef ROUNDS_CUH
#define ROUNDS_CUH

#include "servers.cuh"

namespace messages {

struct SoundRounds : Sound {
  static constexpr bool await_servers = true; // clients go on when the round has been handled
  static constexpr bool await_followers =
      true; // a server has handled a round when its followers are done, not when they have read it
};

// Waits, with the whole block, until `word` has come to `value`.
static __device__ __forceinline__ void await_word(const Word *word, Word value) {
  if (threadIdx.x == 0) {
    while ((int)(look(word) - value) < 0)
      ;
    __threadfence();
  }
  __syncthreads();
}

struct Rounds {
  Word *finished; // client blocks that have sent all of a round
  Word *served;   // server blocks that have handled it
  Word *met;      // client blocks that have come to a barrier
  Word *last;     // 1: no round will follow
  Word clients, servers;

  __device__ __forceinline__ void meet(Word number) const {
    finish_sending(met);
    await_word(met, clients * number);
  }
  template <class Rules = SoundRounds> __device__ __forceinline__ void handled(Word number) const {
    finish_sending(finished);
    if (Rules::await_servers)
      await_word(served, servers * number);
  }
  __device__ __forceinline__ void end() const {
    if (blockIdx.x == 0 && threadIdx.x == 0)
      put(last, 1);
    finish_sending(finished);
  }
};

template <int WORDS, class Rules, class Handler>
static __device__ __forceinline__ void lead_rounds(const Channel<WORDS> &from, ReceiverSpace *space, Word followers,
                                                   const Rounds &rounds, Word period, Handler &handler) {
  Leader<WORDS, Rules> leader(from, space, followers);
  Word idle = 0, sent = rounds.clients, last = 0;
  do {
    idle = leader.step() ? 0 : idle + 1;
    if (idle < period || (idle = 0, !leader.is_over(rounds.finished, sent)))
      continue;
    if (Rules::await_followers)
      leader.settle();
    handler.end_round();
    __threadfence();
    if (lane_number() == 0) {
      last = look(rounds.last);
      atomicAdd(rounds.served, 1);
    }
    last = from_first(last);
    sent += rounds.clients;
  } while (!last);
  leader.stop();
}

template <int WORDS, class Rules = SoundRounds, class Handler>
static __device__ __forceinline__ void serve_rounds(const Channel<WORDS> &from, ReceiverSpace *space,
                                                    const Rounds &rounds, Word period, Handler &handler) {
  begin_receiver(space);
  __syncthreads();
  if (warp_number() == 0)
    lead_rounds<WORDS, Rules>(from, space, blockDim.x / LANES - 1, rounds, period, handler);
  else
    follow<WORDS>(from, space, warp_number() - 1, handler);
}

} // namespace messages

#endif
