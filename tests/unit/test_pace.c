/* Whether sharing pays: the quicker way gets nearly all portions, and a change of the host is seen (pace.h). */
#include "sim/engine/pace.h"
#include "tests/unit/unit.h"

/* Of `portions`, those that were shared. Work of a portion changes from one to the next. */
static unsigned shared_of(Pace *pace, unsigned portions, unsigned shared_cost, unsigned alone_cost) {
  unsigned shared = 0;
  for (unsigned i = 0; i < portions; i++) {
    uint64_t work = 100 + i * 37 % 50;
    bool shares = pace_shares(pace);
    shared += shares;
    pace_note(pace, work, work * (shares ? shared_cost : alone_cost));
  }
  return shared;
}

START_TEST(begins_with_sharing) {
  Pace pace = {0};
  ck_assert(pace_shares(&pace));
}
END_TEST

START_TEST(shares_where_that_is_quicker) {
  Pace pace = {0};
  ck_assert_uint_gt(shared_of(&pace, 10000, 60, 100), 9900);
}
END_TEST

START_TEST(goes_alone_where_that_is_quicker) {
  Pace pace = {0};
  ck_assert_uint_lt(shared_of(&pace, 10000, 120, 100), 100);
}
END_TEST

/* Where both are about as quick a try of the other comes once in some thousand portions. */
START_TEST(tries_seldom) {
  Pace pace = {0};
  unsigned shared = shared_of(&pace, 100000, 98, 100);
  ck_assert_uint_gt(shared, 96000);
  ck_assert_uint_lt(shared, 98000);
}
END_TEST

START_TEST(sees_the_host_change) {
  Pace pace = {0};
  shared_of(&pace, 10000, 120, 100);
  unsigned behind = shared_of(&pace, 10000, 60, 100);
  ck_assert_uint_gt(behind, 1500);
  ck_assert_uint_gt(shared_of(&pace, 10000, 60, 100), 9900);
  shared_of(&pace, 10000, 150, 100);
  ck_assert_uint_lt(shared_of(&pace, 10000, 150, 100), 100);
}
END_TEST

/* The first portions of a turn, while caches settle, don't count; nor does what did no work. */
START_TEST(looks_past_what_settles) {
  Pace pace = {0};
  for (unsigned i = 0; i < 8; i++)
    pace_note(&pace, 1, 1000000);
  ck_assert_uint_gt(shared_of(&pace, 5000, 60, 100), 4900);
  Pace idle = {0};
  for (unsigned i = 0; i < 100; i++)
    pace_note(&idle, 0, 50);
  ck_assert(pace_shares(&idle));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("pace");
  TCase *tcase = tcase_create("pace");
  tcase_add_test(tcase, begins_with_sharing);
  tcase_add_test(tcase, shares_where_that_is_quicker);
  tcase_add_test(tcase, goes_alone_where_that_is_quicker);
  tcase_add_test(tcase, tries_seldom);
  tcase_add_test(tcase, sees_the_host_change);
  tcase_add_test(tcase, looks_past_what_settles);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
