#include "sim/detect/race/race_step.h"
#include "sim/core/look.h"

#include "sim/detect/race/polling.h"

enum { RACES_MAX = 8, GROUPS_MAX = WARP_LANES };

/* Lanes of an instruction that touch the same bytes of one word. */
typedef struct Group {
  uint64_t word; /* address / 4 */
  uint32_t lanes, bytes;
  Cell *cell;
} Group;

typedef struct Step {
  RaceWatch *watch;
  const ProbePoint *point;
  WarpOrder *warp;
  const RaceAccess *access;
  AccessStrength strong;
  bool hands_over; /* atomic, volatile or stronger */
  uint32_t part;   /* which word of 64- and 128-bit accesses */
  uint32_t bytes;  /* of a lane in a word */
  unsigned groups, races;
  Group group[GROUPS_MAX];
  Race race[RACES_MAX];
} Step;

static uint32_t byte_mask(const Step *step, unsigned lane) {
  return ((1u << step->bytes) - 1) << (step->bytes < 4 ? step->access->address[lane] % 4 : 0);
}

static uint64_t word_number(const Step *step, uint64_t word) {
  return step->access->space == SPACE_SHARED ? race_step_shared_word(step->point->sm, word) : word;
}

static Shadow *shadow_of(const Step *step) { return &step->watch->shadow[step->access->space]; }

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

static void make_groups(Step *step, uint32_t lanes) {
  const uint64_t *address = step->access->address;
  step->groups = 0;
  while (lanes) {
    unsigned first = (unsigned)__builtin_ctz(lanes);
    Group *group = &step->group[step->groups];
    *group = (Group){.word = address[first] / 4 + step->part, .bytes = byte_mask(step, first)};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      bool same = address[lane] / 4 + step->part == group->word && byte_mask(step, lane) == group->bytes;
      group->lanes |= same ? 1u << lane : 0;
    }
    lanes &= ~group->lanes;
    group->cell = shadow_cell(shadow_of(step), word_number(step, group->word));
    if (group->cell)
      step->groups++;
  }
  sort_groups(step);
}

/* ---- values ---- */

/* The row of a register operand `b` that the access stores or compares with. */
static const uint32_t *data_row(const Step *step) {
  const Warp *warp = step->point->warp;
  int16_t slot = step->point->inst->b;
  return warp_operand(warp->regs, warp->consts, slot >= 0 ? (int16_t)(slot + (int16_t)step->part) : slot);
}

static uint32_t word_now(const Step *step, const Group *group) {
  return step->access->space == SPACE_SHARED ? look_shared(step->point->sm, (uint32_t)group->word)
                                             : look_global(step->point->gpu, group->word * 4);
}

/* Some lane's operand is, or isn't, what the group's bytes hold. */
static bool any_lane_has_now(const Step *step, const Group *group, bool equal) {
  const uint32_t *row = data_row(step);
  unsigned shift = 8 * (unsigned)__builtin_ctz(group->bytes);
  uint32_t now = word_now(step, group) >> shift, mask = step->bytes < 4 ? (1u << 8 * step->bytes) - 1 : UINT32_MAX;
  for (uint32_t rest = group->lanes; rest; rest &= rest - 1)
    if ((((row[__builtin_ctz(rest)] ^ now) & mask) == 0) == equal)
      return true;
  return false;
}

/* A CAS that no lane wins leaves the word alone, as does STSUL of what it holds. */
static bool writes(const Step *step, const Group *group) {
  const Inst *inst = step->point->inst;
  if (step->access->kind == ACCESS_READ)
    return false;
  if (inst->op == OP_STSUL)
    return any_lane_has_now(step, group, false);
  if (step->access->kind == ACCESS_ATOMIC && inst->mode == ATOM_CAS)
    return any_lane_has_now(step, group, true);
  return true;
}

/* ---- races ---- */

/* What is asked of the accesses of some lanes. */
typedef struct Question {
  const Step *step;
  uint32_t lanes;
} Question;

static bool is_before(const void *user, const Access *earlier) {
  const Question *question = user;
  const Step *step = question->step;
  return order_is_before(&step->watch->order, step->warp, question->lanes, earlier, false) ||
         race_trial_orders(&step->watch->trial, &step->watch->order, step->warp, earlier);
}

static bool is_handed(const void *user, const Access *earlier) {
  const Question *question = user;
  const Step *step = question->step;
  return order_is_before(&step->watch->order, step->warp, question->lanes, earlier, true);
}

static Nearness nearness(const void *user, const Access *earlier) {
  const Step *step = ((const Question *)user)->step;
  return order_nearness(&step->watch->order, step->warp, earlier);
}

static AccessOrder order_for(const Step *step, const Question *question) {
  return (AccessOrder){.user = question,
                       .before = is_before,
                       .handed = is_handed,
                       .nearness = nearness,
                       .by_lanes = step->warp->lanes[0] != NULL,
                       .reads = step->access->kind != ACCESS_WRITE};
}

static Access access_of(const Step *step, uint32_t lanes, uint32_t bytes, bool write) {
  return (Access){.cycle = step->point->cycle,
                  .actor = step->warp->actor,
                  .time = step->warp->time,
                  .lanes = lanes,
                  .pc = step->point->pc,
                  .bytes = (uint8_t)bytes,
                  .write = write,
                  .strong = (uint8_t)step->strong};
}

static RaceEnd end_of(const Step *step, const Access *access) {
  return (RaceEnd){.base = g_array_index(step->watch->order.actors, ThreadId, access->actor),
                   .lanes = access->lanes,
                   .pc = access->pc,
                   .cycle = access->cycle,
                   .write = access->write,
                   .dropped = access->dropped,
                   .strong = access->strong != ACCESS_WEAK};
}

/* Of an access that the warp was handed. */
static RaceCause missing_fence(const Step *step, const Access *earlier) {
  const WarpOrder *warp = step->warp;
  if (order_is_pending(warp, earlier))
    return warp->was_fenced ? RACE_NARROW_ACQUIRE : RACE_NO_ACQUIRE;
  return order_is_too_narrow(&step->watch->order, warp, earlier) ? RACE_NARROW_RELEASE : RACE_NO_RELEASE;
}

static RaceCause cause_of(const Step *step, uint32_t lanes, const Access *earlier) {
  const WarpOrder *warp = step->warp;
  const RaceOrder *order = &step->watch->order;
  bool of_host = thread_is_host(g_array_index(order->actors, ThreadId, earlier->actor));
  if (warp->was_handed && (!earlier->strong || of_host) && order_is_before(order, warp, lanes, earlier, true))
    return missing_fence(step, earlier);
  if (step->strong && earlier->strong)
    return RACE_SCOPES;
  return earlier->actor == warp->actor ? RACE_LANES : RACE_UNORDERED;
}

/* `word` is touched by these lanes. Words that race in the same way count together as long as they follow each other. */
static void add_race(Step *step, uint64_t word, uint32_t words, uint32_t lanes, const RaceEnd *first, RaceCause cause,
                     bool write) {
  for (unsigned i = 0; i < step->races; i++) {
    Race *known = &step->race[i];
    if (known->first.pc != first->pc || (known->cause == RACE_SPECULATIVE) != (cause == RACE_SPECULATIVE) ||
        !thread_equal(known->first.base, first->base))
      continue;
    uint64_t end = known->address / 4 + known->words;
    if (end == word || (words == 1 && end - 1 == word)) { /* lanes may race for other bytes of the last one */
      known->words += end == word ? words : 0;
      known->lanes |= lanes;
      known->first.lanes |= first->lanes;
    }
    return;
  }
  if (step->races < RACES_MAX)
    step->race[step->races++] = (Race){.first = *first,
                                       .cause = cause,
                                       .handed = step->warp->handed,
                                       .fence_pc = step->warp->fence_pc,
                                       .space = step->access->space,
                                       .address = word * 4,
                                       .words = words,
                                       .word = word_number(step, word),
                                       .lanes = lanes,
                                       .perhaps_dropped = step->access->perhaps_dropped,
                                       .write = write,
                                       .strong = step->strong != ACCESS_WEAK};
}

/* Lanes of one store that differ in the bytes they share. */
static void check_lanes(Step *step, const Group *group) {
  const uint32_t *row = data_row(step);
  uint32_t mask = step->bytes < 4 ? (1u << 8 * step->bytes) - 1 : UINT32_MAX;
  for (uint32_t rest = group->lanes; rest; rest &= rest - 1) {
    if (((row[__builtin_ctz(rest)] ^ row[__builtin_ctz(group->lanes)]) & mask) == 0)
      continue;
    group->cell->raced = 1;
    RaceEnd self = {.base = step->warp->base,
                    .lanes = group->lanes,
                    .pc = step->point->pc,
                    .cycle = step->point->cycle,
                    .write = true};
    add_race(step, group->word, 1, group->lanes, &self, RACE_IN_INSTRUCTION, true);
    return;
  }
}

/* Lanes of a group; with `dropped` a select drops what they load. */
static void record_lanes(Step *step, Group *group, uint32_t lanes, bool dropped) {
  Access access = access_of(step, lanes, group->bytes, writes(step, group)), found[RACES_MAX];
  access.dropped = dropped;
  Question question = {step, lanes};
  AccessOrder order = order_for(step, &question);
  unsigned races = shadow_add(shadow_of(step), group->cell, &access, &order, found, RACES_MAX);
  for (unsigned i = 0; i < races; i++) {
    RaceEnd first = end_of(step, &found[i]);
    group->cell->raced = 1;
    RaceCause cause = dropped || first.dropped ? RACE_SPECULATIVE : cause_of(step, lanes, &found[i]);
    add_race(step, group->word, 1, lanes, &first, cause, access.write);
  }
}

static void record(Step *step, Group *group) {
  uint32_t dropped = step->strong ? 0 : group->lanes & step->access->dropped;
  if (dropped)
    record_lanes(step, group, dropped, true);
  if (group->lanes & ~dropped)
    record_lanes(step, group, group->lanes & ~dropped, false);
  if (step->access->kind == ACCESS_WRITE && !step->strong && (group->lanes & (group->lanes - 1)))
    check_lanes(step, group);
}

/* ---- rows ---- */

static uint32_t rotate_right(uint32_t bits, unsigned by) { return by ? bits >> by | bits << (32 - by) : bits; }

/* The words `touched` of the row of `first`, word i by lane (i - shift) % 32. False: the row has to be taken apart. */
static bool record_in_row(Step *step, uint64_t first, uint32_t touched, unsigned shift) {
  Row *row = shadow_row(shadow_of(step), word_number(step, first));
  if (!row)
    return true;
  if (row->cells)
    return false;
  uint32_t lanes = rotate_right(touched, shift);
  Access access = access_of(step, touched, 0xf, step->access->kind == ACCESS_WRITE), found[RACES_MAX];
  access.shift = (uint8_t)shift;
  Question question = {step, lanes};
  AccessOrder order = order_for(step, &question);
  unsigned races;
  if (!shadow_add_row(shadow_of(step), row, &access, &order, found, RACES_MAX, &races))
    return false;
  for (unsigned i = 0; i < races; i++) {
    uint32_t words = found[i].lanes, run = words >> __builtin_ctz(words);
    unsigned count = run == UINT32_MAX ? 32 : (unsigned)__builtin_ctz(~run);
    row->raced |= words;
    if (count < 32) /* the words that follow each other, from the first on */
      words &= ((1u << count) - 1) << __builtin_ctz(words);
    found[i].lanes = rotate_right(words, found[i].shift);
    RaceEnd end = end_of(step, &found[i]);
    uint32_t mine = rotate_right(words, shift);
    add_race(step, first + (unsigned)__builtin_ctz(words), count, mine, &end, cause_of(step, mine, &found[i]),
             access.write);
  }
  return true;
}

/* Returns the lanes whose words are in rows that were taken apart. Plain accesses to words that nobody may hand over, lane by
 * lane one after the other, lie in one row or two. */
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
  unsigned shift = (unsigned)(first / 4 % ROW_WORDS);
  uint64_t row = first / 4 - shift;
  uint32_t low = lanes << shift, high = shift ? lanes >> (32 - shift) : 0, left = 0;
  if (low && !record_in_row(step, row, low, shift))
    left |= low >> shift;
  if (high && !record_in_row(step, row + ROW_WORDS, high, shift))
    left |= high << (32 - shift);
  return left;
}

/* ---- accesses that rely on an order ---- */

/* A load that waits in a loop sees the write sooner or later. */
static bool waits(const Step *step) {
  const Kernel *kernel = step->point->block->launch->kernel;
  gpointer polls;
  if (!g_hash_table_lookup_extended(step->watch->waits, kernel, NULL, &polls)) {
    polls = polling_loads(kernel);
    g_hash_table_insert(step->watch->waits, (gpointer)kernel, polls);
  }
  return polls && ((const bool *)polls)[step->point->pc];
}

/* Hand-offs are kept by warps: what one lane hands on to another of its warp, or with the very store that it made, isn't known to
 * be what a third lane did. */
static bool may_be_of_another_lane(const Step *step, const Access *earlier, const RaceEnd *first) {
  return earlier->actor == step->warp->actor || first->pc == step->warp->handed.from;
}

/* Before the warp takes what the words hand on. */
static void check_reliance(Step *step) {
  if (!step->warp->fences || !step->warp->was_handed || step->access->kind != ACCESS_READ || !step->point->block)
    return;
  for (unsigned i = 0; i < step->groups; i++) {
    const Group *group = &step->group[i];
    uint32_t lanes = group->lanes & step->warp->handed_lanes;
    Access access = access_of(step, lanes, group->bytes, false), found;
    Question question = {step, lanes};
    AccessOrder order = order_for(step, &question);
    if (!lanes || !shadow_relies(group->cell, &access, &order, &found) || waits(step))
      continue;
    RaceEnd first = end_of(step, &found);
    if (!may_be_of_another_lane(step, &found, &first))
      add_race(step, group->word, 1, lanes, &first, missing_fence(step, &found), false);
  }
}

/* ---- hand-offs ---- */

static void make_flag(Step *step, const Group *group) {
  if (group->cell->raced && !group->cell->flag)
    race_report_withdraw(&step->watch->report, step->access->space, word_number(step, group->word));
  group->cell->flag = 1;
}

/* Returns whether something was handed on. */
static bool release_group(Step *step, const Group *group) {
  if (!writes(step, group))
    return false;
  if (step->hands_over)
    order_release(&step->watch->order, step->warp, group->cell, group->word, step->point->inst, step->point->pc);
  else if (step->watch->flags[step->access->space])
    order_hand_on(&step->watch->order, step->warp, group->cell);
  return step->hands_over || step->watch->flags[step->access->space];
}

/* All lanes together, since they are one warp to the next instruction. */
static void access_words(Step *step) {
  bool released = false;
  if (step->hands_over)
    check_reliance(step);
  for (unsigned i = 0; i < step->groups; i++) {
    const Group *group = &step->group[i];
    if (step->access->polls)
      make_flag(step, group);
    if (step->access->kind != ACCESS_WRITE && (step->hands_over || group->cell->flag))
      order_acquire(&step->watch->order, step->warp, group->cell, step->point->inst, step->point->pc, group->lanes);
  }
  for (unsigned i = 0; i < step->groups; i++)
    if (!step->group[i].cell->flag)
      record(step, &step->group[i]);
  for (unsigned i = 0; i < step->groups && step->access->kind != ACCESS_READ; i++)
    released |= release_group(step, &step->group[i]);
  if (released)
    order_move_on(step->warp);
}

/* Of a single load or store; atomics are strong. In shared memory block scope is all there is. */
static AccessStrength strength(const ProbePoint *point, const RaceAccess *access) {
  const Inst *inst = point->inst;
  bool is_volatile = inst->cache == CACHE_CV || inst->cache == CACHE_WT || inst->sem == SEM_VOLATILE;
  if (access->kind != ACCESS_ATOMIC && inst->sem == SEM_WEAK && !is_volatile)
    return ACCESS_WEAK;
  return access->space == SPACE_SHARED ? ACCESS_STRONG : (AccessStrength)(order_scope(inst) + 1);
}

void race_step(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access) {
  if (!access->lanes)
    return;
  Step step; /* not cleared: it is large, and its arrays are filled as far as they count */
  step.watch = watch;
  step.point = point;
  step.warp = warp;
  step.access = access;
  step.strong = strength(point, access);
  step.hands_over = step.strong != ACCESS_WEAK;
  if (access->locks)
    step.strong = ACCESS_STRONG;
  step.bytes = MIN(access->bytes, 4);
  step.part = 0;
  step.races = 0;
  uint32_t lanes = record_rows(&step);
  for (; lanes && step.part < MAX(access->bytes / 4, 1); step.part++) {
    make_groups(&step, lanes);
    access_words(&step);
  }
  for (unsigned i = 0; i < step.races; i++)
    race_report_add(&watch->report, point, &step.race[i]);
}
