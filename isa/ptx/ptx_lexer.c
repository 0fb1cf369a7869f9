#include "isa/ptx/ptx_lexer.h"

#include <math.h>
#include <string.h>

#include "base/quote.h"

enum { GARBAGE_MAX = 40, REAL_MAX = 63, F32_DIGITS = 8, F64_DIGITS = 16 };

void ptx_lexer_init(PtxLexer *lexer, const char *text, gsize length) {
  *lexer = (PtxLexer){.text = text, .p = text, .end = text + length};
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    lexer->p += 3;
}

static char peek(const PtxLexer *lexer, gsize ahead) {
  return (gsize)(lexer->end - lexer->p) > ahead ? lexer->p[ahead] : '\0';
}

static bool starts_word(char c) { return g_ascii_isalpha(c) || c == '_' || c == '$' || c == '%'; }
static bool continues_word(char c) { return starts_word(c) || g_ascii_isdigit(c); }

static PtxToken finish(PtxLexer *lexer, PtxTokenKind kind, gsize length) {
  PtxToken token = {
      .kind = kind, .text = lexer->p, .at = (uint32_t)(lexer->p - lexer->text), .length = (uint32_t)length};
  lexer->p += length;
  return token;
}

static PtxToken fail(PtxLexer *lexer, gsize length, const char *problem) {
  PtxToken token = finish(lexer, PTX_TOK_ERROR, length);
  token.problem = problem;
  return token;
}

/* Passes blanks and comments; false at a comment that has no end. */
static bool pass_blanks(PtxLexer *lexer) {
  while (lexer->p < lexer->end) {
    if (g_ascii_isspace(*lexer->p) || *lexer->p == '\v') {
      lexer->p++;
    } else if (*lexer->p == '/' && peek(lexer, 1) == '/') {
      const char *newline = memchr(lexer->p, '\n', (gsize)(lexer->end - lexer->p));
      lexer->p = newline ? newline : lexer->end;
    } else if (*lexer->p == '/' && peek(lexer, 1) == '*') {
      const char *p = lexer->p + 2;
      while ((p = memchr(p, '*', (gsize)(lexer->end - p))) && !(p + 1 < lexer->end && p[1] == '/'))
        p++;
      if (!p)
        return false;
      lexer->p = p + 2;
    } else {
      break;
    }
  }
  return true;
}

static gsize word_length(const PtxLexer *lexer, bool dots) {
  gsize n = 1;
  for (;; n++) {
    char c = peek(lexer, n), next = peek(lexer, n + 1);
    if (c == ':' && next == ':' && continues_word(peek(lexer, n + 2)))
      n++;
    else if (!continues_word(c) && !(dots && c == '.' && continues_word(next)))
      return n;
  }
}

static PtxToken lex_word(PtxLexer *lexer, PtxTokenKind kind) {
  gsize n = word_length(lexer, kind == PTX_TOK_WORD);
  return n > PTX_WORD_MAX ? fail(lexer, n, "this name is longer than 1023 bytes") : finish(lexer, kind, n);
}

static bool parse_digits(const char *text, gsize n, unsigned base, uint64_t *value) {
  *value = 0;
  for (gsize i = 0; i < n; i++) {
    int digit = g_ascii_xdigit_value(text[i]);
    if (digit < 0 || (unsigned)digit >= base || *value > (UINT64_MAX - (unsigned)digit) / base)
      return false;
    *value = *value * base + (unsigned)digit;
  }
  return n > 0;
}

static bool parse_integer(const char *text, gsize n, uint64_t *value) {
  if (n > 1 && (text[n - 1] == 'U' || text[n - 1] == 'u'))
    n--;
  if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
    return parse_digits(text + 2, n - 2, 16, value);
  if (n > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
    return parse_digits(text + 2, n - 2, 2, value);
  return parse_digits(text, n, n > 1 && text[0] == '0' ? 8 : 10, value);
}

static bool parse_real(const char *text, gsize n, uint64_t *bits) {
  char copy[REAL_MAX + 1], *stop;
  if (n > REAL_MAX)
    return false;
  memcpy(copy, text, n);
  copy[n] = '\0';
  double real = g_ascii_strtod(copy, &stop);
  memcpy(bits, &real, sizeof real);
  return *stop == '\0' && strpbrk(copy, ".eE") && !strpbrk(copy, "xXpP") && isfinite(real);
}

/* A number is everything that could belong to one, so that `12ab` is one error and not two tokens. */
static PtxToken lex_number(PtxLexer *lexer) {
  bool exact = peek(lexer, 0) == '0' && strchr("xXfFdDbB", peek(lexer, 1)) && peek(lexer, 1);
  gsize n = 1;
  for (;; n++) {
    char c = peek(lexer, n), last = peek(lexer, n - 1);
    bool exponent_sign = (c == '+' || c == '-') && !exact && (last == 'e' || last == 'E');
    if (!continues_word(c) && !exponent_sign && !(c == '.' && !exact))
      break;
  }
  uint64_t value = 0;
  PtxTokenKind kind = PTX_TOK_ERROR;
  char letter = g_ascii_tolower(peek(lexer, 1));
  if (exact && letter == 'f' && n == 2 + F32_DIGITS && parse_digits(lexer->p + 2, F32_DIGITS, 16, &value))
    kind = PTX_TOK_F32;
  else if (exact && letter == 'd' && n == 2 + F64_DIGITS && parse_digits(lexer->p + 2, F64_DIGITS, 16, &value))
    kind = PTX_TOK_F64;
  else if (parse_integer(lexer->p, n, &value))
    kind = PTX_TOK_INTEGER;
  else if (!exact && parse_real(lexer->p, n, &value))
    kind = PTX_TOK_F64;
  if (kind == PTX_TOK_ERROR)
    return fail(lexer, n, "this isn't a number of at most 64 bits");
  PtxToken token = finish(lexer, kind, n);
  token.value = value;
  return token;
}

static PtxToken lex_string(PtxLexer *lexer) {
  for (gsize n = 1;; n++) {
    char c = peek(lexer, n);
    if (c == '"')
      return finish(lexer, PTX_TOK_STRING, n + 1);
    if (c == '\\' && lexer->p + n + 1 < lexer->end && peek(lexer, n + 1) != '\n')
      n++;
    else if (lexer->p + n >= lexer->end || c == '\n')
      return fail(lexer, n, "this string has no end");
  }
}

static PtxToken lex_other(PtxLexer *lexer) {
  if (g_ascii_isgraph(*lexer->p))
    return finish(lexer, PTX_TOK_PUNCT, 1);
  gsize n = 1;
  while (lexer->p + n < lexer->end && n < GARBAGE_MAX && !g_ascii_isgraph(lexer->p[n]) &&
         !g_ascii_isspace(lexer->p[n]))
    n++;
  return fail(lexer, n, "this byte has no place in a program text");
}

PtxToken ptx_lexer_next(PtxLexer *lexer) {
  if (!pass_blanks(lexer)) {
    PtxToken token = fail(lexer, 2, "this comment has no end");
    lexer->p = lexer->end; /* what follows would only be noise */
    return token;
  }
  if (lexer->p == lexer->end)
    return finish(lexer, PTX_TOK_END, 0);
  char c = *lexer->p, second = peek(lexer, 1);
  bool after_word = lexer->p > lexer->text && continues_word(lexer->p[-1]);
  if (starts_word(c))
    return lex_word(lexer, PTX_TOK_WORD);
  if (c == '.' && (starts_word(second) || (after_word && g_ascii_isdigit(second))))
    return lex_word(lexer, PTX_TOK_DIRECTIVE);
  if (g_ascii_isdigit(c) || (c == '.' && g_ascii_isdigit(second)))
    return lex_number(lexer);
  return c == '"' ? lex_string(lexer) : lex_other(lexer);
}

bool ptx_token_is(const PtxToken *token, char punct) {
  return token->kind == PTX_TOK_PUNCT && token->text[0] == punct;
}

bool ptx_token_equals(const PtxToken *token, const char *word) {
  return (token->kind == PTX_TOK_WORD || token->kind == PTX_TOK_DIRECTIVE) && strlen(word) == token->length &&
         memcmp(token->text, word, token->length) == 0;
}

char *ptx_token_show(const PtxToken *token) {
  if (token->kind == PTX_TOK_END)
    return g_strdup("the end of the file");
  return quote_bytes(token->text, token->length);
}
