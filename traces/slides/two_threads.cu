// Slides, "Mutual Exclusion: 2 threads": the locks v1, v2 and v3 (Peterson's), by control and data flow only.
// Threads 0 and apart of the grid take part, or only one of them (`only` 0 or 1). `section` has three words: threads
// inside, entries that found the other one inside, and the counter that the lock protects.
// PTX: make_ptx.sh two_threads.cu
static __device__ int participant(int apart) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  return id % apart ? -1 : id / apart;
}

static __device__ bool takes_part(int me, int only) { return me == 0 ? only != 1 : me == 1 && only != 0; }

static __device__ void critical_section(int *section) {
  if (atomicAdd(&section[0], 1) != 0)
    atomicAdd(&section[1], 1);
  volatile int *counter = &section[2];
  *counter = *counter + 1;
  atomicSub(&section[0], 1);
}

// A flag for each thread. If both raise theirs before either looks, both wait for ever.
extern "C" __global__ void lock_v1(volatile int *flag, int *section, int apart, int only) {
  int me = participant(apart), other = 1 - me;
  if (!takes_part(me, only))
    return;
  flag[me] = 1;
  while (flag[other])
    ;
  critical_section(section);
  flag[me] = 0;
}

// The last one to come waits for another to come, or to leave.
extern "C" __global__ void lock_v2(volatile int *victim, int *section, int apart, int only) {
  int me = participant(apart);
  if (!takes_part(me, only))
    return;
  *victim = me;
  while (*victim == me)
    ;
  critical_section(section);
  *victim = me;
}

// v3: "you first" (pehle aap). Across blocks it needs fences, since a load may overtake a store.
extern "C" __global__ void peterson(volatile int *flag, volatile int *victim, int *section, int apart, int only) {
  int me = participant(apart), other = 1 - me;
  if (!takes_part(me, only))
    return;
  flag[me] = 1;
  *victim = me;
  while (flag[other] && *victim == me)
    ;
  critical_section(section);
  flag[me] = 0;
}
extern "C" __global__ void peterson_fence(volatile int *flag, volatile int *victim, int *section, int apart,
                                          int only) {
  int me = participant(apart), other = 1 - me;
  if (!takes_part(me, only))
    return;
  flag[me] = 1;
  *victim = me;
  __threadfence();
  while (flag[other] && *victim == me)
    ;
  __threadfence();
  critical_section(section);
  __threadfence();
  flag[me] = 0;
}

// The slide's variants: reading victim first is as good. Setting victim first isn't: both can come in.
extern "C" __global__ void peterson_victim_read_first(volatile int *flag, volatile int *victim, int *section,
                                                      int apart, int only) {
  int me = participant(apart), other = 1 - me;
  if (!takes_part(me, only))
    return;
  flag[me] = 1;
  *victim = me;
  while (*victim == me && flag[other])
    ;
  critical_section(section);
  flag[me] = 0;
}
// `slow`: steps of thread 0 between its two stores, for the interleaving on the slide.
extern "C" __global__ void peterson_victim_first(volatile int *flag, volatile int *victim, int *section, int apart,
                                                 int only, int slow) {
  int me = participant(apart), other = 1 - me;
  if (!takes_part(me, only))
    return;
  *victim = me;
  for (int step = 0; me == 0 && step < slow; step++)
    asm volatile("");
  flag[me] = 1;
  while (flag[other] && *victim == me)
    ;
  critical_section(section);
  flag[me] = 0;
}
