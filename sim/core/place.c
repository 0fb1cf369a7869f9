#include "sim/core/place.h"

#include "sim/memory/heap.h"

PlaceFault place_in_buffer(Backing *backing, MemKind kind, bool constant, uint64_t address, uint32_t bytes,
                           BackingBuffer **buffer) {
  *buffer = backing_find(backing, address, bytes);
  if (address & (bytes - 1))
    return PLACE_MISALIGNED;
  if (!*buffer)
    return PLACE_BEYOND;
  if ((*buffer)->heap && heap_access((*buffer)->heap, address, bytes) != HEAP_FINE)
    return PLACE_NOT_TAKEN;
  if (!(*buffer)->constant)
    return constant ? PLACE_NOT_CONSTANT : PLACE_FINE;
  return kind == MEM_LOAD ? PLACE_FINE : PLACE_READ_ONLY;
}

PlaceFault place_of_queue(Backing *backing, uint64_t address, uint32_t bytes, BackingBuffer **buffer) {
  PlaceFault fault = place_in_buffer(backing, MEM_ATOMIC, false, address, bytes, buffer);
  return fault == PLACE_FINE && (*buffer)->host ? PLACE_NO_QUEUES : fault;
}
