// Reads of 64 bits: a pair that never comes together.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void pair(Word *x) {
  int i = me<S>();
  if (i > 1)
    return;
  volatile long long *both = (volatile long long *)x;
  if (i == 0) {
    *both = 1ll << 32 | 2;
    return;
  }
  while (*both != (DEAD ? 2ll << 32 | 1 : 1ll << 32 | 2))
    ;
}
BOTH(pair)
