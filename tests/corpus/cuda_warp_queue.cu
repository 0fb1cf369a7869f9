// Queues of work from which a warp takes for all its lanes at once: its lane 0 takes as many items as lanes want one, and
// tells them by shuffles. Consumers go round until the queue is empty and closed; what they look at stands still meanwhile.

struct Queue {
  unsigned head, tail, closed;
  int item[128];
};

// Block 0 puts in two items a lane, the other blocks take them.
template <bool CLOSES> static __device__ void warp_queue(Queue *queue, int *out) {
  unsigned lane = threadIdx.x;
  if (blockIdx.x == 0) {
    queue->item[lane] = lane + 1;
    queue->item[lane + 32] = lane + 33;
    __syncwarp();
    if (lane == 0) {
      __threadfence();
      atomicAdd(&queue->tail, 64);
      __threadfence();
      if (CLOSES)
        atomicExch(&queue->closed, 1);
    }
    return;
  }
  int sum = 0, left = 20;
  for (;;) {
    unsigned want = __ballot_sync(~0u, left > 0), first = 0, got = 0, closed = 0;
    if (lane == 0) {
      closed = *(volatile unsigned *)&queue->closed;
      __threadfence();
      first = *(volatile unsigned *)&queue->head;
      __threadfence(); // the tail mustn't be older than the head
      got = min((unsigned)__popc(want), *(volatile unsigned *)&queue->tail - first);
      __threadfence();
      if (got && atomicCAS(&queue->head, first, first + got) != first)
        got = 0, closed = 0;
      __threadfence();
    }
    first = __shfl_sync(~0u, first, 0);
    got = __shfl_sync(~0u, got, 0);
    closed = __shfl_sync(~0u, closed, 0);
    unsigned rank = __popc(want & ((1u << lane) - 1));
    if (left > 0 && rank < got) {
      sum += queue->item[first + rank];
      left--;
    }
    if (!got && closed)
      break;
  }
  atomicAdd(out, sum);
}
extern "C" __global__ void warp_queue_closed(Queue *queue, int *out) { warp_queue<true>(queue, out); }
extern "C" __global__ void warp_queue_open(Queue *queue, int *out) { warp_queue<false>(queue, out); }

// The same in shared memory: warp 0 puts in what its lanes find, one round after the other, the other warps take.
template <bool CLOSES> static __device__ void block_queue(int *out, int rounds) {
  __shared__ volatile int item[128];
  __shared__ unsigned head;
  __shared__ volatile unsigned tail, closed;
  int t = threadIdx.x, lane = t % 32;
  if (t == 0)
    head = 0, tail = 0, closed = 0;
  __syncthreads();
  if (t < 32) {
    for (int r = 0; r < rounds; r++) {
      bool has = (t + r) % 3 == 0;
      unsigned who = __ballot_sync(~0u, has), first = tail;
      if (has)
        item[first + __popc(who & ((1u << lane) - 1))] = 10 * t + r;
      __threadfence_block();
      __syncwarp();
      if (lane == 0)
        tail = first + __popc(who);
      __syncwarp();
    }
    __threadfence_block();
    if (CLOSES && lane == 0)
      closed = 1;
    return;
  }
  int sum = 0;
  for (;;) {
    unsigned first = 0, got = 0, ends = 0;
    if (lane == 0) {
      ends = closed;
      __threadfence_block();
      first = *(volatile unsigned *)&head;
      __threadfence_block();
      got = min(32u, tail - first);
      __threadfence_block();
      if (got && atomicCAS(&head, first, first + got) != first)
        got = 0, ends = 0;
    }
    first = __shfl_sync(~0u, first, 0);
    got = __shfl_sync(~0u, got, 0);
    ends = __shfl_sync(~0u, ends, 0);
    if (lane < got)
      sum += item[first + lane];
    if (!got && ends)
      break;
  }
  atomicAdd(out, sum);
}
extern "C" __global__ void block_queue_closed(int *out, int rounds) { block_queue<true>(out, rounds); }
extern "C" __global__ void block_queue_open(int *out, int rounds) { block_queue<false>(out, rounds); }
