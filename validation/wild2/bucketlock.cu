// Chained hash table, a lock of its own beside each bucket's head. All threads put in their keys, then take every other one out again.
#include "../wild/util.cuh"
struct Bucket { int lock, head; };
struct Node { u32 key; int next; };
template <class Section> __device__ __forceinline__ void locked(Bucket &b, Section section) {
  bool done = false;
  while (!done)
    if (atomicCAS(&b.lock, 0, 1) == 0) {
      __threadfence();
      section();
      __threadfence();
      atomicExch(&b.lock, 0);
      done = true;
    }
}
__global__ void put(Bucket *buckets, u32 n, Node *nodes, int each) {
  for (int i = 0; i < each; i++) {
    int id = (i * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    Bucket &b = buckets[mix(id) % n];
    volatile int *head = &b.head;
    volatile Node *node = &nodes[id];
    locked(b, [=] { node->key = id; node->next = *head; *head = id + 1; });
  }
}
__global__ void take(Bucket *buckets, u32 n, Node *nodes, int each, u32 *taken) {
  u32 mine = 0;
  for (int i = 0; i < each; i++) {
    int id = (i * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    if (id & 1) continue;
    Bucket &b = buckets[mix(id) % n];
    u32 got = 0;
    locked(b, [&] {
      volatile int *link = &b.head;
      int at = *link;
      while (at && ((volatile Node *)nodes)[at - 1].key != id) {
        link = &((volatile Node *)nodes)[at - 1].next;
        at = *link;
      }
      if (at) { *link = ((volatile Node *)nodes)[at - 1].next; got = 1; }
    });
    mine += got;
  }
  if (mine) atomicAdd(taken, mine);
}
