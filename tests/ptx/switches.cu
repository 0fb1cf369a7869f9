// A dense switch becomes a branch table, a sparse one a chain.
extern "C" __global__ void switches(int *p, int *q) {
  int v = p[threadIdx.x];
  switch (v) {
  case 0: v = q[0] + 3; break;
  case 1: v = q[1] * 5; break;
  case 2: v = q[2] - 7; atomicAdd(q, 1); break;
  case 3: v = q[3] ^ 9; break;
  case 4: v = q[4] << 1; __threadfence(); break;
  case 5: v = q[5] >> 2; break;
  case 6: v = q[6] & 4; q[9] = 2; break;
  case 7: v = q[7] | 8; break;
  case 8: v = q[8] / 3; break;
  default: v = -1;
  }
  switch (v) {
  case 100: v = 1; break;
  case 2000: v = 2; break;
  case 30000: v = 3; break;
  }
  p[threadIdx.x] = v;
}
