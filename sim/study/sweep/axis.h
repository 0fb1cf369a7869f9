/* axis.h - the values that a parameter takes in a sweep, as a user writes them: `1,2,4`, a range with a step
 * `1..240:8`, a range with a factor `1..1024*2`, or several of these with commas between them. What isn't a range is
 * taken as it stands ("18 cycles", "youngest"). */
#ifndef LOCKSTEP_STUDY_SWEEP_AXIS_H
#define LOCKSTEP_STUDY_SWEEP_AXIS_H

#include "base/diag.h"

/* Values of one axis, at most. */
enum { AXIS_VALUES_MAX = 100000 };

/* Where an axis was written: a place in a file, or (file NULL) an option of the command line, whose text `option`
 * is. */
typedef struct AxisPlace {
  const char *file;
  unsigned line, column;
  const char *option;
} AxisPlace;

/* An error at the place: of input, or (command line) of usage. Returns false. */
bool axis_error(const AxisPlace *place, Diag *diag, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Appends the values (char *) that `text` stands for to `values`. A range ends with its last value that isn't beyond
 * its end. False after errors. */
bool axis_parse(const char *text, const AxisPlace *place, GPtrArray *values, Diag *diag);

#endif
