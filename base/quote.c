#include "base/quote.h"

#include <string.h>

enum { SHOWN_MAX = 60 };

char *quote_text(const char *text) { return quote_bytes(text, strlen(text)); }

/* Appends a character, and returns where the next one begins. */
static const char *append_character(GString *out, const char *text, const char *end) {
  gunichar c = g_utf8_get_char_validated(text, end - text);
  if (c != (gunichar)-1 && c != (gunichar)-2 && g_unichar_isprint(c)) {
    const char *next = g_utf8_next_char(text);
    g_string_append_len(out, text, next - text);
    return next;
  }
  g_string_append_printf(out, "\\x%02x", (unsigned char)*text);
  return text + 1;
}

char *quote_bytes(const char *text, gsize length) {
  GString *out = g_string_new("`");
  const char *end = text + length;
  for (unsigned shown = 0; text < end && shown < SHOWN_MAX; shown++)
    text = append_character(out, text, end);
  g_string_append(out, text < end ? "...`" : "`");
  return g_string_free(out, FALSE);
}

char *quote_name(const char *name) {
  GString *out = g_string_new(NULL);
  for (const char *end = name + strlen(name); name < end;)
    name = append_character(out, name, end);
  return g_string_free(out, FALSE);
}

char *quote_word(const char *text) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=.,:/+-";
  return *text && strspn(text, plain) == strlen(text) ? g_strdup(text) : g_shell_quote(text);
}

char *quote_lines(const char *text, gsize length) {
  GString *out = g_string_new(NULL);
  const char *end = text + length;
  while (text < end) {
    if (*text == '\n' || *text == '\t')
      g_string_append_c(out, *text++);
    else
      text = append_character(out, text, end);
  }
  return g_string_free(out, FALSE);
}
