// A word that is set before it is cleared: the signal is lost.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void lost(Word *x) {
  int i = me<S>();
  if (i > 1)
    return;
  if (i == 0) {
    x[0] = 1;
    __threadfence();
    x[1] = 1;
    return;
  }
  while (!x[1])
    ;
  __threadfence();
  if (DEAD)
    x[0] = 0;
  while (!x[0])
    ;
}
BOTH(lost)
