/* A proof that nobody can finish any more (stillness.h, closure.h) is true: random programs in which warps take turns
 * at a few words are watched at random moments, with and without noise. Where that proves something the program runs
 * on for long, and nobody finishes. Most of them finish some time: by a count of rounds, by what somebody stores
 * then, by a value that comes up seldom, by the clock. CLOSURE_PROGRAMS: so many for each machine. */
#include <glib.h>
#include <stdlib.h>

#include "sim/detect/proof/closure.h"
#include "sim/detect/proof/stillness.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

enum { PROGRAMS = 25, WORDS = 256, SHARED_BYTES = 16, WINDOWS = 4, RUN_ON = 150000 };

/* R0: the buffer; R1: 1; R2: the lane; R9: who the warp is; R3 to R7, P1 and P2: values; R10: rounds; R11: for how
 * long its warp sleeps. */
typedef struct Writer {
  Rng rng;
  GString *text;
  unsigned labels;
  bool rings;    /* one of the loops is a bell: */
  unsigned bell; /* a word that has another value for a moment, now and then */
} Writer;

typedef struct Tally {
  unsigned still, closed, finished, open;
} Tally;

static unsigned pick(Writer *writer, unsigned n) { return rng_below(&writer->rng, n); }

G_GNUC_PRINTF(2, 3)
static void add(Writer *writer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_string_append_vprintf(writer->text, format, args);
  va_end(args);
}

/* Words of two lines. */
static unsigned place(Writer *writer) { return 4 * pick(writer, 3) + (pick(writer, 4) ? 0 : 0x200); }

static void write_load(Writer *writer, unsigned to) {
  static const char *const loads[] = {"LD.CV", "LD.CV", "LD.CA", "LD.CG"};
  if (pick(writer, 3) == 0)
    add(writer, "LDS R%u, [0x%x];\n", to, 4 * pick(writer, 3));
  else if (pick(writer, 6) == 0)
    add(writer, "LD.64.CV R6, [R0+0x%x];\n", 8 * pick(writer, 2));
  else
    add(writer, "%s R%u, [R0+0x%x];\n", loads[pick(writer, 4)], to, place(writer));
}

static void write_change(Writer *writer, unsigned from) {
  static const char *const changes[] = {"ATOM.CAS R%u, [R0+0x%x], RZ, R1;\n", "ATOM.EXCH R%u, [R0+0x%x], R1;\n",
                                        "ATOM.XOR R%u, [R0+0x%x], R1;\n"};
  static const char *const quiet[] = {"RED.EXCH", "RED.XOR", "RED.AND", "RED.MAX", "ST.WT", "ST"};
  static const char *const what[] = {"R1", "RZ", "R3", "R4"};
  switch (pick(writer, 4)) {
  case 0: add(writer, changes[pick(writer, 3)], from, place(writer)); break;
  case 1: add(writer, "STS [0x%x], %s;\n", 4 * pick(writer, 3), what[pick(writer, 4)]); break;
  default: add(writer, "%s [R0+0x%x], %s;\n", quiet[pick(writer, 6)], place(writer), what[pick(writer, 4)]); break;
  }
}

static void write_guard(Writer *writer) { add(writer, "@%sP%u ", pick(writer, 2) ? "!" : "", 1 + pick(writer, 2)); }

static void write_statement(Writer *writer) {
  static const char *const specials[] = {"SR_Tid_X", "SR_CTAid_X", "SR_LaneId"};
  static const char *const votes[] = {"ANY", "ALL", "EQ"};
  static const char *const tests[] = {"EQ", "NE", "LT"};
  unsigned a = 3 + pick(writer, 3), b = 3 + pick(writer, 5), p = 1 + pick(writer, 2);
  switch (pick(writer, 16)) {
  case 0: add(writer, "LOP.XOR R%u, R%u, 1;\n", a, b); break;
  case 1: add(writer, "LOP.AND R%u, R%u, %u;\n", a, b, 1 + pick(writer, 3)); break;
  case 2: add(writer, "MOV R%u, RZ;\n", a); break;
  case 3: add(writer, "VOTE.%s R%u, P%u, P%u;\n", votes[pick(writer, 3)], b, p, 1 + pick(writer, 2)); break;
  case 4: add(writer, "MEMBAR.GL;\n"); break;
  case 5:
    if (pick(writer, 2))
      add(writer, "MOV RZ, 0x%x;\n", 1u << (pick(writer, 5) + 6));
    else
      add(writer, "MOV RZ, R11;\n");
    break;
  case 6:
    if (pick(writer, 3) == 0)
      add(writer, "S2R R%u, %s;\nLOP.AND R%u, R%u, 1;\n", a, specials[pick(writer, 3)], a, a);
    break;
  case 7: add(writer, "ISETP.EQ.AND P%u, PT, R2, %u, PT;\n", p, pick(writer, 3)); break;
  case 8:
  case 9:
  case 10: add(writer, "ISETP.%s.AND P%u, PT, R%u, %u, PT;\n", tests[pick(writer, 3)], p, b, pick(writer, 3)); break;
  case 11:
  case 12:
    if (pick(writer, 2))
      write_guard(writer);
    write_load(writer, a);
    break;
  default:
    if (pick(writer, 4))
      write_guard(writer);
    write_change(writer, a);
    break;
  }
}

static void write_statements(Writer *writer, unsigned count) {
  while (count-- > 0) {
    if (pick(writer, 7)) {
      write_statement(writer);
      continue;
    }
    unsigned label = writer->labels++;
    write_guard(writer);
    add(writer, "BRA l%u;\n", label);
    write_statement(writer);
    write_statement(writer);
    add(writer, "l%u: NOP;\n", label);
  }
}

/* P0: what lets them go on. R8: after so many rounds, more or less. */
static void write_end(Writer *writer) {
  unsigned value = 1 + pick(writer, 3);
  if (writer->rings && pick(writer, 3)) {
    add(writer, "LD.CV R6, [R0+0x%x];\nISETP.EQ.AND P0, PT, R6, R1, PT;\n", writer->bell);
    return;
  }
  switch (pick(writer, 7)) {
  case 0: add(writer, "IADD R10, R10, 1;\nISETP.GT.AND P0, PT, R10, R8, PT;\n"); break;
  case 1:
    add(writer, "IADD R10, R10, 1;\nISETP.GT.AND P0, PT, R10, R8, PT;\n@P0 ST.WT [R0+0x40], R1;\n"
                "LD.CV R6, [R0+0x40];\nISETP.NE.AND P0, PT, R6, RZ, PT;\n");
    break;
  case 2:
    add(writer, "LD.CV R6, [R0+0x%x];\nLD.CV R7, [R0+0x%x];\nIADD R6, R6, R7;\nISETP.GT.AND P0, PT, R6, %u, PT;\n",
        4 * pick(writer, 3), 4 * pick(writer, 3), value);
    break;
  case 3:
    add(writer, "LDS R6, [0x%x];\nISETP.EQ.AND P0, PT, R6, %u, PT;\n", 4 * pick(writer, 3), value);
    break;
  case 4:
    add(writer, "%s R6, [R0+0x%x];\nISETP.EQ.AND P0, PT, R6, %u, PT;\n", pick(writer, 2) ? "LD.CA" : "LD.CV",
        place(writer), value);
    break;
  case 5:
    add(writer, "S2R R6, SR_ClockLo;\nIMUL R7, R8, 0x40;\nISETP.GT.AND P0, PT, R6, R7, PT;\n");
    break;
  default: add(writer, "LD.CV R6, [R0+0x40];\nISETP.NE.AND P0, PT, R6, RZ, PT;\n"); break;
  }
  if (pick(writer, 3) == 0)
    add(writer, "VOTE.%s RZ, P0, P0;\n", pick(writer, 2) ? "ANY" : "ALL");
}

static void write_bell(Writer *writer, const char *label) {
  static const char *const rings[] = {"ST.WT [R0+0x%x], R1;\nST.WT [R0+0x%x], RZ;\n",
                                      "RED.XOR [R0+0x%x], R1;\nRED.XOR [R0+0x%x], R1;\n",
                                      "ATOM.CAS R5, [R0+0x%x], RZ, R1;\nST.WT [R0+0x%x], RZ;\n"};
  add(writer, "%s: MOV RZ, %s;\n", label, pick(writer, 2) ? "R11" : "0x1000");
  if (pick(writer, 2))
    write_statement(writer);
  add(writer, rings[pick(writer, 3)], writer->bell, writer->bell);
  add(writer, "LD.CV R6, [R0+0x40];\nISETP.NE.AND P0, PT, R6, RZ, PT;\n@!P0 BRA %s;\nEXIT;\n", label);
}

static void write_loop(Writer *writer, const char *label) {
  add(writer, "%s: NOP;\n", label);
  write_statements(writer, 3 + pick(writer, 7));
  write_end(writer);
  add(writer, "@!P0 BRA %s;\nEXIT;\n", label);
}

/* Warps go round in two loops: by the block, by the warp, or by the lane. */
static char *random_sass(Writer *writer) {
  static const char *const who[] = {"SR_CTAid_X", "SR_Tid_X", "SR_LaneId"};
  writer->text = g_string_new(NULL);
  add(writer, "MOV R0, c[0x0][0x20];\nMOV R1, 1;\nS2R R2, SR_LaneId;\nMOV R10, RZ;\nMOV32I R8, 0x%x;\n"
              "S2R R11, %s;\nIMUL R11, R11, 0x%x;\n",
      500 << pick(writer, 8), who[pick(writer, 2)], 1u << pick(writer, 14));
  for (unsigned reg = 3; reg < 8; reg++)
    add(writer, "MOV R%u, RZ;\n", reg);
  writer->rings = pick(writer, 2);
  writer->bell = 0x80 + 4 * pick(writer, 2);
  unsigned by = pick(writer, 4);
  if (by < 3) {
    add(writer, "S2R R9, %s;\nISETP.GE.AND P0, PT, R9, %u, PT;\n", who[by], by == 0 ? 1 : by == 1 ? 32 : 16);
    if (pick(writer, 2))
      add(writer, "MOV R9, RZ;\n");
    if (pick(writer, 3) == 0)
      add(writer, "@P0 IADD R8, R8, R8;\n");
    add(writer, "@P0 BRA other;\n");
  }
  add(writer, "ISETP.EQ.AND P1, PT, R2, RZ, PT;\nISETP.NE.AND P2, PT, R2, RZ, PT;\n");
  write_loop(writer, "again");
  add(writer, "other: ISETP.EQ.AND P1, PT, R2, RZ, PT;\nISETP.NE.AND P2, PT, R2, RZ, PT;\n");
  if (writer->rings)
    write_bell(writer, "others");
  else
    write_loop(writer, "others");
  return g_string_free(g_steal_pointer(&writer->text), FALSE);
}

/* A MOV to RZ stands for a sleep. */
static void put_sleeps(Lab *lab) {
  const Kernel *kernel = program_kernel(lab->program, 0);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_MOV && kernel->insts[pc].dst >= (int16_t)kernel->nregs)
      lab_inst(lab, pc)->op = OP_NANOSLEEP;
}

/* Nobody finishes, whether warps are held up now and then or not. */
static void run_on(Lab *lab, uint64_t seed, const char *text, const char *proof) {
  uint64_t progress = lab->gpu->progress;
  for (unsigned i = 0; i < 2; i++) {
    GpuStop stop = gpu_run(lab->gpu, RUN_ON, UINT64_MAX);
    UNIT_ASSERT(stop == GPU_BUDGET && lab->gpu->progress == progress,
                "seed %u: somebody finished, or the run stopped (%d), behind a proof by %s:\n%.3000s", (unsigned)seed,
                stop, proof, text);
    lab->gpu->noisy = !lab->gpu->noisy;
  }
}

static void watch(Lab *lab, Writer *writer, uint64_t seed, const char *text, Tally *tally) {
  Closure *closure = closure_new(lab->gpu);
  uint64_t progress = lab->gpu->progress;
  GpuStop stop = GPU_BUDGET;
  Circle *still = NULL, *closed = NULL;
  lab->gpu->noisy = pick(writer, 3) > 0;
  for (unsigned i = 0; i < WINDOWS && !still && !closed; i++) {
    if (stop != GPU_BUDGET || lab->gpu->progress != progress)
      break;
    if (pick(writer, 3) == 0)
      still = stillness_watch(lab->gpu, UINT64_MAX, UINT64_MAX, &stop);
    else
      closed = closure_watch(closure, 1, UINT64_MAX, &stop);
    if (!still && !closed && pick(writer, 3) == 0 && stop == GPU_BUDGET)
      stop = gpu_run(lab->gpu, 1 + pick(writer, 3000), UINT64_MAX);
  }
  closure_free(closure);
  tally->still += still != NULL;
  tally->closed += closed != NULL;
  tally->finished += lab->gpu->progress != progress || stop != GPU_BUDGET;
  tally->open += !still && !closed && lab->gpu->progress == progress && stop == GPU_BUDGET;
  if (still || closed)
    run_on(lab, seed, text, still ? "stillness" : "closure");
  circle_free(still);
  circle_free(closed);
}

static void try_program(const char *settings, uint64_t seed, Tally *tally) {
  Writer writer = {0};
  rng_seed(&writer.rng, seed, 0);
  g_autofree char *text = random_sass(&writer);
  g_autoptr(Lab) lab = lab_new_seeded(settings, text, seed);
  uint32_t *data = lab_buffer(lab, WORDS);
  for (unsigned i = 0; i < 4; i++)
    data[pick(&writer, 3)] = pick(&writer, 2);
  put_sleeps(lab);
  lab_launch_grid(lab, 0, 1 + pick(&writer, 3), 1 + pick(&writer, 64), SHARED_BYTES, 0);
  gpu_unsubscribe(lab->gpu, &lab->probe); /* nobody looks at the trace */
  if (gpu_run(lab->gpu, 1 + pick(&writer, 3000), UINT64_MAX) == GPU_BUDGET)
    watch(lab, &writer, seed, text, tally);
  gpu_subscribe(lab->gpu, &lab->probe);
}

static const char *const settings[] = {
    "sm.policy=random sm.jitter_cycles=9 gpu.sms=2",
    "gpu.sms=3 sm.l1.bytes=4096 sm.l1.global_loads=cached",
    "sm.policy=random sm.jitter_cycles=9 sm.convergence=barrier gpu.sms=3 sm.l1.bytes=4096 "
    "sm.l1.global_loads=cached",
    "sm.convergence=barrier gpu.sms=2 memory.latency=2000 memory.request_latency=1000",
};

START_TEST(what_is_proved_is_true) {
  const char *wanted = g_getenv("CLOSURE_PROGRAMS");
  uint64_t programs = wanted ? g_ascii_strtoull(wanted, NULL, 10) : PROGRAMS;
  Tally tally = {0};
  for (uint64_t i = 0; i < programs; i++)
    try_program(settings[_i], 100000 * (uint64_t)_i + i, &tally);
  ck_assert_msg(tally.closed >= programs / 20 && tally.still >= programs / 100,
                "%u still, %u closed, %u where somebody finished, %u open", tally.still, tally.closed, tally.finished,
                tally.open);
  if (wanted)
    g_print("# %u still, %u closed, %u where somebody finished, %u open\n", tally.still, tally.closed, tally.finished,
            tally.open);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("closure_programs");
  TCase *tcase = tcase_create("closure_programs");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, what_is_proved_is_true, 0, G_N_ELEMENTS(settings));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
