// The same; each asks by an atomic operation.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void asks(Word *x) {
  if (me<S>() == N)
    return;
  add(x, 1);
  while (add(x, 0) < (DEAD ? N + 1 : N))
    ;
}
BOTH(asks)
