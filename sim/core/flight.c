#include "sim/core/flight.h"

#include <string.h>

#include "sim/core/undefined.h"
#include "sim/engine/wheel.h"

static void flight_free(gpointer data) {
  Flight *flight = data;
  g_free(flight->fills);
  g_free(flight->fill_words);
  if (flight->waiters)
    g_array_free(flight->waiters, TRUE);
  g_free(flight->undefined);
  g_free(flight->met);
  g_free(flight);
}

void flights_init(Flights *flights) {
  *flights = (Flights){.event_time = WHEEL_NEVER,
                       .pool = g_ptr_array_new_with_free_func(flight_free),
                       .free = {NO_FLIGHT, NO_FLIGHT, NO_FLIGHT, NO_FLIGHT},
                       .oldest = NO_FLIGHT,
                       .newest = NO_FLIGHT};
}

void flights_clear(Flights *flights) {
  g_free(flights->reply);
  g_ptr_array_free(flights->pool, TRUE);
  g_free(flights->taken_up_to);
  g_free(flights->taken_at);
  if (flights->places)
    g_array_free(flights->places, TRUE);
}

/* It is the next one that is made: what that writes. */
static void prefetch_new(const Flight *flight) {
  const char *address = (const char *)flight->request.address, *first = (const char *)&flight->request.kind;
  for (uint32_t at = 0; at < sizeof flight->request.address; at += 64)
    __builtin_prefetch(address + at, 1);
  for (uint32_t at = 0; at < 256; at += 64)
    __builtin_prefetch(first + at, 1);
  __builtin_prefetch(flight->data[0], 1);
  __builtin_prefetch(&flight->data[0][16], 1);
}

Flight *flights_new(Flights *flights, MemKind kind, uint32_t bytes) {
  uint32_t rows = kind == MEM_ATOMIC ? (uint32_t)FLIGHT_ROWS : (bytes + 3) / 4;
  uint32_t size = rows > 1 ? 32 - (uint32_t)__builtin_clz(rows - 1) : 0, *free = &flights->free[size];
  if (*free != NO_FLIGHT) {
    Flight *flight = flights_at(flights, *free);
    *free = flight->next;
    flight->decoded = NULL;
    flight->remote = false;
    if (*free != NO_FLIGHT)
      prefetch_new(flights_at(flights, *free));
    return flight;
  }
  Flight *flight = g_malloc0(sizeof *flight + (sizeof *flight->data << size));
  flight->size = size;
  flight->index = flights->pool->len;
  g_ptr_array_add(flights->pool, flight);
  return flight;
}

void flight_grow_fills(Flight *flight, uint32_t words) {
  if (flight->fill_count == flight->fill_space) {
    flight->fill_space = MAX(4, 2 * flight->fill_space);
    flight->fills = g_renew(Fill, flight->fills, flight->fill_space);
  }
  if (flight->words_count + words > flight->words_space) {
    flight->words_space = MAX(MAX(32, 2 * flight->words_space), flight->words_count + words);
    flight->fill_words = g_renew(uint32_t, flight->fill_words, flight->words_space);
  }
}

void flights_release(Flights *flights, Flight *flight) {
  if (G_UNLIKELY(flight->undefined != NULL))
    g_clear_pointer(&flight->undefined, g_free);
  if (G_UNLIKELY(flight->met != NULL))
    g_clear_pointer(&flight->met, g_free);
  flight->next = flights->free[flight->size];
  flights->free[flight->size] = flight->index;
}

void flights_count_parts(Flights *flights, Flight *flight, const MemNext *next, const FlightQueues *queues) {
  flight->parts = next->credits;
  flight->merged = next->merged;
  flights->taken.parts += next->credits;
  flights->taken.merged += next->merged;
  flights->taken.turns += next->turns;
  if (!queues->room)
    return;
  if (!flights->taken_up_to) {
    flights->taken_up_to = g_new0(PortTaken, (gsize)queues->room * queues->schedulers);
    flights->taken_at = g_new0(uint32_t, queues->schedulers);
    flights->queue = queues->room;
  }
  uint32_t *at = &flights->taken_at[flight->request.scheduler];
  flights->taken_up_to[flight->request.scheduler * queues->room + *at] = flights->taken;
  *at = (*at + 1) % queues->room;
}

void flights_free_places(Flights *flights, uint32_t turns, uint64_t time) {
  if (!flights->places)
    flights->places = g_array_new(FALSE, FALSE, sizeof(PlacesFree));
  PlacesFree free = {time, turns};
  g_array_append_val(flights->places, free);
}

void flights_see_places(Flights *flights, uint64_t now) {
  guint end = flights->places ? flights->places->len : 0;
  for (; flights->first_place < end; flights->first_place++) {
    const PlacesFree *free = &g_array_index(flights->places, PlacesFree, flights->first_place);
    if (free->time > now)
      break;
    flights->given_back.turns += free->turns;
  }
  if (flights->first_place > end / 2) {
    g_array_remove_range(flights->places, 0, flights->first_place);
    flights->first_place = 0;
  }
}

void flights_enter(Flights *flights, Flight *flight) {
  flight->time = WHEEL_NEVER;
  flight->under_way = true;
  if (flight->apart)
    return;
  flight->previous = flights->newest;
  flight->next = NO_FLIGHT;
  if (flights->newest == NO_FLIGHT)
    flights->oldest = flight->index;
  else
    flights_at(flights, flights->newest)->next = flight->index;
  flights->newest = flight->index;
}

void flights_send(Flights *flights, Flight *flight, const Warp *warp) {
  flight->age = warp->age;
  flight->slot = warp->slot;
  flights_enter(flights, flight);
}

/* For one reply more. */
static void make_room(Flights *flights) {
  uint32_t count = flights->end_reply - flights->first_reply;
  if (2 * count >= flights->reply_space) {
    flights->reply_space = MAX(32, 2 * flights->reply_space);
    flights->reply = g_renew(Reply, flights->reply, flights->reply_space);
  }
  memmove(flights->reply, flights->reply + flights->first_reply, count * sizeof *flights->reply);
  flights->first_reply = 0;
  flights->end_reply = count;
}

void flights_answer(Flights *flights, Flight *flight, uint64_t time) {
  if (flights->end_reply == flights->reply_space)
    make_room(flights);
  uint32_t hole = flights->end_reply++, first = flights->first_reply;
  Reply *reply = flights->reply;
  for (; hole > first && (reply[hole - 1].time > time ||
                          (reply[hole - 1].time == time && reply[hole - 1].flight->index > flight->index));
       hole--)
    reply[hole] = reply[hole - 1];
  reply[hole] = (Reply){time, flight};
  flight->time = time;
  flights->event_time = MIN(flights->event_time, time);
}

Flight *flights_take(Flights *flights, uint64_t now) {
  if (flights->first_reply == flights->end_reply) {
    flights->event_time = WHEEL_NEVER;
    return NULL;
  }
  const Reply *first = &flights->reply[flights->first_reply];
  if (first->time <= now) {
    flights->first_reply++;
    return first->flight;
  }
  flights->event_time = first->time;
  return NULL;
}

void flights_land(Flights *flights, Flight *flight) {
  flight->under_way = false;
  flights->given_back.parts += flight->parts;
  flights->given_back.merged += flight->merged;
  if (flight->apart)
    return;
  if (flight->previous == NO_FLIGHT)
    flights->oldest = flight->next;
  else
    flights_at(flights, flight->previous)->next = flight->next;
  if (flight->next == NO_FLIGHT)
    flights->newest = flight->previous;
  else
    flights_at(flights, flight->next)->previous = flight->previous;
}

const Flight *flights_pending(const Flights *flights, const Warp *warp, uint32_t reg, unsigned lane) {
  for (uint32_t index = flights->oldest; index != NO_FLIGHT;) {
    const Flight *flight = flights_at(flights, index);
    index = flight->next;
    if (!flight_is_of(flight, warp) || !(flight->lanes >> lane & 1) || !(op_info[flight->inst->op].flags & OPF_LOAD))
      continue;
    uint32_t first = (uint32_t)flight->inst->dst, rows = MAX(flight->request.bytes / 4, 1u);
    if (reg >= first && reg < first + rows)
      return flight;
  }
  return NULL;
}
