#include "isa/mc/mc_issue.h"

#include <string.h>

#include "isa/program.h"

typedef struct RootUnit {
  const char *root;
  IssueUnit unit;
} RootUnit;

/* Others issue to no unit that could be busy (VIADD and FADD of 32 lanes a cycle, what is uniform, branches), or to
 * one that the SM's warps share. */
static const RootUnit units[] = {
    {"IADD3", ISSUE_LOGIC},    {"LOP3", ISSUE_LOGIC},     {"SHF", ISSUE_LOGIC},     {"ISETP", ISSUE_LOGIC},
    {"SEL", ISSUE_LOGIC},      {"PRMT", ISSUE_LOGIC},     {"LEA", ISSUE_LOGIC},     {"PLOP3", ISSUE_LOGIC},
    {"VIMNMX", ISSUE_LOGIC},   {"IMNMX", ISSUE_LOGIC},    {"VIMNMX3", ISSUE_LOGIC}, {"VIADDMNMX", ISSUE_LOGIC},
    {"IABS", ISSUE_LOGIC},     {"SGXT", ISSUE_LOGIC},     {"BMSK", ISSUE_LOGIC},    {"FSEL", ISSUE_LOGIC},
    {"FSETP", ISSUE_LOGIC},    {"FMNMX", ISSUE_LOGIC},    {"MOV", ISSUE_LOGIC},     {"P2R", ISSUE_LOGIC},
    {"R2P", ISSUE_LOGIC},      {"I2FP", ISSUE_LOGIC},     {"F2FP", ISSUE_LOGIC},    {"VOTE", ISSUE_LOGIC},
    {"VOTEU", ISSUE_LOGIC},    {"VABSDIFF", ISSUE_LOGIC}, {"IMAD", ISSUE_MULTIPLY}, {"IDP", ISSUE_MULTIPLY},
    {"HFMA2", ISSUE_MULTIPLY}, {"FADD", ISSUE_FLOAT},     {"FMUL", ISSUE_FLOAT},    {"FFMA", ISSUE_FLOAT},
    {"DADD", ISSUE_DOUBLE},    {"DMUL", ISSUE_DOUBLE},    {"DFMA", ISSUE_DOUBLE},   {"DSETP", ISSUE_DOUBLE},
    {"POPC", ISSUE_SLOW},      {"FLO", ISSUE_SLOW},       {"BREV", ISSUE_SLOW},     {"MUFU", ISSUE_SLOW},
    {"I2F", ISSUE_SLOW},       {"F2I", ISSUE_SLOW},       {"F2F", ISSUE_SLOW},      {"FRND", ISSUE_SLOW},
};

static IssueUnit unit_of(const McInst *inst) {
  for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
    if (strcmp(units[i].root, inst->root) == 0)
      return units[i].unit;
  return ISSUE_ANY;
}

static bool has(const McInst *inst, const char *modifier) {
  for (size_t i = 0; i < G_N_ELEMENTS(inst->modifiers) && inst->modifiers[i]; i++)
    if (strcmp(inst->modifiers[i], modifier) == 0)
      return true;
  return false;
}

static const McOperand *source(const McModule *module, const McInst *inst, uint32_t index) {
  const McOperand *operand = index < inst->operands ? mc_operand(module, inst, index) : NULL;
  return operand && operand->kind == MC_REGISTER && operand->number != MC_RZ ? operand : NULL;
}

void mc_reuse_init(McReuse *reuse) {
  for (unsigned i = 0; i < MC_REUSE_PLACES; i++)
    reuse->integer[i] = reuse->floating[i] = MC_RZ;
}

/* It is written. */
static void forget(McReuse *reuse, int16_t number) {
  for (unsigned i = 0; i < MC_REUSE_PLACES; i++) {
    reuse->integer[i] = reuse->integer[i] == number ? MC_RZ : reuse->integer[i];
    reuse->floating[i] = reuse->floating[i] == number ? MC_RZ : reuse->floating[i];
  }
}

/* The operands that are read from registers, by place. */
typedef struct Sources {
  const McOperand *place[MC_REUSE_PLACES]; /* NULL: it isn't a register */
} Sources;

static Sources sources_of(const McModule *module, const McInst *inst) {
  Sources sources = {{NULL}};
  unsigned place = 0;
  for (uint32_t i = 0; i < inst->operands && place < G_N_ELEMENTS(sources.place); i++) {
    McOperandKind kind = (McOperandKind)mc_operand(module, inst, i)->kind;
    if (kind == MC_PREDICATE || kind == MC_UNIFORM_PREDICATE || (i == 0 && kind == MC_REGISTER))
      continue;
    sources.place[place++] = source(module, inst, i);
  }
  return sources;
}

/* Those that it marks stay, others were read from there for the last time. */
static void keep_marked(const Sources *sources, int16_t kept[]) {
  for (unsigned i = 0; i < G_N_ELEMENTS(sources->place); i++) {
    const McOperand *operand = sources->place[i];
    if (operand && operand->reuse)
      kept[i] = operand->number;
    else if (operand && kept[i] == operand->number)
      kept[i] = MC_RZ;
  }
}

/* How many registers of one bank (there are two: even and odd ones) an instruction reads, a cycle each; of doubles:
 * each of a pair has its own bank. */
static uint32_t reads_of_bank(const McModule *module, const McInst *inst, int16_t kept[], bool pairs) {
  Sources sources = sources_of(module, inst);
  uint32_t of_bank[2] = {0, 0};
  for (unsigned i = 0; i < G_N_ELEMENTS(sources.place); i++) {
    const McOperand *operand = sources.place[i];
    bool again = !operand || kept[i] == operand->number;
    for (unsigned k = 0; !again && k < i; k++)
      again = sources.place[k] && sources.place[k]->number == operand->number;
    if (again)
      continue;
    of_bank[operand->number & 1]++;
    of_bank[~operand->number & 1] += pairs || (i == 2 && has(inst, "WIDE"));
  }
  keep_marked(&sources, kept);
  uint32_t most = MAX(of_bank[0], of_bank[1]);
  return MAX(most, 1);
}

/* It leaves what it has written to those behind it. */
static void forget_written(const McModule *module, const McInst *inst, McReuse *reuse) {
  const McOperand *result = inst->operands ? mc_operand(module, inst, 0) : NULL;
  if (!result || result->kind != MC_REGISTER)
    return;
  forget(reuse, result->number);
  if (has(inst, "WIDE") || has(inst, "64") || has(inst, "128"))
    forget(reuse, result->number + 1);
}

uint32_t mc_issue_bits(const McModule *module, const McInst *inst, McReuse *reuse) {
  IssueUnit unit = unit_of(inst);
  uint32_t bits = (uint32_t)unit << CONTROL_UNIT_SHIFT, count = 0;
  if (unit == ISSUE_MULTIPLY && (has(inst, "HI") || has(inst, "WIDE")))
    bits |= CONTROL_TWICE;
  if (unit == ISSUE_FLOAT || unit == ISSUE_DOUBLE)
    count = reads_of_bank(module, inst, reuse->floating, unit == ISSUE_DOUBLE);
  else if (unit == ISSUE_LOGIC || unit == ISSUE_MULTIPLY || strcmp(inst->root, "VIADD") == 0)
    count = reads_of_bank(module, inst, reuse->integer, false);
  forget_written(module, inst, reuse);
  return bits | MIN(count, 3) << CONTROL_READS_SHIFT;
}
