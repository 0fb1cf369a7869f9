/* Generated programs whose lanes must take turns (tests/divergent/lanes/), beside an H200 that ran the same PTX, once
 * as it is and once with a .target below sm_70, which has no YIELD (validation/hardware/lanes_h200.csv); and as the
 * machine code that ptxas makes of the former. `fitted`: the rules of who runs next, and of where YIELD is, were read
 * out of these and others; `fresh`: made and run when the rules stood. `progress`: lanes that wait for each other in
 * divergent regions (validation/hardware/progress.py), of which nothing was read out. */
#include <string.h>

#include "sim/core/gpu.h"
#include "sim/core/symbols.h"
#include "sim/detect/naming/finding.h"
#include "sim/detect/progress.h"
#include "tests/unit/mc_lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

enum { WORDS = 64 };

typedef struct Set {
  const char *file, *target; /* of lanes_h200.csv; what the PTX's .target becomes */
  unsigned column;           /* of lanes_h200.csv */
  unsigned right;            /* how many must be as on the GPU, in percent */
  const char *code;          /* the machine code that ptxas makes of it: a cubin's name; NULL: the PTX itself */
  unsigned invented;         /* of the wrong ones, how many may hang here alone */
} Set;

static const Set sets[] = {
    {"fitted", ".target sm_75", 2, 98, NULL, 0},
    {"fitted", ".target sm_60", 3, 98, NULL, 0},
    {"fresh", ".target sm_75", 2, 95, NULL, 0},
    {"fresh", ".target sm_60", 3, 95, NULL, 0},
    {"fitted", ".target sm_75", 2, 100, "fitted.sm_90.cubin", 0},
    {"fresh", ".target sm_75", 2, 100, "fresh.sm_90.cubin", 0},
    {"progress", ".target sm_75", 2, 95, NULL, 0},
    {"progress", ".target sm_60", 3, 95, NULL, 1}, /* three ifs, of which ptxas makes an indirect branch */
    {"progress", ".target sm_75", 2, 100, "progress.sm_90.cubin", 0},
    {"progress", ".target sm_60", 3, 100, "progress_60.sm_90.cubin", 0},
};

static char *contents(const char *folder, const char *file) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), folder, file, NULL);
  char *text = NULL;
  ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s can't be read", path);
  return text;
}

/* The program, with another .target. */
static Program *load(const Set *set, const Machine *machine) {
  g_autofree char *file = g_strconcat(set->file, ".ptx", NULL), *text = contents("tests/divergent/lanes", file);
  g_auto(GStrv) parts = g_strsplit(text, ".target sm_75", 2);
  g_autofree char *changed = g_strjoinv(set->target, parts);
  g_autoptr(Diag) diag = diag_new();
  PtxTarget target = {.capability = machine->gpu.compute_capability,
                      .convergence_barriers = true,
                      .max_registers = machine->sm.max_thread_registers};
  Program *program = ptx_lab_lower(file, changed, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program != NULL, "%s", messages);
  if (!set->code)
    return program;
  Program *code = mc_lab_cubin("tests/divergent/lanes", set->code, program);
  program_free(program);
  return code;
}

/* A kernel's name ends with the number of its threads and its own. */
static uint32_t threads_of(const char *name) {
  g_auto(GStrv) words = g_strsplit(name, "_", -1);
  return (uint32_t)g_ascii_strtoull(words[g_strv_length(words) - 2], NULL, 10);
}

static const Kernel *find_kernel(const Program *program, const char *name) {
  guint i = 0;
  while (strcmp(program_kernel(program, i)->name, name) != 0)
    i++;
  return program_kernel(program, i);
}

static Verdict run(const Machine *machine, const Program *program, const char *name) {
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  Backing *backing = backing_new();
  guint buffer = backing_add(backing, "m", WORDS, NULL);
  uint64_t base = backing_buffer(backing, buffer)->base;
  g_autofree uint64_t *symbols = symbols_place(program, backing);
  Gpu *gpu = gpu_new(machine, backing, 1);
  LaunchConfig config = {.program = program,
                         .symbols = symbols,
                         .kernel = find_kernel(program, name),
                         .grid = {1, 1, 1},
                         .block = {threads_of(name), 1, 1},
                         .args = (const uint8_t *)&base,
                         .args_bytes = sizeof base};
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s: %s", name, why);
  ProgressOptions options = {.limit_cycles = 2000000};
  Outcome outcome = progress_run(gpu, &options, findings);
  Verdict verdict = outcome.verdict;
  outcome_clear(&outcome);
  gpu_free(gpu);
  backing_free(backing);
  return verdict;
}

START_TEST(as_on_an_h200) {
  const Set *set = &sets[_i];
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load("h200", NULL, diag);
  Program *program = load(set, machine);
  g_autofree char *csv = contents("validation/hardware", "lanes_h200.csv");
  g_auto(GStrv) lines = g_strsplit(csv, "\n", -1);
  g_autoptr(GString) differ = g_string_new(NULL);
  unsigned all = 0, right = 0, hung = 0, invented = 0;
  for (unsigned i = 1; lines[i] && *lines[i]; i++) {
    g_auto(GStrv) fields = g_strsplit(lines[i], ",", -1);
    if (strcmp(fields[0], set->file) != 0 || !*fields[set->column])
      continue;
    bool hangs = strcmp(fields[set->column], "hung") == 0;
    Verdict verdict = run(machine, program, fields[1]);
    bool hangs_here = verdict != VERDICT_COMPLETED && verdict != VERDICT_UNDECIDED;
    all++;
    hung += hangs;
    right += (verdict == VERDICT_COMPLETED) != hangs;
    invented += hangs_here && !hangs;
    if ((verdict == VERDICT_COMPLETED) == hangs)
      g_string_append_printf(differ, "\n%s: %s, here %s", fields[1], fields[set->column], verdict_name(verdict));
  }
  g_printerr("# %s, %s, %s: %u of %u as on the GPU (%u hang there), %u hang only here\n", set->file, set->target,
             set->code ? "machine code" : "PTX", right, all, hung, invented);
  ck_assert_msg(right * 100 >= all * set->right && all >= 160, "%s, %s: %u of %u as on the GPU%s", set->file,
                set->target, right, all, differ->str);
  ck_assert_msg(invented <= set->invented, "%s, %s: %u hang only here%s", set->file, set->target, invented,
                differ->str);
  program_free(program);
  machine_free(machine);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lanes");
  TCase *tcase = tcase_create("lanes");
  tcase_add_loop_test(tcase, as_on_an_h200, 0, G_N_ELEMENTS(sets));
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
