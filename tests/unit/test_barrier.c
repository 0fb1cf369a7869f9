/* Named barriers: who is waited for, what a reduction gives, and when the waiting warps go on (SEMANTICS, "Block
 * barriers"). */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define TIMES                                                                                              \
  "sm.schedulers=2 sm.issue_interval=2 sm.latency.alu=18 sm.latency.sysreg=18 sm.latency.branch_taken=18 " \
  "sm.latency.branch_not_taken=18 sm.shared.latency=50 sm.shared.pass_interval=2 sm.barrier.arrive_to_resume=40 "

/* Warps go different ways by P0 to P3, which hold in warp 0, 1, 2, 3; R0 is the thread, R1 its warp. */
#define WARPS ".reg 12\n.shared 1024\n"

static Lab *start(const char *settings, const char *text, uint32_t threads) {
  g_autofree char *program = g_strconcat(WARPS, text, NULL);
  Lab *lab = lab_new(settings, program);
  lab_launch(lab, 1, threads);
  lab_place(lab);
  for (unsigned warp = 0; warp < (threads + 31) / 32; warp++) {
    if (warp < 4)
      lab_warp(lab, warp)->pred[warp] = ALL_LANES;
    for (unsigned lane = 0; lane < 32; lane++) {
      lab_row(lab, warp, 0)[lane] = warp * 32 + lane;
      lab_row(lab, warp, 1)[lane] = warp;
    }
  }
  return lab;
}

/* ---- time ---- */

/* Both go on 40 cycles after the last arrival, whoever that is. */
START_TEST(resumes_after_the_last_arrival) {
  for (unsigned late = 0; late < 2; late++) {
    for (uint32_t wait = 2; wait <= 102; wait += 50) {
      g_autofree char *settings = g_strdup_printf(TIMES "sm.barrier.arrive_to_resume=%u", wait);
      g_autofree char *text =
          g_strdup_printf("@P%u BRA sync; MOV R2, R0; MOV R3, R2; MOV R4, R3; sync: BAR.SYNC 0; NOP; EXIT", !late);
      g_autoptr(Lab) lab = start(settings, text, 64);
      lab_finish(lab);
      ck_assert_uint_eq(lab_cycle(lab, !late, 4, 0), 18);
      ck_assert_uint_eq(lab_cycle(lab, late, 4, 0), 18 + 18 + 18 + 2); /* MOV waits for MOV, BAR for none */
      for (unsigned slot = 0; slot < 2; slot++)
        ck_assert_uint_eq(lab_cycle(lab, slot, 5, 0), 56 + wait);
    }
  }
}
END_TEST

/* SYNCBLOCKS: each block is counted `interval` behind the one before, and all go on `latency` behind the last. */
START_TEST(blocks_meet) {
  for (uint32_t blocks = 1; blocks <= 6; blocks++) {
    g_autoptr(Lab) lab = lab_new(TIMES "gpu.sms=2 grid.barrier_latency=100 grid.barrier_interval=5",
                                 "SYNCBLOCKS; NOP; SYNCBLOCKS; EXIT");
    lab_launch(lab, blocks, 64);
    lab_finish(lab);
    uint64_t first = 0, second = 0;
    for (guint i = 0; i < lab->trace->len; i++) {
      const LabIssue *issue = lab_issue(lab, i);
      if (issue->pc == 0)
        first = MAX(first, issue->cycle);
      if (issue->pc == 2)
        second = MAX(second, issue->cycle);
    }
    for (guint i = 0; i < lab->trace->len; i++) {
      const LabIssue *issue = lab_issue(lab, i);
      if (issue->pc ==
          1) /* nobody before; two schedulers, and up to three blocks an SM, which issue 2 cycles apart */
        ck_assert_msg(issue->cycle >= 5 * blocks + 100 && issue->cycle <= first + 5 * blocks + 100 + 6,
                      "%u blocks: goes on in cycle %d", blocks, (int)issue->cycle);
      if (issue->pc == 3)
        ck_assert_msg(issue->cycle >= second + 5 + 100, "%u blocks: ends in cycle %d", blocks, (int)issue->cycle);
    }
    ck_assert_uint_eq(lab->gpu->counters.grid_barriers, 2);
    ck_assert_uint_eq(lab->gpu->counters.barriers_completed, 2 * blocks);
  }
}
END_TEST

/* One block of one warp, by hand: counted in cycle 7, goes on in 107. */
START_TEST(a_block_alone_meets_itself) {
  g_autoptr(Lab) lab = lab_new(TIMES "grid.barrier_latency=100 grid.barrier_interval=7", "SYNCBLOCKS; NOP; EXIT");
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  ck_assert_uint_eq(lab_cycle(lab, 0, 1, 0), 107);
}
END_TEST

/* Warps that have exited aren't waited for; who is left of each block is. */
START_TEST(blocks_meet_without_exited_warps) {
  g_autoptr(Lab) lab =
      lab_new(TIMES "gpu.sms=2 grid.barrier_latency=100",
              "S2R R0, SR_Tid_X; ISETP.GE.AND P0, pt, R0, 0x20, pt; @P0 EXIT; SYNCBLOCKS; MOV R1, c[0x0][0x20]\n"
              "MOV32I R2, 1; RED.ADD [R1], R2; EXIT");
  uint32_t *sum = lab_buffer(lab, 1);
  lab_launch(lab, 5, 96);
  lab_finish(lab);
  ck_assert_uint_eq(sum[0], 5 * 32);
}
END_TEST

/* Four warps on two schedulers: two a cycle, two cycles apart. */
START_TEST(issues_after_it_one_at_a_time) {
  g_autoptr(Lab) lab = start(TIMES, "BAR.SYNC 0; NOP; EXIT", 128);
  lab_finish(lab);
  uint64_t last = 0, cycles[4];
  for (unsigned slot = 0; slot < 4; slot++)
    last = MAX(last, lab_cycle(lab, slot, 0, 0));
  ck_assert_uint_eq(last, 2);
  for (unsigned slot = 0; slot < 4; slot++)
    cycles[slot] = lab_cycle(lab, slot, 1, 0);
  ck_assert_uint_eq(MIN(cycles[0], cycles[2]), last + 40);
  ck_assert_uint_eq(MAX(cycles[0], cycles[2]), last + 42);
  ck_assert_uint_eq(MIN(cycles[1], cycles[3]), last + 40);
  ck_assert_uint_eq(MAX(cycles[1], cycles[3]), last + 42);
}
END_TEST

/* Arrivals in 0, 0, 2 and 2 are counted by 3, 6, 9 and 12; at 1.5 cycles each by 6. The waiting warps go on 10 cycles
 * later. */
START_TEST(arrivals_are_counted_one_by_one) {
  static const struct {
    const char *settings;
    uint64_t resume;
  } cases[] = {{"3", 12 + 10}, {"1.5", 6 + 10}, {"0.25", 3 + 10}, {"0", 2 + 10}};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *settings =
        g_strconcat(TIMES "sm.barrier.arrive_to_resume=10 sm.barrier.arrival_interval=", cases[i].settings, NULL);
    g_autoptr(Lab) lab = start(settings, "BAR.SYNC 0; NOP; EXIT", 128);
    lab_finish(lab);
    uint64_t first = UINT64_MAX;
    for (unsigned slot = 0; slot < 4; slot++)
      first = MIN(first, lab_cycle(lab, slot, 1, 0));
    ck_assert_msg(first == cases[i].resume, "%s: %d", cases[i].settings, (int)first);
  }
}
END_TEST

/* Those who came long before cost the last one nothing: it comes in 56, and both go on 3 and 40 cycles later. */
START_TEST(the_last_arrival_counts_alone) {
  g_autoptr(Lab) lab = start(TIMES "sm.barrier.arrival_interval=3",
                             "@P0 BRA sync; MOV R2, R0; MOV R3, R2; MOV R4, R3; sync: BAR.SYNC 0; NOP; EXIT", 64);
  lab_finish(lab);
  ck_assert_uint_eq(lab_cycle(lab, 1, 4, 0), 56);
  for (unsigned slot = 0; slot < 2; slot++)
    ck_assert_uint_eq(lab_cycle(lab, slot, 5, 0), 56 + 3 + 40);
}
END_TEST

/* An arrival takes effect store_drain cycles after the service of the warp's last store. The store issues in
 * cycle 2 (pc 1), the barrier in 4. */
START_TEST(an_arrival_waits_for_stores) {
  static const struct {
    const char *settings, *text;
    uint64_t resume;
  } drains[] = {
      {"sm.barrier.store_drain=0", "NOP; STS [RZ], R0; BAR.SYNC 0; NOP; EXIT", 4 + 40},
      {"sm.barrier.store_drain=30", "NOP; STS [RZ], R0; BAR.SYNC 0; NOP; EXIT", 2 + 30 + 40},
      {"sm.barrier.store_drain=1", "NOP; STS [RZ], R0; BAR.SYNC 0; NOP; EXIT", 4 + 40},
      {"sm.barrier.store_drain=30", "NOP; LDS R2, [RZ]; BAR.SYNC 0; NOP; EXIT", 4 + 40},
      {"sm.barrier.store_drain=30", "NOP; STS.U8 [R0], R0; BAR.ARV 0, 64; BAR.SYNC 0, 64; NOP; EXIT", 0},
  };
  g_autofree char *settings = g_strconcat(TIMES, drains[_i].settings, NULL);
  g_autoptr(Lab) lab = start(settings, drains[_i].text, 32);
  lab_finish(lab);
  if (drains[_i].resume)
    ck_assert_uint_eq(lab_cycle(lab, 0, 3, 0), drains[_i].resume);
  else /* the arrive and the sync count for one warp; the arrive holds nobody, the sync waits for the store */
    ck_assert(lab_cycle(lab, 0, 3, 0) == 6 && lab_cycle(lab, 0, 4, 0) == 2 + 30 + 40);
}
END_TEST

START_TEST(an_old_store_is_not_waited_for) {
  g_autoptr(Lab) lab = start(TIMES "sm.barrier.store_drain=30",
                             "STS [RZ], R0; MOV R2, R0; MOV R3, R2; MOV R4, R3; BAR.SYNC 0; NOP; EXIT", 32);
  lab_finish(lab);
  ck_assert_uint_eq(lab_cycle(lab, 0, 4, 0), 40);
  ck_assert_uint_eq(lab_cycle(lab, 0, 5, 0), 80);
}
END_TEST

/* The result of a reduction is there when the warp goes on. */
START_TEST(a_reduction_is_ready_at_once) {
  g_autoptr(Lab) lab = start(TIMES, "BAR.RED.POPC R2, 0, P0; IADD R3, R2, 0x1; EXIT", 64);
  lab_finish(lab);
  for (unsigned slot = 0; slot < 2; slot++) {
    ck_assert_uint_eq(lab_cycle(lab, slot, 1, 0), 40);
    ck_assert_uint_eq(lab_row(lab, slot, 3)[0], 33);
  }
}
END_TEST

/* ---- who is waited for ---- */

/* Runs to the end, or until nothing moves any more. */
typedef struct Meeting {
  const char *what, *text;
  uint32_t threads;
  bool blocked;
  unsigned arrivals, completed;
} Meeting;

/* clang-format off */
static const Meeting meetings[] = {
    {"the whole block", "BAR.SYNC 0; EXIT", 128, false, 4, 1},
    {"a warp has exited before", "@P1 EXIT; NOP; NOP; NOP; NOP; NOP; BAR.SYNC 0; EXIT", 64, false, 1, 1},
    {"a warp exits while others wait", "@!P1 BAR.SYNC 0; MOV R2, R0; MOV R2, R2; MOV R2, R2; EXIT", 128, false, 3, 1},
    {"odd lanes have exited", "LOP.AND R2, R0, 1; ISETP.EQ P5, PT, R2, RZ, PT; @!P5 EXIT; BAR.SYNC 0; EXIT", 64,
     false, 2, 1},
    {"a partial warp is a warp", "BAR.SYNC 0; EXIT", 33, false, 2, 1},
    {"counted: as many as there are", "BAR.SYNC 1, 64; EXIT", 64, false, 2, 1},
    {"counted: two of four, twice", "BAR.SYNC 1, 64; EXIT", 128, false, 4, 2},
    {"counted: a warp counts 32 whatever its mask", "ISETP.LT P5, PT, R0, 16, PT; @P5 BAR.SYNC 1, 32; EXIT", 32,
     false, 1, 1},
    {"counted: a partial warp counts 32", "BAR.SYNC 1, 64; EXIT", 40, false, 2, 1},
    {"counted: exits don't arrive", "@P1 EXIT; BAR.SYNC 1, 64; EXIT", 64, true, 1, 0},
    {"counted: more than there are", "BAR.SYNC 1, 96; EXIT", 64, true, 2, 0},
    {"different barriers don't meet", "@P0 BAR.SYNC 1; @P1 BAR.SYNC 2; EXIT", 64, true, 2, 0},
    {"different barriers, crossed", "@P0 BAR.SYNC 1; @P1 BAR.SYNC 2; @P0 BAR.SYNC 2; @P1 BAR.SYNC 1; EXIT", 64, true,
     2, 0},
    {"a number from a register", "MOV R2, 7; @P0 BAR.SYNC R2; @P1 BAR.SYNC 7; EXIT", 64, false, 2, 1},
    {"a count from a register", "MOV R2, 64; BAR.SYNC 7, R2; EXIT", 128, false, 4, 2},
    {"arrive, then sync", "@P0 BAR.ARV 1, 64; @P1 BAR.SYNC 1, 64; EXIT", 64, false, 2, 1},
    {"sync, then arrive", "@P1 BAR.SYNC 1, 64; MOV R2, R0; MOV R2, R2; @P0 BAR.ARV 1, 64; EXIT", 64, false, 2, 1},
    {"arrivals alone complete it", "BAR.ARV 1, 64; BAR.ARV 1, 64; EXIT", 64, false, 4, 2},
    {"one arrival of two", "@P0 BAR.ARV 1, 64; EXIT", 64, false, 1, 0},
    {"one arrival of three", "@P0 BAR.ARV 1, 96; @P1 BAR.SYNC 1, 96; EXIT", 64, true, 2, 0},
    {"arrive without a count is for the block", "@P0 BAR.ARV 1; @!P0 BAR.SYNC 1; EXIT", 128, false, 4, 1},
    {"a warp that arrived and exited", "@P0 BAR.ARV 1; @P0 EXIT; MOV R2, R0; MOV R2, R2; BAR.SYNC 1; EXIT", 64, false,
     2, 1},
    {"both sides of a branch arrive one after the other",
     "LOP.AND R2, R0, 1; ISETP.EQ P5, PT, R2, RZ, PT; SSY end; @P5 BRA even; BAR.SYNC 0; NOP.S; even: BAR.SYNC 0; "
     "NOP.S; end: EXIT",
     64, false, 4, 2},
    {"only one side arrives, and the other warp waits twice",
     "@P1 BRA two; SSY end; ISETP.LT P5, PT, R0, 5, PT; @P5 BRA end; BAR.SYNC 0; end: EXIT; two: BAR.SYNC 0; EXIT",
     64, false, 2, 1},
    {"reductions meet like syncs", "@P0 BAR.RED.OR P5, 3; @P1 BAR.SYNC 3; EXIT", 64, false, 2, 1},
    {"arrive and reduce", "@P0 BAR.ARV 3, 64; @P1 BAR.RED.POPC R2, 3, 64; EXIT", 64, false, 2, 1},
};
/* clang-format on */

START_TEST(waits_for_the_right_ones) {
  const Meeting *meeting = &meetings[_i];
  g_autoptr(Lab) lab = start(TIMES, meeting->text, meeting->threads);
  GpuStop stop = lab_run(lab);
  const Counters *counters = &lab->gpu->counters;
  ck_assert_msg(stop == (meeting->blocked ? GPU_BLOCKED : GPU_FINISHED), "%s: stop %d %s", meeting->what, stop,
                stop == GPU_FAULT ? lab->gpu->fault.message : "");
  ck_assert_msg(counters->barrier_arrivals == meeting->arrivals && counters->barriers_completed == meeting->completed,
                "%s: %u arrivals, %u completed", meeting->what, (unsigned)counters->barrier_arrivals,
                (unsigned)counters->barriers_completed);
}
END_TEST

/* When the missing warp exits, the waiting one goes on 40 cycles later. */
START_TEST(an_exit_completes_it) {
  g_autoptr(Lab) lab =
      start(TIMES, "@P1 BRA leave; BAR.SYNC 0; NOP; EXIT; leave: MOV R2, R0; MOV R3, R2; @PT EXIT; EXIT", 64);
  lab_finish(lab);
  uint64_t exit = lab_cycle(lab, 1, 6, 0);
  ck_assert_uint_eq(exit, 18 + 18 + 2);
  ck_assert_uint_eq(lab_cycle(lab, 0, 1, 0), 18);
  ck_assert_uint_eq(lab_cycle(lab, 0, 2, 0), exit + 40);
}
END_TEST

START_TEST(an_arrive_does_not_wait) {
  g_autoptr(Lab) lab = start(
      TIMES, "@P1 BRA sync; BAR.ARV 1, 64; NOP; EXIT; sync: MOV R2, R0; MOV R3, R2; BAR.SYNC 1, 64; NOP; EXIT", 64);
  lab_finish(lab);
  ck_assert_uint_eq(lab_cycle(lab, 0, 2, 0), lab_cycle(lab, 0, 1, 0) + 2);
  ck_assert_uint_eq(lab_cycle(lab, 1, 7, 0), lab_cycle(lab, 1, 6, 0) + 40);
}
END_TEST

START_TEST(blocks_have_their_own) {
  g_autoptr(Lab) lab =
      lab_new("", "S2R R0, SR_Tid_X; S2R R1, SR_CTAid_X; ISETP.LT P0, PT, R0, 32, PT; ISETP.EQ P1, PT, R1, RZ, PT\n"
                  "@!P0 BRA sync; @P1 EXIT; sync: BAR.SYNC 1, 64; EXIT");
  lab_launch(lab, 2, 64); /* in block 0, warp 0 exits */
  ck_assert_int_eq(lab_run(lab), GPU_BLOCKED);
  ck_assert_uint_eq(lab->gpu->unfinished_blocks, 1);
  ck_assert_uint_eq(lab->gpu->counters.barriers_completed, 1);
}
END_TEST

START_TEST(different_counts_are_a_fault) {
  static const char *const texts[] = {"@P0 BAR.SYNC 1, 64; @P1 BAR.SYNC 1, 32; EXIT",
                                      "@P0 BAR.ARV 1, 64; @P1 BAR.SYNC 1; EXIT"};
  g_autoptr(Lab) lab = start(TIMES, texts[_i], 96);
  lab_expect_fault(lab, "but an earlier arrival gave");
}
END_TEST

/* A count that is the block's size means what no count means, whichever comes first. */
START_TEST(the_blocks_size_is_no_other_count) {
  static const char *const texts[] = {"@P0 BAR.SYNC 1, 64; @P1 BAR.SYNC 1; EXIT",
                                      "@P0 BAR.SYNC 1; @P1 BAR.SYNC 1, 64; EXIT"};
  g_autoptr(Lab) lab = start(TIMES, texts[_i], 64);
  lab_finish(lab);
  ck_assert_uint_eq(lab->gpu->counters.barriers_completed, 1);
}
END_TEST

START_TEST(there_are_as_many_as_the_machine_has) {
  for (unsigned id = 0; id < 16; id++) {
    g_autofree char *text = g_strdup_printf("BAR.SYNC 0x%x; EXIT", id);
    g_autoptr(Lab) lab = start("sm.barrier.count=6", text, 32);
    if (id < 6)
      lab_finish(lab);
    else
      lab_expect_fault(lab, "of a block that has 6");
  }
}
END_TEST

/* All 16 are open at once: warp 0 arrives at each, then warp 1 syncs with each, from the last to the first. */
START_TEST(sixteen_at_once) {
  GString *text = g_string_new("@P1 BRA sync; ");
  for (unsigned id = 0; id < 16; id++)
    g_string_append_printf(text, "BAR.ARV 0x%x, 64; ", id);
  g_string_append(text, "EXIT; sync: ");
  for (unsigned id = 16; id-- > 0;)
    g_string_append_printf(text, "BAR.SYNC 0x%x, 64; ", id);
  g_string_append(text, "EXIT");
  g_autoptr(Lab) lab = start(TIMES, text->str, 64);
  lab_finish(lab);
  ck_assert_uint_eq(lab->gpu->counters.barriers_completed, 16);
  for (unsigned nth = 1; nth < 16; nth++)
    ck_assert_uint_ge(lab_cycle(lab, 1, 18 + nth, 0), lab_cycle(lab, 1, 17 + nth, 0) + 40);
  g_string_free(text, TRUE);
}
END_TEST

/* ---- reductions ---- */

typedef struct Reduction {
  const char *what, *text; /* P6 is what is reduced */
  uint32_t threads;
  uint32_t yes[3], lanes[3]; /* P6 and, by P5, the lanes that take part, of each warp */
  uint32_t result;           /* R2, or P4, of the lanes that take part */
} Reduction;

#define EACH 0xffffffffu
/* clang-format off */
static const Reduction reductions[] = {
    {"count", "@P5 BAR.RED.POPC R2, 0, P6; EXIT", 96, {0xff, 0, 0x80000001}, {EACH, EACH, EACH}, 10},
    {"count, negated", "@P5 BAR.RED.POPC R2, 0, !P6; EXIT", 96, {0xff, 0, 0x80000001}, {EACH, EACH, EACH}, 86},
    {"count, PT if left out", "@P5 BAR.RED.POPC R2, 0; EXIT", 96, {0}, {EACH, EACH, EACH}, 96},
    {"count of active lanes only", "@P5 BAR.RED.POPC R2, 0, P6; EXIT", 96, {EACH, EACH, EACH}, {0xf, 0xffff, 1}, 21},
    {"a partial warp", "@P5 BAR.RED.POPC R2, 0, P6; EXIT", 70, {EACH, EACH, EACH}, {EACH, EACH, EACH}, 70},
    {"counted barrier", "@P5 BAR.RED.POPC R2, 0, 96, P6; EXIT", 96, {1, 2, 4}, {EACH, EACH, EACH}, 3},
    {"all", "@P5 BAR.RED.AND P4, 0, P6; EXIT", 96, {EACH, EACH, EACH}, {EACH, EACH, EACH}, 1},
    {"all but one", "@P5 BAR.RED.AND P4, 0, P6; EXIT", 96, {EACH, 0xfffffeff, EACH}, {EACH, EACH, EACH}, 0},
    {"all active", "@P5 BAR.RED.AND P4, 0, P6; EXIT", 96, {0xff, 0xf0, 1}, {0xff, 0xf0, 1}, 1},
    {"none: not any", "@P5 BAR.RED.OR P4, 0, P6; EXIT", 96, {0, 0, 0}, {EACH, EACH, EACH}, 0},
    {"one", "@P5 BAR.RED.OR P4, 0, P6; EXIT", 96, {0, 0, 0x100}, {EACH, EACH, EACH}, 1},
    {"one that isn't active", "@P5 BAR.RED.OR P4, 0, P6; EXIT", 96, {0, 0, 0x100}, {EACH, EACH, 0xff}, 0},
    {"any not", "@P5 BAR.RED.OR P4, 0, !P6; EXIT", 96, {EACH, EACH, 0x7fffffff}, {EACH, EACH, EACH}, 1},
    {"counted all", "@P5 BAR.RED.AND P4, 2, 96, !P6; EXIT", 96, {0, 0, 0}, {EACH, EACH, EACH}, 1},
};
/* clang-format on */

START_TEST(reduces) {
  const Reduction *reduction = &reductions[_i];
  g_autoptr(Lab) lab = start("", reduction->text, reduction->threads);
  for (unsigned warp = 0; warp < 3; warp++) {
    lab_warp(lab, warp)->pred[4] = 0x0f0ff0f0;
    lab_warp(lab, warp)->pred[5] = reduction->lanes[warp];
    lab_warp(lab, warp)->pred[6] = reduction->yes[warp];
    memset(lab_row(lab, warp, 2), 0x11, 32 * 4);
  }
  lab_finish(lab);
  bool counts = strstr(reduction->text, "POPC") != NULL;
  for (unsigned t = 0; t < reduction->threads; t++) {
    unsigned warp = t / 32, lane = t % 32;
    bool takes_part = reduction->lanes[warp] >> lane & 1;
    uint32_t number = takes_part && counts ? reduction->result : 0x11111111;
    bool truth = takes_part && !counts ? reduction->result : 0x0f0ff0f0 >> lane & 1;
    ck_assert_msg(lab_row(lab, warp, 2)[lane] == number, "%s: thread %u has %x", reduction->what, t,
                  lab_row(lab, warp, 2)[lane]);
    ck_assert_msg((lab_warp(lab, warp)->pred[4] >> lane & 1) == truth, "%s: P4 of thread %u", reduction->what, t);
  }
}
END_TEST

/* The next use starts from nothing. */
START_TEST(a_reduction_is_forgotten) {
  g_autoptr(Lab) lab = start(
      "", "BAR.RED.POPC R2, 0, PT; BAR.RED.POPC R3, 0, P0; BAR.RED.AND P5, 0, P0; BAR.RED.AND P6, 0, PT; EXIT", 64);
  lab_finish(lab);
  ck_assert_uint_eq(lab_row(lab, 1, 2)[0], 64);
  ck_assert_uint_eq(lab_row(lab, 1, 3)[0], 32);
  ck_assert_uint_eq(lab_warp(lab, 0)->pred[5], 0);
  ck_assert_uint_eq(lab_warp(lab, 0)->pred[6], ALL_LANES);
}
END_TEST

/* ---- order ---- */

/* Each warp passes a number on to the next one, round by round: any arrival too many or too few spoils the sums. */
START_TEST(orders_rounds) {
  static const char *const policies[] = {"loose-round-robin", "greedy-then-oldest", "youngest", "random"};
  enum { ROUNDS = 40, THREADS = 200 };
  g_autofree char *settings =
      g_strdup_printf("sm.jitter_cycles=7 sm.barrier.arrive_to_resume=3 sm.policy=%s", policies[_i]);
  g_autofree char *text =
      g_strdup_printf(".shared 800\nS2R R0, SR_Tid_X; SHL R1, R0, 2; IADD R2, R0, 1; ISETP.EQ P0, PT, R2, %d, PT; "
                      "SEL R2, RZ, R2, P0; SHL R2, R2, 2\n"
                      "MOV R3, R0; MOV R4, %d\n"
                      "loop: STS [R1], R3; BAR.SYNC 0; LDS R5, [R2]; BAR.SYNC 1; IADD R3, R5, 1; IADD R4, R4, -0x1; "
                      "ISETP.NE P1, PT, R4, RZ, PT; @P1 BRA loop; EXIT",
                      THREADS, ROUNDS);
  g_autoptr(Lab) lab = lab_new(settings, text);
  lab_launch(lab, 1, THREADS);
  lab_finish(lab);
  for (uint32_t t = 0; t < THREADS; t++)
    ck_assert_uint_eq(lab_row(lab, t / 32, 3)[t % 32], (t + ROUNDS) % THREADS + ROUNDS);
}
END_TEST

/* ---- what the probes are told ---- */

typedef struct Told {
  unsigned partial, arrivals, waits;
  uint32_t absent, exited, lanes, arrived, waiting, id;
} Told;

static void note_partial(void *user, const ProbePoint *point, uint32_t absent, uint32_t exited) {
  Told *told = user;
  told->exited |= exited;
  if (!absent)
    return;
  told->partial++;
  told->absent = absent;
  told->lanes = point->lanes;
}

static void note_arrive(void *user, const ProbePoint *point, uint32_t id, bool waits) {
  Told *told = user;
  told->arrivals++;
  told->waits += waits;
}

static void note_complete(void *user, const ProbePoint *point, uint32_t id, uint32_t arrived, uint32_t waiting) {
  Told *told = user;
  told->id = id;
  told->arrived = arrived;
  told->waiting = waiting;
}

START_TEST(tells_what_happens) {
  static const struct {
    const char *text;
    Told told;
  } stories[] = {
      {"BAR.SYNC 0; EXIT", {.arrivals = 3, .waits = 3, .arrived = 7, .waiting = 7}},
      {"@!P2 BAR.ARV 5, 96; @P2 BAR.SYNC 5, 96; EXIT",
       {.arrivals = 3, .waits = 1, .arrived = 7, .waiting = 4, .id = 5}},
      {"@P1 EXIT; BAR.SYNC 2; EXIT", {.arrivals = 2, .waits = 2, .arrived = 5, .waiting = 5, .id = 2}},
      {"ISETP.NE P5, PT, R0, 34, PT; @P5 BAR.SYNC 2; EXIT",
       {.arrivals = 3,
        .waits = 3,
        .arrived = 7,
        .waiting = 7,
        .id = 2,
        .partial = 1,
        .absent = 4,
        .lanes = 0xfffffffb}},
      {"ISETP.NE P5, PT, R0, 34, PT; @!P5 EXIT; BAR.SYNC 2; EXIT",
       {.arrivals = 3, .waits = 3, .arrived = 7, .waiting = 7, .id = 2, .exited = 4}},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(stories); i++) {
    g_autoptr(Lab) lab = start("", stories[i].text, 96);
    Told told = {0};
    Probe probe = {.user = &told,
                   .partial_barrier = note_partial,
                   .barrier_arrive = note_arrive,
                   .barrier_complete = note_complete};
    gpu_subscribe(lab->gpu, &probe);
    lab_finish(lab);
    ck_assert_msg(memcmp(&told, &stories[i].told, sizeof told) == 0, "%s: %u %u %u %x %x %x %x %u", stories[i].text,
                  told.partial, told.arrivals, told.waits, told.absent, told.lanes, told.arrived, told.waiting,
                  told.id);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("barrier");
  TCase *tcase = tcase_create("barrier");
  tcase_add_test(tcase, blocks_meet);
  tcase_add_test(tcase, a_block_alone_meets_itself);
  tcase_add_test(tcase, blocks_meet_without_exited_warps);
  tcase_add_test(tcase, resumes_after_the_last_arrival);
  tcase_add_test(tcase, issues_after_it_one_at_a_time);
  tcase_add_test(tcase, arrivals_are_counted_one_by_one);
  tcase_add_test(tcase, the_last_arrival_counts_alone);
  tcase_add_loop_test(tcase, an_arrival_waits_for_stores, 0, 5);
  tcase_add_test(tcase, an_old_store_is_not_waited_for);
  tcase_add_test(tcase, a_reduction_is_ready_at_once);
  tcase_add_loop_test(tcase, waits_for_the_right_ones, 0, G_N_ELEMENTS(meetings));
  tcase_add_test(tcase, an_exit_completes_it);
  tcase_add_test(tcase, an_arrive_does_not_wait);
  tcase_add_test(tcase, blocks_have_their_own);
  tcase_add_loop_test(tcase, different_counts_are_a_fault, 0, 2);
  tcase_add_loop_test(tcase, the_blocks_size_is_no_other_count, 0, 2);
  tcase_add_test(tcase, there_are_as_many_as_the_machine_has);
  tcase_add_test(tcase, sixteen_at_once);
  tcase_add_loop_test(tcase, reduces, 0, G_N_ELEMENTS(reductions));
  tcase_add_test(tcase, a_reduction_is_forgotten);
  tcase_add_loop_test(tcase, orders_rounds, 0, 4);
  tcase_add_test(tcase, tells_what_happens);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
