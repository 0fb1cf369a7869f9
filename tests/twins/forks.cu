// Philosophers, who take their left fork before any takes a right one. Live: the last one takes none before the others are done.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void forks(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  if (!DEAD && i == N - 1)
    while (x[9] < N - 1)
      ;
  while (cas(&x[i], 0, 1) != 0)
    ;
  add(&x[8], 1);
  while (x[8] < (DEAD || i == N - 1 ? N : N - 1))
    ;
  while (cas(&x[(i + 1) % N], 0, 1) != 0)
    ;
  swap(&x[(i + 1) % N], 0);
  swap(&x[i], 0);
  add(&x[9], 1);
}
BOTH(forks)
