// Two workers with a queue each, under a lock: who finds its own empty looks into the other's. They end once `left` says that no work is
// left; a count that is missed keeps them for ever. PTX: traces/make_ptx.sh cuda_thieves.cu

enum { QUEUES = 2, ENTRIES = 32 };
struct Queue {
  int lock, first, end, entry[ENTRIES];
};

static __device__ void lock(Queue *queue) {
  while (atomicCAS(&queue->lock, 0, 1) != 0) {
  }
  __threadfence();
}
static __device__ void unlock(Queue *queue) {
  __threadfence();
  atomicExch(&queue->lock, 0);
}

// The newest entry of its own queue, or the oldest of another; 0: there is none.
static __device__ int take(volatile Queue *queue, bool own) {
  int work = 0;
  lock((Queue *)queue);
  if (queue->first < queue->end) {
    work = queue->entry[own ? queue->end - 1 : queue->first];
    if (own)
      queue->end--;
    else
      queue->first++;
  }
  unlock((Queue *)queue);
  return work;
}
static __device__ void put(volatile Queue *queue, int work) {
  lock((Queue *)queue);
  queue->entry[queue->end++] = work;
  unlock((Queue *)queue);
}

// Work n brings two pieces n - 1. `missed`: the work that isn't counted when it is done.
extern "C" __global__ void thieves(Queue *queue, int *left, int *done, int missed) {
  volatile Queue *mine = &queue[blockIdx.x];
  while (atomicAdd(left, 0) > 0) {
    int work = take(mine, true);
    if (work == 0)
      work = take(&queue[QUEUES - 1 - blockIdx.x], false);
    if (work == 0)
      continue;
    atomicAdd(done, 1);
    for (int i = 0; i < 2 && work > 1; i++) {
      atomicAdd(left, 1);
      put(mine, work - 1);
    }
    if (work != missed)
      atomicSub(left, 1);
  }
}
