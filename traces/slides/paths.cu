// Slides, "Let's Compute the Shortest Paths": one sweep of Bellman-Ford. Each thread relaxes the edges of its node,
// which are edges first[id] to first[id + 1]. `changed` tells whether another sweep is needed.
// PTX: make_ptx.sh paths.cu
extern "C" __global__ void dsssp(const int *first, const int *to, const int *weight, unsigned *dist, int *changed,
                                 int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n)
    return;
  for (int edge = first[id]; edge < first[id + 1]; edge++) {
    unsigned altdist = dist[id] + weight[edge];
    if (altdist < dist[to[edge]]) {
      dist[to[edge]] = altdist; // another thread's better distance can get lost
      *changed = 1;
    }
  }
}

extern "C" __global__ void dsssp_atomic(const int *first, const int *to, const int *weight, unsigned *dist,
                                        int *changed, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n)
    return;
  for (int edge = first[id]; edge < first[id + 1]; edge++) {
    unsigned altdist = dist[id] + weight[edge];
    if (altdist < dist[to[edge]]) {
      atomicMin(&dist[to[edge]], altdist);
      *changed = 1;
    }
  }
}
