/* whole_file.h - a file that is written piece by piece, and is there as a whole in the end or not at all.
 * Through links, into pipes and devices, which stay what they are. The pieces go into another file beside it, which
 * takes its place at the end; after errors a regular file holds what it held before. (If its folder takes no other
 * file, it is written in place.) */
#ifndef LOCKSTEP_BASE_WHOLE_FILE_H
#define LOCKSTEP_BASE_WHOLE_FILE_H

#include <glib.h>
#include <stdbool.h>

#include "base/diag.h"

typedef struct WholeFile WholeFile;

/* `what` is what messages call it ("the picture"). NULL after an error. */
WholeFile *whole_file_open(const char *path, const char *what, Diag *diag);
/* Adds to it. After an error nothing is written any more, and whole_file_close() tells it. */
void whole_file_put(WholeFile *file, const char *data, gsize length);
const char *whole_file_path(const WholeFile *file);
/* Ends it. False after an error. */
bool whole_file_close(WholeFile *file, Diag *diag);

#endif
