/* draw_text.h - text in a picture: what it takes of room, lines of so many characters, XML.
 * Widths are those of wide fonts, so that text has room in the others, too. */
#ifndef LOCKSTEP_REPORT_DRAW_TEXT_H
#define LOCKSTEP_REPORT_DRAW_TEXT_H

#include <glib.h>
#include <stdbool.h>

/* Pixels that the text takes in that size. `mono`: all characters are equally wide. */
double draw_text_width(const char *text, int size, bool mono);
/* How many characters have room in so many pixels. */
guint draw_text_room(int pixels, int size, bool mono);
/* The text, cut off with an ellipsis if it has more than `room` characters. Free with g_free. */
char *draw_text_cut(const char *text, guint room);
/* At most `most` lines of at most `room` characters, broken at spaces; the last one is cut off. Free with
 * g_strfreev. */
char **draw_text_wrap(const char *text, guint room, guint most);
/* The text as XML has it; what XML can't have is a question mark. Free with g_free. */
char *draw_text_escape(const char *text);

#endif
