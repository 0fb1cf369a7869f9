/* Operands as they are written. */
#include <string.h>

#include "isa/ptx/ptx_parser.h"

enum { SHOWN_MAX = 60, VECTOR_MAX = 4 };

bool ptx_operand_push(PtxParser *parser, const PtxOperand *operand) {
  if (!ptx_parser_limit(parser, parser->module->operands->len, PTX_OPERAND_POOL_MAX, "operands"))
    return false;
  g_array_append_val(parser->module->operands, *operand);
  return true;
}

bool ptx_operand_push_label(PtxParser *parser) {
  PtxOperand operand = {.kind = PTX_OPERAND_LABEL, .at = parser->token.at, .index = PTX_NO_INDEX};
  uint32_t name = ptx_parser_name(parser, "a label");
  if (!name || !ptx_operand_push(parser, &operand))
    return false;
  ptx_parser_advance(parser);
  return ptx_parser_use_label(parser, name, parser->module->operands->len - 1);
}

/* -- names -- */

static bool fail_name(PtxParser *parser, const Token *token) {
  g_autofree char *name = g_strndup(token->text, MIN(token->length, (uint32_t)SHOWN_MAX));
  bool is_register = *name == '%';
  ptx_parser_error_at(parser, token->at, is_register ? "there is no register `%s` here" : "there is no `%s` here",
                      name);
  ptx_parser_hint_symbol(parser, name);
  if (is_register && parser->errors <= PTX_HINTS_MAX) {
    g_autofree const char **specials = ptx_special_names();
    const char *nearest = diag_nearest(name + 1, specials);
    if (nearest && strchr(name, '.'))
      diag_hint(parser->diag, "did you mean `%%%s`?", nearest);
  }
  return false;
}

/* `v.x`: the component of a vector register, or 0. */
static unsigned component_of(const Token *token) {
  static const char letters[] = "xrygzbwa";
  const char *letter = token->length > 2 && token->text[token->length - 2] == '.'
                           ? memchr(letters, token->text[token->length - 1], sizeof letters - 1)
                           : NULL;
  return letter ? (unsigned)(letter - letters) / 2 + 1 : 0;
}

static bool use_symbol(PtxParser *parser, const PtxSymbol *symbol, uint32_t element, PtxOperand *operand) {
  if (symbol->kind == SYMBOL_FUNCTION || symbol->kind == SYMBOL_TABLE) {
    operand->kind = symbol->kind == SYMBOL_FUNCTION ? PTX_OPERAND_FUNCTION : PTX_OPERAND_TABLE;
    operand->index = symbol->index;
    return true;
  }
  const PtxVar *var = ptx_var(parser->module, symbol->index);
  operand->kind = var->space == PTX_REG ? PTX_OPERAND_REG : PTX_OPERAND_VAR;
  operand->index = var->space == PTX_REG ? var->base + element : symbol->index;
  return true;
}

static bool read_name(PtxParser *parser, PtxOperand *operand) {
  const Token token = parser->token;
  uint32_t element, length = token.length;
  unsigned component = 0;
  const PtxSymbol *symbol = ptx_parser_lookup(parser, token.text, length, &element);
  if (!symbol && (component = component_of(&token)))
    symbol = ptx_parser_lookup(parser, token.text, length - 2, &element);
  PtxSpecial special = symbol || token.text[0] != '%' ? PTX_SR_COUNT : ptx_special_find(token.text + 1, length - 1);
  if (special != PTX_SR_COUNT) {
    operand->kind = PTX_OPERAND_SPECIAL;
    operand->index = special;
  } else if (symbol) {
    use_symbol(parser, symbol, element, operand);
    operand->component = component & 7;
    bool vector = symbol->kind == SYMBOL_VAR && ptx_var(parser->module, symbol->index)->vec &&
                  component <= (ptx_var(parser->module, symbol->index)->vec == PTX_V2 ? 2u : 4u);
    if (component && !(vector && operand->kind == PTX_OPERAND_REG))
      return fail_name(parser, &token);
  } else if (token_equals(&token, "WARP_SZ")) {
    operand->kind = PTX_OPERAND_INTEGER;
    operand->bits = 32;
  } else if (token_equals(&token, "_")) {
    operand->kind = PTX_OPERAND_SINK;
  } else {
    return fail_name(parser, &token);
  }
  ptx_parser_advance(parser);
  return true;
}

/* -- numbers and addresses -- */

static bool read_number(PtxParser *parser, PtxOperand *operand) {
  bool inverted = ptx_parser_accept(parser, '~'), negative = !inverted && ptx_parser_accept(parser, '-');
  const Token token = parser->token;
  bool is_float = token.kind == TOK_F32 || token.kind == TOK_REAL;
  if (token_is(&token, '('))
    return ptx_parser_error_at(parser, token.at, "constant expressions aren't supported");
  if (token.kind != TOK_INTEGER && !is_float)
    return ptx_parser_unexpected(parser, negative || inverted ? "a number" : "an operand");
  operand->bits = token.value;
  operand->kind = token.kind == TOK_INTEGER ? PTX_OPERAND_INTEGER
                  : token.kind == TOK_F32   ? PTX_OPERAND_F32
                                            : PTX_OPERAND_F64;
  if (inverted && is_float)
    return ptx_parser_error_at(parser, operand->at, "`~` needs an integer");
  if (inverted)
    operand->bits = ~token.value;
  else if (negative && is_float)
    operand->bits ^= token.kind == TOK_F32 ? (uint64_t)1 << 31 : (uint64_t)1 << 63;
  else if (negative && token.value > (uint64_t)1 << 63)
    return ptx_parser_error_at(parser, operand->at, "this number doesn't fit 64 bits");
  else if (negative)
    operand->bits = 0 - token.value;
  ptx_parser_advance(parser);
  return true;
}

/* `+8`, `+-4`, `-4` behind a name. */
static bool read_offset(PtxParser *parser, int32_t *offset) {
  bool negative = token_is(&parser->token, '-');
  if (!negative && !token_is(&parser->token, '+'))
    return true;
  ptx_parser_advance(parser);
  if (!negative)
    negative = ptx_parser_accept(parser, '-');
  uint32_t value, at = parser->token.at;
  if (!ptx_parser_number(parser, (uint64_t)1 << 31, "an offset in bytes", &value))
    return false;
  if (!negative && value > INT32_MAX)
    return ptx_parser_error_at(parser, at, "this offset doesn't fit 32 bits");
  *offset = (int32_t)(negative ? 0 - value : value);
  return true;
}

static bool read_memory(PtxParser *parser, PtxOperand *operand) {
  uint32_t at = operand->at;
  ptx_parser_advance(parser);
  if (parser->token.kind == TOK_WORD) {
    if (!read_name(parser, operand))
      return false;
    if ((operand->kind != PTX_OPERAND_REG && operand->kind != PTX_OPERAND_VAR) || operand->component)
      return ptx_parser_error_at(parser, at, "an address is a register or a variable, and an offset");
    operand->kind = operand->kind == PTX_OPERAND_REG ? PTX_OPERAND_MEM_REG : PTX_OPERAND_MEM_VAR;
    if (!read_offset(parser, &operand->offset))
      return false;
  } else {
    if (!read_number(parser, operand))
      return false;
    if (operand->kind != PTX_OPERAND_INTEGER)
      return ptx_parser_error_at(parser, at, "an address is an integer");
    operand->kind = PTX_OPERAND_MEM_ABSOLUTE;
  }
  operand->at = at;
  if (token_is(&parser->token, ','))
    return ptx_parser_error_at(parser, at, "addresses of several parts, as of textures, aren't supported");
  return ptx_parser_expect(parser, ']');
}

/* -- several in one -- */

static bool read_simple(PtxParser *parser, PtxOperand *operand) {
  *operand = (PtxOperand){.at = parser->token.at};
  return parser->token.kind == TOK_WORD ? read_name(parser, operand) : read_number(parser, operand);
}

/* Appends the parts, which were read before, behind each other. */
static bool push_parts(PtxParser *parser, const PtxOperand *parts, unsigned count, PtxOperand *whole) {
  whole->index = parser->module->operands->len;
  whole->count = (uint16_t)count;
  for (unsigned i = 0; i < count; i++)
    if (!ptx_operand_push(parser, &parts[i]))
      return false;
  return true;
}

/* `{%r1, %r2}` */
static bool read_vector(PtxParser *parser, PtxOperand *operand) {
  PtxOperand parts[VECTOR_MAX];
  unsigned count = 0;
  ptx_parser_advance(parser);
  do {
    if (count == VECTOR_MAX)
      return ptx_parser_error_at(parser, operand->at, "a vector has at most %d parts", VECTOR_MAX);
    if (!read_simple(parser, &parts[count++]))
      return false;
  } while (ptx_parser_accept(parser, ','));
  operand->kind = PTX_OPERAND_VECTOR;
  return ptx_parser_expect(parser, '}') && push_parts(parser, parts, count, operand);
}

bool ptx_operand_read_list(PtxParser *parser, PtxOperand *operand) {
  *operand = (PtxOperand){.kind = PTX_OPERAND_LIST, .at = parser->token.at, .index = parser->module->operands->len};
  if (!ptx_parser_expect(parser, '('))
    return false;
  if (ptx_parser_accept(parser, ')'))
    return true;
  do {
    PtxOperand part;
    if (!ptx_parser_limit(parser, operand->count++, PTX_LIST_MAX, "operands of a call") ||
        !read_simple(parser, &part) || !ptx_operand_push(parser, &part))
      return false;
  } while (ptx_parser_accept(parser, ','));
  return ptx_parser_expect(parser, ')');
}

/* `d|p` */
static bool read_pair(PtxParser *parser, PtxOperand *operand) {
  PtxOperand parts[2] = {*operand};
  ptx_parser_advance(parser);
  if (!read_simple(parser, &parts[1]))
    return false;
  *operand = (PtxOperand){.kind = PTX_OPERAND_PAIR, .at = parts[0].at};
  return push_parts(parser, parts, 2, operand);
}

bool ptx_operand_read(PtxParser *parser, PtxOperand *operand) {
  *operand = (PtxOperand){.at = parser->token.at};
  if (token_is(&parser->token, '['))
    return read_memory(parser, operand);
  if (token_is(&parser->token, '{'))
    return read_vector(parser, operand);
  bool negated = ptx_parser_accept(parser, '!');
  if (parser->token.kind != TOK_WORD)
    return negated ? ptx_parser_unexpected(parser, "a predicate") : read_number(parser, operand);
  if (!read_name(parser, operand))
    return false;
  operand->negated = negated;
  if (token_is(&parser->token, '|'))
    return read_pair(parser, operand);
  return operand->kind != PTX_OPERAND_VAR || read_offset(parser, &operand->offset);
}
