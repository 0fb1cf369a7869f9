// Anderson's array queue lock: slot i may enter if slots[i] is 1. One warp leader competes; `spread` words between slots.
#include "util.cuh"
__global__ void anderson(u32 *tail, u32 *slots, u32 size, u32 spread, u32 *data, int each) {
  if (threadIdx.x % 32) return;
  for (int i = 0; i < each; i++) {
    u32 my = atomicAdd(tail, 1) % size;
    u32 ok;
    do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(ok) : "l"(slots + my * spread) : "memory"); while (!ok);
    slots[my * spread] = 0;
    *data += 1;
    asm volatile("st.release.gpu.u32 [%0], 1;" :: "l"(slots + (my + 1) % size * spread) : "memory");
  }
}
