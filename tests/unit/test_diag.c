#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/quote.h"
#include "tests/unit/unit.h"

static const char *const words[] = {"alu", "vote", "sysreg", "branch_taken", "branch_not_taken", NULL};

static const char *const nearest[][2] = {
    {"alu", "alu"},
    {"ALU", "alu"},
    {"aul", "alu"},
    {"allu", "alu"},
    {"vots", "vote"},
    {"sysregs", "sysreg"},
    {"branch_takne", "branch_taken"},
    {"branch_nottaken", "branch_not_taken"},
    {"xyz", NULL},
    {"", NULL},
    {"latency", NULL},
};

START_TEST(finds_the_nearest) {
  const char *found = diag_nearest(nearest[_i][0], words);
  ck_assert_msg(g_strcmp0(found, nearest[_i][1]) == 0, "`%s` gave %s", nearest[_i][0], found ? found : "none");
}
END_TEST

START_TEST(takes_no_nearest_of_a_long_word) {
  g_autofree char *word = g_strnfill(100000, 'a');
  ck_assert_ptr_null(diag_nearest(word, words));
}
END_TEST

START_TEST(renders_places_and_hints) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert(!diag_error(diag, "a.yaml", 3, 7, "unknown key `%s`", "alv"));
  diag_hint_nearest(diag, "alv", words);
  diag_hint(diag, "a second hint isn't kept");
  diag_error(diag, "a.yaml", 4, 0, "no column");
  diag_warning(diag, "a.yaml", 0, 0, "no line");
  diag_error(diag, NULL, 0, 0, "no file");
  ck_assert(!diag_usage(diag, "`%s` isn't an option", "--fsat"));
  g_autofree char *text = diag_render(diag);
  ck_assert_str_eq(text, "a.yaml:3:7: error: unknown key `alv`\n"
                         "  did you mean `alu`?\n"
                         "a.yaml:4: error: no column\n"
                         "a.yaml: warning: no line\n"
                         "error: no file\n"
                         "lockstep: error: `--fsat` isn't an option\n");
}
END_TEST

START_TEST(says_a_note_once) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Diag) other = diag_new();
  diag_note(diag, "f", 1, 0, "newer than %s", "a");
  diag_note(diag, "f", 1, 0, "newer than %s", "a");
  diag_note(diag, "f", 1, 0, "newer than %s", "b");
  diag_note(diag, "f", 2, 0, "newer than %s", "a");
  diag_note(other, "f", 2, 0, "newer than %s", "a");
  diag_note(other, "g", 2, 0, "newer than %s", "a");
  diag_add_all(diag, other);
  diag_warning(diag, "f", 1, 0, "a warning");
  diag_warning(diag, "f", 1, 0, "a warning");
  g_autofree char *text = diag_render(diag);
  ck_assert_str_eq(text, "f:1: note: newer than a\nf:1: note: newer than b\nf:2: note: newer than a\n"
                         "g:2: note: newer than a\nf:1: warning: a warning\n");
}
END_TEST

/* Errors of several kernels, with what belongs to each. */
START_TEST(says_a_text_once) {
  g_autoptr(Diag) diag = diag_new();
  for (unsigned i = 0; i < 50; i++) {
    diag_error(diag, "f", 1, 1, "too old");
    diag_hint(diag, "take %s", i % 2 ? "this" : "that");
    diag_error(diag, "f", 2 + i % 20, 1, "too old");
  }
  g_autofree char *text = diag_render(diag);
  ck_assert_msg(g_str_has_prefix(text, "f:1:1: error: too old\n  take that\nf:2:1: error: too old\n"
                                       "f:1:1: error: too old\n  take this\nf:3:1: error: too old\nf:4:1: "),
                "%s", text);
  ck_assert_ptr_null(strstr(text, "f:20:"));
  ck_assert_msg(g_str_has_suffix(text, "\n... and 2 more errors\n"), "%s", text);
}
END_TEST

START_TEST(gives_no_hint_for_a_far_word) {
  g_autoptr(Diag) diag = diag_new();
  diag_hint(diag, "nothing to add to");
  diag_error(diag, NULL, 0, 0, "x");
  diag_hint_nearest(diag, "zzzzzzzz", words);
  ck_assert_ptr_null(diag_item(diag, 0)->hint);
}
END_TEST

START_TEST(shows_twenty_errors_and_counts_the_rest) {
  g_autoptr(Diag) diag = diag_new();
  for (unsigned i = 1; i <= 25; i++)
    diag_error(diag, "f", i, 1, "e%u", i);
  diag_warning(diag, "f", 26, 1, "a warning is no error");
  g_autofree char *text = diag_render(diag);
  ck_assert_ptr_nonnull(strstr(text, "f:20:1: error: e20\n"));
  ck_assert_ptr_null(strstr(text, "e21"));
  ck_assert_ptr_nonnull(strstr(text, "f:26:1: warning: a warning is no error\n... and 5 more errors\n"));
}
END_TEST

START_TEST(shows_exactly_twenty_without_a_count) {
  g_autoptr(Diag) diag = diag_new();
  for (unsigned i = 1; i <= DIAG_SHOWN_MAX; i++)
    diag_error(diag, "f", i, 1, "e%u", i);
  g_autofree char *text = diag_render(diag);
  ck_assert_ptr_nonnull(strstr(text, "e20\n"));
  ck_assert_ptr_null(strstr(text, "more"));
}
END_TEST

START_TEST(keeps_a_thousand_and_counts_all) {
  g_autoptr(Diag) diag = diag_new();
  for (unsigned i = 0; i < 3000; i++)
    diag_error(diag, "f", 1, 1, "e%u", i);
  ck_assert_uint_eq(diag_count(diag), 1000);
  ck_assert_uint_eq(diag_error_count(diag), 3000);
  g_autofree char *text = diag_render(diag);
  ck_assert_ptr_nonnull(strstr(text, "... and 2980 more errors\n"));
}
END_TEST

START_TEST(gives_the_exit_status) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert_int_eq(diag_exit_status(diag), 0);
  diag_warning(diag, "f", 1, 1, "w");
  ck_assert_int_eq(diag_exit_status(diag), 0);
  ck_assert(!diag_has_errors(diag));
  diag_usage(diag, "u");
  ck_assert_int_eq(diag_exit_status(diag), 2);
  diag_error(diag, "f", 1, 1, "e");
  diag_usage(diag, "u");
  ck_assert_int_eq(diag_exit_status(diag), 3);
  ck_assert(diag_has_errors(diag));
}
END_TEST

static const char *const quotes[][2] = {
    {"alu", "`alu`"},
    {"", "``"},
    {"a\nb\t", "`a\\x0ab\\x09`"},
    {"\xc3\xa9t\xc3\xa9", "`\xc3\xa9t\xc3\xa9`"},
    {"\xff\xc3", "`\\xff\\xc3`"},
    {"\x1b[31m", "`\\x1b[31m`"},
    {"123456789 123456789 123456789 123456789 123456789 123456789 ",
     "`123456789 123456789 123456789 123456789 123456789 123456789 `"},
    {"123456789 123456789 123456789 123456789 123456789 123456789 1",
     "`123456789 123456789 123456789 123456789 123456789 123456789 ...`"},
};

START_TEST(quotes_any_text) {
  g_autofree char *text = quote_text(quotes[_i][0]);
  ck_assert_str_eq(text, quotes[_i][1]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("diag");
  TCase *tcase = tcase_create("diag");
  tcase_add_loop_test(tcase, finds_the_nearest, 0, G_N_ELEMENTS(nearest));
  tcase_add_test(tcase, takes_no_nearest_of_a_long_word);
  tcase_add_test(tcase, renders_places_and_hints);
  tcase_add_test(tcase, says_a_note_once);
  tcase_add_test(tcase, says_a_text_once);
  tcase_add_test(tcase, gives_no_hint_for_a_far_word);
  tcase_add_test(tcase, shows_twenty_errors_and_counts_the_rest);
  tcase_add_test(tcase, shows_exactly_twenty_without_a_count);
  tcase_add_test(tcase, keeps_a_thousand_and_counts_all);
  tcase_add_test(tcase, gives_the_exit_status);
  tcase_add_loop_test(tcase, quotes_any_text, 0, G_N_ELEMENTS(quotes));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
