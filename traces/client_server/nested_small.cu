// Two nested locks of servers (nested.cuh) in the smallest form, by the basic algorithm of messages.cuh and with one thread of a warp for
// each task, so that it can be proved why a broken one hangs. A client's order counts up two of the `counts`, under the locks of both.
// `ordered`: 1: the order goes to the server of the lower count; 0 (broken): to that of the first. `separate`: 0 (broken): unlock
// messages go the way of requests. small_servers_close has channels of `room` entries for all but orders; `together`:
// 1 (broken): requests, replies and unlocks share a channel and the warp that handles them, which may wait for room
// for a reply, and meanwhile makes none.
// PTX: make_ptx.sh nested_small.cu
#include "messages.cuh"
using namespace messages;

enum { MOST_LOCKS = 32, REQUESTS = 0, REPLIES, UNLOCKS, WORKERS_AT };
enum : Word { UNLOCK = 1u << 31, REPLY = 1u << 30 }; // what a message is, in the channel of requests

struct Bench {
  Word *orders, *requests, *replies, *unlocks; // channels, one for each server
  Word *counts, *finished, *served;
  int entries, servers, clients, separate;
  template <int WORDS> __device__ __forceinline__ Channel<WORDS> channel(Word *channels, Word server) const {
    return Channel<WORDS>(channels + server * channel_words(entries, WORDS), entries);
  }
  __device__ __forceinline__ Channel<2> orders_of(Word server) const { return channel<2>(orders, server); }
  __device__ __forceinline__ bool all_together() const { return false; }
};

struct CloseBench : Bench { // `entries` are those of a channel of orders
  int room, together;
  template <int WORDS> __device__ __forceinline__ Channel<WORDS> channel(Word *channels, Word server) const {
    return Channel<WORDS>(channels + server * channel_words(room, WORDS), room);
  }
  __device__ __forceinline__ bool all_together() const { return together; }
};

static __device__ __forceinline__ bool try_lock(Word *lock) {
  if (atomicCAS(lock, 0, 1))
    return false;
  __threadfence();
  return true;
}
static __device__ __forceinline__ void unlock(Word *lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// Each thread sends `each` orders: number n for the counts n and n + 1, of `pool`.
extern "C" __global__ void small_clients(Bench bench, int each, int pool, int ordered) {
#pragma unroll 1
  for (int i = 0; i < each; i++) {
    Word a = (blockIdx.x * blockDim.x + threadIdx.x + i) % pool, b = (a + 1) % pool;
    Message<2> order = {{ordered ? min(a, b) : a, ordered ? max(a, b) : b}};
    basic_send(bench.orders_of(order.word[0] % bench.servers), order);
  }
  finish_sending(bench.finished);
}

struct Shared {
  Word locks[MOST_LOCKS], replied[LANES], next[WORKERS_AT + 1], workers;
};

template <class Bench>
static __device__ __forceinline__ void execute(const Bench &bench, Shared &shared, const Message<2> &order) {
  Word own = order.word[0], other = order.word[1], server = other % bench.servers;
  Word *mine = &shared.locks[own / bench.servers], its = other / bench.servers;
  bool remote = server != blockIdx.x;
  if (remote) {
    basic_send(bench.template channel<2>(bench.requests, server),
               Message<2>{{its, blockIdx.x << 16 | warp_number()}});
    while (!look(&shared.replied[warp_number()]))
      ;
    __threadfence();
    put(&shared.replied[warp_number()], 0);
  } else {
    while (!try_lock(&shared.locks[its]))
      ;
  }
  while (!try_lock(mine))
    ;
  bench.counts[own] += 1;
  bench.counts[other] += 1;
  unlock(mine);
  if (!remote)
    unlock(&shared.locks[its]);
  else if (bench.separate && !bench.all_together())
    basic_send(bench.template channel<1>(bench.unlocks, server), Message<1>{{its}});
  else
    basic_send(bench.template channel<2>(bench.requests, server), Message<2>{{its | UNLOCK, 0}});
}

// Until `done` says that `all` are done and nothing is left.
template <int WORDS, class Action>
static __device__ __forceinline__ void receive_until(const Channel<WORDS> &from, Word *next, const Word *done,
                                                     Word all, Action action) {
  BasicReceiver<WORDS> receiver(from, next);
  do {
    Message<WORDS> message;
    if (receiver.receive(message))
      action(message);
  } while (!is_over(from, done, all));
}

static __device__ __forceinline__ void note_reply(Shared &shared, Word worker) {
  __threadfence();
  put(&shared.replied[worker], 1);
}

template <class Bench> static __device__ __forceinline__ void serve(const Bench &bench, Shared &shared) {
  for (Word i = threadIdx.x; i < sizeof shared / sizeof(Word); i += blockDim.x)
    ((Word *)&shared)[i] = 0;
  __syncthreads();
  if (lane_number())
    return;
  Word me = blockIdx.x, warp = warp_number();
  if (warp == REQUESTS) {
    receive_until(bench.template channel<2>(bench.requests, me), &shared.next[REQUESTS], bench.served, bench.servers,
                  [&](const Message<2> &request) {
                    Word *lock = &shared.locks[request.word[0] & ~UNLOCK];
                    if (request.word[0] & UNLOCK) {
                      unlock(lock);
                      return;
                    }
                    if (bench.all_together() && (request.word[0] & REPLY)) {
                      note_reply(shared, request.word[1]);
                      return;
                    }
                    while (!try_lock(lock))
                      ;
                    if (bench.all_together())
                      basic_send(bench.template channel<2>(bench.requests, request.word[1] >> 16),
                                 Message<2>{{REPLY, request.word[1] & 0xffff}});
                    else
                      basic_send(bench.template channel<1>(bench.replies, request.word[1] >> 16),
                                 Message<1>{{request.word[1] & 0xffff}});
                  });
  } else if (warp == REPLIES) {
    receive_until(bench.template channel<1>(bench.replies, me), &shared.next[REPLIES], bench.served, bench.servers,
                  [&](const Message<1> &reply) { note_reply(shared, reply.word[0]); });
  } else if (warp == UNLOCKS) {
    receive_until(bench.template channel<1>(bench.unlocks, me), &shared.next[UNLOCKS], bench.served, bench.servers,
                  [&](const Message<1> &message) { unlock(&shared.locks[message.word[0]]); });
  } else {
    receive_until(bench.orders_of(me), &shared.next[WORKERS_AT], bench.finished, bench.clients,
                  [&](const Message<2> &order) { execute(bench, shared, order); });
    __threadfence();
    if (atomicAdd(&shared.workers, 1) + 1 == blockDim.x / LANES - WORKERS_AT) {
      __threadfence();
      atomicAdd(bench.served, 1);
    }
  }
}

extern "C" __global__ void small_servers(Bench bench) {
  __shared__ Shared shared;
  serve(bench, shared);
}
extern "C" __global__ void small_servers_close(CloseBench bench) {
  __shared__ Shared shared;
  serve(bench, shared);
}
