/* flight.h - what an SM has under way to global memory: each access from its issue until its reply comes.
 * An access carries all that it needs: addresses, what its lanes store, and, once they have been performed (serve.h),
 * what they get.
 * Its warp may exit before. Until the reply comes the registers that it writes are pending (REG_PENDING).
 * Order: accesses of an SM are numbered in order of issue. A fence waits for all of its SM that are under way when it
 * begins.
 * Copies: a load that uses the L1 brings whole sectors along (fills). A load that misses sectors which another one
 * fetches waits for that one (waiters).
 * Time: an SM's replies come before its schedulers issue in the same cycle.
 * Ownership: an Sm owns its Flights, and these each Flight. The reply to a warp that has exited lets nobody go on. */
#ifndef LOCKSTEP_CORE_FLIGHT_H
#define LOCKSTEP_CORE_FLIGHT_H

#include <glib.h>

#include "base/bits.h"
#include "sim/core/warp.h"
#include "sim/engine/wheel.h"
#include "sim/memory/memsys.h"

struct BulkCopy;
struct Decoded;
struct Launch;
struct UndefinedMet;

/* Rows of a Flight's data: the words that a lane stores or gets; of an atomic operation its operand b, and from
 * FLIGHT_OPERAND_C on operand c, each of up to 128 bits. */
enum { FLIGHT_ROWS = 8, FLIGHT_OPERAND_C = 4, NO_FLIGHT = UINT32_MAX };
/* There may be hundreds of thousands of Flights: they have 1, 2, 4 or 8 rows, each size its own free ones. */
enum { FLIGHT_SIZES = 4 };

/* Sectors in a row that a load brings to the L1, for the lowest lane that wants one. */
typedef struct Fill {
  uint64_t address; /* of the first byte */
  uint64_t since;   /* when they were read from memory */
  uint32_t bytes;
  uint32_t first_word; /* in Flight.fill_words */
} Fill;

/* A load some of whose lanes wait for what another one fetches. */
typedef struct Waiter {
  uint32_t flight;
  uint32_t lanes;
} Waiter;

typedef struct Flight {
  MemRequest request; /* first: the memory system gives it back */
  uint32_t refused;   /* lanes that a lock in tags doesn't let in (locks.h) */
  uint32_t
      lanes; /* all lanes of the access; request.mask may be fewer: some hit the L1, or wait for another access */
  BackingBuffer *buffer; /* that holds the words of all lanes; NULL: they lie in several, or in the device heap */
  const Inst *inst;
  const struct Decoded *decoded;
  struct Launch *launch;
  ThreadId thread; /* of the warp's lane 0 */
  uint32_t pc;
  uint32_t slot;     /* of the warp */
  uint64_t age;      /* of the warp */
  uint64_t number;   /* in order of issue, from 1 */
  uint32_t waits;    /* replies that it waits for: its own, and those of others that fetch sectors for it */
  uint64_t earliest; /* the lanes that hit the L1 have their words then */
  uint64_t time;     /* when its reply comes; WHEEL_NEVER: not known yet */
  uint32_t index;    /* in the pool */
  uint32_t parts;    /* that took a credit; 0: it waits for other accesses only */
  uint32_t merged;   /* stores among them that took one of merged stores */
  uint32_t previous,
      next; /* indices of those under way that were issued before and after; NO_FLIGHT. Not in use: see Flights.free */
  bool under_way;        /* sent, and the reply hasn't come */
  bool remote;           /* to shared memory of other blocks (remote.h): the memory system doesn't know of it */
  uint8_t updates;       /* of a store: so many lanes have a copy in the L1, which it updates */
  bool apart;            /* of a copy in bulk that fences don't wait for: it isn't among those before and after */
  struct BulkCopy *bulk; /* the copy in bulk that it is part of (bulk.h); NULL: it is a warp's own */
  Fill *fills;           /* by lane; NULL: none so far */
  uint32_t *fill_words;  /* of all of them, one behind the other */
  uint32_t fill_count, fill_space, words_count, words_space;
  uint32_t fetchers;                /* the lanes of `fills` */
  GArray *waiters;                  /* Waiter; NULL: none so far */
  uint8_t (*undefined)[WARP_LANES]; /* bytes without a value that a load's lanes got, by row; NULL: none */
  struct UndefinedMet *met;         /* those that an atomic operation met; NULL: none */
  bool changed[WARP_LANES]; /* of an atomic operation that is performed: the lane changed its word */
  uint32_t size;            /* it has 1 << size rows */
  uint32_t data[][WARP_LANES];
} Flight;

/* A reply that is due. */
typedef struct Reply {
  uint64_t time;
  Flight *flight;
} Reply;

/* So many places on the way are free from that cycle on. */
typedef struct PlacesFree {
  uint64_t time;
  uint32_t turns;
} PlacesFree;

/* What the accesses so far have taken at the port: credits, those of merged stores, places on the way. */
typedef struct PortTaken {
  uint64_t parts, merged, turns;
} PortTaken;

typedef struct Flights {
  /* Replies by (time, index of the access): those from `first_reply` up to `end_reply`. They are told nearly in
   * order. */
  Reply *reply;
  uint32_t first_reply, end_reply, reply_space;
  GPtrArray *pool;         /* Flight *: all that there are */
  /* Of each size: index of one that isn't in use, and of others by `next`; NO_FLIGHT: there is none. */
  uint32_t free[FLIGHT_SIZES];
  uint64_t event_time;     /* when the next reply is due, or places that somebody waits for; WHEEL_NEVER: unknown */
  uint64_t made;           /* how many were made so far: the number of the newest */
  uint32_t oldest, newest; /* of those under way; NO_FLIGHT: none */
  /* Of all accesses so far: what was taken, and is free again; taken up to each of the newest accesses of a
   * scheduler, a ring of memory.port.queue for each (NULL: not needed, or none sent yet). */
  PortTaken taken, given_back, *taken_up_to;
  uint32_t queue, *taken_at;
  /* Which places on the way (memory.port.turns) are free when, in order: from `first_place` on those that weren't yet
   * at the last look. */
  GArray *places; /* PlacesFree; NULL: none so far */
  guint first_place;
} Flights;

void flights_init(Flights *flights);
void flights_clear(Flights *flights);
/* One that isn't in use, with the rows that such an access of so many bytes a lane needs. Its request and data are to
 * be filled; it is to be sent or released. */
Flight *flights_new(Flights *flights, MemKind kind, uint32_t bytes);
void flights_release(Flights *flights, Flight *flight);
static inline Flight *flights_at(const Flights *flights, uint32_t index) {
  return g_ptr_array_index(flights->pool, index);
}
/* How many accesses of each scheduler find room at the port, 0: all; and how many schedulers there are. */
typedef struct FlightQueues {
  uint32_t room, schedulers;
} FlightQueues;
/* Its parts that take a credit, and the places on their way, are counted among those that wait at the port. */
void flights_count_parts(Flights *flights, Flight *flight, const MemNext *next, const FlightQueues *queues);
/* So many of the places on the way are free in cycle `time`, that of the call before or later. */
void flights_free_places(Flights *flights, uint32_t turns, uint64_t time);
/* When the next of them are free that weren't yet at the last look; WHEEL_NEVER: none is known. */
static inline uint64_t flights_places_due(const Flights *flights) {
  return flights->places && flights->first_place < flights->places->len
             ? g_array_index(flights->places, PlacesFree, flights->first_place).time
             : WHEEL_NEVER;
}
/* Somebody waits for them: they are an event of the SM's. */
static inline void flights_await_places(Flights *flights) {
  flights->event_time = MIN(flights->event_time, flights_places_due(flights));
}
/* Looks which ones are free in cycle `now`. */
void flights_see_places(Flights *flights, uint64_t now);
/* True if the scheduler's newest access but FlightQueues.room has left the port: which has so many credits
 * (memory.port.credits, merged_credits, turns), one for each part that isn't answered; 0 of the last two: they don't
 * count. */
static inline bool flights_have_room(Flights *flights, uint32_t scheduler, uint64_t now, const PortTaken *credits) {
  if (!flights->taken_up_to)
    return true;
  if (credits->turns)
    flights_see_places(flights, now);
  const PortTaken *taken = &flights->taken_up_to[scheduler * flights->queue + flights->taken_at[scheduler]],
                  *free = &flights->given_back;
  return taken->parts <= free->parts + credits->parts &&
         (!credits->merged || taken->merged <= free->merged + credits->merged) &&
         (!credits->turns || taken->turns <= free->turns + credits->turns);
}
/* An access leaves, of whom its fields say; or of the warp. When its reply comes isn't known yet. */
void flights_enter(Flights *flights, Flight *flight);
void flights_send(Flights *flights, Flight *flight, const Warp *warp);
/* Its reply comes in cycle `time`. */
void flights_answer(Flights *flights, Flight *flight, uint64_t time);
/* The next one whose reply is due by `now`; NULL if there is none: then event_time says when the next is due. */
Flight *flights_take(Flights *flights, uint64_t now);
/* The reply that is `ahead` behind the next one, 0: the next one itself; NULL: none is known yet. */
static inline Flight *flights_ahead(const Flights *flights, uint32_t ahead) {
  uint32_t place = flights->first_reply + ahead;
  return place < flights->end_reply ? flights->reply[place].flight : NULL;
}
/* What a reply comes to is wanted soon. */
static inline void flight_prefetch(const Flight *flight) {
  const char *first = (const char *)&flight->request.kind;
  __builtin_prefetch(first, 1);
  __builtin_prefetch(first + 64, 1);
  __builtin_prefetch(first + 128, 1);
  __builtin_prefetch(first + 192, 1);
  __builtin_prefetch(flight->data[0]);
  __builtin_prefetch(&flight->data[0][16]);
}
/* It isn't under way any more. */
void flights_land(Flights *flights, Flight *flight);
/* Number of the oldest that is under way; UINT64_MAX: none is. */
static inline uint64_t flights_oldest(const Flights *flights) {
  return flights->oldest == NO_FLIGHT ? UINT64_MAX : flights_at(flights, flights->oldest)->number;
}
/* The same of those that read: loads and atomic operations. */
static inline uint64_t flights_oldest_read(const Flights *flights) {
  uint32_t at = flights->oldest;
  while (at != NO_FLIGHT && flights_at(flights, at)->request.kind == MEM_STORE)
    at = flights_at(flights, at)->next;
  return at == NO_FLIGHT ? UINT64_MAX : flights_at(flights, at)->number;
}
/* What a lane of flight->fetchers fetches. */
static inline Fill *flight_fill(const Flight *flight, unsigned lane) {
  return &flight->fills[bits_count(flight->fetchers & ((1u << lane) - 1))];
}
static inline uint32_t *flight_fill_words(const Flight *flight, const Fill *fill) {
  return &flight->fill_words[fill->first_word];
}
/* Makes room for one more of so many words. */
void flight_grow_fills(Flight *flight, uint32_t words);
/* Sectors of so many bytes more, from `address` on, are to be fetched, for a lane behind those of all before. */
static inline void flight_add_fill(Flight *flight, unsigned lane, uint64_t address, uint32_t bytes) {
  uint32_t words = bytes / 4, first = flight->words_count, place = flight->fill_count;
  if (G_UNLIKELY(place == flight->fill_space || first + words > flight->words_space))
    flight_grow_fills(flight, words);
  Fill *fill = &flight->fills[place];
  fill->address = address;
  fill->bytes = bytes;
  fill->first_word = first;
  flight->fill_count = place + 1;
  flight->words_count = first + words;
  flight->fetchers |= 1u << lane;
}
/* They have come. */
static inline void flight_end_fills(Flight *flight) {
  flight->fill_count = 0;
  flight->words_count = 0;
  flight->fetchers = 0;
}
/* True if it belongs to that warp, not to one before in its slot. */
static inline bool flight_is_of(const Flight *flight, const Warp *warp) {
  return flight->under_way && flight->slot == warp->slot && flight->age == warp->age;
}
/* The access under way that will give register `reg` of the lane its value; NULL: none. */
const Flight *flights_pending(const Flights *flights, const Warp *warp, uint32_t reg, unsigned lane);
/* What register `reg` of a lane holds, or will hold when the reply comes that it waits for. As long as the words that
 * it waits for aren't performed: what it held before. */
static inline uint32_t flights_register(const Flights *flights, const Warp *warp, uint32_t reg, unsigned lane) {
  uint32_t now = warp->regs[reg * WARP_LANES + lane];
  if (G_LIKELY(!warp->pending) || warp->reg_ready[reg] != REG_PENDING)
    return now;
  const Flight *flight = flights_pending(flights, warp, reg, lane);
  return flight && flight->request.performed >> lane & 1 ? flight->data[reg - (uint32_t)flight->inst->dst][lane]
                                                         : now;
}

#endif
