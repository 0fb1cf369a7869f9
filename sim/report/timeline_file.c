#include "sim/report/timeline_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/whole_file.h"
#include "sim/engine/milli.h"

struct TimelineFile {
  WholeFile *file;
  uint64_t told; /* events of this run, so far */
  uint64_t written, limit;
  bool full;
};

static void put(TimelineFile *file, const char *text) { whole_file_put(file->file, text, strlen(text)); }

TimelineFile *timeline_file_open(const char *path, uint64_t events, Diag *diag) {
  WholeFile *out = whole_file_open(path, "the timeline", diag);
  if (!out)
    return NULL;
  TimelineFile *file = g_new0(TimelineFile, 1);
  *file = (TimelineFile){.file = out, .limit = events};
  put(file, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"1 us of the trace is 1 cycle of the SMs\"},"
            "\"traceEvents\":[");
  return file;
}

bool timeline_file_close(TimelineFile *file, Diag *diag) {
  if (file->told > file->written)
    diag_warning(diag, whole_file_path(file->file), 0, 0,
                 "the timeline has the first %" PRIu64 " events; %" PRIu64 " more are left out", file->written,
                 file->told - file->written);
  put(file, "\n]}\n");
  bool written = whole_file_close(file->file, diag);
  g_free(file);
  return written;
}

void timeline_file_restart(TimelineFile *file) { file->told = 0; }

bool timeline_file_takes(TimelineFile *file, uint32_t count) {
  bool is_new = file->told >= file->written;
  file->told += count;
  if (is_new && file->written + count > file->limit)
    file->full = true;
  return is_new && !file->full;
}

JsonBuilder *timeline_file_begin(const char *kind, uint32_t process) {
  JsonBuilder *event = json_builder_begin_object(json_builder_new());
  json_builder_add_string_value(json_builder_set_member_name(event, "ph"), kind);
  json_builder_add_int_value(json_builder_set_member_name(event, "pid"), process);
  return event;
}

void timeline_file_end(TimelineFile *file, JsonBuilder *event) {
  json_builder_end_object(json_builder_end_object(event));
  JsonNode *root = json_builder_get_root(event);
  g_autofree char *text = json_to_string(root, FALSE);
  put(file, file->written++ ? ",\n" : "\n");
  put(file, text);
  json_node_unref(root);
  g_object_unref(event);
}

void timeline_file_add_number(JsonBuilder *event, const char *name, uint64_t value) {
  json_builder_add_int_value(json_builder_set_member_name(event, name), (gint64)value);
}

void timeline_file_add_text(JsonBuilder *event, const char *name, const char *text) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  json_builder_add_string_value(json_builder_set_member_name(event, name), valid);
}

void timeline_file_add_milli(JsonBuilder *event, const char *name, uint64_t milli) {
  if (milli % MILLI_CYCLE == 0)
    timeline_file_add_number(event, name, milli / MILLI_CYCLE);
  else
    json_builder_add_double_value(json_builder_set_member_name(event, name), (double)milli / MILLI_CYCLE);
}

void timeline_file_begin_args(JsonBuilder *event) {
  json_builder_begin_object(json_builder_set_member_name(event, "args"));
}

static void add_name(TimelineFile *file, JsonBuilder *event, const char *what, const char *name) {
  timeline_file_add_text(event, "name", what);
  timeline_file_begin_args(event);
  timeline_file_add_text(event, "name", name);
  timeline_file_end(file, event);
}

void timeline_file_name_process(TimelineFile *file, uint32_t process, const char *name) {
  if (timeline_file_takes(file, 1))
    add_name(file, timeline_file_begin("M", process), "process_name", name);
}

void timeline_file_name_track(TimelineFile *file, uint32_t process, uint64_t track, const char *name) {
  if (!timeline_file_takes(file, 1))
    return;
  JsonBuilder *event = timeline_file_begin("M", process);
  timeline_file_add_number(event, "tid", track);
  add_name(file, event, "thread_name", name);
}
