// Each lane takes two locks by trying: it gives the first one back if it doesn't get the second.
static __device__ bool take(int *lock) { return atomicCAS(lock, 0, 1) == 0; }
static __device__ void give(int *lock) { atomicExch(lock, 0); }

static __device__ bool move_one(int *locks, int *data, int from, int to) {
  bool moved = false;
  if (take(&locks[from])) {
    if (take(&locks[to])) {
      __threadfence();
      atomicAdd(&data[from], -1);
      atomicAdd(&data[to], 1);
      __threadfence();
      give(&locks[to]);
      moved = true;
    }
    give(&locks[from]);
  }
  return moved;
}
static __device__ int second_of(int lane, int count) { return (lane * 7 + 3) % count; }

// The lanes of a warp take all of the first locks in one step, and then find each second one taken.
extern "C" __global__ void together(int *locks, int *data, int count) {
  int lane = threadIdx.x, from = lane % count;
  for (bool moved = false; !moved;)
    moved = move_one(locks, data, from, second_of(lane, count));
}
extern "C" __global__ void in_turn(int *locks, int *data, int count) {
  int lane = threadIdx.x, from = lane % count;
  for (int turn = 0; turn < 32; turn++) {
    for (bool moved = turn != lane; !moved;)
      moved = move_one(locks, data, from, second_of(lane, count));
    __syncwarp();
  }
}
// Who fails sleeps for another time than the others.
extern "C" __global__ void apart(int *locks, int *data, int count) {
  unsigned lane = threadIdx.x, times = 0;
  for (bool moved = false; !moved;) {
    moved = move_one(locks, data, lane % count, second_of(lane, count));
    times = (times * 5 + lane * 2 + 1) % 32;
    for (unsigned i = 0; !moved && i < times; i++)
      __nanosleep(500);
  }
}
// One lock stays taken, so that the lane that wants it gives its own one back for ever.
extern "C" __global__ void kept(int *locks, int *data, int count) {
  int lane = threadIdx.x;
  if (lane >= 2)
    return;
  for (bool moved = false; !moved;)
    moved = move_one(locks, data, lane, lane + 2);
}
