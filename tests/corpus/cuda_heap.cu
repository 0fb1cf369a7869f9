// The device heap: malloc() and free() in kernels.
struct Node {
  int value;
  Node *next;
};
__device__ Node *head;
__device__ int mutex;

__device__ void push(Node *node) {
  for (bool done = false; !done;)
    if (atomicCAS(&mutex, 0, 1) == 0) {
      __threadfence();
      node->next = head;
      head = node;
      __threadfence();
      atomicExch(&mutex, 0);
      done = true;
    }
}

// Each thread pushes a node of its own, whose value it sets first (or not).
extern "C" __global__ void heap_list(int sets) {
  Node *node = (Node *)malloc(sizeof(Node));
  if (!node)
    return;
  if (sets)
    node->value = threadIdx.x;
  push(node);
}

extern "C" __global__ void heap_sum(int *sum) {
  for (Node *node = head, *next; node; node = next) {
    sum[0] += node->value;
    next = node->next;
    free(node);
  }
}

// The first lane of each warp takes the lock, and keeps it if there is no memory (or gives it back).
extern "C" __global__ void heap_keeps_lock(int bytes, int gives_back) {
  if (threadIdx.x % 32)
    return;
  while (atomicCAS(&mutex, 0, 1))
    ;
  __threadfence();
  Node *node = (Node *)malloc(bytes);
  if (node) {
    node->next = head;
    head = node;
  } else if (!gives_back) {
    return;
  }
  __threadfence();
  atomicExch(&mutex, 0);
}

// malloc() while the lock is held, by all lanes of a warp.
extern "C" __global__ void heap_in_lock() {
  while (atomicCAS(&mutex, 0, 1))
    ;
  __threadfence();
  Node *node = (Node *)malloc(sizeof(Node));
  if (node) {
    node->next = head;
    head = node;
  }
  __threadfence();
  atomicExch(&mutex, 0);
}

// One thread frees what all have used: `early`: before the barrier, where others may still read it.
extern "C" __global__ void heap_free_shared(int *out, int early) {
  __shared__ int *table;
  if (threadIdx.x == 0) {
    table = (int *)malloc(blockDim.x * sizeof(int));
    for (int i = 0; i < blockDim.x; i++)
      table[i] = i;
  }
  __syncthreads();
  out[threadIdx.x] = table[threadIdx.x];
  if (!early)
    __syncthreads();
  if (threadIdx.x == blockDim.x - 1)
    free(table);
}

// A thread that spins on a word of the heap, which another sets, forgets or frees.
extern "C" __global__ void heap_flag(int what) {
  __shared__ volatile int *flag;
  if (threadIdx.x == 0) {
    flag = (volatile int *)malloc(sizeof(int));
    *flag = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0)
    while (*flag == 0)
      ;
  if (threadIdx.x == 32 && what == 1)
    *flag = 1;
  if (threadIdx.x == 32 && what == 2)
    free((void *)flag);
}

// Memory goes round: what a thread frees another one gets, with no other order between them.
extern "C" __global__ void heap_again(int *out) {
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    int *mine = (int *)malloc(4000);
    while (!mine)
      mine = (int *)malloc(4000);
    mine[0] = mine[999] = i;
    sum += mine[0] + mine[999];
    free(mine);
  }
  out[blockIdx.x] = sum;
}

// The pointer is freed twice (or set to NULL between).
extern "C" __global__ void heap_twice(int *out, int clears) {
  int *mine = (int *)malloc(sizeof(int));
  *mine = 1;
  out[threadIdx.x] = *mine;
  free(mine);
  if (clears)
    mine = NULL;
  free(mine);
}

// One word behind the end (or the last one).
extern "C" __global__ void heap_end(int *out, int words) {
  int *mine = (int *)malloc(words * sizeof(int));
  for (int i = 0; i < 5; i++)
    mine[i] = i;
  out[threadIdx.x] = mine[words - 1];
  free(mine);
}

// A thread waits for a flag that another one sets between calls of malloc() (or never).
extern "C" __global__ void heap_beside(volatile int *flag, int when) {
  if (blockIdx.x == 0) {
    while (*flag == 0)
      ;
    free(malloc(16));
  } else {
    for (int i = 0; i < 20; i++) {
      int *mine = (int *)malloc(16);
      *mine = i;
      if (i == when)
        *flag = 1;
      free(mine);
    }
  }
}

// `new` and `delete`: of an aligned type, and of an array.
struct alignas(64) Aligned {
  int word[16];
};
extern "C" __global__ void heap_new(int *out) {
  Aligned *one = new Aligned;
  int *many = new int[3];
  one->word[15] = many[2] = threadIdx.x;
  out[threadIdx.x] = ((unsigned long long)one % 64) * 100 + one->word[15] + many[2];
  delete one;
  delete[] many;
}
