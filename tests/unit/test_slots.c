/* Where the issue slots of schedulers went: by hand for small programs; and they add up. */
#include <glib.h>
#include <stdlib.h>

#include "sim/core/slots.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define TIMES                                                                                      \
  "sm.schedulers=1 sm.issue_interval=2 sm.latency.alu=18 sm.latency.sysreg=18 memory.latency=600 " \
  "memory.request_latency=300 memory.bytes_per_cycle=64 memory.segment=128 memory.atomic_interval=18 "
#define ONE_LANE "MOV R0, c[0x0][0x20]; "

typedef struct Case {
  const char *what, *settings, *program;
  unsigned threads;
  uint64_t end, slots[SLOTS_COUNT]; /* latency, memory, barrier, fence, port, empty, issued */
} Case;

/* clang-format off */
static const Case cases[] = {
    /* LD in 18, its reply in 618; EXIT in 620, whose second cycle is beyond the end */
    {"a load", "", ONE_LANE "LD R1, [R0]; IADD R2, R1, 1; EXIT", 1, 620, {16, 598, 0, 0, 0, 0, 6}},
    /* nobody waits for the store but the launch: in 618 */
    {"a store", "", ONE_LANE "ST [R0], R0; EXIT", 1, 618, {16, 0, 0, 0, 0, 596, 6}},
    {"a fence", "", ONE_LANE "ST [R0], R0; MEMBAR.GL; NOP; EXIT", 1, 620, {16, 0, 0, 596, 0, 0, 8}},
    {"two fences", "memory.fence_latency=100", ONE_LANE "ST [R0], R0; MEMBAR.GL; MEMBAR.GL; EXIT", 1, 820,
     {16, 0, 0, 796, 0, 0, 8}},
    /* warp 0 comes to the barrier in 40, warp 1 in 42; they go on in 52 and 54 */
    {"a barrier", "sm.barrier.arrive_to_resume=10", "S2R R0, SR_Tid_X; IADD R0, R0, 1; IADD R1, R0, 1; BAR.SYNC 0; EXIT", 64, 54,
     {28, 0, 8, 0, 0, 0, 18}},
    /* One credit, and room for one access besides: the third store comes in 22, and is sent when the first is
     * acknowledged, in 158 */
    {"a full port", "memory.slices=1 memory.l2.bytes=65536 memory.port.credits=1 memory.port.queue=1 sm.l1.bytes=0",
     ONE_LANE "ST [R0], R0; ST [R0+0x100], R0; ST [R0+0x200], R0; EXIT", 1, 438, {16, 0, 0, 0, 136, 276, 10}},
};
/* clang-format on */

static const char *const names[SLOTS_COUNT] = {"latency", "memory", "barrier", "fence", "port", "empty", "issued"};

START_TEST(slots_go_where_they_should) {
  const Case *c = &cases[_i];
  g_autofree char *settings = g_strconcat(TIMES, c->settings, NULL);
  g_autoptr(Lab) lab = lab_new(settings, c->program);
  uint64_t slots[SLOTS_COUNT];
  lab_buffer(lab, 256);
  lab_launch(lab, 1, c->threads);
  lab_finish(lab);
  ck_assert_msg(lab->gpu->end_cycle == c->end, "%s: ends in %d", c->what, (int)lab->gpu->end_cycle);
  slots_read(lab->gpu, 0, c->end, slots);
  for (unsigned i = 0; i < SLOTS_COUNT; i++)
    ck_assert_msg(slots[i] == c->slots[i], "%s: %s has %d slots, not %d", c->what, names[i], (int)slots[i],
                  (int)c->slots[i]);
}
END_TEST

/* ---- they add up ---- */

static const char contended[] =
    ".shared 1024\nS2R R0, SR_Tid_X; S2R R1, SR_LaneId; MOV R2, c[0x0][0x20]; MOV R9, 3; LOP.AND R3, R0, 7; SHL R3, "
    "R3, 2\n"
    "round: LDSLK P0, R4, [R3]; @P0 IADD R4, R4, R0; @P0 STSUL [R3], R4; @!P0 BRA round\n"
    "ISETP.LT P1, PT, R1, 9, PT; @P1 ATOM.EXCH R5, [R2], R0; @!P1 ATOM.ADD R5, [R2+0x4], R1; SHL R6, R0, 3; IADD R6, "
    "R6, R2\n"
    "ST [R6+0x20], R5; MEMBAR.GL; BAR.SYNC 0; IADD R9, R9, -0x1; ISETP.NE P2, PT, R9, RZ, PT; @P2 BRA round; EXIT\n";

/* Issue slots by the instructions that were told, up to `end`. */
static uint64_t told(const Lab *lab, uint32_t sm, uint64_t end) {
  uint64_t sum = 0;
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    if (issue->sm == sm && issue->cycle < end)
      sum += MIN(lab->machine->sm.issue_interval, end - issue->cycle);
  }
  return sum;
}

/* Up to the end of the run, and wherever it stops on its way. */
static void check_sums(const Lab *lab, uint64_t end, uint64_t all[SLOTS_COUNT]) {
  for (uint32_t sm = 0; sm < lab->machine->gpu.sms; sm++) {
    uint64_t slots[SLOTS_COUNT], sum = 0;
    slots_read(lab->gpu, sm, end, slots);
    for (unsigned i = 0; i < SLOTS_COUNT; i++) {
      ck_assert_msg(slots[i] <= end * lab->machine->sm.schedulers, "SM %u: %s has %d slots", sm, names[i],
                    (int)slots[i]);
      sum += slots[i];
      all[i] += slots[i];
    }
    ck_assert_uint_eq(sum, end * lab->machine->sm.schedulers);
    ck_assert_uint_eq(slots[SLOTS_ISSUED], told(lab, sm, end));
  }
}

START_TEST(slots_add_up) {
  static const char *const policies[] = {"loose-round-robin", "greedy-then-oldest", "youngest", "random"};
  g_autofree char *settings =
      g_strdup_printf("gpu.sms=3 sm.max_blocks=2 sm.jitter_cycles=3 sm.issue_interval=%d sm.schedulers=%d "
                      "sm.barrier.arrive_to_resume=1 sm.policy=%s memory.slices=%d memory.port.credits=8 "
                      "memory.port.queue=4 grid.launch_overhead=700",
                      1 + _i % 3, 1 << _i % 3, policies[_i % 4], _i % 2 * 4);
  g_autoptr(Lab) lab = lab_new_seeded(settings, contended, (uint64_t)_i);
  uint64_t all[SLOTS_COUNT] = {0};
  lab_buffer(lab, 1024);
  lab_launch(lab, 9, 160);
  for (uint64_t limit = 500; gpu_run(lab->gpu, 10000000, limit) == GPU_LIMIT; limit += limit / 2 + 77)
    check_sums(lab, lab->gpu->cycle, all);
  check_sums(lab, lab->gpu->end_cycle, all);
  for (unsigned i = 0; i < SLOTS_COUNT; i++)
    ck_assert_msg(all[i] || i == STALL_PORT || i == STALL_BARRIER, "no slots of %s", names[i]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("slots");
  TCase *tcase = tcase_create("slots");
  tcase_add_loop_test(tcase, slots_go_where_they_should, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, slots_add_up, 0, 12);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
