// Locks of loads and stores as they are written with volatile and __threadfence(): F0, F1 ... are the fences of the way in, and LACKS
// is the one that is left out. Their stores would have to be late for anything to go wrong, and no run shows that unless they are.
constexpr int rounds = 6;

template <int N, int LACKS> static __device__ void fence() {
  if (N != LACKS)
    __threadfence();
}

// Peterson's: who wants to enter must be seen to want to before it gives way, and give way before it looks.
template <int LACKS> static __device__ void peterson(volatile int *wants, volatile int *turn, int *data) {
  int me = blockIdx.x, other = 1 - me;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    wants[me] = 1;
    fence<0, LACKS>();
    *turn = other;
    fence<1, LACKS>();
    while (wants[other] && *turn == other)
      ;
    __threadfence();
    data[0]++;
    __threadfence();
    wants[me] = 0;
  }
}
extern "C" __global__ void peterson_fenced(volatile int *a, volatile int *b, int *data) { peterson<-1>(a, b, data); }
extern "C" __global__ void peterson_first(volatile int *a, volatile int *b, int *data) { peterson<0>(a, b, data); }
extern "C" __global__ void peterson_second(volatile int *a, volatile int *b, int *data) { peterson<1>(a, b, data); }

// Dekker's.
template <int LACKS> static __device__ void dekker(volatile int *wants, volatile int *turn, int *data) {
  int me = blockIdx.x, other = 1 - me;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    wants[me] = 1;
    fence<0, LACKS>();
    while (wants[other]) {
      if (*turn == me)
        continue;
      wants[me] = 0;
      while (*turn != me)
        ;
      wants[me] = 1;
      fence<1, LACKS>();
    }
    __threadfence();
    data[0]++;
    __threadfence();
    *turn = other;
    wants[me] = 0;
  }
}
extern "C" __global__ void dekker_fenced(volatile int *a, volatile int *b, int *data) { dekker<-1>(a, b, data); }
extern "C" __global__ void dekker_second(volatile int *a, volatile int *b, int *data) { dekker<1>(a, b, data); }

// Lamport's bakery of three.
template <int LACKS> static __device__ void bakery(volatile int *choosing, volatile int *number, int *data) {
  int me = blockIdx.x, n = gridDim.x;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    choosing[me] = 1;
    fence<0, LACKS>();
    int mine = 0;
    for (int j = 0; j < n; j++)
      mine = max(mine, number[j]);
    number[me] = ++mine;
    fence<1, LACKS>();
    choosing[me] = 0;
    __threadfence();
    for (int j = 0; j < n; j++) {
      if (j == me)
        continue;
      while (choosing[j])
        ;
      __threadfence();
      int other;
      do
        other = number[j];
      while (other && (other < mine || (other == mine && j < me)));
    }
    __threadfence();
    data[0]++;
    __threadfence();
    number[me] = 0;
  }
}
extern "C" __global__ void bakery_fenced(volatile int *a, volatile int *b, int *data) { bakery<-1>(a, b, data); }
extern "C" __global__ void bakery_first(volatile int *a, volatile int *b, int *data) { bakery<0>(a, b, data); }
extern "C" __global__ void bakery_second(volatile int *a, volatile int *b, int *data) { bakery<1>(a, b, data); }

// Lamport's fast mutex of three, numbered from 1.
template <int LACKS> static __device__ void fast(volatile int *b, volatile int *xy, int *data) {
  int me = blockIdx.x + 1, n = gridDim.x;
  volatile int *x = xy, *y = xy + 1;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
  start:
    b[me] = 1;
    fence<0, LACKS>();
    *x = me;
    fence<1, LACKS>();
    if (*y) {
      b[me] = 0;
      while (*y)
        ;
      goto start;
    }
    __threadfence();
    *y = me;
    fence<2, LACKS>();
    if (*x != me) {
      b[me] = 0;
      fence<3, LACKS>();
      for (int j = 1; j <= n; j++)
        while (b[j])
          ;
      __threadfence();
      if (*y != me) {
        while (*y)
          ;
        goto start;
      }
    }
    __threadfence();
    data[0]++;
    __threadfence();
    *y = 0;
    __threadfence();
    b[me] = 0;
  }
}
extern "C" __global__ void fast_fenced(volatile int *a, volatile int *b, int *data) { fast<-1>(a, b, data); }
extern "C" __global__ void fast_second(volatile int *a, volatile int *b, int *data) { fast<1>(a, b, data); }
