/* Opens the files of a scenario: the scenario itself, then its program. What they say is read elsewhere
 * (loader.h). */
#include <string.h>

#include "base/datadir.h"
#include "base/quote.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/programs.h"

/* The folder of a path, or "" for the current one, so that paths joined to it look as a user would write them. */
static char *folder_of(const char *path) { return strchr(path, '/') ? g_path_get_dirname(path) : g_strdup(""); }

static char *beside(const char *folder, const char *name) {
  return !*folder || g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(folder, name, NULL);
}

/* The compute capability of the machine that will probably run the scenario: the one that the user names, else the
 * scenario's first; 0 if neither is known. What is wrong with the machine is said when it is loaded to run. */
static unsigned probable_capability(const Loader *loader) {
  const char *named = loader->options ? loader->options->machine : NULL;
  const char *name = named ? named : loader->scenario->machines[0];
  g_autoptr(Diag) ignored = diag_new();
  g_autoptr(Machine) machine =
      name ? machine_load(name, loader->options ? loader->options->settings : NULL, ignored) : NULL;
  return machine ? machine->gpu.compute_capability : 0;
}

static bool set_program(Loader *loader, const char *file, const char *path, const char *text, gsize length) {
  static const ScenarioOptions none = {.code = CODE_BEST};
  const ScenarioOptions *given = loader->options ? loader->options : &none;
  const char *const named[] = {given->kernel, NULL};
  ProgramsOptions options = {.code = given->code,
                             .kernels = loader->kernels ? (const char *const *)loader->kernels->pdata
                                        : given->kernel ? named
                                                        : NULL,
                             .flags = given->compiler_flags,
                             .compiled = given->compiled};
  if (programs_has_ending(file, ".cu") || programs_has_ending(file, ".sass") || programs_is_binary(text, length))
    options.capability = probable_capability(loader);
  Scenario *scenario = loader->scenario;
  scenario->programs = programs_open(file, path, text, length, &options, loader->diag);
  scenario->program = scenario->programs ? programs_common(scenario->programs) : NULL;
  return scenario->program != NULL;
}

bool loader_read_program(Loader *loader, const YamlNode *node) {
  const char *name = node->scalar;
  g_autofree char *shown = beside(loader->folder, name);
  g_autofree char *path = beside(loader->real_folder, name);
  gsize length;
  bool known = scenario_is_program(name);
  g_autoptr(Diag) ignored = diag_new();
  g_autofree char *text = datadir_read_file(path, SCENARIO_FILE_MAX, &length, loader->file, node->line, node->column,
                                            known ? loader->diag : ignored);
  if (!known && !(text && programs_is_binary(text, length))) {
    g_autofree char *quoted = quote_text(name);
    return loader_error(
        loader, node, "program %s: expected a name that ends in .sass, .cubin, .ptx or .cu, or a file with CUDA code",
        quoted);
  }
  if (!text)
    return false;
  g_checksum_update(loader->digest, (const guchar *)text, (gssize)length);
  return set_program(loader, shown, path, text, length);
}

/* What a scenario keeps of its loader, and its programs of the scenario. */
static void keep_names(Loader *loader) {
  g_strfreev(loader->scenario->params);
  loader->scenario->params = g_strdupv((char **)loader->param_names->pdata);
  for (guint i = 0; i < loader->scenario->launches->len; i++)
    if (((const ScenarioLaunch *)g_ptr_array_index(loader->scenario->launches, i))->cluster[0])
      programs_set_clusters(loader->scenario->programs);
  loader->scenario->digest = g_strdup(g_checksum_get_string(loader->digest));
}

static void loader_clear(Loader *loader) {
  g_checksum_free(loader->digest);
  g_clear_pointer(&loader->kernels, g_ptr_array_unref);
  g_free(loader->folder);
  g_free(loader->real_folder);
  g_ptr_array_free(loader->param_names, TRUE);
  g_array_free(loader->param_values, TRUE);
}

/* Fills the loader's scenario from `text`: YAML, or a program. */
static bool read_text(Loader *loader, const char *real_file, const char *text, gsize length) {
  const char *file = loader->file;
  if (scenario_is_yaml(file)) {
    g_autoptr(YamlTree) tree = yaml_tree_parse(file, text, length, loader->diag);
    return tree && loader_read_yaml(loader, tree);
  }
  return set_program(loader, file, real_file, text, length) && loader_read_bare(loader);
}

static Scenario *parse(const char *file, const char *real_file, const char *text, gsize length,
                       const ScenarioOptions *options, Diag *diag) {
  unsigned errors_before = diag_error_count(diag);
  Loader loader = {.options = options, .diag = diag, .file = file};
  loader.scenario = scenario_new(file);
  loader.folder = folder_of(file);
  loader.real_folder = folder_of(real_file);
  loader.param_names = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(loader.param_names, NULL);
  loader.param_values = g_array_new(FALSE, FALSE, sizeof(int64_t));
  loader.digest = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(loader.digest, (const guchar *)text, (gssize)length);
  if (!read_text(&loader, real_file, text, length) || diag_error_count(diag) > errors_before)
    g_clear_pointer(&loader.scenario, scenario_free);
  else
    keep_names(&loader);
  loader_clear(&loader);
  return loader.scenario;
}

static bool check_kind(const char *file, const char *text, gsize length, Diag *diag) {
  return scenario_is_yaml(file) || scenario_is_program(file) || programs_is_binary(text, length) ||
         diag_error(diag, file, 0, 0,
                    "neither a scenario nor a program: expected a name that ends in .yaml, .yml, .sass, .cubin, .ptx "
                    "or .cu, or a file with CUDA code");
}

Scenario *scenario_parse(const char *file, const char *text, gsize length, const ScenarioOptions *options,
                         Diag *diag) {
  return check_kind(file, text, length, diag) ? parse(file, file, text, length, options, diag) : NULL;
}

Scenario *scenario_load(const char *path, const ScenarioOptions *options, Diag *diag) {
  g_autofree char *real = datadir_resolve(path);
  gsize length;
  g_autofree char *text = datadir_read_file(real, SCENARIO_FILE_MAX, &length, NULL, 0, 0, diag);
  if (!text || !check_kind(path, text, length, diag))
    return NULL;
  return parse(path, real, text, length, options, diag);
}
