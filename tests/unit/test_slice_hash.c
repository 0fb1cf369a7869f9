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

/* Homes of the pages of 64 KB; and of each KB of the first 64 KB that one of the second which has its pair, with the
 * slices the other way round: mem_map_h200.csv. */
START_TEST(homes_and_orders_are_those_of_an_h200) {
  enum { HOME_PAGES = 16, KB = 8 /* lines */, OTHER = 83, KBS = 64 };
  static const char homes[] = "0110011010011001";
  SliceMap map = map_of((uint64_t)_i);
  for (uint64_t page = 0; page < HOME_PAGES; page++)
    ck_assert_uint_eq(slice_map_home(&map, page * PAGE) ^ slice_map_home(&map, 0), (uint32_t)homes[page] - '0');
  for (uint64_t kb = 0; kb < KBS; kb++) {
    uint64_t line = kb * KB, other = (kb ^ OTHER) * KB;
    ck_assert_uint_eq(slice_map_home(&map, line), slice_map_home(&map, other));
    ck_assert_uint_eq(slice_map_index(&map, line) ^ 1, slice_map_index(&map, other));
  }
}
END_TEST

/* Every other granule of 128 KB: a slice has as many of them as another one of its third. */
START_TEST(strides_reach_both_slices_of_a_pair) {
  SliceMap map = map_of((uint64_t)_i);
  for (uint64_t regions = 0; regions < REGIONS; regions += 2) {
    uint32_t granules[2 * SLICES] = {0};
    for (uint64_t line = regions * REGION; line < (regions + 2) * REGION; line += 2 * GRANULE)
      granules[slice_map_home(&map, line) * SLICES + slice_map_index(&map, line)]++;
    for (uint32_t slice = 0; slice < 2 * SLICES; slice++)
      ck_assert_msg(granules[slice] == 2 || granules[slice] == 4, "slice %u has %u", slice, granules[slice]);
  }
}
END_TEST

/* 32 MB in sets of their slices, 320 each: none has twice its share. */
START_TEST(sets_share_lines) {
  enum { LINES = 1 << 18, SETS = 320, SHARE = LINES / (2 * SLICES * SETS) + 1 };
  SliceMap map = map_of((uint64_t)_i);
  g_autofree uint32_t *lines = g_new0(uint32_t, 2 * SLICES * SETS);
  for (uint32_t line = 0; line < LINES; line++) {
    uint32_t slice = slice_map_home(&map, line) * SLICES + slice_map_index(&map, line);
    uint32_t *set = &lines[slice * SETS + slice_map_order(&map, line) % SETS];
    ck_assert_msg(++*set < 2 * SHARE, "a set of slice %u has %u", slice, *set);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("slice_hash");
  TCase *tcase = tcase_create("slice_hash");
  tcase_add_loop_test(tcase, a_third_has_half_of_the_lines, 1, SEEDS);
  tcase_add_loop_test(tcase, a_page_has_eight_slices, 1, SEEDS);
  tcase_add_loop_test(tcase, homes_and_orders_are_those_of_an_h200, 1, SEEDS);
  tcase_add_loop_test(tcase, strides_reach_both_slices_of_a_pair, 1, SEEDS);
  tcase_add_loop_test(tcase, sets_share_lines, 1, SEEDS);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
