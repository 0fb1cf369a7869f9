/* The proof behind deadlock verdicts: what it says of programs that stand before their first instruction. */
#include <glib.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "sim/detect/naming/waitgraph.h"
#include "sim/detect/proof/explore.h"
#include "sim/detect/proof/lane_state.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* R1: the address of the buffer; what is stored there before the start; how many threads; the answer. */
typedef struct Case {
  const char *name, *text;
  uint32_t threads, words[2];
  ExploreResult expected;
} Case;

/* Adds R3 to word 0, then waits until it is at least `limit`. */
#define COUNT_AND_WAIT(number, limit)         \
  "MOV32I R3, " number ";\n"                  \
  "RED.ADD [R1], R3;\n"                       \
  "wait: LD.CV R4, [R1];\n"                   \
  "ISETP.LT.AND P0, pt, R4, " limit ", pt;\n" \
  "@P0 BRA wait;\nEXIT;\n"
/* The same with a result, which is used as a ticket. */
#define TICKET(limit)                         \
  "MOV32I R3, 0x1;\n"                         \
  "ATOM.ADD R5, [R1], R3;\n"                  \
  "wait: LD.CV R4, [R1];\n"                   \
  "ISETP.LT.AND P0, pt, R4, " limit ", pt;\n" \
  "@P0 BRA wait;\nEXIT;\n"

static const Case cases[] = {
    {"as many as come", COUNT_AND_WAIT("0x1", "0x20"), 32, {0}, EXPLORE_LIVE},
    {"one more than come", COUNT_AND_WAIT("0x1", "0x21"), 32, {0}, EXPLORE_STUCK},
    {"the word's value counts", COUNT_AND_WAIT("0x1", "0x21"), 32, {1}, EXPLORE_LIVE},
    {"one more, with a result", TICKET("0x21"), 32, {0}, EXPLORE_STUCK},
    {"as many, with a result", TICKET("0x20"), 32, {0}, EXPLORE_LIVE},
    {"a range", COUNT_AND_WAIT("0x1", "0x60"), 96, {0}, EXPLORE_LIVE},
    {"beyond a range", COUNT_AND_WAIT("0x1", "0x61"), 96, {0}, EXPLORE_STUCK},
    {"beyond a range, with a result", TICKET("0x61"), 96, {0}, EXPLORE_STUCK},
    {"steps",
     "MOV32I R3, 0x100;\nRED.ADD [R1], R3;\n"
     "wait: LD.CV R4, [R1];\nISETP.NE.AND P0, pt, R4, 0x80, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {0},
     EXPLORE_STUCK},
    {"down",
     "MOV32I R3, -0x1;\nRED.ADD [R1], R3;\n"
     "wait: LD.CV R4, [R1];\nISETP.GT.AND P0, pt, R4, RZ, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {33},
     EXPLORE_STUCK},
    {"down far enough",
     "MOV32I R3, -0x1;\nRED.ADD [R1], R3;\n"
     "wait: LD.CV R4, [R1];\nISETP.GT.AND P0, pt, R4, RZ, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {32},
     EXPLORE_LIVE},
    {"adds again and again",
     "MOV32I R3, 0x1;\nwait: ATOM.ADD R4, [R1], R3;\n"
     "ISETP.LT.AND P0, pt, R4, 0x7fff, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {0},
     EXPLORE_LIVE},
    {"adds again and again for nobody",
     "MOV32I R3, 0x1;\nwait: RED.ADD [R1+0x4], R3;\nLD.CV R4, [R1];\n"
     "ISETP.EQ.AND P0, pt, R4, RZ, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {0},
     EXPLORE_STUCK},
    {"lowers, and raises again",
     "MOV32I R3, -0x1;\nMOV32I R5, 0x1;\nwait: ATOM.ADD R4, [R1], R3;\nISETP.GT.AND P0, pt, R4, RZ, pt;\n"
     "@P0 BRA out;\nRED.ADD [R1], R5;\nBRA wait;\nout: EXIT;\n",
     32,
     {0},
     EXPLORE_STUCK},
    {"lowers, and raises again, by many",
     "MOV32I R3, -0x1;\nMOV32I R5, 0x1;\nwait: ATOM.ADD R4, [R1], R3;\nISETP.GT.AND P0, pt, R4, RZ, pt;\n"
     "@P0 BRA out;\nRED.ADD [R1], R5;\nBRA wait;\nout: EXIT;\n",
     96,
     {0},
     EXPLORE_STUCK},
    {"lowers, and raises again, and one is left",
     "MOV32I R3, -0x1;\nMOV32I R5, 0x1;\nwait: ATOM.ADD R4, [R1], R3;\nISETP.GT.AND P0, pt, R4, RZ, pt;\n"
     "@P0 BRA out;\nRED.ADD [R1], R5;\nBRA wait;\nout: EXIT;\n",
     96,
     {1},
     EXPLORE_LIVE},
    {"raises more than it lowers",
     "MOV32I R3, -0x1;\nMOV32I R5, 0x1;\nwait: ATOM.ADD R4, [R1], R3;\nISETP.GT.AND P0, pt, R4, RZ, pt;\n"
     "@P0 BRA out;\nRED.ADD [R1], R5;\nRED.ADD [R1], R5;\nBRA wait;\nout: EXIT;\n",
     32,
     {0},
     EXPLORE_LIVE},
    {"lowers more than it raises",
     "MOV32I R3, -0x1;\nMOV32I R5, 0x1;\nwait: ATOM.ADD R4, [R1], R3;\nISETP.GT.AND P0, pt, R4, RZ, pt;\n"
     "@P0 BRA out;\nRED.ADD [R1], R3;\nRED.ADD [R1], R5;\nBRA wait;\nout: EXIT;\n",
     32,
     {0},
     EXPLORE_LIVE},
    {"lowers, stores and raises",
     "MOV32I R3, -0x1;\nMOV32I R5, 0x1;\nwait: ATOM.ADD R4, [R1], R3;\nISETP.GT.AND P0, pt, R4, RZ, pt;\n"
     "@P0 BRA out;\nST [R1], RZ;\nRED.ADD [R1], R5;\nBRA wait;\nout: EXIT;\n",
     32,
     {0},
     EXPLORE_LIVE},
    {"stores behind each round what was there",
     "MOV32I R3, -0x1;\nMOV32I R5, 0x1;\nwait: ATOM.ADD R4, [R1], R3;\nISETP.GT.AND P0, pt, R4, RZ, pt;\n"
     "@P0 BRA out;\nRED.ADD [R1], R5;\nST [R1], RZ;\nBRA wait;\nout: EXIT;\n",
     32,
     {0},
     EXPLORE_LIVE},
    {"counts round and round for nobody",
     "wait: LD.CV R3, [R1+0x4];\nIADD R3, R3, 0x1;\nISETP.GT.AND P1, pt, R3, 0x19, pt;\n@P1 MOV R3, RZ;\n"
     "ST [R1+0x4], R3;\nLD.CV R4, [R1];\nISETP.EQ.AND P0, pt, R4, RZ, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {0},
     EXPLORE_STUCK},
    {"counts round and round past a number that somebody awaits",
     "wait: LD.CV R3, [R1+0x4];\nIADD R3, R3, 0x1;\nISETP.GT.AND P1, pt, R3, 0x19, pt;\n@P1 MOV R3, RZ;\n"
     "ST [R1+0x4], R3;\nISETP.NE.AND P0, pt, R3, 0x12, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {0},
     EXPLORE_LIVE},
    {"counts its looks, and wants two at least",
     "MOV R5, RZ;\nwait: IADD R5, R5, 0x1;\nLD.CV R4, [R1];\nISETP.EQ.AND P1, pt, R4, RZ, pt;\n"
     "ISETP.LT.OR P0, pt, R5, 0x2, P1;\n@P0 BRA wait;\nST [R1+0x4], R5;\nEXIT;\n",
     32,
     {0},
     EXPLORE_STUCK},
    {"counts its looks, of which a hundred are enough",
     "MOV R5, RZ;\nwait: IADD R5, R5, 0x1;\nLD.CV R4, [R1];\nISETP.EQ.AND P1, pt, R4, RZ, pt;\n"
     "ISETP.LT.AND P0, pt, R5, 0x64, P1;\n@P0 BRA wait;\nST [R1+0x4], R5;\nEXIT;\n",
     32,
     {0},
     EXPLORE_LIVE},
    {"counts its looks, and sees something",
     "MOV R5, RZ;\nwait: IADD R5, R5, 0x1;\nLD.CV R4, [R1];\nISETP.EQ.AND P1, pt, R4, RZ, pt;\n"
     "ISETP.LT.OR P0, pt, R5, 0x64, P1;\n@P0 BRA wait;\nST [R1+0x4], R5;\nEXIT;\n",
     32,
     {1},
     EXPLORE_LIVE},
    {"a reset shifts the sums",
     "MOV32I R3, 0x1;\nATOM.ADD R5, [R1], R3;\nMOV32I R6, 0x32;\n"
     "ISETP.EQ.AND P1, pt, R5, 0x1f, pt;\n@P1 ST [R1], R6;\n"
     "wait: LD.CV R4, [R1];\nISETP.LT.AND P0, pt, R4, 0x33, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {0},
     EXPLORE_LIVE},
    {"as far as it goes",
     "MOV32I R3, 0x1;\nATOM.ADD R5, [R1], R3;\nMOV32I R6, 0x32;\n"
     "ISETP.EQ.AND P1, pt, R5, 0x1f, pt;\n@P1 ST [R1], R6;\n"
     "wait: LD.CV R4, [R1];\nISETP.LT.AND P0, pt, R4, 0x53, pt;\n@P0 BRA wait;\nEXIT;\n",
     32,
     {0},
     EXPLORE_STUCK},
};

static ExploreResult prove(const Case *test, uint32_t nregs, const Stop *stop) {
  g_autoptr(Lab) lab = lab_new("sm.max_thread_registers=255", test->text);
  program_kernel(lab->program, 0)->nregs = nregs;
  uint32_t *words = lab_buffer(lab, 2);
  memcpy(words, test->words, sizeof test->words);
  lab_launch(lab, 1, test->threads);
  lab_place(lab);
  for (unsigned warp = 0; warp < test->threads / 32; warp++)
    for (unsigned lane = 0; lane < 32; lane++)
      lab_row(lab, warp, 1)[lane] = g_array_index(lab->args, uint32_t, 0);
  lab->gpu->stop = stop;
  Explorer *explorer = explorer_new(lab->gpu);
  ExploreResult result = explorer_prove(explorer);
  explorer_free(explorer);
  return result;
}

START_TEST(proves) {
  const Case *test = &cases[_i];
  for (uint32_t nregs = 7; nregs <= 255; nregs += 248) {
    ExploreResult result = prove(test, nregs, NULL);
    ck_assert_msg(result == test->expected, "%s with %u registers: %d instead of %d", test->name, nregs, result,
                  test->expected);
  }
}
END_TEST

/* Names come from files: whatever they hold, the graph is JSON, and the name comes out as it was. */
START_TEST(shows_any_name_in_json) {
  static const char *const names[] = {"a\"b\\", "tab\there", "bell\a \x1b[31m",
                                      "Gr\xc3\xb6\xc3\x9f"
                                      "e"};
  g_autoptr(Lab) lab = lab_new("", "MOV R1, c[0x0][0x20];\nwait: LD.CV R2, [R1];\n"
                                   "ISETP.EQ.AND P0, pt, R2, RZ, pt;\n@P0 BRA wait;\nEXIT;\n");
  lab_buffer(lab, 1);
  g_free(backing_buffer(lab->backing, 0)->name);
  backing_buffer(lab->backing, 0)->name = g_strdup(names[_i]);
  lab_launch(lab, 1, 1);
  ck_assert_int_eq(gpu_run(lab->gpu, 100, UINT64_MAX), GPU_BUDGET);
  Explorer *explorer = explorer_new(lab->gpu);
  ck_assert_int_eq(explorer_prove(explorer), EXPLORE_STUCK);
  WaitGraph *graph = wait_graph_new(explorer);
  g_autofree char *text = wait_graph_json(graph), *expected = g_strdup_printf("%s[0] (global ", names[_i]);
  wait_graph_free(graph);
  explorer_free(explorer);
  g_autoptr(JsonNode) root = json_from_string(text, NULL);
  ck_assert_msg(root != NULL, "not JSON: %s", text);
  JsonArray *nodes = json_object_get_array_member(json_node_get_object(root), "nodes");
  bool found = false;
  for (guint i = 0; i < json_array_get_length(nodes); i++)
    found |=
        g_str_has_prefix(json_object_get_string_member(json_array_get_object_element(nodes, i), "text"), expected);
  ck_assert_msg(found, "no node %s: %s", expected, text);
  for (const char *at = text; *at; at++)
    ck_assert_msg((unsigned char)*at >= ' ', "a control character in %s", text);
}
END_TEST

/* A wish to stop ends the proof without a result, and one that hasn't come yet changes nothing. */
START_TEST(stops_when_asked) {
  volatile sig_atomic_t came = 0;
  const Stop stop = {.deadline = g_get_monotonic_time() + (gint64)3600 * G_USEC_PER_SEC, .signal = &came};
  const Stop late = {.deadline = 1};
  ck_assert_int_eq(prove(&cases[1], 7, &stop), EXPLORE_STUCK);
  ck_assert_int_eq(prove(&cases[1], 7, &late), EXPLORE_UNPROVABLE);
  came = SIGTERM;
  ck_assert_int_eq(prove(&cases[1], 7, &stop), EXPLORE_UNPROVABLE);
  ck_assert(stop_asked(&stop) == STOP_SIGNAL && stop_asked(&late) == STOP_SECONDS && stop_asked(NULL) == STOP_NONE);
}
END_TEST

enum { GRAPH_STATES = 24 };

/* A random graph, about `mean` edges from each state, sorted; and which state leads to which by any way. */
static void random_graph(Rng *rng, uint32_t mean, GArray *edges, bool reaches[GRAPH_STATES][GRAPH_STATES]) {
  memset(reaches, 0, GRAPH_STATES * sizeof *reaches);
  for (uint32_t from = 0; from < GRAPH_STATES; from++)
    for (uint32_t to = 0; to < GRAPH_STATES; to++)
      if (rng_below(rng, GRAPH_STATES) < mean) {
        StateEdge edge = {from, to, 0};
        g_array_append_val(edges, edge);
        reaches[from][to] = true;
      }
  for (unsigned by = 0; by < GRAPH_STATES; by++)
    for (unsigned from = 0; from < GRAPH_STATES; from++)
      for (unsigned to = 0; to < GRAPH_STATES; to++)
        reaches[from][to] |= reaches[from][by] && reaches[by][to];
}

START_TEST(states_return_that_reach_themselves) {
  Rng rng;
  rng_seed(&rng, (uint64_t)_i, 0);
  for (unsigned graph = 0; graph < 50; graph++) {
    bool reaches[GRAPH_STATES][GRAPH_STATES];
    StateSet set = {
        .count = GRAPH_STATES, .keeps_edges = true, .edges = g_array_new(FALSE, FALSE, sizeof(StateEdge))};
    random_graph(&rng, 1 + (unsigned)_i, set.edges, reaches);
    for (uint32_t state = 0; state < GRAPH_STATES; state++)
      ck_assert_int_eq(state_set_returns(&set, state), reaches[state][state]);
    g_array_free(set.edges, TRUE);
    g_free(set.returns);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("explore");
  TCase *tcase = tcase_create("explore");
  tcase_add_loop_test(tcase, proves, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, shows_any_name_in_json, 0, 4);
  tcase_add_test(tcase, stops_when_asked);
  tcase_add_loop_test(tcase, states_return_that_reach_themselves, 0, 3);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
