/* The timing wheel against an array of waking times: nobody wakes early, late or twice. */
#include <glib.h>
#include <stdlib.h>

#include "sim/engine/rng.h"
#include "sim/engine/wheel.h"
#include "tests/unit/unit.h"

START_TEST(wakes_in_the_cycle) {
  static const uint64_t sleeps[] = {0, 1, 2, 63, 64, 65, 254, 255, 256, 257, 511, 512, 513, 1000, 100000};
  for (unsigned start = 0; start < 300; start += 37) {
    for (unsigned i = 0; i < G_N_ELEMENTS(sleeps); i++) {
      Wheel wheel;
      wheel_init(&wheel);
      ck_assert(wheel_advance(&wheel, start) == 0);
      uint64_t wake = start + sleeps[i], steps = 0;
      WarpSet woken = 0;
      wheel_insert(&wheel, i % 2 ? 63 : WARP_SET_MAX - 1, wake);
      while (!woken) {
        uint64_t next = wheel_next(&wheel);
        ck_assert_msg(next <= wake && steps++ < sleeps[i] / 200 + 3, "sleep of %d from %u", (int)sleeps[i], start);
        woken = wheel_advance(&wheel, next);
        ck_assert_msg((woken != 0) == (next == wake), "sleep of %d from %u: woken in %d", (int)sleeps[i], start,
                      (int)next);
      }
      ck_assert(woken == (WarpSet)1 << (i % 2 ? 63 : WARP_SET_MAX - 1) && wheel_next(&wheel) == WHEEL_NEVER);
    }
  }
}
END_TEST

START_TEST(an_empty_wheel_never_wakes) {
  Wheel wheel;
  wheel_init(&wheel);
  ck_assert(wheel_next(&wheel) == WHEEL_NEVER);
  ck_assert(wheel_advance(&wheel, 123456) == 0);
  ck_assert(wheel_next(&wheel) == WHEEL_NEVER);
  ck_assert_uint_eq(wheel.now, 123456);
}
END_TEST

START_TEST(the_past_is_now) {
  Wheel wheel;
  wheel_init(&wheel);
  wheel_advance(&wheel, 1000);
  wheel_insert(&wheel, 3, 10);
  ck_assert_uint_eq(wheel_next(&wheel), 1000);
  ck_assert(wheel_advance(&wheel, 1000) == 8);
}
END_TEST

START_TEST(all_at_once) {
  Wheel wheel;
  wheel_init(&wheel);
  for (unsigned sleeper = 0; sleeper < WARP_SET_MAX; sleeper++)
    wheel_insert(&wheel, sleeper, 300 + sleeper / 32);
  ck_assert(wheel_advance(&wheel, 299) == 0);
  ck_assert(wheel_advance(&wheel, 300) == 0xffffffff);
  ck_assert(wheel_advance(&wheel, 301) == (uint64_t)0xffffffff << 32);
  ck_assert(wheel_advance(&wheel, 303) == (WarpSet)UINT64_MAX << 64);
}
END_TEST

/* Sleeps of all lengths, some called off; steps to the next waking cycle, short of it, and far beyond. */
START_TEST(agrees_with_an_array) {
  Wheel wheel;
  Rng rng;
  uint64_t wake[WARP_SET_MAX], now = 0;
  static const uint32_t ranges[] = {3, 40, 256, 300, 2000, 100000};
  for (unsigned i = 0; i < WARP_SET_MAX; i++)
    wake[i] = WHEEL_NEVER;
  wheel_init(&wheel);
  rng_seed(&rng, 5, (uint64_t)_i);
  for (unsigned step = 0; step < 20000; step++) {
    unsigned sleeper = rng_below(&rng, WARP_SET_MAX);
    if (wake[sleeper] == WHEEL_NEVER && rng_below(&rng, 3)) {
      wake[sleeper] = now + rng_below(&rng, ranges[rng_below(&rng, (uint32_t)_i + 1)]);
      wheel_insert(&wheel, sleeper, wake[sleeper]);
      continue;
    }
    if (wake[sleeper] != WHEEL_NEVER && rng_below(&rng, 8) == 0) {
      wheel_remove(&wheel, sleeper);
      wake[sleeper] = WHEEL_NEVER;
      continue;
    }
    WarpSet due = 0;
    uint64_t first = WHEEL_NEVER, next = wheel_next(&wheel);
    for (unsigned i = 0; i < WARP_SET_MAX; i++)
      first = wake[i] < first ? wake[i] : first;
    UNIT_ASSERT(next <= first && (next == WHEEL_NEVER) == (first == WHEEL_NEVER) && next >= now, "step %u", step);
    if (next == WHEEL_NEVER || rng_below(&rng, 4) == 0)
      next = now + rng_below(&rng, 700);
    for (unsigned i = 0; i < WARP_SET_MAX; i++)
      if (wake[i] <= next) {
        warp_set_add(&due, i);
        wake[i] = WHEEL_NEVER;
      }
    now = next;
    UNIT_ASSERT(wheel_advance(&wheel, now) == due, "step %u, cycle %d", step, (int)now);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("wheel");
  TCase *tcase = tcase_create("wheel");
  tcase_add_test(tcase, wakes_in_the_cycle);
  tcase_add_test(tcase, an_empty_wheel_never_wakes);
  tcase_add_test(tcase, the_past_is_now);
  tcase_add_test(tcase, all_at_once);
  tcase_add_loop_test(tcase, agrees_with_an_array, 0, 6);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
