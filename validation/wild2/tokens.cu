// Several tokens go round between all blocks, through a counter in front of each; and one block that tells all others something each round, and waits for
// their answers.
#include "../wild/util.cuh"
__global__ void tokens(u32 *inbox, int stride, int start, int turns, int work, u32 *seen) { // every `start`-th block has a token first
  if (threadIdx.x) return;
  aref<u32> mine(inbox[blockIdx.x * stride]), next(inbox[(blockIdx.x + 1) % gridDim.x * stride]);
  bool first = blockIdx.x % start == 0;
  u32 x = blockIdx.x;
  if (first) next.fetch_add(1, memory_order_release);
  for (int got = 0; got < turns; got++) {
    while (mine.load(memory_order_acquire) <= got) ;
    seen[blockIdx.x] += 1;
#pragma unroll 1
    for (int w = 0; w < work; w++) x = x * 5 + 1;
    if (!first || got + 1 < turns) next.fetch_add(1, memory_order_release);
  }
  if (x == 12345) seen[gridDim.x] = 1;
}
__global__ void broadcast(u32 *words, u32 *message, int length, int rounds, u32 *sum) {
  aref<u32> number(words[0]), answers(words[32]);
  u32 total = 0;
  for (u32 r = 1; r <= rounds; r++)
    if (blockIdx.x == 0) {
      for (int i = threadIdx.x; i < length; i += blockDim.x) message[i] = r;
      __syncthreads();
      if (threadIdx.x == 0) {
        number.store(r, memory_order_release);
        while (answers.load(memory_order_acquire) != r * (gridDim.x - 1)) ;
      }
      __syncthreads();
    } else {
      if (threadIdx.x == 0) while (number.load(memory_order_acquire) != r) ;
      __syncthreads();
      for (int i = threadIdx.x; i < length; i += blockDim.x) total += message[i];
      __syncthreads();
      if (threadIdx.x == 0) answers.fetch_add(1, memory_order_acq_rel);
    }
  if (total) atomicAdd(sum, total);
}
