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

static BulkFault place_of_bulk_shared(const BulkPlace *place, uint32_t limit) {
  if (place->bytes % BULK_ALIGNMENT)
    return BULK_ODD_SIZE;
  if (place->shared % BULK_ALIGNMENT)
    return BULK_ODD_SHARED;
  if (place->counts && place->barrier % BULK_BARRIER_BYTES)
    return BULK_ODD_BARRIER;
  if (place->shared > limit || place->bytes > limit - place->shared)
    return BULK_BEYOND_SHARED;
  bool barrier = place->barrier <= limit && BULK_BARRIER_BYTES <= limit - place->barrier;
  return place->counts && !barrier ? BULK_BEYOND_BARRIER : BULK_FINE;
}

BulkFault place_of_bulk(Backing *backing, const BulkPlace *place, uint32_t limit, BackingBuffer **buffer) {
  BulkFault fault = place_of_bulk_shared(place, limit);
  *buffer = place->bytes ? backing_find(backing, place->address, place->bytes) : NULL;
  if (fault || !place->bytes)
    return fault;
  if (place->address % BULK_ALIGNMENT)
    return BULK_ODD_GLOBAL;
  if (!*buffer)
    return BULK_BEYOND_GLOBAL;
  if ((*buffer)->heap && heap_access((*buffer)->heap, place->address, place->bytes) != HEAP_FINE)
    return BULK_NOT_TAKEN;
  return (*buffer)->constant && place->changes ? BULK_READ_ONLY : BULK_FINE;
}
