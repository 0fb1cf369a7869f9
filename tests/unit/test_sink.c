/* Constants as operands, values made where they are wanted, and the registers that hardware needs besides: each with
 * its nearest twin, where the program has to stay as it is. */
#include "isa/flow/constants.h"
#include "isa/flow/copies.h"
#include "isa/flow/select.h"
#include "isa/flow/sink.h"
#include "tests/unit/unit.h"
#include "tests/unit/virtual_lab.h"

enum { MAX_REGISTERS = 255, STEPS = 20000, STACK_POINTER = 1 };

static Kernel *allocate(VKernel *vkernel) {
  g_autoptr(Diag) diag = diag_new();
  Kernel *kernel = vkernel_allocate(vkernel, MAX_REGISTERS, "k.ptx", diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(kernel, "%s", messages);
  vkernel_free(vkernel);
  return kernel;
}

static const VInst *at(const VKernel *vkernel, guint i) { return &g_array_index(vkernel->insts, VInst, i); }

static unsigned count_op(const VKernel *vkernel, Opcode op) {
  unsigned count = 0;
  for (guint i = 0; i < vkernel->insts->len; i++)
    count += at(vkernel, i)->inst.op == op;
  return count;
}

static guint find_op(const VKernel *vkernel, Opcode op) {
  for (guint i = 0; i < vkernel->insts->len; i++)
    if (at(vkernel, i)->inst.op == op)
      return i;
  return UINT32_MAX;
}

static int32_t loaded(VKernel *vkernel, uint32_t address) {
  int32_t value = vkernel_register(vkernel, 1);
  lab_load(vkernel, value, WIDTH_32, lab_const(vkernel, address));
  return value;
}

static VInst sum_of(VKernel *vkernel, int32_t *sum, int32_t a, int32_t b) {
  *sum = vkernel_register(vkernel, 1);
  return lab_op(OP_IADD, *sum, a, b);
}

/* -- selects -- */

/* A number chosen by `p` and compared with 0; an addition follows under that guard. `changed`: p is another
 * comparison's in between. Returns the addition, if its guard is p now. */
static const VInst *choose(VKernel *vkernel, CmpOp cmp, uint32_t first, uint32_t second, bool changed) {
  int32_t chosen = vkernel_register(vkernel, 1), p = vkernel_predicate(vkernel), q = vkernel_predicate(vkernel), sum;
  for (int i = 0; i <= changed; i++) {
    lab_add(vkernel, lab_set(p, CMP_LT, loaded(vkernel, 0), lab_const(vkernel, 7)));
    if (i)
      break;
    VInst select = lab_op(OP_SEL, chosen, lab_const(vkernel, first), lab_const(vkernel, second));
    select.psrc[0] = p;
    lab_add(vkernel, select);
  }
  VInst compares = lab_set(q, cmp, chosen, lab_const(vkernel, 0));
  compares.inst.type = TYPE_U32;
  lab_add(vkernel, compares);
  VInst adds = sum_of(vkernel, &sum, loaded(vkernel, 4), second == 3 ? chosen : lab_const(vkernel, 1));
  adds.guard = q;
  uint32_t at_add = lab_add(vkernel, adds);
  lab_store(vkernel, lab_const(vkernel, 8), WIDTH_32, sum);
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_fold_selects(vkernel);
  ck_assert(at(vkernel, at_add)->guard == p || at(vkernel, at_add)->guard == q);
  return at(vkernel, at_add)->guard == p ? at(vkernel, at_add) : NULL;
}

/* What is compared is known to be the predicate or its opposite; not if both choices compare alike, if the predicate
 * is another one by then, or if the number is read elsewhere, too. */
START_TEST(chosen_numbers_are_their_predicate) {
  static const struct {
    CmpOp cmp;
    uint32_t first, second;
    bool changed, folded, negated;
  } rows[] = {{CMP_EQ, 1, 0, false, true, true},   {CMP_NE, 1, 0, false, true, false},
              {CMP_NE, 0, 1, false, true, true},   {CMP_GT, 5, 0, false, true, false},
              {CMP_GE, 1, 0, false, false, false}, {CMP_NE, 1, 2, false, false, false},
              {CMP_NE, 1, 0, true, false, false},  {CMP_EQ, 0, 3, false, false, false}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    VKernel *vkernel = lab_virtual();
    const VInst *adds = choose(vkernel, rows[i].cmp, rows[i].first, rows[i].second, rows[i].changed);
    ck_assert_msg((adds != NULL) == rows[i].folded, "row %zu", i);
    if (adds)
      ck_assert_msg(((adds->inst.flags & INST_GUARD_NOT) != 0) == rows[i].negated, "row %zu", i);
    vkernel_free(vkernel);
  }
}
END_TEST

/* -- constants -- */

/* `again`: the register gets another value behind. */
static const VInst *fold(VKernel *vkernel, bool again) {
  int32_t constant = vkernel_register(vkernel, 1), sum;
  lab_add(vkernel, lab_op(OP_MOV, constant, lab_const(vkernel, 5), VREG_SINK));
  uint32_t i = lab_add(vkernel, sum_of(vkernel, &sum, loaded(vkernel, 0), constant));
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_32, sum);
  lab_store(vkernel, lab_const(vkernel, 4), WIDTH_32, constant);
  if (again)
    lab_add(vkernel, lab_op(OP_MOV, constant, lab_const(vkernel, 6), VREG_SINK));
  lab_store(vkernel, lab_const(vkernel, 8), WIDTH_32, constant);
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_fold_constants(vkernel);
  return at(vkernel, i);
}

START_TEST(constants_are_operands) {
  VKernel *vkernel = lab_virtual();
  ck_assert_int_eq(fold(vkernel, false)->b, lab_const(vkernel, 5));
  vkernel_free(vkernel);
  vkernel = lab_virtual();
  ck_assert_int_ge(fold(vkernel, true)->b, 0);
  vkernel_free(vkernel);
}
END_TEST

/* Hardware has one constant an instruction, and RZ. */
START_TEST(one_constant_an_instruction) {
  for (unsigned other = 0; other < 2; other++) {
    VKernel *vkernel = lab_virtual();
    int32_t constant = vkernel_register(vkernel, 1), product = vkernel_register(vkernel, 1);
    lab_add(vkernel, lab_op(OP_MOV, constant, lab_const(vkernel, 5), VREG_SINK));
    uint32_t i = lab_add(vkernel, lab_op(OP_IMUL, product, constant, lab_const(vkernel, other)));
    lab_store(vkernel, lab_const(vkernel, 0), WIDTH_32, product);
    vkernel_fold_constants(vkernel);
    ck_assert_int_eq(at(vkernel, i)->a < 0, other == 0);
    vkernel_free(vkernel);
  }
}
END_TEST

START_TEST(sums_of_constants_are_constants) {
  VKernel *vkernel = lab_virtual();
  int32_t first, second, with_zero, value = loaded(vkernel, 0);
  uint32_t i = lab_add(vkernel, sum_of(vkernel, &first, lab_const(vkernel, 5), lab_const(vkernel, 8)));
  lab_add(vkernel, sum_of(vkernel, &second, first, lab_const(vkernel, 2)));
  lab_add(vkernel, sum_of(vkernel, &with_zero, lab_const(vkernel, 0), value));
  vkernel_fold_constants(vkernel);
  ck_assert_uint_eq(at(vkernel, i)->inst.op, OP_MOV);
  ck_assert_uint_eq(vkernel->kernel->consts[~at(vkernel, i)->a].value, 13);
  ck_assert_uint_eq(vkernel->kernel->consts[~at(vkernel, i + 1)->a].value, 15);
  ck_assert_uint_eq(at(vkernel, i + 2)->inst.op, OP_MOV);
  ck_assert_int_eq(at(vkernel, i + 2)->a, value);
  vkernel_free(vkernel);
}
END_TEST

static VInst global_load(VKernel *vkernel, int32_t base) {
  VInst load = lab_op(OP_LD, vkernel_register(vkernel, 1), base, VREG_SINK);
  load.inst.flags = INST_ADDR64;
  return load;
}

/* A base that is used before a branch, in a way of it, and behind; or behind it in a loop. */
static VKernel *with_base(bool loop) {
  VKernel *vkernel = lab_virtual();
  int32_t base = vkernel_register(vkernel, 2), p = vkernel_predicate(vkernel);
  VInst make = lab_op(OP_MOV64, base, vkernel_immediate64(vkernel, 0x100000020), VREG_SINK);
  make.inst.wide = WIDE_DST | WIDE_A;
  lab_add(vkernel, make);
  lab_add(vkernel, global_load(vkernel, base));
  lab_add(vkernel, lab_set(p, CMP_LT, loaded(vkernel, 0), lab_const(vkernel, 9)));
  uint32_t branch = lab_add(vkernel, lab_branch(0, p, false)), head = lab_add(vkernel, global_load(vkernel, base));
  if (loop)
    lab_add(vkernel, lab_branch(head, p, false));
  g_array_index(vkernel->insts, VInst, branch).inst.target = (int32_t)lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_split_constants(vkernel);
  return vkernel;
}

START_TEST(each_block_loads_its_constants) {
  VKernel *vkernel = with_base(false);
  ck_assert_uint_eq(count_op(vkernel, OP_MOV64), 2);
  ck_assert_uint_eq(at(vkernel, 5)->inst.op, OP_MOV64); /* behind the branch */
  ck_assert_int_eq(at(vkernel, 6)->a, at(vkernel, 5)->dst);
  vkernel_free(vkernel);
}
END_TEST

START_TEST(loops_load_no_constants) {
  VKernel *vkernel = with_base(true);
  ck_assert_uint_eq(count_op(vkernel, OP_MOV64), 1);
  vkernel_free(vkernel);
}
END_TEST

/* -- sinking -- */

/* A product of one row, wanted at the end, with many loads and stores between. `changes`: its operand doesn't
 * stay. */
static VKernel *with_product(bool changes) {
  VKernel *vkernel = lab_virtual();
  int32_t x = loaded(vkernel, 0), product = vkernel_register(vkernel, 2);
  VInst multiply = lab_op(OP_IMULW, product, x, lab_const(vkernel, 12));
  multiply.inst.wide = WIDE_DST;
  lab_add(vkernel, multiply);
  for (unsigned i = 0; i < 4; i++)
    lab_store(vkernel, lab_const(vkernel, 4 * i), WIDTH_32, loaded(vkernel, 8 * i));
  if (changes)
    lab_load(vkernel, x, WIDTH_32, lab_const(vkernel, 24));
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_64, product);
  lab_store(vkernel, lab_const(vkernel, 8), WIDTH_32, x);
  lab_add(vkernel, vinst_new(OP_EXIT));
  return vkernel;
}

START_TEST(values_are_made_where_they_are_wanted) {
  for (unsigned changes = 0; changes < 2; changes++) {
    VKernel *vkernel = with_product(changes);
    LabRun before = lab_run_virtual(vkernel, STEPS);
    vkernel_place_values(vkernel);
    guint multiply = find_op(vkernel, OP_IMULW);
    if (changes)
      ck_assert_uint_eq(multiply, 1);
    else
      ck_assert_uint_eq(at(vkernel, multiply + 1)->inst.width, WIDTH_64);
    LabRun after = lab_run_virtual(vkernel, STEPS);
    ck_assert(before.digest == after.digest && before.stores == after.stores);
    vkernel_free(vkernel);
  }
}
END_TEST

START_TEST(nothing_sinks_into_a_loop) {
  VKernel *vkernel = lab_virtual();
  int32_t x = loaded(vkernel, 0), product = vkernel_register(vkernel, 2), p = vkernel_predicate(vkernel);
  VInst multiply = lab_op(OP_IMULW, product, x, lab_const(vkernel, 12));
  multiply.inst.wide = WIDE_DST;
  lab_add(vkernel, multiply);
  lab_store(vkernel, lab_const(vkernel, 4), WIDTH_32, x);
  uint32_t head = lab_add(vkernel, lab_set(p, CMP_LT, loaded(vkernel, 4), x)) - 1;
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_64, product);
  lab_add(vkernel, lab_branch(head, p, false));
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_place_values(vkernel);
  ck_assert_uint_lt(find_op(vkernel, OP_IMULW), find_op(vkernel, OP_ISETP));
  vkernel_free(vkernel);
}
END_TEST

/* -- rising -- */

/* 1024 values loaded, then added up, then `again` stored. */
static Kernel *with_values(bool again) {
  enum { VALUES = 200 };
  VKernel *vkernel = lab_virtual();
  int32_t values[VALUES], sum;
  for (unsigned i = 0; i < VALUES; i++)
    values[i] = loaded(vkernel, 4 * i);
  lab_add(vkernel, sum_of(vkernel, &sum, values[0], values[1]));
  for (unsigned i = 2; i < VALUES; i++)
    lab_add(vkernel, sum_of(vkernel, &sum, sum, values[i]));
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_32, sum);
  for (unsigned i = 0; again && i < VALUES; i++)
    lab_store(vkernel, lab_const(vkernel, 4 * i), WIDTH_32, values[i]);
  lab_add(vkernel, vinst_new(OP_EXIT));
  LabRun before = lab_run_virtual(vkernel, STEPS);
  Kernel *kernel = allocate(vkernel);
  LabRun after = lab_run_kernel(kernel, STEPS);
  ck_assert(before.digest == after.digest && before.stores == after.stores);
  return kernel;
}

START_TEST(values_are_combined_where_they_are) {
  Kernel *kernel = with_values(false);
  ck_assert_uint_le(kernel->nregs, 3 + STACK_POINTER); /* of two operands one is in an even register, one in an odd one */
  kernel_free(kernel);
  kernel = with_values(true);
  ck_assert_uint_ge(kernel->nregs, 200);
  kernel_free(kernel);
}
END_TEST

/* -- what hardware needs besides -- */

/* ptxas -v for sm_90: 16 values that live on through an operation, its operands, the stack pointer and the program
 * counter take 23 registers around an addition, 28 around a division. */
START_TEST(divisions_need_registers) {
  static const struct {
    Opcode op;
    uint32_t rows;
  } cases[] = {{OP_IMUL, 18}, {OP_IDIV, 23}, {OP_IREM, 23}};
  for (unsigned c = 0; c < G_N_ELEMENTS(cases); c++) {
    VKernel *vkernel = lab_virtual();
    int32_t values[16], result = vkernel_register(vkernel, 1);
    for (unsigned i = 0; i < 16; i++)
      values[i] = loaded(vkernel, 4 * i);
    int32_t a = loaded(vkernel, 64), b = loaded(vkernel, 68);
    lab_add(vkernel, lab_op(cases[c].op, result, a, b));
    lab_store(vkernel, lab_const(vkernel, 64), WIDTH_32, result);
    for (unsigned i = 0; i < 16; i++)
      lab_store(vkernel, lab_const(vkernel, 4 * i), WIDTH_32, values[i]);
    lab_add(vkernel, vinst_new(OP_EXIT));
    Kernel *kernel = allocate(vkernel);
    ck_assert_msg(kernel->nregs == cases[c].rows + STACK_POINTER, "%s: %u", op_info[cases[c].op].sass, kernel->nregs);
    kernel_free(kernel);
  }
}
END_TEST

/* A global store's value is odd; a constant takes a register too, RZ none. */
START_TEST(stored_values_are_odd) {
  static const struct {
    int64_t constant;
    uint32_t nregs;
  } cases[] = {{-1, 4}, {1, 4}, {0, 2}};
  for (unsigned c = 0; c < G_N_ELEMENTS(cases); c++) {
    VKernel *vkernel = lab_virtual();
    int32_t value = cases[c].constant < 0 ? loaded(vkernel, 0) : lab_const(vkernel, (uint32_t)cases[c].constant);
    VInst store = lab_op(OP_ST, VREG_SINK, vkernel_immediate64(vkernel, 64), value);
    store.inst.flags = INST_ADDR64;
    lab_add(vkernel, store);
    lab_add(vkernel, vinst_new(OP_EXIT));
    Kernel *kernel = allocate(vkernel);
    ck_assert_uint_eq(kernel->nregs, cases[c].nregs);
    kernel_free(kernel);
  }
}
END_TEST

/* A register begins as a constant and is copied to another one. What happens to it between, if anything, says whether
 * the copy is one of the constant. */
static const struct {
  const char *what;
  bool in_loop;    /* the copy stands in the loop that changes the register, not before it */
  bool one_way;    /* the register is set again where one way of a branch goes on */
  bool guarded;    /* it is set again under a guard */
  uint32_t second; /* to this, where it isn't the loop that changes it */
  bool folded;
} copied[] = {
    {"before the loop that changes it", false, false, false, 0, true},
    {"in that loop", true, false, false, 0, false},
    {"behind a branch one way of which sets it to the same", false, true, false, 7, true},
    {"behind a branch one way of which sets it to something else", false, true, false, 8, false},
    {"behind the same under a guard", false, false, true, 7, true},
    {"behind something else under a guard", false, false, true, 8, false},
};

START_TEST(copies_of_constants_are_constants) {
  VKernel *vkernel = lab_virtual();
  int32_t sum = vkernel_register(vkernel, 1), copy = vkernel_register(vkernel, 1), limit = loaded(vkernel, 0);
  int32_t p = vkernel_predicate(vkernel);
  lab_add(vkernel, lab_op(OP_MOV, sum, lab_const(vkernel, 7), VREG_SINK));
  lab_add(vkernel, lab_set(p, CMP_LT, limit, lab_const(vkernel, 3)));
  if (copied[_i].one_way)
    lab_add(vkernel, lab_branch(vkernel->insts->len + 2, p, false));
  VInst again = lab_op(OP_MOV, sum, lab_const(vkernel, copied[_i].second), VREG_SINK);
  again.guard = copied[_i].guarded ? p : VPRED_TRUE;
  if (copied[_i].one_way || copied[_i].guarded)
    lab_add(vkernel, again);
  uint32_t place = vkernel->insts->len, loop = place + !copied[_i].in_loop;
  lab_add(vkernel, lab_op(OP_MOV, copy, sum, VREG_SINK));
  lab_add(vkernel, lab_op(OP_IADD, sum, sum, limit));
  lab_store(vkernel, lab_const(vkernel, 4), WIDTH_32, copy);
  lab_add(vkernel, lab_set(p, CMP_LT, sum, lab_const(vkernel, 100)));
  lab_add(vkernel, lab_branch(loop, p, false));
  lab_add(vkernel, vinst_new(OP_EXIT));
  LabRun before = lab_run_virtual(vkernel, STEPS);
  vkernel_fold_copies(vkernel);
  LabRun after = lab_run_virtual(vkernel, STEPS);
  UNIT_ASSERT(before.digest == after.digest && before.stores == after.stores, "%s", copied[_i].what);
  UNIT_ASSERT((at(vkernel, place)->a < 0) == copied[_i].folded, "%s", copied[_i].what);
  vkernel_free(vkernel);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("sink");
  TCase *tcase = tcase_create("sink");
  tcase_add_test(tcase, constants_are_operands);
  tcase_add_loop_test(tcase, copies_of_constants_are_constants, 0, G_N_ELEMENTS(copied));
  tcase_add_test(tcase, one_constant_an_instruction);
  tcase_add_test(tcase, sums_of_constants_are_constants);
  tcase_add_test(tcase, each_block_loads_its_constants);
  tcase_add_test(tcase, chosen_numbers_are_their_predicate);
  tcase_add_test(tcase, loops_load_no_constants);
  tcase_add_test(tcase, values_are_made_where_they_are_wanted);
  tcase_add_test(tcase, nothing_sinks_into_a_loop);
  tcase_add_test(tcase, values_are_combined_where_they_are);
  tcase_add_test(tcase, divisions_need_registers);
  tcase_add_test(tcase, stored_values_are_odd);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
