#include <glib.h>

#include "sim/detect/race/decides.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* A kernel, the source line of an access, and those of the loads that decide it; 0: no more. */
typedef struct Case {
  const char *name, *text;
  unsigned access, decide[3];
} Case;

#define HEAD ".target sm_20\n.kernel k\n.shared 512\n" /* lines 1 to 3 */
#define END "EXIT;\n"
#define TEST(pred, reg) "ISETP.EQ.AND " pred ", pt, " reg ", RZ, pt;\n"

static const Case cases[] = {
    {"nothing", HEAD "LD.CV R1, [R0];\nLD.CV R2, [R4];\n" END, 5, {0}},
    {"a value that is stored", HEAD "LD.CV R1, [R0];\nST [R6], R1;\nLD.CV R2, [R4];\n" END, 6, {0}},
    {"the end of a loop",
     HEAD "wait: LD.CV R1, [R0];\n" TEST("P0", "R1") "@P0 BRA wait;\nLD.CV R2, [R4];\n" END,
     7,
     {4}},
    {"a condition", HEAD "LD.CV R1, [R0];\n" TEST("P0", "R1") "@P0 BRA out;\nLD.CV R2, [R4];\nout: " END, 7, {4}},
    {"an early exit", HEAD "LD.CV R1, [R0];\n" TEST("P0", "R1") "@P0 EXIT;\nLD.CV R2, [R4];\n" END, 7, {4}},
    {"a guard", HEAD "LD.CV R1, [R0];\n" TEST("P0", "R1") "@P0 LD.CV R2, [R4];\n" END, 6, {4}},
    {"an address", HEAD "LD.CV R1, [R0];\nIADD R1, R1, R5;\nLD.CV R2, [R1];\n" END, 6, {4}},
    {"an address that was replaced", HEAD "LD.CV R1, [R0];\nMOV R1, R5;\nLD.CV R2, [R1];\n" END, 6, {0}},
    {"an address that some lanes replaced", HEAD "LD.CV R1, [R0];\n@P1 MOV R1, R5;\nLD.CV R2, [R1];\n" END, 6, {4}},
    {"a condition whose ways meet before",
     HEAD "LD.CV R1, [R0];\n" TEST("P0", "R1") "@P0 BRA out;\nST [R6], R7;\nout: LD.CV R2, [R4];\n" END,
     8,
     {0}},
    {"a condition that chooses the address",
     HEAD "LD.CV R1, [R0];\n" TEST("P0", "R1") "@P0 BRA out;\nMOV R4, R7;\nout: LD.CV R2, [R4];\n" END,
     8,
     {4}},
    {"a condition of a condition",
     HEAD "wait: LD.CV R1, [R0];\n" TEST("P0", "R1") "@P0 BRA wait;\n@P1 BRA out;\nLD.CV R2, [R4];\nout: " END,
     8,
     {4}},
    {"the same condition, a round later",
     HEAD "again: LD.CV R2, [R4];\nLD.CV R1, [R0];\n" TEST("P0", "R1") "@P0 BRA again;\n" END,
     4,
     {5}},
    {"a seqlock: the number decides, not the words",
     HEAD
     "again: LD.CV R1, [R0];\nLD.CV R2, [R4];\nLD.CV R3, [R5];\nISETP.NE.AND P0, pt, R1, R2, pt;\n@P0 BRA again;\n"
     "ISETP.NE.AND P0, pt, R3, RZ, pt;\n@P0 BRA out;\nST [R6], R7;\nout: IADD R8, R8, -0x1;\n"
     "ISETP.NE.AND P0, pt, R8, RZ, pt;\n@P0 BRA again;\n" END,
     6,
     {4, 5}},
    {"through shared memory",
     HEAD "LD.CV R1, [R0];\nSTS [RZ], R1;\nBAR.SYNC 0x0;\nLDS R2, [RZ];\n" TEST(
         "P0", "R2") "@P0 EXIT;\nLD.CV R3, [R4];\n" END,
     10,
     {4, 7}},
};

START_TEST(finds_what_decides_an_access) {
  const Case *test = &cases[_i];
  g_autoptr(Program) program = lab_parse(test->text);
  const Kernel *kernel = program_kernel(program, 0);
  g_autofree bool *accesses = g_new0(bool, kernel->ninsts);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    accesses[pc] = kernel->insts[pc].line == test->access;
  g_autofree bool *decides = decides_find(kernel, accesses, true, NULL);
  unsigned count = 0;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    if (!decides[pc])
      continue;
    ck_assert_msg(count < G_N_ELEMENTS(test->decide) && test->decide[count] == kernel->insts[pc].line,
                  "%s: line %u decides", test->name, kernel->insts[pc].line);
    count++;
  }
  ck_assert_msg(count == G_N_ELEMENTS(test->decide) || test->decide[count] == 0, "%s: line %u doesn't decide",
                test->name, test->decide[count]);
}
END_TEST

/* What the store leaves there isn't looked for. */
START_TEST(leaves_out_what_decides_by_stores) {
  g_autoptr(Program) program = lab_parse(HEAD "LD.CV R1, [R0];\nSTS [RZ], R1;\nBAR.SYNC 0x0;\nLDS R2, [RZ];\n" TEST(
      "P0", "R2") "@P0 EXIT;\nLD.CV R3, [R4];\n" END);
  const Kernel *kernel = program_kernel(program, 0);
  g_autofree bool *accesses = g_new0(bool, kernel->ninsts);
  accesses[6] = true;
  g_autofree bool *decides = decides_find(kernel, accesses, false, NULL);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    ck_assert(decides[pc] == (kernel->insts[pc].line == 7));
}
END_TEST

/* The same where searches end in any case. `decide` is what decides then; R9: where a search begins; R8: its step. */
#define PROBE "look: LD.CV R1, [R9];\n" TEST("P0", "R1") "@P0 BRA out;\nIADD R9, R9, R8;\nBRA look;\nout: "
static const Case searches[] = {
    {"what comes behind a search", HEAD PROBE "LD.CV R2, [R4];\n" END, 9, {0}},
    {"the place that it found", HEAD PROBE "LD.CV R2, [R9+0x400];\n" END, 9, {4}},
    {"another round", HEAD PROBE END, 4, {0}},
    {"a way out of two",
     HEAD "look: LD.CV R1, [R9];\n" TEST("P0", "R1") "@P0 BRA out;\nIADD R9, R9, R8;\n" TEST("P1", "R9")
     "@P1 BRA look;\nLD.CV R2, [R4];\nout: " END, 10, {4}},
    {"the first round before the loop",
     HEAD "LD.CV R1, [R9];\n" TEST("P0", "R1") "@P0 BRA out;\nlook: IADD R9, R9, R8;\nLD.CV R1, [R9];\n"
     TEST("P0", "R1") "@!P0 BRA look;\nout: LD.CV R2, [R4];\n" END, 11, {0}},
    {"a wait, which looks at one place",
     HEAD "look: LD.CV R1, [R9];\n" TEST("P0", "R1") "@P0 BRA look;\nLD.CV R2, [R4];\n" END, 7, {4}},
    {"a list, whose elements lead on",
     HEAD "look: LD.CV R9, [R9];\n" TEST("P0", "R9") "@!P0 BRA look;\nLD.CV R2, [R4];\n" END, 7, {4}},
    {"a loop that changes memory",
     HEAD "look: LD.CV R1, [R9];\nST [R9], R7;\nIADD R9, R9, R8;\n" TEST("P0", "R1")
     "@!P0 BRA look;\nLD.CV R2, [R4];\n" END, 9, {4}},
};

START_TEST(searches_end) {
  const Case *test = &searches[_i];
  g_autoptr(Program) program = lab_parse(test->text);
  const Kernel *kernel = program_kernel(program, 0);
  g_autofree bool *accesses = g_new0(bool, kernel->ninsts);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    accesses[pc] = kernel->insts[pc].line == test->access;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  g_autoptr(SearchLoops) loops = search_loops_find(kernel, cfg);
  g_autofree bool *decides = decides_find(kernel, accesses, false, loops);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    ck_assert_msg(decides[pc] == (kernel->insts[pc].line == test->decide[0]), "%s: line %u %s", test->name,
                  kernel->insts[pc].line, decides[pc] ? "decides" : "doesn't decide");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("decides");
  TCase *tcase = tcase_create("decides");
  tcase_add_loop_test(tcase, finds_what_decides_an_access, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, leaves_out_what_decides_by_stores);
  tcase_add_loop_test(tcase, searches_end, 0, G_N_ELEMENTS(searches));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
