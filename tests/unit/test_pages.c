/* Large arrays: zeros at first, and the same words in small pages and in large ones. */
#include "base/pages.h"
#include "tests/unit/unit.h"

#include <glib.h>
#include <stdint.h>

/* Words of arrays below a page, of some pages, of some large pages; every so many are written. */
static const struct {
  uint32_t words, step;
} cases[] = {{1, 1}, {1 << 15, 1}, {3 << 20, 1}, {3 << 20, 4096}, {3 << 20, 1 << 20}, {(1 << 19) - 16, 1}};

START_TEST(words_stay) {
  uint32_t words = cases[_i].words, step = cases[_i].step, *array = PAGES_NEW(uint32_t, words);
  for (uint32_t i = 0; i < words; i += step)
    array[i] = ~i;
  pages_enlarge(array);
  for (uint32_t i = 0; i < words; i++)
    UNIT_ASSERT(array[i] == (i % step ? 0 : ~i), "case %d, word %u: %u", _i, i, array[i]);
  array[words - 1] = 1;
  pages_enlarge(array);
  UNIT_ASSERT(array[words - 1] == 1, "case %d, the last word: %u", _i, array[words - 1]);
  pages_free(array);
}
END_TEST

/* What an array held that was freed isn't in the next one of its size, which may have its memory. */
START_TEST(zeros_again) {
  uint32_t words = cases[_i].words, step = cases[_i].step;
  for (int round = 0; round < 3; round++) {
    uint32_t *array = PAGES_NEW(uint32_t, words);
    for (uint32_t i = 0; i < words; i++)
      UNIT_ASSERT(!array[i], "case %d, round %d, word %u: %u", _i, round, i, array[i]);
    for (uint32_t i = round; i < words; i += step)
      array[i] = ~i;
    pages_free(array);
  }
}
END_TEST

/* More arrays at once than are kept, freed and made again with other sizes. */
START_TEST(many_sizes) {
  enum { ARRAYS = 24, WORDS = 3 << 20 };
  uint32_t *arrays[ARRAYS];
  for (uint32_t round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < ARRAYS; i++) {
      uint32_t words = WORDS - 1024 * (i % 5 * round);
      arrays[i] = PAGES_NEW(uint32_t, words);
      for (uint32_t word = 0; word < words; word += 512) {
        UNIT_ASSERT(!arrays[i][word], "round %u, array %u, word %u: %u", round, i, word, arrays[i][word]);
        arrays[i][word] = i + 1;
      }
    }
    for (uint32_t i = 0; i < ARRAYS; i++) {
      UNIT_ASSERT(arrays[i][0] == i + 1, "round %u, array %u: %u", round, i, arrays[i][0]);
      pages_free(arrays[i]);
    }
  }
}
END_TEST

/* What was given back comes again as zeros, and more than is kept does too. */
START_TEST(reserves_are_zeros_again) {
  enum { MOST = 1 << 20, HELD = 6 };
  static const size_t used[] = {0, 1, 5000, MOST};
  uint64_t *reserve[HELD];
  size_t count;
  for (guint i = 0; i < 2 * G_N_ELEMENTS(used); i++) {
    size_t written = used[i / 2];
    for (guint k = 0; k < HELD; k++) {
      reserve[k] = pages_reserve(MOST, sizeof *reserve[k], &count);
      ck_assert_uint_eq(count, MOST);
      for (size_t at = 0; at < MOST; at += 499)
        UNIT_ASSERT(reserve[k][at] == 0, "element %zu of reserve %u in round %u", at, k, i);
      for (size_t at = 0; at < written; at += 7)
        reserve[k][at] = at + k + 1;
    }
    for (guint k = 0; k < HELD; k++) {
      for (size_t at = 0; at < written; at += 7)
        UNIT_ASSERT(reserve[k][at] == at + k + 1, "element %zu of reserve %u in round %u", at, k, i);
      pages_give_back(reserve[k], count, sizeof *reserve[k], written);
    }
  }
}
END_TEST

START_TEST(nothing_is_fine) {
  pages_enlarge(NULL);
  pages_free(NULL);
  void *none = pages_new(0, 1);
  pages_enlarge(none);
  pages_free(none);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("pages");
  TCase *tcase = tcase_create("pages");
  tcase_add_loop_test(tcase, words_stay, 0, (int)(sizeof cases / sizeof cases[0]));
  tcase_add_loop_test(tcase, zeros_again, 0, (int)(sizeof cases / sizeof cases[0]));
  tcase_add_test(tcase, many_sizes);
  tcase_add_test(tcase, reserves_are_zeros_again);
  tcase_add_test(tcase, nothing_is_fine);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
