/* quote.h - a user's text inside a message: short, on one line, whatever bytes it has. */
#ifndef LOCKSTEP_BASE_QUOTE_H
#define LOCKSTEP_BASE_QUOTE_H

#include <glib.h>

/* `text` in backquotes: control characters and bytes that aren't UTF-8 become \xNN, and what is longer than 60
 * characters is cut and ends in `...`. Newly allocated. */
char *quote_text(const char *text);
/* The same for `length` bytes, which may be anything. */
char *quote_bytes(const char *text, gsize length);
/* A program's output: all of it, newlines and tabs as they are, without quotes. Newly allocated. */
char *quote_lines(const char *text, gsize length);

#endif
