// An atomic operation that leaves the word as it was (a look by atomicAdd() of 0): who is told of it without a fence, and reads the word, reads
// the same whether it sees that operation or not. One that changes the word may be missed. PTX: traces/make_ptx.sh cuda_same_value.cu
static __device__ void look(int *word, volatile int *told, int *out, int added) {
  if (blockIdx.x == 0) {
    out[0] = atomicAdd(word, added);
    *told = 1;
  } else {
    while (!*told) {
    }
    out[1] = *(volatile int *)word;
  }
}
extern "C" __global__ void same_value(int *word, int *told, int *out, int added) { look(word, told, out, added); }
