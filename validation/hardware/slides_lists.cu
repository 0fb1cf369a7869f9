// What a real GPU does with the concurrent list insertion of the slides "Synchronization": without a lock, with one
// lock, with a lock in each node in the wrong and the right forms, as second node, with atomics.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o slides_lists slides_lists.cu
// Run:   ./slides_lists > slides_lists.csv
//
// All locks have the GPU form (critical section and unlock inside the loop), but for one CPU form to compare.
#include "hardware.cuh"

// Nodes are numbers: next[node], lock[node]. Node 0 is in the list at first; participant p inserts node p + 1.
// `list_lock` is the lock of the whole list. head, next are volatile; a fence comes before each unlock, but for
// `no_fence`.
#define ARGUMENTS \
  volatile int *head, volatile int *next, int *lock, int *list_lock, int apart, int *gave_up, int limit
typedef volatile int vint;

__device__ __forceinline__ bool try_lock(int *lock) {
  bool got = atomicCAS(lock, 0, 1) == 0;
  if (got)
    __threadfence();
  return got;
}
__device__ __forceinline__ void unlock(int *lock) {
  __threadfence();
  atomicExch(lock, 0);
}
__device__ __forceinline__ void insert_first(vint *head, vint *next, int node) {
  next[node] = *head;
  *head = node;
}

// The sequential insertion.
extern "C" __global__ void list_unlocked(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  insert_first(head, next, node);
}

// Solution 1: a lock with the list.
extern "C" __global__ void list_coarse(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  bool done = false;
  do {
    if (try_lock(list_lock)) {
      insert_first(head, next, node);
      unlock(list_lock);
      done = true;
    }
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}
extern "C" __global__ void list_coarse_cpu_form(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  while (!try_lock(list_lock) & patience.lasts()) {
  }
  if (patience.over()) {
    give_up(gave_up);
    return;
  }
  insert_first(head, next, node);
  unlock(list_lock);
}
// Volatile, but no fence.
extern "C" __global__ void list_coarse_no_fence(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  bool done = false;
  do {
    if (atomicCAS(list_lock, 0, 1) == 0) {
      insert_first(head, next, node);
      atomicExch(list_lock, 0);
      done = true;
    }
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}

// Solution 2, a lock with each node. Wrong: head has changed when head->unlock() comes, so that another node's lock
// is released. The head is read again at each attempt to lock...
extern "C" __global__ void list_unlock_new_head(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  bool done = false;
  do {
    if (try_lock(&lock[*head])) {
      insert_first(head, next, node);
      unlock(&lock[*head]);
      done = true;
    }
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}
// ... or only once: then the first head's lock is never released.
extern "C" __global__ void list_unlock_new_head_read_once(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  int first = *head;
  bool done = false;
  do {
    if (try_lock(&lock[first])) {
      insert_first(head, next, node);
      unlock(&lock[*head]);
      done = true;
    }
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}
// Wrong: ptr is copied first; by the time ptr is locked, head may have changed.
extern "C" __global__ void list_copy_then_lock(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  int ptr = *head;
  bool done = false;
  do {
    if (try_lock(&lock[ptr])) {
      insert_first(head, next, node);
      unlock(&lock[ptr]);
      done = true;
    }
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}
// Lock head first, then copy. The head is read again at each attempt, but not once more when the lock is got.
extern "C" __global__ void list_lock_then_copy(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  bool done = false;
  do {
    if (try_lock(&lock[*head])) {
      int ptr = *head;
      insert_first(head, next, node);
      unlock(&lock[ptr]);
      done = true;
    }
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}
// The same, and whoever finds under the lock that it isn't the head's any more lets it go and tries again.
extern "C" __global__ void list_lock_reload(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  bool done = false;
  do {
    int ptr = *head;
    if (try_lock(&lock[ptr])) {
      if (*head == ptr) {
        insert_first(head, next, node);
        done = true;
      }
      unlock(&lock[ptr]);
    }
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}

// As the second node: head stays.
extern "C" __global__ void list_second(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  bool done = false;
  do {
    if (try_lock(&lock[*head])) {
      next[node] = next[*head];
      next[*head] = node;
      unlock(&lock[*head]);
      done = true;
    }
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}

// With atomics: as first node by atomicCAS, by atomicExch (the list is whole once all are done), as second node.
extern "C" __global__ void list_cas(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  int first = *head, old;
  bool done;
  do {
    next[node] = first;
    __threadfence();
    old = atomicCAS((int *)head, first, node);
    done = old == first;
    first = old;
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}
extern "C" __global__ void list_exchange(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  next[node] = atomicExch((int *)head, node);
}
extern "C" __global__ void list_second_cas(ARGUMENTS) {
  int node = participant(apart) + 1;
  if (node == 0)
    return;
  Patience patience(limit);
  int second = next[*head], old;
  bool done;
  do {
    next[node] = second;
    __threadfence();
    old = atomicCAS((int *)&next[*head], second, node);
    done = old == second;
    second = old;
  } while (!done & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}

// ---- host ----

// How many of the nodes 0 to n are reached from head; a cycle ends the walk.
static int reached(const std::vector<int> &next, int head, int n) {
  std::vector<bool> seen(n + 1);
  int count = 0;
  for (int node = head; node >= 0 && node <= n && !seen[node]; node = next[node]) {
    seen[node] = true;
    count++;
  }
  return count;
}

struct Shape {
  const char *name;
  int blocks, threads, apart;
};

template <typename Kernel> static void insertion(const char *program, Kernel kernel) {
  const Shape shapes[] = {{"lanes", 1, 2, 1},  {"lanes", 1, 32, 1},  {"warps", 1, 64, 32}, {"warps", 1, 1024, 32},
                          {"blocks", 2, 1, 1}, {"blocks", 32, 1, 1}, {"block", 1, 256, 1}, {"grid", 32, 64, 1}};
  for (const Shape &shape : shapes) {
    int n = shape.blocks * shape.threads / shape.apart;
    Words head(1), next(n + 1), lock(n + 1), list_lock(1), gave_up(1);
    measure(program, shape.name, shape.blocks, shape.threads, 200, [&] {
      head.fill(0), next.fill(-1), lock.fill(0), list_lock.fill(0), gave_up.fill(0);
      kernel<<<shape.blocks, shape.threads>>>(head, next, lock, list_lock, shape.apart, gave_up,
                                              n <= 64 ? 4000 : 20000);
      finish(program);
      return judge(gave_up.get(0), reached(next.get(), head.get(0), n), n + 1, "");
    });
  }
}

int main() {
  begin();
  case_seconds = 0.15;
  insertion("list_unlocked", list_unlocked);
  insertion("list_coarse", list_coarse);
  insertion("list_coarse_cpu_form", list_coarse_cpu_form);
  insertion("list_coarse_no_fence", list_coarse_no_fence);
  insertion("list_unlock_new_head", list_unlock_new_head);
  insertion("list_unlock_new_head_read_once", list_unlock_new_head_read_once);
  insertion("list_copy_then_lock", list_copy_then_lock);
  insertion("list_lock_then_copy", list_lock_then_copy);
  insertion("list_lock_reload", list_lock_reload);
  insertion("list_second", list_second);
  insertion("list_cas", list_cas);
  insertion("list_exchange", list_exchange);
  insertion("list_second_cas", list_second_cas);
  return 0;
}
