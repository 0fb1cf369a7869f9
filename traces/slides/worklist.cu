// Slides, "Classwork" (worklist), "Application of Prefix Sum", "Classwork" (work donation).
// Thread t adds nelem[t] elements t * 64 + i to list; the order doesn't matter.
// PTX: make_ptx.sh worklist.cu
extern "C" __global__ void worklist_racy(const int *nelem, int *list, volatile int *size) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < nelem[id]; i++) {
    int at = *size;
    *size = at + 1;
    list[at] = id * 64 + i;
  }
}

// An atomic for each element, and one for each thread.
extern "C" __global__ void worklist_atomic_element(const int *nelem, int *list, int *size) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < nelem[id]; i++)
    list[atomicAdd(size, 1)] = id * 64 + i;
}
extern "C" __global__ void worklist_atomic_thread(const int *nelem, int *list, int *size) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  int at = atomicAdd(size, nelem[id]);
  for (int i = 0; i < nelem[id]; i++)
    list[at + i] = id * 64 + i;
}

// No atomics: the start offsets by a prefix sum. One block of at most 256 threads.
extern "C" __global__ void worklist_prefix_sum(const int *nelem, int *list, int *size) {
  __shared__ int a[256];
  int tid = threadIdx.x, n = blockDim.x, tmp = 0;
  a[tid] = nelem[tid];
  __syncthreads();
  for (int off = 1; off < n; off *= 2) {
    if (tid >= off)
      tmp = a[tid - off];
    __syncthreads();
    if (tid >= off)
      a[tid] += tmp;
    __syncthreads();
  }
  int at = a[tid] - nelem[tid];
  for (int i = 0; i < nelem[tid]; i++)
    list[at + i] = tid * 64 + i;
  if (tid == n - 1)
    *size = a[tid];
}

// Work donation: who has more than the average plus k pushes the rest to the worklist. One block.
extern "C" __global__ void work_donation(int *work, int *list, int *size, int k) {
  __shared__ int sum;
  int id = threadIdx.x;
  if (id == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, work[id]);
  __syncthreads();
  int most = sum / (int)blockDim.x + k;
  if (work[id] > most) {
    list[atomicAdd(size, 1)] = work[id] - most;
    work[id] = most;
  }
}
// Without the barrier between adding up and using the sum.
extern "C" __global__ void work_donation_no_barrier(int *work, int *list, int *size, int k) {
  __shared__ int sum;
  int id = threadIdx.x;
  if (id == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, work[id]);
  int most = sum / (int)blockDim.x + k;
  if (work[id] > most) {
    list[atomicAdd(size, 1)] = work[id] - most;
    work[id] = most;
  }
}
