// A lock in a word of bits. Dead: the wrong bit is cleared.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void bits(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  for (bool done = false; !done;)
    if (!(atomicOr((int *)x, 4) & 4)) {
      x[1]++;
      __threadfence();
      atomicAnd((int *)x, DEAD ? ~2 : ~4);
      done = true;
    }
}
BOTH(bits)
