// A lock that its holder takes again. Live: it counts.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void again(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  for (bool done = false; !done;)
    if (cas(x, 0, i + 1) == 0) {
      while (DEAD ? cas(x, 0, i + 1) != 0 : cas(x, i + 1, i + 1) != i + 1)
        ;
      swap(x, 0);
      done = true;
    }
}
BOTH(again)
