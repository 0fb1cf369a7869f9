/* The device heap: pieces never overlap, are given back and out again, and every access is judged. */
#include <glib.h>
#include <stdlib.h>

#include "sim/engine/rng.h"
#include "sim/memory/heap.h"
#include "tests/unit/unit.h"

enum { BYTES = 8192, PIECES = 400 };

static const WordChange nobody = {.thread = {.launch = THREAD_LAUNCH_NONE}};

typedef struct Known {
  uint64_t address;
  uint32_t bytes;
  bool live;
} Known;

static Heap *new_heap(Backing **backing) {
  *backing = backing_new();
  backing_add(*backing, "before", 5, NULL);
  return heap_new(*backing, BYTES);
}

static void clear(Heap *heap, Backing *backing) {
  heap_free(heap);
  backing_free(backing);
}

/* What the model says of an access: fine if one live piece holds all its bytes. */
static bool is_fine(const Known *known, unsigned count, uint64_t address, uint32_t bytes) {
  for (unsigned i = 0; i < count; i++)
    if (known[i].live && address >= known[i].address && address + bytes <= known[i].address + known[i].bytes)
      return true;
  return false;
}

static void check_new_piece(const Known *known, unsigned count, uint64_t alignment) {
  const Known *new = &known[count];
  UNIT_ASSERT(new->address % MAX(alignment, 16) == 0, "piece %u at 0x%x", count, (unsigned)new->address);
  for (unsigned i = 0; i < count; i++)
    UNIT_ASSERT(!known[i].live || new->address >= known[i].address + known[i].bytes + 1 ||
                    new->address + new->bytes + 1 <= known[i].address,
                "pieces %u and %u overlap, or nothing lies between them", i, count);
}

/* Random calls, checked against a list of all pieces. */
START_TEST(agrees_with_a_list) {
  Backing *backing;
  Heap *heap = new_heap(&backing);
  const BackingBuffer *buffer = backing_buffer(backing, heap->buffer);
  static Known known[PIECES];
  unsigned count = 0, refused = 0;
  Rng rng;
  rng_seed(&rng, 7, (uint64_t)_i);
  while (count < PIECES) {
    uint32_t which = count ? rng_below(&rng, count) : 0;
    if (count && rng_below(&rng, 2)) {
      bool live = known[which].live;
      ck_assert_int_eq(heap_can_give(heap, known[which].address + (live ? 1 : 0)) == HEAP_FINE, false);
      if (live)
        heap_give(heap, known[which].address, &nobody);
      known[which].live = false;
    } else {
      uint32_t bytes = 1 + rng_below(&rng, 300), alignment = 1u << rng_below(&rng, 8);
      uint64_t address = heap_take(heap, bytes, alignment, &nobody);
      refused += address == 0;
      if (!address)
        continue;
      known[count] = (Known){address, bytes, true};
      check_new_piece(known, count, alignment);
      for (uint32_t word = 0; word < bytes / 4; word++)
        ck_assert_uint_eq(buffer->defined[(address - buffer->base) / 4 + word], 0);
      for (unsigned i = 0; i < count; i++) /* an address that is given out again isn't the old piece's */
        known[i].address = known[i].address == address ? 0 : known[i].address;
      count++;
    }
    uint64_t address = heap->base + rng_below(&rng, BYTES);
    uint32_t bytes = 1u << rng_below(&rng, 5);
    address -= address % bytes;
    UNIT_ASSERT((heap_access(heap, address, bytes) == HEAP_FINE) == is_fine(known, count, address, bytes),
                "%u bytes at 0x%x after %u pieces", bytes, (unsigned)address, count);
  }
  ck_assert_uint_gt(refused, 0);
  clear(heap, backing);
}
END_TEST

/* All memory comes back: afterwards one piece can have nearly everything. */
START_TEST(gets_everything_back) {
  Backing *backing;
  Heap *heap = new_heap(&backing);
  uint64_t address[BYTES / 48];
  unsigned count = 0;
  while ((address[count] = heap_take(heap, 33, 1, &nobody)))
    count++;
  ck_assert_uint_eq(count, (BYTES - HEAP_UNIT) / 64);
  for (unsigned start = 0; start < 2; start++) /* every other one, then the rest */
    for (unsigned i = start; i < count; i += 2)
      heap_give(heap, address[i], &nobody);
  ck_assert_uint_eq(heap->holes->len, 1);
  ck_assert_uint_ne(heap_take(heap, BYTES - 2 * HEAP_UNIT, 1, &nobody), 0);
  ck_assert_uint_eq(heap_take(heap, 1, 1, &nobody), 0);
  clear(heap, backing);
}
END_TEST

START_TEST(refuses_what_it_has_not) {
  Backing *backing;
  Heap *heap = new_heap(&backing);
  ck_assert_uint_eq(heap_take(heap, 0, 1, &nobody), 0);
  ck_assert_uint_eq(heap_take(heap, BYTES, 1, &nobody), 0);
  ck_assert_uint_eq(heap_take(heap, UINT64_MAX, 1, &nobody), 0);
  ck_assert_uint_eq(heap_take(heap, 16, UINT64_C(1) << 40, &nobody), 0);
  uint64_t address = heap_take(heap, 20, 1, &nobody);
  ck_assert_int_eq(heap_access(heap, address, 16), HEAP_FINE);
  ck_assert_int_eq(heap_access(heap, address + 16, 4), HEAP_FINE);
  ck_assert_int_eq(heap_access(heap, address + 16, 8), HEAP_NEVER);
  ck_assert_int_eq(heap_access(heap, address - 4, 4), HEAP_NEVER);
  ck_assert_int_eq(heap_can_give(heap, address + 16), HEAP_NEVER);
  ck_assert_int_eq(heap_can_give(heap, heap->base + BYTES), HEAP_NEVER);
  ck_assert_int_eq(heap_can_give(heap, 0), HEAP_NEVER);
  heap_give(heap, address, &nobody);
  ck_assert_int_eq(heap_can_give(heap, address), HEAP_FREED);
  ck_assert_int_eq(heap_access(heap, address, 4), HEAP_FREED);
  clear(heap, backing);
}
END_TEST

/* The books don't grow with the number of calls. */
START_TEST(forgets_old_pieces) {
  Backing *backing;
  Heap *heap = new_heap(&backing);
  for (unsigned i = 0; i < 100000; i++)
    heap_give(heap, heap_take(heap, 100, 1, &nobody), &nobody);
  ck_assert_uint_lt(heap->pieces->len, 2 * BYTES / 100);
  clear(heap, backing);
}
END_TEST

START_TEST(refuses_odd_sizes) {
  Backing *backing = backing_new();
  unit_expect_precondition("heap-bytes");
  heap_new(backing, BYTES + 8);
}
END_TEST

START_TEST(refuses_a_second_free) {
  Backing *backing;
  Heap *heap = new_heap(&backing);
  uint64_t address = heap_take(heap, 4, 1, &nobody);
  heap_give(heap, address, &nobody);
  unit_expect_precondition("heap-give");
  heap_give(heap, address, &nobody);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("heap");
  TCase *tcase = tcase_create("heap");
  tcase_add_loop_test(tcase, agrees_with_a_list, 0, 20);
  tcase_add_test(tcase, gets_everything_back);
  tcase_add_test(tcase, refuses_what_it_has_not);
  tcase_add_test(tcase, forgets_old_pieces);
  unit_add_precondition_test(tcase, refuses_odd_sizes);
  unit_add_precondition_test(tcase, refuses_a_second_free);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
