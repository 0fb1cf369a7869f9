#include "sim/scenario/expr.h"

#include <string.h>

#include "base/quote.h"

/* Deep enough for any expression a person writes, shallow enough that hostile text can't exhaust the stack. */
enum { DEPTH_MAX = 64, LENGTH_MAX = 4096 };

typedef struct Parser {
  const char *text;
  const char *at;
  const ExprScope *scope;
  const char *file;
  unsigned line, column;
  unsigned depth;
  Diag *diag;
} Parser;

static bool sum(Parser *parser, int64_t *value);

static unsigned column_of(const Parser *parser, const char *at) {
  return parser->column ? parser->column + (unsigned)(at - parser->text) : 0;
}

static bool fail(Parser *parser, const char *at, const char *message) {
  g_autofree char *quoted = quote_text(parser->text);
  return diag_error(parser->diag, parser->file, parser->line, column_of(parser, at), "%s in %s", message, quoted);
}

static void skip_space(Parser *parser) {
  while (g_ascii_isspace(*parser->at))
    parser->at++;
}

static bool accept(Parser *parser, char c) {
  skip_space(parser);
  if (*parser->at != c)
    return false;
  parser->at++;
  return true;
}

static bool is_name_start(char c) { return g_ascii_isalpha(c) || c == '_'; }
static bool is_name_part(char c) { return g_ascii_isalnum(c) || c == '_'; }

/* "expected X, found Y" at the current character. */
static bool unexpected(Parser *parser, const char *expected) {
  skip_space(parser);
  g_autofree char *all = quote_text(parser->text);
  unsigned column = column_of(parser, parser->at);
  if (!*parser->at)
    return diag_error(parser->diag, parser->file, parser->line, column, "expected %s at the end of %s", expected,
                      all);
  const char *next = parser->at + 1;
  while ((*next & 0xc0) == 0x80) /* the rest of a UTF-8 character */
    next++;
  g_autofree char *character = g_strndup(parser->at, (gsize)(next - parser->at));
  g_autofree char *found = quote_text(character);
  return diag_error(parser->diag, parser->file, parser->line, column, "expected %s, found %s in %s", expected, found,
                    all);
}

static bool number(Parser *parser, int64_t *value) {
  const char *start = parser->at;
  unsigned base = 10;
  if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X')) {
    base = 16;
    parser->at += 2;
  }
  const char *digits = parser->at;
  int64_t total = 0;
  for (; base == 16 ? g_ascii_isxdigit(*parser->at) : g_ascii_isdigit(*parser->at); parser->at++)
    if (__builtin_mul_overflow(total, (int64_t)base, &total) ||
        __builtin_add_overflow(total, (int64_t)g_ascii_xdigit_value(*parser->at), &total))
      return fail(parser, start, "number above 64 bits");
  if (parser->at == digits)
    return unexpected(parser, "a hexadecimal digit");
  if (is_name_part(*parser->at))
    return fail(parser, parser->at, "a number with a suffix");
  if (*parser->at == '.')
    return fail(parser, parser->at, "expected a whole number");
  *value = total;
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
  return accept(parser, ')') || unexpected(parser, "`,` or `)`");
}

static bool name(Parser *parser, int64_t *value) {
  const char *start = parser->at;
  while (is_name_part(*parser->at))
    parser->at++;
  g_autofree char *text = g_strndup(start, (gsize)(parser->at - start));
  if (accept(parser, '(')) {
    if (strcmp(text, "min") == 0 || strcmp(text, "max") == 0)
      return extreme(parser, strcmp(text, "max") == 0, value);
    g_autofree char *quoted = quote_text(text);
    diag_error(parser->diag, parser->file, parser->line, column_of(parser, start), "unknown function %s", quoted);
    diag_hint(parser->diag, "the functions are min and max");
    return false;
  }
  if (parser->scope && parser->scope->lookup && parser->scope->lookup(text, value, parser->scope->user))
    return true;
  g_autofree char *quoted = quote_text(text);
  diag_error(parser->diag, parser->file, parser->line, column_of(parser, start), "unknown name %s", quoted);
  if (parser->scope && parser->scope->names)
    diag_hint_nearest(parser->diag, text, parser->scope->names);
  return false;
}

static bool primary(Parser *parser, int64_t *value) {
  skip_space(parser);
  if (g_ascii_isdigit(*parser->at))
    return number(parser, value);
  if (is_name_start(*parser->at))
    return name(parser, value);
  if (accept(parser, '('))
    return sum(parser, value) && (accept(parser, ')') || unexpected(parser, "`)`"));
  return unexpected(parser, "a number, a name or `(`");
}

static bool unary(Parser *parser, int64_t *value) {
  bool negative = false;
  const char *start = parser->at;
  for (skip_space(parser); *parser->at == '-' || *parser->at == '+'; skip_space(parser))
    negative ^= *parser->at++ == '-';
  if (!primary(parser, value))
    return false;
  if (negative && __builtin_sub_overflow((int64_t)0, *value, value))
    return fail(parser, start, "overflow of 64 bits");
  return true;
}

static bool combine(Parser *parser, const char *at, char op, int64_t right, int64_t *value) {
  bool overflow;
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
  for (skip_space(parser); *parser->at && strchr(operators, *parser->at); skip_space(parser)) {
    const char *at = parser->at++;
    int64_t right;
    if (!operand(parser, &right) || !combine(parser, at, *at, right, value))
      return false;
  }
  return true;
}

static bool product(Parser *parser, int64_t *value) { return chain(parser, "*/%", unary, value); }

static bool sum(Parser *parser, int64_t *value) {
  if (parser->depth >= DEPTH_MAX)
    return diag_error(parser->diag, parser->file, parser->line, column_of(parser, parser->at),
                      "expression nested more than %d deep", DEPTH_MAX);
  parser->depth++;
  bool good = chain(parser, "+-", product, value);
  parser->depth--;
  return good;
}

bool expr_evaluate(const char *text, const ExprScope *scope, const char *file, unsigned line, unsigned column,
                   int64_t *value, Diag *diag) {
  Parser parser = {
      .text = text, .at = text, .scope = scope, .file = file, .line = line, .column = column, .diag = diag};
  if (strlen(text) > LENGTH_MAX)
    return diag_error(diag, file, line, column, "expression of %zu characters, at most %d", strlen(text), LENGTH_MAX);
  if (!sum(&parser, value))
    return false;
  skip_space(&parser);
  return *parser.at ? unexpected(&parser, "an operator or the end") : true;
}

bool expr_is_name(const char *text) {
  if (!is_name_start(*text))
    return false;
  while (is_name_part(*text))
    text++;
  return !*text;
}
