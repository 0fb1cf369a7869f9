/* needed_bits(): random kernels (from a seed) store the same, whatever stands in the bits of their registers that
 * they don't need; and hand-made ones need what they do. */
#include "isa/flow/needed_bits.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

enum { PROGRAMS = 800, INPUTS = 8, STEPS = 12, CARRIED = 2, ROUND = 30, ADDRESS = 40 };

/* ---- random kernels ---- */

/* Instructions that SASS can't write: these stand for IMAD. */
static const struct {
  Opcode op;
  uint32_t flags;
  uint8_t mode, lop, type, wide;
} others[] = {{OP_LOP3, 0, 0xc0, 0, 0, 0},
              {OP_LOP3, 0, 0xe8, 0, 0, 0},
              {OP_LOP3, 0, 0x96, 0, 0, 0},
              {OP_SHF, 0, 0, 0, 0, 0},
              {OP_SHF, 0, 1, 0, 0, 0},
              {OP_SHF, INST_WRAP, 0, 0, 0, 0},
              {OP_SHF, INST_WRAP, 1, 0, 0, 0},
              {OP_IADD3, 0, 0, 0, 0, 0},
              {OP_LEA, 0, 5, 0, 0, 0},
              {OP_MOV64, 0, 0, 0, 0, WIDE_DST | WIDE_A},
              {OP_IADD64, 0, 0, 0, 0, WIDE_DST | WIDE_A | WIDE_B},
              {OP_ISUB64, 0, 0, 0, 0, WIDE_DST | WIDE_A | WIDE_B},
              {OP_LOP64, 0, 0, LOP_AND, 0, WIDE_DST | WIDE_A | WIDE_B},
              {OP_LOP64, 0, 0, LOP_OR, 0, WIDE_DST | WIDE_A | WIDE_B},
              {OP_LOP64, INST_INV_B, 0, LOP_AND, 0, WIDE_DST | WIDE_A | WIDE_B},
              {OP_SHL64, 0, 0, 0, TYPE_U64, WIDE_DST | WIDE_A},
              {OP_SHR64, 0, 0, 0, TYPE_U64, WIDE_DST | WIDE_A},
              {OP_SHR64, 0, 0, 0, TYPE_S64, WIDE_DST | WIDE_A},
              {OP_IMULW, 0, 0, 0, TYPE_U32, WIDE_DST},
              {OP_IMADW, 0, 0, 0, TYPE_S32, WIDE_DST | WIDE_C}};

static const char *const forms[] = {"MOV R%u, R%u;",
                                    "IADD R%u, R%u, R%u;",
                                    "IADD R%u, -R%u, R%u;",
                                    "IMUL R%u, R%u, R%u;",
                                    "ISCADD R%u, R%u, R%u, 3;",
                                    "SHL R%u, R%u, 0x%x;",
                                    "SHL.W R%u, R%u, R%u;",
                                    "SHR.U32 R%u, R%u, 0x%x;",
                                    "SHR R%u, R%u, 0x%x;",
                                    "SHR.U32.W R%u, R%u, R%u;",
                                    "LOP.AND R%u, R%u, 0x%x;",
                                    "LOP.OR R%u, R%u, 0x%x;",
                                    "LOP.XOR R%u, R%u, R%u;",
                                    "LOP.AND R%u, R%u, ~R%u;",
                                    "SEL R%u, R%u, R%u, P0;",
                                    "BFE.U32 R%u, R%u, 0x%x;",
                                    "BFE R%u, R%u, 0x%x;",
                                    "@P0 IADD R%u, R%u, R%u;",
                                    "IMAD R%u, R%u, R%u, R%u;",
                                    "IMUL.HI R%u, R%u, R%u;"};

/* A number for the second operand of a form, or a register. */
static uint32_t second(Rng *rng, const char *form, uint32_t steps) {
  if (strstr(form, "BFE"))
    return rng_below(rng, 24) | (1 + rng_below(rng, 8)) << 8;
  if (strstr(form, "LOP"))
    return strstr(form, "0x%x") ? rng_below(rng, 0x7fff) : rng_below(rng, INPUTS + steps);
  return rng_below(rng, strstr(form, "0x%x") ? 20 : INPUTS + steps);
}

/* Each step writes a register of its own, or one of two that go round a loop. */
static char *make_text(uint64_t seed) {
  static const uint32_t masks[] = {0x1f, 0xff00, 0x7ff00000};
  Rng rng;
  rng_seed(&rng, seed, 0);
  GString *text = g_string_new("ISETP.LT.U32.AND P0, PT, R0, R1, PT;\nLOOP:\n");
  for (uint32_t step = 0; step < STEPS; step++) {
    const char *form = forms[rng_below(&rng, G_N_ELEMENTS(forms))];
    uint32_t to = rng_below(&rng, 3) ? INPUTS + step : INPUTS - 1 - rng_below(&rng, CARRIED);
    uint32_t a = rng_below(&rng, INPUTS + step), b = second(&rng, form, step), c = rng_below(&rng, INPUTS + step);
    g_string_append_printf(text, form, to, a, b, c);
    g_string_append_c(text, '\n');
  }
  g_string_append_printf(text, "IADD R%u, R%u, 0x1;\nISETP.LT.AND P1, PT, R%u, 0x3, PT;\n@P1 BRA LOOP;\n", ROUND,
                         ROUND, ROUND);
  g_string_append_printf(text, "S2R R41, SR_LaneId;\nMOV R%u, c[0x0][0x20];\nISCADD R%u, R41, R%u, 2;\n", ADDRESS,
                         ADDRESS, ADDRESS);
  g_string_append_printf(text, "LOP.AND R42, R%u, 0x%x;\nST [R%u], R42;\nEXIT;\n", INPUTS + STEPS - 1,
                         masks[rng_below(&rng, G_N_ELEMENTS(masks))], ADDRESS);
  return g_string_free(text, FALSE);
}

static Lab *make_lab(uint64_t seed) {
  g_autofree char *text = make_text(seed);
  Lab *lab = lab_new("", text);
  Rng rng;
  rng_seed(&rng, seed, 1);
  int16_t number = -1; /* some constant of the kernel's */
  for (uint32_t pc = 0; pc < program_kernel(lab->program, 0)->ninsts; pc++) {
    Inst *inst = lab_inst(lab, pc);
    uint32_t other = rng_below(&rng, G_N_ELEMENTS(others));
    bool has_number = inst->op != OP_BFE && inst->b < 0;
    number = has_number ? inst->b : number;
    if (inst->op == OP_LOP && has_number && rng_below(&rng, 2))
      inst->flags |= INST_INV_B;
    if (inst->op != OP_IMAD)
      continue;
    inst->op = (uint16_t)others[other].op;
    inst->flags |= others[other].flags;
    inst->mode = others[other].mode;
    inst->lop = others[other].lop;
    inst->type = others[other].wide ? others[other].type : inst->type;
    inst->wide = others[other].wide;
    bool pair = number < 0 && (uint32_t)~number + 1 < program_kernel(lab->program, 0)->nconsts;
    if (inst->op == OP_LEA || (!inst->wide && rng_below(&rng, 2)))
      inst->c = number;
    if (inst->op == OP_SHL64 || inst->op == OP_SHR64 || (inst->op == OP_LOP64 && pair && rng_below(&rng, 2)))
      inst->b = number;
  }
  return lab;
}

/* Registers of the warp are changed in the bits that nobody needs from where it is on. Returns those bits, or-ed. */
static uint32_t change_idle(Lab *lab, const NeededBits *needed, Rng *rng) {
  const uint32_t *bits = needed_bits_before(needed, lab_warp(lab, 0)->pc);
  uint32_t idle = 0;
  for (unsigned reg = 0; reg < needed->nregs; reg++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      uint32_t change = (uint32_t)rng_next(rng) & ~bits[reg];
      lab_row(lab, 0, reg)[lane] ^= change;
      idle |= change;
    }
  return idle;
}

/* What the kernel stores with those inputs; with `changes`, idle bits are changed after each instruction. Returns
 * those bits, or-ed. */
static uint32_t run(uint64_t seed, bool changes, uint32_t words[WARP_LANES]) {
  g_autoptr(Lab) lab = make_lab(seed);
  NeededBits needed = needed_bits(program_kernel(lab->program, 0));
  uint32_t *out = lab_buffer(lab, WARP_LANES), idle = 0;
  lab_launch(lab, 1, WARP_LANES);
  lab_place(lab);
  Rng rng;
  rng_seed(&rng, seed, 2);
  for (unsigned reg = 0; reg < INPUTS; reg++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      lab_row(lab, 0, reg)[lane] = (uint32_t)rng_next(&rng);
  do
    idle |= changes ? change_idle(lab, &needed, &rng) : 0;
  while (changes && gpu_run(lab->gpu, 1, UINT64_MAX) == GPU_BUDGET);
  lab_finish(lab);
  needed_bits_clear(&needed);
  memcpy(words, out, WARP_LANES * sizeof *words);
  return idle;
}

START_TEST(bits_without_need_change_nothing) {
  unsigned idle = 0;
  for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
    uint32_t plain[WARP_LANES], changed[WARP_LANES];
    run(seed, false, plain);
    idle += run(seed, true, changed) != 0;
    UNIT_ASSERT(memcmp(plain, changed, sizeof plain) == 0, "seed %u: another result", (unsigned)seed);
  }
  ck_assert_uint_ge(idle, PROGRAMS / 2);
}
END_TEST

/* ---- what some need ---- */

static void expect_needs(const char *text, unsigned reg, uint32_t bits) {
  g_autoptr(Lab) lab = lab_new("", text);
  NeededBits needed = needed_bits(program_kernel(lab->program, 0));
  ck_assert_uint_eq(needed_bits_before(&needed, 0)[reg], bits);
  needed_bits_clear(&needed);
}

START_TEST(a_counter_modulo_32_needs_five_bits) {
  expect_needs("LOOP: LOP.AND R1, R0, 0x1f; ISETP.EQ.AND P0, PT, R1, 0x40, PT;"
               "IADD R0, R0, 0x1; @!P0 BRA LOOP; EXIT;",
               0, 0x1f);
}
END_TEST

/* Its register is another value's elsewhere, all of whose bits count. */
START_TEST(what_stands_in_a_register_elsewhere_is_apart) {
  expect_needs("LOOP: LOP.AND R1, R0, 0x1f; ISETP.EQ.AND P0, PT, R1, 0x40, PT;"
               "IADD R0, R0, 0x1; @!P0 BRA LOOP; MOV R1, c[0x0][0x20]; ST [R1], RZ; EXIT;",
               0, 0x1f);
}
END_TEST

/* The register is the awaited value's before, whose bits all count there. */
START_TEST(what_stood_in_a_register_before_is_apart) {
  g_autoptr(Lab) lab = lab_new("", "MOV R2, c[0x0][0x20]; LD R0, [R2]; ISETP.EQ.AND P0, PT, R0, RZ, PT; @P0 EXIT;"
                                   "MOV R0, RZ; LOOP: LOP.AND R1, R0, 0x7; ISETP.EQ.AND P0, PT, R1, 0x40, PT;"
                                   "IADD R0, R0, 0x1; @!P0 BRA LOOP; EXIT;");
  NeededBits needed = needed_bits(program_kernel(lab->program, 0));
  ck_assert_uint_eq(needed_bits_before(&needed, 2)[0], UINT32_MAX);
  ck_assert_uint_eq(needed_bits_before(&needed, 4)[0], 0);
  ck_assert_uint_eq(needed_bits_before(&needed, 5)[0], 7);
  needed_bits_clear(&needed);
}
END_TEST

START_TEST(a_limit_needs_all_bits) {
  expect_needs("LOOP: IADD R0, R0, 0x1; ISETP.LT.AND P0, PT, R0, 0x40, PT; @P0 BRA LOOP; EXIT;", 0, UINT32_MAX);
}
END_TEST

START_TEST(what_is_only_counted_needs_none) {
  expect_needs("LOOP: IADD R0, R0, 0x1; MOV R2, c[0x0][0x20]; LD R1, [R2];"
               "ISETP.EQ.AND P0, PT, R1, RZ, PT; @P0 BRA LOOP; EXIT;",
               0, 0);
}
END_TEST

START_TEST(what_is_stored_behind_the_loop_needs_all_bits) {
  expect_needs("LOOP: IADD R0, R0, 0x1; MOV R2, c[0x0][0x20]; LD R1, [R2];"
               "ISETP.EQ.AND P0, PT, R1, RZ, PT; @P0 BRA LOOP; ST [R2], R0; EXIT;",
               0, UINT32_MAX);
}
END_TEST

/* IMAD stands for the shuffle. The lanes behind OTHER don't read R1 themselves. */
START_TEST(what_a_shuffle_reads_elsewhere_is_needed) {
  g_autoptr(Lab) lab =
      lab_new("", "@P0 BRA OTHER; IMAD R2, R1, R4, R5; ISETP.EQ.AND P1, PT, R2, RZ, PT; @P1 EXIT; EXIT;"
                  "OTHER: LOP.AND R1, R0, 0xff; EXIT;");
  Inst *shuffle = lab_inst(lab, 1);
  shuffle->op = OP_SHFL;
  shuffle->mode = SHFL_IDX;
  NeededBits needed = needed_bits(program_kernel(lab->program, 0));
  ck_assert_uint_eq(needed.reg[0], 0xff);
  ck_assert_uint_eq(needed.reg[4], 31);
  needed_bits_clear(&needed);
}
END_TEST

/* A loop that pushes for ever: some paths aren't known. The registers are those that the kernel has. */
START_TEST(where_paths_are_not_known_all_bits_are_needed) {
  g_autoptr(Lab) lab = lab_new("", "LOOP: PBK OUT; IADD R0, R0, 0x1; @P0 BRA LOOP; OUT: EXIT;");
  const Kernel *kernel = program_kernel(lab->program, 0);
  NeededBits needed = needed_bits(kernel);
  ck_assert_ptr_null(needed.before);
  for (uint32_t reg = 0; reg < REGSET_MAX; reg++)
    ck_assert_uint_eq(needed.reg[reg], reg < kernel->nregs ? UINT32_MAX : 0);
  needed_bits_clear(&needed);
}
END_TEST

/* IMAD stands for the sleep: how long it takes doesn't matter, but its guard says whether the warp may switch there.
 * */
START_TEST(whether_a_lane_sleeps_is_needed) {
  g_autoptr(Lab) lab =
      lab_new("", "LOOP: IADD R0, R0, 0x1; ISETP.GT.AND P0, PT, R0, 0x40, PT; @P0 IMAD RZ, R1, R2, R3;"
                  "MOV R4, c[0x0][0x20]; LD R5, [R4]; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA LOOP; EXIT;");
  Inst *sleep = lab_inst(lab, 2);
  sleep->op = OP_NANOSLEEP;
  NeededBits needed = needed_bits(program_kernel(lab->program, 0));
  ck_assert_uint_eq(needed.preds & 3, 3);
  ck_assert_uint_eq(needed_bits_before(&needed, 0)[0], UINT32_MAX);
  ck_assert_uint_eq(needed_bits_before(&needed, 0)[1], 0);
  needed_bits_clear(&needed);
}
END_TEST

/* Lanes go on at the target of SSY behind the end of a path. */
START_TEST(what_is_read_behind_a_join_is_needed) {
  expect_needs("SSY JOIN; @P0 BRA OTHER; LOP.AND R1, R0, 0x1; NOP.S; OTHER: NOP.S; JOIN: MOV R2, c[0x0][0x20]; ST "
               "[R2], R0; EXIT;",
               0, UINT32_MAX);
}
END_TEST

START_TEST(the_sign_is_needed_where_it_is_spread) {
  expect_needs("MOV R2, c[0x0][0x20]; SHR R1, R0, 0x8; LOP.AND R1, R1, 0x7f000000; ST [R2], R1; EXIT;", 0,
               0x80000000);
}
END_TEST

START_TEST(lanes_under_a_false_guard_keep_what_they_have) {
  expect_needs("MOV R2, c[0x0][0x20]; LOP.AND R0, R3, 0xff; @P0 MOV R0, R1; ST [R2], R0; EXIT;", 3, 0xff);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("needed_bits");
  TCase *tcase = tcase_create("needed_bits");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, bits_without_need_change_nothing);
  tcase_add_test(tcase, a_counter_modulo_32_needs_five_bits);
  tcase_add_test(tcase, what_stands_in_a_register_elsewhere_is_apart);
  tcase_add_test(tcase, what_stood_in_a_register_before_is_apart);
  tcase_add_test(tcase, a_limit_needs_all_bits);
  tcase_add_test(tcase, what_is_only_counted_needs_none);
  tcase_add_test(tcase, where_paths_are_not_known_all_bits_are_needed);
  tcase_add_test(tcase, what_is_stored_behind_the_loop_needs_all_bits);
  tcase_add_test(tcase, what_a_shuffle_reads_elsewhere_is_needed);
  tcase_add_test(tcase, the_sign_is_needed_where_it_is_spread);
  tcase_add_test(tcase, whether_a_lane_sleeps_is_needed);
  tcase_add_test(tcase, what_is_read_behind_a_join_is_needed);
  tcase_add_test(tcase, lanes_under_a_false_guard_keep_what_they_have);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
