/* Message passing between two threads with every combination of strengths, scopes and fences: the race detector finds
 * what the PTX memory model leaves unordered, and nothing else. The oracle states the model's rules for this one
 * shape ("PTX ISA", memory consistency model: release and acquire patterns, morally strong operations). */
#include <glib.h>

#include "sim/detect/race/race.h"
#include "tests/unit/lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

/* Whom an operation includes. */
typedef enum { NOBODY, CTA, DEVICE, SYS } Reach;

typedef struct Operation {
  const char *text;
  Reach strong;  /* as a strong operation; NOBODY: it is weak */
  Reach ordered; /* as a release or acquire by itself */
} Operation;

static const Operation fences[] = {{"", NOBODY, NOBODY},
                                   {"fence.acq_rel.cta;", NOBODY, CTA},
                                   {"membar.gl;", NOBODY, DEVICE},
                                   {"fence.sc.sys;", NOBODY, SYS}};
static const Operation sets[] = {{"st.volatile.global.u32 [%rd1+128], 1;", SYS, NOBODY},
                                 {"st.relaxed.cta.global.u32 [%rd1+128], 1;", CTA, NOBODY},
                                 {"st.relaxed.gpu.global.u32 [%rd1+128], 1;", DEVICE, NOBODY},
                                 {"st.release.cta.global.u32 [%rd1+128], 1;", CTA, CTA},
                                 {"st.release.gpu.global.u32 [%rd1+128], 1;", DEVICE, DEVICE},
                                 {"st.release.sys.global.u32 [%rd1+128], 1;", SYS, SYS},
                                 {"atom.relaxed.gpu.global.exch.b32 %r9, [%rd1+128], 1;", DEVICE, NOBODY},
                                 {"atom.release.cta.global.exch.b32 %r9, [%rd1+128], 1;", CTA, CTA},
                                 {"red.release.gpu.global.add.u32 [%rd1+128], 1;", DEVICE, DEVICE}};
static const Operation gets[] = {{"ld.volatile.global.u32 %r3, [%rd1+128];", SYS, NOBODY},
                                 {"ld.relaxed.cta.global.u32 %r3, [%rd1+128];", CTA, NOBODY},
                                 {"ld.relaxed.gpu.global.u32 %r3, [%rd1+128];", DEVICE, NOBODY},
                                 {"ld.acquire.cta.global.u32 %r3, [%rd1+128];", CTA, CTA},
                                 {"ld.acquire.gpu.global.u32 %r3, [%rd1+128];", DEVICE, DEVICE},
                                 {"atom.relaxed.sys.global.or.b32 %r3, [%rd1+128], 0;", SYS, NOBODY},
                                 {"atom.acquire.gpu.global.or.b32 %r3, [%rd1+128], 0;", DEVICE, DEVICE}};
static const Operation stores[] = {{"st.global.u32 [%rd1], 42;", NOBODY, NOBODY},
                                   {"st.volatile.global.u32 [%rd1], 42;", SYS, NOBODY},
                                   {"st.relaxed.cta.global.u32 [%rd1], 42;", CTA, NOBODY},
                                   {"st.relaxed.gpu.global.u32 [%rd1], 42;", DEVICE, NOBODY}};
static const Operation loads[] = {{"ld.global.u32 %r4, [%rd1];", NOBODY, NOBODY},
                                  {"ld.volatile.global.u32 %r4, [%rd1];", SYS, NOBODY},
                                  {"ld.relaxed.cta.global.u32 %r4, [%rd1];", CTA, NOBODY},
                                  {"ld.relaxed.gpu.global.u32 %r4, [%rd1];", DEVICE, NOBODY}};

typedef struct Passing {
  Operation store, before, set, get, behind, load;
  bool one_block; /* the two threads are of one block */
} Passing;

/* What is found. */
typedef struct Found {
  bool race, flag_race, unordered;
} Found;

static Found expected(const Passing *passing) {
  Reach needed = passing->one_block ? CTA : DEVICE;
  bool flag = passing->set.strong >= needed && passing->get.strong >= needed;
  bool data = passing->store.strong >= needed && passing->load.strong >= needed;
  bool release = passing->set.ordered >= needed || passing->before.ordered >= needed;
  bool acquire = passing->get.ordered >= needed || passing->behind.ordered >= needed;
  bool ordered = flag && release && acquire;
  return (Found){.race = !data && !ordered, .flag_race = !flag, .unordered = data && !ordered};
}

static char *program_of(const Passing *passing) {
  return g_strdup_printf(".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".visible .entry k(.param .u64 out) {\n"
                         ".reg .pred %%p<4>; .reg .b32 %%r<10>; .reg .b64 %%rd<4>;\n"
                         "ld.param.u64 %%rd1, [out];\n"
                         "mov.u32 %%r1, %%tid.x; and.b32 %%r2, %%r1, 31; setp.ne.u32 %%p1, %%r2, 0; @%%p1 ret;\n"
                         "shr.u32 %%r1, %%r1, 5; mov.u32 %%r2, %%ctaid.x; add.u32 %%r1, %%r1, %%r2;\n"
                         "setp.ne.u32 %%p2, %%r1, 0; @%%p2 bra wait;\n"
                         "%s\n%s\n%s\nret;\n"
                         "wait: %s\nsetp.eq.u32 %%p3, %%r3, 0; @%%p3 bra wait;\n"
                         "%s\n%s\nst.global.u32 [%%rd1+256], %%r4;\nret;\n}\n",
                         passing->store.text, passing->before.text, passing->set.text, passing->get.text,
                         passing->behind.text, passing->load.text);
}

static void free_finding(gpointer finding) { finding_free(finding); }

static Found found_in(const Passing *passing, const char *text) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = lab_machine("gpu.sms=2 sm.max_blocks=1 sm.convergence=barrier");
  PtxTarget target = {.capability = 90, .convergence_barriers = true, .max_registers = 255};
  Program *program = ptx_lab_lower("scopes.ptx", text, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program, "%s\nin\n%s", messages, text);
  Backing *backing = backing_new();
  backing_add(backing, "out", 128, NULL);
  uint64_t argument = backing_buffer(backing, 0)->base;
  Gpu *gpu = gpu_new(machine, backing, 1);
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(free_finding);
  RaceDetector *detector = race_detector_new(gpu, findings, NULL);
  LaunchConfig config = {.program = program,
                         .kernel = program_kernel(program, 0),
                         .grid = {passing->one_block ? 1 : 2, 1, 1},
                         .block = {passing->one_block ? 64 : 32, 1, 1},
                         .args = (const uint8_t *)&argument,
                         .args_bytes = sizeof argument};
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s\n%s", why, text);
  ck_assert_msg(gpu_run(gpu, 1000000, 1000000) == GPU_FINISHED, "no end\n%s", text);
  ck_assert_uint_eq(backing_buffer(backing, 0)->data[64], 42);
  race_detector_finish(detector);
  Found found = {0};
  for (guint i = 0; i < findings->len; i++) {
    const Finding *finding = g_ptr_array_index(findings, i);
    bool of_data = finding->address == argument;
    ck_assert_msg(of_data || finding->address == argument + 128, "%s\n%s", finding->message, text);
    found.race |= of_data && finding->id == FINDING_DATA_RACE;
    found.flag_race |= !of_data && finding->id == FINDING_DATA_RACE;
    found.unordered |= of_data && finding->id == FINDING_UNORDERED_ACCESS;
  }
  gpu_free(gpu);
  race_detector_free(detector);
  backing_free(backing);
  program_free(program);
  return found;
}

enum {
  COMBINATIONS = 2 * G_N_ELEMENTS(fences) * G_N_ELEMENTS(fences) * G_N_ELEMENTS(sets) * G_N_ELEMENTS(gets) *
                 G_N_ELEMENTS(stores) * G_N_ELEMENTS(loads)
};
enum { PARTS = 8, STRIDE = 11 };

static unsigned draw(unsigned *number, unsigned count) {
  unsigned drawn = *number % count;
  *number /= count;
  return drawn;
}

/* One in STRIDE of all combinations; STRIDE divides none of the numbers of forms, so each pair of forms occurs. */
START_TEST(finds_what_the_model_leaves_unordered) {
  unsigned ordered = 0, unordered = 0;
  for (unsigned i = (unsigned)_i; i < COMBINATIONS / STRIDE; i += PARTS) {
    unsigned number = i * STRIDE;
    Passing passing;
    passing.one_block = draw(&number, 2);
    passing.before = fences[draw(&number, G_N_ELEMENTS(fences))];
    passing.behind = fences[draw(&number, G_N_ELEMENTS(fences))];
    passing.set = sets[draw(&number, G_N_ELEMENTS(sets))];
    passing.get = gets[draw(&number, G_N_ELEMENTS(gets))];
    passing.store = stores[draw(&number, G_N_ELEMENTS(stores))];
    passing.load = loads[draw(&number, G_N_ELEMENTS(loads))];
    g_autofree char *text = program_of(&passing);
    Found right = expected(&passing), found = found_in(&passing, text);
    if (right.flag_race) /* nothing is handed over for certain, so whether that is relied on may be left open */
      found.unordered = right.unordered;
    ck_assert_msg(found.race == right.race && found.flag_race == right.flag_race &&
                      found.unordered == right.unordered,
                  "%s: race %d (expected %d), of the flag %d (%d), unordered %d (%d)\n%s",
                  passing.one_block ? "one block" : "two blocks", found.race, right.race, found.flag_race,
                  right.flag_race, found.unordered, right.unordered, text);
    ordered += !right.race && !right.flag_race && !right.unordered;
    unordered += right.unordered;
  }
  ck_assert_uint_gt(ordered, 10);
  ck_assert_uint_gt(unordered, 10);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("scopes");
  TCase *tcase = tcase_create("scopes");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, finds_what_the_model_leaves_unordered, 0, PARTS);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
