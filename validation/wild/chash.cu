// Chained hash table; one lock bit for each bucket, 32 of them in a word.
#include "util.cuh"
struct Node { u32 key, count; int next; u32 pad; };
__global__ void upsert(u32 *lockbits, int *heads, Node *nodes, u32 buckets, u32 keyspace, int each) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < each; i++) {
    u32 id = t * each + i, key = mix(id ^ 0x9e3779b9u) % keyspace, b = mix(key) % buckets;
    u32 bit = 1u << (b & 31), *word = &lockbits[b >> 5];
    bool done = false;
    while (!done) {
      if (!(atomicOr(word, bit) & bit)) {
        __threadfence();
        volatile int *head = &heads[b];
        int at = *head;
        while (at >= 0 && ((volatile Node *)nodes)[at].key != key) at = ((volatile Node *)nodes)[at].next;
        if (at >= 0) ((volatile Node *)nodes)[at].count++;
        else {
          volatile Node *n = &nodes[id];
          n->key = key; n->count = 1; n->next = *head;
          *head = id;
        }
        __threadfence();
        atomicAnd(word, ~bit);
        done = true;
      }
    }
  }
}
__global__ void total(const int *heads, const Node *nodes, u32 buckets, u32 *sum) {
  for (u32 b = blockIdx.x * blockDim.x + threadIdx.x; b < buckets; b += gridDim.x * blockDim.x)
    for (int at = heads[b]; at >= 0; at = nodes[at].next) atomicAdd(sum, nodes[at].count);
}
