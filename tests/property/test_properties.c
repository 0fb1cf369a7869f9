/* Properties of every run: the same seed gives the same run, also in parts and beside other runs; and what is counted
 * adds up. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

static const char *const policies[] = {"loose-round-robin", "greedy-then-oldest", "youngest", "random"};

/* ==== one seed, one run ==== */

/* Warps contend for lock bits and atomics, and meet at barriers; who comes first depends on the seed. */
static const char contended[] =
    ".shared 1024\nS2R R0, SR_Tid_X; S2R R1, SR_LaneId; MOV R2, c[0x0][0x20]; MOV R9, 3; LOP.AND R3, R0, 7; SHL R3, "
    "R3, 2\n"
    "round: LDSLK P0, R4, [R3]; @P0 IADD R4, R4, R0; @P0 STSUL [R3], R4; @!P0 BRA round\n"
    "ISETP.LT P1, PT, R1, 9, PT; @P1 ATOM.EXCH R5, [R2], R0; @!P1 ATOM.ADD R5, [R2+0x4], R1; SHL R6, R0, 3; IADD R6, "
    "R6, R2\n"
    "ST [R6+0x20], R5; BAR.SYNC 0; IADD R9, R9, -0x1; ISETP.NE P2, PT, R9, RZ, PT; @P2 BRA round; EXIT\n";

typedef struct Outcome {
  Counters counters;
  uint64_t cycles, digest, trace;
} Outcome;

static Lab *make_contest(uint64_t seed) {
  g_autofree char *settings = g_strdup_printf("gpu.sms=3 sm.max_blocks=2 sm.jitter_cycles=3 sm.issue_interval=3 "
                                              "sm.barrier.arrive_to_resume=1 sm.policy=%s",
                                              policies[seed % 4]);
  Lab *lab = lab_new_seeded(settings, contended, seed);
  lab_buffer(lab, 1024);
  lab_launch(lab, 9, 160);
  return lab;
}

static Outcome outcome_of(const Lab *lab) {
  Outcome outcome = {
      .counters = lab->gpu->counters, .cycles = lab->gpu->end_cycle, .digest = backing_digest(lab->backing)};
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    const uint64_t parts[] = {issue->cycle, issue->block, issue->sm, issue->slot, issue->pc, issue->lanes};
    for (unsigned part = 0; part < G_N_ELEMENTS(parts); part++)
      outcome.trace = rng_mix(outcome.trace ^ parts[part]);
  }
  return outcome;
}

static Outcome run_contest(uint64_t seed) {
  g_autoptr(Lab) lab = make_contest(seed);
  lab_finish(lab);
  return outcome_of(lab);
}

START_TEST(a_seed_gives_one_run) {
  Outcome first = run_contest((uint64_t)_i), second = run_contest((uint64_t)_i);
  ck_assert(memcmp(&first, &second, sizeof first) == 0);
}
END_TEST

START_TEST(seeds_differ) {
  unsigned traces = 0, memories = 0;
  for (uint64_t seed = 0; seed < 8; seed++) { /* seeds 4 apart have the same policy */
    Outcome one = run_contest(seed), other = run_contest(seed + 4);
    traces += one.trace != other.trace;
    memories += one.digest != other.digest;
  }
  ck_assert_uint_eq(traces, 8);
  ck_assert_uint_ge(memories, 4);
}
END_TEST

/* Stopping and going on, in steps of any length, changes nothing. */
START_TEST(stops_change_nothing) {
  Outcome whole = run_contest(6);
  g_autoptr(Lab) lab = make_contest(6);
  Rng rng;
  rng_seed(&rng, 1, 1);
  GpuStop stop = GPU_BUDGET;
  while (stop == GPU_BUDGET || stop == GPU_LIMIT)
    stop = rng_below(&rng, 2) ? gpu_run(lab->gpu, rng_below(&rng, 50), UINT64_MAX)
                              : gpu_run(lab->gpu, 1000, lab->gpu->cycle + rng_below(&rng, 100));
  ck_assert_int_eq(stop, GPU_FINISHED);
  Outcome parts = outcome_of(lab);
  ck_assert(memcmp(&whole, &parts, sizeof whole) == 0);
}
END_TEST

static gpointer run_in_thread(gpointer data) {
  Lab *lab = data;
  return GINT_TO_POINTER(gpu_run(lab->gpu, 10000000, 10000000));
}

START_TEST(several_at_once_run_as_alone) {
  enum { COUNT = 6 };
  Lab *labs[COUNT];
  GThread *threads[COUNT];
  for (unsigned i = 0; i < COUNT; i++)
    labs[i] = make_contest(i);
  for (unsigned i = 0; i < COUNT; i++)
    threads[i] = g_thread_new("run", run_in_thread, labs[i]);
  for (unsigned i = 0; i < COUNT; i++)
    ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(threads[i])), GPU_FINISHED);
  for (unsigned i = 0; i < COUNT; i++) {
    Outcome together = outcome_of(labs[i]), alone = run_contest(i);
    ck_assert_msg(memcmp(&together, &alone, sizeof alone) == 0, "seed %u", i);
    lab_free(labs[i]);
  }
}
END_TEST

/* ==== what is counted adds up ==== */

typedef struct Tally {
  uint64_t taken, failed, freed, shared, shared_lanes, global, atomics, arrivals, completed, blocks;
  int64_t held;
  bool too_many;
} Tally;

static void tally_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                         const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  (void)number;
  Tally *tally = user;
  bool locks = point->inst->op == OP_LDSLK;
  unsigned lanes = (unsigned)__builtin_popcount(point->lanes), winners = (unsigned)__builtin_popcount(taken);
  tally->shared += space == SPACE_SHARED;
  tally->global += space == SPACE_GLOBAL;
  tally->atomics += kind == ACCESS_ATOMIC ? lanes : 0;
  tally->taken += winners;
  tally->failed += locks ? lanes - winners : 0;
  tally->freed += unlock ? lanes : 0; /* here each lane frees a bit of its own */
  tally->too_many |= (taken & ~point->lanes) != 0;
}

static void tally_arrive(void *user, const ProbePoint *point, uint32_t id, bool waits) {
  ((Tally *)user)->arrivals++;
}
static void tally_complete(void *user, const ProbePoint *point, uint32_t id, uint32_t arrived, uint32_t waiting) {
  ((Tally *)user)->completed++;
}
static void tally_start(void *user, const ProbePoint *point) { ((Tally *)user)->blocks++; }

START_TEST(counters_add_up) {
  g_autoptr(Lab) lab = make_contest((uint64_t)_i);
  Tally tally = {0};
  Probe probe = {.user = &tally,
                 .access = tally_access,
                 .barrier_arrive = tally_arrive,
                 .barrier_complete = tally_complete,
                 .block_start = tally_start};
  gpu_subscribe(lab->gpu, &probe);
  lab_finish(lab);
  const Counters *counters = &lab->gpu->counters;
  uint64_t lanes = 0;
  for (guint i = 0; i < lab->trace->len; i++)
    lanes += (unsigned)__builtin_popcount(lab_issue(lab, i)->lanes);
  ck_assert_uint_eq(counters->warp_instructions, lab->trace->len);
  ck_assert_uint_eq(counters->lane_instructions, lanes);
  ck_assert_uint_eq(counters->lock_attempts, counters->lock_failures + tally.taken);
  ck_assert_uint_eq(counters->lock_failures, tally.failed);
  ck_assert_uint_eq(tally.taken, 9 * 160 * 3); /* each thread takes its lock three times */
  ck_assert_uint_eq(counters->lock_releases, tally.taken);
  ck_assert_uint_eq(tally.freed, tally.taken);
  ck_assert(!tally.too_many);
  ck_assert_uint_eq(counters->shared_accesses, tally.shared);
  ck_assert_uint_ge(counters->shared_passes, counters->shared_accesses);
  ck_assert_uint_eq(counters->global_accesses, tally.global);
  ck_assert_uint_ge(counters->global_segments, counters->global_accesses);
  ck_assert_uint_eq(counters->global_atomics, tally.atomics);
  ck_assert_uint_eq(tally.atomics, 9 * 160 * 3);
  ck_assert_uint_eq(counters->barrier_arrivals, tally.arrivals);
  ck_assert_uint_eq(tally.arrivals, 9 * 5 * 3);
  ck_assert_uint_eq(counters->barriers_completed, 9 * 3);
  ck_assert_uint_eq(counters->blocks, 9);
  ck_assert_uint_eq(tally.blocks, 9);
  ck_assert_uint_eq(counters->warps, 9 * 5);
  ck_assert_uint_eq(lab->gpu->unfinished_blocks, 0);
  for (unsigned i = 0; i < 3; i++) {
    const Sm *sm = &lab->gpu->sms[i];
    ck_assert(sm->resident_blocks == 0 && sm->resident_warps == 0 && sm->resident_threads == 0 &&
              sm->registers_used == 0);
    for (unsigned bit = 0; sm->ready && bit < sm->lock_unit.bits; bit++)
      ck_assert(!sm->lock_unit.bit[bit].held);
  }
}
END_TEST

/* However its warps are woken (by results, barriers, new blocks), a scheduler issues no faster than its interval,
 * and a warp's instructions are in order. */
START_TEST(schedulers_keep_their_interval) {
  g_autoptr(Lab) lab = make_contest((uint64_t)_i);
  lab_finish(lab);
  uint64_t next[3][2] = {{0}};
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    uint64_t *mine = &next[issue->sm][issue->slot % 2];
    UNIT_ASSERT(issue->cycle >= *mine, "SM %u issues in %d, not before %d", issue->sm, (int)issue->cycle, (int)*mine);
    *mine = issue->cycle + 3;
  }
}
END_TEST

/* The incremental hash of memory returns to what it was with the memory's contents, and only then. */
START_TEST(the_memory_hash_follows_the_memory) {
  g_autoptr(Lab) lab =
      lab_new("", ".shared 64\nMOV R0, c[0x0][0x20]; MOV R1, 5; ST [R0], R1; MEMBAR.GL; NOP; STS [RZ], R1; "
                  "LDSLK P0, R2, [0x4]; STSUL [0x4], RZ; STS [RZ], RZ; ST [R0], RZ; MEMBAR.GL; NOP; "
                  "RED.ADD [R0+0x4], R1; MEMBAR.GL; NOP; RED.XOR [R0+0x4], R1; MEMBAR.GL; NOP; EXIT");
  lab_buffer(lab, 4);
  lab_launch(lab, 1, 1);
  lab_place(lab);
  gpu_watch_memory(lab->gpu, true);
  enum { NO, YES, UNDER_WAY };
  static const uint8_t changed[] = {NO,        NO,        UNDER_WAY, UNDER_WAY, YES,       YES, YES,       YES,       YES,
                                    UNDER_WAY, UNDER_WAY, NO,        UNDER_WAY, UNDER_WAY, YES, UNDER_WAY, UNDER_WAY, NO};
  for (unsigned i = 0; i < G_N_ELEMENTS(changed); i++) {
    ck_assert_int_eq(gpu_run(lab->gpu, 1, UINT64_MAX), GPU_BUDGET);
    ck_assert_msg(changed[i] == UNDER_WAY || (gpu_memory_hash(lab->gpu) != 0) == (changed[i] == YES),
                  "after instruction %u", i);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("properties");
  TCase *tcase = tcase_create("properties");
  tcase_add_loop_test(tcase, a_seed_gives_one_run, 0, 4);
  tcase_add_test(tcase, seeds_differ);
  tcase_add_test(tcase, stops_change_nothing);
  tcase_add_test(tcase, several_at_once_run_as_alone);
  tcase_add_loop_test(tcase, counters_add_up, 0, 4);
  tcase_add_loop_test(tcase, schedulers_keep_their_interval, 0, 4);
  tcase_add_test(tcase, the_memory_hash_follows_the_memory);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
