// A block goes round until no thread has anything to do, as __syncthreads_or() says. Thread 5 never has done, if `keeps` says so: no thread
// of its warp is known to bring the same as the others, which is all that a SIMT stack lets one prove.
extern "C" __global__ void reduction_rounds(int *out, int keeps) {
  int t = threadIdx.x, round = 0;
  bool done;
  do {
    done = round >= t % 4 && !(keeps && t == 5);
    round = min(round + 1, 10);
  } while (__syncthreads_or(!done));
  out[t] = round;
}
