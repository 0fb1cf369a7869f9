/* Lane groups and convergence barriers: which lanes run together in which order, who waits for whom, and what of it ends
 * (SEMANTICS, "Convergence barriers"; facts measured on an H200). */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "sim/detect/misuse/misuse.h"
#include "sim/detect/progress.h"
#include "sim/detect/proof/explore.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define GROUPS "sm.convergence=barrier sm.lane_groups.switch_latency=18 sm.lane_groups.sync_latency=5 "

/* Fermi SASS has no convergence barriers: the tests write them as "BSSY 1, label", "BSYNC 1", "BREAK 1", "YIELD", "WARPSYNC R1",
 * "NANOSLEEP 100" and "BAR.SYNC.UNALIGNED 0", which are parsed as other instructions of the same shape and then changed. */
typedef struct Stand {
  const char *name, *instead;
  Opcode op;
  uint8_t mode; /* of WARPSYNC */
} Stand;

static const Stand stands[] = {
    {"BSSY", "SSY", OP_BSSY, 0},
    {"BSYNC", "NOP", OP_BSYNC, 0},
    {"BREAK", "NOP", OP_BREAK, 0},
    {"YIELD", "NOP", OP_YIELD, 0},
    {"WARPSYNC", "MOV RZ,", OP_WARPSYNC, WARPSYNC_ANY},
    {"WARPSYNC.ALL", "MOV RZ, RZ", OP_WARPSYNC, WARPSYNC_ALL},
    {"NANOSLEEP", "MOV RZ,", OP_NANOSLEEP, 0},
    {"BAR.SYNC.UNALIGNED", "BAR.SYNC", OP_BAR, 0},
    {"BAR.RED.POPC.UNALIGNED", "BAR.RED.POPC", OP_BAR, 0},
    {"BAR.ARV.UNALIGNED", "BAR.ARV", OP_BAR, 0},
};

typedef struct Change {
  guint pc;
  Opcode op;
  uint8_t mode; /* the barrier of BSSY, BSYNC and BREAK, the kind of WARPSYNC */
} Change;

/* The word `name` in a statement, or NULL. */
static char *find_word(const char *statement, const char *name) {
  char *at = strstr(statement, name);
  bool starts = at && (at == statement || strchr(" :", at[-1]));
  return starts && strchr(" ", at[strlen(name)]) ? at : NULL;
}

static void append_changed(GString *out, const char *statement, guint pc, GArray *changes) {
  for (unsigned i = 0; i < G_N_ELEMENTS(stands); i++) {
    char *at = find_word(statement, stands[i].name);
    if (!at)
      continue;
    Change change = {.pc = pc, .op = stands[i].op, .mode = stands[i].mode};
    char *rest = at + strlen(stands[i].name);
    if (change.op == OP_BSSY || change.op == OP_BSYNC || change.op == OP_BREAK) {
      change.mode = (uint8_t)strtoul(rest, &rest, 10);
      rest += strspn(rest, ", ");
    }
    g_array_append_val(changes, change);
    g_string_append_len(out, statement, at - statement);
    g_string_append_printf(out, "%s %s;", stands[i].instead, rest);
    return;
  }
  g_string_append_printf(out, "%s;", statement);
}

/* R0 is the lane; P0 holds in lanes 0 and 1, P1 in 0 and 2, P2 in 3 of each warp. */
static Lab *start(const char *settings, const char *text, uint32_t threads) {
  g_autofree char *all = g_strconcat(GROUPS, settings, NULL);
  g_auto(GStrv) statements = g_strsplit(text, ";", -1);
  g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(Change));
  g_autoptr(GString) plain = g_string_new(".reg 12\n.shared 1024\n");
  for (guint pc = 0; statements[pc]; pc++)
    append_changed(plain, statements[pc], pc, changes);
  Lab *lab = lab_new(all, plain->str);
  Kernel *kernel = program_kernel(lab->program, 0);
  for (guint i = 0; i < changes->len; i++) {
    Change change = g_array_index(changes, Change, i);
    Inst *inst = &kernel->insts[change.pc];
    if (change.op == OP_BAR) {
      inst->flags |= INST_UNALIGNED;
      continue;
    }
    inst->op = (uint16_t)change.op;
    inst->mode = change.mode;
    inst->dst = 0; /* none of them writes a register */
  }
  lab_buffer(lab, 64);
  lab_launch(lab, 1, threads);
  lab_place(lab);
  for (unsigned slot = 0; slot < (threads + 31) / 32; slot++) {
    static const uint32_t preds[] = {3, 5, 8};
    memcpy(lab_warp(lab, slot)->pred, preds, sizeof preds);
    for (unsigned lane = 0; lane < 32; lane++)
      lab_row(lab, slot, 0)[lane] = lane;
  }
  return lab;
}

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
    {"two groups use one barrier at the same time, a record each", "",
     "@P0 BRA b; BSSY 0, s; @P2 BRA s; NOP; s: BSYNC 0; NOP; EXIT; b: BSSY 0, t; @P1 BRA t; NOP; t: BSYNC 0; NOP; EXIT",
     "0:3 7:3 8:1 10:1 9:2 10:2 11:3 12:3 1:c 2:8 4:8 3:4 4:4 5:c 6:c",
     "0:3 1:c 2:8 3:4 4:4 4:8 5:c 6:c 7:3 8:1 9:2 10:2 10:1 11:3 12:3", GPU_FINISHED},
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

static const char *const orders[] = {"taken-first", "fallthrough-first"};

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
    g_autoptr(Lab) lab = start("sm.simt_stack.branch_order=smaller-first", text, 4);
    ck_assert_int_eq(gpu_run(lab->gpu, 10000, 1000000), GPU_FINISHED);
    g_autofree char *path = lab_path(lab, 0);
    ck_assert_msg(strcmp(path, ways[i].path) == 0, "%s: %s", ways[i].guard, path);
  }
}
END_TEST

START_TEST(walks_as_told) {
  const Walk *walk = &walks[_i];
  for (unsigned order = 0; order < 2; order++) {
    g_autofree char *settings = g_strdup_printf("%s sm.simt_stack.branch_order=%s", walk->settings, orders[order]);
    g_autoptr(Lab) lab = start(settings, walk->text, 4);
    GpuStop stop = gpu_run(lab->gpu, 10000, 1000000);
    g_autofree char *path = lab_path(lab, 0);
    const char *right = order && walk->fallthrough_first ? walk->fallthrough_first : walk->taken_first;
    ck_assert_msg(stop == walk->stop, "%s, %s: stop %d after\n%s\n%s", walk->what, orders[order], stop, path,
                  stop == GPU_FAULT ? lab->gpu->fault.message : "");
    ck_assert_msg(!right || strcmp(path, right) == 0, "%s, %s:\n%s\nmust be\n%s", walk->what, orders[order], path,
                  right);
  }
}
END_TEST

/* ---- what an H200 does ---- */

#define SPIN(yield, before_section)                                                                               \
  "MOV R1, c[0x0][0x20]; MOV R2, 1; BSSY 0, end; loop: " yield "; ATOM.CAS R3, [R1], RZ, R2; "                    \
  "ISETP.NE P3, PT, R3, RZ, PT; @P3 BRA loop; end: BSYNC 0; " before_section "; LD R4, [R1+0x4]; SHL R5, R4, 2; " \
  "IADD R5, R5, R1; ST [R5+0x8], R0; IADD R4, R4, 1; ST [R1+0x4], R4; ATOM.EXCH R6, [R1], RZ; EXIT"

/* The naive spin lock inside one warp completes, since its loop yields: lanes enter in order. */
START_TEST(a_yielding_spin_lock_completes) {
  g_autofree char *settings = g_strdup_printf("sm.simt_stack.branch_order=%s", orders[_i]);
  g_autoptr(Lab) lab = start(settings, SPIN("YIELD ", "NOP"), 32);
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
    g_autofree char *settings = g_strdup_printf("sm.simt_stack.branch_order=%s", orders[order]);
    g_autoptr(Lab) lab = start(settings, texts[_i], 32);
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
  g_autoptr(Lab) lab = start("sm.simt_stack.branch_order=taken-first", meeting->text, meeting->threads);
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
  g_autoptr(Lab) lab =
      start("", "@P0 BRA a; BAR.RED.POPC.UNALIGNED R2, 0, P1; EXIT; a: BAR.RED.POPC.UNALIGNED R2, 0, P1; EXIT", 64);
  lab_finish(lab);
  for (unsigned slot = 0; slot < 2; slot++)
    for (unsigned lane = 0; lane < 32; lane++)
      ck_assert_uint_eq(lab_row(lab, slot, 2)[lane], 4);
}
END_TEST

/* ---- time ---- */

/* An H200 sleeps to the next power of two above what was asked, at least 40 ns; here a cycle is a nanosecond. */
START_TEST(sleeps_as_an_h200) {
  static const uint32_t asked[] = {0, 1, 30, 40, 63, 64, 1000, 1024, 1000000, 5000000};
  static const uint32_t slept[] = {40, 40, 40, 64, 64, 128, 1024, 2048, 1048576, 1048576};
  for (unsigned i = 0; i < G_N_ELEMENTS(asked); i++) {
    g_autofree char *text = g_strdup_printf("NANOSLEEP %u; EXIT", asked[i]);
    g_autoptr(Lab) lab = start("clocks.sm=1GHz", text, 32);
    lab_finish(lab);
    ck_assert_uint_eq(lab_cycle(lab, 0, 1, 0), slept[i]);
  }
}
END_TEST

/* A block barrier that completes wakes a warp whose running group sleeps. */
START_TEST(a_barrier_ends_a_warps_sleep) {
  g_autoptr(Lab) lab =
      start("clocks.sm=1GHz sm.barrier.arrive_to_resume=40 sm.simt_stack.branch_order=fallthrough-first",
            "S2R R1, SR_Tid_X; ISETP.GE P5, PT, R1, 32, PT; @P5 BRA late; @P0 BRA nap; BAR.SYNC 0; NOP; "
            "EXIT; nap: BAR.ARV 0; NANOSLEEP 100000; EXIT; late: NANOSLEEP 1000; BAR.SYNC 0; EXIT",
            64);
  lab_finish(lab);
  ck_assert_uint_eq(lab_cycle(lab, 0, 5, 0), lab_cycle(lab, 1, 11, 0) + 40);
  ck_assert_uint_eq(lab_cycle(lab, 0, 9, 0), lab_cycle(lab, 0, 8, 0) + 131072);
}
END_TEST

START_TEST(switches_take_time) {
  g_autoptr(Lab) lab = start("sm.issue_interval=2 sm.latency.branch_taken=30 sm.lane_groups.switch_latency=11 "
                             "sm.lane_groups.sync_latency=7 sm.simt_stack.branch_order=taken-first",
                             "@P0 BRA a; NOP; a: WARPSYNC 15; NOP; YIELD ; EXIT", 4);
  lab_finish(lab);
  lab_expect_path(lab, 0, "0:3 2:3 1:c 2:c 3:f 4:f 5:f");
  static const uint64_t cycles[] = {0, 30, 30 + 11, 43, 43 + 7, 52, 54};
  for (unsigned i = 0; i < G_N_ELEMENTS(cycles); i++)
    ck_assert_msg(lab_issue(lab, i)->cycle == cycles[i], "issue %u at %d", i, (int)lab_issue(lab, i)->cycle);
}
END_TEST

/* A barrier that never completes, and part of a warp that came to it. */
START_TEST(a_partial_barrier_is_told_at_the_end) {
  static const char *const texts[] = {"@P0 BRA a; BAR.SYNC 1, 64; EXIT; a: WARPSYNC -1; EXIT",
                                      "@P0 BRA a; BAR.SYNC.UNALIGNED 1, 64; EXIT; a: WARPSYNC -1; EXIT",
                                      "@P0 BRA a; BAR.SYNC 1, 64; EXIT; a: BAR.SYNC 1, 64; EXIT"};
  for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(Lab) lab = start("", texts[i], 32);
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

/* ---- verdicts ---- */

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
    {"a signal behind the reconvergence, with a loop that yields",
     PROLOGUE "BSSY 0, end; @P0 BRA end; " WAIT("YIELD ") "end: BSYNC 0; ST.WT [R1], R2; EXIT", 4, {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"the same without", PROLOGUE "BSSY 0, end; @P0 BRA end; " WAIT("NOP") "end: BSYNC 0; ST.WT [R1], R2; EXIT", 4,
     {VERDICT_SIMD_DEADLOCK, VERDICT_SIMD_DEADLOCK}, {"waits at a reconvergence point for these lanes", "since these lanes spin without a point where the warp may switch"}},
    {"a signal of another warp",
     PROLOGUE "S2R R5, SR_Tid_X; ISETP.GE P4, PT, R5, 32, PT; @P4 BRA give; " WAIT("NOP") "EXIT; give: ST.WT [R1], R2; EXIT",
     64, {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
    {"WARPSYNC of all lanes on one side of a branch", "BSSY 0, end; @P0 BRA end; WARPSYNC 15; end: BSYNC 0; EXIT", 4,
     {VERDICT_COMPLETED, VERDICT_COMPLETED}, {NULL, NULL}},
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
     PROLOGUE "MOV R6, -1; @P0 BRA loop; NOP; loop: ATOM.ADD R3, [R1], R2; ATOM.ADD R5, [R1], R6; YIELD ; "
              "ISETP.NE P3, PT, R3, 77, PT; @P3 BRA loop; EXIT",
     4,
     {VERDICT_LIVELOCK, VERDICT_LIVELOCK},
     {NULL, NULL}},
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
    g_autofree char *settings = g_strdup_printf("sm.simt_stack.branch_order=%s", orders[order]);
    g_autoptr(Lab) lab = start(settings, ending->text, ending->threads);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    ProgressOptions options = {.limit_cycles = 100000000, .livelocks = true};
    Outcome outcome = progress_run(lab->gpu, &options, findings);
    g_autofree char *text = findings->len ? whole_text(g_ptr_array_index(findings, 0)) : g_strdup("no finding");
    ck_assert_msg(outcome.verdict == ending->verdict[order], "%s, %s: %s\n%s", ending->what, orders[order],
                  verdict_name(outcome.verdict), text);
    ck_assert_msg(!findings->len || !ending->says[order] || strstr(text, ending->says[order]),
                  "%s, %s:\n%s\nlacks: %s", ending->what, orders[order], text, ending->says[order]);
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
  static const char *const in_loop[] = {"NOP", "YIELD ", "NANOSLEEP 64", "WARPSYNC 15", "@P0 YIELD "};
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

/* Runs a program in slices, asking the proof each time: one of which it said that nobody can finish doesn't finish; one in
 * which nothing moves any more is proved. */
static void run_against_proof(const char *settings, const char *text, uint32_t threads, Tally *tally) {
  g_autoptr(Lab) lab = start(settings, text, threads);
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
  tcase_add_loop_test(tcase, a_yielding_spin_lock_completes, 0, G_N_ELEMENTS(orders));
  tcase_add_loop_test(tcase, other_spin_locks_hang, 0, 2);
  tcase_add_loop_test(tcase, barriers_meet, 0, G_N_ELEMENTS(meetings));
  tcase_add_test(tcase, a_reduction_reaches_each_group);
  tcase_add_test(tcase, sleeps_as_an_h200);
  tcase_add_test(tcase, a_barrier_ends_a_warps_sleep);
  tcase_add_test(tcase, switches_take_time);
  tcase_add_test(tcase, a_partial_barrier_is_told_at_the_end);
  tcase_add_loop_test(tcase, ends_as_told, 0, G_N_ELEMENTS(endings));
  tcase_add_loop_test(tcase, proves_no_false_deadlock, 0, 4);
  tcase_add_test(tcase, a_program_is_made_for_one_way_of_divergence);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
