/* The proof of programs in which one lane does an atomic operation for its warp (sim/detect/proof/leaders.h): as
 * ptxas makes it, and nearly so. In SASS, where `NOP` stands for SHFL.IDX R4, R4, R3, R6. */
#include <glib.h>

#include "sim/detect/proof/explore.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* R1: the address of two words, which are 0. Who waits gets what its leader's atomic operation found in word 0. */
typedef struct Case {
  const char *name, *text;
  uint32_t threads;
  ExploreResult expected;
} Case;

#define START "MOV32I R6, 0x1f;\nS2R R5, SR_LaneId;\n"
#define VOTE "wait: VOTE.ANY R2, pt, pt;\nFLO.U32 R3, R2;\nISETP.EQ.U32.AND P0, pt, R3, R5, pt;\n"
#define ASK "@P0 ATOM.ADD R4, [R1], RZ;\nNOP;\n"
#define UNTIL_SET "ISETP.EQ.AND P1, pt, R4, RZ, pt;\n@P1 BRA wait;\nEXIT;\n"
/* Warp 1 stores to the word at that offset and exits. */
#define OTHER(offset)                                                                                         \
  "S2R R0, SR_Tid_X;\nISETP.LT.AND P1, pt, R0, 0x20, pt;\n@P1 BRA begin;\nMOV32I R0, 0x1;\nST.WT [R1+" offset \
  "], R0;\nEXIT;\nbegin: "

static const Case cases[] = {
    {"nobody sets it", START VOTE ASK UNTIL_SET, 32, EXPLORE_STUCK},
    {"one lane alone", START VOTE ASK UNTIL_SET, 1, EXPLORE_STUCK},
    {"another warp sets the other word, and waits behind", OTHER("0x4") START VOTE ASK UNTIL_SET, 32, EXPLORE_STUCK},
    {"another warp sets it", OTHER("0x0") START VOTE ASK UNTIL_SET, 64, EXPLORE_LIVE},
    {"the leader counts", START VOTE "MOV R0, R6;\n@P0 ATOM.ADD R4, [R1], R0;\nNOP;\n" UNTIL_SET, 32, EXPLORE_LIVE},
    {"moved",
     START "wait: VOTE.ANY R0, pt, pt;\nMOV R2, R0;\nFLO.U32 R0, R2;\nMOV R3, R0;\n"
           "ISETP.EQ.U32.AND P0, pt, R5, R0, pt;\n" ASK UNTIL_SET,
     32, EXPLORE_STUCK},
    /* What the others hold isn't known where the lane that they read needn't be the one that asked. */
    {"a vote of some",
     START "ISETP.LT.AND P1, pt, R5, 0x8, pt;\nwait: VOTE.ANY R2, pt, P1;\nFLO.U32 R3, R2;\n"
           "ISETP.EQ.U32.AND P0, pt, R3, R5, pt;\n" ASK UNTIL_SET,
     32, EXPLORE_LIVE},
    {"the lane before the leader", START VOTE "IADD R3, R3, -0x1;\n" ASK UNTIL_SET, 32, EXPLORE_LIVE},
    {"the predicate is another one by then",
     START VOTE "@P0 ATOM.ADD R4, [R1], RZ;\nISETP.EQ.AND P0, pt, R5, 0x7, pt;\nNOP;\n" UNTIL_SET, 32, EXPLORE_LIVE},
    {"lanes may part in between",
     START VOTE "@P0 ATOM.ADD R4, [R1], RZ;\n@P0 BRA on;\nMOV R4, R6;\non: NOP;\n" UNTIL_SET, 32, EXPLORE_LIVE},
};

static void place_shuffles(Lab *lab) {
  const Kernel *kernel = program_kernel(lab->program, 0);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    Inst *inst = lab_inst(lab, pc);
    if (inst->op != OP_NOP)
      continue;
    inst->op = OP_SHFL;
    inst->mode = SHFL_IDX;
    inst->dst = inst->a = 4;
    inst->b = 3;
    inst->c = 6;
    inst->pdst = PRED_SINK;
  }
}

START_TEST(proves) {
  const Case *test = &cases[_i];
  g_autoptr(Lab) lab = lab_new("sm.max_thread_registers=255", test->text);
  place_shuffles(lab);
  lab_buffer(lab, 2);
  lab_launch(lab, 1, test->threads);
  lab_place(lab);
  for (unsigned warp = 0; warp < (test->threads + 31) / 32; warp++)
    for (unsigned lane = 0; lane < 32; lane++)
      lab_row(lab, warp, 1)[lane] = g_array_index(lab->args, uint32_t, 0);
  Explorer *explorer = explorer_new(lab->gpu);
  ExploreResult result = explorer_prove(explorer);
  explorer_free(explorer);
  ck_assert_msg(result == test->expected, "%s: %d, expected %d", test->name, (int)result, (int)test->expected);
}
END_TEST

/* What the proof says of a run is what happens: the shuffle gives what the leader got. */
START_TEST(runs) {
  g_autoptr(Lab) lab = lab_new("", START VOTE "MOV R0, R6;\n@P0 ATOM.ADD R4, [R1], R0;\nNOP;\n" UNTIL_SET);
  place_shuffles(lab);
  lab_buffer(lab, 2);
  lab_launch(lab, 1, 32);
  lab_place(lab);
  for (unsigned lane = 0; lane < 32; lane++)
    lab_row(lab, 0, 1)[lane] = g_array_index(lab->args, uint32_t, 0);
  lab_finish(lab);
  for (unsigned lane = 0; lane < 32; lane++)
    ck_assert_uint_eq(lab_row(lab, 0, 4)[lane], 31);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("leaders");
  TCase *tcase = tcase_create("leaders");
  tcase_add_loop_test(tcase, proves, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, runs);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
