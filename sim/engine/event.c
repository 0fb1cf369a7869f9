#include "sim/engine/event.h"

#include <glib.h>

#include "base/assert.h"

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

/* Puts `last` where the root was. */
static void sift_down(EventQueue *queue, Event last) {
  Event *heap = queue->heap;
  uint32_t hole = 0, count = queue->count;
  EventKey key = event_key(&last);
  for (uint32_t child = 1; child < count; child = 2 * hole + 1) {
    EventKey left = event_key(&heap[child]);
    if (child + 1 < count) {
      EventKey right = event_key(&heap[child + 1]);
      bool second = right < left;
      child += second;
      left = second ? right : left;
    }
    if (key <= left)
      break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = last;
}

Event event_queue_pop(EventQueue *queue) {
  LS_REQUIRE("event-queue-empty", queue->count > 0);
  Event first = queue->heap[0];
  Event last = queue->heap[--queue->count];
  if (queue->count > 0)
    sift_down(queue, last);
  return first;
}

Event event_queue_exchange(EventQueue *queue, uint64_t time, uint32_t source) {
  Event event = {.time = time, .source = source, .sequence = queue->pushed++};
  if (queue->count == 0 || event_before(&event, &queue->heap[0]))
    return event;
  Event first = queue->heap[0];
  sift_down(queue, event);
  return first;
}
