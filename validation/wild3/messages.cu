// Messages between blocks: a single-producer queue whose empty slots say so (FastForward), a queue of tickets in both directions (as the broker queue), calls that
// one warp answers for all blocks, and a ring of all blocks that adds vectors up, with a number beside each word (as NCCL's low-latency protocol).
#include "../wild/util.cuh"
__global__ void fastforward(u32 *queues, int slots, int items, u32 *sums) { // block 2p sends to 2p + 1; 0 is an empty slot
  if (threadIdx.x) return;
  volatile u32 *q = queues + blockIdx.x / 2 * slots;
  if (blockIdx.x % 2 == 0) {
    for (int i = 0, at = 0; i < items; i++) {
      while (q[at]) ;
      q[at] = i + 1;
      at = at + 1 < slots ? at + 1 : 0;
    }
  } else {
    u32 sum = 0;
    for (int i = 0, at = 0; i < items; i++) {
      u32 x;
      while (!(x = q[at])) ;
      q[at] = 0;
      sum += x;
      at = at + 1 < slots ? at + 1 : 0;
    }
    sums[blockIdx.x / 2] = sum;
  }
}
// Every thread 0 puts an item in and takes one out, again and again. A slot's number says whose turn it is.
__global__ void broker(u32 *head, u32 *tail, u32 *turns, u32 *values, u32 slots, int each, u32 *total) {
  if (threadIdx.x % 32) return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, sum = 0;
  for (int i = 0; i < each; i++) {
    u32 t = atomicAdd(tail, 1), at = t % slots, round = t / slots * 2;
    while (aref<u32>(turns[at]).load(memory_order_acquire) != round) ;
    values[at] = warp * each + i;
    aref<u32>(turns[at]).store(round + 1, memory_order_release);
    u32 h = atomicAdd(head, 1);
    at = h % slots;
    round = h / slots * 2 + 1;
    while (aref<u32>(turns[at]).load(memory_order_acquire) != round) ;
    sum += values[at];
    aref<u32>(turns[at]).store(round + 1, memory_order_release);
  }
  atomicAdd(total, sum);
}
struct Port { u32 request, argument, pad[6]; }; // request: 0 idle, 1 asked, 2 answered
__global__ void calls(Port *ports, int each, u32 *left, u32 *sum) { // the last block answers, 32 ports a warp at a time
  u32 clients = gridDim.x - 1;
  if (blockIdx.x == clients) {
    if (threadIdx.x >= 32) return;
    for (u32 open = clients * each; open;)
      for (u32 base = 0; base < clients; base += 32) {
        u32 mine = base + threadIdx.x;
        bool asked = mine < clients && *(volatile u32 *)&ports[mine].request == 1;
        u32 who = __ballot_sync(~0u, asked);
        if (!who) continue;
        __threadfence();
        if (asked) {
          ports[mine].argument = ports[mine].argument * 2 + 1;
          __threadfence();
          *(volatile u32 *)&ports[mine].request = 2;
        }
        open -= __popc(who);
      }
    if (threadIdx.x == 0) *left = 0;
  } else if (threadIdx.x == 0) {
    Port *p = &ports[blockIdx.x];
    u32 s = 0;
    for (int i = 0; i < each; i++) {
      p->argument = blockIdx.x + i;
      __threadfence();
      *(volatile u32 *)&p->request = 1;
      while (*(volatile u32 *)&p->request != 2) ;
      __threadfence();
      s += p->argument;
    }
    atomicAdd(sum, s);
  }
}
// boxes: for each block gridDim.x * blockDim.x pairs of (value, number of the step); who sends step s has seen that step s - gridDim.x was received.
__global__ void allreduce(const u32 *in, u64 *boxes, u32 *out, int rounds) {
  u32 n = gridDim.x, b = blockIdx.x, t = threadIdx.x, w = blockDim.x, step = 0, total = 0;
  volatile u64 *from = boxes + b * n * w, *to = boxes + (b + 1) % n * n * w;
  for (int r = 0; r < rounds; r++) {
    u32 value = in[b * w + t] + r;
    total = value;
    for (u32 k = 1; k < n; k++) { // what came from the left goes on to the right
      step++;
      to[step % n * w + t] = (u64)step << 32 | value;
      u64 got;
      do got = from[step % n * w + t]; while (got >> 32 != step);
      value = (u32)got;
      total += value;
    }
  }
  out[b * w + t] = total;
}
