/* Where lines are, with the hash of an H200: validation/hardware/mem_thirds_h200.csv has what it is to be like; and
 * that no slice has too few, with any hash. */
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
      if (slice_map_index(&map, line) != slice_map_index(&map, line & ~UINT64_C(1)))
        ck_abort_msg("line %" G_GUINT64_FORMAT " isn't with its neighbour", line);
    }
    ck_assert_uint_eq(slices, 8);
    for (uint32_t slice = 0; slice < SLICES; slice++)
      ck_assert(granules[slice] == 0 || granules[slice] == 2 * GRANULE);
  }
}
END_TEST

/* Each slice of a half has its share of consecutive lines, and of every second, fourth and thirty-second one. */
START_TEST(slices_have_their_share) {
  static const char *const policies[] = {"pairs", "spread", "rotated"};
  static const uint32_t numbers[] = {1, 2, 3, 4, 7, 8, 11, 12, 16, 25, 47, 48, 49, 94}, strides[] = {1, 2, 4, PAGE};
  enum { OF_EACH = 1024, MOST_OFF = OF_EACH / 4 };
  const char *policy = policies[_i % G_N_ELEMENTS(policies)];
  uint32_t halves = 1 + (uint32_t)_i / G_N_ELEMENTS(policies);
  for (unsigned n = 0; n < G_N_ELEMENTS(numbers); n++) {
    g_autofree char *settings = g_strdup_printf(
        "memory.slices=%u memory.l2.halves=%u memory.l2.hash=%s memory.l2.granule=256 memory.l2.page=4096 "
        "memory.l2.line=128",
        numbers[n] * halves, halves, policy);
    g_autoptr(Machine) machine = lab_machine(settings);
    SliceMap map;
    slice_map_init(&map, machine, 1);
    for (unsigned k = 0; k < G_N_ELEMENTS(strides); k++) {
      uint32_t lines[94] = {0};
      for (uint64_t i = 0; i < (uint64_t)OF_EACH * numbers[n]; i++) {
        uint32_t slice = slice_map_index(&map, i * strides[k]);
        if (slice >= numbers[n]) /* Check notes each assertion that holds, which takes longer than the hash */
          ck_abort_msg("%s: slice %u of %u", policy, slice, numbers[n]);
        lines[slice]++;
      }
      for (uint32_t slice = 0; slice < numbers[n]; slice++)
        ck_assert_msg(lines[slice] >= OF_EACH - MOST_OFF && lines[slice] <= OF_EACH + MOST_OFF,
                      "%s, %u slices, stride %u: slice %u has %u lines", policy, numbers[n], strides[k], slice,
                      lines[slice]);
    }
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("slice_hash");
  TCase *tcase = tcase_create("slice_hash");
  tcase_add_loop_test(tcase, a_third_has_half_of_the_lines, 1, SEEDS);
  tcase_add_loop_test(tcase, a_page_has_eight_slices, 1, SEEDS);
  tcase_add_loop_test(tcase, slices_have_their_share, 0, 6);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
