// Semaphores that are counters, lowered by who wants in, and raised again at once where that was too early: each round of
// a wait leaves the counter as it was. Nobody passes where a post is missing.
static __device__ void lower(int *count) {
  while (atomicSub(count, 1) <= 0) {
    atomicAdd(count, 1);
    __nanosleep(1000);
  }
  __threadfence();
}
static __device__ void raise(int *count) {
  __threadfence();
  atomicAdd(count, 1);
}

// The third one that comes in leaves without a post.
static __device__ void use(int *count, int *uses, bool leaks) {
  if (threadIdx.x > 0)
    return;
  lower(count);
  int before = atomicAdd(uses, 1);
  if (leaks && before % 3 == 2)
    return;
  raise(count);
}
extern "C" __global__ void posts(int *count, int *uses) { use(count, uses, false); }
extern "C" __global__ void leaks(int *count, int *uses) { use(count, uses, true); }

// Block 0 fills slots, block 1 empties them. One item isn't told.
static __device__ void hand_on(int *slots, int *items, volatile int *ring, int count, int untold) {
  if (threadIdx.x > 0)
    return;
  for (int i = 0; i < count; i++) {
    lower(blockIdx.x ? items : slots);
    if (blockIdx.x)
      ring[4] += ring[i % 4];
    else
      ring[i % 4] = i + 1;
    if (blockIdx.x || i != untold)
      raise(blockIdx.x ? slots : items);
  }
}
extern "C" __global__ void tells_all(int *slots, int *items, int *ring) { hand_on(slots, items, ring, 12, -1); }
extern "C" __global__ void tells_not(int *slots, int *items, int *ring) { hand_on(slots, items, ring, 12, 5); }

// Readers count themselves, and take that back while a writer is in. One reader stays counted.
static __device__ void share(unsigned *in, volatile int *data, unsigned stays) {
  const unsigned writer = 0x10000;
  if (threadIdx.x > 0)
    return;
  if (blockIdx.x % 4 == 0) {
    while (atomicCAS(in, 0, writer) != 0) {
    }
    __threadfence();
    data[0] += 1;
    __threadfence();
    atomicSub(in, writer);
    return;
  }
  while (atomicAdd(in, 1) >= writer)
    atomicSub(in, 1);
  __threadfence();
  data[1 + blockIdx.x] = data[0];
  __threadfence();
  if (blockIdx.x != stays)
    atomicSub(in, 1);
}
extern "C" __global__ void all_leave(unsigned *in, int *data) { share(in, data, 0); }
extern "C" __global__ void one_stays(unsigned *in, int *data) { share(in, data, 3); }
