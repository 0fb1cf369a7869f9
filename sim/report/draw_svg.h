/* draw_svg.h - a picture of a run as SVG, 1600 wide and at most 900 high: title, caption, legend, rows of spans
 * against cycles, and the lines of the source that it names. Colours are those of Okabe and Ito, which differ for the
 * colour-blind, too.
 * Each span is a rect of the class of its state, with a title "ROW: STATE, cycles A to B, line N".
 * Deterministic: the same run gives the same bytes. */
#ifndef LOCKSTEP_REPORT_DRAW_SVG_H
#define LOCKSTEP_REPORT_DRAW_SVG_H

#include "sim/report/draw_rows.h"
#include "sim/study/run.h"

/* Free with g_free. */
char *draw_svg(const Drawing *drawing, const RunResult *result);

#endif
