// Data that threads share: allocators by a bitmap and by an arena, a hash table with slots of 16 bytes, Harris's
// list, a heap under a lock and many heaps of which two are tried, a cache with clocks, a queue that warps use
// together, lists of pixels, a quadtree whose links are locks, and bins under locks.
#include "ops.cuh"

// ---- memory

// Each lane takes a free bit, holds it for a while and gives it back.
extern "C" __global__ void bitmap_alloc(u32 *map, u32 words, u32 *owners, int ops, int hold, u32 *twice) {
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x, junk = ~thread, bad = 0;
  for (int i = 0; i < ops; i++) {
    u32 word = mix(thread * ops + i) % words, unit;
    for (;; word = (word + 1) % words) {
      u32 taken = ld_relaxed(&map[word]);
      if (taken == ~0u)
        continue;
      u32 bit = 1u << __ffs(~taken) - 1;
      if (!(atomicOr(&map[word], bit) & bit)) {
        unit = word * 32 + __ffs(bit) - 1;
        break;
      }
    }
    __threadfence();
    bad += atomicExch(&owners[unit], thread + 1) != 0;
    junk = work(junk, hold);
    atomicExch(&owners[unit], 0);
    __threadfence();
    atomicAnd(&map[word], ~(1u << unit % 32));
  }
  if (bad || junk == 7)
    atomicAdd(twice, bad);
}

// A warp takes a piece of the current chunk; who crosses its end brings a new one.
extern "C" __global__ void arena(u64 *current, u32 *chunks, u32 *pool, u32 chunk_words, int ops) {
  u32 lane = threadIdx.x % 32;
  for (int i = 0; i < ops; i++) {
    u32 size = 1 + mix(threadIdx.x + i * 977u) % 8, before = size;
    for (int step = 1; step < 32; step *= 2) {
      u32 other = __shfl_up_sync(~0u, before, step);
      before += lane >= step ? other : 0;
    }
    u32 all = __shfl_sync(~0u, before, 31), at = 0;
    if (lane == 0)
      for (;;) {
        u64 old = atomicAdd(current, (u64)all);
        u32 offset = (u32)old, chunk = old >> 32;
        at = chunk * chunk_words + offset;
        if (offset + all <= chunk_words)
          break;
        if (offset <= chunk_words) {
          at = atomicAdd(chunks, 1) * chunk_words;
          atomicExch(current, (u64)(at / chunk_words) << 32 | all);
          break;
        }
        while ((u32)(ld_relaxed64(current) >> 32) == chunk)
          ;
      }
    at = __shfl_sync(~0u, at, 0) + before - size;
    for (u32 k = 0; k < size; k++)
      pool[at + k] += 1;
  }
}

// ---- tables

struct alignas(16) Pair {
  u64 key, value;
};

__device__ __forceinline__ Pair cas128(Pair *at, Pair expected, Pair desired) {
  Pair old;
  asm volatile("{\n"
               ".reg .b128 e, d, o;\n"
               "mov.b128 e, {%3, %4};\n"
               "mov.b128 d, {%5, %6};\n"
               "atom.relaxed.gpu.global.cas.b128 o, [%2], e, d;\n"
               "mov.b128 {%0, %1}, o;\n"
               "}"
               : "=l"(old.key), "=l"(old.value)
               : "l"(at), "l"(expected.key), "l"(expected.value), "l"(desired.key), "l"(desired.value)
               : "memory");
  return old;
}

// Keys and values of 64 bits, put in at once.
extern "C" __global__ void hash_pairs(Pair *slots, u32 mask, u32 kinds, int ops, u32 *fresh) {
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
  for (int i = 0; i < ops; i++) {
    u64 key = mix(thread * ops + i) % kinds + 1;
    for (u32 at = mix((u32)key);; at++) {
      Pair old = cas128(&slots[at & mask], {0, 0}, {key, key * key});
      mine += old.key == 0;
      if (old.key == 0 || old.key == key)
        break;
    }
  }
  mine = __reduce_add_sync(~0u, mine);
  if (threadIdx.x % 32 == 0)
    atomicAdd(fresh, mine);
}

// Sets of eight ways with a clock: a hit marks its way, a miss takes the next way that isn't marked.
extern "C" __global__ void clock_cache(u32 *keys, u32 *marks, u32 *locks, u32 sets, u32 kinds, int ops, u32 *hits) {
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
  for (int i = 0; i < ops; i++) {
    u32 random = mix(thread * ops + i), key = 1 + min(random % kinds, (random >> 16) % kinds), set = mix(key) % sets;
    bool done = false;
    for (int way = 0; way < 8 && !done; way++)
      if (ld_relaxed(&keys[set * 8 + way]) == key) {
        atomicOr(&marks[set], 1u << way);
        found++;
        done = true;
      }
    while (!done)
      if (cas_acquire(&locks[set * 2], 0, 1) == 0) {
        u32 hand = locks[set * 2 + 1];
        while (atomicAnd(&marks[set], ~(1u << hand)) >> hand & 1)
          hand = (hand + 1) % 8;
        st_relaxed(&keys[set * 8 + hand], key);
        locks[set * 2 + 1] = (hand + 1) % 8;
        st_release(&locks[set * 2], 0);
        done = true;
      }
  }
  atomicAdd(hits, found);
}

// ---- lists

// Harris's sorted list: the lowest bit of a link says that its node is deleted. Node 0 is the head, 1 the end.
struct Link {
  u32 key, next;
};

__device__ u32 search(Link *nodes, u32 key, u32 *left) {
  for (;;) {
    u32 before = 0, at = ld_acquire(&nodes[0].next) >> 1;
    for (;;) {
      u32 next = ld_acquire(&nodes[at].next);
      if (next & 1) { // deleted: out with it, or begin again
        if (cas_acq_rel(&nodes[before].next, at << 1, next & ~1u) != at << 1)
          break;
        at = next >> 1;
        continue;
      }
      if (at == 1 || nodes[at].key >= key) {
        *left = before;
        return at;
      }
      before = at;
      at = next >> 1;
    }
  }
}

extern "C" __global__ void harris_list(Link *nodes, int ops, u32 kinds, u32 *changes) {
  if (threadIdx.x % 32)
    return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, left, right, mine = 0;
  for (int i = 0; i < ops; i++) {
    u32 own = 2 + warp * ops + i, key = 1 + mix(own) % kinds;
    if (i % 3 < 2) {
      nodes[own].key = key;
      for (;;) {
        right = search(nodes, key, &left);
        if (right != 1 && nodes[right].key == key)
          break;
        st_relaxed(&nodes[own].next, right << 1);
        if (cas_acq_rel(&nodes[left].next, right << 1, own << 1) == right << 1) {
          mine++;
          break;
        }
      }
    } else
      for (;;) {
        right = search(nodes, key, &left);
        if (right == 1 || nodes[right].key != key)
          break;
        u32 next = ld_acquire(&nodes[right].next);
        if (!(next & 1) && cas_acq_rel(&nodes[right].next, next, next | 1) == next) {
          search(nodes, key, &left);
          mine++;
          break;
        }
      }
  }
  atomicAdd(changes, mine);
}

// ---- priority queues

struct Heap {
  u32 lock, size, items[254];
};

__device__ void heap_push(Heap *heap, u32 item) {
  u32 at = ++heap->size;
  for (; at > 1 && heap->items[at / 2] > item; at /= 2)
    heap->items[at] = heap->items[at / 2];
  heap->items[at] = item;
}

__device__ u32 heap_pop(Heap *heap) {
  u32 least = heap->items[1], last = heap->items[heap->size--], at = 1;
  for (u32 child; (child = 2 * at) <= heap->size; at = child) {
    if (child < heap->size && heap->items[child + 1] < heap->items[child])
      child++;
    if (heap->items[child] >= last)
      break;
    heap->items[at] = heap->items[child];
  }
  heap->items[at] = last;
  return least;
}

// All put into one heap and take out of it.
extern "C" __global__ void heap_lock(Heap *heap, int ops, u32 *sum) {
  if (threadIdx.x)
    return;
  u32 mine = 0;
  for (int i = 0; i < 2 * ops; i++) {
    while (ld_relaxed(&heap->lock) || cas_acquire(&heap->lock, 0, 1))
      __nanosleep(32);
    if (i % 2 == 0)
      heap_push(heap, mix(blockIdx.x * ops + i / 2) % 1024);
    else
      mine += heap_pop(heap);
    st_release(&heap->lock, 0);
  }
  atomicAdd(sum, mine);
}

// Many heaps: who puts tries any, who takes looks at the first of two and takes from the one where it is less.
extern "C" __global__ void multiqueue(Heap *heaps, u32 *firsts, u32 count, int ops, u32 *taken) {
  if (threadIdx.x % 32)
    return;
  u32 random = mix((blockIdx.x * blockDim.x + threadIdx.x) / 32), mine = 0;
  for (int i = 0; i < 2 * ops;) {
    random = mix(random + 1);
    u32 at = random % count;
    if (i % 2) {
      u32 other = (random >> 16) % count;
      if (ld_relaxed(&firsts[other]) < ld_relaxed(&firsts[at]))
        at = other;
      if (ld_relaxed(&firsts[at]) == ~0u)
        continue;
    }
    Heap *heap = &heaps[at];
    if (cas_acquire(&heap->lock, 0, 1))
      continue;
    if (i % 2 == 0 && heap->size < 253) {
      heap_push(heap, random >> 1);
      i++;
    } else if (i % 2 && heap->size) {
      heap_pop(heap);
      mine++;
      i++;
    }
    st_relaxed(&firsts[at], heap->size ? heap->items[1] : ~0u);
    st_release(&heap->lock, 0);
  }
  atomicAdd(taken, mine);
}

// ---- queues and lists of many

// Warps of even blocks put 32 items at a time, those of odd blocks take them; a slot has a number beside its item.
extern "C" __global__ void warp_queue(u64 *slots, u32 *ends, u32 mask, int ops, u32 *sum) {
  u32 lane = threadIdx.x % 32, mine = 0;
  for (int i = 0; i < ops; i++) {
    bool puts = blockIdx.x % 2 == 0;
    u32 base = 0;
    if (lane == 0)
      base = atomicAdd(&ends[puts ? 0 : 32], 32);
    u32 at = __shfl_sync(~0u, base, 0) + lane, turn = at / (mask + 1) * 2 + (puts ? 0 : 1);
    u64 *slot = &slots[at & mask], seen;
    while ((seen = ld_acquire64(slot)) >> 32 != turn)
      ;
    if (!puts)
      mine += (u32)seen;
    st_release64(slot, (u64)(turn + 1) << 32 | (puts ? at : 0));
  }
  if (mine)
    atomicAdd(sum, mine);
}

// Fragments go to the lists of their pixels (an A-buffer); a warp takes its nodes at once.
extern "C" __global__ void pixel_lists(u32 *heads, uint2 *nodes, u32 *count, u32 pixels, int ops) {
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < ops; i++) {
    u32 depth = mix(thread * ops + i), pixel = (thread / 8 + depth % 61) % pixels;
    if (depth & 1) {
      u32 mask = __activemask(), lane = threadIdx.x % 32, base = 0, leader = __ffs(mask) - 1;
      if (lane == leader)
        base = atomicAdd(count, __popc(mask));
      u32 node = __shfl_sync(mask, base, leader) + __popc(mask & ((1u << lane) - 1)) + 1;
      nodes[node] = make_uint2(depth, atomicExch(&heads[pixel], node));
    }
  }
}

// Barnes and Hut's tree, as Burtscher and Pingali build it: a child is 0 (none), a body, a cell, or locked.
extern "C" __global__ void quadtree(const u32 *places, u32 bodies, int *children, int *cells, int *inserted) {
  for (u32 body = blockIdx.x * blockDim.x + threadIdx.x; body < bodies; body += gridDim.x * blockDim.x) {
    u32 place = places[body];
    int cell = 0, depth = 0;
    bool done = false;
    while (!done) {
      int *link = &children[cell * 4 + (place >> (30 - 2 * depth) & 3)], child = (int)ld_acquire((u32 *)link);
      if (child < -1) { // a cell: go on there
        cell = -child - 1;
        depth++;
      } else if (child != -1 && atomicCAS(link, child, -1) == child) { // -1 is the lock
        if (child == 0 || depth == 15)
          child = body + 1;
        else { // cells until both bodies have places of their own
          u32 other = places[child - 1];
          int first = 0, last = 0, *slot = NULL;
          do {
            int fresh = atomicAdd(cells, 1) + 1;
            if (slot)
              *slot = -fresh - 1;
            else
              first = fresh;
            last = fresh;
            depth++;
            slot = &children[last * 4 + (place >> (30 - 2 * depth) & 3)];
          } while (depth < 15 && (place ^ other) >> (30 - 2 * depth) == 0);
          children[last * 4 + (other >> (30 - 2 * depth) & 3)] = child;
          *slot = body + 1;
          child = -first - 1;
        }
        __threadfence();
        atomicExch(link, child);
        atomicAdd(inserted, 1);
        done = true;
      }
    }
  }
}

// ---- bins

// Bins of four words under a lock of their own.
struct Bin {
  u32 lock, count, least, most;
};

extern "C" __global__ void bin_locks(Bin *bins, u32 kinds, const u32 *values, u32 n) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    u32 value = values[i];
    Bin *bin = &bins[value % kinds];
    for (bool done = false; !done;)
      if (cas_acquire(&bin->lock, 0, 1) == 0) {
        bin->least = bin->count ? min(bin->least, value) : value;
        bin->most = max(bin->most, value);
        bin->count++;
        st_release(&bin->lock, 0);
        done = true;
      }
  }
}
