// Each takes one of two locks, and when both are taken the other one.
#include "twins.cuh"

template <Scope S, bool DEAD> __device__ void crossed(Word *x) {
  int i = me<S>();
  if (i > 1)
    return;
  int first = i, second = 1 - i;
  while (cas(&x[first], 0, 1) != 0)
    ;
  add(&x[2], 1);
  while (x[2] < 2)
    ;
  if (!DEAD && i == 0)
    swap(&x[first], 0);
  while (cas(&x[second], 0, 1) != 0)
    ;
  swap(&x[second], 0);
  if (DEAD || i == 1)
    swap(&x[first], 0);
}
BOTH(crossed)
