#include <glib.h>
#include <string.h>

#include "sim/detect/race/race.h"
#include "sim/detect/race/vclock.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* A program, its launch and the races to be found: pairs of lines, the smaller first; 0: no more. Argument: `out`. */
typedef struct Case {
  const char *name, *text;
  uint32_t block, grid, launches, streams; /* 0: one */
  uint32_t races[4][2];
} Case;

/* Lines 1 to 5: R0 the thread, R1 its word, R2 the block's number, R8 the buffer. */
#define HEAD                                                                       \
  ".target sm_20\n"                                                                \
  ".kernel k\n"                                                                    \
  ".shared 512\n"                                                                  \
  "S2R R0, SR_Tid_X; SHL R1, R0, 0x2; S2R R2, SR_CTAid_X; MOV R8, c[0x0][0x20];\n" \
  "LOP.XOR R3, R1, 0x80; SHR.U32 R9, R0, 0x5; ISETP.EQ.AND P1, pt, R9, RZ, pt; ISETP.EQ.AND P2, pt, R2, RZ, pt;\n"
#define BARRIER "BAR.RED.POPC RZ, RZ;\n"
#define END "EXIT;\n"
#define COUNT_UNDER(lock) /* lines 6 to 11 */ \
  "again: LDSLK P0, RZ, [" lock "];\n"        \
  "@P0 LDS R4, [0x0];\n"                      \
  "@P0 IADD R4, R4, 0x1;\n"                   \
  "@P0 STS [0x0], R4;\n"                      \
  "@P0 STSUL [" lock "], RZ;\n"               \
  "@!P0 BRA again;\n"
/* Block 0 hands data in out[0] to block 1 by a flag in out[1]. */
#define HAND_OVER(set, get) /* lines 6 to 15 */ \
  "MOV R5, 0x1;\n"                              \
  "@!P2 BRA wait;\n"                            \
  "ST [R8], R5;\n"                              \
  "MEMBAR.GL;\n" set "\n"                       \
  "EXIT;\n"                                     \
  "wait: " get "\n"                             \
  "ISETP.EQ.AND P0, pt, R6, RZ, pt;\n"          \
  "@P0 BRA wait;\n"                             \
  "LD R7, [R8];\n"

/* Warp 0 of a block writes data in its words and a flag in [0x100]; warp 1 looks at the flag and reads the data. */
#define SHARED_FLAG(first, second, look) /* lines 6 to 14 */ \
  "MOV R5, 0x1;\n"                                           \
  "@!P1 BRA wait;\n" first "\n" second "\n"                  \
  "EXIT;\n"                                                  \
  "wait: LDS R6, [0x100];\n"                                 \
  "ISETP.EQ.AND P0, pt, R6, RZ, pt;\n" look "\n"             \
  "LDS R7, [R3];\n"
#define DATA "STS [R1], R0;"
#define FLAG "STS [0x100], R5;"
#define POLL "@P0 BRA wait;"
/* Counts R4 down; on the same line as what follows. */
#define PAUSE(name, rounds) \
  "MOV32I R4, " rounds "; " name ": IADD R4, R4, -0x1; ISETP.GT.AND P6, pt, R4, RZ, pt; @P6 BRA " name "; "

static const Case cases[] = {
    {"a barrier between", HEAD "STS [R1], R0;\n" BARRIER "LDS R4, [R3];\n" END, .block = 64},
    {"no barrier between", HEAD "STS [R1], R0;\nLDS R4, [R3];\n" END, .block = 64, .races = {{6, 7}}},
    {"another barrier is no help",
     HEAD "@P1 BAR.SYNC 0x1, 0x20;\n@!P1 BAR.SYNC 0x2, 0x20;\nSTS [R1], R0;\nLDS R4, [R3];\n" END, .block = 64,
     .races = {{8, 9}}},
    {"the barrier comes before", HEAD BARRIER "STS [R1], R0;\nLDS R4, [R3];\n" END, .block = 64, .races = {{7, 8}}},
    {"a warp stores word after word", HEAD "@P2 STS [0x4], R0;\n@P2 STS [0x8], R9;\n@!P2 LDS R4, [0x8];\n" END,
     .block = 1},
    {"blocks store word after word, and read the second",
     HEAD "@P2 ST [R8], R9;\n@P2 ST [R8+0x4], R9;\n@!P2 LD R4, [R8+0x4];\n" END, .block = 1, .grid = 2,
     .races = {{7, 8}}},
    {"warps read what others store a word beside", HEAD "STS [R1], R0;\nLDS R4, [R1+0x4];\n" END, .block = 64,
     .races = {{6, 7}}},
    {"reads only", HEAD "LDS R4, [R3];\nLDS R4, [R1];\n" END, .block = 64},
    {"a warp orders its own instructions", HEAD "STS [R1], R0;\nLOP.XOR R3, R1, 0x4;\nLDS R4, [R3];\n" END,
     .block = 32},

    {"lanes store different values", HEAD "STS [0x0], R0;\n" END, .block = 32, .races = {{6, 6}}},
    {"lanes store the same value", HEAD "STS [0x0], R9;\n" END, .block = 32},
    {"warps store the same value", HEAD "STS [0x0], RZ;\n" END, .block = 64, .races = {{6, 6}}},
    {"lanes store different bytes", HEAD "STS.U8 [R0], R0;\n" END, .block = 32},
    {"lanes store the same byte", HEAD "SHR.U32 R4, R0, 0x1;\nSTS.U8 [R4], R0;\n" END, .block = 32,
     .races = {{7, 7}}},
    {"warps store different bytes", HEAD "ISCADD R4, R0, R9, 0x2;\nLOP.AND R4, R4, 0x7f;\nSTS.U8 [R4], R0;\n" END,
     .block = 64},
    {"warps store overlapping halves of pairs",
     HEAD "SHL R4, R0, 0x3;\nLOP.AND R4, R4, 0xff;\nMOV R6, R0; MOV R7, R0;\n"
          "@P1 STS.64 [R4], R6;\n@!P1 STS [R4+0x4], R6;\n" END,
     .block = 64, .races = {{9, 10}}},

    {"one lock", HEAD COUNT_UNDER("0x4") END, .block = 64},
    {"the word's own lock bit", HEAD COUNT_UNDER("0x0") END, .block = 64},
    {"a lock for each warp", HEAD "ISCADD R5, R9, 0x4, 0x2;\n" COUNT_UNDER("R5") END, .block = 64,
     .races = {{8, 10}, {10, 10}}},
    {"no lock", HEAD "LDS R4, [0x0];\nIADD R4, R4, 0x1;\nSTS [0x0], R4;\n" END, .block = 64,
     .races = {{6, 8}, {8, 8}}},
    {"a restored word is read beside",
     HEAD "again: @P1 LDSLK P0, R4, [R1];\n@P1 STSUL [R1], R4;\n@!P1 LDS R4, [R3];\n" END, .block = 64},
    {"a changed word is read beside",
     HEAD "again: @P1 LDSLK P0, R4, [R1];\n@P1 STSUL [R1], R0;\n@!P1 LDS R4, [R3];\n" END, .block = 64,
     .races = {{7, 8}}},

    {"arrive after the store",
     HEAD "@!P1 BRA consumer;\nSTS [R1], R0;\nBAR.ARV 0x1, 0x40;\n" END
          "consumer: BAR.SYNC 0x1, 0x40;\nLDS R4, [R3];\n" END,
     .block = 64},
    {"arrive before the store",
     HEAD "@!P1 BRA consumer;\nBAR.ARV 0x1, 0x40;\nSTS [R1], R0;\n" END
          "consumer: BAR.SYNC 0x1, 0x40;\nLDS R4, [R3];\n" END,
     .block = 64, .races = {{8, 11}}},
    {"a barrier waits for warps to exit",
     HEAD "@!P1 BRA stay;\nSTS [R1], R0;\n" END "stay: " BARRIER "LDS R4, [R3];\n" END, .block = 64},
    {"a barrier with a count doesn't",
     HEAD "@!P1 BRA stay;\nSTS [R1], R0;\n" END "stay: BAR.SYNC 0x1, 0x20;\nLDS R4, [R3];\n" END, .block = 64,
     .races = {{7, 10}}},

    {"an atomic flag", HEAD HAND_OVER("RED.ADD [R8+0x4], R5;", "ATOM.ADD R6, [R8+0x4], RZ;") END, .block = 1,
     .grid = 2},
    {"a volatile flag", HEAD HAND_OVER("ST.WT [R8+0x4], R5;", "LD.CV R6, [R8+0x4];") END, .block = 1, .grid = 2},
    {"a plain flag", HEAD HAND_OVER("ST [R8+0x4], R5;", "LD R6, [R8+0x4];") END, .block = 1, .grid = 2},
    {"a flag volatile on one side", HEAD HAND_OVER("ST [R8+0x4], R5;", "LD.CV R6, [R8+0x4];") END, .block = 1,
     .grid = 2},
    {"a word read beside the flag is none",
     HEAD HAND_OVER("ST [R8+0xc], R5; ST [R8+0x4], R5;", "LD R6, [R8+0xc]; LD R6, [R8+0x4];") END, .block = 1,
     .grid = 2, .races = {{10, 12}}},
    {"another atomic is no help",
     HEAD HAND_OVER("RED.ADD [R8+0x8], R5; ST.CG [R8+0x4], R5;", "ATOM.ADD R6, [R8+0x4], RZ;") END, .block = 1,
     .grid = 2, .races = {{8, 15}, {10, 12}}},
    {"a failed CAS hands nothing on",
     HEAD "MOV R5, 0x7; MOV R4, 0x1;\n@P2 ST [R8], R5;\n@P2 ATOM.CAS R6, [R8+0x4], R5, R4;\n"
          "@!P2 ATOM.ADD R6, [R8+0x4], R4;\n@!P2 LD R7, [R8];\n" END,
     .block = 1, .grid = 2, .races = {{7, 10}}},

    {"a flag in shared memory", HEAD SHARED_FLAG(DATA, FLAG, POLL) END, .block = 64},
    {"the flag comes before the data", HEAD SHARED_FLAG(FLAG, DATA, POLL) END, .block = 64, .races = {{9, 14}}},
    {"more data behind the flag", HEAD SHARED_FLAG(DATA, FLAG " STS [R1], R5;", POLL) END, .block = 64,
     .races = {{9, 14}}},
    {"a flag that nobody waits for", HEAD SHARED_FLAG(DATA, FLAG, "NOP;") END, .block = 64,
     .races = {{8, 14}, {9, 11}}},
    {"a flag that was set before the first poll",
     HEAD "@P1 BRA set; " PAUSE("pause", "2000") "BRA wait; set: NOP;\n" SHARED_FLAG(DATA, FLAG, POLL) END,
     .block = 64},
    {"a flag that was looked at before the first poll",
     HEAD "@!P1 LDS R6, [0x100];\n" PAUSE("pause", "200") SHARED_FLAG(DATA, FLAG, POLL) END, .block = 64},
    {"a flag that one lane in ten polls",
     HEAD "@P1 BRA set; ISETP.GT.AND P3, pt, R0, 0x22, pt; @P3 EXIT; BRA wait; set: NOP;\n" SHARED_FLAG(DATA, FLAG,
                                                                                                        POLL) END,
     .block = 64},
    {"a flag passed on, twice set before it is polled", /* warp 0 -> 1 -> 2 */
     HEAD
     "MOV R5, 0x1; ISETP.EQ.AND P3, pt, R9, 0x1, pt; @P1 BRA one; @P3 BRA two; BRA three;\n"
     "one: STS [R1], R0; STS [0x180], R5; EXIT;\n"
     "two: " PAUSE(
         "rest", "1000") "w1: LDS R6, [0x180]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA w1; STS [0x184], R5; EXIT;\n"
                         "three: " PAUSE("longer",
                                         "3000") "w2: LDS R6, [0x184]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA w2;\n"
                                                 "LOP.AND R1, R1, 0x7f; LDS R7, [R1];\n" END,
     .block = 96},
    {"a flag that is set without having been waited for",
     HEAD "MOV R5, 0x1; ISETP.EQ.AND P3, pt, R9, 0x1, pt; @P1 BRA one; @P3 BRA two; BRA three;\n"
          "one: STS [R1], R0; EXIT;\n"
          "two: STS [0x184], R5; EXIT;\n"
          "three: LDS R6, [0x184]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA three;\n"
          "LOP.AND R1, R1, 0x7f; LDS R7, [R1];\n" END,
     .block = 96, .races = {{7, 10}}},
    {"two flags in one word, of a byte each",
     HEAD
     "MOV R5, 0x1; ISETP.EQ.AND P3, pt, R9, 0x1, pt; @P1 BRA one; @P3 BRA two; BRA three;\n"
     "one: STS [R1], R0; STS.U8 [0x180], R5; EXIT;\n"
     "two: " PAUSE("rest",
                   "1000") "STS.U8 [0x181], R5; EXIT;\n"
                           "three: " PAUSE(
                               "longer",
                               "3000") "again: LDS.U8 R6, [0x180]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA again;\n"
                                       "LOP.AND R1, R1, 0x7f; LDS R7, [R1];\n" END,
     .block = 96},
    {"two flags in one word, and the other one is polled",
     HEAD
     "MOV R5, 0x1; ISETP.EQ.AND P3, pt, R9, 0x1, pt; @P1 BRA one; @P3 BRA two; BRA three;\n"
     "one: STS [R1], R0; STS.U8 [0x180], R5; EXIT;\n"
     "two: " PAUSE("rest",
                   "1000") "STS.U8 [0x181], R5; EXIT;\n"
                           "three: " PAUSE(
                               "longer",
                               "3000") "again: LDS.U8 R6, [0x181]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA again;\n"
                                       "LOP.AND R1, R1, 0x7f; LDS R7, [R1];\n" END,
     .block = 96, .races = {{7, 10}}},
    {"words take turns", /* each warp in its turn adds to a count */
     HEAD "turn: LDS R4, [0x100]; ISETP.NE.AND P0, pt, R4, R9, pt; @P0 BRA turn;\n"
          "LDS R5, [0x0]; IADD R5, R5, 0x1;\nSTS [0x0], R5;\nIADD R4, R4, 0x1; STS [0x100], R4;\n" END,
     .block = 96},
    {"words take turns, one too early",
     HEAD "turn: LDS R4, [0x100]; ISETP.NE.AND P0, pt, R4, R9, pt; @P0 BRA turn;\n"
          "LDS R5, [0x0]; IADD R5, R5, 0x1;\nIADD R4, R4, 0x1; STS [0x100], R4;\nSTS [0x0], R5;\n" END,
     .block = 64, .races = {{7, 9}, {9, 9}}},
    {"a counter in a loop isn't a flag",
     HEAD "again: LDS R4, [0x0];\nIADD R5, R4, 0x1;\nSTS [0x0], R5;\nISETP.LT.AND P0, pt, R4, 0x5, pt; @P0 BRA "
          "again;\n" END,
     .block = 64, .races = {{6, 8}, {8, 8}}},
    {"a word that one block polls and the next doesn't",
     HEAD "MOV R5, 0x1; @!P2 BRA next;\n" SHARED_FLAG(DATA, FLAG, POLL) END
     "next: @P1 STS [0x100], R5;\n@!P1 LDS R6, [0x100];\n" END,
     .block = 64, .grid = 3, .races = {{17, 18}}},
    {"a word that one block doesn't poll and the next does",
     HEAD "MOV R5, 0x1; @P2 BRA next;\n" SHARED_FLAG(DATA, FLAG, POLL) END
     "next: @P1 STS [0x100], R5;\n@!P1 LDS R6, [0x100];\n" END,
     .block = 64, .grid = 3, .races = {{17, 18}}},

    {"the last lane stores the memory's first words", /* lane 0 of it would have words before that */
     HEAD "ISETP.EQ.AND P3, pt, R0, 0x1f, pt; ISETP.EQ.AND P4, pt, R0, 0x20, pt;\n"
          "@P3 STS [0x4], R0;\n@P4 LDS R4, [0x4];\n" END,
     .block = 64, .races = {{7, 8}}},
    {"the last lane stores the memory's first words behind a barrier",
     HEAD "ISETP.EQ.AND P3, pt, R0, 0x1f, pt; ISETP.EQ.AND P4, pt, R0, 0x20, pt;\n"
          "@P3 STS [0x4], R0;\n" BARRIER "@P4 LDS R4, [0x4];\n" END,
     .block = 64},
    {"the last lane stores the memory's first words in block after block",
     HEAD "ISETP.EQ.AND P3, pt, R0, 0x1f, pt;\n@P3 STS [0x4], R2;\n@P3 LDS R4, [0x4];\n" END, .block = 32, .grid = 4},
    {"each block has its own shared memory", HEAD "STS [R1], R2;\nLDS R4, [R1];\n" END, .block = 32, .grid = 4},
    {"a warp slot used again orders nothing", HEAD "ST [R8], R2;\n" END, .block = 1, .grid = 2, .races = {{6, 6}}},
    {"launches of one stream", HEAD "ST [R8], R2;\n" END, .block = 1, .launches = 3, .streams = 1},
    {"launches of two streams", HEAD "ST [R8], R2;\n" END, .block = 1, .launches = 2, .streams = 2,
     .races = {{6, 6}}},
};

typedef struct Run {
  Machine *machine;
  Backing *backing;
  Program *program;
  Gpu *gpu;
  GPtrArray *findings;
  RaceDetector *detector;
} Run;

static void free_finding(gpointer finding) { finding_free(finding); }

/* Two SMs of one block each, so that blocks run side by side and after each other. */
static void run_init(Run *run, const Case *test) {
  g_autoptr(Diag) diag = diag_new();
  run->machine = machine_new_default();
  ck_assert(machine_set(run->machine, "gpu.sms", test->streams ? "2" : test->grid == 2 ? "2" : "1", diag));
  ck_assert(machine_set(run->machine, "sm.max_blocks", "1", diag));
  run->backing = backing_new();
  backing_add(run->backing, "out", 16, NULL);
  run->program = lab_parse(test->text);
  run->gpu = gpu_new(run->machine, run->backing, 1);
  run->findings = g_ptr_array_new_with_free_func(free_finding);
  run->detector = race_detector_new(run->gpu, run->findings, NULL);
  uint32_t argument = (uint32_t)backing_buffer(run->backing, 0)->base;
  LaunchConfig config = {.program = run->program,
                         .kernel = program_kernel(run->program, 0),
                         .grid = {MAX(test->grid, 1), 1, 1},
                         .block = {test->block, 1, 1},
                         .args = (const uint8_t *)&argument,
                         .args_bytes = sizeof argument};
  for (uint32_t i = 0; i < MAX(test->launches, 1); i++) {
    g_autofree char *why = NULL;
    config.stream = (int)(i % MAX(test->streams, 1));
    ck_assert_msg(gpu_add_launch(run->gpu, &config, &why), "%s: %s", test->name, why);
  }
  ck_assert_msg(gpu_run(run->gpu, 1000000, 1000000) == GPU_FINISHED, "%s: doesn't end", test->name);
  race_detector_finish(run->detector);
}

static void run_clear(Run *run) {
  gpu_free(run->gpu);
  race_detector_free(run->detector);
  g_ptr_array_unref(run->findings);
  backing_free(run->backing);
  program_free(run->program);
  machine_free(run->machine);
}

static const Evidence *evidence(const Finding *finding, guint index) {
  return g_ptr_array_index(finding->evidence, index);
}

static bool is_pair(const Finding *finding, const uint32_t pair[2]) {
  unsigned first = evidence(finding, 0)->line, then = evidence(finding, 1)->line;
  if (then == 0) /* lanes of one instruction */
    then = first;
  return MIN(first, then) == pair[0] && MAX(first, then) == pair[1];
}

START_TEST(finds_the_races_and_no_others) {
  const Case *test = &cases[_i];
  Run run;
  run_init(&run, test);
  guint wanted = 0;
  for (; wanted < G_N_ELEMENTS(test->races) && test->races[wanted][0]; wanted++) {
    bool found = false;
    for (guint i = 0; i < run.findings->len; i++)
      found = found || is_pair(g_ptr_array_index(run.findings, i), test->races[wanted]);
    ck_assert_msg(found, "%s: no race of lines %u and %u", test->name, test->races[wanted][0],
                  test->races[wanted][1]);
  }
  const Finding *one = run.findings->len ? g_ptr_array_index(run.findings, run.findings->len - 1) : NULL;
  ck_assert_msg(run.findings->len == wanted, "%s: %u races, not %u; the last: %s", test->name, run.findings->len,
                wanted, one ? one->message : "");
  run_clear(&run);
}
END_TEST

START_TEST(a_finding_shows_both_ends) {
  Run run;
  run_init(&run, &cases[1]);
  const Finding *finding = g_ptr_array_index(run.findings, 0);
  ck_assert_int_eq(finding->id, FINDING_DATA_RACE);
  ck_assert_uint_eq(finding->line, 7);
  ck_assert_str_eq(finding->source, "LDS R4, [R3];");
  ck_assert_str_eq(finding->space, "shared");
  ck_assert_int_eq(finding->block, 0);
  ck_assert(finding->lanes == ALL_LANES);
  ck_assert_msg(strstr(finding->message, "nothing orders the two"), "%s", finding->message);
  ck_assert_uint_eq(finding->evidence->len, 3);
  ck_assert_uint_eq(evidence(finding, 0)->line, 6);
  ck_assert_msg(strstr(evidence(finding, 0)->text, "STS [R1], R0"), "%s", evidence(finding, 0)->text);
  ck_assert_uint_eq(evidence(finding, 1)->line, 7);
  ck_assert_msg(strstr(finding->repair, "barrier"), "%s", finding->repair);
  run_clear(&run);
}
END_TEST

START_TEST(a_place_is_told_once_and_counted) {
  static const Case loop = {
    "loop",
    HEAD "MOV R5, 0x5;\nagain: STS [0x0], R0;\nIADD R5, R5, -0x1;\n"
         "ISETP.GT.AND P0, pt, R5, RZ, pt;\n@P0 BRA again;\n" END,
    .block = 32
  };
  Run run;
  run_init(&run, &loop);
  ck_assert_uint_eq(run.findings->len, 1);
  const Finding *finding = g_ptr_array_index(run.findings, 0);
  ck_assert_uint_eq(finding->count, 5);
  ck_assert_msg(strstr(finding->message, "different values"), "%s", finding->message);
  run_clear(&run);
}
END_TEST

/* ---- vector clocks ---- */

enum { ACTORS = 150 }; /* more than clocks have that are copied */

START_TEST(clocks_join_like_arrays) {
  GRand *random = g_rand_new_with_seed((guint32)_i);
  VClock clock[3] = {{0}, {0}, {0}};
  uint32_t plain[3][ACTORS] = {{0}};
  for (unsigned i = 0; i < 3 && _i % 2; i++) /* warps that started together: their entries stand side by side */
    for (uint32_t actor = 10 * i; actor < ACTORS - 5 * i; actor++) {
      plain[i][actor] = 1 + actor % 7;
      vclock_advance(&clock[i], actor, plain[i][actor]);
    }
  for (unsigned step = 0; step < 300; step++) {
    unsigned a = (unsigned)g_rand_int_range(random, 0, 3), b = (unsigned)g_rand_int_range(random, 0, 3);
    uint32_t actor = (uint32_t)g_rand_int_range(random, 0, ACTORS), time = (uint32_t)g_rand_int_range(random, 1, 99);
    if (step % 5 == 4) {
      vclock_join(&clock[a], &clock[b]);
      for (unsigned i = 0; i < ACTORS; i++)
        plain[a][i] = MAX(plain[a][i], plain[b][i]);
    } else if (step % 31 == 0) {
      vclock_assign(&clock[a], &clock[b]);
      memmove(plain[a], plain[b], sizeof plain[a]);
    } else {
      vclock_advance(&clock[a], actor, time);
      plain[a][actor] = MAX(plain[a][actor], time);
    }
    for (unsigned i = 0; i < ACTORS; i++)
      ck_assert_msg(vclock_time(&clock[a], i) == plain[a][i], "seed %d, step %u, actor %u", _i, step, i);
  }
  for (unsigned i = 0; i < 3; i++)
    vclock_clear(&clock[i]);
  g_rand_free(random);
}
END_TEST

static uint32_t actors_known(const VClock *clock) {
  uint32_t known = 0;
  for (uint32_t i = 0; i < clock->count; i++)
    known += clock->part[i].known;
  return known;
}

START_TEST(clocks_are_bounded_and_forget_no_order) {
  VClock clock = {0}, other = {0};
  vclock_advance(&clock, VCLOCK_PINNED + 3, 7);
  for (uint32_t actor = 0; actor < 5 * VCLOCK_MAX; actor++) {
    vclock_advance(actor % 2 ? &clock : &other, actor, 2);
    if (actor % 100 == 0)
      vclock_join(&clock, &other);
    ck_assert_uint_le(actors_known(&clock), VCLOCK_MAX);
  }
  vclock_join(&clock, &other);
  ck_assert_uint_le(actors_known(&clock), VCLOCK_MAX);
  for (uint32_t actor = 0; actor < 5 * VCLOCK_MAX; actor++)
    ck_assert_msg(vclock_knows(&clock, actor, 2), "actor %u", actor);
  ck_assert(!vclock_knows(&clock, 5 * VCLOCK_MAX - 1, 3));
  ck_assert_uint_eq(vclock_time(&clock, VCLOCK_PINNED + 3), 7);
  vclock_clear(&clock);
  vclock_clear(&other);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("race");
  TCase *tcase = tcase_create("race");
  tcase_add_loop_test(tcase, finds_the_races_and_no_others, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, a_finding_shows_both_ends);
  tcase_add_test(tcase, a_place_is_told_once_and_counted);
  tcase_add_loop_test(tcase, clocks_join_like_arrays, 1, 9);
  tcase_add_test(tcase, clocks_are_bounded_and_forget_no_order);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
