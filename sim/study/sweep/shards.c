#include "sim/study/sweep/shards.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

char *shards_file(const char *path, unsigned shard, unsigned shards) {
  return shards == 1 ? g_strdup(path) : g_strdup_printf("%s.shard-%u-of-%u", path, shard, shards);
}

/* Calls `take` for each file or journal of a shard: `file` is the shard's, `name` that of the one found, without its
 * folder. False as soon as `take` says so. */
static bool each_file(const char *path, bool (*take)(const char *file, const char *found, gpointer user),
                      gpointer user) {
  g_autofree char *folder = g_path_get_dirname(path);
  g_autofree char *base = g_path_get_basename(path);
  g_autofree char *prefix = g_strdup_printf("%s.shard-", base);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *name = dir ? g_dir_read_name(dir) : NULL; name; name = g_dir_read_name(dir)) {
    unsigned shard, shards;
    int end = 0;
    if (!g_str_has_prefix(name, prefix) || sscanf(name + strlen(prefix), "%u-of-%u%n", &shard, &shards, &end) != 2)
      continue;
    const char *rest = name + strlen(prefix) + end;
    if (*rest && strcmp(rest, ".journal") != 0)
      continue;
    g_autofree char *stem = g_strndup(name, strlen(prefix) + (gsize)end);
    g_autofree char *file = g_build_filename(folder, stem, NULL);
    g_autofree char *found = g_build_filename(folder, name, NULL);
    if (!take(file, found, user))
      return false;
  }
  return true;
}

typedef struct Reading {
  Store *store;
  const char *header;
  Diag *diag;
} Reading;

/* A file with its journal is read twice where there are both, which changes nothing. */
static bool read_file(const char *file, const char *found, gpointer user) {
  Reading *reading = user;
  (void)found;
  g_autoptr(Store) part = store_read(file, reading->header, reading->diag);
  return part && store_take(reading->store, part, reading->diag);
}

Store *shards_read(const char *path, const char *header, Diag *diag) {
  g_autoptr(Store) store = store_read(path, header, diag);
  Reading reading = {store, header, diag};
  return store && each_file(path, read_file, &reading) ? g_steal_pointer(&store) : NULL;
}

enum { SHARDS_NAMED = 4096 };

typedef struct Present {
  unsigned shards; /* of the file found first; 0: none yet */
  bool is_there[SHARDS_NAMED + 1];
} Present;

/* Of a sweep that ran in several numbers of shards nothing can be said. */
static bool note_shard(const char *file, const char *found, gpointer user) {
  Present *present = user;
  unsigned shard, shards;
  (void)found;
  if (sscanf(strrchr(file, '.'), ".shard-%u-of-%u", &shard, &shards) != 2 || !shard || shard > shards ||
      shards > SHARDS_NAMED || (present->shards && present->shards != shards))
    return false;
  present->shards = shards;
  present->is_there[shard] = true;
  return true;
}

char *shards_missing(const char *path) {
  Present present = {.shards = 0};
  g_autoptr(GString) names = g_string_new(NULL);
  if (!each_file(path, note_shard, &present))
    return NULL;
  for (unsigned shard = 1; shard <= present.shards; shard++)
    if (!present.is_there[shard])
      g_string_append_printf(names, "%s%u/%u", names->len ? ", " : "", shard, present.shards);
  return names->len ? g_string_free(g_steal_pointer(&names), FALSE) : NULL;
}

guint shards_count_done(const Store *store, const GPtrArray *keys) {
  guint done = 0;
  for (guint i = 0; i < keys->len; i++)
    done += store_row(store, g_ptr_array_index(keys, i)) != NULL;
  return done;
}

bool shards_take_file(Store *store, const GPtrArray *keys, const char *path, const char *header, Diag *diag) {
  g_autoptr(Store) file = store_read(path, header, diag);
  for (guint i = 0; file && i < keys->len; i++) {
    const char *key = g_ptr_array_index(keys, i), *row = store_row(file, key);
    if (row && !store_row(store, key) && !store_add(store, row, diag))
      return false;
  }
  return file != NULL;
}

bool shards_check_own(const Store *store, const GPtrArray *keys, const char *path, Diag *diag) {
  guint own = shards_count_done(store, keys);
  if (own == store_count(store))
    return true;
  diag_error(diag, path, 0, 0,
             "holds %u rows that this sweep doesn't have: of other points, or of files that have changed",
             store_count(store) - own);
  diag_hint(diag, "choose another file with -o, or --fresh to lose what it holds");
  return false;
}

static bool remove_file(const char *file, const char *found, gpointer diag) {
  (void)file;
  return g_unlink(found) == 0 || errno == ENOENT ||
         diag_error(diag, found, 0, 0, "can't be removed: %s", g_strerror(errno));
}

bool shards_remove(const char *path, Diag *diag) { return each_file(path, remove_file, diag); }
