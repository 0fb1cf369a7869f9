#include "sim/report/draw_record.h"

#include <string.h>

#include "sim/core/lane_groups.h"
#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/race/polling.h"
#include "sim/engine/milli.h"

/* A launch: the place of each instruction, and which poll. */
typedef struct Listing {
  uint32_t *place;
  bool *polls; /* NULL: none does */
} Listing;

/* Who holds a lock. */
typedef struct Holder {
  DrawWarp *warp; /* NULL: nobody */
  unsigned lane;
  uint32_t lock; /* in `locks` */
} Holder;

struct DrawRecord {
  Probe probe;
  GPtrArray *warps;        /* DrawWarp * */
  GHashTable *by_id;       /* DrawWarp *, borrowed, by ThreadId of its lane 0 */
  GArray *listings;        /* Listing, by launch */
  GArray *places;          /* DrawPlace */
  GHashTable *place_of;    /* index and 1, by text with line and file */
  GHashTable *word_holder; /* Holder * by its word */
  Holder *bit_holder;      /* of each lock bit of each SM */
  uint32_t bits;           /* of an SM */
  GPtrArray *locks;        /* char *: the lock of each time that one was taken */
  uint64_t steps, end;
};

/* ---- places ---- */

/* A place in the source, `depth` calls that were inlined below the kernel's own line. */
typedef struct Spot {
  uint16_t file;
  uint32_t line;
} Spot;

enum { DEPTH_MAX = 8 };

static bool is_shown(const Program *program, const SourceFrame *frame) {
  g_autofree char *text = program_file_line(program, frame->file, frame->line);
  return *text && !strstr(program_file_name(program, frame->file), "/include/");
}

/* The places of an instruction from the kernel's own line inwards; returns how many there are, at least 1. */
static unsigned spots_of(const Launch *launch, uint32_t pc, Spot spots[DEPTH_MAX + 1]) {
  const Inst *inst = &launch->kernel->insts[pc];
  Spot inwards[DEPTH_MAX];
  unsigned frames = 0, count = 0;
  for (uint32_t at = inst->inlined; at && frames < DEPTH_MAX;) {
    const SourceFrame *frame = &g_array_index(launch->program->frames, SourceFrame, at - 1);
    if (frame->parent && is_shown(launch->program, frame))
      inwards[frames++] = (Spot){frame->file, frame->line};
    at = frame->parent;
  }
  spots[count++] = (Spot){inst->file, inst->line};
  while (frames)
    spots[count++] = inwards[--frames];
  return count;
}

static bool is_at(Spot one, Spot other) { return one.file == other.file && one.line == other.line; }

/* How many calls below the kernel's own line each instruction is shown: where a line is a good part of the kernel,
 * since it calls what does the work, that is shown. */
static uint8_t *depths_of(const Launch *launch) {
  enum { PARTS = 4, MANY = 16 };
  uint32_t count = launch->kernel->ninsts;
  uint8_t *depth = g_new0(uint8_t, count);
  g_autofree Spot(*spots)[DEPTH_MAX + 1] = g_malloc_n(count, sizeof *spots);
  g_autofree unsigned *spots_count = g_new(unsigned, count);
  g_autofree bool *descends = g_new(bool, count);
  for (uint32_t pc = 0; pc < count; pc++)
    spots_count[pc] = spots_of(launch, pc, spots[pc]);
  for (bool any = true; any;) {
    any = false;
    for (uint32_t pc = 0; pc < count; pc++) {
      uint32_t alike = 0;
      for (uint32_t other = 0; other < count; other++)
        alike += is_at(spots[pc][depth[pc]], spots[other][depth[other]]);
      descends[pc] = alike >= MANY && PARTS * alike > count && depth[pc] + 1u < spots_count[pc];
    }
    for (uint32_t pc = 0; pc < count; pc++) {
      depth[pc] += descends[pc];
      any |= descends[pc];
    }
  }
  return depth;
}

static uint32_t place_number(DrawRecord *record, const Launch *launch, uint32_t pc, unsigned depth) {
  const Inst *inst = &launch->kernel->insts[pc];
  Spot spots[DEPTH_MAX + 1];
  spots_of(launch, pc, spots);
  Spot spot = spots[depth];
  g_autofree char *text =
      inst->inlined ? program_file_line(launch->program, spot.file, spot.line) : locate_source(launch, pc);
  const char *file = spot.file ? program_file_name(launch->program, spot.file) : NULL;
  char *key = g_strdup_printf("%u %s %s", spot.line, file ? file : "", text ? text : "");
  guint known = GPOINTER_TO_UINT(g_hash_table_lookup(record->place_of, key));
  if (known) {
    g_free(key);
    return known - 1;
  }
  DrawPlace place = {.file = g_strdup(file), .text = g_strdup(text ? text : ""), .line = spot.line};
  g_array_append_val(record->places, place);
  g_hash_table_insert(record->place_of, key, GUINT_TO_POINTER(record->places->len));
  return record->places->len - 1;
}

static const Listing *listing_of(DrawRecord *record, const Launch *launch) {
  if (record->listings->len <= launch->index)
    g_array_set_size(record->listings, launch->index + 1);
  Listing *listing = &g_array_index(record->listings, Listing, launch->index);
  if (!listing->place) {
    listing->place = g_new(uint32_t, launch->kernel->ninsts + 1);
    g_autofree uint8_t *depth = depths_of(launch);
    for (uint32_t pc = 0; pc < launch->kernel->ninsts; pc++)
      listing->place[pc] = place_number(record, launch, pc, depth[pc]);
    listing->polls = polling_tries(launch->kernel);
  }
  return listing;
}

/* ---- warps ---- */

static DrawWarp *warp_of(DrawRecord *record, ThreadId id) {
  id.thread -= thread_lane(id);
  return g_hash_table_lookup(record->by_id, &id);
}

static DrawWarp *warp_at(DrawRecord *record, const ProbePoint *point) {
  return warp_of(record, warp_thread_base(point->block, point->warp));
}

static void add_span(GArray **list, uint64_t from, uint64_t to, uint32_t place) {
  DrawSpan span = {from, to, place};
  if (!*list)
    *list = g_array_new(FALSE, FALSE, sizeof(DrawSpan));
  DrawSpan *last = (*list)->len ? &g_array_index(*list, DrawSpan, (*list)->len - 1) : NULL;
  if (last && last->to == from && last->place == place)
    last->to = to;
  else
    g_array_append_val(*list, span);
}

static void free_warp(gpointer data) {
  DrawWarp *warp = data;
  g_array_free(warp->steps, TRUE);
  g_array_free(warp->sets, TRUE);
  g_array_free(warp->queued, TRUE);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    if (warp->lane[lane].spins)
      g_array_free(warp->lane[lane].spins, TRUE);
    if (warp->lane[lane].tries)
      g_array_free(warp->lane[lane].tries, TRUE);
    if (warp->lane[lane].holds)
      g_array_free(warp->lane[lane].holds, TRUE);
  }
  g_free(warp);
}

static void start_over(DrawRecord *record, const Gpu *gpu) {
  g_ptr_array_set_size(record->warps, 0);
  g_hash_table_remove_all(record->by_id);
  g_hash_table_remove_all(record->word_holder);
  g_free(record->bit_holder);
  record->bits = gpu->machine->sm.lock_unit.bits;
  record->bit_holder = g_new0(Holder, (gsize)record->bits * gpu->machine->gpu.sms);
  g_ptr_array_set_size(record->locks, 0);
  record->steps = 0;
  record->end = UINT64_MAX;
}

static void block_start(void *user, const ProbePoint *point) {
  DrawRecord *record = user;
  const Block *block = point->block;
  if (point->gpu->ages == block->warps) /* the first of all */
    start_over(record, point->gpu);
  listing_of(record, block->launch);
  for (uint32_t i = 0; i < block->warps; i++) {
    const Warp *warp = &point->sm->warps[block->warp_slot[i]];
    DrawWarp *own = g_new0(DrawWarp, 1);
    ThreadId id = warp_thread_base(block, warp);
    *own = (DrawWarp){.launch = block->launch->index,
                      .block = block->index,
                      .warp = i,
                      .lanes = warp->lanes,
                      .start = point->cycle,
                      .steps = g_array_new(FALSE, FALSE, sizeof(DrawStep)),
                      .sets = g_array_new(FALSE, FALSE, sizeof(DrawSet)),
                      .queued = g_array_new(FALSE, FALSE, sizeof(DrawQueued))};
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      own->lane[lane].polled = UINT64_MAX;
    g_ptr_array_add(record->warps, own);
    g_hash_table_insert(record->by_id, g_memdup2(&id, sizeof id), own);
  }
}

/* ---- steps ---- */

static void add_set(DrawWarp *warp, DrawStep *step, uint32_t lanes, DrawState state, uint32_t place) {
  DrawSet set = {.lanes = lanes, .place = place, .state = (uint8_t)state};
  if (!lanes)
    return;
  g_array_append_val(warp->sets, set);
  step->sets++;
}

static DrawState state_of_group(GroupState state) {
  switch (state) {
  case GROUP_AT_SYNC:
  case GROUP_AT_WARPSYNC:
  case GROUP_AT_MEETING: return DRAW_RECONV;
  case GROUP_AT_BARRIER: return DRAW_BARRIER;
  default: return DRAW_TURN;
  }
}

/* What the lanes that haven't exited, but don't run, are in. */
static void add_others(DrawWarp *own, DrawStep *step, const Warp *warp, const Listing *listing) {
  uint32_t rest = warp->alive & ~warp->active;
  for (uint32_t i = 0; warp->groups && i < warp->groups->count; i++) {
    const LaneGroup *group = &warp->groups->group[i];
    add_set(own, step, group->mask & rest, state_of_group(group->state), listing->place[group->pc]);
  }
  for (uint32_t i = warp->groups ? 0 : warp->depth; i-- > 0;) {
    const StackEntry *entry = &warp->stack[i];
    add_set(own, step, entry->mask & rest, entry->kind == STACK_PATH ? DRAW_TURN : DRAW_RECONV,
            listing->place[entry->pc]);
    rest &= ~entry->mask;
  }
}

/* What all lanes are in behind the instruction. */
static void look(DrawWarp *own, DrawStep *step, const ProbePoint *point, const Listing *listing) {
  const Warp *warp = point->warp;
  bool at_barrier = op_info[point->inst->op].flags & OPF_BARRIER && point->inst->mode != BAR_ARV && point->lanes;
  step->sets = 0;
  add_set(own, step, warp->active, at_barrier ? DRAW_BARRIER : DRAW_ACTIVE, step->place);
  add_others(own, step, warp, listing);
  add_set(own, step, warp->lanes & ~warp->alive, DRAW_EXITED, step->place);
}

static void add_try(DrawLane *lane, uint64_t cycle) {
  if (!lane->tries)
    lane->tries = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  g_array_append_val(lane->tries, cycle);
}

/* Lanes poll: those that have changed nothing since they did at the same place span. */
static void poll(DrawWarp *own, const ProbePoint *point, uint32_t place) {
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    unsigned number = (unsigned)__builtin_ctz(rest);
    DrawLane *lane = &own->lane[number];
    bool again = lane->polled != UINT64_MAX && lane->poll == point->pc && !lane->worked;
    if (again)
      add_try(lane, point->cycle);
    if (again)
      add_span(&lane->spins, lane->polled, point->cycle, place);
    lane->poll = point->pc;
    lane->polled = point->cycle;
    lane->worked = own->taken >> number & 1;
  }
  own->taken = 0;
}

static void note_work(DrawWarp *own, uint32_t lanes) {
  for (; lanes; lanes &= lanes - 1)
    own->lane[__builtin_ctz(lanes)].worked = true;
}

static void issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  DrawRecord *record = user;
  DrawWarp *own = warp_at(record, point);
  const Listing *listing = listing_of(record, point->block->launch);
  if (record->steps == DRAW_STEPS_MAX) {
    record->end = MIN(record->end, point->cycle);
    return;
  }
  record->steps++;
  DrawStep step = {.cycle = point->cycle,
                   .place = listing->place[point->pc],
                   .lanes = point->lanes,
                   .first_set = own->sets->len,
                   .waits = (op_info[point->inst->op].flags & OPF_FENCE) && point->lanes};
  step.awaited = step.place;
  look(own, &step, point, listing);
  g_array_append_val(own->steps, step);
  if (listing->polls && listing->polls[point->pc])
    poll(own, point, step.place);
  if (op_info[point->inst->op].flags & OPF_BARRIER)
    note_work(own, point->lanes);
}

static DrawStep *last_step(const DrawWarp *own) {
  return own->steps->len ? &g_array_index(own->steps, DrawStep, own->steps->len - 1) : NULL;
}

static void joined(void *user, const ProbePoint *point) {
  DrawRecord *record = user;
  DrawWarp *own = warp_at(record, point);
  DrawStep *step = last_step(own);
  if (!step || record->end != UINT64_MAX)
    return;
  g_array_set_size(own->sets, step->first_set);
  look(own, step, point, listing_of(record, point->block->launch));
}

/* ---- locks ---- */

/* It isn't held any longer. */
static void let_go(Holder *holder, uint64_t cycle) {
  GArray *holds = holder->warp ? holder->warp->lane[holder->lane].holds : NULL;
  for (guint i = holds ? holds->len : 0; i-- > 0;) {
    DrawSpan *span = &g_array_index(holds, DrawSpan, i);
    if (span->to == UINT64_MAX && span->place == holder->lock)
      span->to = cycle;
  }
  holder->warp = NULL;
}

static void hold(DrawRecord *record, Holder *holder, DrawWarp *own, unsigned lane, uint64_t cycle, char *name) {
  let_go(holder, cycle);
  *holder = (Holder){.lock = record->locks->len, .warp = own, .lane = lane};
  g_ptr_array_add(record->locks, name);
  add_span(&own->lane[lane].holds, cycle, UINT64_MAX, holder->lock);
}

static void lock_bits(DrawRecord *record, DrawWarp *own, const ProbePoint *point, const uint64_t address[32],
                      uint32_t lanes, bool unlock) {
  for (; lanes; lanes &= lanes - 1) {
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[lane]);
    Holder *holder = &record->bit_holder[point->sm->index * record->bits + bit];
    if (unlock)
      let_go(holder, point->cycle);
    else
      hold(record, holder, own, lane, point->cycle, g_strdup_printf("lock bit %u", bit));
  }
}

/* A lane has changed the word: it takes it as a lock, or it gives the lock back, whoever had it. */
static void word_changed(DrawRecord *record, DrawWarp *own, const ProbePart *part, uint64_t word, unsigned lane,
                         bool polls, uint64_t cycle) {
  Holder *holder = g_hash_table_lookup(record->word_holder, &word);
  bool takes = polls && (part->inst->mode == ATOM_CAS || part->inst->mode == ATOM_EXCH);
  if (!takes && holder)
    let_go(holder, cycle);
  if (!takes)
    return;
  if (!holder) {
    holder = g_new0(Holder, 1);
    g_hash_table_insert(record->word_holder, g_memdup2(&word, sizeof word), holder);
  }
  hold(record, holder, own, lane, cycle, locate_global_text(part->gpu, word));
}

/* ---- memory ---- */

static bool gives_result(const Inst *inst) { return op_info[inst->op].flags & OPF_LOAD; }

static void memory_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                          const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  (void)bytes;
  (void)space;
  DrawRecord *record = user;
  DrawWarp *own = warp_at(record, point);
  const Listing *listing = listing_of(record, point->block->launch);
  own->under_way += number && gives_result(point->inst);
  own->taken |= taken;
  lock_bits(record, own, point, address, unlock ? point->lanes : taken, unlock);
  if (kind != ACCESS_READ && !(listing->polls && listing->polls[point->pc]))
    note_work(own, point->lanes);
}

static void replied(void *user, const ProbePoint *point) {
  DrawRecord *record = user;
  DrawWarp *own = warp_at(record, point);
  DrawStep *step = last_step(own);
  own->under_way -= gives_result(point->inst) && own->under_way;
  if (!step || !point->warp->blocked || record->end != UINT64_MAX)
    return;
  step->waits = true;
  step->awaited = listing_of(record, point->block->launch)->place[point->pc];
}

/* The words that the part has changed: who of several lanes was the last is known. */
static void note_changes(DrawRecord *record, DrawWarp *own, const ProbePart *part) {
  const MemTrace *trace = part->trace;
  const Listing *listing = &g_array_index(record->listings, Listing, part->launch->index);
  uint64_t cycle = milli_cycle(trace->step[TRACE_PERFORMED]);
  bool polls = listing->polls && listing->polls[part->pc];
  for (uint32_t rest = trace->lanes; rest; rest &= rest - 1) {
    uint64_t word = trace->request->address[__builtin_ctz(rest)] & ~UINT64_C(3);
    WordChange newest = look_global_change(part->gpu, word);
    unsigned lane = thread_lane(newest.thread);
    if (newest.cycle != cycle || !thread_same_warp(newest.thread, part->thread))
      continue;
    own->lane[lane].worked = true;
    if (lane == (unsigned)__builtin_ctz(rest))
      word_changed(record, own, part, word, lane, polls, cycle);
  }
}

static void part(void *user, const ProbePart *part) {
  DrawRecord *record = user;
  DrawWarp *own = warp_of(record, part->thread);
  const uint64_t *step = part->trace->step;
  DrawQueued queued = {
      .from = milli_cycle(step[TRACE_ENTERED]), .to = milli_cycle(step[TRACE_TURN]), .lanes = part->trace->lanes};
  if (step[TRACE_ENTERED] && queued.to > queued.from)
    g_array_append_val(own->queued, queued);
  if (part->trace->request->kind != MEM_LOAD)
    note_changes(record, own, part);
}

/* ---- life ---- */

static guint hash_thread(gconstpointer data) {
  const ThreadId *id = data;
  return (guint)rng_mix(id->block << 16 ^ id->thread << 8 ^ id->launch);
}

static gboolean same_thread(gconstpointer a, gconstpointer b) {
  return thread_equal(*(const ThreadId *)a, *(const ThreadId *)b);
}

static void clear_place(gpointer data) {
  DrawPlace *place = data;
  g_free(place->file);
  g_free(place->text);
}

static void clear_listing(gpointer data) {
  Listing *listing = data;
  g_free(listing->place);
  g_free(listing->polls);
}

DrawRecord *draw_record_new(void) {
  DrawRecord *record = g_new0(DrawRecord, 1);
  record->warps = g_ptr_array_new_with_free_func(free_warp);
  record->by_id = g_hash_table_new_full(hash_thread, same_thread, g_free, NULL);
  record->listings = g_array_new(FALSE, TRUE, sizeof(Listing));
  g_array_set_clear_func(record->listings, clear_listing);
  record->places = g_array_new(FALSE, FALSE, sizeof(DrawPlace));
  g_array_set_clear_func(record->places, clear_place);
  record->place_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  record->word_holder = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
  record->locks = g_ptr_array_new_with_free_func(g_free);
  record->end = UINT64_MAX;
  record->probe = (Probe){.user = record,
                          .access = memory_access,
                          .part = part,
                          .block_start = block_start,
                          .issued = issued,
                          .joined = joined,
                          .replied = replied};
  return record;
}

void draw_record_free(DrawRecord *record) {
  if (!record)
    return;
  g_ptr_array_free(record->warps, TRUE);
  g_hash_table_destroy(record->by_id);
  g_array_free(record->listings, TRUE);
  g_array_free(record->places, TRUE);
  g_hash_table_destroy(record->place_of);
  g_hash_table_destroy(record->word_holder);
  g_ptr_array_free(record->locks, TRUE);
  g_free(record->bit_holder);
  g_free(record);
}

Probe *draw_record_probe(DrawRecord *record) { return &record->probe; }

static gint by_number(gconstpointer a, gconstpointer b) {
  const DrawWarp *first = *(DrawWarp *const *)a, *second = *(DrawWarp *const *)b;
  if (first->launch != second->launch)
    return first->launch < second->launch ? -1 : 1;
  if (first->block != second->block)
    return first->block < second->block ? -1 : 1;
  return first->warp < second->warp ? -1 : 1;
}

const GPtrArray *draw_record_warps(DrawRecord *record) {
  g_ptr_array_sort(record->warps, by_number);
  return record->warps;
}

const DrawPlace *draw_record_place(const DrawRecord *record, uint32_t place) {
  return &g_array_index(record->places, DrawPlace, place);
}

const char *draw_record_lock(const DrawRecord *record, uint32_t lock) {
  return g_ptr_array_index(record->locks, lock);
}

uint64_t draw_record_end(const DrawRecord *record) { return record->end; }
