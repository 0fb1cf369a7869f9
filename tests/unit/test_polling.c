#include <glib.h>

#include "sim/detect/race/polling.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* A kernel and the source lines of its polling loads, 0: no more. */
typedef struct Case {
  const char *name, *text;
  unsigned polls[3];
} Case;

#define HEAD ".target sm_20\n.kernel k\n.shared 512\n" /* lines 1 to 3 */
#define END "EXIT;\n"

static const Case cases[] = {
    {"no loop", HEAD "LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 EXIT;\n" END, {0}},
    {"a spin loop", HEAD "wait: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\n" END, {4}},
    {"in global memory", HEAD "wait: LD R1, [R0];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\n" END, {4}},
    {"two words",
     HEAD "wait: LDS R1, [RZ];\nLDS R2, [0x4];\nLOP.AND R3, R1, R2;\nISETP.EQ.AND P0, pt, R3, RZ, pt;\n"
          "@P0 BRA wait;\n" END,
     {4, 5}},
    {"two branches",
     HEAD "wait: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\nLDS R2, [0x4];\n"
          "ISETP.EQ.AND P0, pt, R2, RZ, pt;\n@P0 BRA wait;\n" END,
     {4, 7}},
    {"with a pair of registers",
     HEAD "wait: LDS.64 R2, [RZ];\nISETP.EQ.AND P0, pt, R3, RZ, pt;\n@P0 BRA wait;\n" END,
     {4}},
    {"by an exit", HEAD "wait: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 EXIT;\nBRA wait;\n", {4}},
    {"by a break",
     HEAD "PBK out;\nwait: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRK;\nBRA wait;\nout: EXIT;\n",
     {5}},
    {"by a vote",
     HEAD "wait: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\nVOTE.ANY RZ, P1, P0;\n@P1 BRA wait;\n" END,
     {4}},
    {"with a time limit",
     HEAD "wait: LDS R1, [RZ];\nIADD R2, R2, 0x1;\nISETP.LT.AND P1, pt, R2, 0x100, pt;\n"
          "ISETP.EQ.AND P0, pt, R1, RZ, P1;\n@P0 BRA wait;\n" END,
     {4}},
    {"with backoff",
     HEAD "wait: LDS R1, [RZ];\nMOV R2, R3;\npause: IADD R2, R2, -0x1;\nISETP.GT.AND P1, pt, R2, RZ, pt;\n"
          "@P1 BRA pause;\nSHL R3, R3, 0x1;\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\n" END,
     {4}},
    {"inside a loop over messages",
     HEAD "next: IADD R2, R2, 0x1;\nwait: LDS R1, [RZ];\nISETP.NE.AND P0, pt, R1, R2, pt;\n"
          "@P0 BRA wait;\nISETP.LT.AND P0, pt, R2, 0x5, pt;\n@P0 BRA next;\n" END,
     {5}},
    {"at the head of that loop",
     HEAD "wait: LDS R1, [RZ];\nISETP.NE.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\n"
          "IADD R2, R2, 0x1;\nISETP.LT.AND P0, pt, R2, 0x5, pt;\n@P0 BRA wait;\n" END,
     {4}},
    {"beside the number of the round",
     HEAD "again: LDS R1, [RZ];\nISETP.NE.AND P0, pt, R1, R2, pt;\n@P0 BRA skip;\nIADD R2, R2, 0x1;\n"
          "MOV32I R3, 0x1;\nskip: ISETP.EQ.AND P1, pt, R3, RZ, pt;\n@P1 BRA again;\n" END,
     {4}},
    {"beside a number that every look changes",
     HEAD "again: LDS R1, [RZ];\nIADD R2, R2, 0x1;\nISETP.NE.AND P0, pt, R1, R2, pt;\n@P0 BRA skip;\n"
          "MOV32I R3, 0x1;\nskip: ISETP.EQ.AND P1, pt, R3, RZ, pt;\n@P1 BRA again;\n" END,
     {0}},
    {"beside a counter that goes on until it has come so far",
     HEAD "again: LDS R1, [RZ];\nISETP.LE.AND P0, pt, R1, R2, pt;\n@P0 BRA last;\nIADD R2, R2, 0x1;\nBRA next;\n"
          "last: MOV32I R3, 0x1;\nnext: ISETP.EQ.AND P1, pt, R3, RZ, pt;\n@P1 BRA again;\n" END,
     {0}},
    {"beside a count that decides for itself",
     HEAD "again: LDS R1, [RZ];\nISETP.NE.AND P0, pt, R1, R4, pt;\n@P0 BRA skip;\nMOV32I R5, 0x1;\n"
          "skip: ISETP.LT.AND P2, pt, R2, 0x5, pt;\n@!P2 BRA full;\nIADD R2, R2, 0x1;\n"
          "full: ISETP.NE.AND P1, pt, R2, 0x5, pt;\n@P1 BRA again;\n" END,
     {0}},
    {"all of it in one loop",
     HEAD "again: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA skip;\nSTS [RZ], RZ;\n"
          "MOV32I R2, 0x1;\nskip: ISETP.EQ.AND P1, pt, R2, RZ, pt;\n@P1 BRA again;\n" END,
     {4}},
    {"messages in one loop",
     HEAD "again: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA skip;\nSTS [RZ], RZ;\n"
          "IADD R2, R2, 0x1;\nskip: ISETP.LT.AND P1, pt, R2, 0x5, pt;\n@P1 BRA again;\n" END,
     {4}},
    {"the same under a guard",
     HEAD "again: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@!P0 STS [RZ], RZ;\n"
          "@!P0 IADD R2, R2, 0x1;\nISETP.LT.AND P1, pt, R2, 0x5, pt;\n@P1 BRA again;\n" END,
     {4}},
    {"a turn is passed on in the loop",
     HEAD "again: LDS R4, [RZ];\nISETP.EQ.AND P0, pt, R4, R0, pt;\n@P0 IADD R4, R4, 0x1;\n"
          "@P0 STS [RZ], R4;\n@!P0 BRA again;\n" END,
     {4}},
    {"the register has another use",
     HEAD "again: LDS R4, [RZ];\nISETP.EQ.AND P0, pt, R4, R0, pt;\n@P0 LDS R4, [0x4];\n"
          "@P0 IADD R4, R4, 0x1;\n@P0 STS [0x4], R4;\n@!P0 BRA again;\n" END,
     {4}},
    {"the address is made anew",
     HEAD "wait: SHL R1, R0, 0x2;\nLDS R2, [R1];\nISETP.EQ.AND P0, pt, R2, RZ, pt;\n@P0 BRA wait;\n" END,
     {5}},
    {"the loop was turned round",
     HEAD "LDS R1, [RZ];\nISETP.NE.AND P0, pt, R1, RZ, pt;\n@P0 BRA out;\nwait: IADD R2, R2, 0x1;\n"
          "LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\nout: EXIT;\n",
     {4, 8}},

    {"the address walks",
     HEAD "again: LDS R1, [R0];\nIADD R0, R0, 0x4;\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA again;\n" END,
     {0}},
    {"a chain of pointers", HEAD "again: LDS R0, [R0];\nISETP.NE.AND P0, pt, R0, RZ, pt;\n@P0 BRA again;\n" END, {0}},
    {"the value ends nothing",
     HEAD "again: LDS R1, [RZ];\nSTS [0x4], R1;\nIADD R2, R2, 0x1;\nISETP.LT.AND P0, pt, R2, 0x5, pt;\n"
          "@P0 BRA again;\n" END,
     {0}},
    {"the value chooses inside only",
     HEAD "again: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA skip;\nSTS [0x4], R1;\n"
          "skip: IADD R2, R2, 0x1;\nISETP.LT.AND P1, pt, R2, 0x5, pt;\n@P1 BRA again;\n" END,
     {0}},
    {"the value chooses the step",
     HEAD "again: LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 IADD R2, R2, 0x1;\n"
          "@!P0 IADD R2, R2, 0x2;\nISETP.LT.AND P1, pt, R2, 0x5, pt;\n@P1 BRA again;\n" END,
     {0}},
    {"a bound",
     HEAD "again: STS [R3], R0;\nIADD R2, R2, 0x1;\nLDS R1, [0x4];\nISETP.LT.AND P0, pt, R2, R1, pt;\n@P0 BRA "
          "again;\n" END,
     {0}},
    {"a sum",
     HEAD "again: LDS R1, [RZ];\nIADD R2, R2, R1;\nISETP.LT.AND P0, pt, R2, 0x64, pt;\n@P0 BRA again;\n" END,
     {0}},
    {"a counter",
     HEAD
     "again: LDS R1, [RZ];\nIADD R2, R1, 0x1;\nSTS [RZ], R2;\nISETP.LT.AND P0, pt, R1, R5, pt;\n@P0 BRA again;\n" END,
     {0}},
    {"a counter under a lock bit",
     HEAD "again: LDSLK P1, R1, [RZ];\n@!P1 BRA again;\nLDS R1, [0x4];\nIADD R2, R1, 0x1;\n"
          "STS [0x4], R2;\nSTSUL [RZ], RZ;\nISETP.LT.AND P0, pt, R1, R5, pt;\n@P0 BRA again;\n" END,
     {0}},
    {"a barrier in each round",
     HEAD "again: BAR.SYNC 0x0;\nLDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA again;\n" END,
     {0}},
    {"a poll between barriers",
     HEAD "again: BAR.SYNC 0x0;\nIADD R2, R2, 0x1;\nwait: LDS R1, [RZ];\n"
          "ISETP.LT.AND P0, pt, R1, R2, pt;\n@P0 BRA wait;\nISETP.LT.AND P0, pt, R2, 0x5, pt;\n@P0 BRA again;\n" END,
     {6}},
    {"never", HEAD "wait: @!pt LDS R1, [RZ];\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\n" END, {0}},
    {"an atomic isn't a load",
     HEAD "wait: ATOM.ADD R1, [R0], RZ;\nISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\n" END,
     {0}},
};

static void check_case(const Case *test, bool *(*find)(const Kernel *kernel)) {
  g_autoptr(Program) program = lab_parse(test->text);
  const Kernel *kernel = program_kernel(program, 0);
  g_autofree bool *polls = find(kernel);
  unsigned count = 0;
  for (uint32_t pc = 0; polls && pc < kernel->ninsts; pc++) {
    if (!polls[pc])
      continue;
    ck_assert_msg(count < G_N_ELEMENTS(test->polls) && test->polls[count] == kernel->insts[pc].line,
                  "%s: line %u polls, expected %u", test->name, kernel->insts[pc].line, test->polls[count]);
    count++;
  }
  ck_assert_msg(count == G_N_ELEMENTS(test->polls) || test->polls[count] == 0, "%s: line %u doesn't poll", test->name,
                test->polls[count]);
  ck_assert_msg(polls || !test->polls[0], "%s", test->name);
}

START_TEST(finds_the_polling_loads_and_no_others) { check_case(&cases[_i], polling_loads); }
END_TEST

static const Case try_cases[] = {
    {"a lock bit", HEAD "again: LDSLK P1, R1, [RZ];\n@!P1 BRA again;\nSTSUL [RZ], RZ;\n" END, {4}},
    {"a lock bit, freed in the loop",
     HEAD "again: LDSLK P1, R1, [RZ];\n@P1 IADD R1, R1, 0x1;\n@P1 STSUL [RZ], R1;\n@!P1 BRA again;\n" END,
     {4}},
    {"a compare-and-swap",
     HEAD "wait: ATOM.CAS R1, [R0], RZ, R2;\nISETP.NE.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\n" END,
     {4}},
    {"a load behind a lock bit",
     HEAD "again: LDSLK P1, R1, [RZ];\n@!P1 BRA again;\nwait: LDS R1, [0x4];\n"
          "ISETP.EQ.AND P0, pt, R1, RZ, pt;\n@P0 BRA wait;\n" END,
     {4, 6}},
    {"an atomic whose result nobody asks",
     HEAD "again: ATOM.ADD R1, [R0], R2;\nIADD R3, R3, -0x1;\nISETP.GT.AND P0, pt, R3, RZ, pt;\n@P0 BRA again;\n" END,
     {0}},
    {"a lock bit, without a loop", HEAD "LDSLK P1, R1, [RZ];\n@P1 STSUL [RZ], RZ;\n" END, {0}},
};

#define WORK "ATOM.ADD R4, [R0], R2;\n"
static const Case wait_cases[] = {
    {"tried again, until another word ends the loop",
     HEAD "again: LD R1, [R0+0x4];\nISETP.GE.AND P0, pt, R5, R1, pt;\n@P0 BRA next;\n" WORK
          "next: LD R2, [R0+0x8];\nISETP.GT.AND P0, pt, R2, RZ, pt;\n@P0 BRA again;\n" END,
     {4, 8}},
    {"behind the word that ends the loop",
     HEAD
     "again: LD R2, [R0+0x8];\nISETP.EQ.AND P1, pt, R2, RZ, pt;\nLD R1, [R0+0x4];\nISETP.GE.AND P0, pt, R5, R1, pt;\n"
     "@P0 BRA next;\n" WORK "next: @P1 BRA again;\n" END,
     {4}},
    {"an old value, and the word that ended the loop was loaded before",
     HEAD "again: LD R2, [R0+0x8];\nLD R1, [R0+0x4];\nISETP.GE.AND P0, pt, R5, R1, pt;\n@P0 BRA none;\n" WORK
          "BRA again;\nnone: ISETP.EQ.AND P1, pt, R2, RZ, pt;\n@P1 BRA again;\n" END,
     {4}},
    {"an old value, and the word that ended the loop was loaded behind",
     HEAD "again: LD R1, [R0+0x4];\nISETP.GE.AND P0, pt, R5, R1, pt;\n@P0 BRA none;\n" WORK
          "BRA again;\nnone: LD R2, [R0+0x8];\nISETP.EQ.AND P1, pt, R2, RZ, pt;\n@P1 BRA again;\n" END,
     {4, 9}},
    {"a round stores",
     HEAD "again: LD R1, [R0+0x4];\nISETP.GE.AND P0, pt, R5, R1, pt;\n@P0 BRA next;\n" WORK
          "next: ST [R0+0x8], R1;\nIADD R3, R3, -0x1;\nISETP.GT.AND P0, pt, R3, RZ, pt;\n@P0 BRA again;\n" END,
     {0}},
};

START_TEST(finds_loads_that_are_tried_again) { check_case(&wait_cases[_i], polling_waits); }
END_TEST

START_TEST(finds_tries_to_take_locks) { check_case(&try_cases[_i], polling_tries); }
END_TEST

/* Loops inside each other, each with a load: time stays bounded. */
START_TEST(large_kernels_are_bounded) {
  GString *text = g_string_new(HEAD);
  for (unsigned i = 0; i < 3000; i++)
    g_string_append_printf(text, "L%u: LDS R1, [RZ];\n", i);
  for (unsigned i = 0; i < 3000; i++)
    g_string_append_printf(text, "ISETP.EQ.AND P0, pt, R1, RZ, pt; @P0 BRA L%u;\n", i);
  g_string_append(text, END);
  g_autoptr(Program) program = lab_parse(text->str);
  g_autofree bool *polls = polling_loads(program_kernel(program, 0));
  g_string_free(text, TRUE);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("polling");
  TCase *tcase = tcase_create("polling");
  tcase_add_loop_test(tcase, finds_the_polling_loads_and_no_others, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, finds_loads_that_are_tried_again, 0, G_N_ELEMENTS(wait_cases));
  tcase_add_loop_test(tcase, finds_tries_to_take_locks, 0, G_N_ELEMENTS(try_cases));
  tcase_add_test(tcase, large_kernels_are_bounded);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
