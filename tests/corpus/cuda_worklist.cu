// Each item brings two others, up to a number. Work is over once nothing is pending, which everybody asks by an atomic
// addition of nothing; who finds an old end of the list asks again.
template <bool kept>
static __device__ void work(int *pending, volatile int *head, volatile int *tail, volatile int *list, int *seen) {
  if (threadIdx.x > 0)
    return;
  while (atomicAdd(pending, 0) != 0) {
    int at = *head;
    if (at >= *tail || atomicCAS((int *)head, at, at + 1) != at)
      continue;
    int item;
    while ((item = list[at]) == 0) {
    }
    __threadfence();
    atomicAdd(&seen[item], 1);
    for (int next = 2 * item; next <= 2 * item + 1 && next < 16; next++) {
      atomicAdd(pending, 1);
      int end = atomicAdd((int *)tail, 1);
      __threadfence();
      list[end] = next;
    }
    if (!kept || item != 13)
      atomicSub(pending, 1);
  }
}
extern "C" __global__ void all_done(int *pending, int *head, int *tail, int *list, int *seen) {
  work<false>(pending, head, tail, list, seen);
}
extern "C" __global__ void one_kept(int *pending, int *head, int *tail, int *list, int *seen) {
  work<true>(pending, head, tail, list, seen);
}
