/* When a warp spins: histories of places and values (spin_history.h), and what a scheduler does then
 * (spin_backoff.h). */
#include <glib.h>

#include "sim/core/spin_history.h"
#include "sim/core/state.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* ---- histories ---- */

typedef struct Compare {
  uint32_t pc, lane, a, b;
} Compare;

typedef struct Spinning {
  const char *what;
  Compare compares[24]; /* the rest zeros: pc 0 isn't used */
  const char *spins;    /* after each: '1' or '0' */
  uint32_t history, hash_bits;
} Spinning;

static const Spinning cases[] = {
    {"one comparison, the same", {{5, 0, 1, 0}, {5, 0, 1, 0}, {5, 0, 1, 0}}, "011", 8, 8},
    {"a counter", {{5, 0, 0, 9}, {5, 0, 1, 9}, {5, 0, 2, 9}, {5, 0, 3, 9}}, "0000", 8, 8},
    {"what it is compared with changes", {{5, 0, 9, 0}, {5, 0, 9, 1}, {5, 0, 9, 2}}, "000", 8, 8},
    {"two comparisons, the same",
     {{5, 0, 1, 0}, {7, 0, 2, 0}, {5, 0, 1, 0}, {7, 0, 2, 0}, {5, 0, 1, 0}, {7, 0, 2, 0}},
     "000111",
     8,
     8},
    {"two, and one of them counts",
     {{5, 0, 1, 0}, {7, 0, 2, 0}, {5, 0, 1, 0}, {7, 0, 3, 0}, {5, 0, 1, 0}, {7, 0, 4, 0}},
     "000000",
     8,
     8},
    {"the values come to another place",
     {{5, 0, 1, 0}, {7, 0, 1, 0}, {9, 0, 1, 0}, {11, 0, 1, 0}, {13, 0, 1, 0}},
     "00000",
     8,
     8},
    {"another way round, then the same",
     {{5, 0, 1, 0}, {7, 0, 1, 0}, {5, 0, 1, 0}, {9, 0, 1, 0}, {5, 0, 1, 0}, {9, 0, 1, 0}, {5, 0, 1, 0}},
     "0000011",
     8,
     8},
    {"a loop that fits",
     {{1, 0, 1, 0}, {2, 0, 1, 0}, {3, 0, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 0}, {3, 0, 1, 0}},
     "000001",
     3,
     8},
    {"a loop that doesn't",
     {{1, 0, 1, 0}, {2, 0, 1, 0}, {3, 0, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 0}, {3, 0, 1, 0}},
     "000000",
     2,
     8},
    {"what it waits for comes", {{5, 0, 1, 0}, {5, 0, 1, 0}, {5, 0, 0, 0}, {5, 0, 0, 0}}, "0101", 8, 8},
    {"another lane begins anew", {{5, 0, 1, 0}, {5, 0, 1, 0}, {5, 3, 1, 0}, {5, 3, 1, 0}}, "0101", 8, 8},
    {"two values of one hash", {{5, 0, 0, 9}, {5, 0, 0x101, 9}, {5, 0, 0x202, 9}}, "011", 8, 8},
    {"all bits tell them apart", {{5, 0, 0, 9}, {5, 0, 0x101, 9}, {5, 0, 0x202, 9}}, "000", 8, 32},
    {"two places of one hash", {{1, 0, 1, 0}, {0x100, 0, 1, 0}, {1, 0, 1, 0}}, "011", 8, 8},
    {"all bits tell these apart", {{1, 0, 1, 0}, {0x100, 0, 1, 0}, {1, 0, 1, 0}}, "000", 8, 32},
};

START_TEST(finds_spinning) {
  const Spinning *spinning = &cases[_i];
  g_autoptr(Machine) machine = machine_new_default();
  machine->sm.spin_backoff.history = spinning->history;
  machine->sm.spin_backoff.hash_bits = spinning->hash_bits;
  Gpu gpu = {.machine = machine};
  uint32_t rows[2 * WARP_LANES] = {0};
  Inst inst = {.op = OP_ISETP, .a = 0, .b = 1};
  SpinHistory history = {0};
  for (unsigned i = 0; spinning->compares[i].pc; i++) {
    const Compare *compare = &spinning->compares[i];
    rows[compare->lane] = compare->a;
    rows[WARP_LANES + compare->lane] = compare->b;
    Issue issue = {.inst = &inst, .regs = rows, .pc = compare->pc, .mask = UINT32_MAX << compare->lane, .gpu = &gpu};
    spin_history_add(&history, &issue);
    ck_assert_msg(spin_history_spins(&history) == (spinning->spins[i] == '1'), "%s: comparison %u", spinning->what,
                  i + 1);
  }
}
END_TEST

/* High words count. */
START_TEST(wide_values_differ_in_their_high_word) {
  g_autoptr(Machine) machine = machine_new_default();
  Gpu gpu = {.machine = machine};
  uint32_t rows[4 * WARP_LANES] = {0};
  Inst inst = {.op = OP_ISETP64, .a = 0, .b = 2};
  SpinHistory history = {0};
  for (unsigned i = 0; i < 5; i++) {
    rows[WARP_LANES] = i;
    Issue issue = {.inst = &inst, .regs = rows, .pc = 5, .mask = 1, .gpu = &gpu};
    spin_history_add(&history, &issue);
    ck_assert(!spin_history_spins(&history));
  }
}
END_TEST

/* ---- the scheduler ---- */

/* Warps wait for a word that the last one writes when it has counted. */
#define WAITS                                                                               \
  ".reg 12\n.shared 64\nS2R R0, SR_TID.X\nISETP.GE.AND P0, PT, R0, R5, PT\n@P0 BRA count\n" \
  "spin: LDS R1, [RZ]\nISETP.EQ.AND P1, PT, R1, RZ, PT\n@P1 BRA spin\nEXIT\n"               \
  "count: IADD R2, R2, 0x1\nISETP.LT.AND P1, PT, R2, R4, PT\n@P1 BRA count\nMOV R3, 0x1\nSTS [RZ], R3\nEXIT"
enum { WAITS_LOOK = 3, WAITS_COUNT = 7, TURNS = 400 };

static Lab *waiting(const char *settings, unsigned warps) {
  Lab *lab = lab_new(settings, WAITS);
  lab_launch(lab, 1, WARP_LANES * (warps + 1));
  lab_place(lab);
  for (unsigned i = 0; i < WARP_LANES * (warps + 1); i++) {
    lab_row(lab, i / WARP_LANES, 4)[i % WARP_LANES] = TURNS;
    lab_row(lab, i / WARP_LANES, 5)[i % WARP_LANES] = WARP_LANES * warps;
  }
  lab_finish(lab);
  return lab;
}

static uint64_t between(const Lab *lab, unsigned slot, uint32_t pc, unsigned turn) {
  return lab_cycle(lab, slot, pc, turn + 1) - lab_cycle(lab, slot, pc, turn);
}

/* The first round begins the history; behind four that repeat it the branch is a spin loop's. The first that is known
 * to be one begins the wait, the next has to keep it. */
START_TEST(holds_who_spins_back) {
  g_autoptr(Lab) lab =
      waiting("sm.spin_backoff.confidence=4 sm.spin_backoff.least=1000 sm.spin_backoff.most=1000", 1);
  for (unsigned turn = 0; turn < 5; turn++)
    ck_assert_uint_lt(between(lab, 0, WAITS_LOOK, turn), 200);
  for (unsigned turn = 5; turn < 9; turn++)
    ck_assert_uint_eq(between(lab, 0, WAITS_LOOK, turn), 1000);
  for (unsigned turn = 1; turn < TURNS - 2; turn++)
    ck_assert_uint_lt(between(lab, 1, WAITS_COUNT, turn), 100);
}
END_TEST

START_TEST(holds_nobody_back_without) {
  g_autoptr(Lab) lab = waiting("", 1);
  for (unsigned turn = 0; turn < 20; turn++)
    ck_assert_uint_lt(between(lab, 0, WAITS_LOOK, turn), 200);
}
END_TEST

/* More warps spin than the scheduler can serve. By turns the one that counts waits for all of them. */
START_TEST(who_spins_comes_last) {
  enum { SPINNING = 16 };
  const char *settings = "sm.schedulers=1 sm.latency.alu=1 sm.latency.branch_taken=1 sm.shared.latency=1 "
                         "sm.policy=%s sm.spin_backoff.confidence=%d sm.spin_backoff.least=1 sm.spin_backoff.most=1";
  g_autofree char *with = g_strdup_printf(settings, "loose-round-robin", 4);
  g_autofree char *without = g_strdup_printf(settings, "loose-round-robin", 0);
  g_autoptr(Lab) behind = waiting(with, SPINNING);
  g_autoptr(Lab) beside = waiting(without, SPINNING);
  uint64_t held = lab_cycle(behind, SPINNING, WAITS_COUNT, TURNS - 1),
           free = lab_cycle(beside, SPINNING, WAITS_COUNT, TURNS - 1);
  ck_assert_msg(2 * held < free, "%s: %d cycles, %d without", with, (int)held, (int)free);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("spin_history");
  TCase *tcase = tcase_create("spin_history");
  tcase_add_loop_test(tcase, finds_spinning, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, wide_values_differ_in_their_high_word);
  tcase_add_test(tcase, holds_who_spins_back);
  tcase_add_test(tcase, holds_nobody_back_without);
  tcase_add_test(tcase, who_spins_comes_last);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
