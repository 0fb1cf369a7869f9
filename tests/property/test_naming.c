/* Lanes that are left out when it is asked who would change what is waited for (lane_class.h) would have added
 * nothing: of random programs in which everybody waits for ever, the wait graph is the same whether lanes that stand
 * alike are asked together or each for itself. */
#include <glib.h>

#include "sim/core/symbols.h"
#include "sim/detect/naming/waitgraph.h"
#include "tests/property/random_ptx.h"
#include "tests/unit/lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

typedef struct Tally {
  unsigned graphs, edges, to_actors;
  uint64_t steps, steps_of_each;
} Tally;

/* ---- graphs ---- */

static char *node_name(const Node *node) {
  return g_strdup_printf("%d:%u:%u:%" G_GINT64_MODIFIER "x", node->kind, node->view, node->index, node->key);
}

static gint compare_texts(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The edges, sorted; nodes by what they stand for. */
static char *edges_of(const WaitGraph *graph, Tally *tally) {
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    g_autofree char *from = node_name(wait_node(graph, edge->from)), *to = node_name(wait_node(graph, edge->to));
    g_ptr_array_add(lines,
                    g_strdup_printf("%s -> %s kind %d pc %u at %u", from, to, edge->kind, edge->pc, edge->physical));
    tally->edges++;
    tally->to_actors += wait_node(graph, edge->from)->kind == NODE_WORD;
  }
  g_ptr_array_sort(lines, compare_texts);
  g_ptr_array_add(lines, NULL);
  return g_strjoinv("\n", (char **)lines->pdata);
}

/* Fails with the first edge that only one graph has. */
static void check_same(char *const edges[2], const char *text) {
  static const char *const only[] = {"together", "each for itself"};
  if (g_strcmp0(edges[0], edges[1]) == 0)
    return;
  for (int each = 0; each < 2; each++) {
    g_auto(GStrv) lines = g_strsplit(edges[each] ? edges[each] : "", "\n", -1);
    g_auto(GStrv) others = g_strsplit(edges[!each] ? edges[!each] : "", "\n", -1);
    for (char **line = lines; *line; line++)
      UNIT_ASSERT(g_strv_contains((const char *const *)others, *line), "%s, if asked %s only, in\n%.3000s", *line,
                  only[each], text);
  }
}

/* Compares both ways of asking if nobody can finish. */
static void compare(Gpu *gpu, const char *text, Tally *tally) {
  char *edges[2] = {NULL, NULL};
  for (int each = 0; each < 2; each++) {
    Explorer *explorer = explorer_new(gpu);
    if (explorer_prove(explorer) == EXPLORE_STUCK && explorer->views->len) {
      uint64_t before = explorer->steps;
      WaitGraph *graph = each ? wait_graph_new_of_each(explorer) : wait_graph_new(explorer);
      edges[each] = edges_of(graph, tally);
      *(each ? &tally->steps_of_each : &tally->steps) += explorer->steps - before;
      tally->graphs++;
      wait_graph_free(graph);
    }
    explorer_free(explorer);
  }
  check_same(edges, text);
  g_free(edges[0]);
  g_free(edges[1]);
}

static void check_tally(const Tally *tally, unsigned graphs, unsigned to_actors) {
  const char *counts = "%u graphs of %u edges, %u to who would act; %u steps together, %u each for itself";
  ck_assert_msg(tally->graphs >= graphs && tally->to_actors >= to_actors && tally->steps < tally->steps_of_each,
                counts, tally->graphs, tally->edges, tally->to_actors, (unsigned)tally->steps,
                (unsigned)tally->steps_of_each);
}

/* ---- PTX ---- */

typedef struct Shape {
  uint32_t blocks, threads;
} Shape;

static void launch(Gpu *gpu, Program *program, Shape shape, uint64_t words, const uint64_t *symbols) {
  g_autofree char *why = NULL;
  LaunchConfig config = {.program = program,
                         .kernel = program_kernel(program, 0),
                         .grid = {shape.blocks, 1, 1},
                         .block = {shape.threads, 1, 1},
                         .args = (const uint8_t *)&words,
                         .args_bytes = sizeof words,
                         .symbols = symbols};
  bool fine = gpu_add_launch(gpu, &config, &why);
  ck_assert_msg(fine, "%s", why);
}

static void try_ptx(const char *settings, uint64_t seed, Tally *tally) {
  g_autoptr(Diag) diag = diag_new();
  RandomPtx writer = {.heap = seed % 3 ? RANDOM_NO_HEAP : RANDOM_HEAP_FIRST};
  rng_seed(&writer.rng, seed, 0);
  g_autofree char *text = random_ptx_module(&writer, 1);
  PtxTarget target = {
      .capability = 75, .convergence_barriers = strstr(settings, "barrier") != NULL, .max_registers = 255};
  Program *program = ptx_lab_lower_good(text, &target);
  Machine *machine = lab_machine(settings);
  Backing *backing = backing_new();
  guint buffer = backing_add(backing, "words", RANDOM_WORDS, NULL);
  g_autofree uint64_t *symbols = symbols_place(program, backing);
  Gpu *gpu = gpu_new(machine, backing, seed);
  gpu_add_heap(gpu, RANDOM_HEAP_BYTES);
  Shape shape = {1 + random_ptx_pick(&writer, 4), 1 + random_ptx_pick(&writer, 96)};
  launch(gpu, program, shape, backing_buffer(backing, buffer)->base, symbols);
  if (gpu_run(gpu, 20000, 50000000) == GPU_BUDGET)
    compare(gpu, text, tally);
  gpu_free(gpu);
  backing_free(backing);
  program_free(program);
  machine_free(machine);
}

/* ---- SASS ---- */

typedef struct Writer {
  Rng rng;
  GString *text;
  unsigned labels;
} Writer;

static unsigned pick(Writer *writer, unsigned n) { return rng_below(&writer->rng, n); }

G_GNUC_PRINTF(2, 3)
static void add(Writer *writer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_string_append_vprintf(writer->text, format, args);
  va_end(args);
}

/* R3 to R7 and P2 to P4 are values; R1 is the address of the words, R8 becomes that of a word of shared memory, R9 of
 * a word. */
static void write_statement(Writer *writer) {
  static const char *const specials[] = {"SR_Tid_X", "SR_CTAid_X", "SR_LaneId"};
  static const char *const tests[] = {"EQ", "LT", "GE"};
  static const char *const changes[] = {"RED.ADD [R%u], R%u;\n", "ST [R%u], R%u;\n", "ATOM.EXCH R3, [R%u], R%u;\n"};
  unsigned a = 3 + pick(writer, 5), b = 3 + pick(writer, 5), p = 2 + pick(writer, 3), q = 2 + pick(writer, 3);
  switch (pick(writer, 14)) {
  case 0: add(writer, "S2R R%u, %s;\n", a, specials[pick(writer, 3)]); break;
  case 1: add(writer, "LOP.AND R8, R%u, 0x1c;\n", a); break;
  case 2: add(writer, "LOP.AND R9, R%u, 0x1c;\nIADD R9, R9, R1;\n", a); break;
  case 3:
  case 4: add(writer, "LDS R%u, [R8];\n", a); break;
  case 5: add(writer, "STS [R8], R%u;\n", a); break;
  case 6:
    if (pick(writer, 2))
      add(writer, "MOV32I R8, 0x%x;\n", 4 * pick(writer, 2));
    add(writer, "LDSLK P%u, R%u, [R8];\n", p, a);
    break;
  case 7: add(writer, "@P%u STSUL [R8], R%u;\n", p, a); break;
  case 8: add(writer, "LD R%u, [R9];\n", a); break;
  case 9: add(writer, "IADD R%u, R%u, 0x%x;\n", a, b, pick(writer, 5)); break;
  case 10: add(writer, "VOTE.%s P%u, P%u;\n", pick(writer, 2) ? "ANY" : "ALL", p, q); break;
  case 11:
    add(writer, "ISETP.%s.AND P%u, pt, R%u, 0x%x, pt;\n", tests[pick(writer, 3)], p, a, pick(writer, 8));
    break;
  default:
    add(writer, "@%sP%u ", pick(writer, 2) ? "!" : "", p);
    add(writer, changes[pick(writer, 3)], pick(writer, 2) ? 1 : 9, a);
    break;
  }
}

static void write_statements(Writer *writer, unsigned count) {
  while (count-- > 0) {
    if (pick(writer, 6)) {
      write_statement(writer);
      continue;
    }
    unsigned label = writer->labels++;
    add(writer, "@P%u BRA l%u;\n", 2 + pick(writer, 3), label);
    write_statement(writer);
    write_statement(writer);
    add(writer, "l%u: NOP;\n", label);
  }
}

/* One warp of each block, or of one, waits for a word; the others wait for it at a barrier. What lies in shared
 * memory, and whose lock bits are held, differs from block to block. */
static char *random_sass(Writer *writer) {
  writer->text = g_string_new(".shared 64\n");
  add(writer, "S2R R0, SR_Tid_X;\nMOV R1, c[0x0][0x20];\nS2R R2, SR_CTAid_X;\nMOV R9, R1;\n");
  for (unsigned i = 0; i < 4; i++) {
    add(writer, "ISETP.%s.AND P2, pt, R2, 0x%x, pt;\n", pick(writer, 2) ? "EQ" : "GE", pick(writer, 3));
    add(writer, "MOV32I R3, 0x%x;\n@P2 STS [0x%x], R3;\n", pick(writer, 6), 4 * pick(writer, 8));
    if (pick(writer, 2))
      add(writer, "@P2 LDSLK P3, R4, [0x%x];\n", 4 * pick(writer, 4));
  }
  write_statements(writer, pick(writer, 4));
  add(writer,
      "ISETP.GE.AND P0, pt, R0, 0x20, pt;\n@P0 BRA meet;\nwait: LD.CV R5, [R1];\nISETP.EQ.AND P1, pt, R5, RZ, pt;\n"
      "@P1 BRA wait;\nmeet: BAR.SYNC 0x0;\n");
  if (pick(writer, 3) == 0)
    add(writer, "CAL inside;\n");
  write_statements(writer, 2 + pick(writer, 8));
  if (pick(writer, 2))
    add(writer, "BAR.SYNC 0x1;\n");
  write_statements(writer, pick(writer, 6));
  add(writer, "EXIT;\ninside: NOP;\n");
  write_statements(writer, 1 + pick(writer, 3));
  add(writer, "RET;\n");
  return g_string_free(g_steal_pointer(&writer->text), FALSE);
}

static void try_sass(const char *settings, uint64_t seed, Tally *tally) {
  Writer writer = {0};
  rng_seed(&writer.rng, seed, 0);
  g_autofree char *text = random_sass(&writer);
  g_autoptr(Lab) lab = lab_new_seeded(settings, text, seed);
  lab_buffer(lab, 16);
  lab_launch(lab, 1 + pick(&writer, 4), 32 + pick(&writer, 96));
  if (gpu_run(lab->gpu, 6000, 50000000) == GPU_BUDGET)
    compare(lab->gpu, text, tally);
}

/* ---- tests ---- */

enum { PROGRAMS = 30 };

static const char *const settings[] = {
    "sm.policy=random sm.jitter_cycles=9 gpu.sms=2",
    "sm.policy=greedy-then-oldest sm.simt_stack.branch_order=fallthrough-first",
    "sm.policy=random sm.jitter_cycles=9 sm.convergence=barrier gpu.sms=3",
};

START_TEST(lanes_left_out_add_nothing) {
  Tally tally = {0};
  for (unsigned i = 0; i < PROGRAMS; i++)
    try_ptx(settings[_i], 1000 * (uint64_t)_i + i, &tally);
  check_tally(&tally, 6, 2);
}
END_TEST

START_TEST(lanes_with_lock_bits_left_out_add_nothing) {
  Tally tally = {0};
  for (unsigned i = 0; i < PROGRAMS; i++)
    try_sass(settings[_i], 1000 * (uint64_t)_i + i, &tally);
  check_tally(&tally, 20, 100);
}
END_TEST

/* Warp 0 of each block waits for a word, the others for it at a barrier. Only in block 1 one of them then finds a
 * lock bit free. */
START_TEST(lock_bit_of_another_block) {
  static const char text[] =
      ".shared 64\nS2R R0, SR_Tid_X;\nMOV R1, c[0x0][0x20];\nS2R R2, SR_CTAid_X;\nISETP.EQ.AND P2, pt, R2, RZ, pt;\n"
      "@P2 LDSLK P3, RZ, [RZ];\nISETP.GE.AND P0, pt, R0, 0x20, pt;\n@P0 BRA meet;\n"
      "wait: LD.CV R5, [R1];\nISETP.EQ.AND P1, pt, R5, RZ, pt;\n@P1 BRA wait;\nmeet: BAR.SYNC 0x0;\n"
      "LDSLK P3, RZ, [RZ];\n@P3 ST [R1], R1;\nEXIT;\n";
  Tally tally = {0};
  g_autoptr(Lab) lab = lab_new("gpu.sms=2", text);
  lab_buffer(lab, 16);
  lab_launch(lab, 2, 64);
  ck_assert_int_eq(gpu_run(lab->gpu, 6000, 50000000), GPU_BUDGET);
  compare(lab->gpu, text, &tally);
  ck_assert_uint_eq(tally.graphs, 2);
  ck_assert_uint_eq(tally.to_actors, 2 * 32);
}
END_TEST

/* The graphs of kernel `text` once it has issued `instructions`, on words of zeros. */
static Tally compare_after(const char *text, const char *settings, Shape shape, uint64_t instructions) {
  PtxTarget target = {.capability = 75, .convergence_barriers = true, .max_registers = 255};
  Program *program = ptx_lab_lower_good(text, &target);
  Machine *machine = lab_machine(settings);
  Backing *backing = backing_new();
  uint64_t words = backing_buffer(backing, backing_add(backing, "words", 256, NULL))->base;
  Gpu *gpu = gpu_new(machine, backing, 0);
  Tally tally = {0};
  launch(gpu, program, shape, words, NULL);
  ck_assert_int_eq(gpu_run(gpu, instructions, 50000000), GPU_BUDGET);
  compare(gpu, text, &tally);
  gpu_free(gpu);
  backing_free(backing);
  program_free(program);
  machine_free(machine);
  return tally;
}

/* Warps 2 and 3 of block 0 are still to add to a word of shared memory, so its range is known; in block 1 it lies
 * beyond that. (Warp 3 of block 1 would change the word whatever is found.) */
START_TEST(range_of_another_block) {
  static const char text[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 words)\n{\n.reg .pred %p<3>;\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd<3>;\n.shared .align 4 .b8 both[4];\nld.param.u64 %rd1, [words];\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, 0;\n"
      "setp.eq.u32 %p0, %r2, 0;\n@%p0 bra first;\nst.volatile.shared.u32 [both], 100;\n"
      "first: setp.lt.u32 %p1, %r1, 64;\n@%p1 bra added;\n@!%p0 bra added;\n"
      "later: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 200;\n@%p2 bra later;\nred.shared.add.u32 [both], 1;\n"
      "added: setp.ge.u32 %p1, %r1, 32;\n@!%p1 bra wait;\nsetp.lt.u32 %p1, %r1, 96;\n@%p1 bra meet;\n@%p0 bra meet;\n"
      "bar.sync 1, 64;\nst.volatile.global.u32 [%rd1], 1;\n"
      "wait: ld.volatile.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra wait;\n"
      "meet: bar.sync 0;\nld.volatile.shared.u32 %r5, [both];\nsetp.lt.u32 %p1, %r5, 100;\n@%p1 bra done;\n"
      "st.volatile.global.u32 [%rd1], 1;\ndone: ret;\n}\n";
  Tally tally = compare_after(text, "gpu.sms=2 sm.convergence=barrier", (Shape){2, 128}, 400);
  ck_assert_uint_eq(tally.graphs, 2);
  ck_assert_uint_eq(tally.to_actors, 2 * (64 + 32));
}
END_TEST

/* All threads come to a count in shared memory that expects one more, and have something of their own to store behind
 * it. */
START_TEST(a_count_that_all_wait_for) {
  static const char text[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 words)\n{\n.reg .pred %p<3>;\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.shared .align 4 .b8 count[4];\nld.param.u64 %rd1, [words];\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r3, 0;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra meet;\nst.volatile.shared.u32 [count], 0;\nmeet: bar.sync 0;\n"
      "again: st.global.u32 [%rd3], %r3;\natom.shared.add.u32 %r4, [count], 1;\n"
      "wait: ld.volatile.shared.u32 %r4, [count];\nsetp.lt.u32 %p1, %r4, 257;\n@%p1 bra wait;\n"
      "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 4;\n@%p2 bra again;\nret;\n}\n";
  Tally tally = compare_after(text, "sm.convergence=barrier", (Shape){1, 256}, 6000);
  ck_assert_uint_eq(tally.graphs, 2);
  UNIT_ASSERT(tally.steps * 3 < tally.steps_of_each, "%u steps together, %u each for itself", (unsigned)tally.steps,
              (unsigned)tally.steps_of_each);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("naming");
  TCase *tcase = tcase_create("naming");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, lanes_left_out_add_nothing, 0, G_N_ELEMENTS(settings));
  tcase_add_test(tcase, lock_bit_of_another_block);
  tcase_add_test(tcase, range_of_another_block);
  tcase_add_test(tcase, a_count_that_all_wait_for);
  tcase_add_loop_test(tcase, lanes_with_lock_bits_left_out_add_nothing, 0, 2);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
