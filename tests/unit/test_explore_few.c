/* What the proof takes for possible of a result that isn't known but can be few numbers: all of these, and no other.
 * */
#include <glib.h>

#include "sim/detect/proof/explore.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

enum { TRIES = 20000, STANDS_FOR_REM = OP_IMUL };

typedef struct Case {
  const char *code; /* R2 from the clock in R1; IMUL stands for IREM, IMUL.U32 for one without signs */
  uint32_t (*of)(uint32_t clock);
  bool known; /* which numbers these are */
} Case;

static uint32_t of_mask(uint32_t clock) { return clock & 0x15; }
static uint32_t of_wide_mask(uint32_t clock) { return clock & 0x1f; }
static uint32_t of_part(uint32_t clock) { return (clock >> 8 & 7) * 12 + 100; }
static uint32_t of_shift(uint32_t clock) { return clock >> 28; }
static uint32_t of_sign(uint32_t clock) { return (uint32_t)((int32_t)clock >> 31); }
static uint32_t of_field(uint32_t clock) { return clock >> 4 & 7; }
static uint32_t of_rest(uint32_t clock) { return clock % 5; }
static uint32_t of_signed_rest(uint32_t clock) { return (uint32_t)((int32_t)clock % 5); }
static uint32_t of_positive_rest(uint32_t clock) { return (clock >> 16) % 5; }
static uint32_t of_large_rest(uint32_t clock) { return clock % 100; }
static uint32_t of_range(uint32_t clock) { return clock >> 16 > 0xfffe; }
static uint32_t of_no_range(uint32_t clock) { return clock >> 16 > 0xffff; }

static const Case cases[] = {
    {"LOP.AND R2, R1, 0x15;", of_mask, true},
    {"LOP.AND R2, R1, 0x1f;", of_wide_mask, false},
    {"SHR.U32 R2, R1, 0x8; LOP.AND R2, R2, 0x7; IMAD R2, R2, 0xc, R4;", of_part, true},
    {"SHR.U32 R2, R1, 0x1c;", of_shift, true},
    {"SHR R2, R1, 0x1f;", of_sign, false}, /* all bits are open: that they are one isn't seen */
    {"BFE.U32 R2, R1, 0x304;", of_field, true},
    {"IMUL.U32 R2, R1, 0x5;", of_rest, true},
    {"IMUL R2, R1, 0x5;", of_signed_rest, true},
    {"SHR.U32 R2, R1, 0x10; IMUL R2, R2, 0x5;", of_positive_rest, true},
    {"IMUL.U32 R2, R1, 0x64;", of_large_rest, false},
    {"SHR.U32 R3, R1, 0x10; MOV R2, RZ; ISETP.GT.U32.AND P0, PT, R3, 0xfffe, PT; @P0 MOV32I R2, 0x1;", of_range,
     true},
    {"SHR.U32 R3, R1, 0x10; MOV R2, RZ; ISETP.GT.U32.AND P0, PT, R3, 0xffff, PT; @P0 MOV32I R2, 0x1;", of_no_range,
     true},
};

/* The word that the result is stored to holds 0xdead before. */
static Lab *make_lab(const Case *test) {
  g_autofree char *text = g_strdup_printf("MOV R0, c[0x0][0x20]; MOV32I R4, 0x64; S2R R1, SR_ClockLo; %s\n"
                                          "ST [R0], R2; LOOP: BRA LOOP;\n",
                                          test->code);
  Lab *lab = lab_new("", text);
  for (uint32_t pc = 0; pc < program_kernel(lab->program, 0)->ninsts; pc++)
    if (lab_inst(lab, pc)->op == STANDS_FOR_REM)
      lab_inst(lab, pc)->op = OP_IREM;
  lab_buffer(lab, 1)[0] = 0xdead;
  lab_launch(lab, 1, 1);
  lab_place(lab);
  return lab;
}

START_TEST(all_that_can_be) {
  const Case *test = &cases[_i];
  g_autoptr(Lab) lab = make_lab(test);
  Explorer *explorer = explorer_new(lab->gpu);
  ck_assert_int_eq(explorer_prove(explorer), EXPLORE_STUCK);
  WordKey key = word_key_global(backing_buffer(lab->backing, 0)->base);
  const ValueSet *set = g_hash_table_lookup(explorer->memory.words, &key);
  ck_assert_ptr_nonnull(set);
  g_autoptr(GHashTable) results = g_hash_table_new(NULL, NULL);
  Rng rng;
  rng_seed(&rng, 1, 0);
  for (unsigned i = 0; i < TRIES; i++) {
    uint32_t result = test->of(i % 2 ? (uint32_t)rng_next(&rng) : (uint32_t)rng_next(&rng) | 0xffff0000u);
    g_hash_table_add(results, GUINT_TO_POINTER(result));
    UNIT_ASSERT(abstract_has(set, result), "%s: not %u", test->code, result);
  }
  ck_assert_int_eq(set->anything, !test->known);
  if (test->known)
    ck_assert_uint_eq(set->count, g_hash_table_size(results) + 1); /* and what it held before */
  explorer_free(explorer);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("explore_few");
  TCase *tcase = tcase_create("explore_few");
  tcase_add_loop_test(tcase, all_that_can_be, 0, G_N_ELEMENTS(cases));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
