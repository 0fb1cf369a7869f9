#include "isa/disasm_new.h"

/* What a new opcode shows besides its mode. */
enum { TYPE = 1 << 0, TYPE2 = 1 << 1, COMPARISON = 1 << 2, LOGIC = 1 << 3, WIDTH = 1 << 4 };

static const uint8_t shown[OP_COUNT] = {
    [OP_IMUL64] = TYPE,
    [OP_IMAD64] = TYPE,
    [OP_IMULW] = TYPE,
    [OP_IMADW] = TYPE,
    [OP_SHR64] = TYPE,
    [OP_LOP64] = LOGIC,
    [OP_IMNMX64] = TYPE,
    [OP_ISETP64] = COMPARISON | TYPE | LOGIC,
    [OP_FLO64] = TYPE,
    [OP_BFE64] = TYPE,
    [OP_SAD] = TYPE,
    [OP_DP4A] = TYPE | TYPE2,
    [OP_IDIV] = TYPE,
    [OP_IREM] = TYPE,
    [OP_IDIV64] = TYPE,
    [OP_IREM64] = TYPE,
    [OP_CVT] = TYPE | TYPE2,
    [OP_TESTP] = TYPE,
    [OP_DSETP] = COMPARISON | LOGIC,
    [OP_REDUX] = TYPE,
    [OP_ATOMS] = TYPE,
    [OP_BULKRED] = TYPE,
    [OP_HADD2] = TYPE,
    [OP_HMUL2] = TYPE,
    [OP_HFMA2] = TYPE,
    [OP_HSETP2] = COMPARISON | TYPE | LOGIC,
    [OP_HSET2] = COMPARISON | TYPE | LOGIC,
    [OP_HMNMX2] = TYPE,
    [OP_LDL] = WIDTH,
    [OP_STL] = WIDTH,
};

static const char *const comparisons[] = {
    [CMP_F] = "F",     [CMP_LT] = "LT",   [CMP_EQ] = "EQ",   [CMP_LE] = "LE",   [CMP_GT] = "GT",   [CMP_NE] = "NE",
    [CMP_GE] = "GE",   [CMP_T] = "T",     [CMP_LTU] = "LTU", [CMP_EQU] = "EQU", [CMP_LEU] = "LEU", [CMP_GTU] = "GTU",
    [CMP_NEU] = "NEU", [CMP_GEU] = "GEU", [CMP_NUM] = "NUM", [CMP_NAN] = "NAN"};
static const char *const logics[] = {[LOP_AND] = "AND", [LOP_OR] = "OR", [LOP_XOR] = "XOR", [LOP_PASS_B] = "PASS_B"};
static const char *const types[] = {[TYPE_S32] = "S32", [TYPE_U32] = "U32", [TYPE_F32] = "F32", [TYPE_S8] = "S8",
                                    [TYPE_U8] = "U8",   [TYPE_S16] = "S16", [TYPE_U16] = "U16", [TYPE_S64] = "S64",
                                    [TYPE_U64] = "U64", [TYPE_F16] = "F16", [TYPE_F64] = "F64", [TYPE_BF16] = "BF16"};
static const char *const widths[] = {[WIDTH_32] = "",     [WIDTH_U8] = "U8", [WIDTH_S8] = "S8",  [WIDTH_U16] = "U16",
                                     [WIDTH_S16] = "S16", [WIDTH_64] = "64", [WIDTH_128] = "128"};
static const char *const spaces[] = {[MEM_GLOBAL] = "",     [MEM_GENERIC] = "GENERIC", [MEM_CONST] = "CONST",
                                     [MEM_PARAM] = "PARAM", [MEM_SHARED] = "SHARED",   [MEM_LOCAL] = "LOCAL"};
static const char *const integral_rounds[] = {
    [ROUND_TRUNC] = "TRUNC", [ROUND_FLOOR] = "FLOOR", [ROUND_CEIL] = "CEIL", [ROUND_NEAREST] = "ROUND"};
static const char *const float_rounds[] = {
    [FROUND_NEAREST] = "", [FROUND_ZERO] = "RZ", [FROUND_DOWN] = "RM", [FROUND_UP] = "RP"};

static const char *const functions[] = {
    [MUFU_RCP] = "RCP", [MUFU_RSQ] = "RSQ", [MUFU_SQRT] = "SQRT", [MUFU_SIN] = "SIN",
    [MUFU_COS] = "COS", [MUFU_EX2] = "EX2", [MUFU_LG2] = "LG2",   [MUFU_TANH] = "TANH"};
static const char *const shuffles[] = {
    [SHFL_UP] = "UP", [SHFL_DOWN] = "DOWN", [SHFL_BFLY] = "BFLY", [SHFL_IDX] = "IDX"};
static const char *const matches[] = {[MATCH_ANY] = "ANY", [MATCH_ALL] = "ALL"};
static const char *const atoms[] = {
    [ATOM_ADD] = "ADD",   [ATOM_MIN] = "MIN", [ATOM_MAX] = "MAX",      [ATOM_INC] = "INC",
    [ATOM_DEC] = "DEC",   [ATOM_AND] = "AND", [ATOM_OR] = "OR",        [ATOM_XOR] = "XOR",
    [ATOM_EXCH] = "EXCH", [ATOM_CAS] = "CAS", [ATOM_ARRIVE] = "ARRIVE"};
static const char *const merges[] = {
    [MERGE_NONE] = "", [MERGE_COUNT] = "COUNT", [MERGE_REDUX] = "REDUX", [MERGE_WARP] = "WARP"};
static const char *const permutes[] = {
    [PRMT_INDEX] = "",  [PRMT_F4E] = "F4E", [PRMT_B4E] = "B4E",  [PRMT_RC8] = "RC8",
    [PRMT_ECL] = "ECL", [PRMT_ECR] = "ECR", [PRMT_RC16] = "RC16"};
static const char *const tests[] = {
    [TESTP_FINITE] = "FINITE",  [TESTP_INFINITE] = "INFINITE", [TESTP_NUMBER] = "NUMBER",
    [TESTP_NOTANUMBER] = "NAN", [TESTP_NORMAL] = "NORMAL",     [TESTP_SUBNORMAL] = "SUBNORMAL"};
static const char *const directions[] = {"L", "R"};
static const char *const cluster_barriers[] = {[CLUSTERBAR_WAIT] = "WAIT", [CLUSTERBAR_ARRIVE] = "ARV"};

/* What Inst.mode says, of each opcode that has one. */
static const char *const *const modes[OP_COUNT] = {
    [OP_MUFU] = functions,
    [OP_DMUFU] = functions,
    [OP_SHFL] = shuffles,
    [OP_MATCH] = matches,
    [OP_REDUX] = atoms,
    [OP_BULKRED] = atoms,
    [OP_ATOMS] = atoms,
    [OP_PRMT] = permutes,
    [OP_TESTP] = tests,
    [OP_SHF] = directions,
    [OP_CLUSTERBAR] = cluster_barriers,
};

static void append(GString *out, const char *name) {
  if (*name)
    g_string_append_printf(out, ".%s", name);
}

static void append_flag(GString *out, const Inst *inst, uint32_t flag, const char *name) {
  if (inst->flags & flag)
    append(out, name);
}

/* Space and order of an access or fence: LD.GENERIC.STRONG.GPU, ST.VOLATILE, ATOM.ACQUIRE.CTA, MEMBAR.SC. Weak
 * accesses to global memory, all that SASS has, show nothing. */
static void append_access(GString *out, const Inst *inst) {
  static const char *const orders[] = {
      [SEM_WEAK] = "",           [SEM_VOLATILE] = "VOLATILE", [SEM_RELAXED] = "STRONG", [SEM_ACQUIRE] = "ACQUIRE",
      [SEM_RELEASE] = "RELEASE", [SEM_ACQ_REL] = "ACQ_REL",   [SEM_SC] = "SC"};
  static const char *const scopes[] = {[SCOPE_GPU] = "GPU", [SCOPE_CTA] = "CTA", [SCOPE_SYS] = "SYS"};
  if (inst->op == OP_ISSPACEP || op_info[inst->op].unit == UNIT_GLOBAL) /* others have it in their names */
    append(out, spaces[inst->space]);
  append(out, orders[inst->sem]);
  if (inst->sem >= SEM_RELAXED && inst->op != OP_MEMBAR) /* which names its scope before */
    append(out, scopes[inst->scope]);
}

/* To an integer, or to an integral value, by one of the four ways; else as floats are rounded. */
static void append_rounding(GString *out, const Inst *inst) {
  bool to_integer = !type_is_float(inst->type), from_float = type_is_float(inst->type2);
  bool integral = inst->op == OP_CVT && ((to_integer && from_float) || (inst->flags & INST_INTEGRAL));
  append(out, integral ? integral_rounds[inst->mode] : float_rounds[inst->round]);
}

static void append_new_opcode(GString *out, const Inst *inst) {
  uint8_t what = shown[inst->op];
  if (modes[inst->op])
    append(out, modes[inst->op][inst->mode]);
  if (what & COMPARISON)
    append(out, comparisons[inst->cmp]);
  if (what & TYPE)
    append(out, inst->width == WIDTH_128 ? widths[WIDTH_128] : types[inst->type]); /* ATOMS of 128 bits has no type */
  if (what & TYPE2)
    append(out, types[inst->type2]);
  if (what & LOGIC)
    append(out, logics[inst->lop]);
  if (what & WIDTH)
    append(out, widths[inst->width]);
  append_flag(out, inst, INST_FTZ, "FTZ");
  append_flag(out, inst, INST_HI, "HI");
  append_flag(out, inst, INST_SAT, "SAT");
  append_flag(out, inst, INST_CARRY_IN, "X");
  append_flag(out, inst, INST_WRAP, "W");
  append_flag(out, inst, INST_SH, "SH");
}

void disasm_new_modifiers(GString *out, const Inst *inst) {
  bool is_new = op_info[inst->op].flags & OPF_NEW;
  bool is_atomic = inst->op == OP_ATOM || inst->op == OP_RED;
  if (is_new)
    append_new_opcode(out, inst);
  else if (is_atomic && inst->width == WIDTH_128)
    append(out, widths[WIDTH_128]);
  else if (is_atomic && inst->type > TYPE_F32)
    append(out, types[inst->type]);
  if (is_atomic || inst->op == OP_ATOMS)
    append(out, merges[inst->cmp]);
  append_rounding(out, inst);
  append_flag(out, inst, INST_KEEP_NAN, "NAN");
  append_flag(out, inst, INST_UNALIGNED, "UNALIGNED");
  append_access(out, inst);
}
