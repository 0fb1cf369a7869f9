/* Arithmetic of PTX against what an H100 gave: parsed, lowered and run, as it stands, with its result in place of its
 * first and of its last source, and under a guard
 * and its opposite. */
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>

#include "sim/core/gpu.h"
#include "tests/unit/mc_lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"
#include "validation/hardware/ptx_forms.h"

typedef struct Recorded {
  char *instruction;
  uint64_t hash;
} Recorded;

static void clear_form(gpointer data) { g_free(((Recorded *)data)->instruction); }

/* Of a file; without what a GPU gave the hash is 0. */
static GArray *read_forms(const char *file, guint at_least) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "validation", "hardware", file, NULL);
  g_autofree char *text = NULL;
  ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "no %s", path);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  GArray *forms = g_array_new(FALSE, TRUE, sizeof(Recorded));
  g_array_set_clear_func(forms, clear_form);
  for (char **line = lines; *line; line++) {
    char *comma = strchr(*line, ',');
    if (**line == '#' || !comma || !strchr(comma, '%'))
      continue;
    Recorded form = {g_strdup(comma + 1), g_ascii_strtoull(*line, NULL, 16)};
    g_array_append_val(forms, form);
  }
  ck_assert_uint_ge(forms->len, at_least);
  return forms;
}

/* -- one program of all of them -- */

static Program *lower_all(const char *text, const Machine *machine) {
  g_autoptr(Diag) diag = diag_new();
  PtxTarget target = {.capability = machine->gpu.compute_capability,
                      .convergence_barriers = machine->sm.convergence == CONVERGENCE_BARRIER,
                      .max_registers = machine->sm.max_thread_registers};
  Program *program = ptx_lab_lower("forms.ptx", text, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program, "%s", messages);
  return program;
}

static void run_kernel(const Machine *machine, const Program *program, unsigned index, uint64_t *stored) {
  Backing *backing = backing_new();
  Gpu *gpu = gpu_new(machine, backing, 1);
  guint in = backing_add(backing, "in", FORMS_THREADS * FORMS_INPUTS * 2, NULL);
  guint out = backing_add(backing, "out", FORMS_THREADS * 4, NULL);
  uint64_t *values = (uint64_t *)(gpointer)backing_buffer(backing, in)->data;
  for (unsigned i = 0; i < FORMS_THREADS * FORMS_INPUTS; i++)
    values[i] = forms_input(i / FORMS_INPUTS, i % FORMS_INPUTS);
  uint64_t args[] = {backing_buffer(backing, in)->base, backing_buffer(backing, out)->base};
  LaunchConfig config = {.program = program,
                         .kernel = program_kernel(program, index),
                         .grid = {1, 1, 1},
                         .block = {FORMS_THREADS, 1, 1},
                         .args = (const uint8_t *)args,
                         .args_bytes = sizeof args};
  g_autofree char *why = NULL;
  bool fine = gpu_add_launch(gpu, &config, &why);
  ck_assert_msg(fine, "%s", why);
  GpuStop stop = gpu_run(gpu, 1000000, 1000000);
  ck_assert_msg(stop == GPU_FINISHED, "%s: stop %d", program_kernel(program, index)->name, stop);
  memcpy(stored, backing_buffer(backing, out)->data, FORMS_THREADS * 2 * sizeof *stored);
  gpu_free(gpu);
  backing_free(backing);
}

/* What is done to an instruction that has to give the same result. */
typedef enum { AS_IT_IS, INTO_FIRST, INTO_LAST, GUARDED, VARIANTS } Variant;

/* The first or last source of the class that the instruction writes; 0: it has none. */
static char source_like_result(const char *instruction, Variant variant) {
  char found = 0, kind = forms_class(instruction);
  for (const char *p = strchr(instruction, ','); p && *p; p++)
    if (p[0] == '%' && p[1] == kind && p[2] >= '2' && p[2] <= '4' && (!found || variant == INTO_LAST))
      found = p[2];
  return found;
}

/* `add.u32 %r1, ...` becomes `add.u32 %r3, ...; mov.u32 %r1, %r3`. */
static char *varied(const char *instruction, Variant variant) {
  static const char *const moves[] = {"p.pred", "h.u16", "r.u32", "l.u64", "f.f32", "d.f64"};
  char source = variant == AS_IT_IS || variant == GUARDED ? 0 : source_like_result(instruction, variant);
  char kind = forms_class(instruction);
  if (variant == GUARDED)
    return g_strdup_printf("@%%p2 %s; @!%%p2 %s", instruction, instruction);
  if (!source)
    return g_strdup(instruction);
  GString *text = g_string_new(instruction);
  text->str[strcspn(text->str, "%") + 2] = source;
  for (guint i = 0; i < G_N_ELEMENTS(moves); i++)
    if (moves[i][0] == kind)
      g_string_append_printf(text, "; mov%s %%%c1, %%%c%c", moves[i] + 1, kind, kind, source);
  return g_string_free(text, FALSE);
}

/* Against the recorded hash. */
static void check_variant(const Machine *machine, GArray *forms, Variant variant) {
  GString *text = g_string_new(FORMS_HEAD);
  for (guint i = 0; i < forms->len; i++) {
    char kernel[FORMS_TEXT_MAX];
    g_autofree char *instruction = varied(g_array_index(forms, Recorded, i).instruction, variant);
    forms_kernel(instruction, i, kernel);
    g_string_append(text, kernel);
  }
  g_autofree char *all = g_string_free(text, FALSE);
  g_autoptr(Program) program = lower_all(all, machine);
  for (guint i = 0; i < forms->len; i++) {
    Recorded *form = &g_array_index(forms, Recorded, i);
    uint64_t stored[2 * FORMS_THREADS];
    run_kernel(machine, program, i, stored);
    ck_assert_msg(forms_hash(form->instruction, stored) == form->hash, "variant %d on %s: %s isn't what a GPU gives",
                  variant, machine->name, form->instruction);
  }
}

START_TEST(matches_hardware) {
  static const char *const names[] = {"gtx1080ti", "h200"};
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load(names[_i / VARIANTS], NULL, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(machine, "%s", messages);
  g_autoptr(GArray) forms = read_forms("ptx_forms_h100.csv", 700);
  check_variant(machine, forms, (Variant)(_i % VARIANTS));
  machine_free(machine);
}
END_TEST

/* Halves and pairs. */
START_TEST(halves_match_hardware) {
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load("h200", NULL, diag);
  ck_assert(machine != NULL);
  g_autoptr(GArray) forms = read_forms("ptx_forms_half.csv", 300);
  for (unsigned variant = AS_IT_IS; variant < VARIANTS; variant++)
    check_variant(machine, forms, (Variant)variant);
  machine_free(machine);
}
END_TEST

/* tests/machine_code/halves.sm_90.ptx has kernels of ptx_forms.h; beside it is what ptxas made of them, mostly by
 * other instructions. */
START_TEST(ptxas_computes_halves_alike) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "tests", "machine_code", "halves.sm_90.ptx", NULL);
  g_autofree char *text = NULL;
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load("h200", NULL, diag);
  ck_assert(machine != NULL && g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(Program) ptx = lower_all(text, machine);
  g_autoptr(Program) code = mc_lab_cubin("tests/machine_code", "halves.sm_90.cubin", ptx);
  ck_assert_uint_ge(code->kernels->len, 16);
  for (guint i = 0; i < code->kernels->len; i++) {
    uint64_t of_ptx[2 * FORMS_THREADS], of_code[2 * FORMS_THREADS];
    run_kernel(machine, ptx, i, of_ptx);
    run_kernel(machine, code, i, of_code);
    for (unsigned k = 0; k < 2 * FORMS_THREADS; k++)
      ck_assert_msg(of_ptx[k] == of_code[k], "%s, thread %u: 0x%" PRIx64 " as PTX, 0x%" PRIx64 " as machine code",
                    program_kernel(ptx, i)->name, k / 2, of_ptx[k], of_code[k]);
  }
  machine_free(machine);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ptx_forms");
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 120 * unit_patience());
  tcase_add_loop_test(tcase, matches_hardware, 0, 2 * VARIANTS);
  tcase_add_test(tcase, halves_match_hardware);
  tcase_add_test(tcase, ptxas_computes_halves_alike);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
