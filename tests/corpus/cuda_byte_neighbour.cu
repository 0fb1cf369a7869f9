// An atomic addition to a byte, made of a compare-and-swap of its word as CUDA's own are, beside a plain store to the byte next to it, or to one of the next word.
extern "C" __global__ void byte_neighbour(unsigned *word, int other) {
  if (blockIdx.x == 0) {
    ((unsigned char *)word)[other] = 7;
    return;
  }
  unsigned old = *(volatile unsigned *)word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, (seen & ~0xffu) | ((seen + 1) & 0xff));
  } while (old != seen);
}
