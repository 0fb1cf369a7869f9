#include "sim/detect/race/race_flight.h"

static void free_flight(gpointer data) {
  RaceFlight *flight = data;
  if (flight->waiting)
    g_array_free(flight->waiting, TRUE);
  g_free(flight);
}

void race_flights_init(RaceFlights *flights) {
  *flights = (RaceFlights){.pool = g_ptr_array_new_with_free_func(free_flight),
                           .free = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                           .flying = g_hash_table_new(g_direct_hash, g_direct_equal)};
}

void race_flight_leave(RaceOrder *order, LaterAccess *later) {
  if (--later->users)
    return;
  warp_moment_drop(&order->views, &later->moment);
  g_free(later);
}

static void leave(RaceFlight *flight, RaceOrder *order) {
  for (guint i = 0; flight->waiting && i < flight->waiting->len; i++) {
    LaterAccess *later = g_array_index(flight->waiting, WaitingRace, i).later;
    if (later)
      race_flight_leave(order, later);
  }
  if (flight->waiting)
    g_array_set_size(flight->waiting, 0);
  warp_moment_has_read(&flight->moment);
  warp_moment_drop(&order->views, &flight->moment);
  if (flight->before.view)
    warp_moment_drop(&order->views, &flight->before);
  handoff_drop(&order->handoffs, flight->handoff);
  flight->number = 0;
}

void race_flights_clear(RaceFlights *flights, RaceOrder *order) {
  for (guint i = 0; i < flights->pool->len; i++) {
    RaceFlight *flight = g_ptr_array_index(flights->pool, i);
    if (flight->number)
      leave(flight, order);
  }
  g_ptr_array_unref(flights->pool);
  g_array_free(flights->free, TRUE);
  g_hash_table_destroy(flights->flying);
}

RaceFlight *race_flight_at(const RaceFlights *flights, uint32_t number) {
  return g_ptr_array_index(flights->pool, number - 1);
}

static gpointer key_of(uint64_t access) { return (gpointer)(uintptr_t)access; }

RaceFlight *race_flight_find(const RaceFlights *flights, uint64_t access) {
  guint number = GPOINTER_TO_UINT(g_hash_table_lookup(flights->flying, key_of(access)));
  return number ? race_flight_at(flights, number) : NULL;
}

static uint32_t free_number(RaceFlights *flights) {
  if (flights->free->len) {
    uint32_t number = g_array_index(flights->free, uint32_t, flights->free->len - 1);
    g_array_set_size(flights->free, flights->free->len - 1);
    return number;
  }
  if (flights->pool->len >= FLIGHTS_MAX)
    return 0;
  g_ptr_array_add(flights->pool, g_new0(RaceFlight, 1));
  return flights->pool->len;
}

RaceFlight *race_flight_new(RaceFlights *flights, RaceOrder *order, WarpOrder *warp, uint64_t access, bool reads,
                            bool hands) {
  uint32_t number = free_number(flights);
  if (!number)
    return NULL;
  RaceFlight *flight = race_flight_at(flights, number);
  GArray *waiting = flight->waiting;
  WarpMoment before = {0};
  if (reads && warp_order_waits(warp))
    before = warp_moment_take(&order->views, warp, false);
  *flight = (RaceFlight){.number = number,
                         .handoff = hands ? order_handoff(order, warp) : 0,
                         .before = before,
                         .moment = warp_moment_take(&order->views, warp, reads),
                         .waiting = waiting};
  handoff_use(&order->handoffs, flight->handoff);
  g_hash_table_insert(flights->flying, key_of(access), GUINT_TO_POINTER(number));
  return flight;
}

bool race_flight_is_before(const RaceOrder *order, const Access *reader, uint32_t actor, uint32_t lanes,
                           uint64_t cycle) {
  if (reader->cycle >= cycle || reader->actor == actor)
    return reader->cycle < cycle;
  const WarpOrder *now = order_of_actor(order, actor);
  return now && order_is_before(order, now, lanes, reader, false);
}

const RaceFlight *race_flight_newest(const RaceFlights *flights, const RaceOrder *order, uint32_t actor,
                                     uint32_t lanes, uint64_t cycle) {
  const RaceFlight *newest = NULL;
  for (guint i = 0; i < flights->pool->len; i++) {
    const RaceFlight *flight = g_ptr_array_index(flights->pool, i);
    if (!flight->number || !flight->moment.view->waits || (newest && flight->cycle <= newest->cycle))
      continue;
    Access reader = {.cycle = flight->cycle,
                     .actor = warp_view_order(flight->moment.view)->actor,
                     .time = flight->moment.time,
                     .lanes = UINT32_MAX};
    if (race_flight_is_before(order, &reader, actor, lanes, cycle))
      newest = flight;
  }
  return newest;
}

bool race_flight_still_reads(const RaceFlights *flights, RaceOrder *order, WarpMoment *behind, uint32_t actor,
                             uint32_t lanes, uint64_t cycle) {
  if (!behind->view || behind->view->waits || warp_moment_waits(behind))
    return behind->view != NULL;
  warp_moment_drop(&order->views, behind);
  const RaceFlight *next = race_flight_newest(flights, order, actor, lanes, cycle);
  *behind = next ? warp_moment_share(&next->moment) : (WarpMoment){0};
  return next != NULL;
}

void race_flight_land(RaceFlights *flights, RaceOrder *order, uint64_t access) {
  RaceFlight *flight = race_flight_find(flights, access);
  uint32_t number = flight->number;
  leave(flight, order);
  g_hash_table_remove(flights->flying, key_of(access));
  g_array_append_val(flights->free, number);
}

void race_flight_wait(RaceFlight *flight, uint64_t word, uint32_t lanes, const Access *other, LaterAccess *later) {
  WaitingRace race = {.word = word, .lanes = lanes, .other = *other, .later = later};
  if (!flight->waiting)
    flight->waiting = g_array_new(FALSE, FALSE, sizeof(WaitingRace));
  if (flight->waiting->len >= WAITING_MAX)
    return;
  g_array_append_val(flight->waiting, race);
  if (later)
    later->users++;
}
