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
    {"MEMBAR", ISSUE_FENCE},
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

/* The instruction before left that operand in the reuse cache: the same register at the same place. */
static bool is_kept(const McModule *module, const McInst *before, uint32_t index, int16_t number) {
  const McOperand *operand = before ? source(module, before, index) : NULL;
  return operand && operand->reuse && operand->number == number;
}

/* How many registers of one bank (there are two: even and odd ones) an instruction of floats reads; of doubles: each
 * of a pair has its own bank. */
static uint32_t reads(const McModule *module, const McInst *inst, const McInst *before, bool pairs) {
  uint32_t of_bank[2] = {0, 0};
  int16_t seen[3];
  unsigned count = 0;
  for (uint32_t i = 1; i < inst->operands && count < G_N_ELEMENTS(seen); i++) {
    const McOperand *operand = source(module, inst, i);
    bool again = !operand || is_kept(module, before, i, operand->number);
    for (unsigned k = 0; !again && k < count; k++)
      again = seen[k] == operand->number;
    if (again)
      continue;
    seen[count++] = operand->number;
    of_bank[operand->number & 1]++;
    of_bank[1] += pairs;
  }
  return MAX(of_bank[0], of_bank[1]);
}

uint32_t mc_issue_bits(const McModule *module, const McInst *inst, const McInst *before) {
  IssueUnit unit = unit_of(inst);
  uint32_t bits = (uint32_t)unit << CONTROL_UNIT_SHIFT;
  if (unit == ISSUE_MULTIPLY && (has(inst, "HI") || has(inst, "WIDE")))
    bits |= CONTROL_TWICE;
  if (unit == ISSUE_FLOAT || unit == ISSUE_DOUBLE)
    bits |= reads(module, inst, before, unit == ISSUE_DOUBLE) << CONTROL_READS_SHIFT;
  return bits;
}
