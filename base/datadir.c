#include "base/datadir.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quote.h"
#include "base/whole_file.h"

#ifndef LOCKSTEP_PKGDATADIR
#define LOCKSTEP_PKGDATADIR "/usr/local/share/lockstep"
#endif
/* Empty: unknown, so no executable counts as run from a build tree. */
#ifndef LOCKSTEP_BUILDDIR
#define LOCKSTEP_BUILDDIR ""
#endif
#ifndef LOCKSTEP_SRCDIR
#define LOCKSTEP_SRCDIR ""
#endif

static bool holds_data(const char *folder) {
  g_autofree char *configs = g_build_filename(folder, "configs", NULL);
  return g_file_test(configs, G_FILE_TEST_IS_DIR);
}

/* PREFIX/share/lockstep for an executable PREFIX/bin/NAME, or NULL. Only `bin` counts: a build folder beside some
 * share/ isn't an installation. */
static char *find_beside(const char *executable) {
  g_autofree char *bin = g_path_get_dirname(executable);
  g_autofree char *bin_name = g_path_get_basename(bin);
  if (strcmp(bin_name, "bin") != 0)
    return NULL;
  g_autofree char *prefix = g_path_get_dirname(bin);
  char *folder = g_build_filename(prefix, "share", "lockstep", NULL);
  if (!holds_data(folder))
    g_clear_pointer(&folder, g_free);
  return folder;
}

static bool lies_under(const char *path, const char *folder) {
  char *real = *folder ? realpath(folder, NULL) : NULL;
  size_t length = real ? strlen(real) : 0;
  bool under = real && strncmp(path, real, length) == 0 && path[length] == '/';
  free(real);
  return under;
}

/* The folder that holds configs/, traces/ and validation/. Newly allocated. */
static char *find_data(void) {
  const char *given = g_getenv("LOCKSTEP_DATA");
  if (given && *given)
    return g_strdup(given);
  g_autofree char *executable = g_file_read_link("/proc/self/exe", NULL);
  char *beside = executable ? find_beside(executable) : NULL;
  if (beside)
    return beside;
  if (executable && lies_under(executable, LOCKSTEP_BUILDDIR) && holds_data(LOCKSTEP_SRCDIR))
    return g_strdup(LOCKSTEP_SRCDIR);
  return g_strdup(LOCKSTEP_PKGDATADIR);
}

char *datadir_join(const char *folder, const char *name) {
  g_autofree char *data = find_data();
  return g_build_filename(data, folder, name, NULL);
}

char *datadir_resolve(const char *path) {
  if (*path && !g_path_is_absolute(path) && !g_file_test(path, G_FILE_TEST_EXISTS)) {
    char *installed = datadir_join(path, NULL);
    if (g_file_test(installed, G_FILE_TEST_EXISTS))
      return installed;
    g_free(installed);
  }
  return g_strdup(path);
}

static gint compare_texts(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The names in a folder but for hidden ones, sorted, so that what is nearest doesn't depend on the disk.
 * NULL-terminated. */
static GPtrArray *list_folder(const char *path) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  GDir *folder = g_dir_open(path, 0, NULL);
  for (const char *name; folder && (name = g_dir_read_name(folder));)
    if (name[0] != '.')
      g_ptr_array_add(names, g_strdup(name));
  if (folder)
    g_dir_close(folder);
  g_ptr_array_sort(names, compare_texts);
  g_ptr_array_add(names, NULL);
  return names;
}

void datadir_hint_nearest(const char *path, Diag *diag) {
  g_autofree char *folder = g_path_get_dirname(path), *name = g_path_get_basename(path);
  g_autofree char *data = g_path_is_absolute(path) ? NULL : datadir_join(folder, NULL);
  const char *const places[] = {folder, data};
  for (guint i = 0; i < G_N_ELEMENTS(places) && places[i]; i++) {
    g_autoptr(GPtrArray) names = list_folder(places[i]);
    const char *nearest = diag_nearest(name, (const char *const *)names->pdata);
    if (!nearest)
      continue;
    g_autofree char *whole = strchr(path, '/') ? g_build_filename(folder, nearest, NULL) : g_strdup(nearest);
    g_autofree char *shown = quote_name(whole);
    diag_hint(diag, "did you mean `%s`?", shown);
    return;
  }
}

/* Where the name was written, and the name: what a message about the file needs. */
typedef struct Named {
  const char *path, *place_file;
  unsigned line, column;
  Diag *diag;
} Named;

static void report(const Named *named, const char *problem) {
  if (named->place_file) {
    g_autofree char *quoted = quote_text(named->path);
    diag_error(named->diag, named->place_file, named->line, named->column, "%s: %s", quoted, problem);
  } else {
    diag_error(named->diag, named->path, 0, 0, "%s", problem);
  }
}

static void report_errno(const Named *named, int error) {
  g_autofree char *problem = g_strdup_printf("cannot be read: %s", g_strerror(error));
  bool is_missing = error == ENOENT || error == ENOTDIR;
  report(named, is_missing ? "no such file" : problem);
  if (is_missing)
    datadir_hint_nearest(named->path, named->diag);
}

static void report_size(const Named *named, gsize max_bytes) {
  g_autofree char *problem = g_strdup_printf("too large: at most %" G_GSIZE_FORMAT " bytes are read", max_bytes);
  report(named, problem);
}

/* Pipes count as files (`<(...)`, `... | lockstep machine check /dev/stdin`); other devices might never end. */
static bool check_kind(const Named *named, int fd, gsize max_bytes) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    report_errno(named, errno);
  else if (S_ISDIR(info.st_mode))
    report(named, "is a directory, not a file");
  else if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
    report(named, "is not a regular file");
  else if (S_ISREG(info.st_mode) && (guint64)info.st_size > max_bytes)
    report_size(named, max_bytes);
  else
    return true;
  return false;
}

static char *read_all(const Named *named, int fd, gsize max_bytes, gsize *length) {
  GString *text = g_string_new(NULL);
  char chunk[65536];
  for (;;) {
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN) {
      struct pollfd wait = {.fd = fd, .events = POLLIN};
      poll(&wait, 1, -1);
      continue;
    }
    if (got <= 0) {
      if (got == 0)
        break;
      report_errno(named, errno);
      g_string_free(text, TRUE);
      return NULL;
    }
    if (text->len + (gsize)got > max_bytes) {
      report_size(named, max_bytes);
      g_string_free(text, TRUE);
      return NULL;
    }
    g_string_append_len(text, chunk, got);
  }
  if (length)
    *length = text->len;
  return g_string_free(text, FALSE);
}

char *datadir_read_file(const char *path, gsize max_bytes, gsize *length, const char *place_file, unsigned place_line,
                        unsigned place_column, Diag *diag) {
  Named named = {path, place_file, place_line, place_column, diag};
  if (!*path) {
    named.path = "file name";
    report(&named, "is empty");
    return NULL;
  }
  /* Not blocking: a named pipe that nobody writes reads as empty instead of hanging the tool. */
  int fd = g_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0) {
    report_errno(&named, errno);
    return NULL;
  }
  char *text = check_kind(&named, fd, max_bytes) ? read_all(&named, fd, max_bytes, length) : NULL;
  close(fd);
  return text;
}

bool datadir_write_file(const char *path, const char *data, gsize length, const char *what, Diag *diag) {
  WholeFile *file = whole_file_open(path, what, diag);
  if (!file)
    return false;
  whole_file_put(file, data, length);
  return whole_file_close(file, diag);
}
