/* Whether everybody has come to rest, when the slot of a watched warp passes to a warp of a longer kernel. */
#include <glib.h>

#include "sim/detect/proof/settle.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

enum { INSTRUCTIONS = 900 };

/* A kernel that ends at once, and one with many instructions and a loop without end at the last one. */
static char *two_kernels(void) {
  GString *text = g_string_new(".kernel first\nEXIT;\n.kernel second\n");
  for (unsigned i = 0; i < INSTRUCTIONS; i++)
    g_string_append(text, "IADD R2, R2, 0x1;\n");
  g_string_append(text, "rest: BRA rest;\n");
  return g_string_free(text, FALSE);
}

static bool settles(Gpu *gpu, const Settle *settle) {
  Explorer *explorer = explorer_new(gpu);
  ck_assert_int_eq(explorer_prove(explorer), EXPLORE_STUCK);
  bool done = settle_done(settle, explorer);
  explorer_free(explorer);
  return done;
}

START_TEST(forgets_who_has_left) {
  g_autofree char *text = two_kernels();
  g_autoptr(Lab) lab = lab_new("", text);
  lab_launch_grid(lab, 0, 1, 32, 0, 0);
  lab_launch_grid(lab, 1, 1, 32, 0, 0);
  lab_place(lab);
  Settle settle = {0};
  ck_assert(settle_watch(&settle, lab->gpu, UINT64_MAX) == GPU_BUDGET);
  ck_assert_uint_gt(lab->gpu->counters.warp_instructions, INSTRUCTIONS);
  ck_assert(!settles(lab->gpu, &settle)); /* of the second kernel's warp nothing was seen */
  ck_assert(settle_watch(&settle, lab->gpu, UINT64_MAX) == GPU_BUDGET);
  ck_assert(settles(lab->gpu, &settle));
  settle_clear(&settle);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("settle");
  TCase *tcase = tcase_create("settle");
  tcase_add_test(tcase, forgets_who_has_left);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
