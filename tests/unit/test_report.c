#include <json-glib/json-glib.h>
#include <string.h>

#include "sim/report/csv.h"
#include "sim/report/json.h"
#include "sim/report/text.h"
#include "tests/unit/unit.h"

static void free_finding(gpointer finding) { finding_free(finding); }

static Finding *make_finding(void) {
  Finding *finding = finding_new(FINDING_ALIAS_DEADLOCK, g_strdup("lane 3 waits for a bit that it holds"));
  finding->file = g_strdup("a.sass");
  finding->line = 12;
  finding->source = g_strdup("LDSLK P0, R1, [R2+0x1000];");
  finding->cycle = 812;
  finding->block = 0;
  finding->warp = 2;
  finding->lanes = 1u << 3 | 1u << 31;
  finding->space = g_strdup("shared");
  finding->address = 0x1040;
  finding->lock_bit = 16;
  finding->holder = g_strdup("lane 3 of warp 2, since cycle 90");
  finding->repair = g_strdup("give the two words different lock bits");
  finding->count = 1;
  finding_add_evidence(finding, 9, g_strdup("lane 3 took the bit for 0x40"));
  return finding;
}

static RunResult make_result(void) {
  RunResult result = {
      .scenario = "alias, \"self\"",
      .file = "alias.yaml",
      .machine = "gtx570",
      .seed = 7,
      .verdict = VERDICT_ALIAS_DEADLOCK,
      .cycles = 1464,
      .clock_hz = 1464e6,
      .regions = g_array_new(FALSE, FALSE, sizeof(RegionResult)),
      .findings = g_ptr_array_new_with_free_func(free_finding),
      .failures = g_ptr_array_new_with_free_func(g_free),
  };
  RegionResult region = {0, 1, true, 100, 832};
  g_array_append_val(result.regions, region);
  g_ptr_array_add(result.findings, make_finding());
  result.counters.warp_instructions = 321;
  return result;
}

static void clear_result(RunResult *result) {
  g_array_unref(result->regions);
  g_ptr_array_unref(result->findings);
  g_ptr_array_unref(result->failures);
}

START_TEST(json_holds_the_documented_fields) {
  RunResult result = make_result();
  g_autofree char *text = json_run(&result);
  JsonNode *root = json_from_string(text, NULL);
  ck_assert_msg(root, "not JSON: %s", text);
  JsonObject *object = json_node_get_object(root);
  ck_assert_int_eq(json_object_get_int_member(object, "schema"), 1);
  ck_assert_str_eq(json_object_get_string_member(object, "scenario"), "alias, \"self\"");
  ck_assert_str_eq(json_object_get_string_member(object, "verdict"), "alias-deadlock");
  ck_assert_int_eq(json_object_get_int_member(object, "cycles"), 1464);
  JsonObject *finding = json_array_get_object_element(json_object_get_array_member(object, "findings"), 0);
  ck_assert_str_eq(json_object_get_string_member(finding, "id"), "alias-deadlock");
  ck_assert_int_eq(json_object_get_int_member(finding, "line"), 12);
  ck_assert_int_eq(json_object_get_int_member(finding, "lock_bit"), 16);
  ck_assert_int_eq(json_array_get_length(json_object_get_array_member(finding, "lanes")), 2);
  JsonObject *counters = json_object_get_object_member(object, "counters");
  ck_assert_int_eq(json_object_get_int_member(counters, "warp_instructions"), 321);
  ck_assert(!json_object_has_member(object, "schedules"));
  json_node_unref(root);
  clear_result(&result);
}
END_TEST

START_TEST(csv_quotes_and_keeps_its_columns) {
  RunResult result = make_result();
  g_autoptr(GString) text = g_string_new(NULL);
  csv_run_header(text);
  csv_run(&result, text);
  g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
  ck_assert_int_eq(g_strv_length(lines), 3);
  ck_assert_msg(g_str_has_prefix(lines[1], "\"alias, \"\"self\"\"\",gtx570,7,alias-deadlock,"), "%s", lines[1]);
  unsigned commas[2] = {0, 0};
  for (unsigned i = 0; i < 2; i++)
    for (const char *at = lines[i]; *at; at++)
      commas[i] += *at == ',';
  ck_assert_uint_eq(commas[0] + 1, commas[1]); /* the name holds one */
  clear_result(&result);
}
END_TEST

START_TEST(text_explains_a_finding) {
  static const char *const wanted[] = {
      "a.sass:12: error: alias-deadlock: lane 3 waits",
      "    12 | LDSLK P0, R1, [R2+0x1000];",
      "where: block 0, warp 2, lanes 3, 31, cycle 812",
      "what: shared address 0x1040, lock bit 16",
      "line 9: lane 3 took the bit",
      "held by: lane 3 of warp 2, since cycle 90",
      "repair: give the two words",
      "1464  cycles, 1.000 us at 1464 MHz",
      "732  cycles, 0.500 us",
  };
  RunResult result = make_result();
  g_autoptr(GString) text = g_string_new(NULL);
  Canvas canvas = {text, false};
  text_run(&result, &canvas);
  ck_assert_msg(strstr(text->str, wanted[_i]), "no \"%s\" in:\n%s", wanted[_i], text->str);
  ck_assert_ptr_null(strchr(text->str, '\033'));
  clear_result(&result);
}
END_TEST

START_TEST(text_takes_colour_where_allowed) {
  RunResult result = make_result();
  g_autoptr(GString) text = g_string_new(NULL);
  Canvas canvas = {text, true};
  text_run(&result, &canvas);
  ck_assert_ptr_nonnull(strstr(text->str, "\033[1;31merror:\033[0m"));
  clear_result(&result);
}
END_TEST

START_TEST(rank_prints_ratios_with_their_spread) {
  Measurement slow = {.scenario = "slow", .as_expected = true, .cycles = {12, 400, 40, 300, 500}, .ratio = 1};
  Measurement fast = {
      .scenario = "fast", .as_expected = true, .cycles = {12, 100, 0, 100, 100}, .ratio = 4, .lock_bits = 512};
  g_autoptr(GPtrArray) rows = g_ptr_array_new();
  Machine *machine = machine_new_default();
  g_autoptr(GString) text = g_string_new(NULL);
  Canvas canvas = {text, false};
  g_ptr_array_add(rows, &slow);
  g_ptr_array_add(rows, &fast);
  text_rank(rows, machine, &(Changes){0}, &canvas);
  ck_assert_msg(strstr(text->str, "4.00    0.40"), "%s", text->str);
  ck_assert_msg(strstr(text->str, "1.00    0.00"), "%s", text->str);
  machine_free(machine);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("report");
  TCase *tcase = tcase_create("report");
  tcase_add_test(tcase, json_holds_the_documented_fields);
  tcase_add_test(tcase, csv_quotes_and_keeps_its_columns);
  tcase_add_loop_test(tcase, text_explains_a_finding, 0, 9);
  tcase_add_test(tcase, text_takes_colour_where_allowed);
  tcase_add_test(tcase, rank_prints_ratios_with_their_spread);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
