/* race_flight.h - accesses that are under way, to global memory and to other blocks' shared memory: what the race
 * detector keeps of each from its issue until all its lanes are performed. By then its warp may have gone on, or
 * exited.
 * A strong access that reads may come after others by what it takes when it is performed, and whether a CAS writes is known only
 * then: until then its races wait with it.
 * Bounded: beyond FLIGHTS_MAX accesses count as performed when they are issued; beyond WAITING_MAX races of an access with others
 * are missed. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_FLIGHT_H
#define LOCKSTEP_DETECT_RACE_RACE_FLIGHT_H

#include "sim/core/probe.h"
#include "sim/detect/race/race_order.h"

enum { FLIGHTS_MAX = 1 << 20, WAITING_MAX = 64 };

/* An access that was issued while others that it races with, as far as is known, were under way. */
typedef struct LaterAccess {
  ProbePoint point; /* without block and warp */
  WarpMoment moment;
  AccessSpace space;
  AccessKind kind;
  bool perhaps_dropped;
  uint32_t users; /* races that wait */
} LaterAccess;

/* `lanes` of the access race with `other` in a word, as far as is known. */
typedef struct WaitingRace {
  uint64_t word; /* address / 4 */
  uint32_t lanes;
  Access other;
  LaterAccess *later; /* what issued `other`; NULL: that came first */
} WaitingRace;

typedef struct RaceFlight {
  uint32_t number;   /* here, from 1 on; 0: not in use */
  uint32_t handoff;  /* of a plain store */
  uint64_t cycle;    /* of its issue */
  WarpMoment moment; /* likewise */
  WarpMoment
      before; /* its warp's, without what it takes itself, if the warp waits for others that read; else no view */
  GArray *waiting; /* WaitingRace; NULL: there were none yet */
} RaceFlight;

typedef struct RaceFlights {
  GPtrArray *pool;    /* RaceFlight *, of which some are in use */
  GArray *free;       /* uint32_t: numbers of the others */
  GHashTable *flying; /* AccessPart.number -> number here */
} RaceFlights;

void race_flights_init(RaceFlights *flights);
/* Before the order's views are cleared. */
void race_flights_clear(RaceFlights *flights, RaceOrder *order);
/* Access `access` of a warp is issued; `hands`: a plain store that may hand something on. NULL: there are too many. */
RaceFlight *race_flight_new(RaceFlights *flights, RaceOrder *order, WarpOrder *warp, uint64_t access, bool reads,
                            bool hands);
/* The access of that number, or NULL. */
RaceFlight *race_flight_find(const RaceFlights *flights, uint64_t access);
/* The one of that number here. */
RaceFlight *race_flight_at(const RaceFlights *flights, uint32_t number);
/* True if `reader` comes before what `lanes` of the warp `actor` issued in a cycle: if it was issued before, and they
 * know of it (generous: by now), or are of its warp. */
bool race_flight_is_before(const RaceOrder *order, const Access *reader, uint32_t actor, uint32_t lanes,
                           uint64_t cycle);
/* The newest access under way that reads and comes before that; NULL: there is none. */
const RaceFlight *race_flight_newest(const RaceFlights *flights, const RaceOrder *order, uint32_t actor,
                                     uint32_t lanes, uint64_t cycle);
/* True if some access that reads and comes before that is still under way. `behind` is the moment of one, and becomes
 * that of another one if need be; without a view: there was none. */
bool race_flight_still_reads(const RaceFlights *flights, RaceOrder *order, WarpMoment *behind, uint32_t actor,
                             uint32_t lanes, uint64_t cycle);
/* All its lanes are performed. */
void race_flight_land(RaceFlights *flights, RaceOrder *order, uint64_t access);
/* `later` (NULL: `other` came first) gets one more user. */
void race_flight_wait(RaceFlight *flight, uint64_t word, uint32_t lanes, const Access *other, LaterAccess *later);
/* One of its races doesn't wait any more; the last frees it. */
void race_flight_leave(RaceOrder *order, LaterAccess *later);

#endif
