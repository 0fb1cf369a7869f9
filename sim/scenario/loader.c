/* loader.c - single values of a scenario, with their checks: numbers, grid and block, buffers, kernels. */
#include <string.h>

#include "base/datadir.h"
#include "base/quote.h"
#include "sim/engine/rng.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/programs.h"

YamlNode loader_scalar(char *text, unsigned line, unsigned column) {
  return (YamlNode){.type = YAML_NODE_SCALAR, .line = line, .column = column, .scalar = text};
}

bool loader_error(Loader *loader, const YamlNode *node, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  return diag_error(loader->diag, loader->file, node->line, node->column, "%s", message);
}

bool loader_option(Loader *loader, const char *option, const char *text,
                   bool (*read)(Loader *loader, const YamlNode *node, gpointer data), gpointer data) {
  g_autofree char *copy = g_strdup(text);
  g_autoptr(Diag) inner = diag_new();
  Diag *outer = loader->diag;
  const char *file = loader->file;
  YamlNode node = loader_scalar(copy, 0, 0);
  loader->diag = inner;
  loader->file = option;
  bool good = read(loader, &node, data);
  loader->diag = outer;
  loader->file = file;
  for (unsigned i = 0; i < diag_count(inner); i++) {
    diag_usage(outer, "%s: %s", option, diag_item(inner, i)->message);
    if (diag_item(inner, i)->hint)
      diag_hint(outer, "%s", diag_item(inner, i)->hint);
  }
  return good;
}

/* The checks of yaml_tree.h name the place by the tree's file only. */
bool loader_expect(Loader *loader, const YamlNode *node, YamlNodeType type, const char *what) {
  YamlTree place = {.file = (char *)loader->file};
  return yaml_expect(&place, node, type, what, loader->diag);
}

bool loader_check_keys(Loader *loader, const YamlNode *mapping, const char *const *allowed, const char *what) {
  YamlTree place = {.file = (char *)loader->file};
  return yaml_check_keys(&place, mapping, allowed, what, loader->diag);
}

bool loader_param(const char *name, int64_t *value, gpointer user) {
  const Loader *loader = user;
  for (guint i = 0; i + 1 < loader->param_names->len; i++)
    if (strcmp(g_ptr_array_index(loader->param_names, i), name) == 0) {
      *value = g_array_index(loader->param_values, int64_t, i);
      return true;
    }
  return false;
}

bool loader_integer(Loader *loader, const YamlNode *node, const char *what, int64_t *value) {
  ExprScope scope = {loader_param, loader, (const char *const *)loader->param_names->pdata};
  if (!loader_expect(loader, node, YAML_NODE_SCALAR, what))
    return false;
  if (!*node->scalar)
    return loader_error(loader, node, "%s: expected a number, found nothing", what);
  return expr_evaluate(node->scalar, &scope, loader->file, node->line, node->column + (node->quoted ? 1 : 0), value,
                       loader->diag);
}

/* "16", or "`blocks * 2` (16)" if the text isn't the number itself. */
static char *value_text(const YamlNode *node, int64_t value) {
  g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, value);
  g_autofree char *quoted = quote_text(node->scalar);
  return strcmp(node->scalar, number) == 0 ? g_steal_pointer(&number) : g_strdup_printf("%s (%s)", quoted, number);
}

bool loader_range(Loader *loader, const YamlNode *node, const char *what, int64_t lowest, int64_t highest,
                  int64_t *value) {
  if (!loader_integer(loader, node, what, value))
    return false;
  if (*value >= lowest && *value <= highest)
    return true;
  g_autofree char *found = value_text(node, *value);
  return loader_error(loader, node, "%s is %s, expected %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, what, found,
                      lowest, highest);
}

bool loader_bool(Loader *loader, const YamlNode *node, const char *what, bool *value) {
  if (!loader_expect(loader, node, YAML_NODE_SCALAR, what))
    return false;
  *value = strcmp(node->scalar, "true") == 0;
  if (*value || strcmp(node->scalar, "false") == 0)
    return true;
  g_autofree char *quoted = quote_text(node->scalar);
  return loader_error(loader, node, "%s: expected true or false, found %s", what, quoted);
}

bool loader_real(Loader *loader, const YamlNode *node, const char *what, double *value) {
  if (!loader_expect(loader, node, YAML_NODE_SCALAR, what))
    return false;
  char *end;
  int64_t integer;
  *value = g_ascii_strtod(node->scalar, &end);
  if (end != node->scalar && !*end)
    return true;
  if (!loader_integer(loader, node, what, &integer))
    return false;
  *value = (double)integer;
  return true;
}

bool loader_word(Loader *loader, const YamlNode *node, const char *what, int64_t *value) {
  return loader_range(loader, node, what, INT32_MIN, UINT32_MAX, value);
}

static bool dimension(Loader *loader, const YamlNode *node, bool is_grid, uint32_t *size) {
  int64_t value;
  const char *what = is_grid ? "the grid" : "the block";
  if (!loader_integer(loader, node, what, &value))
    return false;
  if (value == 0)
    return loader_error(loader, node, "%s has no %s", what, is_grid ? "blocks" : "threads");
  g_autofree char *found = value_text(node, value);
  if (value < 0 || value > INT32_MAX)
    return loader_error(loader, node, "%s has a size of %s, expected 1 to %d", what, found, INT32_MAX);
  *size = (uint32_t)value;
  return true;
}

bool loader_dims(Loader *loader, const YamlNode *node, bool is_grid, uint32_t dims[3]) {
  dims[0] = dims[1] = dims[2] = 1;
  if (node->type == YAML_NODE_SCALAR)
    return dimension(loader, node, is_grid, &dims[0]);
  if (node->type == YAML_NODE_MAPPING || node->values->len < 1 || node->values->len > 3) {
    g_autofree char *found =
        node->type == YAML_NODE_MAPPING ? g_strdup("a mapping") : g_strdup_printf("a list of %u", node->values->len);
    return loader_error(loader, node, "%s: expected a number or a list of one to three, found %s",
                        is_grid ? "grid" : "block", found);
  }
  bool good = true;
  for (guint i = 0; i < node->values->len; i++)
    good &= dimension(loader, g_ptr_array_index(node->values, i), is_grid, &dims[i]);
  return good;
}

uint32_t *loader_word_file(Loader *loader, const YamlNode *node, uint64_t *words) {
  if (!loader_expect(loader, node, YAML_NODE_SCALAR, "file"))
    return NULL;
  g_autofree char *path = g_path_is_absolute(node->scalar)
                              ? g_strdup(node->scalar)
                              : g_build_filename(loader->real_folder, node->scalar, NULL);
  gsize length;
  g_autofree char *bytes = datadir_read_file(path, (gsize)SCENARIO_WORDS_MAX * 4, &length, loader->file, node->line,
                                             node->column, loader->diag);
  if (!bytes)
    return NULL;
  if (length % 4) {
    g_autofree char *quoted = quote_text(node->scalar);
    loader_error(loader, node, "%s has %zu bytes, which isn't a whole number of 4-byte words", quoted, length);
    return NULL;
  }
  *words = length / 4;
  uint32_t *values = g_new(uint32_t, *words + 1);
  for (uint64_t i = 0; i < *words; i++) {
    uint32_t word;
    memcpy(&word, bytes + i * 4, 4);
    values[i] = GUINT32_FROM_LE(word);
  }
  return values;
}

static bool init_list(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  if (node->values->len > buffer->words)
    return loader_error(loader, node, "init has %u values, but buffer `%s` has %u word%s", node->values->len,
                        buffer->name, buffer->words, buffer->words == 1 ? "" : "s");
  for (guint i = 0; i < node->values->len; i++) {
    int64_t value;
    if (!loader_word(loader, g_ptr_array_index(node->values, i), "an initial value", &value))
      return false;
    buffer->init[i] = (uint32_t)value;
  }
  return true;
}

static bool init_random(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  static const char *const keys[] = {"seed", "below", NULL};
  int64_t seed = 1, below = (int64_t)UINT32_MAX + 1;
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, "random") || !loader_check_keys(loader, node, keys, "`random`"))
    return false;
  const YamlNode *seed_node = yaml_get(node, "seed"), *below_node = yaml_get(node, "below");
  if (seed_node && !loader_range(loader, seed_node, "seed", 0, INT64_MAX, &seed))
    return false;
  if (below_node && !loader_range(loader, below_node, "below", 1, below, &below))
    return false;
  Rng rng;
  rng_seed(&rng, (uint64_t)seed, 0);
  for (uint32_t i = 0; i < buffer->words; i++)
    buffer->init[i] = below > UINT32_MAX ? (uint32_t)(rng_next(&rng) >> 32) : rng_below(&rng, (uint32_t)below);
  return true;
}

static bool init_file(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  uint64_t words;
  g_autofree uint32_t *values = loader_word_file(loader, node, &words);
  if (!values)
    return false;
  g_autofree char *quoted = quote_text(node->scalar);
  if (words > buffer->words)
    return loader_error(loader, node, "%s has %" G_GUINT64_FORMAT " words, but buffer `%s` has %u", quoted, words,
                        buffer->name, buffer->words);
  memcpy(buffer->init, values, words * 4);
  return true;
}

static bool init_floats(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  if (!loader_expect(loader, node, YAML_NODE_SEQUENCE, "f32"))
    return false;
  if (node->values->len > buffer->words)
    return loader_error(loader, node, "init has %u values, but buffer `%s` has %u word%s", node->values->len,
                        buffer->name, buffer->words, buffer->words == 1 ? "" : "s");
  for (guint i = 0; i < node->values->len; i++) {
    double value;
    if (!loader_real(loader, g_ptr_array_index(node->values, i), "f32", &value))
      return false;
    float narrow = (float)value;
    memcpy(&buffer->init[i], &narrow, sizeof narrow);
  }
  return true;
}

static bool init_buffer(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  static const char *const keys[] = {"random", "file", "f32", NULL};
  if (node->type == YAML_NODE_SEQUENCE)
    return init_list(loader, buffer, node);
  if (node->type == YAML_NODE_MAPPING) {
    if (!loader_check_keys(loader, node, keys, "`init`"))
      return false;
    const YamlNode *random = yaml_get(node, "random"), *file = yaml_get(node, "file");
    const YamlNode *floats = yaml_get(node, "f32");
    if (!!random + !!file + !!floats != 1)
      return loader_error(loader, node, "init: expected one of `random`, `file` and `f32`");
    return random ? init_random(loader, buffer, random)
           : file ? init_file(loader, buffer, file)
                  : init_floats(loader, buffer, floats);
  }
  int64_t value = 0, ignored;
  bool iota = strcmp(node->scalar, "iota") == 0 && !loader_param("iota", &ignored, loader);
  if (!iota && !loader_word(loader, node, "init", &value))
    return false;
  for (uint32_t i = 0; i < buffer->words; i++)
    buffer->init[i] = iota ? i : (uint32_t)value;
  return true;
}

int loader_find_buffer(const Loader *loader, const char *name) {
  for (guint i = 0; i < loader->scenario->buffers->len; i++)
    if (strcmp(((ScenarioBuffer *)g_ptr_array_index(loader->scenario->buffers, i))->name, name) == 0)
      return (int)i;
  return -1;
}

bool loader_add_buffer(Loader *loader, const YamlNode *name, const YamlNode *words, const YamlNode *init) {
  int64_t count, ignored;
  g_autofree char *quoted = quote_text(name->scalar);
  if (!expr_is_name(name->scalar) || strcmp(name->scalar, "min") == 0 || strcmp(name->scalar, "max") == 0)
    return loader_error(loader, name, "%s can't name a buffer; expected letters, digits and `_`", quoted);
  if (loader_param(name->scalar, &ignored, loader))
    return loader_error(loader, name, "%s is both a param and a buffer", quoted);
  if (loader_find_buffer(loader, name->scalar) >= 0)
    return loader_error(loader, name, "a second buffer %s", quoted);
  g_autofree char *what = g_strdup_printf("the size of buffer %s in words", quoted);
  if (!loader_range(loader, words, what, 1, SCENARIO_WORDS_MAX, &count))
    return false;
  if (loader->words + (uint64_t)count > SCENARIO_WORDS_MAX)
    return loader_error(loader, words, "the buffers have more than %d words together", SCENARIO_WORDS_MAX);
  loader->words += (uint64_t)count;
  ScenarioBuffer *buffer = g_new0(ScenarioBuffer, 1);
  buffer->name = g_strdup(name->scalar);
  buffer->words = (uint32_t)count;
  buffer->variable = -1;
  g_ptr_array_add(loader->scenario->buffers, buffer);
  if (!init)
    return true;
  buffer->init = g_new0(uint32_t, count);
  return init_buffer(loader, buffer, init);
}

bool loader_add_variables(Loader *loader) {
  const GPtrArray *variables = loader->scenario->program->variables;
  for (guint i = 0; i < variables->len; i++) {
    const ProgramVariable *variable = g_ptr_array_index(variables, i);
    if (loader_find_buffer(loader, variable->name) >= 0)
      return diag_error(loader->diag, loader->file, 0, 0, "buffer `%s` has the name of a variable of %s; rename it",
                        variable->name, loader->scenario->program->file);
    ScenarioBuffer *buffer = g_new0(ScenarioBuffer, 1);
    buffer->name = g_strdup(variable->name);
    buffer->words = (variable->bytes + 3) / 4;
    buffer->variable = (int)i;
    g_ptr_array_add(loader->scenario->buffers, buffer);
  }
  return true;
}

int loader_find_kernel(Loader *loader, const YamlNode *node) {
  const Program *program = loader->scenario->program;
  bool several;
  int found = programs_find_kernel(program, node->scalar, &several);
  if (found >= 0)
    return found;
  g_auto(GStrv) names = programs_kernel_names(program);
  g_autofree char *quoted = quote_text(node->scalar);
  if (several) {
    g_autofree char *all = g_strjoinv(", ", names);
    loader_error(loader, node, "%s has several kernels %s", program->file, quoted);
    diag_hint(loader->diag, "expected one of %s", all);
    return -1;
  }
  loader_error(loader, node, "unknown kernel %s in %s", quoted, program->file);
  diag_hint_nearest(loader->diag, node->scalar, (const char *const *)names);
  return -1;
}

ScenarioLaunch *loader_launch_new(const char *file, unsigned line, unsigned column) {
  ScenarioLaunch *launch = g_new0(ScenarioLaunch, 1);
  launch->args = g_array_new(FALSE, TRUE, sizeof(ScenarioArg));
  launch->file = g_strdup(file);
  launch->line = line;
  launch->column = column;
  return launch;
}

ScenarioLaunch *loader_launch_copy(const ScenarioLaunch *launch) {
  ScenarioLaunch *copy = g_memdup2(launch, sizeof *launch);
  copy->file = g_strdup(launch->file);
  copy->args = g_array_copy(launch->args);
  for (guint i = 0; i < copy->args->len; i++)
    if (g_array_index(copy->args, ScenarioArg, i).bytes)
      g_bytes_ref(g_array_index(copy->args, ScenarioArg, i).bytes);
  return copy;
}
