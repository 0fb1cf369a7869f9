/* paint.h - text in colour where the reader's terminal shows it, plain text elsewhere. */
#ifndef LOCKSTEP_REPORT_PAINT_H
#define LOCKSTEP_REPORT_PAINT_H

#include <glib.h>
#include <stdbool.h>

#include "sim/detect/naming/finding.h"

typedef enum { PAINT_BOLD, PAINT_RED, PAINT_YELLOW, PAINT_CYAN, PAINT_GREEN, PAINT_DIM, PAINT_COUNT } Paint;

/* Where text goes, and whether it may be coloured. */
typedef struct Canvas {
  GString *text;
  bool colour;
} Canvas;

/* Both append text whose control characters, other than newlines and tabs, have become \xNN. */
/* Appends formatted text, in `paint` if the canvas is coloured. */
void paint_append(Canvas *canvas, Paint paint, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Appends formatted text without colour. */
void paint_plain(Canvas *canvas, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Appends a name on one line, and blanks up to `width` letters. */
void paint_cell(Canvas *canvas, const char *name, int width);
/* The larger of `width` and the letters that paint_cell() needs for `name`. */
int paint_widen(int width, const char *name);
Paint paint_of_severity(Severity severity);
Paint paint_of_verdict(Verdict verdict);

#endif
