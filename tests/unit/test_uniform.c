/* Uniform registers (isa/flow/uniform.h): what doesn't count on sm_75 and newer, and the nearest twins, which do.
 * Shifts of extended words (isa/flow/narrow.h). */
#include "isa/flow/narrow.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"
#include "tests/unit/virtual_lab.h"

enum { STEPS = 1000, VALUES = 12 };

/* -- registers that don't count -- */

typedef struct Outcome {
  unsigned registers, spilled;
} Outcome;

static Outcome lower(const char *text, unsigned capability) {
  const PtxTarget target = {
      .capability = capability, .max_registers = 255, .sm_registers = 65536, .register_granule = 256};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = ptx_lab_lower("k.ptx", text, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program, "%s", messages);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_le(kernel_registers(kernel), kernel->nregs + kernel->hidden_registers);
  return (Outcome){kernel_registers(kernel), kernel->spill_bytes};
}

/* `values` products of `source` live through a loop that adds them to a value of each lane, `how` says in what way;
 * `limit` is a directive. */
static char *make_text(const char *source, const char *how, unsigned values, const char *limit) {
  GString *text = g_string_new(".version 8.0\n.target sm_70\n.address_size 64\n");
  g_string_append_printf(text,
                         ".entry k(.param .u64 a, .param .u32 n) %s {\n.reg .b32 %%v<%u>, %%s, %%i, %%n, %%x, %%t;\n"
                         ".reg .b64 %%l;\n.reg .pred %%p, %%q;\nld.param.u64 %%l, [a];\nld.param.u32 %%n, [n];\n"
                         "ld.global.u32 %%x, [%%l];\nmov.u32 %%s, %s;\nmov.u32 %%i, 0;\n"
                         "mov.u32 %%t, %%laneid;\nsetp.lt.u32 %%q, %%t, 3;\n",
                         limit, values + 1, source);
  bool parted = g_str_equal(how, "parted");
  if (parted)
    g_string_append(text, "@%q bra JOIN;\n");
  for (unsigned v = 0; v < values; v++)
    g_string_append_printf(text, "mul.lo.u32 %%v%u, %%s, %u;\n", v, 2 * v + 3);
  if (parted)
    g_string_append(text, "JOIN:\n");
  g_string_append(text, "LOOP:\n");
  for (unsigned v = 0; v < values; v++)
    if (g_str_equal(how, "stored"))
      g_string_append_printf(text, "st.global.u32 [%%l+%u], %%v%u;\n", 4 * v, v);
    else
      g_string_append_printf(text, "add.u32 %%x, %%x, %%v%u;\nxor.b32 %%x, %%x, 77;\n", v);
  g_string_append(text,
                  "add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, %n;\n@%p bra LOOP;\nst.global.u32 [%l], %x;\nret;\n}\n");
  return g_string_free(text, FALSE);
}

/* What is the same for a whole block lives in uniform registers from sm_75 on, if it is an operand of arithmetic. */
START_TEST(values_of_the_block_do_not_count) {
  static const struct {
    const char *source, *how;
    bool uniform;
  } cases[] = {
      {"%ctaid.x", "added", true}, {"%nctaid.y", "added", true},  {"%tid.x", "added", false},
      {"%laneid", "added", false}, {"%ctaid.x", "stored", false}, {"%ctaid.x", "parted", false},
      {"%clock", "added", false},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = make_text(cases[i].source, cases[i].how, VALUES, "");
    Outcome volta = lower(text, 70), turing = lower(text, 75), hopper = lower(text, 90);
    ck_assert_uint_ge(volta.registers, VALUES + 4);
    ck_assert_uint_eq(turing.registers, hopper.registers);
    if (cases[i].uniform)
      ck_assert_msg(hopper.registers + VALUES <= volta.registers, "%s %s: %u, %u", cases[i].source, cases[i].how,
                    volta.registers, hopper.registers);
    else
      ck_assert_msg(hopper.registers >= VALUES + 4, "%s %s: %u, %u", cases[i].source, cases[i].how, volta.registers,
                    hopper.registers);
  }
}
END_TEST

/* A limit leaves out what doesn't count, and nothing of it is spilled. */
START_TEST(uniform_registers_are_not_spilled) {
  enum { MANY = 40 };
  g_autofree char *block = make_text("%ctaid.x", "added", MANY, ".maxnreg 24"),
                  *lane = make_text("%tid.x", "added", MANY, ".maxnreg 24");
  ck_assert_uint_eq(lower(block, 90).spilled, 0);
  ck_assert_uint_gt(lower(block, 70).spilled, 0);
  ck_assert_uint_gt(lower(lane, 90).spilled, 0);
  ck_assert_uint_le(lower(block, 90).registers, 24);
}
END_TEST

/* There are 63. */
START_TEST(more_than_63_count) {
  g_autofree char *few = make_text("%ctaid.x", "added", 60, ""), *many = make_text("%ctaid.x", "added", 100, "");
  ck_assert_uint_le(lower(few, 90).registers, 16);
  ck_assert_uint_ge(lower(many, 90).registers, 100 - 63);
  ck_assert_uint_le(lower(many, 90).registers, 100 - 63 + 16);
}
END_TEST

/* -- shifts of extended words -- */

typedef enum { ZERO, SIGN, OTHER_WORD, LATER_WORD, BY_REGISTER, FAR } High;

/* A word loaded, extended by its upper row, shifted and stored. */
static VKernel *shift(High high) {
  VKernel *vkernel = lab_virtual();
  int32_t word = vkernel_register(vkernel, 1), other = vkernel_register(vkernel, 1),
          pair = vkernel_register(vkernel, 2), result = vkernel_register(vkernel, 2);
  lab_load(vkernel, word, WIDTH_32, lab_const(vkernel, 4));
  lab_load(vkernel, other, WIDTH_32, lab_const(vkernel, 8));
  lab_add(vkernel, lab_op(OP_MOV, pair, word, VREG_SINK));
  VInst upper = high == SIGN ? lab_op(OP_SHR, pair, word, lab_const(vkernel, 31))
                             : lab_op(OP_MOV, pair, high == OTHER_WORD ? other : lab_const(vkernel, 0), VREG_SINK);
  upper.inst.type = TYPE_S32;
  upper.dst_row = 1;
  lab_add(vkernel, upper);
  if (high == LATER_WORD)
    lab_add(vkernel, lab_op(OP_MOV, pair, other, VREG_SINK));
  VInst left = lab_op(OP_SHL64, result, pair, high == BY_REGISTER ? other : lab_const(vkernel, high == FAR ? 31 : 3));
  left.inst.wide = WIDE_DST | WIDE_A;
  lab_add(vkernel, left);
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_64, result);
  lab_add(vkernel, vinst_new(OP_EXIT));
  return vkernel;
}

static unsigned count_op(const VKernel *vkernel, Opcode op) {
  unsigned count = 0;
  for (guint i = 0; i < vkernel->insts->len; i++)
    count += g_array_index(vkernel->insts, VInst, i).inst.op == op;
  return count;
}

START_TEST(shifted_words_are_products) {
  static const struct {
    High high;
    bool narrow;
  } cases[] = {{ZERO, true},        {SIGN, true},         {OTHER_WORD, false},
               {LATER_WORD, false}, {BY_REGISTER, false}, {FAR, false}};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    VKernel *vkernel = shift(cases[i].high);
    LabRun before = lab_run_virtual(vkernel, STEPS);
    vkernel_narrow(vkernel);
    LabRun after = lab_run_virtual(vkernel, STEPS);
    ck_assert_uint_eq(count_op(vkernel, OP_IMULW), cases[i].narrow);
    ck_assert_uint_eq(count_op(vkernel, OP_SHL64), !cases[i].narrow);
    ck_assert(before.digest == after.digest && before.stores == 1 && after.stores == 1);
    vkernel_free(vkernel);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("uniform");
  TCase *tcase = tcase_create("uniform");
  tcase_add_test(tcase, values_of_the_block_do_not_count);
  tcase_add_test(tcase, uniform_registers_are_not_spilled);
  tcase_add_test(tcase, more_than_63_count);
  tcase_add_test(tcase, shifted_words_are_products);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
