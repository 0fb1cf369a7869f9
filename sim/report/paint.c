#include "sim/report/paint.h"

#include <string.h>

#include "base/quote.h"

/* What a program's or a file's author wrote may hold anything: control characters never reach the terminal. */
static void append_printable(Canvas *canvas, const char *format, va_list args) G_GNUC_PRINTF(2, 0);

static void append_printable(Canvas *canvas, const char *format, va_list args) {
  g_autofree char *raw = g_strdup_vprintf(format, args);
  g_autofree char *printable = quote_lines(raw, strlen(raw));
  g_string_append(canvas->text, printable);
}

void paint_append(Canvas *canvas, Paint paint, const char *format, ...) {
  static const char *const codes[PAINT_COUNT] = {"1", "1;31", "1;33", "1;36", "1;32", "2"};
  va_list args;
  va_start(args, format);
  if (canvas->colour)
    g_string_append_printf(canvas->text, "\033[%sm", codes[paint]);
  append_printable(canvas, format, args);
  if (canvas->colour)
    g_string_append(canvas->text, "\033[0m");
  va_end(args);
}

void paint_plain(Canvas *canvas, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append_printable(canvas, format, args);
  va_end(args);
}

/* The width of a format counts bytes. */
void paint_cell(Canvas *canvas, const char *name, int width) {
  g_autofree char *line = quote_name(name);
  int blanks = width - (int)g_utf8_strlen(line, -1);
  g_string_append_printf(canvas->text, "%s%*s", line, MAX(blanks, 0), "");
}

int paint_widen(int width, const char *name) {
  g_autofree char *line = quote_name(name);
  return MAX(width, (int)g_utf8_strlen(line, -1));
}

Paint paint_of_severity(Severity severity) {
  return severity == SEVERITY_ERROR ? PAINT_RED : severity == SEVERITY_WARNING ? PAINT_YELLOW : PAINT_CYAN;
}

Paint paint_of_verdict(Verdict verdict) {
  return verdict == VERDICT_COMPLETED ? PAINT_GREEN : verdict == VERDICT_UNDECIDED ? PAINT_YELLOW : PAINT_RED;
}
