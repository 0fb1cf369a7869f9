// A ticket lock. Dead: the first one draws two tickets.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void tickets(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  int mine = add(&x[0], 1);
  if (DEAD && i == 0)
    add(&x[0], 1);
  if (DEAD) // all have drawn
    while (add(&x[0], 0) < N + 1)
      ;
  while (add(&x[1], 0) != mine)
    ;
  x[2]++;
  __threadfence();
  add(&x[1], 1);
  if (DEAD)
    while (add(&x[1], 0) < N + 1)
      ;
}
BOTH(tickets)
