/* Global memory: where buffers lie, what is found, who changed a word, and the digest. */
#include <glib.h>
#include <stdlib.h>

#include "base/pages.h"
#include "sim/engine/rng.h"
#include "sim/memory/backing.h"
#include "tests/unit/unit.h"

/* Of all sizes, and in memory that others had before. */
START_TEST(pages_are_zeros) {
  static const size_t words[] = {0, 1, 1000, 16368, 16369, 100000};
  for (unsigned round = 0; round < 3; round++)
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
      uint32_t *array = PAGES_NEW(uint32_t, words[i]);
      for (size_t word = 0; word < words[i]; word++) {
        ck_assert_uint_eq(array[word], 0);
        array[word] = UINT32_MAX;
      }
      pages_free(array);
    }
  pages_free(NULL);
}
END_TEST

START_TEST(lays_buffers_out) {
  static const uint32_t words[] = {1, 0, 128, 127, 129, 1000}, init[] = {7};
  static const uint64_t bases[] = {0x10000, 0x10400, 0x10600, 0x10a00, 0x10e00, 0x11400};
  Backing *backing = backing_new();
  for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
    guint index = backing_add(backing, "b", words[i], i == 0 ? init : NULL);
    ck_assert_uint_eq(index, i);
    const BackingBuffer *buffer = backing_buffer(backing, i);
    ck_assert_uint_eq(buffer->words, words[i]);
    ck_assert_msg(buffer->base == bases[i], "buffer %u at %x", i, (unsigned)buffer->base);
    for (uint32_t word = 0; word < words[i]; word++)
      ck_assert_uint_eq(buffer->data[word], i == 0 ? 7 : 0);
  }
  backing_free(backing);
}
END_TEST

/* Every address around every buffer, in any order: it is in the one that holds all its bytes, or in none. */
START_TEST(finds_what_holds_all_bytes) {
  Backing *backing = backing_new();
  Rng rng;
  rng_seed(&rng, 3, 0);
  ck_assert(backing_find(backing, 0x10000, 4) == NULL && backing_nearest(backing, 0x10000) == NULL);
  for (unsigned i = 0; i < 20; i++)
    backing_add(backing, "b", rng_below(&rng, 300), NULL);
  for (unsigned round = 0; round < 60000; round++) {
    uint64_t address =
        rng_below(&rng, 50) ? 0xff00 + rng_below(&rng, (uint32_t)(backing->next_address - 0xfe00)) : rng_next(&rng);
    uint32_t bytes = 1u << rng_below(&rng, 5);
    const BackingBuffer *right = NULL;
    for (guint i = 0; i < 20; i++) {
      const BackingBuffer *buffer = backing_buffer(backing, i);
      if (address >= buffer->base && address < buffer->base + 4 * buffer->words &&
          buffer->base + 4 * buffer->words - address >= bytes)
        right = buffer;
    }
    UNIT_ASSERT(backing_find(backing, address, bytes) == right, "address %x, %u bytes", (unsigned)address, bytes);
  }
  for (uint64_t below = 1; below <= 16; below++)
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
      ck_assert(backing_find(backing, 0 - below, bytes) == NULL); /* the end wraps round */
  backing_free(backing);
}
END_TEST

START_TEST(names_the_nearest) {
  Backing *backing = backing_new();
  backing_add(backing, "one", 4, NULL);
  backing_add(backing, "two", 4, NULL);
  const uint64_t second = backing_buffer(backing, 1)->base;
  ck_assert_str_eq(backing_nearest(backing, 0)->name, "one");
  ck_assert_str_eq(backing_nearest(backing, 0x10010)->name, "one");
  ck_assert_str_eq(backing_nearest(backing, second - 1)->name, "one");
  ck_assert_str_eq(backing_nearest(backing, second)->name, "two");
  ck_assert_str_eq(backing_nearest(backing, UINT64_MAX)->name, "two");
  backing_free(backing);
}
END_TEST

/* One thread changes one word. */
static void change(ChangeLog *log, uint32_t word, WordChange change) {
  unsigned lane = thread_lane(change.thread);
  change.thread.thread -= lane;
  change_log_note(log, word, &change, lane);
}

START_TEST(remembers_who_changed_a_word) {
  Backing *backing = backing_new();
  backing_add(backing, "b", 3000, NULL);
  BackingBuffer *buffer = backing_buffer(backing, 0);
  static const uint32_t changed[] = {0, 1023, 1024, 2999};
  for (unsigned i = 0; i < G_N_ELEMENTS(changed); i++)
    change(&buffer->changes, changed[i],
           (WordChange){.cycle = 10 + i, .thread = thread_id(0, 0, 20 + i), .pc = 30 + i});
  for (uint32_t word = 0; word < 3000; word++) {
    WordChange change = change_log_get(&buffer->changes, word);
    unsigned i = 0;
    while (i < G_N_ELEMENTS(changed) && changed[i] != word)
      i++;
    if (i < G_N_ELEMENTS(changed))
      UNIT_ASSERT(change.cycle == 10 + i && thread_equal(change.thread, thread_id(0, 0, 20 + i)) &&
                      change.pc == 30 + i,
                  "word %u", word);
    else
      UNIT_ASSERT(thread_is_none(change.thread), "word %u", word);
  }
  backing_free(backing);
}
END_TEST

/* Random instructions that change some words, forgotten now and then, against a record for each word. */
START_TEST(remembers_random_changes) {
  enum { WORDS = 700, STEPS = 5000 };
  static WordChange right[WORDS];
  ChangeLog log;
  Rng rng;
  rng_seed(&rng, 7, 1);
  change_log_init(&log, WORDS);
  for (unsigned i = 0; i < WORDS; i++)
    right[i] = (WordChange){.thread = THREAD_NONE};
  for (unsigned step = 0; step < STEPS; step++) {
    uint32_t word = rng_below(&rng, WORDS);
    if (rng_below(&rng, 50) == 0) {
      uint32_t count = rng_below(&rng, WORDS - word + 1);
      change_log_forget(&log, word, count);
      for (uint32_t i = word; i < word + count; i++)
        right[i] = (WordChange){.thread = THREAD_NONE};
    }
    ThreadId base = rng_below(&rng, 9) ? thread_id(rng_below(&rng, 2), 5, 32 * rng_below(&rng, 3)) : THREAD_HOST;
    WordChange first = {.cycle = step, .thread = base, .pc = rng_below(&rng, 9)};
    for (unsigned lane = rng_below(&rng, 32); lane < 32; lane++) {
      word = rng_below(&rng, 2) ? (word + 1) % WORDS : rng_below(&rng, WORDS);
      change_log_note(&log, word, &first, lane);
      if (rng_below(&rng, 40) == 0) /* the host changes the same word meanwhile, which is what the lane sees */
        change(&log, word, (WordChange){.cycle = step, .thread = THREAD_HOST});
      change_log_note(&log, word, &first, lane);
      right[word] = first;
      right[word].thread.thread += lane;
    }
    for (uint32_t i = 0; i < WORDS; i++) {
      WordChange got = change_log_get(&log, i);
      UNIT_ASSERT(thread_equal(got.thread, right[i].thread) && got.cycle == right[i].cycle && got.pc == right[i].pc,
                  "step %u, word %u", step, i);
    }
  }
  uint32_t apart = 0, together = 0;
  for (uint32_t line = 0; line < log.count; line++) {
    uint32_t records = 0, words = 0;
    bool is_apart = log.lines[line].behind == CHANGE_WORDS_APART;
    apart += is_apart;
    together += !is_apart;
    for (const ChangeRecord *record = is_apart ? NULL : &log.lines[line]; record; record = record->next, records++) {
      ck_assert_uint_eq(words & record->words, 0);
      words |= record->words;
    }
    ck_assert_uint_le(records, 4);
  }
  ck_assert_uint_gt(apart, together);
  change_log_clear(&log);
}
END_TEST

static uint64_t digest_of(const char *name, uint32_t words, uint32_t at, uint32_t value) {
  Backing *backing = backing_new();
  backing_add(backing, name, words, NULL);
  backing_buffer(backing, 0)->data[at] = value;
  backing_add(backing, "second", 1, NULL);
  uint64_t digest = backing_digest(backing);
  backing_free(backing);
  return digest;
}

START_TEST(the_digest_sees_every_word) {
  ck_assert(digest_of("b", 40, 3, 1) == digest_of("b", 40, 3, 1));
  for (uint32_t at = 0; at < 40; at++)
    for (unsigned bit = 0; bit < 32; bit++)
      UNIT_ASSERT(digest_of("b", 40, at, 1u << bit) != digest_of("b", 40, (at + 1) % 40, 1u << bit) &&
                      digest_of("b", 40, at, 1u << bit) != digest_of("b", 40, at, 0),
                  "bit %u of word %u", bit, at);
  ck_assert(digest_of("b", 40, 0, 0) != digest_of("c", 40, 0, 0));
  ck_assert(digest_of("b", 40, 0, 0) != digest_of("b", 41, 0, 0));
}
END_TEST

/* FNV-1a, 64 bits, over "b", a zero byte and the words' bytes from the lowest on: worked out independently. */
START_TEST(the_digest_is_fnv_1a) {
  static const unsigned char bytes[] = {'b', 0, 0x04, 0x03, 0x02, 0x01};
  uint64_t right = UINT64_C(14695981039346656037);
  for (unsigned i = 0; i < sizeof bytes; i++) {
    right ^= bytes[i];
    right *= UINT64_C(1099511628211);
  }
  Backing *backing = backing_new();
  const uint32_t word = 0x01020304;
  backing_add(backing, "b", 1, &word);
  ck_assert_uint_eq(backing_digest(backing), right);
  backing_free(backing);
}
END_TEST

START_TEST(thread_ids_keep_their_parts) {
  static const struct {
    uint32_t launch;
    uint64_t block;
    uint32_t thread;
  } threads[] = {{0, 0, 0},
                 {1, 2, 3},
                 {256, 0, 1023},
                 {1000000, (UINT64_C(1) << 63) - 1, 1023},
                 {0, UINT64_C(281474976645120), 31},
                 {7, 65535, 32}};
  for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
    ThreadId id = thread_id(threads[i].launch, threads[i].block, threads[i].thread);
    ck_assert_uint_eq(id.launch, threads[i].launch);
    ck_assert_uint_eq(id.block, threads[i].block);
    ck_assert_uint_eq(id.thread, threads[i].thread);
    ck_assert(!thread_is_none(id) && !thread_is_host(id));
    ck_assert_uint_eq(thread_warp(id), threads[i].thread / 32);
    ck_assert_uint_eq(thread_lane(id), threads[i].thread % 32);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("backing");
  TCase *tcase = tcase_create("backing");
  tcase_add_test(tcase, pages_are_zeros);
  tcase_add_test(tcase, lays_buffers_out);
  tcase_add_test(tcase, finds_what_holds_all_bytes);
  tcase_add_test(tcase, names_the_nearest);
  tcase_add_test(tcase, remembers_who_changed_a_word);
  tcase_add_test(tcase, remembers_random_changes);
  tcase_add_test(tcase, the_digest_sees_every_word);
  tcase_add_test(tcase, the_digest_is_fnv_1a);
  tcase_add_test(tcase, thread_ids_keep_their_parts);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
