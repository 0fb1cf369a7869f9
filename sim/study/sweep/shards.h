/* shards.h - the files of a sweep that runs in shards: FILE.shard-I-of-N beside FILE, each with its journal. */
#ifndef LOCKSTEP_STUDY_SWEEP_SHARDS_H
#define LOCKSTEP_STUDY_SWEEP_SHARDS_H

#include "sim/study/sweep/store.h"

/* The file of shard `shard` of `shards`, from 1: `path` itself if there is one. Newly allocated. */
char *shards_file(const char *path, unsigned shard, unsigned shards);
/* All rows that there are of the sweep whose file is `path`: in it, its journal, and the shards' files and journals.
 * NULL after errors. */
Store *shards_read(const char *path, const char *header, Diag *diag);
/* The shards of which there is no file beside those of others, as "2/3, 3/3"; NULL: none is known to be missing.
 * Newly allocated. */
char *shards_missing(const char *path);
/* How many of `keys` (char *) have a row. */
guint shards_count_done(const Store *store, const GPtrArray *keys);
/* Takes those rows of `keys` that the file at `path` has, or its journal, and `store`, a shard's, lacks. False after
 * errors. */
bool shards_take_file(Store *store, const GPtrArray *keys, const char *path, const char *header, Diag *diag);
/* False, with an error, if there are rows besides those of `keys`, which would be lost when the file at `path` is
 * written. */
bool shards_check_own(const Store *store, const GPtrArray *keys, const char *path, Diag *diag);
/* Removes the shards' files and journals. False after errors. */
bool shards_remove(const char *path, Diag *diag);

#endif
