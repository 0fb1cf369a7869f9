#include "sim/study/correlation.h"
#include "tests/unit/unit.h"

#include <math.h>

enum { PAIRS = 5 };

typedef struct Case {
  double a[PAIRS], b[PAIRS];
  bool defined;
  double expected;
} Case;

/* The third by hand: ranks 1 2 3 4 5 against 2 1 4 3 5, d^2 = 1 1 1 1 0, 1 - 6 * 4 / (5 * 24). The fourth has a tie:
 * ranks 1 2.5 2.5 4 5 against 1 2 3 4 5, Pearson 9.5 / sqrt(9.5 * 10). */
static const Case cases[] = {
    {{1, 2.6, 0.8, 4, 2}, {10, 26, 8, 400, 20}, true, 1}, {{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}, true, -1},
    {{1, 2, 3, 4, 5}, {2, 1, 4, 3, 5}, true, 0.8},        {{1, 2, 2, 3, 4}, {1, 2, 3, 4, 5}, true, 0.974679434},
    {{1, 2, 3, 4, 5}, {7, 7, 7, 7, 7}, false, 0},
};

START_TEST(gives_the_rank_correlation) {
  const Case *c = &cases[_i];
  double correlation;
  bool defined = correlation_of_ranks(c->a, c->b, PAIRS, &correlation);
  ck_assert_msg(defined == c->defined, "case %d", _i);
  ck_assert_msg(fabs(correlation - c->expected) < 1e-9, "case %d: %g", _i, correlation);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("correlation");
  TCase *tcase = tcase_create("correlation");
  tcase_add_loop_test(tcase, gives_the_rank_correlation, 0, G_N_ELEMENTS(cases));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
