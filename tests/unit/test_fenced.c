/* Fences that are put into a program: where they stand, who executes them, and that branches still lead to where they
 * led. */
#include <glib.h>
#include <string.h>

#include "isa/flow/fenced.h"
#include "tests/unit/lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

#define BODY                                   \
  "ld.param.u64 %l0, [in];\n"                  \
  "mov.u32 %r2, %tid.x;\n"                     \
  "setp.eq.u32 %p1, %r2, 0;\n"                 \
  "L: @%p1 st.volatile.global.u32 [%l0], 1;\n" \
  "ld.volatile.global.u32 %r1, [%l0+4];\n"     \
  "setp.ne.u32 %p2, %r1, 0;\n"                 \
  "@%p2 bra L;\n"                              \
  "st.volatile.global.u32 [%l0+8], %r1;\n"

static Program *lower_body(void) {
  const PtxTarget target = {.capability = 90, .convergence_barriers = true, .max_registers = 255};
  return ptx_lab_lower_body(BODY, &target);
}

static const Kernel *kernel_of(const Program *program) { return g_ptr_array_index(program->kernels, 0); }

/* The instructions of an opcode, at most two. */
static unsigned find_all(const Kernel *kernel, Opcode op, uint32_t pc[2]) {
  unsigned count = 0;
  for (uint32_t at = 0; at < kernel->ninsts; at++)
    if (kernel->insts[at].op == op && count < 2)
      pc[count++] = at;
  return count;
}

START_TEST(stands_behind_its_store) {
  g_autoptr(Program) program = lower_body();
  const Kernel *before = kernel_of(program);
  uint32_t store[2], fence[2];
  ck_assert_uint_eq(find_all(before, OP_ST, store), 2);
  uint32_t place[] = {fenced_behind(store[0]), fenced_behind(store[1])};
  FencedPlaces places = {.kernel = before->name, .place = place, .count = 2};
  Program *fenced = fenced_new(program, &places, 1);
  const Kernel *kernel = kernel_of(fenced);
  ck_assert_uint_eq(kernel->ninsts, before->ninsts + 2);
  ck_assert_uint_eq(find_all(kernel, OP_MEMBAR, fence), 2);
  ck_assert_uint_eq(fence[0], store[0] + 1);
  ck_assert_uint_eq(fence[1], store[1] + 2);
  for (unsigned i = 0; i < 2; i++) { /* by the lanes that store */
    ck_assert_uint_eq(kernel->insts[fence[i]].guard, before->insts[store[i]].guard);
    ck_assert_uint_eq(kernel->insts[fence[i]].line, before->insts[store[i]].line);
    ck_assert_uint_eq(kernel->insts[fence[i]].sem, SEM_SC);
  }
  fenced_free(fenced);
}
END_TEST

START_TEST(branches_lead_where_they_led) {
  g_autoptr(Program) program = lower_body();
  const Kernel *before = kernel_of(program);
  uint32_t store[2];
  find_all(before, OP_ST, store);
  uint32_t place[] = {fenced_behind(store[0]), fenced_behind(store[1])};
  FencedPlaces places = {.kernel = before->name, .place = place, .count = 2};
  Program *fenced = fenced_new(program, &places, 1);
  const Kernel *kernel = kernel_of(fenced);
  unsigned branches = 0;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (inst->op == OP_MEMBAR)
      continue;
    const Inst *was = &before->insts[fenced_original(&places, pc)];
    ck_assert_uint_eq(inst->op, was->op);
    ck_assert_int_eq(inst->target == NO_TARGET, was->target == NO_TARGET);
    if (inst->target == NO_TARGET)
      continue;
    branches++;
    ck_assert_uint_eq(fenced_original(&places, (uint32_t)inst->target), (uint32_t)was->target);
    ck_assert_uint_ne(kernel->insts[inst->target].op, OP_MEMBAR);
  }
  ck_assert_uint_gt(branches, 0);
  fenced_free(fenced);
}
END_TEST

/* A fence before the store that the loop begins with is one of the loop. */
START_TEST(a_branch_leads_to_the_fence_before) {
  g_autoptr(Program) program = lower_body();
  const Kernel *before = kernel_of(program);
  uint32_t store[2];
  find_all(before, OP_ST, store);
  uint32_t place[] = {fenced_before(store[0]), fenced_behind(store[0])};
  FencedPlaces places = {.kernel = before->name, .place = place, .count = 2};
  Program *fenced = fenced_new(program, &places, 1);
  const Kernel *kernel = kernel_of(fenced);
  ck_assert_uint_eq(kernel->insts[store[0]].op, OP_MEMBAR);
  ck_assert_uint_eq(kernel->insts[store[0] + 1].op, OP_ST);
  ck_assert_uint_eq(kernel->insts[store[0] + 2].op, OP_MEMBAR);
  ck_assert_uint_eq(fenced_original(&places, store[0] + 1), store[0]);
  bool loops = false;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    loops |= kernel->insts[pc].op == OP_BRA && kernel->insts[pc].target == (int32_t)store[0];
  ck_assert(loops);
  fenced_free(fenced);
}
END_TEST

START_TEST(another_kernel_stays) {
  g_autoptr(Program) program = lower_body();
  uint32_t store[2];
  find_all(kernel_of(program), OP_ST, store);
  uint32_t place[] = {fenced_behind(store[0]), fenced_before(store[1])};
  FencedPlaces places = {.kernel = "other", .place = place, .count = 2};
  Program *fenced = fenced_new(program, &places, 1);
  ck_assert_uint_eq(kernel_of(fenced)->ninsts, kernel_of(program)->ninsts);
  ck_assert_mem_eq(kernel_of(fenced)->insts, kernel_of(program)->insts, kernel_of(program)->ninsts * sizeof(Inst));
  fenced_free(fenced);
}
END_TEST

START_TEST(wants_ptx) {
  unit_expect_precondition("fenced-ptx");
  g_autoptr(Program) program = lab_parse(".target sm_20\n.kernel k\nEXIT;\n");
  fenced_free(fenced_new(program, NULL, 0));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("fenced");
  TCase *tcase = tcase_create("fenced");
  tcase_add_test(tcase, stands_behind_its_store);
  tcase_add_test(tcase, branches_lead_where_they_led);
  tcase_add_test(tcase, a_branch_leads_to_the_fence_before);
  tcase_add_test(tcase, another_kernel_stays);
  unit_add_precondition_test(tcase, wants_ptx);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
