// What is handed on without all that it needs.

// The winner's lane takes a lock for its warp, whose lanes add to a row, and gives it back.
template <bool MEETS> static __device__ void add_row(int *lock, int *row) {
  int lane = threadIdx.x;
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncwarp();
  row[lane] += 1;
  if (MEETS)
    __syncwarp();
  if (lane == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void row_of_lanes(int *lock, int *row) { add_row<false>(lock, row); }
extern "C" __global__ void row_of_warp(int *lock, int *row) { add_row<true>(lock, row); }

// A count behind the flag that is waited for.
template <bool FENCE> static __device__ void tell_and_count(int *data, volatile int *flag, int *count, int *out) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    *data = 42;
    if (FENCE)
      __threadfence();
    *flag = 1;
    atomicAdd(count, 1);
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    out[0] = atomicAdd(count, 1);
    out[1] = *data;
  }
}
extern "C" __global__ void flag_and_count(int *data, volatile int *flag, int *count, int *out) {
  tell_and_count<false>(data, flag, count, out);
}
extern "C" __global__ void flag_and_count_fenced(int *data, volatile int *flag, int *count, int *out) {
  tell_and_count<true>(data, flag, count, out);
}

// A queue is closed behind its last item; who finds it closed reads its end, which may still be the old one.
template <bool FENCE>
static __device__ void take_all(int *item, volatile int *end, volatile int *closed, volatile int *late, int *sum) {
  enum { ITEMS = 4 };
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    for (int i = 0; i < ITEMS; i++) {
      item[i] = i + 1;
      __threadfence();
      *end = i + 1;
    }
    __threadfence();
    *closed = 1;
    *late = 1;
    return;
  }
  while (*late == 0) {
  }
  int at = 0, all = 0;
  for (;;) {
    int last = *closed;
    if (FENCE)
      __threadfence();
    int now = *end;
    if (at < now) {
      __threadfence();
      all += item[at++];
    } else if (last) {
      break;
    }
  }
  *sum = all;
}
extern "C" __global__ void closed_first(int *item, volatile int *end, volatile int *closed, volatile int *late,
                                        int *sum) {
  take_all<false>(item, end, closed, late, sum);
}
extern "C" __global__ void closed_first_fenced(int *item, volatile int *end, volatile int *closed, volatile int *late,
                                               int *sum) {
  take_all<true>(item, end, closed, late, sum);
}

// The same with a lane that looks for its warp and says by a shuffle what it found. An old end does no harm to who
// leaves only once nothing is left, which it reads behind the end.
enum End { CLOSED, NOTHING_LEFT };
struct Queue {
  int head, end, closed, left;
};
template <End END> static __device__ void take_by_leader(int *item, Queue *queue, volatile int *late, int *sum) {
  enum { ITEMS = 4 };
  volatile Queue *seen = queue;
  if (blockIdx.x == 0) {
    for (int i = 0; i < ITEMS && threadIdx.x == 0; i++) {
      item[i] = i + 1;
      __threadfence();
      seen->end = i + 1;
    }
    __threadfence();
    if (threadIdx.x == 0)
      seen->closed = 1;
    *late = 1;
    return;
  }
  while (*late == 0) {
  }
  int all = 0;
  for (;;) {
    int task = 0;
    if (threadIdx.x == 0) {
      int closed = END == CLOSED ? seen->closed : 0, head = seen->head;
      if (head < seen->end && atomicCAS(&queue->head, head, head + 1) == head)
        task = head + 1;
      else if (END == CLOSED ? closed : seen->left == 0)
        task = -1;
    }
    task = __shfl_sync(~0u, task, 0);
    if (task < 0)
      break;
    if (task == 0)
      continue;
    __threadfence();
    all += item[task - 1];
    if (threadIdx.x == 0)
      atomicSub(&queue->left, 1);
  }
  if (threadIdx.x == 0)
    *sum = all;
}
extern "C" __global__ void closed_by_leader(int *item, Queue *queue, volatile int *late, int *sum) {
  take_by_leader<CLOSED>(item, queue, late, sum);
}
extern "C" __global__ void left_by_leader(int *item, Queue *queue, volatile int *late, int *sum) {
  take_by_leader<NOTHING_LEFT>(item, queue, late, sum);
}

// Each block puts a node on a stack and takes all that is there. The second is late.
struct Node {
  int value;
  Node *next;
};
template <bool FENCE>
static __device__ void push_and_take(Node *node, unsigned long long *top, volatile int *late, int *sum) {
  if (threadIdx.x != 0)
    return;
  while (blockIdx.x != 0 && *late == 0) {
  }
  Node *mine = &node[blockIdx.x];
  mine->value = blockIdx.x + 1;
  for (unsigned long long seen = atomicAdd(top, 0ull), old;; seen = old) {
    mine->next = (Node *)seen;
    if (FENCE)
      __threadfence();
    old = atomicCAS(top, seen, (unsigned long long)mine);
    if (old == seen)
      break;
  }
  if (blockIdx.x == 0) {
    *late = 1;
    return;
  }
  int all = 0;
  Node *each = (Node *)atomicExch(top, 0ull);
  __threadfence();
  for (; each; each = each->next)
    all += each->value;
  *sum = all;
}
extern "C" __global__ void stack_unfenced(Node *node, unsigned long long *top, volatile int *late, int *sum) {
  push_and_take<false>(node, top, late, sum);
}
extern "C" __global__ void stack_fenced(Node *node, unsigned long long *top, volatile int *late, int *sum) {
  push_and_take<true>(node, top, late, sum);
}

// Two blocks leave their part, and the last of them tells a third.
template <bool FENCE> static __device__ void last_tells(int *part, int *left, volatile int *told, int *sum) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 2) {
    while (*told == 0) {
    }
    __threadfence();
    *sum = part[0] + part[1];
    return;
  }
  part[blockIdx.x] = blockIdx.x + 1;
  if (FENCE)
    __threadfence();
  if (atomicSub(left, 1) == 1) {
    __threadfence();
    int all = atomicAdd(left, 3);
    *told = all + 1;
  }
}
extern "C" __global__ void last_tells_unfenced(int *part, int *left, volatile int *told, int *sum) {
  last_tells<false>(part, left, told, sum);
}
extern "C" __global__ void last_tells_fenced(int *part, int *left, volatile int *told, int *sum) {
  last_tells<true>(part, left, told, sum);
}

// A thread gets a number for its block, which all read: where the barrier is missing the others read it first.
template <bool MEETS> static __device__ void number_of_block(int *next, int *out) {
  __shared__ int number[2];
  if (threadIdx.x == 0)
    number[0] = atomicAdd(next, 1);
  if (MEETS)
    __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = number[threadIdx.x / blockDim.x];
}
extern "C" __global__ void number_unmet(int *next, int *out) { number_of_block<false>(next, out); }
extern "C" __global__ void number_met(int *next, int *out) { number_of_block<true>(next, out); }

// Whoever changes something says so.
extern "C" __global__ void all_say_plainly(int *changed) { *changed = 1; }
extern "C" __global__ void all_say(volatile int *changed) { *changed = 1; }
