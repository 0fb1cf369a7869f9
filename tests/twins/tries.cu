// A lock that is tried for a while, and left if it is another's. Dead: it isn't left.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void tries(Word *x) {
  int i = me<S>();
  if (i > 1)
    return;
  if (i == 0) {
    lock(&x[0]);
    x[1] = 1;
    while (!x[2])
      ;
    unlock(&x[0]);
    return;
  }
  while (!x[1])
    ;
  for (int k = 0; DEAD || k < 20; k++)
    if (cas(&x[0], 0, 1) == 0)
      break;
  x[2] = 1;
}
BOTH(tries)
