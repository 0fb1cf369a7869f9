#include "sim/memory/memsys.h"

#include <glib.h>

struct MemSys {
  Backing *backing;
  Counters *counters;
  uint64_t latency, host_latency;
  Milli atomic_interval;
  uint32_t segment, segment_shift, bytes_per_cycle;
  uint64_t free_at; /* in 1/bytes_per_cycle of a cycle: when the server has moved all bytes so far */
};

MemSys *memsys_new(const Machine *machine, Backing *backing, Counters *counters) {
  MemSys *memsys = g_new0(MemSys, 1);
  memsys->backing = backing;
  memsys->counters = counters;
  memsys->latency = machine->memory.latency;
  memsys->host_latency = machine->host.latency;
  memsys->atomic_interval = machine->memory.atomic_interval;
  memsys->segment = machine->memory.segment;
  memsys->segment_shift = (uint32_t)__builtin_ctz(machine->memory.segment);
  memsys->bytes_per_cycle = machine->memory.bytes_per_cycle;
  return memsys;
}

void memsys_free(MemSys *memsys) { g_free(memsys); }

/* Distinct aligned segments that the lanes touch. An access is aligned, and no larger than a segment. */
static uint32_t count_segments(const MemSys *memsys, const MemRequest *request) {
  uint64_t seen[32];
  uint32_t count = 0;
  for (uint32_t rest = request->mask; rest; rest &= rest - 1) {
    uint64_t segment = request->address[__builtin_ctz(rest)] >> memsys->segment_shift;
    uint32_t i = count;
    while (i > 0 && seen[i - 1] != segment)
      i--;
    if (i == 0)
      seen[count++] = segment;
  }
  return count;
}

/* Atomics of the lanes on one word follow each other, and those of earlier requests. Returns when the last is done. */
static uint64_t serve_atomics(MemSys *memsys, const MemRequest *request, uint64_t arrival) {
  uint64_t last = milli_of(arrival);
  for (uint32_t rest = request->mask; rest; rest &= rest - 1) {
    uint64_t address = request->address[__builtin_ctz(rest)];
    BackingBuffer *buffer = backing_find(memsys->backing, address, 4);
    if (!buffer)
      continue;
    if (!buffer->ready_milli)
      buffer->ready_milli = g_new0(uint64_t, buffer->words);
    uint64_t *ready = &buffer->ready_milli[(address - buffer->base) / 4];
    uint64_t start = milli_serve(ready, arrival, memsys->atomic_interval);
    last = MAX(last, start);
    memsys->counters->global_atomics++;
  }
  return milli_cycle(last);
}

uint64_t memsys_submit(MemSys *memsys, const MemRequest *request, uint64_t now) {
  uint32_t segments = count_segments(memsys, request);
  memsys->counters->global_accesses++;
  memsys->counters->global_segments += segments;
  uint64_t start = MAX(memsys->free_at, now * memsys->bytes_per_cycle);
  memsys->free_at = start + (uint64_t)segments * memsys->segment;
  uint64_t served = MAX(now, (memsys->free_at - memsys->segment) / memsys->bytes_per_cycle);
  if (request->kind == MEM_ATOMIC)
    served = serve_atomics(memsys, request, served);
  return served + (request->host ? memsys->host_latency : memsys->latency);
}
