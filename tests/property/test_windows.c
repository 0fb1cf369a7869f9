/* SMs that run windows side by side give what the loop of events gives, with any number of threads, and however often
 * they stop; also what is told of the whole machine: marks, misuse, faults, ends of launches. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "sim/detect/misuse/misuse.h"
#include "sim/detect/naming/finding.h"
#include "sim/engine/rng.h"
#include "sim/engine/team.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* Warps contend for lock bits and global words, which they also load through the L1, and meet at barriers; one lane
 * in four gives back a bit that it doesn't hold. */
static const char contended[] =
    ".shared 1024\nS2R R0, SR_Tid_X; S2R R1, SR_LaneId; S2R R8, SR_CTAid_X; MOV R2, c[0x0][0x20]; MOV R9, 4\n"
    "LOP.AND R3, R0, 7; SHL R3, R3, 2; LOP.AND R10, R8, 3; SHL R10, R10, 7; IADD R10, R10, R2\n"
    "round: LDSLK P0, R4, [R3]; @P0 IADD R4, R4, R0; @P0 STSUL [R3], R4; @!P0 BRA round\n"
    "ISETP.LT P1, PT, R1, 9, PT; @P1 ATOM.EXCH R5, [R10], R0; @!P1 ATOM.ADD R5, [R2+0x4], R1; RED.ADD [R10+0x8], R8\n"
    "LOP.AND R6, R5, 0x1f; SHL R6, R6, 2; IADD R6, R6, R2; LD R7, [R6]; ST [R6+0x200], R7; LOP.AND R7, R0, 3\n"
    "ISETP.EQ.AND P2, PT, R7, RZ, PT; @P2 STSUL [R3+0x40], R0; MEMBAR.GL\n"
    "BAR.SYNC 0; IADD R9, R9, -0x1; ISETP.NE P2, PT, R9, RZ, PT; @P2 BRA round; EXIT\n";

typedef struct Outcome {
  Counters counters;
  uint64_t cycles, digest, findings, fault;
  GpuStop stop;
} Outcome;

typedef struct Way {
  bool windows;
  uint32_t threads;
  bool stops;
} Way;

enum { RESIDENT = 12, WAITING = 31 /* blocks: more than twice what the SMs hold */ };

static uint64_t digest_findings(GPtrArray *findings) {
  uint64_t hash = 0;
  for (guint i = 0; i < findings->len; i++) {
    const Finding *finding = g_ptr_array_index(findings, i);
    hash = rng_mix(hash ^ g_str_hash(finding->message) ^ rng_mix(finding->cycle) ^ finding->count);
  }
  return hash;
}

static GpuStop run_on(Lab *lab, bool stops) {
  Rng rng;
  rng_seed(&rng, 3, 3);
  GpuStop stop = GPU_BUDGET;
  while (stop == GPU_BUDGET || stop == GPU_LIMIT)
    stop = stops ? gpu_run(lab->gpu, 1 + rng_below(&rng, 3000), lab->gpu->cycle + 1 + rng_below(&rng, 2000))
                 : gpu_run(lab->gpu, 10000000, 10000000);
  return stop;
}

static Outcome run(const char *text, uint64_t seed, uint32_t blocks, Way way) {
  static const char *const policies[] = {"loose-round-robin", "greedy-then-oldest", "youngest", "random"};
  g_autofree char *settings = g_strdup_printf(
      "gpu.sms=7 sm.max_blocks=2 sm.jitter_cycles=3 sm.issue_interval=3 sm.policy=%s "
      "memory.latency=200 memory.request_latency=90 memory.atomic_interval=2.5 memory.slices=%d "
      "memory.port.credits=24 memory.port.queue=4 memory.port.scheduler_interval=3 memory.port.store_interval=5.5 "
      "grid.refill_latency=300 grid.dispatch_interval=%d grid.retire_interval=%d",
      policies[seed % 4], seed < 4 ? 0 : 5, seed % 2 ? 7 : 0, seed % 3 ? 0 : 900);
  g_autoptr(Lab) lab = lab_new_seeded(settings, text, seed);
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  lab_buffer(lab, 1024);
  lab_launch(lab, blocks, 160);
  ck_assert_uint_le(memsys_window(lab->gpu->memsys), 300);
  Misuse *misuse = misuse_new(lab->gpu, findings);
  lab->gpu->probe->stale_read = NULL; /* what it is told depends on where windows begin */
  gpu_set_probes(lab->gpu, lab->gpu->probe);
  if (way.windows)
    gpu_unsubscribe(lab->gpu, &lab->probe);
  gpu_set_threads(lab->gpu, way.threads);
  lab->gpu->team_work = 0;
  Outcome outcome;
  memset(&outcome, 0, sizeof outcome);
  outcome.stop = run_on(lab, way.stops);
  outcome.counters = lab->gpu->counters;
  outcome.cycles = lab->gpu->end_cycle;
  outcome.digest = backing_digest(lab->backing);
  outcome.findings = digest_findings(findings);
  outcome.fault = lab->gpu->fault.happened ? rng_mix(lab->gpu->fault.cycle) ^ lab->gpu->fault.block : 0;
  misuse_free(misuse);
  return outcome;
}

START_TEST(windows_are_the_loop_of_events) {
  uint64_t seed = (uint64_t)_i;
  uint32_t blocks = (seed ^ seed >> 2) & 1 ? WAITING : RESIDENT;
  Outcome events = run(contended, seed, blocks, (Way){false, 1, false});
  ck_assert_int_eq(events.stop, GPU_FINISHED);
  ck_assert_uint_ne(events.findings, 0);
  static const Way ways[] = {{true, 1, false}, {true, 2, false}, {true, 5, false}, {true, 3, true}, {false, 1, true}};
  for (unsigned i = 0; i < G_N_ELEMENTS(ways); i++) {
    Outcome other = run(contended, seed, blocks, ways[i]);
    ck_assert_msg(memcmp(&events, &other, sizeof events) == 0, "way %u: %d cycles, not %d", i, (int)other.cycles,
                  (int)events.cycles);
  }
}
END_TEST

/* Several SMs fault: the earliest counts, and what the others did besides doesn't depend on threads. */
START_TEST(the_earliest_fault_counts) {
  static const char faults[] =
      "S2R R0, SR_CTAid_X; MOV R1, 40; IMAD R1, R0, -3, R1; MOV R2, c[0x0][0x20]\n"
      "round: ATOM.ADD R3, [R2], R0; IADD R1, R1, -0x1; ISETP.GT P0, PT, R1, RZ, PT; @P0 BRA round\n"
      "LD R4, [RZ]; EXIT\n";
  Outcome events = run(faults, 1, RESIDENT, (Way){false, 1, false});
  ck_assert_int_eq(events.stop, GPU_FAULT);
  Outcome one = run(faults, 1, RESIDENT, (Way){true, 1, false});
  ck_assert_int_eq(one.stop, GPU_FAULT);
  ck_assert_uint_eq(one.fault, events.fault);
  for (uint32_t threads = 2; threads < 5; threads++) {
    Outcome many = run(faults, 1, RESIDENT, (Way){true, threads, false});
    ck_assert(memcmp(&one, &many, sizeof one) == 0);
  }
}
END_TEST

/* ---- the team ---- */

enum { PIECES = 100 };

static void count_piece(void *user, uint32_t piece, uint32_t thread) {
  (void)thread;
  g_atomic_int_inc(&((gint *)user)[piece]);
}

START_TEST(a_team_does_each_piece_once) {
  for (uint32_t threads = 1; threads < 6; threads++) {
    Team *team = team_new(threads);
    gint done[PIECES] = {0};
    for (int round = 1; round < 200; round++) {
      uint32_t count = (uint32_t)round % (PIECES + 1);
      memset(done, 0, sizeof done);
      if (round % 50 == 0)
        g_usleep(3000); /* they fall asleep */
      uint32_t ends[] = {count / 5, count / 5, count / 2, count, count};
      ends[threads - 1] = count;
      team_run(team, ends, count_piece, done);
      for (uint32_t i = 0; i < PIECES; i++)
        ck_assert_int_eq(done[i], i < count);
    }
    team_free(team);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("windows");
  TCase *tcase = tcase_create("windows");
  tcase_add_loop_test(tcase, windows_are_the_loop_of_events, 0, 8);
  tcase_add_test(tcase, the_earliest_fault_counts);
  tcase_add_test(tcase, a_team_does_each_piece_once);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
