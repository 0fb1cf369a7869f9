/* Atomic operations on shared memory that ptxas makes a loop of (sim/core/swap_loop.h): which they are, and how long
 * the loop takes. */
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* A load and a swap are there after 30 cycles, 4 later for each lane more on the word; sums after 10; the comparison
 * takes 20. */
#define TIMES                                                                           \
  "sm.shared.latency=30 sm.shared.pass_interval=1 sm.shared.cas_interval=4 "            \
  "sm.latency.alu=10 sm.latency.fp64=16 sm.latency.guard=20 sm.latency.branch_taken=7 " \
  "sm.latency.branch_not_taken=3 sm.lane_groups.switch_latency=9 sm.lane_groups.bsync_latency=5 "
enum { LANE = 4, ROUND = 30 + 10 + 30 + 20, AGAIN = 7 + 9, END = 3 + 5 };

/* The lanes of `mask` do the operation, lane l on the word at byte l * step % wrap. */
static Lab *operate(const char *capability, AtomOp mode, DataType type, MemWidth width, uint32_t threads,
                    uint32_t step, uint32_t wrap) {
  g_autofree char *settings = g_strconcat(TIMES, "gpu.compute_capability=", capability, NULL);
  Lab *lab = lab_new(settings, "ATOM.ADD R2, [R0], R4; MOV R6, R2; EXIT");
  Inst *inst = lab_inst(lab, 0);
  inst->op = OP_ATOMS;
  inst->mode = mode;
  inst->type = type;
  inst->width = width;
  inst->wide = width == WIDTH_64 ? WIDE_DST | WIDE_B : 0;
  lab_launch_grid(lab, 0, 1, threads, 4096, 0);
  lab_place(lab);
  for (unsigned warp = 0; warp < (threads + 31) / 32; warp++)
    for (unsigned lane = 0; lane < 32; lane++)
      lab_row(lab, warp, 0)[lane] = lane * step % wrap;
  lab_finish(lab);
  return lab;
}

static const struct {
  AtomOp mode;
  DataType type;
  MemWidth width;
  bool loops;
} kinds[] = {
    {ATOM_ADD, TYPE_F32, WIDTH_32, true},   {ATOM_ADD, TYPE_F64, WIDTH_64, true},
    {ATOM_ADD, TYPE_F16, WIDTH_32, true},   {ATOM_ADD, TYPE_U64, WIDTH_64, true},
    {ATOM_MIN, TYPE_S64, WIDTH_64, true},   {ATOM_XOR, TYPE_U64, WIDTH_64, true},
    {ATOM_EXCH, TYPE_U64, WIDTH_64, false}, {ATOM_ADD, TYPE_U32, WIDTH_32, false},
    {ATOM_MAX, TYPE_S32, WIDTH_32, false},  {ATOM_INC, TYPE_U32, WIDTH_32, false},
};

/* One lane: one round from sm_75 on, and the time of one access before. */
START_TEST(operations_that_the_hardware_lacks_are_loops) {
  g_autoptr(Lab) lab = operate("90", kinds[_i].mode, kinds[_i].type, kinds[_i].width, 1, 8, 4096);
  g_autoptr(Lab) older = operate("61", kinds[_i].mode, kinds[_i].type, kinds[_i].width, 1, 8, 4096);
  uint64_t cycles = lab_cycle(lab, 0, 1, 0);
  ck_assert_msg((cycles >= ROUND + END) == kinds[_i].loops, "kind %d: %d cycles", _i, (int)cycles);
  ck_assert_uint_lt(lab_cycle(older, 0, 1, 0), ROUND);
}
END_TEST

/* Lanes on one word have a round each, in the order of the lanes. */
START_TEST(lanes_on_a_word_take_turns) {
  static const struct { uint32_t step, wrap, rounds; } cases[] = {{4, 128, 1}, {4, 64, 2}, {4, 16, 8}, {0, 128, 32}};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Lab) lab = operate("90", ATOM_ADD, TYPE_F32, WIDTH_32, 32, cases[i].step, cases[i].wrap);
    uint32_t rounds = cases[i].rounds, behind = LANE * rounds * (rounds - 1) / 2;
    uint64_t cycles = rounds * ROUND + (rounds - 1) * AGAIN + END
    +behind;
    ck_assert_uint_eq(lab_cycle(lab, 0, 1, 0), cycles);
  }
}
END_TEST

/* Who loads before another warp has swapped tries again, and gets what that left. */
START_TEST(warps_on_a_word_try_again) {
  g_autoptr(Lab) apart = operate("90", ATOM_ADD, TYPE_F32, WIDTH_32, 64, 4, 128);
  uint64_t first = lab_cycle(apart, 0, 1, 0), second = lab_cycle(apart, 1, 1, 0);
  ck_assert_uint_eq(first, ROUND + END);
  ck_assert_uint_ge(second, 2 * ROUND + END);
  ck_assert_uint_lt(second, 3 * ROUND + END);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("swap_loop");
  TCase *tcase = tcase_create("swap_loop");
  tcase_add_loop_test(tcase, operations_that_the_hardware_lacks_are_loops, 0, G_N_ELEMENTS(kinds));
  tcase_add_test(tcase, lanes_on_a_word_take_turns);
  tcase_add_test(tcase, warps_on_a_word_try_again);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
