// A kernel waits for a flag that the last block of the one behind it in the stream sets: each takes a ticket, as in CUDA's sample
// threadFenceReduction.
// PTX: see make_ptx.sh.
typedef volatile unsigned *W;
enum { FLAG, TICKET };
extern "C" __global__ void waits(unsigned *w) { while (!((W)w)[FLAG]); }
extern "C" __global__ void last_sets(unsigned *w) {
  if (threadIdx.x == 0 && atomicAdd(&w[TICKET], 1) == gridDim.x - 1) ((W)w)[FLAG] = 1;
}
