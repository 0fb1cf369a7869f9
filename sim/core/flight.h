/* flight.h - what an SM has under way to global memory: each access from its issue until its reply comes.
 * An access carries all that it needs: addresses, what its lanes store, and, once it has been served (serve.h), what they get.
 * Until the reply comes the registers that it writes are pending (REG_PENDING), and fences of its warp wait.
 * Time: an SM's replies come before its schedulers issue in the same cycle.
 * Ownership: an Sm owns its Flights, and these each Flight. The reply to a warp that has exited lets nobody go on. */
#ifndef LOCKSTEP_CORE_FLIGHT_H
#define LOCKSTEP_CORE_FLIGHT_H

#include <glib.h>

#include "sim/core/warp.h"
#include "sim/engine/event.h"
#include "sim/memory/memsys.h"

struct Decoded;

/* Rows of a Flight's data: the words that a lane stores or gets; of an atomic operation its operand b, and from
 * FLIGHT_OPERAND_C on operand c. */
enum { FLIGHT_ROWS = 4, FLIGHT_OPERAND_C = 2 };

typedef struct Flight {
  MemRequest request;
  uint32_t data[FLIGHT_ROWS][WARP_LANES];
  BackingBuffer *buffer; /* that holds the words of all lanes; NULL: they lie in several, or in the device heap */
  const Inst *inst;
  const struct Decoded *decoded;
  uint64_t number; /* no two accesses of a run have the same */
  uint32_t pc;
  uint32_t slot;  /* of the warp */
  uint64_t age;   /* of the warp */
  uint64_t time;  /* when its reply comes; WHEEL_NEVER: not sent */
  uint32_t index; /* in the pool */
} Flight;

typedef struct Flights {
  EventQueue queue;    /* replies; the source is an index into the pool */
  GPtrArray *pool;     /* Flight *: all that there are */
  GArray *free;        /* uint32_t: indices of those that aren't in use */
  uint64_t event_time; /* when the SM's next reply is due; WHEEL_NEVER: none is under way */
} Flights;

void flights_init(Flights *flights);
void flights_clear(Flights *flights);
/* One that isn't in use. Its request and data are to be filled; it is to be sent or released. */
Flight *flights_new(Flights *flights);
void flights_release(Flights *flights, Flight *flight);
/* An access of the warp leaves; its reply comes in cycle `time`. */
void flights_send(Flights *flights, Flight *flight, const Warp *warp, uint64_t time);
/* The next one whose reply is due by `now`, to be released; NULL if there is none: then event_time says when the next is due. */
Flight *flights_take(Flights *flights, uint64_t now);
/* When the last reply to that warp comes that is under way, 0 if none is. */
uint64_t flights_last(const Flights *flights, const Warp *warp);
/* What a register that is REG_PENDING will hold. */
uint32_t flights_pending_register(const Flights *flights, const Warp *warp, uint32_t reg, unsigned lane);
/* What register `reg` of a lane holds, or will hold when the reply comes that it waits for. */
static inline uint32_t flights_register(const Flights *flights, const Warp *warp, uint32_t reg, unsigned lane) {
  return G_LIKELY(!warp->pending) || warp->reg_ready[reg] != REG_PENDING
             ? warp->regs[reg * WARP_LANES + lane]
             : flights_pending_register(flights, warp, reg, lane);
}

#endif
