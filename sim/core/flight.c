#include "sim/core/flight.h"

#include "sim/engine/wheel.h"

enum { FIRST_SPACE = 16 };

void flights_init(Flights *flights) {
  *flights = (Flights){.event_time = WHEEL_NEVER,
                       .pool = g_ptr_array_new_with_free_func(g_free),
                       .free = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
  event_queue_init(&flights->queue, FIRST_SPACE);
}

void flights_clear(Flights *flights) {
  event_queue_clear(&flights->queue);
  g_ptr_array_free(flights->pool, TRUE);
  g_array_free(flights->free, TRUE);
}

Flight *flights_new(Flights *flights) {
  if (flights->free->len) {
    uint32_t index = g_array_index(flights->free, uint32_t, flights->free->len - 1);
    g_array_set_size(flights->free, flights->free->len - 1);
    return g_ptr_array_index(flights->pool, index);
  }
  Flight *flight = g_new0(Flight, 1);
  flight->index = flights->pool->len;
  flight->time = WHEEL_NEVER;
  g_ptr_array_add(flights->pool, flight);
  return flight;
}

void flights_release(Flights *flights, Flight *flight) {
  flight->time = WHEEL_NEVER;
  g_array_append_val(flights->free, flight->index);
}

void flights_send(Flights *flights, Flight *flight, const Warp *warp, uint64_t time) {
  flight->age = warp->age;
  flight->slot = warp->slot;
  flight->time = time;
  event_queue_push(&flights->queue, time, flight->index);
  flights->event_time = MIN(flights->event_time, time);
}

Flight *flights_take(Flights *flights, uint64_t now) {
  if (flights->queue.count && flights->queue.heap[0].time <= now)
    return g_ptr_array_index(flights->pool, event_queue_pop(&flights->queue).source);
  flights->event_time = flights->queue.count ? flights->queue.heap[0].time : WHEEL_NEVER;
  return NULL;
}

static bool is_of(const Flight *flight, const Warp *warp) {
  return flight->time != WHEEL_NEVER && flight->slot == warp->slot && flight->age == warp->age;
}

uint64_t flights_last(const Flights *flights, const Warp *warp) {
  uint64_t last = 0;
  for (guint i = 0; i < flights->pool->len; i++) {
    const Flight *flight = g_ptr_array_index(flights->pool, i);
    if (is_of(flight, warp))
      last = MAX(last, flight->time);
  }
  return last;
}

uint32_t flights_pending_register(const Flights *flights, const Warp *warp, uint32_t reg, unsigned lane) {
  for (guint i = 0; i < flights->pool->len; i++) {
    const Flight *flight = g_ptr_array_index(flights->pool, i);
    if (!is_of(flight, warp) || !(flight->request.mask >> lane & 1) || !(op_info[flight->inst->op].flags & OPF_LOAD))
      continue;
    uint32_t first = (uint32_t)flight->inst->dst, rows = MAX(flight->request.bytes / 4, 1u);
    if (reg >= first && reg < first + rows)
      return flight->data[reg - first][lane];
  }
  return warp->regs[reg * WARP_LANES + lane]; /* the lane's own word was shared memory's */
}
