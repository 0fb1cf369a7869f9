// Slides, "Concurrent Linked List": insertion at the head, wrong and right, and as the second node.
// Nodes are numbers: next[node], lock[node]. Node 0 is in the list at first; participant p inserts node p + 1.
// `participant` k is thread k * apart of the grid. `list_length` counts what can be reached from the head then.
// The locks have the GPU form; about the empty asm see cas_lock.cu.
// PTX: make_ptx.sh list.cu
typedef volatile int vint;

static __device__ int participant(int apart) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  return id % apart ? -1 : id / apart;
}
static __device__ bool try_lock(int *lock) {
  bool got = atomicCAS(lock, 0, 1) == 0;
  if (got)
    __threadfence();
  return got;
}
static __device__ void unlock(int *lock) {
  __threadfence();
  atomicExch(lock, 0);
}
static __device__ void insert_first(vint *head, vint *next, int node) {
  next[node] = *head;
  *head = node;
}

// The sequential insertion.
extern "C" __global__ void list_unlocked(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  if (node > 0)
    insert_first(head, next, node);
}

// Solution 1: a lock with the list.
extern "C" __global__ void list_coarse(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  int wait = node > 0;
  while (wait) {
    if (try_lock(list_lock)) {
      insert_first(head, next, node);
      unlock(list_lock);
      wait = 0;
    }
    asm volatile("" : "+r"(wait));
  }
}

// Solution 2, a lock with each node. Wrong: at head->unlock() head is the new node, so that the old one stays locked.
// Here head is read once...
extern "C" __global__ void list_unlock_new_head(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  int first = *head, wait = node > 0;
  while (wait) {
    if (try_lock(&lock[first])) {
      insert_first(head, next, node);
      unlock(&lock[*head]);
      wait = 0;
    }
    asm volatile("" : "+r"(wait));
  }
}
// ... and here at each attempt.
extern "C" __global__ void list_unlock_new_head_reread(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  int wait = node > 0;
  while (wait) {
    if (try_lock(&lock[*head])) {
      insert_first(head, next, node);
      unlock(&lock[*head]);
      wait = 0;
    }
    asm volatile("" : "+r"(wait));
  }
}
// Wrong: by the time ptr is locked, head may have changed. `late`: cycles that every other participant comes later, so
// that they copy another head, and lock another lock, than the first ones.
extern "C" __global__ void list_copy_then_lock(vint *head, vint *next, int *lock, int *list_lock, int apart,
                                               int late) {
  int node = participant(apart) + 1;
  for (long long start = clock64(); clock64() - start < late * (node % 2);)
    ;
  int wait = node > 0, ptr = *head;
  while (wait) {
    if (try_lock(&lock[ptr])) {
      insert_first(head, next, node);
      unlock(&lock[ptr]);
      wait = 0;
    }
    asm volatile("" : "+r"(wait));
  }
}
// "Lock head first, then copy": the copy may be another node than the one that was locked.
extern "C" __global__ void list_lock_then_copy(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  int wait = node > 0;
  while (wait) {
    if (try_lock(&lock[*head])) {
      int ptr = *head;
      insert_first(head, next, node);
      unlock(&lock[ptr]);
      wait = 0;
    }
    asm volatile("" : "+r"(wait));
  }
}
// Right: head is loaded again under the lock, and who doesn't hold the head's lock lets go and tries again.
extern "C" __global__ void list_lock_reload(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  int wait = node > 0;
  while (wait) {
    int ptr = *head;
    if (try_lock(&lock[ptr])) {
      if (*head == ptr) {
        insert_first(head, next, node);
        wait = 0;
      }
      unlock(&lock[ptr]);
    }
    asm volatile("" : "+r"(wait));
  }
}

// Right: as the second node, so that head stays.
extern "C" __global__ void list_second(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  int wait = node > 0;
  while (wait) {
    if (try_lock(&lock[*head])) {
      next[node] = next[*head];
      next[*head] = node;
      unlock(&lock[*head]);
      wait = 0;
    }
    asm volatile("" : "+r"(wait));
  }
}

// With atomics.
extern "C" __global__ void list_cas(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  int first, old = *head;
  do {
    first = old;
    next[node] = first;
    __threadfence();
    old = atomicCAS((int *)head, first, node);
  } while (old != first);
}
extern "C" __global__ void list_exchange(vint *head, vint *next, int *lock, int *list_lock, int apart) {
  int node = participant(apart) + 1;
  if (node > 0)
    next[node] = atomicExch((int *)head, node);
}

// At most n + 1 nodes; next[0] is -1.
extern "C" __global__ void list_length(const int *head, const int *next, int n, int *length) {
  int count = 0;
  for (int node = *head; node >= 0 && count <= n; node = next[node])
    count++;
  *length = count;
}
