#include "isa/flow/narrow.h"

#include "isa/flow/writers.h"

enum { SHIFT_MAX = 30 }; /* the factor has a sign */

static bool is_immediate(const Writers *writers, int32_t operand, uint32_t value) {
  if (operand >= 0)
    return false;
  const ConstRef *constant = &writers->vkernel->kernel->consts[~operand];
  return constant->kind == CONST_IMMEDIATE && constant->value == value;
}

static bool is_plain(const VInst *vinst, Opcode op) {
  return vinst->inst.op == op && !vinst_is_guarded(vinst) && vinst->pdst == VPRED_SINK &&
         !(vinst->inst.flags & ~(uint32_t)INST_SYNCED);
}

/* A word that stands in a register, for good once it is written. */
typedef struct Word {
  int32_t reg;
  uint8_t row;
} Word;

/* The word that the lower row of a pair is a copy of, or that row. */
static Word find_word(const Writers *writers, uint32_t low, Word pair) {
  const VInst *copy = writers_inst(writers, low);
  if (!is_plain(copy, OP_MOV) || copy->a < 0 || copy->a == VREG_SINK)
    return pair;
  int32_t writer = writers->writer[writers_unit(writers, copy->a, copy->a_row)];
  return writer >= 0 && writers_before(writers, (uint32_t)writer, low) ? (Word){copy->a, copy->a_row} : pair;
}

static bool is_word(const VInst *vinst, Word word) { return vinst->a == word.reg && vinst->a_row == word.row; }

/* Whether the upper row is the lower one's extension; `type` is whose. */
static bool is_extension(const Writers *writers, const VInst *high, Word pair, Word word, uint8_t *type) {
  *type = TYPE_U32;
  if (is_plain(high, OP_MOV))
    return is_immediate(writers, high->a, 0);
  *type = TYPE_S32;
  return is_plain(high, OP_SHR) && high->inst.type == TYPE_S32 && is_immediate(writers, high->b, 31) &&
         (is_word(high, pair) || is_word(high, word));
}

/* A word that a pair is the extension of. */
typedef struct Extended {
  Word word;
  uint8_t type; /* TYPE_U32, TYPE_S32 */
} Extended;

static bool find_extended(const Writers *writers, uint32_t i, int32_t reg, uint8_t row, Extended *extended) {
  const VInst *low = writers_maker(writers, i, reg, row, 1),
              *high = writers_maker(writers, i, reg, (uint8_t)(row + 1), 1);
  if (!low || !high)
    return false;
  Word pair = {reg, row};
  extended->word = find_word(writers, (uint32_t)writers->writer[writers_unit(writers, reg, row)], pair);
  return is_extension(writers, high, pair, extended->word, &extended->type);
}

static void narrow_shift(const Writers *writers, uint32_t i) {
  VInst *vinst = writers_inst(writers, i);
  const ConstRef *count = vinst->b < 0 ? &writers->vkernel->kernel->consts[~vinst->b] : NULL;
  uint32_t shift = count ? count->value : 0;
  Extended extended;
  if (!count || count->kind != CONST_IMMEDIATE || shift > SHIFT_MAX ||
      !find_extended(writers, i, vinst->a, vinst->a_row, &extended))
    return;
  vinst->inst.op = OP_IMULW;
  vinst->inst.type = extended.type;
  vinst->inst.wide = WIDE_DST;
  vinst->shifted = true;
  vinst->a = extended.word.reg;
  vinst->a_row = extended.word.row;
  vinst->b = vkernel_immediate(writers->vkernel, 1u << shift);
  vinst->b_row = 0;
}

void vkernel_narrow(VKernel *vkernel) {
  const uint32_t keeps = INST_SYNCED | INST_GUARD_NOT;
  Writers writers;
  writers_init(&writers, vkernel);
  for (uint32_t i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = writers_inst(&writers, i);
    if (vinst->inst.op == OP_SHL64 && !(vinst->inst.flags & ~keeps) && vinst->pdst == VPRED_SINK)
      narrow_shift(&writers, i);
  }
  writers_clear(&writers);
}
