#include "tests/fuzz/fuzz_file.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static const char small_program[] = ".target sm_20\n.kernel k\n  S2R R0, SR_TID_X;\n  EXIT;\n";
static char *folder, *path;

static void remove_folder(void) {
  g_autofree char *program = g_build_filename(folder, "p.sass", NULL);
  g_unlink(program);
  if (path)
    g_unlink(path);
  g_rmdir(folder);
  g_free(folder);
  g_free(path);
}

static void write_file(const char *file, const void *data, size_t size) {
  FILE *out = fopen(file, "wb");
  if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0)
    g_error("can't write %s", file);
}

static void make_folder(void) {
  folder = g_dir_make_tmp("lockstep-fuzz-XXXXXX", NULL);
  if (!folder)
    g_error("can't make a folder for temporary files");
  atexit(remove_folder);
  g_autofree char *program = g_build_filename(folder, "p.sass", NULL);
  write_file(program, small_program, strlen(small_program));
}

const char *fuzz_file_write(const char *name, const uint8_t *data, size_t size) {
  if (!folder)
    make_folder();
  g_free(path);
  path = g_build_filename(folder, name, NULL);
  write_file(path, data, size);
  return path;
}
