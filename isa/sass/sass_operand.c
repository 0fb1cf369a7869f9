#include <string.h>

#include "isa/sass/sass_parser.h"
#include "isa/sass_names.h"

enum { BANK_BYTES = 65536 };

static bool parse_numbered(const Token *token, char letter, unsigned *number, gsize *used) {
  if (token->length < 2 || g_ascii_toupper(token->text[0]) != letter || !g_ascii_isdigit(token->text[1]))
    return false;
  *number = 0;
  gsize i = 1;
  for (; i < token->length && g_ascii_isdigit(token->text[i]); i++)
    *number = MIN(*number * 10 + (unsigned)g_ascii_digit_value(token->text[i]), 9999u);
  *used = i;
  return i == token->length || token->text[i] == '.';
}

static bool spells(const Token *token, const char *word) {
  return token->length == strlen(word) && g_ascii_strncasecmp(token->text, word, token->length) == 0;
}

/* RZ, R0..R62, R2.CC. */
static bool is_register(const Token *token) {
  unsigned number;
  gsize used;
  return spells(token, "RZ") || spells(token, "RZ.CC") || parse_numbered(token, 'R', &number, &used);
}

static bool parse_register(SassParser *parser, const Token *token, uint8_t *number, bool *carry) {
  unsigned n = SASS_RZ;
  gsize used = 2;
  *carry = false;
  if (parse_numbered(token, 'R', &n, &used) && n >= SASS_REGISTERS_MAX)
    return sass_parser_error(parser, token, "register R%u is above the limit: sm_20 has R0 to R62, and RZ", n);
  *number = (uint8_t)n;
  if (used == token->length)
    return true;
  *carry = g_ascii_strncasecmp(token->text + used, ".CC", token->length - used) == 0 && token->length - used == 3;
  if (!*carry) {
    Token suffix = token_tail(token, used);
    return sass_parser_unexpected(parser, &suffix, "a register; only .CC may follow its number");
  }
  return true;
}

static bool is_predicate(const Token *token) {
  unsigned number;
  gsize used;
  return spells(token, "PT") || (parse_numbered(token, 'P', &number, &used) && used == token->length);
}

bool sass_operand_predicate(SassParser *parser, const Token *token, uint8_t *number) {
  unsigned n = PRED_TRUE;
  gsize used;
  if (token->kind != TOK_WORD || !is_predicate(token))
    return sass_parser_unexpected(parser, token, "a predicate: P0 to P6, or PT");
  if (parse_numbered(token, 'P', &n, &used) && n >= PRED_TRUE)
    return sass_parser_error(parser, token, "predicate P%u is above the limit: there are P0 to P6, and PT", n);
  *number = (uint8_t)n;
  return true;
}

static bool fold_number(SassParser *parser, const Token *token, bool negative, uint32_t *bits) {
  if (token->value > (negative ? (uint64_t)1 << 31 : UINT32_MAX))
    return sass_parser_error(parser, token, "%s%.*s doesn't fit 32 bits", negative ? "-" : "",
                             (int)MIN(token->length, 40u), token->text);
  *bits = negative ? 0u - (uint32_t)token->value : (uint32_t)token->value;
  return true;
}

/* `-0x10`, `16`: a number with an optional sign that fits 32 bits (as signed or unsigned), as its bits. */
static bool parse_number(SassParser *parser, uint32_t *bits) {
  bool negative = false;
  for (; token_is(&parser->token, '-') || token_is(&parser->token, '+'); sass_parser_advance(parser))
    negative ^= token_is(&parser->token, '-');
  if (parser->token.kind != TOK_INTEGER)
    return sass_parser_unexpected(parser, &parser->token, "a number");
  if (!fold_number(parser, &parser->token, negative, bits))
    return false;
  sass_parser_advance(parser);
  return true;
}

static bool expect(SassParser *parser, char punct) {
  if (!token_is(&parser->token, punct)) {
    char expected[] = {'`', punct, '`', '\0'};
    return sass_parser_unexpected(parser, &parser->token, expected);
  }
  sass_parser_advance(parser);
  return true;
}

/* c[0x0][0x20], behind the `c`. */
static bool parse_bank(SassParser *parser, Operand *operand) {
  uint32_t bank, offset;
  operand->kind = OPERAND_BANK;
  if (!expect(parser, '['))
    return false;
  Token at = parser->token;
  if (!parse_number(parser, &bank))
    return false;
  if (bank != 0) {
    sass_parser_error(parser, &at,
                      "there is no constant bank c[0x%x] here: only c[0x0], launch dimensions and arguments", bank);
    if (bank == 1)
      diag_hint(parser->diag, "c[0x1][0x100] is the stack pointer in cuobjdump's text; drop that MOV");
    return false;
  }
  if (!expect(parser, ']') || !expect(parser, '['))
    return false;
  at = parser->token;
  if (at.kind == TOK_WORD)
    return sass_parser_error(parser, &at,
                             "a constant's offset has to be a number; indexed constants aren't supported");
  if (!parse_number(parser, &offset))
    return false;
  if (offset % 4 != 0 || offset >= BANK_BYTES)
    return sass_parser_error(
        parser, &at, "offset 0x%x isn't a word of c[0x0]: it has to be a multiple of 4 below 0x10000", offset);
  operand->value = offset;
  return expect(parser, ']');
}

/* [R7+-0x84], [R7-0x84], [R7], [0x10]; the bracket is the current token. */
static bool parse_memory(SassParser *parser, Operand *operand) {
  uint32_t offset = 0;
  bool carry;
  operand->kind = OPERAND_MEMORY;
  operand->number = SASS_RZ;
  sass_parser_advance(parser);
  Token at = parser->token;
  if (at.kind == TOK_WORD && is_register(&at)) {
    operand->name = at;
    if (!parse_register(parser, &at, &operand->number, &carry))
      return false;
    if (carry)
      return sass_parser_error(parser, &at, "an address register can't have .CC");
    sass_parser_advance(parser);
    if (token_is(&parser->token, ']')) {
      sass_parser_advance(parser);
      return true;
    }
    if (!token_is(&parser->token, '+') && !token_is(&parser->token, '-'))
      return sass_parser_unexpected(parser, &parser->token, "`]` or an offset such as +0x4");
  } else if (at.kind != TOK_INTEGER && !token_is(&at, '-') && !token_is(&at, '+')) {
    return sass_parser_unexpected(parser, &at, "an address: [R0], [R0+0x4], [R0+-0x4] or [0x10]");
  }
  if (!parse_number(parser, &offset))
    return false;
  operand->offset = (int32_t)offset;
  return expect(parser, ']');
}

static bool parse_word(SassParser *parser, Operand *operand) {
  const Token *token = &operand->name;
  sass_parser_advance(parser);
  if (spells(token, "c") && token_is(&parser->token, '['))
    return parse_bank(parser, operand);
  if (is_register(token)) {
    operand->kind = OPERAND_REGISTER;
    return parse_register(parser, token, &operand->number, &operand->carry);
  }
  if (is_predicate(token)) {
    operand->kind = OPERAND_PREDICATE;
    return sass_operand_predicate(parser, token, &operand->number);
  }
  operand->kind = OPERAND_NAME;
  return true;
}

static bool parse_primary(SassParser *parser, Operand *operand) {
  operand->name = parser->token;
  switch (parser->token.kind) {
  case TOK_WORD: return parse_word(parser, operand);
  case TOK_INTEGER:
    operand->kind = OPERAND_INTEGER;
    operand->value = parser->token.value;
    operand->hex = parser->token.hex;
    sass_parser_advance(parser);
    return true;
  case TOK_REAL:
    operand->kind = OPERAND_REAL;
    operand->real = parser->token.real;
    sass_parser_advance(parser);
    return true;
  default:
    if (token_is(&parser->token, '['))
      return parse_memory(parser, operand);
    return sass_parser_unexpected(parser, &parser->token, "an operand");
  }
}

bool sass_operand_parse(SassParser *parser, Operand *operand) {
  *operand = (Operand){.token = parser->token};
  for (;; sass_parser_advance(parser)) {
    if (token_is(&parser->token, '-'))
      operand->neg = !operand->neg;
    else if (token_is(&parser->token, '~'))
      operand->inverted = !operand->inverted;
    else if (token_is(&parser->token, '!'))
      operand->negated = !operand->negated;
    else if (!token_is(&parser->token, '+'))
      break;
  }
  if (!token_is(&parser->token, '|'))
    return parse_primary(parser, operand);
  operand->absolute = true;
  sass_parser_advance(parser);
  return parse_primary(parser, operand) && expect(parser, '|');
}

char *sass_operand_show(const Operand *operand) {
  static const char *const kinds[] = {
      [OPERAND_REGISTER] = "the register", [OPERAND_PREDICATE] = "the predicate", [OPERAND_INTEGER] = "the number",
      [OPERAND_REAL] = "the number",       [OPERAND_BANK] = "the constant",       [OPERAND_MEMORY] = "an address in",
      [OPERAND_NAME] = "the name",
  };
  g_autofree char *text = token_show(&operand->name);
  if (operand->kind == OPERAND_BANK)
    return g_strdup_printf("the constant `c[0x0][0x%x]`", (unsigned)operand->value);
  if (operand->kind == OPERAND_MEMORY)
    return g_strdup("an address in brackets");
  return g_strdup_printf("%s %s", kinds[operand->kind], text);
}
