/* event.h - the queue of simulated time: a binary heap of plain structs.
 * Order is total: (time, source, sequence); it never depends on addresses or on the host. An event that was overtaken
 * isn't removed: the receiver sees that its time isn't the one it waits for and ignores it.
 * Time: cycles of the SM clock. */
#ifndef LOCKSTEP_ENGINE_EVENT_H
#define LOCKSTEP_ENGINE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Event {
  uint64_t time;
  uint32_t source;   /* who acts: lower acts first within a cycle */
  uint32_t sequence; /* order of pushes, given by the queue */
} Event;

typedef struct EventQueue {
  Event *heap;
  uint32_t count, capacity, pushed;
} EventQueue;

void event_queue_init(EventQueue *queue, uint32_t capacity);
void event_queue_clear(EventQueue *queue);
/* Grows the heap if it is full (only a burst of overtaken events can do that). */
void event_queue_push(EventQueue *queue, uint64_t time, uint32_t source);
/* The earliest event; precondition "event-queue-empty": count > 0. */
Event event_queue_pop(EventQueue *queue);

/* One wide comparison instead of up to three branches that the processor can't predict (the queue was a fifth of the
 * time of a shared-memory loop on 16 SMs). */
__extension__ typedef unsigned __int128 EventKey;
static inline EventKey event_key(const Event *event) {
  return (EventKey)event->time << 64 | (uint64_t)event->source << 32 | event->sequence;
}
static inline bool event_before(const Event *a, const Event *b) { return event_key(a) < event_key(b); }

/* Pushes (time, source) and pops the earliest, in one walk down the heap. */
Event event_queue_exchange(EventQueue *queue, uint64_t time, uint32_t source);

/* True if (time, source) comes before everything in the queue: its owner may go on without a round trip. */
static inline bool event_queue_is_first(const EventQueue *queue, uint64_t time, uint32_t source) {
  if (queue->count == 0)
    return true;
  const Event *top = &queue->heap[0];
  return time < top->time || (time == top->time && source < top->source);
}

#endif
