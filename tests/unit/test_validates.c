/* Loads that look whether a word is still the same, and what they vouch for. */
#include <glib.h>
#include <string.h>

#include "sim/detect/race/validates.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

/* Strong loads are numbered as they stand in the text. `validates`: the one that does, from 1; 0: none. `loads`: mask
 * of those that it vouches for, bit 0 is load 1. */
typedef struct Case {
  const char *name, *body;
  unsigned validates, loads;
} Case;

#define ADDRESS "ld.param.u64 %l0, [in];\n"
#define FIRST "ld.volatile.global.u32 %r1, [%l0];\n"
#define WORDS "ld.volatile.global.u32 %r2, [%l0+64];\nld.volatile.global.u32 %r3, [%l0+128];\n"
#define SECOND "ld.volatile.global.u32 %r4, [%l0];\n"
#define AGAIN "setp.ne.u32 %p1, %r1, %r4;\n@%p1 bra L;\n"
#define USE "add.u32 %r5, %r2, %r3;\nst.global.u32 [%l0+256], %r5;\n"

static const Case cases[] = {
    {"a seqlock's reader", ADDRESS "L: " FIRST WORDS SECOND AGAIN USE, 4, 0x6},
    {"with a fence", ADDRESS "L: " FIRST WORDS "membar.gl;\n" SECOND AGAIN USE, 4, 0x6},
    {"the numbers the other way round",
     ADDRESS "L: " FIRST WORDS SECOND "setp.ne.u32 %p1, %r4, %r1;\n@%p1 bra L;\n" USE, 4, 0x6},
    {"who finds it odd looks again",
     ADDRESS "L: " FIRST "and.b32 %r6, %r1, 1;\nsetp.eq.u32 %p2, %r6, 1;\n@%p2 bra L;\n" WORDS SECOND AGAIN USE, 4,
     0x6},
    {"once only, and told whether it succeeded",
     ADDRESS "L: " FIRST WORDS SECOND
             "setp.eq.u32 %p1, %r1, %r4;\nselp.u32 %r6, 1, 0, %p1;\nst.global.u32 [%l0+512], %r6;\n" USE,
     4, 0x6},
    {"without its lowest bit",
     ADDRESS "L: " FIRST WORDS SECOND "and.b32 %r6, %r1, -2;\nsetp.ne.u32 %p1, %r6, %r4;\n@%p1 bra L;\n" USE, 4, 0x6},
    {"one word behind the second look",
     ADDRESS "L: " FIRST "ld.volatile.global.u32 %r2, [%l0+64];\n" SECOND AGAIN
             "ld.volatile.global.u32 %r3, [%l0+128];\n" USE,
     3, 0x2},
    {"a number of 64 bits",
     ADDRESS "L: ld.volatile.global.u64 %l1, [%l0];\n" WORDS "ld.volatile.global.u64 %l2, [%l0];\n"
             "setp.ne.s64 %p1, %l1, %l2;\n@%p1 bra L;\n" USE,
     4, 0x6},
    {"nothing between", ADDRESS "L: " FIRST SECOND AGAIN WORDS USE, 0, 0},
    {"a look at another word", ADDRESS "L: " FIRST WORDS "ld.volatile.global.u32 %r4, [%l0+4];\n" AGAIN USE, 0, 0},
    {"a poll for a change", ADDRESS FIRST WORDS "L: " SECOND "setp.eq.u32 %p1, %r1, %r4;\n@%p1 bra L;\n" USE, 0, 0},
    {"a poll that an entry leads past the first look",
     ADDRESS "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra L;\n" FIRST WORDS "L: " SECOND
             "setp.eq.u32 %p1, %r1, %r4;\n@%p1 bra L;\n" USE,
     0, 0},
    {"a weak second look", ADDRESS "L: " FIRST WORDS "ld.global.u32 %r4, [%l0];\n" AGAIN USE, 0, 0},
    {"a comparison with something else",
     ADDRESS "L: " FIRST WORDS SECOND "setp.ne.u32 %p1, %r1, 7;\n@%p1 bra L;\nst.global.u32 [%l0+512], %r4;\n" USE, 0,
     0},
    {"two looks and then the words, in a loop that the first look of the next round ends",
     ADDRESS FIRST "L: " SECOND "setp.ne.u32 %p1, %r4, %r1;\n@%p1 bra M;\n" WORDS USE
                   "M: ld.volatile.global.u32 %r1, [%l0];\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra L;\n",
     0, 0},
    {"a turned loop, whose second look begins the next round",
     ADDRESS FIRST "L: " WORDS SECOND
             "setp.ne.u32 %p1, %r1, %r4;\nmov.u32 %r1, %r4;\n@%p1 bra L;\n" USE,
     4, 0x6},
    {"which is left if the numbers are the same and even",
     ADDRESS FIRST "L: and.b32 %r6, %r1, 1;\nsetp.eq.u32 %p2, %r6, 1;\n" WORDS SECOND
             "setp.ne.u32 %p1, %r1, %r4;\nmov.u32 %r1, %r4;\nor.pred %p3, %p2, %p1;\n@%p3 bra L;\n" USE,
     4, 0x6},
    {"which is left by a jump",
     ADDRESS FIRST "L: " WORDS SECOND
             "setp.eq.u32 %p1, %r1, %r4;\nmov.u32 %r1, %r4;\n@%p1 bra M;\nbra L;\nM: " USE,
     4, 0x6},
    {"which is left if they are the same, or else by a count",
     ADDRESS "mov.u32 %r6, 0;\n" FIRST "L: " WORDS SECOND
             "add.u32 %r6, %r6, 1;\nsetp.gt.u32 %p2, %r6, 9;\nsetp.eq.u32 %p1, %r1, %r4;\n"
             "mov.u32 %r1, %r4;\nor.pred %p3, %p2, %p1;\n@!%p3 bra L;\n" USE,
     0, 0},
    {"a turned poll, which is left if they differ",
     ADDRESS FIRST "L: " WORDS SECOND
             "setp.eq.u32 %p1, %r1, %r4;\nmov.u32 %r1, %r4;\n@%p1 bra L;\n" USE,
     0, 0},
    {"a turned poll in a loop",
     ADDRESS FIRST "L: " SECOND "setp.eq.u32 %p1, %r1, %r4;\nmov.u32 %r1, %r4;\n@%p1 bra L;\n" WORDS USE
             "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra L;\n",
     0, 0},
    {"another address by then", ADDRESS "L: " FIRST WORDS "add.u64 %l0, %l0, 4;\n" SECOND AGAIN USE, 0, 0},
};

static uint32_t load_pc(const Kernel *kernel, unsigned number) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_LD && kernel->insts[pc].sem != SEM_WEAK && --number == 0)
      return pc;
  ck_abort_msg("no such load");
}

START_TEST(finds_second_looks) {
  const Case *test = &cases[_i];
  const PtxTarget target = {.capability = 90, .convergence_barriers = true, .max_registers = 255};
  g_autoptr(Program) program = ptx_lab_lower_body(test->body, &target);
  const Kernel *kernel = g_ptr_array_index(program->kernels, 0);
  g_autofree bool *validates = validates_find(kernel);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    bool expected = test->validates && pc == load_pc(kernel, test->validates);
    ck_assert_msg((validates && validates[pc]) == expected, "%s: instruction %u", test->name, pc);
  }
  g_autofree bool *loads = g_new0(bool, kernel->ninsts);
  if (test->validates)
    validates_mark(kernel, load_pc(kernel, test->validates), loads);
  for (unsigned number = 1; test->validates && number < test->validates; number++)
    ck_assert_msg(loads[load_pc(kernel, number)] == (test->loads >> (number - 1) & 1), "%s: load %u", test->name,
                  number);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("validates");
  TCase *tcase = tcase_create("validates");
  tcase_add_loop_test(tcase, finds_second_looks, 0, G_N_ELEMENTS(cases));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
