/* When instructions of machine code issue, by their control bits: small listings, and the cycles worked out by
 * hand. */
#include <glib.h>
#include <string.h>

#include "isa/mc/mc_listing.h"
#include "isa/mc/mc_lower.h"
#include "sim/core/gpu.h"
#include "tests/unit/unit.h"

enum { ROWS_MAX = 9, NONE = CONTROL_NONE, NEVER = -1, REPLY = -2 };

/* An instruction, its control bits, and the cycle of its issue, from that of the first. */
typedef struct Row {
  const char *text;
  unsigned stall, write, read, wait;
  int cycle; /* NEVER: it doesn't issue, or behind a barrier; REPLY: when memory has answered */
} Row;

typedef struct IssueCase {
  const char *name;
  bool bare;      /* the listing has no encodings */
  unsigned warps; /* of the block: the cycles are those of the last */
  Row row[ROWS_MAX];
} IssueCase;

#define SB(n) (1u << (n))

/* S2R of the clock takes 36 cycles, LDC 39 from a line that has been loaded and 116 from another one, LDS 23; sources
 * of STS are read after 12; a taken branch takes 9, a YIELD 52, an ALU instruction 5. */
static const IssueCase cases[] = {
    {"stall counts: 4, then 1, then 13",
     false,
     1,
     {{"MOV R2, 0x1", 4, NONE, NONE, 0, 0},
      {"MOV R3, 0x2", 1, NONE, NONE, 0, 4},        /* 0 + 4 */
      {"VIADD R4, R4, 0x3", 13, NONE, NONE, 0, 5}, /* 4 + 1 */
      {"EXIT", 5, NONE, NONE, 0, 18}}},            /* 5 + 13 */
    {"a scoreboard of LDS",
     false,
     1,
     {{"LDS R2, [RZ]", 2, 0, NONE, 0, 0},
      {"MOV R3, 0x2", 1, NONE, NONE, 0, 2},     /* 0 + 2: it doesn't wait */
      {"MOV R4, R2", 1, NONE, NONE, SB(0), 23}, /* 0 + 23 */
      {"EXIT", 5, NONE, NONE, 0, 24}}},         /* 23 + 1 */
    {"the stall is longer than the scoreboard",
     false,
     1,
     {{"LDS R2, [RZ]", 15, 0, NONE, 0, 0},
      {"MOV R3, 0x2", 15, NONE, NONE, 0, 15},   /* 0 + 15 */
      {"MOV R4, R2", 1, NONE, NONE, SB(0), 30}, /* 15 + 15, and 0 + 23 is over */
      {"EXIT", 5, NONE, NONE, 0, 31}}},         /* 30 + 1 */
    {"two on one scoreboard, the later one first",
     false,
     1,
     {{"LDC R2, c[0x0][0x28]", 1, 0, NONE, 0, 0},
      {"S2R R3, SR_CLOCKLO", 1, 0, NONE, 0, 1},  /* 0 + 1; there at 1 + 36 = 37 */
      {"MOV R4, R3", 1, NONE, NONE, SB(0), 116}, /* max(0 + 116, 37) */
      {"EXIT", 5, NONE, NONE, 0, 117}}},
    {"two scoreboards",
     false,
     1,
     {{"LDC R2, c[0x0][0x28]", 1, 0, NONE, 0, 0},
      {"S2R R3, SR_CLOCKLO", 1, 1, NONE, 0, 1},
      {"MOV R4, R3", 1, NONE, NONE, SB(1), 37},  /* 1 + 36 */
      {"MOV R5, R2", 1, NONE, NONE, SB(0), 116}, /* 0 + 116 */
      {"EXIT", 5, NONE, NONE, 0, 117}}},
    {"a read scoreboard",
     false,
     1,
     {{"STS [RZ], R2", 1, NONE, 3, 0, 0},
      {"MOV R3, 0x1", 1, NONE, NONE, 0, 1},
      {"MOV R2, 0x1", 1, NONE, NONE, SB(3), 12}, /* 0 + 12 */
      {"EXIT", 5, NONE, NONE, 0, 13}}},
    {"a guard that is false: LDS holds its scoreboard all the same",
     false,
     1,
     {{"@!PT LDS R2, [RZ]", 2, 0, NONE, 0, 0},
      {"MOV R4, R2", 1, NONE, NONE, SB(0), 23}, /* 0 + 23 */
      {"EXIT", 5, NONE, NONE, 0, 24}}},
    {"a branch that is taken",
     false,
     1,
     {{"BRA 0x20", 5, NONE, NONE, 0, 0},
      {"MOV R2, 0x1", 1, NONE, NONE, 0, NEVER},
      {"EXIT", 5, NONE, NONE, 0, 9}}}, /* 0 + max(5, 9) */
    {"a branch that is taken, with a long stall",
     false,
     1,
     {{"BRA 0x20", 12, NONE, NONE, 0, 0},
      {"MOV R2, 0x1", 1, NONE, NONE, 0, NEVER},
      {"EXIT", 5, NONE, NONE, 0, 12}}}, /* 0 + max(12, 9) */
    {"a branch that isn't taken",
     false,
     1,
     {{"@!PT BRA 0x20", 5, NONE, NONE, 0, 0},
      {"MOV R2, 0x1", 1, NONE, NONE, 0, 5}, /* 0 + 5 */
      {"EXIT", 5, NONE, NONE, 0, 6}}},
    {"YIELD alone",
     false,
     1,
     {{"YIELD", 1, NONE, NONE, 0, 0}, {"MOV R2, 0x1", 1, NONE, NONE, 0, 52}, {"EXIT", 5, NONE, NONE, 0, 53}}},
    {"arithmetic behind a block barrier that takes longer",
     false,
     1,
     {{"BAR.SYNC.DEFER_BLOCKING 0x0", 1, NONE, NONE, 0, 0},
      {"MOV R2, 0x1", 9, NONE, NONE, 0, NEVER}, /* at 0 + 1 */
      {"MOV R3, 0x1", 9, NONE, NONE, 0, NEVER}, /* at 1 + 9 */
      {"EXIT", 5, NONE, NONE, 0, 19}}},         /* max(10 + 9, 14) */
    {"a load from global memory",
     false,
     1,
     {{"LDC.64 R4, c[0x0][0x210]", 1, 0, NONE, 0, 0},
      {"LDG.E R2, [R4.64]", 2, 1, NONE, SB(0), 116}, /* 0 + 116 */
      {"MOV R3, 0x1", 1, NONE, NONE, 0, 118},        /* 116 + 2 */
      {"EXIT", 5, NONE, NONE, SB(1), REPLY}}},
    {"sources of stores: after 18 cycles, and when the store before has left the port, 40 cycles after it came",
     false,
     1,
     {{"LDC.64 R4, c[0x0][0x210]", 1, 0, NONE, 0, 0},
      {"STG.E [R4.64], R2", 8, NONE, 2, SB(0), 116}, /* 0 + 116 */
      {"STG.E [R4.64+0x4], R3", 1, NONE, 3, 0, 124}, /* 116 + 8 */
      {"MOV R2, 0x1", 1, NONE, NONE, SB(2), 134},    /* 116 + 18 */
      {"MOV R3, 0x1", 1, NONE, NONE, SB(3), 156},    /* max(124 + 18, 116 + 40) */
      {"EXIT", 5, NONE, NONE, 0, 157}}},
    {"the first load of a line of constants, one of the same line, and one of the next",
     false,
     1,
     {{"LDC R2, c[0x0][0x40]", 1, 0, NONE, 0, 0},
      {"LDC R3, c[0x0][0x44]", 1, 1, NONE, SB(0), 116}, /* 0 + 39 + 77 */
      {"LDC R4, c[0x0][0x80]", 1, 2, NONE, SB(1), 155}, /* 116 + 39 */
      {"MOV R5, R4", 1, NONE, NONE, SB(2), 271},        /* 155 + 39 + 77 */
      {"EXIT", 5, NONE, NONE, 0, 272}}},
    {"S2R of another register than the clock",
     false,
     1,
     {{"S2R R2, SR_LANEID", 1, 0, NONE, 0, 0},
      {"MOV R3, R2", 1, NONE, NONE, SB(0), 23}, /* 0 + 23 */
      {"EXIT", 5, NONE, NONE, 0, 24}}},
    {"POPC",
     false,
     1,
     {{"POPC R2, R3", 1, 0, NONE, 0, 0},
      {"MOV R3, R2", 1, NONE, NONE, SB(0), 17}, /* 0 + 17 */
      {"EXIT", 5, NONE, NONE, 0, 18}}},
    {"MATCH.ANY of 32 values",
     false,
     1,
     {{"S2R R2, SR_LANEID", 1, 0, NONE, 0, 0},
      {"MATCH.ANY R3, R2", 1, 1, NONE, SB(0), 23}, /* 0 + 23 */
      {"MOV R4, R3", 1, NONE, NONE, SB(1), 392},   /* 23 + 28 + 31 * 11 */
      {"EXIT", 5, NONE, NONE, 0, 393}}},
    {"a branch to the last instruction of a line of code",
     false,
     1,
     {{"BRA 0x70", 5, NONE, NONE, 0, 0},
      {"NOP", 1, NONE, NONE, 0, NEVER},
      {"NOP", 1, NONE, NONE, 0, NEVER},
      {"NOP", 1, NONE, NONE, 0, NEVER},
      {"NOP", 1, NONE, NONE, 0, NEVER},
      {"NOP", 1, NONE, NONE, 0, NEVER},
      {"NOP", 1, NONE, NONE, 0, NEVER},
      {"EXIT", 5, NONE, NONE, 0, 11}}}, /* 0 + 9 + 2 */
    {"five warps: the last waits for the unit of the first one's LOP3",
     false,
     5,
     {{"VIADD R2, R2, 0x1", 8, NONE, NONE, 0, 0},                  /* at 1, behind that of the first warp */
      {"LOP3.LUT R3, R3, R2, RZ, 0xc0, !PT", 5, NONE, NONE, 0, 9}, /* the first at 8, so not before 8 + 2 */
      {"EXIT", 5, NONE, NONE, 0, 14}}},
    {"five warps: the last waits for nothing",
     false,
     5,
     {{"VIADD R2, R2, 0x1", 8, NONE, NONE, 0, 0},
      {"VIADD R3, R3, 0x1", 5, NONE, NONE, 0, 8}, /* at 1 + 8; the first warp's is at 8 */
      {"EXIT", 5, NONE, NONE, 0, 13}}},
    {"a chain of IMAD.HI: the result comes later than the stall counts say",
     false,
     1,
     {{"IMAD.HI.U32 R4, R4, R3, RZ", 6, NONE, NONE, 0, 0},
      {"IMAD.HI.U32 R4, R4, R3, RZ", 6, NONE, NONE, 0, 9}, /* 0 + 9 */
      {"MOV R5, 0x1", 1, NONE, NONE, 0, 17},               /* 9 + 6 + 2 */
      {"EXIT", 5, NONE, NONE, 0, 18}}},
    {"IMAD.WIDE: its low word and its high one",
     false,
     1,
     {{"IMAD.WIDE.U32 R4, R2, R3, RZ", 1, NONE, NONE, 0, 0},
      {"VIADD R6, R4, 0x1", 1, NONE, NONE, 0, 7}, /* 0 + 7 */
      {"VIADD R7, R5, 0x1", 1, NONE, NONE, 0, 9}, /* 0 + 9 */
      {"EXIT", 5, NONE, NONE, 0, 10}}},
    {"a product that is overwritten is waited for by nobody",
     false,
     1,
     {{"IMAD.HI.U32 R4, R2, R3, RZ", 1, NONE, NONE, 0, 0},
      {"MOV R4, 0x1", 1, NONE, NONE, 0, 3}, /* 0 + 1 + 2 */
      {"VIADD R6, R4, 0x1", 1, NONE, NONE, 0, 4},
      {"EXIT", 5, NONE, NONE, 0, 5}}},
    {"three registers of one bank take three cycles, and issue is two ahead of that",
     false,
     1,
     {{"LOP3.LUT R2, R3, R5, R7, 0x96, !PT", 1, NONE, NONE, 0, 0}, /* read until 3 */
      {"IMAD R4, R3, R5, R7", 1, NONE, NONE, 0, 1},                /* 3 - 2; read until 6 */
      {"LOP3.LUT R6, R3, R5, R8, 0x96, !PT", 1, NONE, NONE, 0, 4}, /* 6 - 2; two odd ones, until 8 */
      {"VIADD R9, R9, 0x1", 1, NONE, NONE, 0, 6},                  /* 8 - 2 */
      {"EXIT", 5, NONE, NONE, 0, 7}}},                             /* 9 - 2 */
    {"registers that are kept aren't read again, whatever is between",
     false,
     1,
     {{"LOP3.LUT R2, R3.reuse, R5.reuse, R7, 0x96, !PT", 1, NONE, NONE, 0, 0}, /* until 3 */
      {"IMAD R4, R3.reuse, R5, R7", 1, NONE, NONE, 0, 1},                      /* one; until 4 */
      {"FADD R10, R11, R12", 1, NONE, NONE, 0, 2},
      {"LOP3.LUT R6, R3, R5, R8, 0x96, !PT", 1, NONE, NONE, 0, 3}, /* R5 was read without a mark; until 5 */
      {"IMAD R4, R3, R5, R7", 1, NONE, NONE, 0, 4},                /* so was R3; until 8 */
      {"VIADD R9, R9, 0x1", 1, NONE, NONE, 0, 6},                  /* 8 - 2 */
      {"EXIT", 5, NONE, NONE, 0, 7}}},
    {"five warps: the last one's fence begins behind the first one's",
     false,
     5,
     {{"MEMBAR.ALL.CTA", 1, NONE, 0, 0, 0}, /* a cycle after the first one's, over at 10; 10 + 8 to 28 */
      {"MEMBAR.ALL.CTA", 1, NONE, 0, SB(0), 27},
      {"EXIT", 5, NONE, NONE, 0, 28}}},
    {"a warp's own fences follow each other",
     false,
     1,
     {{"MEMBAR.ALL.CTA", 1, NONE, 0, 0, 0},
      {"MEMBAR.ALL.CTA", 1, NONE, 0, SB(0), 10},
      {"VIADD R4, R4, 0x3", 1, NONE, NONE, SB(0), 20},
      {"EXIT", 5, NONE, NONE, 0, 21}}},
    {"a load from shared memory stands in line behind a fence",
     false,
     1,
     {{"MEMBAR.ALL.CTA", 1, NONE, 0, 0, 0},
      {"LDS R2, [RZ]", 1, 1, NONE, 0, 1},
      {"MOV R4, R2", 1, NONE, NONE, SB(1), 33}, /* 10 + 23 */
      {"EXIT", 5, NONE, NONE, 0, 34}}},
    {"no encodings: operands are waited for",
     true,
     1,
     {{"MOV R2, 0x1", 0, 0, 0, 0, 0},
      {"MOV R3, 0x1", 0, 0, 0, 0, 1}, /* the next cycle */
      {"MOV R4, R2", 0, 0, 0, 0, 5},  /* 0 + 5 */
      {"EXIT", 0, 0, 0, 0, 6}}},
};

static Program *program_of(const IssueCase *what) {
  g_autoptr(GString) text = g_string_new("\n\tcode for sm_90\n\t.target\tsm_90\n\n\t\tFunction : timed\n");
  for (unsigned i = 0; i < ROWS_MAX && what->row[i].text; i++) {
    const Row *row = &what->row[i];
    uint64_t control = row->stall | row->write << CONTROL_WRITE_SHIFT | row->read << CONTROL_READ_SHIFT |
                       row->wait << CONTROL_WAIT_SHIFT;
    g_string_append_printf(text, "        /*%04x*/  %s ;", 16 * i, row->text);
    if (!what->bare)
      g_string_append_printf(text, "  /* 0x%016x */\n  /* 0x%016" G_GINT64_MODIFIER "x */", 0, control << 41);
    g_string_append_c(text, '\n');
  }
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(McModule) module = mc_listing_parse("timed.sass", text->str, text->len, diag);
  Program *program = module ? mc_lower(module, 90, NULL, NULL, false, diag) : NULL;
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program && !program_kernel(program, 0)->refusal, "%s\n%s", text->str, messages);
  return program;
}

static Machine *machine_of(void) {
  static const char *const settings[][2] = {{"sm.jitter_cycles", "0"},
                                            {"sm.latency.sysreg", "36"},
                                            {"sm.latency.alu", "5"},
                                            {"sm.shared.latency", "23"},
                                            {"sm.encoded.constant", "39"},
                                            {"sm.encoded.sources_shared", "12"},
                                            {"sm.latency.branch_taken", "9"},
                                            {"sm.encoded.yield", "52"},
                                            {"sm.encoded.constant_line", "77"},
                                            {"sm.encoded.special", "23"},
                                            {"sm.encoded.wide_issue", "2"},
                                            {"sm.encoded.wide_high", "9"},
                                            {"sm.encoded.wide_low", "7"},
                                            {"sm.encoded.register_lag", "2"},
                                            {"sm.encoded.fence", "10"},
                                            {"sm.encoded.fence_gap", "8"},
                                            {"sm.barrier.arrive_to_resume", "12"},
                                            {"sm.barrier.arrival_interval", "2"},
                                            {"sm.encoded.sources_global", "18"},
                                            {"memory.port.store_interval", "40"},
                                            {"memory.port.read_ahead", "1"}};
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load("h200", NULL, diag);
  ck_assert_ptr_nonnull(machine);
  for (unsigned i = 0; i < G_N_ELEMENTS(settings); i++)
    ck_assert_msg(machine_set(machine, settings[i][0], settings[i][1], diag), "%s", settings[i][0]);
  return machine;
}

/* Cycles by row. */
typedef struct Times {
  int64_t cycle[ROWS_MAX], reply;
} Times;

static void note(void *user, const ProbePoint *point, uint64_t until) {
  Times *times = user;
  times->cycle[point->inst->address / 16] = (int64_t)point->cycle;
}

static void note_reply(void *user, const ProbePoint *point) {
  Times *times = user;
  times->reply = (int64_t)point->cycle;
}

START_TEST(issues_when_its_control_bits_say) {
  const IssueCase *what = &cases[_i];
  Program *program = program_of(what);
  Machine *machine = machine_of();
  Backing *backing = backing_new();
  Gpu *gpu = gpu_new(machine, backing, 1);
  Times times;
  memset(&times, 0xff, sizeof times);
  Probe probe = {.user = &times, .issued = note, .replied = note_reply};
  gpu_subscribe(gpu, &probe);
  g_autofree char *why = NULL;
  uint64_t buffer = backing_buffer(backing, backing_add(backing, "buffer", 32, NULL))->base;
  LaunchConfig config = {.program = program,
                         .kernel = program_kernel(program, 0),
                         .grid = {1, 1, 1},
                         .block = {32 * what->warps, 1, 1},
                         .shared_bytes = 128,
                         .args = (const uint8_t *)&buffer,
                         .args_bytes = sizeof buffer};
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s", why);
  ck_assert_int_eq(gpu_run(gpu, 100000, 100000), GPU_FINISHED);
  for (unsigned i = 0; i < ROWS_MAX && what->row[i].text; i++) {
    int64_t got = times.cycle[i] < 0 ? NEVER : times.cycle[i] - times.cycle[0];
    if (what->row[i].cycle == REPLY) {
      ck_assert_int_gt(times.reply, times.cycle[0] + 200);
      ck_assert_msg(times.cycle[i] == times.reply, "%s: %s issues in cycle %d, the reply comes in %d", what->name,
                    what->row[i].text, (int)times.cycle[i], (int)times.reply);
      continue;
    }
    ck_assert_msg(got == what->row[i].cycle, "%s: %s issues in cycle %d, not %d", what->name, what->row[i].text,
                  (int)got, what->row[i].cycle);
  }
  gpu_free(gpu);
  backing_free(backing);
  program_free(program);
  machine_free(machine);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("mc_issue");
  TCase *tcase = tcase_create("mc_issue");
  tcase_add_loop_test(tcase, issues_when_its_control_bits_say, 0, G_N_ELEMENTS(cases));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
