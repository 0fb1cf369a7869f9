/* What memory adds to a timeline: spans that are balanced, slices that don't overlap, arrows with both ends, counters
 * that rise in time. */
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "sim/report/timeline.h"
#include "sim/study/run.h"
#include "tests/unit/unit.h"

typedef struct Case {
  const char *scenario, *machine, *settings[3];
} Case;

static const Case cases[] = {
    {"traces/steps/three_atomics.yaml", "gtx580", {NULL}},
    {"traces/steps/three_atomics.yaml", "gtx580", {"memory.atomic.occupies=line"}},
    {"traces/steps/three_atomics.yaml", "gtx580", {"memory.slices=0"}},
    {"traces/steps/load.yaml", "gtx580", {"memory.l2.start=cold"}},
    {"traces/steps/message.yaml", "h200", {NULL}},
    {"traces/steps/message.yaml", "h200", {"memory.atomic.word_interval=500", "memory.atomic.load_interval=5"}},
};
enum { ATOMICS, MESSAGE = 4, HOSTAGES = 5 };

typedef struct Story {
  RunResult *result;
  JsonNode *root;
  JsonArray *events;
  guint warnings;
} Story;

static void story_init(Story *story, const Case *c, uint64_t limit) {
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), c->scenario, NULL), *out = NULL, *text = NULL;
  ScenarioOptions options = {.params = NULL};
  g_autoptr(Scenario) scenario = scenario_load(path, &options, diag);
  Machine *machine = machine_load(c->machine, c->settings, diag);
  int handle = g_file_open_tmp("timeline-XXXXXX", &out, NULL);
  ck_assert(g_close(handle, NULL));
  Timeline *timeline = timeline_new(out, limit, diag);
  RunOptions run = run_options_default();
  run.observer = timeline_probe(timeline);
  story->result = run_scenario(scenario, machine, &run, diag);
  ck_assert_ptr_nonnull(story->result);
  ck_assert(timeline_close(timeline, diag));
  story->warnings = diag_count(diag);
  ck_assert(g_file_get_contents(out, &text, NULL, NULL));
  story->root = json_from_string(text, NULL);
  ck_assert_msg(story->root, "not JSON: %.300s", text);
  story->events = json_object_get_array_member(json_node_get_object(story->root), "traceEvents");
  g_unlink(out);
  machine_free(machine);
}

static void story_clear(Story *story) {
  json_node_unref(story->root);
  run_result_free(story->result);
}

static const char *text_of(JsonObject *event, const char *name) {
  return json_object_has_member(event, name) ? json_object_get_string_member(event, name) : "";
}
static double time_of(JsonObject *event) { return json_object_get_double_member(event, "ts"); }
static bool is(JsonObject *event, const char *kind) { return strcmp(text_of(event, "ph"), kind) == 0; }
static JsonObject *event_at(const Story *story, guint i) { return json_array_get_object_element(story->events, i); }

static guint count(const Story *story, const char *kind, const char *category) {
  guint count = 0;
  for (guint i = 0; i < json_array_get_length(story->events); i++)
    count += is(event_at(story, i), kind) && (!category || strcmp(text_of(event_at(story, i), "cat"), category) == 0);
  return count;
}

/* Which span, arrow, track or counter an event belongs to. */
static char *key_of(JsonObject *event, const char *what) {
  JsonNode *node = json_object_get_member(event, what);
  g_autofree char *text = node ? json_to_string(node, FALSE) : g_strdup("");
  return g_strdup_printf("%d %s", (int)json_object_get_int_member(event, "pid"), text);
}

/* ---- spans ---- */

START_TEST(each_request_is_a_span) {
  Story story;
  story_init(&story, &cases[_i], TIMELINE_EVENTS_MAX);
  g_autoptr(GHashTable) open = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < json_array_get_length(story.events); i++) {
    JsonObject *event = event_at(&story, i);
    if (!is(event, "b") && !is(event, "e"))
      continue;
    g_autofree char *key = key_of(event, "id");
    JsonObject *begin = g_hash_table_lookup(open, key);
    if (is(event, "b")) {
      ck_assert_ptr_null(begin);
      g_hash_table_insert(open, g_steal_pointer(&key), event);
      continue;
    }
    ck_assert_msg(begin, "no beginning of %s", key);
    ck_assert(time_of(event) > time_of(begin));
    ck_assert_str_eq(text_of(event, "name"), text_of(begin, "name"));
    g_hash_table_remove(open, key);
  }
  ck_assert_uint_eq(g_hash_table_size(open), 0);
  ck_assert_uint_eq(count(&story, "b", "request"), story.result->counters.global_accesses);
  story_clear(&story);
}
END_TEST

/* In the order of the way. */
START_TEST(steps_follow_each_other) {
  static const char *const steps[] = {"sent",   "left port", "at slice",       "crossed", "at home slice",
                                      "served", "from DRAM", "at atomic unit", "turn",    "turn over"};
  Story story;
  story_init(&story, &cases[_i], TIMELINE_EVENTS_MAX);
  for (guint i = 0; i < json_array_get_length(story.events); i++) {
    JsonObject *event = event_at(&story, i);
    if (!is(event, "b"))
      continue;
    JsonObject *args = json_object_get_object_member(event, "args");
    double last = time_of(event);
    ck_assert(json_object_get_double_member(args, "sent") == last);
    for (guint step = 0; step < G_N_ELEMENTS(steps); step++) {
      if (!json_object_has_member(args, steps[step]))
        continue;
      double now = json_object_get_double_member(args, steps[step]);
      ck_assert_msg(now >= last, "%s at %g, behind %g", steps[step], now, last);
      last = now;
    }
    ck_assert(json_object_get_double_member(args, "replied") > json_object_get_double_member(args, "performed"));
  }
  story_clear(&story);
}
END_TEST

/* ---- slices ---- */

START_TEST(slices_dont_overlap) {
  Story story;
  story_init(&story, &cases[_i], TIMELINE_EVENTS_MAX);
  g_autoptr(GHashTable) ends = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; i < json_array_get_length(story.events); i++) {
    JsonObject *event = event_at(&story, i);
    if (!is(event, "X"))
      continue;
    char *key = key_of(event, "tid");
    double *end = g_hash_table_lookup(ends, key), until = time_of(event);
    ck_assert_msg(!end || *end <= until + 1e-6, "%s: %g, not before %g", key, until, end ? *end : 0);
    until += json_object_get_double_member(event, "dur");
    g_hash_table_insert(ends, key, g_memdup2(&until, sizeof until));
  }
  story_clear(&story);
}
END_TEST

START_TEST(turns_and_hostages_are_slices) {
  Story story;
  story_init(&story, &cases[ATOMICS], TIMELINE_EVENTS_MAX);
  ck_assert_uint_eq(count(&story, "X", "atomic"), 3);
  ck_assert_uint_eq(count(&story, "X", "hostage"), 0);
  story_clear(&story);
  story_init(&story, &cases[HOSTAGES], TIMELINE_EVENTS_MAX);
  ck_assert_uint_ge(count(&story, "X", "hostage"), 2);
  story_clear(&story);
}
END_TEST

/* ---- arrows ---- */

/* True if some slice of the event's track lasts at its time. */
static bool is_in_slice(const Story *story, JsonObject *event) {
  g_autofree char *key = key_of(event, "tid");
  for (guint i = 0; i < json_array_get_length(story->events); i++) {
    JsonObject *slice = event_at(story, i);
    g_autofree char *other = is(slice, "X") ? key_of(slice, "tid") : NULL;
    if (g_strcmp0(other, key) == 0 && time_of(slice) <= time_of(event) &&
        time_of(event) < time_of(slice) + json_object_get_double_member(slice, "dur"))
      return true;
  }
  return false;
}

START_TEST(arrows_have_both_ends) {
  Story story;
  story_init(&story, &cases[_i], TIMELINE_EVENTS_MAX);
  JsonObject *start = NULL;
  for (guint i = 0; i < json_array_get_length(story.events); i++) {
    JsonObject *event = event_at(&story, i);
    if (is(event, "s")) {
      ck_assert_ptr_null(start);
      start = event;
    }
    if (is(event, "s") || is(event, "f"))
      ck_assert(is_in_slice(&story, event));
    if (!is(event, "f"))
      continue;
    ck_assert_ptr_nonnull(start);
    ck_assert_int_eq(json_object_get_int_member(event, "id"), json_object_get_int_member(start, "id"));
    ck_assert_str_eq(text_of(event, "bp"), "e");
    ck_assert(time_of(event) >= time_of(start));
    ck_assert_int_ne(json_object_get_int_member(event, "pid"), json_object_get_int_member(start, "pid"));
    start = NULL;
  }
  ck_assert_ptr_null(start);
  ck_assert_uint_eq(count(&story, "s", NULL), _i >= MESSAGE ? 2 : 0); /* from block 0 to both others */
  story_clear(&story);
}
END_TEST

/* ---- counters ---- */

START_TEST(counters_rise_in_time_and_end_at_nothing) {
  Story story;
  story_init(&story, &cases[_i], TIMELINE_EVENTS_MAX);
  g_autoptr(GHashTable) newest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < json_array_get_length(story.events); i++) {
    JsonObject *event = event_at(&story, i);
    if (!is(event, "C"))
      continue;
    char *key = key_of(event, "name");
    JsonObject *before = g_hash_table_lookup(newest, key);
    ck_assert(!before || time_of(before) < time_of(event));
    g_hash_table_insert(newest, key, event);
  }
  GHashTableIter iter;
  gpointer event;
  g_hash_table_iter_init(&iter, newest);
  ck_assert_uint_gt(g_hash_table_size(newest), 0);
  while (g_hash_table_iter_next(&iter, NULL, &event)) {
    JsonObject *args = json_object_get_object_member(event, "args");
    const char *what = json_object_has_member(args, "parts") ? "parts" : "requests";
    if (json_object_has_member(args, what))
      ck_assert_int_eq(json_object_get_int_member(args, what), 0);
  }
  story_clear(&story);
}
END_TEST

static double sum_of(JsonObject *args) {
  double sum = 0;
  g_autoptr(GList) names = json_object_get_members(args);
  for (GList *name = names; name; name = name->next)
    sum += json_object_get_double_member(args, name->data);
  return sum;
}

/* What slices served adds up to all parts; what slots waited for, to all slots. */
START_TEST(intervals_add_up) {
  Story story;
  story_init(&story, &cases[_i], TIMELINE_EVENTS_MAX);
  double served = 0;
  guint slots = 0;
  for (guint i = 0; i < json_array_get_length(story.events); i++) {
    JsonObject *event = event_at(&story, i);
    if (!is(event, "C"))
      continue;
    JsonObject *args = json_object_get_object_member(event, "args");
    if (g_str_has_suffix(text_of(event, "name"), " served"))
      served += sum_of(args) - json_object_get_double_member(args, "lanes of atomics");
    if (strcmp(text_of(event, "name"), "issue slots, %") != 0 || sum_of(args) == 0)
      continue;
    ck_assert_double_eq_tol(sum_of(args), 100, 0.1);
    slots++;
  }
  ck_assert_double_eq_tol(served, (double)story.result->l2_lines, 0.001);
  ck_assert_uint_gt(slots, 0);
  story_clear(&story);
}
END_TEST

/* ---- limits ---- */

/* Wherever the limit falls, spans and arrows have both ends. */
START_TEST(a_limit_leaves_no_halves) {
  for (uint64_t limit = 20; limit < 80; limit++) {
    Story story;
    story_init(&story, &cases[MESSAGE], limit);
    ck_assert_uint_le(json_array_get_length(story.events), limit);
    ck_assert_uint_eq(count(&story, "b", NULL), count(&story, "e", NULL));
    ck_assert_uint_eq(count(&story, "s", NULL), count(&story, "f", NULL));
    ck_assert_uint_eq(story.warnings, 1);
    story_clear(&story);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("timeline_memory");
  TCase *tcase = tcase_create("timeline_memory");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, each_request_is_a_span, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, steps_follow_each_other, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, slices_dont_overlap, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, turns_and_hostages_are_slices);
  tcase_add_loop_test(tcase, arrows_have_both_ends, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, counters_rise_in_time_and_end_at_nothing, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, intervals_add_up, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, a_limit_leaves_no_halves);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
