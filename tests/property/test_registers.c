/* Random PTX kernels (from a seed) leave the same memory however few registers a thread may have: what is spilled,
 * made again, moved or folded changes no value. */
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

enum { PROGRAMS = 60, VALUES = 40, WIDE = 8, THREADS = 64, OWN_WORDS = 16, STATEMENTS = 90, DEPTH_MAX = 3 };

typedef struct Maker {
  Rng rng;
  GString *text;
  unsigned labels, depth;
  int budget;
} Maker;

static unsigned below(Maker *maker, unsigned bound) { return rng_below(&maker->rng, bound); }

static void put_block(Maker *maker, unsigned statements);

static void put_alu(Maker *maker) {
  static const char *const ops[] = {"add.u32", "sub.u32", "mul.lo.u32", "xor.b32",
                                    "and.b32", "or.b32",  "min.s32",    "max.u32"};
  unsigned d = below(maker, VALUES), a = below(maker, VALUES), b = below(maker, VALUES);
  if (below(maker, 4) == 0)
    g_string_append_printf(maker->text, "@%%p%u ", below(maker, 3));
  if (below(maker, 5) == 0)
    g_string_append_printf(maker->text, "mad.lo.u32 %%v%u, %%v%u, %%v%u, %%v%u;\n", d, a, b, below(maker, VALUES));
  else if (below(maker, 3) == 0)
    g_string_append_printf(maker->text, "%s %%v%u, %%v%u, %u;\n", ops[below(maker, G_N_ELEMENTS(ops))], d, a,
                           below(maker, 9));
  else
    g_string_append_printf(maker->text, "%s %%v%u, %%v%u, %%v%u;\n", ops[below(maker, G_N_ELEMENTS(ops))], d, a, b);
}

static void put_wide(Maker *maker) {
  unsigned w = below(maker, WIDE), v = below(maker, VALUES);
  switch (below(maker, 5)) {
  case 0: g_string_append_printf(maker->text, "cvt.u64.u32 %%w%u, %%v%u;\n", w, v); break;
  case 1:
    g_string_append_printf(maker->text, "mul.wide.u32 %%w%u, %%v%u, %%v%u;\n", w, v, below(maker, VALUES));
    break;
  case 2:
    g_string_append_printf(maker->text, "add.u64 %%w%u, %%w%u, %%w%u;\n", w, below(maker, WIDE), below(maker, WIDE));
    break;
  case 3:
    g_string_append_printf(maker->text, "shl.b64 %%w%u, %%w%u, %u;\n", w, below(maker, WIDE), below(maker, 40));
    break;
  default: g_string_append_printf(maker->text, "cvt.u32.u64 %%v%u, %%w%u;\n", v, w); break;
  }
}

static void put_access(Maker *maker) {
  unsigned v = below(maker, VALUES), word = below(maker, OWN_WORDS);
  switch (below(maker, 5)) {
  case 0:
  case 1: g_string_append_printf(maker->text, "ld.global.u32 %%v%u, [%%own+%u];\n", v, 4 * word); break;
  case 2: g_string_append_printf(maker->text, "st.global.u32 [%%own+%u], %%v%u;\n", 4 * word, v); break;
  case 3: g_string_append_printf(maker->text, "st.global.u32 [%%own+%u], %u;\n", 4 * word, below(maker, 9)); break;
  default:
    g_string_append_printf(maker->text, "atom.global.cas.b32 %%v%u, [%%own+%u], %%v%u, %%v%u;\n", v, 4 * word,
                           below(maker, VALUES), below(maker, VALUES));
  }
}

static void put_if(Maker *maker) {
  unsigned label = maker->labels++;
  g_string_append_printf(maker->text, "@%%p%u bra L%u;\n", below(maker, 3), label);
  put_block(maker, 6);
  g_string_append_printf(maker->text, "L%u:\n", label);
}

static void put_loop(Maker *maker) {
  unsigned label = maker->labels++;
  g_string_append_printf(maker->text, "mov.u32 %%i%u, 0;\nL%u:\n", maker->depth, label);
  put_block(maker, 6);
  g_string_append_printf(maker->text, "add.u32 %%i%u, %%i%u, 1;\nsetp.lt.u32 %%q, %%i%u, 3;\n@%%q bra L%u;\n",
                         maker->depth, maker->depth, maker->depth, label);
}

static void put_statement(Maker *maker) {
  unsigned choice = below(maker, 20);
  if (choice < 9)
    put_alu(maker);
  else if (choice < 12)
    put_wide(maker);
  else if (choice < 16)
    put_access(maker);
  else if (choice < 18)
    g_string_append_printf(maker->text, "setp.lt.s32 %%p%u, %%v%u, %%v%u;\n", below(maker, 3), below(maker, VALUES),
                           below(maker, VALUES));
  else if (maker->depth < DEPTH_MAX)
    choice == 18 ? put_if(maker) : put_loop(maker);
}

static void put_block(Maker *maker, unsigned statements) {
  maker->depth++;
  for (; statements && maker->budget > 0; statements--, maker->budget--)
    put_statement(maker);
  maker->depth--;
}

/* The kernel under a directive that limits its registers. All values are written at the start and stored at the
 * end. */
static char *make_text(uint64_t seed, const char *limit) {
  Maker maker = {.text = g_string_new(".version 8.0\n.target sm_70\n.address_size 64\n"), .budget = STATEMENTS};
  rng_seed(&maker.rng, seed, 0);
  g_string_append_printf(
      maker.text,
      ".entry k(.param .u64 a) %s {\n.reg .b32 %%v<%d>, %%i<%d>, %%t;\n.reg .b64 %%w<%d>, %%own, %%o;\n"
      ".reg .pred %%p<3>, %%q;\nld.param.u64 %%own, [a];\nmov.u32 %%t, %%tid.x;\n"
      "mul.wide.u32 %%o, %%t, %d;\nadd.u64 %%own, %%own, %%o;\n",
      limit, VALUES, DEPTH_MAX + 2, WIDE, 4 * OWN_WORDS);
  for (unsigned v = 0; v < VALUES; v++)
    g_string_append_printf(maker.text, below(&maker, 2) ? "mov.u32 %%v%u, %u;\n" : "add.u32 %%v%u, %%t, %u;\n", v,
                           3 * v);
  for (unsigned w = 0; w < WIDE; w++)
    g_string_append_printf(maker.text, "mul.wide.u32 %%w%u, %%v%u, 77777777;\n", w, w);
  for (unsigned p = 0; p < 3; p++)
    g_string_append_printf(maker.text, "setp.gt.u32 %%p%u, %%t, %u;\n", p, 11 * p + 5);
  while (maker.budget > 0)
    put_block(&maker, 20);
  for (unsigned v = 0; v < VALUES; v++)
    g_string_append_printf(maker.text, "xor.b32 %%t, %%t, %%v%u;\nmul.lo.u32 %%t, %%t, 31;\n", v);
  g_string_append(maker.text, "st.global.u32 [%own], %t;\nst.global.v2.u64 [%own+16], {%w0, %w1};\nret;\n}\n");
  return g_string_free(maker.text, FALSE);
}

typedef struct Outcome {
  uint32_t words[THREADS * OWN_WORDS];
  uint32_t registers, spilled;
} Outcome;

static void run_limited(uint64_t seed, const char *limit, unsigned capability, Outcome *outcome) {
  const PtxTarget target = {
      .capability = capability, .max_registers = 255, .sm_registers = 65536, .register_granule = 256};
  g_autofree char *text = make_text(seed, limit);
  g_autoptr(Diag) diag = diag_new();
  Program *program = ptx_lab_lower("k.ptx", text, &target, diag);
  g_autofree char *messages = diag_render(diag);
  UNIT_ASSERT(program, "seed %u: %s", (unsigned)seed, messages);
  g_autoptr(Lab) lab = lab_new("sm.registers=65536 sm.max_thread_registers=255", "EXIT;");
  program_free(lab->program);
  lab->program = program;
  uint32_t *words = lab_buffer(lab, THREADS * OWN_WORDS);
  lab_arg(lab, 0); /* the high word of the address */
  lab_launch(lab, 1, THREADS);
  lab_finish(lab);
  memcpy(outcome->words, words, sizeof outcome->words);
  outcome->registers = kernel_registers(program_kernel(program, 0));
  outcome->spilled = program_kernel(program, 0)->spill_bytes;
}

/* ptxas takes a limit below 24 as 24. */
START_TEST(limits_change_no_value) {
  static const struct {
    const char *directive;
    uint32_t registers;
  } limits[] = {{".maxnreg 16", 24},
                {".maxnreg 24", 24},
                {".maxnreg 32", 32},
                {".maxnreg 40", 40},
                {".maxntid 1024 .minnctapersm 2", 32},
                {".reqntid 64 .minnctapersm 20", 48}};
  static const unsigned capabilities[] = {61, 90};
  unsigned spilled = 0, compared = 0;
  g_autofree Outcome *free_one = g_new0(Outcome, 1), *limited = g_new0(Outcome, 1);
  for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
    unsigned capability = capabilities[seed % G_N_ELEMENTS(capabilities)];
    run_limited(seed, "", capability, free_one);
    for (unsigned i = 0; i < G_N_ELEMENTS(limits); i++) {
      run_limited(seed, limits[i].directive, capability, limited);
      UNIT_ASSERT(limited->registers <= limits[i].registers, "seed %u, %s: %u registers", (unsigned)seed,
                  limits[i].directive, limited->registers);
      UNIT_ASSERT(memcmp(free_one->words, limited->words, sizeof limited->words) == 0, "seed %u, %s: another result",
                  (unsigned)seed, limits[i].directive);
      spilled += limited->spilled > 0;
      compared++;
    }
  }
  ck_assert_uint_ge(spilled, compared / 4);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("registers");
  TCase *tcase = tcase_create("registers");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, limits_change_no_value);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
