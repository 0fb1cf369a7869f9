#include "sim/detect/race/race_order.h"

#include <string.h>

#include "sim/detect/race/attempts.h"

static void clear_released(gpointer data) {
  Released *released = data;
  vclock_clear(&released->clock);
  for (unsigned i = 0; i < SCOPES; i++)
    vclock_clear(&released->given[i]);
  for (unsigned i = 0; i < GIFTS_MAX; i++)
    vclock_clear(&released->gift[i].clock);
}

static void free_barrier(gpointer data) {
  barrier_order_clear(data);
  g_free(data);
}

void race_order_init(RaceOrder *order, const Gpu *gpu) {
  *order = (RaceOrder){.gpu = gpu,
                       .actors = g_array_new(FALSE, FALSE, sizeof(ThreadId)),
                       .warps = g_ptr_array_new(),
                       .released = g_array_new(FALSE, TRUE, sizeof(Released)),
                       .streams = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                       .first_of_stream = g_hash_table_new(g_direct_hash, g_direct_equal),
                       .ended = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_barrier)};
  g_array_set_clear_func(order->released, clear_released);
  handoffs_init(&order->handoffs);
  lane_holes_init(&order->holes);
  view_pool_init(&order->views);
}

void race_order_clear(RaceOrder *order) {
  g_array_free(order->actors, TRUE);
  g_ptr_array_free(order->warps, TRUE);
  g_array_free(order->released, TRUE);
  g_array_free(order->streams, TRUE);
  g_hash_table_destroy(order->first_of_stream);
  g_hash_table_destroy(order->ended);
  handoffs_clear(&order->handoffs);
  lane_holes_clear(&order->holes);
  for (unsigned i = 0; i < G_N_ELEMENTS(order->strict); i++)
    vclock_clear(&order->strict[i]);
  for (uint32_t i = 0; i < order->launches; i++)
    barrier_order_clear(&order->started[i]);
  g_free(order->started);
  warp_order_clear(&order->host);
  view_pool_clear(&order->views);
}

/* ---- warps ---- */

/* The pinned actor whose time is the index of the newest launch of a stream that has begun: all before it are
 * done. */
static uint32_t stream_actor(const RaceOrder *order, uint32_t launch) {
  return VCLOCK_PINNED + g_array_index(order->streams, uint32_t, launch);
}

/* Launches that are new. */
static void find_streams(RaceOrder *order) {
  for (uint32_t i = order->streams->len; i < order->gpu->launches->len; i++) {
    gpointer stream = GINT_TO_POINTER(gpu_launch(order->gpu, i)->stream), first;
    if (!g_hash_table_lookup_extended(order->first_of_stream, stream, NULL, &first)) {
      first = GUINT_TO_POINTER(i);
      g_hash_table_insert(order->first_of_stream, stream, first);
    }
    uint32_t index = GPOINTER_TO_UINT(first);
    g_array_append_val(order->streams, index);
  }
}

static BarrierOrder *ended_of(const RaceOrder *order, uint32_t launch) {
  return g_hash_table_lookup(order->ended, GUINT_TO_POINTER(launch));
}

/* That of the launch before it in its stream. */
static const BarrierOrder *ended_before(const RaceOrder *order, uint32_t launch) {
  uint32_t stream = g_array_index(order->streams, uint32_t, launch);
  for (uint32_t i = launch; i-- > 0;)
    if (g_array_index(order->streams, uint32_t, i) == stream)
      return ended_of(order, i);
  return NULL;
}

void order_move_on(WarpOrder *warp) {
  warp->undecided = false;
  vclock_advance(&warp->clock, warp->actor, ++warp->time);
  if (warp->fences)
    vclock_advance(&warp->fences->known, warp->actor, warp->time);
}

void order_start_warp(RaceOrder *order, WarpOrder *warp, const Block *block, uint32_t warp_in_block, bool ptx) {
  const Launch *launch = block->launch;
  find_streams(order);
  /* What a warp does in machine code it does in that order: the compiler has left out barriers of lanes that are
   * together. */
  bool by_lanes =
      order->gpu->machine->sm.convergence == CONVERGENCE_BARRIER && launch->program->dialect != DIALECT_MACHINE_CODE;
  warp_order_reset(warp, ptx, ptx || by_lanes);
  warp->actor = order->actors->len;
  warp->base = thread_id(launch->index, block->index, warp_in_block * WARP_LANES);
  order_forget_handoff(order, warp);
  handoff_drop(&order->handoffs, warp->promise);
  warp->promise = 0;
  g_array_append_val(order->actors, warp->base);
  g_ptr_array_add(order->warps, warp);
  if (launch->index > 0) {
    vclock_advance(&warp->clock, stream_actor(order, launch->index), launch->index);
    vclock_advance(&warp->relied, stream_actor(order, launch->index), launch->index);
    if (warp->fences)
      vclock_advance(&warp->fences->known, stream_actor(order, launch->index), launch->index);
  }
  order_move_on(warp);
  if (order->started)
    order_leave_barrier(order, &order->started[launch->index], warp);
  const BarrierOrder *ended = ended_before(order, launch->index);
  if (ended)
    order_leave_barrier(order, ended, warp);
}

void order_end_block(RaceOrder *order, const Block *block, WarpOrder *warps) {
  if (g_hash_table_size(order->first_of_stream) < 2)
    return;
  BarrierOrder *ended = ended_of(order, block->launch->index);
  if (!ended) {
    ended = g_new0(BarrierOrder, 1);
    g_hash_table_insert(order->ended, GUINT_TO_POINTER(block->launch->index), ended);
  }
  for (uint32_t i = 0; i < block->warps; i++) {
    WarpOrder *warp = &warps[block->warp_slot[i]];
    lane_holes_end(&order->holes, warp);
    order_end_attempts(order, warp);
    order_fence(warp, IN_ONE_SYSTEM, 0, ALL_LANES); /* the end is one */
    order_join_barrier(ended, warp);
  }
}

/* ---- the host ---- */

void order_start_host(RaceOrder *order, bool ptx) {
  find_streams(order);
  order->launches = order->gpu->launches->len;
  order->started = g_new0(BarrierOrder, order->launches + 1);
  warp_order_reset(&order->host, ptx, false);
  order->host.actor = order->actors->len;
  order->host.base = THREAD_HOST;
  g_array_append_val(order->actors, order->host.base);
  g_ptr_array_add(order->warps, &order->host);
  order_move_on(&order->host);
}

void order_host_starts(RaceOrder *order, uint32_t launch) { order_arrive(&order->started[launch], &order->host); }

void order_host_awaited(RaceOrder *order, uint32_t launch) {
  uint32_t stream = stream_actor(order, launch);
  vclock_advance(&order->host.clock, stream, launch + 1);
  if (order->host.fences)
    vclock_advance(&order->host.fences->known, stream, launch + 1);
  const BarrierOrder *ended = ended_of(order, launch);
  if (ended)
    order_leave_barrier(order, ended, &order->host);
}

/* ---- questions ---- */

static bool has_hole(const RaceOrder *order, const VClock *clock, const Access *earlier) {
  return earlier->actor >= clock->floor &&
         lane_holes_hide(&order->holes, earlier, vclock_time(clock, earlier->actor));
}

bool order_is_hidden(const RaceOrder *order, const WarpOrder *warp, const Access *earlier) {
  return warp->fences && earlier->actor != warp->actor && has_hole(order, order_clock(order, warp, false), earlier);
}

static bool clock_knows(const RaceOrder *order, const VClock *clock, const Access *earlier, bool plain) {
  if (vclock_knows(clock, earlier->actor, earlier->time) && (plain || !has_hole(order, clock, earlier)))
    return true;
  ThreadId thread = g_array_index(order->actors, ThreadId, earlier->actor);
  if (order_clock_has_all(order) || thread_is_host(thread))
    return false;
  return vclock_time(clock, stream_actor(order, thread.launch)) > thread.launch;
}

bool order_clock_knows(const RaceOrder *order, const VClock *clock, const Access *earlier) {
  return clock_knows(order, clock, earlier, true);
}

bool order_is_omitted(const WarpOrder *warp, const Access *earlier) {
  return warp->fences && earlier->actor != warp->actor &&
         vclock_knows(&warp->fences->omitted, earlier->actor, earlier->time);
}

const WarpOrder *order_of_actor(const RaceOrder *order, uint32_t actor) {
  const WarpOrder *warp = g_ptr_array_index(order->warps, actor);
  return warp->actor == actor ? warp : NULL;
}

bool order_is_before(const RaceOrder *order, const WarpOrder *warp, uint32_t lanes, const Access *earlier,
                     bool plain) {
  const LaneOrder *by_lanes = warp->lanes[!plain && warp->fences];
  if (earlier->actor == warp->actor && by_lanes) {
    unsigned shift = earlier->shift;
    uint32_t of_earlier = shift ? earlier->lanes >> shift | earlier->lanes << (32 - shift) : earlier->lanes;
    return lane_order_knows(by_lanes, lanes, of_earlier, earlier->time);
  }
  if (plain && attempts_know(warp, earlier->actor, earlier->time))
    return true;
  return clock_knows(order, order_clock(order, warp, plain), earlier, plain || !warp->fences);
}

bool order_is_pending(const WarpOrder *warp, const Access *earlier) {
  for (unsigned i = 0; warp->fences && i < SCOPES; i++)
    if (vclock_knows(&warp->fences->pending[i], earlier->actor, earlier->time))
      return true;
  return false;
}

const HandOver *order_newest_handed(const WarpOrder *warp) {
  static const HandOver none;
  return warp->handed_count ? &warp->handed[warp->handed_newest] : &none;
}

const HandOver *order_handed_by(const WarpOrder *warp, const Access *earlier, uint32_t lanes) {
  const HandOver *others = NULL;
  for (unsigned i = warp->handed_count; i-- > 0;) {
    const HandOver *handed = &warp->handed[i];
    if (handed->actor != earlier->actor || handed->time < earlier->time)
      continue;
    if (handed->lanes & lanes)
      return handed;
    others = others ? others : handed;
  }
  return others ? others : order_newest_handed(warp);
}

bool order_is_taken_narrowly(const RaceOrder *order, const WarpOrder *warp, const Access *earlier) {
  const HandOver *handed = order_handed_by(warp, earlier, ALL_LANES);
  return handed->actor == earlier->actor && handed->given[ON_ONE_GPU] >= earlier->time &&
         order_nearness(order, warp, earlier) == ON_ONE_GPU;
}

bool order_is_too_narrow(const RaceOrder *order, const WarpOrder *warp, const Access *earlier) {
  const HandOver *handed = order_handed_by(warp, earlier, ALL_LANES);
  if (handed->actor == earlier->actor)
    return MAX(handed->given[IN_ONE_BLOCK], handed->given[ON_ONE_GPU]) >= earlier->time;
  const Released *released = &g_array_index(order->released, Released, handed->released - 1);
  if (released->actor != handed->actor || released->time != handed->time) /* it has handed on more since */
    return false;
  for (unsigned i = 0; i < released->gifts; i++)
    if (vclock_knows(&released->gift[i].clock, earlier->actor, earlier->time))
      return true;
  return vclock_knows(&released->given[ON_ONE_GPU], earlier->actor, earlier->time);
}

Nearness order_nearness(const RaceOrder *order, const WarpOrder *warp, const Access *earlier) {
  ThreadId thread = g_array_index(order->actors, ThreadId, earlier->actor);
  if (thread_is_host(thread) || thread_is_host(warp->base))
    return IN_ONE_SYSTEM;
  return thread_same_block(warp->base, thread) ? IN_ONE_BLOCK : ON_ONE_GPU;
}

Nearness order_scope(const Inst *inst) {
  if (inst->op == OP_MEMBAR)
    return inst->mode == FENCE_CTA ? IN_ONE_BLOCK : inst->mode == FENCE_SYS ? IN_ONE_SYSTEM : ON_ONE_GPU;
  if (inst->sem == SEM_VOLATILE || inst->cache == CACHE_CV || inst->cache == CACHE_WT)
    return IN_ONE_SYSTEM;
  if (inst->op == OP_LDS &&
      inst->lop) /* a look at an mbarrier takes what its cluster arrived with: see order_scope() */
    return ON_ONE_GPU;
  return inst->scope == SCOPE_CTA ? IN_ONE_BLOCK : inst->scope == SCOPE_GPU ? ON_ONE_GPU : IN_ONE_SYSTEM;
}

/* ---- hand-offs ---- */

bool order_acquires(const Inst *inst) {
  return inst->sem == SEM_ACQUIRE || inst->sem == SEM_ACQ_REL || inst->sem == SEM_SC;
}

bool order_releases(const Inst *inst) {
  return inst->sem == SEM_RELEASE || inst->sem == SEM_ACQ_REL || inst->sem == SEM_SC;
}

/* Lanes learn what their own warp did by the way of a clock that came back to it. */
static void learn_lanes(const WarpOrder *warp, unsigned which, uint32_t lanes, const VClock *clock) {
  if (warp->lanes[which])
    lane_order_learn(warp->lanes[which], lanes, vclock_time(clock, warp->actor));
}

static void learn(RaceOrder *order, WarpOrder *warp, const VClock *clock) {
  vclock_join(&warp->clock, clock);
  order_forget_handoff(order, warp);
}

void order_learn(RaceOrder *order, WarpOrder *warp, const VClock *clock, const VClock *relied) {
  warp_views_keep(warp, NULL);
  learn(order, warp, clock);
  order_rely_on(order, warp, relied);
}

static bool knows_nothing(const VClock *clock) { return clock->count == 0 && clock->floor == 0; }

/* What the model needs: at once with an acquire, otherwise once a fence comes. */
static void take_given(const WarpOrder *warp, const VClock *clock, Nearness from, const Inst *inst, uint32_t lanes) {
  if (knows_nothing(clock))
    return;
  if (!order_acquires(inst)) {
    vclock_join(&warp->fences->pending[from], clock);
    return;
  }
  vclock_join(&warp->fences->known, clock);
  learn_lanes(warp, 1, lanes, clock);
}

/* A warp that polls takes the same again and again: it learns nothing new, since clocks only grow. */
static bool took_already(const WarpOrder *warp, const Released *released, const Inst *inst, uint32_t lanes) {
  return warp->taken_change == released->change && !(lanes & ~warp->taken_lanes) &&
         (warp->was_acquired || !order_acquires(inst)) && warp->taken_scope >= order_scope(inst);
}

/* What each writer gives that the read's scope includes, and how near the nearest fence that takes it. */
typedef struct Given {
  const VClock *clock;
  Nearness from;
} Given;
enum { GIVEN_MAX = GIFTS_MAX + SCOPES };

static unsigned find_given(const WarpOrder *warp, const Released *released, const Inst *inst,
                           Given given[GIVEN_MAX]) {
  Nearness scope = order_scope(inst);
  bool is_host = thread_is_host(warp->base);
  unsigned count = 0;
  for (unsigned i = 0; i < released->gifts && !is_host; i++)
    if (thread_same_block(released->gift[i].block, warp->base))
      given[count++] = (Given){&released->gift[i].clock, IN_ONE_BLOCK};
  if (released->crowded && !is_host)
    given[count++] = (Given){&released->given[ON_ONE_GPU], IN_ONE_BLOCK};
  if (scope >= ON_ONE_GPU && !is_host)
    given[count++] = (Given){&released->given[ON_ONE_GPU], ON_ONE_GPU};
  if (scope >= IN_ONE_SYSTEM)
    given[count++] = (Given){&released->given[IN_ONE_SYSTEM], IN_ONE_SYSTEM};
  return count;
}

static void take_by_scope(const WarpOrder *warp, const Released *released, const Inst *inst, uint32_t lanes) {
  Given given[GIVEN_MAX];
  unsigned count = find_given(warp, released, inst, given);
  for (unsigned i = 0; i < count; i++)
    take_given(warp, given[i].clock, given[i].from, inst, lanes);
}

bool order_tells_nothing(const RaceOrder *order, const WarpOrder *warp, const Inst *inst) {
  if (!warp->fences || !(op_info[inst->op].flags & OPF_ATOMIC) || thread_is_host(warp->base))
    return false;
  return inst->op == OP_RED || inst->dst == (int)gpu_launch(order->gpu, warp->base.launch)->kernel->nregs;
}

void order_note_handed(WarpOrder *warp, const Released *released, uint32_t number, uint32_t pc, uint32_t lanes) {
  HandOver next = {.writer = released->writer.launch,
                   .released = number,
                   .from = released->from,
                   .to = pc,
                   .lanes = lanes,
                   .actor = released->actor,
                   .time = released->time,
                   .given[ON_ONE_GPU] = vclock_time(&released->given[ON_ONE_GPU], released->actor)};
  for (unsigned i = 0; i < released->gifts; i++)
    if (thread_same_block(released->gift[i].block, released->writer))
      next.given[IN_ONE_BLOCK] = vclock_time(&released->gift[i].clock, released->actor);
  HandOver *handed = warp->handed;
  unsigned at = 0;
  while (at < warp->handed_count && !hand_over_is_same(&handed[at], &next))
    at++;
  bool again = at < warp->handed_count && handed[at].actor == next.actor && handed[at].time == next.time;
  warp->handed_newest = again ? (uint8_t)at : 0;
  if (at < warp->handed_count)
    next.lanes |= handed[at].lanes;
  if (again) {
    handed[at].lanes = next.lanes;
    return;
  }
  if (at == warp->handed_count && at < HANDED_MAX)
    warp_order_make_room(warp, ++warp->handed_count);
  handed = warp->handed;
  memmove(handed + 1, handed, MIN(at, HANDED_MAX - 1) * sizeof *handed);
  handed[0] = next;
}

/* Of the GPU's fence.sc: whoever acquires comes behind all of them so far (generous). */
static void take_strict(const RaceOrder *order, WarpOrder *warp) {
  for (unsigned i = 0; i < G_N_ELEMENTS(order->strict); i++)
    if (!knows_nothing(&order->strict[i]))
      vclock_join(&warp->fences->strict[i], &order->strict[i]);
}

/* What the warp learned since the loop began, it hasn't learned. */
static void unlearn(const WarpOrder *warp, const OlderValue *older) {
  FenceOrder *fences = warp->fences;
  if (warp->time != older->time || older->together)
    return;
  vclock_join(&fences->omitted, &fences->known);
  vclock_assign(&fences->known, older->known);
  for (unsigned i = 0; i < SCOPES; i++) {
    vclock_join(&fences->omitted, &fences->pending[i]);
    vclock_assign(&fences->pending[i], &older->pending[i]);
  }
}

/* What the read is handed counts for the plain order alone; for the model, what the older write gave. */
static void take_older(WarpOrder *warp, const Released *released, const OlderValue *older, const Inst *inst,
                       uint32_t lanes) {
  Given all[GIVEN_MAX];
  unsigned count = find_given(warp, released, inst, all);
  unlearn(warp, older);
  for (unsigned i = 0; i < count; i++)
    vclock_join(&warp->fences->omitted, all[i].clock);
  take_given(warp, older->given, IN_ONE_BLOCK, inst, lanes);
}

/* `older`: the value that it takes; NULL: the newest. */
static void take_released(RaceOrder *order, WarpOrder *warp, uint32_t number, const OlderValue *older,
                          const WordRead *read) {
  const Inst *inst = read->inst;
  uint32_t pc = read->pc, lanes = read->lanes;
  const Released *released = &g_array_index(order->released, Released, number - 1);
  if (order_tells_nothing(order, warp, inst)) { /* it is read for the model all the same */
    take_by_scope(warp, released, inst, lanes);
    return;
  }
  if (warp->fences) {
    order_note_handed(warp, released, number, pc, lanes);
    warp->was_handed = true;
    warp->handed_lanes = lanes;
  }
  bool attempt = order->doubt.counts && attempts_has(inst);
  if (attempt)
    order_attempt(order, warp, read, &released->clock);
  else
    order_rely_by(order, warp, pc, &released->clock);
  if (took_already(warp, released, inst, lanes)) {
    order_forget_handoff(order, warp);
    return;
  }
  warp->was_fenced = false;
  warp->taken_scope = order_scope(inst);
  warp->taken_change = attempt ? 0 : released->change; /* another load may take all of it */
  warp->taken_lanes = lanes;
  warp->was_acquired = order_acquires(inst);
  learn_lanes(warp, 0, lanes, &released->clock);
  if (!attempt)
    learn(order, warp, &released->clock);
  if (!warp->fences)
    return;
  take_strict(order, warp);
  if (!older) {
    take_by_scope(warp, released, inst, lanes);
    return;
  }
  take_older(warp, released, older, inst, lanes);
  warp->taken_change = 0;
}

/* A read of some bytes of a word. */
typedef struct Taking {
  RaceOrder *order;
  const WordRead *read;
  const WarpOrder *at;     /* its warp when it was issued */
  const OlderValue *older; /* of take_released() */
} Taking;

static void take_part(RaceOrder *order, WarpOrder *warp, const CellPart *part, bool flag, const Taking *taking) {
  const WordRead *read = taking->read;
  if (part->released)
    take_released(order, warp, part->released, taking->older, read);
  if (flag && order->doubt.counts)
    handoff_take(&order->handoffs, part->handed, part->handed_time, &warp->relied);
  if (flag && handoff_take(&order->handoffs, part->handed, part->handed_time, &warp->clock))
    order_forget_handoff(order, warp);
}

static void take(WarpOrder *warp, void *user) {
  const Taking *taking = user;
  Cell *cell = taking->read->cell;
  const CellPart *part;
  for (unsigned at = 0; (part = cell_next_part(cell, taking->read->bytes, &at));)
    take_part(taking->order, warp, part, cell->whole.flag, taking);
}

void order_acquire(RaceOrder *order, WarpOrder *warp, const WordRead *read) {
  Taking taking = {.order = order, .read = read};
  warp_views_keep(warp, NULL);
  take(warp, &taking);
}

static bool hands_on(const WordRead *read) {
  bool flag = read->cell->whole.flag;
  const CellPart *part;
  for (unsigned at = 0; (part = cell_next_part(read->cell, read->bytes, &at));)
    if (part->released || (flag && part->handed))
      return true;
  return false;
}

void order_acquire_late(RaceOrder *order, WarpView *view, const WordRead *read) {
  Taking taking = {.order = order, .read = read};
  if (hands_on(read))
    warp_view_teach(view, take, &taking);
}

void order_acquire_older(RaceOrder *order, WarpView *view, const WordRead *read, const OlderValue *older) {
  Taking taking = {.order = order, .read = read, .older = older};
  if (hands_on(read))
    warp_view_teach(view, take, &taking);
}

static bool has_fenced_since(const WarpOrder *warp, const WarpOrder *then, unsigned scope) {
  return warp->fence_count[scope] != then->fence_count[scope];
}

static void pass_fences_with(WarpOrder *warp, const Taking *taking, const Released *released) {
  Given given[GIVEN_MAX];
  unsigned count = find_given(warp, released, taking->read->inst, given);
  for (unsigned i = 0; i < count; i++) {
    if (knows_nothing(given[i].clock) || !has_fenced_since(warp, taking->at, given[i].from))
      continue;
    vclock_join(&warp->fences->known, given[i].clock);
    learn_lanes(warp, 1, taking->read->lanes, given[i].clock);
    for (unsigned scope = 0; scope < SCOPES; scope++)
      if (has_fenced_since(warp, taking->at, MAX(scope, (unsigned)given[i].from)))
        vclock_join(&warp->fences->fenced[scope], given[i].clock);
  }
}

static void pass_fences(WarpOrder *warp, void *user) {
  const Taking *taking = user;
  const CellPart *part;
  if (warp == taking->at || !has_fenced_since(warp, taking->at, IN_ONE_BLOCK))
    return;
  for (unsigned at = 0; (part = cell_next_part(taking->read->cell, taking->read->bytes, &at));) {
    if (!part->released)
      continue;
    warp->was_fenced = true;
    pass_fences_with(warp, taking, &g_array_index(taking->order->released, Released, part->released - 1));
  }
}

void order_pass_fences(RaceOrder *order, WarpView *view, const WordRead *read) {
  Taking taking = {.order = order, .read = read, .at = warp_view_order(view)};
  if (view->is_kept && taking.at->fences && hands_on(read)) /* a fence would have made it keep what was */
    warp_view_teach(view, pass_fences, &taking);
}

/* ---- fences and barriers ---- */

void order_fence(WarpOrder *warp, Nearness scope, uint32_t pc, uint32_t lanes) {
  FenceOrder *fences = warp->fences;
  if (!fences)
    return;
  warp_views_keep(warp, NULL);
  for (unsigned i = 0; i <= scope; i++) {
    vclock_join(&fences->known, &fences->pending[i]);
    learn_lanes(warp, 1, lanes, &fences->pending[i]);
  }
  if (warp->turns && warp->lanes[1])
    lane_order_join(warp->lanes[1], warp->turns, lanes);
  for (unsigned i = 0; i <= scope; i++)
    vclock_assign(&fences->fenced[i], &fences->known);
  for (unsigned i = 0; i <= scope; i++)
    warp->fence_count[i]++;
  warp->was_fenced = true;
  warp->fence_pc = pc;
  order_move_on(warp);
}

void order_fence_strictly(WarpOrder *warp, Nearness scope) {
  warp->strict = warp->fences ? scope + 1 : 0;
  warp->strict_time = warp->time;
}

void order_end_fence(RaceOrder *order, WarpOrder *warp) {
  if (!warp->strict)
    return;
  warp_views_keep(warp, NULL);
  for (unsigned i = warp->strict - 1 == IN_ONE_BLOCK; i < G_N_ELEMENTS(order->strict); i++) {
    vclock_join_as_of(&order->strict[i], &warp->fences->known, warp->actor, warp->strict_time);
    vclock_join(&order->strict[i], &warp->fences->strict[i]);
  }
  take_strict(order, warp);
  warp->strict = 0;
}
