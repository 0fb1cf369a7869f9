/* Issue, scoreboard and policies; clock and marks: pinned cycle by cycle. */
#include <glib.h>
#include <string.h>

#include "sim/core/record.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define TIMES                                                                                      \
  "sm.schedulers=2 sm.issue_interval=2 sm.latency.alu=18 sm.latency.sysreg=18 sm.latency.vote=18 " \
  "sm.latency.branch_taken=18 sm.latency.branch_not_taken=18 sm.shared.latency=50 sm.shared.pass_interval=2 "

/* ---- the scoreboard ---- */

typedef struct Wait {
  const char *what, *text;
  uint64_t cycles[6]; /* of each instruction */
} Wait;

/* clang-format off */
static const Wait waits[] = {
    {"independent instructions", "MOV R0, 1; MOV R1, 2; MOV R2, 3; EXIT", {0, 2, 4, 6}},
    {"a chain of n takes n latencies", "MOV R0, 1; MOV R1, R0; MOV R2, R1; MOV R3, R2; EXIT", {0, 18, 36, 54, 56}},
    {"behind a waiting instruction all wait", "MOV R0, 1; MOV R1, R0; MOV R2, 5; EXIT", {0, 18, 20, 22}},
    {"any operand", "MOV R0, 1; NOP; IMAD R3, R1, R2, R0; IADD R4, R3, R1; EXIT", {0, 2, 18, 36, 38}},
    {"written twice", "LDS R0, [RZ]; MOV R0, R1; EXIT", {0, 50, 52}},
    {"read, then written: no wait", "MOV R1, R0; MOV R0, 5; EXIT", {0, 2, 4}},
    {"a predicate", "ISETP.EQ P0, PT, R0, R1, PT; SEL R2, R0, R1, P0; EXIT", {0, 18, 20}},
    {"a guard", "ISETP.EQ P0, PT, R0, R1, PT; @P0 NOP; EXIT", {0, 18, 20}},
    {"another predicate", "ISETP.EQ P0, PT, R0, R1, PT; @P1 MOV R2, R0; EXIT", {0, 2, 4}},
    {"both predicates", "PSETP.AND.AND P0, P1, P2, P3, PT; @P1 NOP; EXIT", {0, 18, 20}},
    {"the carry", "IADD R2.CC, R0, R1; IADD.X R3, R0, R1; EXIT", {0, 18, 20}},
    {"RZ and PT never wait", "MOV RZ, 1; ISETP.EQ PT, PT, R0, R1, PT; MOV R0, RZ; @PT NOP; EXIT", {0, 2, 4, 6, 8}},
    {"an address", "MOV R0, RZ; LDS R1, [R0]; EXIT", {0, 18, 20}},
    {"what is stored", "MOV R0, RZ; STS [RZ], R0; EXIT", {0, 18, 20}},
    {"each register of a group, read", "MOV R5, 1; STS.64 [RZ], R4; EXIT", {0, 18, 20}},
    {"each register of a group, written", "LDS.128 R4, [RZ]; MOV R1, R7; EXIT", {0, 50, 52}},
    {"the register beside a group", "LDS.64 R4, [RZ]; MOV R1, R6; EXIT", {0, 2, 4}},
    {"a load isn't waited for by others", "LDS R0, [RZ]; MOV R1, 1; MOV R2, R1; MOV R3, R0; EXIT", {0, 2, 20, 50,
     52}},
    {"LDSLK's predicate", "LDSLK P0, RZ, [RZ]; @P0 NOP; EXIT", {0, 50, 52}},
    {"a vote", "VOTE.ALL R0, P0, PT; @P0 MOV R1, R2; EXIT", {0, 18, 20}},
    {"EXIT doesn't wait for loads", "LDS R0, [RZ]; EXIT", {0, 2}},
};
/* clang-format on */

START_TEST(waits_for_operands) {
  g_autofree char *text = g_strconcat(".reg 12\n.shared 64\n", waits[_i].text, NULL);
  g_autoptr(Lab) lab = lab_new(TIMES, text);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  for (unsigned pc = 0; pc < lab->trace->len; pc++)
    ck_assert_msg(lab_issue(lab, pc)->cycle == waits[_i].cycles[pc], "%s: instruction %u in %d, not %d",
                  waits[_i].what, pc, (int)lab_issue(lab, pc)->cycle, (int)waits[_i].cycles[pc]);
}
END_TEST

/* From compute capability 75 on code stalls as ptxas lets it: cycles of issue between arithmetic and its reader, on
 * top of which come those that the warp waits for a load. */
#define AS_PTXAS                                                                                            \
  "gpu.compute_capability=90 sm.schedulers=2 sm.issue_interval=1 sm.latency.alu=4 sm.latency.other_unit=1 " \
  "sm.latency.guard=13 sm.latency.vote=4 sm.latency.ballot=4 sm.latency.branch_taken=10 "                   \
  "sm.latency.branch_not_taken=5 sm.latency.divide=60 sm.latency.reciprocal=76 sm.latency.divide_issue=0 "  \
  "sm.latency.sysreg=36 sm.encoded.slow=17 sm.shared.latency=23 sm.shared.pass_interval=1 "

/* clang-format off */
static const Wait stalls[] = {
    {"a chain in one unit", "IADD R1, R0, R0; LOP.AND R2, R1, R0; EXIT", {0, 4, 5}},
    {"a product and back", "IADD R1, R0, R0; IMAD R2, R1, R0, R0; IADD R3, R2, R0; EXIT", {0, 5, 10, 11}},
    {"a guard", "ISETP.EQ P0, PT, R0, R1, PT; @P0 NOP; EXIT", {0, 13, 14}},
    {"a predicate as a value", "ISETP.EQ P0, PT, R0, R1, PT; SEL R2, R0, R1, P0; EXIT", {0, 4, 5}},
    {"a vote counts by guards", "ISETP.EQ P0, PT, R0, R1, PT; VOTE.ANY R2, P1, P0; MOV R3, R2; EXIT",
     {0, 13, 17, 18}},
    {"a vote's predicate", "VOTE.ANY RZ, P0, P1; @P0 NOP; EXIT", {0, 13, 14}},
    {"on top of a load", "LDS R1, [RZ]; ISETP.EQ P0, PT, R0, R2, PT; IADD R3, R1, R0; @P0 BRA on; on: EXIT",
     {0, 1, 23, 35, 45}},
    {"a branch that falls through", "@!PT BRA on; on: EXIT", {0, 5}},
    {"POPC, which has no fixed latency", "POPC R1, R0, R0; MOV R2, R1; EXIT", {0, 17, 18}},
};
/* clang-format on */

START_TEST(stalls_as_ptxas_does) {
  g_autofree char *text = g_strconcat(".reg 12\n.shared 64\n", stalls[_i].text, NULL);
  g_autoptr(Lab) lab = lab_new(AS_PTXAS, text);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  for (unsigned pc = 0; pc < lab->trace->len; pc++)
    ck_assert_msg(lab_issue(lab, pc)->cycle == stalls[_i].cycles[pc], "%s: instruction %u in %d, not %d",
                  stalls[_i].what, pc, (int)lab_issue(lab, pc)->cycle, (int)stalls[_i].cycles[pc]);
}
END_TEST

/* On sm_90 64 bits of the constant bank come by an LDC: the first one of a line comes later, but for what the warp
 * has waited already since an operand of the line came, too. Instructions are those of PTX, a MOV64 is a MOV here. */
START_TEST(the_first_base_of_a_line_comes_later) {
  static const struct {
    const char *what, *text;
    unsigned first;  /* the MOV64 */
    uint64_t cycles; /* from what comes before the MOV64, to who reads it */
    uint64_t others; /* from a second MOV64 to its reader */
  } cases[] = {
      {"with its line",
       "NOP; MOV R2, c[0x0][0x20]; IADD R4, R2, R0; MOV R6, c[0x0][0x20]; IADD R4, R6, R0; "
       "MOV R8, c[0x0][0x24]; EXIT",
       1,
       1 + 26 + 77, 26},
      {"behind an operand of the line",
       "NOP; IADD R0, R0, c[0x0][0x20]; MOV R2, c[0x0][0x20]; IADD R4, R2, R0; "
       "MOV R6, c[0x0][0x24]; IADD R4, R6, R0; MOV R8, c[0x0][0x28]; EXIT",
       2, 59 + 2 + 26 + 77, 26},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strconcat(".reg 12\n", cases[i].text, NULL);
    g_autoptr(Lab) lab = lab_new(AS_PTXAS "sm.latency.operand_line=59 sm.encoded.constant=26 "
                                          "sm.encoded.constant_line=77 ",
                                 text);
    unsigned first = cases[i].first; /* a MOV64 reads the constant behind its own, too */
    lab_inst(lab, first)->op = lab_inst(lab, first + 2)->op = OP_MOV64;
    lab_inst(lab, first)->wide = lab_inst(lab, first + 2)->wide = WIDE_DST | WIDE_A;
    lab_arg(lab, 0);
    lab_arg(lab, 0);
    lab_arg(lab, 0);
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    uint64_t before = lab_cycle(lab, 0, 0, 0), reads = lab_cycle(lab, 0, first + 1, 0);
    ck_assert_msg(reads - before == cases[i].cycles, "%s: %d", cases[i].what, (int)(reads - before));
    ck_assert_uint_eq(lab_cycle(lab, 0, first + 3, 0) - lab_cycle(lab, 0, first + 2, 0), cases[i].others);
  }
}
END_TEST

/* Three rounds of instructions, and whether they wait for an access of the round before, which takes REPLY cycles at
 * least. R2 and R3 are words. */
static const struct {
  const char *what, *round;
  bool waits;
} nobody_reads[] = {
    {"an exchange", "ATOM.EXCH RZ, [R2], R1", true},
    {"a compare-and-swap", "ATOM.CAS RZ, [R2], R1, R1", true},
    {"two in a row wait once", "ATOM.EXCH RZ, [R2], R1; ATOM.EXCH RZ, [R3], R1", true},
    {"two in different blocks", "ATOM.EXCH RZ, [R2], R1; @P1 BRA on; on: ATOM.EXCH RZ, [R3], R1", true},
    {"a reduction", "RED.ADD [R2], R1", false},
    {"a store", "ST [R2], R1", false},
};

START_TEST(an_atomic_whose_result_nobody_reads_waits_in_the_next_round) {
  enum { REPLY = 800, ROUNDS = 3 };
  g_autofree char *text = g_strdup_printf(
      ".reg 12\n.shared 64\nMOV R2, c[0x0][0x20]; MOV R3, c[0x0][0x24]; MOV R0, %d; again: %s; IADD R0, R0, -0x1; "
      "ISETP.NE.AND P0, PT, R0, RZ, PT; @P0 BRA again; EXIT",
      ROUNDS, nobody_reads[_i].round);
  g_autoptr(Lab) lab = lab_new(AS_PTXAS, text);
  lab_buffer(lab, 1);
  lab_buffer(lab, 1);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  uint64_t first = lab_cycle(lab, 0, 3, 0), second = lab_cycle(lab, 0, 3, 1), third = lab_cycle(lab, 0, 3, 2);
  for (unsigned round = 0; round < 2; round++) {
    uint64_t apart = round ? third - second : second - first;
    ck_assert_msg(nobody_reads[_i].waits ? apart >= REPLY && apart < 2 * REPLY : apart < REPLY / 2, "%s: %d",
                  nobody_reads[_i].what, (int)apart);
  }
}
END_TEST

/* The first block of the next round ends when the reply has come: a lock's next try, in a loop of its own, waits for
 * the unlock; one that stands in that block goes with it. */
START_TEST(the_first_block_of_the_next_round_ends_behind_the_reply) {
  enum { REPLY = 800 };
  static const struct {
    const char *what, *round;
    uint32_t exchange, next;
    bool waits;
  } cases[] = {
      {"an inner loop", "MOV R5, R1; try: LD R4, [R3]; @P1 BRA try; ATOM.EXCH RZ, [R2], R1", 6, 4, true},
      {"in the first block", "MOV R4, R1; @P1 BRA on; ATOM.EXCH RZ, [R2], R1; on: MOV R5, R1", 5, 3, false},
      {"behind the first block", "LD R4, [R3]; @P1 BRA on; ATOM.EXCH RZ, [R2], R1; on: MOV R5, R1", 5, 6, true},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf(
        ".reg 12\n.shared 64\nMOV R2, c[0x0][0x20]; MOV R3, c[0x0][0x24]; MOV R0, 2; again: %s; IADD R0, R0, -0x1; "
        "ISETP.NE.AND P0, PT, R0, RZ, PT; @P0 BRA again; EXIT",
        cases[i].round);
    g_autoptr(Lab) lab = lab_new(AS_PTXAS, text);
    lab_buffer(lab, 1);
    lab_buffer(lab, 1);
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    uint64_t wait = lab_cycle(lab, 0, cases[i].next, 1) - lab_cycle(lab, 0, cases[i].exchange, 0);
    ck_assert_msg(cases[i].waits ? wait >= REPLY : wait < REPLY / 2, "%s: %d", cases[i].what, (int)wait);
  }
}
END_TEST

/* Outside a loop it waits for nothing. */
START_TEST(an_atomic_whose_result_nobody_reads_is_gone) {
  g_autoptr(Lab) lab = lab_new(AS_PTXAS, ".reg 12\nMOV R2, c[0x0][0x20]; ATOM.EXCH RZ, [R2], R1; @P1 BRA on; "
                                         "on: ATOM.EXCH RZ, [R2], R1; EXIT");
  lab_buffer(lab, 1);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  ck_assert_uint_lt(lab_cycle(lab, 0, 3, 0) - lab_cycle(lab, 0, 1, 0), 50);
}
END_TEST

/* SASS has no division: the opcode of another instruction is changed. */
START_TEST(the_first_division_by_a_value_makes_its_reciprocal) {
  static const struct {
    const char *what, *text;
    uint64_t second;
  } cases[] = {{"by the same", "IADD R1, R0, R2; MOV R3, R1; IADD R4, R3, R2; MOV R5, R4; EXIT", 60},
               {"by another", "IADD R1, R0, R2; MOV R3, R1; IADD R4, R3, R6; MOV R5, R4; EXIT", 136},
               {"by a new value", "IADD R1, R0, R2; MOV R2, R1; IADD R4, R1, R2; MOV R5, R4; EXIT", 136}};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strconcat(".reg 12\n", cases[i].text, NULL);
    g_autoptr(Lab) lab = lab_new(AS_PTXAS, text);
    lab_inst(lab, 0)->op = lab_inst(lab, 2)->op = OP_IDIV;
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    ck_assert_uint_eq(lab_cycle(lab, 0, 1, 0), 136);
    ck_assert_uint_eq(lab_cycle(lab, 0, 2, 0), 140);
    ck_assert_msg(lab_cycle(lab, 0, 3, 0) == 140 + cases[i].second, "%s: %d", cases[i].what,
                  (int)lab_cycle(lab, 0, 3, 0));
  }
}
END_TEST

START_TEST(latencies_are_parameters) {
  static const struct {
    const char *settings, *text;
    uint64_t wait;
  } units[] = {
      {"sm.latency.alu=7", "MOV R0, 1; MOV R1, R0; EXIT", 7},
      {"sm.latency.sysreg=9", "S2R R0, SR_LaneId; MOV R1, R0; EXIT", 9},
      {"sm.latency.ballot=11", "VOTE.ANY R0, P0, P1; MOV R1, R0; EXIT", 11},
      {"sm.latency.vote=12", "VOTE.ANY RZ, P0, P1; @P0 MOV R1, R0; EXIT", 12},
      {"sm.shared.latency=13", "LDS R0, [RZ]; MOV R1, R0; EXIT", 13},
      {"memory.latency=170", "LD R0, [R2]; MOV R1, R0; EXIT", 170},
      {"sm.latency.branch_taken=15", "BRA on; on: MOV R1, R0; EXIT", 15},
      {"sm.latency.branch_not_taken=17", "@!PT BRA on; on: MOV R1, R0; EXIT", 17},
      {"sm.issue_interval=5", "NOP; MOV R1, R0; EXIT", 5},
      {"sm.barrier.arrive_to_resume=19", "BAR.SYNC 0; MOV R1, R0; EXIT", 19},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
    g_autofree char *settings = g_strconcat(TIMES, units[i].settings, NULL),
                    *text = g_strconcat(".shared 64\n", units[i].text, NULL);
    g_autoptr(Lab) lab = lab_new(settings, text);
    lab_buffer(lab, 4);
    lab_launch(lab, 1, 32);
    lab_place(lab);
    for (unsigned lane = 0; lane < 32; lane++)
      lab_row(lab, 0, 2)[lane] = BACKING_FIRST_ADDRESS;
    lab_finish(lab);
    ck_assert_msg(lab_cycle(lab, 0, 1, 0) == units[i].wait, "%s: %d", units[i].settings,
                  (int)lab_cycle(lab, 0, 1, 0));
  }
}
END_TEST

/* ---- schedulers ---- */

/* Warp w belongs to scheduler w mod schedulers; each issues one instruction each interval, and none idles while it
 * could issue. */
/* When the instruction after `text` issues: as it stands, and under a guard that holds in no lane. Then nothing
 * happens beyond its issue slot; what it would have written is held as long as by an LDS at most. */
/* What shuffle units do has no form in SASS: the opcode of another instruction is changed. */
START_TEST(lanes_meet_at_their_own_cost) {
  static const struct {
    const char *settings;
    Opcode op;
    uint64_t wait;
  } units[] = {{"sm.latency.match=31 ", OP_MATCH, 31}, {"sm.latency.redux=43 ", OP_REDUX, 43}};
  for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
    g_autofree char *settings = g_strconcat(TIMES "sm.latency.shuffle=26 ", units[i].settings, NULL);
    g_autoptr(Lab) lab = lab_new(settings, "IADD R1, R0, R2; MOV R3, R1; EXIT");
    lab_inst(lab, 0)->op = (uint8_t)units[i].op;
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    ck_assert_msg(lab_cycle(lab, 0, 1, 0) == units[i].wait, "%s: %d", units[i].settings,
                  (int)lab_cycle(lab, 0, 1, 0));
  }
}
END_TEST

/* Two warps on two schedulers share a pipe. With an interval of 5 its turns are in 0 (warp 0), 5 (warp 1, which goes
 * on in 2 + 5), 10 (warp 0 came in 2) and 15 (warp 1 came in 7); with 2.5, in 0, 2.5, 5 (warp 0 came in 2) and 7.5
 * (warp 1 came in 2 + 3). The result is there 18 cycles after the whole cycle in which the turn begins. */
START_TEST(pipes_take_turns) {
  static const struct {
    const char *settings;
    uint64_t second[2], used[2];
  } cases[] = {
      {"sm.interval.sysreg=0", {2, 2}, {20, 20}},
      {"sm.interval.sysreg=5", {2, 7}, {28, 33}},
      {"sm.interval.sysreg=2.5", {2, 5}, {23, 26}},
      {"sm.interval.shuffle=5", {2, 2}, {20, 20}},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *settings = g_strconcat(TIMES, cases[i].settings, NULL);
    g_autoptr(Lab) lab = lab_new(settings, "S2R R0, SR_LaneId; S2R R1, SR_LaneId; MOV R2, R1; EXIT");
    lab_launch(lab, 1, 64);
    lab_finish(lab);
    for (unsigned warp = 0; warp < 2; warp++) {
      ck_assert_msg(lab_cycle(lab, warp, 1, 0) == cases[i].second[warp], "%s: warp %u: %d", cases[i].settings, warp,
                    (int)lab_cycle(lab, warp, 1, 0));
      ck_assert_msg(lab_cycle(lab, warp, 2, 0) == cases[i].used[warp], "%s: warp %u: used in %d", cases[i].settings,
                    warp, (int)lab_cycle(lab, warp, 2, 0));
    }
  }
}
END_TEST

START_TEST(skips_what_no_lane_executes) {
  static const struct {
    const char *text, *next;
    uint64_t executed, skipped;
  } cases[] = {
      {"MEMBAR.GL", "NOP", 4 + 100, 4},
      {"MEMBAR.SYS", "NOP", 4 + 100, 4},
      {"BAR.SYNC 0", "NOP", 2 + 40, 4},
      {"LD R1, [R0]", "NOP", 20, 20},
      {"LD R1, [R0]", "MOV R2, R1", 18 + 600, 18 + 50},
      {"ATOM.ADD R1, [R0], R0", "MOV R2, R1", 18 + 600, 18 + 50},
      {"LDS R1, [RZ]", "MOV R2, R1", 2 + 50, 2 + 50},
      {"MOV R1, R0", "MOV R2, R1", 18 + 18, 18 + 18},
      {"EXIT", "NOP", 0, 4},
      {"BRA on", "NOP", 2 + 7, 2 + 5},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases) * 2; i++) {
    bool skips = i % 2;
    uint64_t cycle = skips ? cases[i / 2].skipped : cases[i / 2].executed;
    g_autofree char *text = g_strdup_printf(".shared 64\nMOV R0, c[0x0][0x20]; %s%s; on: %s; EXIT",
                                            skips ? "@!PT " : "", cases[i / 2].text, cases[i / 2].next);
    g_autoptr(Lab) lab = lab_new(TIMES "sm.latency.branch_taken=7 sm.latency.branch_not_taken=5 memory.latency=600 "
                                       "memory.fence_latency=100 sm.barrier.arrive_to_resume=40",
                                 text);
    lab_buffer(lab, 4);
    lab_launch(lab, 1, 1);
    lab_finish(lab);
    uint64_t found = lab->trace->len > 2 ? lab_cycle(lab, 0, 2, 0) : 0;
    ck_assert_msg(found == cycle, "%s%s: %d", skips ? "@!PT " : "", cases[i / 2].text, (int)found);
    ck_assert_msg(!skips || lab->gpu->counters.global_accesses == 0, "%s: an access", cases[i / 2].text);
  }
}
END_TEST

START_TEST(each_scheduler_has_its_warps) {
  for (unsigned schedulers = 1; schedulers <= 4; schedulers++) {
    for (unsigned interval = 1; interval <= 3; interval++) {
      g_autofree char *settings = g_strdup_printf("sm.schedulers=%u sm.issue_interval=%u", schedulers, interval);
      g_autoptr(Lab) lab = lab_new(settings, "NOP; NOP; NOP; NOP; EXIT");
      lab_launch(lab, 1, 7 * 32);
      lab_finish(lab);
      ck_assert_uint_eq(lab->trace->len, 35);
      uint64_t next[4] = {0};
      for (unsigned i = 0; i < 35; i++) {
        const LabIssue *issue = lab_issue(lab, i);
        unsigned mine = issue->slot % schedulers;
        ck_assert_msg(issue->cycle == next[mine], "%u schedulers: slot %u issues in %d", schedulers, issue->slot,
                      (int)issue->cycle);
        next[mine] += interval;
      }
    }
  }
}
END_TEST

static char *letters(const Lab *lab) {
  GString *order = g_string_new(NULL);
  for (guint i = 0; i < lab->trace->len; i++)
    g_string_append_c(order, (char)('a' + lab_issue(lab, i)->slot));
  return g_string_free(order, FALSE);
}

/* Slots in the order in which one scheduler issues them, a letter each. */
static char *order_of(const char *policy, uint64_t seed, const char *text, uint32_t blocks, uint32_t threads) {
  g_autofree char *settings = g_strdup_printf(TIMES "sm.schedulers=1 sm.policy=%s", policy);
  g_autoptr(Lab) lab = lab_new_seeded(settings, text, seed);
  lab_launch(lab, blocks, threads);
  lab_finish(lab);
  return letters(lab);
}

typedef struct Order {
  const char *policy, *text, *order;
} Order;

/* Three warps. A MOV that depends on the one before waits for 18 cycles, nine issues. */
#define STALLS "NOP; MOV R0, R1; MOV R1, R0; NOP; EXIT"
/* clang-format off */
static const Order chosen[] = {
    {"loose-round-robin", "NOP; NOP; NOP; EXIT", "bcabcabcabca"},
    {"greedy-then-oldest", "NOP; NOP; NOP; EXIT", "aaaabbbbcccc"},
    {"youngest", "NOP; NOP; NOP; EXIT", "ccccbbbbaaaa"},
    {"loose-round-robin", STALLS, "bcabcabcabcabca"},
    {"greedy-then-oldest", STALLS, "aabbccaaabbbccc"},
    {"youngest", STALLS, "ccbbaacccbbbaaa"},
};
/* clang-format on */

START_TEST(chooses_by_policy) {
  const Order *right = &chosen[_i];
  g_autofree char *order = order_of(right->policy, 1, right->text, 1, 96);
  ck_assert_msg(strcmp(order, right->order) == 0, "%s: %s\n%s\nnot\n%s", right->policy, right->text, order,
                right->order);
}
END_TEST

/* Warps beyond 64: each issues under each policy, meets at barriers, waits for memory and in fences. */
START_TEST(as_many_as_128_warps) {
  static const char *const policies[] = {"loose-round-robin", "greedy-then-oldest", "youngest", "random",
                                         "greedy-then-waiting"};
  g_autofree char *settings = g_strdup_printf("sm.max_warps=128 sm.max_threads=4096 sm.registers=131072 "
                                              "memory.port.credits=16 sm.schedulers=%u sm.policy=%s",
                                              _i % 2 ? 4 : 1, policies[_i % 5]);
  g_autoptr(Lab) lab = lab_new(settings, "MOV R1, c[0x0][0x20]; MOV32I R2, 1; RED.ADD [R1], R2; MEMBAR.GL\n"
                                         "BAR.RED.POPC R3, RZ; LD.CV R4, [R1]; RED.ADD [R1+0x4], R4; EXIT");
  uint32_t *sums = lab_buffer(lab, 2);
  lab_launch(lab, 5, 1024);
  lab_place(lab);
  ck_assert_uint_eq(lab->gpu->sms[0].resident_warps, 128);
  lab_finish(lab);
  ck_assert_uint_eq(sums[0], 5 * 1024);
  ck_assert_uint_ge(sums[1], 5 * 1024 * 1024); /* each thread sees its own block's */
  uint32_t issued[128] = {0};
  for (guint i = 0; i < lab->trace->len; i++)
    issued[lab_issue(lab, i)->slot]++;
  for (unsigned slot = 0; slot < 128; slot++)
    ck_assert_msg(issued[slot] == 8 || issued[slot] == 16, "slot %u issued %u times", slot, issued[slot]);
}
END_TEST

/* Round robin goes on behind the warp that issued last, also round the end, and passes those that aren't ready. */
START_TEST(round_robin_is_fair) {
  g_autofree char *order =
      order_of("loose-round-robin", 1, "NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP; EXIT", 1, 5 * 32);
  for (unsigned i = 0; i + 1 < 50; i++)
    ck_assert_msg((order[i] - 'a' + 1) % 5 == order[i + 1] - 'a', "%s", order);
}
END_TEST

START_TEST(random_is_seeded_and_even) {
  static const char *const text = "NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP; NOP; EXIT";
  g_autofree char *first = order_of("random", 1, text, 1, 5 * 32), *again = order_of("random", 1, text, 1, 5 * 32);
  ck_assert_str_eq(first, again);
  unsigned starts[5] = {0};
  for (uint64_t seed = 0; seed < 500; seed++) {
    g_autofree char *order = order_of("random", seed, "NOP; EXIT", 1, 5 * 32);
    starts[order[0] - 'a']++;
  }
  for (unsigned i = 0; i < 5; i++)
    ck_assert_msg(starts[i] > 60 && starts[i] < 140, "slot %u is first %u times of 500", i, starts[i]);
}
END_TEST

/* Twelve warps, of which nine issue while a MOV waits for the one before: then the first could again, and the tenth
 * hasn't yet. */
START_TEST(who_has_waited_longest) {
  static const char *const text = "MOV R0, R1; MOV R1, R0; EXIT";
  g_autofree char *oldest = order_of("greedy-then-oldest", 1, text, 1, 12 * 32),
                  *waiting = order_of("greedy-then-waiting", 1, text, 1, 12 * 32);
  ck_assert_msg(g_str_has_prefix(oldest, "abcdefghia"), "%s", oldest);
  ck_assert_msg(g_str_has_prefix(waiting, "abcdefghijkl"), "%s", waiting);
}
END_TEST

/* Oldest is by dispatch, not by slot. */
START_TEST(age_is_not_the_slot) {
  static const struct {
    const char *policy;
    uint64_t age[3];
    const char *order;
  } ages[] = {
      {"greedy-then-oldest", {5, 9, 7}, "aaaaccccbbbb"},
      {"greedy-then-oldest", {9, 5, 7}, "aaaabbbbcccc"}, /* greedy with slot 0, which "issued last" */
      {"youngest", {7, 9, 5}, "bbbbaaaacccc"},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(ages); i++) {
    g_autofree char *settings = g_strdup_printf(TIMES "sm.schedulers=1 sm.policy=%s", ages[i].policy);
    g_autoptr(Lab) lab = lab_new(settings, "NOP; NOP; NOP; EXIT");
    lab_launch(lab, 1, 96);
    lab_place(lab);
    for (unsigned slot = 0; slot < 3; slot++)
      lab_warp(lab, slot)->age = ages[i].age[slot];
    lab_finish(lab);
    g_autofree char *order = letters(lab);
    ck_assert_str_eq(order, ages[i].order);
  }
}
END_TEST

/* When block 0 has gone, block 3 runs in its slot and is the youngest. */
START_TEST(age_counts_from_dispatch) {
  g_autoptr(Lab) lab = lab_new(
      "sm.max_blocks=3", "S2R R0, SR_CTAid_X; ISETP.EQ P0, PT, R0, RZ, PT; @P0 EXIT; MOV R1, R0; MOV R1, R1; EXIT");
  lab_launch(lab, 4, 32);
  lab_finish(lab);
  ck_assert_uint_eq(lab_issue(lab, lab->trace->len - 1)->block, 3);
  static const uint64_t ages[] = {3, 1, 2};
  for (unsigned slot = 0; slot < 3; slot++)
    ck_assert_uint_eq(lab_warp(lab, slot)->age, ages[slot]);
}
END_TEST

/* Warps start 0 to jitter_cycles late. */
START_TEST(starts_are_jittered) {
  unsigned seen[5] = {0};
  for (uint64_t seed = 0; seed < 200; seed++) {
    g_autoptr(Lab) lab = lab_new_seeded(TIMES "sm.jitter_cycles=4", "EXIT", seed);
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    uint64_t start = lab_issue(lab, 0)->cycle;
    ck_assert_uint_le(start, 4);
    seen[start]++;
  }
  for (unsigned i = 0; i <= 4; i++)
    ck_assert_msg(seen[i] > 20, "%u cycles: %u times of 200", i, seen[i]);
}
END_TEST

/* ---- clock and marks ---- */

START_TEST(the_clock_counts_cycles) {
  for (unsigned divisor = 1; divisor <= 4; divisor++) {
    g_autofree char *settings = g_strdup_printf(TIMES "sm.clock.divisor=%u grid.launch_overhead=1000", divisor);
    g_autoptr(Lab) lab = lab_new(settings, "S2R R0, SR_ClockLo; NOP; MOV R1, R0; S2R R2, SR_ClockLo; EXIT");
    lab_launch(lab, 1, 32);
    lab_finish(lab);
    for (unsigned lane = 0; lane < 32; lane++) {
      ck_assert_uint_eq(lab_row(lab, 0, 0)[lane], 1000 / divisor);
      ck_assert_uint_eq(lab_row(lab, 0, 2)[lane], 1020 / divisor);
    }
  }
}
END_TEST

/* First and last time of each mark, over all warps; a mark takes no issue slot, and counts though no lane
 * executes. */
START_TEST(marks_have_times) {
  g_autoptr(Lab) lab =
      lab_new(TIMES "sm.policy=greedy-then-oldest", "S2R R0, SR_Tid_X\n.mark 3\n.mark 4\n@!PT NOP\nSHR R1, R0, "
                                                    "5\n.mark 5\nISETP.EQ P0, PT, R1, RZ, PT\n@P0 BRA end\nNOP\n"
                                                    ".mark 9\nend: EXIT");
  lab_launch(lab, 1, 64);
  lab_finish(lab);
  const MarkTime *mark = record_mark_time(lab->gpu, 3), *same = record_mark_time(lab->gpu, 4),
                 *later = record_mark_time(lab->gpu, 5);
  ck_assert(mark && same && later && !record_mark_time(lab->gpu, 6));
  ck_assert(mark->first == 2 && mark->last == 2);
  ck_assert(same->first == 2 && same->last == 2);
  ck_assert(later->first == 36 && later->last == 36);
  const MarkTime *end = record_mark_time(lab->gpu, 9);
  ck_assert_uint_eq(end->first, 54 + 18);
  ck_assert_uint_eq(end->last, 54 + 18 + 2); /* warp 1 falls through, and issues a NOP more */
}
END_TEST

/* ---- stops ---- */

START_TEST(stops_at_a_limit) {
  g_autoptr(Lab) lab = lab_new(TIMES, "NOP; NOP; NOP; EXIT");
  lab_launch(lab, 1, 32);
  ck_assert_int_eq(gpu_run(lab->gpu, 100, 3), GPU_LIMIT);
  ck_assert_uint_eq(lab->trace->len, 2); /* cycles 0 and 2 */
  ck_assert_int_eq(gpu_run(lab->gpu, 1, 100), GPU_BUDGET);
  ck_assert_uint_eq(lab->trace->len, 3);
  ck_assert_int_eq(gpu_run(lab->gpu, 100, 100), GPU_FINISHED);
  ck_assert_uint_eq(lab->gpu->end_cycle, 6);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("scheduler");
  TCase *tcase = tcase_create("scheduler");
  tcase_add_loop_test(tcase, waits_for_operands, 0, G_N_ELEMENTS(waits));
  tcase_add_loop_test(tcase, stalls_as_ptxas_does, 0, G_N_ELEMENTS(stalls));
  tcase_add_test(tcase, the_first_base_of_a_line_comes_later);
  tcase_add_loop_test(tcase, an_atomic_whose_result_nobody_reads_waits_in_the_next_round, 0,
                      G_N_ELEMENTS(nobody_reads));
  tcase_add_test(tcase, the_first_block_of_the_next_round_ends_behind_the_reply);
  tcase_add_test(tcase, an_atomic_whose_result_nobody_reads_is_gone);
  tcase_add_test(tcase, the_first_division_by_a_value_makes_its_reciprocal);
  tcase_add_test(tcase, latencies_are_parameters);
  tcase_add_test(tcase, lanes_meet_at_their_own_cost);
  tcase_add_test(tcase, pipes_take_turns);
  tcase_add_test(tcase, skips_what_no_lane_executes);
  tcase_add_test(tcase, each_scheduler_has_its_warps);
  tcase_add_loop_test(tcase, chooses_by_policy, 0, G_N_ELEMENTS(chosen));
  tcase_add_loop_test(tcase, as_many_as_128_warps, 0, 10);
  tcase_add_test(tcase, round_robin_is_fair);
  tcase_add_test(tcase, random_is_seeded_and_even);
  tcase_add_test(tcase, who_has_waited_longest);
  tcase_add_test(tcase, age_is_not_the_slot);
  tcase_add_test(tcase, age_counts_from_dispatch);
  tcase_add_test(tcase, starts_are_jittered);
  tcase_add_test(tcase, the_clock_counts_cycles);
  tcase_add_test(tcase, marks_have_times);
  tcase_add_test(tcase, stops_at_a_limit);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
