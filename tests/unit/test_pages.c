/* Large arrays: zeros at first, and the same words in small pages and in large ones. */
#include "base/pages.h"
#include "tests/unit/unit.h"

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
  tcase_add_test(tcase, nothing_is_fine);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
