/* The proof on a cut of the machine: what is under way when somebody looks may still release who waits. Each live
 * program has a twin that hangs, in which the same access is under way, but doesn't help. */
#include <stdlib.h>

#include "sim/detect/proof/explore.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* Accesses are performed 1000 cycles behind their issue, and answered 1000 later. */
#define SLOW \
  "gpu.sms=3 memory.latency=2000 memory.request_latency=1000 memory.bytes_per_cycle=100000 sm.jitter_cycles=0 "

static ExploreResult look(Lab *lab) {
  Explorer *explorer = explorer_new(lab->gpu);
  ExploreResult result = explorer_prove(explorer);
  explorer_free(explorer);
  return result;
}

static ExploreResult look_at(Lab *lab, uint64_t cycle) {
  ck_assert_int_eq(gpu_run(lab->gpu, 1000000, cycle), GPU_LIMIT);
  return look(lab);
}

/* ---- releases under way ---- */

/* Block 0 polls word 0, which is 0 at first; block 1 releases it, or tries to, and exits at once. */
#define POLLS                                                                                                     \
  "S2R R9, SR_CTAid_X; MOV R0, c[0x0][0x20]; MOV R1, 1; MOV R10, 1; MOV R2, 2; ISETP.NE.AND P0, PT, R9, RZ, PT; " \
  "@P0 BRA give\n"                                                                                                \
  "wait: LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA wait; EXIT\ngive: "

typedef struct Release {
  const char *what, *live, *hangs;
} Release;

static const Release releases[] = {
    {"store", "ST [R0], R1", "ST [R0], RZ"},
    {"store elsewhere", "ST [R0], R1", "ST [R0+0x4], R1"},
    {"store of two words", "ST.64 [R0], R10", "ST.64 [R0+0x8], R10"},
    {"exchange", "ATOM.EXCH R7, [R0], R1", "ATOM.EXCH R7, [R0], RZ"},
    {"exchange whose result nobody uses", "RED.EXCH [R0], R1", "RED.EXCH [R0], RZ"},
    {"compare and swap", "ATOM.CAS R7, [R0], RZ, R1", "ATOM.CAS R7, [R0], R2, RZ"},
    {"add", "ATOM.ADD R7, [R0], R1", "ATOM.ADD R7, [R0], RZ"},
    {"reduction", "RED.ADD [R0], R1", "RED.ADD [R0+0x4], R1"},
};

START_TEST(a_release_under_way_counts) {
  const Release *release = &releases[_i / 2];
  bool hangs = _i % 2;
  g_autofree char *text = g_strconcat(POLLS, hangs ? release->hangs : release->live, "; EXIT\n", NULL);
  g_autoptr(Lab) lab = lab_new(SLOW, text);
  uint32_t *data = lab_buffer(lab, 8);
  lab_launch_grid(lab, 0, 2, 1, 0, 0);
  ExploreResult result = look_at(lab, 900);
  ck_assert_msg(lab->gpu->sms[1].warps[0].state != WARP_RUNNING, "%s: block 1 is still there", release->what);
  ck_assert_uint_eq(data[0], 0); /* it is under way */
  ck_assert_msg(result == (hangs ? EXPLORE_STUCK : EXPLORE_LIVE), "%s: %d", release->what, result);
  if (!hangs)
    lab_finish(lab);
  else
    ck_assert_int_eq(look_at(lab, 20000), EXPLORE_STUCK);
}
END_TEST

/* ---- by a warp that waits itself ---- */

/* Warp 1 releases word 0 and waits at a barrier for warp 0, which polls the word. */
START_TEST(a_release_of_who_waits_counts) {
  static const char *const gives[] = {"ST [R0], R1", "ATOM.EXCH R7, [R0], R1", "RED.ADD [R0], R1", "ST [R0], RZ"};
  for (unsigned i = 0; i < G_N_ELEMENTS(gives); i++) {
    g_autofree char *text = g_strdup_printf(
        "S2R R9, SR_Tid_X; MOV R0, c[0x0][0x20]; MOV R1, 1; ISETP.GE.AND P0, PT, R9, 0x20, PT; @P0 BRA give\n"
        "wait: LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA wait; BRA meet\n"
        "give: %s\nmeet: BAR.SYNC 0; EXIT\n",
        gives[i]);
    g_autoptr(Lab) lab = lab_new(SLOW, text);
    lab_buffer(lab, 8);
    lab_launch(lab, 1, 64);
    bool hangs = i == G_N_ELEMENTS(gives) - 1;
    ck_assert_msg(look_at(lab, 900) == (hangs ? EXPLORE_STUCK : EXPLORE_LIVE), "%s", gives[i]);
    ck_assert_int_eq(lab_warp(lab, 1)->state, WARP_AT_BARRIER);
    if (!hangs)
      lab_finish(lab);
  }
}
END_TEST

/* ---- what a load brings ---- */

/* Block 0 loads a word that holds 1; block 1 stores 0 there `later` cycles after, or before. At the look the word is
 * 0, for ever. */
START_TEST(a_value_under_way_counts) {
  static const struct {
    const char *first, *second; /* what the blocks do before */
    ExploreResult result;
  } cases[] = {
      {"NOP", "NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP", EXPLORE_LIVE},
      {"NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP", "NOP", EXPLORE_STUCK},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf(
        "S2R R9, SR_CTAid_X; MOV R0, c[0x0][0x20]; ISETP.NE.AND P0, PT, R9, RZ, PT; @P0 BRA take\n%s\n"
        "wait: LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA wait; EXIT\ntake: %s; ST [R0], RZ; EXIT\n",
        cases[i].first, cases[i].second);
    g_autoptr(Lab) lab = lab_new(SLOW, text);
    uint32_t *data = lab_buffer(lab, 8);
    data[0] = 1;
    lab_launch_grid(lab, 0, 2, 1, 0, 0);
    ExploreResult result = look_at(lab, 1900);
    ck_assert_uint_eq(data[0], 0);
    ck_assert_msg(result == cases[i].result, "case %u: %d", i, result);
    if (result == EXPLORE_LIVE)
      lab_finish(lab);
  }
}
END_TEST

/* ---- steps under way count once, and in their lane's order ---- */

/* Each of the adds is under way once; the word is awaited at their sum, and at one more. */
START_TEST(adds_under_way_count_once) {
  for (unsigned hangs = 0; hangs < 2; hangs++) {
    g_autofree char *text =
        g_strdup_printf("S2R R9, SR_CTAid_X; MOV R0, c[0x0][0x20]; MOV R1, 1; MOV R2, %u; ISETP.NE.AND P0, PT, R9, "
                        "RZ, PT; @P0 BRA give\n"
                        "wait: LD.CV R5, [R0]; ISETP.LT.AND P1, PT, R5, R2, PT; @P1 BRA wait; EXIT\n"
                        "give: ATOM.ADD R7, [R0], R1; RED.ADD [R0], R1; ATOM.ADD R8, [R0], R1; EXIT\n",
                        3 * 32 + hangs);
    g_autoptr(Lab) lab = lab_new(SLOW, text);
    lab_buffer(lab, 8);
    lab_launch_grid(lab, 0, 2, 32, 0, 0);
    ck_assert_int_eq(look_at(lab, 900), hangs ? EXPLORE_STUCK : EXPLORE_LIVE);
    if (!hangs)
      lab_finish(lab);
  }
}
END_TEST

/* A lock is taken by a CAS under way, once: who gets it frees it, or not. */
START_TEST(an_attempt_under_way_is_a_step) {
  static const char *const frees[] = {"ATOM.EXCH R6, [R0], RZ", "ATOM.EXCH R6, [R0+0x4], RZ"};
  for (unsigned i = 0; i < 2; i++) {
    g_autofree char *text =
        g_strdup_printf("MOV R0, c[0x0][0x20]; MOV R1, 1\n"
                        "try: ATOM.CAS R5, [R0], RZ, R1; ISETP.NE.AND P1, PT, R5, RZ, PT; @P1 BRA try\n"
                        "%s; MOV R6, R6; EXIT\n",
                        frees[i]);
    g_autoptr(Lab) lab = lab_new(SLOW, text);
    lab_buffer(lab, 8);
    lab_launch_grid(lab, 0, 3, 1, 0, 0);
    /* The first who gets it may exit in any case: the look is behind that. */
    ExploreResult early = look_at(lab, 900);
    ck_assert_int_eq(early, EXPLORE_LIVE);
    if (i == 0) {
      lab_finish(lab);
      continue;
    }
    for (uint64_t cycle = 5900; cycle < 12000; cycle += 700) /* attempts are under way at each of these */
      ck_assert_msg(look_at(lab, cycle) == EXPLORE_STUCK, "cycle %d", (int)cycle);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("explore_flight");
  TCase *tcase = tcase_create("explore_flight");
  tcase_add_loop_test(tcase, a_release_under_way_counts, 0, 2 * (int)G_N_ELEMENTS(releases));
  tcase_add_test(tcase, a_release_of_who_waits_counts);
  tcase_add_test(tcase, a_value_under_way_counts);
  tcase_add_test(tcase, adds_under_way_count_once);
  tcase_add_test(tcase, an_attempt_under_way_is_a_step);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
