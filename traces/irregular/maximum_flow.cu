// Maximum flow by push and relabel (MF of Wang, Fussell and Lin, 2019, after He and Hong): a worklist of vertices with excess, in two
// buffers that change roles at a barrier of the grid. Whoever pushes to a vertex puts it on the list, so it may stand there several
// times, and a lock for each vertex keeps its workers apart. A vertex gives all of its excess away, to the lowest neighbour, and rises
// where none is lower. One that is as high as there are vertices can't reach the sink any more, and rests. PTX: make_ptx.sh maximum_flow.cu
#include <cooperative_groups.h>

#include "inputs.cuh"
#include "locks.cuh"
using namespace inputs;

struct Network {
  const Word *rows, *columns, *partners; // arcs of each vertex; the arc of the other direction
  Word vertices;                         // 0 is the source, the last one the sink
};
struct Flow {
  Word *rest;            // what each arc can still take
  Word *excess, *height; // of each vertex
  Word *lock;            // of each vertex
  Word *list, *count;    // two buffers; how many they hold, and how many had no room
  Word room;             // of a buffer
};

// One buffer of the worklist.
struct List {
  Flow flow;
  Word buffer;
  __device__ __forceinline__ void put(Word vertex) const {
    Word at = atomicAdd(&flow.count[buffer], 1);
    if (at < flow.room)
      locks::put(&flow.list[buffer * flow.room + at], vertex);
    else
      atomicAdd(&flow.count[2], 1);
  }
};

// `work` is told of the vertex that has more now: work.put(vertex).
template <class Work>
static __device__ __forceinline__ void move_along(const Network &network, const Flow &flow, Word arc, Word amount,
                                                  const Work &work) {
  Word to = network.columns[arc];
  atomicSub(&flow.rest[arc], amount);
  atomicAdd(&flow.rest[network.partners[arc]], amount);
  atomicAdd(&flow.excess[to], amount);
  if (to != 0 && to != network.vertices - 1)
    work.put(to);
}

// The arc to the lowest vertex that can still take something; its height in `lowest`.
static __device__ __forceinline__ Word lowest_arc(const Network &network, const Flow &flow, Word vertex,
                                                  Word *lowest) {
  Word best = 0;
  *lowest = ~0u;
#pragma unroll 1
  for (Word arc = network.rows[vertex]; arc < network.rows[vertex + 1]; arc++) {
    Word height = locks::look(&flow.height[network.columns[arc]]);
    if (height < *lowest && locks::look(&flow.rest[arc])) {
      *lowest = height;
      best = arc;
    }
  }
  return best;
}

template <class Work>
static __device__ __forceinline__ void discharge(const Network &network, const Flow &flow, Word vertex,
                                                 const Work &work) {
  Word height = locks::look(&flow.height[vertex]), excess = locks::look(&flow.excess[vertex]);
#pragma unroll 1
  while (excess && height < network.vertices) {
    Word lowest, arc = lowest_arc(network, flow, vertex, &lowest);
    if (lowest < height) {
      Word amount = min(excess, locks::look(&flow.rest[arc]));
      atomicSub(&flow.excess[vertex], amount);
      move_along(network, flow, arc, amount, work);
    } else {
      height = min(lowest, network.vertices) + 1;
      locks::put(&flow.height[vertex], height);
    }
    excess = locks::look(&flow.excess[vertex]);
  }
}

template <class Clock>
static __device__ __forceinline__ void push_all(Network network, Flow flow, int fence, int rounds, Clock clock) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  __prof_trigger(0);
  if (thread_number() == 0)
    locks::put(&flow.height[0], network.vertices);
  for (Word arc = network.rows[0] + thread_number(); arc < network.rows[1]; arc += thread_count())
    move_along(network, flow, arc, locks::look(&flow.rest[arc]), List{flow, 0});
  for (Word buffer = 0;; buffer ^= 1) {
    grid.sync();
    Word count = min(locks::look(&flow.count[buffer]), flow.room);
    if (count == 0)
      break;
#pragma unroll 1
    for (Word i = thread_number(); i < count; i += thread_count()) {
      Word vertex = locks::look(&flow.list[buffer * flow.room + i]);
      int done = 0;
      do {
        if (locks::try_lock(&flow.lock[vertex], fence, clock)) {
          clock.taken(vertex);
          discharge(network, flow, vertex, List{flow, buffer ^ 1});
          locks::work(rounds);
          clock.frees(vertex);
          __threadfence();
          locks::unlock(&flow.lock[vertex]);
          done = 1;
        }
        locks::join(done);
      } while (!done);
    }
    grid.sync();
    if (thread_number() == 0)
      locks::put(&flow.count[buffer], 0);
  }
  clock.finish();
  __prof_trigger(1);
}

extern "C" __global__ void maximum_flow(Network network, Flow flow, int fence, int rounds) {
  push_all(network, flow, fence, rounds, locks::Untimed::of(0, 0));
}
extern "C" __global__ void maximum_flow_timed(Network network, Flow flow, int fence, int rounds, locks::Time *stamps,
                                              locks::Time *sums) {
  push_all(network, flow, fence, rounds, locks::Timed::of(stamps, sums));
}

// The check: what reached the sink is what a sequential program found. `result`: 1 if not; vertices that had no room on the list.
extern "C" __global__ void check(Network network, Flow flow, const Word *expected, Word *result) {
  result[0] = flow.excess[network.vertices - 1] != expected[0];
  result[1] = flow.count[2];
}

extern "C" __global__ void say(const locks::Time *sums) { locks::say(sums); }
