/* part.h - a part of an access on its way: what one request asks of one line, and the queue of parts by time.
 * A part is a number in a pool; its owner puts it into one queue or list at a time. Parts of an SM may be made and
 * freed beside the queue and beside those of others; a box keeps what they put in meanwhile.
 * Order: by cycle; within a cycle by SM, and the parts of an SM in the order in which they were made. It never
 * depends on the host.
 * Cost: putting in and taking out are a few instructions each while nothing is due more than PARTS_SPAN cycles ahead.
 * Ownership: PartQueue owns the pool, which grows with the parts under way at a time. Parts don't move. */
#ifndef LOCKSTEP_MEMORY_PART_H
#define LOCKSTEP_MEMORY_PART_H

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "sim/memory/mem_trace.h"

enum {
  PARTS_SPAN = 2048,
  PARTS_WORDS = PARTS_SPAN / 64,
  PART_NONE = UINT32_MAX,
  PART_CHUNK_SHIFT = 8,
  PART_CHUNK = 1 << PART_CHUNK_SHIFT,
  PARTS_MAX = 1 << 25
};

typedef enum {
  PART_ARRIVES, /* at the slice of its SM's half */
  PART_PATH,    /* the same, after it waited for the path of its TPC */
  PART_RESUMES, /* the same, after its SM was stopped */
  PART_CROSSES, /* at its home slice, from the other half */
  PART_LOOKUP,  /* its turn in the slice */
  PART_FILLED,  /* the line has come from memory */
  PART_TURN,    /* its turn in the atomic unit */
  PART_HOST     /* at the host */
} PartStage;

/* One line of the host's cache. It has all of its request that its way needs. */
typedef struct Part {
  MemRequest *request;
  uint32_t line, set; /* set: of tags, in its slice (tags.h) */
  uint64_t due;       /* its cycle */
  uint64_t number;    /* the SM, then the number of the SM's part */
  uint32_t lanes, sectors;
  uint32_t next; /* in a list */
  /* Thousandths. busy: of an atomic, what it takes of its unit; from its turn on, how long it waited for that. more:
   * how much later than the first lane the last one is through. */
  uint32_t busy, more;
  uint16_t sm, slice; /* slice: the one that serves it, of all */
  uint32_t out : 10;     /* bytes that go along with it to its slice */
  uint32_t in : 10;      /* bytes that go along with its reply */
  uint32_t several : 6;  /* as in MemPackets */
  uint32_t alone : 6;
  MemShape shape;
  union {
    struct {
      uint8_t stage : 4;                      /* PartStage */
      uint8_t kind : 2;                       /* MemKind */
      bool at_home : 1;                       /* its slice is in the half that is its line's home */
      bool away : 1;                          /* has crossed to the other half */
      bool copied : 1;                        /* a store that has crossed from a half with a copy */
      bool parked : 1;                        /* waits for parts of its SM that have crossed */
      bool unused : 1, exchange : 1, cas : 1; /* of an atomic: as in MemRequest */
      bool passes : 1;                        /* waits in a slice of its SM's half for its way to the other one */
      bool first : 1;                         /* of its access */
      bool admitted : 1;                      /* takes one of its group's places in a slice of its SM's half */
    };
    uint16_t states; /* all of these */
  };
} Part;
_Static_assert(sizeof(Part) == 64, "a part is one line of the host's cache");

/* A reduction whose lanes aren't all on one word, or that has one: it passes the other half more quickly. */
static inline bool part_is_short(const Part *part) {
  return part->unused && (part->several || !(part->lanes & (part->lanes - 1)));
}

/* It has been performed in cycle `due` of its part. */
typedef struct PartDone {
  uint64_t milli; /* its reply leaves the slice */
  uint32_t part;
  uint16_t sm, key; /* key: its owner's */
} PartDone;

/* Atomics of an SM have been let into a slice: so many places on their way are free at `milli`. */
typedef struct PartPlacesFree {
  uint64_t milli;
  uint32_t turns;
  uint16_t sm;
} PartPlacesFree;

/* A part that is due then, and not in the queue yet. */
typedef struct PartDue {
  uint64_t due;
  uint32_t part;
} PartDue;

/* Parts of one SM that aren't in the queue yet. */
typedef struct PartBox {
  PartDue *due;
  uint32_t count, size;
} PartBox;

typedef struct PartList {
  uint32_t first, last;
} PartList;

/* Parts that are due in one cycle: each with its SM in the upper half. */
typedef struct PartSlot {
  uint64_t *part;
  uint32_t count, size;
} PartSlot;

/* Where the parts of an SM come in the batch of a cycle. */
typedef struct PartPlaces {
  uint32_t count, first, next;
} PartPlaces;

/* To bring parts of one cycle in order, SM by SM. */
typedef struct PartOrder {
  uint64_t *sms;  /* a bit for each SM that has some */
  PartPlaces *of; /* of each SM; count: 0 in between */
  uint32_t words; /* of `sms` */
} PartOrder;

/* What an SM has of its own, in a line of the host's cache. */
typedef struct PartSide {
  _Alignas(64) uint32_t *free; /* its free parts, with room for all that are its own */
  uint32_t free_count, parts;
  PartBox sent, answered; /* parts that left it when they were sent; and that its replies let leave */
} PartSide;

typedef uint64_t PartSteps[TRACE_STEPS];

typedef struct PartQueue {
  Part *pool;                   /* in chunks of PART_CHUNK parts, each of one SM */
  PartSteps *steps;             /* of each part, if somebody follows them */
  size_t pool_room, steps_room; /* for so many parts there are addresses */
  size_t room;                  /* for so many of both */
  bool followed;
  uint32_t chunks; /* so far */
  PartSide *side;  /* of each SM */
  uint32_t sms;
  uint64_t now; /* nothing is due before */
  PartSlot slot[PARTS_SPAN];
  uint64_t occupied[PARTS_WORDS];
  uint32_t *far; /* a heap, by cycle and number: parts that are due PARTS_SPAN cycles ahead or later */
  uint32_t far_count, far_size;
  uint32_t *batch; /* of one cycle, in order */
  uint32_t batch_size;
  PartOrder order;
  PartDone *done; /* in the order in which they were performed */
  uint32_t done_count, done_size;
  PartPlacesFree *free; /* in order of `milli` */
  uint32_t free_count, free_size;
} PartQueue;

/* For parts of so many SMs. */
void part_queue_init(PartQueue *queue, uint32_t sms);
void part_queue_clear(PartQueue *queue);

/* From now on parts have steps. Before the first part is made. */
void part_queue_follow(PartQueue *queue);

static inline Part *part_at(const PartQueue *queue, uint32_t part) { return &queue->pool[part]; }
static inline uint64_t *part_steps(const PartQueue *queue, uint32_t part) { return queue->steps[part]; }
/* More free parts for that SM. */
void part_queue_grow(PartQueue *queue, uint32_t sm);
/* So many parts before it is made a part comes to the host's cache. */
enum { PARTS_NEXT = 6 };
/* A new part of that SM; all of it is to be set. SMs may make and free their parts side by side. */
static inline uint32_t part_new(PartQueue *queue, uint32_t sm) {
  PartSide *side = &queue->side[sm];
  if (G_UNLIKELY(side->free_count == 0))
    part_queue_grow(queue, sm);
  uint32_t part = side->free[--side->free_count];
  if (side->free_count >= PARTS_NEXT)
    __builtin_prefetch(part_at(queue, side->free[side->free_count - PARTS_NEXT]), 1);
  if (G_UNLIKELY(queue->followed))
    memset(part_steps(queue, part), 0, sizeof(PartSteps));
  return part;
}
static inline void part_free(PartQueue *queue, uint32_t part) {
  PartSide *side = &queue->side[part_at(queue, part)->sm];
  side->free[side->free_count++] = part;
}
/* The first cycle in which something is due; UINT64_MAX: never. */
uint64_t part_queue_next(const PartQueue *queue);
/* Takes out what is due in cycle `due`, which part_queue_next() gave, in order. Returns how many; they stand in
 * queue->batch until the next call. What is pushed for the same cycle meanwhile comes with the next call. */
uint32_t part_queue_take(PartQueue *queue, uint64_t due);
/* Of part_queue_push(): the part is due PARTS_SPAN cycles ahead or later. */
void part_queue_push_far(PartQueue *queue, uint32_t part);
/* Makes room in a slot. */
void part_slot_grow(PartSlot *slot);

static inline void part_queue_put(PartQueue *queue, uint32_t part, uint32_t sm, uint64_t due) {
  uint32_t number = (uint32_t)(due % PARTS_SPAN);
  PartSlot *slot = &queue->slot[number];
  if (G_UNLIKELY(slot->count == slot->size))
    part_slot_grow(slot);
  slot->part[slot->count++] = (uint64_t)sm << 32 | part;
  queue->occupied[number / 64] |= UINT64_C(1) << number % 64;
}
/* `part`, whose number is set, and which is of that SM, is due in that cycle, `queue->now` or later, as it knows. */
static inline void part_queue_enter(PartQueue *queue, uint32_t part, uint32_t sm, uint64_t due) {
  if (G_LIKELY(due - queue->now < PARTS_SPAN))
    part_queue_put(queue, part, sm, due);
  else
    part_queue_push_far(queue, part);
}
/* `part`, whose SM and number are set, is due in that cycle, `queue->now` or later. */
static inline void part_queue_push(PartQueue *queue, uint32_t part, uint64_t due) {
  Part *at = part_at(queue, part);
  at->due = due;
  part_queue_enter(queue, part, at->sm, due);
}
/* Makes room in a box. */
void part_box_grow(PartBox *box);
static inline void part_box_add(PartBox *box, uint32_t part, uint64_t due) {
  if (G_UNLIKELY(box->count == box->size))
    part_box_grow(box);
  box->due[box->count++] = (PartDue){due, part};
}
/* All parts of a box of that SM come to the queue. */
void part_queue_unpack(PartQueue *queue, PartBox *box, uint32_t sm);
/* What is due in cycle `due`, less than PARTS_SPAN ahead, so far. */
static inline const PartSlot *part_queue_at(const PartQueue *queue, uint64_t due) {
  return &queue->slot[due % PARTS_SPAN];
}
void part_queue_grow_done(PartQueue *queue);
/* The part is one of queue->done now; its owner frees it, and counts them down. */
static inline void part_queue_done(PartQueue *queue, uint32_t part, uint64_t milli, uint32_t key) {
  if (G_UNLIKELY(queue->done_count == queue->done_size))
    part_queue_grow_done(queue);
  queue->done[queue->done_count++] = (PartDone){milli, part, part_at(queue, part)->sm, (uint16_t)key};
}

void part_queue_grow_free(PartQueue *queue);
static inline void part_queue_free_places(PartQueue *queue, uint32_t sm, uint32_t turns, uint64_t milli) {
  if (G_UNLIKELY(queue->free_count == queue->free_size))
    part_queue_grow_free(queue);
  queue->free[queue->free_count++] = (PartPlacesFree){milli, turns, (uint16_t)sm};
}

/* The part comes to a step of its way. */
static inline void part_note(PartQueue *queue, uint32_t part, TraceStep step, uint64_t milli) {
  if (G_UNLIKELY(queue->followed))
    part_steps(queue, part)[step] = milli;
}

static inline void part_list_append(PartQueue *queue, PartList *list, uint32_t part) {
  part_at(queue, part)->next = PART_NONE;
  if (list->first == PART_NONE)
    list->first = part;
  else
    part_at(queue, list->last)->next = part;
  list->last = part;
}

#endif
