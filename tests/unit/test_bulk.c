/* Copies in bulk: where they may go. What they do is in tests/corpus/cuda_bulk_*. */
#include "sim/core/mbarrier.h"
#include "sim/core/place.h"
#include "tests/unit/unit.h"

enum { SHARED = 4096, BUFFER = 64 };

static const struct {
  BulkPlace place; /* its address: bytes behind the start of the buffer */
  BulkFault fault;
} places[] = {
    {{.bytes = 256, .counts = true}, BULK_FINE},
    {{.bytes = 0, .address = 4, .counts = true}, BULK_FINE},
    {{.address = 240, .shared = SHARED - 16, .barrier = SHARED - 8, .bytes = 16, .counts = true}, BULK_FINE},
    {{.bytes = 24, .counts = true}, BULK_ODD_SIZE},
    {{.shared = 8, .bytes = 16, .counts = true}, BULK_ODD_SHARED},
    {{.barrier = 4, .bytes = 16, .counts = true}, BULK_ODD_BARRIER},
    {{.barrier = 4, .bytes = 16, .changes = true}, BULK_FINE},
    {{.address = 8, .bytes = 16, .counts = true}, BULK_ODD_GLOBAL},
    {{.shared = SHARED - 16, .bytes = 32, .counts = true}, BULK_BEYOND_SHARED},
    {{.shared = 0xfffffff0u, .bytes = 32, .counts = true}, BULK_BEYOND_SHARED},
    {{.bytes = 16, .barrier = SHARED, .counts = true}, BULK_BEYOND_BARRIER},
    {{.bytes = 16, .barrier = 0xfffffff8u, .counts = true}, BULK_BEYOND_BARRIER},
    {{.address = 240, .bytes = 32, .changes = true}, BULK_BEYOND_GLOBAL},
    {{.address = 1 << 20, .bytes = 32, .changes = true}, BULK_BEYOND_GLOBAL},
};

START_TEST(goes_where_it_may) {
  Backing *backing = backing_new();
  backing_add(backing, "words", BUFFER, NULL);
  BackingBuffer *buffer = NULL;
  BulkPlace place = places[_i].place;
  place.address += backing_buffer(backing, 0)->base;
  ck_assert_int_eq(place_of_bulk(backing, &place, SHARED, &buffer), places[_i].fault);
  bool inside = places[_i].fault == BULK_FINE && place.bytes;
  ck_assert(!inside || buffer == backing_buffer(backing, 0));
  backing_free(backing);
}
END_TEST

START_TEST(changes_no_constants) {
  Backing *backing = backing_new();
  BackingBuffer *buffer = NULL;
  backing_add(backing, "words", BUFFER, NULL);
  backing_buffer(backing, 0)->constant = true;
  BulkPlace place = {.address = backing_buffer(backing, 0)->base, .bytes = 16, .counts = true};
  ck_assert_int_eq(place_of_bulk(backing, &place, SHARED, &buffer), BULK_FINE);
  place.changes = true;
  ck_assert_int_eq(place_of_bulk(backing, &place, SHARED, &buffer), BULK_READ_ONLY);
  backing_free(backing);
}
END_TEST

/* A phase is over when both arrivals and bytes have come, in any order; bytes may come before they are expected. */
START_TEST(counts_bytes) {
  const Inst both = {.lop = MBARRIER_ONE | MBARRIER_EXPECTS}, comes = {.lop = MBARRIER_COMPLETES};
  uint64_t word = (UINT64_C(1) << 20) - 1; /* minus one arrival */
  word = word << 1 | word << 43;
  uint64_t waits = mbarrier_arrive(&both, word, 48);
  ck_assert_uint_eq(waits >> 63, 0);
  ck_assert_uint_eq(mbarrier_counts(&comes, waits).bytes, 48);
  ck_assert_uint_eq(mbarrier_counts(&comes, waits).missing, 0);
  waits = mbarrier_arrive(&comes, waits, 32);
  ck_assert_uint_eq(mbarrier_counts(&comes, waits).bytes, 16);
  ck_assert_uint_eq(mbarrier_arrive(&comes, waits, 16), word | UINT64_C(1) << 63);
  uint64_t early = mbarrier_arrive(&comes, word, 48);
  MbarrierCounts counts = mbarrier_counts(&comes, early);
  ck_assert(counts.surplus && counts.bytes == 48 && counts.missing == 1);
  ck_assert_uint_eq(mbarrier_arrive(&both, early, 48), word | UINT64_C(1) << 63);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("bulk");
  TCase *tcase = tcase_create("bulk");
  tcase_add_loop_test(tcase, goes_where_it_may, 0, G_N_ELEMENTS(places));
  tcase_add_test(tcase, changes_no_constants);
  tcase_add_test(tcase, counts_bytes);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
