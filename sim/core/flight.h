/* flight.h - what an SM has under way to global memory: each access from its issue until it is performed and its reply is there.
 * Until then the registers that it writes are pending (REG_PENDING), and fences of its warp wait.
 * Time: an SM's replies come before its schedulers issue in the same cycle.
 * Ownership: an Sm owns its Flights. Replies to warps that have exited are dropped. */
#ifndef LOCKSTEP_CORE_FLIGHT_H
#define LOCKSTEP_CORE_FLIGHT_H

#include <stdint.h>

#include "sim/core/warp.h"
#include "sim/engine/event.h"

struct Decoded;

typedef struct Flight {
  const struct Decoded *decoded; /* its instruction */
  uint64_t age;                  /* of the warp */
  uint64_t time;                 /* when its reply comes; 0: this place of the pool is free */
  uint32_t slot;                 /* the warp's */
  uint32_t next_free;            /* index + 1 of the next free place, 0: the last */
} Flight;

typedef struct Flights {
  EventQueue queue; /* replies; the source is an index into the pool */
  Flight *pool;
  uint32_t space, free; /* free: index + 1 */
  uint64_t event_time;  /* when the SM's next reply is due; WHEEL_NEVER: none is under way */
} Flights;

void flights_init(Flights *flights);
void flights_clear(Flights *flights);
/* An access of the warp leaves; its reply comes in cycle `time`. True if no other reply of the SM comes before it: event_time has
 * changed. */
bool flights_add(Flights *flights, const Warp *warp, const struct Decoded *decoded, uint64_t time);
/* Takes the next reply out that is due by `now`; false if there is none. event_time says when the next one is. */
bool flights_take(Flights *flights, uint64_t now, Flight *flight);
/* When the last reply to that warp comes that is under way, 0 if none is. */
uint64_t flights_last(const Flights *flights, const Warp *warp);

#endif
