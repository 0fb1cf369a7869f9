/* Banks, replays and the pipe of shared memory, pinned by hand calculation. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "sim/memory/shared.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* ---- passes of one access ---- */

typedef struct Access {
  const char *what, *settings;
  bool locks;
  uint32_t words_each, mask;
  uint32_t step; /* lane l accesses word (l / group) % count * step */
  uint32_t group, count;
  uint32_t passes;
} Access;

#define ALL 0xffffffffu
/* clang-format off */
static const Access accesses[] = {
    {"consecutive words", "", false, 1, ALL, 1, 1, 32, 1},
    {"one word for all", "", false, 1, ALL, 1, 1, 1, 1},
    {"every second word: 16 banks, 2 words in each", "", false, 1, ALL, 2, 1, 32, 2},
    {"every third word: 3 and 32 are coprime", "", false, 1, ALL, 3, 1, 32, 1},
    {"every fourth word", "", false, 1, ALL, 4, 1, 32, 4},
    {"every 16th word: 2 banks", "", false, 1, ALL, 16, 1, 32, 16},
    {"every 32nd word: one bank", "", false, 1, ALL, 32, 1, 32, 32},
    {"every 33rd word: a padded column", "", false, 1, ALL, 33, 1, 32, 1},
    {"every 64th word", "", false, 1, ALL, 64, 1, 32, 32},
    {"one lane", "", false, 1, 1u << 17, 32, 1, 32, 1},
    {"two lanes in one bank", "", false, 1, 0x80000001, 32, 1, 32, 2},
    {"16 lanes on every second word", "", false, 1, 0xffff, 2, 1, 32, 1},
    {"even lanes on every 16th word: one bank", "", false, 1, 0x55555555, 16, 1, 32, 16},
    {"four lanes a word", "", false, 1, ALL, 1, 4, 8, 1},
    {"two words of one bank, half of the lanes each", "", false, 1, ALL, 32, 16, 2, 2},
    {"two words of one bank, in turn: each is fetched once", "", false, 1, ALL, 32, 1, 2, 2},
    {"three words of one bank, in turn", "", false, 1, ALL, 32, 1, 3, 3},
    {"four words of two banks, in turn", "", false, 1, ALL, 16, 1, 4, 2},
    {"64 bits, consecutive: 64 words in 32 banks", "", false, 2, ALL, 2, 1, 32, 2},
    {"64 bits, one address", "", false, 2, ALL, 2, 1, 1, 1},
    {"64 bits, every second: words 4l and 4l + 1", "", false, 2, ALL, 4, 1, 32, 4},
    {"64 bits, one half of the lanes", "", false, 2, 0xffff, 2, 1, 32, 1},
    {"128 bits, consecutive: 128 words", "", false, 4, ALL, 4, 1, 32, 4},
    {"128 bits, one address", "", false, 4, ALL, 4, 1, 1, 1},
    {"128 bits, eight lanes", "", false, 4, 0xff, 4, 1, 32, 1},
    {"16 banks, consecutive", "sm.shared.banks=16", false, 1, ALL, 1, 1, 32, 2},
    {"16 banks, one word", "sm.shared.banks=16", false, 1, ALL, 1, 1, 1, 1},
    {"16 banks, every 16th", "sm.shared.banks=16", false, 1, ALL, 16, 1, 32, 32},
    {"64 banks, every second", "sm.shared.banks=64", false, 1, ALL, 2, 1, 32, 1},
    {"5 banks, consecutive: 7 words in the fullest", "sm.shared.banks=5", false, 1, ALL, 1, 1, 32, 7},
    {"5 banks, every fifth", "sm.shared.banks=5", false, 1, ALL, 5, 1, 32, 32},
    {"1 bank", "sm.shared.banks=1", false, 1, ALL, 1, 1, 32, 32},
    {"lock: consecutive words", "", true, 1, ALL, 1, 1, 32, 1},
    {"lock: one word", "", true, 1, ALL, 1, 1, 1, 1},
    {"lock: every 1024th word, one bank and one bit", "", true, 1, 0xfff, 1024, 1, 12, 12},
    {"lock: 8 bits, consecutive words: 4 on each bit", "sm.lock_unit.bits=8", true, 1, ALL, 1, 1, 32, 4},
    {"no lock: 8 bits don't matter", "sm.lock_unit.bits=8", false, 1, ALL, 1, 1, 32, 1},
    {"lock: 8 bits, one word", "sm.lock_unit.bits=8", true, 1, ALL, 1, 1, 1, 1},
    {"lock: 8 bits, one lane", "sm.lock_unit.bits=8", true, 1, 4, 1, 1, 32, 1},
    {"lock: 8 bits, two lanes a word", "sm.lock_unit.bits=8", true, 1, ALL, 1, 2, 16, 2},
    {"lock: 1 bit", "sm.lock_unit.bits=1", true, 1, ALL, 1, 1, 32, 32},
    {"lock: a bit for 8 words", "sm.lock_unit.low_bit=5", true, 1, ALL, 1, 1, 32, 8},
    {"lock: a bit for 8 words, every 8th word: 4 banks of 8", "sm.lock_unit.low_bit=5", true, 1, ALL, 8, 1, 32, 8},
    {"lock: 33 bits, consecutive words", "sm.lock_unit.bits=33", true, 1, ALL, 1, 1, 32, 1},
    {"lock: 33 bits, every 33rd word: all banks, one bit", "sm.lock_unit.bits=33", true, 1, ALL, 33, 1, 32, 32},
};
/* clang-format on */

START_TEST(counts_passes) {
  const Access *access = &accesses[_i];
  g_autoptr(Machine) machine = lab_machine(access->settings);
  SharedMemory shared;
  LockUnit unit;
  shared_init(&shared, machine);
  lock_unit_init(&unit, machine);
  uint32_t address[32];
  for (uint32_t lane = 0; lane < 32; lane++)
    address[lane] = lane / access->group % access->count * access->step * 4;
  /* The second time over what the first one left behind, and with all addresses moved by one word. */
  for (uint32_t moved = 0; moved < 2; moved++) {
    uint32_t passes = shared_passes(&shared, access->locks ? &unit : NULL, address, access->mask, access->words_each);
    ck_assert_msg(access->passes == passes, "%s: %u passes, not %u", access->what, passes, access->passes);
    for (uint32_t lane = 0; lane < 32; lane++)
      address[lane] += 4;
  }
  lock_unit_clear(&unit);
  shared_clear(&shared);
}
END_TEST

/* Accesses of 64 and 128 bits with sm.shared.wide_access=parts, as mc_shared_h200.csv has them: lane L has the place
 * L / group % count * step. */
typedef struct Wide {
  const char *what;
  uint32_t words_each, mask, group, count, step, loads, stores, parts;
} Wide;

/* clang-format off */
static const Wide wide[] = {
    {"64 bits in a row", 2, ALL, 1, 32, 1, 2, 2, 2},
    {"64 bits, one place", 2, ALL, 32, 1, 1, 1, 2, 1},
    {"64 bits, neighbours together", 2, ALL, 2, 16, 1, 1, 2, 1},
    {"64 bits, two by turns", 2, ALL, 1, 2, 1, 1, 2, 1},
    {"64 bits, four by turns", 2, ALL, 1, 4, 1, 2, 2, 2},
    {"64 bits, two by turns in one bank", 2, ALL, 1, 2, 16, 2, 4, 1},
    {"64 bits, halves in one bank", 2, ALL, 16, 2, 16, 2, 2, 1},
    {"64 bits, each second place", 2, ALL, 1, 32, 2, 4, 4, 2},
    {"64 bits, half of the warp", 2, 0xFFFF, 1, 32, 1, 1, 1, 1},
    {"64 bits, each second lane", 2, 0x55555555, 1, 32, 1, 2, 2, 1},
    {"128 bits in a row", 4, ALL, 1, 32, 1, 4, 4, 4},
    {"128 bits, one place", 4, ALL, 32, 1, 1, 2, 4, 2},
    {"128 bits, quarters together", 4, ALL, 8, 4, 1, 2, 4, 2},
    {"128 bits, two by turns", 4, ALL, 1, 2, 1, 2, 4, 2},
    {"128 bits, four by turns", 4, ALL, 1, 4, 1, 4, 4, 4},
    {"128 bits, each second place", 4, ALL, 1, 32, 2, 8, 8, 4},
    {"128 bits, one lane", 4, 4, 1, 32, 1, 1, 1, 1},
    {"32 bits", 1, ALL, 1, 32, 1, 1, 1, 1},
};
/* clang-format on */

START_TEST(wide_accesses_go_by_parts) {
  const Wide *access = &wide[_i];
  g_autoptr(Machine) machine = lab_machine("sm.shared.wide_access=parts");
  SharedMemory shared;
  shared_init(&shared, machine);
  uint32_t address[32];
  for (uint32_t lane = 0; lane < 32; lane++)
    address[lane] = lane / access->group % access->count * access->step * 4 * access->words_each;
  SharedPasses load = shared_access_passes(&shared, NULL, address, access->mask, access->words_each, true),
               store = shared_access_passes(&shared, NULL, address, access->mask, access->words_each, false);
  ck_assert_msg(load.passes == access->loads && load.parts == access->parts && store.passes == access->stores,
                "%s: %u and %u passes, %u parts", access->what, load.passes, store.passes, load.parts);
  shared_clear(&shared);
}
END_TEST

/* Without lock bits: the most different words that any bank has to give. */
START_TEST(passes_are_the_words_of_the_fullest_bank) {
  static const char *const machines[] = {"", "sm.shared.banks=16", "sm.shared.banks=12", "sm.shared.banks=64"};
  g_autoptr(Machine) machine = lab_machine(machines[_i]);
  SharedMemory shared;
  Rng rng;
  shared_init(&shared, machine);
  rng_seed(&rng, 1, (uint64_t)_i);
  for (unsigned round = 0; round < 3000; round++) {
    uint32_t address[32], words_each = 1u << rng_below(&rng, 3),
                          range = 1 + rng_below(&rng, 1 + (1u << rng_below(&rng, 11)));
    uint32_t mask = (uint32_t)rng_next(&rng) | 1u << rng_below(&rng, 32), most = 0;
    bool wanted[2048 * 4] = {false};
    for (uint32_t lane = 0; lane < 32; lane++) {
      address[lane] = rng_below(&rng, range) * words_each * 4;
      for (uint32_t word = 0; word < words_each && mask >> lane & 1; word++)
        wanted[address[lane] / 4 + word] = true;
    }
    for (uint32_t bank = 0; bank < machine->sm.shared.banks; bank++) {
      uint32_t words = 0;
      for (uint32_t word = bank; word < G_N_ELEMENTS(wanted); word += machine->sm.shared.banks)
        words += wanted[word];
      most = MAX(most, words);
    }
    UNIT_ASSERT(shared_passes(&shared, NULL, address, mask, words_each) == most, "round %u: not %u passes", round,
                most);
  }
  shared_clear(&shared);
}
END_TEST

/* ---- the pipe ---- */

typedef struct Step {
  unsigned scheduler;
  uint64_t now;
  uint32_t passes;
  uint64_t start, ready;
} Step;

/* Serves accesses on a machine without jitter; returns when the pipe is free then. */
static uint64_t expect_served(const char *settings, const Step *steps, unsigned count) {
  g_autoptr(Machine) machine = lab_machine(settings);
  SharedMemory shared;
  Rng rng;
  rng_seed(&rng, 1, 1);
  shared_init(&shared, machine);
  for (unsigned i = 0; i < count; i++) {
    SharedCost cost = shared_cost(&shared, steps[i].passes);
    SharedService service = shared_serve(&shared, steps[i].scheduler, steps[i].now, &cost, &rng);
    ck_assert_msg(service.start == steps[i].start && service.ready == steps[i].ready, "step %u: %d to %d", i,
                  (int)service.start, (int)service.ready);
  }
  uint64_t free_milli = shared.free_milli;
  shared_clear(&shared);
  return free_milli;
}

START_TEST(serves_in_order) {
  static const Step steps[] = {
      {0, 100, 1, 100, 150},                         /* idle */
      {1, 101, 3, 102, 156},                         /* behind the first pass; its last pass starts at 106 */
      {0, 102, 1, 108, 158},  {1, 110, 1, 110, 160}, /* just in time */
      {0, 500, 32, 500, 612}, {1, 500, 1, 564, 614}, {0, 563, 1, 566, 616},
  };
  expect_served("sm.shared.latency=50 sm.shared.pass_interval=2", steps, G_N_ELEMENTS(steps));
}
END_TEST

/* 1.45 cycles a pass: the pipe is free in 101.45, 102.9 and 105.8, and 20 passes later in exactly 134.8. */
START_TEST(a_pass_may_take_a_fraction) {
  static const Step steps[] = {
      {0, 100, 1, 100, 150},  {1, 100, 1, 102, 152}, {0, 100, 2, 103, 155},
      {1, 101, 20, 106, 184}, {0, 134, 1, 135, 185},
  };
  ck_assert_uint_eq(expect_served("sm.shared.latency=50 sm.shared.pass_interval=1.45", steps, G_N_ELEMENTS(steps)),
                    136250);
}
END_TEST

/* The pipe serves a pass a cycle; passes of one access are 2 cycles apart, accesses of a scheduler 4. */
START_TEST(schedulers_take_turns) {
  static const Step steps[] = {
      {0, 100, 1, 100, 123},
      {1, 100, 1, 101, 124},            /* behind the first in the pipe */
      {0, 101, 1, 104, 127},            /* 4 cycles after the first of its scheduler */
      {2, 110, 32, 110, 110 + 62 + 23}, /* takes 32 cycles of the pipe, over 64 */
      {3, 110, 1, 142, 165},
      {2, 111, 1, 174, 197}, /* its scheduler serves the long one until 174 */
      {0, 112, 1, 144, 167}, /* the pipe has time left, all the same */
  };
  expect_served("sm.shared.latency=23 sm.shared.pass_interval=1 sm.shared.conflict_interval=2 "
                "sm.shared.scheduler_interval=4",
                steps, G_N_ELEMENTS(steps));
}
END_TEST

typedef struct AtomicCase {
  const char *what, *turns;
  SharedAtomic kind;
  uint32_t mask, step, wrap; /* lane l accesses byte l * step % wrap */
  SharedCost cost;
} AtomicCase;

/* clang-format off */
static const AtomicCase atomic_cases[] = {
    {"by bank, one lane", "bank", SHARED_ARITHMETIC, 1, 4, 128, {1, 0, 1000, 0, 2000}},
    {"by bank, a bank each", "bank", SHARED_ARITHMETIC, UINT32_MAX, 4, 128, {1, 0, 1000, 0, 2000}},
    {"by bank, one word", "bank", SHARED_ARITHMETIC, UINT32_MAX, 0, 128, {32, 0, 32000, 62000, 64000}},
    {"by bank, two words of a bank", "bank", SHARED_EXCHANGE, UINT32_MAX, 128, 256, {32, 1, 48000, 93000, 96000}},
    {"by bank, 32 words of a bank", "bank", SHARED_ARITHMETIC, UINT32_MAX, 128, 4096, {32, 0, 32000, 62000, 64000}},
    {"by bank, compare-and-swap, one lane", "bank", SHARED_CAS, 4, 4, 128, {1, 7, 2000, 0, 4000}},
    {"by bank, compare-and-swap, 8 lanes on a word", "bank", SHARED_CAS, 0xff, 0, 128, {8, 7, 16000, 28000, 32000}},
    {"by word, one word", "word", SHARED_ARITHMETIC, UINT32_MAX, 0, 128, {1, 0, 32000, 62000, 64000}},
    {"by word, two words of a bank", "word", SHARED_EXCHANGE, UINT32_MAX, 128, 256, {2, 1, 24500, 47000, 49000}},
    {"counting, one word", "bank", SHARED_COUNT, UINT32_MAX, 0, 128, {1, 0, 5000, 0, 5000}},
    {"counting, two words of a bank", "bank", SHARED_COUNT, UINT32_MAX, 128, 256, {2, 0, 10000, 5000, 10000}},
    {"counting, a bank each", "bank", SHARED_COUNT, UINT32_MAX, 4, 128, {1, 0, 5000, 0, 5000}},
    {"arrivals at one barrier", "bank", SHARED_ARRIVAL, UINT32_MAX, 0, 128, {1, 0, 6000, 0, 6000}},
    {"arrivals at four barriers", "word", SHARED_ARRIVAL, UINT32_MAX, 8, 32, {4, 0, 24000, 18000, 24000}},
    {"an arrival of one lane", "bank", SHARED_ARRIVAL, 4, 8, 128, {1, 0, 6000, 0, 6000}},
    {"by word, 32 words of a bank", "word", SHARED_CAS, UINT32_MAX, 128, 4096, {32, 7, 32000, 62000, 64000}},
};
/* clang-format on */

/* Turns of 2, 3 and 4 cycles, passes of 1 (the pipe) and 2 (an access): the pipe is held for half of each turn. */
START_TEST(atomics_cost_by_kind_and_conflict) {
  const AtomicCase *c = &atomic_cases[_i];
  g_autofree char *settings =
      g_strconcat("sm.shared.pass_interval=1 sm.shared.conflict_interval=2 sm.shared.atomic_interval=2 "
                  "sm.shared.exchange_interval=3 sm.shared.cas_interval=4 sm.shared.exchange_extra=1 "
                  "sm.shared.cas_extra=7 sm.shared.count_interval=5 sm.shared.arrival_interval=6 "
                  "sm.shared.atomic_turns=",
                  c->turns, NULL);
  g_autoptr(Machine) machine = lab_machine(settings);
  SharedMemory shared;
  shared_init(&shared, machine);
  uint32_t address[32];
  for (uint32_t lane = 0; lane < 32; lane++)
    address[lane] = lane * c->step % c->wrap;
  SharedCost cost = shared_atomic_cost(&shared, c->kind, address, c->mask, 1);
  ck_assert_msg(cost.passes == c->cost.passes && cost.extra == c->cost.extra &&
                    cost.hold_milli == c->cost.hold_milli && cost.own_milli == c->cost.own_milli &&
                    cost.until_milli == c->cost.until_milli,
                "%s: %u passes, %u extra, holds %d, own %d, until %d", c->what, cost.passes, cost.extra,
                (int)cost.hold_milli, (int)cost.own_milli, (int)cost.until_milli);
  shared_clear(&shared);
}
END_TEST

/* Turns by bank, and of values of two and four words what they take beyond one word. */
START_TEST(atomics_cost_by_width) {
  static const struct {
    SharedAtomic kind;
    uint32_t mask, words;
    SharedCost cost;
  } cases[] = {
      {SHARED_CAS, 1, 1, {1, 7, 2000, 0, 4000}},
      {SHARED_CAS, 1, 2, {1, 11, 2000, 0, 4000}},
      {SHARED_CAS, 1, 4, {1, 22, 12000, 0, 4000}},
      {SHARED_EXCHANGE, 1, 2, {1, 1, 1500, 0, 3000}},
      {SHARED_EXCHANGE, 1, 4, {1, 12, 4000, 0, 3000}},
      {SHARED_EXCHANGE, 0xff, 4, {1, 12, 4000, 0, 3000}},
      {SHARED_EXCHANGE, UINT32_MAX, 4, {4, 12, 6000, 9000, 12000}},
  };
  g_autoptr(Machine) machine =
      lab_machine("sm.shared.pass_interval=1 sm.shared.conflict_interval=2 sm.shared.exchange_interval=3 "
                  "sm.shared.cas_interval=4 sm.shared.exchange_extra=1 sm.shared.cas_extra=7 "
                  "sm.shared.wide_cas_extra=4 sm.shared.quad_extra=11 sm.shared.quad_interval=4 "
                  "sm.shared.quad_cas_interval=12 sm.shared.atomic_turns=bank");
  SharedMemory shared;
  shared_init(&shared, machine);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    uint32_t address[32];
    for (uint32_t lane = 0; lane < 32; lane++)
      address[lane] = lane * 4 * cases[i].words;
    SharedCost cost = shared_atomic_cost(&shared, cases[i].kind, address, cases[i].mask, cases[i].words),
               want = cases[i].cost;
    ck_assert_msg(cost.passes == want.passes && cost.extra == want.extra && cost.hold_milli == want.hold_milli &&
                      cost.own_milli == want.own_milli && cost.until_milli == want.until_milli,
                  "%u: %u passes, %u extra, holds %d, own %d, until %d", i, cost.passes, cost.extra,
                  (int)cost.hold_milli, (int)cost.own_milli, (int)cost.until_milli);
  }
  shared_clear(&shared);
}
END_TEST

/* Without an interval of their own additions of 1 and arrivals are as any atomic, looks at a phase as any load. */
START_TEST(what_is_not_known_of_barriers) {
  g_autoptr(Machine) machine =
      lab_machine("sm.shared.pass_interval=1 sm.shared.conflict_interval=2 sm.shared.atomic_interval=2 "
                  "sm.shared.atomic_turns=bank");
  SharedMemory shared;
  shared_init(&shared, machine);
  uint32_t address[32] = {0};
  SharedCost any = shared_atomic_cost(&shared, SHARED_ARITHMETIC, address, 0xff, 1),
             count = shared_atomic_cost(&shared, SHARED_COUNT, address, 0xff, 1),
             arrival = shared_atomic_cost(&shared, SHARED_ARRIVAL, address, 0xff, 1),
             load = shared_cost(&shared, 3), check = shared_check_cost(&shared, 3);
  ck_assert_mem_eq(&any, &count, sizeof any);
  ck_assert_mem_eq(&any, &arrival, sizeof any);
  ck_assert_mem_eq(&load, &check, sizeof load);
  shared_clear(&shared);
}
END_TEST

START_TEST(looks_at_a_phase_take_the_pipe) {
  g_autoptr(Machine) machine = lab_machine("sm.shared.check_interval=4.1 sm.shared.check_extra=15");
  SharedMemory shared;
  shared_init(&shared, machine);
  SharedCost one = shared_check_cost(&shared, 1), two = shared_check_cost(&shared, 2);
  ck_assert_uint_eq(one.hold_milli, 4100);
  ck_assert_uint_eq(one.own_milli, 0);
  ck_assert_uint_eq(one.extra, 15);
  ck_assert_uint_eq(two.hold_milli, 8200);
  ck_assert_uint_eq(two.own_milli, 4100);
  shared_clear(&shared);
}
END_TEST

/* A pass takes 10 cycles: without room to run ahead a warp waits until its store is being served. */
START_TEST(stores_hold_their_warp_up) {
  static const struct {
    const char *settings;
    uint64_t cycles[4];
  } cases[] = {
      {"sm.shared.run_ahead=0", {0, 2, 10, 20}},
      {"sm.shared.run_ahead=6", {0, 2, 4, 14}},
      {"sm.shared.run_ahead=1000", {0, 2, 4, 6}},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *settings =
        g_strconcat("sm.issue_interval=2 sm.shared.pass_interval=10 ", cases[i].settings, NULL);
    g_autoptr(Lab) lab =
        lab_new(settings, ".shared 64\nSTS [RZ], R0; STS [RZ], R0; STS [RZ], R0; STS [RZ], R0; EXIT");
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    for (unsigned pc = 0; pc < 4; pc++)
      ck_assert_msg(lab_cycle(lab, 0, pc, 0) == cases[i].cycles[pc], "%s: store %u in %d", cases[i].settings, pc,
                    (int)lab_cycle(lab, 0, pc, 0));
  }
}
END_TEST

START_TEST(jitter_stays_within_its_bounds) {
  g_autoptr(Machine) machine = lab_machine("sm.shared.latency=50 sm.jitter_cycles=3");
  SharedMemory shared;
  Rng rng;
  unsigned seen[4] = {0};
  rng_seed(&rng, 1, 1);
  shared_init(&shared, machine);
  for (uint64_t now = 0; now < 400000; now += 100) {
    SharedCost cost = shared_cost(&shared, 1);
    SharedService service = shared_serve(&shared, 0, now, &cost, &rng);
    UNIT_ASSERT(service.start == now && service.ready >= now + 50 && service.ready <= now + 53, "at %d", (int)now);
    seen[service.ready - now - 50]++;
  }
  for (unsigned i = 0; i < 4; i++)
    ck_assert_msg(seen[i] > 900 && seen[i] < 1100, "%u cycles: %u of 4000", i, seen[i]);
  shared_clear(&shared);
}
END_TEST

START_TEST(a_new_block_finds_zeros) {
  g_autoptr(Machine) machine = lab_machine("");
  SharedMemory shared;
  shared_init(&shared, machine);
  shared_reset_range(&shared, 0, 256, false);
  for (unsigned i = 0; i < 64; i++) {
    shared.words[i] = i + 1;
    shared.touched[i] = 15;
    WordChange change = {.cycle = 5, .thread = thread_id(3, 0, 0)};
    change_log_note(&shared.changes, i, &change, 0);
  }
  shared_reset_range(&shared, 128, 64, false);
  for (unsigned i = 0; i < 64; i++) {
    bool reset = i >= 32 && i < 48;
    ck_assert_uint_eq(shared.words[i], reset ? 0 : i + 1);
    ck_assert_uint_eq(shared.touched[i], reset ? 0 : 15);
    ck_assert(thread_is_none(change_log_get(&shared.changes, i).thread) == reset);
  }
  shared_clear(&shared);
}
END_TEST

/* ---- through programs ---- */

#define TIMES \
  "sm.issue_interval=2 sm.latency.alu=18 sm.latency.sysreg=18 sm.shared.latency=50 sm.shared.pass_interval=2"

/* pc 3 is the access, pc 4 needs its result. */
/* clang-format off */
static const struct { const char *access; uint32_t shift, passes; } loads[] = {
    {"LDS R4, [R1]", 2, 1},   {"LDS R4, [R1]", 3, 2},    {"LDS R4, [R1]", 7, 32},   {"LDS.U8 R4, [R1]", 0, 1},
    {"LDS.64 R4, [R1]", 3, 2}, {"LDS.128 R4, [R1]", 4, 4}, {"LDSLK P0, R4, [R1]", 3, 2},
};
/* clang-format on */

START_TEST(a_result_comes_after_the_last_pass) {
  for (unsigned interval = 1; interval <= 5; interval += 2) {
    g_autofree char *text =
        g_strdup_printf(".shared 4096\nS2R R0, SR_LaneId; SHL R1, R0, %u; NOP; %s; MOV R5, R4; EXIT", loads[_i].shift,
                        loads[_i].access);
    g_autofree char *settings = g_strdup_printf(TIMES " sm.shared.pass_interval=%u", interval);
    g_autoptr(Lab) lab = lab_new(settings, text);
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    ck_assert_uint_eq(lab_cycle(lab, 0, 4, 0) - lab_cycle(lab, 0, 3, 0), 50 + (loads[_i].passes - 1) * interval);
    ck_assert_uint_eq(lab->gpu->counters.shared_accesses, 1);
    ck_assert_uint_eq(lab->gpu->counters.shared_passes, loads[_i].passes);
  }
}
END_TEST

/* Warps 0 and 1 (two schedulers) issue in the same cycle: the second waits for the passes of the first, loads and
 * stores alike. The stores of warp 0 come first, so that warp 1 loads what they left. */
START_TEST(warps_share_the_pipe) {
  g_autoptr(Lab) lab = lab_new(TIMES " sm.schedulers=2",
                               ".shared 4096\n"
                               "S2R R0, SR_LaneId; SHL R1, R0, 0x4; S2R R2, SR_Tid_X; ISETP.GT P0, PT, R2, 31, PT\n"
                               "@!P0 STS [R1], R2; @P0 LDS R3, [R1]; IADD R4, R3, 0x1; EXIT");
  lab_launch(lab, 1, 64);
  lab_finish(lab);
  /* The STS of warp 1 is predicated off. Each access takes 16 passes (every 4th word: 8 banks of 4, so 4 passes). */
  uint64_t store = lab_cycle(lab, 0, 4, 0), load = lab_cycle(lab, 1, 5, 0);
  ck_assert_uint_eq(store + 2, load);
  ck_assert_uint_eq(lab->gpu->counters.shared_passes, 8);
  /* The store's passes start at store, +2, +4, +6; the load's at +8 ... +14. */
  ck_assert_uint_eq(lab_cycle(lab, 1, 6, 0), store + 8 + 6 + 50);
  for (unsigned lane = 0; lane < 32; lane++)
    ck_assert_uint_eq(lab_row(lab, 1, 4)[lane], lane + 1);
}
END_TEST

/* A store doesn't hold its warp. */
START_TEST(stores_are_not_waited_for) {
  g_autoptr(Lab) lab =
      lab_new(TIMES, ".shared 4096\nS2R R0, SR_LaneId; SHL R0, R0, 0x7; STS [R0], R0; NOP; LDS R1, [RZ]; "
                     "MOV R2, R1; EXIT");
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  uint64_t store = lab_cycle(lab, 0, 2, 0);
  ck_assert_uint_eq(lab_cycle(lab, 0, 3, 0), store + 2);
  ck_assert_uint_eq(lab_cycle(lab, 0, 4, 0), store + 4);
  ck_assert_uint_eq(lab_cycle(lab, 0, 5, 0), store + 32 * 2 + 50); /* the load queues behind 32 passes */
}
END_TEST

int main(void) {
  Suite *suite = suite_create("shared");
  TCase *tcase = tcase_create("shared");
  tcase_add_loop_test(tcase, counts_passes, 0, G_N_ELEMENTS(accesses));
  tcase_add_loop_test(tcase, wide_accesses_go_by_parts, 0, G_N_ELEMENTS(wide));
  tcase_add_loop_test(tcase, passes_are_the_words_of_the_fullest_bank, 0, 4);
  tcase_add_test(tcase, serves_in_order);
  tcase_add_test(tcase, a_pass_may_take_a_fraction);
  tcase_add_test(tcase, schedulers_take_turns);
  tcase_add_loop_test(tcase, atomics_cost_by_kind_and_conflict, 0, G_N_ELEMENTS(atomic_cases));
  tcase_add_test(tcase, atomics_cost_by_width);
  tcase_add_test(tcase, what_is_not_known_of_barriers);
  tcase_add_test(tcase, looks_at_a_phase_take_the_pipe);
  tcase_add_test(tcase, stores_hold_their_warp_up);
  tcase_add_test(tcase, jitter_stays_within_its_bounds);
  tcase_add_test(tcase, a_new_block_finds_zeros);
  tcase_add_loop_test(tcase, a_result_comes_after_the_last_pass, 0, G_N_ELEMENTS(loads));
  tcase_add_test(tcase, warps_share_the_pipe);
  tcase_add_test(tcase, stores_are_not_waited_for);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
