/* draw_rows.h - the rows of a picture of a run: what each lane, or each warp, is in from cycle to cycle.
 * The spans of a row touch, and cover the picture's cycles. A warp's row has what its running lanes do; if none runs,
 * what they wait for.
 * A picture that couldn't be read is an error that says what to do: too many rows, or spans narrower than a few
 * pixels.
 * Ownership: a Drawing borrows the record. */
#ifndef LOCKSTEP_REPORT_DRAW_ROWS_H
#define LOCKSTEP_REPORT_DRAW_ROWS_H

#include "base/diag.h"
#include "sim/report/draw_record.h"

enum { DRAW_ROWS_MAX = 64, DRAW_ROW_SPANS_MAX = 450 };

typedef enum { DRAW_ROWS_AUTO, DRAW_ROWS_LANES, DRAW_ROWS_WARPS } DrawRowsKind;

typedef struct DrawOptions {
  DrawRowsKind rows;
  bool has_from, has_to;
  uint64_t from, to; /* cycles: `to` is the first that isn't in the picture */
  uint64_t cycles;   /* of the run */
  bool ended;        /* it completed; else what it repeats at the end is cut short */
} DrawOptions;

/* In one state; of DrawRow.texts at one place, too. */
typedef struct DrawPiece {
  uint64_t from, to;
  DrawState state;
  uint32_t place;
} DrawPiece;

typedef struct DrawRow {
  char *name;
  GArray *spans; /* DrawPiece; `place` is that of its beginning */
  GArray *texts; /* DrawPiece */
  GArray *holds; /* DrawSpan */
  GArray *tries; /* uint64_t: cycles in which a lane polled again */
} DrawRow;

typedef struct Drawing {
  const DrawRecord *record;
  GPtrArray *rows; /* DrawRow * */
  uint64_t from, to, cycles;
  bool lanes; /* a row is a lane */
  bool cut;   /* what comes behind `to` only repeats itself */
  char *what; /* what all rows are of: "block 0, warp 0"; or NULL */
} Drawing;

/* NULL after an error. */
Drawing *drawing_new(DrawRecord *record, const DrawOptions *options, Diag *diag);
void drawing_free(Drawing *drawing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Drawing, drawing_free)

#endif
