/* litmus - the litmus tests as programs for a real GPU, their outcomes on a simulated machine, and both side by side.
 *   litmus ptx                    all kernels, for validation/hardware/litmus.cu
 *   litmus list                   their names and shapes, for the same
 *   litmus run MACHINE SEEDS [TEST...] [PATH=VALUE...]   CSV as litmus.cu prints it, of a machine, perhaps with other values; of some
 *                                 tests only, such as IRIW. SEEDS: 16 (from 1 on), or 17-32. Files may be joined.
 *   litmus table MODEL.csv GPU.csv   the tables of doc/weak_memory.md
 * A mistake in what it is given ends it with exit status 2, a forbidden outcome with 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/property/litmus_table.h"

enum { ROUNDS = 4, SPREAD = 1024 /* as litmus.cu */, STATUS_FORBIDDEN = 1, STATUS_WRONG = 2 };

static LitmusCase cases[LITMUS_CASES_MAX];
static unsigned case_count;

static void print_ptx(void) {
  g_autoptr(GString) text = g_string_new(LITMUS_HEAD);
  for (unsigned i = 0; i < case_count; i++)
    litmus_ptx(&cases[i], text);
  fputs(text->str, stdout);
}

/* Kernel, test, form, fence, threads, and for each access of each thread whether it is a load. */
static void print_list(void) {
  for (unsigned i = 0; i < case_count; i++) {
    const LitmusTest *test = cases[i].test;
    g_autofree char *name = litmus_name(&cases[i]);
    printf("%s %s %s %s %u ", name, test->name, cases[i].form->name, cases[i].fence->name, test->threads);
    for (unsigned k = 0; k < LITMUS_THREADS * LITMUS_ACCESSES; k++)
      putchar(test->accesses[k / LITMUS_ACCESSES][k % LITMUS_ACCESSES].kind == LITMUS_READ ? 'R' : '-');
    putchar('\n');
  }
}

/* ---- runs ---- */

static void print_row(const LitmusCase *one, LitmusPlace place, bool warm, const unsigned counts[LITMUS_OUTCOMES]) {
  g_autoptr(GString) text = g_string_new(NULL);
  unsigned tries = 0;
  for (unsigned outcome = 0; outcome < LITMUS_OUTCOMES; outcome++) {
    if (!counts[outcome])
      continue;
    g_autofree char *name = litmus_outcome_text(one->test, outcome);
    g_string_append_printf(text, "%s%s:%u", tries ? " " : "", name, counts[outcome]);
    tries += counts[outcome];
  }
  printf("%s,%s,%s,%s,%s,%u,%s\n", one->test->name, one->form->name, one->fence->name, litmus_places[place],
         warm ? "yes" : "no", tries, text->str);
}

/* All programs of a test, in all places, on so many machines. */
static void run_test(const LitmusTest *test, const Machine *machine, uint64_t first_seed, uint64_t last_seed) {
  const LitmusCase *first = cases;
  unsigned number = 0;
  while (first->test != test)
    first++;
  g_autoptr(GPtrArray) programs = g_ptr_array_new_with_free_func((GDestroyNotify)program_free);
  for (; first + number < cases + case_count && first[number].test == test; number++)
    g_ptr_array_add(programs, litmus_lower(&first[number], machine));
  for (unsigned shape = 0; shape < 2 * PLACE_COUNT; shape++) {
    g_autofree void *memory = g_malloc0_n(number, LITMUS_OUTCOMES * sizeof(unsigned));
    unsigned(*counts)[LITMUS_OUTCOMES] = memory;
    LitmusRun run = {.place = shape / 2, .rounds = ROUNDS, .spread = SPREAD, .warm = shape % 2};
    uint64_t step = run.place < PLACE_TPC ? 16 : 1; /* within an SM a seed makes no difference of distance */
    for (run.seed = first_seed; run.seed <= last_seed; run.seed += step)
      litmus_run(test, (Program *const *)programs->pdata, number, machine, &run, counts);
    for (unsigned i = 0; i < number; i++)
      print_row(&first[i], run.place, run.warm, counts[i]);
    fflush(stdout);
  }
}

/* True if one of the words names the test, or none names any. */
static bool is_asked_for(const LitmusTest *test, char *const *words) {
  bool some = false;
  for (; *words; words++) {
    if (strcmp(*words, test->name) == 0)
      return true;
    some |= !strchr(*words, '=');
  }
  return !some;
}

static char **only_settings(char *const *words) {
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  for (; *words; words++)
    if (strchr(*words, '='))
      g_strv_builder_add(builder, *words);
  return g_strv_builder_end(builder);
}

static int run_all(const char *machine_name, const char *seeds_text, char *const *words) {
  g_auto(GStrv) settings = only_settings(words);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_load(machine_name, (const char *const *)settings, diag);
  char *rest;
  uint64_t first = g_ascii_strtoull(seeds_text, &rest, 10),
           last = *rest == '-' ? g_ascii_strtoull(rest + 1, NULL, 10) : first;
  if (*rest != '-')
    first = 1;
  if (!machine || !first || last < first) {
    g_autofree char *messages = diag_render(diag);
    fprintf(stderr, "%slitmus run MACHINE SEEDS [TEST...] [PATH=VALUE...]\n", messages);
    return STATUS_WRONG;
  }
  printf("# lockstep, machine %s, seeds %u to %u\n" LITMUS_COLUMNS "\n", machine->name, (unsigned)first,
         (unsigned)last);
  for (unsigned i = 0; i < litmus_test_count; i++)
    if (is_asked_for(&litmus_tests[i], words))
      run_test(&litmus_tests[i], machine, first, last);
  return 0;
}

static int print_tables(const char *model_file, const char *gpu_file) {
  g_autofree char *why = NULL;
  g_autofree LitmusTallies *model = litmus_read(model_file, &why), *gpu = model ? litmus_read(gpu_file, &why) : NULL;
  if (!gpu) {
    fprintf(stderr, "%s\n", why);
    return STATUS_WRONG;
  }
  g_autoptr(GString) text = g_string_new(NULL);
  litmus_table(model, gpu, text);
  fputs(text->str, stdout);
  uint64_t forbidden = 0;
  for (LitmusPlace place = 0; place < PLACE_COUNT; place++)
    forbidden += litmus_sum(model, place, false).forbidden + litmus_sum(model, place, true).forbidden;
  return forbidden ? STATUS_FORBIDDEN : 0;
}

int main(int argc, char **argv) {
  const char *command = argc > 1 ? argv[1] : "";
  case_count = litmus_cases(cases, LITMUS_CASES_MAX);
  litmus_many_runs();
  if (argc == 2 && strcmp(command, "ptx") == 0)
    print_ptx();
  else if (argc == 2 && strcmp(command, "list") == 0)
    print_list();
  else if (argc >= 4 && strcmp(command, "run") == 0)
    return run_all(argv[2], argv[3], argv + 4);
  else if (argc == 4 && strcmp(command, "table") == 0)
    return print_tables(argv[2], argv[3]);
  else {
    fputs("usage: litmus ptx | litmus list | litmus run MACHINE SEEDS [TEST...] [PATH=VALUE...] | litmus table "
          "MODEL.csv "
          "GPU.csv\n",
          stderr);
    return STATUS_WRONG;
  }
  return 0;
}
