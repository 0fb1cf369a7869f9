#include "sim/report/timeline_flow.h"

#include "sim/core/cached.h"
#include "sim/core/look.h"

/* A release: where its arrows begin. */
typedef struct Release {
  uint32_t process, track;
  uint64_t cycle;      /* it issued */
  GHashTable *readers; /* tracks that have an arrow from it; NULL: none so far */
} Release;

struct TimelineFlow {
  TimelineFile *file;
  GHashTable *fenced;  /* tracks that have fenced, and sent no change since */
  GHashTable *sent;    /* Release * by the number of the access: those under way */
  GHashTable *left_by; /* Release * by the address of the word that it left as it is */
  uint64_t arrows;
};

static void free_release(gpointer data) {
  Release *release = data;
  if (release->readers)
    g_hash_table_destroy(release->readers);
  g_free(release);
}

TimelineFlow *timeline_flow_new(TimelineFile *file) {
  TimelineFlow *flow = g_new0(TimelineFlow, 1);
  flow->file = file;
  flow->fenced = g_hash_table_new(g_direct_hash, g_direct_equal);
  flow->sent = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
  flow->left_by = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_release);
  return flow;
}

void timeline_flow_free(TimelineFlow *flow) {
  g_hash_table_destroy(flow->fenced);
  g_hash_table_destroy(flow->sent);
  g_hash_table_destroy(flow->left_by);
  g_free(flow);
}

void timeline_flow_restart(TimelineFlow *flow) {
  g_hash_table_remove_all(flow->fenced);
  g_hash_table_remove_all(flow->sent);
  g_hash_table_remove_all(flow->left_by);
  flow->arrows = 0;
}

void timeline_flow_fence(TimelineFlow *flow, uint32_t track) {
  g_hash_table_add(flow->fenced, GUINT_TO_POINTER(track));
}

void timeline_flow_change(TimelineFlow *flow, const ProbePoint *point, uint64_t number, uint32_t track) {
  bool fenced = g_hash_table_remove(flow->fenced, GUINT_TO_POINTER(track));
  if (!fenced && !cached_is_release(point->inst))
    return;
  Release *release = g_new(Release, 1);
  *release = (Release){.process = point->sm->index, .track = track, .cycle = point->cycle};
  g_hash_table_insert(flow->sent, g_memdup2(&number, sizeof number), release);
}

/* ---- parts ---- */

static void write_end(TimelineFlow *flow, const char *kind, uint32_t process, uint32_t track, uint64_t cycle) {
  JsonBuilder *event = timeline_file_begin(kind, process);
  timeline_file_add_number(event, "tid", track);
  timeline_file_add_number(event, "id", flow->arrows);
  timeline_file_add_number(event, "ts", cycle);
  timeline_file_add_text(event, "cat", "order");
  timeline_file_add_text(event, "name", "release to acquire");
  if (*kind == 'f')
    timeline_file_add_text(event, "bp", "e");
  timeline_file_begin_args(event);
  timeline_file_end(flow->file, event);
}

/* A request of the warp reads a word in that cycle. */
static void read_word(TimelineFlow *flow, uint64_t word, const ProbePart *part, uint32_t track, uint64_t cycle) {
  Release *release = g_hash_table_lookup(flow->left_by, &word);
  if (!release || release->track == track)
    return;
  if (!release->readers)
    release->readers = g_hash_table_new(g_direct_hash, g_direct_equal);
  if (!g_hash_table_add(release->readers, GUINT_TO_POINTER(track)))
    return;
  flow->arrows++;
  if (!timeline_file_takes(flow->file, 2))
    return;
  write_end(flow, "s", release->process, release->track, release->cycle);
  write_end(flow, "f", part->sm->index, track, cycle);
}

/* The access, a release or not (`release` NULL), may have changed the word in that cycle. */
static void change_word(TimelineFlow *flow, uint64_t word, const ProbePart *part, const Release *release,
                        uint64_t cycle) {
  WordChange newest = look_global_change(part->gpu, word);
  if (newest.cycle != cycle || !thread_same_warp(newest.thread, part->thread))
    return; /* it holds what it held */
  if (release)
    g_hash_table_insert(flow->left_by, g_memdup2(&word, sizeof word), g_memdup2(release, sizeof *release));
  else
    g_hash_table_remove(flow->left_by, &word);
}

void timeline_flow_part(TimelineFlow *flow, const ProbePart *part, uint32_t track) {
  const MemTrace *trace = part->trace;
  const Release *release = g_hash_table_lookup(flow->sent, &part->number);
  uint64_t cycle = milli_cycle(trace->step[TRACE_PERFORMED]);
  for (uint32_t rest = trace->lanes; rest; rest &= rest - 1) {
    uint64_t word = trace->request->address[__builtin_ctz(rest)] & ~UINT64_C(3);
    if (trace->request->kind != MEM_STORE)
      read_word(flow, word, part, track, cycle);
    if (trace->request->kind != MEM_LOAD)
      change_word(flow, word, part, release, cycle);
  }
  if (trace->last)
    g_hash_table_remove(flow->sent, &part->number);
}
