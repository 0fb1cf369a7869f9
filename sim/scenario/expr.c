#include "sim/scenario/expr.h"

#include <string.h>

#include "base/quote.h"
#include "isa/scanner.h"

/* Deep enough for any expression a person writes, shallow enough that hostile text can't exhaust the stack. */
enum { DEPTH_MAX = 64, LENGTH_MAX = 4096 };

static const TokenRules token_rules = {.word_max = LENGTH_MAX};

typedef struct Parser {
  const char *text;
  Scanner scanner;
  Token token; /* the current one */
  const ExprScope *scope;
  const char *file;
  unsigned line, column;
  unsigned depth;
  Diag *diag;
} Parser;

static bool sum(Parser *parser, int64_t *value);

static void advance(Parser *parser) { parser->token = scanner_next(&parser->scanner); }

static unsigned column_of(const Parser *parser, const Token *token) {
  return parser->column ? parser->column + token->at : 0;
}

static bool fail(Parser *parser, const Token *at, const char *message) {
  g_autofree char *quoted = quote_text(parser->text);
  return diag_error(parser->diag, parser->file, parser->line, column_of(parser, at), "%s in %s", message, quoted);
}

static bool accept(Parser *parser, char c) {
  if (!token_is(&parser->token, c))
    return false;
  advance(parser);
  return true;
}

/* "expected X, found Y" at `found`. */
static bool unexpected(Parser *parser, const Token *found, const char *expected) {
  g_autofree char *all = quote_text(parser->text);
  unsigned column = column_of(parser, found);
  if (found->kind == TOK_END)
    return diag_error(parser->diag, parser->file, parser->line, column, "expected %s at the end of %s", expected,
                      all);
  g_autofree char *shown = token_show(found);
  return diag_error(parser->diag, parser->file, parser->line, column, "expected %s, found %s in %s", expected, shown,
                    all);
}

/* A unit of memory behind a number: says how the same is written without it. */
static void hint_unit(Parser *parser, const Token *unit) {
  static const char *const units[] = {"k", "m", "g"}, *const factors[] = {"1024", "1024 * 1024",
                                                                          "1024 * 1024 * 1024"};
  g_autofree char *text = g_ascii_strdown(unit->text, (gssize)unit->length);
  size_t end = unit->at, first;
  while (end > 0 && parser->text[end - 1] == ' ')
    end--;
  for (first = end; first > 0 && g_ascii_isdigit(parser->text[first - 1]);)
    first--;
  for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
    const char *rest = g_str_has_prefix(text, units[i]) ? text + 1 : "no";
    if (first < end && (strcmp(rest, "") == 0 || strcmp(rest, "b") == 0 || strcmp(rest, "ib") == 0))
      diag_hint(parser->diag, "numbers have no units here: %.*s * %s", (int)(end - first), parser->text + first,
                factors[i]);
  }
}

/* What keeps a token that begins as a number from being a whole one. */
static bool bad_number(Parser *parser, const Token *token) {
  bool hex = g_ascii_strncasecmp(token->text, "0x", 2) == 0;
  gsize digits = hex ? 2 + strspn(token->text + 2, G_CSET_DIGITS "abcdefABCDEF") : strspn(token->text, G_CSET_DIGITS);
  Token rest = token_tail(token, digits);
  if (hex && digits == 2)
    return unexpected(parser, rest.length ? &rest : &(Token){.kind = TOK_END, .at = rest.at}, "a hexadecimal digit");
  if (*rest.text == '.')
    return fail(parser, &rest, "expected a whole number");
  unexpected(parser, &rest, "a number without a suffix");
  hint_unit(parser, &rest);
  return false;
}

static bool number(Parser *parser, int64_t *value) {
  Token token = parser->token;
  if (token.kind != TOK_INTEGER)
    return bad_number(parser, &token);
  if (token.value > INT64_MAX)
    return fail(parser, &token, "number above 64 bits");
  *value = (int64_t)token.value;
  advance(parser);
  return true;
}

/* The arguments of min or max, after the opening parenthesis. */
static bool extreme(Parser *parser, bool largest, int64_t *value) {
  if (!sum(parser, value))
    return false;
  while (accept(parser, ',')) {
    int64_t other;
    if (!sum(parser, &other))
      return false;
    *value = largest ? MAX(*value, other) : MIN(*value, other);
  }
  return accept(parser, ')') || unexpected(parser, &parser->token, "`,` or `)`");
}

/* A hint for who takes a number for a truth value. True if there is one. */
static bool hint_truth(Parser *parser, const char *text) {
  static const char *const yes[] = {"yes", "true", "on", NULL}, *const no[] = {"no", "false", "off", NULL};
  g_autofree char *lower = g_ascii_strdown(text, -1);
  bool is_yes = g_strv_contains(yes, lower), is_truth = is_yes || g_strv_contains(no, lower);
  if (is_truth)
    diag_hint(parser->diag, "values are whole numbers: %d for %s", is_yes, text);
  return is_truth;
}

static bool name(Parser *parser, int64_t *value) {
  Token token = parser->token;
  g_autofree char *text = g_strndup(token.text, token.length);
  advance(parser);
  if (accept(parser, '(')) {
    if (strcmp(text, "min") == 0 || strcmp(text, "max") == 0)
      return extreme(parser, strcmp(text, "max") == 0, value);
    g_autofree char *quoted = quote_text(text);
    diag_error(parser->diag, parser->file, parser->line, column_of(parser, &token), "unknown function %s", quoted);
    diag_hint(parser->diag, "the functions are min and max");
    return false;
  }
  if (parser->scope && parser->scope->lookup && parser->scope->lookup(text, value, parser->scope->user))
    return true;
  g_autofree char *quoted = quote_text(text);
  diag_error(parser->diag, parser->file, parser->line, column_of(parser, &token), "unknown name %s", quoted);
  if (!hint_truth(parser, text) && parser->scope && parser->scope->names)
    diag_hint_nearest(parser->diag, text, parser->scope->names);
  return false;
}

static bool primary(Parser *parser, int64_t *value) {
  const Token *token = &parser->token;
  if (token->length > 0 && g_ascii_isdigit(*token->text))
    return number(parser, value);
  if (token->kind == TOK_WORD)
    return name(parser, value);
  if (accept(parser, '('))
    return sum(parser, value) && (accept(parser, ')') || unexpected(parser, &parser->token, "`)`"));
  return unexpected(parser, token, "a number, a name or `(`");
}

static bool unary(Parser *parser, int64_t *value) {
  bool negative = false;
  Token start = parser->token;
  for (; token_is(&parser->token, '-') || token_is(&parser->token, '+'); advance(parser))
    negative ^= token_is(&parser->token, '-');
  if (!primary(parser, value))
    return false;
  if (negative && __builtin_sub_overflow((int64_t)0, *value, value))
    return fail(parser, &start, "overflow of 64 bits");
  return true;
}

static bool combine(Parser *parser, const Token *at, int64_t right, int64_t *value) {
  bool overflow;
  char op = *at->text;
  if ((op == '/' || op == '%') && right == 0)
    return fail(parser, at, "division by zero");
  switch (op) {
  case '+': overflow = __builtin_add_overflow(*value, right, value); break;
  case '-': overflow = __builtin_sub_overflow(*value, right, value); break;
  case '*': overflow = __builtin_mul_overflow(*value, right, value); break;
  default:
    overflow = *value == INT64_MIN && right == -1;
    if (!overflow)
      *value = op == '/' ? *value / right : *value % right;
  }
  return overflow ? fail(parser, at, "overflow of 64 bits") : true;
}

/* A chain of left-associative operators, one of `operators`, over `operand`. */
static bool chain(Parser *parser, const char *operators, bool (*operand)(Parser *, int64_t *), int64_t *value) {
  if (!operand(parser, value))
    return false;
  while (parser->token.kind == TOK_PUNCT && strchr(operators, *parser->token.text)) {
    Token at = parser->token;
    int64_t right;
    advance(parser);
    if (!operand(parser, &right) || !combine(parser, &at, right, value))
      return false;
  }
  return true;
}

static bool product(Parser *parser, int64_t *value) { return chain(parser, "*/%", unary, value); }

static bool sum(Parser *parser, int64_t *value) {
  if (parser->depth >= DEPTH_MAX)
    return diag_error(parser->diag, parser->file, parser->line, column_of(parser, &parser->token),
                      "expression nested more than %d deep", DEPTH_MAX);
  parser->depth++;
  bool good = chain(parser, "+-", product, value);
  parser->depth--;
  return good;
}

bool expr_evaluate(const char *text, const ExprScope *scope, const char *file, unsigned line, unsigned column,
                   int64_t *value, Diag *diag) {
  Parser parser = {.text = text, .scope = scope, .file = file, .line = line, .column = column, .diag = diag};
  gsize length = strlen(text);
  if (length > LENGTH_MAX)
    return diag_error(diag, file, line, column, "expression of %zu characters, at most %d", length, LENGTH_MAX);
  scanner_init(&parser.scanner, &token_rules, text, length);
  advance(&parser);
  if (!sum(&parser, value))
    return false;
  if (parser.token.kind == TOK_END)
    return true;
  unexpected(&parser, &parser.token, "an operator or the end");
  hint_unit(&parser, &parser.token);
  return false;
}

bool expr_is_name(const char *text) {
  Scanner scanner;
  gsize length = MIN(strlen(text), LENGTH_MAX + 1);
  scanner_init(&scanner, &token_rules, text, length);
  Token token = scanner_next(&scanner);
  return token.kind == TOK_WORD && token.length == length && !text[length];
}
