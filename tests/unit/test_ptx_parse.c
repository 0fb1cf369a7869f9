#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "isa/ptx/ptx_example.h"
#include "isa/ptx/ptx_parse.h"
#include "isa/ptx/ptx_print.h"
#include "isa/scanner.h"
#include "tests/unit/same.h"
#include "tests/unit/unit.h"

#define HEAD ".version 9.0\n.target sm_90a, debug\n.address_size 64\n"
#define OPEN                                                                                                         \
  HEAD ".global .align 8 .b8 word[16];\n.shared .b32 tile;\n.visible .entry k(.param .u64 in, .param .b8 big[12])\n" \
       "{ .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %l<8>; .reg .f32 %f<8>; "                    \
       ".reg .f64 %d<8>; .reg .b128 %q<8>;\n"
#define CLOSE "\nDONE: ret; }\n"
enum { LINE = 8 }; /* of what stands between OPEN and CLOSE */

static PtxModule *parse(const char *text, Diag *diag) { return ptx_parse("k.ptx", text, strlen(text), diag); }

/* The module, or a failed test with the messages. What is accepted prints, and parses back to the same. */
static PtxModule *parse_good(const char *text) {
  g_autoptr(Diag) diag = diag_new();
  PtxModule *module = parse(text, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(module, "%s\nin\n%.2000s", messages, text);
  g_autofree char *printed = ptx_print_module(module);
  g_autoptr(PtxModule) again = parse(printed, diag);
  g_autofree char *trouble = diag_render(diag);
  ck_assert_msg(again, "%s\nin\n%.2000s", trouble, printed);
  g_autofree char *reprinted = ptx_print_module(again);
  ck_assert_msg(same_module(module, again), "another tree behind\n%.2000s", printed);
  ck_assert_str_eq(printed, reprinted);
  return module;
}

/* One statement in a kernel. */
static PtxModule *parse_one(const char *statement) {
  g_autofree char *text = g_strconcat(OPEN, statement, CLOSE, NULL);
  return parse_good(text);
}

/* The module's print has this instruction. */
static void expect_printed(const PtxModule *module, const char *inst) {
  g_autofree char *printed = ptx_print_module(module), *line = g_strconcat("\n\t", inst, ";\n", NULL);
  ck_assert_msg(strstr(printed, line), "%s isn't in\n%s", inst, printed);
}

/* -- the corpus: what nvcc 13 made of tests/ptx/NAME.cu for two targets, and older PTX by hand -- */

START_TEST(reads_corpus) {
  g_autofree char *folder = g_build_filename(g_getenv("SRCDIR"), "tests", "ptx", NULL);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  unsigned count = 0;
  ck_assert_msg(dir, "no folder %s", folder);
  for (const char *name; (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
    if (!g_str_has_suffix(name, ".ptx") || !g_file_get_contents(path, &text, NULL, NULL))
      continue;
    g_autoptr(PtxModule) module = parse_good(text);
    ck_assert_msg(module->insts->len > 0, "%s has no instructions", name);
    ck_assert_msg(!strstr(text, "/usr/") && !strstr(text, "/home/"), "%s has a path of some machine", name);
    count++;
  }
  ck_assert_uint_ge(count, 50);
}
END_TEST

/* -- every form of the table -- */

enum { CHOICES = 6 };

/* A kernel of examples of a form. */
static char *form_kernel(const PtxOps *ops, uint16_t form, GPtrArray *examples) {
  GString *text = g_string_new(HEAD ".func callee(.param .b32 a) { ret; }\n");
  g_string_append(text, OPEN + strlen(HEAD));
  g_string_append(text, "{ .reg .pred callee; }\nTABLE: .branchtargets DONE;\n");
  for (unsigned choice = 0; choice < 2 * CHOICES; choice++) {
    g_autofree char *mnemonic = ptx_ops_example(ops, form, choice / 2, choice % 2);
    char *inst = ptx_example(ops, mnemonic);
    g_string_append_printf(text, "%s;\n", inst);
    g_ptr_array_add(examples, inst);
  }
  g_string_append(text, CLOSE);
  return g_string_free(text, FALSE);
}

START_TEST(reads_every_form) {
  PtxOps *ops = ptx_ops_new();
  for (unsigned form = 0; form < ptx_ops_form_count(ops); form++) {
    g_autoptr(GPtrArray) examples = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *text = form_kernel(ops, (uint16_t)form, examples);
    g_autoptr(PtxModule) module = parse_good(text);
    for (guint i = 0; i < examples->len; i++)
      expect_printed(module, g_ptr_array_index(examples, i));
  }
  ptx_ops_free(ops);
}
END_TEST

/* -- decoding -- */

START_TEST(decodes_modifiers) {
  g_autoptr(PtxModule) module = parse_one(
      "@!%p3 ld.acquire.gpu.global.L1::evict_last.v2.u32 {%r1, %r2}, [%l1+-4];\n"
      "atom.add.release.cta.shared.u32 %r1, [tile], 5; setp.lt.and.ftz.f32 %p1|%p2, %f1, 0f3F800000, !%p3;\n"
      "cvt.rni.ftz.sat.s32.f32 %r1, %f1; bar.red.popc.u32 %r1, 0, %p1; mov.u32 %r1, %ctaid.y; mov.u64 %l1, word+4;");
  const PtxInst *load = ptx_inst(module, 0), *atom = ptx_inst(module, 1), *setp = ptx_inst(module, 2);
  ck_assert_uint_eq(load->op, PTX_OP_LD);
  ck_assert_uint_eq(load->guard, 3);
  ck_assert(load->guard_not);
  ck_assert(load->mods.sem == PTX_ACQUIRE && load->mods.scope == PTX_GPU && load->mods.space == PTX_GLOBAL);
  ck_assert(load->mods.evict == PTX_L1_LAST && load->mods.vec == PTX_V2 && load->mods.type == PTX_U32);
  const PtxOperand *vector = ptx_operand(module, load->operands), *memory = ptx_operand(module, load->operands + 1);
  ck_assert_uint_eq(vector->kind, PTX_OPERAND_VECTOR);
  ck_assert_uint_eq(vector->count, 2);
  ck_assert_uint_eq(ptx_operand(module, vector->index + 1)->index, 8 + 8 + 2);
  ck_assert_uint_eq(memory->kind, PTX_OPERAND_MEM_REG);
  ck_assert_int_eq(memory->offset, -4);
  ck_assert(atom->mods.op == PTX_ADD && atom->mods.sem == PTX_RELEASE && atom->mods.scope == PTX_CTA);
  ck_assert_uint_eq(ptx_operand(module, atom->operands + 1)->kind, PTX_OPERAND_MEM_VAR);
  ck_assert_uint_eq(ptx_operand(module, atom->operands + 2)->bits, 5);
  ck_assert(setp->mods.cmp == PTX_LT && setp->mods.boolop == PTX_AND && setp->mods.flags == PTX_FLAG_FTZ);
  ck_assert_uint_eq(ptx_operand(module, setp->operands)->kind, PTX_OPERAND_PAIR);
  ck_assert(ptx_operand(module, setp->operands + 3)->negated);
  ck_assert(ptx_inst(module, 3)->mods.round == PTX_RNI && ptx_inst(module, 3)->mods.type2 == PTX_F32);
  ck_assert(ptx_inst(module, 4)->mods.mode == PTX_RED && ptx_inst(module, 4)->noperands == 3);
  ck_assert_uint_eq(ptx_operand(module, ptx_inst(module, 5)->operands + 1)->index, PTX_SR_CTAID_Y);
  ck_assert_int_eq(ptx_operand(module, ptx_inst(module, 6)->operands + 1)->offset, 4);
  unsigned line, column;
  ptx_module_place(module, atom->at, &line, &column);
  ck_assert_uint_eq(line, LINE + 1);
  ck_assert_uint_eq(column, 1);
  ptx_module_place(module, ptx_operand(module, setp->operands + 3)->at, &line, &column);
  ck_assert_uint_eq(column, 95);
}
END_TEST

static const struct {
  const char *text, *canonical;
} spellings[] = {
    {"atom.max.acquire.sys.s32 %r1, [%l1], -1;", "atom.acquire.sys.max.s32 %r1, [%l1], -1"},
    {"red.global.f32.add [%l1], %f1;", "red.global.add.f32 [%l1], %f1"},
    {"ld .global .u32 %r1, [ %l1 - 8 ];", "ld.global.u32 %r1, [%l1+-8]"},
    {"mov.u32 %r1, 0x1Fu;", "mov.u32 %r1, 31"},
    {"mov.u32 %r1, 0b101;", "mov.u32 %r1, 5"},
    {"mov.u32 %r1, 017;", "mov.u32 %r1, 15"},
    {"mov.u64 %l1, 0xffffffffffffffff;", "mov.u64 %l1, -1"},
    {"mov.b32 %r1, ~0;", "mov.b32 %r1, -1"},
    {"mov.f32 %f1, -0f3f800000;", "mov.f32 %f1, 0fBF800000"},
    {"mov.f64 %d1, 1.5e0;", "mov.f64 %d1, 0d3FF8000000000000"},
    {"mov.u32 %r1, WARP_SZ;", "mov.u32 %r1, 32"},
    {"ld.param.u32 %r1, [big+8];", "ld.param.u32 %r1, [big+8]"},
    {"st.global.u32 [0x100], 1;", "st.global.u32 [256], 1"},
    {"mov.b64 {%r1, _}, %l1;", "mov.b64 {%r1, _}, %l1"},
    {"bra DONE;", "bra DONE"},
    {"@ %p1 /* why */ exit // now\n;", "@%p1 exit"},
    {"selp.b32 %r1, 1, 0, !%p1;", "selp.b32 %r1, 1, 0, !%p1"},
};

START_TEST(reads_spelling) {
  g_autoptr(PtxModule) module = parse_one(spellings[_i].text);
  expect_printed(module, spellings[_i].canonical);
}
END_TEST

START_TEST(reads_directives) {
  g_autoptr(PtxModule) module = parse_good(".version 8.4\n.target sm_90a, debug\n.address_size 64\n.pragma \"x\";\n"
                                           ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 "
                                           "b);\n.weak .func ends(.reg .b32 a) .noreturn { trap; }\n"
                                           ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 "
                                           ".b8 s[48]) .maxntid 256, 2 .minnctapersm 3 "
                                           ".maxnreg 64 .pragma \"nounroll\"; { .pragma \"nounroll\"; ret; }\n");
  const PtxFunction *print = ptx_function(module, 0), *ends = ptx_function(module, 1),
                    *kernel = ptx_function(module, 2);
  ck_assert_uint_eq(module->version_major * 10 + module->version_minor, 84);
  ck_assert_uint_eq(module->target_sm, 90);
  ck_assert_str_eq(module->target, "sm_90a, debug");
  ck_assert(print->linkage == PTX_LINK_EXTERN && !print->has_body && print->nrets == 1 && print->nparams == 2);
  ck_assert(!module->rolled && kernel->rolled && !ends->rolled && !print->rolled);
  ck_assert(ptx_inst(module, kernel->first_inst)->rolled && !ptx_inst(module, ends->first_inst)->rolled);
  ck_assert(ends->linkage == PTX_LINK_WEAK && ends->noreturn && ends->nregs == 1);
  ck_assert(kernel->entry && kernel->linkage == PTX_LINK_VISIBLE && kernel->nparams == 2);
  ck_assert(kernel->maxntid[0] == 256 && kernel->maxntid[1] == 2 && kernel->maxntid[2] == 1 && !kernel->reqntid[0]);
  ck_assert(kernel->minnctapersm == 3 && kernel->maxnreg == 64);
  const PtxVar *p = ptx_var(module, kernel->first_var), *s = p + 1;
  ck_assert(p->ptr && p->ptr_space == PTX_GLOBAL && p->ptr_align == 16 && p->align == 0);
  ck_assert(s->array && s->align == 8 && ptx_var_bytes(s) == 48);
}
END_TEST

/* -- blocks, registers, labels -- */

START_TEST(keeps_registers_apart) {
  g_autoptr(PtxModule) module = parse_one(
      "mov.u32 %r1, 1; { .reg .b32 %r<3>, %q; mov.u32 %r1, 2; mov.u32 %q, 3; mov.u32 %r5, 4; { mov.u32 %r2, 5; } } "
      "mov.u32 %r1, 6;");
  static const uint32_t numbers[] = {17, 57, 59, 21, 58, 17}; /* 8 predicates, 8 halves, then %r; 56 in all */
  for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++) {
    uint32_t number = ptx_operand(module, ptx_inst(module, i)->operands)->index;
    ck_assert_msg(number == numbers[i], "register %u of instruction %u", number, i);
  }
  ck_assert_uint_eq(ptx_function(module, 0)->nregs, 56 + 4);
}
END_TEST

START_TEST(finds_labels_of_the_block) {
  g_autoptr(PtxModule) module =
      parse_one("A: bra A; { bra A; bra B; A: exit; } { A: bra A; { bra A; } bra DONE; } B: bra A;");
  static const uint32_t targets[] = {0, 3, 7, 4, 4, 8, 0};
  unsigned k = 0;
  for (unsigned i = 0; i < 8; i++) {
    const PtxInst *inst = ptx_inst(module, i);
    if (inst->op == PTX_OP_BRA) {
      uint32_t target = ptx_label(module, ptx_operand(module, inst->operands)->index)->inst;
      ck_assert_msg(target == targets[k], "branch %u goes to %u", k, target);
      k++;
    }
  }
  ck_assert_uint_eq(k, G_N_ELEMENTS(targets));
}
END_TEST

START_TEST(chains_inlined_places) {
  g_autoptr(PtxModule) module =
      parse_one(".loc 1 13 3\n.loc 1 8 3, function_name $A, inlined_at 1 13 3\n"
                ".loc 2 202 5, function_name $B+4, inlined_at 1 8 3\nmembar.gl;\n.loc 1 14 3\nmembar.cta;");
  const PtxLoc *inner = ptx_loc(module, ptx_inst(module, 0)->loc);
  ck_assert_uint_eq(inner->line, 202);
  ck_assert_uint_eq(inner->function_offset, 4);
  const PtxLoc *middle = ptx_loc(module, inner->parent);
  ck_assert_uint_eq(middle->line, 8);
  ck_assert_uint_eq(ptx_loc(module, middle->parent)->line, 13);
  ck_assert_uint_eq(ptx_loc(module, middle->parent)->parent, PTX_NO_INDEX);
  ck_assert_uint_eq(ptx_loc(module, ptx_inst(module, 1)->loc)->line, 14);
}
END_TEST

/* The line of the call that the wrapper in an instruction's innermost line stands in. */
static unsigned called_in(const PtxModule *module, unsigned inst) {
  const PtxLoc *inner = ptx_loc(module, ptx_inst(module, inst)->loc), *wrapper = ptx_loc(module, inner->parent);
  ck_assert_uint_eq(wrapper->line, 5);
  return ptx_loc(module, wrapper->parent)->line;
}

/* Lines 2 and 3 of f() call a wrapper. In the copies of the loop around f() the calls aren't written again: which of
 * them it is, what comes before says, or what comes behind; and line 10, once more, is no other call of f(). */
START_TEST(tells_copies_of_inlined_calls) {
#define F(line) ".loc 1 " line ", function_name $F, inlined_at 1 10 3\n"
#define WRAPPER(at) ".loc 2 5 1, function_name $W, inlined_at " at "\n"
#define INNER ".loc 3 9 1, function_name $I, inlined_at 2 5 1\nmembar.gl;\n"
  g_autoptr(PtxModule) module = parse_one(
      ".loc 1 10 3\n" F("2 3") WRAPPER("1 2 3") INNER F("2 9") "membar.cta;\n" F("3 3") WRAPPER("1 3 3") INNER
      F("4 3") "membar.cta;\n.loc 1 11 3\nmembar.cta;\n" INNER F("2 9") "membar.cta;\n" INNER F("4 3")
      "membar.cta;\n.loc 1 10 3\nmembar.cta;\n" F("2 9") "membar.cta;\n" INNER);
  static const struct {
    unsigned inst, line;
  } expected[] = {{0, 2}, {2, 3}, {5, 2}, {7, 3}, {11, 3}};
  for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++)
    ck_assert_uint_eq(called_in(module, expected[i].inst), expected[i].line);
#undef F
#undef WRAPPER
#undef INNER
}
END_TEST

START_TEST(reads_variables) {
  g_autoptr(PtxModule) module = parse_good(
      HEAD ".const .align 4 .f32 f[2][3] = {{1.5, 0f40000000}, {-1.0}};\n"
           ".global .u32 target = 7; .global .s8 bytes[] = {-1, 0, 5};\n"
           ".weak .global .align 8 .u64 pointers[4] = {target, generic(bytes)+2, 0, 0xFF00(generic(target))};\n"
           ".extern .shared .align 16 .b8 dynamic[];\n.file 1 \"a.cu\", 12, 34\n.section .debug_str { .b8 1,2\nx: "
           ".b8 3 }\n");
  const PtxVar *f = ptx_var(module, 0), *bytes = ptx_var(module, 2), *pointers = ptx_var(module, 3);
  ck_assert_uint_eq(f->elements, 6);
  ck_assert_uint_eq(f->ninits, 3);
  ck_assert_uint_eq(ptx_init(module, f->first_init + 2)->element, 3);
  ck_assert_uint_eq(ptx_init(module, f->first_init + 2)->bits, 0xbf800000);
  ck_assert_uint_eq(bytes->elements, 3);
  ck_assert_uint_eq(bytes->ninits, 2);
  ck_assert_uint_eq(ptx_init(module, bytes->first_init)->bits, 0xff);
  ck_assert_uint_eq(ptx_var_bytes(pointers), 32);
  const PtxInit *init = ptx_init(module, pointers->first_init);
  ck_assert(init[0].kind == PTX_INIT_VAR && init[0].symbol == 1 && init[0].byte == PTX_INIT_WHOLE);
  ck_assert(init[1].kind == PTX_INIT_VAR_GENERIC && init[1].symbol == 2 && init[1].offset == 2);
  ck_assert(init[2].byte == 1 && init[2].element == 3);
  ck_assert_uint_eq(ptx_var_bytes(ptx_var(module, 4)), 0);
  ck_assert_str_eq(ptx_module_file(module, 1), "a.cu");
  ck_assert(!ptx_module_file(module, 2));
}
END_TEST

START_TEST(links_declarations) {
  g_autoptr(PtxModule) module =
      parse_good(HEAD ".func (.param .b32 r) f(.param .b32 a);\n.extern .func g;\n"
                      ".entry k { .reg .b32 %r; .param .b32 x; .param .b32 y; call (y), f, (x); call g; ret; }\n"
                      ".func (.param .b32 r) f(.param .b32 a) { st.param.b32 [r], 1; ret; }\n");
  ck_assert_uint_eq(ptx_function(module, 0)->definition, 3);
  ck_assert_uint_eq(ptx_function(module, 1)->definition, PTX_NO_INDEX);
  const PtxInst *call = ptx_inst(module, 0);
  ck_assert_uint_eq(call->noperands, 3);
  ck_assert_uint_eq(ptx_operand(module, call->operands)->count, 1);
  ck_assert_uint_eq(ptx_operand(module, call->operands + 1)->kind, PTX_OPERAND_FUNCTION);
}
END_TEST

/* -- errors -- */

typedef struct Mistake {
  const char *text;
  unsigned line, column;
  const char *message, *hint;
} Mistake;

/* Statements of a kernel. */
static const Mistake mistakes[] = {
    {"selpp.b32 %r1, %r2, %r3, %p1;", 0, 1, "unknown instruction `selpp`", "did you mean `selp`?"},
    {"ld.globl.u32 %r1, [%l1];", 0, 3, "ld has no modifier `.globl`", "did you mean `.global`?"},
    {"ld.acquire.global.u32 %r1, [%l1];", 0, 18, "`.u32` can't stand here in `ld.acquire.global.u32`",
     "`.mmio`, `.cta`, `.cluster`, `.gpu`, `.sys` can"},
    {"add.u32.sat %r1, %r2, %r3;", 0, 8, "`.sat` can't stand here in `add.u32.sat`",
     "nothing can stand behind `add.u32`"},
    {"add %r1, %r2, %r3;", 0, 1, "`add` lacks one of .u16 .s16 .u32 .s32 .u64 .s64 .u16x2 .s16x2", NULL},
    {"cvt.s32.f32 %r1, %f1;", 0, 8, "`.f32` can't stand here in `cvt.s32.f32`",
     "`.u8`, `.u16`, `.u32`, `.u64`, `.s8`, `.s16`, `.s32`, `.s64` can"},
    {"add.s32 %r1, %r2;", 0, 1, "add takes 3 operands here, found 2", NULL},
    {"bar.sync;", 0, 1, "bar takes 1 or 2 operands here, found 0", NULL},
    {"add.s32 %r1, %r2, %l3;", 0, 19, "add expects a `.s32` here, but `%l3` is a `.b64`", NULL},
    {"add.s32 %r1, %f2, 1;", 0, 14, "add expects a `.s32` here, but `%f2` is a `.f32`", NULL},
    {"add.s32 1, %r2, %r3;", 0, 9, "add expects a register here, found `1`", NULL},
    {"add.s32 %r1, %r2, 1.5;", 0, 19, "add expects an integer here, found `1.5`", NULL},
    {"add.f32 %f1, %f2, 1;", 0, 19, "add expects a float such as 0f3F800000 or 1.0 here, found `1`", NULL},
    {"add.u32 %r1, %tid.x, 1;", 0, 14, "add expects a register that `mov` has filled here, found `%tid.x`", NULL},
    {"mov.u32 %r1, %tidd.x;", 0, 14, "there is no register `%tidd.x` here", "did you mean `%tid.x`?"},
    {"mov.u32 %r1, %clock64;", 0, 14, "mov expects a `.u32` here, but `%clock64` is a `.u64`", NULL},
    {"mov.u32 %r1, %r8;", 0, 14, "there is no register `%r8` here", "the registers are `%r0` to `%r7`"},
    {"ld.global.u32 %r1, [wrod];", 0, 21, "there is no `wrod` here", "did you mean `word`?"},
    {"ld.global.u32 %r1, [tile];", 0, 20, "this variable lies in `.shared`, not in `.global`", NULL},
    {"ld.global.u32 %r1, %l1;", 0, 20, "ld expects an address such as [%r1+4] here, found `%l1`", NULL},
    {"ld.global.u32 %r1, [%f1];", 0, 20, "a `.f32` can't be an address", NULL},
    {"ld.global.v2.u32 %r1, [%l1];", 0, 18, "ld expects a vector such as {%r1, %r2} here, found `%r1`", NULL},
    {"ld.global.v4.u32 {%r1, %r2}, [%l1];", 0, 18, "`.v4` needs 4 parts, found 2", NULL},
    {"bra DNOE;", 0, 5, "there is no label `DNOE` here", "did you mean `DONE`?"},
    {"@%r1 exit;", 0, 2, "bra expects a `.pred` here, but `%r1` is a `.b32`", NULL},
    {"@DONE exit;", 0, 2, "there is no `DONE` here", NULL},
    {"mov.u32 %r1, 0x12g;", 0, 14, "this isn't a number of at most 64 bits: `0x12g`", NULL},
    {"mov.u32 %r1, 0f3F80;", 0, 14, "this isn't a number of at most 64 bits: `0f3F80`", NULL},
    {"mov.u32 %r1, (1+2);", 0, 14, "constant expressions aren't supported", NULL},
    {"add.s32 %r1, %r2, %r3", 1, 1, "expected `,` or `;`, found `DONE`", NULL},
    {".reg .b32 %r<4>;", 0, 11, "there is already a `%r` in this block", NULL},
    {".rge .b32 %x;", 0, 1, "unknown directive `.rge`", "did you mean `.reg`?"},
    {".reg .tf32 %x;", 0, 6, "`.tf32` isn't supported in a declaration", NULL},
    {".const .b32 x;", 0, 1, "`.const` stands outside of functions only", NULL},
    {".local .align 3 .b8 x[4];", 0, 15, "an alignment is a power of two", NULL},
    {"X: X: ret;", 0, 4, "there is already a label `X` in this block", NULL},
    {"call k;", 0, 6, "a kernel can't be called", NULL},
    {"add.f16 %h1, %h2, %r3;", 0, 19, "add expects a `.f16` here, but `%r3` is a `.b32`", NULL},
    {"min.nan.f16 %h1, %h2, %h3;", 0, 4, "min has no modifier `.nan`", "did you mean `.NaN`?"},
    {"cp.async.ca.global.shared [%r1], [%l2], 4;", 0, 12, "`.global` can't stand here in `cp.async.ca.global.shared`",
     "`.shared`, `.shared::cta` can"},
    {"cp.async.ca.shared.global [%r1], [%l2], %r3;", 0, 41, "cp expects an integer here, found `%r3`", NULL},
    {"cp.async.ca.shared.global [%r1], [%l2], 4, %l3;", 0, 44, "cp expects a `.u32` here, but `%l3` is a `.b64`",
     NULL},
    {"cp.async.wait_grp 1;", 0, 9, "cp has no modifier `.wait_grp`", "did you mean `.wait_group`?"},
    {"cp.async.commit_group 1;", 0, 1, "cp takes 0 operands here, found 1", NULL},
    {"mbarrier.init.shared.b32 [%r1], 3;", 0, 21, "mbarrier has no modifier `.b32`", "did you mean `.b64`?"},
    {"mbarrier.arive.shared.b64 %l1, [%r1];", 0, 9, "mbarrier has no modifier `.arive`", "did you mean `.arrive`?"},
    {"mbarrier.test_wait.shared.b64 %r1, [%r1], %l1;", 0, 31,
     "mbarrier expects a `.pred` here, but `%r1` is a `.b32`", NULL},
    {"mbarrier.test_wait.shared.b64 %p1, [%r1], %r2;", 0, 43, "mbarrier expects a `.b64` here, but `%r2` is a `.b32`",
     NULL},
    {"mbarrier.arrive.acquire.cta.b64 %l1, [%r1];", 0, 16,
     "`.acquire` can't stand here in `mbarrier.arrive.acquire.cta.b64`",
     "`.b64`, `.shared`, `.shared::cta`, `.shared::cluster`, `.relaxed`, `.release`, `.cta`, `.cluster` or 2 "
     "others can"},
    {"call %l1, ();", 0, 6, "a call through a register needs a `.callprototype` or `.calltargets`", NULL},
    {"brx.idx %r1, DONE;", 0, 14, "there is no `DONE` here", NULL},
    {"shfl.sync.idx.b32 %r1|%r2, %r3, 0, 31, -1;", 0, 23, "shfl expects a `.pred` here, but `%r2` is a `.b32`", NULL},
    {"not.b32 %r1|%p1, %r2;", 0, 9, "not expects one result here, found `%r1`", NULL},
    {"mov.u32 %r1, \x01;", 0, 14, "this byte has no place in a program text: `\\x01`", NULL},
    {"/* open", 0, 1, "this comment has no end: `/*`", NULL},
};

static void check_mistake(const Mistake *mistake, const char *text, unsigned line) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = parse(text, diag);
  ck_assert_msg(!module, "accepted: %s", mistake->text);
  const DiagItem *item = diag_item(diag, 0);
  ck_assert_msg(strcmp(item->message, mistake->message) == 0, "%s\ngave: %s", mistake->text, item->message);
  ck_assert_msg(item->line == line && item->column == mistake->column, "%s\nat %u:%u", mistake->text, item->line,
                item->column);
  ck_assert_msg(g_strcmp0(item->hint, mistake->hint) == 0, "%s\nhint: %s", mistake->text, item->hint);
}

START_TEST(explains_mistake) {
  g_autofree char *text = g_strconcat(OPEN, mistakes[_i].text, CLOSE, NULL);
  check_mistake(&mistakes[_i], text, LINE + mistakes[_i].line);
}
END_TEST

/* What lockstep doesn't run is kept as it was written, with the reason, and is no error. */
static const Mistake skipped[] = {
    {"mma.sync.aligned.m8n8k4.f16 %r1;", 0, 1, "`mma.sync` isn't supported", NULL},
    {"@%p1 wgmma.fence.sync.aligned;", 0, 6, "`wgmma.fence` isn't supported", NULL},
    {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%l2, {%r3}], [%r4];", 0, 14,
     "`.tensor` of cp isn't supported", NULL},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%l2], %r3, [%r4], "
     "%h1;",
     0, 66, "`.multicast::cluster` of cp isn't supported", NULL},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];", 0, 4,
     "`.async` of red isn't supported", NULL},
    {"add.tf32 %h1, %h2, %h3;", 0, 4, "`.tf32` of add isn't supported", NULL},
    {"ex2.approx.f16 %h1, %h2;", 0, 11, "`.f16` of ex2 isn't supported", NULL},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [word, {%f1, %f2}];", 0, 1, "`tex.2d` isn't supported", NULL},
    {"@!%p1\n wgmma.mma_async.sync.aligned\n{%f1,\n%f2},\n{%r1};", 1, 2, "`wgmma.mma_async` isn't supported", NULL},
};

START_TEST(keeps_what_is_not_supported) {
  const Mistake *expected = &skipped[_i];
  g_autofree char *text = g_strconcat(OPEN, expected->text, CLOSE, NULL);
  g_autofree char *statement = g_strndup(expected->text, strlen(expected->text) - 1);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = parse(text, diag);
  ck_assert_msg(module && !diag_has_errors(diag), "%s", expected->text);
  ck_assert_uint_eq(module->skipped->len, 1);
  const PtxSkipped *found = ptx_skipped(module, 0);
  unsigned line, column;
  ptx_module_place(module, found->why_at, &line, &column);
  ck_assert_str_eq(found->text, statement);
  ck_assert_str_eq(found->why, expected->message);
  ck_assert_msg(line == LINE + expected->line && column == expected->column, "%u:%u", line, column);
  g_autofree char *printed = ptx_print_module(module);
  g_autoptr(PtxModule) again = parse(printed, diag);
  ck_assert_msg(again && same_module(module, again), "%s", printed);
}
END_TEST

/* Whole texts. */
static const Mistake outer_mistakes[] = {
    {"", 1, 1, "expected `.version`, with which a PTX program starts, found the end of the file", NULL},
    {".entry k { ret; }", 1, 1, "expected `.version`, with which a PTX program starts, found `.entry`", NULL},
    {".version 9.0\n.entry k { ret; }", 2, 1, "expected `.target`, which stands behind `.version`, found `.entry`",
     NULL},
    {".version 9\n", 1, 10, "expected a version such as 9.0, found `9`", NULL},
    {".version 9.0\n.target sm_x\n", 2, 9, "unknown target `sm_x`: expected one such as sm_75 or sm_90a", NULL},
    {HEAD ".address_size 16\n", 4, 15, "an address has 32 or 64 bits", NULL},
    {HEAD ".visibel .entry k { ret; }", 4, 1, "unknown directive `.visibel`", "did you mean `.visible`?"},
    {HEAD ".alias a, b;", 4, 1, "`.alias` isn't supported", NULL},
    {HEAD ".entry k { mma.sync %r1 }", 4, 12, "`mma.sync` isn't supported", NULL},
    {HEAD ".entry k { ret;", 4, 8, "the body of `k` has no end", NULL},
    {HEAD ".entry k { ret; }\n.entry k { ret; }", 5, 8, "there is already a `k`", NULL},
    {HEAD ".func f(.param .b32 a);\n.func f { ret; }", 5, 7, "`f` was declared with other parameters", NULL},
    {HEAD ".entry k(.param .b32 a, .param .b32 a) { ret; }", 4, 37, "there is already a `a` in this block", NULL},
    {HEAD ".entry k .maxntid 0 { ret; }", 4, 21, "a block has at least one thread in each direction", NULL},
    {HEAD ".entry k .reqnctapercluster 1, 0, 1 { ret; }", 4, 33, "a cluster has at least one block in each direction",
     NULL},
    {HEAD ".global .b32 x[2] = {1, 2, 3};", 4, 28, "more values than elements", NULL},
    {HEAD ".global .b32 x = y;", 4, 18, "there is no variable or function `y` here", NULL},
    {HEAD ".shared .b32 x = 1;", 4, 18, "only `.global` and `.const` variables have an initial value", NULL},
    {HEAD ".reg .b32 x;", 4, 1, "`.reg` stands in functions only", NULL},
    {HEAD ".global .b8 x[1000000][1000000];", 4, 14, "more than 1073741824 elements", NULL},
    {HEAD "nonsense;", 4, 1, "expected a directive such as `.visible .entry`, found `nonsense`", NULL},
};

START_TEST(explains_outer_mistake) {
  check_mistake(&outer_mistakes[_i], outer_mistakes[_i].text, outer_mistakes[_i].line);
}
END_TEST

START_TEST(goes_on_after_errors) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = parse(
      OPEN "adn.b32 %r1, %r2, %r3;\nld.global.v4.u32 {%r1, %x, %r3, %r4}, [%l1];\n{\nadt.s32;\n}\nbra NOWHERE;" CLOSE
           ".entry second { exti; }\n",
      diag);
  static const unsigned lines[] = {LINE, LINE + 1, LINE + 3, LINE + 5, LINE + 7};
  ck_assert(!module);
  ck_assert_uint_eq(diag_error_count(diag), G_N_ELEMENTS(lines));
  for (unsigned i = 0; i < G_N_ELEMENTS(lines); i++)
    ck_assert_msg(diag_item(diag, i)->line == lines[i], "%s", diag_item(diag, i)->message);
}
END_TEST

/* -- size and time -- */

static char *repeat(const char *before, const char *text, gsize bytes, const char *after) {
  GString *all = g_string_new(before);
  while (all->len < bytes)
    g_string_append(all, text);
  g_string_append(all, after);
  return g_string_free(all, FALSE);
}

static double seconds_to_read(const char *text, bool expected) {
  g_autoptr(Diag) diag = diag_new();
  double start = unit_cpu_seconds();
  g_autoptr(PtxModule) module = parse(text, diag);
  double seconds = unit_cpu_seconds() - start;
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg((module != NULL) == expected, "%.500s", messages);
  return seconds;
}

/* A file of 5 MB such as nvcc writes. */
START_TEST(reads_five_megabytes_in_a_second) {
  static const char loop[] =
      "$L__BB0_%u:\n\t.loc 1 %u 3\n\tld.global.u32 \t%%r%u, [%%rd%u+4];\n\tadd.s32 \t%%r%u, %%r%u, -1;\n"
      "\tsetp.ne.s32 \t%%p%u, %%r%u, 0;\n\t@%%p%u bra \t$L__BB0_%u;\n";
  GString *text =
      g_string_new(HEAD ".visible .entry k() {\n.reg .b32 %r<50000>; .reg .b64 %rd<50000>; .reg .pred %p<50000>;\n");
  for (unsigned i = 0; text->len < 5000000; i++) {
    unsigned r = i % 49000;
    g_string_append_printf(text, loop, i, i + 1, r, r + 1, r + 2, r, r, r + 2, r, i);
  }
  g_string_append(text, "ret;\n}\n");
  double seconds = seconds_to_read(text->str, true);
  ck_assert_msg(seconds < 1.0 * unit_patience(), "%f s", seconds);
  g_string_free(text, TRUE);
}
END_TEST

static const struct {
  const char *before, *text, *after;
  bool good;
} hostile[] = {
    {HEAD, ".func (", "", false},
    {HEAD, ".entry k {", "", false},
    {OPEN, "{", "", false},
    {OPEN, "{x: bra x;}\n", CLOSE, false}, /* more blocks than allowed */
    {OPEN, "bra nowhere;\n", CLOSE, false},
    {OPEN, "mov.u32 %r1, %r99;", CLOSE, false},
    {OPEN, "mov.u32 %r1,", CLOSE, false},
    {OPEN "call ", "(%r1,", CLOSE, false},
    {OPEN, "ret;", CLOSE, false},
    {OPEN, ".reg .b32 %x<1000000>;", CLOSE, false},
    {HEAD ".global .b8 x[] = {", "1,", "1};", false},
    {HEAD ".global .b8 x[2][2] = ", "{", "", false},
    {"", "/*", "", false},
    {"", "\n", "", false},
    {HEAD ".section .x ", "{", "", false},
    {OPEN, "a1:", CLOSE, false},
    {HEAD ".entry ", "x", " { ret; }", false},
    {OPEN, "t: .branchtargets DONE;", CLOSE, false},
    {OPEN "bra.", "uni.", " DONE;" CLOSE, false},
};

START_TEST(reads_hostile_text_in_time) {
  enum { BYTES = 16000000 };
  g_autofree char *text = repeat(hostile[_i].before, hostile[_i].text, BYTES, hostile[_i].after);
  double seconds = seconds_to_read(text, hostile[_i].good);
  ck_assert_msg(seconds < 2.0 * unit_patience(), "text %d: %f s", _i, seconds);
}
END_TEST

START_TEST(refuses_too_large_a_text) {
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *text = repeat(HEAD, "\n", (16 << 20) + 1, "");
  ck_assert(!parse(text, diag));
  ck_assert_str_eq(diag_item(diag, 0)->message, "the file is larger than 16 MiB");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ptx_parse");
  TCase *tcase = tcase_create("ptx_parse");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, reads_corpus);
  tcase_add_test(tcase, reads_every_form);
  tcase_add_test(tcase, decodes_modifiers);
  tcase_add_loop_test(tcase, reads_spelling, 0, G_N_ELEMENTS(spellings));
  tcase_add_test(tcase, reads_directives);
  tcase_add_test(tcase, keeps_registers_apart);
  tcase_add_test(tcase, finds_labels_of_the_block);
  tcase_add_test(tcase, chains_inlined_places);
  tcase_add_test(tcase, tells_copies_of_inlined_calls);
  tcase_add_test(tcase, reads_variables);
  tcase_add_test(tcase, links_declarations);
  tcase_add_loop_test(tcase, explains_mistake, 0, G_N_ELEMENTS(mistakes));
  tcase_add_loop_test(tcase, keeps_what_is_not_supported, 0, (int)G_N_ELEMENTS(skipped));
  tcase_add_loop_test(tcase, explains_outer_mistake, 0, G_N_ELEMENTS(outer_mistakes));
  tcase_add_test(tcase, goes_on_after_errors);
  tcase_add_test(tcase, reads_five_megabytes_in_a_second);
  tcase_add_loop_test(tcase, reads_hostile_text_in_time, 0, G_N_ELEMENTS(hostile));
  tcase_add_test(tcase, refuses_too_large_a_text);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
