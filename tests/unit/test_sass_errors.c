/* What is wrong with SASS: each mistake and its message, and what there is too much of. */
#include <glib.h>
#include <string.h>

#include "isa/sass/sass.h"
#include "tests/unit/unit.h"

static Program *parse(const char *text, Diag *diag) { return sass_parse("dir/prog.sass", text, strlen(text), diag); }

typedef struct Mistake {
  const char *text;
  unsigned line, column;
  const char *message, *hint;
} Mistake;

#define TAIL "\nEXIT"

static const Mistake mistakes[] = {
    {"NOP\n  IADDD R0, R1, R2" TAIL, 2, 3, "unknown instruction `IADDD`", "did you mean `IADD`?"},
    {"@P0 ISETP.EQQ.AND P0, PT, R1, R2, PT" TAIL, 1, 11, "ISETP has no modifier `.EQQ`", "did you mean `.EQ`?"},
    {"IADD.U32 R0, R1, R2" TAIL, 1, 6, "IADD has no modifier `.U32`", NULL},
    {"ISETP.AND P0, PT, R1, R2, PT" TAIL, 1, 1, "ISETP lacks a comparison: .LT .EQ .LE .GT .NE .GE", NULL},
    {"IMUL.U32.S32 R0, R1, R2" TAIL, 1, 10, "`.S32` contradicts an earlier modifier of IMUL", NULL},
    {"ATOM.MAX.F32 R0, [R1], R2" TAIL, 1, 1, "ATOM has .F32 for .ADD only", NULL},
    {"ATOM.ADD.LOCK R0, [R1], R2" TAIL, 1, 1, "ATOM has .LOCK for .CAS only", NULL},
    {"RED.OR.LOCK [R1], R2" TAIL, 1, 1, "RED has .LOCK for .EXCH only", NULL},
    {"RED.CAS [R1], R2" TAIL, 1, 5, "RED has no modifier `.CAS`", NULL},
    {"MOV R63, R1" TAIL, 1, 5, "register R63 is above the limit: sm_20 has R0 to R62, and RZ", NULL},
    {"LDS R1, [R99]" TAIL, 1, 10, "register R99 is above the limit: sm_20 has R0 to R62, and RZ", NULL},
    {"SEL R1, R2, R3, P7" TAIL, 1, 17, "predicate P7 is above the limit: there are P0 to P6, and PT", NULL},
    {"@R1 NOP" TAIL, 1, 2, "expected a predicate: P0 to P6, or PT, found `R1`", NULL},
    {"IADD R0, P1, R2" TAIL, 1, 10,
     "IADD expects a register, an immediate or c[0x0][...] here, found the predicate `P1`", NULL},
    {"IADD 0x1, R1, R2" TAIL, 1, 6, "IADD expects a register here, found the number `0x1`", NULL},
    {"LDS R0, R1" TAIL, 1, 9, "LDS expects an address such as [R0+0x4] here, found the register `R1`", NULL},
    {"STS [R0], 0x1" TAIL, 1, 11, "STS expects a register here, found the number `0x1`", NULL},
    {"ISETP.EQ R0, PT, R1, R2, PT" TAIL, 1, 10, "ISETP expects a predicate here, found the register `R0`", NULL},
    {"SEL R0, R1, R2, R3" TAIL, 1, 17, "SEL expects a predicate here, found the register `R3`", NULL},
    {"SHL R0, -R1, R2" TAIL, 1, 9, "SHL can't take `-` on this operand", NULL},
    {"IADD R0, R1, 1.5" TAIL, 1, 14, "IADD expects an integer, found 1.5", NULL},
    {"ISCADD R0, R1, R2, 0x20" TAIL, 1, 20, "ISCADD expects a shift from 0 to 31 here, found the number `0x20`",
     NULL},
    {"IADD R0, R1" TAIL, 1, 12,
     "IADD expects a register, an immediate or c[0x0][...] here, found the end of the line", NULL},
    {"IADD R0, R1;" TAIL, 1, 12, "IADD expects a register, an immediate or c[0x0][...] here, found `;`", NULL},
    {"MOV R0, R1, R2" TAIL, 1, 13, "MOV takes no more than 2 operands", NULL},
    {"NOP R1" TAIL, 1, 5, "NOP takes no more than 0 operands", NULL},
    {"IADD R0, R1 R2" TAIL, 1, 13, "expected `,` or the end of the instruction, found `R2`", NULL},
    {"IADD R0,, R1, R2" TAIL, 1, 9, "expected an operand, found `,`", NULL},
    {"MOV R0, 0x100000000" TAIL, 1, 9, "0x100000000 doesn't fit 32 bits", NULL},
    {"MOV R0, -2147483649" TAIL, 1, 9, "-2147483649 doesn't fit 32 bits", NULL},
    {"FADD R0, R1, 1e39" TAIL, 1, 14, "1e39 doesn't fit a 32-bit float", NULL},
    {"LDS R0, [R1+0x1ffffffff]" TAIL, 1, 13, "0x1ffffffff doesn't fit 32 bits", NULL},
    {"MOV R0, 0x1g" TAIL, 1, 9, "this isn't a number: `0x1g`", NULL},
    {"LDS.64 R3, [R0]" TAIL, 1, 8, "R3 can't start a group of 2 registers: its number has to be a multiple of 2",
     NULL},
    {"LD.E R0, [R3]" TAIL, 1, 11, "R3 can't start a group of 2 registers: its number has to be a multiple of 2",
     NULL},
    {"LDS.128 R60, [R0]" TAIL, 1, 9, "R60 to R63 go above the limit: sm_20 has R0 to R62, and RZ", NULL},
    {"LDS.64 RZ, [R0]" TAIL, 1, 8, "RZ can't receive a group of 2 registers", NULL},
    {"MOV R1.CC, R2" TAIL, 1, 5, "MOV can't set the carry", NULL},
    {"MOV R1.XY, R2" TAIL, 1, 7, "expected a register; only .CC may follow its number, found `.XY`", NULL},
    {"S2R R0, SR_TidX" TAIL, 1, 9, "unknown special register `SR_TidX`", "did you mean `SR_Tid_X`?"},
    {"MOV R1, c[0x1][0x100]" TAIL, 1, 11,
     "there is no constant bank c[0x1] here: only c[0x0], launch dimensions and arguments",
     "c[0x1][0x100] is the stack pointer in cuobjdump's text; drop that MOV"},
    {"MOV R1, c[0x0][0x22]" TAIL, 1, 16,
     "offset 0x22 isn't a word of c[0x0]: it has to be a multiple of 4 below 0x10000", NULL},
    {"BAR.SYNC 16" TAIL, 1, 10, "there is no barrier 16: they are 0 to 15", NULL},
    {"BAR.ARV 1, 33" TAIL, 1, 12, "a barrier counts whole warps: 33 isn't a multiple of 32", NULL},
    {"BAR.RED.XOR P0, 1" TAIL, 1, 5, "BAR has no modifier `.RED.XOR`", "did you mean `.RED.OR`?"},
    {"BAR.RED.AND R0, 1" TAIL, 1, 13, "BAR expects a predicate here, found the register `R0`", NULL},
    {"BAR.SYNC 1, 32, P0" TAIL, 1, 17, "BAR takes no operand here", NULL},
    {"BAR.SYNC P1" TAIL, 1, 10, "BAR expects a barrier number or a register here, found the predicate `P1`", NULL},
    {"BAR.SYNC" TAIL, 1, 9, "BAR expects a barrier number or a register here, found the end of the line", NULL},
    {"BAR.RED.AND" TAIL, 1, 12, "BAR expects a result (RZ discards it) here, found the end of the line", NULL},
    {"BAR.SYNC R1.CC" TAIL, 1, 10, ".CC belongs to the register that is written", NULL},
    {"BAR 0" TAIL, 1, 1, "BAR lacks a mode: .SYNC .ARV .RED.POPC .RED.AND .RED.OR", NULL},
    {"VOTE RZ, P0, P1" TAIL, 1, 1, "VOTE lacks a mode: .ALL .ANY .EQ", NULL},
    {"LOP R0, R1, R2" TAIL, 1, 1, "LOP lacks an operation: .AND .OR .XOR .PASS_B", NULL},
    {"RED [R0], R1" TAIL, 1, 1, "RED lacks an operation: .ADD .MIN .MAX .INC .DEC .AND .OR .XOR .EXCH", NULL},
    {"MEMBAR" TAIL, 1, 1, "MEMBAR lacks a scope: .CTA .GL .SYS", NULL},
    {"S2R R0, R1" TAIL, 1, 9, "S2R expects a special register such as SR_Tid_X here, found the register `R1`", NULL},
    {"MOV32I R0, R1" TAIL, 1, 12, "MOV32I expects an immediate here, found the register `R1`", NULL},
    {"MOV R0, !5" TAIL, 1, 9, "MOV expects a register, an immediate or c[0x0][...] here, found the number `5`", NULL},
    {"IADD R0, !R1, R2" TAIL, 1, 10, "IADD can't take `!` on this operand", NULL},
    {"IADD R0, R1.CC, R2" TAIL, 1, 10, ".CC belongs to the register that is written", NULL},
    {"FADD R0, R1, |R2" TAIL, 1, 17, "expected `|`, found the end of the line", NULL},
    {"MOV R0, c[x][0]" TAIL, 1, 11, "expected a number, found `x`", NULL},
    {"MOV R0, c[0x0]" TAIL, 1, 15, "expected `[`, found the end of the line", NULL},
    {"MOV R0, c[0x0][R1]" TAIL, 1, 16, "a constant's offset has to be a number; indexed constants aren't supported",
     NULL},
    {"MOV c[0x0][0x4], R1" TAIL, 1, 5, "MOV expects a register here, found the constant `c[0x0][0x4]`", NULL},
    {"MOV [R1], R1" TAIL, 1, 5, "MOV expects a register here, found an address in brackets", NULL},
    {"LDS R0, [R1.CC]" TAIL, 1, 10, "an address register can't have .CC", NULL},
    {"LDS R0, [R1 R2]" TAIL, 1, 13, "expected `]` or an offset such as +0x4, found `R2`", NULL},
    {"LDS R0, [tid]" TAIL, 1, 10, "expected an address: [R0], [R0+0x4], [R0+-0x4] or [0x10], found `tid`", NULL},
    {"BRA 0x1ffffffff" TAIL, 1, 5, "0x1ffffffff doesn't fit 32 bits", NULL},
    {"EXIT; BRA", 1, 10, "BRA expects a label or an address here, found the end of the file", NULL},
    {"NOP 1, 2, 3, 4, 5, 6, 7, 8, 9" TAIL, 1, 29, "too many operands", NULL},
    {".target 20" TAIL, 1, 9, "expected a target: sm_20 or sm_21, found `20`", NULL},
    {".mark x" TAIL, 1, 7, "expected the number of the mark, found `x`", NULL},
    {".grid /* open", 1, 7, "this comment has no end: `/*`", NULL},
    {"/*00a0*/ ..." TAIL, 1, 10, "`...` is a placeholder of the listing; spell it out", NULL},
    {"@P0 ..." TAIL, 1, 5, "`...` is a placeholder of the listing; spell it out", NULL},
    {"LDSLK P0,RZ ,(A[tid]);// x" TAIL, 1, 14, "`(...)` is a placeholder of the listing; spell it out", NULL},
    {"BRA 0x1c" TAIL, 1, 5, "no instruction of kernel `prog` has the address 0x1c",
     "the nearest instruction is at 0x8"},
    {"BRA lop\nloop: NOP" TAIL, 1, 5, "there is no label `lop` in kernel `prog`", "did you mean `loop`?"},
    {"/*0010*/ NOP\n/*0010*/ NOP\n@P0 BRA 0x10" TAIL, 3, 9,
     "the address 0x10 is ambiguous: the instructions in line 1 and line 2 have it", "branch to a label instead"},
    {"BRA end" TAIL "\nend:", 1, 5, "no instruction follows the label `end`", NULL},
    {"BRA R1" TAIL, 1, 5, "BRA expects a label or an address here, found the register `R1`", NULL},
    {"x: NOP\nx: NOP" TAIL, 2, 1, "there is already a label `x` in kernel `prog`", NULL},
    {"NOP\n@P0 EXIT", 2, 1, "control can run past the last instruction of kernel `prog`", "end it with EXIT"},
    {"L: NOP\n@P0 BRA L", 2, 1, "control can run past the last instruction of kernel `prog`", "end it with EXIT"},
    {".kernl x" TAIL, 1, 1, "unknown directive `.kernl`", "did you mean `.kernel`?"},
    {".kernel a b" TAIL, 1, 9, "`.kernel` expects a name of at most 255 letters, digits and _ . $ -", NULL},
    {".kernel x\nEXIT\n.kernel x\nEXIT", 3, 9, "there is already a kernel `x`", NULL},
    {".kernel x\n.kernel y\nEXIT", 1, 9, "kernel `x` has no instructions", NULL},
    {"NOP\n.kernel y\nEXIT", 2, 9, "instructions stand before the first `.kernel`", NULL},
    {".target sm_90" TAIL, 1, 9, "this front end reads Fermi SASS: the target is sm_20 or sm_21, not `sm_90`", NULL},
    {".reg 64" TAIL, 1, 6, "64 is too large: at most 63", NULL},
    {".shared many" TAIL, 1, 9, "expected a number of bytes, found `many`", NULL},
    {".shared 4 KiB" TAIL, 1, 11, "expected the end of the line, found `KiB`", NULL},
    {"EXIT\n.mark 1\n", 3, 1, "no instruction follows the last `.mark` of kernel `prog`", NULL},
    {"", 1, 1, "this file has no instructions", NULL},
    {"// nothing\n.target sm_20\n", 1, 1, "this file has no instructions", NULL},
    {"NOP\n/* open", 2, 1, "this comment has no end: `/*`", NULL},
    {".grid 1 /* open", 1, 9, "this comment has no end: `/*`", NULL},
    {"\001\002NOP" TAIL, 1, 1, "this byte has no place in a program text: `\\x01\\x02`", NULL},
    {"# NOP" TAIL, 1, 1, "expected an instruction, a label or a directive, found `#`", NULL},
    {"\177ELF\002", 1, 1, "this is a binary (ELF), not the text of a program",
     "cuobjdump -sass FILE prints its text"},
};

START_TEST(explains_mistake) {
  const Mistake *m = &mistakes[_i];
  g_autoptr(Diag) diag = diag_new();
  ck_assert_msg(!parse(m->text, diag), "accepted: %s", m->text);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(diag_error_count(diag) == 1 || strstr(m->text, "open"), "for %s: %s", m->text, messages);
  const DiagItem *item = diag_item(diag, 0);
  ck_assert_str_eq(item->message, m->message);
  ck_assert_msg(item->line == m->line && item->column == m->column, "%s", messages);
  ck_assert_str_eq(item->file, "dir/prog.sass");
  if (m->hint)
    ck_assert_pstr_eq(item->hint, m->hint);
}
END_TEST

START_TEST(goes_on_after_mistakes) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert(!parse("IADDD R0, R1, R2; MOV R70, R1\n@P9 NOP\nx: BRA y\nLDS R0, R1\nBRA 0x20\nEXIT", diag));
  static const unsigned lines[] = {1, 1, 2, 4, 3};
  ck_assert_uint_eq(diag_error_count(diag), G_N_ELEMENTS(lines));
  for (unsigned i = 0; i < G_N_ELEMENTS(lines); i++)
    ck_assert_uint_eq(diag_item(diag, i)->line, lines[i]);
}
END_TEST

/* -- limits -- */

static void expect_limit(const GString *text, const char *part) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert(!sass_parse("big.sass", text->str, text->len, diag));
  ck_assert_msg(strstr(diag_item(diag, 0)->message, part), "%s", diag_item(diag, 0)->message);
}

static GString *repeat(const char *piece, unsigned count) {
  GString *text = g_string_new(NULL);
  for (unsigned i = 0; i < count; i++)
    g_string_append(text, piece);
  return text;
}

START_TEST(limits_sizes) {
  g_autoptr(GString) many = repeat("NOP\n", 262145), lines = repeat("\n", 2097153), line = repeat("a", 65537),
                     bytes = repeat("0123456789abcdef", 1048577), name = repeat("a", 256);
  expect_limit(many, "more than 262144 instructions");
  expect_limit(lines, "more than 2097152 lines");
  expect_limit(line, "longer than 65536 bytes");
  expect_limit(bytes, "16 MiB");
  expect_limit(name, "longer than 255 bytes");
}
END_TEST

START_TEST(limits_constants) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (unsigned i = 0; i <= 32768; i++)
    g_string_append_printf(text, "MOV R0, %u\n", i);
  g_string_append(text, "EXIT");
  expect_limit(text, "more than 32768 different constants");
}
END_TEST

START_TEST(stops_in_garbage) {
  GRand *random = g_rand_new_with_seed(7);
  g_autoptr(GString) text = g_string_new(NULL);
  for (unsigned i = 0; i < 1 << 20; i++)
    g_string_append_c(text, (char)g_rand_int(random));
  g_rand_free(random);
  g_autoptr(Diag) diag = diag_new();
  ck_assert(!sass_parse("noise.sass", text->str, text->len, diag));
  ck_assert_uint_le(diag_error_count(diag), 1100);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("sass_errors");
  TCase *errors = tcase_create("errors");
  tcase_add_loop_test(errors, explains_mistake, 0, G_N_ELEMENTS(mistakes));
  tcase_add_test(errors, goes_on_after_mistakes);
  tcase_add_test(errors, limits_sizes);
  tcase_add_test(errors, limits_constants);
  tcase_add_test(errors, stops_in_garbage);
  tcase_set_timeout(errors, 30);
  suite_add_tcase(suite, errors);
  return unit_run(suite);
}
