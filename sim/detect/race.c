#include "sim/detect/race.h"

#include "sim/detect/handoff.h"
#include "sim/detect/polling.h"
#include "sim/detect/race_report.h"
#include "sim/detect/shadow.h"
#include "sim/detect/vclock.h"

/* Words that have a clock of their own for what their strong writes hand on; further words share these clocks. */
enum { RELEASED_MAX = 4096, RACES_MAX = 8 };

/* A warp that is resident, or was last in its slot. */
typedef struct WarpOrder {
  VClock clock;
  uint32_t actor, time; /* its own entry in the clock */
  uint32_t handoff;     /* what it has handed on since it last learned something; 0: nothing */
} WarpOrder;

typedef struct BarrierOrder {
  VClock arrived;
  bool counted;
} BarrierOrder;

typedef struct SmOrder {
  WarpOrder warps[SM_WARPS_MAX];
  BarrierOrder barriers[SM_BLOCKS_MAX][BLOCK_BARRIERS];
  VClock *bits; /* what the STSULs of each lock bit handed on */
} SmOrder;

struct RaceDetector {
  Probe probe;
  const Gpu *gpu;
  SmOrder **sms; /* made when their first block comes */
  uint32_t sm_count, bit_count;
  GArray *actors;      /* ThreadId of lane 0 of each warp that was started */
  GArray *released;    /* VClock */
  GArray *polls;       /* bool *, of each launch: its kernel's polling loads, borrowed */
  GHashTable *kernels; /* Kernel * -> bool *, or NULL */
  bool flags[2];       /* some kernel polls that AccessSpace */
  HandOffs handoffs;
  Shadow shared, global;
  RaceReport report;
};

/* ---- order ---- */

static SmOrder *sm_order(RaceDetector *detector, const Sm *sm) {
  SmOrder **order = &detector->sms[sm->index];
  if (!*order) {
    *order = g_new0(SmOrder, 1);
    (*order)->bits = g_new0(VClock, detector->bit_count);
  }
  return *order;
}

static WarpOrder *warp_order(RaceDetector *detector, const ProbePoint *point) {
  return &sm_order(detector, point->sm)->warps[point->warp->slot];
}

/* The pinned actor whose time is the index of the newest launch of a stream that has begun: all before it are done. */
static uint32_t stream_actor(const Gpu *gpu, const Launch *launch) {
  uint32_t first = 0;
  while (gpu_launch(gpu, first)->stream != launch->stream)
    first++;
  return VCLOCK_PINNED + first;
}

/* The warp knows what `clock` knows. */
static void learn(RaceDetector *detector, WarpOrder *warp, const VClock *clock) {
  vclock_join(&warp->clock, clock);
  handoff_drop(&detector->handoffs, warp->handoff);
  warp->handoff = 0;
}

/* After a release: what the warp does from now on wasn't handed on. */
static void move_on(WarpOrder *warp) { vclock_advance(&warp->clock, warp->actor, ++warp->time); }

typedef struct Order {
  const RaceDetector *detector;
  const VClock *clock;
} Order;

static bool is_before(const void *user, const Access *earlier) {
  const Order *order = user;
  if (vclock_knows(order->clock, earlier->actor, earlier->time))
    return true;
  const Gpu *gpu = order->detector->gpu;
  if (gpu->launches->len == 1)
    return false;
  const Launch *launch =
      gpu_launch(gpu, thread_launch(g_array_index(order->detector->actors, ThreadId, earlier->actor)));
  return vclock_time(order->clock, stream_actor(gpu, launch)) > launch->index;
}

static void start_warp(RaceDetector *detector, const ProbePoint *point, uint32_t warp_in_block) {
  const Block *block = point->block;
  WarpOrder *warp = &sm_order(detector, point->sm)->warps[block->warp_slot[warp_in_block]];
  ThreadId base = thread_id(block->launch->index, block->index, warp_in_block * WARP_LANES);
  warp->actor = detector->actors->len;
  warp->time = 0;
  handoff_drop(&detector->handoffs, warp->handoff);
  warp->handoff = 0;
  g_array_append_val(detector->actors, base);
  vclock_reset(&warp->clock);
  if (block->launch->index > 0)
    vclock_advance(&warp->clock, stream_actor(point->gpu, block->launch), block->launch->index);
  move_on(warp);
}

/* Finds the polling loads of launches that are new. */
static void find_polls(RaceDetector *detector) {
  for (guint i = detector->polls->len; i < detector->gpu->launches->len; i++) {
    const Kernel *kernel = gpu_launch(detector->gpu, i)->kernel;
    gpointer polls;
    if (!g_hash_table_lookup_extended(detector->kernels, kernel, NULL, &polls)) {
      polls = polling_loads(kernel);
      g_hash_table_insert(detector->kernels, (gpointer)kernel, polls);
    }
    g_array_append_val(detector->polls, polls);
    for (uint32_t pc = 0; polls && pc < kernel->ninsts; pc++)
      if (((const bool *)polls)[pc])
        detector->flags[op_info[kernel->insts[pc].op].unit == UNIT_SHARED ? SPACE_SHARED : SPACE_GLOBAL] = true;
  }
}

/* Words of shared memory by SM: one can hold far less than this many. */
static uint64_t shared_word(const Sm *sm, uint64_t word) { return (uint64_t)sm->index << 20 | word; }

static void block_start(void *user, const ProbePoint *point) {
  RaceDetector *detector = user;
  const Block *block = point->block;
  BarrierOrder *barriers = sm_order(detector, point->sm)->barriers[block->slot];
  for (uint32_t id = 0; id < BLOCK_BARRIERS; id++)
    vclock_reset(&barriers[id].arrived);
  find_polls(detector);
  for (uint32_t i = 0; i < block->warps; i++)
    start_warp(detector, point, i);
  for (uint32_t word = block->shared_base / 4; word < (block->shared_base + block->shared_bytes + 3) / 4; word++) {
    Cell *cell = shadow_cell(&detector->shared, shared_word(point->sm, word));
    if (!cell)
      continue;
    if (cell->raced)
      race_report_settle(&detector->report, SPACE_SHARED, shared_word(point->sm, word));
    handoff_drop(&detector->handoffs, cell->handed);
    shadow_forget(&detector->shared, cell);
  }
}

static void barrier_arrive(void *user, const ProbePoint *point, uint32_t id, bool waits) {
  (void)waits;
  RaceDetector *detector = user;
  WarpOrder *warp = warp_order(detector, point);
  BarrierOrder *barrier = &sm_order(detector, point->sm)->barriers[point->block->slot][id];
  barrier->counted = (point->inst->flags & INST_HAS_COUNT) != 0;
  vclock_join(&barrier->arrived, &warp->clock);
  move_on(warp);
}

static void barrier_complete(void *user, const ProbePoint *point, uint32_t id, uint32_t arrived, uint32_t waiting) {
  (void)arrived;
  RaceDetector *detector = user;
  const Block *block = point->block;
  SmOrder *sm = sm_order(detector, point->sm);
  BarrierOrder *barrier = &sm->barriers[block->slot][id];
  for (uint32_t rest = barrier->counted ? 0 : block->finished; rest; rest &= rest - 1)
    vclock_join(&barrier->arrived, &sm->warps[block->warp_slot[__builtin_ctz(rest)]].clock);
  for (uint32_t rest = waiting; rest; rest &= rest - 1)
    learn(detector, &sm->warps[block->warp_slot[__builtin_ctz(rest)]], &barrier->arrived);
  vclock_reset(&barrier->arrived);
}

/* The bits of these lanes' words: the warp knows what was handed on with them. */
static void acquire_bits(RaceDetector *detector, const ProbePoint *point, const uint64_t address[32],
                         uint32_t lanes) {
  WarpOrder *warp = warp_order(detector, point);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[__builtin_ctz(rest)]);
    learn(detector, warp, &sm_order(detector, point->sm)->bits[bit]);
  }
}

static void release_bits(RaceDetector *detector, const ProbePoint *point, const uint64_t address[32]) {
  WarpOrder *warp = warp_order(detector, point);
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[__builtin_ctz(rest)]);
    vclock_join(&sm_order(detector, point->sm)->bits[bit], &warp->clock);
  }
  move_on(warp);
}

/* From strong writes, and if the word is a flag from its newest plain store too. */
static void acquire_word(RaceDetector *detector, WarpOrder *warp, const Cell *cell) {
  if (cell->released)
    learn(detector, warp, &g_array_index(detector->released, VClock, cell->released - 1));
  if (cell->flag && handoff_take(&detector->handoffs, cell->handed, cell->handed_time, &warp->clock)) {
    handoff_drop(&detector->handoffs, warp->handoff);
    warp->handoff = 0;
  }
}

/* Words that share a clock can't forget what one of them handed on. */
static bool has_own_clock(const RaceDetector *detector) { return detector->released->len < RELEASED_MAX; }

/* A store ends what was handed on before, an atomic adds to it. */
static void release_word(RaceDetector *detector, const WarpOrder *warp, Cell *cell, uint64_t word, bool adds) {
  GArray *released = detector->released;
  if (!cell->released && released->len < RELEASED_MAX) {
    g_array_set_size(released, released->len + 1);
    cell->released = released->len;
  } else if (!cell->released) {
    cell->released = 1 + (uint32_t)(word % RELEASED_MAX);
  }
  VClock *clock = &g_array_index(released, VClock, cell->released - 1);
  if (adds || !has_own_clock(detector)) {
    vclock_join(clock, &warp->clock);
  } else {
    vclock_assign(clock, &warp->clock);
    handoff_drop(&detector->handoffs, cell->handed);
    cell->handed = 0;
  }
}

/* A plain store: whether the word is a flag may turn out only when somebody polls it. */
static void hand_on(RaceDetector *detector, WarpOrder *warp, Cell *cell) {
  if (!warp->handoff)
    warp->handoff = handoff_new(&detector->handoffs, warp->actor, &warp->clock);
  handoff_use(&detector->handoffs, warp->handoff);
  handoff_drop(&detector->handoffs, cell->handed);
  cell->handed = warp->handoff;
  cell->handed_time = warp->time;
  if (cell->released && has_own_clock(detector))
    vclock_reset(&g_array_index(detector->released, VClock, cell->released - 1));
}

/* ---- one access ---- */

/* Lanes of an instruction that touch one word. */
typedef struct Group {
  uint64_t word; /* address / 4 */
  uint32_t lanes, bytes;
  Cell *cell;
} Group;

typedef struct Step {
  RaceDetector *detector;
  const ProbePoint *point;
  WarpOrder *warp;
  const uint64_t *address;
  AccessSpace space;
  AccessKind kind;
  bool strong;
  bool hands_over; /* atomic or volatile */
  bool polls;      /* a polling load */
  uint32_t part;   /* which word of 64- and 128-bit accesses */
  uint32_t bytes;  /* of a lane in a word */
  Group group[WARP_LANES];
  unsigned groups;
  Race race[RACES_MAX];
  unsigned races;
} Step;

static uint32_t byte_mask(const Step *step, unsigned lane) {
  return ((1u << step->bytes) - 1) << (step->bytes < 4 ? step->address[lane] % 4 : 0);
}

static uint64_t word_number(const Step *step, const Group *group) {
  return step->space == SPACE_SHARED ? shared_word(step->point->sm, group->word) : group->word;
}

static void make_groups(Step *step, uint32_t lanes) {
  RaceDetector *detector = step->detector;
  step->groups = 0;
  while (lanes) {
    Group *group = &step->group[step->groups];
    *group = (Group){.word = step->address[__builtin_ctz(lanes)] / 4 + step->part};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      if (step->address[lane] / 4 + step->part != group->word)
        continue;
      group->lanes |= 1u << lane;
      group->bytes |= byte_mask(step, lane);
    }
    lanes &= ~group->lanes;
    Shadow *shadow = step->space == SPACE_SHARED ? &detector->shared : &detector->global;
    group->cell = shadow_cell(shadow, word_number(step, group));
    if (group->cell)
      step->groups++;
  }
}

/* The row of a register operand `b` that the access stores or compares with. */
static const uint32_t *data_row(const Step *step) {
  const Warp *warp = step->point->warp;
  int16_t slot = step->point->inst->b;
  return warp_operand(warp->regs, warp->consts, slot >= 0 ? (int16_t)(slot + (int16_t)step->part) : slot);
}

static uint32_t word_now(const Step *step, const Group *group) {
  if (step->space == SPACE_SHARED)
    return step->point->sm->shared.words[group->word];
  const BackingBuffer *buffer = backing_find(step->point->gpu->backing, group->word * 4, 4);
  return buffer ? buffer->data[group->word - buffer->base / 4] : 0;
}

static bool any_lane_has(const Step *step, const Group *group, uint32_t value, bool equal) {
  const uint32_t *row = data_row(step);
  for (uint32_t rest = group->lanes; rest; rest &= rest - 1)
    if ((row[__builtin_ctz(rest)] == value) == equal)
      return true;
  return false;
}

/* A CAS that no lane wins leaves the word alone, as does STSUL of what it holds. */
static bool writes(const Step *step, const Group *group) {
  const Inst *inst = step->point->inst;
  if (step->kind == ACCESS_READ)
    return false;
  if (inst->op == OP_STSUL)
    return any_lane_has(step, group, word_now(step, group), false);
  if (step->kind == ACCESS_ATOMIC && inst->mode == ATOM_CAS)
    return any_lane_has(step, group, word_now(step, group), true);
  return true;
}

static void add_race(Step *step, const Group *group, const RaceEnd *first, bool write) {
  group->cell->raced = 1;
  for (unsigned i = 0; i < step->races; i++) {
    Race *known = &step->race[i];
    if (known->first.pc == first->pc && known->first.base == first->base) {
      known->lanes |= group->lanes;
      known->first.lanes |= first->lanes;
      return;
    }
  }
  if (step->races < RACES_MAX)
    step->race[step->races++] = (Race){.first = *first,
                                       .space = step->space,
                                       .address = group->word * 4,
                                       .word = word_number(step, group),
                                       .lanes = group->lanes,
                                       .write = write,
                                       .strong = step->strong};
}

/* Lanes of one store that differ in a byte of one word. */
static void check_lanes(Step *step, const Group *group) {
  const uint32_t *row = data_row(step);
  uint32_t seen = 0, value = 0;
  for (uint32_t rest = group->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t mask = byte_mask(step, lane), bits = 0;
    for (unsigned byte = 0; byte < 4; byte++)
      bits |= (mask >> byte & 1) ? 0xffu << (8 * byte) : 0;
    uint32_t stored = row[lane] << (step->bytes < 4 ? 8 * (step->address[lane] % 4) : 0);
    if ((stored ^ value) & bits & seen) {
      RaceEnd self = {.base = warp_thread_base(step->point->block, step->point->warp),
                      .lanes = group->lanes,
                      .pc = step->point->pc,
                      .cycle = step->point->cycle,
                      .write = true};
      add_race(step, group, &self, true);
      return;
    }
    seen |= bits;
    value |= stored & bits;
  }
}

static void record(Step *step, Group *group) {
  RaceDetector *detector = step->detector;
  Access access = {.cycle = step->point->cycle,
                   .actor = step->warp->actor,
                   .time = step->warp->time,
                   .lanes = group->lanes,
                   .pc = step->point->pc,
                   .bytes = group->bytes,
                   .write = writes(step, group),
                   .strong = step->strong};
  Access found[RACES_MAX];
  Order order = {detector, &step->warp->clock};
  Shadow *shadow = step->space == SPACE_SHARED ? &detector->shared : &detector->global;
  unsigned races = shadow_add(shadow, group->cell, &access, is_before, &order, found, RACES_MAX);
  for (unsigned i = 0; i < races; i++) {
    RaceEnd first = {.base = g_array_index(detector->actors, ThreadId, found[i].actor),
                     .lanes = found[i].lanes,
                     .pc = found[i].pc,
                     .cycle = found[i].cycle,
                     .write = found[i].write,
                     .strong = found[i].strong};
    add_race(step, group, &first, access.write);
  }
  if (step->kind == ACCESS_WRITE && !step->strong && (group->lanes & (group->lanes - 1)))
    check_lanes(step, group);
}

static void make_flag(Step *step, const Group *group) {
  if (group->cell->raced && !group->cell->flag)
    race_report_withdraw(&step->detector->report, step->space, word_number(step, group));
  group->cell->flag = 1;
}

/* Returns whether something was handed on. */
static bool release_group(Step *step, const Group *group) {
  if (!writes(step, group))
    return false;
  if (step->hands_over)
    release_word(step->detector, step->warp, group->cell, group->word, step->kind == ACCESS_ATOMIC);
  else if (step->detector->flags[step->space])
    hand_on(step->detector, step->warp, group->cell);
  return step->hands_over || step->detector->flags[step->space];
}

/* All lanes together, since they are one warp to the next instruction. */
static void access_words(Step *step) {
  bool released = false;
  for (unsigned i = 0; i < step->groups; i++) {
    const Group *group = &step->group[i];
    if (step->polls)
      make_flag(step, group);
    if (step->kind != ACCESS_WRITE && (step->hands_over || group->cell->flag))
      acquire_word(step->detector, step->warp, group->cell);
  }
  for (unsigned i = 0; i < step->groups; i++)
    if (!step->group[i].cell->flag)
      record(step, &step->group[i]);
  for (unsigned i = 0; i < step->groups; i++)
    released |= release_group(step, &step->group[i]);
  if (released)
    move_on(step->warp);
}

static bool is_volatile(const Inst *inst) {
  return (inst->op == OP_LD && inst->cache == CACHE_CV) || (inst->op == OP_ST && inst->cache == CACHE_WT);
}

static void memory_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                          const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock) {
  RaceDetector *detector = user;
  bool lock = point->inst->op == OP_LDSLK, hands_over = kind == ACCESS_ATOMIC || is_volatile(point->inst);
  uint32_t lanes = lock ? taken : point->lanes;
  const bool *polls = g_array_index(detector->polls, const bool *, point->block->launch->index);
  Step step = {.detector = detector,
               .point = point,
               .warp = warp_order(detector, point),
               .address = address,
               .space = space,
               .kind = kind,
               .strong = lock || unlock || hands_over,
               .hands_over = hands_over,
               .polls = polls && polls[point->pc],
               .bytes = MIN(bytes, 4)};
  if (lock)
    acquire_bits(detector, point, address, taken);
  for (step.part = 0; step.part < MAX(bytes / 4, 1); step.part++) {
    make_groups(&step, lanes);
    access_words(&step);
  }
  if (unlock)
    release_bits(detector, point, address);
  for (unsigned i = 0; i < step.races; i++)
    race_report_add(&detector->report, point, &step.race[i]);
}

void race_detector_finish(RaceDetector *detector) { race_report_finish(&detector->report); }

/* ---- life ---- */

static void clear_clock(gpointer clock) { vclock_clear(clock); }

RaceDetector *race_detector_new(Gpu *gpu, GPtrArray *findings) {
  RaceDetector *detector = g_new0(RaceDetector, 1);
  detector->gpu = gpu;
  detector->probe = (Probe){.user = detector,
                            .access = memory_access,
                            .barrier_arrive = barrier_arrive,
                            .barrier_complete = barrier_complete,
                            .block_start = block_start};
  detector->sm_count = gpu->machine->gpu.sms;
  detector->bit_count = gpu->machine->sm.lock_unit.bits;
  detector->sms = g_new0(SmOrder *, detector->sm_count);
  detector->actors = g_array_new(FALSE, FALSE, sizeof(ThreadId));
  detector->released = g_array_new(FALSE, TRUE, sizeof(VClock));
  g_array_set_clear_func(detector->released, clear_clock);
  detector->polls = g_array_new(FALSE, FALSE, sizeof(bool *));
  detector->kernels = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  handoffs_init(&detector->handoffs);
  shadow_init(&detector->shared);
  shadow_init(&detector->global);
  race_report_init(&detector->report, findings);
  gpu_subscribe(gpu, &detector->probe);
  return detector;
}

static void sm_order_free(SmOrder *sm, uint32_t bits) {
  if (!sm)
    return;
  for (unsigned i = 0; i < SM_WARPS_MAX; i++)
    vclock_clear(&sm->warps[i].clock);
  for (unsigned slot = 0; slot < SM_BLOCKS_MAX; slot++)
    for (unsigned id = 0; id < BLOCK_BARRIERS; id++)
      vclock_clear(&sm->barriers[slot][id].arrived);
  for (uint32_t i = 0; i < bits; i++)
    vclock_clear(&sm->bits[i]);
  g_free(sm->bits);
  g_free(sm);
}

void race_detector_free(RaceDetector *detector) {
  if (!detector)
    return;
  for (uint32_t i = 0; i < detector->sm_count; i++)
    sm_order_free(detector->sms[i], detector->bit_count);
  g_free(detector->sms);
  g_array_free(detector->actors, TRUE);
  g_array_free(detector->released, TRUE);
  g_array_free(detector->polls, TRUE);
  g_hash_table_destroy(detector->kernels);
  handoffs_clear(&detector->handoffs);
  shadow_clear(&detector->shared);
  shadow_clear(&detector->global);
  race_report_clear(&detector->report);
  g_free(detector);
}
