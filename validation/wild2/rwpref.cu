// Reader-writer lock that prefers writers: readers step back while a writer has announced itself (both sides sequentially consistent). One thread of a warp;
// every `period`-th turn writes; a reader looks at `reads` words.
#include "../wild/util.cuh"
__global__ void rwpref(u32 *words, u32 *data, int each, int period, int reads, u32 *bad) {
  if (threadIdx.x % 32) return;
  aref<u32> writers(words[0]), readers(words[32]), mutex(words[64]);
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, wrong = 0;
  for (int i = 0; i < each; i++) {
    if ((warp + i) % period == 0) {
      writers.fetch_add(1, memory_order_seq_cst);
      while (mutex.exchange(1, memory_order_acquire)) ;
      while (readers.load(memory_order_seq_cst)) ;
      for (int k = 0; k < reads; k++) data[k * 32] += 1;
      mutex.store(0, memory_order_release);
      writers.fetch_sub(1, memory_order_release);
    } else {
      for (;;) {
        while (writers.load(memory_order_relaxed)) __nanosleep(20);
        readers.fetch_add(1, memory_order_seq_cst);
        if (!writers.load(memory_order_seq_cst)) break;
        readers.fetch_sub(1, memory_order_release);
      }
      u32 first = data[0];
      for (int k = 1; k < reads; k++) wrong += data[k * 32] != first;
      readers.fetch_sub(1, memory_order_release);
    }
  }
  if (wrong) atomicAdd(bad, wrong);
}
