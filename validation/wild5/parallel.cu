// A pass of a radix sort that looks back for each digit (Onesweep), sums scattered to a grid four at a time, a queue
// of two kinds of tasks that make tasks, and quicksort whose blocks share ranges.
#include "ops.cuh"

// ---- Onesweep: a thread for each of 256 digits looks back over the tiles; a word is a count and two bits of state

enum { OWN = 1u << 30, ALL = 2u << 30, COUNT = OWN - 1 };

extern "C" __global__ void onesweep(const u32 *from, u32 *to, const u32 *counted, u32 *states, u32 *ticket,
                                    int shift) {
  __shared__ u32 tile, counts[256], places[256];
  u32 t = threadIdx.x; // 256 threads, four keys each
  if (t == 0)
    tile = atomicAdd(ticket, 1);
  counts[t] = 0;
  __syncthreads();
  u32 keys[4], ranks[4], mine = tile;
  for (int k = 0; k < 4; k++) { // in the order of keys: warp by warp, matching lanes together
    keys[k] = from[mine * 1024 + t / 32 * 128 + k * 32 + t % 32];
    ranks[k] = 0;
  }
  for (u32 warp = 0; warp < 8; warp++) {
    if (warp == t / 32)
      for (int k = 0; k < 4; k++) {
        u32 digit = keys[k] >> shift & 255, peers = __match_any_sync(~0u, digit), before = counts[digit];
        ranks[k] = before + __popc(peers & ((1u << t % 32) - 1));
        __syncwarp();
        if ((int)(t % 32) == __ffs(peers) - 1)
          counts[digit] = before + __popc(peers);
        __syncwarp();
      }
    __syncthreads();
  }
  u32 own = counts[t], sum = 0;
  volatile u32 *words = states;
  words[mine * 256 + t] = own | (mine ? OWN : ALL);
  for (int before = (int)mine - 1; before >= 0;) {
    u32 seen = words[before * 256 + t];
    if (seen < OWN)
      continue;
    sum += seen & COUNT;
    if (seen >= ALL)
      break;
    before--;
  }
  if (mine)
    words[mine * 256 + t] = (sum + own) | ALL;
  places[t] = t ? counted[t - 1] : 0;
  __syncthreads();
  for (u32 step = 1; step < 256; step *= 2) {
    u32 left = t >= step ? places[t - step] : 0;
    __syncthreads();
    places[t] += left;
    __syncthreads();
  }
  places[t] += sum;
  __syncthreads();
  for (int k = 0; k < 4; k++)
    to[places[keys[k] >> shift & 255] + ranks[k]] = keys[k];
}

// ---- sums scattered

// Particles to the four corners of their cells, four floats at a time.
extern "C" __global__ void splat(const u32 *places, float *cells, u32 width, u32 n) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    u32 place = places[i], x = (place & 0xffff) % (width - 1), y = (place >> 16) % (width - 1);
    for (u32 corner = 0; corner < 4; corner++) {
      float *cell = &cells[4 * ((y + corner / 2) * width + x + corner % 2)];
      float weight = corner % 2 ? 0.25f : 0.75f;
      asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %1, %1, %2};"
                   :
                   : "l"(cell), "f"(weight), "f"(1.0f)
                   : "memory");
    }
  }
}

// ---- tasks

// Blocks take tasks of two kinds: one splits its range in two tasks, the other works on it; `open` counts those left.
extern "C" __global__ void task_kinds(u32 *queues, u32 *ends, u32 *open, u32 size, u32 range, int most, u32 *done) {
  __shared__ u32 kind, task;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    queues[0] = range;
    st_release(&ends[32], 1);
  }
  for (;;) {
    if (threadIdx.x == 0)
      for (kind = 2;;) {
        for (u32 k = 0; k < 2 && kind == 2; k++) { // first those that work
          u32 which = 1 - k, *head = &ends[which * 64], at = ld_relaxed(head);
          if (at < ld_acquire(head + 32) && cas_relaxed(head, at, at + 1) == at) {
            while (!(task = ld_acquire(&queues[which * size + at])))
              ;
            kind = which;
          }
        }
        if (kind != 2 || !ld_acquire(open))
          break;
        __nanosleep(50);
      }
    __syncthreads();
    u32 what = kind, length = task;
    if (what == 2)
      return;
    if (what == 0) {
      if (threadIdx.x < 2) {
        u32 half = threadIdx.x ? length - length / 2 : length / 2, which = half <= 16 ? 1 : 0;
        atomicAdd(open, 1);
        st_release(&queues[which * size + atomicAdd(&ends[which * 64 + 32], 1)], half);
      }
    } else if (work(threadIdx.x, length * most) != 7 && threadIdx.x == 0)
      atomicAdd(done, length);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicSub(open, 1);
    }
  }
}

// Quicksort: a block parts a range around its middle key, and leaves one half on a stack under a lock.
// With `peek` idle blocks look at its size before they try for the lock.
extern "C" __global__ void quicksort_ranges(u32 *keys, u32 *other, uint2 *stack, u32 *words, u32 n,
                                            int peek) {
  __shared__ u32 first, last, less, more;
  u32 t = threadIdx.x, *lock = words, *size = words + 1, *sorted = words + 32;
  for (;;) {
    if (t == 0) {
      for (first = last = 0; ld_acquire(sorted) < n;) {
        if ((!peek || ld_relaxed(size)) && !ld_relaxed(lock) && !exch_acquire(lock, 1)) {
          u32 left = ld_relaxed(size);
          if (left) {
            st_relaxed(size, left - 1);
            first = stack[left - 1].x;
            last = stack[left - 1].y;
          }
          st_release(lock, 0);
        }
        if (first < last)
          break;
        __nanosleep(100);
      }
    }
    __syncthreads();
    if (first == last)
      return;
    while (last - first > blockDim.x) {
      u32 from = first, to = last, pivot = keys[(from + to) / 2];
      __syncthreads();
      if (t == 0)
        less = from, more = to;
      __syncthreads();
      for (u32 i = from + t; i < to; i += blockDim.x) {
        u32 key = keys[i];
        if (key < pivot)
          other[atomicAdd(&less, 1)] = key;
        else if (key > pivot)
          other[atomicSub(&more, 1) - 1] = key;
      }
      __syncthreads();
      u32 left = less, right = more;
      for (u32 i = from + t; i < to; i += blockDim.x)
        keys[i] = i >= left && i < right ? pivot : other[i];
      __syncthreads();
      if (t == 0) {
        if (to > right) {
          while (ld_relaxed(lock) || exch_acquire(lock, 1))
            ;
          u32 top = ld_relaxed(size);
          stack[top] = make_uint2(right, to);
          st_relaxed(size, top + 1);
          st_release(lock, 0);
        }
        red_add_release(sorted, right - left);
        last = left;
      }
      __syncthreads();
    }
    u32 from = first, length = last - first, key = t < length ? keys[from + t] : ~0u, rank = 0;
    for (u32 i = 0; i < length; i++) {
      u32 that = keys[from + i];
      rank += that < key || (that == key && i < t);
    }
    __syncthreads();
    if (t < length)
      keys[from + rank] = key;
    __syncthreads();
    if (t == 0)
      red_add_release(sorted, length);
    __syncthreads();
  }
}
