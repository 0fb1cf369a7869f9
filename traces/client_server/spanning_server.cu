// Boruvka's minimum spanning forest of traces/irregular/spanning_tree.cu with servers: clients look for the lightest
// edge of each vertex, servers own the components and keep the lightest edge of each, and clients join components.
// Clients wait for the servers between both (rounds.cuh). Graph, joining and check are those of the other form. PTX:
// make_ptx.sh spanning_server.cu
#include "../irregular/spanning_tree.cu"
#include "rounds.cuh"

enum { LOCKS = 4096 };

extern __shared__ messages::Word local_buffers[];

struct Hasty : messages::SoundRounds {
  static constexpr bool await_servers = false;
};
struct Assigning : messages::SoundRounds {
  static constexpr bool await_followers = false;
};

// A vertex a lane; whole warps go through them, as send() needs it.
static __device__ __forceinline__ void offer_all(const Graph &graph, const Forest &forest,
                                                 const messages::Sender<4> &sender, Word servers) {
#pragma unroll 1
  for (Word first = thread_number() - messages::lane_number(); first < graph.vertices; first += thread_count()) {
    Word vertex = first + messages::lane_number();
    Edge edge = {NO_EDGE, 0, 0};
    if (vertex < graph.vertices)
      edge = lightest_of(graph, forest, vertex);
    bool has = edge.weight != NO_EDGE;
    Word component = has ? forest.component[vertex] : 0;
    messages::Message<4> message = {{component, edge.weight, edge.from, edge.to}};
    sender.send(has, component % servers, message);
  }
  sender.flush();
}

template <class Rules>
static __device__ __forceinline__ void grow_by_clients(const Graph &graph, const Forest &forest,
                                                       const messages::Rounds &rounds,
                                                       const messages::Sender<4> &sender) {
  Word edges = NO_EDGE, met = 0;
  __prof_trigger(0);
  sender.begin();
  for (Word vertex = thread_number(); vertex < graph.vertices; vertex += thread_count()) {
    forest.component[vertex] = vertex;
    put_edge(&forest.lightest[vertex], {NO_EDGE, 0, 0});
  }
  for (Word round = 1;; round++) {
    rounds.meet(++met);
    Word now = locks::look(&forest.total[1]);
    if (now == edges) // no component has joined another
      break;
    edges = now;
    offer_all(graph, forest, sender, rounds.servers);
    rounds.handled<Rules>(round);
    for (Word vertex = thread_number(); vertex < graph.vertices; vertex += thread_count())
      if (forest.component[vertex] == vertex)
        hook(forest, vertex);
    rounds.meet(++met);
    for (Word vertex = thread_number(); vertex < graph.vertices; vertex += thread_count())
      settle_vertex(forest, vertex);
  }
  rounds.end();
}

// `fault`: 0; 1 (broken): clients join components before the servers are done.
extern "C" __global__ void __launch_bounds__(1024, 2)
    tree_clients(Graph graph, Forest forest, messages::Rounds rounds, Word *channels, int entries, int local,
                 int fault) {
  messages::Sender<4> sender(local_buffers, channels, rounds.servers, entries, local);
  if (fault == 1)
    grow_by_clients<Hasty>(graph, forest, rounds, sender);
  else
    grow_by_clients<messages::SoundRounds>(graph, forest, rounds, sender);
}

template <class Clock> struct Keeper {
  Forest forest;
  messages::LocalLocks locks;
  int rounds;
  Clock clock;

  __device__ __forceinline__ void operator()(bool has, const messages::Message<4> &message) {
    Word component = message.word[0];
    Edge edge = {message.word[1], message.word[2], message.word[3]};
    auto keep = [&] {
      if (edge < look_edge(&forest.lightest[component]))
        put_edge(&forest.lightest[component], edge);
      ::locks::work(rounds);
    };
    locks.lock_each(has, component, keep, clock);
  }
  __device__ __forceinline__ void end_round() { clock.forget(); }
};

// `fault`: 0; 2 (broken): a round counts as handled when the followers have read it. `lock_count`: at most LOCKS.
extern "C" __global__ void __launch_bounds__(1024, 2)
    tree_servers(Forest forest, messages::Rounds rounds, Word *channels, int entries, int period, int lock_count,
                 int work, int fault) {
  __shared__ Word words[LOCKS];
  __shared__ messages::ReceiverSpace space;
  messages::LocalLocks locks(words, lock_count, gridDim.x);
  locks.begin();
  Keeper<messages::Unmeasured> keeper = {forest, locks, work, {}};
  messages::Channel<4> from(channels + blockIdx.x * messages::channel_words(entries, 4), entries);
  if (fault == 2)
    messages::serve_rounds<4, Assigning>(from, &space, rounds, period, keeper);
  else
    messages::serve_rounds<4>(from, &space, rounds, period, keeper);
  __prof_trigger(1);
}
extern "C" __global__ void __launch_bounds__(1024, 2)
    tree_servers_timed(Forest forest, messages::Rounds rounds, Word *channels, int entries, int period,
                       int lock_count, int work, ::locks::Time *sums) {
  __shared__ Word words[LOCKS], stamps[LOCKS];
  __shared__ messages::ReceiverSpace space;
  messages::LocalLocks locks(words, lock_count, gridDim.x), times(stamps, lock_count, gridDim.x);
  locks.begin();
  times.begin();
  Keeper<messages::Measured> keeper = {forest, locks, work, {stamps, LOCKS, 0, 0, false, false}};
  messages::Channel<4> from(channels + blockIdx.x * messages::channel_words(entries, 4), entries);
  messages::serve_rounds<4>(from, &space, rounds, period, keeper);
  keeper.clock.finish(sums);
  __prof_trigger(1);
}
