#include "sim/scenario/nvcc.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/quote.h"

enum { PTX_BYTES_MAX = 16 << 20 };
static const char usual_home[] = "/usr/local/cuda";

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
  if (found)
    return found;
  const char *home = g_getenv("CUDA_HOME");
  found = g_build_filename(home && *home ? home : usual_home, "bin", "nvcc", NULL);
  if (!g_file_test(found, G_FILE_TEST_IS_EXECUTABLE))
    g_clear_pointer(&found, g_free);
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

/* One line of what nvcc says, "kernel.cu(12): error: TEXT", or the compiler of the host behind it, "kernel.cu:12:5:
 * fatal error: TEXT"; true if it was an error with its place. */
static bool add_message(const char *line, const GRegex *place, const char *file, Diag *diag) {
  g_autoptr(GMatchInfo) match = NULL;
  if (!g_regex_match(place, line, 0, &match))
    return false;
  g_autofree char *named = g_match_info_fetch_named(match, "file"), *at = g_match_info_fetch_named(match, "line");
  g_autofree char *column = g_match_info_fetch_named(match, "column"),
                  *kind = g_match_info_fetch_named(match, "kind");
  g_autofree char *text = g_match_info_fetch_named(match, "text");
  g_autofree char *base = g_path_get_basename(named), *own = g_path_get_basename(file);
  const char *shown = strcmp(base, own) == 0 ? file : named;
  unsigned number = (unsigned)strtoul(at, NULL, 10), place_column = (unsigned)strtoul(column, NULL, 10);
  bool error = strcmp(kind, "error") == 0;
  if (error)
    diag_error(diag, shown, number, place_column, "nvcc: %s", text);
  else
    diag_warning(diag, shown, number, place_column, "nvcc: %s", text);
  return error;
}

/* What nvcc said when it failed and named no place: all there is to tell. True if that is anything. */
static bool add_output(char **lines, const char *file, Diag *diag) {
  bool any = false;
  for (char **line = lines; *line; line++)
    if (*g_strstrip(*line)) {
      diag_error(diag, file, 0, 0, "nvcc: %s", *line);
      if (strstr(*line, "Unresolved extern function"))
        diag_hint(diag, "GPUs don't have it; what a hypothetical machine has runs as PTX: --code ptx");
      any = true;
    }
  return any;
}

/* Messages with a place come one for one. `why` says how nvcc failed; NULL: it didn't. */
static bool report(const char *output, const char *file, const GError *why, Diag *diag) {
  g_autofree char *readable = quote_lines(output, strlen(output));
  g_auto(GStrv) lines = g_strsplit(readable, "\n", -1);
  g_autoptr(GRegex) place = g_regex_new("^(?<file>.+?)(\\((?<line>\\d+)\\)|:(?<line>\\d+):(?<column>\\d+)): (fatal )?"
                                        "(?<kind>error|warning)[: ]*(?<text>.*)$",
                                        G_REGEX_DUPNAMES, 0, NULL);
  unsigned errors = 0;
  for (char **line = lines; *line; line++)
    errors += add_message(*line, place, file, diag);
  if (why && errors == 0 && !add_output(lines, file, diag))
    diag_error(diag, file, 0, 0, "nvcc failed without a word: %s", why->message);
  return !why;
}

static bool says_arch(const char *const *flags) {
  for (; flags && *flags; flags++)
    if (g_str_has_prefix(*flags, "-arch") || g_str_has_prefix(*flags, "--gpu-arch") ||
        g_str_has_prefix(*flags, "-gencode") || g_str_has_prefix(*flags, "--generate-code"))
      return true;
  return false;
}

/* What nvcc is told. */
typedef struct Command {
  const NvccSource *source;
  unsigned arch;
  bool assembles;          /* to machine code */
  const char *nvcc, *into; /* where it writes */
} Command;

static GPtrArray *make_argv(const Command *command, const char *arch) {
  GPtrArray *argv = g_ptr_array_new();
  const char *const first[] = {command->nvcc, command->assembles ? "-cubin" : "-ptx", "-lineinfo"},
                    *const last[] = {"-o", command->into, command->source->path};
  for (gsize i = 0; i < G_N_ELEMENTS(first); i++)
    g_ptr_array_add(argv, (gpointer)first[i]);
  if (!says_arch(command->source->flags))
    g_ptr_array_add(argv, (gpointer)arch);
  for (const char *const *flag = command->source->flags; flag && *flag; flag++)
    g_ptr_array_add(argv, (gpointer)*flag);
  for (gsize i = 0; i < G_N_ELEMENTS(last); i++)
    g_ptr_array_add(argv, (gpointer)last[i]);
  g_ptr_array_add(argv, NULL);
  return argv;
}

static bool run_nvcc(const Command *command, Diag *diag) {
  const char *file = command->source->file;
  g_autofree char *arch = g_strdup_printf("-arch=sm_%u", command->arch);
  g_autoptr(GPtrArray) argv = make_argv(command, arch);
  g_autofree char *output = NULL, *messages = NULL;
  g_autoptr(GError) error = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &messages, &status,
                    &error))
    return diag_error(diag, file, 0, 0, "can't run nvcc: %s", error->message);
  g_autofree char *all = g_strconcat(messages, output, NULL);
  bool succeeded = g_spawn_check_wait_status(status, &error);
  if (command->assembles && succeeded)
    return true; /* the source has been made PTX before, and its warnings were told then */
  return report(all, file, error, diag);
}

static char *read_output(const Command *command, gsize *length, Diag *diag) {
  GStatBuf info;
  if (g_stat(command->into, &info) == 0 && info.st_size > 0)
    return datadir_read_file(command->into, PTX_BYTES_MAX, length, NULL, 0, 0, diag);
  diag_error(diag, command->source->file, 0, 0, "`%s` wrote no %s, though it says that it succeeded", command->nvcc,
             command->assembles ? "cubin" : "PTX");
  return NULL;
}

static char *compile_now(Command command, gsize *length, Diag *diag) {
  const char *file = command.source->file;
  g_autofree char *nvcc = find_nvcc();
  if (!nvcc) {
    no_nvcc(file, command.arch, diag);
    return NULL;
  }
  g_autoptr(GError) error = NULL;
  g_autofree char *into = NULL;
  int descriptor =
      g_file_open_tmp(command.assembles ? "lockstep-XXXXXX.cubin" : "lockstep-XXXXXX.ptx", &into, &error);
  if (descriptor < 0) {
    diag_error(diag, file, 0, 0, "can't make a temporary file: %s", error->message);
    return NULL;
  }
  close(descriptor);
  command.nvcc = nvcc;
  command.into = into;
  bool ran = run_nvcc(&command, diag);
  char *text = ran ? read_output(&command, length, diag) : NULL;
  g_unlink(into);
  return text;
}

/* ---- what was compiled ---- */

struct NvccCache {
  gatomicrefcount references;
  GMutex lock;       /* of what follows; held while nvcc runs, so that nobody compiles the same */
  GHashTable *known; /* what the compiler is told, but for the file it writes -> GBytes */
};

static void free_bytes(gpointer bytes) { g_bytes_unref(bytes); }

NvccCache *nvcc_cache_new(void) {
  NvccCache *cache = g_new0(NvccCache, 1);
  g_atomic_ref_count_init(&cache->references);
  g_mutex_init(&cache->lock);
  cache->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_bytes);
  return cache;
}

NvccCache *nvcc_cache_ref(NvccCache *cache) {
  g_atomic_ref_count_inc(&cache->references);
  return cache;
}

void nvcc_cache_unref(NvccCache *cache) {
  if (!g_atomic_ref_count_dec(&cache->references))
    return;
  g_hash_table_destroy(cache->known);
  g_mutex_clear(&cache->lock);
  g_free(cache);
}

static char *cache_key(const Command *command) {
  GString *key = g_string_new(command->source->path);
  g_string_append_printf(key, "\n%d %u", command->assembles, command->arch);
  for (const char *const *flag = command->source->flags; flag && *flag; flag++)
    g_string_append_printf(key, "\n%s", *flag);
  return g_string_free(key, FALSE);
}

static char *compile(Command command, gsize *length, Diag *diag) {
  NvccCache *cache = command.source->cache;
  if (!cache)
    return compile_now(command, length, diag);
  g_autofree char *key = cache_key(&command);
  g_mutex_lock(&cache->lock);
  GBytes *known = g_hash_table_lookup(cache->known, key);
  char *text = known ? NULL : compile_now(command, length, diag);
  if (text) { /* with the NUL behind it */
    known = g_bytes_new(text, *length + 1);
    g_hash_table_insert(cache->known, g_steal_pointer(&key), known);
  } else if (known) {
    text = g_memdup2(g_bytes_get_data(known, length), g_bytes_get_size(known));
    *length -= 1;
  }
  g_mutex_unlock(&cache->lock);
  return text;
}

char *nvcc_compile(const NvccSource *source, unsigned arch, gsize *length, Diag *diag) {
  return compile((Command){.source = source, .arch = arch}, length, diag);
}

char *nvcc_assemble(const NvccSource *source, unsigned arch, gsize *length, Diag *diag) {
  return compile((Command){.source = source, .arch = arch, .assembles = true}, length, diag);
}

bool nvcc_is_there(void) {
  g_autofree char *nvcc = find_nvcc();
  return nvcc != NULL;
}
