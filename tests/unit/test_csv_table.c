#include "sim/study/csv_table.h"
#include "tests/unit/unit.h"

#include <string.h>

static const char *const known[] = {"row", "published", "note", NULL};

START_TEST(reads_fields_and_lines) {
  static const char text[] =
      "\xef\xbb\xbf# comment\nrow,published,note\na, 4.0 ,\"two, \"\"quoted\"\"\nlines\"\r\n\nb,1,\n";
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(CsvTable) table = csv_table_parse("x.csv", text, known, 2, diag);
  ck_assert_ptr_nonnull(table);
  ck_assert_uint_eq(table->rows->len, 2);
  const CsvRow *a = g_ptr_array_index(table->rows, 0), *b = g_ptr_array_index(table->rows, 1);
  ck_assert_str_eq(csv_table_field(table, a, "published"), "4.0");
  ck_assert_str_eq(csv_table_field(table, a, "note"), "two, \"quoted\"\nlines");
  ck_assert_str_eq(csv_table_field(table, b, "note"), "");
  ck_assert_str_eq(csv_table_field(table, b, "absent"), "");
  ck_assert_uint_eq(a->line, 3);
  ck_assert_uint_eq(b->line, 6);
}
END_TEST

static const char *const wrong[][2] = {
    {"row,note\n", "x.csv:1: error: column `published` is missing"},
    {"row,publsihed,note\n", "x.csv:1: error: unknown column `publsihed`"},
    {"row,published\na,1,2\n", "x.csv:2: error: 3 fields where there are 2 columns"},
    {"row,published\na,\"1\n", "x.csv:2: error: a quoted field that doesn't end"},
    {"row,published\n\"a\"b,1\n", "x.csv:2: error: text after a quoted field"},
    {"", "x.csv:1: error: unknown column ``"},
    {"row,published,note,row\n", "x.csv:1: error: column `row` stands twice, as number 1 and 4"},
    {"row,published\na,1\n\xff,1\n", "x.csv:3: error: the byte 0xff isn't UTF-8 text"},
};

START_TEST(refuses) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(CsvTable) table = csv_table_parse("x.csv", wrong[_i][0], known, 2, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_ptr_null(table);
  ck_assert_msg(g_str_has_prefix(messages, wrong[_i][1]), "`%s` gave %s", wrong[_i][0], messages);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("csv_table");
  TCase *tcase = tcase_create("csv_table");
  tcase_add_test(tcase, reads_fields_and_lines);
  tcase_add_loop_test(tcase, refuses, 0, G_N_ELEMENTS(wrong));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
