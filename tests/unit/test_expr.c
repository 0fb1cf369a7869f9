#include "sim/scenario/expr.h"

#include <string.h>

#include "tests/unit/unit.h"

static bool look_up(const char *name, int64_t *value, gpointer user) {
  if (strcmp(name, "blocks") == 0)
    *value = 16;
  else if (strcmp(name, "min_ops") == 0)
    *value = -1000;
  else
    return false;
  return true;
}

static const char *const names[] = {"blocks", "min_ops", NULL};
static const ExprScope scope = {look_up, NULL, names};

static const struct {
  const char *text;
  int64_t value;
} good[] = {
    {"0", 0},
    {"42", 42},
    {"0x1F", 31},
    {"007", 7},
    {" 1 + 2 * 3 ", 7},
    {"(1 + 2) * 3", 9},
    {"10 - 3 - 2", 5},
    {"100 / 10 / 5", 2},
    {"-7 / 2", -3},
    {"-7 % 3", -1},
    {"2 - -3", 5},
    {"--4", 4},
    {"+4", 4},
    {"-(1 + 1)", -2},
    {"-2 * 3", -6},
    {"blocks * blocks", 256},
    {"min_ops", -1000},
    {"min(3, 1, 2)", 1},
    {"max (blocks, 17)", 17},
    {"max(1)", 1},
    {"min(blocks, max(2, 3)) + 1", 4},
    {"9223372036854775807", INT64_MAX},
    {"-9223372036854775807 - 1", INT64_MIN},
    {"0x7fffffffffffffff", INT64_MAX},
};

START_TEST(good_values) {
  g_autoptr(Diag) diag = diag_new();
  int64_t value = 99;
  bool done = expr_evaluate(good[_i].text, &scope, "f", 1, 1, &value, diag);
  ck_assert_msg(done && value == good[_i].value, "%s: %" G_GINT64_FORMAT, good[_i].text, value);
  ck_assert_uint_eq(diag_count(diag), 0);
}
END_TEST

/* Errors stand at 3:10 and on. */
static const struct {
  const char *text;
  unsigned column;
  const char *message;
} bad[] = {
    {"", 10, "expected a number, a name or `(` at the end of ``"},
    {"1 +", 13, "expected a number, a name or `(` at the end of `1 +`"},
    {"1 2", 12, "expected an operator or the end, found `2` in `1 2`"},
    {"(1", 12, "expected `)` at the end of `(1`"},
    {"1)", 11, "expected an operator or the end, found `)` in `1)`"},
    {"16K", 12, "expected a number without a suffix, found `K` in `16K`"},
    {"1.5", 11, "expected a whole number in `1.5`"},
    {"0x", 12, "expected a hexadecimal digit at the end of `0x`"},
    {"9223372036854775808", 10, "number above 64 bits in `9223372036854775808`"},
    {"9223372036854775807 + 1", 30, "overflow of 64 bits in `9223372036854775807 + 1`"},
    {"blocks * 0x7fffffffffffffff", 17, "overflow of 64 bits in `blocks * 0x7fffffffffffffff`"},
    {"(-9223372036854775807 - 1) / -1", 37, "overflow of 64 bits in `(-9223372036854775807 - 1) / -1`"},
    {"(-9223372036854775807 - 1) % -1", 37, "overflow of 64 bits in `(-9223372036854775807 - 1) % -1`"},
    {"-(-9223372036854775807 - 1)", 10, "overflow of 64 bits in `-(-9223372036854775807 - 1)`"},
    {"1 / (blocks - 16)", 12, "division by zero in `1 / (blocks - 16)`"},
    {"1 % 0", 12, "division by zero in `1 % 0`"},
    {"2 * block", 14, "unknown name `block`"},
    {"mid(1, 2)", 10, "unknown function `mid`"},
    {"min()", 14, "expected a number, a name or `(`, found `)` in `min()`"},
    {"min(1 2)", 16, "expected `,` or `)`, found `2` in `min(1 2)`"},
    {"min", 10, "unknown name `min`"},
    {"1 \xc3\xa9", 12, "expected an operator or the end, found `\xc3\xa9` in `1 \xc3\xa9`"},
    {"\xff", 10, "expected a number, a name or `(`, found `\\xff` in `\\xff`"},
};

START_TEST(bad_values) {
  g_autoptr(Diag) diag = diag_new();
  int64_t value;
  ck_assert_msg(!expr_evaluate(bad[_i].text, &scope, "f.yaml", 3, 10, &value, diag), "%s", bad[_i].text);
  ck_assert_msg(diag_error_count(diag) == 1, "%s", bad[_i].text);
  const DiagItem *item = diag_item(diag, 0);
  ck_assert_str_eq(item->message, bad[_i].message);
  ck_assert_str_eq(item->file, "f.yaml");
  ck_assert_msg(item->line == 3 && item->column == bad[_i].column, "%s: %u:%u", bad[_i].text, item->line,
                item->column);
}
END_TEST

START_TEST(names_get_hints) {
  g_autoptr(Diag) diag = diag_new();
  int64_t value;
  expr_evaluate("bloks", &scope, "f", 1, 1, &value, diag);
  ck_assert_str_eq(diag_item(diag, 0)->hint, "did you mean `blocks`?");
  expr_evaluate("yes", &scope, "f", 1, 1, &value, diag);
  ck_assert_str_eq(diag_item(diag, 1)->hint, "values are whole numbers: 1 for yes");
  expr_evaluate("False", &scope, "f", 1, 1, &value, diag);
  ck_assert_str_eq(diag_item(diag, 2)->hint, "values are whole numbers: 0 for False");
}
END_TEST

START_TEST(sizes_get_hints) {
  static const char *const sizes[][2] = {{"12kb", "12 * 1024"},
                                         {"blocks + 48 KiB", "48 * 1024"},
                                         {"8MiB", "8 * 1024 * 1024"},
                                         {"1G", "1 * 1024 * 1024 * 1024"},
                                         {"12kg", NULL},
                                         {"1 blocks", NULL},
                                         {"(1)K", NULL}};
  for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autoptr(Diag) diag = diag_new();
    g_autofree char *hint = g_strconcat("numbers have no units here: ", sizes[i][1], NULL);
    int64_t value;
    ck_assert(!expr_evaluate(sizes[i][0], &scope, "f", 1, 1, &value, diag));
    ck_assert_msg(g_strcmp0(diag_item(diag, 0)->hint, sizes[i][1] ? hint : NULL) == 0, "%s", sizes[i][0]);
  }
}
END_TEST

START_TEST(scope_may_be_empty) {
  g_autoptr(Diag) diag = diag_new();
  int64_t value;
  ck_assert(expr_evaluate("1 + 1", NULL, NULL, 0, 0, &value, diag));
  ck_assert(!expr_evaluate("x", NULL, NULL, 0, 0, &value, diag));
  ck_assert_uint_eq(diag_item(diag, 0)->column, 0);
}
END_TEST

static bool evaluates(char *text) {
  g_autofree char *owned = text;
  g_autoptr(Diag) diag = diag_new();
  int64_t value;
  return expr_evaluate(owned, &scope, "f", 1, 1, &value, diag);
}

static char *repeat(const char *unit, unsigned count, const char *tail) {
  GString *text = g_string_new(NULL);
  while (count-- > 0)
    g_string_append(text, unit);
  return g_string_free(g_string_append(text, tail), FALSE);
}

START_TEST(depth_and_length_are_capped) {
  g_autofree char *closing = repeat(")", 60, "");
  g_autofree char *tail = g_strconcat("1", closing, NULL);
  ck_assert(evaluates(repeat("(", 60, tail)));
  ck_assert(!evaluates(repeat("(", 100, "1")));
  ck_assert(!evaluates(repeat("(", 4000, "1")));
  ck_assert(!evaluates(repeat("min(", 1000, "1")));
  ck_assert(evaluates(repeat("1+", 2000, "1")));
  ck_assert(evaluates(repeat("-", 4000, "1")));
  ck_assert(!evaluates(repeat("1+", 1000000, "1")));
}
END_TEST

START_TEST(plain_names) {
  ck_assert(expr_is_name("blocks"));
  ck_assert(expr_is_name("_x1"));
  ck_assert(!expr_is_name("1x"));
  ck_assert(!expr_is_name("a b"));
  ck_assert(!expr_is_name("a-b"));
  ck_assert(!expr_is_name(""));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("expr");
  TCase *tcase = tcase_create("expr");
  tcase_add_loop_test(tcase, good_values, 0, G_N_ELEMENTS(good));
  tcase_add_loop_test(tcase, bad_values, 0, G_N_ELEMENTS(bad));
  tcase_add_test(tcase, names_get_hints);
  tcase_add_test(tcase, sizes_get_hints);
  tcase_add_test(tcase, scope_may_be_empty);
  tcase_add_test(tcase, depth_and_length_are_capped);
  tcase_add_test(tcase, plain_names);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
