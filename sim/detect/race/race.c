#include "sim/detect/race/race.h"

#include "base/pages.h"
#include "sim/core/cluster.h"
#include "sim/detect/race/guesses.h"
#include "sim/detect/race/lock_step.h"
#include "sim/detect/race/lost_update.h"
#include "sim/detect/race/peer_exits.h"
#include "sim/detect/race/polling.h"
#include "sim/detect/race/race_observer.h"
#include "sim/detect/race/race_older.h"
#include "sim/detect/race/race_own.h"
#include "sim/detect/race/race_step.h"
#include "sim/detect/race/race_validated.h"
#include "sim/detect/race/speculation.h"
#include "sim/detect/race/stale_swap.h"

typedef struct SmOrder {
  WarpOrder warps[SM_WARPS_MAX];
  BarrierOrder barriers[SM_BLOCKS_MAX][BLOCK_BARRIERS];
  BarrierOrder passed[SM_BLOCKS_MAX]; /* what the newest phase of the cluster's barrier hands on */
  uint32_t warps_used; /* places of warps up to the last that some warp has had: the others aren't touched either */
  uint64_t
      taken; /* places of blocks that some block has had; the others' barriers aren't touched, and take no memory */
  VClock *bits; /* what the STSULs of each lock bit handed on */
} SmOrder;

struct RaceDetector {
  Probe probe;
  const Gpu *gpu;
  SmOrder **sms;                /* made when their first block comes */
  uint32_t sm_count, bit_count; /* kept, since the Gpu may go first */
  RaceWatch watch;
  GArray *polls;         /* bool *, of each launch: its kernel's polling loads, borrowed */
  GHashTable *kernels;   /* Kernel * -> bool *, or NULL */
  GHashTable *mbarriers; /* words of shared memory that some instruction of machine code arrived at as at a barrier */
  GArray *guesses;       /* bool *, of each launch of machine code: loads that are guesses (guesses.h), borrowed */
  PeerExits *exits;      /* NULL: a trial looks for something else */
  LockSteps *lock_steps; /* NULL: lanes run in lock-step, stores are late, or a trial is of an older value */
  StaleSwaps *swaps;     /* NULL: a trial looks for something else */
  LostUpdates *updates;  /* NULL: likewise, or stores are late, so that locks fail that lack a fence */
  GHashTable *guessing;  /* Kernel * -> bool *, or NULL */
  GArray *selections;    /* Speculation *, of each launch: of its kernel's loads, owned by `selected` */
  GHashTable *selected;  /* Kernel * -> Speculation *, or NULL */
};

/* ---- order ---- */

static SmOrder *sm_order(RaceDetector *detector, const Sm *sm) {
  SmOrder **order = &detector->sms[sm->index];
  if (!*order) {
    *order = PAGES_NEW(SmOrder, 1);
    (*order)->bits = g_new0(VClock, detector->bit_count);
  }
  return *order;
}

static WarpOrder *warp_order(RaceDetector *detector, const ProbePoint *point) {
  return &sm_order(detector, point->sm)->warps[point->warp->slot];
}

static bool is_ptx(const Launch *launch) { return launch->program->dialect == DIALECT_PTX; }

/* ---- barriers in shared memory ---- */

static bool arrives(const Launch *launch, const Inst *inst) { return inst_arrives(inst) && !is_ptx(launch); }

static gpointer word_key(uint64_t word) { return GSIZE_TO_POINTER((gsize)word + 1); }

/* Before sm_90 a plain load looks at a barrier's phase, wherever it stands. */
static bool looks_at_phase(const RaceDetector *detector, const ProbePoint *point, const RaceAccess *access) {
  uint64_t word = access->address[__builtin_ctz(access->lanes)] / 4;
  return access->kind == ACCESS_READ && access->space == SPACE_SHARED && g_hash_table_size(detector->mbarriers) &&
         g_hash_table_contains(detector->mbarriers, word_key(race_words_shared(point->sm, word)));
}

static void note_arrivals(RaceDetector *detector, const ProbePoint *point, const RaceAccess *access) {
  if (!arrives(point->block->launch, point->inst))
    return;
  for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {
    uint64_t word = race_words_shared(point->sm, access->address[__builtin_ctz(rest)] / 4);
    g_hash_table_add(detector->mbarriers, word_key(word));
    g_hash_table_add(detector->mbarriers, word_key(word + 1));
  }
}

typedef struct Words {
  uint64_t first, count;
} Words;

static gboolean is_among(gpointer key, gpointer value, gpointer user) {
  (void)value;
  const Words *words = user;
  return GPOINTER_TO_SIZE(key) - 1 - words->first < words->count;
}

/* ---- what machine code doesn't say ---- */

/* The instruction looks at flags. In a cluster an access by a generic address may be one of shared memory. */
static void note_flags(RaceDetector *detector, const Launch *launch, const Inst *inst) {
  bool shared = op_info[inst->op].unit == UNIT_SHARED;
  detector->watch.flags[shared ? SPACE_SHARED : SPACE_GLOBAL] = true;
  detector->watch.flags[SPACE_SHARED] |= launch->cluster_blocks > 1;
}

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
    for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
      if ((polls && ((const bool *)polls)[pc]) || arrives(gpu_launch(detector->gpu, i), &kernel->insts[pc]))
        note_flags(detector, gpu_launch(detector->gpu, i), &kernel->insts[pc]);
  }
}

/* In machine code the first load of a word that a compare-and-swap changes is one of ptxas's making, often: an atomic
 * operation on a half becomes one. */
static void find_guesses(RaceDetector *detector) {
  for (guint i = detector->guesses->len; i < detector->gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(detector->gpu, i);
    gpointer guesses = NULL;
    if (launch->program->dialect == DIALECT_MACHINE_CODE &&
        !g_hash_table_lookup_extended(detector->guessing, launch->kernel, NULL, &guesses)) {
      guesses = guesses_find(launch->kernel);
      g_hash_table_insert(detector->guessing, (gpointer)launch->kernel, guesses);
    }
    g_array_append_val(detector->guesses, guesses);
  }
}

/* Where the values of plain loads go, in the kernels of launches that are new. */
static void find_selections(RaceDetector *detector) {
  for (guint i = detector->selections->len; i < detector->gpu->launches->len; i++) {
    const Kernel *kernel = gpu_launch(detector->gpu, i)->kernel;
    gpointer selections;
    if (!g_hash_table_lookup_extended(detector->selected, kernel, NULL, &selections)) {
      selections = speculation_new(kernel);
      g_hash_table_insert(detector->selected, (gpointer)kernel, selections);
    }
    g_array_append_val(detector->selections, selections);
  }
}

typedef struct Forgetting {
  RaceDetector *detector;
  AccessSpace space;
} Forgetting;

/* What was said of races on words that now are others (of a block that has left, of memory that was freed) stays. */
static void forgotten(void *user, uint64_t word, Cell *cell, const Row *row) {
  const Forgetting *forgetting = user;
  RaceWatch *watch = &forgetting->detector->watch;
  if (cell && cell->whole.raced)
    race_report_settle(&watch->report, forgetting->space, word);
  for (uint32_t raced = row && !row->cells ? row->raced : 0; raced; raced &= raced - 1)
    race_report_settle(&watch->report, forgetting->space, word + (unsigned)__builtin_ctz(raced));
  if (cell)
    order_forget(&watch->order, cell);
}

static void forget_words(RaceDetector *detector, AccessSpace space, uint64_t first, uint64_t count) {
  Forgetting forgetting = {detector, space};
  shadow_forget(&detector->watch.shadow[space], first, count, forgotten, &forgetting);
}

static void block_start(void *user, const ProbePoint *point) {
  RaceDetector *detector = user;
  const Block *block = point->block;
  SmOrder *sm = sm_order(detector, point->sm);
  BarrierOrder *barriers = sm->barriers[block->slot];
  sm->taken |= UINT64_C(1) << block->slot;
  for (uint32_t id = 0; id < BLOCK_BARRIERS; id++)
    barrier_order_reset(&barriers[id]);
  barrier_order_reset(&sm->passed[block->slot]);
  find_polls(detector);
  find_guesses(detector);
  find_selections(detector);
  if (detector->swaps)
    stale_swaps_begin(detector->swaps, point->block->launch->kernel);
  if (detector->updates)
    lost_updates_begin(detector->updates, point->block->launch);
  for (uint32_t i = 0; i < block->warps; i++) {
    order_start_warp(&detector->watch.order, &sm->warps[block->warp_slot[i]], block, i, is_ptx(block->launch));
    sm->warps_used = MAX(sm->warps_used, block->warp_slot[i] + 1u);
  }
  uint64_t first = race_words_shared(point->sm, block->shared_base / 4);
  Words words = {first, (block->shared_bytes + 3) / 4};
  g_hash_table_foreach_remove(detector->mbarriers, is_among, &words);
  if (block->shared_bytes)
    forget_words(detector, SPACE_SHARED, words.first, words.count);
}

static void block_end(void *user, const ProbePoint *point) {
  RaceDetector *detector = user;
  if (detector->exits && point->block->cluster)
    peer_exits_block_ends(detector->exits, point, sm_order(detector, point->sm)->warps);
  if (detector->updates)
    lost_updates_end(detector->updates, point);
  order_end_block(&detector->watch.order, point->block, sm_order(detector, point->sm)->warps);
}

static void barrier_arrive(void *user, const ProbePoint *point, uint32_t id, bool waits) {
  RaceDetector *detector = user;
  BarrierOrder *barrier = &sm_order(detector, point->sm)->barriers[point->block->slot][id];
  barrier->counted = (point->inst->flags & INST_HAS_COUNT) != 0;
  lane_holes_end(&detector->watch.order.holes, warp_order(detector, point));
  order_end_fence(&detector->watch.order, warp_order(detector, point));
  order_end_attempts(&detector->watch.order, warp_order(detector, point));
  if (id == CLUSTER_BARRIER) {
    order_arrive_fenced(barrier, warp_order(detector, point));
    return;
  }
  order_bring_handed(barrier, warp_order(detector, point));
  order_arrive(barrier, warp_order(detector, point));
}

/* What any block brings to SYNCBLOCKS all of them know then. */
static void blocks_meet(void *user, const Gpu *gpu, const Launch *launch) {
  RaceDetector *detector = user;
  BarrierOrder all = {0};
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < gpu->used_sms; i++)
      for (uint32_t slot = 0; gpu->sms[i].ready && slot < gpu->machine->sm.max_blocks; slot++) {
        if (gpu->sms[i].blocks[slot].launch != launch)
          continue;
        BarrierOrder *barrier = &sm_order(detector, &gpu->sms[i])->barriers[slot][GRID_BARRIER];
        order_join_barriers(pass ? barrier : &all, pass ? &all : barrier);
      }
  barrier_order_clear(&all);
}

/* What a block's warps that have exited did comes before its barrier, too. */
static void join_exited(RaceDetector *detector, SmOrder *sm, const Block *block, BarrierOrder *barrier) {
  for (uint32_t rest = block->finished; rest; rest &= rest - 1) {
    WarpOrder *exited = &sm->warps[block->warp_slot[__builtin_ctz(rest)]];
    lane_holes_end(&detector->watch.order.holes, exited);
    order_end_attempts(&detector->watch.order, exited);
    order_join_barrier(barrier, exited);
  }
}

/* What any block brings to the barrier of its cluster all of them know then. */
static void cluster_meets(void *user, const Gpu *gpu, const Cluster *cluster) {
  RaceDetector *detector = user;
  BarrierOrder all = {0};
  (void)gpu;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < cluster->blocks; i++) {
      const Block *block = cluster->member[i].block;
      SmOrder *sm = sm_order(detector, cluster->member[i].sm);
      BarrierOrder *barrier = &sm->barriers[block->slot][CLUSTER_BARRIER];
      if (!pass)
        join_exited(detector, sm, block, barrier);
      order_join_barriers(pass ? barrier : &all, pass ? &all : barrier);
    }
  barrier_order_clear(&all);
}

/* The lanes had arrived at a phase that is over. */
static void cluster_pass(void *user, const ProbePoint *point) {
  RaceDetector *detector = user;
  const SmOrder *sm = sm_order(detector, point->sm);
  order_leave_barrier(&detector->watch.order, &sm->passed[point->block->slot], warp_order(detector, point));
}

static void barrier_complete(void *user, const ProbePoint *point, uint32_t id, uint32_t arrived, uint32_t waiting) {
  RaceDetector *detector = user;
  const Block *block = point->block;
  SmOrder *sm = sm_order(detector, point->sm);
  BarrierOrder *barrier = &sm->barriers[block->slot][id];
  if (!barrier->counted)
    join_exited(detector, sm, block, barrier);
  for (uint32_t rest = waiting; rest; rest &= rest - 1) {
    WarpOrder *warp = &sm->warps[block->warp_slot[__builtin_ctz(rest)]];
    order_take_handed(barrier, warp);
    order_leave_barrier(&detector->watch.order, barrier, warp);
  }
  if (id == CLUSTER_BARRIER) {
    barrier_order_reset(&sm->passed[block->slot]);
    order_join_barriers(&sm->passed[block->slot], barrier);
  }
  barrier_order_reset(barrier);
}

/* The bits of these lanes' words: the warp knows what was handed on with them. */
static void acquire_bits(RaceDetector *detector, const ProbePoint *point, const uint64_t address[32],
                         uint32_t lanes) {
  WarpOrder *warp = warp_order(detector, point);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[__builtin_ctz(rest)]);
    order_learn(&detector->watch.order, warp, &sm_order(detector, point->sm)->bits[bit],
                &sm_order(detector, point->sm)->bits[bit]);
  }
}

static void release_bits(RaceDetector *detector, const ProbePoint *point, const uint64_t address[32],
                         uint32_t lanes) {
  WarpOrder *warp = warp_order(detector, point);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[__builtin_ctz(rest)]);
    vclock_join(&sm_order(detector, point->sm)->bits[bit], &warp->clock);
  }
  order_move_on(warp);
}

static void fence(void *user, const ProbePoint *point) {
  RaceDetector *detector = user;
  WarpOrder *warp = warp_order(detector, point);
  if (point->gpu->machine->sm.convergence == CONVERGENCE_BARRIER) /* else its lanes fence at once */
    lane_holes_fence(warp, point->lanes);
  lane_holes_release(&detector->watch.order.holes, warp, point->lanes);
  order_end_fence(&detector->watch.order, warp);
  if (point->inst->sem == SEM_SC)
    order_fence_strictly(warp, order_scope(point->inst));
  order_fence(warp, order_scope(point->inst), point->pc, point->lanes);
}

static void warp_sync(void *user, const ProbePoint *point) {
  order_warp_sync(warp_order(user, point), point->lanes, point->warp->alive);
}

/* ---- accesses ---- */

/* What the access says of a plain load whose value only a select takes. */
static void look_for_select(const RaceDetector *detector, const ProbePoint *point, RaceAccess *access) {
  const Launch *launch = point->block->launch;
  Speculation *selections = g_array_index(detector->selections, Speculation *, launch->index);
  if (!selections || access->kind != ACCESS_READ)
    return;
  access->dropped = speculation_dropped(selections, point, &access->perhaps_dropped) & access->lanes;
}

static bool looks_for_updates(const RaceDetector *detector) {
  return detector->updates && lost_updates_wants(detector->updates);
}

/* An access to shared memory, which has its effect at once. */
static void look_for_updates(RaceDetector *detector, const ProbePoint *point, const RaceAccess *access,
                             const WarpOrder *warp) {
  UpdateAccess update = {.point = point,
                         .space = SPACE_SHARED,
                         .kind = access->kind,
                         .address = access->address,
                         .bytes = access->bytes,
                         .warp = warp};
  int16_t slot = point->inst->b;
  for (int16_t row = 0; row < (int16_t)G_N_ELEMENTS(update.data); row++)
    update.data[row] = warp_operand(point->warp->regs, point->warp->consts, slot >= 0 ? (int16_t)(slot + row) : slot);
  lost_updates_access(detector->updates, &update);
}

/* The first word of an mbarrier is stored, whatever the instruction. */
static AccessKind kind_of(const Inst *inst, AccessKind kind) {
  return kind == ACCESS_ATOMIC && inst->mode == ATOM_EXCH && inst->lop == EXCH_INITS ? ACCESS_WRITE : kind;
}

static void memory_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind done,
                          const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  RaceDetector *detector = user;
  AccessKind kind = kind_of(point->inst, done);
  bool lock = point->inst->op == OP_LDSLK;
  const bool *guesses = g_array_index(detector->guesses, const bool *, point->block->launch->index);
  if (kind == ACCESS_READ && guesses && guesses[point->pc]) /* an old value does no harm */
    return;
  const bool *polls = g_array_index(detector->polls, const bool *, point->block->launch->index);
  RaceAccess access = {.address = address,
                       .lanes = lock ? taken : point->lanes,
                       .bytes = bytes,
                       .space = space,
                       .kind = kind,
                       .locks = lock || unlock,
                       .polls = polls && polls[point->pc]};
  access.polls |= access.lanes && looks_at_phase(detector, point, &access);
  note_arrivals(detector, point, &access);
  look_for_select(detector, point, &access);
  bool waits_for_taking = lock_unit_is_conditional(point->gpu->machine);
  if (lock || (unlock && waits_for_taking))
    acquire_bits(detector, point, address, lock ? taken : point->lanes);
  WarpOrder *warp = warp_order(detector, point);
  bool trial = detector->watch.trial.repair != NULL;
  order_end_fence(&detector->watch.order, warp);
  race_older_next(&detector->watch, point, warp, &access);
  if (warp->undecided)
    order_move_on(warp);
  if (trial)
    race_trial_access(&detector->watch.trial, &detector->watch.order, warp, point, false);
  race_own_access(&detector->watch, point, warp, &access);
  if (point->inst->sem == SEM_WEAK && kind != ACCESS_ATOMIC)
    lane_holes_note(warp, access.lanes);
  if (kind != ACCESS_READ && (point->inst->sem != SEM_WEAK || kind == ACCESS_ATOMIC))
    lane_holes_hand_on(&detector->watch.order.holes, warp, access.lanes);
  if (order_releases(point->inst) && kind != ACCESS_READ)
    lane_holes_release(&detector->watch.order.holes, warp, access.lanes);
  if (detector->lock_steps && (!number || space == SPACE_GLOBAL))
    lock_steps_access(detector->lock_steps, point, &access, warp);
  if (!number && space == SPACE_SHARED && looks_for_updates(detector))
    look_for_updates(detector, point, &access, warp);
  if (number && space == SPACE_SHARED && detector->exits)
    peer_exits_access(detector->exits, point, warp, address);
  if (number)
    race_issue(&detector->watch, point, warp, &access, number);
  else
    race_step(&detector->watch, point, warp, &access);
  if (trial)
    race_trial_access(&detector->watch.trial, &detector->watch.order, warp, point, true);
  if (unlock || (lock && waits_for_taking))
    release_bits(detector, point, address, access.lanes);
}

/* What it races with that was before it; what touches its words until it is waited for is a hazard. */
static void look_ahead(RaceDetector *detector, const ProbePoint *point, const uint64_t address[WARP_LANES],
                       uint32_t bytes) {
  RaceAccess access = {
      .address = address, .lanes = point->lanes, .bytes = bytes, .space = SPACE_SHARED, .kind = ACCESS_WRITE};
  race_look(&detector->watch, point, warp_order(detector, point), &access);
}

static void copy_begins(void *user, const ProbePoint *point, const uint32_t physical[32], uint32_t bytes) {
  uint64_t address[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    address[lane] = physical[lane];
  look_ahead(user, point, address, bytes);
}

static void bulk_begins(void *user, const ProbePoint *point, uint64_t address, uint32_t bytes, bool writes) {
  enum { PIECE_BYTES = 16 };
  uint64_t physical[WARP_LANES] = {0};
  for (uint32_t at = 0; writes && at < bytes; at += PIECE_BYTES) {
    physical[__builtin_ctz(point->lanes)] = address + at;
    look_ahead(user, point, physical, PIECE_BYTES);
  }
}

static void performed(void *user, const ProbePoint *point, const AccessPart *part) {
  RaceDetector *detector = user;
  if (detector->swaps && stale_swaps_wants(detector->swaps))
    stale_swaps_performed(detector->swaps, point, part, race_issuer(&detector->watch, part->number));
  if (looks_for_updates(detector) && !part->shared) {
    WarpOrder then;
    bool known = race_issued_by(&detector->watch, part->number, &then);
    UpdateAccess update = {.point = point,
                           .space = SPACE_GLOBAL,
                           .kind = part->kind,
                           .address = part->address,
                           .bytes = part->bytes,
                           .data = {part->data ? part->data[0] : NULL, part->data ? part->data[1] : NULL},
                           .warp = known ? &then : NULL};
    lost_updates_access(detector->updates, &update);
  }
  race_perform(&detector->watch, point, part);
}

/* What has hung by now, or ended otherwise than expected, where stores are late. */
static void explain_waits(const RaceDetector *detector) {
  const GPtrArray *findings = detector->watch.report.findings;
  for (guint i = 0; detector->watch.late && i < findings->len; i++) {
    Finding *finding = g_ptr_array_index(findings, i);
    bool hangs = finding->id == FINDING_ORPHAN_WAIT || finding->id == FINDING_LIVELOCK ||
                 finding->id == FINDING_LOCK_ORDER_DEADLOCK || finding->id == FINDING_SIMD_DEADLOCK;
    if ((hangs || finding->id == FINDING_UNEXPECTED_RESULT) && g_strcmp0(finding->space, "global") == 0)
      race_late_explain_wait(detector->watch.late, finding);
  }
}

bool race_detector_finish(RaceDetector *detector) {
  race_settle(&detector->watch, true);
  race_older_finish(&detector->watch);
  race_validated_finish(&detector->watch);
  if (detector->updates)
    lost_updates_finish(detector->updates);
  explain_waits(detector);
  race_report_finish(&detector->watch.report);
  return race_trial_fits(&detector->watch.trial, &detector->watch.order);
}

/* ---- malloc() and free() ---- */

/* Whoever gets memory from malloc() comes after all who had it before. To free() it is to write all of it: who
 * still uses it must come before. */
static void heap_call(void *user, const ProbePoint *point, uint64_t address, uint64_t bytes, bool gives) {
  enum { FREED_WORDS_MAX = 1024 };
  RaceDetector *detector = user;
  uint64_t words = (bytes + 3) / 4;
  WarpOrder *warp = warp_order(detector, point);
  if (warp->undecided)
    order_move_on(warp);
  if (!gives) {
    forget_words(detector, SPACE_GLOBAL, address / 4, words);
    return;
  }
  for (uint64_t word = 0; word < MIN(words, FREED_WORDS_MAX); word++) {
    uint64_t addresses[WARP_LANES];
    addresses[__builtin_ctz(point->lanes)] = address + 4 * word;
    RaceAccess access = {
        .address = addresses, .lanes = point->lanes, .bytes = 4, .space = SPACE_GLOBAL, .kind = ACCESS_WRITE};
    race_step(&detector->watch, point, warp, &access);
  }
}

/* ---- the host ---- */

/* Each of its accesses is volatile, and release and acquire: compilers and CPUs keep them in order. In Fermi code
 * what it looks at is a flag. */
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
  WarpOrder *host = &detector->watch.order.host;
  RaceAccess word = {
      .address = address, .lanes = 1, .bytes = 4, .space = SPACE_GLOBAL, .kind = kinds[deed], .polls = !host->fences};
  race_step(&detector->watch, &access, host, &word);
}

static void host_does(void *user, const HostPoint *point, HostDeed deed) {
  RaceDetector *detector = user;
  if (!detector->watch.order.started)
    order_start_host(&detector->watch.order, point->gpu->launches->len && is_ptx(gpu_launch(point->gpu, 0)));
  if (deed == HOST_STARTS)
    order_host_starts(&detector->watch.order, point->launch);
  else if (deed == HOST_AWAITED)
    order_host_awaited(&detector->watch.order, point->launch);
  else
    host_access(detector, point, deed);
}

/* ---- life ---- */

RaceDetector *race_detector_new(Gpu *gpu, GPtrArray *findings, const RepairTrial *trial) {
  RaceDetector *detector = g_new0(RaceDetector, 1);
  detector->gpu = gpu;
  detector->probe = (Probe){.user = detector,
                            .access = memory_access,
                            .performed = performed,
                            .copy = copy_begins,
                            .bulk = bulk_begins,
                            .heap = heap_call,
                            .host = host_does,
                            .fence = fence,
                            .warp_sync = warp_sync,
                            .barrier_arrive = barrier_arrive,
                            .barrier_complete = barrier_complete,
                            .blocks_meet = blocks_meet,
                            .cluster_meets = cluster_meets,
                            .cluster_pass = cluster_pass,
                            .block_start = block_start,
                            .block_end = block_end};
  detector->sm_count = gpu->machine->gpu.sms;
  detector->bit_count = gpu->machine->sm.lock_unit.bits;
  detector->sms = g_new0(SmOrder *, detector->sm_count);
  race_order_init(&detector->watch.order, gpu);
  race_flights_init(&detector->watch.flights);
  race_older_init(&detector->watch.older);
  detector->watch.late = race_late_new(gpu);
  detector->watch.validated = race_validated_new();
  detector->watch.held = g_array_new(FALSE, FALSE, sizeof(HeldRace));
  detector->watch.readings = g_array_new(FALSE, FALSE, sizeof(HeldReading));
  detector->watch.observable = g_array_new(FALSE, FALSE, sizeof(ObservableRace));
  detector->watch.settled = g_array_new(FALSE, FALSE, sizeof(SettledRace));
  detector->polls = g_array_new(FALSE, FALSE, sizeof(bool *));
  detector->kernels = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  detector->mbarriers = g_hash_table_new(g_direct_hash, g_direct_equal);
  detector->guesses = g_array_new(FALSE, FALSE, sizeof(bool *));
  detector->guessing = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  detector->selections = g_array_new(FALSE, FALSE, sizeof(Speculation *));
  detector->selected = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, (GDestroyNotify)speculation_free);
  detector->watch.waits = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  shadow_init(&detector->watch.shadow[SPACE_SHARED]);
  shadow_init(&detector->watch.shadow[SPACE_GLOBAL]);
  race_report_init(&detector->watch.report, findings);
  detector->watch.report.late = detector->watch.late;
  detector->swaps = trial ? NULL : stale_swaps_new(gpu, findings);
  bool looks = !trial && !detector->watch.late;
  detector->updates = looks ? lost_updates_new(gpu, &detector->watch.order, findings) : NULL;
  detector->exits = trial ? NULL : peer_exits_new(gpu, findings);
  if (trial)
    race_report_seek(&detector->watch.report, trial->finding, gpu);
  race_trial_init(&detector->watch.trial, trial ? trial->repair : NULL);
  detector->watch.report.seeks_older = race_trial_asks_older(&detector->watch.trial);
  detector->watch.order.doubt = race_trial_doubt(&detector->watch.trial);
  bool apart = gpu->machine->sm.convergence == CONVERGENCE_BARRIER && !detector->watch.late;
  if (apart && !detector->watch.report.seeks_older)
    detector->lock_steps = lock_steps_new(gpu, &detector->watch, findings);
  gpu_subscribe(gpu, &detector->probe);
  return detector;
}

static void sm_order_free(SmOrder *sm, uint32_t bits) {
  if (!sm)
    return;
  for (unsigned i = 0; i < sm->warps_used; i++)
    warp_order_clear(&sm->warps[i]);
  for (uint64_t rest = sm->taken; rest; rest &= rest - 1) {
    for (unsigned id = 0; id < BLOCK_BARRIERS; id++)
      barrier_order_clear(&sm->barriers[__builtin_ctzll(rest)][id]);
    barrier_order_clear(&sm->passed[__builtin_ctzll(rest)]);
  }
  for (uint32_t i = 0; i < bits; i++)
    vclock_clear(&sm->bits[i]);
  g_free(sm->bits);
  pages_free(sm);
}

void race_detector_free(RaceDetector *detector) {
  if (!detector)
    return;
  race_words_forget(&detector->watch);
  race_older_clear(&detector->watch.older);
  race_late_free(detector->watch.late);
  race_validated_free(detector->watch.validated);
  stale_swaps_free(detector->swaps);
  lost_updates_free(detector->updates);
  lock_steps_free(detector->lock_steps);
  if (detector->exits)
    peer_exits_free(detector->exits);
  if (detector->watch.own)
    g_hash_table_destroy(detector->watch.own);
  race_observer_forget(&detector->watch);
  g_array_free(detector->watch.settled, TRUE);
  race_flights_clear(&detector->watch.flights, &detector->watch.order);
  for (uint32_t i = 0; i < detector->sm_count; i++)
    sm_order_free(detector->sms[i], detector->bit_count);
  g_free(detector->sms);
  race_order_clear(&detector->watch.order);
  g_array_free(detector->polls, TRUE);
  g_hash_table_destroy(detector->kernels);
  g_hash_table_destroy(detector->mbarriers);
  g_array_free(detector->guesses, TRUE);
  g_hash_table_destroy(detector->guessing);
  g_array_free(detector->selections, TRUE);
  g_hash_table_destroy(detector->selected);
  g_hash_table_destroy(detector->watch.waits);
  shadow_clear(&detector->watch.shadow[SPACE_SHARED]);
  shadow_clear(&detector->watch.shadow[SPACE_GLOBAL]);
  race_report_clear(&detector->watch.report);
  race_trial_clear(&detector->watch.trial);
  g_free(detector);
}
