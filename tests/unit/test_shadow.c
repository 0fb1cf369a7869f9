/* What a cell keeps of the accesses to a word: who has observed a write, with few accesses and with more than it has
 * room for. */
#include <glib.h>

#include "sim/detect/race/shadow.h"
#include "tests/unit/unit.h"

enum { WRITER = 1, OBSERVER = 2, READER = 3, OTHERS = 10 };

static bool before(const void *user, const Access *earlier) { return false; }
static bool handed(const void *user, const Access *earlier) { return earlier->actor == WRITER; }
static Nearness nearness(const void *user, const Access *earlier) { return ON_ONE_GPU; }

static Access access_of(uint32_t actor, uint32_t number, bool write) {
  return (Access){.cycle = number,
                  .actor = actor,
                  .time = 1,
                  .lanes = 1,
                  .pc = 7,
                  .chain = number,
                  .bytes = CELL_BYTES,
                  .write = write,
                  .flying = true,
                  .open = !write,
                  .strong = ACCESS_STRONG_ON_GPU};
}

static AccessOrder order_of(const Access *access, const VClock *clock) {
  return (AccessOrder){.actor = access->actor,
                       .clock = clock,
                       .clock_has_all = true,
                       .before = before,
                       .handed = handed,
                       .nearness = nearness,
                       .farthest = ON_ONE_GPU,
                       .reads = !access->write};
}

static void issue(Shadow *shadow, Cell *cell, const Access *access) {
  VClock nothing = {0};
  AccessOrder order = order_of(access, &nothing);
  ck_assert_uint_eq(shadow_issue(shadow, cell, access, &order, NULL, 0), 0);
}

static void perform(Shadow *shadow, Cell *cell, const Access *access) {
  VClock nothing = {0};
  AccessOrder order = order_of(access, &nothing);
  shadow_perform(shadow, cell, access, &order);
}

/* READER, which comes after OBSERVER, reads the word: whether it relies on a write that nothing orders before it. */
static bool relies(Cell *cell, bool knows_observer) {
  VClock clock = {0};
  Access read = access_of(READER, 500, false), found;
  AccessOrder order = order_of(&read, &clock);
  bool missed;
  if (knows_observer)
    vclock_advance(&clock, OBSERVER, 1);
  read.chain = shadow_chain(cell, CELL_BYTES);
  bool is_reliance = shadow_relies(cell, &read, &order, &found, &missed);
  vclock_clear(&clock);
  return is_reliance;
}

/* OBSERVER reads what WRITER writes, while `others` warps have reads of the word under way. */
static Cell *observed(Shadow *shadow, uint32_t others) {
  Cell *cell = shadow_cell(shadow, 40);
  Access write = access_of(WRITER, 1, true), read = access_of(OBSERVER, 2, false);
  issue(shadow, cell, &read);
  for (uint32_t i = 0; i < others; i++) {
    Access other = access_of(OTHERS + i, 3 + i, false);
    issue(shadow, cell, &other);
  }
  issue(shadow, cell, &write);
  perform(shadow, cell, &write);
  perform(shadow, cell, &read);
  return cell;
}

START_TEST(who_comes_after_an_observer_relies_on_nothing) {
  Shadow shadow;
  shadow_init(&shadow);
  Cell *cell = observed(&shadow, (uint32_t)_i);
  ck_assert_msg(!relies(cell, true), "%d others read the word", _i);
  shadow_clear(&shadow);
}
END_TEST

START_TEST(others_do) {
  Shadow shadow;
  shadow_init(&shadow);
  Cell *cell = observed(&shadow, 8);
  ck_assert(relies(cell, false));
  shadow_clear(&shadow);
}
END_TEST

/* The cell has room again: what is written now and seen by nobody is told. */
START_TEST(a_later_write_is_told_again) {
  Shadow shadow;
  shadow_init(&shadow);
  Cell *cell = observed(&shadow, 2 * CELL_ACCESSES_MAX);
  Access write = access_of(WRITER, 300, true);
  write.time = 2;
  issue(&shadow, cell, &write);
  perform(&shadow, cell, &write);
  ck_assert(relies(cell, false));
  shadow_clear(&shadow);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("shadow");
  TCase *tcase = tcase_create("observers");
  tcase_add_loop_test(tcase, who_comes_after_an_observer_relies_on_nothing, 0, 2 * CELL_ACCESSES_MAX);
  tcase_add_test(tcase, others_do);
  tcase_add_test(tcase, a_later_write_is_told_again);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
