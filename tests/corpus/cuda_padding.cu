// A struct with four bytes of padding is stored as two words of 64 bits, as cub hands on a tile's sum, and as one of
// 128; and one whose first member has no value either.
struct Wide {
  int kind; // four bytes of padding behind it
  double value;
};
template <bool SET> static __device__ void store_wide(unsigned long long *out, const int *in) {
  Wide wide;
  if (SET)
    wide.kind = in[threadIdx.x];
  wide.value = in[threadIdx.x] + 1;
  unsigned long long word[2];
  memcpy(word, &wide, sizeof word);
  asm volatile("st.global.cg.u64 [%0], %1;" ::"l"(out + 4 * threadIdx.x), "l"(word[0]) : "memory");
  asm volatile("st.global.cg.u64 [%0], %1;" ::"l"(out + 4 * threadIdx.x + 1), "l"(word[1]) : "memory");
  asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(out + 4 * threadIdx.x + 2), "l"(word[0]), "l"(word[1])
               : "memory");
}
extern "C" __global__ void padding_wide(unsigned long long *out, const int *in) { store_wide<true>(out, in); }
extern "C" __global__ void padding_unset(unsigned long long *out, const int *in) { store_wide<false>(out, in); }
