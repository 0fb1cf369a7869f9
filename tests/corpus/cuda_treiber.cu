// A stack whose head is a node and a count of changes in one word of 64 bits: the compare-and-swap finds both.
typedef unsigned long long Head;
enum { NODES = 4 };

static __device__ Head changed(Head head, unsigned node) { return ((head >> 32) + 1) << 32 | node; }

template <bool FENCE> static __device__ void push(Head *head, volatile unsigned *next, unsigned node) {
  Head seen = *(volatile Head *)head;
  for (;;) {
    next[node] = (unsigned)seen;
    if (FENCE)
      __threadfence();
    Head old = atomicCAS(head, seen, changed(seen, node));
    if (old == seen)
      return;
    seen = old;
  }
}

static __device__ unsigned pop(Head *head, volatile unsigned *next) {
  Head seen = *(volatile Head *)head;
  while ((unsigned)seen) {
    __threadfence();
    Head old = atomicCAS(head, seen, changed(seen, next[(unsigned)seen]));
    if (old == seen) {
      __threadfence();
      break;
    }
    seen = old;
  }
  return (unsigned)seen;
}

// Each block brings NODES nodes, and takes two and gives them back for some rounds.
template <bool FENCE> static __device__ void take_turns(Head *head, unsigned *next, int *value, int rounds) {
  unsigned first = blockIdx.x * NODES + 1;
  for (unsigned node = first; node < first + NODES; node++) {
    value[node] = node;
    push<FENCE>(head, next, node);
  }
  for (int i = 0; i < rounds; i++) {
    unsigned one = pop(head, next), other = pop(head, next);
    value[one]++;
    push<FENCE>(head, next, one);
    value[other]++;
    push<FENCE>(head, next, other);
  }
}
extern "C" __global__ void treiber(Head *head, unsigned *next, int *value, int rounds) {
  take_turns<true>(head, next, value, rounds);
}
extern "C" __global__ void treiber_no_fence(Head *head, unsigned *next, int *value, int rounds) {
  take_turns<false>(head, next, value, rounds);
}

// A compare-and-swap that finds one half as expected, and the other one not, stores nothing, and hands nothing on. Who
// waits until it has stored something has its data.
extern "C" __global__ void half_as_expected(Head *word, int *data, Head expected, int waits) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    atomicCAS(word, expected, expected + 1);
    return;
  }
  for (int i = 0; i < 8; i++)
    __nanosleep(1000);
  while (*(volatile unsigned *)word == 0 && waits) {
  }
  __threadfence();
  data[1] = *data;
}
