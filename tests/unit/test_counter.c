/* The table of counters: names, units, and which field each one reads. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/counter.h"
#include "tests/unit/unit.h"

START_TEST(reads_its_own_field) {
  Counters counters;
  unsigned i = 0;
#define COUNTER(name, unit, doc) counters.name = 1000 + i++;
#include "sim/engine/counters.def"
  ck_assert_uint_eq(i, COUNTER_COUNT);
  for (i = 0; i < COUNTER_COUNT; i++)
    ck_assert_msg(counter_value(&counters, i) == 1000 + i, "%s", counter_info[i].name);
  ck_assert_str_eq(counter_info[COUNTER_lock_bits].name, "lock_bits");
  ck_assert_uint_eq(counter_value(&counters, COUNTER_lock_bits), counters.lock_bits);
}
END_TEST

START_TEST(is_documented) {
  for (unsigned i = 0; i < COUNTER_COUNT; i++) {
    const CounterInfo *info = &counter_info[i];
    ck_assert_msg(strlen(info->name) > 2 && strlen(info->unit) > 2 && strlen(info->doc) > 10, "counter %u", i);
    for (unsigned other = 0; other < i; other++)
      ck_assert_msg(strcmp(info->name, counter_info[other].name) != 0 &&
                        strcmp(info->doc, counter_info[other].doc) != 0,
                    "%s", info->name);
  }
}
END_TEST

START_TEST(has_no_more_than_that) {
  Counters counters = {0};
  unit_expect_precondition("counter-index");
  counter_value(&counters, COUNTER_COUNT);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("counter");
  TCase *tcase = tcase_create("counter");
  tcase_add_test(tcase, reads_its_own_field);
  tcase_add_test(tcase, is_documented);
  unit_add_precondition_test(tcase, has_no_more_than_that);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
