// A token goes round between blocks: each waits for its turn at one word (spread = 0) or at its own one (spread words apart).
__global__ void ring(volatile unsigned *token, volatile unsigned *data, int spread, int rounds) {
  if (threadIdx.x) return;
  for (int r = 0; r < rounds; r++) {
    unsigned turn = r * gridDim.x + blockIdx.x;
    volatile unsigned *mine = token + blockIdx.x * spread, *next = token + (blockIdx.x + 1) % gridDim.x * spread;
    while (*mine != turn) ;
    __threadfence();
    *data = *data + 1;
    __threadfence();
    *next = turn + 1;
  }
}
