// Memory that a kernel loads as read-only, by __ldg() or by a pointer that is const and __restrict__, while another block
// of it writes there, or an earlier kernel did.
static __device__ __forceinline__ void tell(unsigned *flag) {
  __threadfence();
  atomicExch(flag, 1);
}

static __device__ __forceinline__ void wait(unsigned *flag) {
  while (*(volatile unsigned *)flag == 0)
    ;
  __threadfence();
}

extern "C" __global__ void told_ldg(unsigned *flag, unsigned *data, unsigned *out) {
  if (blockIdx.x == 0) {
    *data = 5;
    tell(flag);
  } else {
    wait(flag);
    *out = __ldg(data);
  }
}

extern "C" __global__ void told_restrict(unsigned *flag, const unsigned *__restrict__ data, unsigned *written, unsigned *out) {
  if (blockIdx.x == 0) {
    *written = 5;
    tell(flag);
  } else {
    wait(flag);
    *out = *data;
  }
}

extern "C" __global__ void told_plain(unsigned *flag, unsigned *data, unsigned *out) {
  if (blockIdx.x == 0) {
    *data = 5;
    tell(flag);
  } else {
    wait(flag);
    *out = *data;
  }
}

extern "C" __global__ void write(unsigned *data) { *data = 5; }

extern "C" __global__ void read_ldg(unsigned *data, unsigned *out) { *out = __ldg(data); }
