/* The steps that doc/memory.md shows are those of a run: the way of each part of an access, in whole cycles. */
#include <string.h>

#include "isa/disasm.h"
#include "isa/sass/sass.h"
#include "sim/core/gpu.h"
#include "sim/memory/mem_trace.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

static GString *told; /* the follower of a memory system gets the Gpu's client, not ours */

static void tell_step(const MemTrace *trace, TraceStep step, const char *what) {
  if (trace->step[step])
    g_string_append_printf(told, "  %5" G_GUINT64_FORMAT "  %s\n", trace->step[step] / 1000, what);
}

static void follow(void *user, const MemTrace *trace) {
  static const char *const kinds[] = {[MEM_LOAD] = "load", [MEM_STORE] = "store", [MEM_ATOMIC] = "atomic"};
  g_string_append_printf(told, "%s of SM %u, slice %u\n", kinds[trace->request->kind], trace->request->sm,
                         trace->slice);
  tell_step(trace, TRACE_SENT, "sent by the warp");
  tell_step(trace, TRACE_LEFT, "left the port");
  tell_step(trace, TRACE_ARRIVED, "arrived at the slice");
  tell_step(trace, TRACE_SERVED, "served by the slice");
  tell_step(trace, TRACE_FILLED, "filled from DRAM");
  tell_step(trace, TRACE_ENTERED, "entered the atomic unit");
  tell_step(trace, TRACE_TURN, "turn in the unit begins");
  tell_step(trace, TRACE_TURN_OVER, "turn in the unit ends");
  tell_step(trace, TRACE_PERFORMED, "performed");
  tell_step(trace, TRACE_REPLIED, "reply at the SM");
}

static char *run(const char *name, uint32_t blocks, uint32_t threads) {
  g_autofree char *path = g_strdup_printf("%s/traces/steps/%s.sass", g_getenv("SRCDIR"), name), *text = NULL,
                  *why = NULL;
  ck_assert(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load("gtx580", NULL, diag);
  Program *program = lab_parse(text);
  Backing *backing = backing_new();
  Gpu *gpu = gpu_new(machine, backing, 1);
  uint32_t address = (uint32_t)backing_buffer(backing, backing_add(backing, "line", 32, NULL))->base;
  LaunchConfig config = {.program = program,
                         .kernel = program_kernel(program, 0),
                         .grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .args = (const uint8_t *)&address,
                         .args_bytes = 4};
  ck_assert(gpu_add_launch(gpu, &config, &why));
  told = g_string_new(NULL);
  memsys_follow(gpu->memsys, follow);
  ck_assert_int_eq(gpu_run(gpu, 1000000, 1000000), GPU_FINISHED);
  gpu_free(gpu);
  backing_free(backing);
  program_free(program);
  machine_free(machine);
  return g_string_free(told, FALSE);
}

START_TEST(the_page_has_the_steps_of_a_run) {
  static const struct {
    const char *name;
    uint32_t blocks, threads;
  } runs[] = {{"load", 1, 32}, {"atomic", 5, 1}};
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "doc", "memory.md", NULL), *page = NULL;
  ck_assert(g_file_get_contents(path, &page, NULL, NULL));
  g_autofree char *steps = run(runs[_i].name, runs[_i].blocks, runs[_i].threads);
  ck_assert_msg(strstr(page, steps), "doc/memory.md hasn't this:\n%s", steps);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("memory_page");
  TCase *tcase = tcase_create("memory_page");
  tcase_add_loop_test(tcase, the_page_has_the_steps_of_a_run, 0, 2);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
