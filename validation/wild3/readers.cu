// arch: sm_90
// Readers and writers: read-copy-update with an epoch that each reader publishes, and Brandenburg and Anderson's phase-fair lock.
#include "../wild/util.cuh"
// Block 0 writes a new version into a free slot and waits until no reader can be in the old one, then reuses it.
__global__ void rcu(u32 *current, u32 *epoch, u32 *seen, u32 *versions, int words, int updates, u32 *bad) {
  u32 b = blockIdx.x, n = gridDim.x, t = threadIdx.x;
  if (b == 0) {
    for (int u = 1; u <= updates; u++) {
      u32 *fresh = versions + (u & 1) * words;
      for (int w = t; w < words; w += blockDim.x) fresh[w] = u;
      __syncthreads();
      if (t == 0) {
        aref<u32>(*current).store(u & 1, memory_order_release);
        aref<u32>(*epoch).store(u, memory_order_seq_cst);
        cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
      }
      __syncthreads();
      for (u32 r = 1 + t; r < n; r += blockDim.x) // 0: outside
        for (;;) {
          u32 e = aref<u32>(seen[r * 8]).load(memory_order_acquire);
          if (e == 0 || e > u) break;
        }
      __syncthreads();
    }
    if (t == 0) aref<u32>(*epoch).store(~0u, memory_order_release);
  } else if (t < 32) {
    u32 wrong = 0;
    for (;;) {
      u32 e;
      if (t == 0) {
        e = aref<u32>(*epoch).load(memory_order_acquire);
        aref<u32>(seen[b * 8]).store(e + 1, memory_order_release);
        cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
      }
      e = __shfl_sync(~0u, e, 0);
      if (e == ~0u) break;
      u32 c = 0;
      if (t == 0) c = aref<u32>(*current).load(memory_order_acquire);
      c = __shfl_sync(~0u, c, 0);
      __syncwarp();
      u32 first = versions[c * words];
      for (int w = t; w < words; w += 32) wrong += versions[c * words + w] != first;
      __syncwarp();
      if (t == 0) aref<u32>(seen[b * 8]).store(0, memory_order_release);
    }
    if (wrong) atomicAdd(bad, wrong);
  }
}
struct PhaseFair { u32 rin, rout, win, wout; };
enum { READER = 0x100, WRITER_BITS = 3, PRESENT = 2, PHASE = 1 };
__global__ void phasefair(PhaseFair *l, u32 *data, int words, int each, int period, u32 *bad) {
  if (threadIdx.x % 32) return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, wrong = 0;
  aref<u32> rin(l->rin), rout(l->rout), win(l->win), wout(l->wout);
  for (int i = 0; i < each; i++)
    if ((warp + i) % period == 0) {
      u32 ticket = win.fetch_add(1, memory_order_relaxed);
      while (wout.load(memory_order_acquire) != ticket) ;
      u32 w = PRESENT | (ticket & PHASE);
      u32 readers = rin.fetch_add(w, memory_order_acq_rel) & ~0xffu;
      while ((rout.load(memory_order_acquire) & ~0xffu) != readers) ;
      for (int k = 0; k < words; k++) data[k] += 1;
      rin.fetch_and(~0xffu, memory_order_release);
      wout.store(ticket + 1, memory_order_release);
    } else {
      u32 w = rin.fetch_add(READER, memory_order_acquire) & WRITER_BITS;
      if (w) while ((rin.load(memory_order_acquire) & WRITER_BITS) == w) ;
      for (int k = 1; k < words; k++) wrong += data[k] != data[0];
      rout.fetch_add(READER, memory_order_release);
    }
  if (wrong) atomicAdd(bad, wrong);
}
