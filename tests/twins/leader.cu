// Two phases with a leader. Dead: the leader waits for an answer of its own, too.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void leader(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  if (i == 0) {
    x[0] = 1;
    while (add(&x[1], 0) < (DEAD ? N : N - 1))
      ;
    x[2] = 1;
  } else {
    while (!x[0])
      ;
    add(&x[1], 1);
    while (!x[2])
      ;
  }
}
BOTH(leader)
