#include "sim/base/quote.h"

#include <stdbool.h>
#include <string.h>

enum { SHOWN_MAX = 60 };

char *quote_text(const char *text) { return quote_bytes(text, strlen(text)); }

char *quote_bytes(const char *text, gsize length) {
  GString *out = g_string_new("`");
  const char *end = text + length;
  for (unsigned shown = 0; text < end && shown < SHOWN_MAX; shown++) {
    gunichar c = g_utf8_get_char_validated(text, end - text);
    bool valid = c != (gunichar)-1 && c != (gunichar)-2;
    if (valid && g_unichar_isprint(c)) {
      const char *next = g_utf8_next_char(text);
      g_string_append_len(out, text, next - text);
      text = next;
    } else {
      g_string_append_printf(out, "\\x%02x", (unsigned char)*text++);
    }
  }
  g_string_append(out, text < end ? "...`" : "`");
  return g_string_free(out, FALSE);
}
