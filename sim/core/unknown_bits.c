#include "sim/core/unknown_bits.h"
#include "base/bits.h"

uint32_t unknown_truths(uint32_t table, const uint32_t value[3], const uint32_t unknown[3]) {
  uint32_t all = UINT32_MAX, any = 0;
  for (unsigned choice = 0; choice < 8; choice++) {
    uint32_t word[3];
    for (unsigned i = 0; i < 3; i++)
      word[i] = (value[i] & ~unknown[i]) | (choice >> i & 1 ? unknown[i] : 0);
    uint32_t result = bits_by_table(table, word[0], word[1], word[2]);
    all &= result;
    any |= result;
  }
  return any & ~all;
}

static uint32_t of_logic(const Inst *inst, const UnknownOperands *operands) {
  static const uint8_t tables[] = {[LOP_AND] = 0xc0, [LOP_OR] = 0xfc, [LOP_XOR] = 0x3c, [LOP_PASS_B] = 0xcc};
  uint32_t value[3] = {operands->value[0], operands->value[1], 0},
           unknown[3] = {operands->unknown[0], operands->unknown[1], 0};
  value[0] ^= inst->flags & INST_INV_A ? UINT32_MAX : 0;
  value[1] ^= inst->flags & INST_INV_B ? UINT32_MAX : 0;
  return unknown_truths(tables[inst->lop], value, unknown);
}

/* A byte whose sign is spread is unknown if its sign is. */
static uint32_t of_permutation(const Inst *inst, const UnknownOperands *operands) {
  uint64_t unknown = (uint64_t)operands->unknown[1] << 32 | operands->unknown[0];
  uint32_t result = 0;
  if (operands->unknown[2] || inst->mode != PRMT_INDEX)
    return UINT32_MAX;
  for (unsigned i = 0; i < 4; i++) {
    unsigned nibble = operands->value[2] >> (4 * i) & 15;
    uint32_t byte = (uint32_t)(unknown >> (8 * (nibble & 7))) & 0xff;
    result |= (nibble < 8 ? byte : byte & 0x80 ? 0xffu : 0) << (8 * i);
  }
  return result;
}

/* ---- shifts ---- */

static uint32_t shifted(const Inst *inst, const UnknownOperands *operands, bool right) {
  uint32_t by = operands->value[1], unknown = operands->unknown[0];
  if (operands->unknown[1])
    return UINT32_MAX;
  by = inst->flags & INST_WRAP ? by & 31 : by;
  if (right && inst->type != TYPE_U32)
    return (uint32_t)((int32_t)unknown >> (by > 31 ? 31 : by));
  return by > 31 ? 0 : right ? unknown >> by : unknown << by;
}

/* c:a by b. */
static uint32_t pair_shifted(const Inst *inst, const UnknownOperands *operands) {
  uint64_t unknown = (uint64_t)operands->unknown[2] << 32 | operands->unknown[0];
  bool wide = inst->type == TYPE_U64 || inst->type == TYPE_S64;
  uint32_t bits = wide ? 64 : 32, by = operands->value[1];
  if (operands->unknown[1])
    return UINT32_MAX;
  by = inst->flags & INST_WRAP ? by % bits : by < bits ? by : bits;
  if (inst->mode == 0)
    unknown = by > 63 ? 0 : unknown << by;
  else if (inst->type == TYPE_S32 || inst->type == TYPE_S64)
    unknown = (uint64_t)((int64_t)unknown >> (by > 63 ? 63 : by));
  else
    unknown = by > 63 ? 0 : unknown >> by;
  return (uint32_t)(unknown >> (inst->flags & INST_HI ? 32 : 0));
}

/* As BFE takes bits: what comes from an unknown sign is unknown. */
static uint32_t of_field(const Inst *inst, const UnknownOperands *operands) {
  uint32_t position = operands->value[1] & 0xff, length = operands->value[1] >> 8 & 0xff;
  bool sign = inst->type == TYPE_S32;
  if (operands->unknown[1] & 0xffff)
    return UINT32_MAX;
  if (length == 0)
    return 0;
  int64_t wide = sign ? (int64_t)(int32_t)operands->unknown[0] : (int64_t)operands->unknown[0];
  uint32_t bits = (uint32_t)(wide >> (position > 31 ? 32 : position));
  if (length > 31)
    return bits;
  uint32_t kept = (1u << length) - 1;
  return sign && bits >> (length - 1) & 1 ? bits | ~kept : bits & kept;
}

/* ---- sums and products ---- */

static uint32_t from_lowest(uint32_t bits) { return bits ? ~(uint32_t)0 << __builtin_ctz(bits) : 0; }

/* What is added to unknown bits: nothing leaves them where they are. */
static uint32_t of_sum(const UnknownOperands *operands, uint32_t bits, bool alone) {
  if (operands->carry)
    return UINT32_MAX;
  return alone ? bits : from_lowest(bits);
}

static bool is_zero(const UnknownOperands *operands, unsigned i) {
  return operands->value[i] == 0 && operands->unknown[i] == 0;
}

static uint32_t of_words(const Inst *inst, const UnknownOperands *operands, bool three) {
  uint32_t bits = operands->unknown[0] | operands->unknown[1] | (three ? operands->unknown[2] : 0);
  unsigned zeros = is_zero(operands, 0) + is_zero(operands, 1) + (three && is_zero(operands, 2));
  bool plain = !(inst->flags & (INST_NEG_A | INST_NEG_B | INST_NEG_C | INST_CARRY_IN)) && !inst->lop;
  bool alone = inst->op == OP_ISUB ? is_zero(operands, 1) : zeros >= (three ? 2u : 1u);
  return inst->flags & INST_SAT ? UINT32_MAX : of_sum(operands, bits, plain && alone);
}

/* (a << mode) + b */
static uint32_t of_scaled(const Inst *inst, const UnknownOperands *operands) {
  uint32_t bits = operands->unknown[0] << (inst->mode & 31) | operands->unknown[1];
  bool alone = is_zero(operands, 1) && !(inst->flags & INST_NEG_A);
  return inst->flags & INST_HI ? UINT32_MAX : of_sum(operands, bits, alone);
}

/* The lowest bits of a product that an unknown factor leaves known: those that the other one shifts out. */
static uint32_t of_factor(const UnknownOperands *operands, unsigned i) {
  unsigned other = 1 - i;
  uint32_t by = operands->value[other];
  if (operands->unknown[other])
    return from_lowest(operands->unknown[i]);
  if (by == 0)
    return 0;
  uint32_t moved = operands->unknown[i] << __builtin_ctz(by);
  return by & (by - 1) ? from_lowest(moved) : moved;
}

static uint32_t of_product(const Inst *inst, const UnknownOperands *operands, bool adds) {
  const uint32_t apart = INST_HI | INST_SAT | INST_CARRY_IN;
  if (inst->flags & apart)
    return UINT32_MAX;
  uint32_t bits = of_factor(operands, 0) | of_factor(operands, 1) | (adds ? operands->unknown[2] : 0);
  bool alone = !(inst->flags & (INST_NEG_A | INST_NEG_B | INST_NEG_C)) && (!adds || is_zero(operands, 2)) &&
               !(operands->unknown[0] && operands->unknown[1]);
  return of_sum(operands, bits, alone);
}

static uint32_t of_halves(const UnknownOperands *operands) {
  uint32_t bits = operands->unknown[0] | operands->unknown[1] | operands->unknown[2];
  return operands->carry ? UINT32_MAX : (bits & 0xffff ? 0xffff : 0) | (bits >> 16 ? 0xffff0000u : 0);
}

/* ---- all ---- */

bool unknown_bits_has(const Inst *inst) {
  switch ((Opcode)inst->op) {
  case OP_LOP:
  case OP_LOP3:
  case OP_PRMT:
  case OP_SHL:
  case OP_SHR:
  case OP_SHFX:
  case OP_BFE:
  case OP_IADD:
  case OP_ISUB:
  case OP_IADD3:
  case OP_ISCADD:
  case OP_LEA:
  case OP_IMUL:
  case OP_IMAD:
  case OP_IADD2:
  case OP_IMNMX2:
  case OP_HADD2:
  case OP_HMUL2:
  case OP_HFMA2:
  case OP_HMNMX2:
  case OP_HSET2: return true;
  default: return false;
  }
}

uint32_t unknown_bits(const Inst *inst, const UnknownOperands *operands) {
  if (!(operands->unknown[0] | operands->unknown[1] | operands->unknown[2]) && !operands->carry)
    return 0;
  switch ((Opcode)inst->op) {
  case OP_LOP: return of_logic(inst, operands);
  case OP_LOP3: return unknown_truths(inst->mode, operands->value, operands->unknown);
  case OP_PRMT: return of_permutation(inst, operands);
  case OP_SHL: return shifted(inst, operands, false);
  case OP_SHR: return shifted(inst, operands, true);
  case OP_SHFX: return pair_shifted(inst, operands);
  case OP_BFE: return of_field(inst, operands);
  case OP_IADD:
  case OP_ISUB: return of_words(inst, operands, false);
  case OP_IADD3: return of_words(inst, operands, true);
  case OP_ISCADD:
  case OP_LEA: return of_scaled(inst, operands);
  case OP_IMUL: return of_product(inst, operands, false);
  case OP_IMAD: return of_product(inst, operands, true);
  default: return of_halves(operands);
  }
}
