// A queue of waiters (MCS). Dead: the holder looks once whether somebody came, and leaves.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void queue(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  Word *next = x + 8, *wait = x + 16;
  next[i] = 0;
  wait[i] = 1;
  __threadfence();
  int before = swap(&x[0], i + 1);
  if (before) {
    next[before - 1] = i + 1;
    while (wait[i])
      ;
  }
  x[1]++;
  if (DEAD) { // all are in the queue
    add(&x[2], 1);
    while (add(&x[2], 0) < 1)
      ;
    if (before == 0)
      return;
  }
  if (cas(&x[0], i + 1, 0) != i + 1) {
    while (!next[i])
      ;
    wait[next[i] - 1] = 0;
  }
}
BOTH(queue)
