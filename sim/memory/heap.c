#include "sim/memory/heap.h"

#include <string.h>

#include "base/assert.h"

static HeapPiece *piece(const Heap *heap, uint32_t number) { return &g_array_index(heap->pieces, HeapPiece, number); }

static HeapHole *hole(const Heap *heap, guint index) { return &g_array_index(heap->holes, HeapHole, index); }

Heap *heap_new(Backing *backing, uint32_t bytes) {
  LS_REQUIRE("heap-bytes", bytes >= HEAP_BYTES_MIN && bytes <= HEAP_BYTES_MAX && bytes % HEAP_UNIT == 0);
  Heap *heap = g_new0(Heap, 1);
  heap->backing = backing;
  heap->buffer = backing_add(backing, "heap", bytes / 4, NULL);
  backing_undefine(backing, heap->buffer);
  backing_buffer(backing, heap->buffer)->heap = heap;
  heap->base = backing_buffer(backing, heap->buffer)->base;
  heap->bytes = bytes;
  heap->piece_of = g_new0(uint32_t, bytes / HEAP_UNIT + 1);
  heap->pieces = g_array_new(FALSE, TRUE, sizeof(HeapPiece));
  g_array_set_size(heap->pieces, 1);
  heap->unused = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  heap->holes = g_array_new(FALSE, FALSE, sizeof(HeapHole));
  HeapHole all = {HEAP_UNIT, bytes - HEAP_UNIT}; /* the first unit has heap_taking() and heap_giving() */
  g_array_append_val(heap->holes, all);
  heap->next = HEAP_UNIT;
  return heap;
}

void heap_free(Heap *heap) {
  if (!heap)
    return;
  backing_buffer(heap->backing, heap->buffer)->heap = NULL;
  g_free(heap->piece_of);
  g_array_free(heap->pieces, TRUE);
  g_array_free(heap->unused, TRUE);
  g_array_free(heap->holes, TRUE);
  g_free(heap);
}

/* ---- taking ---- */

/* The first hole that ends behind `offset`, or the number of holes. */
static guint hole_behind(const Heap *heap, uint32_t offset) {
  guint low = 0, high = heap->holes->len;
  while (low < high) {
    guint middle = (low + high) / 2;
    if (hole(heap, middle)->offset + hole(heap, middle)->bytes <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Where the memory lies in a hole, from `from` on, behind a header: *at. False if there is no room. */
static bool fits(const Heap *heap, const HeapHole *in, uint32_t from, uint64_t room, uint64_t alignment,
                 uint32_t *at) {
  uint64_t start = heap->base + MAX(in->offset, from) + HEAP_UNIT;
  start = (start + alignment - 1) / alignment * alignment - heap->base;
  *at = (uint32_t)start;
  return start + room <= (uint64_t)in->offset + in->bytes;
}

/* The hole, from where the newest piece ends on and then from the beginning; its number, or the number of holes. */
static guint find(const Heap *heap, uint64_t room, uint64_t alignment, uint32_t *at) {
  guint count = heap->holes->len, first = hole_behind(heap, heap->next);
  for (guint i = first; i < count; i++)
    if (fits(heap, hole(heap, i), heap->next, room, alignment, at))
      return i;
  for (guint i = 0; i < count && i <= first; i++)
    if (fits(heap, hole(heap, i), 0, room, alignment, at))
      return i;
  return count;
}

/* A hole without the bytes from `from` to `end`. */
static void cut(Heap *heap, guint index, uint32_t from, uint32_t end) {
  HeapHole before = *hole(heap, index), behind = {end, before.offset + before.bytes - end};
  before.bytes = from - before.offset;
  if (before.bytes && behind.bytes) {
    *hole(heap, index) = before;
    g_array_insert_val(heap->holes, index + 1, behind);
  } else if (before.bytes || behind.bytes) {
    *hole(heap, index) = before.bytes ? before : behind;
  } else {
    g_array_remove_index(heap->holes, index);
  }
}

static uint32_t new_piece(Heap *heap) {
  if (heap->unused->len) {
    uint32_t number = g_array_index(heap->unused, uint32_t, heap->unused->len - 1);
    g_array_set_size(heap->unused, heap->unused->len - 1);
    return number;
  }
  g_array_set_size(heap->pieces, heap->pieces->len + 1);
  return heap->pieces->len - 1;
}

/* The units name the piece; a freed one that no unit names any more is forgotten. */
static void name_units(Heap *heap, uint32_t offset, uint32_t end, uint32_t number) {
  for (uint32_t unit = offset / HEAP_UNIT; unit < end / HEAP_UNIT; unit++) {
    uint32_t before = heap->piece_of[unit];
    if (before && --piece(heap, before)->units == 0)
      g_array_append_val(heap->unused, before);
    heap->piece_of[unit] = number;
  }
  if (number)
    piece(heap, number)->units = (end - offset) / HEAP_UNIT;
}

uint64_t heap_take(Heap *heap, uint64_t bytes, uint64_t alignment, const WordChange *who) {
  uint32_t at;
  if (bytes == 0 || bytes > heap->bytes || alignment > heap->bytes)
    return 0;
  uint32_t room = ((uint32_t)bytes + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;
  guint index = find(heap, room, MAX(alignment, HEAP_UNIT), &at);
  if (index == heap->holes->len)
    return 0;
  uint32_t number = new_piece(heap);
  *piece(heap, number) = (HeapPiece){.offset = at, .bytes = (uint32_t)bytes, .taken = *who};
  name_units(heap, at - HEAP_UNIT, at, 0);
  name_units(heap, at, at + room, number);
  cut(heap, index, at - HEAP_UNIT, at + room);
  heap->next = at + room;
  BackingBuffer *buffer = backing_buffer(heap->backing, heap->buffer);
  memset(buffer->defined + at / 4, 0, room / 4);
  change_log_forget(&buffer->changes, at / 4, room / 4);
  return heap->base + at;
}

/* ---- giving back ---- */

static uint32_t number_at(const Heap *heap, uint64_t address) {
  uint64_t offset = address - heap->base;
  return address >= heap->base && offset < heap->bytes ? heap->piece_of[offset / HEAP_UNIT] : 0;
}

HeapAnswer heap_can_give(const Heap *heap, uint64_t address) {
  uint32_t number = number_at(heap, address);
  if (!number || piece(heap, number)->offset != address - heap->base)
    return HEAP_NEVER;
  return piece(heap, number)->freed ? HEAP_FREED : HEAP_FINE;
}

/* Makes one hole of two that touch. */
static void join_holes(Heap *heap, guint index) {
  HeapHole *first = hole(heap, index), *second = first + 1;
  if (index + 1 >= heap->holes->len || first->offset + first->bytes != second->offset)
    return;
  first->bytes += second->bytes;
  g_array_remove_index(heap->holes, index + 1);
}

void heap_give(Heap *heap, uint64_t address, const WordChange *who) {
  LS_REQUIRE("heap-give", heap_can_give(heap, address) == HEAP_FINE);
  HeapPiece *given = piece(heap, number_at(heap, address));
  given->freed = true;
  given->given = *who;
  uint32_t room = (given->bytes + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;
  HeapHole back = {given->offset - HEAP_UNIT, room + HEAP_UNIT};
  guint index = hole_behind(heap, back.offset);
  g_array_insert_val(heap->holes, index, back);
  join_holes(heap, index);
  if (index)
    join_holes(heap, index - 1);
}

/* ---- asking ---- */

HeapAnswer heap_access(const Heap *heap, uint64_t address, uint32_t bytes) {
  uint32_t number = number_at(heap, address);
  if (!number)
    return HEAP_NEVER;
  const HeapPiece *at = piece(heap, number);
  if (at->freed)
    return HEAP_FREED;
  return address - heap->base + bytes <= (uint64_t)at->offset + at->bytes ? HEAP_FINE : HEAP_NEVER;
}

const HeapPiece *heap_piece(const Heap *heap, uint64_t address) {
  uint64_t offset = MIN(address - heap->base, heap->bytes);
  for (uint64_t unit = offset / HEAP_UNIT + 1; unit-- > 0;)
    if (heap->piece_of[unit])
      return piece(heap, heap->piece_of[unit]);
  return NULL;
}
