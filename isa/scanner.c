#include "isa/scanner.h"

#include <math.h>
#include <string.h>

#include "base/quote.h"

enum { GARBAGE_MAX = 40, ADDRESS_DIGITS_MAX = 8, REAL_MAX = 63, F32_DIGITS = 8, F64_DIGITS = 16 };

static const char byte_order_mark[] = "\xef\xbb\xbf";
enum { MARK_BYTES = sizeof byte_order_mark - 1 };

static gsize mark_bytes(const char *text, gsize length) {
  return length >= MARK_BYTES && memcmp(text, byte_order_mark, MARK_BYTES) == 0 ? MARK_BYTES : 0;
}

void scanner_init(Scanner *scanner, const TokenRules *rules, const char *text, gsize length) {
  *scanner = (Scanner){
      .rules = rules, .text = text, .p = text + mark_bytes(text, length), .end = text + length, .fresh = true};
}

/* -- characters -- */

static char peek(const Scanner *scanner, gsize ahead) {
  return (gsize)(scanner->end - scanner->p) > ahead ? scanner->p[ahead] : '\0';
}

static bool is_mark(const Scanner *scanner, char c) {
  return c == '_' || ((c == '$' || c == '%') && scanner->rules->marked_words);
}

static bool starts_word(const Scanner *scanner, char c) { return g_ascii_isalpha(c) || is_mark(scanner, c); }

static bool continues_word(const Scanner *scanner, char c) { return g_ascii_isalnum(c) || is_mark(scanner, c); }

static bool is_blank(const Scanner *scanner, char c) {
  return c <= ' ' && (c == ' ' || (c >= '\t' && c <= '\r' && (c != '\n' || !scanner->rules->lines)));
}

static Token finish(Scanner *scanner, TokenKind kind, gsize length) {
  Token token = {
      .kind = kind, .text = scanner->p, .at = (uint32_t)(scanner->p - scanner->text), .length = (uint32_t)length};
  scanner->p += length;
  return token;
}

static Token fail(Scanner *scanner, gsize length, const char *problem) {
  Token token = finish(scanner, TOK_ERROR, length);
  token.problem = problem;
  return token;
}

/* -- blanks and comments -- */

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

static void pass_line_comment(Scanner *scanner) {
  const char *newline = memchr(scanner->p, '\n', (gsize)(scanner->end - scanner->p));
  scanner->p = newline ? newline : scanner->end;
}

/* Passes a block comment; true if `*token` has to be returned for it. */
static bool pass_comment(Scanner *scanner, Token *token) {
  const char *text = scanner->p + 2, *p = text;
  while ((p = memchr(p, '*', (gsize)(scanner->end - p))) && !(p + 1 < scanner->end && p[1] == '/'))
    p++;
  if (!p) {
    *token = fail(scanner, 2, "this comment has no end");
    scanner_stop(scanner); /* what follows would only be noise */
    return true;
  }
  uint64_t address;
  bool newline = scanner->rules->lines && memchr(text, '\n', (gsize)(p - text));
  scanner->newline |= newline;
  if (scanner->rules->addresses && scanner->fresh && !scanner->newline && parse_address(text, p, &address)) {
    *token = finish(scanner, TOK_ADDRESS, (gsize)(p + 2 - scanner->p));
    token->value = address;
    return true;
  }
  scanner->p = p + 2;
  return false;
}

/* Passes blanks and comments; true if `*token` has to be returned. */
static bool pass_blanks(Scanner *scanner, Token *token) {
  for (;;) {
    while (scanner->p < scanner->end && is_blank(scanner, *scanner->p))
      scanner->p++;
    if (scanner->p == scanner->end || *scanner->p != '/' || !scanner->rules->comments)
      return false;
    char second = peek(scanner, 1);
    if (second == '/')
      pass_line_comment(scanner);
    else if (second != '*')
      return false;
    else if (pass_comment(scanner, token))
      return true;
  }
}

/* -- words -- */

static gsize word_length(const Scanner *scanner, bool dots) {
  gsize n = 1, rest = (gsize)(scanner->end - scanner->p);
  for (;; n++) {
    while (n < rest && continues_word(scanner, scanner->p[n]))
      n++;
    bool dot = dots && peek(scanner, n) == '.' && continues_word(scanner, peek(scanner, n + 1));
    bool scope = scanner->rules->scoped_words && peek(scanner, n) == ':' && peek(scanner, n + 1) == ':' &&
                 continues_word(scanner, peek(scanner, n + 2));
    if (!dot && !scope)
      return n;
    n += scope;
  }
}

static Token scan_word(Scanner *scanner, TokenKind kind) {
  const TokenRules *rules = scanner->rules;
  gsize n = word_length(scanner, rules->dotted_words && kind == TOK_WORD);
  return n > rules->word_max ? fail(scanner, n, rules->no_word) : finish(scanner, kind, n);
}

/* -- numbers -- */

/* The digits as a number; *fits is false, and the value UINT64_MAX, above 64 bits. */
static bool parse_digits(const char *text, gsize n, unsigned base, uint64_t *value, bool *fits) {
  *value = 0;
  *fits = true;
  for (gsize i = 0; i < n; i++) {
    int digit = g_ascii_xdigit_value(text[i]);
    if (digit < 0 || (unsigned)digit >= base)
      return false;
    *fits = *fits && *value <= (UINT64_MAX - (unsigned)digit) / base;
    *value = *fits ? *value * base + (unsigned)digit : UINT64_MAX;
  }
  return n > 0;
}

static bool has_prefix(const char *text, gsize n, char letter) {
  return n > 2 && text[0] == '0' && g_ascii_tolower(text[1]) == letter;
}

static bool parse_integer(Token *token, bool coded) {
  const char *text = token->text;
  gsize n = token->length;
  unsigned base = 10;
  bool fits;
  if (coded && n > 1 && g_ascii_tolower(text[n - 1]) == 'u')
    n--;
  if (has_prefix(text, n, 'x'))
    base = 16;
  else if (coded && has_prefix(text, n, 'b'))
    base = 2;
  else if (coded && n > 1 && text[0] == '0')
    base = 8;
  token->kind = TOK_INTEGER;
  token->hex = base == 16;
  gsize prefix = base == 16 || base == 2 ? 2 : 0;
  return parse_digits(text + prefix, n - prefix, base, &token->value, &fits) && (fits || !coded);
}

/* `0f3F800000`, `0d3FF0000000000000`. */
static bool parse_bits(Token *token) {
  bool fits;
  bool single = has_prefix(token->text, token->length, 'f') && token->length == 2 + F32_DIGITS;
  if (!single && !(has_prefix(token->text, token->length, 'd') && token->length == 2 + F64_DIGITS))
    return false;
  token->kind = single ? TOK_F32 : TOK_REAL;
  return parse_digits(token->text + 2, token->length - 2, 16, &token->value, &fits);
}

static bool parse_real(Token *token) {
  char copy[REAL_MAX + 1], *stop;
  if (token->length > REAL_MAX)
    return false;
  memcpy(copy, token->text, token->length);
  copy[token->length] = '\0';
  token->kind = TOK_REAL;
  token->real = g_ascii_strtod(copy, &stop);
  return *stop == '\0' && strpbrk(copy, ".eE") && !strpbrk(copy, "xXpP") && isfinite(token->real);
}

/* A number is everything that could belong to one, so that `12ab` or `1.2.3` is one error and not two tokens. */
static gsize number_length(const Scanner *scanner) {
  char second = peek(scanner, 1);
  bool coded = peek(scanner, 0) == '0' && second && strchr("xXfFdDbB", second);
  gsize n = 1;
  for (;; n++) {
    char c = peek(scanner, n), last = peek(scanner, n - 1);
    bool sign = (c == '+' || c == '-') && (last == 'e' || last == 'E');
    bool dot = c == '.' && peek(scanner, n + 1) != '.';
    if (!continues_word(scanner, c) && !dot && (coded || !sign))
      return n;
  }
}

static Token scan_number(Scanner *scanner) {
  const TokenRules *rules = scanner->rules;
  const char *start = scanner->p;
  Token token = finish(scanner, TOK_INTEGER, number_length(scanner));
  bool coded = rules->coded_numbers;
  if ((coded && parse_bits(&token)) || parse_integer(&token, coded) || parse_real(&token))
    return token;
  scanner->p = start;
  return fail(scanner, token.length, rules->no_number);
}

/* -- the rest -- */

static Token scan_string(Scanner *scanner) {
  for (gsize n = 1;; n++) {
    char c = peek(scanner, n);
    if (c == '"')
      return finish(scanner, TOK_STRING, n + 1);
    if (c == '\\' && scanner->p + n + 1 < scanner->end && peek(scanner, n + 1) != '\n')
      n++;
    else if (scanner->p + n >= scanner->end || c == '\n')
      return fail(scanner, n, "this string has no end");
  }
}

static Token scan_other(Scanner *scanner) {
  gsize n = 1;
  if (*scanner->p == '.' && peek(scanner, 1) == '.') {
    while (peek(scanner, n) == '.')
      n++;
    return finish(scanner, TOK_ELLIPSIS, n);
  }
  if (g_ascii_isgraph(*scanner->p))
    return finish(scanner, TOK_PUNCT, 1);
  while (scanner->p + n < scanner->end && n < GARBAGE_MAX && !g_ascii_isgraph(scanner->p[n]) &&
         !g_ascii_isspace(scanner->p[n]))
    n++;
  return fail(scanner, n, "this byte has no place in a program text");
}

/* What begins with a dot that a word or a number may follow. */
static Token scan_dot(Scanner *scanner) {
  const TokenRules *rules = scanner->rules;
  char second = peek(scanner, 1);
  bool after_word = scanner->p > scanner->text && continues_word(scanner, scanner->p[-1]);
  if (rules->directives && (starts_word(scanner, second) || (after_word && g_ascii_isdigit(second))))
    return scan_word(scanner, TOK_DIRECTIVE);
  if (rules->dotted_words && starts_word(scanner, second))
    return scan_word(scanner, TOK_WORD);
  return g_ascii_isdigit(second) ? scan_number(scanner) : scan_other(scanner);
}

static Token scan(Scanner *scanner) {
  Token token;
  bool blank = scanner->p < scanner->end && (*scanner->p <= ' ' || *scanner->p == '/');
  if (blank && pass_blanks(scanner, &token))
    return token;
  if (scanner->newline) {
    scanner->newline = false;
    return finish(scanner, TOK_NEWLINE, 0);
  }
  if (scanner->p == scanner->end)
    return finish(scanner, TOK_END, 0);
  char c = *scanner->p;
  if (starts_word(scanner, c))
    return scan_word(scanner, TOK_WORD);
  if (g_ascii_isdigit(c))
    return scan_number(scanner);
  if (c == '.')
    return scan_dot(scanner);
  if (c == '\n')
    return finish(scanner, TOK_NEWLINE, 1);
  return c == '"' && scanner->rules->strings ? scan_string(scanner) : scan_other(scanner);
}

Token scanner_next(Scanner *scanner) {
  if (!scanner->rules->addresses)
    return scan(scanner);
  Token token = scan(scanner);
  scanner->fresh = token.kind == TOK_NEWLINE || token_is(&token, ';') || token_is(&token, ':') ||
                   (scanner->fresh && token.kind == TOK_ADDRESS);
  return token;
}

Token scanner_token_at(const Scanner *scanner, uint32_t at) {
  Scanner there = *scanner;
  there.p = there.text + at;
  there.newline = false;
  return scan(&there);
}

void scanner_skip_line(Scanner *scanner) {
  if (!scanner->newline)
    pass_line_comment(scanner);
}

void scanner_stop(Scanner *scanner) { scanner->p = scanner->end; }

char *scanner_rest_of_line(Scanner *scanner, uint32_t *at) {
  Token token;
  GString *rest = g_string_new(NULL);
  Scanner at_start = *scanner;
  bool stopped = pass_blanks(scanner, &token);
  if (stopped)
    *scanner = at_start;
  *at = (uint32_t)(scanner->p - scanner->text);
  while (!stopped && !scanner->newline && scanner->p < scanner->end && *scanner->p != '\n') {
    Scanner before = *scanner;
    stopped = pass_blanks(scanner, &token);
    if (stopped)
      *scanner = before; /* a comment without end: the next token tells */
    else if (scanner->p > before.p && !scanner->newline)
      for (const char *blank = before.p; blank < scanner->p; blank++)
        g_string_append_c(rest, ' ');
    else if (!scanner->newline)
      g_string_append_c(rest, *scanner->p++);
  }
  g_strchomp(rest->str);
  return g_string_free(rest, FALSE);
}

/* -- places -- */

bool scanner_find_lines(GArray *starts, const char *text, gsize length) {
  uint32_t start = (uint32_t)mark_bytes(text, length);
  const char *p = text;
  g_array_append_val(starts, start);
  while ((p = memchr(p, '\n', (gsize)(text + length - p)))) {
    start = (uint32_t)(++p - text);
    if (starts->len == SCANNER_LINES_MAX)
      return false;
    g_array_append_val(starts, start);
  }
  return true;
}

void scanner_place(const GArray *starts, uint32_t at, unsigned *line, unsigned *column) {
  guint low = 0, high = starts->len;
  while (high - low > 1) {
    guint middle = low + (high - low) / 2;
    if (g_array_index(starts, uint32_t, middle) <= at)
      low = middle;
    else
      high = middle;
  }
  *line = low + 1;
  *column = at - (high ? MIN(g_array_index(starts, uint32_t, low), at) : 0) + 1;
}

/* -- tokens -- */

bool token_equals(const Token *token, const char *word) {
  return (token->kind == TOK_WORD || token->kind == TOK_DIRECTIVE) && strlen(word) == token->length &&
         memcmp(token->text, word, token->length) == 0;
}

Token token_tail(const Token *token, gsize bytes) {
  Token tail = *token;
  tail.text += bytes;
  tail.at += (uint32_t)bytes;
  tail.length -= (uint32_t)bytes;
  return tail;
}

char *token_show(const Token *token) {
  if (token->kind == TOK_END)
    return g_strdup("the end of the file");
  if (token->kind == TOK_NEWLINE)
    return g_strdup("the end of the line");
  return quote_bytes(token->text, token->length);
}
