#include <glib.h>

#include "sim/detect/race/guesses.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

/* What a kernel does with %r0, which it loads from [%l0], and whether that is a guess only. */
typedef struct Case {
  const char *name, *text;
  bool guess;
} Case;

#define LOOK "ld.param.u64 %l0, [in];\nLOOK: ld.relaxed.gpu.global.u32 %r0, [%l0];\n"
#define SWAP(compared, stored) "atom.relaxed.gpu.global.cas.b32 %r2, [%l0], " compared ", " stored ";\n"
#define ADD "AGAIN: add.u32 %r1, %r0, 1;\n"
#define UNLESS_SAME(to) "setp.ne.u32 %p0, %r2, %r0;\n@%p0 bra " to ";\n"
#define NEXT "setp.ne.u32 %p0, %r2, %r0;\nmov.u32 %r0, %r2;\n@%p0 bra AGAIN;\n"
#define USE(reg) "st.global.u32 [%l0+8], " reg ";\n"
#define PUT(to, from, beside, chooses) "prmt.b32 " to ", " from ", " beside ", " chooses ";\n"
#define HALF_AGAIN "setp.ne.u32 %p0, %r4, %r5;\nmov.u32 %r0, %r2;\n@%p0 bra AGAIN;\n"
#define HALVES(chooses) "AGAIN: " HALVES_OF(chooses)
#define HALVES_OF(chooses)        \
  PUT("%r3", "%r0", "0", chooses) \
  PUT("%r1", "%r0", "1", chooses) SWAP("%r3", "%r1") PUT("%r4", "%r2", "0", chooses) PUT("%r5", "%r3", "0", chooses)

#define LOOK64 "ld.param.u64 %l0, [in];\nLOOK: ld.relaxed.gpu.global.u64 %l2, [%l0];\n"
#define SWAP64(compared, stored) "atom.relaxed.gpu.global.cas.b64 %l4, [%l0], " compared ", " stored ";\n"
#define ADD64 "AGAIN: add.u64 %l3, %l2, 1;\n"
#define NEXT64 "setp.ne.u64 %p0, %l4, %l2;\nmov.u64 %l2, %l4;\n@%p0 bra AGAIN;\n"
#define EMPTY(to) "and.b32 %r3, %r0, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra " to ";\n"
#define TAKE ADD SWAP("%r0", "%r1") UNLESS_SAME("LOOK") USE("%r1") "bra DONE;\n"

static const Case cases[] = {
    {"a count", LOOK ADD SWAP("%r0", "%r1") NEXT, true},
    {"what was computed is used once it is right", LOOK ADD SWAP("%r0", "%r1") NEXT USE("%r1"), true},
    {"a count that looks again", LOOK ADD SWAP("%r0", "%r1") UNLESS_SAME("LOOK") USE("%r0"), true},
    {"a count that ends if it is right",
     LOOK ADD SWAP("%r0", "%r1") "setp.eq.u32 %p0, %r2, %r0;\n@%p0 bra DONE;\nmov.u32 %r0, %r2;\nbra AGAIN;\n", true},
    {"it decides whether to look again",
     LOOK "and.b32 %r3, %r0, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra LOOK;\n" ADD SWAP("%r0", "%r1")
         UNLESS_SAME("LOOK"),
     true},
    {"a lock that is looked at and then taken",
     LOOK "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra LOOK;\n" SWAP("0", "1") "setp.ne.u32 %p0, %r2, 0;\n@%p0 bra LOOK;\n",
     true},
    {"half of a word", LOOK HALVES("0x3254") HALF_AGAIN USE("%r2"), true},
    {"the other half, or that one",
     LOOK "mov.u32 %r6, %tid.x;\nsetp.eq.u32 %p1, %r6, 0;\nselp.b32 %r7, 0x3254, 0x5410, %p1;\n" HALVES("%r7")
         HALF_AGAIN USE("%r2"),
     true},
    {"a count whose first round stands apart",
     LOOK "add.u32 %r1, %r0, 1;\n" SWAP(
         "%r0", "%r1") "setp.eq.u32 %p0, %r2, %r0;\n@%p0 bra DONE;\nmov.u32 %r0, %r2;\n" ADD SWAP("%r0", "%r1") NEXT,
     true},
    {"64 bits", LOOK64 ADD64 SWAP64("%l2", "%l3") NEXT64 "st.global.u64 [%l0+8], %l2;\n", true},
    {"64 bits, the halves of which decide whether to look again",
     LOOK64 "mov.b64 {%r0, %r1}, %l2;\nsetp.eq.u32 %p1, %r0, %r1;\n@%p1 bra LOOK;\n" ADD64 SWAP64(
         "%l2", "%l3") "setp.ne.u64 %p0, %l4, %l2;\n@%p0 bra LOOK;\nst.global.u32 [%l0+8], %r1;\n",
     true},
    {"another word, looked at behind it, ends the loop",
     LOOK EMPTY("MORE") TAKE
     "MORE: ld.relaxed.gpu.global.u32 %r4, [%l0+16];\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 bra LOOK;\n",
     true},
    {"an addition of zero ends the loop",
     LOOK EMPTY("MORE") TAKE "MORE: atom.relaxed.gpu.global.add.u32 %r4, [%l0+16], 0;\nsetp.ne.u32 %p2, %r4, 0;\n"
                             "@%p2 bra LOOK;\n",
     true},

    {"a node that is pushed", LOOK "AGAIN: " USE("%r0") SWAP("%r0", "7") NEXT, true},
    {"a node that is pushed, and read behind that", LOOK "AGAIN: " USE("%r0") SWAP("%r0", "7") NEXT USE("%r0"), true},
    {"a node that is pushed, with a fence",
     LOOK "AGAIN: add.u32 %r1, %r0, 1;\n" USE("%r1") "membar.gl;\n" SWAP("%r0", "7") NEXT, true},
    {"a node that is pushed, and another look in each round", LOOK USE("%r0") SWAP("%r0", "7") UNLESS_SAME("LOOK"),
     true},
    {"a node of 64 bits that is pushed",
     LOOK64 "AGAIN: mov.b64 {%r0, %r1}, %l2;\n" USE("%r0") "add.u64 %l3, %l2, 7;\n" SWAP64("%l2", "%l3") NEXT64,
     true},

    {"a node that is pushed, and stored once only", LOOK USE("%r0") "AGAIN: " SWAP("%r0", "7") NEXT, false},
    {"two words of a node that is pushed",
     LOOK "AGAIN: " USE("%r0") "st.global.u32 [%l0+12], %r0;\n" SWAP("%r0", "7") NEXT, false},
    {"another node in each round",
     LOOK "mov.u64 %l1, %l0;\nAGAIN: st.global.u32 [%l1+8], %r0;\nadd.u64 %l1, %l1, 4;\n" SWAP("%r0", "7") NEXT,
     false},
    {"a node that is pushed, and told of before",
     LOOK "AGAIN: " USE("%r0") "st.global.u32 [%l0+16], 1;\n" SWAP("%r0", "7") NEXT, false},
    {"a node that is pushed otherwise at last",
     LOOK USE("%r0") SWAP("%r0", "7") "setp.eq.u32 %p0, %r2, %r0;\n@%p0 bra DONE;\nst.global.u32 [%l0], 7;\n", false},
    {"64 bits, and it is stored before", LOOK64 "st.global.u64 [%l0+8], %l2;\n" ADD64 SWAP64("%l2", "%l3") NEXT64,
     false},
    {"64 bits, and the high half is stored if it wasn't right",
     LOOK64 ADD64 SWAP64("%l2", "%l3") "setp.eq.u64 %p0, %l4, %l2;\n@%p0 bra DONE;\nmov.b64 {%r0, %r1}, %l2;\n"
                                       "st.global.u32 [%l0+8], %r1;\nbra LOOK;\n",
     false},
    {"64 bits, of which the low ones alone are asked for",
     LOOK64 ADD64 SWAP64("%l2",
                         "%l3") "mov.b64 {%r0, %r1}, %l2;\nmov.b64 {%r2, %r3}, %l4;\nsetp.ne.u32 %p0, %r2, %r0;\n"
                                "mov.u64 %l2, %l4;\n@%p0 bra AGAIN;\nst.global.u64 [%l0+8], %l2;\n",
     false},
    {"64 bits, and halves of two words are compared",
     LOOK64 "AGAIN: mov.b64 {%r0, %r1}, %l2;\nmov.b64 %l3, {%r0, %r0};\n" SWAP64(
         "%l3", "1") "setp.ne.u64 %p0, %l4, %l3;\n@%p0 bra LOOK;\nst.global.u64 [%l0+8], %l2;\n",
     false},
    {"another word, looked at before it, ends the loop",
     "ld.param.u64 %l0, [in];\nLOOK: ld.volatile.global.u32 %r4, [%l0+16];\nld.relaxed.gpu.global.u32 %r0, "
     "[%l0];\n" EMPTY("MORE") TAKE "MORE: setp.ne.u32 %p2, %r4, 0;\n@%p2 bra LOOK;\n",
     false},
    {"it ends behind a look at another word, whatever that finds",
     LOOK EMPTY("MORE") TAKE "MORE: ld.relaxed.gpu.global.u32 %r4, [%l0+16];\n" USE("%r4"), false},
    {"another word, counted up behind it, ends the loop",
     LOOK EMPTY("MORE") TAKE "MORE: atom.relaxed.gpu.global.add.u32 %r4, [%l0+16], 1;\nsetp.ne.u32 %p2, %r4, 0;\n"
                             "@%p2 bra LOOK;\n",
     false},
    {"who leaves by another word takes it along",
     LOOK EMPTY("MORE") TAKE
     "MORE: ld.relaxed.gpu.global.u32 %r4, [%l0+16];\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 bra LOOK;\n" USE("%r0"),
     false},
    {"if it wasn't right something else is tried",
     LOOK "add.u32 %r1, %r0, 1;\n" SWAP("%r0", "%r1") "setp.eq.u32 %p0, %r2, %r0;\n@%p0 bra DONE;\n" SWAP("0", "7"),
     false},
    {"nobody asks whether it was right", LOOK ADD SWAP("%r0", "%r1"), false},
    {"it gives up if it wasn't right", LOOK ADD SWAP("%r0", "%r1") UNLESS_SAME("DONE") USE("%r2"), false},
    {"it is stored before", LOOK USE("%r0") ADD SWAP("%r0", "%r1") NEXT, false},
    {"it is stored if it wasn't right",
     LOOK ADD SWAP("%r0", "%r1") "setp.eq.u32 %p0, %r2, %r0;\n@%p0 bra DONE;\n" USE("%r0") "bra LOOK;\n", false},
    {"it is an address",
     LOOK "AGAIN: mul.wide.u32 %l1, %r0, 4;\nadd.u64 %l1, %l0, %l1;\nld.global.u32 %r1, [%l1];\n" SWAP("%r0", "%r1")
         NEXT,
     false},
    {"it decides whether anything is done",
     LOOK "setp.eq.u32 %p1, %r0, 5;\n@%p1 bra DONE;\n" ADD SWAP("%r0", "%r1") NEXT, false},
    {"it decides whether something else is done, too",
     LOOK "setp.eq.u32 %p1, %r0, 5;\n@%p1 bra AGAIN;\n" USE("7") ADD SWAP("%r0", "%r1") NEXT, false},
    {"it guards a store", LOOK "setp.eq.u32 %p1, %r0, 5;\n@%p1 " USE("7") ADD SWAP("%r0", "%r1") NEXT, false},
    {"something else is compared", LOOK ADD SWAP("%r1", "%r0") NEXT, false},
    {"a constant is compared", LOOK ADD SWAP("0", "%r1") NEXT, false},
    {"another word", LOOK ADD "atom.relaxed.gpu.global.cas.b32 %r2, [%l0+4], %r0, %r1;\n" NEXT, false},
    {"the next word each time",
     LOOK "setp.eq.u32 %p1, %r0, 5;\nadd.u64 %l0, %l0, 4;\n@%p1 bra LOOK;\n" ADD SWAP("%r0", "%r1") NEXT, false},
    {"the result is less",
     LOOK ADD SWAP("%r0", "%r1") "setp.lt.u32 %p0, %r2, %r0;\nmov.u32 %r0, %r2;\n@%p0 bra AGAIN;\n", false},
    {"the result is something else",
     LOOK "mov.u32 %r6, %tid.x;\n" ADD SWAP("%r0", "%r1") "setp.ne.u32 %p0, %r2, %r6;\n@%p0 bra LOOK;\n" USE("%r0"),
     false},
    {"an exchange tells nothing of it", LOOK ADD "atom.relaxed.gpu.global.exch.b32 %r2, [%l0], %r1;\n" NEXT, false},
    {"the value of the round before is kept",
     LOOK ADD SWAP(
         "%r0", "%r1") "setp.eq.u32 %p0, %r2, %r0;\n@%p0 bra LAST;\nmov.u32 %r7, %r0;\nbra LOOK;\nLAST: " USE("%r7"),
     false},
    {"half of a word, moved", LOOK HALVES("0x2254") HALF_AGAIN, false},
    {"half of a word, and all of it is stored",
     LOOK "AGAIN: " PUT("%r3", "%r0", "0", "0x3254") "add.u32 %r1, %r0, 1;\n" SWAP("%r3", "%r1")
         PUT("%r4", "%r2", "0", "0x3254") PUT("%r5", "%r3", "0", "0x3254") HALF_AGAIN,
     false},
    {"half of a word, and the other half is asked for",
     LOOK "AGAIN: " PUT("%r3", "%r0", "0", "0x3254") PUT("%r1", "%r0", "1", "0x3254") SWAP("%r3", "%r1")
         PUT("%r4", "%r2", "0", "0x5410") PUT("%r5", "%r3", "0", "0x5410") HALF_AGAIN,
     false},
    {"half of a word, and the other one is used", LOOK HALVES("0x3254") HALF_AGAIN USE("%r3"), true},
    {"half of a word, and the old word is used",
     LOOK "AGAIN: mov.u32 %r6, %r0;\n" HALVES_OF("0x3254") HALF_AGAIN USE("%r6"), false},
};

START_TEST(finds_guesses) {
  static const PtxTarget target = {.capability = 90, .convergence_barriers = true, .max_registers = 255};
  const Case *test = &cases[_i];
  g_autoptr(Program) program = ptx_lab_lower_body(test->text, &target);
  const Kernel *kernel = program_kernel(program, 0);
  g_autofree bool *guesses = guesses_find(kernel);
  bool found = false;
  for (uint32_t pc = 0; guesses && pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_LD && kernel->insts[pc].sem == SEM_RELAXED)
      found |= guesses[pc];
  ck_assert_msg(found == test->guess, "%s: %s", test->name, found ? "a guess" : "no guess");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("guesses");
  TCase *tcase = tcase_create("guesses");
  tcase_add_loop_test(tcase, finds_guesses, 0, G_N_ELEMENTS(cases));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
