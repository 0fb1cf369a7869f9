// A mutex that is a ring of slots (Stuart and Owens, section 5, "a ring-buffer based sleeping mutex"): a block draws a place, puts
// something into that slot, and enters when its own is in the slot at the front. A ring may have as many slots as blocks that wait.
// With `laps` 0 it puts its block's number, as the paper says, so that each lap repeats what another one had: block 0 has the first
// place, and block 1 the next two. While block 1 is late to put its number into the slot of its second place, which is that of the
// first, block 0 waits for its own second place, and finds at the front what it put there a lap ago. If it stays inside until block 1
// has put its number there, both are; if it doesn't, the front passes block 1 by.
// With `laps` 1 it puts the number of its place, which no lap repeats.
// Before it draws a place a block makes sure that its own step of the front is seen: else it may have the next place, and look at what
// it put into the slot of the one before.
// PTX: ../../traces/make_ptx.sh ring_laps.cu
static __device__ unsigned look(const unsigned *word) { return *(const volatile unsigned *)word; }
static __device__ void put(unsigned *word, unsigned value) { *(volatile unsigned *)word = value; }

enum { TAIL = 0, HEAD = 32, SLOTS = 64, SIZE = 2 };

// `own` is a word that holds 0.
static __device__ void pause(const unsigned *own, int reads) {
  for (int i = 0; i < reads; i++)
    i += look(own);
}

static __device__ void lock(unsigned *words, const unsigned *own, int laps, int late) {
  __threadfence();
  unsigned place = atomicAdd(words + TAIL, 1), item = laps ? place + 1 : blockIdx.x + 1;
  pause(own, late);
  put(words + SLOTS + place % SIZE, item);
  while (look(words + SLOTS + look(words + HEAD) % SIZE) != item)
    ;
  __threadfence();
}
static __device__ void unlock(unsigned *words) {
  __threadfence();
  put(words + HEAD, look(words + HEAD) + 1);
}

extern "C" __global__ void ring_laps(unsigned *words, const unsigned *own, unsigned *counter, int laps, int late, int inside) {
  if (blockIdx.x == 1)
    while (look(words + HEAD) == 0) // block 0 has been inside
      ;
  for (int round = 0; round < 2; round++) {
    lock(words, own + blockIdx.x, laps, blockIdx.x == 1 && round == 1 ? late : 0);
    unsigned count = *counter;
    pause(own + blockIdx.x, inside);
    *counter = count + 1;
    unlock(words);
    if (blockIdx.x == 0 && round == 0)
      while (look(words + TAIL) < 3) // block 1 has drawn its second place
        ;
  }
}
