/* datadir.h - where configs/, traces/ and validation/ are, after installation and in the build tree alike.
 * Order: $LOCKSTEP_DATA; beside the executable (PREFIX/bin/lockstep -> PREFIX/share/lockstep); the source tree if the
 * executable runs from the build tree; the configured data folder. And how files are read and written whole. */
#ifndef LOCKSTEP_BASE_DATADIR_H
#define LOCKSTEP_BASE_DATADIR_H

#include <glib.h>
#include <stdbool.h>

#include "base/diag.h"

/* `name` (may be NULL) in `folder` of the data folder. Newly allocated. */
char *datadir_join(const char *folder, const char *name);
/* Resolves a user's file argument: as given if it exists, else under the data folder if it exists there
 * ("traces/locks/spin.yaml" works from anywhere), else as given. Newly allocated. */
char *datadir_resolve(const char *path);
/* Adds "did you mean `X`?" to the newest message, if a file that a user named has a near neighbour where it would
 * lie, below the folder as given or the data folder. */
void datadir_hint_nearest(const char *path, Diag *diag);
/* Reads a whole regular file, with a message for a missing file, a directory, or one above `max_bytes`. `place_*` is
 * where the name was written (file NULL: the command line). Returns NULL after errors; free with g_free. */
char *datadir_read_file(const char *path, gsize max_bytes, gsize *length, const char *place_file, unsigned place_line,
                        unsigned place_column, Diag *diag);
/* Writes a file, whole or not at all (whole_file.h). `what` is what a message calls it ("the picture"). Returns false
 * after errors. */
bool datadir_write_file(const char *path, const char *data, gsize length, const char *what, Diag *diag);

#endif
