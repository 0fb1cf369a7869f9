#include "sim/study/sweep/store.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "sim/study/sweep/row.h"

/* Characters of the check sum before each line of a journal. */
enum { CHECK_CHARS = 8 };

struct Store {
  char *path, *journal, *header;
  int fd;           /* of the journal, locked; -1: the store is only read */
  GHashTable *rows; /* key (in the row) -> row */
  bool broken;      /* a row couldn't be written to the journal, whose end may be half of it */
};

static bool fail(const char *path, const char *what, Diag *diag) {
  return diag_error(diag, path, 0, 0, "can't %s: %s", what, g_strerror(errno));
}

/* --- reading --- */

static void check_of(const char *line, char check[CHECK_CHARS + 1]) {
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, line, -1);
  g_strlcpy(check, sum, CHECK_CHARS + 1);
}

static void keep_row(Store *store, const char *row) {
  char *copy = g_strdup(row);
  g_hash_table_replace(store->rows, (char *)row_key(copy), copy);
}

static bool check_header(const Store *store, const char *path, const char *found, Diag *diag) {
  if (strcmp(found, store->header) == 0)
    return true;
  diag_error(diag, path, 1, 1, "has other columns than this sweep makes");
  diag_hint(diag, "choose another file with -o, or --fresh to lose what it holds");
  return false;
}

/* Rows stay in a file, which is read again: a device might never end, and a pipe loses them. */
static bool check_kind(const char *path, Diag *diag) {
  if (!g_file_test(path, G_FILE_TEST_EXISTS) || g_file_test(path, G_FILE_TEST_IS_REGULAR))
    return true;
  if (g_file_test(path, G_FILE_TEST_IS_DIR))
    return diag_error(diag, path, 0, 0, "is a folder; expected a file to write");
  diag_error(diag, path, 0, 0, "is not a regular file");
  diag_hint(diag, "without -o rows are printed");
  return false;
}

/* The contents of a file; an empty text if there is none. NULL after errors. */
static char *read_file(const char *path, Diag *diag) {
  g_autoptr(GError) error = NULL;
  char *text = NULL;
  if (!check_kind(path, diag))
    return NULL;
  if (g_file_get_contents(path, &text, NULL, &error))
    return text;
  if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return g_strdup("");
  diag_error(diag, path, 0, 0, "can't be read: %s", error->message);
  return NULL;
}

static bool read_rows(Store *store, Diag *diag) {
  g_autofree char *text = read_file(store->path, diag);
  if (!text || !*text)
    return text != NULL;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  if (!check_header(store, store->path, lines[0], diag))
    return false;
  for (char **line = lines + 1; *line; line++)
    if (**line)
      keep_row(store, *line);
  return true;
}

/* A line counts if it ends and its check sum is right: the last one may have been cut off. */
static bool read_journal(Store *store, Diag *diag) {
  g_autofree char *text = read_file(store->journal, diag);
  if (!text)
    return false;
  bool first = true;
  char *next;
  for (char *line = text; (next = strchr(line, '\n')); line = next + 1) {
    char check[CHECK_CHARS + 1];
    *next = '\0';
    if (strlen(line) <= CHECK_CHARS + 1)
      continue;
    const char *row = line + CHECK_CHARS + 1;
    check_of(row, check);
    if (strncmp(line, check, CHECK_CHARS) != 0)
      continue;
    if (first && !check_header(store, store->journal, row, diag))
      return false;
    if (!first)
      keep_row(store, row);
    first = false;
  }
  return true;
}

Store *store_new(const char *header) {
  Store *store = g_new0(Store, 1);
  store->header = g_strdup(header);
  store->fd = -1;
  store->rows = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  return store;
}

/* Where a link leads, since a file is put in place by its name; else the path as it is. Free with g_free. */
static char *behind_link(const char *path) {
  char *real = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? realpath(path, NULL) : NULL;
  char *copy = g_strdup(real ? real : path);
  free(real);
  return copy;
}

static Store *store_at(const char *path, const char *header) {
  Store *store = store_new(header);
  store->path = behind_link(path);
  store->journal = g_strdup_printf("%s.journal", store->path);
  return store;
}

bool store_exists(const char *path) {
  g_autofree char *real = behind_link(path);
  g_autofree char *journal = g_strdup_printf("%s.journal", real);
  return g_file_test(path, G_FILE_TEST_EXISTS) || g_file_test(journal, G_FILE_TEST_EXISTS);
}

Store *store_read(const char *path, const char *header, Diag *diag) {
  g_autoptr(Store) store = store_at(path, header);
  return read_rows(store, diag) && read_journal(store, diag) ? g_steal_pointer(&store) : NULL;
}

/* --- writing --- */

/* Writes a line whole, and waits until the disk has it. */
static bool append_line(Store *store, const char *row, Diag *diag) {
  char check[CHECK_CHARS + 1];
  check_of(row, check);
  g_autofree char *line = g_strdup_printf("%s %s\n", check, row);
  gsize length = strlen(line), written = 0;
  while (written < length) {
    ssize_t some = write(store->fd, line + written, length - written);
    if (some < 0 && errno != EINTR)
      return fail(store->journal, "be written", diag);
    written += some > 0 ? (gsize)some : 0;
  }
  return fdatasync(store->fd) == 0 || errno == EINVAL || errno == EROFS || fail(store->journal, "be written", diag);
}

/* Opens the journal and locks it. It may vanish before the lock is ours, since whoever had it has finished. What
 * isn't locked isn't ours: store_close() must leave it alone. */
static bool lock_journal(Store *store, Diag *diag) {
  for (;;) {
    struct stat opened, there;
    int fd = open(store->journal, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
      return fail(store->journal, "be written", diag);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        diag_error(diag, store->path, 0, 0, "another sweep is writing it (its journal is locked)");
      else
        fail(store->journal, "be locked", diag);
      close(fd);
      return false;
    }
    if (fstat(fd, &opened) == 0 && stat(store->journal, &there) == 0 && opened.st_ino == there.st_ino) {
      store->fd = fd;
      return true;
    }
    close(fd);
  }
}

/* The journal begins with the header. What a crash left half-written at its end is cut off, or the next line would be
 * lost with it. */
static bool start_journal(Store *store, bool fresh, Diag *diag) {
  g_autofree char *text = fresh ? g_strdup("") : read_file(store->journal, diag);
  if (!text)
    return false;
  const char *end = strrchr(text, '\n');
  off_t length = end ? (off_t)(end + 1 - text) : 0;
  if (ftruncate(store->fd, length) != 0)
    return fail(store->journal, "be written", diag);
  return length || append_line(store, store->header, diag);
}

Store *store_open(const char *path, const char *header, bool fresh, Diag *diag) {
  g_autoptr(Store) store = store_at(path, header);
  if (!check_kind(path, diag) || !lock_journal(store, diag) || !start_journal(store, fresh, diag) ||
      (!fresh && !(read_rows(store, diag) && read_journal(store, diag))))
    return NULL;
  return g_steal_pointer(&store);
}

/* A journal with nothing but its header isn't left behind. */
void store_close(Store *store) {
  if (!store)
    return;
  struct stat found;
  if (store->fd >= 0) {
    if (fstat(store->fd, &found) == 0 && (gsize)found.st_size <= strlen(store->header) + CHECK_CHARS + 2)
      g_unlink(store->journal);
    close(store->fd);
  }
  g_hash_table_destroy(store->rows);
  g_free(store->path);
  g_free(store->journal);
  g_free(store->header);
  g_free(store);
}

guint store_count(const Store *store) { return g_hash_table_size(store->rows); }

const char *store_row(const Store *store, const char *key) { return g_hash_table_lookup(store->rows, key); }

bool store_add(Store *store, const char *row, Diag *diag) {
  if (store->broken)
    return false;
  store->broken = store->fd >= 0 && !append_line(store, row, diag);
  if (!store->broken)
    keep_row(store, row);
  return !store->broken;
}

bool store_take(Store *store, const Store *other, Diag *diag) {
  GHashTableIter iter;
  gpointer key, row;
  g_hash_table_iter_init(&iter, other->rows);
  while (g_hash_table_iter_next(&iter, &key, &row))
    if (!store_row(store, key) && !store_add(store, row, diag))
      return false;
  return true;
}

char *store_text(const Store *store, const GPtrArray *keys) {
  GString *text = g_string_new(store->header);
  g_string_append_c(text, '\n');
  for (guint i = 0; i < keys->len; i++) {
    const char *row = store_row(store, g_ptr_array_index(keys, i));
    if (row)
      g_string_append_printf(text, "%s\n", row);
  }
  return g_string_free(text, FALSE);
}

bool store_finish(Store *store, const GPtrArray *keys, Diag *diag) {
  g_autoptr(GError) error = NULL;
  LS_REQUIRE("store-finish-opened", store->fd >= 0);
  g_autofree char *text = store_text(store, keys);
  if (!g_file_set_contents_full(store->path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                0666, &error))
    return diag_error(diag, store->path, 0, 0, "can't be written: %s", error->message);
  return g_unlink(store->journal) == 0 || fail(store->journal, "be removed", diag);
}
