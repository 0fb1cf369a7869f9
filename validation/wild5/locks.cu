// Locks: lanes in turn, bits as locks, locks of a block and of the system, packed tickets, Graunke and Thakkar's
// array, tickets with a waiting array, back-off by distance, Peterson's tree, Lamport's fast lock, the queued lock of
// Linux with its pending bit, try-locks, flat combining, and two locks of readers and writers.
#include "ops.cuh"

// Each lane takes the lock in its turn.
extern "C" __global__ void lane_by_lane(int *mutex, u32 *count, int ops) {
  for (int i = 0; i < ops; i++)
    for (int lane = 0; lane < 32; lane++)
      if (threadIdx.x % 32 == lane) {
        while (atomicCAS(mutex, 0, 1) != 0)
          ;
        __threadfence();
        *count = *count + 1;
        __threadfence();
        atomicExch(mutex, 0);
      }
}

// A bit is a lock: all lanes try until they are done.
extern "C" __global__ void bit_lock(u32 *bits, u32 *count, u32 items, int ops) {
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < ops; i++) {
    u32 item = mix(thread * ops + i) % items, bit = 1u << (item & 31);
    bool done = false;
    while (!done)
      if (!(atomicOr(&bits[item >> 5], bit) & bit)) {
        __threadfence();
        count[item]++;
        __threadfence();
        atomicAnd(&bits[item >> 5], ~bit);
        done = true;
      }
  }
}

// The warps of a block share a lock in global memory: the block's scope is enough.
extern "C" __global__ void cta_lock(u32 *locks, u32 *count, int ops, int inside) {
  if (threadIdx.x % 32)
    return;
  u32 *lock = &locks[blockIdx.x * 32], junk = ~blockIdx.x;
  for (int i = 0; i < ops; i++) {
    while (cas_acquire_cta(lock, 0, 1))
      ;
    junk = work(junk, inside);
    count[blockIdx.x] += 1;
    st_release_cta(lock, 0);
  }
  if (junk == 7)
    count[blockIdx.x] = 0;
}

// A lock that the host could take too; whoever misses it sleeps for a fixed time.
extern "C" __global__ void sys_lock(u32 *lock, u32 *count, int ops, int nap) {
  if (threadIdx.x)
    return;
  for (int i = 0; i < ops; i++) {
    while (ld_acquire_sys(lock) || exch_acquire_sys(lock, 1))
      if (nap)
        __nanosleep(nap);
    *count += 1;
    st_release_sys(lock, 0);
  }
}

// Both numbers of a ticket lock in one word: the next in the upper half, the owner's in the lower.
extern "C" __global__ void ticket_packed(u32 *lock, u32 *data, int words, int ops) {
  for (int i = 0; i < ops; i++) {
    if (threadIdx.x == 0) {
      u32 mine = add_relaxed(lock, 0x10000) >> 16;
      while ((ld_acquire(lock) & 0xffff) != mine)
        ;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < words; k += blockDim.x)
      data[k]++;
    __syncthreads();
    if (threadIdx.x == 0)
      red_add_release(lock, 1);
  }
}

// Graunke and Thakkar: a word for each block; the tail names the word of the one before, and its value while he owns.
extern "C" __global__ void graunke_thakkar(u32 *tail, volatile u32 *slots, u32 *count, int ops, int outside) {
  if (threadIdx.x)
    return;
  u32 me = blockIdx.x, junk = ~me;
  for (int i = 0; i < ops; i++) {
    u32 value = slots[me * 32];
    __threadfence();
    u32 before = atomicExch(tail, me << 1 | value);
    while (slots[(before >> 1) * 32] == (before & 1))
      ;
    __threadfence();
    *count += 1;
    __threadfence();
    slots[me * 32] = value ^ 1;
    junk = work(junk, outside);
  }
  if (junk == 7)
    *count = 0;
}

// Tickets with a waiting array (Dice and Kogan): who isn't next waits for a word of a table.
extern "C" __global__ void ticket_array(u32 *lock, u32 *table, u32 size, u32 *count, int ops) {
  if (threadIdx.x % 32)
    return;
  u32 *grant = &lock[32];
  for (int i = 0; i < ops; i++) {
    u32 mine = add_relaxed(lock, 1), *place = &table[mine * 127 % size];
    for (;;) {
      u32 seen = ld_acquire(place);
      if (mine - ld_acquire(grant) <= 1)
        break;
      while (ld_acquire(place) == seen)
        ;
    }
    while (ld_acquire(grant) != mine)
      ;
    *count += 1;
    st_release(grant, mine + 1);
    red_add_release(&table[(mine + 2) * 127 % size], 1);
  }
}

// Hierarchical back-off: the lock's word says whose group owns it; others sleep longer.
extern "C" __global__ void backoff_groups(u32 *lock, u32 *count, u32 group, int ops, u32 nearby, u32 far) {
  if (threadIdx.x % 32)
    return;
  u32 mine = blockIdx.x / group + 1;
  for (int i = 0; i < ops; i++) {
    u32 nap = 0;
    for (u32 owner; (owner = cas_acquire(lock, 0, mine));) {
      u32 most = owner == mine ? nearby : far;
      nap = nap ? min(nap * 2, most) : most / 8;
      __nanosleep(nap);
    }
    *count += 1;
    st_release(lock, 0);
  }
}

// Peterson's lock for two, in a tree; the number of blocks is a power of two.
extern "C" __global__ void peterson_tree(volatile u32 *flags, volatile u32 *turns, u32 *count, int ops) {
  if (threadIdx.x)
    return;
  u32 leaf = gridDim.x + blockIdx.x;
  for (int i = 0; i < ops; i++) {
    for (u32 at = leaf; at > 1; at /= 2) {
      flags[at * 8] = 1;
      turns[at / 2 * 8] = at & 1;
      fence_sc();
      while (flags[(at ^ 1) * 8] && turns[at / 2 * 8] == (at & 1))
        ;
      __threadfence();
    }
    *count += 1;
    __threadfence();
    for (int level = 30 - __clz(leaf); level >= 0; level--)
      flags[(leaf >> level) * 8] = 0;
  }
}

// Lamport's fast mutual exclusion: seven accesses where nobody else is there.
extern "C" __global__ void lamport_fast(volatile u32 *wants, volatile u32 *x, volatile u32 *y, u32 *count, int ops,
                                        int outside) {
  if (threadIdx.x)
    return;
  u32 me = blockIdx.x + 1, junk = ~me;
  for (int i = 0; i < ops; i++) {
    for (;;) {
      wants[me * 8] = 1;
      *x = me;
      fence_sc();
      if (*y) {
        wants[me * 8] = 0;
        while (*y)
          ;
        continue;
      }
      *y = me;
      fence_sc();
      if (*x == me)
        break;
      wants[me * 8] = 0;
      fence_sc();
      for (int other = 1; other <= gridDim.x; other++)
        while (wants[other * 8])
          ;
      if (*y == me)
        break;
      while (*y)
        ;
    }
    __threadfence();
    *count += 1;
    __threadfence();
    *y = 0;
    wants[me * 8] = 0;
    junk = work(junk, outside);
  }
  if (junk == 7)
    *count = 0;
}

// The queued spin lock of Linux: a byte is the lock, a bit says that one waits for it, the upper half names the last
// of a queue of the others.
enum { LOCKED = 1, BYTE = 0xff, PENDING = 0x100, TAIL = 16 };
struct Node {
  u32 next, ready, pad[6];
};

__device__ void lock_queued(u32 *lock, Node *nodes, u32 me) {
  u32 seen = cas_acquire(lock, 0, LOCKED);
  if (!seen)
    return;
  if (!(seen & ~BYTE)) {
    seen = or_acquire(lock, PENDING);
    if (!(seen & ~BYTE)) {
      while (ld_acquire(lock) & BYTE)
        ;
      atomicAdd(lock, (u32)(LOCKED - PENDING));
      return;
    }
    if (!(seen & PENDING))
      atomicAnd(lock, ~PENDING);
  }
  Node *node = &nodes[me];
  st_relaxed(&node->next, 0);
  st_relaxed(&node->ready, 0);
  for (u32 old = ld_relaxed(lock); (seen = cas_acq_rel(lock, old, (old & 0xffff) | me << TAIL)) != old; old = seen)
    ;
  if (seen >> TAIL) {
    st_release(&nodes[seen >> TAIL].next, me);
    while (!ld_acquire(&node->ready))
      ;
  }
  while ((seen = ld_acquire(lock)) & 0xffff)
    ;
  if (seen >> TAIL == me && cas_relaxed(lock, seen, LOCKED) == seen)
    return;
  atomicOr(lock, LOCKED);
  u32 next;
  while (!(next = ld_acquire(&node->next)))
    ;
  st_release(&nodes[next].ready, 1);
}

extern "C" __global__ void qspinlock(u32 *lock, Node *nodes, u32 *count, int ops, int outside) {
  if (threadIdx.x % 32)
    return;
  u32 me = (blockIdx.x * blockDim.x + threadIdx.x) / 32 + 1, junk = ~me;
  for (int i = 0; i < ops; i++) {
    lock_queued(lock, nodes, me);
    *count += 1;
    red_and_release(lock, ~BYTE);
    junk = work(junk, outside);
  }
  if (junk == 7)
    *count = 0;
}

// A counter in shards: who misses a shard does some work and tries the next.
extern "C" __global__ void try_lock(u32 *locks, u32 shards, int ops, int outside, u32 *missed) {
  if (threadIdx.x % 32)
    return;
  u32 shard = mix(blockIdx.x * blockDim.x + threadIdx.x), junk = shard, misses = 0;
  for (int done = 0; done < ops;) {
    u32 *lock = &locks[shard++ % shards * 32];
    if (exch_acquire(lock, 1) == 0) {
      lock[1] += 1;
      st_release(lock, 0);
      done++;
    } else {
      junk = work(junk, outside);
      misses++;
    }
  }
  atomicAdd(missed, misses);
  if (junk == 7)
    *missed = 0;
}

// Flat combining: a block of one warp publishes what it wants added; who gets the lock adds for all.
extern "C" __global__ void flat_combining(u32 *lock, u32 *wants, u32 *total, int ops) {
  u32 lane = threadIdx.x, *mine = &wants[blockIdx.x * 8];
  for (int i = 0; i < ops; i++) {
    if (lane == 0)
      st_release(mine, blockIdx.x + 1);
    for (;;) {
      u32 state = 0; // 0 waits, 1 is served, 2 combines
      if (lane == 0) {
        if (!ld_acquire(mine))
          state = 1;
        else if (!ld_relaxed(lock) && !cas_acquire(lock, 0, 1))
          state = 2;
      }
      state = __shfl_sync(~0u, state, 0);
      if (state == 1)
        break;
      if (state == 0)
        continue;
      u32 sum = 0;
      for (u32 other = lane; other < gridDim.x; other += 32) {
        u32 want = ld_acquire(&wants[other * 8]);
        sum += want;
        if (want)
          st_release(&wants[other * 8], 0);
      }
      for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
      if (lane == 0) {
        *total += sum;
        st_release(lock, 0);
      }
    }
  }
}

// Tickets for readers and writers: each reader lets the next one begin, each one that leaves counts for writers.
extern "C" __global__ void rw_ticket(u32 *words, u32 *data, int length, int ops, int period, u32 *wrong) {
  if (threadIdx.x % 32)
    return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, bad = 0;
  u32 *next = words, *readers = words + 32, *writers = words + 64;
  for (int i = 0; i < ops; i++) {
    u32 mine = add_relaxed(next, 1);
    if ((warp + i) % period == 0) {
      while (ld_acquire(writers) != mine)
        ;
      for (int k = 0; k < length; k++)
        data[k]++;
      st_release(readers, mine + 1);
      red_add_release(writers, 1);
    } else {
      while (ld_acquire(readers) != mine)
        ;
      st_release(readers, mine + 1);
      for (int k = 1; k < length; k++)
        bad += data[k] != data[0];
      red_add_release(writers, 1);
    }
  }
  if (bad)
    atomicAdd(wrong, bad);
}

// A lock for each reader, and writers take them all, in order.
extern "C" __global__ void big_reader(u32 *locks, u32 *data, int length, int ops, int period, u32 *wrong) {
  u32 bad = 0;
  for (int i = 0; i < ops; i++) {
    bool writes = (blockIdx.x + i) % period == 0;
    u32 from = writes ? 0 : blockIdx.x, to = writes ? gridDim.x : blockIdx.x + 1;
    if (threadIdx.x == 0) {
      for (u32 at = from; at < to; at++)
        while (atomicCAS(&locks[at * 8], 0, 1))
          __nanosleep(40);
      __threadfence();
    }
    __syncthreads();
    for (int k = threadIdx.x; k < length; k += blockDim.x)
      if (writes)
        data[k]++;
      else
        bad += data[k] != data[0];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      for (u32 at = from; at < to; at++)
        atomicExch(&locks[at * 8], 0);
    }
  }
  if (bad)
    atomicAdd(wrong, bad);
}
