/* What lowering keeps of a kernel's order: where lanes meet, marks, labels, ends, lines of the source. */
#include <glib.h>
#include <string.h>

#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

static const PtxTarget pascal = {.capability = 61, .max_registers = 255};
static const PtxTarget hopper = {.capability = 90, .convergence_barriers = true, .max_registers = 255};

/* -- warps of machines with convergence barriers -- */

START_TEST(asks_lanes_to_meet) {
  g_autofree char *text = g_strconcat(
      LAB_OPEN, "setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3; bar.warp.sync %r3;",
      LAB_CLOSE, NULL);
  g_autoptr(Program) barriers = ptx_lab_lower_good(text, &hopper), stack = ptx_lab_lower_good(text, &pascal);
  g_autofree char *with = ptx_lab_opcodes(program_kernel(barriers, 0)),
                  *without = ptx_lab_opcodes(program_kernel(stack, 0));
  ck_assert_msg(strstr(with, "WARPSYNC SHFL WARPSYNC"), "%s", with);
  ck_assert_str_eq(without, "ISETP EXIT WARPSYNC SHFL WARPSYNC EXIT"); /* for their mask */
}
END_TEST

/* -- marks, labels, lines -- */

/* Where lanes run in lock-step a meeting leaves its mark on the next instruction that is left, or stays if that isn't
 * only for those who met. */
START_TEST(leaves_out_meetings) {
  static const struct {
    const char *body, *opcodes;
    uint32_t synced; /* mask of instructions */
  } cases[] = {
      {"bar.warp.sync -1; st.u32 [%l1], %r1;", "ST EXIT", 1u << 0},
      {"bar.warp.sync -1; mov.u32 %r4, 7; ld.u32 %r5, [%l1];", "LD EXIT", 1u << 0},
      {"bar.warp.sync %r3; mov.u32 %r4, 7; ld.u32 %r5, [%l1];", "WARPSYNC LD EXIT", 0},
      {"mov.u32 %r4, -1; bar.warp.sync %r4; ld.u32 %r5, [%l1];", "LD EXIT", 1u << 0},
      {"bar.warp.sync 255; ld.u32 %r5, [%l1];", "WARPSYNC LD EXIT", 0},
      {"shfl.sync.idx.b32 %r1, %r2, 0, 31, -1; vote.sync.any.pred %p1, %p2, %r3;", "SHFL VOTE EXIT", 3u},
      {"shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3; vote.sync.any.pred %p1, %p2, %r3;", "WARPSYNC SHFL VOTE EXIT", 4u},
      {"setp.eq.u32 %p1, %r1, 0; @%p1 bra OVER; bar.warp.sync -1; OVER: st.u32 [%l1], %r1;",
       "ISETP BRA WARPSYNC ST EXIT", 0},
      {"setp.eq.u32 %p1, %r1, 0; @%p1 bar.warp.sync -1; st.u32 [%l1], %r1;", "ISETP WARPSYNC ST EXIT", 0},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Program) program = ptx_lab_lower_body(cases[i].body, &pascal);
    const Kernel *kernel = program_kernel(program, 0);
    g_autofree char *found = ptx_lab_opcodes(kernel);
    ck_assert_str_eq(found, cases[i].opcodes);
    for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
      ck_assert_msg(!!(kernel->insts[pc].flags & INST_SYNCED) == (cases[i].synced >> pc & 1), "%s: %u", cases[i].body,
                    pc);
  }
}
END_TEST

START_TEST(keeps_marks_and_labels) {
  g_autoptr(Program) program =
      ptx_lab_lower_body("pmevent 3; AGAIN: add.u32 %r1, %r1, 1; pmevent.mask 5; @%p1 bra AGAIN;", &pascal);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->nmarks, 3);
  ck_assert(kernel->marks[0].pc == 0 && kernel->marks[0].number == 3);
  ck_assert(kernel->marks[1].pc == 1 && kernel->marks[1].number == 0);
  ck_assert(kernel->marks[2].pc == 1 && kernel->marks[2].number == 2);
  ck_assert(kernel->insts[0].flags & INST_MARKS && kernel->insts[1].flags & INST_MARKS);
  ck_assert_uint_eq(kernel->nlabels, 1);
  ck_assert_str_eq(kernel->labels[0].name, "AGAIN");
  ck_assert_uint_eq(kernel->labels[0].pc, 0);
}
END_TEST

/* Behind the last instruction that is reached. */
START_TEST(keeps_an_unreachable_end) {
  g_autoptr(Program) mark = ptx_lab_lower_good(LAB_HEAD ".entry k() { ret; pmevent 3; }", &hopper);
  ck_assert_uint_eq(program_kernel(mark, 0)->nmarks, 1);
  ck_assert_uint_lt(program_kernel(mark, 0)->marks[0].pc, program_kernel(mark, 0)->ninsts);
  g_autoptr(Program) label = ptx_lab_lower_good(LAB_HEAD ".entry k() { ret; bra END; END: }", &hopper);
  ck_assert_uint_ge(program_kernel(label, 0)->ninsts, 1);
}
END_TEST

/* What no lane comes to is left out, and moves no meeting point: with a mark in it it stays, and the others meet
 * where they did. */
START_TEST(leaves_out_the_unreachable) {
#define LOOP(between)                                                                                          \
  "mov.u32 %r1, %tid.x; setp.ne.s32 %p1, %r1, 0; @%p1 bra L7; L2: setp.eq.s32 %p2, %r3, 1; @%p2 bra L6; "      \
  "atom.global.exch.b32 %r3, [%l1], 0; bra.uni L6; " between " L6: setp.ne.s32 %p5, %r3, 1; @%p5 bra L2; L7: " \
  "atom.global.add.u32 %r4, [%l1], %r3; st.global.u32 [%l1], %r4;"
  g_autoptr(Program) plain = ptx_lab_lower_body(LOOP(""), &hopper),
                     dead = ptx_lab_lower_body(LOOP("L5: mov.u32 %r3, 7;"), &hopper);
  g_autoptr(Program) marked = ptx_lab_lower_body(LOOP("L5: pmevent 3; st.global.u32 [%l2], %r1;"), &hopper);
#undef LOOP
  g_autofree char *without = ptx_lab_opcodes(program_kernel(plain, 0)),
                  *with = ptx_lab_opcodes(program_kernel(dead, 0));
  g_autofree char *kept = ptx_lab_opcodes(program_kernel(marked, 0));
  ck_assert_msg(strstr(without, "BSYNC") && strstr(without, "YIELD"), "%s", without);
  ck_assert_str_eq(with, without);
  ck_assert_uint_eq(program_kernel(marked, 0)->nmarks, 1);
  /* What is marked goes around the BSYNC, and the branch past it stays. */
  g_auto(GStrv) around = g_strsplit(kept, "BRA ST BRA ", 2);
  ck_assert_msg(around[0] && around[1], "%s", kept);
  g_autofree char *rest = g_strconcat(around[0], around[1], NULL);
  ck_assert_str_eq(rest, without);
}
END_TEST

START_TEST(returns_early) {
  g_autoptr(Program) plain = ptx_lab_lower_body("@!%p1 bra DONE; st.global.u32 [%l1], %r1;", &pascal);
  const Kernel *kernel = program_kernel(plain, 0);
  uint32_t at = 0;
  while (at < kernel->ninsts && kernel->insts[at].op != OP_EXIT)
    at++;
  ck_assert_uint_lt(at, kernel->ninsts - 1);
  ck_assert(kernel->insts[at].flags & INST_GUARD_NOT);
  ck_assert_int_eq(kernel->insts[at].target, NO_TARGET);
  g_autoptr(Program) marked =
      ptx_lab_lower_body("@!%p1 bra END; st.global.u32 [%l1], %r1; bra DONE; END: pmevent 1; ret;", &pascal);
  g_autofree char *kept = ptx_lab_opcodes(program_kernel(marked, 0));
  ck_assert_msg(strstr(kept, "BRA") == kept, "%s", kept);
}
END_TEST

START_TEST(follows_lines) {
  g_autofree char *text = g_strconcat(
      LAB_OPEN,
      "add.u32 %r1, %r1, 1;\n.loc 1 13 3\nadd.u32 %r1, %r1, 2;\n.loc 1 8 5, function_name $n, inlined_at 1 13 3\n"
      ".loc 2 202 7, function_name $n, inlined_at 1 8 5\nadd.u32 %r1, %r1, 3;\n.loc 9 1 1\nadd.u32 %r1, %r1, 4;",
      LAB_CLOSE,
      ".file 1 \"gone/prog.cu\"\n.file 2 \"gone/header.h\"\n.section .debug_str {\n$n:\n.b8 102\n.b8 0\n}\n", NULL);
  g_autoptr(Program) program = ptx_lab_lower_good(text, &pascal);
  const Inst *inst = program_kernel(program, 0)->insts;
  ck_assert(inst[0].file == 0 && inst[0].line == LAB_LINE && inst[0].column == 1 && inst[0].inlined == 0);
  ck_assert_str_eq(program_file_name(program, inst[1].file), "gone/prog.cu");
  ck_assert(inst[1].line == 13 && inst[1].column == 3 && inst[1].inlined == 0 && inst[1].address == LAB_LINE + 2);
  ck_assert(inst[2].file == inst[1].file && inst[2].line == 13 && inst[2].column == 3);
  const SourceFrame *frames = &g_array_index(program->frames, SourceFrame, 0);
  const SourceFrame *inner = &frames[inst[2].inlined - 1], *middle = &frames[inner->parent - 1],
                    *outer = &frames[middle->parent - 1];
  ck_assert_str_eq(program_file_name(program, inner->file), "gone/header.h");
  ck_assert(inner->line == 202 && middle->line == 8 && outer->line == 13 && outer->parent == 0);
  ck_assert(inst[3].file == 0 && inst[3].line == LAB_LINE + 7); /* there is no file 9 */
}
END_TEST

/* What nvcc writes of a loop that it unrolls: the second copy names the innermost place only, and $b, another
 * function inlined at the same place of a header, has come between. */
START_TEST(follows_copies) {
  g_autofree char *text =
      g_strconcat(LAB_OPEN,
                  ".loc 1 13 3\n.loc 2 98 3, function_name $a, inlined_at 1 13 3\n"
                  ".loc 2 303 1, function_name $c, inlined_at 2 98 3\nadd.u32 %r1, %r1, 1;\n"
                  ".loc 1 17 3\n.loc 2 98 3, function_name $b, inlined_at 1 17 3\n"
                  ".loc 2 287 1, function_name $d, inlined_at 2 98 3\nadd.u32 %r1, %r1, 2;\n"
                  ".loc 2 303 1, function_name $c, inlined_at 2 98 3\nadd.u32 %r1, %r1, 3;\n"
                  ".loc 2 287 1, function_name $d, inlined_at 2 98 3\nadd.u32 %r1, %r1, 4;\n",
                  LAB_CLOSE,
                  ".file 1 \"gone/prog.cu\"\n.file 2 \"gone/header.h\"\n"
                  ".section .debug_str {\n$a:\n.b8 97, 0\n$b:\n.b8 98, 0\n$c:\n.b8 99, 0\n$d:\n.b8 100, 0\n}\n",
                  NULL);
  static const unsigned lines[] = {13, 17, 13, 17};
  g_autoptr(Program) program = ptx_lab_lower_good(text, &pascal);
  const Inst *inst = program_kernel(program, 0)->insts;
  for (unsigned i = 0; i < G_N_ELEMENTS(lines); i++)
    ck_assert_msg(inst[i].line == lines[i], "instruction %u: line %u", i, inst[i].line);
}
END_TEST

/* A function inlined at a line of the program; and what is inlined in that, with an instruction. */
#define CALL(line, function) \
  ".loc 1 " #line " 7\n.loc 2 90 14, function_name " function ", inlined_at 1 " #line " 7\n"
#define INNER ".loc 2 319 3, function_name $c, inlined_at 2 90 14\n"
#define BODY INNER "add.u32 %r1, %r1, 1;\n"
#define STORE(n) INNER "st.global.u32 [%l" #n "], %r1;\n"
#define FENCE_CALL(line) ".loc 1 " #line " 7\n.loc 2 70 3, function_name $d, inlined_at 1 " #line " 7\n"
#define FENCE ".loc 2 60 1, function_name $e, inlined_at 2 70 3\nmembar.gl;\n"

/* Which call each instruction belongs to. */
START_TEST(tells_calls_apart) {
  static const struct {
    const char *body;
    unsigned lines[13];
  } cases[] = {
      /* Two functions that are inlined in one place of a header, and have the same one inlined. */
      {CALL(13, "$a") BODY CALL(17, "$b") BODY, {13, 17}},
      /* A loop's body, and its copies: nothing but the innermost line, and that of the program where something else
       * stands in front. */
      {CALL(12, "$a") BODY CALL(14, "$a") BODY CALL(15, "$a") BODY BODY BODY BODY BODY, {12, 14, 15, 12, 14, 15, 12}},
      {CALL(12, "$a") BODY CALL(14, "$a") BODY ".loc 1 14 7\n" BODY ".loc 1 12 7\n" BODY BODY, {12, 14, 14, 12, 14}},
      /* Behind a label, as in what is left of the loop. */
      {CALL(12, "$a") BODY "L: " CALL(14, "$a") BODY CALL(15, "$a") BODY BODY BODY "M: " BODY BODY,
       {12, 14, 15, 14, 15, 14, 15}},
      /* One call that goes on behind a line of its own. */
      {CALL(12, "$a") BODY CALL(14, "$a") BODY ".loc 2 91 1, function_name $a, inlined_at 1 14 7\n" BODY,
       {12, 14, 14}},
      /* A loop's body whose last call is of another function: behind that the first copy begins. */
      {CALL(12, "$a") BODY CALL(14, "$a") BODY CALL(15, "$a") BODY FENCE_CALL(16)
           FENCE BODY BODY BODY FENCE BODY BODY BODY FENCE,
       {12, 14, 15, 16, 12, 14, 15, 16, 12, 14, 15, 16}},
      /* Such a call before the loop, too. */
      {CALL(9, "$a") BODY CALL(12, "$a") BODY CALL(14, "$a") BODY FENCE_CALL(16)
           FENCE BODY BODY FENCE BODY BODY FENCE,
       {9, 12, 14, 16, 12, 14, 16, 12, 14, 16}},
      /* Behind calls of one kind alone their addresses tell where the body begins. */
      {CALL(9, "$a") STORE(1) CALL(12, "$a") STORE(2) CALL(14, "$a") STORE(3) STORE(2) STORE(3) STORE(2) STORE(3),
       {9, 12, 14, 12, 14, 12, 14}},
      /* Two calls that fit equally well: the line that is known, of the header. */
      {CALL(12, "$a") BODY FENCE_CALL(13) FENCE "L: " CALL(14, "$a") BODY FENCE_CALL(15) FENCE "M: " FENCE_CALL(16)
           FENCE "N: " BODY,
       {12, 13, 14, 15, 16, 90}},
      /* Both in one line of the program: that is what counts. */
      {CALL(12, "$a") BODY FENCE_CALL(13) FENCE
       "L: .loc 1 12 30\n.loc 2 90 14, function_name $a, inlined_at 1 12 30\n" BODY FENCE_CALL(15) FENCE
       "M: " FENCE_CALL(16) FENCE "N: " BODY,
       {12, 13, 12, 15, 16, 12}},
  };
  g_autofree char *text = g_strconcat(LAB_OPEN, cases[_i].body, LAB_CLOSE,
                                      ".file 1 \"gone/prog.cu\"\n.file 2 \"gone/header.h\"\n.section .debug_str "
                                      "{\n$a:\n.b8 97, 0\n$b:\n.b8 98, 0\n$c:\n.b8 99, 0\n$d:\n.b8 100, 0\n"
                                      "$e:\n.b8 101, 0\n}\n",
                                      NULL);
  g_autoptr(Program) program = ptx_lab_lower_good(text, &pascal);
  const Inst *inst = program_kernel(program, 0)->insts;
  for (unsigned i = 0; cases[_i].lines[i]; i++)
    ck_assert_msg(inst[i].line == cases[_i].lines[i], "instruction %u: line %u", i, inst[i].line);
}
END_TEST

START_TEST(reads_sources) {
  g_autofree char *folder = g_build_filename(g_getenv("SRCDIR"), "tests", "ptx", NULL);
  g_autofree char *path = g_build_filename(folder, "lines_sm75.ptx", NULL), *text = NULL;
  ck_assert(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = ptx_lab_lower(path, text, &pascal, diag);
  const Inst *first = &program_kernel(program, 0)->insts[0];
  g_autofree char *line = program_file_line(program, first->file, first->line);
  ck_assert_msg(g_str_has_suffix(program_file_name(program, first->file), "lines.cu") && *line, "%s",
                program_file_name(program, first->file));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ptx_places");
  TCase *tcase = tcase_create("places");
  tcase_set_timeout(tcase, 120 * unit_patience());
  tcase_add_test(tcase, asks_lanes_to_meet);
  tcase_add_test(tcase, leaves_out_meetings);
  tcase_add_test(tcase, keeps_marks_and_labels);
  tcase_add_test(tcase, keeps_an_unreachable_end);
  tcase_add_test(tcase, leaves_out_the_unreachable);
  tcase_add_test(tcase, returns_early);
  tcase_add_test(tcase, follows_lines);
  tcase_add_test(tcase, follows_copies);
  tcase_add_loop_test(tcase, tells_calls_apart, 0, 10);
  tcase_add_test(tcase, reads_sources);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
