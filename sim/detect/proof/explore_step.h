/* explore_step.h - one step of one lane: every state that may follow a state. explore_step.c: paths, control, what an
 * instruction's unit leads to; explore_value.c: registers, predicates, arithmetic; explore_few.c: results that can be
 * few numbers; explore_warp.c: votes, shuffles, barriers; explore_switch.c: points where lane groups switch;
 * explore_memory.c: loads and stores; explore_heap.c: malloc() and free(); explore_flight.c: accesses under way;
 * explore_atomic.c: atomics; explore_adds.c: what they add to words; explore_queue.c: operations on queues. A step
 * uses up the state that it is given. */
#ifndef LOCKSTEP_DETECT_PROOF_EXPLORE_STEP_H
#define LOCKSTEP_DETECT_PROOF_EXPLORE_STEP_H

#include "sim/detect/proof/question.h"
#include "sim/detect/proof/view.h"

/* A change that a lane came to, which counts once unless the lane can come back to that state. */
typedef struct LaneChange {
  WordKey key;
  bool unknown;    /* it gives the word an unknown value; otherwise it adds a number */
  uint32_t number; /* not 0 */
  uint32_t state;  /* index in the state set */
} LaneChange;

/* What a lane may add to a word. */
typedef struct LaneAdds {
  WordKey key;
  AddSums sums;
} LaneAdds;

/* The exploration of one lane while it runs. */
typedef struct LaneWalk {
  Explorer *explorer;
  WarpView *view;
  unsigned lane;
  const Assumption *assumption;
  Footprint *footprint;
  GArray *changes; /* LaneChange */
  GArray *adds;    /* LaneAdds, once it has been explored */
  WalkEffects effects;
  LaneReach reach;
  /* While the lane takes the steps that are under way (explore_flight.h): the one that it takes, its number; where
   * the lane goes on from; how many loads it took. */
  const Flight *flight;
  guint flight_at;
  uint32_t start_pc, loads_taken;
  bool only_flights; /* it doesn't go on */
  bool splits;       /* results that can be few numbers have been told apart ... */
  bool vague;        /* ... and aren't any more */
  bool ended;        /* the step may have changed the word at which the assumption ends */
} LaneWalk;

/* Adds to the view's state set every state that may follow `state`, and to the walk what it reaches. */
void explore_step(LaneWalk *walk, LaneState *state);
/* Lets a lane that has come to `state` join where its path ends (it stands on a convergence point), then adds it. */
void explore_enter(LaneWalk *walk, LaneState *state);
/* The lane goes on behind instruction `inst`, at `next`. */
void explore_go_on(LaneWalk *walk, LaneState *state, const Inst *inst, uint32_t next);
/* A fault ends the run, whatever the others do. */
void explore_fault(LaneWalk *walk);

/* Adds the lane to a mask of its view: it comes to what that stands for. */
void explore_come_to(LaneWalk *walk, uint32_t *mask);

static inline uint32_t walk_nregs(const LaneWalk *walk) { return walk->view->launch->kernel->nregs; }
static inline bool assumes_all_open(const LaneWalk *walk) { return walk->assumption && walk->assumption->all_open; }
static inline bool is_any_lane(const LaneWalk *walk) { return walk->assumption && walk->assumption->any_lane; }
static inline bool read_only(const LaneWalk *walk) { return walk->assumption && walk->assumption->read_only; }
static inline bool keeps_stores(const LaneWalk *walk) { return !read_only(walk) || walk->assumption->stores; }
/* The walk depends on the word or bit of these readers. Where its stores are kept on a layer, lanes are asked one by
 * one, and a reader is 32 times the number of the view, and the lane. */
static inline uint32_t explore_lane_reader(const WarpView *view, unsigned lane) {
  return view->index * WARP_LANES + lane;
}
static inline void explore_note_reader(const LaneWalk *walk, Readers *readers) {
  if (keeps_stores(walk))
    abstract_note_reader(readers, read_only(walk) ? explore_lane_reader(walk->view, walk->lane) : walk->view->index);
}
/* The step may change that word; NULL: any. */
static inline void explore_may_change(LaneWalk *walk, const WordKey *key) {
  const uint64_t *end = walk->assumption ? walk->assumption->ends_at : NULL;
  walk->ended |= end && (!key || *key == *end);
}
/* The same of one word. What a lane saves in its own memory it finds there, whatever it is asked. */
static inline bool keeps_store(const LaneWalk *walk, WordKey key) {
  return keeps_stores(walk) || word_key_is_local(key);
}

/* ---- explore_value.c: rows of one lane. A slot is an operand: a register, or ~ a constant row. ---- */

static inline bool slot_unknown(const LaneState *state, int16_t slot) {
  return slot >= 0 && regset_has(&state->unknown, (unsigned)slot);
}
static inline uint32_t slot_value(const LaneWalk *walk, const LaneState *state, int16_t slot) {
  return slot >= 0 ? state->regs[slot] : walk->view->warp->consts[WARP_LANES * (uint32_t)~slot];
}
/* Word `part` of what a store or atomic operation brings along, its operand b or c: true if it is known. */
bool explore_operand(const LaneWalk *walk, const LaneState *state, const Inst *inst, bool c, uint32_t part,
                     uint32_t *value);
/* The row of word `part` of operand `slot`; `wide` says that a constant has several rows, too. */
static inline int16_t slot_part(int16_t slot, uint32_t part, bool wide) {
  return slot >= 0 ? (int16_t)(slot + (int16_t)part) : wide ? (int16_t)(slot - (int16_t)part) : slot;
}
void explore_set_register(const LaneWalk *walk, LaneState *state, int reg, bool unknown, uint32_t value);
/* The register is unknown, but low <= value <= high. */
void explore_set_range(const LaneWalk *walk, LaneState *state, int reg, uint32_t low, uint32_t high);
void explore_set_predicate(LaneState *state, unsigned predicate, bool value);
/* Predicate `index` among those an instruction reads, which is known by now. */
bool explore_source_predicate(const LaneState *state, const Inst *inst, unsigned index);
/* Whatever the instruction writes becomes unknown. */
void explore_forget_writes(const LaneWalk *walk, LaneState *state, const Inst *inst);
void explore_arithmetic(LaneWalk *walk, LaneState *state, const Inst *inst);
void explore_sysreg(LaneWalk *walk, LaneState *state, const Inst *inst);
/* What the instruction gives if all that isn't known is 0: its first register, and 32 bits higher its second. */
uint64_t explore_with_zeros(const LaneWalk *walk, const LaneState *state, const Inst *inst);

/* ---- explore_few.c ---- */

/* Where the result of arithmetic isn't known but can be few numbers, goes on with each. False: it can't. */
bool explore_give_few(LaneWalk *walk, const LaneState *state, const Inst *inst);
/* Where it is one register's and lies between two positive numbers: it has that range. */
bool explore_give_range(const LaneWalk *walk, LaneState *state, const Inst *inst);

/* ---- explore_warp.c ---- */

/* While the machine goes round in a circle (Explorer.seen, .exchanged): what the exchange at `pc` gave the lane.
 * NULL if it wasn't seen, or if the lane is asked what it would do behind the circle. */
const SeenValues *explore_exchange_seen(LaneWalk *walk, uint32_t pc);
void explore_vote(LaneWalk *walk, LaneState *state, const Inst *inst);
void explore_shuffle(LaneWalk *walk, LaneState *state, const Inst *inst);
void explore_barrier(LaneWalk *walk, LaneState *state, const Inst *inst);

/* ---- explore_switch.c ---- */

/* BSSY, BSYNC, BREAK, YIELD, WARPSYNC, NANOSLEEP. */
void explore_group_step(LaneWalk *walk, LaneState *state, const Inst *inst);
/* A lane that the guard of a block barrier leaves out: it comes there with its group. */
void explore_barrier_beside(LaneWalk *walk, const LaneState *state, const Inst *inst);

/* ---- explore_memory.c ---- */

/* Where a lane's access goes. */
typedef struct Place {
  MemSpace space;
  WordKey key;       /* its first word; MEM_PARAM: its first byte */
  uint32_t offset;   /* byte in it */
  uint32_t physical; /* shared memory: the address in the SM */
  uint32_t bytes;
} Place;
/* Of a load of several words, each with more values than this, the value isn't known. */
enum { WIDE_VALUES_MAX = 4 };

void explore_memory(LaneWalk *walk, LaneState *state, const Inst *inst);
/* The values that the lane may find there, on which its way depends. */
const ValueSet *explore_depend(LaneWalk *walk, WordKey key);
/* The same of a word that it reads. */
const ValueSet *explore_read(LaneWalk *walk, WordKey key, uint32_t pc);
/* True if the lane may read anything there. */
bool explore_may_be_anything(const LaneWalk *walk, const ValueSet *set, WordKey key);
void explore_store_value(LaneWalk *walk, uint32_t pc, WordKey key, uint32_t value);
void explore_store_unknown(LaneWalk *walk, uint32_t pc, WordKey key);
/* Notes for a footprint that the word is changed: `news`: to what it couldn't hold before; `value`: NULL for one that
 * isn't known. */
void explore_note_store(const LaneWalk *walk, WordKey key, uint32_t pc, bool news, const uint32_t *value);
/* What a word may hold already; in a layer, below it. */
const ValueSet *explore_set_before(const LaneWalk *walk, WordKey key);
/* A store writes through, and updates or evicts the copy in its own SM's L1. */
void explore_update_copy(LaneWalk *walk, const Inst *inst, const Place *place, WordKey key, bool unknown,
                         uint32_t value);
/* Keeps in mind a change that counts once unless the lane can come back to it. */
void explore_note_change(LaneWalk *walk, WordKey key, bool unknown, uint32_t number);
/* The lane loads, and goes on. */
void explore_load(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place);

/* ---- explore_heap.c: the device heap. What malloc() returns isn't known: that depends on who calls it before ----
 * */

void explore_malloc(LaneWalk *walk, LaneState *state, const Inst *inst);
void explore_free(LaneWalk *walk, LaneState *state, const Inst *inst);
/* True for a word of the device heap. */
bool explore_is_heap(const LaneWalk *walk, WordKey key);
/* An unfinished thread may come to malloc(), to free(); the lane's way depends on that. */
bool explore_may_take(LaneWalk *walk);
bool explore_may_give(LaneWalk *walk);

/* ---- explore_queue.c ---- */

/* ENQUEUE, DEQUEUE of the queue at `place`. */
void explore_queue(LaneWalk *walk, const LaneState *state, const Inst *inst, const Place *place);

/* ---- explore_atomic.c ---- */

void explore_atomic(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place);

/* ---- explore_adds.c ---- */

/* When the lane has been explored: applies its changes. */
void explore_apply_changes(LaneWalk *walk);
/* Counts its adds (LaneAdds) for a lane alike. */
void explore_repeat_adds(Explorer *explorer, WarpView *view, unsigned lane, const GArray *adds);

/* ---- explore_flight.c: accesses under way (sim/core/flight.h) in the proof: a look sees a cut of the machine.
 *
 * Words that haven't been performed yet may be at any time. So an access whose result its lane waits for, or will
 * read, is a step of that lane before all others: a load may find any value of its word's set, an atomic operation
 * has its effect once more. The values of stores, and of atomic operations that nobody reads, join their words'
 * sets at the start, an add once. Steps of one lane under way are taken in order of issue: their words' sets have
 * all values anyway, whatever the order was. An acquire or a fence that isn't over will empty its SM's L1. Sectors
 * on their way to an L1 bring the values that they were read with. ---- */

/* What is under way on an SM: its stores join the words, its other accesses the views of their warps, which are those
 * of the SM from number `first` on. */
void explore_flights_add(Explorer *explorer, const Sm *sm, guint first);

/* True if the lane has accesses under way that are steps. */
bool explore_has_flights(const WarpView *view, unsigned lane);
/* The lane takes the steps that are under way, and comes to `state`; unless `only_these`, it goes on from there. */
void explore_take_flights(LaneWalk *walk, LaneState *state, bool only_these);
/* Behind one of them: takes the next. */
void explore_next_flight(LaneWalk *walk, LaneState *state);

/* Nothing is known of what the lane's accesses under way bring. */
void explore_forget_loads(const WarpView *view, unsigned lane, LaneState *state);
/* True if both lanes have the same under way, as far as it matters to who reads these registers; NULL: after
 * explore_forget_loads(). */
bool explore_same_flights(const WarpView *a, unsigned lane_a, const WarpView *b, unsigned lane_b,
                          const RegSet *reads);

#endif
