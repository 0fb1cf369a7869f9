// Shared objects with reference counts, as shared_ptr: relaxed increments, acq_rel decrements; who drops the last destroys.
#include "util.cuh"
struct Object { u32 refs, payload, freed, pad; };
__global__ void refcount(Object *objects, u32 count, int each, u32 *destroyed, u32 *bad) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x, wrong = 0, gone = 0;
  Object *o = &objects[t % count];
  for (int i = 0; i < each; i++) {
    aref<u32>(o->refs).fetch_add(1, memory_order_relaxed);
    wrong += o->payload != 7;
    if (aref<u32>(o->refs).fetch_sub(1, memory_order_acq_rel) == 1) wrong++;
  }
  // each thread held one from the start
  if (aref<u32>(o->refs).fetch_sub(1, memory_order_acq_rel) == 1) { o->payload = 0; o->freed = 1; gone = 1; }
  if (gone) atomicAdd(destroyed, gone);
  if (wrong) atomicAdd(bad, wrong);
}
__global__ void prepare(Object *objects, u32 count, u32 refs) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) objects[i].refs = refs, objects[i].payload = 7;
}
