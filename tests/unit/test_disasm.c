#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "isa/disasm.h"
#include "tests/unit/lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/same.h"
#include "tests/unit/unit.h"

/* -- spelling -- */

typedef struct Spelling {
  const char *text, *printed; /* NULL: as it was written */
} Spelling;

static const Spelling spellings[] = {
    {"NOP.S", NULL},
    {"mov r1, c [0x0] [0x8]", "MOV R1, c[0x0][0x8]"},
    {"MOV R1, -1", "MOV R1, -0x1"},
    {"MOV R1, 0xdeadbeef", NULL},
    {"MOV R1, 0x0", "MOV R1, RZ"},
    {"MOV32I R1, 0", "MOV32I R1, 0x0"},
    {"!@P1 IADD R1 , R2,-R3", "@!P1 IADD R1, R2, -R3"},
    {"@!PT IADD.X.SAT R1, -c[0x0][0x20], R3", "@!PT IADD.SAT.X R1, -c[0x0][0x20], R3"},
    {"IADD.CC R1, R2, R3", "IADD R1.CC, R2, R3"},
    {"IADD32I RZ, R2, 64", "IADD RZ, R2, 0x40"},
    {"IMUL.U32.U32.HI R1, R2, R3", "IMUL.U32.HI R1, R2, R3"},
    {"IMAD R1, R2, R3, -R4", NULL},
    {"ISCADD R1, R2, R3, 31", "ISCADD R1, R2, R3, 0x1f"},
    {"SHR.S32.W R1, R2, 3", "SHR.W R1, R2, 0x3"},
    {"LOP.PASS_B R1, R2, ~R3", NULL},
    {"ISET.BF.NE.U32 R1, R2, R3", "ISET.BF.NE.U32.AND R1, R2, R3, PT"},
    {"ISETP.EQ P0, pt, R1, RZ, pt", "ISETP.EQ.AND P0, PT, R1, RZ, PT"},
    {"ISETP.EQ.AND.S P2, pt, R2, RZ, pt", "ISETP.EQ.AND.S P2, PT, R2, RZ, PT"},
    {"PSETP P2, P3, !P4, P1", "PSETP.AND.AND P2, P3, !P4, P1, PT"},
    {"PSETP.XOR.OR.S P2, PT, !PT, P1, P0", NULL},
    {"FLO.S32.SH R1, ~R2", NULL},
    {"FLO R1, R2", NULL},
    {"FADD.SAT.FTZ.RN R1, |R2|, -|R3|", "FADD.FTZ.SAT R1, |R2|, -|R3|"},
    {"FADD R1, R2, 0x3fc00000", "FADD R1, R2, 1.5"},
    {"FADD R1, R2, 1", "FADD R1, R2, 1.0"},
    {"FADD R1, R2, 0x7f800000", NULL},
    {"FADD R1, R2, 0xffc00001", NULL},
    {"FADD R1, R2, -0.0", NULL},
    {"FFMA R1, -R2, 0.333333343, R3", NULL},
    {"FSETP.NAN.OR P0, P1, -RZ, R2, !P3", NULL},
    {"I2F.F32.S32 R1, -R2", "I2F R1, -R2"},
    {"F2I.FTZ.U32.F32.CEIL R1, R2", "F2I.U32.FTZ.CEIL R1, R2"},
    {"S2R R1, SR_TID.Y", "S2R R1, SR_Tid_Y"},
    {"VOTE.EQ P1, !P2", "VOTE.EQ RZ, P1, !P2"},
    {"LDS.U16 R1, [R2-0x84]", "LDS.U16 R1, [R2+-0x84]"},
    {"LDS R1, [RZ+16]", "LDS R1, [0x10]"},
    {"LDS R1, [-4]", "LDS R1, [0xfffffffc]"},
    {"STS.64 [R2+0x7fffffff], RZ", NULL},
    {"LDSLK P0,RZ ,[R5]", "LDSLK P0, RZ, [R5]"},
    {"STSCUL P1,[R2+0x4] ,R3", "STSCUL P1, [R2+0x4], R3"},
    {"STSCUL PT, [RZ+0x10], RZ", "STSCUL PT, [0x10], RZ"},
    {"LD.CG.E.128 R4, [R2]", "LD.E.CG.128 R4, [R2]"},
    {"ATOM.CAS.E R1, [R2], R4, RZ", "ATOM.E.CAS R1, [R2], R4, RZ"},
    {"ATOM.ADD.U32 R1, [R2], R4", "ATOM.ADD R1, [R2], R4"},
    {"RED.MIN.S32 [R2], R4", NULL},
    {"MEMBAR.SYS", NULL},
    {"BAR.SYNC RZ", "BAR.SYNC 0x0"},
    {"BAR.ARV 1, 64", "BAR.ARV 0x1, 0x40"},
    {"BAR.RED.POPC RZ,RZ", "BAR.RED.POPC RZ, 0x0"},
    {"BAR.RED.OR RZ, P2, R1, R2, !P3", "BAR.RED.OR P2, R1, R2, !P3"},
    {"BAR.RED.AND RZ, 1", "BAR.RED.AND PT, 0x1"},
    {"@P0 BRA.U here", "@P0 BRA.U 0x0"},
};

START_TEST(prints_instruction) {
  const Spelling *s = &spellings[_i];
  g_autofree char *text = g_strconcat("here: ", s->text, "\nEXIT", NULL);
  g_autoptr(Program) program = lab_parse(text);
  const Kernel *kernel = program_kernel(program, 0);
  g_autofree char *printed = disasm_inst(kernel, &kernel->insts[0]);
  ck_assert_str_eq(printed, s->printed ? s->printed : s->text);
}
END_TEST

START_TEST(prints_program) {
  g_autoptr(Program) program = lab_parse(
      ".kernel two // x\n.shared 64\n.reg 4\n.grid 2 ,  3\n.expect\ntop: /*0010*/ @!P0 mov r1, rz\n.mark 7\n"
      "/*0020*/ @P1 bra top\nnop\nend: exit\n");
  g_autofree char *printed = disasm_program(program);
  ck_assert_str_eq(printed, ".target sm_20\n\n.kernel two\n.reg 4\n.shared 64\n.grid 2 ,  3\n.expect\ntop:\n"
                            "/*0010*/ @!P0  MOV R1, RZ;\n.mark 7\n/*0020*/ @P1   BRA 0x10;\n/*0028*/       NOP;\n"
                            "end:\n/*0030*/       EXIT;\n");
}
END_TEST

/* Addresses that can't be printed again as targets give way to new ones. */
START_TEST(renumbers_unusable_addresses) {
  g_autoptr(Program) program = lab_parse("x: /*0020*/ NOP\n/*0020*/ @P0 BRA x\n/*0004*/ EXIT");
  g_autofree char *printed = disasm_program(program);
  ck_assert_str_eq(printed, ".target sm_20\n\n.kernel prog\nx:\n/*0000*/       NOP;\n/*0008*/ @P0   BRA 0x0;\n"
                            "/*0010*/       EXIT;\n");
}
END_TEST

/* -- what PTX becomes -- */

#define PTX_REGS ".reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %l<8>; .reg .f32 %f<8>; .reg .f64 %d<8>;\n"

#define SPIN                                                                                                \
  "mov.u32 %r1, %laneid; setp.eq.s32 %p1, %r1, 0; @%p1 bra OUT; AGAIN: ld.volatile.global.u32 %r1, [%l1]; " \
  "setp.ne.s32 %p1, %r1, 0; @%p1 bra AGAIN; OUT: st.global.u32 [%l1], 2;"

/* An instruction, and how a line of the print of its kernel begins, registers left out. */
static const struct {
  const char *ptx, *printed;
} lowered[] = {
    {"ld.volatile.global.v2.u32 {%r1, %r2}, [%l1];", "LD.E.64.VOLATILE "},
    {"ld.relaxed.gpu.global.s8 %r1, [%l1];", "LD.E.S8.STRONG.GPU "},
    {"ld.acquire.sys.u64 %l2, [%l1];", "LD.E.64.GENERIC.ACQUIRE.SYS "},
    {"ld.const.u32 %r1, [konst+4];", "LD.CONST R0, [v[0]+0x4]"},
    {"mov.u64 %l2, konst; st.global.u64 [%l1], %l2;", "MOV.64 R2, v[0]"},
    {"st.release.cta.global.u16 [%l1], %r1;", "ST.E.U16.RELEASE.CTA "},
    {"st.local.v4.u32 [spot], {%r1, %r2, %r3, %r4};", "STL.128 [0x0], "},
    {"atom.add.f64 %d1, [%l1], %d2;", "ATOM.E.ADD.F64.GENERIC.STRONG.GPU "},
    {"atom.shared.cas.acq_rel.cta.b32 %r1, [%r2], %r3, %r4;", "ATOMS.CAS.U32.ACQ_REL.CTA "},
    {"red.global.max.s64 [%l1], %l2;", "RED.E.MAX.S64.STRONG.GPU "},
    {"fence.sc.cta;", "MEMBAR.CTA.SC"},
    {"fence.acq_rel.gpu;", "MEMBAR.GL.ACQ_REL"},
    {"cvt.rzi.u32.f64 %r1, %d1; st.global.u32 [%l1], %r1;", "CVT.U32.F64.TRUNC "},
    {"cvt.rp.f32.f64 %f1, %d1; st.global.f32 [%l1], %f1;", "CVT.F32.F64.RP "},
    {"sqrt.rn.ftz.f32 %f1, %f2; st.global.f32 [%l1], %f1;", "MUFU.SQRT.FTZ "},
    {"add.rz.f64 %d1, %d2, 0d3FF8000000000000; st.global.f64 [%l1], %d1;", "DADD.RZ R2, R0, 1.5"},
    {"setp.lt.u64 %p1, %l1, -1; @%p1 st.global.u32 [%l1], 1;", "ISETP.64.LT.U64.AND P0, PT, R0, -0x1, PT"},
    {"shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1; @%p1 st.global.u32 [%l1], %r1;", "SHFL.BFLY "},
    {"match.all.sync.b32 %r1|%p1, %r2, -1; @%p1 st.global.u32 [%l1], %r1;", "MATCH.ALL "},
    {"redux.sync.min.s32 %r1, %r2, -1; st.global.u32 [%l1], %r1;", "REDUX.MIN.S32 "},
    {"lop3.b32 %r1, %r2, %r3, %r4, 0x96; st.global.u32 [%l1], %r1;", "LOP3 R3, R0, R0, R0, 0x96"},
    {"isspacep.shared %p1, %l1; @%p1 st.global.u32 [%l1], 1;", "ISSPACEP.SHARED P0, "},
    {SPIN, "BSSY B0, 0x"},
    {SPIN, "BSYNC B0;"},
    {"barrier.sync 1, 64;", "BAR.SYNC.UNALIGNED 0x1, 0x40"},
};

START_TEST(prints_lowered) {
  g_autofree char *text =
      g_strconcat(".version 9.0\n.target sm_90\n.address_size 64\n.const .u32 konst[4];\n.entry k() {\n"
                  ".local .align 16 .b8 spot[16];\n" PTX_REGS,
                  lowered[_i].ptx, "\nret; }\n", NULL);
  static const PtxTarget hopper = {.capability = 90, .convergence_barriers = true, .max_registers = 255};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = ptx_lab_lower("k.ptx", text, &hopper, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program, "%s", messages);
  g_autofree char *printed = disasm_kernel(program, 0);
  g_autofree char *wanted = g_strconcat(" ", lowered[_i].printed, NULL);
  ck_assert_msg(strstr(printed, wanted), "no %s in\n%s", wanted, printed);
}
END_TEST

/* -- parse(print(p)) == p -- */

static void check_round_trip(const Program *program, const char *what) {
  g_autofree char *printed = disasm_program(program);
  g_autoptr(Program) again = lab_parse(printed);
  ck_assert_msg(same_program(program, again), "%s: the parse of the print differs:\n%s", what, printed);
  g_autofree char *reprinted = disasm_program(again);
  ck_assert_msg(strcmp(printed, reprinted) == 0, "%s: %s\nthen\n%s", what, printed, reprinted);
}

START_TEST(spelling_round_trips) {
  g_autofree char *text = g_strconcat("here: ", spellings[_i].text, "\nEXIT", NULL);
  g_autoptr(Program) program = lab_parse(text);
  check_round_trip(program, spellings[_i].text);
}
END_TEST

START_TEST(equality_sees_differences) {
  static const char *const others[] = {"MOV R1, 2; EXIT",
                                       "MOV R2, 1; EXIT",
                                       "MOV R1, 1; NOP; EXIT",
                                       ".reg 9\nMOV R1, 1; EXIT",
                                       "@P0 MOV R1, 1; EXIT",
                                       ".mark 1\nMOV R1, 1; EXIT",
                                       ".shared 4\nMOV R1, 1; EXIT",
                                       ".grid 1\nMOV R1, 1; EXIT",
                                       ".target sm_21\nMOV R1, 1; EXIT",
                                       ".kernel k\nMOV R1, 1; EXIT",
                                       "MOV R1, c[0x0][0x0]; EXIT"};
  g_autoptr(Program) one = lab_parse("MOV R1, 1; EXIT"), same = lab_parse("/*0100*/ mov R1, 0x1\n\n x: EXIT");
  ck_assert(same_program(one, same));
  g_autoptr(Program) other = lab_parse(others[_i]);
  ck_assert_msg(!same_program(one, other), "%s", others[_i]);
}
END_TEST

/* -- programs from a seed -- */

typedef struct Maker {
  GRand *random;
  GString *text;
  unsigned count; /* instructions, for targets */
} Maker;

static unsigned pick(Maker *maker, unsigned below) {
  return (unsigned)g_rand_int_range(maker->random, 0, (gint32)below);
}

static void put(Maker *maker, const char *text) { g_string_append(maker->text, text); }

static void put_one_of(Maker *maker, const char *const *words) {
  put(maker, words[pick(maker, g_strv_length((char **)words))]);
}
#define ONE_OF(maker, ...) put_one_of(maker, (const char *const[]){__VA_ARGS__, NULL})

static void put_register(Maker *maker, unsigned align) {
  if (align == 1 && pick(maker, 6) == 0)
    put(maker, "RZ");
  else
    g_string_append_printf(maker->text, "R%u", pick(maker, 60 / align) * align);
}

static void put_predicate(Maker *maker, bool read) {
  if (read && pick(maker, 3) == 0)
    put(maker, "!");
  if (pick(maker, 3) == 0)
    put(maker, "PT");
  else
    g_string_append_printf(maker->text, "P%u", pick(maker, 7));
}

static void put_value(Maker *maker, uint32_t flags) {
  switch (pick(maker, 5)) {
  case 0: g_string_append_printf(maker->text, "c[0x0][0x%x]", 4 * pick(maker, 100)); break;
  case 1:
    g_string_append_printf(maker->text, pick(maker, 2) ? "0x%x" : "-0x%x",
                           g_rand_int(maker->random) >> (1 + pick(maker, 30)));
    break;
  case 2:
    if (flags & OPF_FLOAT)
      g_string_append_printf(maker->text, "%u.%ue%u", pick(maker, 100), pick(maker, 1000), pick(maker, 30));
    else
      g_string_append_printf(maker->text, "%u", pick(maker, 1000));
    break;
  default: put_register(maker, 1); break;
  }
}

static void put_memory(Maker *maker, bool wide) {
  put(maker, "[");
  if (pick(maker, 5) == 0) {
    g_string_append_printf(maker->text, "0x%x]", 4 * pick(maker, 9999));
    return;
  }
  put_register(maker, wide ? 2 : 1);
  ONE_OF(maker, "]", "]", "+0x10]", "+-0x84]", "-4]", "+128]");
}

static void put_operand(Maker *maker, char letter, const OpInfo *info, unsigned align, bool wide) {
  switch (letter) {
  case 'd': put_register(maker, align); break;
  case 'B': put_register(maker, align); break;
  case 'a': put_value(maker, info->flags); break;
  case 's': g_string_append_printf(maker->text, "%u", pick(maker, 32)); break;
  case 'p': put_predicate(maker, false); break;
  case 'q': put_predicate(maker, true); break;
  case 'm': put_memory(maker, wide); break;
  case 'r': ONE_OF(maker, "SR_Tid_X", "SR_LaneId", "SR_NCTAid_Z", "SR_ClockLo", "SR_GeMask"); break;
  case 'i': g_string_append_printf(maker->text, "0x%x", g_rand_int(maker->random)); break;
  default: g_string_append_printf(maker->text, "0x%x", 8 * pick(maker, maker->count)); break;
  }
}

static void put_operands(Maker *maker, const char *spec, const OpInfo *info, unsigned align, bool wide) {
  for (const char *letter = spec; *letter; letter++) {
    put(maker, letter == spec ? " " : ", ");
    put_operand(maker, *letter, info, align, wide);
  }
}

static void put_barrier(Maker *maker) {
  switch (pick(maker, 4)) {
  case 0: put(maker, ".SYNC "); break;
  case 1: put(maker, ".ARV "); break;
  case 2:
    put(maker, ".RED.POPC ");
    put_register(maker, 1);
    put(maker, ", ");
    break;
  default:
    ONE_OF(maker, ".RED.AND ", ".RED.OR ");
    put_predicate(maker, false);
    put(maker, ", ");
    break;
  }
  bool reduces = maker->text->str[maker->text->len - 2] == ',';
  ONE_OF(maker, "0", "RZ", "0xf", "R3");
  ONE_OF(maker, "", "", ", 64", ", R4", ", RZ");
  if (reduces && pick(maker, 2)) {
    put(maker, ", ");
    put_predicate(maker, true);
  }
}

static const char *const specs[] = {
    [FORM_NONE] = "",         [FORM_D_A] = "da",       [FORM_D_A_B] = "daa",      [FORM_D_A_B_C] = "daaa",
    [FORM_D_A_B_S] = "daas",  [FORM_D_A_B_Q] = "daaq", [FORM_D_A_B_CMP] = "daaq", [FORM_P_A_B_CMP] = "ppaaq",
    [FORM_P_Q_Q_Q] = "ppqqq", [FORM_D_SR] = "dr",      [FORM_D_P_Q] = "dpq",      [FORM_D_M] = "dm",
    [FORM_P_D_M] = "pdm",     [FORM_M_A] = "mB",       [FORM_D_M_B_C] = "dmB",    [FORM_BAR] = "",
    [FORM_T] = "t",           [FORM_P_M_A] = "pmB",
};

/* The modifiers that an opcode needs and some that it may have. */
static void put_modifiers(Maker *maker, Opcode op) {
  switch (op) {
  case OP_ISETP:
  case OP_ISET:
    ONE_OF(maker, ".LT", ".EQ", ".GE", ".NE.U32", ".T");
    ONE_OF(maker, "", ".AND", ".OR", ".XOR");
    break;
  case OP_FSETP: ONE_OF(maker, ".LTU.AND", ".NUM", ".GT.FTZ.OR", ".F"); break;
  case OP_PSETP: ONE_OF(maker, "", ".OR", ".XOR.AND", ".AND.OR"); break;
  case OP_LOP: ONE_OF(maker, ".AND", ".OR", ".XOR", ".PASS_B"); break;
  case OP_IADD:
  case OP_ISUB: ONE_OF(maker, "", ".SAT", ".X", ".CC", ".CC.X"); break;
  case OP_IMUL:
  case OP_IMAD: ONE_OF(maker, "", ".HI", ".U32", ".U32.U32.HI"); break;
  case OP_SHR: ONE_OF(maker, "", ".U32", ".W", ".U32.W"); break;
  case OP_FLO: ONE_OF(maker, "", ".S32", ".SH", ".U32.SH"); break;
  case OP_FADD:
  case OP_FMUL:
  case OP_FFMA: ONE_OF(maker, "", ".FTZ", ".RN", ".SAT"); break;
  case OP_F2I: ONE_OF(maker, "", ".U32.F32.FLOOR", ".S32.F32.TRUNC", ".ROUND"); break;
  case OP_VOTE: ONE_OF(maker, ".ALL", ".ANY", ".EQ"); break;
  case OP_MEMBAR: ONE_OF(maker, ".CTA", ".GL", ".SYS"); break;
  case OP_LDS:
  case OP_STS: ONE_OF(maker, "", ".U8", ".S16", ".32"); break;
  case OP_LD: ONE_OF(maker, "", ".CV", ".CG.U8", ".CA"); break;
  case OP_ST: ONE_OF(maker, "", ".WT", ".CG.U8", ".WB"); break;
  case OP_ATOM:
  case OP_RED: ONE_OF(maker, ".ADD", ".MAX.S32", ".EXCH", ".ADD.F32.FTZ.RN", ".XOR"); break;
  default: break;
  }
}

static void put_instruction(Maker *maker) {
  Opcode op = (Opcode)pick(maker, OP_MOV64); /* the first that isn't in Fermi SASS */
  const OpInfo *info = &op_info[op];
  if (pick(maker, 3) == 0) {
    ONE_OF(maker, "@", "@!", "!@");
    put_predicate(maker, false);
    put(maker, " ");
  }
  put(maker, info->sass);
  if (op == OP_BAR) {
    put_barrier(maker);
  } else {
    bool memory = op == OP_LDS || op == OP_STS || op == OP_LD || op == OP_ST, global = info->unit == UNIT_GLOBAL;
    bool wide = global && op != OP_MEMBAR && pick(maker, 2), pair = memory && pick(maker, 4) == 0;
    bool takes = op == OP_DEQUEUE; /* always a pair */
    if (pair)
      put(maker, ".64");
    else
      put_modifiers(maker, op);
    const char *spec = op == OP_MOV32I ? "di" : specs[info->form];
    put(maker, wide ? ".E" : "");
    put(maker, pick(maker, 8) == 0 ? ".S" : "");
    put_operands(maker, spec, info, pair || takes ? 2 : 1, wide);
  }
  ONE_OF(maker, ";\n", "\n", " // c\n", " /* c */ ;\n");
}

static char *make_program(guint32 seed) {
  Maker maker = {.random = g_rand_new_with_seed(seed), .text = g_string_new(".kernel made\n")};
  maker.count = 2 + pick(&maker, 40);
  if (pick(&maker, 2))
    put(&maker, ".shared 512\n.grid 4\n.block 32\n");
  for (unsigned i = 0; i + 1 < maker.count; i++) {
    if (pick(&maker, 10) == 0)
      g_string_append_printf(maker.text, "L%u:\n", i);
    if (pick(&maker, 10) == 0)
      g_string_append_printf(maker.text, ".mark %u\n", pick(&maker, 9));
    put_instruction(&maker);
  }
  put(&maker, "EXIT\n");
  g_rand_free(maker.random);
  return g_string_free(maker.text, FALSE);
}

enum { SEEDS = 400 };

START_TEST(made_programs_round_trip) {
  for (guint32 seed = 0; seed < SEEDS; seed++) {
    g_autofree char *text = make_program(seed), *what = g_strdup_printf("seed %u", seed);
    g_autoptr(Program) program = lab_parse(text);
    check_round_trip(program, what);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("disasm");
  TCase *tcase = tcase_create("disasm");
  tcase_add_loop_test(tcase, prints_instruction, 0, G_N_ELEMENTS(spellings));
  tcase_add_test(tcase, prints_program);
  tcase_add_loop_test(tcase, prints_lowered, 0, (int)G_N_ELEMENTS(lowered));
  tcase_add_test(tcase, renumbers_unusable_addresses);
  tcase_add_loop_test(tcase, spelling_round_trips, 0, G_N_ELEMENTS(spellings));
  tcase_add_loop_test(tcase, equality_sees_differences, 0, 11);
  tcase_add_test(tcase, made_programs_round_trip);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
