// Locks in the tags of L1 and L2 (sim/memory/lock_queue.h): programs that hang, and their live twins.
// PTX: ../../traces/make_ptx.sh tag_locks.cu
typedef unsigned Word;
extern "C" __device__ int __lock_acquire(Word *lock);
extern "C" __device__ void __lock_release(Word *lock);

static __device__ __forceinline__ void keep(int &value) { asm volatile("" : "+r"(value)); }
static __device__ __forceinline__ void take(Word *lock) {
#pragma unroll 1
  while (!__lock_acquire(lock))
    ;
  __threadfence();
}
static __device__ __forceinline__ void give(Word *lock) {
  __threadfence();
  __lock_release(lock);
}

// Two blocks of a thread take both locks, `crossed` in opposite order, once each of them has one.
extern "C" __global__ void both(Word *locks, Word *met, Word *sum, int crossed) {
  Word first = crossed ? blockIdx.x : 0, second = 1 - first;
  take(&locks[first]);
  if (crossed) {
    atomicAdd(met, 1u);
    while (*(volatile Word *)met < 2)
      ;
  }
  take(&locks[second]);
  *(volatile Word *)sum += 1;
  give(&locks[second]);
  give(&locks[first]);
}

// Each lane of a warp in a section; as every lane waits for the lock, and as who has it goes first.
extern "C" __global__ void spin_alone(Word *lock, Word *sum) {
  take(lock);
  *(volatile Word *)sum += 1;
  give(lock);
}
extern "C" __global__ void spin_together(Word *lock, Word *sum) {
  int done = 0;
  do {
    if (__lock_acquire(lock)) {
      __threadfence();
      *(volatile Word *)sum += 1;
      give(lock);
      done = 1;
    }
    keep(done);
  } while (!done);
}

// A block of a thread each: takes its lock and the one behind it. All lie in one set of the L1 and of the L2.
extern "C" __global__ void crowd(Word *locks, Word *sums, Word apart) {
  Word *first = &locks[blockIdx.x * apart], *second = first + apart;
  for (int i = 0; i < 3; i++) {
    take(first);
    take(second);
    *(volatile Word *)&sums[blockIdx.x] += 1;
    *(volatile Word *)&sums[blockIdx.x + 1] += 1;
    give(second);
    give(first);
  }
}

// Block 0 takes the lock first, and gives it back or not; the others wait for it.
extern "C" __global__ void leave(Word *lock, Word *sum, int forgets) {
  while (blockIdx.x && *(volatile Word *)sum == 0)
    ;
  take(lock);
  *(volatile Word *)sum += 1;
  if (!forgets || blockIdx.x)
    give(lock);
}

// Whoever doesn't get the lock goes away without it: what the L2 grants then nobody takes.
extern "C" __global__ void give_up(Word *lock, Word *sum, int patient) {
  if (blockIdx.x < patient) {
    for (int i = 0; i < 20; i++) {
      take(lock);
      *(volatile Word *)sum += 1;
      give(lock);
    }
  } else if (__lock_acquire(lock)) {
    __threadfence();
    give(lock);
  }
}

// Gives back what it hasn't got; what another block has; what it has.
extern "C" __global__ void stray(Word *lock, Word *met, int has) {
  if (has > blockIdx.x)
    take(lock);
  __threadfence();
  atomicAdd(met, 1u);
  if (has == 1)
    while (*(volatile Word *)met < 2)
      ;
  if (has != 1 || blockIdx.x)
    give(lock);
}

// The sum without a lock, and under it without fences.
extern "C" __global__ void unfenced(Word *lock, Word *sum) {
  while (!__lock_acquire(lock))
    ;
  *(volatile Word *)sum += 1;
  __lock_release(lock);
}
