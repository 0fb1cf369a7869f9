// Lanes of a warp take turns, each under a lock of its own: when does each begin, have its lock, and free it? The clocks say who goes on
// together behind a YIELD and a BSYNC.
// Build and run: nvcc -O2 -arch=native -o lane_turns lane_turns.cu && ./lane_turns
// Output: round, lane, and clocks from the first begin on. The second launch counts: the first one loads the code.
#include <cstdio>

typedef unsigned Word;
enum { LANES = 32, ROUNDS = 2, APART = 64 };

struct Lock {
  Word *word;
  __device__ void lock() {
    while (atomicCAS(word, 0, 1) != 0)
      ;
    __threadfence();
  }
  __device__ void unlock() {
    __threadfence();
    atomicExch(word, 0);
  }
};

extern "C" __global__ void lane_turns(Word *locks, int rounds, Word *clocks, Word *data) {
  Word lane = threadIdx.x;
  for (int round = 0; round < rounds; round++)
    for (Word turn = 0; turn < LANES; turn++)
      if (lane == turn) {
        Word begin = clock();
        Lock lock = {&locks[lane * APART]};
        lock.lock();
        Word has = clock();
        data[lane * APART] += 1;
        lock.unlock();
        Word end = clock();
        Word *to = clocks + (round * LANES + lane) * 3;
        to[0] = begin;
        to[1] = has;
        to[2] = end;
      }
}

int main() {
  Word *locks, *clocks, *data;
  static Word told[ROUNDS * LANES * 3];
  cudaMalloc(&locks, LANES * APART * sizeof(Word));
  cudaMalloc(&data, LANES * APART * sizeof(Word));
  cudaMalloc(&clocks, sizeof told);
  cudaMemset(locks, 0, LANES * APART * sizeof(Word));
  cudaMemset(data, 0, LANES * APART * sizeof(Word));
  for (int launch = 0; launch < 2; launch++)
    lane_turns<<<1, LANES>>>(locks, ROUNDS, clocks, data);
  if (cudaMemcpy(told, clocks, sizeof told, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 2;
  printf("round,lane,begin,has,end\n");
  for (int i = 0; i < ROUNDS * LANES; i++)
    printf("%d,%d,%u,%u,%u\n", i / LANES, i % LANES, told[3 * i] - told[0], told[3 * i + 1] - told[0], told[3 * i + 2] - told[0]);
}
