/* Members of convergence barriers whose records functions save and restore (sync_records.h). */
#include <glib.h>

#include "sim/core/sync_records.h"
#include "tests/unit/unit.h"

enum { ALL = 0xf, LANE = 1, BARRIER = 6 };

typedef struct Sheet {
  SyncRecords records;
  SyncRecord record[CONVERGENCE_BARRIERS * WARP_LANES];
} Sheet;

static SyncRecords *sheet_init(Sheet *sheet) {
  *sheet = (Sheet){.records = {.stride = WARP_LANES}};
  sheet->records.record = sheet->record;
  return &sheet->records;
}

/* As a BMOV that saves: what the register gets. */
static uint32_t save(SyncRecords *records) {
  uint32_t members = sync_records_of(records, BARRIER, LANE);
  records->saved[BARRIER] |= LANE;
  return members;
}

START_TEST(who_saved_a_record_is_waited_for) {
  Sheet sheet;
  SyncRecords *records = sheet_init(&sheet);
  sync_records_begin(records, BARRIER, ALL);
  uint32_t members = save(records);
  ck_assert_uint_eq(members, ALL);
  sync_records_begin(records, BARRIER, LANE);
  ck_assert_uint_eq(sync_records_members(records, BARRIER, 0), LANE);
  ck_assert_uint_eq(sync_records_members(records, BARRIER, 1), ALL);
  ck_assert_uint_eq(sync_records_present(records, BARRIER, 1), ALL & ~LANE);
  sync_records_withdraw(records, BARRIER, LANE);
  sync_records_restore(records, BARRIER, members, LANE, ALL);
  ck_assert_uint_eq(sync_records_present(records, BARRIER, 1), ALL);
}
END_TEST

START_TEST(who_begins_another_without_is_not) {
  Sheet sheet;
  SyncRecords *records = sheet_init(&sheet);
  sync_records_begin(records, BARRIER, ALL);
  sync_records_begin(records, BARRIER, LANE);
  ck_assert_uint_eq(sync_records_members(records, BARRIER, 1), ALL);
  sync_records_withdraw(records, BARRIER, LANE);
  ck_assert_uint_eq(sync_records_members(records, BARRIER, 1), ALL & ~LANE);
}
END_TEST

/* A function saves, calls one that saves and restores without beginning any, and begins one then. */
START_TEST(a_call_between_changes_nothing) {
  Sheet sheet;
  SyncRecords *records = sheet_init(&sheet);
  sync_records_begin(records, BARRIER, ALL);
  uint32_t outer = save(records), inner = save(records);
  sync_records_restore(records, BARRIER, inner, LANE, ALL);
  sync_records_begin(records, BARRIER, LANE);
  ck_assert_uint_eq(sync_records_members(records, BARRIER, 0), LANE);
  ck_assert_uint_eq(sync_records_members(records, BARRIER, 1), ALL);
  sync_records_withdraw(records, BARRIER, LANE);
  ck_assert_uint_eq(sync_records_members(records, BARRIER, 1), ALL);
  sync_records_restore(records, BARRIER, outer, LANE, ALL);
  ck_assert_uint_eq(sync_records_present(records, BARRIER, 0), ALL);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("sync_records");
  TCase *tcase = tcase_create("sync_records");
  tcase_add_test(tcase, who_saved_a_record_is_waited_for);
  tcase_add_test(tcase, who_begins_another_without_is_not);
  tcase_add_test(tcase, a_call_between_changes_nothing);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
