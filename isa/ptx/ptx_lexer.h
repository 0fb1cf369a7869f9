/* ptx_lexer.h - the tokens of PTX.
 *
 * Works on any bytes: what isn't a token comes back as PTX_TOK_ERROR with a reason, and the next call goes on behind it.
 * Places are byte offsets; ptx_module_place() makes a line and a column of them.
 * Ownership: tokens point into the text, which the caller keeps. */
#ifndef LOCKSTEP_ISA_PTX_PTX_LEXER_H
#define LOCKSTEP_ISA_PTX_PTX_LEXER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { PTX_WORD_MAX = 1023 };

typedef enum {
  PTX_TOK_END,
  PTX_TOK_WORD,      /* a name, or a mnemonic or special register with its dots: `%r1`, `ld.global.u32`, `%tid.x` */
  PTX_TOK_DIRECTIVE, /* one dot and a word: `.reg`, `.b32` */
  PTX_TOK_INTEGER,   /* value */
  PTX_TOK_F32,       /* value: the bits of `0f3F800000` */
  PTX_TOK_F64,       /* value: the bits of `0d...`, or of a decimal float */
  PTX_TOK_STRING,    /* with its quotes */
  PTX_TOK_PUNCT,     /* one character: text[0] */
  PTX_TOK_ERROR      /* problem */
} PtxTokenKind;

typedef struct PtxToken {
  PtxTokenKind kind;
  uint32_t at, length;
  const char *text;
  uint64_t value;
  const char *problem; /* static */
} PtxToken;

typedef struct PtxLexer {
  const char *text, *p, *end;
} PtxLexer;

/* `length` is below 4 GiB. */
void ptx_lexer_init(PtxLexer *lexer, const char *text, gsize length);
PtxToken ptx_lexer_next(PtxLexer *lexer);

bool ptx_token_is(const PtxToken *token, char punct);
/* True if the token is exactly that word or directive. */
bool ptx_token_equals(const PtxToken *token, const char *word);
/* The token for a message, as token_show() does. Free with g_free. */
char *ptx_token_show(const PtxToken *token);

#endif
