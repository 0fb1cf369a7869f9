// Block barriers whose number and count are values. ptxas passes both in one register: the number in bits 0 to 3, the count from bit 16 on.
// PTX: make_ptx.sh cuda_named.cu

// Warps w and w + 2 meet at barrier 1 + w % 2, at each of its forms.
extern "C" __global__ void named(int count, int *out) {
  __shared__ int word[128];
  int thread = threadIdx.x, pair = thread / 32 % 2, number = 1 + pair, odd, all;
  word[thread] = thread;
  asm volatile("barrier.cta.sync.aligned %0, %1;" : : "r"(number), "r"(count) : "memory");
  int other = word[thread ^ 64];
  asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; barrier.cta.red.popc.aligned.u32 %0, %1, %2, p;}"
               : "=r"(odd) : "r"(number), "r"(count), "r"(thread & 1) : "memory");
  asm volatile("{.reg .pred p, q; setp.ne.u32 p, %3, 0; barrier.cta.red.and.aligned.pred q, %1, %2, p; selp.u32 %0, 1, 0, q;}"
               : "=r"(all) : "r"(number), "r"(count), "r"(pair) : "memory");
  if (thread >= 64) {
    word[thread] = 2 * thread;
    asm volatile("barrier.cta.arrive.aligned %0, %1;" : : "r"(number), "r"(count) : "memory");
  } else {
    asm volatile("barrier.cta.sync.aligned %0, %1;" : : "r"(number), "r"(count) : "memory");
    other += word[thread + 64];
  }
  if (odd != 32 || all != pair || other != (thread >= 64 ? thread - 64 : 3 * (thread + 64)))
    __trap();
  out[thread] = other;
}
