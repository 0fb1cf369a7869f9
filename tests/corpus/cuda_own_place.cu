// A hand-off that decides by way of memory where a later load goes: block 1 counts behind block 0, stores what it got, and loads it again, or
// another word, as a search does that puts into a queue what it will take out in its next round.
// PTX: make_ptx.sh cuda_own_place.cu

template <int WORD> static __device__ void look(volatile int *data, int *count, int *own, int *again, int *out) {
  if (blockIdx.x == 0) {
    data[0] = 7;
    atomicAdd(count, 1);
    return;
  }
  __nanosleep(4000);
  own[0] = atomicAdd(count, 1);
  int place = again[WORD]; /* `again` is `own` */
  out[0] = data[place - 1];
}
extern "C" __global__ void own_place(volatile int *data, int *count, int *own, int *again, int *out) {
  look<0>(data, count, own, again, out);
}
extern "C" __global__ void other_place(volatile int *data, int *count, int *own, int *again, int *out) {
  look<1>(data, count, own, again, out);
}
