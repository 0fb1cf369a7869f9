// A ring: each waits for the one before. Dead: nobody begins.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void ring(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  if (DEAD || i > 0)
    while (!x[(i + N - 1) % N])
      ;
  x[i] = 1;
}
BOTH(ring)
