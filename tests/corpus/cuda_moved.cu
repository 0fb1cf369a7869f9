// Lanes wait for the lane before them, and say that they are done on the path of a loop that others go on with. The
// compiler moves what a lane does last behind the loop, where on a SIMT stack it waits for the others.
template <bool ALL> static __device__ void one_after_another(volatile int *done, int *order) {
  int lane = threadIdx.x;
  bool mine = false;
  do {
    if (!mine && (lane == 0 || done[lane - 1])) {
      order[lane] = lane ? 1 : 2;
      __threadfence();
      done[lane] = 1;
      mine = true;
    }
  } while (ALL ? __any_sync(~0u, !mine) : !mine);
}
extern "C" __global__ void until_mine(volatile int *done, int *order) { one_after_another<false>(done, order); }
extern "C" __global__ void until_all(volatile int *done, int *order) { one_after_another<true>(done, order); }
