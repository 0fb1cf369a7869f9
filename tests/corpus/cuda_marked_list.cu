// Harris' list: who takes a node out marks its next word first, so that nobody puts a node behind one that goes. Others finish what they
// find marked. A word has a node's number, and the mark in its lowest bit. PTX: traces/make_ptx.sh cuda_marked_list.cu
#include <cuda/atomic>

using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
enum { HEAD, TAIL, FIRST }; // the nodes of the threads come behind these

struct Place {
  int before, node;
};

// HELPS: whoever finds a marked node takes it out; otherwise who has marked it leaves that to others, and they to it.
template <bool HELPS> struct List {
  int *next, *key;

  __device__ Word link(int node) const { return Word(next[node]); }
  __device__ bool swap(int node, int expected, int now) const {
    return link(node).compare_exchange_strong(expected, now, memory_order_acq_rel, memory_order_relaxed);
  }
  __device__ bool find(int wanted, Place *place) const {
    Place at = {HEAD, link(HEAD).load(memory_order_acquire) >> 1};
    while (at.node != TAIL) {
      int after = link(at.node).load(memory_order_acquire);
      if (after & 1) {
        if (!HELPS || !swap(at.before, at.node << 1, after & ~1))
          return false;
        at.node = after >> 1;
      } else {
        if (key[at.node] >= wanted)
          break;
        at = {at.node, after >> 1};
      }
    }
    *place = at;
    return true;
  }
  __device__ Place search(int wanted) const {
    Place place;
    while (!find(wanted, &place)) {
    }
    return place;
  }
  __device__ bool has(int wanted) const {
    Place place = search(wanted);
    return place.node != TAIL && key[place.node] == wanted;
  }
  __device__ void put(int node) const {
    Place place;
    do {
      place = search(key[node]);
      link(node).store(place.node << 1, memory_order_relaxed);
    } while (!swap(place.before, place.node << 1, node << 1));
  }
  __device__ void take(int wanted) const {
    while (true) {
      Place place = search(wanted);
      if (place.node == TAIL || key[place.node] != wanted)
        return;
      int after = link(place.node).load(memory_order_acquire);
      if ((after & 1) || !swap(place.node, after, after | 1))
        continue;
      if (HELPS)
        swap(place.before, place.node << 1, after);
      return;
    }
  }
};

// Each thread puts nodes in, takes each out but its last, and waits until it finds that one.
template <bool HELPS> static __device__ void turns(int *next, int *key, int rounds) {
  List<HELPS> list = {next, key};
  int me = blockIdx.x, mine = 0;
  for (int i = 0; i < rounds; i++) {
    int node = FIRST + me * rounds + i;
    mine = key[node] = i * (int)gridDim.x + me;
    list.put(node);
    if (i > 0)
      list.take(mine - (int)gridDim.x);
  }
  while (!list.has(mine)) {
  }
}
extern "C" __global__ void marked(int *next, int *key, int rounds) { turns<true>(next, key, rounds); }
extern "C" __global__ void marked_only(int *next, int *key, int rounds) { turns<false>(next, key, rounds); }
