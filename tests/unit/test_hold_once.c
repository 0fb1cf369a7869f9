/* One warp is held up once, at each of the places of its launches (hold_once.h, place_log.h). */
#include <glib.h>

#include "sim/core/hold_once.h"
#include "sim/study/place_log.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

enum { HELD = 5000, BLOCKS = 2, THREADS = 64, BLOCK_WARPS = THREADS / 32, WARPS = BLOCKS * BLOCK_WARPS, ROUNDS = 3 };
enum { STORE = 2, ATOMIC = 3, BARRIER = 4, PLACES = 4 /* with the start */, ALL = WARPS * PLACES };

static const char text[] =
    "MOV R1, c[0x0][0x20]; MOV R2, 3; l: ST.WT [R1], R2; ATOM.ADD R3, [R1+0x4], R2; BAR.SYNC 0; "
    "IADD R2, R2, -1; ISETP.NE P0, PT, R2, RZ, PT; @P0 BRA l; EXIT";

static Lab *launched(uint32_t number, unsigned launches) {
  g_autofree char *settings = g_strdup_printf("sm.held_up=%d sm.held_once=%u", number ? HELD : 0, number);
  Lab *lab = lab_new(settings, text);
  lab_buffer(lab, 64);
  for (unsigned i = 0; i < launches; i++)
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

/* Which of the warps stands still where: the store and the atomic operation; at the barrier the others wait, too. */
START_TEST(each_number_is_one_warp_and_one_time) {
  static const uint32_t pcs[] = {STORE, ATOMIC};
  unsigned starts = 0;
  for (uint32_t number = 1; number <= ROUNDS * ALL; number++) {
    g_autoptr(Lab) lab = launched(number, 1);
    unsigned found = 0;
    lab_finish(lab);
    const HoldOnce *hold = &lab->gpu->hold;
    starts += hold->pc == HOLD_START && hold_once_was(lab->gpu);
    for (unsigned warp = 0; warp < WARPS; warp++)
      for (unsigned place = 0; place < G_N_ELEMENTS(pcs); place++)
        for (unsigned time = 0; time < ROUNDS; time++) {
          if (pause_behind(lab, warp / BLOCK_WARPS, warp % BLOCK_WARPS, pcs[place], time) < HELD)
            continue;
          found++;
          ck_assert_uint_eq(hold_once_number(lab->gpu, gpu_launch(lab->gpu, 0), pcs[place], warp, time), number);
        }
    ck_assert_msg(found == (hold->pc == STORE || hold->pc == ATOMIC), "number %u: %u pauses", number, found);
  }
  ck_assert_uint_eq(starts, WARPS);
}
END_TEST

START_TEST(a_time_that_never_comes_holds_nobody) {
  g_autoptr(Lab) lab = launched(ROUNDS * ALL + WARPS + 1, 1), plain = launched(0, 1);
  lab_finish(lab);
  lab_finish(plain);
  ck_assert_uint_eq(lab->gpu->hold.passes, 0); /* three of three times it passed */
  ck_assert(!hold_once_was(lab->gpu));
  ck_assert_uint_eq(lab->gpu->end_cycle, plain->gpu->end_cycle);
}
END_TEST

START_TEST(launches_have_numbers_in_a_row) {
  g_autoptr(Lab) first = launched(ALL, 2), second = launched(ALL + 1, 2), again = launched(2 * ALL + 1, 2);
  lab_finish(first);
  lab_finish(second);
  lab_finish(again);
  ck_assert_uint_eq(first->gpu->hold.launch->index, 0);
  ck_assert_uint_eq(first->gpu->hold.pc, BARRIER);
  ck_assert_uint_eq(second->gpu->hold.launch->index, 1);
  ck_assert_uint_eq(second->gpu->hold.pc, HOLD_START);
  ck_assert_uint_eq(again->gpu->hold.launch->index, 0);
}
END_TEST

/* What a run's warps came by is numbered for the first time, the last and the second one, each number once. */
START_TEST(a_log_has_each_place_once) {
  g_autoptr(Lab) lab = launched(0, 1);
  PlaceLog *log = place_log_new();
  gpu_subscribe(lab->gpu, place_log_probe(log));
  lab_finish(lab);
  g_autoptr(GArray) all = place_log_numbers(log, G_MAXUINT), few = place_log_numbers(log, 5);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_direct_hash, g_direct_equal);
  ck_assert_uint_eq(all->len, ALL + 2 * WARPS * (PLACES - 1));
  ck_assert_uint_eq(few->len, 5);
  for (guint i = 0; i < all->len; i++) {
    uint32_t number = g_array_index(all, uint32_t, i), time = (number - 1) / ALL;
    ck_assert(g_hash_table_add(seen, GUINT_TO_POINTER(number)));
    ck_assert_uint_eq(time, i < ALL ? 0 : i < ALL + WARPS * (PLACES - 1) ? ROUNDS - 1 : 1);
  }
  place_log_free(log);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("hold_once");
  TCase *tcase = tcase_create("hold_once");
  tcase_add_test(tcase, each_number_is_one_warp_and_one_time);
  tcase_add_test(tcase, a_time_that_never_comes_holds_nobody);
  tcase_add_test(tcase, launches_have_numbers_in_a_row);
  tcase_add_test(tcase, a_log_has_each_place_once);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
