/* store.h - where the rows of a sweep are kept: the CSV file that it makes, and beside it, while it runs, a journal
 * (FILE.journal) of the rows that are there so far. A row is on disk when store_add() returns; of a line that was
 * being written when the machine stopped nothing is taken. The file itself is written whole, in the order wanted, or
 * not at all.
 * Ownership: a Store is the caller's; it owns the file's lock and its copies of rows. One thread. */
#ifndef LOCKSTEP_STUDY_SWEEP_STORE_H
#define LOCKSTEP_STUDY_SWEEP_STORE_H

#include <glib.h>
#include <stdbool.h>

#include "base/diag.h"

typedef struct Store Store;

/* Opens the store of the CSV file at `path`, whose first line is `header`, and reads the rows that are there. NULL
 * after errors: another process has it, its columns differ, it can't be written. `fresh`: what is there is
 * forgotten. */
Store *store_open(const char *path, const char *header, bool fresh, Diag *diag);
/* Reads the rows of the CSV file at `path` and its journal without locking them, to merge or to count them; there may
 * be neither. NULL after errors. */
Store *store_read(const char *path, const char *header, Diag *diag);
/* A store that keeps its rows in memory only. */
Store *store_new(const char *header);
/* True if there is a CSV file or a journal at `path`. */
bool store_exists(const char *path);
void store_close(Store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Store, store_close)

/* How many rows there are. */
guint store_count(const Store *store);
/* The row (without line end) with a key, or NULL. Borrowed. */
const char *store_row(const Store *store, const char *key);
/* Takes the rows of `other` that aren't there yet. False after errors. */
bool store_take(Store *store, const Store *other, Diag *diag);
/* Adds a row, on disk, too, if the store was opened. False after errors; after the first of them nothing is added any
 * more, without a message, since the rows that are under way would have the same. */
bool store_add(Store *store, const char *row, Diag *diag);
/* The header and the rows of those of `keys` (char *) that are there, in that order, as CSV. Free with g_free. */
char *store_text(const Store *store, const GPtrArray *keys);
/* Writes the file with the rows of `keys` (char *), in that order; all must be there. Then the journal is gone. */
bool store_finish(Store *store, const GPtrArray *keys, Diag *diag);

#endif
