// Tasks of a tree: a parent is put into the queue by the one of its children that is done last.
// PTX: make_ptx.sh cuda_dag.cu
typedef volatile int *Words;

enum { EMPTY = -1 };

static __device__ int take(Words queue, int *head, int tasks) {
  int at = atomicAdd(head, 1), task;
  if (at >= tasks)
    return EMPTY;
  while ((task = queue[at]) == EMPTY) {
  }
  __threadfence();
  return task;
}

// LAST: what the count of children is for the last of them.
template <int LAST> static __device__ void work(Words queue, int *head, int *tail, int *children, int *sum, int tasks) {
  int task;
  while ((task = take(queue, head, tasks)) != EMPTY) {
    int left = 2 * task + 1, right = left + 1, parent = (task - 1) / 2;
    sum[task] = (left < tasks ? sum[left] : 0) + (right < tasks ? sum[right] : 0) + 1;
    __threadfence();
    if (task > 0 && atomicSub(&children[parent], 1) == LAST) {
      __threadfence();
      queue[atomicAdd(tail, 1)] = parent;
    }
  }
}
extern "C" __global__ void tree(Words queue, int *head, int *tail, int *children, int *sum, int tasks) {
  work<1>(queue, head, tail, children, sum, tasks);
}
extern "C" __global__ void tree_left(Words queue, int *head, int *tail, int *children, int *sum, int tasks) {
  work<0>(queue, head, tail, children, sum, tasks);
}
