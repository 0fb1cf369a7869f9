#include <math.h>
#include <string.h>

#include "isa/sass/sass_parser.h"
#include "isa/sass_names.h"

enum { BARRIERS = 16, WARP_LANES = 32, SHIFT_MAX = 31 };

/* The operands of each form, a letter each; those behind `?` may be left out.
 *   d register written   a b c register, immediate or constant   B C register read   i immediate   s shift
 *   p P second predicate written   q predicate read   m memory   r special register   t target */
static const char *const specs[] = {
    [FORM_NONE] = "",
    [FORM_D_A] = "da",
    [FORM_D_A_B] = "dab",
    [FORM_D_A_B_C] = "dabc",
    [FORM_D_A_B_S] = "dabs",
    [FORM_D_A_B_Q] = "dabq",
    [FORM_D_A_B_CMP] = "dab?q",
    [FORM_P_A_B_CMP] = "pPab?q",
    [FORM_P_Q_Q_Q] = "pPqq?q",
    [FORM_D_SR] = "dr",
    [FORM_D_P_Q] = "dpq",
    [FORM_D_M] = "dm",
    [FORM_P_D_M] = "pdm",
    [FORM_M_A] = "mB",
    [FORM_P_M_A] = "pmB",
    [FORM_D_M_B_C] = "dmB",
    [FORM_BAR] = NULL,
    [FORM_T] = "t",
    [FORM_A] = "a",
    [FORM_A_B] = "ab",
    [FORM_P_A] = "pa",
};

typedef struct Filler {
  SassParser *parser;
  Inst *inst;
  const OpInfo *info;
  unsigned sources; /* predicates read so far */
} Filler;

static const char *expected_of(char letter) {
  switch (letter) {
  case 'd': return "a register";
  case 'B':
  case 'C': return "a register";
  case 'p':
  case 'P':
  case 'q': return "a predicate";
  case 'm': return "an address such as [R0+0x4]";
  case 'r': return "a special register such as SR_Tid_X";
  case 's': return "a shift from 0 to 31";
  case 't': return "a label or an address";
  case 'i': return "an immediate";
  case 'n': return "a barrier number or a register";
  default: return "a register, an immediate or c[0x0][...]";
  }
}

static bool mismatch(const Filler *filler, const Operand *operand, char letter) {
  g_autofree char *found = sass_operand_show(operand);
  return sass_parser_error(filler->parser, &operand->token, "%s expects %s here, found %s", filler->info->sass,
                           expected_of(letter), found);
}

static bool plain(const Filler *filler, const Operand *operand, bool may_be_negated) {
  const char *sign = operand->neg ? "-" : operand->inverted ? "~" : operand->absolute ? "|...|" : NULL;
  if (!sign && operand->negated && !may_be_negated)
    sign = "!";
  if (!sign)
    return true;
  return sass_parser_error(filler->parser, &operand->token, "%s can't take `%s` on this operand", filler->info->sass,
                           sign);
}

static bool add_const(Filler *filler, const Operand *operand, unsigned kind, uint32_t value, int16_t *slot) {
  SassParser *parser = filler->parser;
  GHashTable *index = kind == CONST_BANK ? parser->bank_words : parser->immediates;
  guint found = GPOINTER_TO_UINT(g_hash_table_lookup(index, GUINT_TO_POINTER(value)));
  if (!found) {
    if (parser->consts->len >= SASS_CONSTS_MAX)
      return sass_parser_error(parser, &operand->token, "more than %d different constants in one kernel",
                               SASS_CONSTS_MAX);
    ConstRef constant = {.kind = kind, .value = value};
    g_array_append_val(parser->consts, constant);
    found = parser->consts->len;
    g_hash_table_insert(index, GUINT_TO_POINTER(value), GUINT_TO_POINTER(found));
  }
  *slot = (int16_t) ~(int)(found - 1);
  return true;
}

/* A register read or written as part of a group of `count`, aligned as the hardware wants it. */
static bool use_registers(const Filler *filler, const Operand *operand, unsigned count) {
  unsigned number = operand->number;
  if (number % count != 0)
    return sass_parser_error(filler->parser, &operand->token,
                             "R%u can't start a group of %u registers: its number has to be a multiple of %u", number,
                             count, count);
  if (number + count > SASS_REGISTERS_MAX)
    return sass_parser_error(filler->parser, &operand->token,
                             "R%u to R%u go above the limit: sm_20 has R0 to R62, and RZ", number,
                             number + count - 1);
  filler->parser->top_register = MAX(filler->parser->top_register, (int)(number + count - 1));
  return true;
}

/* A register group to read; RZ is the constant 0, whatever the width. */
static bool read_registers(Filler *filler, const Operand *operand, unsigned count, int16_t *slot) {
  if (operand->carry)
    return sass_parser_error(filler->parser, &operand->token, ".CC belongs to the register that is written");
  if (operand->number == SASS_RZ)
    return add_const(filler, operand, CONST_IMMEDIATE, 0, slot);
  *slot = operand->number;
  return use_registers(filler, operand, count);
}

static unsigned width_registers(const Inst *inst) {
  return inst->width == WIDTH_128 ? 4 : inst->width == WIDTH_64 ? 2 : 1;
}

static bool fill_destination(Filler *filler, const Operand *operand) {
  Inst *inst = filler->inst;
  if (operand->kind != OPERAND_REGISTER)
    return mismatch(filler, operand, 'd');
  if (!plain(filler, operand, false))
    return false;
  if (operand->carry) {
    if (!(sass_names_operand_flags(inst->op) & INST_CARRY_OUT))
      return sass_parser_error(filler->parser, &operand->token, "%s can't set the carry", filler->info->sass);
    inst->flags |= INST_CARRY_OUT;
  }
  unsigned count = filler->info->form == FORM_D_M ? width_registers(inst) : 1;
  if (operand->number == SASS_RZ && count > 1)
    return sass_parser_error(filler->parser, &operand->token, "RZ can't receive a group of %u registers", count);
  inst->dst = operand->number == SASS_RZ ? SASS_SINK : operand->number;
  return operand->number == SASS_RZ || use_registers(filler, operand, count);
}

/* The bits of an immediate. In a float instruction hexadecimal gives the bits and decimal the value. */
static bool immediate_bits(const Filler *filler, const Operand *operand, uint32_t *bits) {
  bool is_move = filler->inst->op == OP_MOV || filler->inst->op == OP_MOV32I;
  bool is_float = (filler->info->flags & OPF_FLOAT) != 0;
  if (operand->kind == OPERAND_REAL && !is_float && !is_move)
    return sass_parser_error(filler->parser, &operand->token, "%s expects an integer, found %.*s", filler->info->sass,
                             (int)operand->name.length, operand->name.text);
  if (operand->kind == OPERAND_REAL || (is_float && !operand->hex)) {
    float value = operand->kind == OPERAND_REAL ? (float)operand->real : (float)operand->value;
    if (isinf(value))
      return sass_parser_error(filler->parser, &operand->token, "%.*s doesn't fit a 32-bit float",
                               (int)operand->name.length, operand->name.text);
    memcpy(bits, &value, sizeof *bits);
    *bits ^= operand->neg ? 0x80000000u : 0;
    return true;
  }
  if (operand->value > (operand->neg && !is_float ? (uint64_t)1 << 31 : UINT32_MAX))
    return sass_parser_error(filler->parser, &operand->token, "%s%.*s doesn't fit 32 bits", operand->neg ? "-" : "",
                             (int)MIN(operand->name.length, 40u), operand->name.text);
  *bits = (uint32_t)operand->value;
  if (is_float)
    *bits = (operand->absolute ? *bits & 0x7fffffffu : *bits) ^ (operand->neg ? 0x80000000u : 0);
  else
    *bits = operand->neg ? 0u - *bits : *bits;
  return true;
}

static bool fill_immediate(Filler *filler, const Operand *operand, int16_t *slot) {
  uint32_t bits = 0;
  bool is_float = (filler->info->flags & OPF_FLOAT) != 0;
  if (operand->negated || (is_float ? operand->inverted : operand->absolute))
    return mismatch(filler, operand, 'a');
  if (!immediate_bits(filler, operand, &bits))
    return false;
  return add_const(filler, operand, CONST_IMMEDIATE, operand->inverted ? ~bits : bits, slot);
}

/* Value operand 0, 1 or 2: a, b or c. */
static bool fill_value(Filler *filler, const Operand *operand, unsigned which) {
  static const uint32_t neg[] = {INST_NEG_A, INST_NEG_B, INST_NEG_C}, absolute[] = {INST_ABS_A, INST_ABS_B, 0},
                        inverted[] = {INST_INV_A, INST_INV_B, 0};
  Inst *inst = filler->inst;
  int16_t *slot = which == 0 ? &inst->a : which == 1 ? &inst->b : &inst->c;
  if (operand->kind == OPERAND_INTEGER || operand->kind == OPERAND_REAL)
    return fill_immediate(filler, operand, slot);
  if (operand->kind != OPERAND_REGISTER && operand->kind != OPERAND_BANK)
    return mismatch(filler, operand, 'a');
  uint32_t allowed = sass_names_operand_flags(inst->op);
  Operand rest = *operand;
  rest.neg &= !(allowed & neg[which]);
  rest.absolute &= !(allowed & absolute[which]);
  rest.inverted &= !(allowed & inverted[which]);
  if (!plain(filler, &rest, false))
    return false;
  inst->flags |= (operand->neg ? neg[which] : 0) | (operand->absolute ? absolute[which] : 0) |
                 (operand->inverted ? inverted[which] : 0);
  if (operand->kind == OPERAND_BANK)
    return add_const(filler, operand, CONST_BANK, (uint32_t)operand->value, slot);
  return read_registers(filler, operand, 1, slot);
}

static bool fill_stored(Filler *filler, const Operand *operand, int16_t *slot) {
  if (operand->kind != OPERAND_REGISTER)
    return mismatch(filler, operand, 'B');
  unsigned count = filler->info->form == FORM_M_A ? width_registers(filler->inst) : 1;
  return plain(filler, operand, false) && read_registers(filler, operand, count, slot);
}

static bool fill_memory(Filler *filler, const Operand *operand) {
  if (operand->kind != OPERAND_MEMORY)
    return mismatch(filler, operand, 'm');
  if (!plain(filler, operand, false))
    return false;
  filler->inst->imm = operand->offset;
  Operand address = *operand;
  address.token = operand->name;
  return read_registers(filler, &address, filler->inst->flags & INST_ADDR64 ? 2 : 1, &filler->inst->a);
}

static bool fill_written_predicate(Filler *filler, const Operand *operand, uint8_t *number) {
  if (operand->kind != OPERAND_PREDICATE)
    return mismatch(filler, operand, 'p');
  *number = operand->number == PRED_TRUE ? PRED_SINK : operand->number;
  return plain(filler, operand, false);
}

static bool fill_read_predicate(Filler *filler, const Operand *operand) {
  if (operand->kind != OPERAND_PREDICATE)
    return mismatch(filler, operand, 'q');
  filler->inst->psrc[filler->sources] = operand->number;
  filler->inst->psrc_not |= (uint8_t)(operand->negated << filler->sources);
  filler->sources++;
  return plain(filler, operand, true);
}

static bool fill_special(Filler *filler, const Operand *operand) {
  if (operand->kind != OPERAND_NAME)
    return mismatch(filler, operand, 'r');
  g_autofree char *name = g_strndup(operand->name.text, operand->name.length);
  SpecialReg special = sass_names_special(name);
  if (special == SR_COUNT) {
    sass_parser_error(filler->parser, &operand->name, "unknown special register `%s`", name);
    diag_hint_nearest(filler->parser->diag, name, sass_names_specials());
    return false;
  }
  filler->inst->mode = (uint8_t)special;
  return plain(filler, operand, false);
}

static bool fill_shift(Filler *filler, const Operand *operand) {
  if (operand->kind != OPERAND_INTEGER || operand->neg || operand->value > SHIFT_MAX)
    return mismatch(filler, operand, 's');
  filler->inst->mode = (uint8_t)operand->value;
  return plain(filler, operand, false);
}

static bool fill_target(Filler *filler, const Operand *operand) {
  if (operand->kind != OPERAND_INTEGER && operand->kind != OPERAND_NAME)
    return mismatch(filler, operand, 't');
  if (!plain(filler, operand, false))
    return false;
  if (operand->kind == OPERAND_INTEGER && operand->value > UINT32_MAX)
    return sass_parser_error(filler->parser, &operand->token, "%.*s doesn't fit 32 bits",
                             (int)MIN(operand->name.length, 40u), operand->name.text);
  Fixup fixup = {.pc = filler->parser->insts->len, .token = operand->name};
  g_array_append_val(filler->parser->fixups, fixup);
  return true;
}

static bool fill_one(Filler *filler, char letter, const Operand *operand) {
  Inst *inst = filler->inst;
  switch (letter) {
  case 'd': return fill_destination(filler, operand);
  case 'a': return fill_value(filler, operand, 0);
  case 'b': return fill_value(filler, operand, 1);
  case 'c': return fill_value(filler, operand, 2);
  case 'B': return fill_stored(filler, operand, &inst->b);
  case 'C': return fill_stored(filler, operand, &inst->c);
  case 'i':
    if (operand->kind != OPERAND_INTEGER && operand->kind != OPERAND_REAL)
      return mismatch(filler, operand, 'i');
    return fill_immediate(filler, operand, &inst->a);
  case 'm': return fill_memory(filler, operand);
  case 'p': return fill_written_predicate(filler, operand, &inst->pdst);
  case 'P': return fill_written_predicate(filler, operand, &inst->pdst2);
  case 'q': return fill_read_predicate(filler, operand);
  case 'r': return fill_special(filler, operand);
  case 's': return fill_shift(filler, operand);
  default: return fill_target(filler, operand);
  }
}

static bool fill_spec(Filler *filler, const char *spec, const Operand *operands, unsigned count, const Token *end) {
  unsigned i = 0;
  bool optional = false;
  for (const char *letter = spec; *letter; letter++) {
    if (*letter == '?') {
      optional = true;
      continue;
    }
    if (i == count) {
      if (optional)
        return true;
      g_autofree char *found = token_show(end);
      return sass_parser_error(filler->parser, end, "%s expects %s here, found %s", filler->info->sass,
                               expected_of(*letter), found);
    }
    if (!fill_one(filler, *letter, &operands[i++]))
      return false;
  }
  if (i == count)
    return true;
  return sass_parser_error(filler->parser, &operands[i].token, "%s takes no more than %u operand%s",
                           filler->info->sass, i, i == 1 ? "" : "s");
}

/* A barrier number or thread count: a register or an immediate. */
static bool fill_barrier_value(Filler *filler, const Operand *operand, int16_t *slot) {
  if (operand->kind != OPERAND_INTEGER && operand->kind != OPERAND_REGISTER)
    return mismatch(filler, operand, 'n');
  if (!plain(filler, operand, false))
    return false;
  if (operand->kind == OPERAND_REGISTER)
    return read_registers(filler, operand, 1, slot);
  return fill_immediate(filler, operand, slot);
}

static bool is_zero(const Operand *operand) {
  return operand->kind == OPERAND_REGISTER ? operand->number == SASS_RZ
                                           : operand->kind == OPERAND_INTEGER && operand->value == 0;
}

/* The result of BAR.RED: a register for .POPC, a predicate for .AND and .OR; RZ discards. Returns the operands used,
 * 0 on error. asfermi writes both (`BAR.RED.AND RZ, P0, b`), cuobjdump only the one that counts. */
static unsigned fill_reduction(Filler *filler, const Operand *operands, unsigned count) {
  bool counts = filler->inst->mode == BAR_RED_POPC;
  const Operand *first = &operands[0];
  if (counts)
    return fill_destination(filler, first) ? 1 : 0;
  if (first->kind == OPERAND_PREDICATE)
    return fill_written_predicate(filler, first, &filler->inst->pdst) ? 1 : 0;
  if (first->kind != OPERAND_REGISTER || first->number != SASS_RZ) {
    mismatch(filler, first, 'p');
    return 0;
  }
  if (count > 1 && operands[1].kind == OPERAND_PREDICATE)
    return fill_written_predicate(filler, &operands[1], &filler->inst->pdst) ? 2 : 0;
  return 1;
}

static bool missing(const Filler *filler, const Token *end, const char *what) {
  g_autofree char *found = token_show(end);
  return sass_parser_error(filler->parser, end, "BAR expects %s here, found %s", what, found);
}

/* BAR.SYNC b(, n); BAR.ARV b(, n); BAR.RED.op result, b(, n)(, q). A count of 0 or RZ means the block. */
static bool fill_barrier(Filler *filler, const Operand *operands, unsigned count, const Token *end) {
  Inst *inst = filler->inst;
  bool reduces = inst->mode != BAR_SYNC && inst->mode != BAR_ARV;
  unsigned i = 0;
  inst->dst = SASS_SINK;
  if (reduces) {
    if (count == 0)
      return missing(filler, end, "a result (RZ discards it)");
    i = fill_reduction(filler, operands, count);
    if (i == 0)
      return false;
  }
  if (i == count)
    return missing(filler, end, expected_of('n'));
  const Operand *barrier = &operands[i++];
  if (!fill_barrier_value(filler, barrier, &inst->a))
    return false;
  if (barrier->kind == OPERAND_INTEGER && barrier->value >= BARRIERS)
    return sass_parser_error(filler->parser, &barrier->token, "there is no barrier %.*s: they are 0 to 15",
                             (int)barrier->name.length, barrier->name.text);
  if (i < count && operands[i].kind != OPERAND_PREDICATE) {
    const Operand *threads = &operands[i++];
    if (threads->kind == OPERAND_INTEGER && threads->value % WARP_LANES != 0)
      return sass_parser_error(filler->parser, &threads->token,
                               "a barrier counts whole warps: %.*s isn't a multiple of 32", (int)threads->name.length,
                               threads->name.text);
    if (!is_zero(threads)) {
      inst->flags |= INST_HAS_COUNT;
      if (!fill_barrier_value(filler, threads, &inst->b))
        return false;
    }
  }
  if (i < count && reduces && operands[i].kind == OPERAND_PREDICATE && !fill_read_predicate(filler, &operands[i++]))
    return false;
  if (i == count)
    return true;
  return sass_parser_error(filler->parser, &operands[i].token, "BAR takes no operand here");
}

bool sass_form_fill(SassParser *parser, Inst *inst, const Operand *operands, unsigned count, const Token *end) {
  Filler filler = {.parser = parser, .inst = inst, .info = &op_info[inst->op]};
  if (filler.info->form == FORM_BAR)
    return fill_barrier(&filler, operands, count, end);
  const char *spec = specs[filler.info->form];
  if (inst->op == OP_MOV32I)
    spec = "di";
  if (inst->op == OP_ATOM && inst->mode == ATOM_CAS)
    spec = "dmBC";
  /* VOTE.ALL P1, P0: no ballot wanted. */
  if (inst->op == OP_VOTE && count == 2 && operands[0].kind == OPERAND_PREDICATE) {
    inst->dst = SASS_SINK;
    spec = "pq";
  }
  return fill_spec(&filler, spec, operands, count, end);
}
