/* Divergence on the SIMT stack: which lanes run together in which order, and what they leave (SEMANTICS,
 * "Reconvergence on a SIMT stack"). */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* Four lanes. R0 is the lane, P0 holds in lanes 0 and 1, P1 in 0 and 2, P2 in 3. A path is "pc:lanes ..." in order
 * of issue, lanes in hexadecimal; where it is the same for both branch orders, the second is NULL. */
typedef struct Walk {
  const char *what, *settings, *text;
  const char *taken_first, *fallthrough_first;
  uint32_t r9[4];
  unsigned divergent;
} Walk;

/* clang-format off */
static const Walk walks[] = {
    {"if and else under SSY", "",
     "SSY end; @P0 BRA then; IADD R9, R9, 1; NOP.S; then: IADD R9, R9, 2; NOP.S; end: EXIT",
     "0:f 1:3 4:3 5:3 2:c 3:c 6:f", "0:f 1:3 2:c 3:c 4:3 5:3 6:f", {2, 2, 1, 1}, 1},
    {"if without else: the taken side joins at once", "", "SSY end; @P0 BRA end; IADD R9, R9, 1; end: EXIT",
     "0:f 1:3 2:c 3:f", NULL, {0, 0, 1, 1}, 1},
    {"the fallthrough joins at once", "",
     "SSY end; BRA test; then: IADD R9, R9, 1; NOP.S; test: @P0 BRA then; end: EXIT",
     "0:f 1:f 4:3 2:3 3:3 5:f", NULL, {1, 1, 0, 0}, 1},
    {"reaching the target pops as .S does", "",
     "SSY end; @P0 BRA then; IADD R9, R9, 1; BRA end; then: IADD R9, R9, 2; end: EXIT",
     "0:f 1:3 4:3 2:c 3:c 5:f", "0:f 1:3 2:c 3:c 4:3 5:f", {2, 2, 1, 1}, 1},
    {".S pops though predicated off", "", "SSY end; @!PT NOP.S; IADD R9, R9, 1; end: EXIT", "0:f 1:0 3:f", NULL, {0},
     0},
    {".S executes before it pops, for the guard's lanes", "",
     "SSY end; @P0 IADD.S R9, R9, 1; IADD R9, R9, 2; end: EXIT",
     "0:f 1:3 3:f", NULL, {1, 1, 0, 0}, 0},
    {"an SSY under a false guard pushes nothing", "", "@!PT SSY end; @P0 BRA end; IADD R9, R9, 1; end: EXIT",
     "0:0 1:3 2:c 3:f", NULL, {0, 0, 1, 1}, 1},
    {"all lanes one way: no divergence", "",
     "SSY end; @PT BRA then; IADD R9, R9, 1; NOP.S; then: IADD R9, R9, 2; end: EXIT",
     "0:f 1:f 4:f 5:f", NULL, {2, 2, 2, 2}, 0},
    {"nested", "",
     "SSY out; @P0 BRA b; SSY in; @P2 BRA c; IADD R9, R9, 1; NOP.S; c: IADD R9, R9, 2; NOP.S; in: IADD R9, R9, 4; "
     "NOP.S; "
     "b: IADD R9, R9, 8; NOP.S; out: EXIT",
     "0:f 1:3 10:3 11:3 2:c 3:8 6:8 7:8 4:4 5:4 8:c 9:c 12:f",
     "0:f 1:3 2:c 3:8 4:4 5:4 6:8 7:8 8:c 9:c 10:3 11:3 12:f",
     {8, 8, 5, 6}, 2},
    {"nested with one target for both", "",
     "SSY end; @P0 BRA b; SSY end; @P2 BRA c; IADD R9, R9, 1; NOP.S; c: IADD R9, R9, 2; NOP.S; b: IADD R9, R9, 8; "
     "NOP.S; "
     "end: EXIT",
     "0:f 1:3 8:3 9:3 2:c 3:8 6:8 7:8 4:4 5:4 10:f", "0:f 1:3 2:c 3:8 4:4 5:4 6:8 7:8 8:3 9:3 10:f", {8, 8, 1, 2}, 2},
    {"two branches under one SSY: three paths", "",
     "SSY end; @P0 BRA a; @P1 BRA b; NOP.S; b: NOP.S; a: NOP.S; end: EXIT",
     "0:f 1:3 5:3 2:4 4:4 3:8 6:f", "0:f 1:3 2:4 3:8 4:4 5:3 6:f", {0}, 2},
    {"a branch under an SSY doesn't rejoin earlier", "",
     "SSY end; @P0 BRA b; IADD R9, R9, 1; b: IADD R9, R9, 2; end: EXIT",
     "0:f 1:3 3:3 2:c 3:c 4:f", "0:f 1:3 2:c 3:c 3:3 4:f", {2, 2, 3, 3}, 1},
    {"implicit: if and else", "", "@P0 BRA then; IADD R9, R9, 1; BRA end; then: IADD R9, R9, 2; end: EXIT",
     "0:3 3:3 1:c 2:c 4:f", "0:3 1:c 2:c 3:3 4:f", {2, 2, 1, 1}, 1},
    {"implicit: if", "", "@P0 BRA end; IADD R9, R9, 1; end: EXIT", "0:3 1:c 2:f", NULL, {0, 0, 1, 1}, 1},
    {"implicit: nested", "", "@P0 BRA b; @P2 BRA c; IADD R9, R9, 1; c: IADD R9, R9, 2; b: IADD R9, R9, 4; EXIT",
     "0:3 1:8 2:4 3:c 4:f 5:f", NULL, {4, 4, 7, 6}, 2},
    {"implicit: in each round of a loop", "",
     "loop: @P0 BRA a; IADD R9, R9, 1; BRA j; a: IADD R9, R9, 2; j: ISETP.LT P3, PT, R9, 2, P0; @P3 BRA loop; EXIT",
     "0:3 3:3 1:c 2:c 4:f 5:0 6:f", "0:3 1:c 2:c 3:3 4:f 5:0 6:f", {2, 2, 1, 1}, 1},
    {"none: they run apart to the end", "sm.simt_stack.implicit_reconvergence=none",
     "@P0 BRA then; IADD R9, R9, 1; BRA end; then: IADD R9, R9, 2; end: EXIT",
     "0:3 3:3 4:3 1:c 2:c 4:c", "0:3 1:c 2:c 4:c 3:3 4:3", {2, 2, 1, 1}, 1},
    {"none: SSY joins as ever", "sm.simt_stack.implicit_reconvergence=none",
     "SSY end; @P0 BRA end; IADD R9, R9, 1; end: EXIT",
     "0:f 1:3 2:c 3:f", NULL, {0, 0, 1, 1}, 1},
    {"a loop that lanes leave one by one, implicit", "",
     "loop: IADD R9, R9, 1; ISETP.LE P3, PT, R9, R0, PT; @P3 BRA loop; EXIT",
     "0:f 1:f 2:e 0:e 1:e 2:c 0:c 1:c 2:8 0:8 1:8 2:0 3:f", NULL, {1, 2, 3, 4}, 3},
    {"the same up to an SSY", "",
     "SSY end; loop: IADD R9, R9, 1; ISETP.LE P3, PT, R9, R0, PT; @P3 BRA loop; end: EXIT",
     "0:f 1:f 2:f 3:e 1:e 2:e 3:c 1:c 2:c 3:8 1:8 2:8 3:0 4:f", NULL, {1, 2, 3, 4}, 3},
    {"the same with code before the join: successful lanes wait, or go first", "",
     "SSY end; loop: IADD R9, R9, 1; ISETP.LE P3, PT, R9, R0, PT; @P3 BRA loop; NOP.S; end: EXIT",
     "0:f 1:f 2:f 3:e 1:e 2:e 3:c 1:c 2:c 3:8 1:8 2:8 3:0 4:8 4:4 4:2 4:1 5:f",
     "0:f 1:f 2:f 3:e 4:1 1:e 2:e 3:c 4:2 1:c 2:c 3:8 4:4 1:8 2:8 3:0 4:8 5:f", {1, 2, 3, 4}, 3},
    {"the same without any reconvergence", "sm.simt_stack.implicit_reconvergence=none",
     "loop: IADD R9, R9, 1; ISETP.LE P3, PT, R9, R0, PT; @P3 BRA loop; EXIT",
     "0:f 1:f 2:e 0:e 1:e 2:c 0:c 1:c 2:8 0:8 1:8 2:0 3:8 3:4 3:2 3:1",
     "0:f 1:f 2:e 3:1 0:e 1:e 2:c 3:2 0:c 1:c 2:8 3:4 0:8 1:8 2:0 3:8", {1, 2, 3, 4}, 3},
    {"PBK and BRK", "", "PBK out; loop: IADD R9, R9, 1; ISETP.GT P3, PT, R9, R0, PT; @P3 BRK; BRA loop; out: EXIT",
     "0:f 1:f 2:f 3:1 4:e 1:e 2:e 3:2 4:c 1:c 2:c 3:4 4:8 1:8 2:8 3:8 5:f", NULL, {1, 2, 3, 4}, 0},
    {"BRK out of an SSY", "",
     "PBK out; SSY end; @P0 BRA t; IADD R9, R9, 1; NOP.S; t: BRK; end: IADD R9, R9, 4; BRK; out: EXIT",
     "0:f 1:f 2:3 5:3 3:c 4:c 6:c 7:c 8:f", "0:f 1:f 2:3 3:c 4:c 5:3 6:c 7:c 8:f", {0, 0, 5, 5}, 1},
    {"BRK to the innermost of two", "",
     "PBK o; PBK i; @P0 BRK; IADD R9, R9, 1; BRK; i: IADD R9, R9, 2; @P2 BRK; IADD R9, R9, 4; BRK; o: EXIT",
     "0:f 1:f 2:3 3:c 4:c 5:f 6:8 7:7 8:7 9:f", NULL, {6, 6, 7, 3}, 0},
    {"PCNT and CONT", "", "PCNT next; @P0 CONT; IADD R9, R9, 1; CONT; next: IADD R9, R9, 2; EXIT",
     "0:f 1:3 2:c 3:c 4:f 5:f", NULL, {2, 2, 3, 3}, 0},
    {"BRK passes a PCNT, CONT passes none", "",
     "PBK out; loop: PCNT next; @P2 BRK; @P0 CONT; IADD R9, R9, 1; CONT; next: IADD R9, R9, 2; "
     "ISETP.LT P3, PT, R9, 4, PT; "
     "@P3 BRA loop; BRK; out: EXIT",
     "0:f 1:f 2:8 3:3 4:4 5:4 6:7 7:7 8:7 1:7 2:0 3:3 4:4 5:4 6:7 7:7 8:0 9:7 10:f", NULL, {4, 4, 6, 0}, 0},
    {"CAL and RET, some lanes return early", "", "CAL f; IADD R9, R9, 1; EXIT; f: @P0 RET; IADD R9, R9, 2; RET",
     "0:f 3:3 4:c 5:c 1:f 2:f", NULL, {1, 1, 3, 3}, 0},
    {"a function has implicit reconvergence of its own", "",
     "SSY end; @P0 BRA t; CAL f; NOP.S; t: IADD R9, R9, 8; NOP.S; end: EXIT; f: @P2 BRA g; IADD R9, R9, 1; g: RET",
     "0:f 1:3 4:3 5:3 2:c 7:8 8:4 9:c 3:c 6:f", "0:f 1:3 2:c 7:8 8:4 9:c 3:c 4:3 5:3 6:f", {8, 8, 1, 0}, 2},
    {"recursion", "", "CAL f; EXIT; f: IADD R9, R9, 1; ISETP.GT P3, PT, R9, 2, PT; @P3 RET; CAL f; RET",
     "0:f 2:f 3:f 4:0 5:f 2:f 3:f 4:0 5:f 2:f 3:f 4:f 6:f 6:f 1:f", NULL, {3, 3, 3, 3}, 0},
    {"EXIT of some lanes on both sides", "",
     "SSY end; @P0 BRA t; @P1 EXIT; NOP.S; t: @P1 EXIT; NOP.S; end: IADD R9, R9, 1; EXIT",
     "0:f 1:3 4:1 5:2 2:4 3:8 6:a 7:a", "0:f 1:3 2:4 3:8 4:1 5:2 6:a 7:a", {0, 1, 0, 1}, 1},
    {"EXIT of a whole side", "", "SSY end; @P0 BRA t; NOP.S; t: EXIT; end: IADD R9, R9, 1; EXIT",
     "0:f 1:3 3:3 2:c 4:c 5:c", "0:f 1:3 2:c 3:3 4:c 5:c", {0, 0, 1, 1}, 1},
    {"EXIT of both sides: nobody joins", "", "SSY end; @P0 BRA t; EXIT; t: EXIT; end: IADD R9, R9, 1; EXIT",
     "0:f 1:3 3:3 2:c", "0:f 1:3 2:c 3:3", {0}, 1},
    {"EXIT.S of a whole side pops once", "",
     "SSY end; @P0 BRA t; IADD R9, R9, 2; NOP.S; t: EXIT.S; end: IADD R9, R9, 1; EXIT",
     "0:f 1:3 4:3 2:c 3:c 5:c 6:c", "0:f 1:3 2:c 3:c 4:3 5:c 6:c", {0, 0, 3, 3}, 1},
    {"EXIT.S of some lanes: the others join", "", "SSY end; @P0 EXIT.S; IADD R9, R9, 2; end: IADD R9, R9, 1; EXIT",
     "0:f 1:3 3:c 4:c", NULL, {0, 0, 1, 1}, 0},
    {"BRA.S: all join, none branch", "", "SSY end; @P0 BRA.S end; IADD R9, R9, 1; end: EXIT", "0:f 1:3 3:f", NULL,
     {0}, 0},
    {"BRK.S of a whole path pops once", "",
     "PBK out; SSY j; @P0 BRA t; IADD R9, R9, 1; NOP.S; t: BRK.S; j: IADD R9, R9, 2; BRK; out: EXIT",
     "0:f 1:f 2:3 5:3 3:c 4:c 6:c 7:c 8:f", "0:f 1:f 2:3 3:c 4:c 5:3 6:c 7:c 8:f", {0, 0, 3, 3}, 1},
};
/* clang-format on */

static const char *const orders[] = {"taken-first", "fallthrough-first"};

static void prepare(Lab *lab, uint32_t threads) {
  lab_launch(lab, 1, threads);
  lab_place(lab);
  static const uint32_t preds[] = {3, 5, 8};
  memcpy(lab_warp(lab, 0)->pred, preds, sizeof preds);
  for (unsigned lane = 0; lane < 32; lane++)
    lab_row(lab, 0, 0)[lane] = lane;
}

START_TEST(walks_as_told) {
  const Walk *walk = &walks[_i];
  for (unsigned order = 0; order < 2; order++) {
    g_autofree char *settings = g_strdup_printf("%s sm.simt_stack.branch_order=%s", walk->settings, orders[order]);
    g_autofree char *text = g_strconcat(".reg 10\n", walk->text, NULL);
    g_autoptr(Lab) lab = lab_new(settings, text);
    prepare(lab, 4);
    GpuStop stop = lab_run(lab);
    g_autofree char *path = lab_path(lab, 0);
    const char *right = order && walk->fallthrough_first ? walk->fallthrough_first : walk->taken_first;
    ck_assert_msg(stop == GPU_FINISHED && strcmp(path, right) == 0, "%s, %s:\n%s\nmust be\n%s\n%s", walk->what,
                  orders[order], path, right, stop == GPU_FAULT ? lab->gpu->fault.message : "");
    for (unsigned lane = 0; lane < 4; lane++)
      ck_assert_msg(lab_row(lab, 0, 9)[lane] == walk->r9[lane], "%s, %s: R9 of lane %u is %u", walk->what,
                    orders[order], lane, lab_row(lab, 0, 9)[lane]);
    ck_assert_msg(lab->gpu->counters.divergent_branches == walk->divergent, "%s, %s: %u divergent branches",
                  walk->what, orders[order], (unsigned)lab->gpu->counters.divergent_branches);
    ck_assert_msg(lab_warp(lab, 0)->depth == 0, "%s, %s: %u entries are left", walk->what, orders[order],
                  lab_warp(lab, 0)->depth);
  }
}
END_TEST

/* ---- the depth of the stack ---- */

/* None of these may grow the stack from round to round. */
static const char *const endless[] = {
    "loop: SSY next; @P0 BRA next; IADD R9, R9, 1; next: IADD R8, R8, 1; ISETP.LT P3, PT, R8, 500, PT; @P3 BRA loop; "
    "EXIT",
    "loop: SSY next; @P0 BRA a; NOP.S; a: NOP.S; next: IADD R8, R8, 1; ISETP.LT P3, PT, R8, 500, PT; @P3 BRA loop; "
    "EXIT",
    "loop: @P0 BRA a; NOP; a: IADD R8, R8, 1; ISETP.LT P3, PT, R8, 500, PT; @P3 BRA loop; EXIT",
    "loop: PCNT next; @P0 CONT; CONT; next: IADD R8, R8, 1; ISETP.LT P3, PT, R8, 500, PT; @P3 BRA loop; EXIT",
    "loop: PBK next; @P0 BRK; BRK; next: IADD R8, R8, 1; ISETP.LT P3, PT, R8, 500, PT; @P3 BRA loop; EXIT",
    "loop: CAL f; IADD R8, R8, 1; ISETP.LT P3, PT, R8, 500, PT; @P3 BRA loop; EXIT; f: @P0 RET; RET",
    "loop: IADD R8, R8, 1; IADD R7, R0, 490; ISETP.LT P3, PT, R8, R7, PT; @P3 BRA loop; EXIT",
};

START_TEST(loops_need_no_more_room) {
  for (unsigned order = 0; order < 2; order++) {
    g_autofree char *settings =
        g_strdup_printf("sm.simt_stack.depth=32 sm.simt_stack.branch_order=%s", orders[order]);
    g_autofree char *text = g_strconcat(".reg 10\n", endless[_i], NULL);
    g_autoptr(Lab) lab = lab_new(settings, text);
    prepare(lab, 4);
    lab_finish(lab);
    ck_assert_uint_ge(lab_row(lab, 0, 8)[3], 493);
  }
}
END_TEST

static const char *const pushes[] = {"SSY 0x0;", "PBK 0x0;", "PCNT 0x0;"};

START_TEST(one_entry_too_many_is_a_fault) {
  for (unsigned count = 32; count <= 33; count++) {
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < count; i++)
      g_string_append(text, pushes[_i]);
    g_string_append(text, "EXIT");
    g_autofree char *program = g_string_free(text, FALSE);
    g_autoptr(Lab) lab = lab_new("sm.simt_stack.depth=32", program);
    lab_launch(lab, 1, 32);
    if (count == 32)
      lab_finish(lab);
    else
      lab_expect_fault(lab, "the SIMT stack is full (32 entries)");
  }
}
END_TEST

/* clang-format off */
static const struct { const char *text, *words; } faults[] = {
    {"CAL f; EXIT; f: CAL f; RET", "the SIMT stack is full"},
    {"loop: PBK loop; BRA loop; EXIT", "the SIMT stack is full"},
    {"PBK end; NOP.S; end: EXIT", "top isn't a convergence point"},
    {"CAL f; EXIT; f: NOP.S; RET", "top isn't a convergence point"},
    {"SSY end; BRK; end: EXIT", "BRK without an enclosing PBK"},
    {"PBK end; CONT; end: EXIT", "CONT without an enclosing PCNT"},
    {"PCNT end; RET; end: EXIT", "RET without an enclosing CAL"},
};
/* clang-format on */

START_TEST(misuse_of_the_stack_is_a_fault) {
  g_autofree char *text = g_strconcat(".reg 10\n", faults[_i].text, NULL);
  g_autoptr(Lab) lab = lab_new("sm.simt_stack.depth=32 sm.simt_stack.branch_order=taken-first", text);
  lab_launch(lab, 1, 32);
  lab_expect_fault(lab, faults[_i].words);
}
END_TEST

/* 31 lanes that leave one by one, beside the SSY: exactly full. */
START_TEST(a_warp_needs_an_entry_for_each_path) {
  g_autoptr(Lab) lab =
      lab_new("sm.simt_stack.depth=32 sm.simt_stack.branch_order=taken-first",
              ".reg 10\nSSY end; loop: IADD R9, R9, 1; ISETP.LE P3, PT, R9, R0, PT; @P3 BRA loop; NOP.S; end: EXIT");
  prepare(lab, 32);
  lab_finish(lab);
}
END_TEST

/* Without an SSY, lanes that leave a loop wait in one entry, however many times they diverge. */
START_TEST(an_implicit_join_needs_one_entry) {
  g_autoptr(Lab) lab = lab_new("sm.simt_stack.depth=32",
                               ".reg 10\nPBK end; PBK end; loop: IADD R9, R9, 1; ISETP.LE P3, PT, R9, R0, PT; "
                               "@P3 BRA loop; IADD R9, R9, 1; BRK; end: EXIT");
  prepare(lab, 32);
  lab_finish(lab);
  for (unsigned lane = 0; lane < 32; lane++)
    ck_assert_uint_eq(lab_row(lab, 0, 9)[lane], lane + 2);
}
END_TEST

/* ---- time ---- */

/* A branch costs its own latency, another for the pop that changes the program counter, none for one that doesn't. */
START_TEST(changes_of_path_cost_a_branch) {
  g_autoptr(Lab) lab =
      lab_new("sm.issue_interval=2 sm.latency.branch_taken=30 sm.latency.branch_not_taken=11 "
              "sm.simt_stack.branch_order=taken-first",
              ".reg 10\nSSY end; @P0 BRA t; NOP; NOP.S; t: NOP; @!PT BRA t; NOP.S; end: NOP; SSY on; NOP.S; "
              "on: EXIT");
  prepare(lab, 4);
  lab_finish(lab);
  lab_expect_path(lab, 0, "0:f 1:3 4:3 5:0 6:3 2:c 3:c 7:f 8:f 9:f 10:f");
  static const uint64_t cycles[] = {0, 2, 2 + 30, 34, 34 + 11, 45 + 30, 77, 77 + 30, 109, 111, 113};
  for (unsigned i = 0; i < G_N_ELEMENTS(cycles); i++)
    ck_assert_msg(lab_issue(lab, i)->cycle == cycles[i], "issue %u at %d", i, (int)lab_issue(lab, i)->cycle);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("simt");
  TCase *tcase = tcase_create("simt");
  tcase_add_loop_test(tcase, walks_as_told, 0, G_N_ELEMENTS(walks));
  tcase_add_loop_test(tcase, loops_need_no_more_room, 0, G_N_ELEMENTS(endless));
  tcase_add_loop_test(tcase, one_entry_too_many_is_a_fault, 0, G_N_ELEMENTS(pushes));
  tcase_add_loop_test(tcase, misuse_of_the_stack_is_a_fault, 0, G_N_ELEMENTS(faults));
  tcase_add_test(tcase, a_warp_needs_an_entry_for_each_path);
  tcase_add_test(tcase, an_implicit_join_needs_one_entry);
  tcase_add_test(tcase, changes_of_path_cost_a_branch);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
