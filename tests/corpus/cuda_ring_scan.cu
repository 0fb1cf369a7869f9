// Blocks go round mailboxes, with an index that is never reset: nvcc masks it in 64 bits.
extern "C" __global__ void scan(volatile int *boxes, int *out) {
  unsigned i = blockIdx.x;
  int mail;
  while (!(mail = boxes[i++ & 15]))
    ;
  out[blockIdx.x] = mail;
}
extern "C" __global__ void post(volatile int *boxes, int *out) { boxes[5] = 7; }
// In code for a SIMT stack the count shares its register with the word that is looked at first.
extern "C" __global__ void counts(volatile int *boxes, int *out, int never) {
  unsigned i = 0;
  while (true) {
    i = i + 1;
    if (boxes[0] != 0)
      break;
    if ((i & 7) == never)
      boxes[0] = 1;
  }
  out[0] = 1;
}
