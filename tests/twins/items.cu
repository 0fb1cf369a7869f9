// One item less is put in than taken out.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void items(Word *x) {
  int i = me<S>();
  if (i > 1)
    return;
  for (int k = 0; k < 3; k++)
    if (i == 0 && (!DEAD || k < 2)) {
      while (add(&x[0], 0) != 0)
        ;
      x[1] = k;
      __threadfence();
      swap(&x[0], 1);
    } else if (i == 1) {
      while (add(&x[0], 0) != 1)
        ;
      x[2] += x[1];
      __threadfence();
      swap(&x[0], 0);
    }
}
BOTH(items)
