#include "sim/report/timeline_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "sim/engine/milli.h"

struct TimelineFile {
  FILE *file;
  char *path;
  uint64_t told; /* events of this run, so far */
  uint64_t written, limit;
  bool full;
};

TimelineFile *timeline_file_open(const char *path, uint64_t events, Diag *diag) {
  FILE *out = fopen(path, "w");
  if (!out) {
    diag_error(diag, path, 0, 0, "can't write the timeline: %s", g_strerror(errno));
    return NULL;
  }
  TimelineFile *file = g_new0(TimelineFile, 1);
  *file = (TimelineFile){.file = out, .path = g_strdup(path), .limit = events};
  fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"1 us of the trace is 1 cycle of the SMs\"},"
        "\"traceEvents\":[",
        out);
  return file;
}

bool timeline_file_close(TimelineFile *file, Diag *diag) {
  if (file->told > file->written)
    diag_warning(diag, file->path, 0, 0,
                 "the timeline has the first %" PRIu64 " events; %" PRIu64 " more are left out", file->written,
                 file->told - file->written);
  fputs("\n]}\n", file->file);
  bool failed = ferror(file->file) != 0;
  errno = 0;
  failed = fclose(file->file) != 0 || failed;
  if (failed)
    diag_error(diag, file->path, 0, 0, "can't write the timeline%s%s", errno ? ": " : "",
               errno ? g_strerror(errno) : "");
  g_free(file->path);
  g_free(file);
  return !failed;
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
  fprintf(file->file, "%s%s", file->written++ ? ",\n" : "\n", text);
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
