// Lists and stacks: a sorted list that threads walk hand over hand, a stack whose failing threads meet in an elimination array, and ranges of work of which idle
// blocks steal half.
#include "../wild/util.cuh"
struct Node { u32 key, next, lock, pad; };
// Node 0 is the head with key 0; the last has next 0. Thread 0 of each block inserts `each` keys.
__global__ void coupling(Node *nodes, int each) {
  if (threadIdx.x) return;
  for (int i = 0; i < each; i++) {
    u32 mine = 1 + blockIdx.x * each + i, key = mix(mine) | 1, before = 0, after;
    while (atomicCAS(&nodes[0].lock, 0, 1)) ;
    __threadfence();
    while ((after = *(volatile u32 *)&nodes[before].next) != 0) {
      while (atomicCAS(&nodes[after].lock, 0, 1)) ;
      __threadfence();
      if (*(volatile u32 *)&nodes[after].key >= key) break;
      atomicExch(&nodes[before].lock, 0);
      before = after;
    }
    volatile Node *n = &nodes[mine];
    n->key = key;
    n->next = after;
    __threadfence();
    *(volatile u32 *)&nodes[before].next = mine;
    __threadfence();
    if (after) atomicExch(&nodes[after].lock, 0);
    atomicExch(&nodes[before].lock, 0);
  }
}
__global__ void sorted(const Node *nodes, u32 *length, u32 *bad) {
  u32 n = 0, wrong = 0, last = 0;
  for (u32 at = nodes[0].next; at; at = nodes[at].next) {
    wrong += nodes[at].key < last;
    last = nodes[at].key;
    n++;
  }
  *length = n;
  *bad = wrong;
}
// top: number of changes and index + 1 of the first node. Slots of the array: 0 free, else a pusher's node + 1, or TAKEN.
enum { TAKEN = 0xffffffffu };
__global__ void elimination(u64 *top, u32 *next, u32 *array, u32 width, int each, u32 *sum) {
  if (threadIdx.x % 32) return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, total = 0, seed = warp * 977;
  u32 node = warp + 1; // pushed and popped by turns
  for (int i = 0; i < each; i++) {
    bool pushed = false, popped = false;
    while (!pushed) {
      u64 old = *(volatile u64 *)top;
      *(volatile u32 *)&next[node] = (u32)old;
      __threadfence();
      if (atomicCAS(top, old, ((old >> 32) + 1) << 32 | node) == old) break;
      u32 *slot = &array[(seed = mix(seed + 1)) % width];
      if (atomicCAS(slot, 0, node) == 0) {
        for (int wait = 0; wait < 20 && *(volatile u32 *)slot == node; wait++) ;
        pushed = atomicCAS(slot, node, 0) == TAKEN;
        if (pushed) atomicExch(slot, 0);
      }
    }
    while (!popped) {
      u64 old = *(volatile u64 *)top;
      if ((u32)old) {
        __threadfence();
        u32 below = *(volatile u32 *)&next[(u32)old];
        if (atomicCAS(top, old, ((old >> 32) + 1) << 32 | below) == old) { node = (u32)old; break; }
      }
      u32 *slot = &array[(seed = mix(seed + 1)) % width], other = *(volatile u32 *)slot;
      if (other && other != TAKEN && atomicCAS(slot, other, TAKEN) == other) { node = other; popped = true; }
    }
    __threadfence();
    total += 1;
  }
  atomicAdd(sum, total + node);
}
// A range: first in the low half, behind the last in the high half.
__global__ void stealhalf(u64 *ranges, int tasks, int skew, u32 *left, u32 *done) {
  __shared__ u32 task;
  u32 b = blockIdx.x, n = gridDim.x, victim = b, mine = 0, x = threadIdx.x;
  for (;;) {
    if (threadIdx.x == 0) {
      task = ~0u;
      while (task == ~0u && *(volatile u32 *)left) {
        u64 own = *(volatile u64 *)&ranges[b];
        u32 lo = (u32)own, hi = own >> 32;
        if (lo < hi) {
          if (atomicCAS(&ranges[b], own, (u64)hi << 32 | (lo + 1)) == own) task = lo;
          continue;
        }
        victim = (victim + 1) % n;
        if (victim == b) continue;
        u64 theirs = *(volatile u64 *)&ranges[victim];
        u32 l = (u32)theirs, h = theirs >> 32;
        if (h <= l) continue;
        u32 half = (h - l + 1) / 2;
        if (atomicCAS(&ranges[victim], theirs, (u64)(h - half) << 32 | l) == theirs)
          atomicExch(&ranges[b], (u64)h << 32 | (h - half));
      }
    }
    __syncthreads();
    u32 now = task;
    __syncthreads();
    if (now == ~0u) break;
    int work = now % skew * 4;
#pragma unroll 1
    for (int w = 0; w < work; w++) x = x * 5 + now;
    if (threadIdx.x == 0) atomicSub(left, 1);
    mine++;
  }
  if (threadIdx.x == 0) done[b] = mine;
  if (x == 12345) done[0] = 1;
}
