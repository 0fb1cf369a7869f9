#include "sim/detect/proof/explore_step.h"

#include "sim/core/async_copy.h"
#include "sim/core/bulk.h"
#include "sim/core/cached.h"
#include "sim/core/look.h"
#include "sim/core/mbarrier.h"
#include "sim/core/remote.h"
#include "sim/detect/proof/copies.h"

/* Of the loads of a lane under way so many are told apart by what they find; what further ones bring isn't known. */
enum { LOADS_TOLD_APART = 4 };

/* ---- what joins the words at the start ---- */

/* Its words have addresses of global memory, or of other blocks' shared memory (remote.h). */
static WordKey key_of(uint64_t address) {
  return address >> REMOTE_SM_SHIFT ? word_key_shared(remote_sm(address, 0), (uint32_t)address / 4)
                                    : word_key_global(address);
}

static ValueSet *word_of(Explorer *explorer, const Sm *sm, uint64_t address) {
  return abstract_word(&explorer->memory, sm, key_of(address));
}

static void join_store(Explorer *explorer, const Sm *sm, const Flight *flight, unsigned lane) {
  uint64_t address = flight->request.address[lane];
  for (uint32_t part = 0; part < access_words(flight->request.bytes); part++) {
    ValueSet *set = word_of(explorer, sm, address + 4 * part);
    if (flight->request.bytes < 4)
      abstract_add_anything(&explorer->memory, set); /* its other bytes stay, whatever they are then */
    else
      abstract_add(&explorer->memory, set, flight->data[part][lane]);
  }
}

static bool adds_numbers(const Inst *inst) {
  return inst->mode == ATOM_ADD && inst->width == WIDTH_32 && !type_is_float(inst->type);
}

static void join_add(Explorer *explorer, ValueSet *set, uint32_t number) {
  AddSums sums = abstract_sums_of(number);
  abstract_add_sums(&explorer->memory, set, &sums);
}

/* The word of a queue may become what it will, and with it which slot gets a value. */
static void join_queue(Explorer *explorer, const Sm *sm, const Flight *flight, unsigned lane) {
  uint32_t bytes = explorer->gpu->machine->memory.queue.bytes;
  uint64_t address = flight->request.address[lane];
  abstract_add_anything(&explorer->memory, word_of(explorer, sm, address));
  for (uint32_t at = 4; at < bytes && flight->request.queue == MEM_ENQUEUE; at += 4)
    abstract_add(&explorer->memory, word_of(explorer, sm, address + at), flight->data[0][lane]);
}

/* An atomic operation whose result nobody reads. */
static void join_atomic(Explorer *explorer, const Sm *sm, const Flight *flight, unsigned lane) {
  const Inst *inst = flight->inst;
  uint64_t address = flight->request.address[lane];
  if (flight->request.queue) {
    join_queue(explorer, sm, flight, lane);
    return;
  }
  if (adds_numbers(inst)) {
    if (flight->data[0][lane])
      join_add(explorer, word_of(explorer, sm, address), flight->data[0][lane]);
    return;
  }
  uint32_t row = inst->mode == ATOM_CAS ? FLIGHT_OPERAND_C : 0;
  bool known = (inst->mode == ATOM_CAS || inst->mode == ATOM_EXCH) && flight->request.bytes >= 4;
  for (uint32_t part = 0; part < access_words(flight->request.bytes); part++) {
    ValueSet *set = word_of(explorer, sm, address + 4 * part);
    if (known)
      abstract_add(&explorer->memory, set, flight->data[row + part][lane]);
    else
      abstract_add_anything(&explorer->memory, set);
  }
}

/* Sectors that were read, and come to the L1. */
static void join_fills(Explorer *explorer, const Sm *sm, const Flight *flight) {
  for (uint32_t rest = flight->fetchers & flight->request.performed; rest; rest &= rest - 1) {
    const Fill *fill = flight_fill(flight, (unsigned)__builtin_ctz(rest));
    const uint32_t *words = flight_fill_words(flight, fill);
    for (uint32_t word = 0; word < fill->bytes / 4; word++) {
      uint64_t address = fill->address + 4 * word;
      if (words[word] != look_global(explorer->gpu, address))
        abstract_add(&explorer->memory, word_of(explorer, sm, address), words[word]);
    }
  }
}

static void empty_copies(Explorer *explorer, const Sm *sm) { copies_evict_all(explorer->copies, sm); }

/* Who takes the step: the warp, while the lane hasn't exited. */
static WarpView *taker_of(const Explorer *explorer, const Flight *flight, guint first) {
  for (guint i = first; i < explorer->views->len; i++) {
    WarpView *view = g_ptr_array_index(explorer->views, i);
    if (view->warp->slot == flight->slot)
      return flight_is_of(flight, view->warp) ? view : NULL;
  }
  return NULL;
}

static void join_unknown(Explorer *explorer, const Sm *sm, uint32_t physical, uint32_t bytes) {
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    WordKey key = word_key_shared(sm->index, physical / 4 + part);
    abstract_add_anything(&explorer->memory, abstract_word(&explorer->memory, sm, key));
  }
}

/* Words of shared memory that a copy under way will change, and barriers that it may arrive at. */
static void join_copy(Explorer *explorer, const Sm *sm, const Flight *flight) {
  const Warp *warp = &sm->warps[flight->slot];
  const AsyncCopy *copy = flight->age == warp->age ? async_copies_find(warp, flight->number) : NULL;
  uint32_t count = 0;
  const AsyncArrival *arrival = copy ? async_copies_arrivals(warp, &count) : NULL;
  for (uint32_t rest = copy ? copy->lanes : 0; rest; rest &= rest - 1)
    join_unknown(explorer, sm, copy->physical[__builtin_ctz(rest)], copy->bytes);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t rest = arrival[i].lanes; rest; rest &= rest - 1)
      join_unknown(explorer, sm, arrival[i].physical[__builtin_ctz(rest)], MBARRIER_BYTES);
}

static void add_flight(Explorer *explorer, const Sm *sm, const Flight *flight, guint first) {
  uint32_t lanes = flight->lanes & ~flight->request.performed;
  if (flight->bulk)
    return;
  if (flight->inst->op == OP_LDGSTS) {
    join_copy(explorer, sm, flight);
    return;
  }
  bool returns = op_info[flight->inst->op].flags & OPF_LOAD;
  WarpView *taker = lanes && returns ? taker_of(explorer, flight, first) : NULL;
  if (cached_is_acquire(flight->inst))
    empty_copies(explorer, sm);
  join_fills(explorer, sm, flight);
  if (taker && lanes & taker->warp->alive) {
    if (!taker->flights)
      taker->flights = g_ptr_array_new();
    g_ptr_array_add(taker->flights, (gpointer)flight);
    lanes &= ~taker->warp->alive;
  }
  for (uint32_t rest = flight->request.kind == MEM_LOAD ? 0 : lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    if (flight->request.kind == MEM_STORE)
      join_store(explorer, sm, flight, lane);
    else
      join_atomic(explorer, sm, flight, lane);
  }
}

/* Words that a copy in bulk of the SM will change, and the barrier that it counts at. */
static void join_bulk(Explorer *explorer, const Sm *sm, const BulkCopy *copy) {
  bool in = copy->inst->op == OP_BULKLOAD;
  for (uint32_t offset = 0; offset < copy->bytes; offset += 4) {
    if (in)
      join_unknown(explorer, copy->to, copy->physical + offset, 4);
    else
      abstract_add_anything(&explorer->memory, word_of(explorer, sm, copy->address + offset));
  }
  if (copy->barrier != NO_BARRIER)
    join_unknown(explorer, copy->to, copy->barrier, MBARRIER_BYTES);
}

void explore_flights_add(Explorer *explorer, const Sm *sm, guint first) {
  const Flights *flights = &sm->flights;
  const GPtrArray *copies = bulk_under_way(sm);
  for (guint i = 0; copies && i < copies->len; i++)
    join_bulk(explorer, sm, g_ptr_array_index(copies, i));
  for (uint32_t index = flights->oldest; index != NO_FLIGHT; index = flights_at(flights, index)->next)
    add_flight(explorer, sm, flights_at(flights, index), first);
  for (WarpSet rest = sm->draining; rest; rest = warp_set_rest(rest))
    if (sm->warps[warp_set_first(rest)].drain_empties_l1)
      empty_copies(explorer, sm);
}

/* ---- steps of a lane ---- */

static guint flights_of(const WarpView *view) { return view->flights ? view->flights->len : 0; }

/* The next one of the lane from number `from` on; their number if there is none. */
static guint find_flight(const WarpView *view, unsigned lane, guint from) {
  for (guint count = flights_of(view); from < count; from++) {
    const Flight *flight = g_ptr_array_index(view->flights, from);
    if ((flight->lanes & ~flight->request.performed) >> lane & 1)
      return from;
  }
  return from;
}

bool explore_has_flights(const WarpView *view, unsigned lane) {
  return find_flight(view, lane, 0) < flights_of(view);
}

/* Nothing is known of what the lane gets. */
static void forget_result(LaneWalk *walk, LaneState *state, const Inst *inst) {
  for (uint32_t part = 0; part < access_words(width_bytes[inst->width]); part++)
    explore_set_register(walk, state, inst->dst + (int)part, true, 0);
}

static void take_flight(LaneWalk *walk, LaneState *state, const Flight *flight) {
  const Inst *inst = flight->inst;
  uint64_t address = flight->request.address[walk->lane];
  Place place = {.space = flight->remote ? MEM_SHARED : MEM_GLOBAL,
                 .key = key_of(address),
                 .offset = (uint32_t)(address % 4),
                 .bytes = flight->request.bytes};
  state->pc = flight->pc;
  if (flight->request.kind == MEM_ATOMIC) {
    explore_atomic(walk, state, inst, &place);
    return;
  }
  if (walk->loads_taken++ < LOADS_TOLD_APART && !(walk->assumption && walk->assumption->any_lane)) {
    explore_load(walk, state, inst, &place);
  } else {
    forget_result(walk, state, inst);
    explore_next_flight(walk, state);
  }
  walk->loads_taken--;
}

/* From number `from` on. */
static void take_from(LaneWalk *walk, LaneState *state, guint from) {
  guint before = walk->flight_at, at = find_flight(walk->view, walk->lane, from);
  const Flight *outer = walk->flight;
  if (at == flights_of(walk->view)) {
    walk->flight = NULL;
    state->pc = walk->start_pc;
    if (!walk->only_flights)
      explore_enter(walk, state);
  } else {
    walk->flight = g_ptr_array_index(walk->view->flights, at);
    walk->flight_at = at;
    take_flight(walk, state, walk->flight);
  }
  walk->flight = outer;
  walk->flight_at = before;
}

void explore_next_flight(LaneWalk *walk, LaneState *state) { take_from(walk, state, walk->flight_at + 1); }

void explore_take_flights(LaneWalk *walk, LaneState *state, bool only_these) {
  walk->start_pc = state->pc;
  walk->only_flights = only_these;
  walk->flight = NULL;
  take_from(walk, state, 0);
}

/* ---- lanes alike ---- */

/* The operands of the same atomic operation. */
static bool same_data(const Flight *a, unsigned lane_a, const Flight *b, unsigned lane_b) {
  for (uint32_t row = 0; row < access_words(a->request.bytes); row++) {
    const uint32_t *b_of_a = a->data[row], *c_of_a = a->data[FLIGHT_OPERAND_C + row];
    const uint32_t *b_of_b = b->data[row], *c_of_b = b->data[FLIGHT_OPERAND_C + row];
    if (b_of_a[lane_a] != b_of_b[lane_b] || c_of_a[lane_a] != c_of_b[lane_b])
      return false;
  }
  return true;
}

static bool same_flight(const Flight *a, unsigned lane_a, const Flight *b, unsigned lane_b, const RegSet *reads) {
  if (a->inst != b->inst)
    return false;
  bool same_place = a->request.address[lane_a] == b->request.address[lane_b];
  if (a->request.kind == MEM_ATOMIC)
    return same_place && same_data(a, lane_a, b, lane_b);
  for (uint32_t part = 0; part < access_words(a->request.bytes) && !same_place; part++)
    if (regset_has(reads, (unsigned)a->inst->dst + part))
      return false;
  return true;
}

/* As find_flight(); without `reads`, loads don't count. */
static guint find_that_counts(const WarpView *view, unsigned lane, guint from, const RegSet *reads) {
  guint at = find_flight(view, lane, from);
  while (!reads && at < flights_of(view) &&
         ((const Flight *)g_ptr_array_index(view->flights, at))->request.kind == MEM_LOAD)
    at = find_flight(view, lane, at + 1);
  return at;
}

bool explore_same_flights(const WarpView *a, unsigned lane_a, const WarpView *b, unsigned lane_b,
                          const RegSet *reads) {
  guint at = find_that_counts(a, lane_a, 0, reads), bt = find_that_counts(b, lane_b, 0, reads);
  while (at < flights_of(a) && bt < flights_of(b)) {
    if (!same_flight(g_ptr_array_index(a->flights, at), lane_a, g_ptr_array_index(b->flights, bt), lane_b, reads))
      return false;
    at = find_that_counts(a, lane_a, at + 1, reads);
    bt = find_that_counts(b, lane_b, bt + 1, reads);
  }
  return at == flights_of(a) && bt == flights_of(b);
}

void explore_forget_loads(const WarpView *view, unsigned lane, LaneState *state) {
  for (guint at = find_flight(view, lane, 0); at < flights_of(view); at = find_flight(view, lane, at + 1)) {
    const Flight *flight = g_ptr_array_index(view->flights, at);
    for (uint32_t part = 0; part < access_words(flight->request.bytes); part++) {
      uint32_t reg = (uint32_t)flight->inst->dst + part;
      if (reg >= view->launch->kernel->nregs)
        continue;
      regset_put(&state->unknown, reg);
      state->regs[reg] = 0;
    }
  }
}
