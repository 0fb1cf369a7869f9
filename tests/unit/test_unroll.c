/* Loops that are unrolled: where ptxas does it (tests/converge/unroll.txt), and so that what a lane does stays. */
#include <stdlib.h>
#include <string.h>

#include "isa/flow/unroll.h"
#include "sim/engine/rng.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"
#include "tests/unit/virtual_lab.h"

static const unsigned capabilities[] = {75, 80, 90};

/* -- as ptxas -- */

static char *read_data(const char *name) {
  const char *source = g_getenv("SRCDIR");
  g_autofree char *path = g_build_filename(source ? source : ".", "tests", "converge", name, NULL);
  char *text = NULL;
  ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "can't read %s", path);
  return text;
}

/* How often what counts stands in the kernel: EX2 where there is one, else loads from global memory. */
static unsigned count(const Kernel *kernel) {
  unsigned loads = 0, functions = 0;
  for (uint32_t i = 0; i < kernel->ninsts; i++) {
    const Inst *inst = &kernel->insts[i];
    loads += inst->op == OP_LD && inst->space != MEM_PARAM && inst->space != MEM_CONST;
    functions += inst->op == OP_MUFU;
  }
  return functions ? functions : loads;
}

/* `count` says so: see unroll.txt. */
static bool is_manner(const char *manner, unsigned rounds, unsigned count) {
  enum { ROUNDS_OF_FOUR = 7 };
  switch (manner[0]) {
  case '-': return count == 1;
  case 'w': return count == rounds;
  default: return manner[1] ? count == (unsigned)atoi(manner) : count && count % ROUNDS_OF_FOUR == 0;
  }
}

START_TEST(loops_are_unrolled_where_ptxas_unrolls_them) {
  enum { NAME, ROUNDS, MANNERS, FIELDS = MANNERS + G_N_ELEMENTS(capabilities) };
  PtxTarget target = {.capability = capabilities[_i], .convergence_barriers = true, .max_registers = 255};
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *ptx = read_data("unroll.ptx"), *text = read_data("unroll.txt");
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GString) wrong = g_string_new(NULL);
  Program *program = ptx_lab_lower("unroll.ptx", ptx, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program, "%s", messages);
  guint kernels = 0;
  for (unsigned i = 0; lines[i]; i++) {
    g_auto(GStrv) fields = g_strsplit(lines[i], " ", -1);
    if (lines[i][0] == '#' || g_strv_length(fields) != FIELDS)
      continue;
    const Kernel *kernel = program_kernel(program, kernels++);
    ck_assert_str_eq(kernel->name, fields[NAME]);
    if (!is_manner(fields[MANNERS + _i], (unsigned)atoi(fields[ROUNDS]), count(kernel)))
      g_string_append_printf(wrong, "sm_%u %s: %u (ptxas %s)\n", capabilities[_i], kernel->name, count(kernel),
                             fields[MANNERS + _i]);
  }
  ck_assert_msg(wrong->len == 0, "\n%s", wrong->str);
  ck_assert_uint_eq(kernels, program->kernels->len);
  program_free(program);
}
END_TEST

/* -- what a lane does -- */

enum { PROGRAMS = 4000, STEPS = 800 };

typedef struct Maker {
  Rng rng;
  VKernel *vkernel;
  int32_t counter, sum, bound;
} Maker;

static const uint32_t numbers[] = {0,          1,          2,          3,          5,          9,
                                   17,         40,         UINT32_MAX, 0xfffffffb, 0x7fffffff, 0x7ffffffc,
                                   0x80000000, 0x80000003, 0x80000009, 0x7ffffff0};
static const int32_t steps[] = {1, 1, 1, 2, 3, 7, -1, -1, -2, -5};

static int32_t fresh(Maker *maker) { return vkernel_register(maker->vkernel, 1); }

/* A number in a register, as a constant that can be seen or as a sum. */
static int32_t number(Maker *maker, uint32_t value) {
  int32_t reg = fresh(maker);
  if (rng_below(&maker->rng, 2)) {
    lab_add(maker->vkernel, lab_op(OP_MOV, reg, lab_const(maker->vkernel, value), VREG_SINK));
  } else {
    int32_t part = fresh(maker);
    lab_load(maker->vkernel, part, WIDTH_32, lab_const(maker->vkernel, 4));
    lab_add(maker->vkernel, lab_op(OP_SHR, part, part, lab_const(maker->vkernel, 31)));
    VInst none = lab_op(OP_SEL, part, lab_const(maker->vkernel, 0), lab_const(maker->vkernel, 0));
    lab_add(maker->vkernel, none);
    lab_add(maker->vkernel, lab_op(OP_IADD, reg, part, lab_const(maker->vkernel, value)));
  }
  return reg;
}

/* Something that a round does; the counter may have been added to. */
static void do_something(Maker *maker, GArray *exits) {
  VKernel *vkernel = maker->vkernel;
  int32_t loaded = fresh(maker), p = vkernel_predicate(vkernel);
  lab_load(vkernel, loaded, WIDTH_32, maker->counter);
  g_array_index(vkernel->insts, VInst, vkernel->insts->len - 1).inst.imm = (int32_t)rng_below(&maker->rng, 3) * 4;
  switch (rng_below(&maker->rng, 7)) {
  case 0: lab_store(vkernel, maker->counter, WIDTH_32, maker->counter); break;
  case 1: lab_store(vkernel, loaded, WIDTH_32, maker->counter); break;
  case 2: lab_add(vkernel, lab_op(OP_IADD, maker->sum, maker->sum, loaded)); break;
  case 3: { /* under a guard */
    lab_add(vkernel, lab_set(p, CMP_LT, loaded, lab_const(vkernel, 0)));
    VInst add = lab_op(OP_IADD, maker->sum, maker->sum, maker->counter);
    add.guard = p;
    lab_add(vkernel, add);
    break;
  }
  case 4: { /* in one way of a branch */
    lab_add(vkernel, lab_set(p, CMP_GE, loaded, maker->counter));
    uint32_t branch = lab_add(vkernel, lab_branch(0, p, false));
    lab_add(vkernel, lab_op(OP_IADD, maker->sum, loaded, maker->counter));
    lab_store(vkernel, loaded, WIDTH_32, maker->sum);
    g_array_index(vkernel->insts, VInst, branch).inst.target = (int32_t)vkernel->insts->len;
    break;
  }
  case 5: { /* and perhaps no further */
    lab_add(vkernel, lab_op(OP_SHR, loaded, loaded, lab_const(vkernel, 29)));
    lab_add(vkernel, lab_set(p, CMP_EQ, loaded, lab_const(vkernel, 2)));
    uint32_t branch = lab_add(vkernel, lab_branch(0, p, false));
    g_array_append_val(exits, branch);
    break;
  }
  default: lab_store(vkernel, maker->sum, WIDTH_32, loaded);
  }
}

static void step(Maker *maker, uint32_t by) {
  VKernel *vkernel = maker->vkernel;
  if (rng_below(&maker->rng, 3)) {
    lab_add(vkernel, lab_op(OP_IADD, maker->counter, maker->counter, lab_const(vkernel, by)));
  } else { /* by another register */
    int32_t next = fresh(maker);
    lab_add(vkernel, lab_op(OP_IADD, next, maker->counter, lab_const(vkernel, by)));
    lab_store(vkernel, next, WIDTH_32, maker->counter);
    lab_add(vkernel, lab_op(OP_MOV, maker->counter, next, VREG_SINK));
  }
}

static void make_loop(Maker *maker) {
  static const CmpOp cmps[] = {CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_NE, CMP_LT, CMP_GT, CMP_NE, CMP_EQ};
  VKernel *vkernel = maker->vkernel;
  g_autoptr(GArray) exits = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  uint32_t start = numbers[rng_below(&maker->rng, G_N_ELEMENTS(numbers))];
  uint32_t bound = numbers[rng_below(&maker->rng, G_N_ELEMENTS(numbers))];
  maker->bound = number(maker, bound);
  maker->counter = number(maker, start);
  maker->sum = number(maker, 1);
  uint32_t top = vkernel->insts->len;
  do_something(maker, exits);
  if (rng_below(&maker->rng, 2))
    do_something(maker, exits);
  step(maker, (uint32_t)steps[rng_below(&maker->rng, G_N_ELEMENTS(steps))]);
  if (rng_below(&maker->rng, 3) == 0)
    do_something(maker, exits);
  int32_t p = vkernel_predicate(vkernel);
  bool swapped = rng_below(&maker->rng, 4) == 0, constant = rng_below(&maker->rng, 3) == 0;
  int32_t other = constant ? lab_const(vkernel, bound) : maker->bound;
  VInst compare = lab_set(p, cmps[rng_below(&maker->rng, G_N_ELEMENTS(cmps))], swapped ? other : maker->counter,
                          swapped ? maker->counter : other);
  compare.inst.type = rng_below(&maker->rng, 2) ? TYPE_S32 : TYPE_U32;
  lab_add(vkernel, compare);
  lab_add(vkernel, lab_branch(top, p, false));
  for (guint e = 0; e < exits->len; e++)
    g_array_index(vkernel->insts, VInst, g_array_index(exits, uint32_t, e)).inst.target =
        (int32_t)vkernel->insts->len;
  lab_store(vkernel, maker->counter, WIDTH_32, maker->sum);
}

START_TEST(lanes_do_the_same) {
  unsigned unrolled = 0, ended = 0;
  for (uint32_t n = 0; n < PROGRAMS; n++) {
    Maker maker = {.vkernel = lab_virtual()};
    rng_seed(&maker.rng, n, 1);
    make_loop(&maker);
    if (rng_below(&maker.rng, 4) == 0)
      make_loop(&maker);
    lab_add(maker.vkernel, vinst_new(OP_EXIT));
    guint length = maker.vkernel->insts->len;
    LabRun before = lab_run_virtual(maker.vkernel, STEPS);
    vkernel_unroll(maker.vkernel, capabilities[n % G_N_ELEMENTS(capabilities)]);
    unrolled += maker.vkernel->insts->len > length;
    if (before.ended) {
      LabRun after = lab_run_virtual(maker.vkernel, 2 * STEPS);
      UNIT_ASSERT(after.ended && after.digest == before.digest && after.stores == before.stores, "program %u", n);
      ended++;
      g_autoptr(Diag) diag = diag_new();
      Kernel *kernel = vkernel_allocate(maker.vkernel, 255, "k.ptx", diag);
      UNIT_ASSERT(kernel, "program %u isn't allocated", n);
      after = lab_run_kernel(kernel, 2 * STEPS);
      UNIT_ASSERT(after.ended && after.digest == before.digest, "program %u with registers", n);
      kernel_free(kernel);
    }
    vkernel_free(maker.vkernel);
  }
  ck_assert_uint_gt(unrolled, PROGRAMS / 4);
  ck_assert_uint_gt(ended, PROGRAMS / 4);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("unroll");
  TCase *tcase = tcase_create("unroll");
  tcase_add_loop_test(tcase, loops_are_unrolled_where_ptxas_unrolls_them, 0, G_N_ELEMENTS(capabilities));
  tcase_add_test(tcase, lanes_do_the_same);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
