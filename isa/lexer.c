#include "isa/lexer.h"

#include <math.h>
#include <string.h>

#include "base/quote.h"

enum { GARBAGE_MAX = 40, ADDRESS_DIGITS_MAX = 8, REAL_MAX = 63 };

void lexer_init(Lexer *lexer, const char *text, gsize length, bool addresses) {
  *lexer = (Lexer){.p = text, .end = text + length, .line = 1, .addresses = addresses, .fresh = true};
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    lexer->p += 3;
  lexer->line_start = lexer->p;
}

static char peek(const Lexer *lexer, gsize ahead) {
  return (gsize)(lexer->end - lexer->p) > ahead ? lexer->p[ahead] : '\0';
}

static bool starts_word(char c) { return g_ascii_isalpha(c) || c == '_' || c == '$' || c == '%'; }

static bool continues_word(char c) { return starts_word(c) || g_ascii_isdigit(c); }

static Token start(const Lexer *lexer, TokenKind kind) {
  return (Token){
      .kind = kind, .text = lexer->p, .line = lexer->line, .column = (unsigned)(lexer->p - lexer->line_start) + 1};
}

static Token finish(Lexer *lexer, Token token, gsize length) {
  token.length = (guint)length;
  lexer->p += length;
  return token;
}

static Token problem(Lexer *lexer, gsize length, const char *text) {
  Token token = start(lexer, TOK_ERROR);
  token.problem = text;
  return finish(lexer, token, length);
}

static void pass_newline(Lexer *lexer) {
  lexer->p++;
  lexer->line++;
  lexer->line_start = lexer->p;
}

/* The address in a comment's text, by digits alone: a prose comment such as "add" or "dead" must not become one. */
static bool parse_address(const char *text, const char *end, uint64_t *value) {
  while (text < end && g_ascii_isspace(*text))
    text++;
  while (end > text && g_ascii_isspace(end[-1]))
    end--;
  if (text == end || end - text > ADDRESS_DIGITS_MAX)
    return false;
  *value = 0;
  for (const char *p = text; p < end; p++) {
    if (!g_ascii_isxdigit(*p))
      return false;
    *value = *value << 4 | (uint64_t)g_ascii_xdigit_value(*p);
  }
  return g_ascii_isdigit(*text) || *value % 8 == 0;
}

/* Passes a block comment; true if `*token` has to be returned for it. */
static bool pass_comment(Lexer *lexer, Token *token) {
  Token opening = start(lexer, TOK_ERROR);
  for (lexer->p += 2; lexer->p < lexer->end;) {
    if (*lexer->p == '*' && peek(lexer, 1) == '/') {
      lexer->p += 2;
      opening.length = (guint)(lexer->p - opening.text);
      if (lexer->addresses && lexer->fresh && !lexer->newline &&
          parse_address(opening.text + 2, lexer->p - 2, &opening.value)) {
        opening.kind = TOK_ADDRESS;
        *token = opening;
        return true;
      }
      return false;
    }
    if (*lexer->p == '\n') {
      lexer->newline = true;
      pass_newline(lexer);
    } else {
      lexer->p++;
    }
  }
  /* Nothing closes it: what follows would only be noise. */
  opening.problem = "this comment has no end";
  opening.length = 2;
  *token = opening;
  return true;
}

/* Passes blanks and comments; true if `*token` has to be returned. */
static bool pass_blanks(Lexer *lexer, Token *token) {
  while (lexer->p < lexer->end) {
    char c = *lexer->p;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      lexer->p++;
    } else if (c == '/' && peek(lexer, 1) == '/') {
      const char *newline = memchr(lexer->p, '\n', (gsize)(lexer->end - lexer->p));
      lexer->p = newline ? newline : lexer->end;
    } else if (c == '/' && peek(lexer, 1) == '*') {
      if (pass_comment(lexer, token))
        return true;
    } else {
      break;
    }
  }
  return false;
}

static Token lex_word(Lexer *lexer) {
  gsize n = 1;
  for (;; n++) {
    char c = peek(lexer, n);
    if (!continues_word(c) && !(c == '.' && continues_word(peek(lexer, n + 1))))
      break;
  }
  if (n > LEXER_WORD_MAX)
    return problem(lexer, n, "this name is longer than 255 bytes");
  return finish(lexer, start(lexer, TOK_WORD), n);
}

static bool parse_integer(Token *token, const char *text, gsize n) {
  guint base = 10;
  gsize i = 0;
  if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    token->hex = true;
    base = 16;
    i = 2;
  }
  for (; i < n; i++) {
    int digit = base == 16 ? g_ascii_xdigit_value(text[i]) : g_ascii_digit_value(text[i]);
    if (digit < 0)
      return false;
    bool fits = token->value <= (UINT64_MAX - (uint64_t)digit) / base;
    token->value = fits ? token->value * base + (uint64_t)digit : UINT64_MAX;
  }
  return true;
}

static bool parse_real(Token *token, const char *text, gsize n) {
  char copy[REAL_MAX + 1];
  if (n > REAL_MAX)
    return false;
  memcpy(copy, text, n);
  copy[n] = '\0';
  char *stop;
  token->real = g_ascii_strtod(copy, &stop);
  token->kind = TOK_REAL;
  return *stop == '\0' && !strpbrk(copy, "xXpP") && isfinite(token->real);
}

/* A number is everything that could belong to one, so that `12ab` or `1.2.3` is one error and not two tokens. */
static Token lex_number(Lexer *lexer) {
  Token token = start(lexer, TOK_INTEGER);
  bool hex = peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X');
  gsize n = 1;
  for (;; n++) {
    char c = peek(lexer, n), last = peek(lexer, n - 1);
    bool exponent_sign = (c == '+' || c == '-') && !hex && (last == 'e' || last == 'E');
    if (!continues_word(c) && !exponent_sign && !(c == '.' && peek(lexer, n + 1) != '.'))
      break;
  }
  if (!parse_integer(&token, lexer->p, n) && !parse_real(&token, lexer->p, n))
    return problem(lexer, n, "this isn't a number");
  return finish(lexer, token, n);
}

static Token lex_other(Lexer *lexer) {
  char c = *lexer->p;
  if (c == '.' && peek(lexer, 1) == '.') {
    gsize n = 2;
    while (peek(lexer, n) == '.')
      n++;
    return finish(lexer, start(lexer, TOK_ELLIPSIS), n);
  }
  if (g_ascii_isgraph(c))
    return finish(lexer, start(lexer, TOK_PUNCT), 1);
  gsize n = 1;
  while (lexer->p + n < lexer->end && n < GARBAGE_MAX && !g_ascii_isgraph(lexer->p[n]) &&
         !g_ascii_isspace(lexer->p[n]))
    n++;
  return problem(lexer, n, "this byte has no place in a program text");
}

static Token lex(Lexer *lexer) {
  Token token;
  if (pass_blanks(lexer, &token))
    return token;
  if (lexer->newline) {
    lexer->newline = false;
    return finish(lexer, start(lexer, TOK_NEWLINE), 0);
  }
  if (lexer->p == lexer->end)
    return start(lexer, TOK_END);
  char c = *lexer->p, second = peek(lexer, 1);
  if (c == '\n') {
    token = start(lexer, TOK_NEWLINE);
    pass_newline(lexer);
    return token;
  }
  if (starts_word(c) || (c == '.' && starts_word(second)))
    return lex_word(lexer);
  if (g_ascii_isdigit(c) || (c == '.' && g_ascii_isdigit(second)))
    return lex_number(lexer);
  return lex_other(lexer);
}

Token lexer_next(Lexer *lexer) {
  Token token = lex(lexer);
  lexer->fresh = token.kind == TOK_NEWLINE || token_is(&token, ';') || token_is(&token, ':') ||
                 (lexer->fresh && token.kind == TOK_ADDRESS);
  return token;
}

char *lexer_rest_of_line(Lexer *lexer, unsigned *line, unsigned *column) {
  Token token;
  GString *rest = g_string_new(NULL);
  Lexer at_start = *lexer;
  bool stopped = pass_blanks(lexer, &token);
  if (stopped)
    *lexer = at_start;
  *line = lexer->line;
  *column = (unsigned)(lexer->p - lexer->line_start) + 1;
  while (!stopped && !lexer->newline && lexer->p < lexer->end && *lexer->p != '\n') {
    Lexer before = *lexer;
    stopped = pass_blanks(lexer, &token);
    if (stopped)
      *lexer = before; /* a comment without end: the next token tells */
    else if (lexer->p > before.p && !lexer->newline)
      for (const char *blank = before.p; blank < lexer->p; blank++)
        g_string_append_c(rest, ' ');
    else if (!lexer->newline)
      g_string_append_c(rest, *lexer->p++);
  }
  g_strchomp(rest->str);
  return g_string_free(rest, FALSE);
}

void lexer_skip_line(Lexer *lexer) {
  if (lexer->newline)
    return;
  const char *newline = memchr(lexer->p, '\n', (gsize)(lexer->end - lexer->p));
  lexer->p = newline ? newline : lexer->end;
}

bool token_is(const Token *token, char punct) { return token->kind == TOK_PUNCT && token->text[0] == punct; }

char *token_show(const Token *token) {
  if (token->kind == TOK_END)
    return g_strdup("the end of the file");
  if (token->kind == TOK_NEWLINE)
    return g_strdup("the end of the line");
  return quote_bytes(token->text, token->length);
}
