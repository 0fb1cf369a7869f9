/* Which bits of a result depend on unknown bits: against the executors, on words that differ in those alone. */
#include <glib.h>
#include <string.h>

#include "sim/core/exec.h"
#include "sim/core/unknown_bits.h"
#include "sim/engine/rng.h"
#include "tests/unit/unit.h"

enum { REGISTERS = 4, ROUNDS = 200, TRIES = 48 };

typedef struct Case {
  const char *name;
  Inst inst;
  bool exact; /* each bit that is said to depend does */
} Case;

#define FORM(name, exact, ...) \
  { #name " " #__VA_ARGS__, {.op = OP_##name, __VA_ARGS__ }, exact }
static const Case cases[] = {
    FORM(LOP, true, .lop = LOP_AND),
    FORM(LOP, true, .lop = LOP_OR, .flags = INST_INV_B),
    FORM(LOP, true, .lop = LOP_XOR, .flags = INST_INV_A),
    FORM(LOP, true, .lop = LOP_PASS_B),
    FORM(LOP3, true, .mode = 0xc0),
    FORM(LOP3, true, .mode = 0xe2),
    FORM(LOP3, true, .mode = 0x96),
    FORM(PRMT, true, .mode = PRMT_INDEX),
    FORM(PRMT, false, .mode = PRMT_F4E),
    FORM(SHL, true, .type = TYPE_U32),
    FORM(SHL, true, .flags = INST_WRAP),
    FORM(SHR, true, .type = TYPE_U32),
    FORM(SHR, true, .type = TYPE_S32),
    FORM(SHR, true, .type = TYPE_S32, .flags = INST_WRAP),
    FORM(SHFX, true, .type = TYPE_U32, .mode = 1, .flags = INST_HI),
    FORM(SHFX, true, .type = TYPE_S32, .mode = 1, .flags = INST_HI | INST_WRAP),
    FORM(SHFX, true, .type = TYPE_U64, .mode = 1),
    FORM(SHFX, true, .type = TYPE_S64, .mode = 1, .flags = INST_HI),
    FORM(SHFX, true, .type = TYPE_U64, .mode = 0, .flags = INST_HI | INST_WRAP),
    FORM(BFE, true, .type = TYPE_U32),
    FORM(BFE, true, .type = TYPE_S32),
    FORM(IADD, false, .type = TYPE_S32),
    FORM(IADD, false, .flags = INST_NEG_A),
    FORM(IADD, false, .flags = INST_NEG_B),
    FORM(ISUB, false, .type = TYPE_S32),
    FORM(IADD3, false, .type = TYPE_S32),
    FORM(IADD3, false, .flags = INST_NEG_C),
    FORM(ISCADD, false, .mode = 5),
    FORM(ISCADD, false, .mode = 0, .flags = INST_NEG_A),
    FORM(LEA, false, .mode = 3),
    FORM(LEA, false, .mode = 16, .flags = INST_NEG_B),
    FORM(LEA, false, .mode = 16, .type = TYPE_U32, .flags = INST_HI),
    FORM(IMUL, false, .type = TYPE_U32),
    FORM(IMUL, false, .type = TYPE_S32, .flags = INST_HI),
    FORM(IMAD, false, .type = TYPE_U32),
    FORM(IMAD, false, .type = TYPE_S32, .flags = INST_NEG_A),
    FORM(IADD2, false, .type = TYPE_S32),
    FORM(IMNMX2, false, .type = TYPE_S16),
    FORM(HADD2, false, .type = TYPE_F16),
    FORM(HMUL2, false, .type = TYPE_BF16),
    FORM(HFMA2, false, .type = TYPE_F16),
    FORM(HMNMX2, false, .type = TYPE_F16),
    FORM(HSET2, false, .cmp = CMP_LT, .type = TYPE_F16),
};
#undef FORM

/* Zeros, small amounts and powers of two are what decides. */
static uint32_t some_word(Rng *rng) {
  switch (rng_below(rng, 6)) {
  case 0: return 0;
  case 1: return (uint32_t)rng_below(rng, 40);
  case 2: return 1u << rng_below(rng, 32);
  case 3: return (uint32_t)(rng_below(rng, 33) | rng_below(rng, 33) << 8);
  default: return (uint32_t)rng_next(rng);
  }
}

/* Often none, or whole bytes, as they come from loads and permutations. */
static uint32_t some_unknown(Rng *rng) {
  switch (rng_below(rng, 4)) {
  case 0:
  case 1: return 0;
  case 2: return 0xffu << 8 * rng_below(rng, 4);
  default: return (uint32_t)(rng_next(rng) & rng_next(rng));
  }
}

typedef struct Bench {
  uint32_t regs[REGISTERS][WARP_LANES], pred[PRED_ROWS];
} Bench;

static void execute(const Case *what, Bench *bench, const UnknownOperands *operands, uint32_t result[WARP_LANES],
                    const uint32_t flip[3]) {
  Inst inst = what->inst;
  for (unsigned i = 0; i < 3; i++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      bench->regs[i][lane] = operands[lane].value[i] ^ (flip[i] & operands[lane].unknown[i]);
  memset(bench->pred, 0, sizeof bench->pred);
  bench->pred[PRED_TRUE] = ALL_LANES;
  inst.b = 1;
  inst.c = 2;
  inst.dst = 3;
  inst.pdst = inst.pdst2 = PRED_SINK;
  for (unsigned i = 0; i < 3; i++)
    inst.psrc[i] = PRED_TRUE;
  inst.psrc_not = inst.op == OP_IADD3 || inst.op == OP_LEA ? 7 : 0; /* no carries */
  Issue issue = {.inst = &inst, .regs = bench->regs[0], .pred = bench->pred, .mask = ALL_LANES};
  executors[inst.op](&issue);
  memcpy(result, bench->regs[3], sizeof bench->regs[3]);
}

START_TEST(results_change_where_it_says) {
  const Case *what = &cases[_i];
  unsigned operand_count = op_info[what->inst.op].form == FORM_D_A_B_C ? 3 : 2;
  Bench bench;
  Rng rng;
  rng_seed(&rng, 7, (uint64_t)_i);
  ck_assert(unknown_bits_has(&what->inst));
  for (unsigned round = 0; round < ROUNDS; round++) {
    UnknownOperands operands[WARP_LANES] = {{{0}, {0}, false}};
    uint32_t before[WARP_LANES], after[WARP_LANES], changes[WARP_LANES] = {0};
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      for (unsigned i = 0; i < operand_count; i++) {
        operands[lane].value[i] = some_word(&rng);
        operands[lane].unknown[i] = some_unknown(&rng);
      }
    execute(what, &bench, operands, before, (const uint32_t[3]){0});
    for (unsigned try = 0; try < TRIES; try++) {
      uint32_t flip[3];
      for (unsigned i = 0; i < 3; i++)
        flip[i] = try == 0 ? UINT32_MAX : (uint32_t)rng_next(&rng);
      execute(what, &bench, operands, after, flip);
      for (unsigned lane = 0; lane < WARP_LANES; lane++)
        changes[lane] |= before[lane] ^ after[lane];
    }
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      const UnknownOperands *in = &operands[lane];
      uint32_t said = unknown_bits(&what->inst, in);
      bool amount = what->exact && (in->unknown[1] || in->unknown[2]) && what->inst.op != OP_LOP &&
                    what->inst.op != OP_LOP3; /* an unknown amount makes all unknown */
      UNIT_ASSERT((changes[lane] & ~said) == 0 && (!what->exact || amount || changes[lane] == said),
                  "%s of %x %x %x, unknown %x %x %x: says %x, changes %x", what->name, in->value[0], in->value[1],
                  in->value[2], in->unknown[0], in->unknown[1], in->unknown[2], said, changes[lane]);
    }
  }
}
END_TEST

/* What 16-bit values and spilled predicates are made of: the rest of the register has no value. */
START_TEST(parts_stay_known) {
  static const struct {
    Inst inst;
    UnknownOperands operands;
    uint32_t unknown;
  } rows[] = {
      /* PRMT R16, RZ, 0x7610, R16 keeps the high half; PRMT R3, R16, 0x9910, RZ takes the low one with its sign */
      {{.op = OP_PRMT}, {.value = {0, 0, 0x7610}, .unknown = {0, UINT32_MAX, 0}}, 0xffff0000u},
      {{.op = OP_PRMT}, {.value = {1, 0, 0x9910}, .unknown = {0xffff0000u, 0, 0}}, 0},
      /* one bit of R0 */
      {{.op = OP_LOP3, .mode = 0xc0}, {.value = {0, 4, 0}, .unknown = {0xffffff81u, 0, 0}}, 0},
      {{.op = OP_LOP3, .mode = 0xc0}, {.value = {0, 1, 0}, .unknown = {0xffffff81u, 0, 0}}, 1},
      /* R0 + 1 of a 16-bit value; IMAD.U32 R0, R0, 0x10000, RZ */
      {{.op = OP_IADD}, {.value = {7, 1, 0}, .unknown = {0xffff0000u, 0, 0}}, 0xffff0000u},
      {{.op = OP_IMAD, .type = TYPE_U32}, {.value = {7, 0x10000, 0}, .unknown = {0xffff0000u, 0, 0}}, 0},
      {{.op = OP_SHR, .type = TYPE_U32}, {.value = {7, 16, 0}, .unknown = {0xffff, 0, 0}}, 0},
      {{.op = OP_HADD2, .type = TYPE_F16}, {.value = {0}, .unknown = {0x100, 0, 0}}, 0xffff},
      {{.op = OP_LEA, .flags = INST_HI}, {.value = {1, 2, 3}}, 0},
      {{.op = OP_IADD3}, {.value = {1, 2, 3}, .carry = true}, UINT32_MAX},
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    ck_assert_msg(unknown_bits(&rows[i].inst, &rows[i].operands) == rows[i].unknown, "%u: %x", i,
                  unknown_bits(&rows[i].inst, &rows[i].operands));
}
END_TEST

/* A known false decides an AND, whatever the others are. */
START_TEST(truths_by_their_tables) {
  enum { AND = 0x80, OR = 0xfe, FIRST = 0xf0, A_AND_B_OR_C = 0xea };
  const uint32_t value[3] = {0x0f, 0x33, 0x55}, unknown[3] = {0, 0xff, 0};
  ck_assert_uint_eq(unknown_truths(AND, value, unknown), 0x05);
  ck_assert_uint_eq(unknown_truths(OR, value, unknown) & 0xff, 0xa0);
  ck_assert_uint_eq(unknown_truths(FIRST, value, unknown), 0);
  ck_assert_uint_eq(unknown_truths(A_AND_B_OR_C, value, unknown), 0x0a);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("unknown_bits");
  TCase *tcase = tcase_create("unknown_bits");
  tcase_add_loop_test(tcase, results_change_where_it_says, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, parts_stay_known);
  tcase_add_test(tcase, truths_by_their_tables);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
