#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "base/quote.h"
#include "sim/machine/machine.h"
#include "sim/machine/machine_check.h"
#include "sim/machine/params.h"
#include "sim/machine/yaml_tree.h"

/* The keys of a file beside its sections. */
static const char *const own_keys[] = {"name", "about", "base", NULL};

enum { BASES_MAX = 16, NAME_MAX_BYTES = 64, ABOUT_MAX_BYTES = 1000, ERRORS_MAX = 1000 };

/* Where a parameter got its value: for the checks that come after all files. */
typedef struct Place {
  const char *file; /* NULL: the table's default, or an override */
  unsigned line, column;
  unsigned order; /* 0: the default; a higher one was given later */
} Place;

typedef struct Loader {
  Machine *machine;
  Diag *diag;
  GPtrArray *files; /* names of the files being read, the outermost first; never shrinks, places borrow from it */
  GPtrArray *chain; /* the same with symbolic links resolved, to find a cycle */
  Place places[PARAM_COUNT];
  unsigned given;
} Loader;

/* The file being read. */
typedef struct Source {
  Loader *loader;
  const YamlTree *tree;
  const char *file;
} Source;

static bool read_file(Loader *loader, const char *path, const char *text, gsize length, bool outermost);

static bool report(const Source *source, const YamlNode *node, const char *message) {
  return diag_error(source->loader->diag, source->file, node->line, node->column, "%s", message);
}

static bool is_path(const char *name) {
  return strchr(name, '/') || g_str_has_suffix(name, ".yaml") || g_str_has_suffix(name, ".yml");
}

static char *find_by_name(const char *name) {
  g_autofree char *file = g_strconcat(name, ".yaml", NULL);
  return datadir_join("configs", file);
}

static void hint_machine(Diag *diag, const char *name) {
  g_auto(GStrv) names = machine_list();
  g_autofree char *list = g_strjoinv(", ", names);
  diag_hint_nearest(diag, name, (const char *const *)names);
  if (names[0])
    diag_hint(diag, "machines: %s; a file is given by its path", list);
  else {
    g_autofree char *folder = datadir_join("configs", NULL);
    diag_hint(diag, "no machines in `%s`; is LOCKSTEP_DATA right?", folder);
  }
}

/* ---- one value ---- */

static void set_source(Machine *machine, unsigned index, const char *source) {
  g_free(machine->sources[index]);
  machine->sources[index] = g_strdup(source);
}

static bool read_scalar(const Source *source, const Param *param, const YamlNode *node, const char *origin) {
  Loader *loader = source->loader;
  if (!yaml_expect(source->tree, node, YAML_NODE_SCALAR, param->path, loader->diag))
    return false;
  g_autofree char *problem = param_parse(loader->machine, param, node->scalar);
  if (problem) {
    report(source, node, problem);
    if (param->kind == PARAM_ENUM)
      diag_hint_nearest(loader->diag, node->scalar, param->choices);
    return false;
  }
  unsigned index = param_index(param);
  loader->places[index] = (Place){source->file, node->line, node->column, ++loader->given};
  set_source(loader->machine, index, origin);
  return true;
}

/* `18 cycles`, or `{value: 18 cycles, source: "..."}`. */
static bool read_param(const Source *source, const Param *param, const YamlNode *node) {
  static const char *const allowed[] = {"value", "source", NULL};
  if (node->type != YAML_NODE_MAPPING)
    return read_scalar(source, param, node, NULL);
  Diag *diag = source->loader->diag;
  bool good = yaml_check_keys(source->tree, node, allowed, param->path, diag);
  const YamlNode *value = yaml_get(node, "value"), *origin = yaml_get(node, "source");
  if (origin) {
    g_autofree char *what = g_strconcat("source of ", param->path, NULL);
    good = yaml_expect(source->tree, origin, YAML_NODE_SCALAR, what, diag) && good;
  }
  if (!value && good) {
    g_autofree char *message = g_strdup_printf("%s has no `value`", param->path);
    return report(source, node, message);
  }
  const char *text = origin && origin->type == YAML_NODE_SCALAR ? origin->scalar : NULL;
  return value && read_scalar(source, param, value, text) && good;
}

/* ---- sections ---- */

/* A key that is right elsewhere is more likely misplaced than misspelt. */
static const Param *find_elsewhere(const char *key) {
  unsigned count;
  const Param *rows = param_rows(&count), *only = NULL;
  for (unsigned i = 0; i < count; i++) {
    if (strcmp(param_key(&rows[i]), key) != 0)
      continue;
    if (only)
      return NULL;
    only = &rows[i];
  }
  return only;
}

static void report_key(const Source *source, const YamlNode *key, const char *section) {
  Diag *diag = source->loader->diag;
  unsigned count, used = 0;
  const Param *rows = param_rows(&count);
  g_autofree const char **siblings = g_new0(const char *, count + G_N_ELEMENTS(own_keys));
  for (unsigned i = 0; i < count; i++)
    if (param_is_child(&rows[i], section))
      siblings[used++] = param_key(&rows[i]);
  for (const char *const *own = own_keys; !*section && *own; own++)
    siblings[used++] = *own;
  g_autofree char *quoted = quote_text(key->scalar);
  g_autofree char *message = *section ? g_strdup_printf("unknown key %s in section `%s`", quoted, section)
                                      : g_strdup_printf("unknown key %s in a machine", quoted);
  report(source, key, message);
  const Param *elsewhere = find_elsewhere(key->scalar);
  if (param_find(key->scalar))
    diag_hint(diag, "a path is for -s; in a file, nest the sections");
  if (elsewhere)
    diag_hint(diag, "did you mean `%s`?", elsewhere->path);
  diag_hint_nearest(diag, key->scalar, siblings);
  g_autofree char *list = g_strjoinv("`, `", (char **)siblings);
  diag_hint(diag, "valid keys: `%s`", list);
}

static bool read_section(const Source *source, const char *section, const YamlNode *mapping) {
  bool good = true;
  for (guint i = 0; i < mapping->keys->len && diag_error_count(source->loader->diag) < ERRORS_MAX; i++) {
    const YamlNode *key = g_ptr_array_index(mapping->keys, i), *value = g_ptr_array_index(mapping->values, i);
    if (!*section && g_strv_contains(own_keys, key->scalar))
      continue;
    g_autofree char *path = *section ? g_strconcat(section, ".", key->scalar, NULL) : g_strdup(key->scalar);
    /* A dot in a key must not be taken for a path. */
    const Param *row = strchr(key->scalar, '.') ? NULL : param_find(path);
    if (!row) {
      report_key(source, key, section);
      good = false;
    } else if (row->kind != PARAM_SECTION) {
      good = read_param(source, row, value) && good;
    } else {
      g_autofree char *what = g_strdup_printf("section `%s`", row->path);
      good = yaml_expect(source->tree, value, YAML_NODE_MAPPING, what, source->loader->diag) &&
             read_section(source, row->path, value) && good;
    }
  }
  return good;
}

/* ---- inheritance ---- */

static char *describe_chain(const Loader *loader, const char *last) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < loader->files->len; i++)
    g_string_append_printf(text, "%s -> ", (const char *)g_ptr_array_index(loader->files, i));
  g_string_append(text, last);
  return g_string_free(text, FALSE);
}

static char *canonicalize(const char *path) {
  char *real = realpath(path, NULL), *copy = g_strdup(real ? real : path);
  free(real);
  return copy;
}

/* The file that `base: NAME` means: a path is relative to the file that says so. NULL after an error. */
static char *find_base(const Source *source, const YamlNode *node) {
  if (!yaml_expect(source->tree, node, YAML_NODE_SCALAR, "base", source->loader->diag))
    return NULL;
  if (!*node->scalar) {
    report(source, node, "base is empty; it names a machine or a file");
    return NULL;
  }
  if (is_path(node->scalar)) {
    g_autofree char *folder = g_path_get_dirname(source->file);
    bool alone = g_path_is_absolute(node->scalar) || g_str_equal(folder, ".");
    return alone ? g_strdup(node->scalar) : g_build_filename(folder, node->scalar, NULL);
  }
  char *path = find_by_name(node->scalar);
  if (g_file_test(path, G_FILE_TEST_EXISTS))
    return path;
  g_free(path);
  g_autofree char *quoted = quote_text(node->scalar);
  g_autofree char *message = g_strdup_printf("base: there is no machine %s", quoted);
  report(source, node, message);
  hint_machine(source->loader->diag, node->scalar);
  return NULL;
}

static bool check_chain(const Source *source, const YamlNode *node, const char *path) {
  const Loader *loader = source->loader;
  g_autofree char *real = canonicalize(path);
  if (g_ptr_array_find_with_equal_func(loader->chain, real, g_str_equal, NULL)) {
    g_autofree char *chain = describe_chain(loader, path);
    g_autofree char *message = g_strdup_printf("a machine cannot inherit from itself: %s", chain);
    return report(source, node, message);
  }
  if (loader->chain->len >= BASES_MAX) {
    g_autofree char *message = g_strdup_printf("base: more than %d machines inherit from each other", BASES_MAX);
    return report(source, node, message);
  }
  return true;
}

static bool read_base(const Source *source, const YamlNode *node) {
  g_autofree char *path = find_base(source, node);
  if (!path || !check_chain(source, node, path))
    return false;
  gsize length;
  g_autofree char *text =
      datadir_read_file(path, YAML_FILE_MAX, &length, source->file, node->line, node->column, source->loader->diag);
  return text && read_file(source->loader, path, text, length, false);
}

/* ---- a file ---- */

static bool is_one_line(const char *text) {
  for (; *text; text++)
    if (g_ascii_iscntrl(*text))
      return false;
  return true;
}

static bool read_text(const Source *source, const YamlNode *node, const char *what, gsize max, char **field) {
  if (!node)
    return true;
  if (!yaml_expect(source->tree, node, YAML_NODE_SCALAR, what, source->loader->diag))
    return false;
  gsize length = strlen(node->scalar);
  if (length == 0 || length > max || !is_one_line(node->scalar)) {
    g_autofree char *message = g_strdup_printf("%s must be one line of 1 to %" G_GSIZE_FORMAT " bytes", what, max);
    return report(source, node, message);
  }
  g_free(*field);
  *field = g_strdup(node->scalar);
  return true;
}

static char *strip_ending(const char *file) {
  char *stem = g_path_get_basename(file);
  char *dot = strrchr(stem, '.');
  if (dot && dot != stem)
    *dot = '\0';
  return stem;
}

static bool read_tree(const Source *source, bool outermost) {
  const YamlNode *root = source->tree->root;
  Machine *machine = source->loader->machine;
  if (!yaml_expect(source->tree, root, YAML_NODE_MAPPING, "a machine", source->loader->diag))
    return false;
  const YamlNode *base = yaml_get(root, "base");
  bool good = !base || read_base(source, base);
  /* Name and about aren't inherited: they are checked in every file, and kept of the outermost. */
  g_autofree char *name = strip_ending(source->file), *about = g_strdup("");
  good = read_text(source, yaml_get(root, "name"), "name", NAME_MAX_BYTES, &name) && good;
  good = read_text(source, yaml_get(root, "about"), "about", ABOUT_MAX_BYTES, &about) && good;
  if (outermost) {
    g_free(machine->name);
    machine->name = g_steal_pointer(&name);
    g_free(machine->about);
    machine->about = g_steal_pointer(&about);
  }
  return read_section(source, "", root) && good;
}

static bool read_file(Loader *loader, const char *path, const char *text, gsize length, bool outermost) {
  char *file = g_strdup(path);
  g_ptr_array_add(loader->files, file);
  g_ptr_array_add(loader->chain, canonicalize(path));
  g_autoptr(YamlTree) tree = yaml_tree_parse(file, text, length, loader->diag);
  Source source = {loader, tree, file};
  return tree && read_tree(&source, outermost);
}

/* ---- the whole ---- */

static void apply_override(Loader *loader, const char *text) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text) {
    g_autofree char *quoted = quote_text(text);
    diag_usage(loader->diag, "%s isn't PATH=VALUE, for example `sm.lock_unit.bits=2048`", quoted);
    return;
  }
  g_autofree char *path = g_strstrip(g_strndup(text, (gsize)(equals - text)));
  g_autofree char *value = g_strstrip(g_strdup(equals + 1));
  if (machine_set(loader->machine, path, value, loader->diag))
    loader->places[param_index(param_find(path))] = (Place){.order = ++loader->given};
}

/* The place of the value that was given last: the others were there before it. */
static void report_check(const char *const *paths, const char *message, gpointer user) {
  Loader *loader = user;
  const Place *last = &loader->places[param_index(param_find(paths[0]))];
  for (; *paths; paths++) {
    const Place *place = &loader->places[param_index(param_find(*paths))];
    if (place->order > last->order)
      last = place;
  }
  if (last->file)
    diag_error(loader->diag, last->file, last->line, last->column, "%s", message);
  else
    diag_usage(loader->diag, "%s", message);
}

Machine *machine_parse(const char *file, const char *text, gsize length, const char *const *overrides, Diag *diag) {
  Loader loader = {.machine = machine_new_default(), .diag = diag};
  loader.files = g_ptr_array_new_with_free_func(g_free);
  loader.chain = g_ptr_array_new_with_free_func(g_free);
  g_free(loader.machine->file);
  loader.machine->file = g_strdup(file);
  unsigned errors_before = diag_error_count(diag);
  read_file(&loader, file, text, length, true);
  for (; overrides && *overrides; overrides++)
    apply_override(&loader, *overrides);
  if (diag_error_count(diag) == errors_before)
    machine_check(loader.machine, report_check, &loader);
  g_ptr_array_free(loader.files, TRUE);
  g_ptr_array_free(loader.chain, TRUE);
  if (diag_error_count(diag) > errors_before)
    g_clear_pointer(&loader.machine, machine_free);
  return loader.machine;
}

/* Who copies a machine and changes it may forget its name: reports would show one that means another machine. */
static void note_borrowed_name(const Machine *machine, Diag *diag) {
  g_autofree char *other = find_by_name(machine->name), *own = canonicalize(machine->file);
  g_autofree char *real = canonicalize(other);
  if (!g_file_test(other, G_FILE_TEST_EXISTS) || strcmp(own, real) == 0)
    return;
  diag_note(diag, machine->file, 0, 0, "it calls itself %s, which is another machine; give it a `name` of its own",
            machine->name);
}

Machine *machine_load(const char *name, const char *const *overrides, Diag *diag) {
  g_autofree char *path = is_path(name) ? datadir_resolve(name) : find_by_name(name);
  if (!is_path(name) && !g_file_test(path, G_FILE_TEST_EXISTS)) {
    g_autofree char *quoted = quote_text(name);
    diag_usage(diag, "there is no machine %s", quoted);
    hint_machine(diag, name);
    return NULL;
  }
  gsize length;
  g_autofree char *text = datadir_read_file(path, YAML_FILE_MAX, &length, NULL, 0, 0, diag);
  Machine *machine = text ? machine_parse(path, text, length, overrides, diag) : NULL;
  if (machine && is_path(name))
    note_borrowed_name(machine, diag);
  return machine;
}

char *machine_argument(const Machine *machine) {
  g_autofree char *path = find_by_name(machine->name);
  return g_strdup(*machine->file && strcmp(path, machine->file) != 0 ? machine->file : machine->name);
}
