#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "sim/core/gpu.h"
#include "sim/report/timeline.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* Two warps: warp 1 comes to the barrier late; then both take one lock in turn. */
static const char two_warps[] = ".target sm_20\n"
                                ".kernel k\n"
                                ".shared 64\n"
                                "S2R R0, SR_Tid_X;\n"
                                "SHR.U32 R1, R0, 0x5;\n"
                                "IMUL R2, R1, 0x64;\n"
                                "wait: IADD R2, R2, -0x1;\n"
                                "ISETP.GT.AND P0, pt, R2, RZ, pt;\n"
                                "@P0 BRA wait;\n"
                                "BAR.RED.POPC RZ, RZ;\n" /* line 10 */
                                "again: LDSLK P1, R3, [0x8];\n"
                                "@P1 STSUL [0x8], R3;\n"
                                "@!P1 BRA again;\n"
                                "EXIT;\n";
static const char endless[] =
    ".target sm_20\n.kernel k\n.shared 64\nagain: LDSLK P0, R3, [0x8];\nBRA again;\nEXIT;\n";

typedef struct Follower {
  Program *program;
  Machine *machine;
  char *path;
  Timeline *timeline;
} Follower;

static void follower_init(Follower *follower, const char *text, uint64_t events) {
  g_autoptr(Diag) diag = diag_new();
  follower->machine = machine_new_default();
  follower->program = lab_parse(text);
  int handle = g_file_open_tmp("timeline-XXXXXX", &follower->path, NULL);
  ck_assert(g_close(handle, NULL));
  follower->timeline = timeline_new(follower->path, events, diag);
  ck_assert_ptr_nonnull(follower->timeline);
}

static void follow(Follower *follower, uint64_t cycles) {
  Backing *backing = backing_new();
  Gpu *gpu = gpu_new(follower->machine, backing, 1);
  LaunchConfig config = {.program = follower->program,
                         .kernel = program_kernel(follower->program, 0),
                         .grid = {2, 1, 1},
                         .block = {64, 1, 1}};
  g_autofree char *why = NULL;
  gpu_subscribe(gpu, timeline_probe(follower->timeline));
  ck_assert(gpu_add_launch(gpu, &config, &why));
  gpu_run(gpu, UINT64_MAX, cycles);
  gpu_free(gpu);
  backing_free(backing);
}

/* Ends the timeline and returns the file's text. */
static char *follower_clear(Follower *follower, Diag *diag) {
  char *text = NULL;
  ck_assert(timeline_close(follower->timeline, diag));
  ck_assert(g_file_get_contents(follower->path, &text, NULL, NULL));
  g_unlink(follower->path);
  g_free(follower->path);
  program_free(follower->program);
  machine_free(follower->machine);
  return text;
}

static char *timeline_of(const char *program, uint64_t cycles) {
  Follower follower;
  follower_init(&follower, program, TIMELINE_EVENTS_MAX);
  follow(&follower, cycles);
  g_autoptr(Diag) diag = diag_new();
  char *result = follower_clear(&follower, diag);
  ck_assert_uint_eq(diag_count(diag), 0);
  return result;
}

static JsonArray *events_of(JsonNode *root) {
  return json_object_get_array_member(json_node_get_object(root), "traceEvents");
}

static JsonNode *parse_text(const char *text) {
  g_autoptr(GError) error = NULL;
  JsonNode *root = json_from_string(text, &error);
  ck_assert_msg(root, "%s", error ? error->message : "");
  return root;
}

static bool is_slice(JsonObject *event) { return strcmp(json_object_get_string_member(event, "ph"), "X") == 0; }

/* The first slice of that category and name (NULL: any) on a track with that name. */
static JsonObject *find_slice(JsonArray *events, const char *track, const char *category, const char *name) {
  gint64 process = -1, thread = -1;
  for (guint i = 0; i < json_array_get_length(events); i++) {
    JsonObject *event = json_array_get_object_element(events, i);
    if (!is_slice(event)) {
      JsonObject *args = json_object_get_object_member(event, "args");
      if (strcmp(json_object_get_string_member(args, "name"), track) == 0 && json_object_has_member(event, "tid")) {
        process = json_object_get_int_member(event, "pid");
        thread = json_object_get_int_member(event, "tid");
      }
    } else if (json_object_get_int_member(event, "pid") == process &&
               json_object_get_int_member(event, "tid") == thread &&
               strcmp(json_object_get_string_member(event, "cat"), category) == 0 &&
               (!name || strcmp(json_object_get_string_member(event, "name"), name) == 0)) {
      return event;
    }
  }
  return NULL;
}

START_TEST(has_a_track_for_each_warp_and_lock_bit) {
  static const char *const tracks[] = {"block 0, warp 0", "block 0, warp 1", "block 1, warp 0", "block 1, warp 1"};
  g_autofree char *text = timeline_of(two_warps, 100000);
  JsonNode *root = parse_text(text);
  for (unsigned i = 0; i < G_N_ELEMENTS(tracks); i++) {
    JsonObject *slice = find_slice(events_of(root), tracks[i], "instruction", "S2R R0, SR_Tid_X");
    ck_assert_msg(slice, "no first instruction of %s", tracks[i]);
    JsonObject *args = json_object_get_object_member(slice, "args");
    ck_assert_int_eq(json_object_get_int_member(args, "line"), 4);
    ck_assert_str_eq(json_object_get_string_member(args, "lanes"), "0xffffffff");
  }
  JsonObject *hold = find_slice(events_of(root), "lock bit 2", "lock", NULL);
  ck_assert_ptr_nonnull(hold);
  ck_assert_ptr_nonnull(strstr(json_object_get_string_member(hold, "name"), "lane 0 of warp"));
  ck_assert_int_eq(json_object_get_int_member(json_object_get_object_member(hold, "args"), "line"), 11);
  ck_assert_int_gt(json_object_get_int_member(hold, "dur"), 0);
  json_node_unref(root);
}
END_TEST

START_TEST(a_barrier_lasts_as_long_as_the_wait) {
  g_autofree char *text = timeline_of(two_warps, 100000);
  JsonNode *root = parse_text(text);
  JsonObject *early = find_slice(events_of(root), "block 0, warp 0", "barrier", "BAR.RED.POPC RZ, 0x0");
  JsonObject *late = find_slice(events_of(root), "block 0, warp 1", "barrier", "BAR.RED.POPC RZ, 0x0");
  ck_assert(early && late);
  gint64 early_end = json_object_get_int_member(early, "ts") + json_object_get_int_member(early, "dur");
  ck_assert_int_gt(early_end, json_object_get_int_member(late, "ts"));
  ck_assert_int_gt(json_object_get_int_member(early, "dur"), json_object_get_int_member(late, "dur"));
  json_node_unref(root);
}
END_TEST

START_TEST(slices_of_a_track_follow_each_other) {
  g_autofree char *text = timeline_of(two_warps, 100000);
  JsonNode *root = parse_text(text);
  JsonArray *events = events_of(root);
  g_autoptr(GHashTable) ends = g_hash_table_new(g_direct_hash, g_direct_equal);
  for (guint i = 0; i < json_array_get_length(events); i++) {
    JsonObject *event = json_array_get_object_element(events, i);
    if (!is_slice(event))
      continue;
    gint64 start = json_object_get_int_member(event, "ts"), end = start + json_object_get_int_member(event, "dur");
    gpointer track = GSIZE_TO_POINTER(
        (gsize)(json_object_get_int_member(event, "pid") << 32 | json_object_get_int_member(event, "tid")));
    ck_assert_int_ge(start, (gint64)GPOINTER_TO_SIZE(g_hash_table_lookup(ends, track)));
    g_hash_table_insert(ends, track, GSIZE_TO_POINTER((gsize)end));
  }
  json_node_unref(root);
}
END_TEST

START_TEST(what_never_ends_lasts_until_the_end) {
  g_autofree char *text = timeline_of(endless, 5000);
  JsonNode *root = parse_text(text);
  JsonObject *hold = find_slice(events_of(root), "lock bit 2", "lock", NULL);
  ck_assert_ptr_nonnull(hold);
  gint64 end = json_object_get_int_member(hold, "ts") + json_object_get_int_member(hold, "dur");
  ck_assert_int_gt(end, 4900);
  ck_assert_int_le(end, 5000);
  json_node_unref(root);
}
END_TEST

START_TEST(the_same_run_gives_the_same_bytes) {
  g_autofree char *first = timeline_of(two_warps, 100000), *second = timeline_of(two_warps, 100000);
  ck_assert_str_eq(first, second);
}
END_TEST

START_TEST(a_run_started_over_is_told_once) {
  Follower follower;
  follower_init(&follower, two_warps, TIMELINE_EVENTS_MAX);
  follow(&follower, 300);
  follow(&follower, 100000);
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *both = follower_clear(&follower, diag), *once = timeline_of(two_warps, 100000);
  ck_assert_str_eq(both, once);
}
END_TEST

START_TEST(events_have_a_limit) {
  Follower follower;
  follower_init(&follower, endless, 50);
  follow(&follower, 5000);
  Diag *diag = diag_new();
  g_autofree char *text = follower_clear(&follower, diag);
  ck_assert_uint_eq(diag_count(diag), 1);
  ck_assert_msg(strstr(diag_item(diag, 0)->message, "first 50 events"), "%s", diag_item(diag, 0)->message);
  ck_assert_int_eq(diag_exit_status(diag), 0);
  JsonNode *root = parse_text(text);
  ck_assert_uint_eq(json_array_get_length(events_of(root)), 50);
  json_node_unref(root);
  diag_free(diag);
}
END_TEST

START_TEST(a_file_that_cant_be_written_is_an_error) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert_ptr_null(timeline_new("no/such/folder/timeline.json", 1, diag));
  ck_assert_int_eq(diag_exit_status(diag), 3);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("timeline");
  TCase *tcase = tcase_create("timeline");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, has_a_track_for_each_warp_and_lock_bit);
  tcase_add_test(tcase, a_barrier_lasts_as_long_as_the_wait);
  tcase_add_test(tcase, slices_of_a_track_follow_each_other);
  tcase_add_test(tcase, what_never_ends_lasts_until_the_end);
  tcase_add_test(tcase, the_same_run_gives_the_same_bytes);
  tcase_add_test(tcase, a_run_started_over_is_told_once);
  tcase_add_test(tcase, events_have_a_limit);
  tcase_add_test(tcase, a_file_that_cant_be_written_is_an_error);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
