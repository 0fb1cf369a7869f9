/* One warp is held up once, at each of a launch's places (hold_once.h). */
#include <glib.h>

#include "sim/core/hold_once.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

enum { HELD = 5000, BLOCKS = 2, THREADS = 64, WARPS = BLOCKS * THREADS / 32, PASSED = 3 };

/* A store, an atomic operation and a barrier in a loop of two rounds, and one addition. */
static const char text[] =
    "MOV R1, c[0x0][0x20]; MOV R2, 2; l: ST.WT [R1], R2; ATOM.ADD R3, [R1+0x4], R2; BAR.SYNC 0; "
    "IADD R2, R2, -1; ISETP.NE P0, PT, R2, RZ, PT; @P0 BRA l; EXIT";
static const uint32_t places[PASSED] = {2, 3, 4};

static Lab *launched(unsigned number) {
  g_autofree char *settings = g_strdup_printf("sm.held_up=%d sm.held_once=%u", number ? HELD : 0, number);
  Lab *lab = lab_new(settings, text);
  lab_buffer(lab, 64);
  lab_launch(lab, BLOCKS, THREADS);
  return lab;
}

/* How long the warp took from `pc` on, the nth time, to its next instruction. */
static uint64_t pause_behind(const Lab *lab, uint64_t block, uint32_t warp, uint32_t pc, unsigned nth) {
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    if (issue->block != block || issue->warp != warp || issue->pc != pc || nth-- > 0)
      continue;
    for (guint k = i + 1; k < lab->trace->len; k++)
      if (lab_issue(lab, k)->block == block && lab_issue(lab, k)->warp == warp)
        return lab_issue(lab, k)->cycle - issue->cycle;
  }
  ck_abort_msg("the warp never came there");
  return 0;
}

START_TEST(each_place_is_one_warp_and_one_time) {
  g_autoptr(Lab) plain = launched(0);
  uint64_t count = hold_once_places(program_kernel(plain->program, 0), DIALECT_FERMI_SASS, WARPS);
  unsigned found[BLOCKS][THREADS / 32][PASSED][2] = {0}, starts = 0;
  ck_assert_uint_eq(count, 2 * WARPS * (PASSED + 1));
  for (unsigned number = 1; number <= count; number++) {
    g_autoptr(Lab) lab = launched(number);
    lab_finish(lab);
    starts += lab->gpu->hold.pc == HOLD_START && hold_once_was(lab->gpu);
    for (unsigned block = 0; block < BLOCKS; block++)
      for (unsigned warp = 0; warp < THREADS / 32; warp++)
        for (unsigned place = 0; place < PASSED - 1; place++) /* at the barrier the others wait, too */
          for (unsigned nth = 0; nth < 2; nth++)
            found[block][warp][place][nth] += pause_behind(lab, block, warp, places[place], nth) >= HELD;
  }
  for (unsigned block = 0; block < BLOCKS; block++)
    for (unsigned warp = 0; warp < THREADS / 32; warp++)
      for (unsigned i = 0; i < 2 * (PASSED - 1); i++)
        ck_assert_msg(found[block][warp][i / 2][i % 2] == 1, "block %u, warp %u, place %u, time %u: %u runs", block,
                      warp, i / 2, i % 2, found[block][warp][i / 2][i % 2]);
  ck_assert_uint_eq(starts, WARPS);
}
END_TEST

START_TEST(beyond_the_last_nobody_is) {
  g_autoptr(Lab) lab = launched(2 * WARPS * (PASSED + 1) + 1), plain = launched(0);
  lab_finish(lab);
  lab_finish(plain);
  ck_assert(!hold_once_was(lab->gpu));
  ck_assert_uint_eq(lab->gpu->end_cycle, plain->gpu->end_cycle);
}
END_TEST

START_TEST(places_go_on_with_the_next_launch) {
  g_autofree char *settings = g_strdup_printf("sm.held_up=%d sm.held_once=%d", HELD, 2 * WARPS * (PASSED + 1) + 1);
  g_autoptr(Lab) lab = lab_new(settings, text);
  lab_buffer(lab, 64);
  lab_launch(lab, BLOCKS, THREADS);
  lab_launch(lab, BLOCKS, THREADS);
  lab_finish(lab);
  ck_assert(hold_once_was(lab->gpu));
  ck_assert_uint_eq(lab->gpu->hold.launch->index, 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("hold_once");
  TCase *tcase = tcase_create("hold_once");
  tcase_add_test(tcase, each_place_is_one_warp_and_one_time);
  tcase_add_test(tcase, beyond_the_last_nobody_is);
  tcase_add_test(tcase, places_go_on_with_the_next_launch);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
