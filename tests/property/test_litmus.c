/* Litmus tests: whatever orders the memory system lets accesses take effect in, no run gives an outcome that the PTX
 * memory model forbids. What it allows is computed from its axioms (litmus_model.c), which are tested here against
 * what the PTX ISA and Lustig et al. (ASPLOS 2019) say of known programs.
 *
 * LITMUS_SEEDS: runs of each program in each place; each makes some hundred tries. `make check` makes one, `make
 * litmus` 1000. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "tests/property/litmus_table.h"
#include "tests/unit/unit.h"

enum { ROUNDS = 4, SPREAD = 256 };

static LitmusCase find(const char *test, const char *form, const char *fence) {
  static LitmusCase cases[LITMUS_CASES_MAX];
  unsigned count = litmus_cases(cases, LITMUS_CASES_MAX);
  ck_assert_uint_lt(count, LITMUS_CASES_MAX);
  for (unsigned i = 0; i < count; i++)
    if (strcmp(cases[i].test->name, test) == 0 && strcmp(cases[i].form->name, form) == 0 &&
        strcmp(cases[i].fence->name, fence) == 0)
      return cases[i];
  ck_abort_msg("no test %s %s %s", test, form, fence);
}

/* ---- the model ---- */

typedef struct Known {
  const char *test, *form, *fence;
  LitmusPlace place;
  const char *outcome;
  bool allowed;
} Known;

static const Known known[] = {
    /* message passing: a release and an acquire pattern of morally strong fences or operations */
    {"MP", "relaxed.gpu", "none", PLACE_DISTANT, "10/11", true},
    {"MP", "relaxed.gpu", "acq_rel.gpu", PLACE_DISTANT, "10/11", false},
    {"MP", "relaxed.gpu", "acq_rel.cta", PLACE_DISTANT, "10/11", true},
    {"MP", "relaxed.gpu", "acq_rel.cta", PLACE_BLOCK, "10/11", false},
    {"MP", "relaxed.cta", "acq_rel.gpu", PLACE_SM, "10/11", true},
    {"MP", "relaxed.cta", "acq_rel.gpu", PLACE_BLOCK, "10/11", false},
    {"MP", "plain", "acq_rel.sys", PLACE_BLOCK, "10/11", true}, /* the flag is weak: no pattern */
    {"MP", "plain", "sc.sys", PLACE_BLOCK, "10/11", false},     /* fences are in one order, whatever the flag is */
    {"MP", "volatile", "acq_rel.sys", PLACE_DISTANT, "10/11", false},
    {"MP", "volatile", "none", PLACE_WARP, "10/11", true},
    {"MP", "acq_rel.gpu", "none", PLACE_DISTANT, "10/11", false},
    {"MP", "acq_rel.cta", "none", PLACE_SM, "10/11", true},
    /* store buffering: fence.sc alone, whatever the accesses are */
    {"SB", "relaxed.gpu", "acq_rel.gpu", PLACE_DISTANT, "00/11", true},
    {"SB", "relaxed.gpu", "sc.gpu", PLACE_DISTANT, "00/11", false},
    {"SB", "plain", "sc.gpu", PLACE_DISTANT, "00/11", false},
    {"SB", "relaxed.gpu", "sc.cta", PLACE_DISTANT, "00/11", true},
    {"SB", "relaxed.gpu", "sc.cta", PLACE_WARP, "00/11", false},
    {"SB", "acq_rel.sys", "none", PLACE_DISTANT, "00/11", true},
    /* load buffering: deliberately allowed where nothing depends on what was loaded */
    {"LB", "relaxed.gpu", "none", PLACE_DISTANT, "11/11", true},
    {"LB", "relaxed.gpu", "acq_rel.gpu", PLACE_DISTANT, "11/11", false},
    {"LB", "acq_rel.gpu", "none", PLACE_DISTANT, "11/11", false},
    {"LB", "plain", "sc.gpu", PLACE_DISTANT, "11/11",
     false}, /* fence order makes each load precede what it would read */
    /* independent reads: the model isn't multi-copy atomic */
    {"IRIW", "acq_rel.gpu", "none", PLACE_DISTANT, "1010/11", true},
    {"IRIW", "relaxed.gpu", "acq_rel.gpu", PLACE_DISTANT, "1010/11", true},
    {"IRIW", "relaxed.gpu", "sc.gpu", PLACE_DISTANT, "1010/11", false},
    {"IRIW", "relaxed.gpu", "sc.cta", PLACE_DISTANT, "1010/11", true},
    /* one word: sequentially consistent if strong */
    {"CoRR", "relaxed.gpu", "none", PLACE_DISTANT, "10/10", false},
    {"CoRR", "relaxed.cta", "none", PLACE_DISTANT, "10/10", true},
    {"CoRR", "relaxed.cta", "none", PLACE_BLOCK, "10/10", false},
    {"CoRR", "volatile", "none", PLACE_WARP, "10/10", false},
    {"CoRR", "plain", "none", PLACE_WARP, "10/10", true},
    {"CoRW", "relaxed.gpu", "none", PLACE_DISTANT, "2/20", false},
    {"CoRW", "relaxed.gpu", "none", PLACE_DISTANT, "1/10", false},
    {"CoRW", "plain", "none", PLACE_DISTANT, "1/10", false}, /* a load never reads from a later store of its thread */
    {"CoWR", "relaxed.gpu", "none", PLACE_DISTANT, "2/10", false},
    {"CoWR", "plain", "none", PLACE_DISTANT, "0/10", false},
    {"CoWR", "plain", "none", PLACE_DISTANT, "2/10", true},
    {"CoWW", "plain", "none", PLACE_DISTANT, "00/10", false},
    {"CoWW", "relaxed.gpu", "none", PLACE_DISTANT, "21/20", false},
    {"CoWW", "plain", "none", PLACE_DISTANT, "21/20", true},
    /* orders of stores alone: fence.sc */
    {"2+2W", "relaxed.gpu", "none", PLACE_DISTANT, "/11", true},
    {"2+2W", "relaxed.gpu", "acq_rel.gpu", PLACE_DISTANT, "/11", true},
    {"2+2W", "relaxed.gpu", "sc.gpu", PLACE_DISTANT, "/11", false},
    {"R", "relaxed.gpu", "acq_rel.gpu", PLACE_DISTANT, "0/12", true},
    {"R", "relaxed.gpu", "sc.gpu", PLACE_DISTANT, "0/12", false},
    {"S", "relaxed.gpu", "none", PLACE_DISTANT, "1/21", true},
    {"S", "relaxed.gpu", "acq_rel.gpu", PLACE_DISTANT, "1/21", false},
    {"S", "acq_rel.gpu", "none", PLACE_DISTANT, "1/21", false},
};

START_TEST(allows_what_is_known) {
  const Known *row = &known[_i];
  LitmusCase one = find(row->test, row->form, row->fence);
  unsigned outcome = litmus_outcome_parse(one.test, row->outcome);
  ck_assert_uint_lt(outcome, LITMUS_OUTCOMES);
  g_autofree char *again = litmus_outcome_text(one.test, outcome);
  ck_assert_str_eq(again, row->outcome);
  LitmusSet allowed;
  litmus_allowed(&one, row->place, &allowed);
  ck_assert_msg(allowed.has[outcome] == row->allowed, "%s %s, fence %s, %s: %s is %s", row->test, row->form,
                row->fence, litmus_places[row->place], row->outcome, row->allowed ? "forbidden" : "allowed");
}
END_TEST

static bool is_subset(const LitmusSet *part, const LitmusSet *whole) {
  for (unsigned i = 0; i < LITMUS_OUTCOMES; i++)
    if (part->has[i] && !whole->has[i])
      return false;
  return true;
}

/* Interleavings are always allowed, more is allowed between blocks than in one, and a fence only forbids. */
START_TEST(allows_more_where_less_is_asked) {
  LitmusCase cases[LITMUS_CASES_MAX];
  unsigned count = litmus_cases(cases, LITMUS_CASES_MAX);
  for (unsigned i = 0; i < count; i++) {
    LitmusSet sequential, block, apart, bare;
    LitmusCase without = {cases[i].test, cases[i].form, &litmus_fences[0]};
    g_autofree char *name = litmus_name(&cases[i]);
    litmus_sequential(cases[i].test, &sequential);
    litmus_allowed(&cases[i], PLACE_BLOCK, &block);
    litmus_allowed(&cases[i], PLACE_DISTANT, &apart);
    litmus_allowed(&without, PLACE_DISTANT, &bare);
    ck_assert_msg(is_subset(&sequential, &block), "%s forbids an interleaving", name);
    ck_assert_msg(is_subset(&block, &apart), "%s allows more in a block", name);
    ck_assert_msg(is_subset(&apart, &bare), "the fence of %s allows something", name);
  }
}
END_TEST

/* An H200 gave none of what is said to be forbidden, and weak outcomes where they are said to be allowed. */
START_TEST(holds_of_an_h200) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "validation", "hardware", "litmus_h200.csv", NULL);
  g_autofree char *why = NULL;
  g_autofree LitmusTallies *tallies = litmus_read(path, &why);
  ck_assert_msg(tallies, "%s", why);
  for (LitmusPlace place = 0; place < PLACE_COUNT; place++)
    for (unsigned copies = 0; copies < 2; copies++) {
      LitmusTally sum = litmus_sum(tallies, place, copies);
      ck_assert_uint_gt(sum.tries, 1000000);
      ck_assert_msg(!sum.forbidden, "%s: %" G_GUINT64_FORMAT " outcomes", litmus_places[place], sum.forbidden);
      ck_assert_msg(place != PLACE_DISTANT || sum.weak > 100000, "%" G_GUINT64_FORMAT " weak outcomes", sum.weak);
    }
}
END_TEST

/* ---- runs ---- */

static unsigned seeds(void) {
  const char *text = g_getenv("LITMUS_SEEDS");
  return text ? (unsigned)g_ascii_strtoull(text, NULL, 10) : 1;
}

/* What came of a program in a place. */
static void check_counts(const LitmusCase *one, const LitmusRun *run, const char *machine,
                         const unsigned counts[LITMUS_OUTCOMES]) {
  LitmusSet allowed;
  unsigned tries = 0;
  litmus_allowed(one, run->place, &allowed);
  for (unsigned outcome = 0; outcome < LITMUS_OUTCOMES; outcome++) {
    tries += counts[outcome];
    if (allowed.has[outcome] || !counts[outcome])
      continue;
    g_autofree char *name = litmus_name(one), *text = litmus_outcome_text(one->test, outcome);
    ck_abort_msg("%s on %s, threads in one %s, seed %" G_GUINT64_FORMAT "%s: the forbidden outcome %s, %u times",
                 name, machine, litmus_places[run->place], run->seed, run->warm ? ", with copies in the L1" : "",
                 text, counts[outcome]);
  }
  ck_assert_uint_ge(tries, ROUNDS);
}

/* Enough for several groups of four threads, and quicker to set up. */
static const char *const few_sms[] = {"gpu.sms=16", NULL};

/* All programs of a test, in each place, or in one after the other with each seed. */
static void run_test_on(unsigned test, const char *name, const char *const settings[], bool everywhere) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_load(name, settings, diag);
  LitmusCase cases[LITMUS_CASES_MAX];
  Program *programs[LITMUS_CASES_MAX], *chosen[LITMUS_CASES_MAX];
  unsigned count = litmus_cases(cases, LITMUS_CASES_MAX), of_chosen[LITMUS_CASES_MAX];
  ck_assert_ptr_nonnull(machine);
  for (unsigned i = 0; i < count; i++)
    programs[i] = cases[i].test == &litmus_tests[test] ? litmus_lower(&cases[i], machine) : NULL;
  for (LitmusPlace place = 0; place < PLACE_COUNT; place++)
    for (unsigned seed = 1; seed <= seeds(); seed++) {
      unsigned number = 0;
      for (unsigned i = 0; i < count; i++)
        if (programs[i] &&
            (everywhere || (seed + (unsigned)(cases[i].fence - litmus_fences)) % PLACE_COUNT == place)) {
          of_chosen[number] = i;
          chosen[number++] = programs[i];
        }
      LitmusRun run = {place, seed, ROUNDS, SPREAD, seed % 2};
      g_autofree void *memory = g_malloc0_n(number, LITMUS_OUTCOMES * sizeof(unsigned));
      unsigned(*counts)[LITMUS_OUTCOMES] = memory;
      litmus_run(&litmus_tests[test], chosen, number, machine, &run, counts);
      for (unsigned i = 0; i < number; i++)
        check_counts(&cases[of_chosen[i]], &run, machine->name, counts[i]);
    }
  for (unsigned i = 0; i < count; i++)
    program_free(programs[i]);
}

START_TEST(nothing_forbidden_on_h200) { run_test_on((unsigned)_i, "h200", few_sms, true); }
END_TEST

START_TEST(nothing_forbidden_on_rtx3070) { run_test_on((unsigned)_i, "rtx3070", few_sms, false); }
END_TEST

/* As `lockstep check` makes stores late. */
static const char *const late[] = {"gpu.sms=16", "memory.late_stores=3000", NULL};

START_TEST(nothing_forbidden_with_late_stores) { run_test_on((unsigned)_i, "h200", late, false); }
END_TEST

/* A copy that a load of its SM left in the L1 is a weak outcome that has to come: the flag is new and the message
 * old. */
START_TEST(copies_in_the_l1_show) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_load("h200", NULL, diag);
  LitmusCase one = find("CoRR", "plain", "none");
  LitmusRun run = {PLACE_DISTANT, 1, ROUNDS, SPREAD, true};
  unsigned cold[LITMUS_OUTCOMES] = {0}, warm[LITMUS_OUTCOMES] = {0};
  Program *program = litmus_lower(&one, machine);
  litmus_run(one.test, &program, 1, machine, &run, &warm);
  run.warm = false;
  litmus_run(one.test, &program, 1, machine, &run, &cold);
  program_free(program);
  unsigned stale = litmus_outcome_parse(one.test, "00/10"), fresh = litmus_outcome_parse(one.test, "11/10");
  ck_assert_uint_gt(warm[stale], cold[stale]);
  ck_assert_uint_gt(cold[fresh], 0);
  ck_assert_uint_eq(warm[fresh], 0);
}
END_TEST

int main(void) {
  litmus_many_runs();
  Suite *suite = suite_create("litmus");
  TCase *model = tcase_create("model"), *runs = tcase_create("runs");
  tcase_add_loop_test(model, allows_what_is_known, 0, G_N_ELEMENTS(known));
  tcase_add_test(model, allows_more_where_less_is_asked);
  tcase_add_test(model, holds_of_an_h200);
  suite_add_tcase(suite, model);
  tcase_set_timeout(runs, 60 * (1 + seeds()));
  tcase_add_loop_test(runs, nothing_forbidden_on_h200, 0, (int)litmus_test_count);
  tcase_add_loop_test(runs, nothing_forbidden_on_rtx3070, 0, (int)litmus_test_count);
  tcase_add_loop_test(runs, nothing_forbidden_with_late_stores, 0, (int)litmus_test_count);
  tcase_add_test(runs, copies_in_the_l1_show);
  suite_add_tcase(suite, runs);
  return unit_run(suite);
}
