#include "sim/detect/naming/finding.h"

#include "tests/unit/unit.h"

START_TEST(verdict_names_round_trip) {
  const char *const *names = verdict_names();
  for (int i = 0; i < VERDICT_COUNT; i++) {
    ck_assert_str_eq(names[i], verdict_name((Verdict)i));
    ck_assert_msg(verdict_from_name(names[i]) == (Verdict)i, "%s", names[i]);
    ck_assert_msg(*verdict_doc((Verdict)i), "%s has no doc", names[i]);
  }
  ck_assert_ptr_null(names[VERDICT_COUNT]);
  ck_assert_int_eq(verdict_from_name("deadlock"), VERDICT_COUNT);
  ck_assert_int_eq(verdict_from_name(""), VERDICT_COUNT);
}
END_TEST

START_TEST(verdict_ranks_differ) {
  for (int i = 0; i < VERDICT_COUNT; i++)
    for (int j = 0; j < i; j++)
      ck_assert_msg(verdict_rank((Verdict)i) != verdict_rank((Verdict)j), "%s, %s", verdict_name((Verdict)i),
                    verdict_name((Verdict)j));
  ck_assert_int_eq(verdict_rank(VERDICT_COMPLETED), 0);
  ck_assert_int_gt(verdict_rank(VERDICT_FAULT), verdict_rank(VERDICT_ALIAS_DEADLOCK));
}
END_TEST

START_TEST(finding_names_round_trip) {
  const char *const *names = finding_names();
  for (int i = 0; i < FINDING_COUNT; i++) {
    ck_assert_str_eq(names[i], finding_name((FindingId)i));
    ck_assert_msg(finding_from_name(names[i]) == (FindingId)i, "%s", names[i]);
    ck_assert_msg(*finding_doc((FindingId)i), "%s has no doc", names[i]);
  }
  ck_assert_ptr_null(names[FINDING_COUNT]);
  ck_assert_int_eq(finding_from_name("race"), FINDING_COUNT);
}
END_TEST

/* Each way to end badly has the finding that explains it. */
START_TEST(verdicts_have_findings) {
  for (int i = 0; i < VERDICT_COUNT; i++) {
    bool explained = i != VERDICT_COMPLETED;
    FindingId id = finding_from_name(verdict_name((Verdict)i));
    ck_assert_msg((id != FINDING_COUNT) == explained, "%s", verdict_name((Verdict)i));
    if (explained)
      ck_assert_msg(finding_severity(id) == (i == VERDICT_UNDECIDED ? SEVERITY_NOTE : SEVERITY_ERROR), "%s",
                    verdict_name((Verdict)i));
  }
}
END_TEST

START_TEST(severities_have_names) {
  ck_assert_str_eq(severity_name(SEVERITY_NOTE), "note");
  ck_assert_str_eq(severity_name(SEVERITY_WARNING), "warning");
  ck_assert_str_eq(severity_name(SEVERITY_ERROR), "error");
  ck_assert_int_eq(finding_severity(FINDING_UNLOCK_OTHER_LANE), SEVERITY_NOTE);
}
END_TEST

START_TEST(new_finding_concerns_nothing) {
  Finding *finding = finding_new(FINDING_EXIT_HOLDING, g_strdup("a lane exits"));
  ck_assert_str_eq(finding->message, "a lane exits");
  ck_assert_int_eq(finding->block, -1);
  ck_assert_int_eq(finding->warp, -1);
  ck_assert_int_eq(finding->lock_bit, -1);
  ck_assert_ptr_null(finding->space);
  ck_assert_uint_eq(finding->count, 1);
  ck_assert_uint_eq(finding->evidence->len, 0);
  finding_free(finding);
  finding_free(NULL);
}
END_TEST

START_TEST(copy_is_deep) {
  Finding *finding = finding_new(FINDING_SIMD_DEADLOCK, g_strdup("stuck"));
  finding->file = g_strdup("a.sass");
  finding->space = g_strdup("shared");
  finding->holder = g_strdup("lane 3");
  finding->lanes = 0xf0;
  finding_add_evidence(finding, 7, g_strdup("waits here"));
  Finding *copy = finding_copy(finding);
  finding_free(finding);
  ck_assert_str_eq(copy->message, "stuck");
  ck_assert_str_eq(copy->file, "a.sass");
  ck_assert_str_eq(copy->holder, "lane 3");
  ck_assert_ptr_null(copy->repair);
  ck_assert_uint_eq(copy->lanes, 0xf0);
  ck_assert_uint_eq(copy->evidence->len, 1);
  const Evidence *evidence = g_ptr_array_index(copy->evidence, 0);
  ck_assert_uint_eq(evidence->line, 7);
  ck_assert_str_eq(evidence->text, "waits here");
  finding_free(copy);
}
END_TEST

static const struct {
  uint32_t lanes;
  const char *text;
} lane_cases[] = {
    {0, "no lane"},
    {1, "lane 0"},
    {0x80000000, "lane 31"},
    {3, "lanes 0, 1"},
    {0xf, "lanes 0-3"},
    {0x8f, "lanes 0-3, 7"},
    {0xfffffffe, "lanes 1-31"},
    {0xc0000000, "lanes 30, 31"},
    {0x15, "lanes 0, 2, 4"},
    {0xffffffff, "all 32 lanes"},
};

START_TEST(lanes_read_well) {
  g_autofree char *text = lanes_text(lane_cases[_i].lanes);
  ck_assert_msg(g_strcmp0(text, lane_cases[_i].text) == 0, "%08x: %s", lane_cases[_i].lanes, text);
}
END_TEST

static const struct {
  uint32_t number;
  const char *text;
} number_cases[] = {
    {0, "0"},
    {65537, "65537"},
    {0x80000000, "2147483648"},
    {0xfffeffff, "4294901759"},
    {0xffff0000, "4294901760 (-65536 if signed)"},
    {0xffffffff, "4294967295 (-1 if signed)"},
};

START_TEST(small_negative_numbers_are_told_twice) {
  g_autofree char *text = number_text(number_cases[_i].number);
  ck_assert_msg(g_strcmp0(text, number_cases[_i].text) == 0, "%08x: %s", number_cases[_i].number, text);
}
END_TEST

START_TEST(verdict_must_exist) {
  unit_expect_precondition("verdict-in-table");
  verdict_name(VERDICT_COUNT);
}
END_TEST

START_TEST(finding_must_exist) {
  unit_expect_precondition("finding-in-table");
  finding_new(FINDING_COUNT, NULL);
}
END_TEST

START_TEST(severity_must_exist) {
  unit_expect_precondition("severity-in-table");
  severity_name((Severity)3);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("finding");
  TCase *tcase = tcase_create("finding");
  tcase_add_test(tcase, verdict_names_round_trip);
  tcase_add_test(tcase, verdict_ranks_differ);
  tcase_add_test(tcase, finding_names_round_trip);
  tcase_add_test(tcase, verdicts_have_findings);
  tcase_add_test(tcase, severities_have_names);
  tcase_add_test(tcase, new_finding_concerns_nothing);
  tcase_add_test(tcase, copy_is_deep);
  tcase_add_loop_test(tcase, lanes_read_well, 0, G_N_ELEMENTS(lane_cases));
  tcase_add_loop_test(tcase, small_negative_numbers_are_told_twice, 0, G_N_ELEMENTS(number_cases));
  unit_add_precondition_test(tcase, verdict_must_exist);
  unit_add_precondition_test(tcase, finding_must_exist);
  unit_add_precondition_test(tcase, severity_must_exist);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
