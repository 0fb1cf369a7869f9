// Barriers, signals and messages: barriers of the grid by atomicInc, by a tree of flags and by red.release; named
// barriers that two warp groups pass on, bulk copies with mbarriers, clusters that read each other's
// shared memory, neighbours in two dimensions, doorbells, an event count, an exchanger, ordered output and the
// sleeping barber.
#include "ops.cuh"

// ---- barriers of the grid; behind each, a thread looks at another block's word

__device__ __forceinline__ u32 differs(const volatile u32 *cells, int round) {
  u32 other = (blockIdx.x + threadIdx.x + 1) % gridDim.x;
  return cells[(round & 1) * gridDim.x + other] != other + round;
}

// atomicInc() wraps the counter; who waits looks at the generation.
extern "C" __global__ void barrier_inc(u32 *count, volatile u32 *generation, volatile u32 *cells, int rounds, int nap,
                                       u32 *wrong) {
  u32 bad = 0;
  for (int round = 0; round < rounds; round++) {
    if (threadIdx.x == 0)
      cells[(round & 1) * gridDim.x + blockIdx.x] = blockIdx.x + round;
    __syncthreads();
    if (threadIdx.x == 0) {
      u32 now = *generation;
      __threadfence();
      if (atomicInc(count, gridDim.x - 1) == gridDim.x - 1) {
        __threadfence();
        *generation = now + 1;
      } else
        while (*generation == now)
          if (nap)
            __nanosleep(nap);
      __threadfence();
    }
    __syncthreads();
    bad += differs(cells, round);
  }
  if (bad)
    atomicAdd(wrong, bad);
}

// The tree of Mellor-Crummey and Scott: four children report to their parent, who then wakes two.
extern "C" __global__ void barrier_mcs(u32 *arrived, u32 *wake, volatile u32 *cells, int rounds, u32 *wrong) {
  u32 me = blockIdx.x, t = threadIdx.x, bad = 0;
  for (int round = 0; round < rounds; round++) {
    if (t == 0)
      cells[(round & 1) * gridDim.x + me] = me + round;
    if (t < 32) {
      u32 child = 4 * me + 1 + t;
      if (t < 4 && child < gridDim.x)
        while (ld_acquire(&arrived[child * 8]) != round + 1)
          ;
      __syncwarp();
      if (t == 0 && me) {
        st_release(&arrived[me * 8], round + 1);
        while (ld_acquire(&wake[me * 8]) != round + 1)
          ;
      }
      __syncwarp();
      child = 2 * me + 1 + t;
      if (t < 2 && child < gridDim.x)
        st_release(&wake[child * 8], round + 1);
    }
    __syncthreads();
    bad += differs(cells, round);
  }
  if (bad)
    atomicAdd(wrong, bad);
}

// The generic barrier of CUTLASS: a reduction that releases, and loads that acquire; groups hand on in a ring.
extern "C" __global__ void arrive_inc(u32 *flags, volatile u32 *cells, u32 group, int steps, u32 *wrong) {
  u32 groups = gridDim.x / group, own = blockIdx.x / group, before = (own + groups - 1) % groups, bad = 0;
  for (int step = 0; step < steps; step++) {
    if (step) {
      if (threadIdx.x == 0)
        while (ld_acquire(&flags[before * 32]) < group * step)
          ;
      __syncthreads();
      u32 other = before * group + threadIdx.x % group;
      bad += cells[other * steps + step - 1] != other + step - 1;
    }
    if (threadIdx.x == 0)
      cells[blockIdx.x * steps + step] = blockIdx.x + step;
    __syncthreads();
    if (threadIdx.x == 0)
      red_add_release(&flags[own * 32], 1);
  }
  if (bad)
    atomicAdd(wrong, bad);
}

// ---- within a block

// Two warp groups take turns in the first half of a step, by two named barriers (FlashAttention 3's ping-pong).
extern "C" __global__ void warpgroup_pingpong(float *to, int steps, int inner) {
  int group = threadIdx.x / 128;
  float x = threadIdx.x * 0.01f, sum = 0;
  if (group == 1)
    asm volatile("bar.arrive 1, 256;" : : : "memory");
  for (int step = 0; step < steps; step++) {
    asm volatile("bar.sync %0, 256;" : : "r"(1 + group) : "memory");
    for (int i = 0; i < inner; i++)
      x = x * 0.999f + 0.5f;
    if (group == 0 || step + 1 < steps)
      asm volatile("bar.arrive %0, 256;" : : "r"(2 - group) : "memory");
    for (int i = 0; i < inner / 2; i++)
      sum += exp2f(-x * i);
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__device__ __forceinline__ u32 shared_address(const void *at) { return (u32)__cvta_generic_to_shared(at); }
__device__ __forceinline__ void bar_init(u64 *bar, u32 count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(shared_address(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void bar_wait(u64 *bar, u32 parity) {
  asm volatile("{\n"
               ".reg .pred p;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
               "@p bra done;\n"
               "bra again;\n"
               "done:\n"
               "}"
               :
               : "r"(shared_address(bar)), "r"(parity)
               : "memory");
}

enum { STAGES = 4 };

// Tiles come by bulk copies, which one thread starts some tiles ahead.
extern "C" __global__ void bulk_ring(const u32 *from, u32 *sums, int tiles) {
  __shared__ alignas(128) u32 ring[STAGES][1024];
  __shared__ u64 full[STAGES];
  u32 sum = 0;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; stage++)
      bar_init(&full[stage], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  __syncthreads();
  for (int tile = 1 - STAGES; tile < tiles; tile++) {
    int next = tile + STAGES - 1, slot = next % STAGES;
    if (threadIdx.x == 0 && next < tiles) {
      u32 bar = shared_address(&full[slot]);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(bar), "r"(4096) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   :
                   : "r"(shared_address(ring[slot])), "l"(from + (blockIdx.x * tiles + next) * 1024), "r"(4096),
                     "r"(bar)
                   : "memory");
    }
    if (tile < 0)
      continue;
    bar_wait(&full[tile % STAGES], tile / STAGES & 1);
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
      sum += ring[tile % STAGES][i];
    __syncthreads();
  }
  for (int step = 16; step; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0)
    atomicAdd(&sums[blockIdx.x], sum);
}

// Four blocks of a cluster add up what each has in its shared memory, in each round.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(u32 *to, int rounds) {
  __shared__ u32 part[2];
  u32 rank, value = blockIdx.x + 1;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (int round = 0; round < rounds; round++) {
    if (threadIdx.x == 0)
      part[round & 1] = value;
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
    u32 sum = 0;
    for (u32 other = 0; other < 4; other++) {
      u32 at, word, own = shared_address(&part[round & 1]);
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(own), "r"(other));
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
      sum += word;
    }
    value = sum * 3 + rank;
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
  to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// ---- between blocks

// Blocks in two dimensions; each step waits for the four neighbours' flags of the step before.
extern "C" __global__ void neighbours(u32 *flags, volatile u32 *cells, int steps) {
  int width = gridDim.x, height = gridDim.y, x = blockIdx.x, y = blockIdx.y, me = y * width + x;
  int threads = blockDim.x, t = threadIdx.x, blocks = width * height;
  int near[4] = {y * width + (x + 1) % width, y * width + (x + width - 1) % width, (y + 1) % height * width + x,
                 (y + height - 1) % height * width + x};
  for (int step = 0; step < steps; step++) {
    if (t < 4)
      while (ld_acquire(&flags[near[t] * 8]) < step)
        ;
    __syncthreads();
    volatile u32 *now = cells + (step & 1) * blocks * threads, *next = cells + (~step & 1) * blocks * threads;
    u32 sum = now[me * threads + t];
    for (int side = 0; side < 4; side++)
      sum += now[near[side] * threads + t];
    next[me * threads + t] = sum;
    __syncthreads();
    if (t == 0)
      st_release(&flags[me * 8], step + 1);
  }
}

// Clients ring by a bit of a word; the first block takes all bits at once and answers each.
extern "C" __global__ void doorbells(u32 *bells, u32 *boxes, int ops, u32 *sum) {
  u32 clients = gridDim.x - 1;
  if (blockIdx.x == 0) { // one warp, a lane a word of bells
    u32 served = 0;
    while (served < clients * ops) {
      u32 mine = 0, at = threadIdx.x;
      if (at < (clients + 31) / 32 && ld_relaxed(&bells[at * 8]))
        mine = exch_acquire(&bells[at * 8], 0);
      for (u32 rest = mine; rest; rest &= rest - 1) {
        u32 *box = &boxes[(at * 32 + __ffs(rest) - 1) * 8];
        box[1] = box[0] * 2 + 1;
        st_release(&box[2], ld_relaxed(&box[2]) + 1);
      }
      served += __reduce_add_sync(~0u, __popc(mine));
    }
  } else if (threadIdx.x == 0) {
    u32 me = blockIdx.x - 1, *box = &boxes[me * 8], own = 0;
    for (int i = 0; i < ops; i++) {
      box[0] = i;
      __threadfence();
      atomicOr(&bells[me / 32 * 8], 1u << me % 32);
      while (ld_acquire(&box[2]) != i + 1)
        ;
      own += box[1];
    }
    atomicAdd(sum, own);
  }
}

// An event count: who finds no items registers, looks again, and waits until the epoch has changed.
extern "C" __global__ void event_count(u32 *items, u32 *waiters, u32 *epoch, int ops, int pause, u32 *taken) {
  if (threadIdx.x)
    return;
  u32 junk = ~blockIdx.x;
  for (int i = 0; i < ops; i++) {
    if (blockIdx.x & 1) {
      junk = work(junk, pause);
      red_add_release(items, 1);
      fence_sc();
      if (ld_relaxed(waiters))
        red_add_release(epoch, 1);
    } else {
      for (;;) {
        u32 left = ld_relaxed(items);
        while (left) {
          u32 seen = cas_acq_rel(items, left, left - 1);
          if (seen == left)
            break;
          left = seen;
        }
        if (left)
          break;
        u32 key = ld_acquire(epoch);
        atomicAdd(waiters, 1);
        fence_sc();
        if (!ld_relaxed(items))
          while (ld_acquire(epoch) == key)
            __nanosleep(100);
        atomicSub(waiters, 1);
      }
      atomicAdd(taken, 1);
    }
  }
  if (junk == 7)
    *taken = 0;
}

// Warps meet in a slot and exchange their values, or give up after some looks.
extern "C" __global__ void exchanger(u32 *slots, u32 width, int ops, int patience, u32 *met) {
  if (threadIdx.x % 32)
    return;
  u32 me = (blockIdx.x * blockDim.x + threadIdx.x) / 32 + 1, pairs = 0;
  for (int i = 0; i < ops; i++) {
    u32 *slot = &slots[mix(me * ops + i) % width * 8], other = ld_relaxed(slot);
    if (other == 0) {
      if (cas_acq_rel(slot, 0, me) == 0) {
        int looks = 0;
        while (ld_acquire(slot) == me && ++looks < patience)
          ;
        if (looks == patience && cas_acq_rel(slot, me, 0) == me)
          continue;
        pairs += 1; // the other's value is there
        st_release(slot, 0);
      }
    } else if (!(other >> 31) && cas_acq_rel(slot, other, me | 1u << 31) == other)
      pairs += 1;
  }
  atomicAdd(met, pairs);
}

// Items of unequal length are worked on in any order, and written in theirs.
extern "C" __global__ void ordered_output(u32 *next, u32 *turn, u32 *place, u32 *to, u32 items, int most) {
  __shared__ u32 item, at;
  for (;;) {
    if (threadIdx.x == 0)
      item = atomicAdd(next, 1);
    __syncthreads();
    u32 mine = item;
    if (mine >= items)
      return;
    u32 length = mix(mine) % blockDim.x, value = work(mine + threadIdx.x, mix(mine + 7) % most);
    if (threadIdx.x == 0) {
      while (ld_acquire(turn) != mine)
        ;
      at = *place;
      *place = at + length;
      st_release(turn, mine + 1);
    }
    __syncthreads();
    if (threadIdx.x < length)
      to[at + threadIdx.x] = value;
    __syncthreads();
  }
}

// The sleeping barber: semaphores for chairs, customers and the barber; block 0 is the barber.
__device__ __forceinline__ bool try_down(u32 *semaphore) {
  u32 value = ld_relaxed(semaphore);
  return value && cas_acquire(semaphore, value, value - 1) == value;
}
__device__ __forceinline__ void down(u32 *semaphore) {
  while (!try_down(semaphore))
    __nanosleep(64);
}

extern "C" __global__ void barber(u32 *chairs, u32 *customers, u32 *ready, u32 *done, int ops, int cut, u32 *away) {
  if (threadIdx.x)
    return;
  u32 junk = ~blockIdx.x, turned = 0;
  if (blockIdx.x == 0) {
    for (int i = 0; i < ops * (gridDim.x - 1); i++) {
      down(customers);
      red_add_release(chairs, 1);
      red_add_release(ready, 1);
      junk = work(junk, cut);
      *done += 1;
    }
  } else {
    for (int i = 0; i < ops; i++) {
      while (!try_down(chairs)) {
        turned++;
        junk = work(junk, 4 * cut);
      }
      red_add_release(customers, 1);
      down(ready);
    }
    atomicAdd(away, turned);
  }
  if (junk == 7)
    *done = 0;
}
