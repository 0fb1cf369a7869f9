// Vyukov's bounded MPMC ring. The first half of the blocks produce, the others consume; warp leaders only.
#include "util.cuh"
struct Cell { u32 seq, data; };
__global__ void vyukov(Cell *cells, u32 mask, u32 *enq, u32 *deq, int each, u32 *sum) {
  if (threadIdx.x % 32) return;
  bool producer = blockIdx.x < gridDim.x / 2;
  u32 total = 0;
  for (int i = 0; i < each; i++) {
    aref<u32> at(producer ? *enq : *deq);
    u32 pos = at.load(memory_order_relaxed);
    for (;;) {
      Cell &c = cells[pos & mask];
      int diff = (int)(aref<u32>(c.seq).load(memory_order_acquire) - (producer ? pos : pos + 1));
      if (diff == 0) {
        if (at.compare_exchange_weak(pos, pos + 1, memory_order_relaxed)) break;
      } else if (diff < 0)
        __nanosleep(50), pos = at.load(memory_order_relaxed); // full or empty
      else
        pos = at.load(memory_order_relaxed);
    }
    Cell &c = cells[pos & mask];
    if (producer) {
      c.data = blockIdx.x * 1000 + i;
      aref<u32>(c.seq).store(pos + 1, memory_order_release);
    } else {
      total += c.data;
      aref<u32>(c.seq).store(pos + mask + 1, memory_order_release);
    }
  }
  if (!producer) atomicAdd(sum, total);
}
__global__ void prepare(Cell *cells) { cells[blockIdx.x * blockDim.x + threadIdx.x].seq = blockIdx.x * blockDim.x + threadIdx.x; }
