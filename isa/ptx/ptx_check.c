/* Whether an operand is what its place in the instruction needs. */
#include <string.h>

#include "isa/ptx/ptx_parser.h"

static PtxWord twice(PtxWord type) {
  switch (type) {
  case PTX_U16: return PTX_U32;
  case PTX_S16: return PTX_S32;
  case PTX_U32: return PTX_U64;
  case PTX_S32: return PTX_S64;
  default: return type;
  }
}

/* A register of 128 bits holds nothing narrower. */
static bool is_four_words(PtxWord type) { return type == PTX_B128; }

/* The type that the shape asks for, or PTX_NONE for any. */
static PtxWord type_of(const PtxShape *shape, const PtxMods *mods) {
  switch (shape->type) {
  case 'T': return (PtxWord)mods->type;
  case 'U': return (PtxWord)mods->type2;
  case 'W': return twice((PtxWord)mods->type);
  default: return (PtxWord)shape->word;
  }
}

static bool fits(PtxWord have, PtxWord want, bool wider) {
  PtxTypeKind a = ptx_type_kind(have), b = ptx_type_kind(want);
  if (is_four_words(have))
    return is_four_words(want);
  if (want == PTX_NONE)
    return have != PTX_PRED;
  if (a == PTX_KIND_PRED || b == PTX_KIND_PRED)
    return a == b;
  unsigned bytes = ptx_type_bytes(have), needed = ptx_type_bytes(want);
  if (bytes != needed && !(wider && bytes > needed))
    return false;
  return a == PTX_KIND_BITS || b == PTX_KIND_BITS || (a == PTX_KIND_FLOAT) == (b == PTX_KIND_FLOAT);
}

static PtxWord type_of_register(PtxParser *parser, const PtxOperand *operand, bool *vector) {
  PtxModule *module = parser->module;
  const PtxFunction *function = ptx_function(module, parser->function);
  PtxFunction so_far = {.first_var = function->first_var, .nvars = module->vars->len - function->first_var};
  const PtxVar *var = ptx_var(module, ptx_module_register(module, &so_far, operand->index));
  *vector = var->vec && !operand->component;
  return (PtxWord)var->type;
}

/* The text of an operand, for messages. */
static char *show(PtxParser *parser, const PtxOperand *operand) {
  Token token = scanner_token_at(&parser->scanner, operand->at);
  return token_show(&token);
}

static bool fail(PtxParser *parser, const PtxOperand *operand, const PtxMnemonic *mnemonic, const char *expected) {
  g_autofree char *found = show(parser, operand);
  return ptx_parser_error_at(parser, operand->at, "%s expects %s here, found %s", ptx_op_mnemonic(mnemonic->op),
                             expected, found);
}

static bool fail_type(PtxParser *parser, const PtxOperand *operand, const PtxMnemonic *mnemonic, PtxWord have,
                      PtxWord want) {
  g_autofree char *found = show(parser, operand);
  return ptx_parser_error_at(parser, operand->at, "%s expects a `.%s` here, but %s is a `.%s`",
                             ptx_op_mnemonic(mnemonic->op), want ? ptx_word_text(want) : "b32 or .b64", found,
                             ptx_word_text(have));
}

static bool check_register(PtxParser *parser, const PtxOperand *operand, const PtxShape *shape,
                           const PtxMnemonic *mnemonic, PtxWord want) {
  bool vector;
  PtxWord have = type_of_register(parser, operand, &vector);
  if (operand->negated && (want != PTX_PRED || shape->kind == 'd'))
    return ptx_parser_error_at(parser, operand->at, "%s can't negate this operand", ptx_op_mnemonic(mnemonic->op));
  if (vector)
    return fail(parser, operand, mnemonic, "one component of a vector");
  if (shape->kind == 'p' && have == PTX_PRED)
    return true;
  return fits(have, want, shape->wider) || fail_type(parser, operand, mnemonic, have, want);
}

/* A number, or what stands for one. */
static bool check_value(PtxParser *parser, const PtxOperand *operand, const PtxShape *shape,
                        const PtxMnemonic *mnemonic, PtxWord want) {
  PtxTypeKind kind = ptx_type_kind(want);
  bool is_float = operand->kind == PTX_OPERAND_F32 || operand->kind == PTX_OPERAND_F64;
  if (operand->kind == PTX_OPERAND_SPECIAL) {
    PtxWord have = ptx_special_type((PtxSpecial)operand->index);
    if (mnemonic->op != PTX_OP_MOV && mnemonic->op != PTX_OP_CVT)
      return fail(parser, operand, mnemonic, "a register that `mov` has filled");
    return fits(have, want, shape->wider) || fail_type(parser, operand, mnemonic, have, want);
  }
  if (operand->kind == PTX_OPERAND_VAR || operand->kind == PTX_OPERAND_FUNCTION)
    return (shape->kind == 's' && ptx_type_bytes(want) >= 4 && kind != PTX_KIND_FLOAT && !is_four_words(want)) ||
           fail(parser, operand, mnemonic, "a register or a number");
  if (is_float && (kind == PTX_KIND_SIGNED || kind == PTX_KIND_UNSIGNED || is_four_words(want)))
    return fail(parser, operand, mnemonic, "an integer");
  if (operand->kind == PTX_OPERAND_INTEGER && kind == PTX_KIND_FLOAT)
    return fail(parser, operand, mnemonic, "a float such as 0f3F800000 or 1.0");
  if (kind == PTX_KIND_PRED && is_float)
    return fail(parser, operand, mnemonic, "a predicate");
  return true;
}

static bool check_single(PtxParser *parser, const PtxOperand *operand, const PtxShape *shape,
                         const PtxMnemonic *mnemonic, PtxWord want) {
  bool is_register = operand->kind == PTX_OPERAND_REG;
  switch (shape->kind) {
  case 'q':
    if (!is_register && operand->kind != PTX_OPERAND_INTEGER)
      return fail(parser, operand, mnemonic, "a predicate");
    break;
  case 'd':
    if (operand->kind == PTX_OPERAND_SINK)
      return true;
    if (!is_register)
      return fail(parser, operand, mnemonic, "a register");
    break;
  case 'i': return operand->kind == PTX_OPERAND_INTEGER || fail(parser, operand, mnemonic, "an integer");
  default: break;
  }
  if (is_register)
    return check_register(parser, operand, shape, mnemonic, want);
  bool value = operand->kind <= PTX_OPERAND_SPECIAL || operand->kind == PTX_OPERAND_VAR ||
               operand->kind == PTX_OPERAND_FUNCTION;
  return value ? check_value(parser, operand, shape, mnemonic, want)
               : fail(parser, operand, mnemonic, "a register or a number");
}

/* `{...}`, or a vector register, of ld, st and mov. */
static bool check_vector(PtxParser *parser, const PtxOperand *operand, const PtxShape *shape,
                         const PtxMnemonic *mnemonic, PtxWord want) {
  unsigned needed = mnemonic->mods.vec == PTX_V4 ? 4 : 2;
  PtxShape part = *shape;
  if (shape->parts) {
    static const PtxWord bits[] = {[1] = PTX_B8, [2] = PTX_B16, [4] = PTX_B32, [8] = PTX_B64};
    unsigned bytes = ptx_type_bytes(want) / operand->count;
    if ((operand->count != 2 && operand->count != 4) || bytes < 1 || want == PTX_PRED)
      return fail(parser, operand, mnemonic, "two or four parts");
    want = bits[bytes];
    part.kind = shape->kind == 's' ? 'a' : 'd';
  } else if (operand->count != needed) {
    return ptx_parser_error_at(parser, operand->at, "`.%s` needs %u parts, found %u",
                               ptx_word_text((PtxWord)mnemonic->mods.vec), needed, operand->count);
  }
  for (unsigned i = 0; i < operand->count; i++) {
    const PtxOperand one = *ptx_operand(parser->module, operand->index + i);
    if (!check_single(parser, &one, &part, mnemonic, want))
      return false;
  }
  return true;
}

/* `d|p` */
static bool check_pair(PtxParser *parser, const PtxOperand *operand, const PtxShape *shape,
                       const PtxMnemonic *mnemonic, PtxWord want) {
  const PtxOperand first = *ptx_operand(parser->module, operand->index);
  const PtxOperand second = *ptx_operand(parser->module, operand->index + 1);
  if (!shape->pairs)
    return fail(parser, operand, mnemonic, "one result");
  return check_single(parser, &first, shape, mnemonic, want) &&
         check_single(parser, &second, shape, mnemonic, PTX_PRED);
}

static bool check_memory(PtxParser *parser, const PtxOperand *operand, const PtxShape *shape,
                         const PtxMnemonic *mnemonic) {
  PtxWord space = (PtxWord)(shape->word ? shape->word : mnemonic->mods.space);
  bool vector;
  if (operand->kind == PTX_OPERAND_MEM_ABSOLUTE)
    return true;
  if (operand->kind == PTX_OPERAND_MEM_REG) {
    PtxWord have = type_of_register(parser, operand, &vector);
    bool good = !vector && ptx_type_bytes(have) >= 4 && ptx_type_kind(have) != PTX_KIND_FLOAT && !is_four_words(have);
    return good || ptx_parser_error_at(parser, operand->at, "a `.%s` can't be an address", ptx_word_text(have));
  }
  if (operand->kind != PTX_OPERAND_MEM_VAR)
    return fail(parser, operand, mnemonic, "an address such as [%r1+4]");
  PtxWord have = (PtxWord)ptx_var(parser->module, operand->index)->space;
  space = space == PTX_SHARED_CTA || space == PTX_SHARED_CLUSTER ? PTX_SHARED
          : space == PTX_PARAM_ENTRY || space == PTX_PARAM_FUNC  ? PTX_PARAM
                                                                 : space;
  if (!space || have == space)
    return true;
  return ptx_parser_error_at(parser, operand->at, "this variable lies in `.%s`, not in `.%s`", ptx_word_text(have),
                             ptx_word_text(space));
}

static bool check_table(PtxParser *parser, const PtxOperand *operand, const PtxMnemonic *mnemonic) {
  bool good =
      operand->kind == PTX_OPERAND_TABLE && ptx_table(parser->module, operand->index)->kind == PTX_TABLE_BRANCH;
  return good || fail(parser, operand, mnemonic, "a table of `.branchtargets`");
}

bool ptx_check_operand(PtxParser *parser, const PtxOperand *operand, const PtxShape *shape,
                       const PtxMnemonic *mnemonic) {
  PtxWord want = type_of(shape, &mnemonic->mods);
  bool needs_vector = shape->vector && mnemonic->mods.vec;
  if (shape->kind == 'M')
    return check_memory(parser, operand, shape, mnemonic);
  if (shape->kind == 't')
    return check_table(parser, operand, mnemonic);
  if (operand->kind == PTX_OPERAND_PAIR)
    return check_pair(parser, operand, shape, mnemonic, want);
  if (shape->pairs == 2)
    return fail(parser, operand, mnemonic, "two results, `d|p`,");
  if (operand->kind == PTX_OPERAND_VECTOR)
    return needs_vector || shape->parts ? check_vector(parser, operand, shape, mnemonic, want)
                                        : fail(parser, operand, mnemonic, "a single value");
  if (!needs_vector)
    return check_single(parser, operand, shape, mnemonic, want);
  bool vector = false;
  PtxWord have = operand->kind == PTX_OPERAND_REG ? type_of_register(parser, operand, &vector) : PTX_NONE;
  return (vector && fits(have, want, shape->wider)) || fail(parser, operand, mnemonic, "a vector such as {%r1, %r2}");
}
