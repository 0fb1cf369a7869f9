// Stuart and Owens, "Efficient Synchronization Primitives for GPUs" (2011), section 3: the twelve memory benchmarks of
// Tables 1 to 3. One thread of each block, the master, makes the same access again and again.
// PTX: make_ptx.sh accesses.cu
//
// As the paper has it: a volatile load or store; atomicAdd(memory, 0) as an atomic read, atomicExch(memory, 0) as an atomic
// write; contentious: the same word for all blocks; noncontentious: a word of its own for each block, in 256 bytes of its own;
// "preceded by an atomic": one atomic access of the same direction, then volatile ones.
//
// What the paper leaves open, and what stands here:
// - The loop. It is unrolled eight times, since a noncontentious store takes 45 shader cycles in Table 1, and the add, the
//   compare and the branch of a loop take more than that.
// - Whether a load waits for the one before, which nvcc decides. A noncontentious load takes 66 shader cycles on the GTX 580,
//   several times less than the way to the L2 and back, so several of a thread are under way there: a load waits for the eighth
//   before it, whose register it writes, and the last eight are used. (On the GTX 295 it makes no difference: with 240 blocks
//   the path of a TPC is busy all the time with one load under way for each, too.)
// - What becomes of results. An atomic read needs its result, or it is no read: nvcc makes `atom.add` of it, each waits for
//   the one before, and each is used. An atomic write doesn't: nvcc makes `atom.exch`, not `red`, since there is no
//   `red.exch`, and nobody waits for its result. The atomic before volatile accesses is of the same kind; they don't wait for its
//   result, which is used at the end.
// - What stands between that atomic and the first volatile access. The access "immediately follows" in the paper, and does here:
//   what is to be done has been chosen before.
// - Whether the other 127 threads wait at the end. They exit.

enum { AT_ONCE = 8 };

static __device__ __forceinline__ unsigned read_volatile(const volatile unsigned *word, int count) {
  unsigned sum = 0, seen[AT_ONCE];
#pragma unroll 1
  do {
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      seen[k] = *word;
  } while ((count -= AT_ONCE) > 0);
#pragma unroll
  for (int k = 0; k < AT_ONCE; k++)
    sum += seen[k];
  return sum;
}

static __device__ __forceinline__ void write_volatile(volatile unsigned *word, int count) {
#pragma unroll 1
  do {
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      *word = 0;
  } while ((count -= AT_ONCE) > 0);
}

static __device__ __forceinline__ unsigned read_atomic(unsigned *word, int count) {
  unsigned sum = 0;
#pragma unroll 1
  do {
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      sum += atomicAdd(word, 0);
  } while ((count -= AT_ONCE) > 0);
  return sum;
}

static __device__ __forceinline__ void write_atomic(unsigned *word, int count) {
#pragma unroll 1
  do {
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      atomicExch(word, 0);
  } while ((count -= AT_ONCE) > 0);
}

static __device__ __forceinline__ unsigned read(unsigned *word, int preceded, int count) {
  return preceded ? atomicAdd(word, 0) + read_volatile(word, count) : read_volatile(word, count);
}

static __device__ __forceinline__ unsigned write(unsigned *word, int preceded, int count) {
  unsigned before = preceded ? atomicExch(word, 0) : 0;
  write_volatile(word, count);
  return before;
}

// `apart`: words from one block's word to the next one's, 0 if contentious. `count`: accesses of a block, a multiple of 8.
// `sums`, a word for each block, takes what its loads gave: 0 if `words` hold 0.
extern "C" __global__ void accesses(unsigned *words, unsigned *sums, int apart, int atomic, int writes, int preceded,
                                    int count) {
  if (threadIdx.x)
    return;
  unsigned *word = words + blockIdx.x * apart;
  unsigned sum = 0;
  if (atomic && writes)
    write_atomic(word, count);
  else if (atomic)
    sum = read_atomic(word, count);
  else if (writes)
    sum = write(word, preceded, count);
  else
    sum = read(word, preceded, count);
  sums[blockIdx.x] = sum;
}
