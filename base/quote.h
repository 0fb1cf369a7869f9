/* quote.h - a user's text inside a message: short, on one line, whatever bytes it has. */
#ifndef LOCKSTEP_BASE_QUOTE_H
#define LOCKSTEP_BASE_QUOTE_H

#include <glib.h>

/* `text` in backquotes: control characters and bytes that aren't UTF-8 become \xNN, and what is longer than 60
 * characters is cut and ends in `...`. Newly allocated. */
char *quote_text(const char *text);
/* The same for `length` bytes, which may be anything. */
char *quote_bytes(const char *text, gsize length);
/* A name on its own, such as that of a file: all of it on one line, without quotes. Newly allocated. */
char *quote_name(const char *name);
/* As a word of a shell's command line: as it is, or in quotes if it must be. Newly allocated. */
char *quote_word(const char *text);
/* A program's output: all of it, newlines and tabs as they are, without quotes. Newly allocated. */
char *quote_lines(const char *text, gsize length);

#endif
