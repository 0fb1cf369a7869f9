#include "sim/scenario/nvcc.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/datadir.h"

enum { PTX_BYTES_MAX = 16 << 20 };
static const char usual_place[] = "/usr/local/cuda/bin/nvcc";

unsigned nvcc_arch(unsigned capability) {
  static const unsigned archs[] = {75, 80, 86, 89, 90};
  unsigned best = archs[0];
  for (gsize i = 0; i < G_N_ELEMENTS(archs); i++)
    if (archs[i] <= capability)
      best = archs[i];
  return best;
}

/* The compiler, or NULL. */
static char *find_nvcc(void) {
  const char *own = g_getenv("NVCC");
  if (own && *own)
    return g_strdup(own);
  char *found = g_find_program_in_path("nvcc");
  if (!found && g_file_test(usual_place, G_FILE_TEST_IS_EXECUTABLE))
    found = g_strdup(usual_place);
  return found;
}

static bool no_nvcc(const char *file, unsigned arch, Diag *diag) {
  g_autofree char *base = g_path_get_basename(file);
  g_autofree char *stem = g_strndup(base, strlen(base) - strlen(".cu"));
  diag_error(diag, file, 0, 0, "there is no nvcc here to compile it");
  diag_hint(diag,
            "on a machine with CUDA: `nvcc -ptx -lineinfo -arch=sm_%u %s`; then give lockstep the %s.ptx. "
            "Or set NVCC to the compiler",
            arch, base, stem);
  return false;
}

/* "kernel.cu(12): error: TEXT": gives the part from `error` on and the number, or NULL. */
static const char *message_place(const char *line, unsigned *number) {
  const char *open = strchr(line, '(');
  char *end;
  if (!open || !g_ascii_isdigit(open[1]))
    return NULL;
  *number = (unsigned)strtoul(open + 1, &end, 10);
  return g_str_has_prefix(end, "): ") ? end + 3 : NULL;
}

/* One line of what nvcc says; true if it was an error with its place. */
static bool add_message(const char *line, const char *file, Diag *diag) {
  unsigned number;
  const char *text = message_place(line, &number);
  if (!text)
    return false;
  g_autofree char *named = g_strndup(line, (gsize)(strchr(line, '(') - line));
  g_autofree char *base = g_path_get_basename(named), *own = g_path_get_basename(file);
  const char *shown = strcmp(base, own) == 0 ? file : named;
  if (g_str_has_prefix(text, "error"))
    diag_error(diag, shown, number, 0, "nvcc: %s", text + strlen("error") + strspn(text + strlen("error"), ": "));
  else if (g_str_has_prefix(text, "warning"))
    diag_warning(diag, shown, number, 0, "nvcc: %s",
                 text + strlen("warning") + strspn(text + strlen("warning"), ": "));
  return g_str_has_prefix(text, "error");
}

/* Messages with a place come one for one. If none did and nvcc failed, what it said is all there is to tell. */
static bool report(const char *output, const char *file, bool failed, Diag *diag) {
  g_auto(GStrv) lines = g_strsplit(output, "\n", -1);
  unsigned errors = 0;
  for (char **line = lines; *line; line++)
    errors += add_message(*line, file, diag);
  bool silent = errors == 0;
  for (char **line = lines; failed && errors == 0 && *line; line++)
    if (*g_strstrip(*line)) {
      diag_error(diag, file, 0, 0, "nvcc: %s", *line);
      silent = false;
    }
  if (failed && silent)
    diag_error(diag, file, 0, 0, "nvcc failed without a word");
  return !failed;
}

static bool run_nvcc(const char *nvcc, const char *path, const char *file, const char *into, unsigned arch,
                     Diag *diag) {
  g_autofree char *option = g_strdup_printf("-arch=sm_%u", arch);
  const char *argv[] = {nvcc, "-ptx", "-lineinfo", option, "-o", into, path, NULL};
  g_autofree char *output = NULL, *messages = NULL;
  g_autoptr(GError) error = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &messages, &status, &error))
    return diag_error(diag, file, 0, 0, "can't run nvcc: %s", error->message);
  g_autofree char *all = g_strconcat(messages, output, NULL);
  return report(all, file, !g_spawn_check_wait_status(status, NULL), diag);
}

char *nvcc_compile(const char *path, const char *file, unsigned arch, gsize *length, Diag *diag) {
  g_autofree char *nvcc = find_nvcc();
  if (!nvcc) {
    no_nvcc(file, arch, diag);
    return NULL;
  }
  g_autoptr(GError) error = NULL;
  g_autofree char *into = NULL;
  int descriptor = g_file_open_tmp("lockstep-XXXXXX.ptx", &into, &error);
  if (descriptor < 0) {
    diag_error(diag, file, 0, 0, "can't make a temporary file: %s", error->message);
    return NULL;
  }
  close(descriptor);
  char *text = NULL;
  if (run_nvcc(nvcc, path, file, into, arch, diag))
    text = datadir_read_file(into, PTX_BYTES_MAX, length, NULL, 0, 0, diag);
  g_unlink(into);
  return text;
}
