#include <string.h>

#include "sim/core/gpu.h"
#include "sim/report/draw_rows.h"
#include "sim/report/draw_svg.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define HEAD ".target sm_20\n.kernel k\n.shared 64\n"
/* One lane takes the lock bit, and waits behind the loop for the others, which want it. */
static const char hangs[] = HEAD "MOV R0, RZ;\nwait: LDSLK P0, R2, [R0];\n@!P0 BRA wait;\nIADD R2, R2, 0x1;\n"
                                 "STSUL [R0], R2;\nEXIT;\n";
/* The same, released in the loop. */
static const char lives[] = HEAD "MOV R0, RZ;\nwait: LDSLK P0, R2, [R0];\n@P0 IADD R2, R2, 0x1;\n"
                                 "@P0 STSUL [R0], R2;\n@!P0 BRA wait;\nEXIT;\n";
/* Warp 0 waits at the barrier for warp 1, which counts. Then all load. */
static const char meets[] = HEAD "S2R R0, SR_Tid_X;\nSHR.U32 R1, R0, 0x5;\nIMUL R2, R1, 0x20;\n"
                                 "count: IADD R2, R2, -0x1;\nISETP.GT.AND P0, pt, R2, RZ, pt;\n@P0 BRA count;\n"
                                 "BAR.RED.POPC RZ, RZ;\nMOV R4, c[0x0][0x20];\nLD.CV R3, [R4];\nIADD R3, R3, R3;\n"
                                 "EXIT;\n";
/* A loop over an array isn't spinning, though each round loads, and changes nothing. */
static const char sums[] =
    HEAD "MOV R4, c[0x0][0x20];\nMOV32I R2, 0x8;\nMOV R5, RZ;\nnext: LD.CV R3, [R4];\n"
         "IADD R5, R5, R3;\nIADD R2, R2, -0x1;\nISETP.GT.AND P0, pt, R2, RZ, pt;\n@P0 BRA next;\n"
         "EXIT;\n";

typedef struct Run {
  Program *program;
  Machine *machine;
  DrawRecord *record;
  uint64_t cycles, instructions, lanes;
  bool ended;
} Run;

static void run_init(Run *run, const char *text, uint32_t threads) {
  Backing *backing = backing_new();
  *run = (Run){.program = lab_parse(text), .machine = machine_new_default(), .record = draw_record_new()};
  guint buffer = backing_add(backing, "data", 8, NULL);
  Gpu *gpu = gpu_new(run->machine, backing, 1);
  LaunchConfig config = {.program = run->program,
                         .kernel = program_kernel(run->program, 0),
                         .grid = {1, 1, 1},
                         .block = {threads, 1, 1}};
  uint32_t argument = (uint32_t)backing_buffer(backing, buffer)->base;
  config.args = (const uint8_t *)&argument;
  config.args_bytes = sizeof argument;
  g_autofree char *why = NULL;
  gpu_subscribe(gpu, draw_record_probe(run->record));
  ck_assert(gpu_add_launch(gpu, &config, &why));
  run->ended = gpu_run(gpu, UINT64_MAX, 20000) == GPU_FINISHED;
  gpu_collect(gpu);
  run->cycles = run->ended ? gpu->end_cycle : gpu->cycle;
  run->instructions = gpu->counters.warp_instructions;
  run->lanes = gpu->counters.lane_instructions;
  gpu_free(gpu);
  backing_free(backing);
}

static void run_clear(Run *run) {
  draw_record_free(run->record);
  program_free(run->program);
  machine_free(run->machine);
}

static Drawing *drawing_of(const Run *run, DrawRowsKind rows) {
  g_autoptr(Diag) diag = diag_new();
  DrawOptions options = {.rows = rows, .cycles = run->cycles, .ended = run->ended};
  Drawing *drawing = drawing_new(run->record, &options, diag);
  ck_assert_msg(drawing, "%s", diag_render(diag));
  return drawing;
}

static const DrawRow *row_of(const Drawing *drawing, guint row) { return g_ptr_array_index(drawing->rows, row); }

/* Cycles of a row in that state. */
static uint64_t cycles_in(const DrawRow *row, DrawState state) {
  uint64_t cycles = 0;
  for (guint i = 0; i < row->spans->len; i++) {
    const DrawPiece *piece = &g_array_index(row->spans, DrawPiece, i);
    cycles += piece->state == state ? piece->to - piece->from : 0;
  }
  return cycles;
}

static DrawState last_state(const DrawRow *row) {
  return g_array_index(row->spans, DrawPiece, row->spans->len - 1).state;
}

static void check_cover(const Drawing *drawing) {
  for (guint i = 0; i < drawing->rows->len; i++) {
    const DrawRow *row = row_of(drawing, i);
    uint64_t at = drawing->from;
    for (guint k = 0; k < row->spans->len; k++) {
      const DrawPiece *piece = &g_array_index(row->spans, DrawPiece, k);
      ck_assert_uint_eq(piece->from, at);
      ck_assert_uint_gt(piece->to, at);
      at = piece->to;
    }
    ck_assert_uint_eq(at, drawing->to);
  }
}

START_TEST(rows_cover_the_run_and_steps_are_its_instructions) {
  static const char *const texts[] = {hangs, lives, meets, sums};
  for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
    Run run;
    run_init(&run, texts[i], 64);
    for (DrawRowsKind rows = DRAW_ROWS_LANES; rows <= DRAW_ROWS_WARPS; rows++) {
      g_autoptr(Drawing) drawing = drawing_of(&run, rows);
      ck_assert_uint_eq(drawing->rows->len, rows == DRAW_ROWS_LANES ? 64 : 2);
      check_cover(drawing);
    }
    uint64_t steps = 0, lanes = 0;
    const GPtrArray *warps = draw_record_warps(run.record);
    for (guint k = 0; k < warps->len; k++) {
      const GArray *list = ((const DrawWarp *)g_ptr_array_index(warps, k))->steps;
      steps += list->len;
      for (guint j = 0; j < list->len; j++)
        lanes += (uint64_t)__builtin_popcount(g_array_index(list, DrawStep, j).lanes);
    }
    ck_assert_uint_eq(steps, run.instructions);
    ck_assert_uint_eq(lanes, run.lanes);
    run_clear(&run);
  }
}
END_TEST

START_TEST(a_lock_that_hangs_in_a_warp) {
  Run run;
  run_init(&run, hangs, 32);
  ck_assert(!run.ended);
  g_autoptr(Drawing) drawing = drawing_of(&run, DRAW_ROWS_LANES);
  ck_assert(drawing->cut);
  ck_assert_uint_lt(drawing->to, 1000);
  guint holders = 0;
  for (guint i = 0; i < 32; i++) {
    const DrawRow *row = row_of(drawing, i);
    bool holds = row->holds->len != 0;
    holders += holds;
    ck_assert_int_eq(last_state(row), holds ? DRAW_RECONV : DRAW_SPIN);
    ck_assert(!holds || g_array_index(row->holds, DrawSpan, 0).to == drawing->to);
    ck_assert_int_eq(row->tries->len > 2, !holds);
  }
  ck_assert_uint_eq(holders, 1);
  run_clear(&run);
}
END_TEST

START_TEST(its_live_twin) {
  Run run;
  run_init(&run, lives, 32);
  ck_assert(run.ended);
  g_autoptr(Drawing) drawing = drawing_of(&run, DRAW_ROWS_LANES);
  ck_assert(!drawing->cut);
  uint64_t end = 0;
  for (guint i = 0; i < 32; i++) {
    const DrawRow *row = row_of(drawing, i);
    ck_assert_uint_eq(row->holds->len, 1); /* each once, one after the other */
    const DrawSpan *hold = &g_array_index(row->holds, DrawSpan, 0);
    ck_assert_str_eq(draw_record_lock(drawing->record, hold->place), "lock bit 0");
    ck_assert_uint_ge(hold->from, end);
    end = hold->to;
    ck_assert_int_eq(last_state(row), DRAW_ACTIVE); /* all exit together */
    ck_assert_uint_eq(row->tries->len, i);          /* lane i fails i times */
  }
  run_clear(&run);
}
END_TEST

START_TEST(a_block_barrier_and_memory) {
  Run run;
  run_init(&run, meets, 64);
  g_autoptr(Drawing) drawing = drawing_of(&run, DRAW_ROWS_WARPS);
  ck_assert_uint_gt(cycles_in(row_of(drawing, 0), DRAW_BARRIER), 500); /* 31 rounds of three instructions */
  ck_assert_uint_lt(cycles_in(row_of(drawing, 1), DRAW_BARRIER), 100);
  for (guint i = 0; i < 2; i++) {
    uint64_t memory = cycles_in(row_of(drawing, i), DRAW_MEMORY);
    ck_assert_uint_ge(memory, run.machine->memory.latency);
    ck_assert_uint_lt(memory, run.machine->memory.latency + 20);
    ck_assert_uint_eq(cycles_in(row_of(drawing, i), DRAW_SPIN), 0);
  }
  run_clear(&run);
}
END_TEST

START_TEST(a_loop_that_gets_on_does_not_spin) {
  Run run;
  run_init(&run, sums, 32);
  g_autoptr(Drawing) drawing = drawing_of(&run, DRAW_ROWS_WARPS);
  ck_assert_uint_eq(cycles_in(row_of(drawing, 0), DRAW_SPIN), 0);
  ck_assert_uint_ge(cycles_in(row_of(drawing, 0), DRAW_MEMORY), 8 * run.machine->memory.latency);
  run_clear(&run);
}
END_TEST

START_TEST(pictures_that_cannot_be_read) {
  Run run;
  run_init(&run, lives, 96);
  g_autoptr(Diag) diag = diag_new();
  DrawOptions options = {.rows = DRAW_ROWS_LANES, .cycles = run.cycles, .ended = true};
  ck_assert_ptr_null(drawing_new(run.record, &options, diag));
  g_autofree char *text = diag_render(diag);
  ck_assert_ptr_nonnull(strstr(text, "96 lanes"));
  ck_assert_ptr_nonnull(strstr(text, "--warps"));
  options.rows = DRAW_ROWS_AUTO;
  g_autoptr(Drawing) drawing = drawing_new(run.record, &options, diag);
  ck_assert_uint_eq(drawing->rows->len, 3);
  run_clear(&run);
}
END_TEST

static void take_element(GMarkupParseContext *context, const char *name, const char **keys, const char **values,
                         gpointer count, GError **error) {
  (void)context, (void)keys, (void)values, (void)error;
  *(guint *)count += strcmp(name, "rect") == 0;
}

/* Well-formed, also with names that no XML takes, and the same each time. */
START_TEST(is_xml) {
  static const GMarkupParser parser = {.start_element = take_element};
  Run run;
  run_init(&run, lives, 32);
  g_autoptr(Drawing) drawing = drawing_of(&run, DRAW_ROWS_LANES);
  RunResult result = {.scenario = "<&\033[31m\xff", .machine = "\"gtx\"", .verdict = VERDICT_COMPLETED};
  result.findings = g_ptr_array_new();
  g_autofree char *svg = draw_svg(drawing, &result), *again = draw_svg(drawing, &result);
  guint rects = 0;
  GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &rects, NULL);
  g_autoptr(GError) error = NULL;
  ck_assert_msg(g_markup_parse_context_parse(context, svg, -1, &error), "%s", error ? error->message : "");
  ck_assert(g_markup_parse_context_end_parse(context, &error));
  ck_assert_str_eq(svg, again);
  ck_assert_uint_gt(rects, 32 * 3);
  ck_assert_ptr_null(strchr(svg, '\033'));
  ck_assert_ptr_nonnull(strstr(svg, "width=\"1600\""));
  g_markup_parse_context_free(context);
  g_ptr_array_unref(result.findings);
  run_clear(&run);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("draw");
  TCase *tcase = tcase_create("draw");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, rows_cover_the_run_and_steps_are_its_instructions);
  tcase_add_test(tcase, a_lock_that_hangs_in_a_warp);
  tcase_add_test(tcase, its_live_twin);
  tcase_add_test(tcase, a_block_barrier_and_memory);
  tcase_add_test(tcase, a_loop_that_gets_on_does_not_spin);
  tcase_add_test(tcase, pictures_that_cannot_be_read);
  tcase_add_test(tcase, is_xml);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
