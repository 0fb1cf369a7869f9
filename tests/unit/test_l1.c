/* The L1: a cache by itself against a list of copies, then what programs see of it: stale copies, and what makes them
 * go. */
#include <glib.h>

#include "base/pages.h"
#include "sim/detect/misuse/misuse.h"
#include "sim/detect/naming/locate.h"
#include "sim/engine/rng.h"
#include "sim/memory/l1_banks.h"
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
  void *memory; /* its own */
  uint64_t hash;
  L1Hash watched;
} Bench;

static void bench_init(Bench *bench, const char *settings) {
  *bench = (Bench){.machine = lab_machine(settings), .backing = backing_new()};
  bench->data = backing_buffer(bench->backing, backing_add(bench->backing, "a", 4096, NULL))->data;
  for (uint32_t i = 0; i < 4096; i++)
    bench->data[i] = 1000 + i;
  uint32_t bytes = bench->machine->sm.l1.bytes;
  bench->memory = pages_new(1, l1_memory_bytes(bench->machine, bytes));
  bench->watched.value = &bench->hash;
  bench->l1 = l1_new(bench->machine, bytes, bench->memory, 0, &bench->watched);
}

static void bench_clear(Bench *bench) {
  l1_free(bench->l1);
  pages_free(bench->memory);
  backing_free(bench->backing);
  machine_free(bench->machine);
}

/* A load of these bytes: true if the cache has them, and then it uses their line. */
static bool l1_hit(L1 *l1, uint64_t address, uint32_t bytes) {
  uint32_t wanted = l1_sectors(l1_shape(l1), address, bytes);
  bool hit = (l1_look(l1, address).valid & wanted) == wanted;
  if (hit)
    l1_use(l1, address);
  return hit;
}

/* The copy of a word, and when it was read. */
static uint32_t l1_word(const L1 *l1, uint64_t address, uint64_t *since) {
  uint32_t word = 0;
  ck_assert(l1_peek(l1, address, &word));
  *since = l1_since(l1, address);
  return word;
}

/* The sector of that byte comes at once, unless it is there. */
static void fill(Bench *bench, uint32_t offset, uint64_t now) {
  if (l1_hit(bench->l1, FIRST + offset, 4))
    return;
  uint64_t start = (FIRST + offset) & ~UINT64_C(15);
  l1_expect(bench->l1, FIRST + offset, l1_sectors(l1_shape(bench->l1), FIRST + offset, 1), 3);
  l1_fill(bench->l1, start, 16, 3, &bench->data[(start - FIRST) / 4], now);
}

START_TEST(keeps_what_it_fetched) {
  Bench bench;
  uint64_t since;
  bench_init(&bench, SMALL);
  ck_assert(!l1_hit(bench.l1, FIRST + 20, 4));
  fill(&bench, 20, 50);
  bench.data[4] = bench.data[5] = 7;
  ck_assert(l1_hit(bench.l1, FIRST + 16, 16)); /* its sector */
  ck_assert(!l1_hit(bench.l1, FIRST + 32, 4)); /* the next one of the line */
  ck_assert(!l1_hit(bench.l1, FIRST + 28, 8)); /* both */
  ck_assert_uint_eq(l1_word(bench.l1, FIRST + 20, &since), 1005);
  ck_assert_uint_eq(since, 50);
  fill(&bench, 24, 80); /* is there already */
  ck_assert_uint_eq(l1_word(bench.l1, FIRST + 20, &since), 1005);
  ck_assert_uint_eq(since, 50);
  l1_evict(bench.l1, FIRST + 16, l1_sectors(l1_shape(bench.l1), FIRST + 16, 4));
  ck_assert(!l1_hit(bench.l1, FIRST + 20, 4));
  fill(&bench, 20, 90);
  ck_assert_uint_eq(l1_word(bench.l1, FIRST + 20, &since), 7);
  l1_invalidate(bench.l1);
  ck_assert(!l1_hit(bench.l1, FIRST + 20, 4));
  bench_clear(&bench);
}
END_TEST

/* What gives a sector up while it is on its way. */
START_TEST(pending_sectors_are_given_up) {
  enum { UPDATE, EVICT, INVALIDATE, REPLACE, NOTHING };
  for (unsigned what = UPDATE; what <= NOTHING; what++) {
    Bench bench;
    uint32_t fetcher = 0, word;
    bench_init(&bench, SMALL "sm.l1.global_stores=update");
    l1_expect(bench.l1, FIRST + 20, l1_sectors(l1_shape(bench.l1), FIRST + 20, 1), 5);
    ck_assert(l1_pending(bench.l1, FIRST + 28, &fetcher) && fetcher == 5);
    ck_assert(!l1_hit(bench.l1, FIRST + 20, 4) && !l1_peek(bench.l1, FIRST + 20, &word));
    ck_assert(l1_has_line(bench.l1, FIRST) && l1_room(bench.l1, FIRST) == 1);
    switch (what) {
    case UPDATE: l1_update(bench.l1, FIRST + 24, 1, 15); break;
    case EVICT: l1_evict(bench.l1, FIRST + 24, l1_sectors(l1_shape(bench.l1), FIRST + 24, 4)); break;
    case INVALIDATE: l1_invalidate(bench.l1); break;
    case REPLACE:
      fill(&bench, 256, 1);
      fill(&bench, 512, 2);
      break;
    default: break;
    }
    ck_assert(l1_pending(bench.l1, FIRST + 20, &fetcher) == (what == NOTHING));
    l1_fill(bench.l1, FIRST + 16, 16, 4, &bench.data[4], 9); /* somebody else's */
    ck_assert(!l1_hit(bench.l1, FIRST + 20, 4));
    l1_fill(bench.l1, FIRST + 16, 16, 5, &bench.data[4], 9);
    ck_assert(l1_hit(bench.l1, FIRST + 20, 4) == (what == NOTHING));
    ck_assert(!l1_pending(bench.l1, FIRST + 20, &fetcher));
    bench_clear(&bench);
  }
}
END_TEST

START_TEST(replaces_what_was_used_longest_ago) {
  Bench bench;
  bench_init(&bench, SMALL); /* four sets of two ways: lines 256 bytes apart share one */
  ck_assert_uint_eq(l1_room(bench.l1, FIRST), 2);
  fill(&bench, 0, 1);
  ck_assert_uint_eq(l1_room(bench.l1, FIRST + 256), 1);
  ck_assert(l1_has_line(bench.l1, FIRST + 4) && !l1_has_line(bench.l1, FIRST + 256));
  fill(&bench, 256, 2);
  ck_assert_uint_eq(l1_room(bench.l1, FIRST), 0);
  ck_assert_uint_eq(l1_set(bench.l1, FIRST), l1_set(bench.l1, FIRST + 256));
  ck_assert_uint_ne(l1_set(bench.l1, FIRST), l1_set(bench.l1, FIRST + 64));
  ck_assert_uint_eq(l1_room(bench.l1, FIRST + 64), 2);
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

static uint64_t hash_of(Bench *bench) {
  l1_settle_hash(bench->l1);
  return bench->hash;
}

/* The hash comes back exactly when contents and order of use do. */
START_TEST(its_hash_is_its_state) {
  Bench bench;
  bench_init(&bench, SMALL);
  bench.watched.watch = 1;
  fill(&bench, 0, 1);
  uint64_t one = hash_of(&bench);
  fill(&bench, 256, 2);
  uint64_t both = hash_of(&bench);
  l1_hit(bench.l1, FIRST, 4);
  ck_assert(one != 0 && both != one && hash_of(&bench) != both); /* the other one goes first now */
  l1_hit(bench.l1, FIRST + 256, 4);
  ck_assert(hash_of(&bench) == both);
  l1_evict(bench.l1, FIRST + 256, l1_sectors(l1_shape(bench.l1), FIRST + 256, 4));
  ck_assert(hash_of(&bench) == one);
  bench.data[0]++;
  l1_evict(bench.l1, FIRST, 1);
  fill(&bench, 0, 3);
  ck_assert(hash_of(&bench) != one);
  l1_invalidate(bench.l1);
  ck_assert(hash_of(&bench) == 0);
  bench_clear(&bench);
}
END_TEST

/* Against copies in a plain table: whatever the cache still has must be what was fetched or stored. Half of the time
 * it has more tags than memory for lines. */
START_TEST(agrees_with_a_table) {
  enum { WORDS = 256, STEPS = 20000 };
  Bench bench;
  bench_init(&bench, _i % 2 ? SMALL "sm.l1.global_stores=update"
                            : SMALL "sm.l1.global_stores=update sm.l1.sets=16 sm.l1.kept_ways=1");
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
    case 2: l1_evict(bench.l1, address, l1_sectors(l1_shape(bench.l1), address, 4)); break;
    default:
      if (l1_hit(bench.l1, address, 4))
        break;
      fill(&bench, 4 * word, step);
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

/* The fact of the H200: each SM counts in its own L1, and nearly all updates of the others are lost. Where a store
 * evicts the copy, the next load fetches the counter anew, so there it is right. */
START_TEST(counts_under_a_lock) {
  const Counting *c = &countings[_i];
  g_autoptr(Lab) lab = lab_new(c->settings, c->text);
  uint32_t *lock = lab_buffer(lab, 1), *counter = lab_buffer(lab, 1);
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  Misuse *misuse = misuse_new(lab->gpu, findings);
  lab_launch(lab, BLOCKS, 1);
  lab_finish(lab);
  ck_assert_uint_eq(*lock, 0);
  bool stale = false;
  for (guint i = 0; i < findings->len; i++)
    stale |= ((Finding *)g_ptr_array_index(findings, i))->id == FINDING_STALE_READ;
  ck_assert_msg((*counter == ROUNDS * BLOCKS) == c->right, "%s: counted %u", c->name, *counter);
  ck_assert_msg(stale == !c->right, "%s: stale reads: %d", c->name, stale);
  misuse_free(misuse);
}
END_TEST

/* A reader keeps a copy, a writer on another SM changes the word, the reader does what stands `between` and loads
 * again. `sem` and `scope` are that instruction's, which SASS can't say. Arguments: data, flag. */
typedef struct Order {
  const char *name, *between;
  MemSem sem;
  MemScope scope;
  bool fresh;
} Order;

static const Order orders[] = {
    {"nothing", "NOP", SEM_WEAK, SCOPE_GPU, false},
    {"a barrier of the block", "BAR.RED.POPC RZ, RZ", SEM_WEAK, SCOPE_GPU, false},
    {"a fence of the block", "MEMBAR.CTA", SEM_SC, SCOPE_CTA, false},
    {"fence.sc", "MEMBAR.GL", SEM_SC, SCOPE_GPU, true},
    {"fence.acq_rel", "MEMBAR.GL", SEM_ACQ_REL, SCOPE_GPU, true},
    {"a fence that no lane executes", "@!PT MEMBAR.GL", SEM_SC, SCOPE_GPU, false},
    {"a fence of the system", "MEMBAR.SYS", SEM_SC, SCOPE_SYS, true},
    {"a relaxed load", "LD R7, [R1]", SEM_RELAXED, SCOPE_GPU, false},
    {"a volatile load", "LD R7, [R1]", SEM_VOLATILE, SCOPE_GPU, false},
    {"an acquire load", "LD R7, [R1]", SEM_ACQUIRE, SCOPE_GPU, true},
    {"an acquire load that no lane executes", "@!PT LD R7, [R1]", SEM_ACQUIRE, SCOPE_GPU, false},
    {"an acquire load of the block", "LD R7, [R1]", SEM_ACQUIRE, SCOPE_CTA, false},
    {"a release store", "ST [R1+0x8], R2", SEM_RELEASE, SCOPE_GPU, false},
    {"a relaxed atomic elsewhere", "ATOM.ADD R7, [R1+0x8], RZ", SEM_RELAXED, SCOPE_GPU, false},
    {"an acquire atomic elsewhere", "ATOM.ADD R7, [R1+0x8], RZ", SEM_ACQUIRE, SCOPE_GPU, true},
    {"an atomic on the word", "ATOM.ADD R7, [R0], RZ", SEM_RELAXED, SCOPE_GPU, true},
    {"a volatile store to its sector", "ST [R0+0x4], RZ", SEM_VOLATILE, SCOPE_GPU, true},
    {"a plain store to its sector", "ST [R0+0x4], RZ", SEM_WEAK, SCOPE_GPU, false},
};

#define READER                                                                        \
  "S2R R3, SR_CTAid_X; MOV R0, c[0x0][0x20]; MOV R1, c[0x0][0x24]; MOV32I R2, 0x1;\n" \
  "ISETP.NE.AND P0, pt, R3, RZ, pt; @P0 BRA write;\n"                                 \
  "LD R4, [R0]; MOV R4, R4; ATOM.EXCH R5, [R1], R2;\n"                                \
  "wait: LD.CV R5, [R1+0x4]; ISETP.EQ.AND P0, pt, R5, RZ, pt; @P0 BRA wait;\n"        \
  "%s;\nLD R6, [R0]; MOV R6, R6; EXIT;\n"                                             \
  "write: LD.CV R5, [R1]; ISETP.EQ.AND P0, pt, R5, RZ, pt; @P0 BRA write;\n"          \
  "MOV32I R6, 0x9; ST [R0], R6; MEMBAR.GL; ST [R1+0x4], R2; EXIT;"
enum { BETWEEN = 12 };

START_TEST(orders_decide_what_a_load_sees) {
  const Order *o = &orders[_i];
  g_autofree char *text = g_strdup_printf(READER, o->between);
  g_autoptr(Lab) lab = lab_new(CACHED, text);
  uint32_t *data = lab_buffer(lab, 32);
  lab_buffer(lab, 8);
  data[0] = 5;
  Inst *inst = &program_kernel(lab->program, 0)->insts[BETWEEN];
  inst->sem = o->sem;
  inst->scope = o->scope;
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  Misuse *misuse = misuse_new(lab->gpu, findings);
  lab_launch(lab, 2, 1);
  lab_finish(lab);
  ck_assert_uint_eq(lab_row(lab, 0, 4)[0], 5);
  ck_assert_msg(lab_row(lab, 0, 6)[0] == (o->fresh ? 9 : 5), "%s: reads %u", o->name, lab_row(lab, 0, 6)[0]);
  ck_assert_msg(findings->len == (o->fresh ? 0 : 1), "%s: %u findings", o->name, findings->len);
  if (!o->fresh) {
    const Finding *finding = g_ptr_array_index(findings, 0);
    ck_assert_int_eq(finding->id, FINDING_STALE_READ);
    ck_assert_uint_eq(finding->line, 6);
    ck_assert_msg(g_str_has_prefix(finding->message, "lane 0 of warp 0 of block 0 on SM 0 reads buffer[0] (global "
                                                     "0x10000) as 5, a copy in the SM's L1 cache from cycle "),
                  "%s", finding->message);
    ck_assert_msg(g_strrstr(finding->message, "but it is 9: lane 0 of warp 0 of block 1 stored it in cycle ") !=
                          NULL &&
                      g_str_has_suffix(finding->message, "(line 8)"),
                  "%s", finding->message);
  }
  misuse_free(misuse);
}
END_TEST

/* A hit takes sm.l1.latency; one on a sector that is on its way waits for it. */
START_TEST(hits_are_quick) {
  g_autoptr(Lab) lab = lab_new(CACHED "sm.l1.latency=80 memory.latency=600 sm.issue_interval=2 sm.latency.alu=18 "
                                      "memory.bytes_per_cycle=100000 sm.l1.sector=32",
                               "MOV R0, c[0x0][0x20]; LD R1, [R0]; LD R2, [R0+0x4]; MOV R3, R2; LD R4, [R0+0x8]; "
                               "MOV R5, R4; LD R6, [R0+0x20]; MOV R7, R6; EXIT");
  lab_buffer(lab, 64);
  lab_launch(lab, 1, 1);
  lab_finish(lab);
  ck_assert_uint_eq(lab_cycle(lab, 0, 3, 0), 618); /* with the first load */
  ck_assert_uint_eq(lab_cycle(lab, 0, 5, 0), 620 + 80);
  ck_assert_uint_eq(lab_cycle(lab, 0, 7, 0), 702 + 600); /* the next sector */
  ck_assert_uint_eq(lab->gpu->counters.l1_hits, 2);
  ck_assert_uint_eq(lab->gpu->counters.l1_misses, 2);
}
END_TEST

/* A load takes the L1 for each word of one bank that its lanes come to, and waits for the loads before it. */
START_TEST(words_of_a_bank_take_turns) {
  g_autoptr(Lab) lab = lab_new(CACHED "sm.l1.latency=80 sm.l1.bank_interval=3 sm.l1.bank_latency=2.25 "
                                      "sm.issue_interval=2 sm.l1.sector=32 sm.l1.line=128",
                               "S2R R0, SR_Tid_X; LOP.AND R0, R0, 0x3; SHL R0, R0, 0x7; MOV R1, c[0x0][0x20]; "
                               "IADD R0, R0, R1; LD R2, [R0]; MOV R3, R2; LD R4, [R0]; MOV R5, R4; LD R6, [R0]; "
                               "LD R7, [R1]; MOV R8, R7; EXIT");
  lab_buffer(lab, 128);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  uint64_t four = lab_cycle(lab, 0, 7, 0), behind = lab_cycle(lab, 0, 9, 0);
  ck_assert_uint_eq(lab_cycle(lab, 0, 8, 0), four + 80 + 7); /* 3 * 2.25 more than one line */
  ck_assert_uint_eq(lab_cycle(lab, 0, 10, 0), behind + 2);
  ck_assert_uint_eq(lab_cycle(lab, 0, 11, 0), behind + 4 * 3 + 80); /* the L1 has read four words first */
  ck_assert_uint_eq(lab->gpu->counters.l1_misses, 32);
}
END_TEST

/* Four lanes go to a line and a bank of words each: the lines take turns at one bank of tags, and none at four. */
START_TEST(lines_of_a_tag_bank_take_turns) {
  for (uint32_t banks = 1; banks <= 4; banks *= 2) {
    g_autofree char *settings =
        g_strdup_printf(CACHED "sm.l1.latency=80 sm.l1.tag_interval=3 sm.l1.bank_interval=1 sm.l1.tag_latency=2.25 "
                               "sm.l1.tag_banks=%u sm.issue_interval=2 sm.l1.sector=32 sm.l1.line=128",
                        banks);
    g_autoptr(Lab) lab = lab_new(settings,
                                 "S2R R0, SR_Tid_X; LOP.AND R0, R0, 0x3; IMAD R0, R0, 0x84, RZ; "
                                 "MOV R1, c[0x0][0x20]; IADD R0, R0, R1; LD R2, [R0]; MOV R3, R2; "
                                 "LD R4, [R0]; MOV R5, R4; LD R6, [R0]; "
                                 "LD R7, [R1]; MOV R8, R7; EXIT");
    lab_buffer(lab, 128);
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    uint64_t turns = 4 / banks, four = lab_cycle(lab, 0, 7, 0), behind = lab_cycle(lab, 0, 9, 0);
    ck_assert_uint_eq(lab_cycle(lab, 0, 8, 0), four + 80 + (turns - 1) * 9 / 4 + (turns > 1));
    ck_assert_uint_eq(lab_cycle(lab, 0, 11, 0), behind + MAX(2, turns * 3) + 80);
  }
}
END_TEST

/* What an H200 took (mem_gather_h200.csv): lines in a row have a bank of tags each; of each third line most have the
 * same; two lines of one bank differ in bit 9 and in bits 0. */
START_TEST(turns_of_banks) {
  uint64_t row[32], third[32], address[32];
  uint32_t lanes[32];
  const uint32_t counts[] = {4, 8, 16, 32}, in_row[] = {1, 2, 4, 8}, of_third[] = {3, 5, 7, 11};
  for (uint32_t i = 0; i < 32; i++) {
    row[i] = i;
    third[i] = 3 * i;
  }
  for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++) {
    ck_assert_uint_eq(l1_banks_tags(row, counts[i], 4), in_row[i]);
    ck_assert_uint_eq(l1_banks_tags(third, counts[i], 4), of_third[i]);
    ck_assert_uint_eq(l1_banks_tags(third, counts[i], 1), counts[i]);
  }
  const uint64_t beside[2] = {1, 1 << 9}, apart[2] = {2, 1 << 9};
  ck_assert_uint_eq(l1_banks_tags(beside, 2, 4), 2);
  ck_assert_uint_eq(l1_banks_tags(apart, 2, 4), 1);
  for (uint32_t of_bank = 1; of_bank <= 32; of_bank *= 2) { /* so many lanes in each bank, in lines of their own */
    for (uint32_t i = 0; i < 32; i++) {
      address[i] = 128 * i + 4 * (i / of_bank);
      lanes[i] = 1u << i;
    }
    ck_assert_uint_eq(l1_banks_words(address, lanes, 32, 4), of_bank);
  }
  for (uint32_t i = 0; i < 32; i++) {
    address[i] = 4096 + 16 * i;
    lanes[i] = 0xffu << 8 * (i & 3);
  }
  ck_assert_uint_eq(l1_banks_words(address, lanes, 4, 16), 4);
  ck_assert_uint_eq(l1_banks_words(address, lanes, 1, 16), 1);
  ck_assert_uint_eq(l1_banks_words(address, lanes, 4, 1), 4); /* every fourth word of four lines */
}
END_TEST

/* Two kernels: the second, on the same SMs, sees what the first wrote elsewhere. */
START_TEST(a_kernel_starts_without_copies) {
  g_autoptr(Lab) lab = lab_new(CACHED, "S2R R3, SR_CTAid_X; MOV R0, c[0x0][0x20]; SHL R4, R3, 0x2; IADD R4, R4, R0; "
                                       "LD R1, [R0]; MOV R1, R1; BAR.RED.POPC RZ, RZ; LD R2, [R4]; IADD R2, R2, 0x1; "
                                       "ST [R4], R2; EXIT");
  uint32_t *data = lab_buffer(lab, 32);
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  Misuse *misuse = misuse_new(lab->gpu, findings);
  for (int i = 0; i < 3; i++)
    lab_launch_grid(lab, 0, 4, 1, 0, 0);
  lab_finish(lab);
  for (unsigned i = 0; i < 4; i++)
    ck_assert_uint_eq(data[i], 3);
  ck_assert_uint_eq(lab_row(lab, 0, 1)[0], 2);
  misuse_free(misuse);
}
END_TEST

/* Programs without races give what they give without a cache, and never read a stale copy. */
START_TEST(race_free_programs_see_no_cache) {
  static const char text[] =
      "S2R R0, SR_Tid_X; S2R R1, SR_CTAid_X; SHL R2, R1, 0x8; ISCADD R2, R0, R2, 0x2; "
      "MOV R3, c[0x0][0x20]; IADD R2, R2, R3; MOV32I R5, 0x8;\n"
      "again: LD R4, [R2]; IMAD R4, R4, R5, R0; ST [R2], R4; LD.U8 R6, [R2+0x1]; IADD R6, R6, R5; "
      "ST.U8 [R2+0x2], R6; BAR.RED.POPC RZ, RZ; LOP.XOR R7, R2, 0x80; LD R8, [R7]; "
      "BAR.RED.POPC RZ, RZ; IADD R8, R8, R6; ST [R2], R8; BAR.RED.POPC RZ, RZ; "
      "IADD R5, R5, -0x1; ISETP.GT.AND P0, pt, R5, RZ, pt; @P0 BRA again; EXIT;";
  static const char *const settings[] = {"gpu.sms=4", CACHED, CACHED "sm.l1.global_stores=evict",
                                         CACHED "sm.l1.bytes=512 sm.l1.ways=2 sm.l1.line=64"};
  uint64_t digest[G_N_ELEMENTS(settings)];
  for (unsigned i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autoptr(Lab) lab = lab_new(settings[i], text);
    uint32_t *data = lab_buffer(lab, 8 * 64);
    for (uint32_t word = 0; word < 8 * 64; word++)
      data[word] = word * 2654435761u;
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    Misuse *misuse = misuse_new(lab->gpu, findings);
    lab_launch(lab, 8, 64);
    lab_finish(lab);
    digest[i] = backing_digest(lab->backing);
    ck_assert_msg(findings->len == 0, "%s: %u findings", settings[i], findings->len);
    ck_assert_msg(digest[i] == digest[0], "%s gives another result", settings[i]);
    /* what is issued is served: each load's lanes hit or miss, and only misses go to memory */
    const Counters *counters = &lab->gpu->counters;
    ck_assert_uint_eq(counters->l1_hits + counters->l1_misses, i == 0 ? 0 : 8 * 64 * 8 * 3);
    misuse_free(misuse);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("l1");
  TCase *tcase = tcase_create("l1");
  tcase_add_test(tcase, keeps_what_it_fetched);
  tcase_add_test(tcase, pending_sectors_are_given_up);
  tcase_add_test(tcase, replaces_what_was_used_longest_ago);
  tcase_add_test(tcase, stores_update_or_evict);
  tcase_add_test(tcase, its_hash_is_its_state);
  tcase_add_loop_test(tcase, agrees_with_a_table, 0, 4);
  tcase_add_loop_test(tcase, counts_under_a_lock, 0, G_N_ELEMENTS(countings));
  tcase_add_loop_test(tcase, orders_decide_what_a_load_sees, 0, G_N_ELEMENTS(orders));
  tcase_add_test(tcase, hits_are_quick);
  tcase_add_test(tcase, words_of_a_bank_take_turns);
  tcase_add_test(tcase, lines_of_a_tag_bank_take_turns);
  tcase_add_test(tcase, turns_of_banks);
  tcase_add_test(tcase, a_kernel_starts_without_copies);
  tcase_add_test(tcase, race_free_programs_see_no_cache);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
