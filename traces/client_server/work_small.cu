// Servers that are a worklist (maximum_server.cu) in the smallest form, by the basic algorithm of messages.cuh and
// with one thread a block, so that it can be proved why a broken one hangs. Vertices 0 to `vertices` - 1 begin with
// `load` units each and give all that they have to the two vertices above, in halves; what goes beyond the last one
// is counted in `out`. `marked`: 1: a vertex has one message on its way at most; 0 (broken): a message for each gift.
// PTX: make_ptx.sh work_small.cu
#include "messages.cuh"
using namespace messages;

struct Heap {
  Word *channels, *units, *queued, *pending, *out;
  int entries, vertices, marked;

  __device__ __forceinline__ Channel<1> channel(Word vertex) const {
    return Channel<1>(channels + vertex % gridDim.x * channel_words(entries, 1), entries);
  }
  // Tells the owner of a vertex that it has something.
  __device__ __forceinline__ void put(Word vertex) const {
    __threadfence(); // behind the units: if a message is on its way, who handles it finds them
    if (marked && atomicExch(&queued[vertex], 1))
      return;
    atomicAdd(pending, 1);
    basic_send(channel(vertex), Message<1>{{vertex}});
  }
  __device__ __forceinline__ void give(Word vertex, Word amount) const {
    if (amount == 0)
      return;
    bool leaves = vertex >= vertices;
    atomicAdd(leaves ? out : &units[vertex], amount);
    if (!leaves)
      put(vertex);
  }
  __device__ __forceinline__ void handle(Word vertex) const {
    atomicExch(&queued[vertex], 0);
    __threadfence();
    Word all = atomicExch(&units[vertex], 0);
    give(vertex + 1, all - all / 2);
    give(vertex + 2, all / 2);
    __threadfence();
    atomicSub(pending, 1);
  }
};

// `pending` is the number of blocks at first. A block has 32 threads, of which the first works.
extern "C" __global__ void work_small(Heap heap, int load) {
  __shared__ Word next;
  if (threadIdx.x)
    return;
  next = 0;
  for (Word vertex = blockIdx.x; vertex < heap.vertices; vertex += gridDim.x)
    heap.give(vertex, load);
  __threadfence();
  atomicSub(heap.pending, 1);
  BasicReceiver<1> receiver(heap.channel(blockIdx.x), &next);
  do {
    Message<1> message;
    if (receiver.receive(message))
      heap.handle(message.word[0]);
  } while (!is_over(heap.channel(blockIdx.x), heap.pending, 0));
}
