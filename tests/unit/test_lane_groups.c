/* Lane groups and convergence barriers: which lanes run together in which order, and who waits for whom (facts
 * measured on an H200). Verdicts are in test_lane_verdicts.c. */
#include <glib.h>
#include <string.h>

#include "sim/detect/misuse/misuse.h"
#include "tests/unit/group_lab.h"
#include "tests/unit/unit.h"

static const uint32_t *words(const Lab *lab) { return backing_buffer(lab->backing, 0)->data; }

/* ---- who runs when ---- */

typedef struct Walk {
  const char *what, *settings, *text;
  const char *taken_first, *fallthrough_first; /* "pc:lanes ..."; the second NULL if they are the same */
  GpuStop stop;
} Walk;

#define BOTH NULL
/* clang-format off */
static const Walk walks[] = {
    {"if and else meet at their BSYNC", "",
     "BSSY 0, end; @P0 BRA then; NOP; BRA end; then: NOP; end: BSYNC 0; NOP; EXIT",
     "0:f 1:3 4:3 5:3 2:c 3:c 5:c 6:f 7:f", "0:f 1:3 2:c 3:c 5:c 4:3 5:3 6:f 7:f", GPU_FINISHED},
    {"without BSSY they run apart to the end", "", "@P0 BRA then; NOP; BRA end; then: NOP; end: NOP; EXIT",
     "0:3 3:3 4:3 5:3 1:c 2:c 4:c 5:c", "0:3 1:c 2:c 4:c 5:c 3:3 4:3 5:3", GPU_FINISHED},
    {"lanes that take part in nothing pass a BSYNC", "", "BSYNC 0; BSYNC 5; EXIT", "0:f 1:f 2:f", BOTH, GPU_FINISHED},
    {"nested", "",
     "BSSY 0, out; @P0 BRA out; BSSY 1, in; @P2 BRA in; NOP; in: BSYNC 1; NOP; out: BSYNC 0; EXIT",
     "0:f 1:3 7:3 2:c 3:8 5:8 4:4 5:4 6:c 7:c 8:f", "0:f 1:3 2:c 3:8 4:4 5:4 5:8 6:c 7:c 7:3 8:f", GPU_FINISHED},
    {"two groups use one barrier, one after the other", "",
     "@P0 BRA b; BSSY 0, s; @P2 BRA s; NOP; s: BSYNC 0; NOP; EXIT; b: BSSY 0, t; @P1 BRA t; NOP; t: BSYNC 0; NOP; EXIT",
     "0:3 7:3 8:1 10:1 9:2 10:2 11:3 12:3 1:c 2:8 4:8 3:4 4:4 5:c 6:c",
     "0:3 1:c 2:8 3:4 4:4 4:8 5:c 6:c 7:3 8:1 9:2 10:2 10:1 11:3 12:3", GPU_FINISHED},
    {"lanes wait for members of a barrier that began elsewhere, unless these have given way", "",
     "BSSY 0, out; @P0 BRA x; BSSY 1, in; YIELD ; NOP; in: BSYNC 1; x: BSYNC 0; out: BSSY 1, q; NOP; q: BSYNC 1; "
     "NOP; EXIT",
     "0:f 1:3 6:3 2:c 3:c 7:3 8:3 9:3 10:3 11:3 4:c 5:c 6:c 7:c 8:c 9:c 10:c 11:c",
     "0:f 1:3 2:c 3:c 6:3 7:3 8:3 9:3 4:c 5:c 6:c 7:c 8:c 9:c 10:c 11:c 10:3 11:3", GPU_FINISHED},
    {"exits don't hold a BSYNC", "", "BSSY 0, end; @P0 BRA end; @P1 EXIT; @P2 EXIT; end: BSYNC 0; EXIT",
     "0:f 1:3 4:3 2:4 3:8 5:3", "0:f 1:3 2:4 3:8 4:3 5:3", GPU_FINISHED},
    {"those at a BSYNC don't wait for who took the BREAK", "",
     "BSSY 0, end; @P0 BRA end; @P2 BREAK 0; @P2 BRA out; end: BSYNC 0; out: BAR.SYNC 0; EXIT",
     "0:f 1:3 4:3 2:8 3:8 5:8 4:4 5:7 6:7 6:8", "0:f 1:3 2:8 3:8 4:4 5:8 4:3 5:7 6:7 6:8", GPU_FINISHED},
    {"a yielding group lets those at a BSYNC go on alone", "",
     "BSSY 0, end; @P0 BRA end; YIELD ; NOP; end: BSYNC 0; NOP; EXIT",
     "0:f 1:3 4:3 2:c 5:3 6:3 3:c 4:c 5:c 6:c", "0:f 1:3 2:c 4:3 5:3 6:3 3:c 4:c 5:c 6:c", GPU_FINISHED},
    {"after as many YIELDs as the machine says", "sm.lane_groups.yields_to_release=2",
     "BSSY 0, end; @P0 BRA end; YIELD ; YIELD ; NOP; end: BSYNC 0; NOP; EXIT",
     "0:f 1:3 5:3 2:c 3:c 6:3 7:3 4:c 5:c 6:c 7:c", "0:f 1:3 2:c 5:3 3:c 6:3 7:3 4:c 5:c 6:c 7:c", GPU_FINISHED},
    {"groups that gave way at one YIELD go on as one", "", "@P0 BRA a; NOP; a: YIELD ; NOP; EXIT",
     "0:3 2:3 1:c 2:c 3:f 4:f", "0:3 1:c 2:c 2:3 3:f 4:f", GPU_FINISHED},
    {"at two YIELDs, apart", "", "@P0 BRA a; YIELD ; NOP; EXIT; a: YIELD ; EXIT", "0:3 4:3 1:c 5:3 2:c 3:c",
     "0:3 1:c 4:3 2:c 3:c 5:3", GPU_FINISHED},
    {"WARPSYNC makes one group", "", "@P0 BRA a; NOP; a: WARPSYNC 15; NOP; EXIT", "0:3 2:3 1:c 2:c 3:f 4:f",
     "0:3 1:c 2:c 2:3 3:f 4:f", GPU_FINISHED},
    {"WARPSYNC of its own lanes waits for nobody", "", "MOV R1, 3; @!P0 MOV R1, 12; @P0 BRA a; NOP; a: WARPSYNC R1; EXIT",
     "0:f 1:c 2:3 4:3 5:3 3:c 4:c 5:c", "0:f 1:c 2:3 3:c 4:c 5:c 4:3 5:3", GPU_FINISHED},
    {"WARPSYNC at two places: both go on, apart", "", "@P0 BRA a; WARPSYNC 15; NOP; EXIT; a: WARPSYNC 15; EXIT",
     "0:3 4:3 1:c 2:c 3:c 5:3", "0:3 1:c 4:3 5:3 2:c 3:c", GPU_FINISHED},
    {"WARPSYNC waits for no lane that exited", "", "@P0 EXIT; WARPSYNC -1; EXIT", "0:3 1:c 2:c", BOTH, GPU_FINISHED},
    {"WARPSYNC calls the lanes that wait at a BSYNC", "",
     "BSSY 0, end; @P0 BRA end; WARPSYNC 15; end: BSYNC 0; WARPSYNC 15; EXIT",
     "0:f 1:3 3:3 2:c 4:3 5:3 3:c 4:c 5:c", "0:f 1:3 2:c 3:3 4:3 5:3 3:c 4:c 5:c", GPU_FINISHED},
    {"only those of its mask", "", "BSSY 0, end; @P0 BRA end; WARPSYNC 13; end: BSYNC 0; NOP; EXIT",
     "0:f 1:3 3:3 2:c 4:1 5:1 3:c 4:e 5:e", "0:f 1:3 2:c 3:3 4:1 5:1 3:c 4:e 5:e", GPU_FINISHED},
    {"WARPSYNC and WARPSYNC.ALL don't match", "", "@P0 BRA a; WARPSYNC 15; EXIT; a: WARPSYNC.ALL ; EXIT", "0:3 3:3 1:c",
     "0:3 1:c 3:3", GPU_BLOCKED},
    {"WARPSYNC.ALL calls the lanes that wait at a BSYNC", "", "BSSY 0, end; @P0 BRA end; WARPSYNC.ALL ; end: BSYNC 0; EXIT",
     "0:f 1:3 3:3 2:c 4:3 3:c 4:c", "0:f 1:3 2:c 3:3 4:3 3:c 4:c", GPU_FINISHED},
    {"WARPSYNC.ALL at two places hangs", "", "@P0 BRA a; WARPSYNC.ALL ; EXIT; a: WARPSYNC.ALL ; EXIT", "0:3 3:3 1:c",
     "0:3 1:c 3:3", GPU_BLOCKED},
    {"WARPSYNC.ALL waits for no lane that exited", "", "@P0 EXIT; WARPSYNC.ALL ; EXIT", "0:3 1:c 2:c", BOTH, GPU_FINISHED},
    {"WARPSYNC.ALL makes one group", "", "@P0 BRA a; NOP; a: WARPSYNC.ALL ; NOP; EXIT", "0:3 2:3 1:c 2:c 3:f 4:f",
     "0:3 1:c 2:c 2:3 3:f 4:f", GPU_FINISHED},
    {"so does a block barrier", "", "BSSY 0, end; @P0 BRA end; BAR.SYNC 0; end: BSYNC 0; EXIT", "0:f 1:3 3:3 2:c",
     "0:f 1:3 2:c 3:3", GPU_BLOCKED},
    {"a predicated one doesn't: the lanes left out come with their group", "", "@!P0 BAR.SYNC 0; EXIT", "0:c 1:f", BOTH,
     GPU_FINISHED},
    {"the newest that is ready, else the first that gave way", "",
     "MOV R1, 3; @P0 BRA a; @P2 BRA b; YIELD ; YIELD ; EXIT; a: YIELD ; YIELD ; EXIT; b: YIELD ; YIELD ; EXIT",
     "0:f 1:3 6:3 2:8 9:8 3:4 7:3 10:8 4:4 8:3 11:8 5:4", "0:f 1:3 2:8 3:4 9:8 6:3 4:4 10:8 7:3 5:4 11:8 8:3",
     GPU_FINISHED},
    {"a YIELD alone", "", "YIELD ; EXIT", "0:f 1:f", BOTH, GPU_FINISHED},
    {"a group sleeps while others run", "", "@P0 BRA a; NOP; YIELD ; NOP; EXIT; a: NANOSLEEP 1000; EXIT",
     "0:3 5:3 1:c 2:c 3:c 4:c 6:3", "0:3 1:c 2:c 5:3 3:c 4:c 6:3", GPU_FINISHED},
    {"a group that spins without a switch point holds its warp", "", "@P0 BRA a; NOP; EXIT; a: BRA a", NULL, NULL,
     GPU_BUDGET},
    {"lanes may come to an unaligned barrier at different times", "",
     "@P0 BRA a; BAR.SYNC.UNALIGNED 0; EXIT; a: BAR.SYNC.UNALIGNED 0; EXIT",
     "0:3 3:3 1:c 2:c 4:3", "0:3 1:c 3:3 4:3 2:c", GPU_FINISHED},
    {"an unaligned barrier waits for each lane", "",
     "BSSY 0, end; @P0 BRA end; BAR.SYNC.UNALIGNED 0; end: BSYNC 0; EXIT", "0:f 1:3 3:3 2:c", "0:f 1:3 2:c 3:3",
     GPU_BLOCKED},
    {"but for none that exits", "", "@P0 BRA a; BAR.SYNC.UNALIGNED 0; EXIT; a: EXIT", "0:3 3:3 1:c 2:c", "0:3 1:c 3:3 2:c",
     GPU_FINISHED},
};
/* clang-format on */

/* As an H200: the smaller way first, of two with as many lanes the fallthrough. */
START_TEST(the_smaller_way_first) {
  static const struct {
    const char *guard, *path;
  } ways[] = {
      {"P0", "0:3 1:c 2:c 3:3 4:3"}, /* two lanes each */
      {"!P0", "0:c 1:3 2:3 3:c 4:c"},
      {"P2", "0:8 3:8 4:8 1:7 2:7"}, /* one takes it */
      {"!P2", "0:7 1:8 2:8 3:7 4:7"},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_autofree char *text = g_strdup_printf("@%s BRA a; NOP; EXIT; a: NOP; EXIT", ways[i].guard);
    g_autoptr(Lab) lab = group_lab_new("sm.simt_stack.branch_order=smaller-first", text, 4);
    ck_assert_int_eq(gpu_run(lab->gpu, 10000, 1000000), GPU_FINISHED);
    g_autofree char *path = lab_path(lab, 0);
    ck_assert_msg(strcmp(path, ways[i].path) == 0, "%s: %s", ways[i].guard, path);
  }
}
END_TEST

START_TEST(walks_as_told) {
  const Walk *walk = &walks[_i];
  for (unsigned order = 0; order < 2; order++) {
    g_autofree char *settings =
        g_strdup_printf("%s sm.simt_stack.branch_order=%s", walk->settings, group_lab_orders[order]);
    g_autoptr(Lab) lab = group_lab_new(settings, walk->text, 4);
    GpuStop stop = gpu_run(lab->gpu, 10000, 1000000);
    g_autofree char *path = lab_path(lab, 0);
    const char *right = order && walk->fallthrough_first ? walk->fallthrough_first : walk->taken_first;
    ck_assert_msg(stop == walk->stop, "%s, %s: stop %d after\n%s\n%s", walk->what, group_lab_orders[order], stop,
                  path, stop == GPU_FAULT ? lab->gpu->fault.message : "");
    ck_assert_msg(!right || strcmp(path, right) == 0, "%s, %s:\n%s\nmust be\n%s", walk->what, group_lab_orders[order],
                  path, right);
  }
}
END_TEST

/* ---- what an H200 does ---- */

/* The naive spin lock inside one warp completes, since its loop yields: lanes enter in order. */
START_TEST(a_yielding_spin_lock_completes) {
  g_autofree char *settings = g_strdup_printf("sm.simt_stack.branch_order=%s", group_lab_orders[_i]);
  g_autoptr(Lab) lab = group_lab_new(settings, SPIN("YIELD ", "NOP"), 32);
  lab_finish(lab);
  ck_assert_uint_eq(words(lab)[1], 32);
  for (unsigned i = 0; i < 32; i++)
    ck_assert_msg(words(lab)[2 + i] == i, "lane %u came as number %u", words(lab)[2 + i], i);
}
END_TEST

/* Without YIELD, or if all lanes are to meet before the critical section, it hangs. */
START_TEST(other_spin_locks_hang) {
  static const char *const texts[] = {SPIN("NOP", "NOP"), SPIN("YIELD ", "WARPSYNC -1")};
  for (unsigned order = 0; order < 2; order++) {
    g_autofree char *settings = g_strdup_printf("sm.simt_stack.branch_order=%s", group_lab_orders[order]);
    g_autoptr(Lab) lab = group_lab_new(settings, texts[_i], 32);
    GpuStop stop = gpu_run(lab->gpu, 200000, 100000000);
    ck_assert_msg(stop == GPU_BUDGET, "stop %d", stop);
    ck_assert_uint_eq(words(lab)[1], 0);
  }
}
END_TEST

/* ---- block barriers ---- */

#define SPIN_THEN(last)                                                                     \
  "MOV R1, c[0x0][0x20]; MOV R2, 1; BSSY 0, end; loop: YIELD ; ATOM.CAS R3, [R1], RZ, R2; " \
  "ISETP.NE P3, PT, R3, RZ, PT; @P3 BRA loop; end: BSYNC 0; ATOM.EXCH R6, [R1], RZ; " last "; EXIT"

typedef struct Meeting {
  const char *what, *text;
  uint32_t threads;
  GpuStop stop;
  unsigned arrivals, completed, partial;
} Meeting;

/* clang-format off */
static const Meeting meetings[] = {
    {"a warp has exited", "ISETP.LT P5, PT, R0, 32, PT; S2R R1, SR_Tid_X; ISETP.GE P5, PT, R1, 32, PT; @P5 EXIT; BAR.SYNC 0; EXIT",
     64, GPU_FINISHED, 1, 1, 0},
    {"odd lanes have exited", "LOP.AND R2, R0, 1; ISETP.EQ P5, PT, R2, RZ, PT; @!P5 EXIT; BAR.SYNC 0; EXIT", 64,
     GPU_FINISHED, 2, 1, 0},
    {"odd lanes exit while the others wait",
     "LOP.AND R2, R0, 1; ISETP.EQ P5, PT, R2, RZ, PT; @P5 BRA sync; NOP; NOP; EXIT; sync: BAR.SYNC 0; EXIT", 64,
     GPU_FINISHED, 2, 1, 0},
    {"a counted barrier doesn't count who exited", "S2R R1, SR_Tid_X; ISETP.GE P5, PT, R1, 32, PT; @P5 EXIT; "
     "BAR.SYNC 1, 64; EXIT", 64, GPU_BLOCKED, 1, 0, 0},
    {"both sides of a branch: a warp arrives with its last lanes",
     "S2R R1, SR_Tid_X; ISETP.GE P5, PT, R1, 32, PT; @P5 BRA late; @P0 BRA a; BAR.SYNC 0; EXIT; a: BAR.SYNC 0; EXIT; "
     "late: NANOSLEEP 10000; BAR.SYNC 0; EXIT", 64, GPU_FINISHED, 2, 1, 0},
    {"the same in a block of one warp", "@P0 BRA a; BAR.SYNC 0; EXIT; a: BAR.SYNC 0; EXIT", 32, GPU_FINISHED, 1, 1, 0},
    {"lanes that come one after another from a spin lock, and a barrier behind it", SPIN_THEN("BAR.SYNC 0"), 64,
     GPU_FINISHED, 2, 1, 0},
    {"another lane never comes", "@P0 BRA a; BAR.SYNC 0; EXIT; a: WARPSYNC -1; EXIT", 64, GPU_BLOCKED, 0, 0, 0},
    {"part of a warp meets by itself before all do",
     "@P0 BRA a; WARPSYNC -4; a: WARPSYNC -1; BAR.SYNC.UNALIGNED 0; EXIT", 32, GPU_FINISHED, 1, 1, 0},
    {"it meets by itself, and never with the others",
     "@P0 BRA a; WARPSYNC -4; BRA b; a: WARPSYNC -1; b: BAR.SYNC.UNALIGNED 0; EXIT", 32, GPU_BLOCKED, 0, 0, 0},
    {"arrives, then waits: two arrivals", "BAR.ARV 1, 128; BAR.SYNC 1, 128; EXIT", 64, GPU_FINISHED, 4, 1, 0},
    {"a predicated barrier: the whole group waits", "@P0 BAR.SYNC 0; EXIT", 64, GPU_FINISHED, 2, 1, 2},
    {"unaligned: an arrival takes all lanes", "@P0 BRA a; BAR.SYNC.UNALIGNED 0; EXIT; a: BAR.SYNC.UNALIGNED 0; EXIT", 64,
     GPU_FINISHED, 2, 1, 0},
    {"unaligned, with a count", "@P0 BRA a; BAR.SYNC.UNALIGNED 1, 64; EXIT; a: BAR.ARV.UNALIGNED 1, 64; EXIT", 64,
     GPU_FINISHED, 2, 1, 0},
    {"unaligned: the last lanes exit", "@P0 BRA a; BAR.SYNC.UNALIGNED 0; EXIT; a: NANOSLEEP 100; EXIT", 64,
     GPU_FINISHED, 2, 1, 0},
};
/* clang-format on */

static void note_partial(void *user, const ProbePoint *point, uint32_t absent, uint32_t exited) {
  *(unsigned *)user += absent != 0;
}

START_TEST(barriers_meet) {
  const Meeting *meeting = &meetings[_i];
  g_autoptr(Lab) lab = group_lab_new("sm.simt_stack.branch_order=taken-first", meeting->text, meeting->threads);
  unsigned partial = 0;
  Probe probe = {.user = &partial, .partial_barrier = note_partial};
  gpu_subscribe(lab->gpu, &probe);
  GpuStop stop = lab_run(lab);
  const Counters *counters = &lab->gpu->counters;
  ck_assert_msg(stop == meeting->stop, "%s: stop %d %s", meeting->what, stop,
                stop == GPU_FAULT ? lab->gpu->fault.message : "");
  ck_assert_msg(counters->barrier_arrivals == meeting->arrivals &&
                    counters->barriers_completed == meeting->completed && partial == meeting->partial,
                "%s: %u arrivals, %u completed, %u partial", meeting->what, (unsigned)counters->barrier_arrivals,
                (unsigned)counters->barriers_completed, partial);
}
END_TEST

/* Groups that wait apart each get the result of the whole. */
START_TEST(a_reduction_reaches_each_group) {
  g_autoptr(Lab) lab = group_lab_new(
      "", "@P0 BRA a; BAR.RED.POPC.UNALIGNED R2, 0, P1; EXIT; a: BAR.RED.POPC.UNALIGNED R2, 0, P1; EXIT", 64);
  lab_finish(lab);
  for (unsigned slot = 0; slot < 2; slot++)
    for (unsigned lane = 0; lane < 32; lane++)
      ck_assert_uint_eq(lab_row(lab, slot, 2)[lane], 4);
}
END_TEST

/* ---- time ---- */

/* A sleep goes up to the next power of two above what was asked; here a cycle is a nanosecond. */
START_TEST(sleeps_go_up_to_powers_of_two) {
  static const uint32_t asked[] = {0, 1, 30, 40, 63, 64, 1000, 1024, 1000000, 5000000};
  static const uint32_t slept[] = {40, 40, 40, 64, 64, 128, 1024, 2048, 1048576, 1048576};
  for (unsigned i = 0; i < G_N_ELEMENTS(asked); i++) {
    g_autofree char *text = g_strdup_printf("NANOSLEEP %u; EXIT", asked[i]);
    g_autoptr(Lab) lab = group_lab_new("clocks.sm=1GHz sm.sleep.least=40", text, 32);
    lab_finish(lab);
    ck_assert_uint_eq(lab_cycle(lab, 0, 1, 0), slept[i]);
  }
}
END_TEST

#define ON_A_GRID "clocks.sm=1GHz sm.sleep.grid=32 sm.sleep.least=37 sm.sleep.wake=36"

/* An H200's end on a grid of that many nanoseconds: the first takes what is left, the others all of it. */
START_TEST(sleeps_end_on_a_grid) {
  static const uint32_t asked[] = {128, 200, 1000, 5000, 5000000};
  static const uint32_t apart[] = {256, 256, 1024, 8192, 1048576};
  for (unsigned i = 0; i < G_N_ELEMENTS(asked); i++) {
    uint32_t ns = asked[i];
    g_autofree char *text = g_strdup_printf("NANOSLEEP %u; NANOSLEEP %u; NANOSLEEP %u; EXIT", ns, ns, ns);
    g_autoptr(Lab) lab = group_lab_new(ON_A_GRID, text, 32);
    lab_finish(lab);
    ck_assert_uint_le(lab_cycle(lab, 0, 1, 0), apart[i] + 36);
    ck_assert_uint_ge(lab_cycle(lab, 0, 1, 0), 37 + 36);
    ck_assert_uint_eq(lab_cycle(lab, 0, 2, 0), lab_cycle(lab, 0, 1, 0) + apart[i]);
    ck_assert_uint_eq(lab_cycle(lab, 0, 3, 0), lab_cycle(lab, 0, 2, 0) + apart[i]);
  }
}
END_TEST

/* Those of 31 ns and less take 32 at most, wherever these are over, and the least; a 0 is in a register (RZ), which
 * takes longer. */
START_TEST(short_sleeps_end_as_their_clock_falls) {
  enum { SLEEPS = 64, LEAST = 20, GRID = 32, WAKE = 36, OPERAND = 23 };
  g_autoptr(GString) text = g_string_new(NULL);
  for (unsigned i = 0; i < SLEEPS; i++)
    g_string_append(text, i % 2 ? "NANOSLEEP 0; " : "NANOSLEEP 31; ");
  g_autofree char *whole = g_strdup_printf("%sEXIT", text->str);
  g_autoptr(Lab) lab = group_lab_new(
      "clocks.sm=1GHz sm.sleep.grid=32 sm.sleep.least=20 sm.sleep.wake=36 sm.sleep.operand=23", whole, 32);
  lab_finish(lab);
  unsigned at_least = 0;
  for (unsigned i = 0; i < SLEEPS; i++) {
    uint64_t slept = lab_cycle(lab, 0, i + 1, 0) - lab_cycle(lab, 0, i, 0) - WAKE - (i % 2 ? OPERAND : 0);
    ck_assert_uint_ge(slept, LEAST);
    ck_assert_uint_lt(slept, GRID);
    at_least += slept == LEAST;
  }
  ck_assert_uint_gt(at_least, SLEEPS / 3); /* 21 of 32 */
  ck_assert_uint_lt(at_least, SLEEPS);
}
END_TEST

/* Lanes that sleep go on later where the others of their warp wait at a WARPSYNC, to which the first sleep lets them
 * come. */
START_TEST(sleeps_beside_a_warpsync_are_longer) {
  g_autoptr(Lab) lab = group_lab_new(
      "clocks.sm=1GHz sm.sleep.least=40 sm.sleep.wake=10 sm.sleep.operand=23 sm.encoded.warpsync_beside=65 "
      "sm.encoded.yield=23 sm.latency.branch_taken=30 sm.lane_groups.switch_latency=11 "
      "sm.simt_stack.branch_order=taken-first",
      "@P0 BRA nap; meet: WARPSYNC 15; EXIT; nap: NANOSLEEP 20; NANOSLEEP 20; NANOSLEEP 0; BRA meet", 4);
  lab_finish(lab);
  lab_expect_path(lab, 0, "0:3 3:3 1:c 4:3 5:3 6:3 1:3 2:f");
  static const uint64_t cycles[] = {0, 30, 30 + 11, 30 + 50 + 65, 145 + 50 + 65, 260 + 23 + 50 + 65};
  for (unsigned i = 0; i < G_N_ELEMENTS(cycles); i++)
    ck_assert_msg(lab_issue(lab, i)->cycle == cycles[i], "issue %u at %d", i, (int)lab_issue(lab, i)->cycle);
}
END_TEST

/* A block barrier that completes wakes a warp whose running group sleeps. */
START_TEST(a_barrier_ends_a_warps_sleep) {
  g_autoptr(Lab) lab =
      group_lab_new("clocks.sm=1GHz sm.barrier.arrive_to_resume=40 sm.simt_stack.branch_order=fallthrough-first",
                    "S2R R1, SR_Tid_X; ISETP.GE P5, PT, R1, 32, PT; @P5 BRA late; @P0 BRA nap; BAR.SYNC 0; NOP; "
                    "EXIT; nap: BAR.ARV 0; NANOSLEEP 100000; EXIT; late: NANOSLEEP 1000; BAR.SYNC 0; EXIT",
                    64);
  lab_finish(lab);
  ck_assert_uint_eq(lab_cycle(lab, 0, 5, 0), lab_cycle(lab, 1, 11, 0) + 40);
  ck_assert_uint_eq(lab_cycle(lab, 0, 9, 0), lab_cycle(lab, 0, 8, 0) + 131072);
}
END_TEST

START_TEST(switches_take_time) {
  g_autoptr(Lab) lab =
      group_lab_new("sm.issue_interval=2 sm.latency.branch_taken=30 sm.lane_groups.switch_latency=11 "
                    "sm.lane_groups.sync_latency=7 sm.encoded.yield=23 sm.encoded.yield_interval=16 "
                    "sm.simt_stack.branch_order=taken-first",
                    "@P0 BRA a; NOP; a: WARPSYNC 15; NOP; YIELD ; EXIT", 4);
  lab_finish(lab);
  lab_expect_path(lab, 0, "0:3 2:3 1:c 2:c 3:f 4:f 5:f");
  /* the convergence unit has the first group's WARPSYNC until 46, the second's until 62, the YIELD waits for that */
  static const uint64_t cycles[] = {0, 30, 30 + 11, 43, 46 + 7, 55, 62 + 23};
  for (unsigned i = 0; i < G_N_ELEMENTS(cycles); i++)
    ck_assert_msg(lab_issue(lab, i)->cycle == cycles[i], "issue %u at %d", i, (int)lab_issue(lab, i)->cycle);
}
END_TEST

/* Of PTX: lanes that aren't together meet at a WARPSYNC.COLLECTIVE elsewhere, and come back. */
START_TEST(meeting_apart_takes_time) {
  g_autoptr(Lab) lab =
      group_lab_new("sm.issue_interval=2 sm.latency.branch_taken=30 sm.lane_groups.switch_latency=11 "
                    "sm.lane_groups.sync_latency=7 sm.lane_groups.bsync_latency=14 sm.encoded.collective=100 "
                    "sm.encoded.branch_indirect=27 sm.encoded.yield_interval=16 "
                    "sm.simt_stack.branch_order=taken-first",
                    "@P0 BRA a; NOP; a: WARPSYNC 15; NOP; WARPSYNC 15; EXIT", 4);
  lab_finish(lab);
  uint64_t met = 46 + 7 + 100 + 2 * 30 + 27 + 14; /* the first has the convergence unit until 46 */
  static const unsigned order[] = {3, 4, 5};
  const uint64_t cycles[] = {43, met, met + 2};
  for (unsigned i = 0; i < G_N_ELEMENTS(order); i++)
    ck_assert_msg(lab_issue(lab, order[i])->cycle == cycles[i], "issue %u at %d", order[i],
                  (int)lab_issue(lab, order[i])->cycle);
  ck_assert_uint_eq(lab_issue(lab, 6)->cycle, met + 2 + 7); /* all are there */
}
END_TEST

/* A barrier that never completes, and part of a warp that came to it. */
START_TEST(a_partial_barrier_is_told_at_the_end) {
  static const char *const texts[] = {"@P0 BRA a; BAR.SYNC 1, 64; EXIT; a: WARPSYNC -1; EXIT",
                                      "@P0 BRA a; BAR.SYNC.UNALIGNED 1, 64; EXIT; a: WARPSYNC -1; EXIT",
                                      "@P0 BRA a; BAR.SYNC 1, 64; EXIT; a: BAR.SYNC 1, 64; EXIT"};
  for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(Lab) lab = group_lab_new("", texts[i], 32);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    Misuse *misuse = misuse_new_lanes(lab->gpu, findings);
    ck_assert_int_eq(lab_run(lab), GPU_BLOCKED);
    guint before = findings->len; /* P0 is set from outside: a read of a register that was never written */
    misuse_conclude_lanes(misuse);
    ck_assert_uint_eq(findings->len, before + (i == 0));
    if (i == 0) {
      const Finding *finding = g_ptr_array_index(findings, before);
      ck_assert_int_eq(finding->id, FINDING_PARTIAL_BARRIER);
      ck_assert_uint_eq(finding->lanes, ~3u);
    }
    misuse_free(misuse);
  }
}
END_TEST

/* Lanes that wait for each other at WARPSYNCs of different masks; or for others, at masks of their own. */
START_TEST(masks_that_never_meet_are_told_at_the_end) {
  static const char *const texts[] = {
      "@P0 BRA a; WARPSYNC -2; EXIT; a: WARPSYNC 7; EXIT",
      "@P0 BRA a; WARPSYNC -4; BAR.SYNC 1, 64; EXIT; a: WARPSYNC 7; EXIT",
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(Lab) lab = group_lab_new("", texts[i], 32);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    Misuse *misuse = misuse_new_lanes(lab->gpu, findings);
    ck_assert_int_eq(lab_run(lab), GPU_BLOCKED);
    guint before = findings->len;
    misuse_conclude_lanes(misuse);
    unsigned masks = 0;
    for (guint k = before; k < findings->len; k++)
      masks += ((const Finding *)g_ptr_array_index(findings, k))->id == FINDING_SYNC_MASK;
    ck_assert_uint_eq(masks, i == 0);
    if (i == 0)
      ck_assert_uint_eq(((const Finding *)g_ptr_array_index(findings, before))->lanes, 3);
    misuse_free(misuse);
  }
}
END_TEST

/* ---- programs of the other kind ---- */

START_TEST(a_program_is_made_for_one_way_of_divergence) {
  static const struct {
    const char *settings, *text, *words;
  } refused[] = {
      {"sm.convergence=barrier", "SSY end; NOP.S; end: EXIT", "SSY is for machines with a SIMT stack"},
      {"sm.convergence=barrier", "NOP; NOP.S; EXIT", "NOP.S is for machines with a SIMT stack"},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autoptr(Lab) lab = lab_new(refused[i].settings, refused[i].text);
    LaunchConfig config = {
        .program = lab->program, .kernel = program_kernel(lab->program, 0), .grid = {1, 1, 1}, .block = {32, 1, 1}};
    g_autofree char *why = NULL;
    ck_assert(!gpu_add_launch(lab->gpu, &config, &why));
    ck_assert_msg(strstr(why, refused[i].words) != NULL, "%s", why);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lane_groups");
  TCase *tcase = tcase_create("lane_groups");
  tcase_add_test(tcase, the_smaller_way_first);
  tcase_add_loop_test(tcase, walks_as_told, 0, G_N_ELEMENTS(walks));
  tcase_add_loop_test(tcase, a_yielding_spin_lock_completes, 0, GROUP_LAB_ORDERS);
  tcase_add_loop_test(tcase, other_spin_locks_hang, 0, 2);
  tcase_add_loop_test(tcase, barriers_meet, 0, G_N_ELEMENTS(meetings));
  tcase_add_test(tcase, a_reduction_reaches_each_group);
  tcase_add_test(tcase, sleeps_go_up_to_powers_of_two);
  tcase_add_test(tcase, sleeps_end_on_a_grid);
  tcase_add_test(tcase, short_sleeps_end_as_their_clock_falls);
  tcase_add_test(tcase, sleeps_beside_a_warpsync_are_longer);
  tcase_add_test(tcase, a_barrier_ends_a_warps_sleep);
  tcase_add_test(tcase, switches_take_time);
  tcase_add_test(tcase, meeting_apart_takes_time);
  tcase_add_test(tcase, a_partial_barrier_is_told_at_the_end);
  tcase_add_test(tcase, masks_that_never_meet_are_told_at_the_end);
  tcase_add_test(tcase, a_program_is_made_for_one_way_of_divergence);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
