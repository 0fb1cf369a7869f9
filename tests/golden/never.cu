// Block 0 goes on changing a word until block 1 tells it to stop, which waits for a value that the word never gets.
extern "C" __global__ void never(int *word, volatile int *stop) {
  if (blockIdx.x == 0) {
    while (!*stop)
      atomicXor(word, 1);
  } else {
    while (*(volatile int *)word != 2)
      ;
    *stop = 1;
  }
}
