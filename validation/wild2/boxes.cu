// Mailboxes. alltoall: each round every block puts a number into a box of each other block, with a flag. clients: threads of other blocks ask, each through
// a box of its own; the lanes of a server look at the boxes that are theirs.
#include "../wild/util.cuh"
__global__ void alltoall(u32 *boxes, u32 *flags, int rounds, u32 *sum) {
  u32 n = gridDim.x, b = blockIdx.x, total = 0;
  for (u32 r = 1; r <= rounds; r++) {
    u32 *now = boxes + (r & 1) * n * n;
    for (u32 to = threadIdx.x; to < n; to += blockDim.x) {
      now[to * n + b] = b + r;
      aref<u32>(flags[to * n + b]).store(r, memory_order_release);
    }
    for (u32 from = threadIdx.x; from < n; from += blockDim.x) {
      while (aref<u32>(flags[b * n + from]).load(memory_order_acquire) < r) ;
      total += now[b * n + from];
    }
    __syncthreads();
  }
  if (total) atomicAdd(sum, total);
}
struct __align__(16) Box { u32 state, question, answer, pad; }; // state: 0 nothing, 1 asked, 2 answered
__global__ void clients(Box *boxes, int servers, int each, int work, u32 *bad) {
  u32 asking = gridDim.x - servers, wrong = 0;
  if (blockIdx.x < servers) {
    for (u32 first = blockIdx.x + threadIdx.x * servers, left = 1; left;) {
      left = 0;
      for (u32 c = first; c < asking; c += blockDim.x * servers) {
        Box &box = boxes[c];
        u32 state = aref<u32>(box.state).load(memory_order_acquire);
        if (state == 3) continue; // the client has gone
        left = 1;
        if (state != 1) continue;
        u32 x = box.question;
#pragma unroll 1
        for (int w = 0; w < work; w++) x = mix(x);
        box.answer = x + 1;
        aref<u32>(box.state).store(2, memory_order_release);
      }
    }
  } else if (threadIdx.x == 0) {
    Box &box = boxes[blockIdx.x - servers];
    aref<u32> state(box.state);
    for (int i = 0; i < each; i++) {
      u32 x = blockIdx.x * each + i;
      box.question = x;
      state.store(1, memory_order_release);
#pragma unroll 1
      for (int w = 0; w < work; w++) x = mix(x);
      while (state.load(memory_order_acquire) != 2) ;
      wrong += box.answer != x + 1;
    }
    state.store(3, memory_order_release);
    if (wrong) atomicAdd(bad, wrong);
  }
}
