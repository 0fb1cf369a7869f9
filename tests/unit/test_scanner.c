/* The one scanner under the rules of each language: what a token is, where it stands, what its number is. */
#include "isa/scanner.h"

#include <string.h>

#include "tests/unit/unit.h"

static const TokenRules listing = {.lines = true,
                                   .comments = true,
                                   .addresses = true,
                                   .marked_words = true,
                                   .dotted_words = true,
                                   .word_max = 16,
                                   .no_word = "long",
                                   .no_number = "no number"};
static const TokenRules assembly = {.comments = true,
                                    .marked_words = true,
                                    .dotted_words = true,
                                    .directives = true,
                                    .scoped_words = true,
                                    .strings = true,
                                    .coded_numbers = true,
                                    .word_max = 16,
                                    .no_word = "long",
                                    .no_number = "no number"};
static const TokenRules arithmetic = {.word_max = 16, .no_word = "long", .no_number = "no number"};

static const char *const kinds[] = {
    [TOK_END] = "end",     [TOK_NEWLINE] = "line",      [TOK_WORD] = "word",       [TOK_DIRECTIVE] = "directive",
    [TOK_INTEGER] = "int", [TOK_F32] = "f32",           [TOK_REAL] = "real",       [TOK_STRING] = "string",
    [TOK_PUNCT] = "punct", [TOK_ELLIPSIS] = "ellipsis", [TOK_ADDRESS] = "address", [TOK_ERROR] = "error",
};

/* "kind:text" of each token but the last, one space between two. */
static char *tokens_of(const TokenRules *rules, const char *text) {
  Scanner scanner;
  GString *out = g_string_new(NULL);
  scanner_init(&scanner, rules, text, strlen(text));
  for (Token token = scanner_next(&scanner); token.kind != TOK_END; token = scanner_next(&scanner)) {
    const char *shown = token.kind == TOK_ERROR ? token.problem : kinds[token.kind];
    g_string_append_printf(out, "%s%s:%.*s", out->len ? " " : "", shown,
                           token.kind == TOK_NEWLINE ? 0 : (int)token.length, token.text);
  }
  return g_string_free(out, FALSE);
}

static const struct {
  const TokenRules *rules;
  const char *text, *tokens;
} texts[] = {
    {&listing, "R2.CC .kernel x.", "word:R2.CC word:.kernel word:x punct:."},
    {&assembly, "%r1.x .reg.b32 a.b", "word:%r1.x directive:.reg directive:.b32 word:a.b"},
    {&arithmetic, "a.b %c", "word:a punct:. word:b punct:% word:c"},
    {&listing, "a\n/* b\n */c", "word:a line: line: word:c"},
    {&assembly, "a\n/* b\n */c", "word:a word:c"},
    {&arithmetic, "8//2 /*", "int:8 punct:/ punct:/ int:2 punct:/ punct:*"},
    {&listing, "/*0008*/ A /*0010*/; /*dead*/ B", "address:/*0008*/ word:A punct:; word:B"},
    {&assembly, "/*0008*/ A", "word:A"},
    {&assembly, "a::b c:d", "word:a::b word:c punct:: word:d"},
    {&listing, "a::b", "word:a punct:: punct:: word:b"},
    {&assembly, "\"a \\\" b\" \"c\n", "string:\"a \\\" b\" this string has no end:\"c"},
    {&listing, "\"a\"", "punct:\" word:a punct:\""},
    {&listing, "1...2 ..", "int:1 ellipsis:... int:2 ellipsis:.."},
    {&assembly, "0x1e+5", "int:0x1e punct:+ int:5"},
    {&assembly, "1e+5 .5 12ab 0x2.5", "real:1e+5 real:.5 no number:12ab no number:0x2.5"},
    {&assembly, "0f3F800000 0f3F80 0d3FF0000000000000 0b101 017U 09",
     "f32:0f3F800000 no number:0f3F80 real:0d3FF0000000000000 int:0b101 int:017U no number:09"},
    {&listing, "0f3F800000 0b101 017 017U", "no number:0f3F800000 no number:0b101 int:017 no number:017U"},
    {&assembly, "x.3 .3", "word:x.3 real:.3"},
    {&assembly, "]x .3y", "punct:] word:x no number:.3y"},
    {&arithmetic, "abcdefghijklmnopq r", "long:abcdefghijklmnopq word:r"},
    {&listing, "a \x01\x02 b /* c",
     "word:a this byte has no place in a program text:\x01\x02 word:b "
     "this comment has no end:/*"},
};

START_TEST(tokens) {
  g_autofree char *found = tokens_of(texts[_i].rules, texts[_i].text);
  ck_assert_msg(strcmp(found, texts[_i].tokens) == 0, "%d: %s", _i, found);
}
END_TEST

static const struct {
  const TokenRules *rules;
  const char *text;
  uint64_t value;
} numbers[] = {
    {&listing, "017", 17},
    {&assembly, "017", 15},
    {&assembly, "0b101U", 5},
    {&assembly, "0xffffffffffffffff", UINT64_MAX},
    {&arithmetic, "18446744073709551616", UINT64_MAX}, /* the reader says that it's too large */
    {&assembly, "0f3F800000", 0x3f800000},
    {&assembly, "0d3FF0000000000000", 0x3ff0000000000000},
    {&assembly, "1.0", 0x3ff0000000000000},
};

START_TEST(values) {
  Scanner scanner;
  scanner_init(&scanner, numbers[_i].rules, numbers[_i].text, strlen(numbers[_i].text));
  Token token = scanner_next(&scanner);
  ck_assert_msg(token.kind != TOK_ERROR && token.value == numbers[_i].value, "%s: %" G_GINT64_MODIFIER "x",
                numbers[_i].text, token.value);
}
END_TEST

START_TEST(integers_above_64_bits) {
  g_autofree char *found = tokens_of(&assembly, "18446744073709551616");
  ck_assert_str_eq(found, "no number:18446744073709551616");
}
END_TEST

static void expect_place(const GArray *starts, uint32_t at, unsigned line, unsigned column) {
  unsigned found_line, found_column;
  scanner_place(starts, at, &found_line, &found_column);
  ck_assert_msg(found_line == line && found_column == column, "%u: %u:%u", at, found_line, found_column);
}

/* A tab is one column, as in compilers; a byte order mark is none. */
START_TEST(places) {
  static const char text[] = "\xef\xbb\xbf"
                             "a\tb\r\n\n  c";
  g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  Scanner scanner;
  ck_assert(scanner_find_lines(starts, text, strlen(text)));
  scanner_init(&scanner, &assembly, text, strlen(text));
  expect_place(starts, scanner_next(&scanner).at, 1, 1);
  expect_place(starts, scanner_next(&scanner).at, 1, 3);
  Token c = scanner_next(&scanner);
  expect_place(starts, c.at, 3, 3);
  expect_place(starts, scanner_next(&scanner).at, 3, 4);
  ck_assert(token_equals(&c, "c"));
  Token again = scanner_token_at(&scanner, c.at);
  ck_assert(again.kind == TOK_WORD && again.at == c.at && again.length == 1);
}
END_TEST

/* The rest of a line keeps the columns of what stands behind a comment, and the end of the line is still to come. */
START_TEST(rest_of_line) {
  static const char text[] = ".arg  n /* words */ + 1  // more\nNOP";
  Scanner scanner;
  uint32_t at;
  scanner_init(&scanner, &listing, text, strlen(text));
  scanner_next(&scanner);
  g_autofree char *rest = scanner_rest_of_line(&scanner, &at);
  ck_assert_str_eq(rest, "n             + 1");
  ck_assert_uint_eq(at, 6);
  ck_assert_int_eq(scanner_next(&scanner).kind, TOK_NEWLINE);
}
END_TEST

START_TEST(skipping) {
  static const char text[] = "a b\nc d";
  Scanner scanner;
  scanner_init(&scanner, &listing, text, strlen(text));
  scanner_next(&scanner);
  scanner_skip_line(&scanner);
  ck_assert_int_eq(scanner_next(&scanner).kind, TOK_NEWLINE);
  ck_assert_int_eq(scanner_next(&scanner).kind, TOK_WORD);
  scanner_stop(&scanner);
  ck_assert_int_eq(scanner_next(&scanner).kind, TOK_END);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("scanner");
  TCase *tcase = tcase_create("scanner");
  tcase_add_loop_test(tcase, tokens, 0, G_N_ELEMENTS(texts));
  tcase_add_loop_test(tcase, values, 0, G_N_ELEMENTS(numbers));
  tcase_add_test(tcase, integers_above_64_bits);
  tcase_add_test(tcase, places);
  tcase_add_test(tcase, rest_of_line);
  tcase_add_test(tcase, skipping);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
