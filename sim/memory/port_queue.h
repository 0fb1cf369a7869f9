/* port_queue.h - where accesses of an SM's schedulers wait for the port: a queue of each scheduler, with room for so
 * many (memory.port.queue). The port takes them in the order of issue, so that each scheduler whose queue is full
 * issues as often as the others.
 * Models: validation/hardware/mem_order.cu.
 * Ownership: the queues own their rings, from port_queues_make() to port_queues_clear(). */
#ifndef LOCKSTEP_MEMORY_PORT_QUEUE_H
#define LOCKSTEP_MEMORY_PORT_QUEUE_H

#include <glib.h>
#include <stdint.h>

typedef struct PortQueues {
  uint64_t *leaves; /* of each scheduler, when the newest `size` accesses leave, a ring; NULL: none so far */
  uint32_t size, *oldest;
} PortQueues;

static inline void port_queues_make(PortQueues *queues, uint32_t schedulers, uint32_t size) {
  *queues = (PortQueues){g_new0(uint64_t, (gsize)schedulers * size), size, g_new0(uint32_t, schedulers)};
}
static inline void port_queues_clear(PortQueues *queues) {
  g_free(queues->leaves);
  g_free(queues->oldest);
}
/* An access of that scheduler takes a place until `leaves`. Returns when there is room for the next one. */
static inline uint64_t port_queues_take(PortQueues *queues, uint32_t scheduler, uint64_t leaves) {
  uint32_t *at = &queues->oldest[scheduler];
  uint64_t *oldest = &queues->leaves[scheduler * queues->size + *at], room = *oldest;
  *oldest = leaves;
  *at = *at + 1 < queues->size ? *at + 1 : 0;
  return room;
}

#endif
