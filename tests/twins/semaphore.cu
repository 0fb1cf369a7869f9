// A semaphore of two. Dead: the holders don't give it back.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void semaphore(Word *x) {
  int i = me<S>();
  if (i == N)
    return;
  for (bool done = false; !done;) {
    int had = x[0];
    if (had < 2 && cas(&x[0], had, had + 1) == had) {
      x[1] = i;
      if (!DEAD)
        add(&x[0], -1);
      done = true;
    }
  }
}
BOTH(semaphore)
