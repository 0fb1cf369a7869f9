/* Scenarios of PTX programs: arguments by parameter, module variables, limits of a kernel, the program of each
 * machine. */
#include <glib/gstdio.h>
#include <string.h>

#include "sim/core/occupancy.h"
#include "sim/scenario/scenario.h"
#include "tests/unit/unit.h"

static char *folder;

static const char program[] =
    ".version 9.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 count[3];\n"
    ".visible .entry k(\n"
    "  .param .u64 k_out, .param .s8 k_byte, .param .u16 k_half, .param .u32 k_n,\n"
    "  .param .f32 k_x, .param .f64 k_y, .param .align 4 .b8 k_struct[6], .param .s64 k_long\n"
    ")\n"
    ".maxntid 64\n"
    "{\n"
    "  pmevent 3;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry exact() .reqntid 32, 2\n"
    "{\n"
    "  ret;\n"
    "}\n";

static void make_folder(void) {
  folder = g_dir_make_tmp("lockstep-ptx-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "k.ptx", NULL);
  ck_assert(g_file_set_contents(path, program, -1, NULL));
}

static void remove_folder(void) {
  g_autofree char *path = g_build_filename(folder, "k.ptx", NULL);
  g_unlink(path);
  g_rmdir(folder);
  g_free(folder);
}

static Scenario *parse(const char *text, Diag *diag) {
  g_autofree char *file = g_build_filename(folder, "s.yaml", NULL);
  return scenario_parse(file, text, strlen(text), NULL, diag);
}

#define HEAD "program: k.ptx\nbuffers: {a: {words: 4}}\n"
#define LAUNCH(args) HEAD "launches:\n  - {kernel: k, grid: 1, block: 32, args: [" args "]}\n"
#define REST ", {f32: 0.5}, {f64: 0.25}, {bytes: [1, 2, 3, 4, 5, 6]}, -1"

static const ScenarioArg *arg(const Scenario *scenario, guint index) {
  return &g_array_index(((ScenarioLaunch *)g_ptr_array_index(scenario->launches, 0))->args, ScenarioArg, index);
}

START_TEST(arguments_take_their_parameters_type) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = parse(LAUNCH("a, -1, 0xffff, 7, 3, 0.1, {bytes: [1, 2, 3, 4, 5, -1]}, -5"), diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(scenario && diag_count(diag) == 0, "%s", messages);
  ck_assert(arg(scenario, 0)->kind == ARG_BUFFER && arg(scenario, 0)->buffer == 0);
  ck_assert(arg(scenario, 1)->kind == ARG_INTEGER && arg(scenario, 1)->integer == -1);
  ck_assert(arg(scenario, 2)->kind == ARG_INTEGER && arg(scenario, 2)->integer == 0xffff);
  ck_assert(arg(scenario, 4)->kind == ARG_F32 && arg(scenario, 4)->f32 == 3.0f);
  ck_assert(arg(scenario, 5)->kind == ARG_F64 && arg(scenario, 5)->f64 == 0.1);
  ck_assert(arg(scenario, 6)->kind == ARG_BYTES && g_bytes_get_size(arg(scenario, 6)->bytes) == 6);
  ck_assert(arg(scenario, 7)->kind == ARG_INTEGER && arg(scenario, 7)->integer == -5);
}
END_TEST

START_TEST(variables_stand_behind_the_buffers) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario =
      parse(LAUNCH("count, 1, 1, 1" REST) "expect: {buffers: {count: [1, 2, 3]}}\nmeasure: {region: [3, 3]}\n", diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(scenario && diag_count(diag) == 0, "%s", messages);
  ck_assert_uint_eq(scenario->buffers->len, 2);
  const ScenarioBuffer *variable = g_ptr_array_index(scenario->buffers, 1);
  ck_assert_str_eq(variable->name, "count");
  ck_assert(variable->words == 3 && variable->variable == 0 && !variable->init);
  ck_assert_uint_eq(arg(scenario, 0)->buffer, 1);
}
END_TEST

static const struct {
  const char *text;
  unsigned line, column;
  const char *message;
} bad[] = {
    {LAUNCH("7, 128, 300, a" REST), 4, 57, "parameter `k_n` (u32) can't take buffer `a`, an address"},
    {LAUNCH("a, 256, 1, 1" REST), 4, 47, "parameter `k_byte` (s8) is 256, expected -128 to 255"},
    {LAUNCH("a, 1, 65536, 1" REST), 4, 50, "parameter `k_half` (u16) is 65536, expected -32768 to 65535"},
    {LAUNCH("a, 1, 1, {f32: 1.5}" REST), 4, 59, "parameter `k_n` (u32) can't take an f32"},
    {LAUNCH("a, 1, 1, 1, {f64: 1.5}"), 4, 62, "parameter `k_x` (f32) can't take an f64"},
    {LAUNCH("a, 1, 1, 1, 1, 1, 5, 1"), 4, 62, "parameter `k_struct` (a struct of 6 bytes) can't take a number"},
    {LAUNCH("a, 1, 1, 1, 1, 1, {bytes: [1, 2]}, 1"), 4, 70, "`k_struct` (a struct of 6 bytes) has 6 bytes, 2 given"},
    {LAUNCH("a, 1, 1, 1"), 4, 5, "kernel `k` takes 8 arguments, 4 given; parameter `k_x` (f32) is missing"},
    {LAUNCH("a, 1, 1, 1" REST ", 9"), 4, 114,
     "kernel `k` takes 8 arguments, of which parameter `k_long` (s64) is the last"},
    {HEAD "launches: [{kernel: k, grid: 1, block: 65, args: [a, 1, 1, 1" REST "]}]\n", 3, 12,
     "the block has 65 threads, kernel `k` allows at most 64"},
    {HEAD "launches: [{kernel: exact, grid: 1, block: 64}]\n", 3, 12,
     "the block is 64 x 1 x 1, kernel `exact` needs"},
    {HEAD "launches: [{kernel: exact, grid: 1, block: [32, 2], args: [1]}]\n", 3, 60, "`exact` takes no arguments"},
    {HEAD "launches: [{kernel: exact, grid: 1, block: [32, 2], cooperative: 1}]\n", 3, 66, "expected true or false"},
    {HEAD "launches: [{kernel: exact, grid: 1, block: [32, 2]}]\nmeasure: {region: [1, 2]}\n", 4, 20,
     "no `pmevent 1`"},
    {HEAD "launches: [{kernel: exact, grid: 1, block: [32, 2]}]\nheap: 4000\n", 4, 7,
     "the device heap is 4000, expected 4096 to 1073741824"},
    {"program: k.ptx\nbuffers: {count: {words: 4}}\nlaunches: [{kernel: exact, grid: 1, block: [32, 2]}]\n", 0, 0,
     "buffer `count` has the name of a variable"},
};

START_TEST(bad_scenarios) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = parse(bad[_i].text, diag);
  UNIT_ASSERT(!scenario && diag_error_count(diag) > 0, "%s", bad[_i].text);
  const DiagItem *item = diag_item(diag, 0);
  UNIT_ASSERT(strstr(item->message, bad[_i].message) != NULL, "%s gave: %s", bad[_i].text, item->message);
  UNIT_ASSERT(item->line == bad[_i].line && item->column == bad[_i].column, "%s: %u:%u", item->message, item->line,
              item->column);
  ck_assert_int_eq(diag_exit_status(diag), 3);
}
END_TEST

static Machine *load(const char *name) {
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load(name, NULL, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(machine != NULL, "%s", messages);
  return machine;
}

/* A machine with another policy runs the very same program; another generation has its own, and a note if it is
 * older. */
START_TEST(each_machine_has_its_program) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = parse(LAUNCH("a, 1, 1, 1" REST), diag);
  g_autoptr(Machine) h200 = load("h200"), pascal = load("gtx1080ti");
  g_autoptr(Machine) other = machine_copy(h200);
  ck_assert(machine_set(other, "sm.policy", "random", diag));
  const Program *first = scenario_program(scenario, h200, diag);
  ck_assert(first && first == scenario_program(scenario, other, diag));
  ck_assert_uint_eq(diag_count(diag), 0);
  const Program *older = scenario_program(scenario, pascal, diag);
  ck_assert(older && older != first && older == scenario_program(scenario, pascal, diag));
  ck_assert_uint_eq(diag_count(diag), 1);
  ck_assert(diag_item(diag, 0)->severity == DIAG_NOTE && strstr(diag_item(diag, 0)->message, "newer than gtx1080ti"));
}
END_TEST

/* The module has two kernels, and a scenario lowers those that it launches. */
START_TEST(what_is_launched_is_lowered) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = parse(LAUNCH("a, 1, 1, 1" REST), diag);
  g_autoptr(Machine) h200 = load("h200");
  const Program *program = scenario_program(scenario, h200, diag);
  ck_assert(program && program->kernels->len == 2);
  for (guint i = 0; i < 2; i++)
    ck_assert((program_kernel(program, i)->ninsts > 0) == g_str_equal(program_kernel(program, i)->name, "k"));
  ck_assert(program_kernel(programs_for(scenario->programs, h200, NULL, diag), 0)->ninsts > 0);
  ck_assert(program_kernel(programs_for(scenario->programs, h200, NULL, diag), 1)->ninsts > 0);
}
END_TEST

/* What CUDA's occupancy calculator says. */
static const struct {
  const char *machine;
  uint32_t threads, registers, shared;
  uint32_t blocks;
  bool limits[OCCUPANCY_LIMITS];
} cases[] = {
    {"h200", 1024, 32, 0, 2, {[OCCUPANCY_WARPS] = true, [OCCUPANCY_REGISTERS] = true}},
    {"h200", 128, 20, 0, 16, {[OCCUPANCY_WARPS] = true}},
    {"h200", 32, 32, 0, 32, {[OCCUPANCY_BLOCKS] = true}},
    {"h200", 256, 64, 0, 4, {[OCCUPANCY_REGISTERS] = true}},
    {"h200", 128, 32, 49152, 4, {[OCCUPANCY_SHARED] = true}},
    {"rtx3070", 1024, 32, 0, 1, {[OCCUPANCY_WARPS] = true}},
    {"rtx3070", 256, 40, 0, 6, {[OCCUPANCY_WARPS] = true, [OCCUPANCY_REGISTERS] = true}},
    {"rtx3070", 64, 16, 0, 16, {[OCCUPANCY_BLOCKS] = true}},
    {"rtx3070", 128, 32, 51000, 1, {[OCCUPANCY_SHARED] = true}},
    {"gtx1080ti",
     1024,
     32,
     49152,
     2,
     {[OCCUPANCY_WARPS] = true, [OCCUPANCY_REGISTERS] = true, [OCCUPANCY_SHARED] = true}},
    {"gtx570", 256, 20, 0, 6, {[OCCUPANCY_WARPS] = true, [OCCUPANCY_REGISTERS] = true}},
};

START_TEST(occupancy_is_that_of_the_calculator) {
  g_autoptr(Machine) machine = load(cases[_i].machine);
  Kernel kernel = {.nregs = cases[_i].registers, .shared_bytes = cases[_i].shared};
  Occupancy occupancy = occupancy_of(machine, &kernel, (const uint32_t[3]){cases[_i].threads, 1, 1}, 0);
  g_autofree char *limits = occupancy_limits_text(&occupancy);
  UNIT_ASSERT(occupancy.blocks == cases[_i].blocks, "case %d: %u blocks, limited by %s", _i, occupancy.blocks,
              limits);
  UNIT_ASSERT(memcmp(occupancy.limits, cases[_i].limits, sizeof occupancy.limits) == 0, "case %d: %s", _i, limits);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ptx_scenario");
  TCase *tcase = tcase_create("ptx");
  tcase_add_checked_fixture(tcase, make_folder, remove_folder);
  tcase_add_test(tcase, arguments_take_their_parameters_type);
  tcase_add_test(tcase, variables_stand_behind_the_buffers);
  tcase_add_loop_test(tcase, bad_scenarios, 0, G_N_ELEMENTS(bad));
  tcase_add_test(tcase, each_machine_has_its_program);
  tcase_add_test(tcase, what_is_launched_is_lowered);
  suite_add_tcase(suite, tcase);
  TCase *machines = tcase_create("occupancy");
  tcase_add_loop_test(machines, occupancy_is_that_of_the_calculator, 0, G_N_ELEMENTS(cases));
  suite_add_tcase(suite, machines);
  return unit_run(suite);
}
