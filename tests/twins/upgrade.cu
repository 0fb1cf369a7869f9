// Two readers become writers. Dead: each waits until it is the only reader.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void upgrade(Word *x) {
  int i = me<S>();
  if (i > 1)
    return;
  add(&x[0], 1);
  add(&x[1], 1);
  while (x[1] < 2)
    ;
  if (!DEAD && i == 0)
    add(&x[0], -1);
  while (x[0] != 1)
    if (!DEAD && i == 0)
      break;
  if (DEAD || i == 1)
    add(&x[0], -1);
}
BOTH(upgrade)
