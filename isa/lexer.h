/* lexer.h - the tokens that the front ends share, each with its place.
 *
 * Works on any bytes: what isn't a token comes back as TOK_ERROR with a reason, and the next call goes on behind it.
 * A word holds letters, digits, `_`, `$`, `%` and inner dots (`ISETP.EQ.U32.AND`, `R2.CC`, `.kernel`, `%r1`).
 * Columns count bytes from 1.
 * Ownership: tokens point into the text, which the caller keeps. */
#ifndef LOCKSTEP_ISA_LEXER_H
#define LOCKSTEP_ISA_LEXER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { LEXER_WORD_MAX = 255, LEXER_LINE_MAX = 65536 };

typedef enum {
  TOK_END,
  TOK_NEWLINE,
  TOK_WORD,
  TOK_INTEGER,  /* value; hex tells how it was written; above 64 bits: UINT64_MAX */
  TOK_REAL,     /* real */
  TOK_PUNCT,    /* one character: text[0] */
  TOK_ELLIPSIS, /* two or more dots */
  TOK_ADDRESS,  /* the comment of hexadecimal digits before an instruction, cuobjdump's address: value */
  TOK_ERROR     /* problem */
} TokenKind;

typedef struct Token {
  TokenKind kind;
  const char *text;
  guint length;
  unsigned line, column;
  uint64_t value;
  double real;
  bool hex;
  const char *problem; /* static */
} Token;

typedef struct Lexer {
  const char *p, *end, *line_start;
  unsigned line;
  bool addresses; /* report TOK_ADDRESS; otherwise such a comment is a comment */
  bool fresh;     /* nothing but addresses and labels since the start of the line or the last `;` */
  bool newline;   /* a line end passed inside a comment */
} Lexer;

void lexer_init(Lexer *lexer, const char *text, gsize length, bool addresses);
Token lexer_next(Lexer *lexer);

/* The rest of the line without outer white space, newly allocated; the place of its first byte (of the line's end if it
 * is empty) in *line, *column. A comment in it becomes as many spaces: byte i stands in column *column + i. The next
 * token is TOK_NEWLINE or TOK_END, or the error of a comment without end. */
char *lexer_rest_of_line(Lexer *lexer, unsigned *line, unsigned *column);
/* Goes to the end of the line: the next token is TOK_NEWLINE or TOK_END. */
void lexer_skip_line(Lexer *lexer);

bool token_is(const Token *token, char punct);
/* The token for a message: its text in backquotes with bytes outside ASCII escaped and its end cut at 40 bytes, or
 * "the end of the line", "the end of the file". Free with g_free. */
char *token_show(const Token *token);

#endif
