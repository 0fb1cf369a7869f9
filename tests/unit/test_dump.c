#include <string.h>

#include "sim/report/dump_text.h"
#include "sim/report/json_fields.h"
#include "tests/unit/unit.h"

/* 1.5, -2, a NaN and an infinity, as floats; then twice 3. */
static uint32_t words[20] = {0x3fc00000, 0xc0000000, 0x7fc00000, 0x7f800000, 3, 3};

static GArray *dump_of(uint32_t count, DumpFormat format) {
  static ResultBuffer buffer = {.name = (char *)"b", .data = words};
  buffer.words = count;
  BufferDump dump = {&buffer, format};
  GArray *dumps = g_array_new(FALSE, FALSE, sizeof dump);
  return g_array_append_val(dumps, dump);
}

static void check_text(uint32_t count, DumpFormat format, const char *expected) {
  g_autoptr(GArray) dumps = dump_of(count, format);
  g_autoptr(GString) text = g_string_new(NULL);
  Canvas canvas = {text, false};
  dump_text(dumps, &canvas);
  ck_assert_str_eq(text->str, expected);
}

START_TEST(values_stand_in_rows) {
  check_text(2, DUMP_U32, "  b, 2 words as u32\n         0: 1069547520 3221225472\n");
  check_text(2, DUMP_S32, "  b, 2 words as s32\n         0:  1069547520 -1073741824\n");
  check_text(4, DUMP_F32, "  b, 4 words as f32\n         0: 1.5  -2 nan inf\n");
  check_text(1, DUMP_X32, "  b, 1 words as x32\n         0: 0x3fc00000\n");
}
END_TEST

START_TEST(two_words_make_a_value) {
  check_text(2, DUMP_X64, "  b, 2 words as x64\n         0: 0xc00000003fc00000\n");
  check_text(2, DUMP_S64, "  b, 2 words as s64\n         0: -4611686017357840384\n");
  check_text(2, DUMP_U64, "  b, 2 words as u64\n         0: 13835058056351711232\n");
  check_text(2, DUMP_F64, "  b, 2 words as f64\n         0: -2.0000004749745131\n");
  check_text(1, DUMP_X64, "  b, 1 words as x64\n         0: 0x000000003fc00000\n"); /* half of a value */
}
END_TEST

START_TEST(rows_alike_are_told_once) {
  static uint32_t zeros[40];
  ResultBuffer buffer = {.name = (char *)"z", .words = 40, .data = zeros};
  BufferDump dump = {&buffer, DUMP_U32};
  g_autoptr(GArray) dumps = g_array_new(FALSE, FALSE, sizeof dump);
  g_array_append_val(dumps, dump);
  g_autoptr(GString) text = g_string_new(NULL);
  Canvas canvas = {text, false};
  zeros[33] = 7;
  dump_text(dumps, &canvas);
  ck_assert_str_eq(text->str, "  z, 40 words as u32\n         0: 0 0 0 0 0 0 0 0\n          *\n"
                              "        32: 0 7 0 0 0 0 0 0\n");
}
END_TEST

static void check_json(uint32_t count, DumpFormat format, const char *expected) {
  g_autoptr(GArray) dumps = dump_of(count, format);
  JsonBuilder *builder = json_start();
  dump_json(dumps, builder);
  g_autofree char *text = json_finish(builder);
  g_auto(GStrv) parts = g_strsplit_set(text, " \n", -1);
  g_autofree char *joined = g_strjoinv("", parts);
  ck_assert_msg(strstr(joined, expected) != NULL, "%s: no %s", joined, expected);
}

START_TEST(json_has_numbers_where_it_can) {
  check_json(4, DUMP_F32, "\"buffers\":{\"b\":[1.5,-2.0,\"nan\",\"inf\"]}");
  check_json(6, DUMP_U32, "[1069547520,3221225472,2143289344,2139095040,3,3]");
  check_json(2, DUMP_S32, "[1069547520,-1073741824]");
  check_json(6, DUMP_U64, "[\"13835058056351711232\",9187343241979101184,12884901891]");
  check_json(2, DUMP_S64, "[-4611686017357840384]");
  check_json(1, DUMP_X32, "[\"0x3fc00000\"]");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("dump");
  TCase *tcase = tcase_create("dump");
  tcase_add_test(tcase, values_stand_in_rows);
  tcase_add_test(tcase, two_words_make_a_value);
  tcase_add_test(tcase, rows_alike_are_told_once);
  tcase_add_test(tcase, json_has_numbers_where_it_can);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
