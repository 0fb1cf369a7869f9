/* What --details shows: tables that add up, whatever the machine; names of lines; the same as text, JSON and CSV. */
#include <json-glib/json-glib.h>
#include <string.h>

#include "sim/report/details.h"
#include "sim/report/json.h"
#include "sim/report/text.h"
#include "tests/unit/unit.h"

typedef struct Case {
  const char *scenario, *machine, *setting, *other;
} Case;

static const Case cases[] = {
    {"traces/steps/three_atomics.yaml", "gtx580", NULL, NULL},
    {"traces/steps/load.yaml", "gtx580", NULL, NULL},
    {"tests/bench/contended_atomic_ptx.yaml", "h200", NULL, NULL},
    {"tests/bench/contended_atomic_ptx.yaml", "gtx1080ti", "memory.slices=0", NULL},
    {"tests/bench/one_word.yaml", "h200", NULL, NULL},
    {"traces/accesses/accesses.yaml", "gtx295", NULL, NULL},
    {"traces/accesses/accesses.yaml", "gtx580", NULL, NULL},
};

static RunResult *run(const Case *c, uint32_t threads) {
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), c->scenario, NULL);
  const char *settings[] = {c->setting, c->other, NULL};
  ScenarioOptions options = {.params = NULL};
  g_autoptr(Scenario) scenario = scenario_load(path, &options, diag);
  Machine *machine = machine_load(c->machine, settings, diag);
  RunOptions run_options = run_options_default();
  run_options.details = true;
  run_options.threads = threads;
  RunResult *result = scenario && machine ? run_scenario(scenario, machine, &run_options, diag) : NULL;
  g_autofree char *text = diag_render(diag);
  ck_assert_msg(result, "%s on %s: %s", c->scenario, c->machine, text);
  machine_free(machine);
  return result;
}

static uint64_t sum(const RunDetails *details, DetailsColumn column) {
  const GPtrArray *rows = details->table[details_column_info[column].table];
  uint64_t sum = 0;
  for (guint i = 0; i < rows->len; i++)
    sum += details_value(g_ptr_array_index(rows, i), column)->integer;
  return sum;
}

static uint64_t link_sum(const RunDetails *details, const char *name, DetailsColumn column) {
  const GPtrArray *rows = details->table[DETAILS_links];
  for (guint i = 0; i < rows->len; i++) {
    const DetailRow *row = g_ptr_array_index(rows, i);
    if (g_str_has_prefix(row->key, name))
      return details_value(row, column)->integer;
  }
  return 0;
}

START_TEST(numbers_add_up) {
  g_autoptr(RunResult) result = run(&cases[_i], 1);
  const RunDetails *details = result->details;
  ck_assert_int_eq(result->verdict, VERDICT_COMPLETED);
  for (guint i = 0; i < details->table[DETAILS_sms]->len; i++) {
    const DetailRow *row = g_ptr_array_index(details->table[DETAILS_sms], i);
    uint64_t slots = 0;
    for (DetailsColumn column = DETAILS_sms_issued; column <= DETAILS_sms_empty; column++)
      slots += details_value(row, column)->integer;
    ck_assert_uint_eq(slots, result->cycles * details->schedulers);
    ck_assert_uint_eq(slots, details_value(row, DETAILS_sms_slots)->integer);
  }
  uint64_t host = link_sum(details, "crossbar to host", DETAILS_links_messages);
  uint64_t sent = sum(details, DETAILS_sms_requests), crossed = sum(details, DETAILS_slices_crossed);
  ck_assert_uint_eq(sent, sum(details, DETAILS_slices_requests) - crossed + host);
  ck_assert_uint_eq(sent, link_sum(details, "SM to crossbar", DETAILS_links_messages));
  ck_assert_uint_eq(sent, link_sum(details, "crossbar to SM", DETAILS_links_messages));
  ck_assert_uint_eq(sent, sum(details, DETAILS_slices_loads) + sum(details, DETAILS_slices_stores) +
                              sum(details, DETAILS_slices_atomics) + host);
  ck_assert_uint_eq(sum(details, DETAILS_slices_operations), result->counters.global_atomics);
  ck_assert_uint_eq(sum(details, DETAILS_sms_bytes_in), link_sum(details, "crossbar to SM", DETAILS_links_bytes));
  ck_assert_uint_le(sum(details, DETAILS_lines_requests), sent);
}
END_TEST

/* Where a livelock's states recur orders of steps are tried behind the run. */
START_TEST(numbers_are_of_the_run_alone) {
  const Case livelock = {"tests/corpus/cuda_reduction_rounds.yaml", "gtx1080ti", NULL, NULL};
  g_autoptr(RunResult) result = run(&livelock, 1);
  const RunDetails *details = result->details;
  ck_assert_int_eq(result->verdict, VERDICT_LIVELOCK);
  ck_assert_uint_le(result->counters.warp_instructions - sum(details, DETAILS_sms_issued),
                    1); /* that of the last cycle */
  for (guint i = 0; i < details->table[DETAILS_sms]->len; i++) {
    const DetailRow *row = g_ptr_array_index(details->table[DETAILS_sms], i);
    for (DetailsColumn column = DETAILS_sms_issued; column <= DETAILS_sms_empty; column++)
      ck_assert_uint_le(details_value(row, column)->integer, result->cycles * details->schedulers);
  }
}
END_TEST

/* Three parts come to slice 4 at a time: the second waits for a turn of 17.84 cycles (8.92 of the core clock), the
 * third for two, and for the slice. */
START_TEST(atomics_queue_up) {
  g_autoptr(RunResult) result = run(&cases[0], 1);
  const RunDetails *details = result->details;
  guint slice = 0;
  for (guint i = 0; i < details->table[DETAILS_slices]->len; i++)
    if (details_value(g_ptr_array_index(details->table[DETAILS_slices], i), DETAILS_slices_atomics)->integer)
      slice = i;
  const DetailRow *row = g_ptr_array_index(details->table[DETAILS_slices], slice);
  ck_assert_uint_eq(details_value(row, DETAILS_slices_atomics)->integer, 3);
  ck_assert_uint_eq(details_value(row, DETAILS_slices_queue_peak)->integer, 2);
  ck_assert(details_value(row, DETAILS_slices_atomic_busy)->real > 0);
  ck_assert_uint_eq(details->table[DETAILS_lines]->len, 1);
  const DetailRow *line = g_ptr_array_index(details->table[DETAILS_lines], 0);
  ck_assert_str_eq(line->key, "count[0]");
  ck_assert_uint_eq(details_value(line, DETAILS_lines_requests)->integer, 3);
  ck_assert_uint_eq(details_value(line, DETAILS_lines_source_line)->integer, 6);
  ck_assert_str_eq(details_value(line, DETAILS_lines_source)->text, "ATOM.ADD R1, [R0], R2;");
  ck_assert_uint_eq(details_value(line, DETAILS_lines_requests_rank)->integer, 1);
  ck_assert_uint_ge(details_value(line, DETAILS_lines_waited)->integer, 3 * 8);
}
END_TEST

START_TEST(threads_change_nothing) {
  g_autoptr(RunResult) one = run(&cases[_i], 1);
  g_autoptr(RunResult) four = run(&cases[_i], 4);
  g_autofree char *first = json_run(one), *second = json_run(four);
  ck_assert_str_eq(first, second);
}
END_TEST

START_TEST(json_has_every_table_and_quantity) {
  g_autoptr(RunResult) result = run(&cases[_i], 1);
  g_autofree char *text = json_run(result);
  JsonNode *root = json_from_string(text, NULL);
  JsonObject *details = json_object_get_object_member(json_node_get_object(root), "details");
  ck_assert_int_eq(json_object_get_int_member(details, "cycles"), (gint64)result->cycles);
  for (DetailsTable table = 0; table < DETAILS_TABLES; table++) {
    JsonArray *rows = json_object_get_array_member(details, details_table_info[table].name);
    ck_assert_uint_eq(json_array_get_length(rows), result->details->table[table]->len);
    for (guint i = 0; i < json_array_get_length(rows); i++) {
      JsonObject *row = json_array_get_object_element(rows, i);
      ck_assert(json_object_has_member(row, details_table_info[table].key));
      ck_assert_uint_eq(json_object_get_size(row), 1 + details_end(table) - details_first(table));
    }
  }
  json_node_unref(root);
}
END_TEST

/* Each line has the columns of the header, and there is one for each number. */
START_TEST(csv_has_a_row_for_each_number) {
  g_autoptr(RunResult) result = run(&cases[_i], 1);
  g_autoptr(GString) text = g_string_new(NULL);
  details_csv_header(text);
  details_csv(result, text);
  g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
  guint wanted = 1;
  for (DetailsTable table = 0; table < DETAILS_TABLES; table++)
    wanted += result->details->table[table]->len * (details_end(table) - details_first(table));
  ck_assert_uint_eq(g_strv_length(lines), wanted + 1); /* an empty one behind the last newline */
  for (guint i = 0; lines[i] && *lines[i]; i++) {
    unsigned commas = 0;
    bool quoted = false;
    for (const char *at = lines[i]; *at; at++) {
      quoted ^= *at == '"';
      commas += *at == ',' && !quoted;
    }
    ck_assert_msg(commas == 9, "%s", lines[i]);
  }
}
END_TEST

START_TEST(a_run_without_details_has_none) {
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), cases[1].scenario, NULL);
  ScenarioOptions options = {.params = NULL};
  g_autoptr(Scenario) scenario = scenario_load(path, &options, diag);
  Machine *machine = machine_load("gtx580", NULL, diag);
  RunOptions plain = run_options_default();
  g_autoptr(RunResult) result = run_scenario(scenario, machine, &plain, diag);
  ck_assert_ptr_null(result->details);
  g_autofree char *text = json_run(result);
  ck_assert_ptr_null(strstr(text, "\"details\""));
  machine_free(machine);
}
END_TEST

/* One slice of eight gets all of 200 atomics; of three slices none can have over four times the mean. */
START_TEST(a_slice_with_too_much_is_warned_of) {
  static const Case one_of_eight = {"tests/bench/one_word.yaml", "h200", "memory.slices=8", "memory.dram.channels=1"};
  static const Case one_of_two = {"tests/bench/one_word.yaml", "h200", "memory.slices=2", "memory.dram.channels=1"};
  g_autoptr(RunResult) eight = run(&one_of_eight, 1);
  g_autoptr(RunResult) two = run(&one_of_two, 1);
  ck_assert_uint_eq(eight->details->warnings->len, 1);
  ck_assert_ptr_nonnull(strstr(g_ptr_array_index(eight->details->warnings, 0), "times the mean load"));
  ck_assert_uint_eq(two->details->warnings->len, 0);
  g_autoptr(GString) text = g_string_new(NULL);
  Canvas canvas = {text, false};
  text_run(eight, &canvas);
  ck_assert_ptr_nonnull(strstr(text->str, "  warning: slice "));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("details");
  TCase *tcase = tcase_create("details");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, numbers_add_up, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, numbers_are_of_the_run_alone);
  tcase_add_test(tcase, atomics_queue_up);
  tcase_add_loop_test(tcase, threads_change_nothing, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, json_has_every_table_and_quantity, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, csv_has_a_row_for_each_number, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, a_run_without_details_has_none);
  tcase_add_test(tcase, a_slice_with_too_much_is_warned_of);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
