/* loader.c - single values of a scenario, with their checks: numbers, grid and block, buffers, kernels. */
#include <string.h>

#include "base/datadir.h"
#include "base/quote.h"
#include "sim/memory/heap.h"
#include "sim/scenario/demangle.h"
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

void loader_push_param(Loader *loader, const char *name) {
  static const int64_t none = 0;
  g_ptr_array_insert(loader->param_names, (gint)loader->param_names->len - 1, g_strdup(name));
  g_array_append_val(loader->param_values, none);
}

void loader_set_last_param(Loader *loader, int64_t value) {
  g_array_index(loader->param_values, int64_t, loader->param_values->len - 1) = value;
}

void loader_pop_param(Loader *loader) {
  g_ptr_array_remove_index(loader->param_names, loader->param_names->len - 2);
  g_array_set_size(loader->param_values, loader->param_values->len - 1);
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

bool loader_is_fraction(const YamlNode *node) {
  char *end = node->scalar;
  bool hexadecimal = node->type == YAML_NODE_SCALAR && strpbrk(node->scalar, "xX");
  if (node->type == YAML_NODE_SCALAR && !hexadecimal && strpbrk(node->scalar, ".eE"))
    g_ascii_strtod(node->scalar, &end);
  return end != node->scalar && !*end;
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

bool loader_read_heap(Loader *loader, const YamlNode *node, gpointer unused) {
  int64_t bytes;
  if (!loader_range(loader, node, "the device heap", HEAP_BYTES_MIN, HEAP_BYTES_MAX, &bytes))
    return false;
  loader->scenario->heap_bytes = (uint32_t)bytes / HEAP_UNIT * HEAP_UNIT;
  return true;
}

static bool dimension(Loader *loader, const YamlNode *node, const char *name, uint32_t *size) {
  int64_t value;
  g_autofree char *what = g_strdup_printf("the %s", name);
  if (!loader_integer(loader, node, what, &value))
    return false;
  if (value == 0)
    return loader_error(loader, node, "%s has no %s", what, strcmp(name, "block") == 0 ? "threads" : "blocks");
  g_autofree char *found = value_text(node, value);
  if (value < 0 || value > INT32_MAX)
    return loader_error(loader, node, "%s has a size of %s, expected 1 to %d", what, found, INT32_MAX);
  *size = (uint32_t)value;
  return true;
}

bool loader_dims(Loader *loader, const YamlNode *node, const char *name, uint32_t dims[3]) {
  dims[0] = dims[1] = dims[2] = 1;
  if (node->type == YAML_NODE_SCALAR)
    return dimension(loader, node, name, &dims[0]);
  if (node->type == YAML_NODE_MAPPING || node->values->len < 1 || node->values->len > 3) {
    g_autofree char *found =
        node->type == YAML_NODE_MAPPING ? g_strdup("a mapping") : g_strdup_printf("a list of %u", node->values->len);
    return loader_error(loader, node, "%s: expected a number or a list of one to three, found %s", name, found);
  }
  bool good = true;
  for (guint i = 0; i < node->values->len; i++)
    good &= dimension(loader, g_ptr_array_index(node->values, i), name, &dims[i]);
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
  g_checksum_update(loader->digest, (const guchar *)bytes, (gssize)length);
  uint32_t *values = g_new(uint32_t, *words + 1);
  for (uint64_t i = 0; i < *words; i++) {
    uint32_t word;
    memcpy(&word, bytes + i * 4, 4);
    values[i] = GUINT32_FROM_LE(word);
  }
  return values;
}

/* A module variable is found by its mangled name, too. */
static bool is_called(const Scenario *scenario, const ScenarioBuffer *buffer, const char *name) {
  if (strcmp(buffer->name, name) == 0 || buffer->variable < 0)
    return strcmp(buffer->name, name) == 0;
  const ProgramVariable *variable = g_ptr_array_index(scenario->program->variables, buffer->variable);
  return strcmp(variable->name, name) == 0;
}

int loader_find_buffer(const Loader *loader, const char *name) {
  for (guint i = 0; i < loader->scenario->buffers->len; i++)
    if (is_called(loader->scenario, g_ptr_array_index(loader->scenario->buffers, i), name))
      return (int)i;
  return -1;
}

bool loader_is_buffer(const Loader *loader, const YamlNode *node) {
  int64_t ignored;
  if (node->type != YAML_NODE_SCALAR || loader_param(node->scalar, &ignored, (gpointer)loader))
    return false;
  return expr_is_name(node->scalar) || loader_find_buffer(loader, node->scalar) >= 0; /* `ns::counter` */
}

int loader_known_buffer(Loader *loader, const YamlNode *name) {
  int index = loader_find_buffer(loader, name->scalar);
  if (index >= 0)
    return index;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < loader->scenario->buffers->len; i++)
    g_ptr_array_add(names, ((ScenarioBuffer *)g_ptr_array_index(loader->scenario->buffers, i))->name);
  g_ptr_array_add(names, NULL);
  g_autofree char *quoted = quote_text(name->scalar);
  loader_error(loader, name, "unknown buffer %s", quoted);
  diag_hint_nearest(loader->diag, name->scalar, (const char *const *)names->pdata);
  return -1;
}

bool loader_add_buffer(Loader *loader, const YamlNode *name, const YamlNode *words) {
  int64_t count, ignored;
  g_autofree char *quoted = quote_text(name->scalar);
  if (!expr_is_name(name->scalar) || strcmp(name->scalar, "min") == 0 || strcmp(name->scalar, "max") == 0)
    return loader_error(loader, name, "%s can't name a buffer; expected letters, digits and `_`", quoted);
  if (loader_param(name->scalar, &ignored, loader))
    return loader_error(loader, name, "%s is both a param and a buffer", quoted);
  if (loader_find_buffer(loader, name->scalar) >= 0)
    return loader_error(loader, name, "a second buffer %s", quoted);
  g_autofree char *what = g_strdup_printf("the size of buffer %s in words", quoted);
  bool fits = loader_range(loader, words, what, 1, SCENARIO_WORDS_MAX, &count);
  if (fits && loader->words + (uint64_t)count > SCENARIO_WORDS_MAX)
    fits = loader_error(loader, words, "the buffers have more than %d words together", SCENARIO_WORDS_MAX);
  if (!fits) /* who names it makes no other mistake */
    count = 1;
  loader->words += (uint64_t)count;
  ScenarioBuffer *buffer = g_new0(ScenarioBuffer, 1);
  buffer->name = g_strdup(name->scalar);
  buffer->words = (uint32_t)count;
  buffer->variable = -1;
  g_ptr_array_add(loader->scenario->buffers, buffer);
  return fits;
}

/* Names of the program's module variables as the source has them; one that c++filt can't tell stays mangled. */
static char **variable_names(const Program *program) {
  const GPtrArray *variables = program->variables;
  char **names = g_new0(char *, variables->len + 1), **readable = NULL;
  bool mangled = false;
  for (guint i = 0; i < variables->len; i++) {
    names[i] = g_strdup(((const ProgramVariable *)g_ptr_array_index(variables, i))->name);
    mangled |= g_str_has_prefix(names[i], "_Z");
  }
  if (mangled)
    readable = demangle_names(names);
  if (!readable)
    return names;
  g_strfreev(names);
  return readable;
}

bool loader_add_variables(Loader *loader) {
  const GPtrArray *variables = loader->scenario->program->variables;
  g_auto(GStrv) names = variable_names(loader->scenario->program);
  for (guint i = 0; i < variables->len; i++) {
    const ProgramVariable *variable = g_ptr_array_index(variables, i);
    if (loader_find_buffer(loader, variable->name) >= 0)
      return diag_error(loader->diag, loader->file, 0, 0, "buffer `%s` has the name of a variable of %s; rename it",
                        variable->name, loader->scenario->program->file);
    bool taken = loader_find_buffer(loader, names[i]) >= 0;
    ScenarioBuffer *buffer = g_new0(ScenarioBuffer, 1);
    buffer->name = g_strdup(taken ? variable->name : names[i]);
    buffer->words = (variable->bytes + 3) / 4;
    buffer->variable = (int)i;
    g_ptr_array_add(loader->scenario->buffers, buffer);
  }
  return true;
}

int loader_find_kernel(Loader *loader, const YamlNode *node) {
  Programs *programs = loader->scenario->programs;
  bool several;
  int found = programs_find_kernel(programs, node->scalar, &several);
  if (found < 0)
    programs_no_kernel(programs, node->scalar, several, loader->diag, loader->file, node->line, node->column);
  return found;
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
  for (guint i = 0; i < copy->args->len; i++) {
    const ScenarioArg *arg = &g_array_index(copy->args, ScenarioArg, i);
    if (arg->bytes)
      g_bytes_ref(arg->bytes);
    if (arg->addresses)
      g_array_ref(arg->addresses);
  }
  return copy;
}
