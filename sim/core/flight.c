#include "sim/core/flight.h"

#include <glib.h>

#include "sim/engine/wheel.h"

enum { FIRST_SPACE = 64 };

void flights_init(Flights *flights) {
  *flights = (Flights){.event_time = WHEEL_NEVER};
  event_queue_init(&flights->queue, FIRST_SPACE);
}

void flights_clear(Flights *flights) {
  event_queue_clear(&flights->queue);
  g_free(flights->pool);
}

/* Makes more places. */
static void grow(Flights *flights) {
  uint32_t space = MAX(2 * flights->space, (uint32_t)FIRST_SPACE);
  flights->pool = g_renew(Flight, flights->pool, space);
  for (uint32_t i = space; i-- > flights->space;) {
    flights->pool[i] = (Flight){.next_free = flights->free};
    flights->free = i + 1;
  }
  flights->space = space;
}

bool flights_add(Flights *flights, const Warp *warp, const struct Decoded *decoded, uint64_t time) {
  if (!flights->free)
    grow(flights);
  uint32_t index = flights->free - 1;
  Flight *flight = &flights->pool[index];
  flights->free = flight->next_free;
  *flight = (Flight){.decoded = decoded, .age = warp->age, .time = time, .slot = warp->slot};
  event_queue_push(&flights->queue, time, index);
  if (time >= flights->event_time)
    return false;
  flights->event_time = time;
  return true;
}

bool flights_take(Flights *flights, uint64_t now, Flight *flight) {
  if (!flights->queue.count || flights->queue.heap[0].time > now) {
    flights->event_time = flights->queue.count ? flights->queue.heap[0].time : WHEEL_NEVER;
    return false;
  }
  uint32_t index = event_queue_pop(&flights->queue).source;
  *flight = flights->pool[index];
  flights->pool[index] = (Flight){.next_free = flights->free};
  flights->free = index + 1;
  return true;
}

uint64_t flights_last(const Flights *flights, const Warp *warp) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < flights->space; i++)
    if (flights->pool[i].slot == warp->slot && flights->pool[i].age == warp->age)
      last = MAX(last, flights->pool[i].time);
  return last;
}
