#include "sim/detect/race/race.h"

#include "sim/detect/race/polling.h"
#include "sim/detect/race/race_order.h"
#include "sim/detect/race/race_report.h"
#include "sim/detect/race/shadow.h"

enum { RACES_MAX = 8 };

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
  RaceOrder order;
  GArray *polls;       /* bool *, of each launch: its kernel's polling loads, borrowed */
  GHashTable *kernels; /* Kernel * -> bool *, or NULL */
  bool flags[2];       /* some kernel polls that AccessSpace */
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

static bool is_ptx(const Launch *launch) { return launch->program->dialect == DIALECT_PTX; }

/* Finds the polling loads of launches that are new. PTX says itself what is volatile. */
static void find_polls(RaceDetector *detector) {
  for (guint i = detector->polls->len; i < detector->gpu->launches->len; i++) {
    const Kernel *kernel = gpu_launch(detector->gpu, i)->kernel;
    gpointer polls = NULL;
    if (!is_ptx(gpu_launch(detector->gpu, i)) &&
        !g_hash_table_lookup_extended(detector->kernels, kernel, NULL, &polls)) {
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
    barrier_order_reset(&barriers[id]);
  find_polls(detector);
  for (uint32_t i = 0; i < block->warps; i++)
    order_start_warp(&detector->order, &sm_order(detector, point->sm)->warps[block->warp_slot[i]], block, i,
                     is_ptx(block->launch));
  for (uint32_t word = block->shared_base / 4; word < (block->shared_base + block->shared_bytes + 3) / 4; word++) {
    Cell *cell = shadow_cell(&detector->shared, shared_word(point->sm, word));
    if (!cell)
      continue;
    if (cell->raced)
      race_report_settle(&detector->report, SPACE_SHARED, shared_word(point->sm, word));
    handoff_drop(&detector->order.handoffs, cell->handed);
    shadow_forget(&detector->shared, cell);
  }
}

static void barrier_arrive(void *user, const ProbePoint *point, uint32_t id, bool waits) {
  RaceDetector *detector = user;
  BarrierOrder *barrier = &sm_order(detector, point->sm)->barriers[point->block->slot][id];
  barrier->counted = (point->inst->flags & INST_HAS_COUNT) != 0;
  order_arrive(barrier, warp_order(detector, point));
}

static void barrier_complete(void *user, const ProbePoint *point, uint32_t id, uint32_t arrived, uint32_t waiting) {
  RaceDetector *detector = user;
  const Block *block = point->block;
  SmOrder *sm = sm_order(detector, point->sm);
  BarrierOrder *barrier = &sm->barriers[block->slot][id];
  for (uint32_t rest = barrier->counted ? 0 : block->finished; rest; rest &= rest - 1)
    order_join_barrier(barrier, &sm->warps[block->warp_slot[__builtin_ctz(rest)]]);
  for (uint32_t rest = waiting; rest; rest &= rest - 1)
    order_leave_barrier(&detector->order, barrier, &sm->warps[block->warp_slot[__builtin_ctz(rest)]]);
  barrier_order_reset(barrier);
}

/* The bits of these lanes' words: the warp knows what was handed on with them. */
static void acquire_bits(RaceDetector *detector, const ProbePoint *point, const uint64_t address[32],
                         uint32_t lanes) {
  WarpOrder *warp = warp_order(detector, point);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[__builtin_ctz(rest)]);
    order_learn(&detector->order, warp, &sm_order(detector, point->sm)->bits[bit]);
  }
}

static void release_bits(RaceDetector *detector, const ProbePoint *point, const uint64_t address[32]) {
  WarpOrder *warp = warp_order(detector, point);
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[__builtin_ctz(rest)]);
    vclock_join(&sm_order(detector, point->sm)->bits[bit], &warp->clock);
  }
  order_move_on(warp);
}

static void fence(void *user, const ProbePoint *point) {
  order_fence(warp_order(user, point), point->inst, point->lanes);
}

static void warp_sync(void *user, const ProbePoint *point) {
  order_warp_sync(warp_order(user, point), point->lanes, point->warp->alive);
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
  AccessStrength strong;
  bool hands_over; /* atomic, volatile or stronger */
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

/* What is asked of the accesses of a group. */
typedef struct Question {
  const Step *step;
  const Group *group;
} Question;

static bool is_before(const void *user, const Access *earlier) {
  const Question *question = user;
  const Step *step = question->step;
  return order_is_before(&step->detector->order, step->warp, question->group->lanes, earlier, false);
}

static bool is_same_block(const void *user, const Access *earlier) {
  const Step *step = ((const Question *)user)->step;
  return order_same_block(&step->detector->order, step->warp, earlier);
}

static RaceCause cause_of(const Step *step, const Group *group, const Access *earlier) {
  const WarpOrder *warp = step->warp;
  bool of_host = thread_is_host(g_array_index(step->detector->order.actors, ThreadId, earlier->actor));
  if (warp->was_handed && (!earlier->strong || of_host) &&
      order_is_before(&step->detector->order, warp, group->lanes, earlier, true))
    return order_is_pending(warp, earlier) ? RACE_NO_ACQUIRE : RACE_NO_RELEASE;
  if (step->strong && earlier->strong)
    return RACE_SCOPES;
  return earlier->actor == warp->actor ? RACE_LANES : RACE_UNORDERED;
}

static void add_race(Step *step, const Group *group, const RaceEnd *first, bool write, const Access *earlier) {
  group->cell->raced = 1;
  for (unsigned i = 0; i < step->races; i++) {
    Race *known = &step->race[i];
    if (known->first.pc == first->pc && thread_equal(known->first.base, first->base)) {
      known->lanes |= group->lanes;
      known->first.lanes |= first->lanes;
      return;
    }
  }
  if (step->races < RACES_MAX)
    step->race[step->races++] = (Race){.first = *first,
                                       .cause = earlier ? cause_of(step, group, earlier) : RACE_IN_INSTRUCTION,
                                       .handed = step->warp->handed,
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
      add_race(step, group, &self, true, NULL);
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
  Question question = {step, group};
  AccessOrder order = {
      .user = &question, .before = is_before, .same_block = is_same_block, .by_lanes = step->warp->lanes[0] != NULL};
  Shadow *shadow = step->space == SPACE_SHARED ? &detector->shared : &detector->global;
  unsigned races = shadow_add(shadow, group->cell, &access, &order, found, RACES_MAX);
  for (unsigned i = 0; i < races; i++) {
    RaceEnd first = {.base = g_array_index(detector->order.actors, ThreadId, found[i].actor),
                     .lanes = found[i].lanes,
                     .pc = found[i].pc,
                     .cycle = found[i].cycle,
                     .write = found[i].write,
                     .strong = found[i].strong};
    add_race(step, group, &first, access.write, &found[i]);
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
    order_release(&step->detector->order, step->warp, group->cell, group->word, step->point->inst, step->point->pc);
  else if (step->detector->flags[step->space])
    order_hand_on(&step->detector->order, step->warp, group->cell);
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
      order_acquire(&step->detector->order, step->warp, group->cell, step->point->inst, step->point->pc,
                    group->lanes);
  }
  for (unsigned i = 0; i < step->groups; i++)
    if (!step->group[i].cell->flag)
      record(step, &step->group[i]);
  for (unsigned i = 0; i < step->groups; i++)
    released |= release_group(step, &step->group[i]);
  if (released)
    order_move_on(step->warp);
}

/* Of a single load or store; atomics are strong. In shared memory block scope is all there is. */
static AccessStrength strength(const ProbePoint *point, AccessSpace space, AccessKind kind) {
  const Inst *inst = point->inst;
  bool is_volatile = inst->cache == CACHE_CV || inst->cache == CACHE_WT || inst->sem == SEM_VOLATILE;
  if (kind != ACCESS_ATOMIC && inst->sem == SEM_WEAK && !is_volatile)
    return ACCESS_WEAK;
  return inst->scope == SCOPE_CTA && !is_volatile && space == SPACE_GLOBAL ? ACCESS_STRONG_IN_BLOCK : ACCESS_STRONG;
}

static void memory_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                          const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock) {
  RaceDetector *detector = user;
  bool lock = point->inst->op == OP_LDSLK;
  AccessStrength strong = strength(point, space, kind);
  uint32_t lanes = lock ? taken : point->lanes;
  const bool *polls = g_array_index(detector->polls, const bool *, point->block->launch->index);
  Step step = {.detector = detector,
               .point = point,
               .warp = warp_order(detector, point),
               .address = address,
               .space = space,
               .kind = kind,
               .strong = lock || unlock ? ACCESS_STRONG : strong,
               .hands_over = strong != ACCESS_WEAK,
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

/* ---- the host ---- */

/* Each of its accesses is volatile, and release and acquire: compilers and CPUs keep them in order. In Fermi code what it
 * looks at is a flag. */
static void host_access(RaceDetector *detector, const HostPoint *point, HostDeed deed) {
  static const Inst insts[] = {
      [HOST_READS] = {.op = OP_LD, .sem = SEM_ACQUIRE, .scope = SCOPE_SYS},
      [HOST_WRITES] = {.op = OP_ST, .sem = SEM_RELEASE, .scope = SCOPE_SYS},
      [HOST_ADDS] = {.op = OP_ATOM, .mode = ATOM_ADD, .sem = SEM_ACQ_REL, .scope = SCOPE_SYS},
  };
  static const AccessKind kinds[] = {
      [HOST_READS] = ACCESS_READ, [HOST_WRITES] = ACCESS_WRITE, [HOST_ADDS] = ACCESS_ATOMIC};
  uint64_t address[WARP_LANES] = {point->address};
  ProbePoint access = {.gpu = point->gpu, .inst = &insts[deed], .pc = point->step, .lanes = 1, .cycle = point->cycle};
  Step step = {.detector = detector,
               .point = &access,
               .warp = &detector->order.host,
               .address = address,
               .space = SPACE_GLOBAL,
               .kind = kinds[deed],
               .strong = ACCESS_STRONG,
               .hands_over = true,
               .polls = !detector->order.host.fences,
               .bytes = 4};
  make_groups(&step, 1);
  access_words(&step);
  for (unsigned i = 0; i < step.races; i++)
    race_report_add(&detector->report, &access, &step.race[i]);
}

static void host_does(void *user, const HostPoint *point, HostDeed deed) {
  RaceDetector *detector = user;
  if (!detector->order.started)
    order_start_host(&detector->order, point->gpu->launches->len && is_ptx(gpu_launch(point->gpu, 0)));
  if (deed == HOST_STARTS)
    order_host_starts(&detector->order, point->launch);
  else if (deed == HOST_AWAITED)
    order_host_awaited(&detector->order, point->launch);
  else
    host_access(detector, point, deed);
}

/* ---- life ---- */

RaceDetector *race_detector_new(Gpu *gpu, GPtrArray *findings) {
  RaceDetector *detector = g_new0(RaceDetector, 1);
  detector->gpu = gpu;
  detector->probe = (Probe){.user = detector,
                            .access = memory_access,
                            .host = host_does,
                            .fence = fence,
                            .warp_sync = warp_sync,
                            .barrier_arrive = barrier_arrive,
                            .barrier_complete = barrier_complete,
                            .block_start = block_start};
  detector->sm_count = gpu->machine->gpu.sms;
  detector->bit_count = gpu->machine->sm.lock_unit.bits;
  detector->sms = g_new0(SmOrder *, detector->sm_count);
  race_order_init(&detector->order, gpu);
  detector->polls = g_array_new(FALSE, FALSE, sizeof(bool *));
  detector->kernels = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
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
    warp_order_clear(&sm->warps[i]);
  for (unsigned slot = 0; slot < SM_BLOCKS_MAX; slot++)
    for (unsigned id = 0; id < BLOCK_BARRIERS; id++)
      barrier_order_clear(&sm->barriers[slot][id]);
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
  race_order_clear(&detector->order);
  g_array_free(detector->polls, TRUE);
  g_hash_table_destroy(detector->kernels);
  shadow_clear(&detector->shared);
  shadow_clear(&detector->global);
  race_report_clear(&detector->report);
  g_free(detector);
}
