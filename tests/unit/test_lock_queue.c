/* Locks in the tags of L1 and L2: who has one, who waits for it where, and when it comes (sim/memory/lock_queue.h),
 * and what warps do with them (sim/core/locks.h). Times are worked out by hand. */
#include <glib.h>

#include "sim/memory/lock_queue.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* An L1 of 4 sets of 2 lines, an L2 of 8; lines 512 bytes (L1) or 1024 bytes (L2) apart share a set. */
#define QUEUES                                                                                                       \
  "gpu.sms=3 sm.l1.bytes=1024 sm.l1.line=128 sm.l1.ways=2 memory.l2.bytes=2048 memory.l2.line=128 memory.l2.ways=2 " \
  "sm.lock_queue.l1_ways=2 sm.lock_queue.l2_ways=2 sm.lock_queue.latency=10 sm.lock_queue.interval=3 "               \
  "sm.lock_queue.keep=100 sm.lock_queue.handovers=2 sm.lock_queue.grant_latency=20 "

typedef struct Queues {
  Machine *machine;
  Counters counters;
  LockQueues *queues;
} Queues;

static Queues *queues_new(const char *settings) {
  Queues *test = g_new0(Queues, 1);
  g_autofree char *all = g_strconcat(QUEUES, settings, NULL);
  test->machine = lab_machine(all);
  test->queues = lock_queues_new(test->machine, &test->counters);
  return test;
}

static void queues_free(Queues *test) {
  lock_queues_free(test->queues);
  machine_free(test->machine);
  g_free(test);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Queues, queues_free)

enum { A = 0x1000 };

#define TRY(sm, address, now, answer) ck_assert_int_eq(lock_queues_try(test->queues, sm, address, true, now), answer)
#define ASK(sm, address, now, has) ck_assert_int_eq(lock_queues_ask(test->queues, sm, address, true, now), has)
#define RELEASE(sm, address, now, stays) ck_assert_int_eq(lock_queues_release(test->queues, sm, address, now), stays)
#define GIVE_BACK(sm, address, now) lock_queues_give_back(test->queues, sm, address, now)

/* A lane of the SM has it, from the L2. */
static void take(Queues *test, uint32_t sm, uint64_t address, uint64_t now) {
  TRY(sm, address, now, LOCK_ASK);
  ASK(sm, address, now + 5, true);
}

START_TEST(a_machine_without_them_has_none) {
  g_autoptr(Machine) machine = lab_machine("");
  Counters counters = {0};
  ck_assert_ptr_null(lock_queues_new(machine, &counters));
  ck_assert(lock_queues_are_still(NULL, 0));
  ck_assert_uint_eq(lock_queues_digest(NULL), 0);
}
END_TEST

START_TEST(one_lane_asks_and_the_others_wait_in_the_l1) {
  g_autoptr(Queues) test = queues_new("");
  TRY(0, A, 10, LOCK_ASK);
  TRY(0, A, 10, LOCK_WAIT);
  ASK(0, A, 15, true);
  TRY(0, A, 16, LOCK_WAIT);
  RELEASE(0, A, 30, true);
  TRY(0, A, 30, LOCK_TAKEN);
  TRY(0, A, 31, LOCK_WAIT);
  RELEASE(0, A, 40, true);
  TRY(0, A, 41, LOCK_TAKEN);
  RELEASE(0, A, 50, false); /* nobody was told to wait since */
  TRY(0, A, 51, LOCK_ASK);
  GIVE_BACK(0, A, 55);
  ASK(0, A, 56, true);
  ck_assert_uint_eq(test->counters.tags_local, 2);
  ck_assert_uint_eq(test->counters.tags_handovers, 2);
  ck_assert_uint_eq(test->counters.tags_asks, 2);
  ck_assert_uint_eq(test->counters.tags_waits, 3);
}
END_TEST

START_TEST(sms_have_it_in_the_order_of_the_l2) {
  g_autoptr(Queues) test = queues_new("");
  take(test, 0, A, 10);
  TRY(2, A, 11, LOCK_ASK);
  TRY(1, A, 12, LOCK_ASK);
  ASK(2, A, 16, false);
  ASK(1, A, 17, false);
  TRY(2, A, 18, LOCK_WAIT); /* the L1 knows that it is queued */
  RELEASE(0, A, 30, false);
  GIVE_BACK(0, A, 35);
  TRY(1, A, 60, LOCK_WAIT);
  TRY(2, A, 54, LOCK_WAIT); /* the grant comes 20 cycles later */
  TRY(2, A, 55, LOCK_TAKEN);
  RELEASE(2, A, 70, false);
  GIVE_BACK(2, A, 75);
  TRY(1, A, 94, LOCK_WAIT);
  TRY(1, A, 95, LOCK_TAKEN);
  RELEASE(1, A, 96, false); /* no lane of SM 1 has tried since */
  ck_assert_uint_eq(test->counters.tags_grants, 2);
  ck_assert_uint_eq(test->counters.tags_refusals, 2);
}
END_TEST

/* Twice in a row while SM 1 is queued; without a queue as often as lanes come. */
START_TEST(handovers_in_an_sm_are_bounded) {
  for (int queued = 0; queued < 2; queued++) {
    g_autoptr(Queues) test = queues_new("");
    take(test, 0, A, 10);
    if (queued) {
      TRY(1, A, 10, LOCK_ASK);
      ASK(1, A, 16, false);
    }
    for (uint64_t turn = 0; turn < 5; turn++) {
      TRY(0, A, 20 + turn, LOCK_WAIT);
      RELEASE(0, A, 20 + turn, !queued || turn < 2);
      if (queued && turn == 2)
        break;
      TRY(0, A, 20 + turn, LOCK_TAKEN);
    }
    GIVE_BACK(0, A, 40);
    if (queued)
      TRY(1, A, 60, LOCK_TAKEN);
  }
}
END_TEST

/* Freed in 30 and kept for its own lanes up to 130; at the L2 in 150; at SM 1 in 170, which keeps it up to 270; at SM
 * 2 in 310. */
START_TEST(who_does_not_come_gives_it_back) {
  g_autoptr(Queues) test = queues_new("");
  take(test, 0, A, 10);
  TRY(0, A, 20, LOCK_WAIT);
  for (uint32_t sm = 1; sm < 3; sm++) {
    TRY(sm, A, 20, LOCK_ASK);
    ASK(sm, A, 24 + sm, false);
  }
  RELEASE(0, A, 30, true);
  ck_assert(!lock_queues_are_still(test->queues, 31));
  TRY(1, A, 129, LOCK_WAIT);
  TRY(0, A, 130, LOCK_ASK); /* its L1 doesn't know the lock any more */
  TRY(1, A, 169, LOCK_WAIT);
  ASK(0, A, 175, false);
  TRY(2, A, 309, LOCK_WAIT);
  TRY(2, A, 310, LOCK_TAKEN);
  ck_assert_uint_eq(test->counters.tags_lapses, 2);
  ck_assert(lock_queues_are_still(test->queues, 311));
}
END_TEST

START_TEST(without_a_way_in_the_l1_each_try_asks) {
  g_autoptr(Queues) test = queues_new("");
  take(test, 0, A, 10);
  take(test, 0, A + 512, 10);
  take(test, 1, A + 1536, 10);
  for (uint64_t now = 20; now < 40; now += 10) {
    TRY(0, A + 1536, now, LOCK_ASK);
    ASK(0, A + 1536, now + 5, false);
  }
  ck_assert_uint_eq(test->counters.tags_untagged, 2);
  RELEASE(1, A + 1536, 50, false);
  GIVE_BACK(1, A + 1536, 55);
  ck_assert_uint_eq(test->counters.tags_grants, 0); /* SM 0 wasn't queued */
  TRY(0, A + 1536, 60, LOCK_ASK);
  ASK(0, A + 1536, 65, true);
  TRY(0, A + 1536, 66, LOCK_ASK);  /* its own SM doesn't know who has it */
  RELEASE(0, A + 1536, 70, false); /* and the L1 can't keep it */
  RELEASE(0, A, 70, false);        /* now there is a way */
  TRY(0, A + 1024 + 1024, 71, LOCK_ASK);
  TRY(0, A + 1024 + 1024, 72, LOCK_WAIT);
}
END_TEST

START_TEST(without_a_way_in_the_l2_nobody_is_queued) {
  g_autoptr(Queues) test = queues_new("");
  take(test, 0, A, 10);
  take(test, 0, A + 1024, 10);
  take(test, 1, A + 2048, 10); /* has the word alone */
  ck_assert_uint_eq(test->counters.tags_untagged, 1);
  TRY(2, A + 2048, 20, LOCK_ASK);
  ASK(2, A + 2048, 25, false);
  TRY(2, A + 2048, 30, LOCK_ASK);
  RELEASE(1, A + 2048, 30, false);
  GIVE_BACK(1, A + 2048, 35);
  ASK(2, A + 2048, 36, true);
}
END_TEST

/* Nobody's lock is left in a full set when its time is over. */
START_TEST(a_way_comes_free_by_itself) {
  g_autoptr(Queues) test = queues_new("");
  for (uint64_t i = 0; i < 2; i++) {
    take(test, 0, A + 512 * i, 10);
    TRY(0, A + 512 * i, 20, LOCK_WAIT);
    RELEASE(0, A + 512 * i, 30, true);
  }
  TRY(0, A + 1024, 129, LOCK_ASK);
  TRY(0, A + 1024, 129, LOCK_ASK);
  ck_assert_uint_eq(test->counters.tags_untagged, 2);
  TRY(0, A + 1024, 130, LOCK_ASK);
  TRY(0, A + 1024, 131, LOCK_WAIT);
}
END_TEST

START_TEST(a_word_that_is_not_free_is_not_given) {
  g_autoptr(Queues) test = queues_new("");
  ck_assert_int_eq(lock_queues_try(test->queues, 0, A, false, 10), LOCK_ASK);
  ck_assert(!lock_queues_ask(test->queues, 0, A, false, 15));
  take(test, 0, A, 20);
  GIVE_BACK(0, A, 30);
  GIVE_BACK(0, A, 31); /* nobody holds it */
  take(test, 1, A, 40);
}
END_TEST

START_TEST(tags_are_looked_up_one_by_one) {
  g_autoptr(Queues) test = queues_new("");
  ck_assert_uint_eq(lock_queues_look_up(test->queues, 0, 4, 100), 112);
  ck_assert_uint_eq(lock_queues_look_up(test->queues, 0, 1, 100), 115);
  ck_assert_uint_eq(lock_queues_look_up(test->queues, 1, 1, 100), 103);
  ck_assert_uint_eq(lock_queues_look_up(test->queues, 0, 1, 200), 203);
}
END_TEST

START_TEST(the_digest_tells_states_apart) {
  g_autoptr(Queues) test = queues_new("");
  uint64_t free = lock_queues_digest(test->queues);
  take(test, 0, A, 10);
  uint64_t held = lock_queues_digest(test->queues);
  TRY(1, A, 20, LOCK_ASK);
  ASK(1, A, 25, false);
  uint64_t queued = lock_queues_digest(test->queues);
  RELEASE(0, A, 30, false);
  GIVE_BACK(0, A, 35);
  TRY(1, A, 55, LOCK_TAKEN);
  uint64_t other = lock_queues_digest(test->queues);
  ck_assert(held != free && queued != held && other != held && other != queued && other != free);
  RELEASE(1, A, 60, false);
  GIVE_BACK(1, A, 65);
  ck_assert_uint_eq(lock_queues_digest(test->queues), free);
}
END_TEST

/* ---- warps ---- */

#define TRY_LOCK "MOV R1, c[0x0][0x20]; MOV32I R2, 0x7; ATOM.CAS.LOCK R3, [R1], RZ, R2; "

/* Lane 0 has the lock; the others find what it stored, or would have. */
START_TEST(one_lane_of_a_warp_has_it) {
  g_autoptr(Lab) lab = lab_new(QUEUES, TRY_LOCK "EXIT");
  uint32_t *word = lab_buffer(lab, 1);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  ck_assert_uint_eq(word[0], 7);
  for (unsigned lane = 0; lane < 32; lane++)
    ck_assert_uint_eq(lab_row(lab, 0, 3)[lane], lane == 0 ? 0 : 7);
  ck_assert_uint_eq(lab->gpu->counters.global_atomics, 1);
  ck_assert_uint_eq(lab->gpu->counters.tags_waits, 31);
}
END_TEST

/* A loop in which each lane adds one under the lock, as wide as the lanes of three SMs. */
#define COUNT                                                                                                     \
  "MOV R1, c[0x0][0x20]; MOV R4, c[0x0][0x24]; MOV32I R2, 0x1; again: ATOM.CAS.LOCK R3, [R1], RZ, R2;"            \
  "ISETP.EQ.AND P0, pt, R3, RZ, pt; @P0 LD.CV R6, [R4]; @P0 IADD R6, R6, 0x1; @P0 ST.WT [R4], R6; @P0 MEMBAR.GL;" \
  "@P0 RED.EXCH.LOCK [R1], RZ; @!P0 BRA again; EXIT"

static const char *const counting[] = {"", "sm.lock_queue.handovers=0", "sm.lock_queue.keep=1",
                                       "sm.lock_queue.l1_ways=1 sm.lock_queue.l2_ways=0",

                                       "sm.lock_queue.grant_latency=3000"};

START_TEST(sections_exclude_each_other) {
  g_autofree char *settings = g_strconcat(QUEUES "sm.l1.global_loads=cached ", counting[_i], NULL);
  g_autoptr(Lab) lab = lab_new(settings, COUNT);
  uint32_t *lock = lab_buffer(lab, 1), *count = lab_buffer(lab, 1);
  lab_launch(lab, 6, 64);
  lab_finish(lab);
  const Counters *counters = &lab->gpu->counters;
  ck_assert_uint_eq(count[0], 384);
  ck_assert_uint_eq(lock[0], 0);
  ck_assert_uint_eq(counters->tags_local + counters->tags_asks, 384);
}
END_TEST

/* The L1's answer, by hand: 4 cycles of the tags, latency 10 or 60. */
START_TEST(an_answer_of_the_l1_takes_time) {
  for (uint32_t latency = 10; latency <= 60; latency += 50) {
    g_autofree char *settings = g_strdup_printf(QUEUES "sm.lock_queue.interval=4 sm.lock_queue.latency=%u", latency);
    g_autoptr(Lab) lab =
        lab_new(settings, TRY_LOCK "MOV R9, R3; MOV32I R8, 0x1; ATOM.CAS.LOCK R3, [R1], RZ, R2; MOV R9, R3; EXIT");
    lab_buffer(lab, 1);
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    ck_assert_uint_eq(lab_cycle(lab, 0, 6, 0) - lab_cycle(lab, 0, 5, 0), 4 + latency);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lock_queue");
  TCase *tcase = tcase_create("lock_queue");
  tcase_add_test(tcase, a_machine_without_them_has_none);
  tcase_add_test(tcase, one_lane_asks_and_the_others_wait_in_the_l1);
  tcase_add_test(tcase, sms_have_it_in_the_order_of_the_l2);
  tcase_add_test(tcase, handovers_in_an_sm_are_bounded);
  tcase_add_test(tcase, who_does_not_come_gives_it_back);
  tcase_add_test(tcase, without_a_way_in_the_l1_each_try_asks);
  tcase_add_test(tcase, without_a_way_in_the_l2_nobody_is_queued);
  tcase_add_test(tcase, a_way_comes_free_by_itself);
  tcase_add_test(tcase, a_word_that_is_not_free_is_not_given);
  tcase_add_test(tcase, tags_are_looked_up_one_by_one);
  tcase_add_test(tcase, the_digest_tells_states_apart);
  tcase_add_test(tcase, one_lane_of_a_warp_has_it);
  tcase_add_loop_test(tcase, sections_exclude_each_other, 0, G_N_ELEMENTS(counting));
  tcase_add_test(tcase, an_answer_of_the_l1_takes_time);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
