/* A check that is cut off: what it didn't come to know is no finding. And what it says of its progress, and which
 * runs it needn't make. */
#include <string.h>

#include "sim/study/check.h"
#include "tests/unit/unit.h"

/* Three blocks, of which nobody waits for another. */
static const char blocks_alone[] =
    ".grid 3\n.block 32\nMOV32I R1, 0x30000;\n"
    "again: IADD R1, R1, -0x1; ISETP.NE.AND P1, PT, R1, RZ, PT; @P1 BRA again;\nEXIT;\n";

/* Counts what it is told, and stops the check where it is told to. */
typedef struct Listener {
  guint stop_at; /* the schedule that is cut; G_MAXUINT: none */
  bool other_order;
  guint told, total;
  volatile sig_atomic_t signal;
} Listener;

static void listen(gpointer user, guint index, guint total, const char *what) {
  Listener *listener = user;
  ck_assert_uint_eq(index, listener->told++);
  ck_assert_msg(g_str_has_prefix(what, "policy "), "%s", what);
  listener->total = total;
  listener->other_order |= strstr(what, "dispatch order ") != NULL;
  if (index == listener->stop_at || (listener->stop_at == G_MAXUINT - 1 && listener->other_order))
    listener->signal = 15;
}

static RunResult *check_limited(Listener *listener, uint64_t limit_cycles) {
  static const char *const overrides[] = {"gpu.sms=2", "sm.max_blocks=1", NULL};
  g_autoptr(Diag) diag = diag_new();
  ScenarioOptions none = {0};
  g_autoptr(Scenario) scenario = scenario_parse("alone.sass", blocks_alone, strlen(blocks_alone), &none, diag);
  g_autoptr(Machine) machine = machine_parse("m.yaml", "{}", 2, overrides, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(scenario && machine, "%s", messages);
  Stop stop = {.signal = &listener->signal};
  CheckOptions options = check_options_default();
  options.run.stop = &stop;
  options.jobs = 1; /* steps come in order */
  options.step = listen;
  options.step_user = listener;
  options.run.limit_cycles = limit_cycles;
  RunResult *result = check_scenario(scenario, machine, &options, diag);
  ck_assert_ptr_nonnull(result);
  return result;
}

static RunResult *check_program(Listener *listener) {
  return check_limited(listener, run_options_default().limit_cycles);
}

START_TEST(tells_each_schedule) {
  Listener listener = {.stop_at = G_MAXUINT};
  RunResult *result = check_program(&listener);
  ck_assert_uint_eq(listener.told, listener.total);
  ck_assert_uint_eq(result->schedules->len, listener.total);
  ck_assert(listener.other_order);
  ck_assert_int_eq(result->verdict, VERDICT_COMPLETED);
  ck_assert_int_eq(result->stop, STOP_NONE);
  ck_assert_uint_eq(result->findings->len, 0);
  run_result_free(result);
}
END_TEST

/* The third schedule is undecided, after two that completed. */
START_TEST(a_cut_is_no_dependence) {
  Listener listener = {.stop_at = 2};
  RunResult *result = check_program(&listener);
  ck_assert_uint_eq(result->schedules->len, 3);
  ck_assert_int_eq(result->verdict, VERDICT_UNDECIDED);
  ck_assert_int_eq(result->stop, STOP_SIGNAL);
  for (guint i = 0; i < result->findings->len; i++) {
    const Finding *finding = g_ptr_array_index(result->findings, i);
    ck_assert_msg(finding->id == FINDING_UNDECIDED, "%s", finding->message);
  }
  run_result_free(result);
}
END_TEST

/* The first schedule with another order of dispatch is: the blocks rely on nothing. */
/* Where the first schedule comes to its limit the others get a part of it. */
START_TEST(undecided_once_is_enough) {
  enum { LIMIT = 160000, PART = 16 };
  Listener listener = {.stop_at = G_MAXUINT};
  RunResult *result = check_limited(&listener, LIMIT);
  ck_assert_int_eq(result->verdict, VERDICT_UNDECIDED);
  ck_assert_uint_eq(result->schedules->len, listener.total);
  bool shorter = false;
  for (guint i = 0; i < result->schedules->len; i++) {
    const ScheduleResult *schedule = &g_array_index(result->schedules, ScheduleResult, i);
    ck_assert_int_eq(schedule->verdict, VERDICT_UNDECIDED);
    ck_assert(schedule->cycles > LIMIT / 2 || (i > 0 && schedule->cycles <= LIMIT / PART + PART));
    shorter |= schedule->cycles < LIMIT / 2;
  }
  ck_assert(shorter);
  run_result_free(result);
}
END_TEST

START_TEST(a_cut_is_no_reliance) {
  Listener listener = {.stop_at = G_MAXUINT - 1};
  RunResult *result = check_program(&listener);
  ck_assert(listener.other_order && result->schedules->len < listener.total);
  ck_assert_int_eq(result->verdict, VERDICT_COMPLETED);
  ck_assert_int_eq(result->stop, STOP_SIGNAL);
  ck_assert_uint_eq(result->findings->len, 0);
  run_result_free(result);
}
END_TEST

/* What a run of the program leaves to the schedule on a machine of one scheduler. */
static Choices choices_of(const char *program) {
  static const char *const overrides[] = {"sm.schedulers=1", NULL};
  g_autoptr(Diag) diag = diag_new();
  ScenarioOptions none = {0};
  g_autoptr(Scenario) scenario = scenario_parse("choices.sass", program, strlen(program), &none, diag);
  g_autoptr(Machine) machine = machine_parse("m.yaml", "{}", 2, overrides, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(scenario && machine, "%s", messages);
  RunOptions options = run_options_default();
  g_autoptr(RunResult) result = run_scenario(scenario, machine, &options, diag);
  ck_assert_ptr_nonnull(result);
  return result->choices;
}

#define LOWER_LANES "S2R R0, SR_LANEID;\nISETP.LT.AND P0, PT, R0, 0x4, PT;\nSSY join;\n"

/* A check makes one run of several schedules where these choices don't come up. */
START_TEST(tells_what_is_up_to_the_schedule) {
  Choices one = choices_of(".grid 2\n.block 32\nMOV R1, RZ;\nEXIT;\n"),
          two = choices_of(".grid 1\n.block 64\nMOV R1, RZ;\nMOV R2, RZ;\nEXIT;\n"),
          some = choices_of(".grid 1\n.block 32\n" LOWER_LANES "@P0 BRA join;\nMOV R1, RZ;\njoin: NOP.S;\nEXIT;\n"),
          both = choices_of(".grid 1\n.block 32\n" LOWER_LANES "@P0 BRA other;\nMOV R1, RZ;\nBRA join;\n"
                            "other: MOV R2, RZ;\njoin: NOP.S;\nEXIT;\n");
  ck_assert(!one.warps && !one.ways);
  ck_assert(two.warps && !two.ways);
  ck_assert(!some.warps && !some.ways);
  ck_assert(!both.warps && both.ways);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("check");
  TCase *tcase = tcase_create("check");
  tcase_set_timeout(tcase, 60 * unit_patience());
  tcase_add_test(tcase, tells_each_schedule);
  tcase_add_test(tcase, a_cut_is_no_dependence);
  tcase_add_test(tcase, undecided_once_is_enough);
  tcase_add_test(tcase, a_cut_is_no_reliance);
  tcase_add_test(tcase, tells_what_is_up_to_the_schedule);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
