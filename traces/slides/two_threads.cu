// Slides, "Mutual Exclusion: 2 threads": the locks v1, v2 and v3 (Peterson's), by control and data flow only.
// Threads 0 and apart of the grid take part, or only one of them (`only` 0 or 1). `section` has three words: threads
// inside, entries that found the other one inside, and the counter that the lock protects.
// PTX: make_ptx.sh two_threads.cu
static __device__ int participant(int apart) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  return id % apart ? -1 : id / apart;
}

static __device__ bool takes_part(int me, int only) { return me == 0 ? only != 1 : me == 1 && only != 0; }

static __device__ void dawdle(int cycles) {
  for (long long start = clock64(); clock64() - start < cycles;)
    ;
}

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
// The interleaving of the slide (with the threads' numbers exchanged): thread 0 sets victim; thread 1 comes `slow` cycles
// later, sets victim, then its flag, and goes in; thread 0 takes twice as long until it sets its flag, and goes in, too.
extern "C" __global__ void peterson_victim_first(volatile int *flag, volatile int *victim, int *section, int apart,
                                                 int only, int slow) {
  int me = participant(apart), other = 1 - me;
  if (!takes_part(me, only))
    return;
  if (me == 1)
    dawdle(slow);
  *victim = me;
  if (me == 0)
    dawdle(2 * slow);
  flag[me] = 1;
  while (flag[other] && *victim == me)
    ;
  if (atomicAdd(&section[0], 1) != 0)
    atomicAdd(&section[1], 1);
  dawdle(4 * slow);
  atomicSub(&section[0], 1);
  flag[me] = 0;
}
