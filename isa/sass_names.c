#include "isa/sass_names.h"

#include <string.h>

enum {
  G_BF = 1 << 0,
  G_CMP = 1 << 1,
  G_UNORDERED = 1 << 2,
  G_ADDR64 = 1 << 3,
  G_VOTE = 1 << 4,
  G_BAR = 1 << 5,
  G_ATOM = 1 << 6,
  G_FENCE = 1 << 7,
  G_INT = 1 << 8,
  G_F32 = 1 << 9,
  G_IS_F32 = 1 << 10,
  G_FTZ = 1 << 11,
  G_RN = 1 << 12,
  G_HI = 1 << 13,
  G_SAT = 1 << 14,
  G_CARRY = 1 << 15,
  G_WRAP = 1 << 16,
  G_SH = 1 << 17,
  G_LDCACHE = 1 << 18,
  G_STCACHE = 1 << 19,
  G_WIDTH = 1 << 20,
  G_LOP = 1 << 21,
  G_PASS = 1 << 22,
  G_ROUND = 1 << 23,
  G_UNIFORM = 1 << 24,
  G_ALL = 1 << 25,
};

/* In the order in which the printer writes them. */
static const Suffix suffixes[] = {
    {"BF", G_BF, FIELD_FLAG, INST_BF},
    {"F", G_CMP, FIELD_CMP, CMP_F},
    {"LT", G_CMP, FIELD_CMP, CMP_LT},
    {"EQ", G_CMP, FIELD_CMP, CMP_EQ},
    {"LE", G_CMP, FIELD_CMP, CMP_LE},
    {"GT", G_CMP, FIELD_CMP, CMP_GT},
    {"NE", G_CMP, FIELD_CMP, CMP_NE},
    {"GE", G_CMP, FIELD_CMP, CMP_GE},
    {"T", G_CMP, FIELD_CMP, CMP_T},
    {"LTU", G_UNORDERED, FIELD_CMP, CMP_LTU},
    {"EQU", G_UNORDERED, FIELD_CMP, CMP_EQU},
    {"LEU", G_UNORDERED, FIELD_CMP, CMP_LEU},
    {"GTU", G_UNORDERED, FIELD_CMP, CMP_GTU},
    {"NEU", G_UNORDERED, FIELD_CMP, CMP_NEU},
    {"GEU", G_UNORDERED, FIELD_CMP, CMP_GEU},
    {"NUM", G_UNORDERED, FIELD_CMP, CMP_NUM},
    {"NAN", G_UNORDERED, FIELD_CMP, CMP_NAN},
    {"E", G_ADDR64, FIELD_FLAG, INST_ADDR64},
    {"ALL", G_VOTE, FIELD_MODE, VOTE_ALL},
    {"ANY", G_VOTE, FIELD_MODE, VOTE_ANY},
    {"EQ", G_VOTE, FIELD_MODE, VOTE_EQ},
    {"SYNC", G_BAR, FIELD_MODE, BAR_SYNC},
    {"ARV", G_BAR, FIELD_MODE, BAR_ARV},
    {"RED.POPC", G_BAR, FIELD_MODE, BAR_RED_POPC},
    {"RED.AND", G_BAR, FIELD_MODE, BAR_RED_AND},
    {"RED.OR", G_BAR, FIELD_MODE, BAR_RED_OR},
    {"ADD", G_ATOM, FIELD_MODE, ATOM_ADD},
    {"MIN", G_ATOM, FIELD_MODE, ATOM_MIN},
    {"MAX", G_ATOM, FIELD_MODE, ATOM_MAX},
    {"INC", G_ATOM, FIELD_MODE, ATOM_INC},
    {"DEC", G_ATOM, FIELD_MODE, ATOM_DEC},
    {"AND", G_ATOM, FIELD_MODE, ATOM_AND},
    {"OR", G_ATOM, FIELD_MODE, ATOM_OR},
    {"XOR", G_ATOM, FIELD_MODE, ATOM_XOR},
    {"EXCH", G_ATOM, FIELD_MODE, ATOM_EXCH},
    {"CAS", G_ATOM, FIELD_MODE, ATOM_CAS},
    {"LOCK", G_ATOM, FIELD_FLAG, INST_LOCK},
    {"CTA", G_FENCE, FIELD_MODE, FENCE_CTA},
    {"GL", G_FENCE, FIELD_MODE, FENCE_GL},
    {"SYS", G_FENCE, FIELD_MODE, FENCE_SYS},
    {"INIT", G_FENCE, FIELD_MODE, FENCE_INIT},
    {"S32", G_INT, FIELD_TYPE, TYPE_S32},
    {"U32", G_INT, FIELD_TYPE, TYPE_U32},
    {"F32", G_F32, FIELD_TYPE, TYPE_F32},
    {"F32", G_IS_F32, FIELD_NOTHING, 0},
    {"FTZ", G_FTZ, FIELD_FLAG, INST_FTZ},
    {"RN", G_RN, FIELD_NOTHING, 0},
    {"HI", G_HI, FIELD_FLAG, INST_HI},
    {"SAT", G_SAT, FIELD_FLAG, INST_SAT},
    {"X", G_CARRY, FIELD_FLAG, INST_CARRY_IN},
    {"CC", G_CARRY, FIELD_FLAG, INST_CARRY_OUT},
    {"W", G_WRAP, FIELD_FLAG, INST_WRAP},
    {"SH", G_SH, FIELD_FLAG, INST_SH},
    {"CA", G_LDCACHE, FIELD_CACHE, CACHE_CA},
    {"CG", G_LDCACHE | G_STCACHE, FIELD_CACHE, CACHE_CG},
    {"CS", G_LDCACHE | G_STCACHE, FIELD_CACHE, CACHE_CS},
    {"CV", G_LDCACHE, FIELD_CACHE, CACHE_CV},
    {"WB", G_STCACHE, FIELD_CACHE, CACHE_WB},
    {"WT", G_STCACHE, FIELD_CACHE, CACHE_WT},
    {"32", G_WIDTH, FIELD_WIDTH, WIDTH_32},
    {"U8", G_WIDTH, FIELD_WIDTH, WIDTH_U8},
    {"S8", G_WIDTH, FIELD_WIDTH, WIDTH_S8},
    {"U16", G_WIDTH, FIELD_WIDTH, WIDTH_U16},
    {"S16", G_WIDTH, FIELD_WIDTH, WIDTH_S16},
    {"64", G_WIDTH, FIELD_WIDTH, WIDTH_64},
    {"128", G_WIDTH, FIELD_WIDTH, WIDTH_128},
    {"AND", G_LOP, FIELD_LOP, LOP_AND},
    {"OR", G_LOP, FIELD_LOP, LOP_OR},
    {"XOR", G_LOP, FIELD_LOP, LOP_XOR},
    {"PASS_B", G_PASS, FIELD_LOP, LOP_PASS_B},
    {"TRUNC", G_ROUND, FIELD_MODE, ROUND_TRUNC},
    {"FLOOR", G_ROUND, FIELD_MODE, ROUND_FLOOR},
    {"CEIL", G_ROUND, FIELD_MODE, ROUND_CEIL},
    {"ROUND", G_ROUND, FIELD_MODE, ROUND_NEAREST},
    {"U", G_UNIFORM, FIELD_FLAG, INST_UNIFORM},
    {"S", G_ALL, FIELD_FLAG, INST_POP},
};

enum {
  NEG_AB = INST_NEG_A | INST_NEG_B,
  ABS_AB = INST_ABS_A | INST_ABS_B,
  INV_AB = INST_INV_A | INST_INV_B,
};

/* What each opcode takes: groups of modifiers, which field they must set, modifiers of operands. */
static const struct {
  uint32_t groups, operands;
} takes[OP_COUNT] = {
    [OP_IADD] = {G_SAT | G_CARRY, NEG_AB | INST_CARRY_OUT},
    [OP_ISUB] = {G_SAT | G_CARRY, NEG_AB | INST_CARRY_OUT},
    [OP_IMUL] = {G_INT | G_HI, 0},
    [OP_IMAD] = {G_INT | G_HI, NEG_AB | INST_NEG_C},
    [OP_ISCADD] = {0, NEG_AB},
    [OP_SHL] = {G_WRAP, 0},
    [OP_SHR] = {G_INT | G_WRAP, 0},
    [OP_LOP] = {G_LOP | G_PASS, INV_AB},
    [OP_IMNMX] = {G_INT, 0},
    [OP_ISET] = {G_BF | G_CMP | G_INT | G_LOP, 0},
    [OP_ISETP] = {G_CMP | G_INT | G_LOP, 0},
    [OP_PSETP] = {G_LOP, 0},
    [OP_BFE] = {G_INT, 0},
    [OP_POPC] = {0, INV_AB},
    [OP_FLO] = {G_INT | G_SH, INST_INV_A},
    [OP_FADD] = {G_FTZ | G_RN | G_SAT, NEG_AB | ABS_AB},
    [OP_FMUL] = {G_FTZ | G_RN | G_SAT, NEG_AB | ABS_AB},
    [OP_FFMA] = {G_FTZ | G_RN | G_SAT, NEG_AB | INST_NEG_C},
    [OP_FMNMX] = {G_FTZ, NEG_AB | ABS_AB},
    [OP_FSETP] = {G_CMP | G_UNORDERED | G_FTZ | G_LOP, NEG_AB | ABS_AB},
    [OP_I2F] = {G_INT | G_IS_F32 | G_RN, INST_NEG_A},
    [OP_F2I] = {G_INT | G_IS_F32 | G_FTZ | G_ROUND, INST_NEG_A | INST_ABS_A},
    [OP_VOTE] = {G_VOTE, 0},
    [OP_LDS] = {G_WIDTH, 0},
    [OP_STS] = {G_WIDTH, 0},
    [OP_LD] = {G_WIDTH | G_ADDR64 | G_LDCACHE, 0},
    [OP_ST] = {G_WIDTH | G_ADDR64 | G_STCACHE, 0},
    [OP_ATOM] = {G_ATOM | G_ADDR64 | G_INT | G_F32 | G_FTZ | G_RN, 0},
    [OP_RED] = {G_ATOM | G_ADDR64 | G_INT | G_F32 | G_FTZ | G_RN, 0},
    [OP_ENQUEUE] = {G_ADDR64, 0},
    [OP_DEQUEUE] = {G_ADDR64, 0},
    [OP_MEMBAR] = {G_FENCE, 0},
    [OP_BAR] = {G_BAR, 0},
    [OP_BRA] = {G_UNIFORM, 0},
};

static DataType default_type(Opcode op) {
  return op == OP_FLO || op == OP_ATOM || op == OP_RED ? TYPE_U32 : TYPE_S32;
}

Inst sass_names_blank(Opcode op) {
  return (Inst){
      .op = (uint16_t)op,
      .guard = PRED_TRUE,
      .pdst = PRED_SINK,
      .pdst2 = PRED_SINK,
      .psrc = {PRED_TRUE, PRED_TRUE, PRED_TRUE},
      .type = (uint8_t)default_type(op),
      .width = op == OP_DEQUEUE ? WIDTH_64 : WIDTH_32,
      .target = NO_TARGET,
      .reconv = NO_TARGET,
  };
}

static bool op_takes(Opcode op, const Suffix *suffix) {
  if (suffix->group == G_ALL)
    return true;
  if (op == OP_RED && suffix->field == FIELD_MODE && suffix->value == ATOM_CAS)
    return false;
  return (takes[op].groups & suffix->group) != 0;
}

const Suffix *sass_names_suffix(Opcode op, const char *text, gsize length) {
  for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
    gsize n = strlen(suffixes[i].name);
    if (n <= length && g_ascii_strncasecmp(suffixes[i].name, text, n) == 0 && (n == length || text[n] == '.') &&
        op_takes(op, &suffixes[i]))
      return &suffixes[i];
  }
  return NULL;
}

static uint32_t get_field(const Inst *inst, SuffixField field) {
  switch (field) {
  case FIELD_CMP: return inst->cmp;
  case FIELD_LOP: return inst->lop;
  case FIELD_LOP2: return inst->lop2;
  case FIELD_TYPE: return inst->type;
  case FIELD_WIDTH: return inst->width;
  case FIELD_CACHE: return inst->cache;
  case FIELD_MODE: return inst->mode;
  case FIELD_FLAG: return inst->flags;
  case FIELD_NOTHING: break;
  }
  return 0;
}

static void set_field(Inst *inst, SuffixField field, uint32_t value) {
  switch (field) {
  case FIELD_CMP: inst->cmp = (uint8_t)value; break;
  case FIELD_LOP: inst->lop = (uint8_t)value; break;
  case FIELD_LOP2: inst->lop2 = (uint8_t)value; break;
  case FIELD_TYPE: inst->type = (uint8_t)value; break;
  case FIELD_WIDTH: inst->width = (uint8_t)value; break;
  case FIELD_CACHE: inst->cache = (uint8_t)value; break;
  case FIELD_MODE: inst->mode = (uint8_t)value; break;
  case FIELD_FLAG: inst->flags |= value; break;
  case FIELD_NOTHING: break;
  }
}

bool sass_names_apply(const Suffix *suffix, Inst *inst, uint32_t *seen) {
  SuffixField field = suffix->field;
  if (field == FIELD_LOP && inst->op == OP_PSETP && (*seen & 1u << FIELD_LOP))
    field = FIELD_LOP2;
  bool single = field != FIELD_FLAG && field != FIELD_NOTHING;
  if (single && (*seen & 1u << field))
    return field != FIELD_LOP2 && get_field(inst, field) == suffix->value;
  *seen |= 1u << field;
  set_field(inst, field, suffix->value);
  return true;
}

const char *sass_names_missing(Opcode op, uint32_t seen) {
  uint32_t groups = takes[op].groups;
  if ((groups & G_CMP) && !(seen & 1u << FIELD_CMP))
    return "a comparison: .LT .EQ .LE .GT .NE .GE";
  if ((groups & G_PASS) && !(seen & 1u << FIELD_LOP))
    return "an operation: .AND .OR .XOR .PASS_B";
  if (seen & 1u << FIELD_MODE)
    return NULL;
  if (groups & G_VOTE)
    return "a mode: .ALL .ANY .EQ";
  if (groups & G_BAR)
    return "a mode: .SYNC .ARV .RED.POPC .RED.AND .RED.OR";
  if (groups & G_ATOM)
    return op == OP_RED ? "an operation: .ADD .MIN .MAX .INC .DEC .AND .OR .XOR .EXCH"
                        : "an operation: .ADD .MIN .MAX .INC .DEC .AND .OR .XOR .EXCH .CAS";
  return groups & G_FENCE ? "a scope: .CTA .GL .SYS" : NULL;
}

const char **sass_names_candidates(Opcode op) {
  const char **names = g_new0(const char *, G_N_ELEMENTS(suffixes) + 1);
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++)
    if (op_takes(op, &suffixes[i]))
      names[n++] = suffixes[i].name;
  return names;
}

static bool is_printed(const Inst *inst, const Suffix *suffix) {
  uint32_t value = get_field(inst, suffix->field);
  switch (suffix->field) {
  case FIELD_NOTHING: return false;
  case FIELD_FLAG: return (value & suffix->value & ~(uint32_t)INST_CARRY_OUT) != 0; /* stands at the destination */
  case FIELD_TYPE: return value == suffix->value && value != default_type(inst->op);
  case FIELD_WIDTH: return value == suffix->value && value != WIDTH_32;
  case FIELD_CACHE: return value == suffix->value && value != CACHE_DEFAULT;
  case FIELD_MODE: return value == suffix->value && !(suffix->group == G_ROUND && value == ROUND_TRUNC);
  case FIELD_CMP:
  case FIELD_LOP:
  case FIELD_LOP2: break;
  }
  return value == suffix->value;
}

/* The only mnemonic with two logic operations, which it always shows: PSETP.AND.AND. */
static void print_lops(GString *out, const Inst *inst) {
  static const char *const names[] = {[LOP_AND] = "AND", [LOP_OR] = "OR", [LOP_XOR] = "XOR"};
  g_string_append_printf(out, ".%s.%s", names[inst->lop], names[inst->lop2]);
}

void sass_names_print(GString *out, const Inst *inst) {
  g_string_append(out, op_info[inst->op].sass);
  if (inst->op == OP_PSETP)
    print_lops(out, inst);
  for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
    const Suffix *suffix = &suffixes[i];
    bool shown = inst->op == OP_PSETP && suffix->field == FIELD_LOP;
    if (!shown && op_takes(inst->op, suffix) && is_printed(inst, suffix))
      g_string_append_printf(out, ".%s", suffix->name);
  }
}

uint32_t sass_names_operand_flags(Opcode op) { return takes[op].operands; }

static const char *const specials[SR_FERMI_COUNT + 1] = {
    [SR_LANEID] = "SR_LaneId",      [SR_TID_X] = "SR_Tid_X",        [SR_TID_Y] = "SR_Tid_Y",
    [SR_TID_Z] = "SR_Tid_Z",        [SR_CTAID_X] = "SR_CTAid_X",    [SR_CTAID_Y] = "SR_CTAid_Y",
    [SR_CTAID_Z] = "SR_CTAid_Z",    [SR_NTID_X] = "SR_NTid_X",      [SR_NTID_Y] = "SR_NTid_Y",
    [SR_NTID_Z] = "SR_NTid_Z",      [SR_NCTAID_X] = "SR_NCTAid_X",  [SR_NCTAID_Y] = "SR_NCTAid_Y",
    [SR_NCTAID_Z] = "SR_NCTAid_Z",  [SR_WARPID] = "SR_WarpId",      [SR_NWARPID] = "SR_NWarpId",
    [SR_SMID] = "SR_SMId",          [SR_NSMID] = "SR_NSMId",        [SR_CLOCKLO] = "SR_ClockLo",
    [SR_CLOCKHI] = "SR_ClockHi",    [SR_LANEMASK_EQ] = "SR_EqMask", [SR_LANEMASK_LT] = "SR_LtMask",
    [SR_LANEMASK_LE] = "SR_LeMask", [SR_LANEMASK_GT] = "SR_GtMask", [SR_LANEMASK_GE] = "SR_GeMask",
};

SpecialReg sass_names_special(const char *name) {
  static const char *const lanemasks[] = {"SR_LaneMask_EQ", "SR_LaneMask_LT", "SR_LaneMask_LE", "SR_LaneMask_GT",
                                          "SR_LaneMask_GE"};
  g_autofree char *plain = g_strdelimit(g_strdup(name), ".", '_');
  for (int i = 0; i < SR_FERMI_COUNT; i++)
    if (g_ascii_strcasecmp(specials[i], plain) == 0)
      return (SpecialReg)i;
  for (guint i = 0; i < G_N_ELEMENTS(lanemasks); i++)
    if (g_ascii_strcasecmp(lanemasks[i], plain) == 0)
      return (SpecialReg)(SR_LANEMASK_EQ + (int)i);
  return SR_COUNT;
}

/* Those that only PTX names. */
static const char *const newer_specials[] = {
    [SR_CLOCK64 - SR_FERMI_COUNT] = "SR_Clock64",
    [SR_GLOBALTIMER - SR_FERMI_COUNT] = "SR_GlobalTimer",
    [SR_GLOBALTIMERLO - SR_FERMI_COUNT] = "SR_GlobalTimerLo",
    [SR_GLOBALTIMERHI - SR_FERMI_COUNT] = "SR_GlobalTimerHi",
    [SR_GRIDID - SR_FERMI_COUNT] = "SR_GridId",
    [SR_SHARED_BYTES - SR_FERMI_COUNT] = "SR_SharedBytes",
    [SR_DYNAMIC_SHARED_BYTES - SR_FERMI_COUNT] = "SR_DynamicSharedBytes",
    [SR_ENVREG1 - SR_FERMI_COUNT] = "SR_EnvReg1",
    [SR_ENVREG2 - SR_FERMI_COUNT] = "SR_EnvReg2",
    [SR_CLUSTERID_X - SR_FERMI_COUNT] = "SR_ClusterId_X",
    [SR_CLUSTERID_Y - SR_FERMI_COUNT] = "SR_ClusterId_Y",
    [SR_CLUSTERID_Z - SR_FERMI_COUNT] = "SR_ClusterId_Z",
    [SR_NCLUSTERID_X - SR_FERMI_COUNT] = "SR_NClusterId_X",
    [SR_NCLUSTERID_Y - SR_FERMI_COUNT] = "SR_NClusterId_Y",
    [SR_NCLUSTERID_Z - SR_FERMI_COUNT] = "SR_NClusterId_Z",
    [SR_CLUSTER_CTAID_X - SR_FERMI_COUNT] = "SR_Cluster_CTAid_X",
    [SR_CLUSTER_CTAID_Y - SR_FERMI_COUNT] = "SR_Cluster_CTAid_Y",
    [SR_CLUSTER_CTAID_Z - SR_FERMI_COUNT] = "SR_Cluster_CTAid_Z",
    [SR_CLUSTER_NCTAID_X - SR_FERMI_COUNT] = "SR_Cluster_NCTAid_X",
    [SR_CLUSTER_NCTAID_Y - SR_FERMI_COUNT] = "SR_Cluster_NCTAid_Y",
    [SR_CLUSTER_NCTAID_Z - SR_FERMI_COUNT] = "SR_Cluster_NCTAid_Z",
    [SR_CLUSTER_CTARANK - SR_FERMI_COUNT] = "SR_Cluster_CTARank",
    [SR_CLUSTER_NCTARANK - SR_FERMI_COUNT] = "SR_Cluster_NCTARank",
    [SR_IS_CLUSTER - SR_FERMI_COUNT] = "SR_IsCluster",
};

const char *sass_names_special_text(SpecialReg special) {
  return special < SR_FERMI_COUNT ? specials[special] : newer_specials[special - SR_FERMI_COUNT];
}

const char *const *sass_names_specials(void) { return specials; }
