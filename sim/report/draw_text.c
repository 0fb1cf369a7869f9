#include "sim/report/draw_text.h"

#include <string.h>

/* Hundredths of the size, for each character: of DejaVu Sans the mean of running text, and a bit. */
enum { WIDE_SANS = 57, WIDE_MONO = 61 };

static int wide_of(bool mono) { return mono ? WIDE_MONO : WIDE_SANS; }

double draw_text_width(const char *text, int size, bool mono) {
  return (double)g_utf8_strlen(text, -1) * size * wide_of(mono) / 100;
}

guint draw_text_room(int pixels, int size, bool mono) { return (guint)(pixels * 100 / (size * wide_of(mono))); }

char *draw_text_cut(const char *text, guint room) {
  if (g_utf8_strlen(text, -1) <= (glong)room)
    return g_strdup(text);
  g_autofree char *start = g_utf8_substring(text, 0, (glong)room - 1);
  return g_strconcat(start, "\u2026", NULL);
}

char **draw_text_wrap(const char *text, guint room, guint most) {
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  GPtrArray *lines = g_ptr_array_new();
  GString *line = g_string_new(NULL);
  for (char **word = words; *word; word++) {
    glong length = g_utf8_strlen(line->str, -1) + 1 + g_utf8_strlen(*word, -1);
    if (line->len && length > (glong)room && lines->len + 1 < most) {
      g_ptr_array_add(lines, g_string_free(line, FALSE));
      line = g_string_new(NULL);
    }
    g_string_append_printf(line, "%s%s", line->len ? " " : "", *word);
  }
  g_ptr_array_add(lines, draw_text_cut(line->str, room));
  g_string_free(line, TRUE);
  g_ptr_array_add(lines, NULL);
  return (char **)g_ptr_array_free(lines, FALSE);
}

char *draw_text_escape(const char *text) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  for (char *at = valid; *at; at++)
    if ((unsigned char)*at < ' ' || *at == 0x7f)
      *at = '?';
  return g_markup_escape_text(valid, -1);
}
