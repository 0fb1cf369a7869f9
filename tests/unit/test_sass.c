#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "isa/sass/sass.h"
#include "tests/unit/unit.h"

static Program *parse(const char *text, Diag *diag) { return sass_parse("dir/prog.sass", text, strlen(text), diag); }

/* The program, or a failed test with the messages. */
static Program *parse_good(const char *text) {
  g_autoptr(Diag) diag = diag_new();
  Program *program = parse(text, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program, "%s\nin\n%s", messages, text);
  ck_assert_uint_eq(diag_count(diag), 0);
  return program;
}

/* The one instruction before an EXIT. */
static Inst decode(const char *text, ConstRef *consts) {
  g_autofree char *whole = g_strconcat("here: ", text, "\nEXIT\n", NULL);
  g_autoptr(Program) program = parse_good(whole);
  const Kernel *kernel = program_kernel(program, 0);
  if (consts && kernel->nconsts)
    memcpy(consts, kernel->consts, kernel->nconsts * sizeof *consts);
  ck_assert_uint_eq(kernel->ninsts, 2);
  return kernel->insts[0];
}

/* -- the paper -- */

/* The SASS listings of Li et al. as printed; where the paper has a placeholder, an instruction stands for it. What a
 * listing lacks to be a program (EXIT, or a branch target) is behind it. */
static const char *const listings[] = {
    /* 1 */
    "/*00a0*/ LDSLK P0, R1, [R0];\n/*00a8*/ @P0 IADD R4, R1, 0x1;\n/*00b0*/ @P0 STSUL [R0], R4;\n"
    "/*00b8*/ @!P0 BRA 0xa0;\nEXIT;\n",
    /* 3 */
    "/*0060*/ SSY 0x98; //set convergence point\n/*0068*/ LDSLK P0 , R2, [R0];\n"
    "/*0070*/ @P0 ISETP.EQ.U32.AND P1, pt, R2, RZ, pt;\n/*0078*/ @P0 SEL R3, R2, 0x1, !P1;\n"
    "/*0080*/ @P0 STSUL [R0], R3;\n/*0088*/ @!P0 BRA 0x68; // atomicCAS loop\n"
    "/*0090*/ ISETP.EQ.AND.S P2, pt, R2, RZ, pt;\n/*0098*/ @!P2 BRA 0x60; //while loop\n//critical section\n"
    "/*00a0*/ NOP\n/*00b0*/ LDSLK P0, RZ, [R0];\n/*00b8*/ @P0 MOV32I R2, 0x1;\n/*00c0*/ @P0 STSUL [R0], R2;\n"
    "/*00c8*/ @!P0 BRA 0xb0;\nEXIT\n",
    /* 4 */
    "//lock:\n/*0000*/ LDSLK P0 , RZ, [R0];\n//waitlock:\n/*0010*/ LDSLK P0 , RZ, [R0];\n/*0018*/ @!P0 BRA 0x10;\n"
    "//unlock:\n/*0020*/ STSUL [R0], RZ;\nEXIT\n",
    /* 6 */
    "/*0000*/ LDSLK P0 , RZ, [R0];// initialize\n/*0010*/ STSUL [R0], R4;//store to channel and\n"
    "/*0100*/ LDSLK P0 , R2, [R0];//wait and load from\n/*0108*/ @!P0 BRA 0x100;// spinning\n"
    "/*0200*/ STSUL [R0], R2;// finalize\nEXIT\n",
    /* 8 */
    "// producer -consumer\n/*00a0*/ SSY 0x110;\n/*00a8*/ LDSLK P0, R2, [R0];\n/*0100*/ @P0 STSUL [R0], R2;\n"
    "/*0108*/ @!P0 BRA 0xa8;\n/*0110*/ EXIT;\n",
    /* 9: two instructions have the address 0x20, and no branch needs it */
    "/*0000*/ LDSLK P0 , RZ, [R0];\n/*0010*/ LDSLK P0 , RZ, [R0];\n/*0018*/ VOTE.ANY RZ, P1, P0;\n"
    "/*0020*/ @!P1 BRA 0x10;\n/*0020*/ S2R R1, SR_LaneId; //Load lane_id\n"
    "/*0028*/ ISETP.EQ P0, pt, R1, RZ, pt;// lane_id =0?\n/*0030*/ @P0 STSUL [R0], RZ;\nEXIT\n",
    /* 13 */
    "/*0000*/ LDSLK P0,RZ ,[R5];// producer init locks\n/*0008*/ BAR.RED.POPC RZ,RZ; //block barrier\n"
    "/* =============== Reduction Phase =============== */\n/*0100*/ ISETP.EQ P0, pt, R6, RZ, pt;\n"
    "/*0108*/ @P0 BRA 0x120; // warp_0 breaks\n/*0110*/ LDSLK P1,R1 ,[R5+-0x80]; // consumer waits\n"
    "/*0118*/ !@P1 BRA 0x110;\n/*0120*/ IADD R2,R1 ,R7;\n/*0128*/ STSUL [R5],R2; // producer releases\n"
    "/*0130*/ @!P0 STSUL [R5+-0x80],R1; // finalize\nEXIT\n",
    /* 15 */
    "/*00e8*/ LDSLK P0, RZ, [R7];//lock self\n/*00f0*/ BAR.RED.POPC RZ, RZ;\n/*00f8*/ SSY 0x170;\n"
    "/*0100*/ @!P1 LDSLK P1, R11 , [R7+-0x4];//get west\n/*0108*/ @P1 STSUL [R7+-0x4], R11;// restore token\n"
    "/*0110*/ @!P3 LDSLK P3, R10 , [R7+-0x80];//get north\n/*0118*/ @P3 STSUL [R7+-0x80], R10;// restore token\n"
    "/*0120*/ PSETP.AND.AND P2, pt, P3, P1, pt;//ready?\n/*0128*/ @P2 LDS R12 , [R7+-0x84];//fire\n"
    "/*0130*/ @P2 ISETP.GE.AND P4, pt, R10 , R11 , pt;\n/*0138*/ @P2 IADD R12 , R12 , R4;\n"
    "/*0140*/ @P2 SEL R13 , R10 , R11 , P4;\n/*0148*/ @P2 IADD R13 , R13 , -R15;\n"
    "/*0150*/ @P2 ISETP.GE.AND P5, pt, R13 , R12 , pt;\n/*0158*/ @P2 SEL R8, R13 , R12 , P5;\n"
    "/*0160*/ @P2 STSUL [R7], R8;//put self\n/*0168*/ @!P2 BRA 0x100;\n/*0170*/ EXIT\n",
};
static const unsigned listing_sizes[] = {5, 14, 5, 6, 5, 8, 10, 18};

START_TEST(reads_listing) {
  g_autoptr(Program) program = parse_good(listings[_i]);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_str_eq(kernel->name, "prog");
  ck_assert_msg(kernel->ninsts == listing_sizes[_i], "listing %d has %u instructions", _i, kernel->ninsts);
}
END_TEST

START_TEST(keeps_addresses_and_places) {
  g_autoptr(Program) program = parse_good(listings[1]);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->insts[0].address, 0x60);
  ck_assert_uint_eq(kernel->insts[9].address, 0xb0);
  ck_assert_uint_eq(kernel->insts[12].address, 0xc8);
  ck_assert_int_eq(kernel->insts[0].target, 7);
  ck_assert_int_eq(kernel->insts[5].target, 1);
  ck_assert_uint_eq(kernel->insts[2].line, 3);
  ck_assert_uint_eq(kernel->insts[2].column, 10);
  ck_assert_uint_eq(kernel->insts[2].guard, 0);
  ck_assert_uint_eq(kernel->nregs, 4);
  g_autofree char *line = program_file_line(program, 0, 5);
  ck_assert_str_eq(line, "/*0080*/ @P0 STSUL [R0], R3;");
  g_autofree char *none = program_file_line(program, 0, 99);
  ck_assert_str_eq(none, "");
}
END_TEST

/* -- one instruction at a time -- */

/* An example of each opcode: all of the table is reachable from text. */
static const char *const examples[OP_COUNT] = {
    [OP_NOP] = "NOP.S",
    [OP_MOV] = "MOV R1, c [0x0] [0x8]",
    [OP_MOV32I] = "MOV32I R1, 0xffffffff",
    [OP_IADD] = "IADD.SAT R1, -R2, 0x7f",
    [OP_ISUB] = "ISUB R1, R2, R3",
    [OP_IMUL] = "IMUL.U32.U32.HI R1, R2, R3",
    [OP_IMAD] = "IMAD.U32 R1, R2, R3, R4",
    [OP_ISCADD] = "ISCADD R1, R2, c[0x0][0x20], 0x2",
    [OP_SHL] = "SHL.W R1, R2, 3",
    [OP_SHR] = "SHR.U32 R1, R2, 0x1f",
    [OP_LOP] = "LOP.XOR R1, ~R2, R3",
    [OP_IMNMX] = "IMNMX.U32 R1, R2, R3, !PT",
    [OP_SEL] = "SEL R1, R2, 0x1, !P1",
    [OP_ISET] = "ISET.BF.LT.AND R1, R2, R3, P0",
    [OP_ISETP] = "ISETP.NE.U32.OR P0, P1, R2, 10, !P2",
    [OP_PSETP] = "PSETP.OR.XOR P0, PT, P1, !P2, P3",
    [OP_BFE] = "BFE.U32 R1, R2, 0x505",
    [OP_BFI] = "BFI R1, R2, 0x505, R3",
    [OP_POPC] = "POPC R1, R2, ~R3",
    [OP_FLO] = "FLO.U32.SH R1, R2",
    [OP_FADD] = "FADD.FTZ.RN R1, -|R2|, 1.5",
    [OP_FMUL] = "FMUL R1, R2, 0x3f800000",
    [OP_FFMA] = "FFMA R1, R2, R3, -R4",
    [OP_FMNMX] = "FMNMX R1, R2, R3, PT",
    [OP_FSETP] = "FSETP.LTU.AND P0, PT, R1, -2, PT",
    [OP_I2F] = "I2F.F32.U32 R1, R2",
    [OP_F2I] = "F2I.S32.F32.TRUNC R1, |R2|",
    [OP_S2R] = "S2R R1, SR_ClockLo",
    [OP_VOTE] = "VOTE.ANY R1, PT, !P0",
    [OP_LDS] = "LDS.64 R2, [R1+0x10]",
    [OP_STS] = "STS.U8 [0x10], R2",
    [OP_LDSLK] = "LDSLK P0, RZ, [R0]",
    [OP_STSUL] = "STSUL [RZ+0x10], RZ",
    [OP_STSCUL] = "STSCUL P1, [R2+0x10], R3",
    [OP_LD] = "LD.E.CV.128 R4, [R2]",
    [OP_ST] = "ST.WT [R2-4], R3",
    [OP_ATOM] = "ATOM.E.ADD.F32.FTZ.RN R1, [R2], R4",
    [OP_RED] = "RED.MAX.S32 [R2], R3",
    [OP_ENQUEUE] = "ENQUEUE.E R1, [R2+0x80], R4",
    [OP_DEQUEUE] = "DEQUEUE R4, [R2]",
    [OP_MEMBAR] = "MEMBAR.GL",
    [OP_SYNCBLOCKS] = "SYNCBLOCKS",
    [OP_BAR] = "BAR.RED.AND P0, R1, 0x40, !P2",
    [OP_SSY] = "SSY here",
    [OP_PBK] = "PBK here",
    [OP_BRK] = "@P0 BRK",
    [OP_PCNT] = "PCNT here",
    [OP_CONT] = "@P0 CONT",
    [OP_BRA] = "@P0 BRA.U here",
    [OP_CAL] = "@P0 CAL here",
    [OP_RET] = "@P0 RET",
    [OP_EXIT] = "@!P6 EXIT",
};

START_TEST(reads_each_opcode) {
  if (op_info[_i].flags & OPF_NEW) { /* not in Fermi SASS, so its name is refused */
    ck_assert_int_eq(opcode_from_sass(op_info[_i].sass), OP_COUNT);
    return;
  }
  ck_assert_msg(examples[_i], "no example of %s", op_info[_i].id);
  ck_assert_msg(decode(examples[_i], NULL).op == _i, "%s", examples[_i]);
}
END_TEST

START_TEST(reads_any_case) {
  Inst lower = decode("@!p1 isetp.eq.u32.and p0, pt, r1, rz, !p2", NULL);
  Inst upper = decode("@!P1 ISETP.EQ.U32.AND P0, PT, R1, RZ, !P2", NULL);
  ck_assert(memcmp(&lower, &upper, sizeof lower) == 0);
}
END_TEST

START_TEST(decodes_operands) {
  ConstRef consts[8];
  Inst inst = decode("@!P3 IADD.SAT R5, -R2, c[0x0][0x24]", consts);
  ck_assert_uint_eq(inst.guard, 3);
  ck_assert_uint_eq(inst.flags & ~(unsigned)INST_MAYBE_UNSET, INST_GUARD_NOT | INST_SAT | INST_NEG_A);
  ck_assert_int_eq(inst.dst, 5);
  ck_assert_int_eq(inst.a, 2);
  ck_assert_int_eq(inst.b, ~0);
  ck_assert_int_eq(consts[0].kind, CONST_BANK);
  ck_assert_uint_eq(consts[0].value, 0x24);

  inst = decode("ISETP.GE.OR P1, PT, R9, -5, !P2", consts);
  ck_assert_uint_eq(inst.pdst, 1);
  ck_assert_uint_eq(inst.pdst2, PRED_SINK);
  ck_assert_uint_eq(inst.cmp, CMP_GE);
  ck_assert_uint_eq(inst.lop, LOP_OR);
  ck_assert_uint_eq(inst.psrc[0], 2);
  ck_assert_uint_eq(inst.psrc[1], PRED_TRUE);
  ck_assert_uint_eq(inst.psrc_not, 1);
  ck_assert_uint_eq(consts[0].value, (uint32_t)-5);

  inst = decode("LDSLK P0, RZ, [R7+-0x84]", consts);
  ck_assert_int_eq(inst.dst, 8); /* the sink: R0 to R7 exist */
  ck_assert_int_eq(inst.a, 7);
  ck_assert_int_eq(inst.imm, -0x84);

  inst = decode("STS [0x10], RZ", consts);
  ck_assert_int_eq(inst.a, inst.b); /* both are the immediate 0 */
  ck_assert_int_lt(inst.a, 0);
  ck_assert_int_eq(inst.imm, 0x10);

  inst = decode("ATOM.CAS R1, [R2+4], R3, R4", consts);
  ck_assert_uint_eq(inst.mode, ATOM_CAS);
  ck_assert_uint_eq(inst.type, TYPE_U32);
  ck_assert_int_eq(inst.b, 3);
  ck_assert_int_eq(inst.c, 4);

  inst = decode("IADD R1.CC, R2, 1", consts);
  ck_assert_uint_eq(inst_pred_writes(&inst), 1u << PRED_CARRY);
  inst = decode("IADD.X R1, R2, RZ", consts);
  ck_assert_uint_eq(inst_pred_reads(&inst), 1u << PRED_CARRY);

  inst = decode("VOTE.ALL P1, P2", consts);
  ck_assert_uint_eq(inst.pdst, 1);
  ck_assert_uint_eq(inst.psrc[0], 2);
}
END_TEST

START_TEST(decodes_barriers) {
  ConstRef consts[8];
  Inst inst = decode("BAR.RED.POPC RZ, RZ", consts);
  ck_assert_uint_eq(inst.mode, BAR_RED_POPC);
  ck_assert_int_eq(inst.dst, 0); /* the sink of a kernel without registers */
  ck_assert_uint_eq(consts[~inst.a].value, 0);
  ck_assert(!(inst.flags & INST_HAS_COUNT));
  inst = decode("BAR.RED.POPC R3, R4, 64, !P1", consts);
  ck_assert_int_eq(inst.dst, 3);
  ck_assert_int_eq(inst.a, 4);
  ck_assert_uint_eq(consts[~inst.b].value, 64);
  ck_assert(inst.flags & INST_HAS_COUNT);
  ck_assert_uint_eq(inst.psrc[0], 1);
  ck_assert_uint_eq(inst.psrc_not, 1);
  Inst plain = decode("BAR.RED.OR P2, 5, P0", consts), asfermi = decode("BAR.RED.OR RZ, P2, 5, P0", consts);
  ck_assert_uint_eq(plain.pdst, 2);
  ck_assert(memcmp(&plain, &asfermi, sizeof plain) == 0);
  inst = decode("BAR.ARV 0xf, R2", consts);
  ck_assert_uint_eq(inst.mode, BAR_ARV);
  ck_assert_int_eq(inst.b, 2);
  inst = decode("BAR.SYNC 1, RZ", consts);
  ck_assert(!(inst.flags & INST_HAS_COUNT));
}
END_TEST

typedef struct Immediate {
  const char *text;
  uint32_t bits;
} Immediate;

static const Immediate immediates[] = {
    {"MOV32I R0, 0xdeadbeef", 0xdeadbeef},
    {"MOV R0, -1", 0xffffffff},
    {"MOV R0, -2147483648", 0x80000000},
    {"MOV R0, 4294967295", 0xffffffff},
    {"MOV R0, --5", 5},
    {"MOV R0, 1.5", 0x3fc00000},
    {"LOP.AND R0, R1, ~0xf", 0xfffffff0},
    {"FADD R0, R1, 1.5", 0x3fc00000},
    {"FADD R0, R1, 1", 0x3f800000},
    {"FADD R0, R1, -2", 0xc0000000},
    {"FADD R0, R1, 0x3f800000", 0x3f800000},
    {"FADD R0, R1, -0x3f800000", 0xbf800000},
    {"FADD R0, R1, -0.0", 0x80000000},
    {"FADD R0, R1, 1e-45", 1},
    {"FADD R0, R1, .5", 0x3f000000},
    {"FMUL R0, R1, 1e10", 0x501502f9},
};

START_TEST(reads_immediates) {
  ConstRef consts[8] = {0};
  decode(immediates[_i].text, consts);
  ck_assert_msg(consts[0].value == immediates[_i].bits, "%s gave 0x%x", immediates[_i].text, consts[0].value);
}
END_TEST

START_TEST(reads_special_registers) {
  static const char *const names[] = {"SR_LaneId",  "SR_Tid_X",    "SR_TID.X",      "sr_tid_x",
                                      "SR_CTAid_Y", "SR_NCTAid_Z", "SR_ClockLo",    "SR_SMID",
                                      "SR_WarpId",  "SR_EqMask",   "SR_LaneMask_GE"};
  static const SpecialReg values[] = {SR_LANEID,  SR_TID_X, SR_TID_X,  SR_TID_X,       SR_CTAID_Y,    SR_NCTAID_Z,
                                      SR_CLOCKLO, SR_SMID,  SR_WARPID, SR_LANEMASK_EQ, SR_LANEMASK_GE};
  g_autofree char *text = g_strconcat("S2R R0, ", names[_i], NULL);
  ck_assert_msg(decode(text, NULL).mode == values[_i], "%s", names[_i]);
}
END_TEST

START_TEST(shares_constants) {
  g_autoptr(Program) program =
      parse_good("IADD R0, RZ, 1; IADD R1, R0, 0x1; MOV R2, c[0x0][0x0]; STS [0x4], RZ; EXIT");
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->nconsts, 3);
  ck_assert_int_eq(kernel->insts[0].b, kernel->insts[1].b);
  ck_assert_int_eq(kernel->insts[0].a, kernel->insts[3].b);
}
END_TEST

START_TEST(names_register_groups) {
  Inst inst = decode("ST.E.64 [R2+8], R4", NULL);
  RegList reads = inst_reads(&inst);
  ck_assert_uint_eq(reads.count, 4);
  ck_assert_int_eq(reads.reg[0] + reads.reg[1] + reads.reg[2] + reads.reg[3], 2 + 3 + 4 + 5);
  inst = decode("LDS.128 R4, [R1]", NULL);
  RegList writes = inst_writes(&inst, 8);
  ck_assert_uint_eq(writes.count, 4);
  ck_assert_int_eq(writes.reg[3], 7);
  inst = decode("LDS RZ, [R1]", NULL);
  ck_assert_uint_eq(inst_writes(&inst, 2).count, 0);
  inst = decode("LDSLK P2, R3, [R1]", NULL);
  ck_assert_uint_eq(inst_pred_writes(&inst), 1u << 2);
  ck_assert(!inst_is_guarded(&inst));
}
END_TEST

/* -- directives and labels -- */

START_TEST(reads_directives) {
  g_autoptr(Program) program = parse_good(
      ".target sm_21 // Fermi\n.kernel first\n.shared 0x400\n.reg 20\n.grid  2, 1 /* blocks */ // more\n.block\t64\n"
      "MOV R1, RZ\n.mark 3\n.mark 4\nEXIT\n.kernel 2nd-one\n.arg A ; B\n.findings\nEXIT\n");
  ck_assert_uint_eq(program->target_sm, 21);
  ck_assert_uint_eq(program->kernels->len, 2);
  const Kernel *first = program_kernel(program, 0);
  ck_assert_str_eq(first->name, "first");
  ck_assert_uint_eq(first->shared_bytes, 1024);
  ck_assert_uint_eq(first->nregs, 20);
  ck_assert_uint_eq(first->nmarks, 2);
  ck_assert_uint_eq(first->marks[1].number, 4);
  ck_assert_uint_eq(first->marks[1].pc, 1);
  ck_assert(first->insts[1].flags & INST_MARKS);
  ck_assert_str_eq(program_kernel(program, 1)->name, "2nd-one");
  ck_assert_uint_eq(program->launch->len, 4);
  const LaunchDirective *grid = g_ptr_array_index(program->launch, 0), *arg = g_ptr_array_index(program->launch, 2);
  ck_assert_str_eq(grid->name, "grid");
  ck_assert_str_eq(grid->text, "2, 1");
  ck_assert_uint_eq(grid->line, 5);
  ck_assert_uint_eq(grid->column, 8);
  ck_assert_uint_eq(grid->kernel, 0);
  ck_assert_str_eq(arg->text, "A ; B");
  ck_assert_uint_eq(arg->kernel, 1);
}
END_TEST

START_TEST(names_the_kernel_after_the_file) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = sass_parse("a/b c.v2.sass", "EXIT", 4, diag);
  ck_assert_str_eq(program_kernel(program, 0)->name, "b_c.v2");
  g_autoptr(Program) late = parse_good(".shared 4\n.kernel k\nEXIT");
  ck_assert_uint_eq(late->kernels->len, 1);
  ck_assert_str_eq(program_kernel(late, 0)->name, "k");
  ck_assert_uint_eq(program_kernel(late, 0)->shared_bytes, 4);
}
END_TEST

START_TEST(reads_labels) {
  g_autoptr(Program) program = parse_good("top: .L_2: NOP\nnext:\n @P0 BRA top; @P1 BRA .L_2; @P2 BRA next\n EXIT");
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->nlabels, 3);
  ck_assert_int_eq(kernel->insts[1].target, 0);
  ck_assert_int_eq(kernel->insts[2].target, 0);
  ck_assert_int_eq(kernel->insts[3].target, 1);
  ck_assert_uint_eq(kernel->insts[4].address, 32);
}
END_TEST

/* A comment is an address only in front of an instruction and only if it looks like one. */
START_TEST(tells_addresses_from_comments) {
  g_autoptr(Program) program = parse_good("/* add */ NOP /*0x2800*/; /*0100*/\n/*dead*/ NOP\n/* 0200 */ NOP; "
                                          "/*0300*/ NOP; /* 0x1234 */ NOP\n/*000c*/ EXIT");
  static const uint32_t addresses[] = {0, 8, 0x200, 0x300, 0x308, 0xc};
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->ninsts, G_N_ELEMENTS(addresses));
  for (unsigned i = 0; i < G_N_ELEMENTS(addresses); i++)
    ck_assert_msg(kernel->insts[i].address == addresses[i], "instruction %u has 0x%x", i, kernel->insts[i].address);
}
END_TEST

START_TEST(reads_strange_line_ends) {
  g_autoptr(Program) program = parse_good("\xef\xbb\xbfNOP;\r\n\t@P0\tBRA\t0x0\r\n/* over\n lines */ EXIT");
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->ninsts, 3);
  ck_assert_uint_eq(kernel->insts[2].line, 4);
  ck_assert_uint_eq(kernel->insts[2].column, 11);
  g_autofree char *line = program_file_line(program, 0, 2);
  ck_assert_str_eq(line, "@P0\tBRA\t0x0");
}
END_TEST

START_TEST(refuses_a_kernel_that_isnt_there) {
  g_autoptr(Program) program = parse_good("EXIT");
  unit_expect_precondition("program-kernel-index");
  program_kernel(program, 1);
}
END_TEST

static Suite *make_suite(void) {
  Suite *suite = suite_create("sass");
  TCase *text = tcase_create("text");
  tcase_add_loop_test(text, reads_listing, 0, G_N_ELEMENTS(listings));
  tcase_add_test(text, keeps_addresses_and_places);
  tcase_add_loop_test(text, reads_each_opcode, 0, OP_COUNT);
  tcase_add_test(text, reads_any_case);
  tcase_add_test(text, decodes_operands);
  tcase_add_test(text, decodes_barriers);
  tcase_add_loop_test(text, reads_immediates, 0, G_N_ELEMENTS(immediates));
  tcase_add_loop_test(text, reads_special_registers, 0, 11);
  tcase_add_test(text, shares_constants);
  tcase_add_test(text, names_register_groups);
  tcase_add_test(text, reads_directives);
  tcase_add_test(text, names_the_kernel_after_the_file);
  tcase_add_test(text, reads_labels);
  tcase_add_test(text, tells_addresses_from_comments);
  tcase_add_test(text, reads_strange_line_ends);
  suite_add_tcase(suite, text);
  unit_add_precondition_test(text, refuses_a_kernel_that_isnt_there);
  return suite;
}

int main(void) { return unit_run(make_suite()); }
