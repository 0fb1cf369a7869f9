#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct WholeFile {
  FILE *stream;
  char *path, *what;
  char *real; /* the file whose place `beside` takes; NULL: written in place */
  char *beside;
  int error; /* errno of the first failure, or 0 */
};

/* The regular file that `path` leads to, which another can take the place of; NULL if there is none such. Free with
 * free(). */
static char *replaceable(const char *path, GStatBuf *info) {
  GStatBuf link;
  if (g_stat(path, info) != 0) {
    info->st_mode = 0;
    if (g_lstat(path, &link) == 0)
      return NULL; /* a link that leads nowhere as yet */
  } else if (!S_ISREG(info->st_mode) || g_access(path, W_OK) != 0) {
    return NULL;
  }
  char *real = realpath(path, NULL);
  if (!real)
    real = strdup(path);
  g_autofree char *folder = g_path_get_dirname(real);
  if (g_access(folder, W_OK | X_OK) == 0)
    return real;
  free(real);
  return NULL;
}

/* Opens a new file beside the one that there is, with its permissions. */
static int open_beside(WholeFile *file, mode_t mode) {
  file->beside = g_strconcat(file->real, ".XXXXXX", NULL);
  int fd = g_mkstemp_full(file->beside, O_WRONLY | O_CLOEXEC, 0666);
  if (fd >= 0 && mode && fchmod(fd, mode & 0777) != 0)
    file->error = errno;
  return fd;
}

static void free_file(WholeFile *file) {
  free(file->real);
  g_free(file->beside);
  g_free(file->path);
  g_free(file->what);
  g_free(file);
}

static bool fail(const WholeFile *file, int error, Diag *diag) {
  return diag_error(diag, file->path, 0, 0, "can't write %s: %s", file->what, g_strerror(error));
}

WholeFile *whole_file_open(const char *path, const char *what, Diag *diag) {
  GStatBuf info;
  WholeFile *file = g_new0(WholeFile, 1);
  file->path = g_strdup(path);
  file->what = g_strdup(what);
  file->real = replaceable(path, &info);
  int fd =
      file->real ? open_beside(file, info.st_mode) : g_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  file->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
  if (file->stream)
    return file;
  fail(file, errno, diag);
  free_file(file);
  return NULL;
}

void whole_file_put(WholeFile *file, const char *data, gsize length) {
  if (!file->error && fwrite(data, 1, length, file->stream) != length)
    file->error = errno;
}

const char *whole_file_path(const WholeFile *file) { return file->path; }

bool whole_file_close(WholeFile *file, Diag *diag) {
  if (!file->error && (fflush(file->stream) != 0 || (file->real && fsync(fileno(file->stream)) != 0)))
    file->error = errno;
  if (fclose(file->stream) != 0 && !file->error)
    file->error = errno;
  if (file->real && !file->error && g_rename(file->beside, file->real) != 0)
    file->error = errno;
  bool written = !file->error || fail(file, file->error, diag);
  if (file->real && !written)
    g_unlink(file->beside);
  free_file(file);
  return written;
}
