#include "sim/core/due.h"

void due_sm(Sm *sm, uint64_t time) {
  Gpu *gpu = sm->gpu;
  if (sm->index >= gpu->machine->gpu.sms || time >= gpu->due[sm->index])
    return;
  gpu->due[sm->index] = time;
  if (!gpu->runs_windows)
    event_queue_push(&gpu->queue, time, sm_source(sm));
}

void due_memory(Gpu *gpu) {
  uint64_t next = memsys_next(gpu->memsys);
  if (next >= gpu->memory_event)
    return;
  gpu->memory_event = next;
  event_queue_push(&gpu->queue, next, due_memory_source(gpu));
}
