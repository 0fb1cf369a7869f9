// An event count in one line: who puts something into a box counts it, and rings if somebody waits; who waits says
// so, looks at the bell and at the count, and waits for the bell. PTX: traces/make_ptx.sh cuda_event_count.cu
struct Events {
  int bell, waiting, count;
};

template <bool FENCE> static __device__ void put(volatile Events *events, int *box, int items) {
  for (int i = 0; i < items; i++) {
    box[i] = i + 1;
    __threadfence();
    events->count = i + 1;
    if (FENCE)
      __threadfence();
    if (events->waiting)
      atomicAdd((int *)&events->bell, 1);
  }
}

static __device__ void wait(volatile Events *events, int taken) {
  atomicAdd((int *)&events->waiting, 1);
  __threadfence();
  int bell = events->bell;
  __threadfence();
  if (events->count == taken)
    while (events->bell == bell) {
    }
  atomicSub((int *)&events->waiting, 1);
}

template <bool FENCE> static __device__ void pass(Events *events, int *box, int *sum, int items) {
  if (blockIdx.x == 0) {
    put<FENCE>(events, box, items);
    return;
  }
  for (int i = 0; i < items; i++) {
    while (((volatile Events *)events)->count == i)
      wait(events, i);
    __threadfence();
    *sum += box[i];
  }
}

extern "C" __global__ void event_count(Events *events, int *box, int *sum, int items) {
  pass<true>(events, box, sum, items);
}
// The look at who waits may come before the count: both miss each other.
extern "C" __global__ void event_count_unfenced(Events *events, int *box, int *sum, int items) {
  pass<false>(events, box, sum, items);
}
