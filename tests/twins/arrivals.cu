// A counter that one more is to come to than there are.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void arrivals(Word *x) {
  if (me<S>() == N)
    return;
  add(x, 1);
  while (x[0] < (DEAD ? N + 1 : N))
    ;
}
BOTH(arrivals)
