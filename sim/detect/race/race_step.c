#include "sim/detect/race/race_step.h"

#include "sim/core/queue_unit.h"
#include "sim/detect/race/race_observer.h"
#include "sim/detect/race/race_older.h"
#include "sim/detect/race/race_reliance.h"
#include "sim/detect/race/race_validated.h"

/* The flight of an access of a shadow that is under way, and whose races wait. */
static RaceFlight *open_flight(const RaceWatch *watch, const Access *access) {
  return access->open ? race_flight_at(&watch->flights, access->chain) : NULL;
}

static RaceCause cause_of(const Step *step, uint32_t lanes, const Access *earlier) {
  if (race_words_breaks_read_only(step, earlier) &&
      order_is_before(&step->watch->order, step->warp, lanes, earlier, false))
    return RACE_READ_ONLY;
  return race_words_cause(&step->watch->order, step->warp, lanes, step->strong, earlier);
}

static void tell_race(Step *step, const Group *group, uint32_t lanes, const Access *mine, const Access *other) {
  bool dropped = mine->dropped || other->dropped;
  group->cell->whole.raced = 1;
  Access own = *mine;
  own.lanes = lanes;
  race_words_add(step, group->word, 1, &own, other, dropped ? RACE_SPECULATIVE : cause_of(step, lanes, other));
}

/* The same of a strong access that was issued at `moment`: the race waits while that may turn out to come first. */
static void tell_strong(Step *step, const WarpMoment *moment, const Group *group, const Access *mine,
                        const Access *other) {
  Step alone;
  race_words_begin(&alone, step->watch, step->point, step->warp, step->access);
  tell_race(&alone, group, group->lanes, mine, other);
  if (!race_observer_waits(&alone, moment, mine, other))
    tell_race(step, group, group->lanes, mine, other);
}

/* The race waits until what is under way has been performed. */
static void wait_for(Step *step, RaceFlight *first, const Group *group, uint32_t lanes, const Access *then) {
  if (!step->later) {
    step->later = g_new(LaterAccess, 1);
    *step->later = (LaterAccess){.point = *step->point,
                                 .moment = warp_moment_take(&step->watch->order.views, step->warp, false),
                                 .space = step->access->space,
                                 .kind = step->access->kind,
                                 .perhaps_dropped = step->access->perhaps_dropped,
                                 .users = 1};
    step->later->point.block = NULL;
    step->later->point.warp = NULL;
  }
  race_flight_wait(first, group->word, lanes, then, step->later);
}

/* The step was issued. */
static void end_step(Step *step, const WarpMoment *moment) {
  race_words_tell(step, moment);
  if (step->later)
    race_flight_leave(&step->watch->order, step->later);
}

/* Lanes of a group; with `dropped` a select drops what they load. */
static void record_lanes(Step *step, Group *group, uint32_t lanes, bool dropped) {
  Access access = race_words_access(step, lanes, group->bytes, race_words_writes(step, group)), found[RACES_MAX];
  access.dropped = dropped;
  Question question = {step, lanes};
  AccessOrder order = race_words_order(step, &question);
  order.later = step->warp->fences && access.write && !step->strong && shadow_is_behind(group->cell, &order);
  step->behind |= order.later;
  unsigned races = step->looks ? shadow_look(group->cell, &access, &order, found, RACES_MAX)
                               : shadow_add(race_words_shadow(step), group->cell, &access, &order, found, RACES_MAX);
  for (unsigned i = 0; i < races; i++) {
    RaceFlight *waits = open_flight(step->watch, &found[i]);
    if (waits)
      wait_for(step, waits, group, found[i].lanes, &access);
    else
      tell_race(step, group, lanes, &access, &found[i]);
  }
}

static void record(Step *step, Group *group) {
  uint32_t dropped = step->strong ? 0 : group->lanes & step->access->dropped;
  if (dropped)
    record_lanes(step, group, dropped, true);
  if (group->lanes & ~dropped)
    record_lanes(step, group, group->lanes & ~dropped, false);
  if (step->access->kind == ACCESS_WRITE && !step->strong && !step->looks && (group->lanes & (group->lanes - 1)))
    race_words_compare(step, group);
}

/* ---- rows ---- */

static uint32_t rotate_right(uint32_t bits, unsigned by) { return by ? bits >> by | bits << (32 - by) : bits; }

/* The words `touched` of the row of `first`, word i by lane (i - shift) % 32. False: the row has to be taken apart.
 */
static bool record_in_row(Step *step, uint64_t first, uint32_t touched, unsigned shift) {
  Row *row = shadow_row(race_words_shadow(step), race_words_number(step, first));
  if (!row)
    return true;
  if (row->cells)
    return false;
  uint32_t lanes = rotate_right(touched, shift);
  Access access = race_words_access(step, touched, 0xf, step->access->kind == ACCESS_WRITE), found[RACES_MAX];
  access.shift = (uint8_t)shift;
  Question question = {step, lanes};
  AccessOrder order = race_words_order(step, &question);
  unsigned races;
  if (!(step->looks ? shadow_look_row(row, &access, &order, found, RACES_MAX, &races)
                    : shadow_add_row(race_words_shadow(step), row, &access, &order, found, RACES_MAX, &races)))
    return false;
  for (unsigned i = 0; i < races; i++) {
    uint32_t words = found[i].lanes, run = words >> __builtin_ctz(words);
    unsigned count = run == UINT32_MAX ? 32 : (unsigned)__builtin_ctz(~run);
    row->raced |= words;
    if (count < 32) /* the words that follow each other, from the first on */
      words &= ((1u << count) - 1) << __builtin_ctz(words);
    found[i].lanes = rotate_right(words, found[i].shift);
    access.lanes = rotate_right(words, shift);
    race_words_add(step, first + (unsigned)__builtin_ctz(words), count, &access, &found[i],
                   cause_of(step, access.lanes, &found[i]));
  }
  return true;
}

/* Returns the lanes whose words are in rows that were taken apart. Plain accesses to words that nobody may hand over,
 * lane by lane one after the other, lie in one row or two. */
static uint32_t record_rows(Step *step) {
  const RaceAccess *access = step->access;
  uint32_t lanes = access->lanes;
  if (step->hands_over || step->strong || access->bytes != 4 || access->kind == ACCESS_ATOMIC || access->dropped ||
      step->watch->flags[access->space])
    return lanes;
  unsigned lowest = (unsigned)__builtin_ctz(lanes);
  uint64_t first = access->address[lowest] - 4 * lowest, apart = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    apart |= lanes >> lane & 1 ? access->address[lane] ^ (first + 4 * lane) : 0;
  if (apart)
    return lanes;
  uint64_t word = access->address[lowest] / 4 - lowest; /* of lane 0, which may lie before the memory's first word */
  unsigned shift = (unsigned)(word % ROW_WORDS);
  uint64_t row = word - shift;
  uint32_t low = lanes << shift, high = shift ? lanes >> (32 - shift) : 0, left = 0;
  if (low && !record_in_row(step, row, low, shift))
    left |= low >> shift;
  if (high && !record_in_row(step, row + ROW_WORDS, high, shift))
    left |= high << (32 - shift);
  return left;
}

void race_settle(RaceWatch *watch, bool all) {
  race_reliance_settle(watch, all);
  race_observer_settle(watch, all);
  race_words_settle(watch, all);
}

/* ---- hand-offs ---- */

static void make_flag(Step *step, const Group *group) {
  if (group->cell->whole.raced && !group->cell->whole.flag)
    race_report_withdraw(&step->watch->report, step->access->space, race_words_number(step, group->word));
  group->cell->whole.flag = 1;
}

/* Stores and atomic operations of the step hand something on. */
static bool hands_on(const Step *step) {
  return step->access->kind != ACCESS_READ && (step->hands_over || step->watch->flags[step->access->space]);
}

static void release(Step *step, const Group *group) {
  WordWrite write = {.cell = group->cell,
                     .bytes = group->bytes,
                     .word = group->word,
                     .inst = step->point->inst,
                     .pc = step->point->pc};
  order_release(&step->watch->order, step->warp, &write);
}

static WordRead read_of(const Step *step, const Group *group) {
  return (WordRead){.cell = group->cell,
                    .bytes = group->bytes,
                    .inst = step->point->inst,
                    .pc = step->point->pc,
                    .lanes = group->lanes,
                    .in_vain = step->watch->order.doubt.counts && race_words_is_in_vain(step, group)};
}

/* `handoff`: what a plain store hands on. Returns whether something was handed on. */
static bool release_group(Step *step, const Group *group, uint32_t handoff) {
  if (!hands_on(step) || !race_words_writes(step, group))
    return false;
  if (step->hands_over)
    release(step, group);
  else
    order_hand_on(&step->watch->order, group->cell, group->bytes, handoff, step->warp->time);
  return true;
}

/* Lanes of an atomic operation that has changed the word hand on to each other. `warp`: as it is now. */
static void take_turns(const Step *step, const Group *group, WarpOrder *warp, WarpView *view) {
  if (step->access->kind != ACCESS_ATOMIC || !(group->lanes & (group->lanes - 1)))
    return;
  WordRead read = read_of(step, group);
  order_take_turns(&step->watch->order, warp, view, step->warp, &read, race_words_writers(step, group));
}

static bool takes(const Step *step, const Group *group) {
  return step->access->kind != ACCESS_WRITE && (step->hands_over || group->cell->whole.flag);
}

/* All lanes together, since they are one warp to the next instruction. */
static void access_words(Step *step) {
  bool released = false;
  for (unsigned i = 0; i < step->groups; i++) {
    const Group *group = &step->group[i];
    if (step->access->polls)
      make_flag(step, group);
    WordRead read = read_of(step, group);
    if (takes(step, group) && !race_older_again(step, group))
      order_acquire(&step->watch->order, step->warp, &read);
    if (step->access->space == SPACE_SHARED && step->access->kind != ACCESS_WRITE)
      race_older_sees(step, group);
    if (step->access->space == SPACE_SHARED)
      race_older_writes(step, group);
  }
  for (unsigned i = 0; i < step->groups; i++)
    if (!step->group[i].cell->whole.flag)
      record(step, &step->group[i]);
  uint32_t handoff = hands_on(step) && !step->hands_over ? order_handoff(&step->watch->order, step->warp) : 0;
  for (unsigned i = 0; i < step->groups; i++)
    if (release_group(step, &step->group[i], handoff)) {
      take_turns(step, &step->group[i], step->warp, NULL);
      released = true;
    }
  if (released)
    order_move_on(step->warp);
}

/* Returns whether it is a plain store that is performed later (Step.behind). */
static bool step_at_once(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access) {
  Step step;
  race_words_begin(&step, watch, point, warp, access);
  uint32_t lanes = record_rows(&step), parts = lanes ? MAX(access->bytes / 4, 1) : 0;
  for (; step.hands_over && step.part < parts; step.part++) { /* no part of it tells of another one */
    race_words_group(&step, lanes);
    race_reliance_check(&step, NULL);
  }
  for (step.part = 0; step.part < parts; step.part++) {
    race_words_group(&step, lanes);
    access_words(&step);
  }
  end_step(&step, NULL);
  return step.behind;
}

void race_step(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access) {
  if (access->lanes)
    step_at_once(watch, point, warp, access);
}

void race_look(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access) {
  Step step;
  race_words_begin(&step, watch, point, warp, access);
  step.looks = true;
  uint32_t lanes = record_rows(&step);
  for (; lanes && step.part < MAX(access->bytes / 4, 1); step.part++) {
    race_words_group(&step, lanes);
    for (unsigned i = 0; i < step.groups; i++)
      record(&step, &step.group[i]);
  }
  end_step(&step, NULL);
}

/* ---- issued ---- */

/* A CAS, or an operation on a queue: whether it writes shows when it is performed. */
static bool is_undecided(const Step *step) {
  const Inst *inst = step->point->inst;
  return step->access->kind == ACCESS_ATOMIC && (inst->mode == ATOM_CAS || queue_unit_has(inst));
}

static void issue_group(Step *step, RaceFlight *flight, const Group *group) {
  Access access = race_words_access(step, group->lanes, group->bytes, step->access->kind != ACCESS_READ),
         found[WAITING_MAX];
  access.chain = flight->number;
  access.flying = true;
  access.open = step->access->kind != ACCESS_WRITE;
  Question question = {step, group->lanes};
  AccessOrder order = race_words_order(step, &question);
  unsigned races = shadow_issue(race_words_shadow(step), group->cell, &access, &order, found, WAITING_MAX);
  for (unsigned i = 0; i < races; i++) {
    RaceFlight *waits = open_flight(step->watch, &found[i]);
    if (access.open)
      race_flight_wait(flight, group->word, group->lanes, &found[i], NULL);
    else if (waits)
      wait_for(step, waits, group, found[i].lanes, &access);
    else
      tell_strong(step, &flight->moment, group, &access, &found[i]);
  }
}

/* What may come late: a store, or a reduction, which returns nothing either. */
static bool is_late_store(const Step *step) {
  return step->access->kind == ACCESS_WRITE || step->point->inst->op == OP_RED;
}

/* Where stores to global memory may be late. */
static RaceLate *late_of(const Step *step) { return step->access->space == SPACE_GLOBAL ? step->watch->late : NULL; }

static LateAccess late_access(const Step *step, const Group *group) {
  return (LateAccess){.base = step->warp->base,
                      .word = group->word,
                      .pc = step->point->pc,
                      .lanes = group->lanes,
                      .issued = step->point->cycle,
                      .write = is_late_store(step),
                      .atomic = step->access->kind == ACCESS_ATOMIC};
}

static void issue_words(Step *step, RaceFlight *flight) {
  for (unsigned i = 0; late_of(step) && i < step->groups && step->strong && is_late_store(step); i++) {
    LateAccess store = late_access(step, &step->group[i]);
    race_late_issued(step->watch->late, &store);
  }
  for (unsigned i = 0; i < step->groups; i++)
    race_validated_issued(step, &step->group[i]);
  for (unsigned i = 0; i < step->groups && step->access->polls; i++)
    make_flag(step, &step->group[i]);
  for (unsigned i = 0; i < step->groups; i++) {
    if (step->group[i].cell->whole.flag)
      continue;
    if (step->strong)
      issue_group(step, flight, &step->group[i]);
    else
      record(step, &step->group[i]);
  }
}

/* Who reads a word that the host has written needn't poll it. */
static bool may_take_from_host(const Step *step) { return step->point->gpu->host && !step->warp->fences; }

void race_issue(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access,
                uint64_t number) {
  if (!access->lanes)
    return;
  Step step;
  race_words_begin(&step, watch, point, warp, access);
  RaceFlight *flight = NULL;
  if (step.hands_over || watch->flags[access->space] || may_take_from_host(&step))
    flight = race_flight_new(&watch->flights, &watch->order, warp, number, access->kind != ACCESS_WRITE,
                             hands_on(&step) && !step.hands_over);
  if (!flight) {
    if (step_at_once(watch, point, warp, access))
      race_flight_new(&watch->flights, &watch->order, warp, number, false, false);
    return;
  }
  flight->cycle = point->cycle;
  uint32_t lanes = record_rows(&step);
  for (; lanes && step.part < MAX(access->bytes / 4, 1); step.part++) {
    race_words_group(&step, lanes);
    issue_words(&step, flight);
  }
  if (hands_on(&step) && is_undecided(&step))
    warp->undecided = true;
  else if (hands_on(&step))
    order_move_on(warp);
  end_step(&step, &flight->moment);
}

/* ---- performed ---- */

/* Races that waited for lanes of the group, with what came first, or was handed to them: returns how many there are
 * after all. Those with what was issued later go to watch->settled. */
static unsigned settle_waiting(const Step *step, RaceFlight *flight, const Group *group, const Access *access,
                               const AccessOrder *order, Access races[RACES_MAX]) {
  unsigned count = 0;
  for (guint i = 0; flight->waiting && i < flight->waiting->len; i++) {
    WaitingRace *waiting = &g_array_index(flight->waiting, WaitingRace, i);
    const Access *other = &waiting->other;
    if (waiting->word != group->word || !(waiting->lanes & group->lanes) || !(other->bytes & group->bytes))
      continue;
    waiting->lanes &= ~group->lanes;
    if ((!access->write && !other->write) || order->before(order->user, other) ||
        shadow_was_observed(group->cell, other, order))
      continue;
    SettledRace settled = {.later = waiting->later, .word = group->word, .first = *access, .then = *other};
    settled.first.chain = shadow_chain(group->cell, group->bytes);
    if (waiting->later && !order_is_before(&step->watch->order, step->warp, group->lanes, other, true)) {
      group->cell->whole.raced = 1;
      g_array_append_val(step->watch->settled, settled);
    } else if (count < RACES_MAX) {
      races[count++] = *other;
    }
  }
  return count;
}

/* What was issued while the lanes were under way that have been performed now. */
static void tell_later(RaceWatch *watch) {
  for (guint i = 0; i < watch->settled->len; i++) {
    LaterAccess *later = g_array_index(watch->settled, SettledRace, i).later;
    if (!later)
      continue;
    WarpOrder then = warp_moment_order(&later->moment);
    RaceAccess access = {.space = later->space, .kind = later->kind, .perhaps_dropped = later->perhaps_dropped};
    Step step;
    race_words_begin(&step, watch, &later->point, &then, &access);
    for (guint k = i; k < watch->settled->len; k++) {
      SettledRace *race = &g_array_index(watch->settled, SettledRace, k);
      if (race->later != later)
        continue;
      RaceCause cause = race->then.dropped ? RACE_SPECULATIVE : cause_of(&step, race->then.lanes, &race->first);
      race_words_add(&step, race->word, 1, &race->then, &race->first, cause);
      race->later = NULL;
    }
    race_words_tell(&step, &later->moment);
  }
  g_array_set_size(watch->settled, 0);
}

static void perform_group(Step *step, RaceFlight *flight, const Group *group) {
  Access access = race_words_access(step, group->lanes, group->bytes, race_words_writes(step, group)),
         races[RACES_MAX];
  access.chain = flight->number;
  Question question = {step, group->lanes};
  AccessOrder order = race_words_order(step, &question);
  unsigned count = settle_waiting(step, flight, group, &access, &order, races);
  bool is_new = shadow_perform(race_words_shadow(step), group->cell, &access, &order);
  access.chain = shadow_chain(group->cell, group->bytes);
  race_words_performed(step->watch, flight->number, access.chain);
  race_observer_performed(step->watch, flight->number, access.chain);
  if (order.reads)
    race_observer_reads(step, flight->moment.view->warp, group, &access, &order);
  if (!is_new || group->cell->whole.flag)
    return;
  for (unsigned i = 0; i < count; i++)
    tell_strong(step, &flight->moment, group, &access, &races[i]);
}

/* It is known now whether a CAS handed something on: then what its warp does from now on wasn't, if it isn't so
 * already. */
static void decide(const RaceFlight *flight, bool released, bool last) {
  WarpOrder *warp = flight->moment.view->warp;
  if (!warp || warp->time != flight->moment.time)
    return;
  if (released)
    order_move_on(warp);
  else if (last)
    warp->undecided = false;
}

/* What the words of the groups hand on is taken; returns which groups take an older value (race_older.h). */
static uint32_t take_words(Step *step, RaceFlight *flight) {
  RaceOrder *order = &step->watch->order;
  OlderValue older[G_N_ELEMENTS(step->group)];
  uint32_t taken = 0;
  /* All words are read with what the warp knows before any of them hands something on, which step->warp doesn't
   * outlive. */
  for (unsigned i = 0; i < step->groups; i++) {
    taken |= race_older_reads(step, &flight->moment, &step->group[i], &older[i]) ? 1u << i : 0;
    race_older_writes(step, &step->group[i]);
    race_validated_performed(step, &step->group[i]);
  }
  for (unsigned i = 0; i < step->groups; i++) {
    const Group *group = &step->group[i];
    WordRead read = read_of(step, group);
    if (taken >> i & 1)
      order_acquire_older(order, flight->moment.view, &read, &older[i]);
    else if (race_older_again(step, group))
      taken |= 1u << i;
    else if (takes(step, group))
      order_acquire_late(order, flight->moment.view, &read);
  }
  return taken;
}

/* step->warp: its warp as of the access, behind what it was handed before; `performed`: the cycle. Returns whether
 * something was handed on.
 */
static bool perform_words(Step *step, RaceFlight *flight, uint64_t performed) {
  RaceOrder *order = &step->watch->order;
  bool released = false;
  uint32_t older = take_words(step, flight);
  *step->warp = warp_moment_order(&flight->moment);
  for (unsigned i = 0; i < step->groups && step->strong; i++)
    perform_group(step, flight, &step->group[i]);
  for (unsigned i = 0; late_of(step) && i < step->groups && step->strong; i++) {
    LateAccess access = late_access(step, &step->group[i]);
    access.performed = performed;
    race_late_performed(step->watch->late, &access);
  }
  for (unsigned i = 0; i < step->groups; i++) {
    WordRead read = read_of(step, &step->group[i]);
    if (takes(step, &step->group[i]) && !(older >> i & 1))
      order_pass_fences(order, flight->moment.view, &read);
  }
  for (unsigned i = 0; i < step->groups; i++)
    if (release_group(step, &step->group[i], flight->handoff)) {
      if (flight->moment.view->warp)
        take_turns(step, &step->group[i], flight->moment.view->warp, flight->moment.view);
      released = true;
    }
  for (unsigned i = 0; i < step->groups && step->access->kind == ACCESS_WRITE && !step->strong && step->warp->fences;
       i++)
    shadow_end_chain(step->group[i].cell, step->group[i].bytes);
  return released;
}

bool race_issued_by(const RaceWatch *watch, uint64_t number, WarpOrder *then) {
  const RaceFlight *flight = race_flight_find(&watch->flights, number);
  if (flight)
    *then = warp_moment_order(&flight->moment);
  return flight != NULL;
}

ThreadId race_issuer(const RaceWatch *watch, uint64_t number) {
  WarpOrder then;
  return race_issued_by(watch, number, &then) ? then.base : THREAD_HOST;
}

void race_perform(RaceWatch *watch, const ProbePoint *point, const AccessPart *part) {
  RaceFlight *flight = race_flight_find(&watch->flights, part->number);
  if (!flight)
    return;
  ProbePoint at = *point;
  at.cycle = flight->cycle;
  RaceAccess access = {.address = part->address,
                       .lanes = point->lanes,
                       .bytes = part->bytes,
                       .space = part->shared ? SPACE_SHARED : SPACE_GLOBAL,
                       .kind = part->kind,
                       .data = part->data};
  WarpOrder then;
  Step step;
  bool released = false;
  race_words_begin(&step, watch, &at, &then, &access);
  step.number = part->number;
  uint32_t parts = MAX(access.bytes / 4, 1);
  for (; step.hands_over && step.part < parts; step.part++) { /* as above */
    then = warp_moment_order(&flight->moment);
    race_words_group(&step, access.lanes);
    race_reliance_check(&step, flight);
  }
  for (step.part = 0; step.part < parts; step.part++) {
    then = warp_moment_order(&flight->moment);
    race_words_group(&step, access.lanes);
    released |= perform_words(&step, flight, point->cycle);
  }
  if (is_undecided(&step))
    decide(flight, released, part->last);
  race_words_tell(&step, &flight->moment);
  tell_later(watch);
  if (part->last) {
    race_flight_land(&watch->flights, &watch->order, part->number);
    race_settle(watch, false);
  }
}
