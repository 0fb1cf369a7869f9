#include "sim/engine/event.h"

#include <glib.h>

#include "sim/base/assert.h"

void event_queue_init(EventQueue *queue, uint32_t capacity) {
  *queue = (EventQueue){.heap = g_new(Event, MAX(capacity, 16u)), .capacity = MAX(capacity, 16u)};
}

void event_queue_clear(EventQueue *queue) {
  g_free(queue->heap);
  *queue = (EventQueue){0};
}

void event_queue_push(EventQueue *queue, uint64_t time, uint32_t source) {
  if (G_UNLIKELY(queue->count == queue->capacity)) {
    queue->capacity *= 2;
    queue->heap = g_renew(Event, queue->heap, queue->capacity);
  }
  Event event = {.time = time, .source = source, .sequence = queue->pushed++};
  uint32_t hole = queue->count++;
  while (hole > 0) {
    uint32_t parent = (hole - 1) / 2;
    if (!event_before(&event, &queue->heap[parent]))
      break;
    queue->heap[hole] = queue->heap[parent];
    hole = parent;
  }
  queue->heap[hole] = event;
}

Event event_queue_pop(EventQueue *queue) {
  LS_REQUIRE("event-queue-empty", queue->count > 0);
  Event first = queue->heap[0];
  Event last = queue->heap[--queue->count];
  uint32_t hole = 0;
  for (;;) {
    uint32_t child = 2 * hole + 1;
    if (child >= queue->count)
      break;
    if (child + 1 < queue->count && event_before(&queue->heap[child + 1], &queue->heap[child]))
      child++;
    if (!event_before(&queue->heap[child], &last))
      break;
    queue->heap[hole] = queue->heap[child];
    hole = child;
  }
  queue->heap[hole] = last;
  return first;
}
