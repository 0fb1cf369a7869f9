/* Where an L1 puts a line and which one goes for it, and what shared memory leaves of the array that both have in
 * common; against an H200's answers (validation/hardware/mem_sets.cu). */
#include <glib.h>
#include <stdlib.h>

#include "base/pages.h"
#include "sim/machine/carveout.h"
#include "sim/memory/l1.h"
#include "sim/memory/l1_sets.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* ---- an H200's rows ---- */

/* The rows of one kind, as fields: kind, a, b, c, value. */
static GPtrArray *rows_of(const char *kind) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "validation", "hardware", "mem_sets_h200.csv", NULL);
  g_autofree char *text = NULL;
  ck_assert(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  for (char **line = lines; *line; line++) {
    char **fields = g_strsplit(*line, ",", -1);
    if (g_strv_length(fields) == 5 && strcmp(fields[0], kind) == 0)
      g_ptr_array_add(rows, fields);
    else
      g_strfreev(fields);
  }
  return rows;
}

static uint64_t field(const GPtrArray *rows, guint i, unsigned column) {
  return g_ascii_strtoull(((char **)g_ptr_array_index(rows, i))[column], NULL, 10);
}

/* The hash is known up to bit 28 of a line's number. */
START_TEST(lines_have_the_sets_of_an_h200) {
  g_autoptr(GPtrArray) rows = rows_of("set");
  unsigned known = 0;
  for (guint i = 0; i < rows->len; i++) {
    uint64_t bits = field(rows, i, 1);
    if (bits >> 29)
      continue;
    known++;
    UNIT_ASSERT(l1_sets_hashed(bits) == field(rows, i, 4), "bits 0x%" G_GINT64_MODIFIER "x: set %u", bits,
                l1_sets_hashed(bits));
  }
  ck_assert_uint_eq(known, 85);
}
END_TEST

/* Of 987 launches 6 have one part more than there: blocks of 928 threads, and one of 128. The two largest parts
 * aren't told apart there in 97 rows. */
START_TEST(launches_have_the_carveouts_of_an_h200) {
  g_autoptr(Machine) machine = lab_machine("sm.l1.bytes=249KiB sm.l1.carveout=sm_90 sm.shared.bytes=228KiB "
                                           "sm.shared.reserved=1KiB sm.shared.granule=128");
  unsigned right = 0, more = 0, large = 0, count = 0;
  for (unsigned kind = 0; kind < 2; kind++) {
    g_autoptr(GPtrArray) rows = rows_of(kind ? "carveout82" : "carveout");
    for (guint i = 0; i < rows->len; i++, count++) {
      uint32_t shared = ((uint32_t)field(rows, i, 2) + 127) / 128 * 128;
      CarveoutWish wish = {.threads = (uint32_t)field(rows, i, 1),
                           .blocks = (uint32_t)field(rows, i, 3),
                           .shared_bytes = shared ? shared + 1024 : 0};
      uint32_t bytes = carveout_bytes(machine, &wish);
      right += bytes / 1024 == field(rows, i, 4);
      large += bytes / 1024 == 196 && field(rows, i, 4) == 228;
      more += bytes / 1024 != 196 && bytes / 1024 > field(rows, i, 4);
    }
  }
  ck_assert_uint_eq(count, 987);
  UNIT_ASSERT(right == 884 && large == 97 && more == 6, "%u right, %u of 196 KiB, %u more", right, large, more);
}
END_TEST

/* ---- which line goes ---- */

typedef struct Cache {
  Machine *machine;
  L1 *l1;
  void *memory;
  uint64_t hash;
  L1Hash watched;
} Cache;

static Cache *cache_new(const char *settings) {
  Cache *cache = g_new0(Cache, 1);
  cache->machine = lab_machine(settings);
  uint32_t bytes = cache->machine->sm.l1.bytes;
  cache->memory = pages_new(1, l1_memory_bytes(cache->machine, bytes));
  cache->watched.value = &cache->hash;
  cache->l1 = l1_new(cache->machine, bytes, cache->memory, 0, &cache->watched);
  return cache;
}

static void cache_free(Cache *cache) {
  l1_free(cache->l1);
  pages_free(cache->memory);
  machine_free(cache->machine);
  g_free(cache);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cache, cache_free)

/* True if the line is there; else it comes. */
static bool touch(Cache *cache, uint64_t line) {
  static const uint32_t zeros[32];
  uint64_t address = line * 128;
  if (l1_look(cache->l1, address).valid) {
    l1_use(cache->l1, address);
    return true;
  }
  l1_expect(cache->l1, address, 15, 0);
  l1_fill(cache->l1, address, 128, 0, zeros, 0);
  return false;
}

/* Loads of lines of one set, four sets of four ways: 'a' to 'i', a capital where it must miss. */
static void check_order(const char *settings, const char *order) {
  g_autofree char *all = g_strconcat("sm.l1.bytes=2048 sm.l1.ways=4 ", settings, NULL);
  g_autoptr(Cache) cache = cache_new(all);
  for (const char *at = order; *at; at++) {
    uint64_t line = 4 * (uint64_t)(g_ascii_tolower(*at) - 'a');
    UNIT_ASSERT(touch(cache, line) == g_ascii_islower(*at), "%s: %s: '%c' at %d", settings, order, *at,
                (int)(at - order));
  }
}

/* The first four orders are an H200's: five lines of a set in a circle, and three of 120 random orders, in which
 * other loads would miss if the line went that was used longest ago. */
START_TEST(lines_used_again_go_last) {
  check_order("sm.l1.kept_ways=2", "ABCDEABCDEABCDE");
  check_order("sm.l1.kept_ways=2", "FBbGCAgaECBFbfEC");
  check_order("sm.l1.kept_ways=2", "FEfAfafDBbHfaGfH");
  check_order("sm.l1.kept_ways=2", "ADBadEbCEAbddedb");
  check_order("sm.l1.kept_ways=0", "ABCDaEaBaCaDa");
  check_order("sm.l1.kept_ways=2", "ABCDabEFGHabEFGHab"); /* what streams by doesn't drive them out */
  check_order("sm.l1.kept_ways=0", "ABCDabEFGHABEFGHAB");
  check_order("sm.l1.kept_ways=2", "ABCDabcEFGbcA"); /* of three that were used again one isn't kept */
}
END_TEST

/* Loads a circle of lines three times; of the third time, those that miss. */
static unsigned circle(Cache *cache, uint32_t lines, uint32_t stride) {
  unsigned misses = 0;
  for (unsigned round = 0; round < 3; round++)
    for (uint32_t i = 0; i < lines; i++)
      misses += !touch(cache, (uint64_t)i * stride) && round == 2;
  return misses;
}

#define HOPPER "sm.l1.ways=4 sm.l1.sets=512 sm.l1.set_hash=sm_90 sm.l1.kept_ways=2 "

/* mem_sets.cu: 1736 lines stay where there is memory for so many, whatever power of two lies between them. */
START_TEST(as_many_lines_stay_as_there_is_memory_for) {
  static const uint32_t strides[] = {1, 2, 4, 16, 64, 256};
  for (unsigned i = 0; i < G_N_ELEMENTS(strides); i++) {
    g_autoptr(Cache) cache = cache_new(HOPPER "sm.l1.bytes=217KiB");
    ck_assert_uint_eq(circle(cache, 1600, strides[i]), 0);
  }
  g_autoptr(Cache) cache = cache_new(HOPPER "sm.l1.bytes=217KiB");
  ck_assert_uint_eq(circle(cache, 1736, 1), 0);
  g_autoptr(Cache) larger = cache_new(HOPPER "sm.l1.bytes=256KiB");
  ck_assert_uint_eq(circle(larger, 2048, 1), 0);
}
END_TEST

/* Beyond that an H200 misses 3 to 4, 9, 21, 29, 32, 56 and 71 of 100 loads of 8 to 248 lines too many. */
START_TEST(circles_that_are_too_large_miss_as_on_an_h200) {
  g_autoptr(GPtrArray) rows = rows_of("circle");
  double error = 0;
  unsigned count = 0;
  for (guint i = 0; i < rows->len; i++) {
    static const uint32_t beside[][2] = {{0, 32}, {28, 64}, {43, 100}, {57, 132}, {71, 164}};
    for (unsigned k = 0; k < G_N_ELEMENTS(beside); k++) {
      if (field(rows, i, 1) != beside[k][0] || field(rows, i, 2) != 1)
        continue;
      g_autofree char *settings = g_strdup_printf(HOPPER "sm.l1.bytes=%uKiB", 249 - beside[k][1]);
      g_autoptr(Cache) cache = cache_new(settings);
      uint32_t lines = (uint32_t)field(rows, i, 3);
      double there = g_ascii_strtod(((char **)g_ptr_array_index(rows, i))[4], NULL);
      error += ABS(100.0 * circle(cache, lines, 1) / lines - there);
      count++;
    }
  }
  UNIT_ASSERT(count >= 40 && error / count < 8, "%.1f of 100 loads in %u rows", error / count, count);
}
END_TEST

static uint64_t hash_of(Cache *cache) {
  l1_settle_hash(cache->l1);
  return cache->hash;
}

/* The hash comes back when contents and order do, over sets that share memory, too. */
START_TEST(its_hash_is_its_state) {
  g_autoptr(Cache) cache = cache_new(HOPPER "sm.l1.bytes=512");
  cache->watched.watch = 1;
  for (uint64_t line = 0; line < 4; line++)
    touch(cache, line);
  uint64_t four = hash_of(cache);
  for (uint64_t line = 600; line < 640; line++)
    touch(cache, line);
  ck_assert(hash_of(cache) != four);
  l1_invalidate(cache->l1);
  ck_assert(hash_of(cache) == 0);
  for (uint64_t line = 0; line < 4; line++)
    touch(cache, line);
  ck_assert(hash_of(cache) == four);
  touch(cache, 1);
  ck_assert(hash_of(cache) != four);
}
END_TEST

/* ---- beside shared memory ---- */

/* Loads 96 lines of 128 bytes twice. An array of 72 KiB less 32 KiB, which blocks without shared memory leave, holds
 * them; the 8 KiB that shared memory of 64 KiB leaves have 4 of the 6 lines of each set, and a circle finds none of
 * them again. */
#define TWICE_AROUND                                                                            \
  "MOV32I R6, 0x2; round: MOV R0, c[0x0][0x20]; MOV32I R5, 0x60;\n"                             \
  "line: LD R1, [R0]; IADD R0, R0, 0x80; IADD R5, R5, -0x1; ISETP.NE.AND P0, pt, R5, RZ, pt;\n" \
  "@P0 BRA line; IADD R6, R6, -0x1; ISETP.NE.AND P0, pt, R6, RZ, pt; @P0 BRA round; EXIT;"

START_TEST(a_launch_has_what_its_blocks_leave) {
  static const struct {
    const char *what, *settings;
    uint32_t blocks, shared[2]; /* of two launches, one after the other */
    uint64_t hits;
  } cases[] = {
      {"no shared memory", "gpu.sms=1 sm.l1.carveout=sm_86", 1, {0, 0}, 96 + 96},
      {"all of it", "gpu.sms=1 sm.l1.carveout=sm_86", 1, {65536, 65536}, 0},
      {"the second launch", "gpu.sms=1 sm.l1.carveout=sm_86", 1, {0, 65536}, 96},
      {"the first launch", "gpu.sms=1 sm.l1.carveout=sm_86", 1, {65536, 0}, 96},
      {"an L1 of its own", "gpu.sms=1 sm.l1.carveout=none", 1, {65536, 65536}, 96 + 96},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *settings = g_strconcat("sm.l1.bytes=73728 sm.l1.line=128 sm.l1.sector=128 sm.l1.ways=4 "
                                            "sm.l1.global_loads=cached sm.shared.bytes=65536 "
                                            "sm.shared.max_block_bytes=65536 ",
                                            cases[i].settings, NULL);
    g_autoptr(Lab) lab = lab_new(settings, TWICE_AROUND);
    lab_buffer(lab, 96 * 32);
    for (unsigned launch = 0; launch < 2; launch++)
      lab_launch_grid(lab, 0, cases[i].blocks, 1, cases[i].shared[launch], 0);
    lab_finish(lab);
    ck_assert_msg(lab->gpu->counters.l1_hits == cases[i].hits, "%s: %d hits", cases[i].what,
                  (int)lab->gpu->counters.l1_hits);
  }
}
END_TEST

/* What an H200 gives: mem_sets_h200.csv, and by percent mem_sm_h200.csv; but for the smaller array's. */
START_TEST(carveouts_follow_blocks) {
  static const struct {
    const char *settings;
    CarveoutWish wish;
    uint32_t kibibytes;
  } cases[] = {
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {32, 32, 0, 0}, 32},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {640, 3, 0, 0}, 16},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {1024, 2, 0, 0}, 8},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {256, 8, 2 << 10, 0}, 32},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {256, 8, 9 << 10, 0}, 132},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {256, 8, 17 << 10, 0}, 164},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {32, 32, 3 << 10, 0}, 100},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {1024, 2, 17 << 10, 0}, 64},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {256, 1, 129 << 10, 0}, 132},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {1, 28, 8 << 10, 4}, 8},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {1, 28, 8 << 10, 8}, 16},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {1, 28, 33 << 10, 1}, 64},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {1, 32, 0, 1}, 32},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {1024, 2, 0, 15}, 32},
      {"sm.l1.bytes=249KiB sm.l1.carveout=sm_90", {1024, 2, 0, 101}, 228},
      {"sm.l1.bytes=128KiB sm.l1.carveout=sm_86", {256, 6, 3 << 10, 0}, 64},
      {"sm.l1.bytes=128KiB sm.l1.carveout=sm_86", {256, 6, 12 << 10, 0}, 100},
      {"sm.l1.bytes=16KiB sm.l1.carveout=sm_86", {256, 6, 12 << 10, 0}, 8},
      {"sm.l1.bytes=48KiB sm.l1.carveout=none", {256, 6, 8 << 10, 0}, 0},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Machine) machine = lab_machine(cases[i].settings);
    uint32_t bytes = carveout_bytes(machine, &cases[i].wish);
    UNIT_ASSERT(bytes == cases[i].kibibytes * 1024, "case %u: %u KiB", i, bytes / 1024);
  }
}
END_TEST

/* The blocks that an SM may hold at once count, whatever the grid has: two of them, then one, then the 12 that have
 * room. */
START_TEST(blocks_of_an_sm_count_together) {
  static const struct {
    const char *settings;
    uint32_t blocks, shared, kibibytes;
  } cases[] = {{"gpu.sms=1 sm.max_blocks=2", 4, 4096, 240},
               {"gpu.sms=2 sm.max_blocks=2", 1, 4096, 240},
               {"gpu.sms=1 sm.max_blocks=1", 4, 4096, 248},
               {"gpu.sms=1 sm.max_blocks=16", 4, 4096, 156},
               {"gpu.sms=1 sm.max_blocks=16", 4, 0, 224},
               {"gpu.sms=1 sm.max_blocks=1", 4, 0, 248}};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *settings = g_strconcat("sm.l1.bytes=262144 sm.l1.carveout=sm_90 ", cases[i].settings, NULL);
    g_autoptr(Lab) lab = lab_new(settings, "EXIT");
    lab_launch_grid(lab, 0, cases[i].blocks, 32, cases[i].shared, 0);
    lab_finish(lab);
    ck_assert_msg(lab->gpu->l1_bytes == cases[i].kibibytes * 1024, "case %u: %u", i, lab->gpu->l1_bytes);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("l1_sets");
  TCase *tcase = tcase_create("l1_sets");
  tcase_add_test(tcase, lines_have_the_sets_of_an_h200);
  tcase_add_test(tcase, launches_have_the_carveouts_of_an_h200);
  tcase_add_test(tcase, lines_used_again_go_last);
  tcase_add_test(tcase, as_many_lines_stay_as_there_is_memory_for);
  tcase_add_test(tcase, circles_that_are_too_large_miss_as_on_an_h200);
  tcase_add_test(tcase, its_hash_is_its_state);
  tcase_add_test(tcase, carveouts_follow_blocks);
  tcase_add_test(tcase, a_launch_has_what_its_blocks_leave);
  tcase_add_test(tcase, blocks_of_an_sm_count_together);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
