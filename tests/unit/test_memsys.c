/* Plain global memory: what a warp's access touches, and how programs wait for it. tests/memory/server.mem has the
 * server alone. */
#include <glib.h>
#include <stdlib.h>

#include "sim/memory/memsys.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define MEMORY "memory.latency=600 memory.bytes_per_cycle=64 memory.segment=128 memory.atomic_interval=18 "

typedef struct Bench {
  Machine *machine;
  Backing *backing;
  Counters counters;
  MemSys *memsys;
  uint64_t reply;
} Bench;

static void performed(void *user, MemRequest *request, uint32_t lanes, uint64_t time) {
  (void)user, (void)request, (void)lanes, (void)time;
}

static void answered(void *user, MemRequest *request, uint64_t time) {
  (void)request;
  ((Bench *)user)->reply = time;
}

static void bench_init(Bench *bench, const char *settings) {
  *bench = (Bench){.machine = lab_machine(settings), .backing = backing_new()};
  backing_add(bench->backing, "a", 4096, NULL);
  backing_add(bench->backing, "b", 4096, NULL);
  MemClient client = {.user = bench, .perform = performed, .reply = answered};
  bench->memsys = memsys_new(bench->machine, 1, bench->backing, &client, &bench->counters);
}

static void bench_clear(Bench *bench) {
  memsys_free(bench->memsys);
  backing_free(bench->backing);
  machine_free(bench->machine);
}

/* Lane l accesses byte `start + l % count * step` of buffer a. */
static uint64_t submit(Bench *bench, MemKind kind, uint32_t mask, uint32_t bytes, uint32_t start, uint32_t step,
                       uint32_t count, uint64_t now) {
  MemRequest request = {.kind = kind, .mask = mask, .bytes = bytes};
  for (uint32_t lane = 0; lane < 32; lane++)
    request.address[lane] = mask >> lane & 1 ? BACKING_FIRST_ADDRESS + start + lane % count * step : 0;
  memsys_goes_on(bench->memsys, &request, now, 0);
  memsys_send(bench->memsys, &request, now, &bench->counters);
  memsys_run(bench->memsys, UINT64_MAX);
  return bench->reply;
}

enum { ALL = -1 };

typedef struct Coalescing {
  const char *what;
  uint32_t mask, bytes, start, step, count, segments;
} Coalescing;

/* clang-format off */
static const Coalescing coalescings[] = {
    {"consecutive words", ALL, 4, 0, 4, 32, 1},
    {"consecutive words from the middle of a segment", ALL, 4, 64, 4, 32, 2},
    {"consecutive words from the last of a segment", ALL, 4, 124, 4, 32, 2},
    {"one word", ALL, 4, 8, 0, 1, 1},
    {"every second word", ALL, 4, 0, 8, 32, 2},
    {"a word in each segment", ALL, 4, 0, 128, 32, 32},
    {"half of the lanes", 0xffff, 4, 0, 128, 32, 16},
    {"two segments in turn", ALL, 4, 0, 128, 2, 2},
    {"bytes", ALL, 1, 0, 1, 32, 1},
    {"64 bits", ALL, 8, 0, 8, 32, 2},
    {"128 bits", ALL, 16, 0, 16, 32, 4},
    {"one lane, 128 bits", 4, 16, 0, 16, 32, 1},
};
/* clang-format on */

/* The last segment's service starts after the others, 2 cycles each (128 bytes at 64 a cycle). */
START_TEST(moves_the_segments_that_lanes_touch) {
  const Coalescing *c = &coalescings[_i];
  Bench bench;
  bench_init(&bench, MEMORY);
  uint64_t ready = submit(&bench, MEM_LOAD, c->mask, c->bytes, c->start, c->step, c->count, 1000);
  ck_assert_msg(bench.counters.global_segments == c->segments && bench.counters.global_accesses == 1,
                "%s: %u segments", c->what, (unsigned)bench.counters.global_segments);
  ck_assert_msg(ready == 1600 + (c->segments - 1) * 2, "%s: ready at %d", c->what, (int)ready);
  bench_clear(&bench);
}
END_TEST

/* ---- through programs ---- */

#define TIMES MEMORY "sm.issue_interval=2 sm.latency.alu=18 sm.latency.sysreg=18 "

START_TEST(programs_wait_for_results) {
  g_autoptr(Lab) lab =
      lab_new(TIMES, "MOV R0, c[0x0][0x20]; LD R1, [R0]; NOP; IADD R2, R1, 1; ATOM.ADD R3, [R0], R2; MOV R4, R3; "
                     "ST [R0], R4; NOP; EXIT");
  uint32_t *data = lab_buffer(lab, 4);
  data[0] = 5;
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  static const uint64_t cycles[] = {0, 18, 20, 618, 636, 636 + 600 + 31 * 18, 1812, 1814};
  for (unsigned pc = 0; pc < G_N_ELEMENTS(cycles); pc++)
    ck_assert_msg(lab_cycle(lab, 0, pc, 0) == cycles[pc], "instruction %u at %d", pc, (int)lab_cycle(lab, 0, pc, 0));
  ck_assert_uint_eq(data[0], 5 + 31 * 6); /* the last lane stores what it found before its own addition */
}
END_TEST

/* .GL and .SYS wait until the warp's stores are performed, .CTA doesn't. */
START_TEST(fences_wait_for_stores) {
  static const struct {
    const char *scope;
    uint64_t next;
  } fences[] = {{"CTA", 22}, {"GL", 618}, {"SYS", 618}};
  for (unsigned i = 0; i < G_N_ELEMENTS(fences); i++) {
    g_autofree char *text =
        g_strdup_printf("MOV R0, c[0x0][0x20]; ST [R0], R0; MEMBAR.%s; NOP; EXIT", fences[i].scope);
    g_autoptr(Lab) lab = lab_new(TIMES, text);
    lab_buffer(lab, 4);
    lab_launch(lab, 1, 1);
    lab_finish(lab);
    ck_assert_uint_eq(lab_cycle(lab, 0, 1, 0), 18);
    ck_assert_uint_eq(lab_cycle(lab, 0, 2, 0), 20);
    ck_assert_msg(lab_cycle(lab, 0, 3, 0) == fences[i].next, ".%s: %d", fences[i].scope,
                  (int)lab_cycle(lab, 0, 3, 0));
  }
}
END_TEST

/* The chip has one bandwidth: two SMs get half of it each. */
START_TEST(sms_share_the_bandwidth) {
  uint64_t end[2];
  for (unsigned sms = 1; sms <= 2; sms++) {
    g_autofree char *settings = g_strdup_printf(TIMES "gpu.sms=%u memory.bytes_per_cycle=4", sms);
    g_autoptr(Lab) lab =
        lab_new(settings, "MOV R0, c[0x0][0x20]; LD R1, [R0]; LD R2, [R0]; LD R3, [R0]; LD R4, [R0]; LD R5, [R0]; "
                          "IADD R6, R1, R5; EXIT");
    lab_buffer(lab, 4);
    lab_launch(lab, 2, 32);
    lab_finish(lab);
    end[sms - 1] = lab->gpu->end_cycle;
    ck_assert_uint_eq(lab->gpu->counters.global_segments, 10);
  }
  ck_assert_uint_ge(end[0], 600 + 9 * 32);
  ck_assert_uint_ge(end[1], 600 + 9 * 32);
  ck_assert_uint_le(end[1], end[0]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("memsys");
  TCase *tcase = tcase_create("memsys");
  tcase_add_loop_test(tcase, moves_the_segments_that_lanes_touch, 0, G_N_ELEMENTS(coalescings));
  tcase_add_test(tcase, programs_wait_for_results);
  tcase_add_test(tcase, fences_wait_for_stores);
  tcase_add_test(tcase, sms_share_the_bandwidth);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
