// A barrier that turns its sense. Dead: the second round waits for the sense of the first to come back, as all do.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void sense(Word *x) {
  if (me<S>() == N)
    return;
  for (int round = 1; round <= 2; round++) {
    if (add(&x[0], 1) == N - 1) {
      x[0] = 0;
      __threadfence();
      x[1] = round;
    }
    while (x[1] != (DEAD && round == 2 ? 3 : round) && (DEAD || x[1] < round))
      ;
  }
}
BOTH(sense)
