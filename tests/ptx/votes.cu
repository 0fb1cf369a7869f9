// Votes, matches, reductions in a warp, and who is active.
extern "C" __global__ void votes(unsigned *out, const int *in) {
  int v = in[threadIdx.x];
  unsigned mask = __activemask();
  unsigned r = __ballot_sync(mask, v > 3);
  if (__all_sync(0xffffffffu, v > 0))
    r += 1;
  if (__any_sync(0xffffffffu, v < 0))
    r += 2;
  if (__uni_sync(0xffffffffu, v == 5))
    r += 4;
  int pred;
  r += __match_any_sync(0xffffffffu, v);
  r += __match_all_sync(0xffffffffu, (long long)v, &pred) + pred;
  __syncwarp(0x0000ffffu);
  r += __popc(r) + __ffs(r) + __clz(r) + __brev(r) + __fns(r, 0, 2);
#if __CUDA_ARCH__ >= 800
  r += __reduce_add_sync(0xffffffffu, r) + __reduce_min_sync(0xffffffffu, r) + __reduce_xor_sync(0xffffffffu, r);
  r += __reduce_max_sync(0xffffffffu, v);
#endif
  out[threadIdx.x] = r;
}
