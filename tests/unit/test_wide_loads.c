/* Loads of neighbouring words of shared memory become one where ptxas 13.0 has it so (isa/flow/wide_loads.h). */
#include "isa/flow/alignment.h"
#include "isa/flow/wide_loads.h"
#include "tests/unit/unit.h"
#include "tests/unit/virtual_lab.h"

typedef struct Words {
  const char *what;
  unsigned shift; /* the base is a register times 2^shift */
  int32_t offset[4];
  unsigned count;
  MemSem sem;
  Opcode between; /* behind the first load; OP_NOP: nothing */
  MemSpace space; /* of that */
  bool lines;     /* each load has a line of its own */
  unsigned four, two, one;
} Words;

static const Words words[] = {
    {"four", 4, {0, 4, 8, 12}, 4, SEM_WEAK, OP_NOP, 0, false, 1, 0, 0},
    {"four in another order", 4, {12, 4, 0, 8}, 4, SEM_WEAK, OP_NOP, 0, false, 1, 0, 0},
    {"multiples of 8", 3, {0, 4, 8, 12}, 4, SEM_WEAK, OP_NOP, 0, false, 0, 2, 0},
    {"multiples of 4", 2, {0, 4, 8, 12}, 4, SEM_WEAK, OP_NOP, 0, false, 0, 0, 4},
    {"from 8 on", 4, {8, 12, 16, 20}, 4, SEM_WEAK, OP_NOP, 0, false, 0, 2, 0},
    {"below the base", 4, {-16, -12, -8, -4}, 4, SEM_WEAK, OP_NOP, 0, false, 1, 0, 0},
    {"two", 4, {0, 4}, 2, SEM_WEAK, OP_NOP, 0, false, 0, 1, 0},
    {"two, not aligned", 4, {4, 8}, 2, SEM_WEAK, OP_NOP, 0, false, 0, 0, 2},
    {"a word between", 4, {0, 8}, 2, SEM_WEAK, OP_NOP, 0, false, 0, 0, 2},
    {"three: nobody touches the fourth", 4, {0, 4, 8}, 3, SEM_WEAK, OP_NOP, 0, false, 0, 1, 1},
    {"one twice", 4, {0, 0, 4}, 3, SEM_WEAK, OP_NOP, 0, false, 0, 1, 1},
    {"volatile", 4, {0, 4, 8, 12}, 4, SEM_VOLATILE, OP_NOP, 0, false, 0, 0, 4},
    {"a store between", 4, {0, 4, 8, 12}, 4, SEM_WEAK, OP_STS, MEM_SHARED, false, 0, 1, 2},
    {"a store to global memory between", 4, {0, 4, 8, 12}, 4, SEM_WEAK, OP_ST, MEM_GLOBAL, false, 1, 0, 0},
    {"a store to anywhere between", 4, {0, 4, 8, 12}, 4, SEM_WEAK, OP_ST, MEM_GENERIC, false, 0, 1, 2},
    {"a fence between", 4, {0, 4, 8, 12}, 4, SEM_WEAK, OP_MEMBAR, 0, false, 0, 1, 2},
    {"a barrier between", 4, {0, 4, 8, 12}, 4, SEM_WEAK, OP_BAR, 0, false, 0, 1, 2},
    {"several lines", 4, {0, 4, 8, 12}, 4, SEM_WEAK, OP_NOP, 0, true, 0, 0, 4},
};

static VKernel *loads_of(const Words *one) {
  enum { INDEX, BASE, REGISTERS };
  VKernel *vkernel = lab_virtual();
  for (unsigned r = 0; r < REGISTERS; r++)
    vkernel_register(vkernel, 1);
  lab_add(vkernel, lab_op(OP_SHL, BASE, INDEX, lab_const(vkernel, one->shift)));
  for (unsigned word = 0; word < one->count; word++) {
    VInst load = lab_op(OP_LDS, vkernel_register(vkernel, 1), BASE, VREG_SINK);
    load.inst.imm = one->offset[word];
    load.inst.sem = one->sem;
    load.inst.line = one->lines ? word + 1 : 1;
    lab_add(vkernel, load);
    VInst between = lab_op(one->between, VREG_SINK, INDEX, INDEX);
    between.inst.space = one->space;
    if (word == 0 && one->between != OP_NOP)
      lab_add(vkernel, between);
  }
  lab_add(vkernel, vinst_new(OP_EXIT));
  return vkernel;
}

START_TEST(neighbours_are_loaded_together) {
  const Words *one = &words[_i];
  VKernel *vkernel = loads_of(one);
  vkernel_widen_loads(vkernel);
  unsigned loads[WIDTH_128 + 1] = {0}, copies = 0;
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    if (vinst->inst.op == OP_LDS)
      loads[vinst->inst.width]++;
    copies += vinst->inst.op == OP_MOV;
  }
  UNIT_ASSERT(loads[WIDTH_128] == one->four && loads[WIDTH_64] == one->two && loads[WIDTH_32] == one->one,
              "%s: %u, %u and %u", one->what, loads[WIDTH_128], loads[WIDTH_64], loads[WIDTH_32]);
  ck_assert_uint_eq(copies, 4 * one->four + 2 * one->two);
  vkernel_free(vkernel);
}
END_TEST

/* Each word is copied from its row of the load. */
START_TEST(words_keep_their_places) {
  VKernel *vkernel = loads_of(&words[1]);
  vkernel_widen_loads(vkernel);
  const VInst *load = &g_array_index(vkernel->insts, VInst, 1);
  ck_assert_int_eq(load->inst.imm, 0);
  for (guint word = 0; word < 4; word++) {
    const VInst *copy = &g_array_index(vkernel->insts, VInst, 2 + word);
    ck_assert_int_eq(copy->a, load->dst);
    ck_assert_int_eq(4 * copy->a_row, words[1].offset[word]);
    ck_assert_int_eq(copy->dst, 2 + (int32_t)word);
  }
  vkernel_free(vkernel);
}
END_TEST

/* Sums have the least of their operands, products both; a register is what all that write it make of it, in a loop,
 * too. */
START_TEST(alignments_follow_arithmetic) {
  enum { INDEX, EIGHTS, SIXTEENS, SUM, MASKED, LOOPED, SPOILT, REGISTERS };
  VKernel *vkernel = lab_virtual();
  for (unsigned r = 0; r < REGISTERS; r++)
    vkernel_register(vkernel, 1);
  VInst mask = lab_op(OP_LOP, MASKED, INDEX, lab_const(vkernel, 0x7f0));
  mask.inst.lop = LOP_AND;
  lab_add(vkernel, lab_op(OP_SHL, EIGHTS, INDEX, lab_const(vkernel, 3)));
  lab_add(vkernel, lab_op(OP_IMUL, SIXTEENS, EIGHTS, lab_const(vkernel, 6)));
  lab_add(vkernel, lab_op(OP_IADD, SUM, SIXTEENS, EIGHTS));
  lab_add(vkernel, mask);
  lab_add(vkernel, lab_op(OP_MOV, LOOPED, lab_const(vkernel, 64), VREG_SINK));
  lab_add(vkernel, lab_op(OP_MOV, SPOILT, lab_const(vkernel, 64), VREG_SINK));
  lab_add(vkernel, lab_op(OP_IADD, LOOPED, LOOPED, lab_const(vkernel, 32)));
  lab_add(vkernel, lab_op(OP_IADD, SPOILT, SPOILT, lab_const(vkernel, 4)));
  lab_add(vkernel, vinst_new(OP_EXIT));
  g_autofree uint8_t *known = alignment_new(vkernel);
  const uint8_t wanted[REGISTERS] = {1, 8, 16, 8, 16, 16, 4};
  for (unsigned r = 0; r < REGISTERS; r++)
    ck_assert_uint_eq(known[r], wanted[r]);
  vkernel_free(vkernel);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("wide_loads");
  TCase *tcase = tcase_create("wide_loads");
  tcase_add_loop_test(tcase, neighbours_are_loaded_together, 0, G_N_ELEMENTS(words));
  tcase_add_test(tcase, words_keep_their_places);
  tcase_add_test(tcase, alignments_follow_arithmetic);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
