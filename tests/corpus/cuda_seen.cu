// Block 1 sees what block 0 has stored, and tells block 2, which reads it. Block 0 needs no fence; a missing one is of
// block 1 before it tells, or of block 2 behind that.
enum { NOTHING, NO_RELEASE, NO_ACQUIRE };

template <int WRONG> static __device__ void tell(int *seen, volatile int *told, int *out) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    *(volatile int *)seen = 7;
  } else if (blockIdx.x == 1) {
    while (*(volatile int *)seen == 0) {
    }
    if (WRONG != NO_RELEASE)
      __threadfence();
    *told = 1;
  } else {
    while (*told == 0) {
    }
    if (WRONG != NO_ACQUIRE)
      __threadfence();
    *out = *seen;
  }
}
#define KERNEL(name, wrong) \
  extern "C" __global__ void name(int *seen, int *told, int *out) { tell<wrong>(seen, told, out); }
KERNEL(seen, NOTHING)
KERNEL(seen_no_release, NO_RELEASE)
KERNEL(seen_no_acquire, NO_ACQUIRE)
