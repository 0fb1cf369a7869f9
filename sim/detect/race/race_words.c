#include "sim/detect/race/race_words.h"

#include "base/wide.h"
#include "sim/core/look.h"
#include "sim/core/queue_unit.h"
#include "sim/detect/race/attempts.h"

/* ---- lanes ---- */

/* Of a single load or store; atomics are strong. In shared memory block scope is all there is. */
static AccessStrength strength(const ProbePoint *point, const RaceAccess *access) {
  const Inst *inst = point->inst;
  bool is_volatile = inst->cache == CACHE_CV || inst->cache == CACHE_WT || inst->sem == SEM_VOLATILE;
  if (access->kind != ACCESS_ATOMIC && inst->sem == SEM_WEAK && !is_volatile)
    return ACCESS_WEAK;
  return access->space == SPACE_SHARED ? ACCESS_STRONG : (AccessStrength)(order_scope(inst) + 1);
}

void race_words_begin(Step *step, RaceWatch *watch, const ProbePoint *point, WarpOrder *warp,
                      const RaceAccess *access) {
  step->watch = watch;
  step->point = point;
  step->warp = warp;
  step->access = access;
  step->strong = strength(point, access);
  step->number = 0;
  step->hands_over = step->strong != ACCESS_WEAK;
  if (access->locks)
    step->strong = ACCESS_STRONG;
  step->bytes = MIN(access->bytes, 4);
  step->part = 0;
  step->later = NULL;
  step->races = 0;
  step->behind = step->looks = false;
}

static uint32_t byte_mask(const Step *step, unsigned lane) {
  return ((1u << step->bytes) - 1) << (step->bytes < 4 ? step->access->address[lane] % 4 : 0);
}

uint64_t race_words_number(const Step *step, uint64_t word) {
  return step->access->space == SPACE_SHARED ? race_words_shared(step->point->sm, word) : word;
}

/* All of the lanes have the address of one of them. */
WIDE_CLONES static bool have_one_address(const uint64_t address[WARP_LANES], uint64_t one, uint32_t lanes) {
  uint32_t differ = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    differ |= address[lane] != one ? lane_bit[lane] : 0;
  return (differ & lanes) == 0;
}

/* Those of the lanes that touch the group's bytes. */
static uint32_t lanes_of(const Step *step, const Group *group, uint32_t lanes) {
  const uint64_t *address = step->access->address;
  uint32_t found = 0;
  if (have_one_address(address, address[__builtin_ctz(lanes)], lanes))
    return lanes;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    bool same = address[lane] / 4 + step->part == group->word && byte_mask(step, lane) == group->bytes;
    found |= same ? lane_bit[lane] : 0;
  }
  return found;
}

/* By words, so that those which follow each other are told together whatever lanes touch them. */
static void sort_groups(Step *step) {
  for (unsigned i = 1; i < step->groups; i++) {
    Group group = step->group[i];
    unsigned at = i;
    for (; at > 0 && step->group[at - 1].word > group.word; at--)
      step->group[at] = step->group[at - 1];
    step->group[at] = group;
  }
}

/* It writes some bytes of a word that hand on something, or will. */
static bool parts_word(const Step *step, const Group *group) {
  const Cell *cell = group->cell;
  return group->bytes != CELL_BYTES && step->access->kind != ACCESS_READ &&
         (step->hands_over || step->watch->flags[step->access->space] || cell->whole.released || cell->parts);
}

static void end_group(Step *step, Group *group) {
  uint64_t word = race_words_number(step, group->word);
  group->cell = shadow_cell(race_words_shadow(step), word);
  if (!group->cell)
    return;
  if (parts_word(step, group))
    order_part(&step->watch->order, group->cell, group->bytes, word);
  step->groups++;
}

/* Each of the lanes has a whole word of its own, behind that of the lane before. */
static bool words_rise(const Step *step, uint32_t lanes) {
  const uint64_t *address = step->access->address;
  if (step->bytes < 4)
    return false;
  uint64_t word = address[__builtin_ctz(lanes)] / 4;
  for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
    uint64_t next = address[__builtin_ctz(rest)] / 4;
    if (next <= word)
      return false;
    word = next;
  }
  return true;
}

void race_words_group(Step *step, uint32_t lanes) {
  const uint64_t *address = step->access->address;
  step->groups = 0;
  if (lanes && words_rise(step, lanes)) {
    for (; lanes; lanes &= lanes - 1) {
      Group *group = &step->group[step->groups];
      unsigned lane = (unsigned)__builtin_ctz(lanes);
      *group = (Group){.word = address[lane] / 4 + step->part, .bytes = 0xf, .lanes = lane_bit[lane]};
      end_group(step, group);
    }
    return;
  }
  while (lanes) {
    unsigned first = (unsigned)__builtin_ctz(lanes);
    Group *group = &step->group[step->groups];
    *group = (Group){.word = address[first] / 4 + step->part, .bytes = byte_mask(step, first)};
    group->lanes = lanes_of(step, group, lanes);
    lanes &= ~group->lanes;
    end_group(step, group);
  }
  sort_groups(step);
}

/* ---- values ---- */

/* The row of a part of register operand `b` that the access stores or compares with. */
static const uint32_t *part_row(const Step *step, uint32_t part) {
  if (step->access->data)
    return step->access->data[part];
  const Warp *warp = step->point->warp;
  int16_t slot = step->point->inst->b;
  return warp_operand(warp->regs, warp->consts, slot >= 0 ? (int16_t)(slot + (int16_t)part) : slot);
}

static const uint32_t *data_row(const Step *step) { return part_row(step, step->part); }

static uint32_t word_at(const Step *step, uint64_t word) {
  if (step->access->space == SPACE_GLOBAL)
    return look_global(step->point->gpu, word * 4);
  const Sm *sm = &step->point->gpu->sms[remote_sm(4 * word, step->point->sm->index)];
  return look_shared(sm, (uint32_t)(4 * word) / 4);
}

static uint32_t word_now(const Step *step, const Group *group) { return word_at(step, group->word); }

/* The lanes whose operand is `now` in those bits. */
WIDE_CLONES static uint32_t lanes_that_have(const uint32_t row[WARP_LANES], uint32_t now, uint32_t bits) {
  uint32_t found = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    found |= ((row[lane] ^ now) & bits) == 0 ? lane_bit[lane] : 0;
  return found;
}

/* The lanes of the group whose operand is what all bytes hold that they access, those of other parts, too. */
static uint32_t lanes_alike(const Step *step, const Group *group) {
  uint32_t lanes = group->lanes, parts = step->access->bytes / 4;
  unsigned shift = 8 * (unsigned)__builtin_ctz(group->bytes);
  if (parts < 2) {
    uint32_t mask = step->bytes < 4 ? (1u << 8 * step->bytes) - 1 : UINT32_MAX;
    return lanes & lanes_that_have(data_row(step), word_now(step, group) >> shift, mask);
  }
  for (uint32_t part = 0; part < parts; part++)
    lanes &= lanes_that_have(part_row(step, part), word_at(step, group->word - step->part + part), UINT32_MAX);
  return lanes;
}

/* The lanes' operations, one after the other, on the queue whose part the group's word is: true if one changes it. */
static bool queue_writes(const Step *step, const Group *group) {
  uint64_t address = step->access->address[__builtin_ctz(group->lanes)];
  const Inst *inst = step->point->inst;
  uint32_t word = look_global(step->point->gpu, address);
  for (uint32_t rest = group->lanes; rest; rest &= rest - 1) {
    QueueStep next = queue_unit_step(inst, word, step->access->bytes);
    if (next.done && (step->part == 0 || (inst->op == OP_ENQUEUE && next.slot == step->part)))
      return true;
    word = next.word;
  }
  return false;
}

bool race_words_is_in_vain(const Step *step, const Group *group) {
  const Inst *inst = step->point->inst;
  if (!attempts_has(inst))
    return false;
  uint32_t alike = lanes_alike(step, group);
  return inst->mode == ATOM_CAS ? !alike : alike == group->lanes;
}

bool race_words_writes(const Step *step, const Group *group) {
  const Inst *inst = step->point->inst;
  if (step->access->kind == ACCESS_READ)
    return false;
  if (queue_unit_has(inst))
    return queue_writes(step, group);
  if (inst->op == OP_STSUL || inst->op == OP_STSCUL)
    return lanes_alike(step, group) != group->lanes;
  if (step->access->kind == ACCESS_ATOMIC && inst->mode == ATOM_CAS)
    return lanes_alike(step, group) != 0;
  return true;
}

/* Row `part` of what a compare-and-swap stores. */
static const uint32_t *swap_row(const Step *step, uint32_t part) {
  if (step->access->data)
    return step->access->data[ACCESS_PART_SWAPS + part];
  const Warp *warp = step->point->warp;
  int16_t slot = step->point->inst->c;
  return warp_operand(warp->regs, warp->consts, slot >= 0 ? (int16_t)(slot + (int16_t)part) : slot);
}

/* The lanes' compare-and-swaps, one after the other. */
static uint32_t swapping_lanes(const Step *step, const Group *group) {
  uint32_t found = 0, now[4], parts = MAX(step->access->bytes / 4, 1);
  uint32_t mask = step->bytes < 4 ? (1u << 8 * step->bytes) - 1 : UINT32_MAX;
  unsigned shift = 8 * (unsigned)__builtin_ctz(group->bytes);
  for (uint32_t part = 0; part < parts; part++)
    now[part] = word_at(step, group->word - step->part + part) >> (parts > 1 ? 0 : shift);
  for (uint32_t rest = group->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    bool same = true;
    for (uint32_t part = 0; part < parts; part++)
      same &= ((part_row(step, part)[lane] ^ now[part]) & mask) == 0;
    for (uint32_t part = 0; part < parts && same; part++)
      now[part] = swap_row(step, part)[lane];
    found |= same ? lane_bit[lane] : 0;
  }
  return found;
}

uint32_t race_words_writers(const Step *step, const Group *group) {
  if (step->access->kind == ACCESS_ATOMIC && step->point->inst->mode == ATOM_CAS &&
      !queue_unit_has(step->point->inst))
    return swapping_lanes(step, group);
  return race_words_writes(step, group) ? group->lanes : 0;
}

/* ---- races ---- */

/* What the warp issued behind the step may have been performed before this is asked. */
static bool is_behind(const Step *step, const Access *access) {
  return access->actor == step->warp->actor && access->cycle > step->point->cycle;
}

static bool is_read_only(const Step *step) {
  const Inst *inst = step->point->inst;
  return step->access->kind == ACCESS_READ && inst->op == OP_LD && inst->flags & INST_READ_ONLY && step->warp->fences;
}

bool race_words_breaks_read_only(const Step *step, const Access *earlier) {
  if (!earlier->write || !is_read_only(step))
    return false;
  ThreadId writer = g_array_index(step->watch->order.actors, ThreadId, earlier->actor);
  return !thread_is_host(writer) && writer.launch == step->warp->base.launch;
}

/* Each of the lanes took its turn behind all others of the atomic operation, and so observed what they wrote. */
static bool came_last(uint32_t lanes, const Access *earlier) {
  return earlier->in_turn && earlier->write && !earlier->flying &&
         lanes == lane_bit[WARP_LANES - 1 - __builtin_clz(earlier->lanes)];
}

static bool is_before(const void *user, const Access *earlier) {
  const Question *question = user;
  const Step *step = question->step;
  if (is_behind(step, earlier) || race_words_breaks_read_only(step, earlier))
    return false;
  if (earlier->actor == step->warp->actor && came_last(question->lanes, earlier))
    return true;
  return order_is_before(&step->watch->order, step->warp, question->lanes, earlier, false) ||
         race_trial_orders(&step->watch->trial, &step->watch->order, step->warp, earlier);
}

static bool is_handed(const void *user, const Access *earlier) {
  const Question *question = user;
  const Step *step = question->step;
  return order_is_before(&step->watch->order, step->warp, question->lanes, earlier, true);
}

static bool is_hidden(const void *user, const Access *earlier) {
  const Question *question = user;
  return order_is_hidden(&question->step->watch->order, question->step->warp, earlier);
}

static Nearness nearness(const void *user, const Access *earlier) {
  const Step *step = ((const Question *)user)->step;
  return order_nearness(&step->watch->order, step->warp, earlier);
}

AccessOrder race_words_order(const Step *step, const Question *question) {
  static const VClock nothing; /* each write is asked for */
  bool read_only = is_read_only(step);
  return (AccessOrder){.user = question,
                       .actor = step->warp->actor,
                       .clock = read_only ? &nothing : order_clock(&step->watch->order, step->warp, false),
                       .clock_has_all = order_clock_has_all(&step->watch->order) &&
                                        !race_trial_has_phases(&step->watch->trial) && !read_only,
                       .before = is_before,
                       .hidden = step->watch->order.holes.any ? is_hidden : NULL,
                       .handed = is_handed,
                       .nearness = nearness,
                       .farthest = step->point->gpu->host ? IN_ONE_SYSTEM : ON_ONE_GPU,
                       .by_lanes = step->warp->lanes[0] != NULL,
                       .reads = step->access->kind != ACCESS_WRITE};
}

Access race_words_access(const Step *step, uint32_t lanes, uint32_t bytes, bool write) {
  return (Access){.cycle = step->point->cycle,
                  .actor = step->warp->actor,
                  .time = step->warp->time,
                  .lanes = lanes,
                  .pc = step->point->pc,
                  .bytes = (uint8_t)bytes,
                  .write = write,
                  .in_turn = step->access->kind == ACCESS_ATOMIC &&
                             !order_tells_nothing(&step->watch->order, step->warp, step->point->inst),
                  .strong = (uint8_t)step->strong};
}

RaceEnd race_words_end(const Step *step, const Access *access) {
  return (RaceEnd){.base = g_array_index(step->watch->order.actors, ThreadId, access->actor),
                   .lanes = access->lanes,
                   .pc = access->pc,
                   .cycle = access->cycle,
                   .write = access->write,
                   .dropped = access->dropped,
                   .strong = access->strong != ACCESS_WEAK};
}

RaceCause race_words_missing_fence(const RaceOrder *order, const WarpOrder *warp, const Access *earlier) {
  if (earlier->actor == warp->actor) /* a fence of any scope does, and what is pending may be other lanes' */
    return !warp->was_fenced && order_is_too_narrow(order, warp, earlier) ? RACE_NO_ACQUIRE : RACE_NO_RELEASE;
  if (order_is_pending(warp, earlier))
    return warp->was_fenced ? RACE_NARROW_ACQUIRE : RACE_NO_ACQUIRE;
  if (order_is_taken_narrowly(order, warp, earlier))
    return RACE_NARROW_TAKE;
  return order_is_too_narrow(order, warp, earlier) ? RACE_NARROW_RELEASE : RACE_NO_RELEASE;
}

RaceCause race_words_cause(const RaceOrder *order, const WarpOrder *warp, uint32_t lanes, bool strong,
                           const Access *earlier) {
  bool of_host = thread_is_host(g_array_index(order->actors, ThreadId, earlier->actor));
  if (order_is_hidden(order, warp, earlier))
    return RACE_NO_SYNC;
  if (warp->was_handed && (!strong || !earlier->strong || of_host) &&
      order_is_before(order, warp, lanes, earlier, true))
    return race_words_missing_fence(order, warp, earlier);
  if (strong && earlier->strong)
    return RACE_SCOPES;
  return earlier->actor == warp->actor ? RACE_LANES : RACE_UNORDERED;
}

/* The thread that handed `with` on to this one, if it knows of it in the plain order only; NULL: there is none, or it
 * isn't known any more. */
static const WarpOrder *lacks_too(const RaceOrder *order, const HandOver *handed, const Access *with) {
  const WarpOrder *by = handed->released ? order_of_actor(order, handed->actor) : NULL;
  return by && by->fences && !thread_is_host(by->base) &&
                 order_clock_knows(order, order_clock(order, by, true), with) &&
                 !order_clock_knows(order, order_clock(order, by, false), with)
             ? by
             : NULL;
}

/* What lacks at a hand-off to `by`, which has gone on since. */
static RaceCause cause_between(const RaceOrder *order, const WarpOrder *by, const HandOver *handed,
                               const Access *with) {
  bool in_block = handed->given[IN_ONE_BLOCK] >= with->time, on_gpu = handed->given[ON_ONE_GPU] >= with->time;
  if (on_gpu || (in_block && order_nearness(order, by, with) == IN_ONE_BLOCK))
    return order_is_pending(by, with) ? RACE_NO_ACQUIRE : RACE_NARROW_TAKE;
  return in_block ? RACE_NARROW_RELEASE : RACE_NO_RELEASE;
}

/* Where the order breaks off: at the hand-off to the warp itself, or, if it came by way of other threads, at the one
 * to the first of them. False: that one, `*reader`, has read what the write `with` made of the word, and no fence
 * before the write would help. */
static bool locate_way(const RaceOrder *order, const WarpOrder *warp, const Access *with, Race *race,
                       const WarpOrder **reader) {
  enum { HOPS_MAX = 8 };
  race->handed = *order_handed_by(warp, with, race->lanes);
  race->taker = warp->base.launch;
  race->fence_pc = warp->fence_pc;
  const WarpOrder *by = warp;
  HandOver handed = race->handed;
  for (unsigned hops = 0; hops < HOPS_MAX && handed.actor != with->actor; hops++) {
    by = race->cause == RACE_NO_RELEASE ? lacks_too(order, &handed, with) : NULL;
    if (!by)
      return true;
    handed = *order_handed_by(by, with, ALL_LANES);
  }
  if (by == warp || handed.actor != with->actor)
    return true;
  *reader = by;
  if (with->write && with->strong && handed.time == with->time && handed.from == with->pc)
    return false;
  race->cause = cause_between(order, by, &handed, with);
  race->handed = handed;
  race->taker = by->base.launch;
  return true;
}

/* What stands behind a read comes after the strong write that it observes: where the first who was handed the write
 * has read it, the order breaks off behind that read. `cell`: of the word; NULL: it isn't known. */
static void locate_gap(const RaceOrder *order, const WarpOrder *warp, const Cell *cell, Race *race) {
  const WarpOrder *reader;
  Access read;
  if (locate_way(order, warp, &race->with, race, &reader) || !cell ||
      !shadow_first_read(cell, &race->with, reader->actor, &read))
    return;
  race->cause = race_words_missing_fence(order, warp, &read);
  locate_way(order, warp, &read, race, &reader);
}

void race_words_add(Step *step, uint64_t word, uint32_t words, const Access *own, const Access *with,
                    RaceCause cause) {
  RaceEnd first = race_words_end(step, with);
  for (unsigned i = 0; i < step->races; i++) {
    Race *known = &step->race[i];
    if (known->first.pc != first.pc || (known->cause == RACE_SPECULATIVE) != (cause == RACE_SPECULATIVE) ||
        !thread_equal(known->first.base, first.base))
      continue;
    uint64_t end = known->address / 4 + known->words;
    if (end - 1 == word && with->strong && known->with.cycle != with->cycle)
      continue;                                           /* one of the two may turn out to be ordered */
    if (end == word || (words == 1 && end - 1 == word)) { /* lanes may race for other bytes of the last one */
      known->words += end == word ? words : 0;
      known->lanes |= own->lanes;
      known->first.lanes |= first.lanes;
    }
    return;
  }
  if (step->races < RACES_MAX) {
    step->race[step->races] = (Race){.first = first,
                                     .with = *with,
                                     .cause = cause,
                                     .base = step->warp->base,
                                     .space = step->access->space,
                                     .address = word * 4,
                                     .words = words,
                                     .word = race_words_number(step, word),
                                     .lanes = own->lanes,
                                     .bytes = own->bytes,
                                     .perhaps_dropped = step->access->perhaps_dropped,
                                     .write = own->write,
                                     .omitted = order_is_omitted(step->warp, with),
                                     .strong = step->strong != ACCESS_WEAK};
    const Cell *cell = with->strong ? shadow_cell(race_words_shadow(step), step->race[step->races].word) : NULL;
    locate_gap(&step->watch->order, step->warp, cell, &step->race[step->races++]);
  }
}

void race_words_compare(Step *step, const Group *group) {
  const uint32_t *row = data_row(step);
  uint32_t mask = step->bytes < 4 ? (1u << 8 * step->bytes) - 1 : UINT32_MAX;
  for (uint32_t rest = group->lanes; rest; rest &= rest - 1) {
    if (((row[__builtin_ctz(rest)] ^ row[__builtin_ctz(group->lanes)]) & mask) == 0)
      continue;
    group->cell->whole.raced = 1;
    Access self = race_words_access(step, group->lanes, group->bytes, true);
    race_words_add(step, group->word, 1, &self, &self, RACE_IN_INSTRUCTION);
    return;
  }
}

/* ---- races that are held ---- */

/* The newest access of other warps that it comes behind, and that may observe what it races with; NULL: there is none. */
static const RaceFlight *reader_before(const Step *step, const Race *race) {
  const RaceWatch *watch = step->watch;
  if (!race->with.write || !race->with.strong)
    return NULL;
  return race_flight_newest(&watch->flights, &watch->order, step->warp->actor, race->lanes, step->point->cycle);
}

static bool is_held(const Step *step, const Race *race, const WarpMoment *moment) {
  bool relies = race->strong && race->first.strong && race->cause != RACE_SCOPES;
  return race->space == SPACE_GLOBAL && race->cause != RACE_IN_INSTRUCTION && race->cause != RACE_SPECULATIVE &&
         !relies && step->watch->held->len < HELD_MAX &&
         ((moment ? warp_moment_waits(moment) : warp_order_waits(step->warp)) || reader_before(step, race));
}

static void hold(const Step *step, const Race *race, const WarpMoment *moment) {
  HeldRace held = {.race = *race, .point = *step->point, .actor = step->warp->actor};
  held.point.block = NULL;
  held.point.warp = NULL;
  held.moment = moment ? warp_moment_share(moment) : warp_moment_take(&step->watch->order.views, step->warp, false);
  const RaceFlight *reader = reader_before(step, race);
  if (reader)
    held.behind = warp_moment_share(&reader->moment);
  g_array_append_val(step->watch->held, held);
}

void race_words_tell(const Step *step, const WarpMoment *moment) {
  for (unsigned i = 0; i < step->races; i++) {
    if (is_held(step, &step->race[i], moment))
      hold(step, &step->race[i], moment);
    else
      race_report_add(&step->watch->report, step->point, &step->race[i]);
  }
}

void race_words_performed(RaceWatch *watch, uint32_t number, uint32_t chain) {
  for (guint i = 0; i < watch->held->len; i++) {
    Access *with = &g_array_index(watch->held, HeldRace, i).race.with;
    if (!with->flying || with->chain != number)
      continue;
    with->flying = with->open = false;
    with->chain = chain;
  }
}

/* The warp waited for something that has observed it, or been handed it. */
static bool is_ordered_now(RaceWatch *watch, const HeldRace *held, WarpOrder *then) {
  const Race *race = &held->race;
  RaceAccess access = {.space = SPACE_GLOBAL, .kind = race->write ? ACCESS_WRITE : ACCESS_READ};
  Step step;
  race_words_begin(&step, watch, &held->point, then, &access);
  Question question = {&step, race->lanes};
  AccessOrder order = race_words_order(&step, &question);
  const Cell *cell = race->with.strong ? shadow_cell(race_words_shadow(&step), race->word) : NULL;
  return order.before(order.user, &race->with) || (cell && shadow_was_observed(cell, &race->with, &order));
}

static void tell_held(RaceWatch *watch, HeldRace *held) {
  WarpOrder then = warp_moment_order(&held->moment);
  Race *race = &held->race;
  if (held->observed || is_ordered_now(watch, held, &then))
    return;
  if (race->cause != RACE_READ_ONLY)
    race->cause = race_words_cause(&watch->order, &then, race->lanes, race->strong, &race->with);
  const Cell *cell = race->with.strong ? shadow_cell(&watch->shadow[race->space], race->word) : NULL;
  locate_gap(&watch->order, &then, cell, race);
  race_report_add(&watch->report, &held->point, race);
}

static bool others_read(RaceWatch *watch, HeldRace *held) {
  return race_flight_still_reads(&watch->flights, &watch->order, &held->behind, held->actor, held->race.lanes,
                                 held->point.cycle);
}

static void drop(RaceWatch *watch, HeldRace *held) {
  warp_moment_drop(&watch->order.views, &held->moment);
  if (held->behind.view)
    warp_moment_drop(&watch->order.views, &held->behind);
}

void race_words_settle(RaceWatch *watch, bool all) {
  guint kept = 0;
  for (guint i = 0; i < watch->held->len; i++) {
    HeldRace *held = &g_array_index(watch->held, HeldRace, i);
    if (!all && !held->observed && (warp_moment_waits(&held->moment) || others_read(watch, held))) {
      g_array_index(watch->held, HeldRace, kept++) = *held;
      continue;
    }
    tell_held(watch, held);
    drop(watch, held);
  }
  g_array_set_size(watch->held, kept);
}

void race_words_forget(RaceWatch *watch) {
  for (guint i = 0; i < watch->held->len; i++)
    drop(watch, &g_array_index(watch->held, HeldRace, i));
  for (guint i = 0; i < watch->readings->len; i++)
    warp_moment_drop(&watch->order.views, &g_array_index(watch->readings, HeldReading, i).before);
  g_array_free(watch->held, TRUE);
  g_array_free(watch->readings, TRUE);
}
