// printf and assert, as calls of vprintf and __assertfail.
#include <assert.h>
#include <stdio.h>
extern "C" __global__ void prints(const int *p, double d) {
  if (threadIdx.x == 0)
    printf("lane %u of block %d has %d, \"%s\" %f\n", threadIdx.x, (int)blockIdx.x, p[0], "quoted\t", d);
  assert(p[1] != 0);
}
