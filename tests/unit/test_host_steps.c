/* The `host:` list of a scenario. */
#include <glib/gstdio.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "tests/unit/unit.h"

static char *folder;

static void make_folder(void) {
  folder = g_dir_make_tmp("lockstep-host-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "k.sass", NULL);
  ck_assert(g_file_set_contents(path, ".target sm_20\n.kernel k\n  EXIT;\n", -1, NULL));
}

static void remove_folder(void) {
  g_autofree char *path = g_build_filename(folder, "k.sass", NULL);
  g_unlink(path);
  g_rmdir(folder);
  g_free(folder);
}

static Scenario *parse(const char *text, Diag *diag) {
  g_autofree char *file = g_build_filename(folder, "s.yaml", NULL);
  return scenario_parse(file, text, strlen(text), NULL, diag);
}

#define HEAD                                                 \
  "program: k.sass\n"                                        \
  "params: {n: 3}\n"                                         \
  "buffers: {a: {words: 4}, flag: {words: n, host: true}}\n" \
  "launches: [{grid: 1, block: 32, times: n}]\n"

START_TEST(steps_are_read) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = parse(HEAD "host:\n"
                                            "  - {write: flag, value: -1}\n"
                                            "  - repeat: n * 2\n"
                                            "    steps:\n"
                                            "      - {poll: \"flag[n - 1]\", until: odd}\n"
                                            "      - {leave: flag, if: {ge: n}}\n"
                                            "      - {modify: flag, value: 1, cycles: 100}\n"
                                            "  - {delay: 7}\n"
                                            "  - {launch: 1}\n"
                                            "  - {wait: 2}\n"
                                            "  - {add: flag, value: 2}\n",
                                       diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(scenario && diag_count(diag) == 0, "%s", messages);
  ck_assert_uint_eq(scenario->launches->len, 3);
  static const HostStep expected[] = {
      {.kind = HOST_WRITE, .buffer = 1, .value = UINT32_MAX},
      {.kind = HOST_REPEAT, .count = 6, .body = 3},
      {.kind = HOST_POLL, .buffer = 1, .index = 2, .compare = HOST_ODD},
      {.kind = HOST_LEAVE, .buffer = 1, .compare = HOST_GE, .value = 3},
      {.kind = HOST_MODIFY, .buffer = 1, .value = 1, .cycles = 100},
      {.kind = HOST_DELAY, .cycles = 7},
      {.kind = HOST_LAUNCH, .launch = 1},
      {.kind = HOST_WAIT, .launch = 2},
      {.kind = HOST_ADD, .buffer = 1, .value = 2},
  };
  ck_assert_uint_eq(scenario->host->len, G_N_ELEMENTS(expected));
  for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
    const HostStep *a = &g_array_index(scenario->host, HostStep, i), *b = &expected[i];
    UNIT_ASSERT(a->kind == b->kind && a->buffer == b->buffer && a->index == b->index && a->value == b->value &&
                    a->compare == b->compare && a->cycles == b->cycles && a->launch == b->launch &&
                    a->count == b->count && a->body == b->body,
                "step %u", i);
  }
}
END_TEST

static const struct {
  const char *text;
  unsigned line, column;
  const char *message, *hint;
} bad[] = {
    {HEAD "host: {}\n", 5, 7, "host: expected a list, found a mapping", NULL},
    {HEAD "host: [{pole: flag, until: odd}]\n", 5, 9, "unknown step of the host: `pole`", "did you mean `poll`?"},
    {HEAD "host: [{poll: flag}]\n", 5, 8, "the step has no `until`", NULL},
    {HEAD "host: [{poll: flag, until: {gt: 1}}]\n", 5, 29, "unknown key `gt`", NULL},
    {HEAD "host: [{poll: flag, until: 3}]\n", 5, 28, "until: expected odd, even, or one of {eq: N}", NULL},
    {HEAD "host: [{poll: flog, until: odd}]\n", 5, 15, "unknown buffer `flog`", "did you mean `flag`?"},
    {HEAD "host: [{poll: a, until: odd}]\n", 5, 15, "buffer `a` isn't mapped from the host", NULL},
    {HEAD "host: [{write: \"flag[3]\", value: 1}]\n", 5, 21, "the index into buffer `flag` is 3, expected 0 to 2",
     NULL},
    {HEAD "host: [{write: flag}]\n", 5, 8, "the step has no `value`", NULL},
    {HEAD "host: [{modify: flag, value: 1}]\n", 5, 8, "the step has no `cycles`", NULL},
    {HEAD "host: [{launch: 3}]\n", 5, 17, "the launch is 3, expected 0 to 2", NULL},
    {HEAD "host: [{leave: flag, if: odd}]\n", 5, 8, "`leave` stands outside of a repetition", NULL},
    {HEAD "host: [{repeat: 3}]\n", 5, 8, "the repetition has no `steps`", NULL},
};

START_TEST(bad_steps) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = parse(bad[_i].text, diag);
  UNIT_ASSERT(!scenario && diag_error_count(diag) > 0, "%s", bad[_i].text);
  const DiagItem *item = diag_item(diag, 0);
  UNIT_ASSERT(strstr(item->message, bad[_i].message) != NULL, "%s gave: %s", bad[_i].text, item->message);
  UNIT_ASSERT(item->line == bad[_i].line && item->column == bad[_i].column, "%s: %u:%u", item->message, item->line,
              item->column);
  if (bad[_i].hint)
    UNIT_ASSERT(item->hint && strstr(item->hint, bad[_i].hint), "%s: %s", item->message, item->hint);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("host_steps");
  TCase *tcase = tcase_create("yaml");
  tcase_add_checked_fixture(tcase, make_folder, remove_folder);
  tcase_add_test(tcase, steps_are_read);
  tcase_add_loop_test(tcase, bad_steps, 0, G_N_ELEMENTS(bad));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
