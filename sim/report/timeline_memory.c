#include "sim/report/timeline_memory.h"

#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"

/* Tracks of a slice: for turns in its atomic unit (several where it locks lines), and for hostages. */
enum { SLICE_TRACKS = 1 << 10, HOSTAGE_TRACKS = SLICE_TRACKS / 2 };

/* A counter changes. */
typedef struct Change {
  uint64_t milli;
  uint32_t process, slice; /* slice: of the memory's process */
  int32_t by;
} Change;

struct TimelineMemory {
  TimelineFile *file;
  bool begun; /* something came */
  MemForm form;
  uint32_t slices, process; /* of the memory */
  GHashTable *tracks;       /* by number: when the last slice on it ends, in thousandths, as a guint64 * */
  GArray *changes;          /* Change */
};

static const char *const kinds[] = {[MEM_LOAD] = "load", [MEM_STORE] = "store", [MEM_ATOMIC] = "atomic"};

TimelineMemory *timeline_memory_new(TimelineFile *file) {
  TimelineMemory *memory = g_new0(TimelineMemory, 1);
  memory->file = file;
  memory->tracks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
  memory->changes = g_array_new(FALSE, FALSE, sizeof(Change));
  return memory;
}

void timeline_memory_free(TimelineMemory *memory) {
  g_hash_table_destroy(memory->tracks);
  g_array_free(memory->changes, TRUE);
  g_free(memory);
}

void timeline_memory_restart(TimelineMemory *memory) {
  g_hash_table_remove_all(memory->tracks);
  g_array_set_size(memory->changes, 0);
  memory->begun = false;
}

/* ---- tracks of slices ---- */

static const char *slice_name(const TimelineMemory *memory) {
  return memory->form == MEM_IS_L2 ? "slice" : memory->form == MEM_IS_PARTITIONS ? "partition" : "server";
}

static void begin(TimelineMemory *memory, const Gpu *gpu) {
  static const char *const names[] = {
      [MEM_IS_SERVER] = "memory", [MEM_IS_PARTITIONS] = "memory partitions", [MEM_IS_L2] = "L2"};
  memory->begun = true;
  memory->form = look_memory(gpu)->form;
  memory->slices = look_memory(gpu)->slices;
  memory->process = gpu->machine->gpu.sms;
  timeline_file_name_process(memory->file, memory->process, names[memory->form]);
}

static void name_track(TimelineMemory *memory, uint32_t slice, uint32_t nth, bool hostage, uint64_t track) {
  g_autoptr(GString) name = g_string_new(NULL);
  g_string_printf(name, "%s %u, %s", slice_name(memory), slice, hostage ? "hostages" : "atomic unit");
  if (nth)
    g_string_append_printf(name, ", line %u", nth + 1);
  timeline_file_name_track(memory->file, memory->process, track, name->str);
}

/* The first track of the slice where nothing lasts until `from`; something does until `until` then. */
static uint64_t take_track(TimelineMemory *memory, uint32_t slice, bool hostage, uint64_t from, uint64_t until) {
  for (uint32_t nth = 0;; nth++) {
    uint64_t track = (uint64_t)slice * SLICE_TRACKS + (hostage ? HOSTAGE_TRACKS : 0) + MIN(nth, HOSTAGE_TRACKS - 1u);
    uint64_t *end = g_hash_table_lookup(memory->tracks, &track);
    if (end && *end > from)
      continue;
    if (!end) {
      name_track(memory, slice, nth, hostage, track);
      g_hash_table_insert(memory->tracks, g_memdup2(&track, sizeof track), end = g_new0(uint64_t, 1));
    }
    *end = until;
    return track;
  }
}

/* ---- what happened to a part ---- */

/* "count[3]": the first word that the part touches. */
static char *word_text(const ProbePart *part) {
  uint64_t address = part->trace->request->address[__builtin_ctz(part->trace->lanes)], word;
  const char *name;
  if (look_buffer(part->gpu, address, &name, &word))
    return g_strdup_printf("%s[%" G_GUINT64_FORMAT "]", name, word);
  return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", address);
}

static void write_slice(TimelineMemory *memory, const ProbePart *part, bool hostage, TraceStep from,
                        TraceStep until) {
  const MemTrace *trace = part->trace;
  uint64_t track = take_track(memory, trace->slice, hostage, trace->step[from], trace->step[until]);
  if (!timeline_file_takes(memory->file, 1))
    return;
  g_autofree char *word = word_text(part);
  g_autofree char *name = g_strdup_printf("%s %s%s", kinds[trace->request->kind], word, hostage ? " waits" : "");
  JsonBuilder *event = timeline_file_begin("X", memory->process);
  timeline_file_add_number(event, "tid", track);
  timeline_file_add_milli(event, "ts", trace->step[from]);
  timeline_file_add_milli(event, "dur", trace->step[until] - trace->step[from]);
  timeline_file_add_text(event, "cat", hostage ? "hostage" : "atomic");
  timeline_file_add_text(event, "name", name);
  timeline_file_begin_args(event);
  timeline_file_add_number(event, "sm", part->sm->index);
  timeline_file_add_number(event, "line", locate_line(part->launch, part->pc));
  timeline_file_add_number(event, "lanes", (uint64_t)__builtin_popcount(trace->lanes));
  timeline_file_end(memory->file, event);
}

static void count(TimelineMemory *memory, uint32_t process, uint32_t slice, uint64_t from, uint64_t until) {
  if (until <= from)
    return;
  Change first = {from, process, slice, 1}, last = {until, process, slice, -1};
  g_array_append_val(memory->changes, first);
  g_array_append_val(memory->changes, last);
}

/* While it waits for a turn in a slice, or in its atomic unit. */
static void count_waits(TimelineMemory *memory, const MemTrace *trace) {
  const uint64_t *step = trace->step;
  if (step[TRACE_CROSSED]) {
    count(memory, memory->process, trace->first, step[TRACE_ARRIVED], step[TRACE_CROSSED]);
    count(memory, memory->process, trace->slice, step[TRACE_HOME], step[TRACE_SERVED]);
  } else if (step[TRACE_SERVED]) {
    count(memory, memory->process, trace->slice, step[TRACE_ARRIVED], step[TRACE_SERVED]);
  }
  if (step[TRACE_TURN])
    count(memory, memory->process, trace->slice, step[TRACE_ENTERED], step[TRACE_TURN]);
}

/* ---- requests ---- */

static JsonBuilder *begin_span(const char *kind, const ProbePart *part, uint32_t track, uint64_t milli) {
  g_autofree char *word = word_text(part), *name = g_strdup_printf("%s %s", kinds[part->trace->request->kind], word);
  g_autofree char *id = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", part->number);
  JsonBuilder *event = timeline_file_begin(kind, part->sm->index);
  timeline_file_add_number(event, "tid", track);
  timeline_file_add_text(event, "id", id);
  timeline_file_add_milli(event, "ts", milli);
  timeline_file_add_text(event, "cat", "request");
  timeline_file_add_text(event, "name", name);
  timeline_file_begin_args(event);
  return event;
}

static void add_steps(JsonBuilder *event, const MemTrace *trace) {
  static const char *const names[TRACE_STEPS] = {
      [TRACE_SENT] = "sent",           [TRACE_LEFT] = "left port",         [TRACE_ARRIVED] = "at slice",
      [TRACE_CROSSED] = "crossed",     [TRACE_HOME] = "at home slice",     [TRACE_SERVED] = "served",
      [TRACE_FILLED] = "from DRAM",    [TRACE_ENTERED] = "at atomic unit", [TRACE_TURN] = "turn",
      [TRACE_TURN_OVER] = "turn over", [TRACE_PERFORMED] = "performed",    [TRACE_REPLIED] = "replied"};
  for (TraceStep step = 0; step < TRACE_STEPS; step++)
    if (trace->step[step] || step <= TRACE_LEFT)
      timeline_file_add_milli(event, names[step], trace->step[step]);
}

/* All parts have been performed: from the first sent to the last answered. */
static void write_request(TimelineMemory *memory, const ProbePart *part, uint32_t track) {
  const MemTrace *trace = part->trace;
  uint64_t from = trace->step[TRACE_SENT], until = MAX(trace->request->answered, trace->step[TRACE_REPLIED]);
  if (memory->form == MEM_IS_SERVER)
    until = trace->step[TRACE_REPLIED];
  count(memory, part->sm->index, 0, from, until);
  if (!timeline_file_takes(memory->file, 2))
    return;
  JsonBuilder *event = begin_span("b", part, track, from);
  timeline_file_add_number(event, "line", locate_line(part->launch, part->pc));
  timeline_file_add_number(event, "lanes", (uint64_t)__builtin_popcount(trace->request->mask));
  timeline_file_add_number(event, "bytes", trace->request->bytes);
  if (trace->slice != TRACE_NO_SLICE)
    timeline_file_add_number(event, slice_name(memory), trace->slice);
  add_steps(event, trace);
  timeline_file_end(memory->file, event);
  timeline_file_end(memory->file, begin_span("e", part, track, until));
}

void timeline_memory_part(TimelineMemory *memory, const ProbePart *part, uint32_t track) {
  const MemTrace *trace = part->trace;
  if (!memory->begun)
    begin(memory, part->gpu);
  if (trace->step[TRACE_TURN_OVER] > trace->step[TRACE_TURN])
    write_slice(memory, part, false, TRACE_TURN, TRACE_TURN_OVER);
  if (trace->request->kind != MEM_ATOMIC && trace->step[TRACE_TURN] > trace->step[TRACE_ENTERED])
    write_slice(memory, part, true, TRACE_ENTERED, TRACE_TURN);
  if (trace->slice != TRACE_NO_SLICE)
    count_waits(memory, trace);
  if (trace->last)
    write_request(memory, part, track);
}

/* ---- counters ---- */

static gint by_time(gconstpointer a, gconstpointer b) {
  const Change *first = a, *second = b;
  if (first->milli != second->milli)
    return first->milli < second->milli ? -1 : 1;
  if (first->process != second->process)
    return first->process < second->process ? -1 : 1;
  return first->slice < second->slice ? -1 : first->slice > second->slice;
}

static bool same_counter(const Change *a, const Change *b) {
  return a->milli == b->milli && a->process == b->process && a->slice == b->slice;
}

static void write_counter(TimelineMemory *memory, const Change *change, int64_t value) {
  bool slice = change->process == memory->process;
  if (!timeline_file_takes(memory->file, 1))
    return;
  g_autofree char *name =
      slice ? g_strdup_printf("%s %u, queue", slice_name(memory), change->slice) : g_strdup("requests under way");
  JsonBuilder *event = timeline_file_begin("C", change->process);
  timeline_file_add_milli(event, "ts", change->milli);
  timeline_file_add_text(event, "name", name);
  timeline_file_begin_args(event);
  timeline_file_add_number(event, slice ? "parts" : "requests", (uint64_t)value);
  timeline_file_end(memory->file, event);
}

void timeline_memory_end(TimelineMemory *memory) {
  if (!memory->begun)
    return;
  g_autofree int64_t *value = g_new0(int64_t, memory->process + memory->slices);
  g_array_sort(memory->changes, by_time);
  for (guint i = 0; i < memory->changes->len; i++) {
    const Change *change = &g_array_index(memory->changes, Change, i);
    int64_t *now = &value[change->process + change->slice];
    *now += change->by;
    bool more = i + 1 < memory->changes->len && same_counter(change, change + 1);
    if (!more)
      write_counter(memory, change, *now);
  }
}
