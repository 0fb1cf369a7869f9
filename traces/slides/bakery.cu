// Slides, "Bakery Algorithm" (Lamport): n threads, served by (label, thread). Across warps, and within one.
// `participant` k is thread k * apart of the grid.
// PTX: make_ptx.sh bakery.cu
static __device__ int participant(int apart) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  return id % apart ? -1 : id / apart;
}

static __device__ bool before(int label, int k, int mine, int me) {
  return (label < mine) | ((label == mine) & (k < me));
}

// The fences are for threads of different blocks (the slides' "in presence of caches").
extern "C" __global__ void bakery(volatile int *flag, volatile int *label, volatile int *counter, int n, int apart) {
  int me = participant(apart);
  if (me < 0 || me >= n)
    return;
  flag[me] = 1;
  __threadfence();
  int largest = 0;
  for (int k = 0; k < n; k++)
    largest = max(largest, (int)label[k]); // not atomic: two threads can get one label
  int mine = largest + 1;
  label[me] = mine;
  __threadfence();
  for (int k = 0; k < n; k++)
    while (k != me && flag[k] && before(label[k], k, mine, me))
      ;
  __threadfence();
  *counter = *counter + 1;
  __threadfence();
  flag[me] = 0;
}

// The condition as it stands on the slide: is there any k that comes before me?
extern "C" __global__ void bakery_exists(volatile int *flag, volatile int *label, volatile int *counter, int n,
                                         int apart) {
  int me = participant(apart);
  if (me < 0 || me >= n)
    return;
  flag[me] = 1;
  __threadfence();
  int largest = 0;
  for (int k = 0; k < n; k++)
    largest = max(largest, (int)label[k]);
  int mine = largest + 1;
  label[me] = mine;
  __threadfence();
  bool exists;
  do {
    exists = false;
    for (int k = 0; k < n; k++)
      exists |= (k != me) & (flag[k] != 0) & before(label[k], k, mine, me);
  } while (exists);
  __threadfence();
  *counter = *counter + 1;
  __threadfence();
  flag[me] = 0;
}
