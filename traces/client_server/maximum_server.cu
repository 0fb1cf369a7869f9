// The maximum flow of traces/irregular/maximum_flow.cu with servers that are the worklist (MF of Wang, Fussell and
// Lin 2019, 4.1): each block owns vertices, gets messages that say which of them have excess, and pushes it on, with
// messages to the owners of those that get it. All blocks are clients and servers; there is no list and no barrier.
// Network, pushing and check are those of the other form. PTX: make_ptx.sh maximum_server.cu
//
// A server waits for room in another's buffer while others wait for room in its own, so buffers mustn't run full.
// `queued` says for each vertex that a message for it is on its way: there is never a second one, and a channel with
// as many entries as a block has vertices has room for all. It is reset before the vertex is looked at: what comes
// later sends another message. `pending` counts messages that are to be sent or handled, and 1 for the beginning;
// when it is 0 all is over.
#include "../irregular/maximum_flow.cu"
#include "servers.cuh"

enum { LOCKS = 4096 };
enum Fault { NONE, RESET_LATE, NO_MARK, COUNT_READ };

struct Owners {
  Word *channels, *queued, *pending;
  Word entries, period, fault;

  __device__ __forceinline__ messages::Channel<1> channel(Word vertex) const {
    return messages::Channel<1>(channels + vertex % gridDim.x * messages::channel_words(entries, 1), entries);
  }
  // To the owner of a vertex that has more now.
  __device__ __forceinline__ void put(Word vertex) const {
    __threadfence(); // behind the excess: if a message is on its way, who handles it finds this
    if (fault != NO_MARK && atomicExch(&queued[vertex], 1))
      return;
    atomicAdd(pending, 1);
    messages::basic_send(channel(vertex), messages::Message<1>{{vertex}});
  }
};

struct Pusher {
  Network network;
  Flow flow;
  Owners owners;
  messages::LocalLocks locks;
  int rounds;

  __device__ __forceinline__ void operator()(bool has, const messages::Message<1> &message) {
    Word vertex = has ? message.word[0] : 0;
    if (owners.fault == COUNT_READ && has)
      atomicSub(owners.pending, 1);
    auto push = [&] {
      if (owners.fault != RESET_LATE)
        atomicExch(&owners.queued[vertex], 0);
      __threadfence();
      discharge(network, flow, vertex, owners);
      ::locks::work(rounds);
      __threadfence();
      if (owners.fault == RESET_LATE)
        atomicExch(&owners.queued[vertex], 0);
    };
    locks.lock_each(has, vertex, push);
    if (owners.fault != COUNT_READ && has)
      atomicSub(owners.pending, 1);
  }
};

// `fault`: 0; 1 (broken): `queued` is reset behind the work; 2 (broken): a message for each push; 3 (broken): a
// message isn't pending any more when it has been read. `entries`: at least as many as a block has vertices.
extern "C" __global__ void __launch_bounds__(1024, 2)
    flow_servers(Network network, Flow flow, Owners owners, int lock_count, int rounds) {
  __shared__ Word words[LOCKS];
  __shared__ messages::ReceiverSpace space;
  messages::LocalLocks locks(words, lock_count, gridDim.x);
  Pusher pusher = {network, flow, owners, locks, rounds};
  __prof_trigger(0);
  locks.begin();
  if (blockIdx.x == 0) { // the source gives all that its arcs can take
    if (threadIdx.x == 0)
      ::locks::put(&flow.height[0], network.vertices);
    __threadfence();
    __syncthreads();
    for (Word arc = network.rows[0] + threadIdx.x; arc < network.rows[1]; arc += blockDim.x)
      move_along(network, flow, arc, ::locks::look(&flow.rest[arc]), owners);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      atomicSub(owners.pending, 1);
  }
  messages::receive_all<1>(owners.channel(blockIdx.x), &space, owners.pending, 0, owners.period, pusher);
  __prof_trigger(1);
}
