/* The L1: a cache by itself against a list of copies, then what programs see of it: stale copies, and what makes them go. */
#include <glib.h>

#include "sim/detect/locate.h"
#include "sim/detect/misuse.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define SMALL "sm.l1.bytes=512 sm.l1.line=64 sm.l1.sector=16 sm.l1.ways=2 "
enum { FIRST = BACKING_FIRST_ADDRESS };

/* ---- the cache alone ---- */

typedef struct Bench {
  Machine *machine;
  Backing *backing;
  uint32_t *data;
  L1 *l1;
  bool hashing;
  uint64_t hash;
} Bench;

static void bench_init(Bench *bench, const char *settings) {
  *bench = (Bench){.machine = lab_machine(settings), .backing = backing_new()};
  bench->data = backing_buffer(bench->backing, backing_add(bench->backing, "a", 4096, NULL))->data;
  for (uint32_t i = 0; i < 4096; i++)
    bench->data[i] = 1000 + i;
  bench->l1 = l1_new(bench->machine, 0, &bench->hashing, &bench->hash);
}

static void bench_clear(Bench *bench) {
  l1_free(bench->l1);
  backing_free(bench->backing);
  machine_free(bench->machine);
}

static void fill(Bench *bench, uint32_t offset, uint64_t now) {
  l1_fill(bench->l1, bench->backing, FIRST + offset, 4, now, now + 100);
}

START_TEST(keeps_what_it_fetched) {
  Bench bench;
  uint64_t since, ready;
  bench_init(&bench, SMALL);
  ck_assert(!l1_hit(bench.l1, FIRST + 20, 4));
  fill(&bench, 20, 50);
  bench.data[4] = bench.data[5] = 7;
  ck_assert(l1_hit(bench.l1, FIRST + 16, 16)); /* its sector */
  ck_assert(!l1_hit(bench.l1, FIRST + 32, 4)); /* the next one of the line */
  ck_assert(!l1_hit(bench.l1, FIRST + 28, 8)); /* both */
  ck_assert_uint_eq(l1_word(bench.l1, FIRST + 20, &since, &ready), 1005);
  ck_assert_uint_eq(since, 50);
  ck_assert_uint_eq(ready, 150);
  fill(&bench, 24, 80); /* is there already */
  ck_assert_uint_eq(l1_word(bench.l1, FIRST + 20, &since, &ready), 1005);
  ck_assert_uint_eq(since, 50);
  l1_evict(bench.l1, FIRST + 16, 4);
  ck_assert(!l1_hit(bench.l1, FIRST + 20, 4));
  fill(&bench, 20, 90);
  ck_assert_uint_eq(l1_word(bench.l1, FIRST + 20, &since, &ready), 7);
  l1_invalidate(bench.l1);
  ck_assert(!l1_hit(bench.l1, FIRST + 20, 4));
  bench_clear(&bench);
}
END_TEST

START_TEST(replaces_what_was_used_longest_ago) {
  Bench bench;
  bench_init(&bench, SMALL); /* four sets: lines 256 bytes apart share one */
  fill(&bench, 0, 1);
  fill(&bench, 256, 2);
  ck_assert(l1_hit(bench.l1, FIRST, 4));
  fill(&bench, 512, 3);
  ck_assert(l1_hit(bench.l1, FIRST, 4));
  ck_assert(!l1_hit(bench.l1, FIRST + 256, 4));
  ck_assert(l1_hit(bench.l1, FIRST + 512, 4));
  fill(&bench, 64, 4); /* another set */
  ck_assert(l1_hit(bench.l1, FIRST, 4));
  bench_clear(&bench);
}
END_TEST

START_TEST(stores_update_or_evict) {
  static const char *const settings[] = {SMALL "sm.l1.global_stores=update", SMALL "sm.l1.global_stores=evict"};
  for (unsigned i = 0; i < 2; i++) {
    Bench bench;
    uint32_t word;
    bench_init(&bench, settings[i]);
    fill(&bench, 16, 1);
    l1_update(bench.l1, FIRST + 16, 0xaabbccdd, 6);
    ck_assert(l1_peek(bench.l1, FIRST + 16, &word) == (i == 0));
    if (i == 0)
      ck_assert_uint_eq(word, 0x00bbcc00 | (1004 & 0xff));
    ck_assert(l1_peek(bench.l1, FIRST + 20, &word) == (i == 0));
    l1_update(bench.l1, FIRST + 64, 1, 15); /* no copy: nothing comes of it */
    ck_assert(!l1_peek(bench.l1, FIRST + 64, &word));
    bench_clear(&bench);
  }
}
END_TEST

/* The hash comes back exactly when contents and order of use do. */
START_TEST(its_hash_is_its_state) {
  Bench bench;
  bench_init(&bench, SMALL);
  bench.hashing = true;
  fill(&bench, 0, 1);
  uint64_t one = bench.hash;
  fill(&bench, 256, 2);
  uint64_t both = bench.hash;
  l1_hit(bench.l1, FIRST, 4);
  ck_assert(one != 0 && both != one && bench.hash != both); /* the other one goes first now */
  l1_hit(bench.l1, FIRST + 256, 4);
  ck_assert(bench.hash == both);
  l1_evict(bench.l1, FIRST + 256, 4);
  ck_assert(bench.hash == one);
  bench.data[0]++;
  l1_evict(bench.l1, FIRST, 4);
  fill(&bench, 0, 3);
  ck_assert(bench.hash != one);
  l1_invalidate(bench.l1);
  ck_assert(bench.hash == 0);
  bench_clear(&bench);
}
END_TEST

/* Against copies in a plain table: whatever the cache still has must be what was fetched or stored. */
START_TEST(agrees_with_a_table) {
  enum { WORDS = 256, STEPS = 20000 };
  Bench bench;
  bench_init(&bench, SMALL "sm.l1.global_stores=update");
  uint32_t copy[WORDS];
  Rng rng;
  rng_seed(&rng, 7, (uint64_t)_i);
  for (unsigned step = 0; step < STEPS; step++) {
    uint32_t word = rng_below(&rng, WORDS), address = FIRST + 4 * word, value;
    switch (rng_below(&rng, 5)) {
    case 0: bench.data[word]++; break; /* another SM */
    case 1:
      bench.data[word] += 100;
      l1_update(bench.l1, address, bench.data[word], 15);
      copy[word] = bench.data[word];
      break;
    case 2: l1_evict(bench.l1, address, 4); break;
    default:
      if (l1_hit(bench.l1, address, 4))
        break;
      l1_fill(bench.l1, bench.backing, address, 4, step, step);
      for (uint32_t i = word / 4 * 4; i < word / 4 * 4 + 4; i++)
        copy[i] = bench.data[i];
    }
    word = rng_below(&rng, WORDS);
    if (l1_peek(bench.l1, FIRST + 4 * word, &value))
      UNIT_ASSERT(value == copy[word], "seed %d, step %u: word %u is %u, not %u", _i, step, word, value, copy[word]);
  }
  bench_clear(&bench);
}
END_TEST

/* ---- programs ---- */

#define CACHED "gpu.sms=4 sm.l1.bytes=16384 sm.l1.global_loads=cached sm.l1.global_stores=update "
#define UNCACHED "gpu.sms=4 sm.l1.bytes=16384 sm.l1.global_loads=uncached "
/* Each block adds 1 to a counter ROUNDS times, under a lock, and then lets others have it: lock, counter. */
#define COUNTER(load, store, before_unlock)                                                                 \
  "MOV R0, c[0x0][0x20]; MOV R1, c[0x0][0x24]; MOV32I R2, 0x1; MOV32I R6, 0x40;\n"                          \
  "again: ATOM.CAS R3, [R0], RZ, R2; ISETP.NE.AND P0, pt, R3, RZ, pt; @P0 BRA again;\n" load " R4, [R1];\n" \
  "IADD R4, R4, 0x1;\n" store " [R1], R4;\n" before_unlock "\n"                                             \
  "ATOM.EXCH R5, [R0], RZ; MOV32I R7, 0x20;\n"                                                              \
  "pause: IADD R7, R7, -0x1; ISETP.NE.AND P0, pt, R7, RZ, pt; @P0 BRA pause;\n"                             \
  "IADD R6, R6, -0x1; ISETP.NE.AND P0, pt, R6, RZ, pt; @P0 BRA again; EXIT;"
enum { ROUNDS = 64, BLOCKS = 4 };

typedef struct Counting {
  const char *name, *settings, *text;
  bool right;
} Counting;

static const Counting countings[] = {
    {"plain", CACHED, COUNTER("LD", "ST", ""), false},
    {"volatile", CACHED, COUNTER("LD.CV", "ST.WT", ""), true},
    {"a load past the L1", CACHED, COUNTER("LD.CG", "ST", ""), true},
    {"a fence before the unlock", CACHED, COUNTER("LD", "ST", "MEMBAR.GL;"), true},
    {"a fence of the system", CACHED, COUNTER("LD", "ST", "MEMBAR.SYS;"), true},
    {"a fence of the block", CACHED, COUNTER("LD", "ST", "MEMBAR.CTA;"), false},
    {"plain, globals not cached", UNCACHED, COUNTER("LD", "ST", ""), true},
    {"plain, no L1", "gpu.sms=4", COUNTER("LD", "ST", ""), true},
    {"plain, one SM", CACHED "gpu.sms=1", COUNTER("LD", "ST", ""), true},
    {"plain, stores evict", CACHED "sm.l1.global_stores=evict", COUNTER("LD", "ST", ""), true},
};

/* The fact of the H200: each SM counts in its own L1, and nearly all updates of the others are lost. Where a store evicts the
 * copy, the next load fetches the counter anew, so there it is right. */
START_TEST(counts_under_a_lock) {
  const Counting *c = &countings[_i];
  g_autoptr(Lab) lab = lab_new(c->settings, c->text);
  uint32_t *lock = lab_buffer(lab, 1), *counter = lab_buffer(lab, 1);
  Misuse misuse;
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  misuse_attach(&misuse, lab->gpu, findings);
  lab_launch(lab, BLOCKS, 1);
  lab_finish(lab);
  ck_assert_uint_eq(*lock, 0);
  bool stale = false;
  for (guint i = 0; i < findings->len; i++)
    stale |= ((Finding *)g_ptr_array_index(findings, i))->id == FINDING_STALE_READ;
  ck_assert_msg((*counter == ROUNDS * BLOCKS) == c->right, "%s: counted %u", c->name, *counter);
  ck_assert_msg(stale == !c->right, "%s: stale reads: %d", c->name, stale);
  misuse_clear(&misuse);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("l1");
  TCase *tcase = tcase_create("l1");
  tcase_add_test(tcase, keeps_what_it_fetched);
  tcase_add_test(tcase, replaces_what_was_used_longest_ago);
  tcase_add_test(tcase, stores_update_or_evict);
  tcase_add_test(tcase, its_hash_is_its_state);
  tcase_add_loop_test(tcase, agrees_with_a_table, 0, 4);
  tcase_add_loop_test(tcase, counts_under_a_lock, 0, G_N_ELEMENTS(countings));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
