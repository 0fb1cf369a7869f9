/* scanner.h - text to tokens, for every language that is read here: SASS listings, PTX, expressions of scenarios.
 *
 * What differs between them is a TokenRules, a table that each front end has of its own. The scanner works on any
 * bytes: what isn't a token comes back as TOK_ERROR with a reason, and the next call goes on behind it. A place is a
 * byte offset; scanner_place() makes a line and a column of it, which count bytes from 1.
 * GLib's GScanner isn't used. It tells where a token ends but not where it begins, counts a tab as up to eight
 * columns, and allocates each word. Its words can't have dots only where a letter follows, nor can `0f3F800000` be a
 * number.
 * Ownership: tokens point into the text, which the caller keeps. */
#ifndef LOCKSTEP_ISA_SCANNER_H
#define LOCKSTEP_ISA_SCANNER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { SCANNER_LINES_MAX = 1 << 21 };

typedef enum {
  TOK_END,
  TOK_NEWLINE,
  TOK_WORD,      /* a name, or a mnemonic or register with its dots: `%r1`, `ISETP.EQ.U32.AND`, `R2.CC`, `%tid.x` */
  TOK_DIRECTIVE, /* one dot and a word: `.reg`, `.b32` */
  TOK_INTEGER,   /* value */
  TOK_F32,       /* value: the bits of `0f3F800000` */
  TOK_REAL,      /* real, and its bits in value: `0d3FF0000000000000`, or a decimal float */
  TOK_STRING,    /* with its quotes */
  TOK_PUNCT,     /* one character: text[0] */
  TOK_ELLIPSIS,  /* two or more dots */
  TOK_ADDRESS,   /* the comment of hexadecimal digits before an instruction, cuobjdump's address: value */
  TOK_ERROR      /* problem */
} TokenKind;

typedef struct Token {
  TokenKind kind;
  uint32_t at, length;
  bool hex; /* INTEGER: it was written as `0x...` */
  const char *text;
  union {
    uint64_t value;
    double real;
  };
  const char *problem; /* static */
} Token;

typedef struct TokenRules {
  bool lines;                      /* the end of a line is a token */
  bool comments;                   /* as in C; else `/` is nothing but a character */
  bool addresses;                  /* report TOK_ADDRESS; otherwise such a comment is a comment */
  bool marked_words;               /* `$` and `%` are letters */
  bool dotted_words;               /* dots may stand inside a word, and before one */
  bool directives;                 /* with a dot before it, a word is a TOK_DIRECTIVE, and the next dot ends it */
  bool scoped_words;               /* `a::b` is one word */
  bool strings;                    /* in double quotes, with escapes */
  bool coded_numbers;              /* `0b101`, octal `017`, `1U`, `0f...`, `0d...`; above 64 bits is an error */
  uint32_t word_max;               /* bytes */
  const char *no_word, *no_number; /* the problem of a word above word_max, and of what only begins as a number */
} TokenRules;

/* Without coded_numbers, an integer above 64 bits has the value UINT64_MAX. */
typedef struct Scanner {
  const TokenRules *rules;
  const char *text, *p, *end;
  bool fresh;   /* nothing but addresses and labels since the start of the line or the last `;` */
  bool newline; /* a line's end passed inside a comment */
} Scanner;

/* `length` is below 4 GiB. A byte order mark is passed over. */
void scanner_init(Scanner *scanner, const TokenRules *rules, const char *text, gsize length);
Token scanner_next(Scanner *scanner);
/* The token that starts at byte `at`; the scanner stays where it is. */
Token scanner_token_at(const Scanner *scanner, uint32_t at);
/* Goes to the end of the line: the next token is TOK_NEWLINE or TOK_END. */
void scanner_skip_line(Scanner *scanner);
/* Goes to the end of the text. */
void scanner_stop(Scanner *scanner);
/* The rest of the line without outer white space, newly allocated; the place of its first byte (of the line's end if
 * it is empty) in *at. A comment in it becomes as many spaces: byte i stands at *at + i. The next token is
 * TOK_NEWLINE or TOK_END, or the error of a comment without end. */
char *scanner_rest_of_line(Scanner *scanner, uint32_t *at);

/* Where each line starts, as uint32_t, into `starts`. False if there are more than SCANNER_LINES_MAX. */
bool scanner_find_lines(GArray *starts, const char *text, gsize length);
void scanner_place(const GArray *starts, uint32_t at, unsigned *line, unsigned *column);

static inline bool token_is(const Token *token, char punct) {
  return token->kind == TOK_PUNCT && token->text[0] == punct;
}
/* True if the token is exactly that word or directive. */
bool token_equals(const Token *token, const char *word);
/* The token without its first `bytes`, for a message about the rest. */
Token token_tail(const Token *token, gsize bytes);
/* The token for a message: its text as quote_bytes() has it, or "the end of the line", "the end of the file". Free
 * with g_free. */
char *token_show(const Token *token);

#endif
