// Who waits for 3 isn't helped by a kernel behind it that stores 2 and then 0; one that stores 2 and then 3 would help, if it could start.
typedef volatile unsigned *Word;
extern "C" __global__ void waits(unsigned *words) {
  while (((Word)words)[1] < 3)
    ;
}
extern "C" __global__ void stores(unsigned *words, unsigned last) {
  if (threadIdx.x == 3) {
    ((Word)words)[1] = 2;
    __threadfence();
    ((Word)words)[1] = last;
  }
}
