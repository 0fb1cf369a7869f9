/* The YAML reader, and the reading of files below it (datadir). */
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/datadir.h"
#include "sim/machine/yaml_tree.h"
#include "tests/unit/unit.h"

static YamlTree *parse(const char *text, Diag *diag) { return yaml_tree_parse("t.yaml", text, strlen(text), diag); }

static const YamlNode *value_at(const YamlNode *node, guint index) { return g_ptr_array_index(node->values, index); }

START_TEST(reads_a_tree_with_places) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(YamlTree) tree = parse("name: x\nlist:\n  - 1\n  - [a, 'b c']\nmap: {k: 18 cycles}\nnone:\n", diag);
  ck_assert_ptr_nonnull(tree);
  ck_assert_str_eq(tree->file, "t.yaml");
  const YamlNode *root = tree->root;
  ck_assert_int_eq(root->type, YAML_NODE_MAPPING);
  ck_assert_uint_eq(root->keys->len, 4);
  ck_assert_str_eq(yaml_get(root, "name")->scalar, "x");
  const YamlNode *list = yaml_get(root, "list");
  ck_assert_int_eq(list->type, YAML_NODE_SEQUENCE);
  ck_assert_uint_eq(list->values->len, 2);
  ck_assert_uint_eq(value_at(list, 0)->line, 3);
  ck_assert_uint_eq(value_at(list, 0)->column, 5);
  ck_assert(!value_at(list, 0)->quoted);
  ck_assert(value_at(value_at(list, 1), 1)->quoted);
  ck_assert_str_eq(value_at(value_at(list, 1), 1)->scalar, "b c");
  ck_assert_str_eq(yaml_get(yaml_get(root, "map"), "k")->scalar, "18 cycles");
  ck_assert_str_eq(yaml_get(root, "none")->scalar, "");
  ck_assert_ptr_null(yaml_get(root, "absent"));
  ck_assert_ptr_null(yaml_get(list, "name"));
}
END_TEST

static const char *const accepted[] = {
    "---\na: 1\n", "a: 1\n...\n", "a: 1\n...\n# end\n", "\xef\xbb\xbf[a]",
    "a: 1\r\n",    "# c\n\na: 1", "a: |\n  %TAG\n",     "'%a': 1\n",
};

START_TEST(accepts) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(YamlTree) tree = parse(accepted[_i], diag);
  g_autofree char *text = diag_render(diag);
  ck_assert_msg(tree && !*text, "case %d: %s", _i, text);
}
END_TEST

/* An input and the whole text of its messages. */
typedef struct Refusal {
  const char *text, *message;
} Refusal;

static const Refusal refusals[] = {
    {"", "t.yaml: error: the file is empty\n"},
    {"# only this\n", "t.yaml: error: the file is empty\n"},
    {"a: 1\nb: 2\na: 3\nb: 4\n", "t.yaml:3:1: error: duplicate key `a`; the first one is in line 1\n"
                                 "t.yaml:4:1: error: duplicate key `b`; the first one is in line 2\n"},
    {"a: {b: 1, b: 2}\n", "t.yaml:1:11: error: duplicate key `b`; the first one is in line 1\n"},
    {"[a]: 1\n", "t.yaml:1:1: error: a key must be plain text, found a list\n"},
    {"? {a: 1}\n: 2\n", "t.yaml:1:3: error: a key must be plain text, found a mapping\n"},
    {"a: &x 1\n", "t.yaml:1:4: error: anchors (`&name`) are not accepted here; write the value out\n"},
    {"a: &x [1]\n", "t.yaml:1:4: error: anchors (`&name`) are not accepted here; write the value out\n"},
    {"a: *x\n", "t.yaml:1:4: error: aliases (`*name`) are not accepted here; write the value out\n"},
    {"a: !!int 1\n", "t.yaml:1:4: error: tags (`!name`) are not accepted here; write the plain value\n"},
    {"a: !x {b: 1}\n", "t.yaml:1:4: error: tags (`!name`) are not accepted here; write the plain value\n"},
    {"a: 1\n---\nb: 2\n",
     "t.yaml:2:1: error: a second document (`---`) is not accepted; put one document into a file\n"},
    {"%YAML 1.1\n---\na: 1\n", "t.yaml:1:1: error: directives (`%YAML`, `%TAG`) are not accepted\n"},
    {"# c\n  \n%TAG ! x\n---\na: 1\n", "t.yaml:3:1: error: directives (`%YAML`, `%TAG`) are not accepted\n"},
    {"a: 1\n...\n%TAG ! x\n---\nb: 1\n", "t.yaml:3:1: error: directives (`%YAML`, `%TAG`) are not accepted\n"},
    {"a: \"x\\0y\"\n", "t.yaml:1:4: error: a NUL character (\\0) cannot be part of a value\n"},
    {"a: 1\nb: \x01\n", "t.yaml:2:4: error: not a text file: the byte 0x01 cannot be part of YAML\n"},
    {"\x7f"
     "ELF\x02\x01",
     "t.yaml:1:1: error: not a text file: the byte 0x7f cannot be part of YAML\n"},
    {"a: \xc3\xa9\xff\n", "t.yaml:1:5: error: not a text file: the byte 0xff cannot be part of YAML\n"},
    {"a:\n\tb: 1\n", "t.yaml:2:1: error: a tab cannot indent; use spaces\n"},
    {"\xc3\xa9:\n\tb: 1\n", "t.yaml:2:1: error: a tab cannot indent; use spaces\n"},
    {"a: b: c\n", "t.yaml:1:5: error: a second `:` in one line; quote the text if it belongs to the value\n"},
    {"a: {b:{c: 1}}\n",
     "t.yaml:1:6: error: a `:` without a space behind it; write `key: value`, or quote the text\n"},
    {"a:\n  b: 1\n c: 2\n", "t.yaml:3:2: error: expected a `key: value` line here; check the indentation\n"
                            "  while parsing a block mapping that starts in line 1\n"},
    {"a: 1\nb\n",
     "t.yaml:3:1: error: expected `:` after this key\n  while scanning a simple key that starts in line 2\n"},
    {"a: [1, 2\nb: 3\n", "t.yaml:2:2: error: expected `,` or `]` in the list\n"
                         "  while parsing a flow sequence that starts in line 1\n"},
    {"a: {b: 1\n", "t.yaml:2:1: error: expected `,` or `}` in the mapping\n"
                   "  while parsing a flow mapping that starts in line 1\n"},
    {"a: 'b\n", "t.yaml:2:1: error: the file ends inside quotes\n"
                "  while scanning a quoted scalar that starts in line 1\n"},
    {"a: \"\\q\"\n", "t.yaml:1:5: error: unknown escape (`\\...`) inside double quotes\n"},
    {"a: @b\n", "t.yaml:1:4: error: a value cannot start with this character; quote it\n"},
    {"a: - b\n", "t.yaml:1:4: error: a list item (`- ...`) cannot stand here\n"},
};

START_TEST(refuses) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(YamlTree) tree = parse(refusals[_i].text, diag);
  g_autofree char *text = diag_render(diag);
  ck_assert_ptr_null(tree);
  ck_assert_msg(strcmp(text, refusals[_i].message) == 0, "case %d gave\n%sexpected\n%s", _i, text,
                refusals[_i].message);
  ck_assert_int_eq(diag_exit_status(diag), 3);
}
END_TEST

START_TEST(refuses_a_nul_byte) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert_ptr_null(yaml_tree_parse("t.yaml", "a: 1\0b\n", 7, diag));
  g_autofree char *text = diag_render(diag);
  ck_assert_str_eq(text, "t.yaml:1:5: error: not a text file: the byte 0x00 cannot be part of YAML\n");
}
END_TEST

static char *repeat(const char *unit, unsigned times, const char *end) {
  GString *text = g_string_new(NULL);
  for (unsigned i = 0; i < times; i++)
    g_string_append(text, unit);
  g_string_append(text, end);
  return g_string_free(text, FALSE);
}

static const struct {
  const char *unit;
  unsigned times;
  const char *end, *message;
} floods[] = {
    {"[", 10000000, "", "t.yaml:1:33: error: nested more than 32 levels deep\n"},
    {"{a: ", 1000000, "", "t.yaml:1:129: error: nested more than 32 levels deep\n"},
    {"- ", 5000000, "", "t.yaml:1:65: error: nested more than 32 levels deep\n"},
    {"- a\n", 300000, "",
     "t.yaml:249997:3: error: too much data: at most 250000 values are read, and a list or mapping counts as 4\n"},
    {"- {}\n", 100000, "",
     "t.yaml:62500:3: error: too much data: at most 250000 values are read, and a list or mapping counts as 4\n"},
    {"x", 70000, "\n", "t.yaml:1:1: error: a value of 70000 bytes; at most 65536 are read\n"},
    {"%TAG !a! b\n", 1000000, "a: 1\n", "t.yaml:1:1: error: directives (`%YAML`, `%TAG`) are not accepted\n"},
};

START_TEST(refuses_a_flood_at_once) {
  g_autofree char *input = repeat(floods[_i].unit, floods[_i].times, floods[_i].end);
  g_autoptr(Diag) diag = diag_new();
  double start = unit_cpu_seconds();
  ck_assert_ptr_null(parse(input, diag));
  ck_assert_msg(unit_cpu_seconds() - start < 2 * unit_patience(), "case %d took over 2 s", _i);
  g_autofree char *text = diag_render(diag);
  ck_assert_str_eq(text, floods[_i].message);
}
END_TEST

START_TEST(accepts_the_deepest_nesting) {
  g_autofree char *open = repeat("[", YAML_DEPTH_MAX, ""), *close = repeat("]", YAML_DEPTH_MAX, "");
  g_autofree char *input = g_strconcat(open, close, NULL);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(YamlTree) tree = parse(input, diag);
  ck_assert_ptr_nonnull(tree);
}
END_TEST

START_TEST(stops_after_a_thousand_errors) {
  g_autofree char *input = repeat("a: 1\n", 50000, "");
  g_autoptr(Diag) diag = diag_new();
  ck_assert_ptr_null(parse(input, diag));
  ck_assert_uint_eq(diag_error_count(diag), 1000);
}
END_TEST

START_TEST(checks_keys) {
  static const char *const allowed[] = {"grid", "block", NULL};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(YamlTree) tree = parse("grid: 1\nblok: 2\nzzzzzz: 3\n", diag);
  ck_assert(!yaml_check_keys(tree, tree->root, allowed, "a launch", diag));
  g_autofree char *text = diag_render(diag);
  ck_assert_str_eq(text, "t.yaml:2:1: error: unknown key `blok` in a launch\n  did you mean `block`?\n"
                         "t.yaml:3:1: error: unknown key `zzzzzz` in a launch\n  valid keys: `grid`, `block`\n");
  g_autoptr(YamlTree) good = parse("grid: 1\n", diag);
  ck_assert(yaml_check_keys(good, good->root, allowed, "a launch", diag));
}
END_TEST

START_TEST(checks_types) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(YamlTree) tree = parse("a: [1]\nb: {c: 1}\nd: x\ne:\n", diag);
  ck_assert(yaml_expect(tree, yaml_get(tree->root, "a"), YAML_NODE_SEQUENCE, "`a`", diag));
  ck_assert(!yaml_expect(tree, yaml_get(tree->root, "a"), YAML_NODE_SCALAR, "`a`", diag));
  ck_assert(!yaml_expect(tree, yaml_get(tree->root, "b"), YAML_NODE_SEQUENCE, "`b`", diag));
  ck_assert(!yaml_expect(tree, yaml_get(tree->root, "d"), YAML_NODE_MAPPING, "`d`", diag));
  ck_assert(!yaml_expect(tree, yaml_get(tree->root, "e"), YAML_NODE_MAPPING, "`e`", diag));
  g_autofree char *text = diag_render(diag);
  ck_assert_str_eq(text, "t.yaml:1:4: error: `a`: expected a single value, found a list\n"
                         "t.yaml:2:4: error: `b`: expected a list, found a mapping\n"
                         "t.yaml:3:4: error: `d`: expected a mapping, found `x`\n"
                         "t.yaml:4:3: error: `e`: expected a mapping, found nothing\n");
}
END_TEST

/* ---- files ---- */

static char *folder;

static void make_folder(void) {
  folder = g_dir_make_tmp("lockstep-yaml-XXXXXX", NULL);
  ck_assert_int_eq(g_chdir(folder), 0);
}

static void remove_folder(void) {
  static const char *const names[] = {"good.yaml", "large.yaml", "pipe", "secret.yaml"};
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
    g_remove(names[i]);
  g_remove("traces/spin.yaml");
  g_remove("traces");
  ck_assert_int_eq(g_chdir("/"), 0);
  g_rmdir(folder);
  g_free(folder);
}

static void expect_read(const char *path, const char *message) {
  g_autoptr(Diag) diag = diag_new();
  gsize length;
  g_autofree char *content = datadir_read_file(path, YAML_FILE_MAX, &length, NULL, 0, 0, diag);
  g_autoptr(YamlTree) tree = content ? yaml_tree_parse(path, content, length, diag) : NULL;
  g_autofree char *text = diag_render(diag);
  ck_assert_str_eq(text, message);
  ck_assert(!tree == (*message != '\0'));
}

START_TEST(reads_files) {
  ck_assert(g_file_set_contents("good.yaml", "a: 1\n", -1, NULL));
  ck_assert(g_file_set_contents("large.yaml", "", -1, NULL));
  ck_assert_int_eq(truncate("large.yaml", 100000000), 0);
  ck_assert_int_eq(mkfifo("pipe", 0600), 0);
  expect_read("good.yaml", "");
  expect_read("large.yaml", "large.yaml: error: too large: at most 16777216 bytes are read\n");
  expect_read("pipe", "pipe: error: the file is empty\n");
  expect_read("nonesuch.yaml", "nonesuch.yaml: error: no such file\n");
  expect_read("good.yaml/x", "good.yaml/x: error: no such file\n");
  expect_read(".", ".: error: is a directory, not a file\n");
  expect_read("/dev/zero", "/dev/zero: error: is not a regular file\n");
  expect_read("", "file name: error: is empty\n");
}
END_TEST

START_TEST(says_where_a_file_was_named) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert_ptr_null(datadir_read_file("nonesuch.sass", 100, NULL, "s.yaml", 3, 10, diag));
  ck_assert_ptr_null(datadir_read_file(".", 100, NULL, "s.yaml", 4, 10, diag));
  ck_assert(g_file_set_contents("good.yaml", "12345", -1, NULL));
  ck_assert_ptr_null(datadir_read_file("good.yaml", 4, NULL, "s.yaml", 5, 10, diag));
  gsize length = 0;
  g_autofree char *good = datadir_read_file("good.yaml", 5, &length, "s.yaml", 5, 10, diag);
  ck_assert_str_eq(good, "12345");
  ck_assert_uint_eq(length, 5);
  g_autofree char *text = diag_render(diag);
  ck_assert_str_eq(text, "s.yaml:3:10: error: `nonesuch.sass`: no such file\n"
                         "s.yaml:4:10: error: `.`: is a directory, not a file\n"
                         "s.yaml:5:10: error: `good.yaml`: too large: at most 4 bytes are read\n");
}
END_TEST

START_TEST(refuses_an_unreadable_file) {
  enum { NOBODY = 65534 };
  ck_assert(g_file_set_contents("secret.yaml", "a: 1\n", -1, NULL));
  ck_assert_int_eq(chmod("secret.yaml", 0), 0);
  uid_t user = geteuid();
  if (user == 0) /* root reads anything; each test has a process of its own, so this one may step down */
    ck_assert_int_eq(seteuid(NOBODY), 0);
  expect_read("secret.yaml", "secret.yaml: error: cannot be read: Permission denied\n");
  ck_assert_int_eq(seteuid(user), 0); /* the sanitizers' last look needs it */
}
END_TEST

START_TEST(resolves_under_the_data_folder) {
  g_autofree char *data = g_strconcat(folder, "/.", NULL);
  ck_assert_int_eq(g_mkdir("traces", 0700), 0);
  ck_assert(g_file_set_contents("traces/spin.yaml", "a: 1\n", -1, NULL));
  g_setenv("LOCKSTEP_DATA", data, TRUE);
  g_autofree char *path = datadir_join("traces", NULL), *there = g_build_filename(data, "traces", NULL);
  ck_assert_str_eq(path, there);
  g_autofree char *here = datadir_resolve("traces/spin.yaml");
  ck_assert_str_eq(here, "traces/spin.yaml");
  ck_assert_int_eq(g_chdir("/"), 0);
  g_autofree char *away = datadir_resolve("traces/spin.yaml"), *expected = datadir_join("traces", "spin.yaml");
  ck_assert_str_eq(away, expected);
  g_autofree char *absent = datadir_resolve("traces/nonesuch.yaml"), *empty = datadir_resolve("");
  ck_assert_str_eq(absent, "traces/nonesuch.yaml");
  ck_assert_str_eq(empty, "");
  ck_assert_int_eq(g_chdir(folder), 0);
}
END_TEST

START_TEST(finds_some_data_folder_without_the_variable) {
  g_unsetenv("LOCKSTEP_DATA");
  g_autofree char *path = datadir_join("configs", NULL);
  ck_assert(g_path_is_absolute(path));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("yaml_tree");
  TCase *tree = tcase_create("tree"), *files = tcase_create("files");
  tcase_set_timeout(tree, 30);
  tcase_add_test(tree, reads_a_tree_with_places);
  tcase_add_loop_test(tree, accepts, 0, G_N_ELEMENTS(accepted));
  tcase_add_loop_test(tree, refuses, 0, G_N_ELEMENTS(refusals));
  tcase_add_test(tree, refuses_a_nul_byte);
  tcase_add_loop_test(tree, refuses_a_flood_at_once, 0, G_N_ELEMENTS(floods));
  tcase_add_test(tree, accepts_the_deepest_nesting);
  tcase_add_test(tree, stops_after_a_thousand_errors);
  tcase_add_test(tree, checks_keys);
  tcase_add_test(tree, checks_types);
  suite_add_tcase(suite, tree);
  tcase_add_checked_fixture(files, make_folder, remove_folder);
  tcase_add_test(files, reads_files);
  tcase_add_test(files, says_where_a_file_was_named);
  tcase_add_test(files, refuses_an_unreadable_file);
  tcase_add_test(files, resolves_under_the_data_folder);
  tcase_add_test(files, finds_some_data_folder_without_the_variable);
  suite_add_tcase(suite, files);
  return unit_run(suite);
}
