#include "sim/report/timeline.h"
#include "sim/core/look.h"

#include <errno.h>
#include <inttypes.h>
#include <json-glib/json-glib.h>
#include <stdio.h>

#include "isa/disasm.h"
#include "sim/core/gpu.h"
#include "sim/detect/naming/locate.h"

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

struct Timeline {
  Probe probe;
  FILE *file;
  char *path;
  GPtrArray *sms;   /* SmTracks *, NULL where no block came */
  GPtrArray *names; /* for each launch: char **, the instructions */
  uint32_t tracks;  /* of warps, so far */
  uint64_t events;  /* of this run, so far */
  uint64_t written, limit;
  uint64_t cycle; /* the latest seen */
};

/* ---- writing ---- */

/* A new event of kind `kind` (its object is open), or NULL if it isn't to be written: there are too many, or the run was
 * started over and has told it before (a run is deterministic, so it tells the same again). */
static JsonBuilder *begin_event(Timeline *timeline, const char *kind, uint32_t sm) {
  if (++timeline->events <= timeline->written || timeline->written >= timeline->limit)
    return NULL;
  JsonBuilder *event = json_builder_begin_object(json_builder_new());
  json_builder_add_string_value(json_builder_set_member_name(event, "ph"), kind);
  json_builder_add_int_value(json_builder_set_member_name(event, "pid"), sm);
  return event;
}

static void add_number(JsonBuilder *event, const char *name, uint64_t value) {
  json_builder_add_int_value(json_builder_set_member_name(event, name), (gint64)value);
}

static void add_text(JsonBuilder *event, const char *name, const char *text) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  json_builder_add_string_value(json_builder_set_member_name(event, name), valid);
}

static void begin_args(JsonBuilder *event) { json_builder_begin_object(json_builder_set_member_name(event, "args")); }

/* Closes the arguments and the event, and writes it. */
static void end_event(Timeline *timeline, JsonBuilder *event) {
  json_builder_end_object(json_builder_end_object(event));
  JsonNode *root = json_builder_get_root(event);
  g_autofree char *text = json_to_string(root, FALSE);
  fprintf(timeline->file, "%s%s", timeline->written++ ? ",\n" : "\n", text);
  json_node_unref(root);
  g_object_unref(event);
}

static void name_process(Timeline *timeline, uint32_t sm) {
  JsonBuilder *event = begin_event(timeline, "M", sm);
  if (!event)
    return;
  g_autofree char *name = g_strdup_printf("SM %u", sm);
  add_text(event, "name", "process_name");
  begin_args(event);
  add_text(event, "name", name);
  end_event(timeline, event);
}

static void name_track(Timeline *timeline, uint32_t sm, uint32_t track, const char *name) {
  JsonBuilder *event = begin_event(timeline, "M", sm);
  if (!event)
    return;
  add_number(event, "tid", track);
  add_text(event, "name", "thread_name");
  begin_args(event);
  add_text(event, "name", name);
  end_event(timeline, event);
}

/* An event that lasts, up to its arguments. */
static void add_slice(JsonBuilder *event, uint32_t track, uint64_t start, uint64_t end, const char *category,
                      const char *name) {
  add_number(event, "tid", track);
  add_number(event, "ts", start);
  add_number(event, "dur", MAX(end, start) - start);
  add_text(event, "cat", category);
  add_text(event, "name", name);
  begin_args(event);
}

static void write_slice(Timeline *timeline, uint32_t sm, Slice *slice, uint64_t end) {
  JsonBuilder *event = slice->name ? begin_event(timeline, "X", sm) : NULL;
  if (event) {
    g_autofree char *lanes = g_strdup_printf("0x%08x", slice->lanes);
    add_slice(event, slice->track, slice->start, end, slice->waits ? "barrier" : "instruction", slice->name);
    if (slice->file)
      add_text(event, "file", slice->file);
    add_number(event, "line", slice->line);
    add_text(event, "lanes", lanes);
    end_event(timeline, event);
  }
  slice->name = NULL;
}

static void write_hold(Timeline *timeline, uint32_t sm, uint32_t bit, uint64_t end) {
  Hold *hold = &((SmTracks *)g_ptr_array_index(timeline->sms, sm))->hold[bit];
  JsonBuilder *event = hold->owner ? begin_event(timeline, "X", sm) : NULL;
  if (event) {
    g_autofree char *address = g_strdup_printf("0x%x", hold->address);
    add_slice(event, LOCK_TRACKS + bit, hold->since, end, "lock", hold->owner);
    add_number(event, "line", hold->line);
    add_text(event, "address", address);
    end_event(timeline, event);
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
    name_process(timeline, sm->index);
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
  timeline->tracks = 0;
  timeline->events = 0;
}

static void block_start(void *user, const ProbePoint *point) {
  Timeline *timeline = user;
  const Block *block = point->block;
  if (block->index == 0 && block->launch->index == 0)
    start_over(timeline);
  SmTracks *sm = sm_tracks(timeline, point->sm);
  for (uint32_t i = 0; i < block->warps; i++) {
    Slice *slice = &sm->slice[block->warp_slot[i]];
    *slice = (Slice){.track = ++timeline->tracks};
    g_autoptr(GString) name = g_string_new(NULL);
    if (point->gpu->launches->len > 1)
      g_string_append_printf(name, "launch %u, ", block->launch->index);
    g_string_append_printf(name, "block %" PRIu64 ", warp %u", block->index, i);
    name_track(timeline, point->sm->index, slice->track, name->str);
  }
}

static void block_end(void *user, const ProbePoint *point) {
  Timeline *timeline = user;
  SmTracks *sm = sm_tracks(timeline, point->sm);
  for (uint32_t i = 0; i < point->block->warps; i++) {
    Slice *slice = &sm->slice[point->block->warp_slot[i]];
    write_slice(timeline, point->sm->index, slice, slice->until);
  }
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
  slice->waits = point->inst->op == OP_BAR && point->inst->mode != BAR_ARV && point->lanes != 0;
  slice->until = slice->waits ? UINT64_MAX : until;
  timeline->cycle = MAX(timeline->cycle, point->cycle);
}

static void take(Timeline *timeline, const ProbePoint *point, uint32_t bit) {
  const LockBit *held = look_bit(point->sm, bit);
  SmTracks *sm = sm_tracks(timeline, point->sm);
  write_hold(timeline, point->sm->index, bit, point->cycle); /* a launch may have freed it */
  if (!sm->hold[bit].named) {
    g_autofree char *name = g_strdup_printf("lock bit %u", bit);
    name_track(timeline, point->sm->index, LOCK_TRACKS + bit, name);
  }
  sm->hold[bit] = (Hold){.owner = locate_thread_text(point->gpu, held->owner),
                         .since = held->since,
                         .address = held->address,
                         .line = locate_line(point->block->launch, held->pc),
                         .named = true};
}

static void memory_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                          const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  (void)number;
  Timeline *timeline = user;
  for (uint32_t rest = unlock ? point->lanes : taken; rest; rest &= rest - 1) {
    uint32_t bit = lock_unit_index(&point->sm->lock_unit, (uint32_t)address[__builtin_ctz(rest)]);
    if (unlock)
      write_hold(timeline, point->sm->index, bit, point->cycle);
    else
      take(timeline, point, bit);
  }
}

/* ---- life ---- */

static void free_names(gpointer names) { g_strfreev(names); }

Timeline *timeline_new(const char *path, uint64_t events, Diag *diag) {
  FILE *file = fopen(path, "w");
  if (!file) {
    diag_error(diag, path, 0, 0, "can't write the timeline: %s", g_strerror(errno));
    return NULL;
  }
  Timeline *timeline = g_new0(Timeline, 1);
  timeline->file = file;
  timeline->path = g_strdup(path);
  timeline->limit = events;
  timeline->sms = g_ptr_array_new_with_free_func(free_sm);
  timeline->names = g_ptr_array_new_with_free_func(free_names);
  timeline->probe = (Probe){.user = timeline,
                            .access = memory_access,
                            .block_start = block_start,
                            .block_end = block_end,
                            .issued = issued};
  fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"1 us of the trace is 1 cycle of the SMs\"},"
        "\"traceEvents\":[",
        file);
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
  if (timeline->events > timeline->written)
    diag_warning(diag, timeline->path, 0, 0,
                 "the timeline has the first %" PRIu64 " events; %" PRIu64 " more are left out", timeline->written,
                 timeline->events - timeline->written);
  fputs("\n]}\n", timeline->file);
  bool failed = ferror(timeline->file) != 0;
  errno = 0;
  failed = fclose(timeline->file) != 0 || failed;
  if (failed)
    diag_error(diag, timeline->path, 0, 0, "can't write the timeline%s%s", errno ? ": " : "",
               errno ? g_strerror(errno) : "");
  g_ptr_array_free(timeline->sms, TRUE);
  g_ptr_array_free(timeline->names, TRUE);
  g_free(timeline->path);
  g_free(timeline);
  return !failed;
}
