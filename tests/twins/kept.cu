// A lock that the first participant keeps.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void kept(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  for (bool done = false; !done;)
    if (cas(x, 0, 1) == 0) {
      x[1]++;
      __threadfence();
      if (!DEAD || i != 0)
        swap(x, 0);
      else
        x[2] = 1;
      done = true;
    } else if (DEAD && i && x[2]) {
      x[3] = 1;
    }
  if (DEAD && i == 1) // whoever came before the first one waits for it
    while (!x[3] || x[0] == 0)
      ;
}
BOTH(kept)
