/* Lowering takes time that grows about as the kernel does: ten times the kernel, at most some twenty times the time,
 * whatever the shape of its flow graph. Processor time, the best of some runs: what other programs do doesn't
 * count. */
#include <string.h>

#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

enum { SMALL = 500, FACTOR = 10, RUNS = 3 };

/* A part of a kernel: text before and behind the number that counts up, or down, n times; `%d` takes it. */
typedef struct Shape {
  const char *name, *part, *second, *end;
  bool first_down, second_down;
} Shape;

#define FORK "ld.global.u32 %r3, [%l1]; setp.lt.u32 %p1, %r1, %r3; @%p1 bra "
static const Shape shapes[] = {
    {"branches behind each other",
     "setp.lt.u32 %p1, %r1, %1$u; @%p1 bra L%1$u; ld.global.u32 %r3, [%l1]; add.u32 %r2, %r2, %r3; L%1$u:\n", NULL,
     "", false, false},
    {"branches to one end", FORK "END; add.u32 %r2, %r2, %r1; // %1$u\n", NULL, "", false, false},
    {"branches that cross", "L%1$u: " FORK "L%2$u; add.u32 %r2, %r2, %r3;\n", NULL, "", false, false},
    {"branches in each other", FORK "N%1$u; add.u32 %r2, %r2, %r3;\n", "N%1$u: add.u32 %r2, %r2, %r1;\n", "", false,
     true},
    {"branches and barriers in each other", FORK "N%1$u; add.u32 %r2, %r2, %r3;\n",
     "barrier.sync 0; N%1$u: add.u32 %r2, %r2, %r1;\n", "", false, true},
    {"loops behind each other",
     "L%1$u: atom.global.add.u32 %r3, [%l1], 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L%1$u; add.u32 %r2, %r2, %r3;\n",
     NULL, "", false, false},
    {"loops in each other", "A%1$u: @%p1 bra B%1$u;\n", "add.u32 %r1, %r1, 1; @%p1 bra A%1$u; B%1$u:\n", "", false,
     true},
    {"branches in a loop",
     "setp.lt.u32 %p1, %r1, %1$u; @%p1 bra L%1$u; add.u32 %r2, %r2, %r1; xor.b32 %r1, %r1, %r2; L%1$u:\n", NULL,
     "setp.ne.u32 %p1, %r2, 7; @%p1 bra TOP;", false, false},
    {"marks", "setp.lt.u32 %p1, %r1, %1$u; @%p1 bra L%1$u; pmevent 1; add.u32 %r2, %r2, %r1; L%1$u:\n", NULL, "",
     false, false},
};

/* "%1$u" is the number, "%2$u" two numbers on; every other % is itself. */
static void append_part(GString *out, const char *part, unsigned number) {
  for (const char *p = part; *p; p++) {
    if (g_str_has_prefix(p, "%1$u") || g_str_has_prefix(p, "%2$u")) {
      g_string_append_printf(out, "%u", p[1] == '1' ? number : number + 2);
      p += strlen("%1$u") - 1;
    } else {
      g_string_append_c(out, *p);
    }
  }
}

static char *kernel_of(const Shape *shape, unsigned n) {
  GString *out = g_string_new(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
                              ".reg .b32 %r<4>; .reg .b64 %l<2>; .reg .pred %p<2>; ld.param.u64 %l1, [a];\n"
                              "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; setp.eq.u32 %p1, %r1, 3; TOP:\n");
  const char *const parts[] = {shape->part, shape->second};
  const bool down[] = {shape->first_down, shape->second_down};
  for (unsigned k = 0; k < G_N_ELEMENTS(parts) && parts[k]; k++)
    for (unsigned i = 0; i < n; i++)
      append_part(out, parts[k], down[k] ? n - 1 - i : i);
  g_string_append_printf(out, "%s L%u: L%u: END: st.global.u32 [%%l1], %%r2; ret; }\n", shape->end, n, n + 1);
  return g_string_free(out, FALSE);
}

static double seconds_to_lower(const char *text) {
  static const PtxTarget hopper = {.capability = 90, .convergence_barriers = true, .max_registers = 255};
  double best = 0;
  for (unsigned run = 0; run < RUNS; run++) {
    g_autoptr(Diag) diag = diag_new();
    double start = unit_cpu_seconds();
    g_autoptr(Program) program = ptx_lab_lower("k.ptx", text, &hopper, diag);
    double seconds = unit_cpu_seconds() - start;
    g_autofree char *messages = diag_render(diag);
    ck_assert_msg(program, "%.500s", messages);
    best = run ? MIN(best, seconds) : seconds;
  }
  return best;
}

START_TEST(grows_as_the_kernel) {
  const double spare = 0.002; /* what the clock cannot tell */
  const Shape *shape = &shapes[_i];
  g_autofree char *small = kernel_of(shape, SMALL), *large = kernel_of(shape, SMALL * FACTOR);
  double one = seconds_to_lower(small), ten = seconds_to_lower(large);
  ck_assert_msg(ten < 4 * FACTOR * (one + spare), "%s: %.4f s, and %.4f s for %d times as much", shape->name, one,
                ten, FACTOR);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lower_cost");
  TCase *tcase = tcase_create("lower_cost");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, grows_as_the_kernel, 0, G_N_ELEMENTS(shapes));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
