// Slides, "Classwork" and "Synchronization": one thread waits for a flag that another one sets.
// `participant` k is thread k * apart of the grid: with apart = 1 lanes of one warp, with 32 one lane of each warp.
// PTX: make_ptx.sh flags.cu
static __device__ int participant(int apart) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  return id % apart ? -1 : id / apart;
}

// T1 raises the flag and waits until it falls, T2 lowers it after S2. S1 and S2 take a ticket, which tells the order.
// `late`: cycles that T1 comes later.
extern "C" __global__ void order(volatile int *flag, int *ticket, int *place, int apart, int late) {
  int me = participant(apart);
  if (me == 0) {
    for (long long start = clock64(); clock64() - start < late;)
      ;
    *flag = 1;
    while (*flag)
      ;
    place[0] = 1 + atomicAdd(ticket, 1); // S1
  } else if (me == 1) {
    while (!*flag)
      ;
    place[1] = 1 + atomicAdd(ticket, 1); // S2
    *flag = 0;
  }
}

// S2 before S1. S2 writes data, which S1 reads.
extern "C" __global__ void signal(volatile int *flag, int *data, int *out, int apart) {
  int me = participant(apart);
  if (me == 0) {
    while (!*flag)
      ;
    __threadfence();
    *out = *data; // S1
  } else if (me == 1) {
    *data = 42; // S2
    __threadfence();
    *flag = 1;
  }
}

// The same with a flag that isn't volatile: nvcc reads it once, in front of the loop. `late`: cycles that S2 takes.
extern "C" __global__ void signal_plain(int *flag, int *data, int *out, int apart, int late) {
  int me = participant(apart);
  if (me == 0) {
    while (!*flag)
      ;
    *out = *data;
  } else if (me == 1) {
    for (long long start = clock64(); clock64() - start < late;)
      ;
    *data = 42;
    *flag = 1;
  }
}

// The two take turns: S1 while the flag is up, S2 while it is down. Its first value says who begins.
extern "C" __global__ void turns(volatile int *flag, volatile int *counter, int rounds, int apart) {
  int me = participant(apart);
  for (int round = 0; round < rounds; round++) {
    if (me == 0) {
      while (!*flag)
        ;
      *counter = *counter + 1; // S1
      *flag = 0;
    } else if (me == 1) {
      while (*flag)
        ;
      *counter = *counter + 1; // S2
      *flag = 1;
    }
  }
}
