#include "sim/report/timeline.h"

#include <inttypes.h>

#include "isa/disasm.h"
#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"
#include "sim/report/timeline_file.h"
#include "sim/report/timeline_flow.h"
#include "sim/report/timeline_memory.h"
#include "sim/report/timeline_rates.h"

/* Tracks of lock bits come after those of any number of warps that fits the cap on events. */
enum { LOCK_TRACKS = 1 << 30 };

/* The instruction that a warp issued last: its slice is written when its end is known. */
typedef struct Slice {
  const char *name; /* NULL: none */
  uint64_t start, until;
  uint32_t line, lanes, track;
  const char *file; /* of the line, if it isn't the program's own; borrowed from the program */
  bool waits;       /* at a barrier, until it issues again */
} Slice;

/* A lock bit that is held. */
typedef struct Hold {
  char *owner; /* NULL: free */
  uint64_t since;
  uint32_t address, line;
  bool named; /* its track has a name */
} Hold;

typedef struct SmTracks {
  Slice slice[SM_WARPS_MAX];
  Hold *hold; /* one for each lock bit */
  uint32_t bits;
} SmTracks;

/* A warp, which may have exited. */
typedef struct WarpKey {
  uint32_t launch, warp;
  uint64_t block;
} WarpKey;

struct Timeline {
  Probe probe;
  TimelineFile *file;
  TimelineMemory *memory;
  TimelineFlow *flow;
  TimelineRates *rates;
  GHashTable *warps; /* tracks, by WarpKey */
  GPtrArray *sms;    /* SmTracks *, NULL where no block came */
  GPtrArray *names;  /* for each launch: char **, the instructions */
  uint32_t tracks;   /* of warps, so far */
  uint64_t cycle;    /* the latest seen */
};

/* ---- writing ---- */

/* An event that lasts, up to its arguments. */
static void add_slice(JsonBuilder *event, uint32_t track, uint64_t start, uint64_t end, const char *category,
                      const char *name) {
  timeline_file_add_number(event, "tid", track);
  timeline_file_add_number(event, "ts", start);
  timeline_file_add_number(event, "dur", MAX(end, start) - start);
  timeline_file_add_text(event, "cat", category);
  timeline_file_add_text(event, "name", name);
  timeline_file_begin_args(event);
}

static void write_slice(Timeline *timeline, uint32_t sm, Slice *slice, uint64_t end) {
  bool taken = slice->name && timeline_file_takes(timeline->file, 1);
  JsonBuilder *event = taken ? timeline_file_begin("X", sm) : NULL;
  if (event) {
    g_autofree char *lanes = g_strdup_printf("0x%08x", slice->lanes);
    add_slice(event, slice->track, slice->start, end, slice->waits ? "barrier" : "instruction", slice->name);
    if (slice->file)
      timeline_file_add_text(event, "file", slice->file);
    timeline_file_add_number(event, "line", slice->line);
    timeline_file_add_text(event, "lanes", lanes);
    timeline_file_end(timeline->file, event);
  }
  slice->name = NULL;
}

static void write_hold(Timeline *timeline, uint32_t sm, uint32_t bit, uint64_t end) {
  Hold *hold = &((SmTracks *)g_ptr_array_index(timeline->sms, sm))->hold[bit];
  bool taken = hold->owner && timeline_file_takes(timeline->file, 1);
  JsonBuilder *event = taken ? timeline_file_begin("X", sm) : NULL;
  if (event) {
    g_autofree char *address = g_strdup_printf("0x%x", hold->address);
    add_slice(event, LOCK_TRACKS + bit, hold->since, end, "lock", hold->owner);
    timeline_file_add_number(event, "line", hold->line);
    timeline_file_add_text(event, "address", address);
    timeline_file_end(timeline->file, event);
  }
  g_clear_pointer(&hold->owner, g_free);
}

/* ---- following the run ---- */

static void free_sm(gpointer data) {
  SmTracks *sm = data;
  for (uint32_t bit = 0; sm && bit < sm->bits; bit++)
    g_free(sm->hold[bit].owner);
  if (sm)
    g_free(sm->hold);
  g_free(sm);
}

static SmTracks *sm_tracks(Timeline *timeline, const Sm *sm) {
  if (timeline->sms->len <= sm->index)
    g_ptr_array_set_size(timeline->sms, (gint)sm->index + 1);
  SmTracks *tracks = g_ptr_array_index(timeline->sms, sm->index);
  if (!tracks) {
    tracks = g_new0(SmTracks, 1);
    tracks->bits = sm->lock_unit.bits;
    tracks->hold = g_new0(Hold, tracks->bits);
    g_ptr_array_index(timeline->sms, sm->index) = tracks;
    g_autofree char *name = g_strdup_printf("SM %u", sm->index);
    timeline_file_name_process(timeline->file, sm->index, name);
  }
  return tracks;
}

static char **make_names(const Kernel *kernel) {
  char **names = g_new0(char *, kernel->ninsts + 1);
  for (uint32_t i = 0; i < kernel->ninsts; i++)
    names[i] = disasm_inst(kernel, &kernel->insts[i]);
  return names;
}

static const char *inst_name(Timeline *timeline, const Launch *launch, uint32_t pc) {
  if (timeline->names->len <= launch->index)
    g_ptr_array_set_size(timeline->names, (gint)launch->index + 1);
  char **names = g_ptr_array_index(timeline->names, launch->index);
  if (!names)
    names = g_ptr_array_index(timeline->names, launch->index) = make_names(launch->kernel);
  return names[pc];
}

static void start_over(Timeline *timeline) {
  g_ptr_array_set_size(timeline->sms, 0);
  g_hash_table_remove_all(timeline->warps);
  timeline->tracks = 0;
  timeline_file_restart(timeline->file);
  timeline_memory_restart(timeline->memory);
  timeline_flow_restart(timeline->flow);
  timeline_rates_restart(timeline->rates);
}

static void block_start(void *user, const ProbePoint *point) {
  Timeline *timeline = user;
  const Block *block = point->block;
  if (point->gpu->ages == block->warps) /* the first of all */
    start_over(timeline);
  SmTracks *sm = sm_tracks(timeline, point->sm);
  for (uint32_t i = 0; i < block->warps; i++) {
    Slice *slice = &sm->slice[block->warp_slot[i]];
    *slice = (Slice){.track = ++timeline->tracks};
    WarpKey key = {block->launch->index, i, block->index};
    g_hash_table_insert(timeline->warps, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(slice->track));
    g_autoptr(GString) name = g_string_new(NULL);
    if (point->gpu->launches->len > 1)
      g_string_append_printf(name, "launch %u, ", block->launch->index);
    g_string_append_printf(name, "block %" PRIu64 ", warp %u", block->index, i);
    timeline_file_name_track(timeline->file, point->sm->index, slice->track, name->str);
  }
}

static void block_end(void *user, const ProbePoint *point) {
  Timeline *timeline = user;
  SmTracks *sm = sm_tracks(timeline, point->sm);
  for (uint32_t i = 0; i < point->block->warps; i++) {
    Slice *slice = &sm->slice[point->block->warp_slot[i]];
    write_slice(timeline, point->sm->index, slice, slice->until);
  }
  timeline_rates_ended(timeline->rates, point->gpu, point->sm, MAX(timeline->cycle, point->cycle));
}

static void issued(void *user, const ProbePoint *point, uint64_t until) {
  Timeline *timeline = user;
  Slice *slice = &sm_tracks(timeline, point->sm)->slice[point->warp->slot];
  write_slice(timeline, point->sm->index, slice, MIN(slice->until, point->cycle));
  slice->name = inst_name(timeline, point->block->launch, point->pc);
  slice->start = point->cycle;
  slice->line = point->inst->line;
  slice->file = point->inst->file ? program_file_name(point->block->launch->program, point->inst->file) : NULL;
  slice->lanes = point->lanes;
  slice->waits = op_info[point->inst->op].flags & OPF_BARRIER && point->inst->mode != BAR_ARV && point->lanes != 0;
  slice->until = slice->waits ? UINT64_MAX : until;
  timeline->cycle = MAX(timeline->cycle, point->cycle);
  timeline_rates_issued(timeline->rates, point->gpu, point->sm, point->cycle);
}

static void take(Timeline *timeline, const ProbePoint *point, uint32_t bit) {
  const LockBit *held = look_bit(point->sm, bit);
  SmTracks *sm = sm_tracks(timeline, point->sm);
  write_hold(timeline, point->sm->index, bit, point->cycle); /* a launch may have freed it */
  if (!sm->hold[bit].named) {
    g_autofree char *name = g_strdup_printf("lock bit %u", bit);
    timeline_file_name_track(timeline->file, point->sm->index, LOCK_TRACKS + bit, name);
  }
  sm->hold[bit] = (Hold){.owner = locate_thread_text(point->gpu, held->owner),
                         .since = held->since,
                         .address = held->address,
                         .line = locate_line(point->block->launch, held->pc),
                         .named = true};
}

static uint32_t track_of(Timeline *timeline, const ProbePoint *point) {
  return sm_tracks(timeline, point->sm)->slice[point->warp->slot].track;
}

static void memory_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                          const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  Timeline *timeline = user;
  if (space == SPACE_GLOBAL && kind != ACCESS_READ)
    timeline_flow_change(timeline->flow, point, number, track_of(timeline, point));
  for (uint32_t rest = unlock ? point->lanes : taken; rest; rest &= rest - 1) {
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[__builtin_ctz(rest)]);
    if (unlock)
      write_hold(timeline, point->sm->index, bit, point->cycle);
    else
      take(timeline, point, bit);
  }
}

static void fence(void *user, const ProbePoint *point) {
  Timeline *timeline = user;
  timeline_flow_fence(timeline->flow, track_of(timeline, point));
}

static void part(void *user, const ProbePart *part) {
  Timeline *timeline = user;
  WarpKey key = {part->thread.launch, thread_warp(part->thread), part->thread.block};
  uint32_t track = GPOINTER_TO_UINT(g_hash_table_lookup(timeline->warps, &key));
  timeline_memory_part(timeline->memory, part, track);
  timeline_flow_part(timeline->flow, part, track);
  uint64_t performed = part->trace->step[TRACE_PERFORMED];
  timeline_rates_performed(timeline->rates, part->gpu, milli_cycle(performed));
}

/* ---- life ---- */

static guint hash_warp(gconstpointer data) {
  const WarpKey *key = data;
  return (guint)rng_mix(key->block << 16 ^ key->warp << 8 ^ key->launch);
}

static gboolean same_warp(gconstpointer a, gconstpointer b) {
  const WarpKey *first = a, *second = b;
  return first->launch == second->launch && first->warp == second->warp && first->block == second->block;
}

static void free_names(gpointer names) { g_strfreev(names); }

Timeline *timeline_new(const char *path, uint64_t events, Diag *diag) {
  TimelineFile *file = timeline_file_open(path, events, diag);
  if (!file)
    return NULL;
  Timeline *timeline = g_new0(Timeline, 1);
  timeline->file = file;
  timeline->memory = timeline_memory_new(file);
  timeline->flow = timeline_flow_new(file);
  timeline->rates = timeline_rates_new(file);
  timeline->warps = g_hash_table_new_full(hash_warp, same_warp, g_free, NULL);
  timeline->sms = g_ptr_array_new_with_free_func(free_sm);
  timeline->names = g_ptr_array_new_with_free_func(free_names);
  timeline->probe = (Probe){.user = timeline,
                            .access = memory_access,
                            .part = part,
                            .fence = fence,
                            .block_start = block_start,
                            .block_end = block_end,
                            .issued = issued};
  return timeline;
}

Probe *timeline_probe(Timeline *timeline) { return &timeline->probe; }

/* What hasn't ended lasts until the end of the run. */
static void end_tracks(Timeline *timeline) {
  for (uint32_t i = 0; i < timeline->sms->len; i++) {
    SmTracks *sm = g_ptr_array_index(timeline->sms, i);
    for (unsigned slot = 0; sm && slot < SM_WARPS_MAX; slot++)
      write_slice(timeline, i, &sm->slice[slot], MIN(sm->slice[slot].until, timeline->cycle));
    for (uint32_t bit = 0; sm && bit < sm->bits; bit++)
      write_hold(timeline, i, bit, timeline->cycle);
  }
}

bool timeline_close(Timeline *timeline, Diag *diag) {
  end_tracks(timeline);
  timeline_memory_end(timeline->memory);
  timeline_rates_end(timeline->rates);
  bool fine = timeline_file_close(timeline->file, diag);
  timeline_memory_free(timeline->memory);
  timeline_flow_free(timeline->flow);
  timeline_rates_free(timeline->rates);
  g_hash_table_destroy(timeline->warps);
  g_ptr_array_free(timeline->sms, TRUE);
  g_ptr_array_free(timeline->names, TRUE);
  g_free(timeline);
  return fine;
}
