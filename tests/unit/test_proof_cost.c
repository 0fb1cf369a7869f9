/* What proofs cost: on blocks that wait for each other's warps they explore less than the run issues, whatever the
 * number of blocks; lanes and warps that are alike are explored once; a budget ends a proof. */
#include <glib.h>

#include "sim/detect/naming/waitgraph.h"
#include "sim/detect/progress.h"
#include "sim/detect/proof/explore.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* Each warp waits for the one before it, 5 rounds, and counts down before it lets the next one go. */
static const char chain[] = ".shared 64\n"
                            "S2R R0, SR_Tid_X;\nSHR.U32 R1, R0, 0x5;\nSHL.W R2, R1, 0x2;\nMOV R3, RZ;\n"
                            "ISETP.EQ.AND P0, pt, R1, RZ, pt;\nIADD R4, R2, -0x4;\n@P0 MOV32I R4, 0x3c;\n"
                            "round: IADD R6, R3, 0x1;\n@P0 MOV R6, R3;\n"
                            "wait: LDS R5, [R4];\nISETP.LT.AND P1, pt, R5, R6, pt;\n@P1 BRA wait;\n"
                            "MOV32I R8, 0x1;\n"
                            "down: IADD R8, R8, -0x1;\nISETP.GT.AND P1, pt, R8, RZ, pt;\n@P1 BRA down;\n"
                            "IADD R3, R3, 0x1;\nSTS [R2], R3;\n"
                            "ISETP.LT.AND P2, pt, R3, 0x5, pt;\n@P2 BRA round;\nEXIT;\n";

static const uint32_t blocks[] = {1, 16, 132, 264};

START_TEST(chain_costs_less_than_its_run) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=132", chain);
  lab_launch(lab, blocks[_i], 512);
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  ProgressOptions options = {.limit_cycles = 100000000};
  Outcome outcome = progress_run(lab->gpu, &options, findings);
  ck_assert_int_eq(outcome.verdict, VERDICT_COMPLETED);
  ck_assert(outcome.explored > 0 || blocks[_i] == 1); /* that one has ended before the first look */
  ck_assert_uint_lt(4 * outcome.explored, lab->gpu->counters.warp_instructions);
  outcome_clear(&outcome);
}
END_TEST

static uint64_t steps_of(const char *text, uint32_t grid, uint32_t threads, uint64_t budget, ExploreResult expected) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=132", text);
  lab_buffer(lab, 64);
  lab_launch(lab, grid, threads);
  ck_assert_int_eq(gpu_run(lab->gpu, 2000, 1000000), GPU_BUDGET);
  Explorer *explorer = explorer_new(lab->gpu);
  explorer->budget = budget;
  ck_assert_int_eq(explorer_prove(explorer), expected);
  uint64_t steps = explorer->steps;
  explorer_free(explorer);
  return steps;
}

/* Polls one word; R0 differs from lane to lane, and is read only behind the loop. */
#define POLL(address)                                                                          \
  "S2R R0, SR_Tid_X;\nSHL.W R2, R0, 0x2;\nIADD R2, R2, c[0x0][0x20];\nMOV R1, c[0x0][0x20];\n" \
  "wait: LD.CV R5, [" address "];\nISETP.EQ.AND P1, pt, R5, RZ, pt;\n@P1 BRA wait;\nST [R1], R0;\nEXIT;\n"

START_TEST(lanes_alike_are_explored_once) {
  uint64_t lane = steps_of(POLL("R1"), 1, 1, 0, EXPLORE_STUCK), warp = steps_of(POLL("R1"), 1, 32, 0, EXPLORE_STUCK);
  uint64_t chip = steps_of(POLL("R1"), 132, 128, 0, EXPLORE_STUCK),
           own = steps_of(POLL("R2"), 1, 32, 0, EXPLORE_STUCK);
  ck_assert_uint_lt(warp, 2 * lane + 4); /* a warp may stand at other instructions than a lane alone */
  ck_assert_uint_lt(chip, 10 * lane + 132 * 4);
  ck_assert_uint_gt(own, 20 * lane); /* words of their own */
}
END_TEST

/* The first warp of each block polls a word; the others wait for it at a barrier, and then do `behind` with a word of
 * each. */
#define BEHIND_BARRIER(behind)                                                                             \
  "S2R R0, SR_Tid_X;\nS2R R3, SR_CTAid_X;\nSHL.W R3, R3, 0xa;\nIADD R3, R3, R0;\nSHL.W R2, R3, 0x2;\n"     \
  "IADD R2, R2, c[0x0][0x20];\nMOV R1, c[0x0][0x20];\nISETP.GE.AND P0, pt, R0, 0x20, pt;\n@P0 BRA meet;\n" \
  "wait: LD.CV R5, [R1];\nISETP.EQ.AND P1, pt, R5, RZ, pt;\n@P1 BRA wait;\nmeet: BAR.SYNC 0x0;\n" behind "EXIT;\n"

/* How many instructions it takes to name who waits for whom, and how many lanes would change the word (*actors). */
static uint64_t naming_steps(const char *text, uint32_t grid, uint32_t threads, uint32_t *actors) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=132", text);
  lab_buffer(lab, 64 + 1024 * grid);
  lab_launch(lab, grid, threads);
  ck_assert_int_eq(gpu_run(lab->gpu, 100 * grid, 1000000), GPU_BUDGET);
  Explorer *explorer = explorer_new(lab->gpu);
  ck_assert_int_eq(explorer_prove(explorer), EXPLORE_STUCK);
  uint64_t before = explorer->steps;
  WaitGraph *graph = wait_graph_new(explorer);
  *actors = 0;
  for (guint i = 0; i < graph->edges->len; i++)
    *actors += wait_node(graph, wait_edge(graph, i)->from)->kind == NODE_WORD;
  uint64_t steps = explorer->steps - before;
  wait_graph_free(graph);
  explorer_free(explorer);
  return steps;
}

START_TEST(naming_asks_lanes_alike_once) {
  static const char reads[] =
      BEHIND_BARRIER("LD R6, [R2+0x80];\nISETP.EQ.AND P2, pt, R6, RZ, pt;\n@P2 RED.ADD [R1+0x4], R0;\n");
  static const char stores[] = BEHIND_BARRIER("MOV32I R7, 0x1;\nST [R1], R7;\n");
  uint32_t actors;
  uint64_t two_warps = naming_steps(reads, 1, 64, &actors);
  ck_assert_uint_eq(actors, 0);
  ck_assert_uint_lt(naming_steps(reads, 1, 1024, &actors), 3 * two_warps);
  ck_assert_uint_eq(actors, 0);
  ck_assert_uint_lt(naming_steps(reads, 64, 128, &actors), 64 * 2 * two_warps);
  ck_assert_uint_eq(actors, 0);
  naming_steps(stores, 4, 128, &actors);
  ck_assert_uint_eq(actors, 4 * 96);
}
END_TEST

/* R2: the address of a word of the thread's own; R3: of that of the next one, in a ring. */
#define RING_OF(words)                                                                                 \
  "S2R R0, SR_Tid_X;\nS2R R3, SR_CTAid_X;\nSHL.W R3, R3, 0x7;\nIADD R3, R3, R0;\nSHL.W R2, R3, 0x2;\n" \
  "IADD R3, R3, 0x1;\nLOP.AND R3, R3, " words ";\nSHL.W R3, R3, 0x2;\nIADD R2, R2, c[0x0][0x20];\n"    \
  "IADD R3, R3, c[0x0][0x20];\nMOV R1, c[0x0][0x24];\nMOV32I R7, 0x1;\n"

/* The graph of a grid of 128 threads a block that hangs, of which each has a word. */
static WaitGraph *graph_of(Lab *lab, uint32_t blocks) {
  lab_buffer(lab, 128 * blocks);
  lab_buffer(lab, 1);
  lab_launch(lab, blocks, 128);
  ck_assert_int_eq(gpu_run(lab->gpu, 400 * blocks, 1000000), GPU_BUDGET);
  Explorer *explorer = explorer_new(lab->gpu);
  ck_assert_int_eq(explorer_prove(explorer), EXPLORE_STUCK);
  return wait_graph_new(explorer);
}

static void graph_free(WaitGraph *graph) {
  Explorer *explorer = graph->explorer;
  wait_graph_free(graph);
  explorer_free(explorer);
}

/* Each thread waits for a word that only itself would change, once another word were different: all wait for that
 * one. */
START_TEST(each_lane_looks_behind_its_word) {
  static const char text[] =
      RING_OF("0x3ff") "ST [R2], R7;\nwait: LD.CV R5, [R1];\nISETP.NE.AND P2, pt, R5, RZ, pt;\n"
                       "@P2 ST [R2], RZ;\nLD.CV R6, [R2];\nISETP.NE.AND P1, pt, R6, RZ, pt;\n"
                       "@P1 BRA wait;\nEXIT;\n";
  enum { BLOCKS = 4, LANES = 128 * BLOCKS };
  g_autoptr(Lab) lab = lab_new("gpu.sms=132", text);
  WaitGraph *graph = graph_of(lab, BLOCKS);
  unsigned behind = 0;
  for (guint i = 0; i < graph->edges->len; i++)
    behind += wait_edge(graph, i)->behind;
  ck_assert_uint_eq(behind, LANES);
  ck_assert_uint_lt(graph->explorer->steps, 500 * LANES);
  graph_free(graph);
}
END_TEST

/* Each thread holds a lock and wants the next one's: every cycle is as long as the grid is large. */
START_TEST(a_long_cycle_is_found_soon) {
  static const char text[] = RING_OF("0xfff") "ATOM.CAS R5, [R2], RZ, R7;\nwait: ATOM.CAS R5, [R3], RZ, R7;\n"
                                              "ISETP.NE.AND P1, pt, R5, RZ, pt;\n@P1 BRA wait;\nST [R2], RZ;\n"
                                              "ST [R3], RZ;\nEXIT;\n";
  enum { BLOCKS = 32, LANES = 128 * BLOCKS };
  g_autoptr(Lab) lab = lab_new("gpu.sms=132", text);
  WaitGraph *graph = graph_of(lab, BLOCKS);
  double before = unit_cpu_seconds();
  GArray *cycle = wait_graph_cycle(graph, wait_node(graph, 0)->component, EDGE_WORD);
  ck_assert(unit_cpu_seconds() - before < 2 * unit_patience());
  ck_assert_uint_eq(cycle->len, 2 * LANES);
  g_array_free(cycle, TRUE);
  graph_free(graph);
}
END_TEST

START_TEST(budget_ends_a_proof) { steps_of(POLL("R2"), 1, 32, 40, EXPLORE_UNPROVABLE); }
END_TEST

int main(void) {
  Suite *suite = suite_create("proof_cost");
  TCase *tcase = tcase_create("proof_cost");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, chain_costs_less_than_its_run, 0, G_N_ELEMENTS(blocks));
  tcase_add_test(tcase, lanes_alike_are_explored_once);
  tcase_add_test(tcase, naming_asks_lanes_alike_once);
  tcase_add_test(tcase, each_lane_looks_behind_its_word);
  tcase_add_test(tcase, a_long_cycle_is_found_soon);
  tcase_add_test(tcase, budget_ends_a_proof);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
