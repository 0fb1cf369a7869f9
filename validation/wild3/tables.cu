// Hash tables: cuckoo hashing by exchanges, buckets of 16 that a tile of 16 lanes looks at together, and the chained one with a lock for each bucket of
// "CUDA by Example", whose lanes take turns.
#include <cooperative_groups.h>
#include "../wild/util.cuh"
namespace cg = cooperative_groups;
__device__ __forceinline__ u32 hash(u32 key, u32 which) { return mix(key * 4 + which); }
__global__ void cuckoo(u32 *table, u32 slots, int each, u32 *failed) {
  for (int i = 0; i < each; i++) {
    u32 key = (blockIdx.x * blockDim.x + threadIdx.x) * each + i + 1, at = hash(key, 0) % slots;
    int tries = 0;
    for (; tries < 64; tries++) {
      u32 before = atomicExch(&table[at], key);
      if (!before) break;
      u32 which = 0; // where the evicted one was, and so where it goes
      while (which < 3 && hash(before, which) % slots != at) which++;
      key = before;
      at = hash(key, (which + 1) % 4) % slots;
    }
    if (tries == 64) atomicAdd(failed, 1);
  }
}
__global__ void cuckoo_find(const u32 *table, u32 slots, int each, u32 *found) {
  u32 n = 0;
  for (int i = 0; i < each; i++) {
    u32 key = (blockIdx.x * blockDim.x + threadIdx.x) * each + i + 1;
    for (u32 which = 0; which < 4; which++)
      if (table[hash(key, which) % slots] == key) { n++; break; }
  }
  atomicAdd(found, n);
}
__global__ void tile_insert(u32 *table, u32 buckets, int each, u32 *inserted) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  u32 id = (blockIdx.x * blockDim.x + threadIdx.x) / 16, done = 0;
  for (int i = 0; i < each; i++) {
    u32 key = id * each + i + 1, b = mix(key) % buckets;
    for (bool placed = false; !placed;) {
      u32 *slot = &table[b * 16 + tile.thread_rank()];
      u32 open = tile.ballot(*(volatile u32 *)slot == 0);
      if (!open) { b = (b + 1) % buckets; continue; }
      int first = __ffs(open) - 1;
      u32 old = 1;
      if (tile.thread_rank() == first) old = atomicCAS(slot, 0, key);
      placed = tile.shfl(old, first) == 0;
    }
    done++;
  }
  if (tile.thread_rank() == 0) atomicAdd(inserted, done);
}
struct Lock {
  u32 *mutex;
  __device__ void lock() { while (atomicCAS(mutex, 0, 1) != 0) ; __threadfence(); }
  __device__ void unlock() { __threadfence(); atomicExch(mutex, 0); }
};
struct Entry { u32 key, value; Entry *next; };
__global__ void example_add(Entry **entries, Entry *pool, u32 *mutexes, u32 count, u32 elements) {
  u32 tid = threadIdx.x + blockIdx.x * blockDim.x, stride = blockDim.x * gridDim.x;
  while (tid < elements) {
    u32 key = tid, value = mix(key) % count;
    for (int i = 0; i < 32; i++)
      if (tid % 32 == i) {
        Entry *location = &pool[tid];
        location->key = key;
        location->value = value;
        Lock lock = {&mutexes[value]};
        lock.lock();
        location->next = entries[value];
        entries[value] = location;
        lock.unlock();
      }
    tid += stride;
  }
}
__global__ void example_count(Entry **entries, u32 count, u32 *found) {
  u32 n = 0;
  for (u32 b = threadIdx.x + blockIdx.x * blockDim.x; b < count; b += blockDim.x * gridDim.x)
    for (Entry *e = entries[b]; e; e = e->next) n += e->value == b;
  atomicAdd(found, n);
}
// The dot product of the same book: blocks add their parts up under a lock.
__global__ void example_dot(u32 *mutex, const u32 *a, const u32 *b, int n, u32 *c) {
  __shared__ u32 cache[256];
  int tid = threadIdx.x + blockIdx.x * blockDim.x, at = threadIdx.x;
  u32 temp = 0;
  while (tid < n) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[at] = temp;
  __syncthreads();
  for (int i = blockDim.x / 2; i; i /= 2) {
    if (at < i) cache[at] += cache[at + i];
    __syncthreads();
  }
  if (at == 0) {
    Lock lock = {mutex};
    lock.lock();
    *c += cache[0];
    lock.unlock();
  }
}
