/* Where lines are, with the hash of an H200: validation/hardware/mem_thirds_h200.csv has what it is to be like. */
#include "sim/memory/slice_hash.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

enum { SLICES = 48, GRANULE = 2 /* lines */, PAGE = 32, REGION = 512, REGIONS = 24, SEEDS = 4 };

static SliceMap map_of(uint64_t seed) {
  g_autoptr(Machine) machine = lab_machine(
      "memory.slices=96 memory.l2.halves=2 memory.l2.hash=pairs memory.l2.granule=256 memory.l2.page=4096 "
      "memory.l2.line=128");
  SliceMap map;
  slice_map_init(&map, machine, seed);
  return map;
}

/* Of 64 KB one third of the slices has four granules of 128, the others two; a third is the same planes. */
START_TEST(a_third_has_half_of_the_lines) {
  SliceMap map = map_of((uint64_t)_i);
  uint32_t thirds[3] = {0};
  for (uint64_t region = 0; region < REGIONS; region++) {
    uint32_t granules[SLICES] = {0}, full = 3;
    for (uint64_t line = region * REGION; line < (region + 1) * REGION; line += GRANULE)
      granules[slice_map_index(&map, line)]++;
    for (uint32_t slice = 0; slice < SLICES; slice++) {
      ck_assert_msg(granules[slice] == 4 || granules[slice] == 8, "slice %u has %u", slice, granules[slice]);
      if (granules[slice] == 4)
        continue;
      ck_assert(full == 3 || full == slice / 2 % 3);
      full = slice / 2 % 3;
    }
    ck_assert_uint_lt(full, 3);
    thirds[full]++;
  }
  for (uint32_t third = 0; third < 3; third++)
    ck_assert_uint_gt(thirds[third], 0);
}
END_TEST

/* A page has eight slices, two granules in each; one line is always in one place. */
START_TEST(a_page_has_eight_slices) {
  SliceMap map = map_of((uint64_t)_i);
  for (uint64_t page = 0; page < REGIONS * REGION / PAGE; page++) {
    uint32_t granules[SLICES] = {0}, slices = 0;
    for (uint64_t line = page * PAGE; line < (page + 1) * PAGE; line++) {
      slices += granules[slice_map_index(&map, line)]++ == 0;
      ck_assert_uint_eq(slice_map_index(&map, line), slice_map_index(&map, line & ~UINT64_C(1)));
    }
    ck_assert_uint_eq(slices, 8);
    for (uint32_t slice = 0; slice < SLICES; slice++)
      ck_assert(granules[slice] == 0 || granules[slice] == 2 * GRANULE);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("slice_hash");
  TCase *tcase = tcase_create("slice_hash");
  tcase_add_loop_test(tcase, a_third_has_half_of_the_lines, 1, SEEDS);
  tcase_add_loop_test(tcase, a_page_has_eight_slices, 1, SEEDS);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
