/* Blocks: what fits on an SM and where, dispatch, streams, pinned cycle by cycle. */
#include <glib.h>
#include <string.h>

#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define TIMES                                                                                      \
  "sm.schedulers=2 sm.issue_interval=2 sm.latency.alu=18 sm.latency.sysreg=18 sm.latency.vote=18 " \
  "sm.latency.branch_taken=18 sm.latency.branch_not_taken=18 sm.shared.latency=50 sm.shared.pass_interval=2 "

/* ---- what fits on an SM ---- */

typedef struct Fit {
  const char *what, *settings, *directives;
  uint32_t threads, shared, blocks;
} Fit;

/* clang-format off */
static const Fit fits[] = {
    {"blocks", "sm.max_blocks=5", "", 32, 0, 5},
    {"warps", "sm.max_warps=10 sm.max_threads=320 sm.max_blocks=64", "", 64, 0, 5},
    {"partial warps take whole ones", "sm.max_warps=10 sm.max_threads=320 sm.max_blocks=64", "", 33, 0, 5},
    {"128 warps", "sm.max_warps=128 sm.max_threads=4096 sm.registers=131072", "", 1024, 0, 4},
    {"threads", "sm.max_warps=48 sm.max_threads=1536 sm.max_blocks=64", "", 512, 0, 3},
    {"registers", "sm.registers=8192 sm.register_granule=64 sm.max_blocks=64", ".reg 10", 64, 0, 12},
    {"registers in granules", "sm.registers=8192 sm.register_granule=512 sm.max_blocks=64", ".reg 10", 64, 0, 8},
    {"registers, exactly full", "sm.registers=6400 sm.register_granule=64 sm.max_blocks=64", ".reg 10", 64, 0, 10},
    {"registers of a block", "sm.registers=16384 sm.register_granule=512 sm.register_owner=block", ".reg 20", 128, 0, 6},
    {"registers of three warps, one each", "sm.registers=16384 sm.register_granule=512", ".reg 20", 96, 0, 5},
    {"registers of three warps, as of four", "sm.registers=16384 sm.register_granule=512 sm.register_owner=block",
     ".reg 24", 96, 0, 5},
    {"shared memory", "sm.shared.bytes=49152 sm.max_blocks=64", ".shared 16384", 32, 0, 3},
    {"shared memory in granules", "sm.shared.bytes=1024 sm.shared.max_block_bytes=1024 sm.max_blocks=64",
     ".shared 129", 32, 0, 4},
    {"dynamic shared memory adds", "sm.shared.bytes=1024 sm.shared.max_block_bytes=1024 sm.max_blocks=64",
     ".shared 100", 32, 29, 4},
    {"shared memory, a granule each", "sm.shared.bytes=1024 sm.shared.max_block_bytes=1024 sm.max_blocks=64",
     ".shared 100", 32, 28, 8},
    {"no shared memory", "sm.shared.bytes=1024 sm.shared.max_block_bytes=1024 sm.max_blocks=20", "", 32, 0, 20},
};
/* clang-format on */

START_TEST(holds_what_fits) {
  const Fit *fit = &fits[_i];
  g_autofree char *text = g_strconcat(fit->directives, "\nNOP; EXIT", NULL);
  g_autoptr(Lab) lab = lab_new(fit->settings, text);
  lab_launch_grid(lab, 0, 70, fit->threads, fit->shared, 0);
  lab_place(lab);
  const Sm *sm = &lab->gpu->sms[0];
  ck_assert_msg(sm->resident_blocks == fit->blocks, "%s: %u blocks", fit->what, sm->resident_blocks);
  for (unsigned i = 0; i < sm->resident_blocks; i++)
    ck_assert_uint_eq(sm->blocks[i].index, i);
  lab_finish(lab);
  ck_assert_uint_eq(lab->gpu->counters.blocks, 70);
}
END_TEST

typedef struct Placed {
  uint32_t base[8];
  unsigned count;
} Placed;

static void note_block(void *user, const ProbePoint *point) {
  Placed *placed = user;
  placed->base[placed->count++] = point->block->shared_base;
}

START_TEST(blocks_lie_one_behind_the_other) {
  g_autoptr(Lab) lab = lab_new("sm.shared.granule=128", ".shared 200\nS2R R0, SR_CTAid_X; STS [0x8], R0; EXIT");
  Placed placed = {0};
  Probe probe = {.user = &placed, .block_start = note_block};
  gpu_subscribe(lab->gpu, &probe);
  lab_launch(lab, 8, 32);
  lab_finish(lab);
  for (unsigned i = 0; i < 8; i++) {
    ck_assert_uint_eq(placed.base[i], 256 * i);
    ck_assert_uint_eq(lab->gpu->sms[0].shared.words[(256 * i + 8) / 4], i);
  }
}
END_TEST

#define LONG(n) "MOV R0, " #n "\nl" #n ": IADD R0, R0, -1\nISETP.GT P0, PT, R0, RZ, PT\n@P0 BRA l" #n "\nEXIT\n"

/* First fit from 0. A (256 bytes, short) and B (512) lie at 0 and 256. When A has gone, C (300, so 384) doesn't
 * fit into its hole and lies at 768; then D (200) fits into the hole. */
START_TEST(the_first_hole_that_fits) {
  g_autoptr(Lab) lab = lab_new(
      "", ".kernel a\n.shared 256\n" LONG(2) ".kernel b\n.shared 512\n" LONG(400) ".kernel c\n.shared 300\n" LONG(
              401) ".kernel e\n" LONG(20) ".kernel d\n.shared 200\n" LONG(3));
  Placed placed = {0};
  Probe probe = {.user = &placed, .block_start = note_block};
  gpu_subscribe(lab->gpu, &probe);
  lab_launch_grid(lab, 0, 1, 32, 0, 0); /* a */
  lab_launch_grid(lab, 1, 1, 32, 0, 1); /* b */
  lab_launch_grid(lab, 2, 1, 32, 0, 0); /* c, after a */
  lab_launch_grid(lab, 3, 1, 32, 0, 2); /* e, longer than a, without shared memory */
  lab_launch_grid(lab, 4, 1, 32, 0, 2); /* d, after e */
  lab_finish(lab);
  static const uint32_t bases[] = {0, 256, 0, 768, 0}; /* a b e c d */
  ck_assert_uint_eq(placed.count, 5);
  for (unsigned i = 0; i < 5; i++)
    ck_assert_msg(placed.base[i] == bases[i], "the %u-th block lies at %u", i, placed.base[i]);
}
END_TEST

/* A block finds its shared memory, registers and predicates cleared, whatever ran there before. */
START_TEST(a_block_starts_clean) {
  g_autoptr(Lab) lab = lab_new(
      "sm.max_blocks=1", ".shared 64\nLDS R1, [0x8]; IADD R5, R5, R1; @P3 IADD R5, R5, 1; MOV R6, c[0x0][0x20]; "
                         "S2R R7, SR_CTAid_X; SHL R7, R7, 2; IADD R6, R6, R7; ST [R6], R5\n"
                         "MOV R5, 77; STS [0x8], R5; PSETP.AND.AND P3, PT, PT, PT, PT; SSY end; PBK end; "
                         "end: EXIT");
  const uint32_t *data = lab_buffer(lab, 8);
  lab_launch(lab, 8, 32);
  lab_finish(lab);
  for (unsigned i = 0; i < 8; i++)
    ck_assert_uint_eq(data[i], 0);
}
END_TEST

typedef struct Refusal {
  uint32_t grid[3], block[3], shared;
  const char *text, *words;
} Refusal;

/* clang-format off */
static const Refusal refusals[] = {
    {{0, 1, 1}, {32, 1, 1}, 0, "EXIT", "the grid has no blocks"},
    {{1, 1, 0}, {32, 1, 1}, 0, "EXIT", "the grid has no blocks"},
    {{1, 1, 1}, {0, 1, 1}, 0, "EXIT", "the block has no threads"},
    {{1, 1, 1}, {32, 0, 1}, 0, "EXIT", "the block has no threads"},
    {{65536, 1, 1}, {32, 1, 1}, 0, "EXIT", "65536 blocks in x"},
    {{1, 65536, 1}, {32, 1, 1}, 0, "EXIT", "65536 blocks in y"},
    {{1, 1, 65536}, {32, 1, 1}, 0, "EXIT", "65536 blocks in z"},
    {{1, 1, 1}, {1025, 1, 1}, 0, "EXIT", "1025 threads"},
    {{1, 1, 1}, {32, 33, 1}, 0, "EXIT", "1056 threads"},
    {{1, 1, 1}, {4294967295, 4294967295, 4294967295}, 0, "EXIT", "at most 1024"},
    {{1, 1, 1}, {1, 1, 65}, 0, "EXIT", "65 threads in z"},
    {{1, 1, 1}, {32, 1, 1}, 0, ".shared 49153\nEXIT", "49153 bytes of shared memory"},
    {{1, 1, 1}, {32, 1, 1}, 4294967295, ".shared 4\nEXIT", "4294967299 bytes of shared memory"},
    {{1, 1, 1}, {1024, 1, 1}, 0, ".reg 63\nEXIT", "65536 registers"},
    {{65535, 65535, 65535}, {1024, 1, 1}, 49152, ".reg 32\nEXIT", NULL},
};
/* clang-format on */

START_TEST(refuses_what_can_never_run) {
  const Refusal *refusal = &refusals[_i];
  g_autoptr(Lab) lab = lab_new("", refusal->text);
  LaunchConfig config = {
      .program = lab->program, .kernel = program_kernel(lab->program, 0), .shared_bytes = refusal->shared};
  memcpy(config.grid, refusal->grid, sizeof config.grid);
  memcpy(config.block, refusal->block, sizeof config.block);
  char *why = NULL;
  bool fine = gpu_add_launch(lab->gpu, &config, &why);
  ck_assert(fine == !refusal->words);
  ck_assert_msg(fine || strstr(why, refusal->words), "\"%s\" lacks \"%s\"", why, refusal->words);
  g_free(why);
}
END_TEST

/* ---- dispatch ---- */

/* Blocks go to the SMs in turn; when all are full, to the one that has room first. */
START_TEST(deals_blocks_out) {
  for (unsigned sms = 15; sms <= 16; sms++) {
    g_autofree char *settings = g_strdup_printf("gpu.sms=%u sm.max_blocks=2", sms);
    g_autoptr(Lab) lab = lab_new(settings, "NOP; EXIT");
    lab_launch(lab, 40, 32);
    lab_place(lab);
    for (unsigned block = 0; block < 2 * sms; block++)
      ck_assert_uint_eq(lab->gpu->sms[block % sms].blocks[block / sms].index, block);
    lab_finish(lab);
    unsigned runs[40] = {0};
    for (guint i = 0; i < lab->trace->len; i++)
      runs[lab_issue(lab, i)->block]++;
    for (unsigned block = 0; block < 40; block++)
      ck_assert_uint_eq(runs[block], 2);
  }
}
END_TEST

/* A launch that finds nobody there begins with the first SM; one beside another goes on where that stopped. */
START_TEST(begins_again_alone) {
  for (int beside = 0; beside < 2; beside++) {
    g_autoptr(Lab) lab = lab_new("gpu.sms=8", LONG(20));
    lab_launch_grid(lab, 0, 3, 32, 0, 1);
    lab_launch_grid(lab, 0, 3, 32, 0, beside ? 2 : 1);
    lab_finish(lab);
    for (guint i = 0; i < lab->trace->len; i++) {
      const LabIssue *issue = lab_issue(lab, i);
      ck_assert_uint_eq(issue->sm, issue->block + (beside ? 3 * issue->launch : 0));
    }
  }
}
END_TEST

/* Block 0 and 2 are long: the rest goes through the other SM. */
START_TEST(fills_whoever_has_room) {
  g_autoptr(Lab) lab =
      lab_new("gpu.sms=2 sm.max_blocks=1", "S2R R0, SR_CTAid_X; ISETP.NE P1, PT, R0, RZ, PT; @P1 EXIT\n" LONG(60));
  lab_launch(lab, 12, 32);
  lab_finish(lab);
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    ck_assert_uint_eq(issue->sm, issue->block != 0);
  }
}
END_TEST

START_TEST(dispatch_takes_time) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=4 grid.launch_overhead=1000 grid.dispatch_interval=30", "NOP; EXIT");
  lab_launch(lab, 6, 32);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  uint64_t end = 0;
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    if (issue->launch == 0 && issue->pc == 0)
      ck_assert_uint_eq(issue->cycle, 1000 + 30 * issue->block);
    end = issue->launch == 0 ? MAX(end, issue->cycle) : end;
  }
  ck_assert_uint_eq(end, 1000 + 150 + 2);
  ck_assert_uint_eq(lab_issue(lab, lab->trace->len - 1)->launch, 1);
  ck_assert_uint_eq(lab_issue(lab, lab->trace->len - 2)->cycle,
                    end + 1000); /* the second launch starts after the first */
  ck_assert_uint_eq(lab->gpu->end_cycle, end + 1002);
}
END_TEST

/* The dispatcher hears of one exit after the other, and the next launch of the stream waits until it has of all. */
START_TEST(exits_take_time) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=4 grid.retire_interval=30.5", "NOP; EXIT");
  lab_launch(lab, 9, 32);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  uint64_t first_exit = UINT64_MAX;
  for (guint i = 0; i < lab->trace->len; i++)
    if (lab_issue(lab, i)->pc == 1)
      first_exit = MIN(first_exit, lab_issue(lab, i)->cycle);
  const LabIssue *next = lab_issue(lab, lab->trace->len - 2);
  ck_assert_uint_eq(next->launch, 1);
  ck_assert_uint_eq(next->cycle, first_exit + 8 * 61 / 2);
  ck_assert_uint_eq(lab->gpu->end_cycle, next->cycle + 2);
}
END_TEST

/* The turn in which each of the blocks was dispatched; each must have been. */
static void find_turns(const char *order, uint64_t seed, uint64_t turn[100]) {
  g_autofree char *settings = g_strdup_printf("gpu.sms=50 grid.dispatch_interval=30 grid.dispatch_order=%s", order);
  g_autoptr(Lab) lab = lab_new_seeded(settings, "NOP; EXIT", seed);
  bool seen[100] = {false};
  lab_launch(lab, 100, 32);
  lab_finish(lab);
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    if (issue->pc == 0)
      turn[issue->block] = issue->cycle / 30;
    seen[issue->block] = true;
  }
  for (unsigned block = 0; block < 100; block++)
    ck_assert_msg(seen[block] && turn[block] < 100, "%s: block %u, turn %u", order, block, (unsigned)turn[block]);
}

START_TEST(blocks_come_in_an_order) {
  uint64_t forward[100], reverse[100], random[100], again[100], other[100];
  unsigned kept = 0, same = 0;
  find_turns("forward", 1, forward);
  find_turns("reverse", 1, reverse);
  find_turns("random", 1, random);
  find_turns("random", 1, again);
  find_turns("random", 2, other);
  bool taken[100] = {false};
  for (unsigned block = 0; block < 100; block++) {
    ck_assert_uint_eq(forward[block], block);
    ck_assert_uint_eq(reverse[block], 99 - block);
    ck_assert_uint_eq(random[block], again[block]);
    ck_assert_msg(!taken[random[block]], "two blocks in turn %u", (unsigned)random[block]);
    taken[random[block]] = true;
    kept += random[block] == block;
    same += random[block] == other[block];
  }
  ck_assert_msg(kept < 10 && same < 10, "%u in their place, %u as with another seed", kept, same);
}
END_TEST

/* ---- streams ---- */

START_TEST(a_stream_is_in_order_streams_are_not) {
  for (int other = 0; other < 2; other++) {
    g_autoptr(Lab) lab = lab_new("gpu.sms=2", ".kernel one\n" LONG(30) ".kernel two\n" LONG(10));
    lab_launch_grid(lab, 0, 3, 64, 0, 5);
    lab_launch_grid(lab, 1, 3, 64, 0, other ? 6 : 5);
    lab_finish(lab);
    uint64_t first_end = 0, second_start = UINT64_MAX;
    for (guint i = 0; i < lab->trace->len; i++) {
      const LabIssue *issue = lab_issue(lab, i);
      if (issue->launch == 0)
        first_end = MAX(first_end, issue->cycle);
      else
        second_start = MIN(second_start, issue->cycle);
    }
    ck_assert(other ? second_start == 0 : second_start >= first_end);
  }
}
END_TEST

/* A later launch of another stream doesn't wait behind one that doesn't fit. */
/* The first issues of a launch of two blocks of which one fits at a time, by block, and of a small one behind it in
 * another stream, for which there is room. */
typedef struct FirstIssues {
  uint64_t big[2], small;
} FirstIssues;

static FirstIssues big_and_small(const char *order) {
  g_autofree char *settings =
      g_strdup_printf("sm.shared.bytes=1024 sm.shared.max_block_bytes=1024 grid.launch_order=%s", order);
  g_autoptr(Lab) lab = lab_new(settings, ".kernel big\n.shared 1024\n" LONG(50) ".kernel small\n" LONG(5));
  FirstIssues first = {{UINT64_MAX, UINT64_MAX}, UINT64_MAX};
  lab_launch_grid(lab, 0, 2, 32, 0, 1);
  lab_launch_grid(lab, 1, 1, 32, 0, 2);
  lab_finish(lab);
  for (guint i = lab->trace->len; i-- > 0;) {
    const LabIssue *issue = lab_issue(lab, i);
    *(issue->launch ? &first.small : &first.big[issue->block]) = issue->cycle;
  }
  return first;
}

START_TEST(streams_pass_each_other) {
  FirstIssues first = big_and_small("as-room");
  ck_assert_uint_eq(first.big[0], 0);
  ck_assert_uint_eq(first.small, 0);
  ck_assert_uint_gt(first.big[1], 50);
}
END_TEST

/* As an H200 does it (launch_order_h200.csv). */
START_TEST(launches_wait_for_those_before_them) {
  FirstIssues first = big_and_small("in-turn");
  ck_assert_uint_eq(first.big[0], 0);
  ck_assert_uint_gt(first.big[1], 50);
  ck_assert_uint_le(first.big[1], first.small + 4); /* on SMs that take turns otherwise */
}
END_TEST

#define POLLS                                                                                 \
  "MOV R0, c[0x0][0x20]; MOV32I R1, 0x14; again: LD R2, [R0]; MOV R2, R2; ISUB R1, R1, 0x1; " \
  "ISETP.NE P0, PT, R1, RZ, PT; @P0 BRA again; EXIT;\n"

/* The issues of launch 0, whose blocks take all the room, if launch 1 of another stream has `others` blocks. */
static char *polling_beside(uint32_t others) {
  g_autoptr(Lab) lab =
      lab_new("gpu.sms=2 sm.l1.bytes=1024 sm.l1.line=64 sm.l1.global_loads=cached memory.latency=600 "
              "sm.max_blocks=1 grid.launch_overhead=1000 grid.dispatch_interval=3 grid.launch_order=as-room",
              ".kernel polls\n" POLLS ".kernel other\nNOP; EXIT\n");
  lab_buffer(lab, 64);
  lab_launch_grid(lab, 0, 7, 64, 0, 1);
  if (others)
    lab_launch_grid(lab, 1, others, 64, 0, 2);
  lab_finish(lab);
  GString *trace = g_string_new(NULL);
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    if (issue->launch == 0)
      g_string_append_printf(trace, "%d.%u.%u:%u ", (int)issue->cycle, issue->sm, issue->slot, issue->pc);
  }
  return g_string_free(trace, FALSE);
}

/* A launch whose blocks wait for room costs nobody anything, neither its overhead nor the copies in the L1s. */
START_TEST(a_launch_that_waits_for_room_changes_nothing) {
  g_autofree char *alone = polling_beside(0), *both = polling_beside(3);
  ck_assert(g_str_equal(alone, both));
}
END_TEST

/* Nor does the overhead of one that has room: meanwhile blocks of others follow each other. */
START_TEST(a_start_holds_no_other_launch_up) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=2 sm.max_blocks=2 memory.latency=600 grid.launch_overhead=20000",
                               ".kernel before\nNOP; EXIT\n.kernel other\nNOP; EXIT\n.kernel polls\n" POLLS);
  lab_buffer(lab, 64);
  lab_launch_grid(lab, 0, 1, 32, 0, 2);
  lab_launch_grid(lab, 1, 1, 32, 0, 2);
  lab_launch_grid(lab, 2, 4, 32, 0, 1);
  lab_finish(lab);
  uint64_t first_end = 0, other = 0, last_start = 0;
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    if (issue->launch == 2 && issue->block == 3 && issue->pc == 0)
      last_start = issue->cycle;
    if (issue->launch == 2 && !last_start)
      first_end = issue->cycle;
    if (issue->launch == 1 && issue->pc == 0)
      other = issue->cycle;
  }
  ck_assert(last_start >= first_end && last_start < first_end + 4);
  ck_assert(other > 40000 && other < 40100);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("dispatch");
  TCase *tcase = tcase_create("dispatch");
  tcase_add_loop_test(tcase, holds_what_fits, 0, G_N_ELEMENTS(fits));
  tcase_add_test(tcase, blocks_lie_one_behind_the_other);
  tcase_add_test(tcase, the_first_hole_that_fits);
  tcase_add_test(tcase, a_block_starts_clean);
  tcase_add_loop_test(tcase, refuses_what_can_never_run, 0, G_N_ELEMENTS(refusals));
  tcase_add_test(tcase, deals_blocks_out);
  tcase_add_test(tcase, begins_again_alone);
  tcase_add_test(tcase, fills_whoever_has_room);
  tcase_add_test(tcase, dispatch_takes_time);
  tcase_add_test(tcase, exits_take_time);
  tcase_add_test(tcase, blocks_come_in_an_order);
  tcase_add_test(tcase, a_stream_is_in_order_streams_are_not);
  tcase_add_test(tcase, streams_pass_each_other);
  tcase_add_test(tcase, launches_wait_for_those_before_them);
  tcase_add_test(tcase, a_launch_that_waits_for_room_changes_nothing);
  tcase_add_test(tcase, a_start_holds_no_other_launch_up);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
