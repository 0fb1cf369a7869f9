/* What programs of lane groups end in: verdicts and their names, and of random ones that the proof calls none stuck
 * that ends (facts measured on an H200). */
#include <glib.h>
#include <string.h>

#include "sim/detect/progress.h"
#include "sim/detect/proof/explore.h"
#include "tests/unit/group_lab.h"
#include "tests/unit/unit.h"

/* ---- as told ---- */

/* A lane waits for word 0 of the buffer to become 1; what it does in its loop. */
#define WAIT(in_loop) "wait: LD.CV R3, [R1]; " in_loop "; ISETP.EQ P3, PT, R3, RZ, PT; @P3 BRA wait; "
#define PROLOGUE "MOV R1, c[0x0][0x20]; MOV R2, 1; "

typedef struct Ending {
  const char *what, *text;
  uint32_t threads;
  Verdict verdict[2];  /* taken first, fallthrough first */
  const char *says[2]; /* in the message or the evidence of the first finding, if there is one */
} Ending;

/* clang-format off */
static const Ending endings[] = {
    {"a spin lock whose loop yields", SPIN("YIELD ", "NOP"), 32, {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"one whose loop sleeps", SPIN("NANOSLEEP 100", "NOP"), 32, {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"one whose loop doesn't yield", SPIN("NOP", "NOP"), 32, {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK},
     {"lane 0 of warp 0 of block 0 can't go on here: the warp runs lanes 1-31 of the same warp, which come to no point",
      "waits at a reconvergence point for these lanes"}},
    {"all lanes are to meet before the critical section", SPIN("YIELD ", "WARPSYNC -1"), 32, {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK},
     {"waits at the warp-wide synchronization", "waits at the warp-wide synchronization"}},
    {"a signal from a lane that never runs",
     PROLOGUE "BSSY 0, end; @P0 BRA give; " WAIT("NOP") "BRA end; give: ST.WT [R1], R2; end: BSYNC 0; EXIT", 4,
     {VERDICT_COMPLETED, VERDICT_SIMD_DEADLOCK}, {"since these lanes spin without a point where the warp may switch", "since these lanes spin without a point where the warp may switch"}},
    {"a loop that sleeps by a guard, once it has gone round often enough: that is a way to switch",
     PROLOGUE "MOV R6, RZ; BSSY 0, end; @P0 BRA give; "
     WAIT("IADD R6, R6, 1; ISETP.GT P4, PT, R6, 3000, PT; @P4 NANOSLEEP 100")
     "BRA end; give: ST.WT [R1], R2; end: BSYNC 0; EXIT", 4,
     {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"a signal behind the reconvergence, with a loop that yields",
     PROLOGUE "BSSY 0, end; @P0 BRA end; " WAIT("YIELD ") "end: BSYNC 0; ST.WT [R1], R2; EXIT", 4, {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"the same without", PROLOGUE "BSSY 0, end; @P0 BRA end; " WAIT("NOP") "end: BSYNC 0; ST.WT [R1], R2; EXIT", 4,
     {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK}, {"waits at a reconvergence point for these lanes", "since these lanes spin without a point where the warp may switch"}},
    {"a signal of another warp",
     PROLOGUE "S2R R5, SR_Tid_X; ISETP.GE P4, PT, R5, 32, PT; @P4 BRA give; " WAIT("NOP") "EXIT; give: ST.WT [R1], R2; EXIT",
     64, {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"WARPSYNC of all lanes on one side of a branch", "BSSY 0, end; @P0 BRA end; WARPSYNC 15; end: BSYNC 0; EXIT", 4,
     {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"WARPSYNCs of masks that don't match", "@P0 BRA other; WARPSYNC 15; EXIT; other: WARPSYNC 7; EXIT", 4,
     {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK},
     {"wait at the warp-wide synchronization", "wait at the warp-wide synchronization"}},
    {"WARPSYNC.ALL before barriers at two places", "BSSY 0, end; @P0 BRA end; WARPSYNC.ALL ; BAR.SYNC 0; end: BSYNC 0; WARPSYNC.ALL ; BAR.SYNC 0; EXIT", 64,
     {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK}, {"at the meeting of all lanes of the warp before the barrier", "at the meeting of all lanes of the warp before the barrier"}},
    {"a spin without YIELD with a reconvergence at which nobody parts",
     PROLOGUE "BSSY 0, end; @P0 BRA end; again: LD.CV R3, [R1]; BSSY 1, in; ISETP.EQ P4, PT, R3, 7, PT; @P4 BRA in; NOP; in: BSYNC 1; "
     "ISETP.EQ P3, PT, R3, RZ, PT; @P3 BRA again; end: BSYNC 0; ST.WT [R1], R2; EXIT", 4,
     {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK}, {"waits at a reconvergence point for these lanes", "since these lanes spin without a point where the warp may switch"}},
    {"the same where the lanes part inside it: they meet there before anybody else has a turn",
     PROLOGUE "BSSY 0, end; @P0 BRA give; again: LD.CV R3, [R1]; BSSY 1, in; @P1 BRA in; NOP; in: BSYNC 1; "
     "ISETP.EQ P3, PT, R3, RZ, PT; @P3 BRA again; BRA end; give: ST.WT [R1], R2; end: BSYNC 0; EXIT", 4,
     {VERDICT_COMPLETED, VERDICT_SIMD_DEADLOCK}, {NULL, "since these lanes spin without a point where the warp may switch"}},
    {"and with a YIELD",
     PROLOGUE "BSSY 0, end; @P0 BRA give; again: YIELD ; LD.CV R3, [R1]; BSSY 1, in; @P1 BRA in; NOP; in: BSYNC 1; "
     "ISETP.EQ P3, PT, R3, RZ, PT; @P3 BRA again; BRA end; give: ST.WT [R1], R2; end: BSYNC 0; EXIT", 4,
     {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"a block barrier there", "BSSY 0, end; @P0 BRA end; BAR.SYNC 0; end: BSYNC 0; EXIT", 64,
     {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK}, {"at barrier 0 for lanes 0, 1 of warp 0", "at barrier 0 for lanes 0, 1 of warp 0"}},
    {"a predicated one there", "BSSY 0, end; @!P0 BAR.SYNC 0; end: BSYNC 0; EXIT", 64,
     {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"an unaligned barrier there", "BSSY 0, end; @P0 BRA end; BAR.SYNC.UNALIGNED 0; end: BSYNC 0; EXIT", 64,
     {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK}, {"barrier 0", "barrier 0"}},
    {"a block barrier that a warp doesn't come to: its lanes spin",
     PROLOGUE "S2R R5, SR_Tid_X; ISETP.GE P4, PT, R5, 32, PT; @P4 BRA bar; " WAIT("YIELD ") "BAR.SYNC 0; EXIT; "
     "bar: BAR.SYNC 0; ST.WT [R1], R2; EXIT",
     64, {VERDICT_BARRIER_DEADLOCK, VERDICT_BARRIER_DEADLOCK}, {"waits at a barrier for", "waits at a barrier for"}},
    {"one group of a warp at a barrier, the other gives the signal",
     PROLOGUE "S2R R5, SR_Tid_X; ISETP.GE P4, PT, R5, 32, PT; @P4 BRA wait; @P0 BRA give; BAR.SYNC 0; EXIT; "
     "give: NANOSLEEP 20000; ST.WT [R1], R2; EXIT; " WAIT("NOP") "BAR.SYNC 0; EXIT",
     64, {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"a counted barrier with an exited warp", "S2R R5, SR_Tid_X; ISETP.GE P4, PT, R5, 32, PT; @P4 EXIT; BAR.SYNC 1, 64; EXIT",
     64, {VERDICT_BARRIER_DEADLOCK, VERDICT_BARRIER_DEADLOCK}, {"barrier 1", "barrier 1"}},
    {"two groups that go round in circles",
     PROLOGUE "MOV R6, -1; @P0 BRA other; loop: ATOM.ADD R3, [R1], R2; ATOM.ADD R5, [R1], R6; YIELD ; "
              "ISETP.NE P3, PT, R3, 3, PT; @P3 BRA loop; EXIT; "
              "other: ATOM.ADD R3, [R1], R2; ATOM.ADD R5, [R1], R6; YIELD ; ISETP.NE P3, PT, R3, 3, PT; "
              "@P3 BRA other; EXIT",
     4,
     {VERDICT_LIVELOCK, VERDICT_LIVELOCK},
     {NULL, NULL}},
    {"two groups that count round and round, and never so far",
     PROLOGUE "MOV R6, -1; @P0 BRA other; loop: ATOM.ADD R3, [R1], R2; ATOM.ADD R5, [R1], R6; YIELD ; "
              "ISETP.NE P3, PT, R3, 77, PT; @P3 BRA loop; EXIT; "
              "other: ATOM.ADD R3, [R1], R2; ATOM.ADD R5, [R1], R6; YIELD ; ISETP.NE P3, PT, R3, 77, PT; "
              "@P3 BRA other; EXIT",
     4,
     {VERDICT_ORPHAN_WAIT, VERDICT_ORPHAN_WAIT},
     {"only threads that wait", "only threads that wait"}},
    {"nobody gives the signal", PROLOGUE WAIT("YIELD ") "EXIT", 32, {VERDICT_ORPHAN_WAIT, VERDICT_ORPHAN_WAIT}, {"nobody is left", "nobody is left"}},
    {"nested barriers, a long loop", "MOV R4, 0; BSSY 0, out; loop: BSSY 1, in; @P1 BRA in; IADD R5, R5, 1; in: BSYNC 1; "
     "IADD R4, R4, 1; SHL R6, R0, 12; IADD R6, R6, 64; ISETP.LT P3, PT, R4, R6, PT; @P3 BRA loop; out: BSYNC 0; EXIT", 4,
     {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
};
/* clang-format on */

/* The message and the evidence of a finding, line by line. */
static char *whole_text(const Finding *finding) {
  GString *text = g_string_new(finding->message);
  for (guint i = 0; i < finding->evidence->len; i++)
    g_string_append_printf(text, "\n%s", ((const Evidence *)g_ptr_array_index(finding->evidence, i))->text);
  return g_string_free(text, FALSE);
}

START_TEST(ends_as_told) {
  const Ending *ending = &endings[_i];
  for (unsigned order = 0; order < 2; order++) {
    g_autofree char *settings = g_strdup_printf("sm.simt_stack.branch_order=%s", group_lab_orders[order]);
    g_autoptr(Lab) lab = group_lab_new(settings, ending->text, ending->threads);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    ProgressOptions options = {.limit_cycles = 100000000, .livelocks = true};
    Outcome outcome = progress_run(lab->gpu, &options, findings);
    g_autofree char *text = findings->len ? whole_text(g_ptr_array_index(findings, 0)) : g_strdup("no finding");
    ck_assert_msg(outcome.verdict == ending->verdict[order], "%s, %s: %s\n%s", ending->what, group_lab_orders[order],
                  verdict_name(outcome.verdict), text);
    ck_assert_msg(!findings->len || !ending->says[order] || strstr(text, ending->says[order]),
                  "%s, %s:\n%s\nlacks: %s", ending->what, group_lab_orders[order], text, ending->says[order]);
    outcome_clear(&outcome);
  }
}
END_TEST

/* ---- no false deadlock ---- */

/* Writes programs at random: branches with and without convergence barriers, waiting loops, synchronizations. */
typedef struct Writer {
  GRand *rand;
  GString *text;
  unsigned labels;
} Writer;

static unsigned pick(Writer *writer, unsigned count) {
  return (unsigned)g_rand_int_range(writer->rand, 0, (gint32)count);
}

static const char *one_of(Writer *writer, const char *const *words, unsigned count) {
  return words[pick(writer, count)];
}

static void write_part(Writer *writer, unsigned depth);

/* Some lanes go past the BSYNC of a branch, most with a BREAK of one barrier. */
static void write_leave(Writer *writer, unsigned label) {
  static const char *const guards[] = {"P0", "!P0", "P1", "P2", "PT"};
  const char *guard = one_of(writer, guards, G_N_ELEMENTS(guards));
  if (pick(writer, 4))
    g_string_append_printf(writer->text, "@%s BREAK %u; ", guard, pick(writer, 3));
  g_string_append_printf(writer->text, "@%s BRA o%u; ", guard, label);
}

static void write_branch(Writer *writer, unsigned depth) {
  unsigned label = writer->labels++, barrier = pick(writer, 3), predicate = pick(writer, 3);
  bool meets = pick(writer, 4) > 0, has_else = pick(writer, 2);
  if (meets)
    g_string_append_printf(writer->text, "BSSY %u, e%u; ", barrier, label);
  g_string_append_printf(writer->text, "@%sP%u BRA %c%u; ", pick(writer, 2) ? "!" : "", predicate,
                         has_else ? 't' : 'e', label);
  write_part(writer, depth + 1);
  if (pick(writer, 3) == 0)
    write_leave(writer, label);
  if (has_else) {
    g_string_append_printf(writer->text, "BRA e%u; t%u: NOP; ", label, label);
    write_part(writer, depth + 1);
  }
  g_string_append_printf(writer->text, "e%u: ", label);
  if (meets)
    g_string_append_printf(writer->text, "BSYNC %u; ", barrier);
  else
    g_string_append(writer->text, "NOP; ");
  g_string_append_printf(writer->text, "o%u: NOP; ", label);
}

static void write_wait(Writer *writer) {
  static const char *const in_loop[] = {"NOP",
                                        "YIELD ",
                                        "NANOSLEEP 64",
                                        "WARPSYNC 15",
                                        "@P0 YIELD ",
                                        "IADD R7, R7, 1; ISETP.GT P4, PT, R7, 9, PT; @P4 NANOSLEEP 64",
                                        "IADD R7, R7, 1; LOP.AND R6, R7, 3; ISETP.EQ P4, PT, R6, 3, PT; @P4 YIELD "};
  unsigned label = writer->labels++, barrier = pick(writer, 3);
  bool meets = pick(writer, 2);
  if (meets)
    g_string_append_printf(writer->text, "BSSY %u, x%u; ", barrier, label);
  g_string_append_printf(writer->text, "w%u: LD.CV R3, [R1+%u]; %s; ", label, 4 * pick(writer, 3),
                         one_of(writer, in_loop, G_N_ELEMENTS(in_loop)));
  if (pick(writer, 2)) /* a reconvergence in the loop, of ways that may be apart */
    g_string_append_printf(writer->text, "BSSY 3, y%u; @P%u BRA y%u; NOP; y%u: BSYNC 3; ", label, pick(writer, 6),
                           label, label);
  g_string_append_printf(writer->text, "ISETP.%s P3, PT, R3, RZ, PT; @P3 BRA w%u; ", pick(writer, 4) ? "EQ" : "NE",
                         label);
  if (meets)
    g_string_append_printf(writer->text, "x%u: BSYNC %u; ", label, barrier);
}

static void write_part(Writer *writer, unsigned depth) {
  static const char *const simple[] = {
      "WARPSYNC -1",   "WARPSYNC 15",   "WARPSYNC 3",           "WARPSYNC 12",    "WARPSYNC.ALL ",
      "YIELD ",        "BAR.SYNC 0",    "BAR.SYNC.UNALIGNED 0", "BAR.SYNC 1, 64", "BAR.SYNC.UNALIGNED 1, 64",
      "BAR.ARV 1, 64", "NANOSLEEP 100", "@P0 BAR.SYNC 0",       "@P2 EXIT",       "@P1 EXIT"};
  for (unsigned parts = 1 + pick(writer, 3); parts-- > 0;) {
    switch (pick(writer, depth < 3 ? 7 : 4)) {
    case 0: g_string_append_printf(writer->text, "%s; ", one_of(writer, simple, G_N_ELEMENTS(simple))); break;
    case 1:
    case 2:
      g_string_append_printf(writer->text, "ST.WT [R1+%u], R%u; ", 4 * pick(writer, 3), pick(writer, 4) ? 2 : 4);
      break;
    case 3: write_wait(writer); break;
    default: write_branch(writer, depth); break;
    }
  }
}

typedef struct Tally {
  unsigned finished, proved, open;
} Tally;

/* Runs a program in slices, asking the proof each time: one of which it said that nobody can finish doesn't finish;
 * one in which nothing moves any more is proved. */
static void run_against_proof(const char *settings, const char *text, uint32_t threads, Tally *tally) {
  g_autoptr(Lab) lab = group_lab_new(settings, text, threads);
  bool stuck = false;
  GpuStop stop = GPU_BUDGET;
  uint64_t proofs = 0;
  for (unsigned slice = 0; slice < 60 && stop == GPU_BUDGET; slice++) {
    Explorer *explorer = stuck ? NULL : explorer_new(lab->gpu);
    if (explorer && explorer_prove(explorer) == EXPLORE_STUCK) {
      stuck = true;
      proofs = lab->gpu->cycle;
    }
    explorer_free(explorer);
    stop = gpu_run(lab->gpu, slice < 20 ? 20 : 300, 100000000);
  }
  UNIT_ASSERT(!stuck || stop != GPU_FINISHED, "%s, %u threads: proved stuck at %d, finished at %d:\n%s", settings,
              threads, (int)proofs, (int)lab->gpu->end_cycle, text);
  if (stop == GPU_BLOCKED && !stuck) {
    Explorer *explorer = explorer_new(lab->gpu);
    UNIT_ASSERT(explorer_prove(explorer) == EXPLORE_STUCK, "%s, %u threads: nothing moves, but not proved:\n%s",
                settings, threads, text);
    explorer_free(explorer);
    stuck = true;
  }
  tally->finished += stop == GPU_FINISHED;
  tally->proved += stuck;
  tally->open += stop == GPU_BUDGET && !stuck;
}

/* Found by more programs than the next test has time for. */
START_TEST(looks_come_at_any_moment) {
  /* clang-format off */
  static const struct {
    const char *settings, *text;
    uint32_t threads;
  } once_wrong[] = {
    /* Lane 0 goes past the BSYNC at which lane 1 waits for it, and they wait for each other. */
    {"sm.simt_stack.branch_order=smaller-first",
     "MOV R1, c[0x0][0x20]; MOV R2, 1; MOV R4, 0; WARPSYNC 15; BSSY 1, e0; @P0 BRA t0; BSSY 0, x1; "
     "w1: LD.CV R3, [R1+8]; WARPSYNC 15; ISETP.EQ P3, PT, R3, RZ, PT; @P3 BRA w1; x1: BSYNC 0; BRA e0; "
     "t0: NOP; ST.WT [R1+0], R4; BSSY 2, e2; @P0 BRA t2; @P0 BRA t3; BAR.SYNC 1, 64; BRA e3; t3: NOP; "
     "BAR.SYNC.UNALIGNED 0; e3: NOP; o3: NOP; WARPSYNC.ALL; @PT BREAK 0; @PT BRA o2; BRA e2; t2: NOP; "
     "ST.WT [R1+0], R2; BSSY 0, e4; @P2 BRA e4; WARPSYNC 3; BAR.ARV 1, 64; ST.WT [R1+8], R2; @P1 BREAK 1; "
     "@P1 BRA o4; e4: BSYNC 0; o4: NOP; ST.WT [R1+8], R2; e2: BSYNC 2; o2: NOP; ST.WT [R1+8], R2; "
     "e0: BSYNC 1; o0: NOP; EXIT", 64},
    /* Lane 3 has given way, and hasn't run since: lanes at a BSYNC needn't wait for it. */
    {"sm.simt_stack.branch_order=fallthrough-first",
     "MOV R1, c[0x0][0x20]; MOV R2, 1; MOV R4, 0; BSSY 1, e0; @P1 BRA e0; BSSY 0, x1; "
     "w1: LD.CV R3, [R1+4]; IADD R7, R7, 1; LOP.AND R6, R7, 3; ISETP.EQ P4, PT, R6, 3, PT; @P4 YIELD; "
     "ISETP.NE P3, PT, R3, RZ, PT; @P3 BRA w1; x1: BSYNC 0; @!P2 BRA e2; YIELD; ST.WT [R1+4], R4; "
     "BSSY 0, e3; @P0 BRA e3; BAR.SYNC.UNALIGNED 0; e3: BSYNC 0; o3: NOP; e2: NOP; o2: NOP; BSSY 0, e4; "
     "@P0 BRA t4; @P2 BRA t5; BSSY 1, x6; w6: LD.CV R3, [R1+8]; BSSY 3, y6; @P5 BRA y6; NOP; y6: BSYNC 3; "
     "ISETP.EQ P3, PT, R3, RZ, PT; @P3 BRA w6; x6: BSYNC 1; @P0 BREAK 0; @P0 BRA o5; BRA e5; t5: NOP; "
     "@P1 EXIT; ST.WT [R1+4], R4; e5: NOP; o5: NOP; BRA e4; t4: NOP; BSSY 1, e7; @P2 BRA e7; "
     "ST.WT [R1+0], R2; BAR.SYNC 0; @P1 BREAK 0; @P1 BRA o7; e7: BSYNC 1; o7: NOP; ST.WT [R1+0], R4; "
     "e4: BSYNC 0; o4: NOP; e0: BSYNC 1; o0: NOP; BSSY 2, e8; @!P2 BRA e8; ST.WT [R1+0], R2; e8: BSYNC 2; "
     "o8: NOP; EXIT", 4},
  };
  /* clang-format on */
  Tally tally = {0};
  for (unsigned i = 0; i < G_N_ELEMENTS(once_wrong); i++)
    run_against_proof(once_wrong[i].settings, once_wrong[i].text, once_wrong[i].threads, &tally);
  ck_assert_uint_eq(tally.finished, G_N_ELEMENTS(once_wrong));
}
END_TEST

START_TEST(proves_no_false_deadlock) {
  enum { PROGRAMS = 60 };
  static const char *const settings[] = {"sm.simt_stack.branch_order=taken-first",
                                         "sm.simt_stack.branch_order=smaller-first",
                                         "sm.simt_stack.branch_order=fallthrough-first",
                                         "sm.simt_stack.branch_order=taken-first sm.lane_groups.yields_to_release=3",
                                         "sm.jitter_cycles=9 sm.policy=random"};
  Tally tally = {0};
  for (unsigned program = 0; program < PROGRAMS; program++) {
    g_autoptr(GString) text = g_string_new("MOV R1, c[0x0][0x20]; MOV R2, 1; MOV R4, 0; ");
    Writer writer = {.rand = g_rand_new_with_seed((guint32)_i * 1000 + program), .text = text};
    write_part(&writer, 0);
    write_branch(&writer, 0);
    g_string_append(text, "EXIT");
    g_rand_free(writer.rand);
    for (unsigned i = 0; i < G_N_ELEMENTS(settings); i++)
      run_against_proof(settings[i], text->str, i % 2 ? 64 : 4, &tally);
  }
  ck_assert_msg(tally.finished > 20 && tally.proved > 20, "%u finished, %u proved stuck, %u open", tally.finished,
                tally.proved, tally.open);
  ck_assert_msg(tally.open * 50 < tally.proved, "%u finished, %u proved stuck, %u open", tally.finished, tally.proved,
                tally.open);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lane_verdicts");
  TCase *tcase = tcase_create("lane_verdicts");
  tcase_add_loop_test(tcase, ends_as_told, 0, G_N_ELEMENTS(endings));
  tcase_add_test(tcase, looks_come_at_any_moment);
  tcase_add_loop_test(tcase, proves_no_false_deadlock, 0, 4);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
