// Bit fields of a byte and of a short in shared memory: to set one leaves the others as they are, without a value.
struct Flags {
  unsigned char open : 1, kind : 3;
};
struct Wide {
  short low : 5, high : 6;
};

template <typename Fields, typename Look> __device__ __forceinline__ void look(Fields *all, int *found, Look look) {
  volatile Fields *mine = all + threadIdx.x;
  int seen = look(mine);
  if (seen)
    found[threadIdx.x] = seen;
}
extern "C" __global__ void one(int *found) {
  __shared__ Flags flags[32];
  look(flags, found, [](volatile Flags *mine) { return mine->open = 1, mine->open + 1; });
}
extern "C" __global__ void other(int *found) {
  __shared__ Flags flags[32];
  look(flags, found, [](volatile Flags *mine) { return mine->open = 1, mine->kind == 3 ? 2 : 1; });
}
extern "C" __global__ void both(int *found) {
  __shared__ Wide wide[32];
  look(wide, found, [](volatile Wide *mine) { return mine->low = 3, mine->high = -2, mine->low - mine->high; });
}
extern "C" __global__ void above(int *found) {
  __shared__ Wide wide[32];
  look(wide, found, [](volatile Wide *mine) { return mine->low = 3, mine->high; });
}
