#include "sim/scenario/scenario.h"

#include <glib/gstdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static char *folder;

/* Reads two argument words. */
static const char one_kernel[] =
    ".target sm_20\n.kernel one\n.mark 0\n  MOV R1, c[0x0][0x20];\n  MOV R2, c[0x0][0x24];\n"
    ".mark 1\n  EXIT;\n";
static const char two_kernels[] = ".target sm_20\n.kernel first\n  EXIT;\n.kernel second\n  EXIT;\n";
static const uint8_t three_words[] = {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 1, 0, 0};

static void put(const char *name, const void *data, gsize length) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  ck_assert(g_file_set_contents(path, data, (gssize)length, NULL));
}

static void make_folder(void) {
  folder = g_dir_make_tmp("lockstep-scenario-XXXXXX", NULL);
  put("one.sass", one_kernel, strlen(one_kernel));
  put("two.sass", two_kernels, strlen(two_kernels));
  put("three.bin", three_words, sizeof three_words);
  put("odd.bin", three_words, 5);
}

static void remove_folder(void) {
  static const char *const files[] = {"one.sass", "two.sass", "three.bin", "odd.bin", "s.yaml", "bare.sass"};
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = g_build_filename(folder, files[i], NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
  g_free(folder);
}

static Scenario *parse(const char *name, const char *text, const ScenarioOptions *options, Diag *diag) {
  g_autofree char *file = g_build_filename(folder, name, NULL);
  return scenario_parse(file, text, strlen(text), options, diag);
}

static Scenario *parse_good(const char *name, const char *text, const ScenarioOptions *options) {
  g_autoptr(Diag) diag = diag_new();
  Scenario *scenario = parse(name, text, options, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(scenario && diag_count(diag) == 0, "%s", messages);
  return scenario;
}

#define LAUNCH "launches: [{grid: 1, block: 32, args: [1, 2]}]\n"

static const char full[] =
    "about: Everything at once\n"
    "program: one.sass\n"
    "params: {blocks: 16, ops: blocks * 2}\n"
    "buffers:\n"
    "  zero: {words: blocks}\n"
    "  filled: {words: 3, init: -1}\n"
    "  listed: {words: 4, init: [1, blocks, 0xffffffff]}\n"
    "  counted: {words: 5, init: iota}\n"
    "  drawn: {words: 64, init: {random: {seed: 7, below: 10}}}\n"
    "  read: {words: 4, init: {file: three.bin}}\n"
    "launches:\n"
    "  - {grid: \"min(blocks, 4)\", block: [32, 2], shared: 16, stream: 1, args: [read, ops]}\n"
    "  - {kernel: one, grid: [1, 2, 3], block: 32, args: [{f32: 1.5}, {bytes: [1, 2, 3, 255]}]}\n"
    "measure: {operations: blocks * ops, region: [0, 1], shared_data: [0, 2176]}\n"
    "machines: [gtx570, gtx580]\n"
    "expect:\n"
    "  verdict: [completed, livelock]\n"
    "  findings: [unlock-not-held]\n"
    "  buffers: {zero: [ops, -1], read: {equals_file: three.bin}, counted: {sum: 10}}\n"
    "expect_on: {gtx580: {verdict: fault}}\n";

START_TEST(full_scenario) {
  g_autoptr(Scenario) scenario = parse_good("s.yaml", full, NULL);
  ck_assert_str_eq(scenario->name, "s");
  ck_assert_str_eq(scenario->about, "Everything at once");
  ck_assert_str_eq(scenario->machines[1], "gtx580");
  ck_assert_ptr_null(scenario->machines[2]);
  ck_assert_int_eq(scenario->measure.operations, 512);
  ck_assert(scenario->measure.has_region && scenario->measure.region.to == 1);
  ck_assert(scenario->measure.has_shared_data && scenario->measure.shared_data_bytes == 2176);
}
END_TEST

START_TEST(buffers_are_initialised) {
  g_autoptr(Scenario) scenario = parse_good("s.yaml", full, NULL);
  ScenarioBuffer **buffers = (ScenarioBuffer **)scenario->buffers->pdata;
  ck_assert_uint_eq(scenario->buffers->len, 6);
  ck_assert_uint_eq(buffers[0]->words, 16);
  ck_assert_ptr_null(buffers[0]->init);
  ck_assert_uint_eq(buffers[1]->init[2], UINT32_MAX);
  ck_assert_uint_eq(buffers[2]->init[1], 16);
  ck_assert_uint_eq(buffers[2]->init[2], UINT32_MAX);
  ck_assert_uint_eq(buffers[2]->init[3], 0);
  ck_assert_uint_eq(buffers[3]->init[4], 4);
  uint32_t seen = 0;
  for (int i = 0; i < 64; i++) {
    ck_assert_uint_lt(buffers[4]->init[i], 10);
    seen |= 1u << buffers[4]->init[i];
  }
  ck_assert_msg(__builtin_popcount(seen) > 5, "%x", seen);
  ck_assert_uint_eq(buffers[5]->init[1], UINT32_MAX);
  ck_assert_uint_eq(buffers[5]->init[2], 256);
  ck_assert_uint_eq(buffers[5]->init[3], 0);
}
END_TEST

START_TEST(launches_are_evaluated) {
  g_autoptr(Scenario) scenario = parse_good("s.yaml", full, NULL);
  const ScenarioLaunch *first = g_ptr_array_index(scenario->launches, 0);
  const ScenarioLaunch *second = g_ptr_array_index(scenario->launches, 1);
  ck_assert_uint_eq(first->grid[0], 4);
  ck_assert_uint_eq(first->grid[1], 1);
  ck_assert_uint_eq(first->block[1], 2);
  ck_assert_uint_eq(first->block[2], 1);
  ck_assert_uint_eq(first->shared_bytes, 16);
  ck_assert_int_eq(first->stream, 1);
  ck_assert_uint_eq(first->line, 12);
  const ScenarioArg *args = (const ScenarioArg *)first->args->data;
  ck_assert(args[0].kind == ARG_BUFFER && args[0].buffer == 5);
  ck_assert(args[1].kind == ARG_INTEGER && args[1].integer == 32);
  ck_assert_uint_eq(second->grid[2], 3);
  args = (const ScenarioArg *)second->args->data;
  ck_assert(args[0].kind == ARG_F32 && args[0].f32 == 1.5f);
  ck_assert(args[1].kind == ARG_BYTES && g_bytes_get_size(args[1].bytes) == 4);
}
END_TEST

/* The number of a launch is known in its own expressions only; `times: 0` is none. */
START_TEST(launches_are_numbered) {
  g_autoptr(Scenario) scenario = parse_good(
      "s.yaml",
      "program: one.sass\nparams: {n: 3}\n"
      "launches:\n"
      "  - {grid: \"min(i + 1, 2 * n - 1 - i)\", block: 32, args: [i, 10 * i], times: 2 * n - 1, index: i}\n"
      "  - {grid: 7, block: 32, args: [1, 2], times: n - 3}\n"
      "  - {grid: 9, block: 32 * (i + 1), args: [1, 2], times: 2, index: i}\n",
      NULL);
  static const unsigned grids[] = {1, 2, 3, 2, 1, 9, 9};
  ck_assert_uint_eq(scenario->launches->len, G_N_ELEMENTS(grids));
  for (guint i = 0; i < G_N_ELEMENTS(grids); i++) {
    const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, i);
    ck_assert_uint_eq(launch->grid[0], grids[i]);
    ck_assert_uint_eq(launch->block[0], i == 6 ? 64 : 32);
    ck_assert_int_eq(g_array_index(launch->args, ScenarioArg, 1).integer, i < 5 ? 10 * i : 2);
  }
  ck_assert_str_eq(scenario->params[0], "n");
  ck_assert_ptr_null(scenario->params[1]);
}
END_TEST

START_TEST(expectations_of_machines) {
  g_autoptr(Scenario) scenario = parse_good("s.yaml", full, NULL);
  const Expectation *common = scenario_expectation(scenario, "gtx570");
  const Expectation *own = scenario_expectation(scenario, "gtx580");
  ck_assert(common == &scenario->expect && own && own != common);
  ck_assert_uint_eq(common->verdicts->len, 2);
  ck_assert_uint_eq(own->verdicts->len, 1);
  ck_assert_int_eq(g_array_index(own->verdicts, Verdict, 0), VERDICT_FAULT);
  ck_assert_uint_eq(own->findings->len, 1);
  ck_assert_uint_eq(own->buffers->len, 3);
  ck_assert(scenario_expectation(scenario, NULL) == common);
}
END_TEST

START_TEST(params_are_overridden) {
  static const char *const params[] = {"blocks=2 + 3", NULL};
  ScenarioOptions options = {.params = params};
  g_autoptr(Scenario) scenario = parse_good("s.yaml", full, &options);
  ck_assert_uint_eq(((ScenarioBuffer *)g_ptr_array_index(scenario->buffers, 0))->words, 5);
  ck_assert_int_eq(scenario->measure.operations, 50);
}
END_TEST

START_TEST(expectation_may_be_left_out) {
  g_autoptr(Scenario) scenario = parse_good("s.yaml", "program: one.sass\n" LAUNCH, NULL);
  ck_assert_ptr_null(scenario_expectation(scenario, "gtx570"));
  ck_assert_ptr_null(scenario->machines[0]);
  ck_assert_ptr_null(scenario->about);
}
END_TEST

#define HEAD "program: one.sass\nparams: {n: 2}\nbuffers: {a: {words: 2}}\n"

static const struct {
  const char *text;
  unsigned line, column;
  const char *message, *hint;
} bad[] = {
    {"- 1\n", 1, 1, "a scenario: expected a mapping, found a list", NULL},
    {"abuot: x\nprogram: one.sass\n" LAUNCH, 1, 1, "unknown key `abuot` in a scenario", "did you mean `about`?"},
    {"about: x\n" LAUNCH, 1, 1, "the scenario has no `program`", NULL},
    {"program: [one.sass]\n" LAUNCH, 1, 10, "program: expected a single value, found a list", NULL},
    {"program: none.sass\n" LAUNCH, 1, 10, "no such file", NULL},
    {"program: one.c\n" LAUNCH, 1, 10,
     "program `one.c`: expected a name that ends in .sass, .cubin, .ptx or .cu, or a file with CUDA code", NULL},
    {"program: one.sass\n", 1, 1, "the scenario has no `launches`", NULL},
    {HEAD "launches: []\n", 4, 11, "`launches` is empty", NULL},
    {HEAD "launches: {grid: 1}\n", 4, 11, "launches: expected a list, found a mapping", NULL},
    {HEAD "launches: [{gird: 1, block: 1, args: [1, 1]}]\n", 4, 13, "unknown key `gird` in a launch",
     "did you mean `grid`?"},
    {HEAD "launches: [{block: 1, args: [1, 1]}]\n", 4, 12, "the launch has no `grid`", NULL},
    {HEAD "launches: [{grid: 0, block: 1, args: [1, 1]}]\n", 4, 19, "the grid has no blocks", NULL},
    {HEAD "launches: [{grid: 1, block: [32, n - 2], args: [1, 1]}]\n", 4, 34, "the block has no threads", NULL},
    {HEAD "launches: [{grid: -n, block: 1, args: [1, 1]}]\n", 4, 19,
     "the grid has a size of `-n` (-2), expected 1 to 2147483647", NULL},
    {HEAD "launches: [{grid: [1, 1, 1, 1], block: 1, args: [1, 1]}]\n", 4, 19,
     "grid: expected a number or a list of one to three, found a list of 4", NULL},
    {HEAD "launches: [{grid: m, block: 1, args: [1, 1]}]\n", 4, 19, "unknown name `m`", "did you mean `n`?"},
    {HEAD "launches: [{kernel: on, grid: 1, block: 1, args: [1, 1]}]\n", 4, 21, "unknown kernel `on`",
     "did you mean `one`?"},
    {"program: two.sass\n" LAUNCH, 2, 12, "two.sass has 2 kernels; expected `kernel` to say which", NULL},
    {HEAD "launches: [{grid: 1, block: 1, args: [1]}]\n", 4, 12, "kernel `one` reads 2 argument words, 1 given",
     NULL},
    {HEAD "launches: [{grid: 1, block: 1, args: [1, b]}]\n", 4, 42, "unknown name `b`: neither a param nor a buffer",
     "did you mean `n`?"},
    {HEAD "launches: [{grid: 1, block: 1, args: [1, 4294967296]}]\n", 4, 42,
     "an argument is 4294967296, expected -2147483648 to 4294967295", NULL},
    {HEAD "launches: [{grid: 1, block: 1, args: [1, {f46: 1}]}]\n", 4, 43, "unknown key `f46` in an argument",
     "did you mean `f64`?"},
    {HEAD "launches: [{grid: 1, block: 1, args: [1, {bytes: [1, 2]}]}]\n", 4, 50,
     "bytes: expected a multiple of four, found 2", NULL},
    {HEAD "launches: [{grid: 1, block: 1, args: [1, {f32: x}]}]\n", 4, 48, "unknown name `x`", "did you mean `n`?"},
    {HEAD "launches: [{grid: 1, block: 1, stream: -1, args: [1, 1]}]\n", 4, 40, "stream is -1, expected 0 to 1023",
     NULL},
    {"params: {min: 2}\nprogram: one.sass\n" LAUNCH, 1, 10, "`min` can't name a param", NULL},
    {"params: {n: 1/0}\nprogram: one.sass\n" LAUNCH, 1, 14, "division by zero in `1/0`", NULL},
    {"params: {a: 1}\nbuffers: {a: {words: 1}}\nprogram: one.sass\n" LAUNCH, 2, 11,
     "`a` is both a param and a buffer", NULL},
    {"buffers: {a: 1}\nprogram: one.sass\n" LAUNCH, 1, 14, "a buffer: expected a mapping, found `1`", NULL},
    {"buffers: {a: {init: 1}}\nprogram: one.sass\n" LAUNCH, 1, 11, "the buffer has no `words`", NULL},
    {"buffers: {a: {words: 0}}\nprogram: one.sass\n" LAUNCH, 1, 22,
     "the size of buffer `a` in words is 0, expected 1 to", NULL},
    {"buffers: {a: {words: 20000000}, b: {words: 20000000}}\nprogram: one.sass\n" LAUNCH, 1, 44,
     "the buffers have more than 33554432 words together", NULL},
    {"buffers: {a: {words: 1, init: [1, 2]}}\nprogram: one.sass\n" LAUNCH, 1, 31,
     "init has 2 values, but buffer `a` has 1 word", NULL},
    {"buffers: {a: {words: 1, init: iotta}}\nprogram: one.sass\n" LAUNCH, 1, 31, "unknown name `iotta`", NULL},
    {"buffers: {a: {words: 1, init: 0x100000000}}\nprogram: one.sass\n" LAUNCH, 1, 31,
     "init is `0x100000000` (4294967296), expected", NULL},
    {"buffers: {a: {words: 1, init: {random: {sead: 1}}}}\nprogram: one.sass\n" LAUNCH, 1, 41,
     "unknown key `sead` in `random`", "did you mean `seed`?"},
    {"buffers: {a: {words: 1, init: {random: {seed:7}}}}\nprogram: one.sass\n" LAUNCH, 1, 41,
     "unknown key `seed:7` in `random`", "a `:` without a space behind it"},
    {"buffers: {a: {words: 1, init: {random: {below: 0}}}}\nprogram: one.sass\n" LAUNCH, 1, 48,
     "below is 0, expected 1 to 4294967296", NULL},
    {"buffers: {a: {words: 1, init: {file: three.bin}}}\nprogram: one.sass\n" LAUNCH, 1, 38,
     "`three.bin` has 3 words, but buffer `a` has 1", NULL},
    {"buffers: {a: {words: 9, init: {file: odd.bin}}}\nprogram: one.sass\n" LAUNCH, 1, 38,
     "`odd.bin` has 5 bytes, which isn't a whole number of 4-byte words", NULL},
    {"buffers: {a: {words: 9, init: {file: none.bin}}}\nprogram: one.sass\n" LAUNCH, 1, 38, "no such file", NULL},
    {HEAD "launches: [{grid: 1, block: 32, times: -1}]\n", 4, 40, "times is -1, expected 0 to 10000", NULL},
    {HEAD "launches: [{grid: 1, block: 32, args: [1, 2], times: 0}]\n", 4, 11, "`launches`: all have `times: 0`",
     NULL},
    {HEAD "launches: [{grid: zero, block: 32, times: 0}]\n", 4, 19, "unknown name `zero`", NULL},
    {HEAD "launches: [{grid: 2 - i, block: 32, args: [1, 2], times: 3, index: i}]\n", 4, 19, "the grid has no blocks",
     "where `i` is 2"},
    {HEAD "launches: [{grid: 1, block: 32, args: [1, 2], index: max}]\n", 4, 54,
     "`max` can't name the number of a launch, since it is a function of expressions", NULL},
    {HEAD "launches: [{grid: 1, block: 32, args: [1, 2], index: 2i}]\n", 4, 54,
     "`2i` can't name the number of a launch", NULL},
    {HEAD "launches: [{grid: 1, block: 32, args: [1, 2], index: n}]\n", 4, 54, "index: `n` is a param already", NULL},
    {HEAD "launches: [{grid: 1, block: 32, args: [1, 2], index: i}, {grid: i, block: 32, args: [1, 2]}]\n", 4, 65,
     "unknown name `i`", NULL},
    {HEAD LAUNCH "measure: {longest_launch: 2}\n", 5, 27, "longest_launch is 2, expected 0 to 1", NULL},
    {HEAD LAUNCH "measure: {region: [0, 2]}\n", 5, 23, "one.sass has no `.mark 2`", NULL},
    {HEAD LAUNCH "measure: {region: [0]}\n", 5, 19, "region: expected a list of two, found one of 1", NULL},
    {HEAD LAUNCH "measure: {transfers: aa}\n", 5, 22, "unknown buffer `aa`", "did you mean `a`?"},
    {HEAD LAUNCH "measure: {transfers: a}\n", 5, 22, "transfers: buffer `a` has 2 words, expected 4", NULL},
    {HEAD LAUNCH "measure: {operations: 0}\n", 5, 23, "operations is 0, expected 1 to", NULL},
    {HEAD LAUNCH "machines: gtx570\n", 5, 11, "machines: expected a list, found `gtx570`", NULL},
    {HEAD LAUNCH "expect: {verdict: complete}\n", 5, 19, "unknown verdict `complete`", "did you mean `completed`?"},
    {HEAD LAUNCH "expect: {verdict: x}\n", 5, 19, "unknown verdict `x`", "expected one of completed, undecided, "},
    {HEAD LAUNCH "expect: {verdict: []}\n", 5, 19, "verdict: the list is empty", NULL},
    {HEAD LAUNCH "expect: {verdict: [fault, fault]}\n", 5, 27, "verdict `fault` is listed twice", NULL},
    {HEAD LAUNCH "expect: {findings: [unlock-no-held]}\n", 5, 21, "unknown finding `unlock-no-held`",
     "did you mean `unlock-not-held`?"},
    {HEAD LAUNCH "expect: {buffers: {b: [1]}}\n", 5, 20, "unknown buffer `b`", "did you mean `a`?"},
    {HEAD LAUNCH "expect: {buffers: {a: [1, 2, 3]}}\n", 5, 23, "3 words are expected of buffer `a`, which has 2",
     NULL},
    {HEAD LAUNCH "expect: {buffers: {a: 1}}\n", 5, 23, "buffer `a`: expected a list of words", NULL},
    {HEAD LAUNCH "expect: {buffers: {a: {equals_file: three.bin}}}\n", 5, 23,
     "3 words are expected of buffer `a`, which has 2", NULL},
    {HEAD LAUNCH "expect: {buffers: {a: {max: 1}}}\n", 5, 24, "unknown key `max` in an expected buffer", NULL},
    {HEAD LAUNCH "machines: [gtx570]\nexpect_on: {gtx580: {verdict: fault}}\n", 6, 13,
     "`gtx580` isn't one of the scenario's `machines`", "did you mean `gtx570`?"},
};

START_TEST(bad_scenarios) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = parse("s.yaml", bad[_i].text, NULL, diag);
  ck_assert_msg(!scenario && diag_error_count(diag) > 0, "%s", bad[_i].text);
  const DiagItem *item = diag_item(diag, 0);
  ck_assert_msg(strstr(item->message, bad[_i].message) != NULL, "%s gave: %s", bad[_i].text, item->message);
  ck_assert_msg(item->line == bad[_i].line && item->column == bad[_i].column, "%s: %u:%u", item->message, item->line,
                item->column);
  if (bad[_i].hint)
    ck_assert_msg(item->hint && strstr(item->hint, bad[_i].hint), "%s: %s", item->message, item->hint);
  ck_assert_int_eq(diag_exit_status(diag), 3);
}
END_TEST

/* Who names a buffer of a wrong size is right. */
START_TEST(a_wrong_buffer_is_one_error) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario =
      parse("s.yaml",
            "buffers: {a: {words: 0}}\nprogram: one.sass\n"
            "launches: [{grid: 1, block: 1, args: [a, 1]}, {grid: 1, block: 1, args: [1, a]}]\n",
            NULL, diag);
  ck_assert_ptr_null(scenario);
  ck_assert_uint_eq(diag_error_count(diag), 1);
}
END_TEST

START_TEST(errors_come_together) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = parse(
      "s.yaml", "program: one.sass\nx: 1\nlaunches: [{grid: 0, block: 0, args: [p, q]}]\nexpect: {verdict: [x, y]}\n",
      NULL, diag);
  ck_assert_ptr_null(scenario);
  ck_assert_uint_ge(diag_error_count(diag), 5);
}
END_TEST

static const char *const no_such[] = {"m=1", NULL}, *const no_value[] = {"n", NULL},
                         *const not_number[] = {"n=1x", NULL};
static const char *const some[] = {"1", NULL}, *const bad_buffer[] = {"b", NULL};

static const struct {
  const char *file;
  ScenarioOptions options;
  const char *message;
} misuses[] = {
    {"s.yaml", {.params = no_such}, "-p m=1: "},
    {"s.yaml", {.params = no_value}, "-p n: expected NAME=VALUE"},
    {"s.yaml", {.params = not_number}, "-p n: expected a number without a suffix, found `x` in `1x`"},
    {"s.yaml", {.grid = "1"}, "--grid is for bare programs"},
    {"s.yaml", {.args = some}, "--arg is for bare programs"},
    {"bare.sass", {.params = no_such}, "has no params"},
    {"bare.sass", {.block = "32"}, "kernel `one` has no grid: add `.grid N` to "},
    {"bare.sass", {.grid = "1"}, "kernel `one` has no block: add `.block N` to "},
    {"bare.sass", {.grid = "1", .block = "32", .args = some}, "kernel `one` reads 2 argument words, 1 given"},
    {"bare.sass", {.grid = "1,0", .block = "32"}, "--grid: the grid has no blocks"},
    {"bare.sass", {.grid = "1", .block = "3x"}, "--block: expected a number without a suffix, found `x` in `3x`"},
    {"bare.sass", {.grid = "1", .block = "32", .kernel = "onn"}, "--kernel: unknown kernel `onn`"},
    {"bare.sass", {.grid = "1", .block = "32", .shared = "-1"}, "--shared: dynamic shared memory is -1"},
    {"bare.sass", {.grid = "1", .block = "32", .buffers = bad_buffer}, "--buffer: `b`: expected NAME=WORDS"},
};

START_TEST(misused_options) {
  g_autoptr(Diag) diag = diag_new();
  const char *file = misuses[_i].file;
  const char *text = strcmp(file, "s.yaml") == 0 ? HEAD LAUNCH : one_kernel;
  g_autoptr(Scenario) scenario = parse(file, text, &misuses[_i].options, diag);
  ck_assert_msg(!scenario && diag_count(diag) > 0, "%s", misuses[_i].message);
  const char *message = diag_item(diag, 0)->message;
  ck_assert_msg(strstr(message, misuses[_i].message) != NULL, "%s", message);
  ck_assert_msg(diag_exit_status(diag) == 2, "%s", message);
}
END_TEST

static const char bare[] = ".target sm_20\n"
                           ".kernel one\n"
                           ".grid 2, 4 / 2\n"
                           ".block 32\n"
                           ".buffer a 4 [1, 2]\n"
                           ".buffer b (2 + 2) iota\n"
                           ".buffer c 2\n"
                           ".arg b\n"
                           ".arg {f32: 0.5}\n"
                           ".expect simd-deadlock, completed\n"
                           ".findings exit-holding unlock-not-held\n"
                           "  MOV R1, c[0x0][0x20];\n"
                           "  MOV R2, c[0x0][0x24];\n"
                           "  EXIT;\n";

START_TEST(bare_program) {
  g_autoptr(Scenario) scenario = parse_good("bare.sass", bare, NULL);
  const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, 0);
  ck_assert_uint_eq(scenario->launches->len, 1);
  ck_assert_uint_eq(launch->grid[1], 2);
  ck_assert_uint_eq(launch->block[0], 32);
  ck_assert_uint_eq(launch->line, 3);
  const ScenarioArg *args = (const ScenarioArg *)launch->args->data;
  ck_assert(launch->args->len == 2 && args[0].kind == ARG_BUFFER && args[0].buffer == 1 && args[1].kind == ARG_F32);
  ScenarioBuffer **buffers = (ScenarioBuffer **)scenario->buffers->pdata;
  ck_assert_uint_eq(buffers[0]->init[1], 2);
  ck_assert_uint_eq(buffers[1]->init[3], 3);
  ck_assert(scenario->has_expectation);
  ck_assert_uint_eq(scenario->expect.verdicts->len, 2);
  ck_assert_uint_eq(scenario->expect.findings->len, 2);
}
END_TEST

START_TEST(options_replace_directives) {
  static const char *const args[] = {"7", "d", NULL}, *const buffers[] = {"d=8", NULL};
  ScenarioOptions options = {.grid = "3", .block = "8,8", .shared = "64", .args = args, .buffers = buffers};
  g_autoptr(Scenario) scenario = parse_good("bare.sass", bare, &options);
  const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, 0);
  ck_assert(launch->grid[0] == 3 && launch->grid[1] == 1 && launch->block[1] == 8);
  ck_assert_uint_eq(launch->shared_bytes, 64);
  const ScenarioArg *given = (const ScenarioArg *)launch->args->data;
  ck_assert(launch->args->len == 2 && given[0].integer == 7 && given[1].buffer == 3);
}
END_TEST

START_TEST(kernels_with_a_grid_are_launched) {
  g_autoptr(Scenario) scenario = parse_good("bare.sass",
                                            ".target sm_20\n.kernel a\n  EXIT;\n.kernel b\n.grid 1\n.block 1\n  "
                                            "EXIT;\n.kernel c\n.grid 2\n.block 2\n  EXIT;\n",
                                            NULL);
  ck_assert_uint_eq(scenario->launches->len, 2);
  ck_assert_uint_eq(((ScenarioLaunch *)g_ptr_array_index(scenario->launches, 0))->kernel, 1);
  ck_assert_uint_eq(((ScenarioLaunch *)g_ptr_array_index(scenario->launches, 1))->kernel, 2);
}
END_TEST

static const struct {
  const char *directives;
  unsigned line, column;
  const char *message;
} bad_bare[] = {
    {".grid 0\n.block 1\n", 3, 7, "the grid has no blocks"},
    {".grid 1 1\n.block 1\n", 3, 9, "expected an operator or the end, found `1` in `1 1`"},
    {".grid 1\n.grid 2\n.block 1\n", 4, 7, "a second `.grid`; the first one is in line 3"},
    {".grid 1\n.block 1, 2, 3, 4\n", 4, 8, "block: expected a number or a list of one to three, found a list of 4"},
    {".grid 1\n.block 1\n.buffer a\n", 5, 9, "expected `.buffer NAME WORDS`"},
    {".grid 1\n.block 1\n.buffer a 1 [1, 2]\n", 5, 13, "init has 2 values, but buffer `a` has 1 word"},
    {".grid 1\n.block 1\n.buffer a 1 {file: 1, x: 2}\n", 5, 23, "unknown key `x` in `init`"},
    {".grid 1\n.block 1\n.arg a\n", 5, 6, "unknown name `a`: neither a param nor a buffer"},
    {".grid 1\n.block 1\n.expect completed, dead\n", 5, 20, "unknown verdict `dead`"},
    {".grid 1\n.block 1\n.findings misuse\n", 5, 11, "unknown finding `misuse`"},
};

START_TEST(bad_directives) {
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *text = g_strconcat(".target sm_20\n.kernel k\n", bad_bare[_i].directives, "  EXIT;\n", NULL);
  g_autoptr(Scenario) scenario = parse("bare.sass", text, NULL, diag);
  ck_assert_msg(!scenario && diag_count(diag) > 0, "%s", text);
  const DiagItem *item = diag_item(diag, 0);
  ck_assert_msg(strstr(item->message, bad_bare[_i].message) != NULL, "%s gave: %s", text, item->message);
  ck_assert_msg(item->line == bad_bare[_i].line && item->column == bad_bare[_i].column, "%s: %u:%u", item->message,
                item->line, item->column);
  ck_assert_int_eq(diag_exit_status(diag), 3);
}
END_TEST

START_TEST(files_are_loaded) {
  g_autoptr(Diag) diag = diag_new();
  put("s.yaml", full, strlen(full));
  g_autofree char *path = g_build_filename(folder, "s.yaml", NULL);
  g_autoptr(Scenario) scenario = scenario_load(path, NULL, diag);
  ck_assert(scenario && diag_count(diag) == 0);
  g_autofree char *program = g_build_filename(folder, "one.sass", NULL);
  ck_assert_str_eq(scenario->program->file, program);
}
END_TEST

START_TEST(wrong_files_are_refused) {
  static const char *const names[] = {"none.yaml", "three.bin", "none.ptx", "."};
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *path = g_build_filename(folder, names[_i], NULL);
  ck_assert_msg(!scenario_load(path, NULL, diag), "%s", names[_i]);
  ck_assert_msg(diag_count(diag) == 1 && diag_exit_status(diag) == 3, "%s", names[_i]);
}
END_TEST

START_TEST(kinds_of_files) {
  ck_assert(scenario_is_yaml("a/b.yaml") && scenario_is_yaml("B.YML") && !scenario_is_yaml("yaml"));
  ck_assert(scenario_is_program("k.sass") && scenario_is_program("k.ptx") && !scenario_is_program("k.yaml"));
}
END_TEST

/* Compares with words of `zero`, `read` and `counted`, the others zero, and returns the failures, one a line. */
static char *compare(Verdict verdict, FindingId finding, const uint32_t *zero, const uint32_t *read,
                     const uint32_t *counted) {
  g_autoptr(Scenario) scenario = parse_good("s.yaml", full, NULL);
  static const uint32_t none[64];
  const uint32_t *memory[] = {zero, none, none, counted, none, read};
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  g_autoptr(GPtrArray) failures = g_ptr_array_new_with_free_func(g_free);
  if (finding != FINDING_COUNT)
    g_ptr_array_add(findings, finding_new(finding, g_strdup("as it is")));
  expectation_compare(scenario, &scenario->expect, verdict, findings, memory, failures);
  g_ptr_array_add(failures, NULL);
  return g_strjoinv("\n", (char **)failures->pdata);
}

static const uint32_t right_zero[16] = {32, UINT32_MAX, 5}, right_read[4] = {1, UINT32_MAX, 256},
                      right_counted[5] = {4, 6};

START_TEST(met_expectations) {
  static const FindingId allowed[] = {FINDING_COUNT, FINDING_UNLOCK_NOT_HELD, FINDING_LIVELOCK};
  for (gsize i = 0; i < G_N_ELEMENTS(allowed); i++) {
    g_autofree char *failures = compare(VERDICT_COMPLETED, allowed[i], right_zero, right_read, right_counted);
    ck_assert_msg(!*failures, "%zu: %s", i, failures);
  }
}
END_TEST

START_TEST(missed_buffers) {
  static const uint32_t zero[16] = {31, UINT32_MAX - 1}, read[4] = {1, 2, 3};
  g_autofree char *failures = compare(VERDICT_COMPLETED, FINDING_COUNT, zero, read, right_zero);
  ck_assert_str_eq(failures, "zero[0] is 31, expected 32 (and 1 more word of zero)\n"
                             "read[1] is 2, expected 4294967295 (and 1 more word of read)\n"
                             "the words of counted sum to 4294967332, expected 10");
}
END_TEST

START_TEST(negative_words_read_as_such) {
  static const uint32_t zero[16] = {32, (uint32_t)-2};
  g_autofree char *failures = compare(VERDICT_COMPLETED, FINDING_COUNT, zero, right_read, right_counted);
  ck_assert_str_eq(failures, "zero[1] is -2, expected -1");
}
END_TEST

START_TEST(missed_verdict_and_finding) {
  static const uint32_t none[16];
  g_autofree char *failures = compare(VERDICT_FAULT, FINDING_EXIT_HOLDING, none, none, none);
  ck_assert_str_eq(failures, "the verdict is fault, expected completed or livelock\n"
                             "the finding exit-holding isn't expected: as it is");
}
END_TEST

/* Nothing that a file holds may crash the loader: a scenario and a program, cut at every byte. */
START_TEST(cut_inputs) {
  static const char *const names[] = {"s.yaml", "bare.sass"}, *const texts[] = {full, bare};
  for (gsize length = 0; length < strlen(texts[_i]); length++) {
    g_autoptr(Diag) diag = diag_new();
    g_autofree char *text = g_strndup(texts[_i], length);
    g_autoptr(Scenario) scenario = parse(names[_i], text, NULL, diag);
    ck_assert_msg(!scenario == diag_has_errors(diag), "%s", text);
  }
}
END_TEST

static TCase *yaml_tests(void) {
  TCase *tcase = tcase_create("yaml");
  tcase_add_checked_fixture(tcase, make_folder, remove_folder);
  tcase_add_test(tcase, full_scenario);
  tcase_add_test(tcase, buffers_are_initialised);
  tcase_add_test(tcase, launches_are_evaluated);
  tcase_add_test(tcase, launches_are_numbered);
  tcase_add_test(tcase, expectations_of_machines);
  tcase_add_test(tcase, params_are_overridden);
  tcase_add_test(tcase, expectation_may_be_left_out);
  tcase_add_loop_test(tcase, bad_scenarios, 0, G_N_ELEMENTS(bad));
  tcase_add_test(tcase, errors_come_together);
  tcase_add_test(tcase, a_wrong_buffer_is_one_error);
  tcase_add_loop_test(tcase, misused_options, 0, G_N_ELEMENTS(misuses));
  tcase_add_test(tcase, files_are_loaded);
  tcase_add_loop_test(tcase, wrong_files_are_refused, 0, 4);
  tcase_add_loop_test(tcase, cut_inputs, 0, 2);
  return tcase;
}

static TCase *bare_tests(void) {
  TCase *tcase = tcase_create("bare");
  tcase_add_checked_fixture(tcase, make_folder, remove_folder);
  tcase_add_test(tcase, bare_program);
  tcase_add_test(tcase, options_replace_directives);
  tcase_add_test(tcase, kernels_with_a_grid_are_launched);
  tcase_add_loop_test(tcase, bad_directives, 0, G_N_ELEMENTS(bad_bare));
  tcase_add_test(tcase, kinds_of_files);
  return tcase;
}

static TCase *compare_tests(void) {
  TCase *tcase = tcase_create("compare");
  tcase_add_checked_fixture(tcase, make_folder, remove_folder);
  tcase_add_test(tcase, met_expectations);
  tcase_add_test(tcase, missed_buffers);
  tcase_add_test(tcase, negative_words_read_as_such);
  tcase_add_test(tcase, missed_verdict_and_finding);
  return tcase;
}

int main(void) {
  Suite *suite = suite_create("scenario");
  suite_add_tcase(suite, yaml_tests());
  suite_add_tcase(suite, bare_tests());
  suite_add_tcase(suite, compare_tests());
  return unit_run(suite);
}
