// Graphs and transactions: shortest paths by work lists and barriers of the grid, breadth-first search without any,
// Boruvka's forest, PageRank that pushes, k-cores, a BVH whose boxes grow from the leaves, transactions with a lock
// and a version in each word, and transactions under one sequence number.
#include "ops.cuh"

__device__ __forceinline__ void grid_barrier(u32 *count, u32 *turn) {
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 target = ++*turn * gridDim.x;
    add_acq_rel(count, 1);
    while (ld_acquire(count) < target)
      ;
  }
  __syncthreads();
}

// ---- graphs: rows and columns of arcs

// Bellman and Ford with work lists: vertices whose distance fell are in the next list, once each.
extern "C" __global__ void sssp(const u32 *rows, const u32 *columns, const u32 *weights, u32 *distances, u32 *marks,
                                u32 *lists, u32 *sizes, u32 vertices, int most, u32 *count) {
  __shared__ u32 turn;
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  if (threadIdx.x == 0)
    turn = 0;
  if (thread == 0)
    st_relaxed(&distances[0], 0);
  for (int round = 0; round < most; round++) {
    u32 *now = lists + round % 2 * vertices, *next = lists + (round + 1) % 2 * vertices;
    u32 size = ld_relaxed(&sizes[round]);
    if (!size)
      return;
    for (u32 i = thread; i < size; i += threads) {
      u32 from = ld_relaxed(&now[i]), distance = ld_relaxed(&distances[from]);
      for (u32 arc = rows[from]; arc < rows[from + 1]; arc++) {
        u32 to = columns[arc], sum = distance + weights[arc];
        if (sum < ld_relaxed(&distances[to]) && sum < atomicMin(&distances[to], sum))
          if (atomicExch(&marks[to], round + 1) != round + 1)
            st_relaxed(&next[atomicAdd(&sizes[round + 1], 1)], to);
      }
    }
    grid_barrier(count, &turn);
  }
}

// Breadth-first search without levels: warps take vertices of a queue that all fill; a count says what is under way.
extern "C" __global__ void bfs_queue(const u32 *rows, const u32 *columns, u32 *levels, u32 *queue, u32 size,
                                     u32 *head, u32 *tail, u32 *open) {
  u32 lane = threadIdx.x % 32;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    st_relaxed(&levels[0], 0);
    st_release(tail, 1);
  }
  for (;;) {
    u32 vertex = ~0u;
    if (lane == 0)
      for (;;) {
        u32 at = ld_relaxed(head);
        if (at < ld_acquire(tail)) {
          u32 item = ld_acquire(&queue[at % size]);
          if (item && cas_relaxed(head, at, at + 1) == at) {
            vertex = item - 1;
            break;
          }
        } else if (!ld_acquire(open))
          break;
      }
    vertex = __shfl_sync(~0u, vertex, 0);
    if (vertex == ~0u)
      return;
    u32 level = ld_relaxed(&levels[vertex]) + 1;
    for (u32 arc = rows[vertex] + lane; arc < rows[vertex + 1]; arc += 32)
      if (atomicMin(&levels[columns[arc]], level) > level) {
        atomicAdd(open, 1);
        st_release(&queue[atomicAdd(tail, 1) % size], columns[arc] + 1);
      }
    __syncwarp();
    if (lane == 0) {
      __threadfence();
      atomicSub(open, 1);
    }
  }
}

// Boruvka: each tree finds its lightest arc, trees hook themselves to others, paths are halved.
extern "C" __global__ void boruvka(const u32 *from, const u32 *to, const u32 *weights, u32 edges, u32 *parents,
                                   u64 *lightest, u32 *hooks, u32 vertices, int rounds, u32 *count, u32 *weight) {
  __shared__ u32 turn;
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, mine = 0;
  if (threadIdx.x == 0)
    turn = 0;
  for (int round = 0; round < rounds; round++) {
    for (u32 v = thread; v < vertices; v += threads)
      st_relaxed64(&lightest[v], ~0ull);
    grid_barrier(count, &turn);
    for (u32 edge = thread; edge < edges; edge += threads) {
      u32 a = ld_relaxed(&parents[from[edge]]), b = ld_relaxed(&parents[to[edge]]);
      u64 key = (u64)weights[edge] << 32 | edge;
      if (a != b) {
        if (key < ld_relaxed64(&lightest[a]))
          atomicMin(&lightest[a], key);
        if (key < ld_relaxed64(&lightest[b]))
          atomicMin(&lightest[b], key);
      }
    }
    grid_barrier(count, &turn);
    for (u32 v = thread; v < vertices; v += threads) {
      u64 key = ld_relaxed64(&lightest[v]);
      hooks[v] = v;
      if (key == ~0ull)
        continue;
      u32 edge = (u32)key, a = ld_relaxed(&parents[from[edge]]), other = a == v ? ld_relaxed(&parents[to[edge]]) : a;
      if (ld_relaxed64(&lightest[other]) != key || v < other) { // of two that chose each other one is the root
        mine += weights[edge];
        hooks[v] = other;
      }
    }
    grid_barrier(count, &turn);
    for (u32 v = thread; v < vertices; v += threads)
      if (hooks[v] != v)
        st_relaxed(&parents[v], hooks[v]);
    grid_barrier(count, &turn);
    for (u32 v = thread; v < vertices; v += threads) {
      u32 parent = ld_relaxed(&parents[v]), above;
      while ((above = ld_relaxed(&parents[parent])) != parent)
        parent = above;
      st_relaxed(&parents[v], parent);
    }
    grid_barrier(count, &turn);
  }
  if (mine)
    atomicAdd(weight, mine);
}

// PageRank: a vertex pushes a share of its residual to its neighbours.
extern "C" __global__ void pagerank_push(const u32 *rows, const u32 *columns, float *ranks, u32 *residuals,
                                         u32 vertices, int rounds, float least, u32 *count) {
  __shared__ u32 turn;
  u32 lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  u32 warps = gridDim.x * blockDim.x / 32;
  if (threadIdx.x == 0)
    turn = 0;
  for (int round = 0; round < rounds; round++) {
    for (u32 v = warp; v < vertices; v += warps) {
      float residual = 0;
      if (lane == 0 && __uint_as_float(ld_relaxed(&residuals[v])) > least)
        residual = __uint_as_float(atomicExch(&residuals[v], 0));
      residual = __shfl_sync(~0u, residual, 0);
      if (residual == 0)
        continue;
      if (lane == 0)
        ranks[v] += residual;
      u32 first = rows[v], last = rows[v + 1];
      float share = 0.85f * residual / (last - first);
      for (u32 arc = first + lane; arc < last; arc += 32)
        atomicAdd((float *)&residuals[columns[arc]], share);
    }
    grid_barrier(count, &turn);
  }
}

// Vertices with fewer than k neighbours go, until none goes any more.
extern "C" __global__ void k_core(const u32 *rows, const u32 *columns, u32 *degrees, u32 *gone, u32 vertices, int k,
                                  u32 *changes, int most, u32 *count) {
  __shared__ u32 turn;
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  if (threadIdx.x == 0)
    turn = 0;
  for (u32 v = thread; v < vertices; v += threads)
    st_relaxed(&degrees[v], rows[v + 1] - rows[v]);
  grid_barrier(count, &turn);
  for (int round = 0; round < most; round++) {
    u32 mine = 0;
    for (u32 v = thread; v < vertices; v += threads)
      if (!gone[v] && (int)ld_relaxed(&degrees[v]) < k) {
        gone[v] = 1;
        mine++;
        for (u32 arc = rows[v]; arc < rows[v + 1]; arc++)
          atomicSub(&degrees[columns[arc]], 1);
      }
    if (mine)
      atomicAdd(&changes[round], mine);
    grid_barrier(count, &turn);
    if (!ld_relaxed(&changes[round]))
      return;
  }
}

// ---- a tree: leaves begin, and of two that come to an inner node the second goes on (Karras)

extern "C" __global__ void bvh_refit(const float4 *leaves, float4 *boxes, u32 *visits, u32 n) {
  u32 leaf = blockIdx.x * blockDim.x + threadIdx.x;
  if (leaf >= n)
    return;
  u32 at = n + (leaf * 40503u & (n - 1));
  boxes[at] = leaves[at - n];
  for (at /= 2; at; at /= 2) {
    __threadfence();
    if (atomicAdd(&visits[at], 1) == 0)
      return;
    __threadfence();
    float4 a = boxes[2 * at], b = boxes[2 * at + 1];
    boxes[at] = make_float4(fminf(a.x, b.x), fminf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
  }
}

// ---- transactions: each moves an amount between two of four accounts that it has read

// TL2: each account has a version, whose lowest bit is a lock; a clock says which versions are too new.
extern "C" __global__ void tl2(u32 *versions, u32 *accounts, u32 n, u32 *clock, int ops, u32 *aborts) {
  u32 thread = blockIdx.x * blockDim.x + threadIdx.x, failed = 0;
  for (int i = 0; i < ops; i++) {
    u32 first = mix(thread * ops + i), which[4];
    for (int k = 0; k < 4; k++)
      which[k] = (first + k * (n / 4 - 1)) % n;
    for (bool done = false; !done;) {
      u32 start = ld_acquire(clock), values[4], seen[2];
      bool good = true;
      for (int k = 0; k < 4 && good; k++) {
        u32 before = ld_acquire(&versions[which[k]]);
        values[k] = ld_relaxed(&accounts[which[k]]);
        fence_acq_rel();
        good = !(before & 1) && before <= start && ld_relaxed(&versions[which[k]]) == before;
        if (k < 2)
          seen[k] = before;
      }
      int locked = 0;
      for (; good && locked < 2; locked++)
        if (cas_acquire(&versions[which[locked]], seen[locked], seen[locked] | 1) != seen[locked]) {
          good = false;
          break;
        }
      u32 now = good ? add_acq_rel(clock, 2) + 2 : 0;
      if (good && now != start + 2) // others have committed meanwhile: what was only read must be as it was
        for (int k = 2; k < 4 && good; k++) {
          u32 version = ld_acquire(&versions[which[k]]);
          good = !(version & 1) && version <= start;
        }
      if (good) {
        u32 amount = min(values[0], (values[2] + values[3]) % 8);
        st_relaxed(&accounts[which[0]], values[0] - amount);
        st_relaxed(&accounts[which[1]], values[1] + amount);
      }
      for (int k = 0; k < locked; k++)
        st_release(&versions[which[k]], good ? now : seen[k]);
      done = good;
      failed += !good;
    }
  }
  if (failed)
    atomicAdd(aborts, failed);
}

// NOrec: one sequence number, odd while one writes; who finds it changed compares what it has read.
extern "C" __global__ void norec(u32 *sequence, u32 *accounts, u32 n, int ops, u32 *looks) {
  if (threadIdx.x % 32)
    return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, tried = 0;
  for (int i = 0; i < ops; i++) {
    u32 first = mix(warp * ops + i), which[4], values[4];
    for (int k = 0; k < 4; k++)
      which[k] = (first + k * (n / 4 - 1)) % n;
    for (;;) {
      u32 start;
      while ((start = ld_acquire(sequence)) & 1)
        ;
      tried++;
      for (int k = 0; k < 4; k++)
        values[k] = ld_relaxed(&accounts[which[k]]);
      fence_acq_rel();
      for (bool same = true; same;) { // commit, or look again whether all values are as they were
        if (ld_relaxed(sequence) == start && cas_acquire(sequence, start, start + 1) == start) {
          u32 amount = min(values[0], (values[2] + values[3]) % 8);
          st_relaxed(&accounts[which[0]], values[0] - amount);
          st_relaxed(&accounts[which[1]], values[1] + amount);
          st_release(sequence, start + 2);
          break;
        }
        while ((start = ld_acquire(sequence)) & 1)
          ;
        for (int k = 0; k < 4; k++)
          same &= ld_relaxed(&accounts[which[k]]) == values[k];
        fence_acq_rel();
        if (!same)
          start = 1;
      }
      if (!(start & 1))
        break;
    }
  }
  atomicAdd(looks, tried);
}
