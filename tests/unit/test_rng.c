/* Random numbers: SplitMix64 by its published values, streams apart, no visible bias. */
#include <glib.h>
#include <stdlib.h>

#include "sim/engine/rng.h"
#include "tests/unit/unit.h"

/* The reference implementation's first outputs from state 1234567 (https://prng.di.unimi.it/splitmix64.c). */
START_TEST(is_splitmix64) {
  static const uint64_t right[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                   UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                   UINT64_C(16408922859458223821)};
  Rng rng = {.state = 1234567};
  for (unsigned i = 0; i < G_N_ELEMENTS(right); i++)
    ck_assert_uint_eq(rng_next(&rng), right[i]);
}
END_TEST

START_TEST(a_seed_repeats) {
  Rng a, b;
  rng_seed(&a, 42, 7);
  rng_seed(&b, 42, 7);
  for (unsigned i = 0; i < 1000; i++)
    ck_assert_uint_eq(rng_next(&a), rng_next(&b));
}
END_TEST

/* Neighbouring seeds and streams share no numbers, and their bits agree as often as chance has it. */
START_TEST(streams_are_apart) {
  enum { STREAMS = 40, NUMBERS = 50 };
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  unsigned agreeing = 0;
  for (uint64_t stream = 0; stream < STREAMS; stream++) {
    Rng rng, next_seed;
    rng_seed(&rng, stream / 8, stream % 8);
    rng_seed(&next_seed, stream / 8 + 100, stream % 8);
    for (unsigned i = 0; i < NUMBERS; i++) {
      uint64_t *number = g_new(uint64_t, 1);
      *number = rng_next(&rng);
      agreeing += (unsigned)__builtin_popcountll(*number ^ rng_next(&next_seed));
      ck_assert(g_hash_table_add(seen, number));
    }
  }
  double share = agreeing / (64.0 * STREAMS * NUMBERS);
  ck_assert_msg(share > 0.49 && share < 0.51, "%g", share);
}
END_TEST

START_TEST(below_stays_below_and_reaches_all) {
  static const uint32_t bounds[] = {1, 2, 3, 7, 10, 32, 100};
  Rng rng;
  rng_seed(&rng, 1, 2);
  for (unsigned b = 0; b < G_N_ELEMENTS(bounds); b++) {
    unsigned count[100] = {0};
    for (unsigned i = 0; i < 1000 * bounds[b]; i++) {
      uint32_t number = rng_below(&rng, bounds[b]);
      UNIT_ASSERT(number < bounds[b], "%u of %u", number, bounds[b]);
      count[number]++;
    }
    for (unsigned i = 0; i < bounds[b]; i++)
      ck_assert_msg(count[i] > 850 && count[i] < 1150, "%u of %u: %u times", i, bounds[b], count[i]);
  }
  ck_assert_uint_eq(rng_below(&rng, 0), 0);
  uint32_t most = 0;
  for (unsigned i = 0; i < 1000; i++) {
    uint32_t number = rng_below(&rng, UINT32_MAX);
    most = number > most ? number : most;
  }
  ck_assert_uint_gt(most, 0xfe000000);
}
END_TEST

/* A bijection: nothing collides, and one bit of input changes half of the output. */
START_TEST(mix_spreads_every_bit) {
  for (unsigned bit = 0; bit < 64; bit++) {
    unsigned changed = 0;
    for (uint64_t i = 0; i < 200; i++)
      changed += (unsigned)__builtin_popcountll(rng_mix(i * 977) ^ rng_mix(i * 977 ^ UINT64_C(1) << bit));
    ck_assert_msg(changed > 200 * 28 && changed < 200 * 36, "bit %u changes %g", bit, changed / 200.0);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("rng");
  TCase *tcase = tcase_create("rng");
  tcase_add_test(tcase, is_splitmix64);
  tcase_add_test(tcase, a_seed_repeats);
  tcase_add_test(tcase, streams_are_apart);
  tcase_add_test(tcase, below_stays_below_and_reaches_all);
  tcase_add_test(tcase, mix_spreads_every_bit);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
