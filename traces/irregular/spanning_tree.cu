// Boruvka's minimum spanning forest with a lock for each component (MST of Wang, Fussell and Lin, 2019), as LonestarGPU has it: each
// vertex offers the lightest edge that leaves its component, and the component keeps the lightest. The lock is LonestarGPU's ticket
// lock, or a compare-and-swap lock. Between the phases of a round stands a barrier of the grid. PTX: make_ptx.sh spanning_tree.cu
#include <cooperative_groups.h>

#include "inputs.cuh"
#include "locks.cuh"
using namespace inputs;

enum : Word { NO_EDGE = ~0u };

// An edge, ordered by weight and then by its ends, so that all see the same order: a round makes no circle.
struct Edge {
  Word weight, from, to;
  __device__ __forceinline__ bool operator<(const Edge &other) const {
    if (weight != other.weight)
      return weight < other.weight;
    Word low = min(from, to), others = min(other.from, other.to);
    return low != others ? low < others : max(from, to) < max(other.from, other.to);
  }
  __device__ __forceinline__ bool same(const Edge &other) const { return !(*this < other) && !(other < *this); }
};

struct Graph {
  const Word *rows, *columns, *weights;
  Word vertices;
};

struct Forest {
  Word *component;     // of each vertex: the vertex that stands for it
  Word *parent;        // of those: the component that theirs goes to; itself
  Edge *lightest;      // of each component
  Word *lock, *ticket; // of each component: 0 or 1; or whose turn it is, and the next turn to give away
  Word *total;         // weight and number of the edges so far
};

static __device__ __forceinline__ Edge look_edge(const Edge *edge) {
  return {locks::look(&edge->weight), locks::look(&edge->from), locks::look(&edge->to)};
}
static __device__ __forceinline__ void put_edge(Edge *edge, const Edge &value) {
  locks::put(&edge->weight, value.weight);
  locks::put(&edge->from, value.from);
  locks::put(&edge->to, value.to);
}

struct CasLock {
  Word *lock;
  __device__ __forceinline__ CasLock(const Forest &forest, Word component) : lock(&forest.lock[component]) {}
  template <class Clock> __device__ __forceinline__ bool try_lock(int fence, Clock &clock) {
    return locks::try_lock(lock, fence, clock);
  }
  __device__ __forceinline__ void unlock() { locks::unlock(lock); }
};
// LockArrayTicket of LonestarGPU: a turn is drawn once, then a plain load asks for it.
struct TicketLock {
  Word *lock, turn;
  __device__ __forceinline__ TicketLock(const Forest &forest, Word component)
      : lock(&forest.lock[component]), turn(atomicAdd(&forest.ticket[component], 1)) {}
  template <class Clock> __device__ __forceinline__ bool try_lock(int fence, Clock &clock) {
    if (locks::look(lock) != turn)
      return false;
    clock.has_lock();
    if (fence)
      __threadfence();
    return true;
  }
  __device__ __forceinline__ void unlock() { locks::put(lock, turn + 1); }
};

// The lightest edge that leaves the vertex's component.
static __device__ __forceinline__ Edge lightest_of(const Graph &graph, const Forest &forest, Word vertex) {
  Edge best = {NO_EDGE, 0, 0};
  Word own = forest.component[vertex];
#pragma unroll 1
  for (Word arc = graph.rows[vertex]; arc < graph.rows[vertex + 1]; arc++) {
    Edge edge = {graph.weights[arc], vertex, graph.columns[arc]};
    if (edge < best && forest.component[edge.to] != own)
      best = edge;
  }
  return best;
}

template <class Lock, class Clock>
static __device__ __forceinline__ void offer(const Forest &forest, Word component, const Edge &edge, int fence,
                                             int rounds, Clock &clock) {
  Lock lock(forest, component);
  int done = 0;
  bool waits = false; // transfers that nobody waits for don't count: most locks are used once or twice a round
  do {
    if (lock.try_lock(fence, clock)) {
      if (waits)
        clock.taken(component);
      if (edge < look_edge(&forest.lightest[component]))
        put_edge(&forest.lightest[component], edge);
      locks::work(rounds);
      clock.frees(component);
      __threadfence();
      lock.unlock();
      done = 1;
    }
    waits = true;
    locks::join(done);
  } while (!done);
}

// Where a component goes: along its lightest edge, but one of two that chose the same edge stays.
static __device__ __forceinline__ void hook(const Forest &forest, Word component) {
  Edge edge = look_edge(&forest.lightest[component]);
  Word parent = component;
  if (edge.weight != NO_EDGE) {
    Word other = forest.component[edge.to];
    if (component > other || !edge.same(look_edge(&forest.lightest[other]))) {
      parent = other;
      atomicAdd(&forest.total[0], edge.weight);
      atomicAdd(&forest.total[1], 1);
    }
  }
  forest.parent[component] = parent;
}

// Behind hook() of all components: the vertex gets its new component, and no edge.
static __device__ __forceinline__ void settle_vertex(const Forest &forest, Word vertex) {
  Word root = forest.component[vertex];
  while (forest.parent[root] != root)
    root = forest.parent[root];
  forest.component[vertex] = root;
  put_edge(&forest.lightest[vertex], {NO_EDGE, 0, 0});
}

template <class Lock, class Clock>
static __device__ __forceinline__ void grow(Graph graph, Forest forest, int fence, int rounds, Clock clock) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  Word edges = NO_EDGE;
  __prof_trigger(0);
  for (Word vertex = thread_number(); vertex < graph.vertices; vertex += thread_count()) {
    forest.component[vertex] = vertex;
    put_edge(&forest.lightest[vertex], {NO_EDGE, 0, 0});
  }
  for (;;) {
    grid.sync();
    Word now = locks::look(&forest.total[1]);
    if (now == edges) // no component has joined another
      break;
    edges = now;
#pragma unroll 1
    for (Word vertex = thread_number(); vertex < graph.vertices; vertex += thread_count()) {
      Edge edge = lightest_of(graph, forest, vertex);
      if (edge.weight != NO_EDGE)
        offer<Lock>(forest, forest.component[vertex], edge, fence, rounds, clock);
    }
    grid.sync();
    for (Word vertex = thread_number(); vertex < graph.vertices; vertex += thread_count())
      if (forest.component[vertex] == vertex)
        hook(forest, vertex);
    grid.sync();
    for (Word vertex = thread_number(); vertex < graph.vertices; vertex += thread_count()) {
      settle_vertex(forest, vertex);
      clock.forget(vertex); // from round to round nobody waits
    }
  }
  clock.finish();
  __prof_trigger(1);
}

extern "C" __global__ void spanning_tree(Graph graph, Forest forest, int ticket, int fence, int rounds) {
  if (ticket)
    grow<TicketLock>(graph, forest, fence, rounds, locks::Untimed::of(0, 0));
  else
    grow<CasLock>(graph, forest, fence, rounds, locks::Untimed::of(0, 0));
}
extern "C" __global__ void spanning_tree_timed(Graph graph, Forest forest, int ticket, int fence, int rounds,
                                               locks::Time *stamps, locks::Time *sums) {
  if (ticket)
    grow<TicketLock>(graph, forest, fence, rounds, locks::Timed::of(stamps, sums));
  else
    grow<CasLock>(graph, forest, fence, rounds, locks::Timed::of(stamps, sums));
}

// The check, by one thread: the weight is that which a sequential program found.
extern "C" __global__ void check(const Word *total, const Word *expected, Word *result) {
  result[0] = total[0] != expected[0];
}

extern "C" __global__ void say(const locks::Time *sums) { locks::say(sums); }
