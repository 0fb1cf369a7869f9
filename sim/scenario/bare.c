/* bare.c - a program without YAML: its launch comes from its own directives and from the command line. */
#include <string.h>

#include "base/quote.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/programs.h"

/* A directive's text cut at separators that stand outside brackets, as a list node. A piece in braces or brackets is
 * read as YAML, so that `.arg {f32: 1.5}` and `.buffer a 8 [1, 2]` mean what they do in a scenario. */
typedef struct Pieces {
  GPtrArray *texts; /* char * */
  GPtrArray *nodes; /* YamlNode *, the scalars */
  GPtrArray *trees; /* YamlTree *, the others */
  YamlNode list;
} Pieces;

static void free_tree(gpointer tree) { yaml_tree_free(tree); }

/* Moves nodes that were parsed on their own (all in line 1) to their place in the program. */
static void shift(YamlNode *node, unsigned line, unsigned column) {
  node->line += line - 1;
  node->column += column - 1;
  for (guint i = 0; node->keys && i < node->keys->len; i++)
    shift(g_ptr_array_index(node->keys, i), line, column);
  for (guint i = 0; node->values && i < node->values->len; i++)
    shift(g_ptr_array_index(node->values, i), line, column);
}

static bool add_piece(Loader *loader, Pieces *pieces, const char *start, gsize length, unsigned line,
                      unsigned column) {
  char *text = g_strndup(start, length);
  g_strchomp(text);
  g_ptr_array_add(pieces->texts, text);
  if (*text == '{' || *text == '[') {
    YamlTree *tree = yaml_tree_parse(loader->file, text, strlen(text), loader->diag);
    if (!tree)
      return false;
    g_ptr_array_add(pieces->trees, tree);
    shift(tree->root, line, column);
    g_ptr_array_add(pieces->list.values, tree->root);
  } else {
    YamlNode *node = g_new(YamlNode, 1);
    *node = loader_scalar(text, line, column);
    g_ptr_array_add(pieces->nodes, node);
    g_ptr_array_add(pieces->list.values, node);
  }
  return true;
}

/* The next separator that stands outside brackets, or the end. */
static const char *piece_end(const char *at, const char *separators) {
  unsigned depth = 0;
  for (; *at && (depth > 0 || !strchr(separators, *at)); at++) {
    depth += strchr("([{", *at) != NULL;
    depth -= depth > 0 && strchr(")]}", *at);
  }
  return at;
}

static bool pieces_init(Loader *loader, Pieces *pieces, const char *text, const char *separators, unsigned line,
                        unsigned column) {
  pieces->texts = g_ptr_array_new_with_free_func(g_free);
  pieces->nodes = g_ptr_array_new_with_free_func(g_free);
  pieces->trees = g_ptr_array_new_with_free_func(free_tree);
  pieces->list = (YamlNode){.type = YAML_NODE_SEQUENCE, .line = line, .column = column};
  pieces->list.values = g_ptr_array_new();
  bool blanks = strchr(separators, ' ') != NULL; /* several count as one, and those at the ends as none */
  const char *at = text + strspn(text, " \t");
  if (!*at)
    return true;
  for (;; at++) {
    at += strspn(at, blanks ? separators : " \t");
    const char *start = at;
    at = piece_end(at, separators);
    unsigned place = column ? column + (unsigned)(start - text) : 0;
    if (at == start && !blanks)
      return loader_error(loader, &(YamlNode){.line = line, .column = place},
                          "`%s`: a value is missing %s the %s`%c`", text, *at ? "before" : "after",
                          *at ? "" : "last ", *separators);
    if (at > start && !add_piece(loader, pieces, start, (gsize)(at - start), line, place))
      return false;
    if (!*at)
      return true;
  }
}

static void pieces_clear(Pieces *pieces) {
  g_ptr_array_free(pieces->texts, TRUE);
  g_ptr_array_free(pieces->nodes, TRUE);
  g_ptr_array_free(pieces->trees, TRUE);
  g_ptr_array_free(pieces->list.values, TRUE);
}

typedef bool (*ReadPieces)(Loader *loader, const YamlNode *list, gpointer data);

static bool with_pieces(Loader *loader, const char *text, const char *separators, unsigned line, unsigned column,
                        ReadPieces read, gpointer data) {
  Pieces pieces;
  bool good = pieces_init(loader, &pieces, text, separators, line, column) && read(loader, &pieces.list, data);
  pieces_clear(&pieces);
  return good;
}

static bool read_dims(Loader *loader, const YamlNode *list, const char *name, uint32_t dims[3]) {
  return loader_dims(loader, list->values->len == 1 ? g_ptr_array_index(list->values, 0) : list, name, dims);
}

static bool read_grid(Loader *loader, const YamlNode *list, gpointer launch) {
  return read_dims(loader, list, "grid", ((ScenarioLaunch *)launch)->grid);
}

static bool read_block(Loader *loader, const YamlNode *list, gpointer launch) {
  return read_dims(loader, list, "block", ((ScenarioLaunch *)launch)->block);
}

static bool read_cluster(Loader *loader, const YamlNode *list, gpointer launch) {
  return read_dims(loader, list, "cluster", ((ScenarioLaunch *)launch)->cluster);
}

static bool read_args(Loader *loader, const YamlNode *list, gpointer launch) {
  bool good = true;
  for (guint i = 0; i < list->values->len; i++)
    good &= loader_add_arg(loader, launch, g_ptr_array_index(list->values, i));
  return good;
}

/* `.buffer NAME WORDS [INIT]`: its place first, and when all have theirs what it holds, which may be their
 * addresses. */
static bool read_buffer(Loader *loader, const YamlNode *list, gpointer init) {
  guint count = list->values->len;
  const YamlNode *name = count > 0 ? g_ptr_array_index(list->values, 0) : NULL;
  if (count < 2 || count > 3 || name->type != YAML_NODE_SCALAR)
    return loader_error(loader, list, "expected `.buffer NAME WORDS` or `.buffer NAME WORDS INIT`");
  if (!init)
    return loader_add_buffer(loader, name, g_ptr_array_index(list->values, 1));
  return count < 3 || loader_init_buffer(loader, name, g_ptr_array_index(list->values, 2));
}

static bool read_names(Loader *loader, const YamlNode *list, bool (*add)(Loader *, Expectation *, const YamlNode *)) {
  bool good = true;
  for (guint i = 0; i < list->values->len; i++)
    good &= add(loader, &loader->scenario->expect, g_ptr_array_index(list->values, i));
  return good;
}

static bool read_verdicts(Loader *loader, const YamlNode *list, gpointer unused) {
  if (list->values->len == 0)
    return loader_error(loader, list, "expected `.expect VERDICT`");
  return read_names(loader, list, loader_add_verdict);
}

static bool read_findings(Loader *loader, const YamlNode *list, gpointer unused) {
  return read_names(loader, list, loader_add_finding);
}

static const LaunchDirective *find_directive(const Loader *loader, const char *name, guint kernel) {
  const GPtrArray *all = loader->scenario->program->launch;
  for (guint i = 0; i < all->len; i++) {
    const LaunchDirective *directive = g_ptr_array_index(all, i);
    if (directive->kernel == kernel && strcmp(directive->name, name) == 0)
      return directive;
  }
  return NULL;
}

/* Reads each directive of that name, of one kernel or (kernel -1) of all. */
static bool each_directive(Loader *loader, const char *name, int kernel, const char *separators, ReadPieces read,
                           gpointer data) {
  const GPtrArray *all = loader->scenario->program->launch;
  bool good = true;
  for (guint i = 0; i < all->len; i++) {
    const LaunchDirective *directive = g_ptr_array_index(all, i);
    if (strcmp(directive->name, name) == 0 && (kernel < 0 || directive->kernel == (guint)kernel))
      good &= with_pieces(loader, directive->text, separators, directive->line, directive->column, read, data);
  }
  return good;
}

typedef struct OptionRead {
  const char *separators;
  ReadPieces read;
  gpointer data;
} OptionRead;

static bool read_option(Loader *loader, const YamlNode *node, gpointer data) {
  const OptionRead *option = data;
  return with_pieces(loader, node->scalar, option->separators, 0, 0, option->read, option->data);
}

/* Grid or block of a launch: the option, else the directive, else an error that names both. */
static bool read_size(Loader *loader, ScenarioLaunch *launch, const char *name, const char *given, ReadPieces read) {
  const LaunchDirective *directive = find_directive(loader, name, launch->kernel);
  g_autofree char *option = g_strdup_printf("--%s", name);
  OptionRead how = {",", read, launch};
  if (given)
    return loader_option(loader, option, given, read_option, &how);
  if (directive)
    return with_pieces(loader, directive->text, ",", directive->line, directive->column, read, launch);
  const Program *program = loader->scenario->program;
  g_autofree char *kernel = programs_kernel_name(loader->scenario->programs, launch->kernel);
  if (program->dialect == DIALECT_PTX)
    return diag_usage(loader->diag, "kernel `%s` has no %s: add --%s N", kernel, name, name);
  return diag_usage(loader->diag, "kernel `%s` has no %s: add `.%s N` to %s, or --%s N", kernel, name, name,
                    program->file, name);
}

static bool read_shared(Loader *loader, const YamlNode *node, gpointer launch) {
  int64_t bytes;
  if (!loader_range(loader, node, "dynamic shared memory", 0, INT32_MAX, &bytes))
    return false;
  ((ScenarioLaunch *)launch)->shared_bytes = (uint32_t)bytes;
  return true;
}

static bool add_launch(Loader *loader, guint kernel) {
  static const ScenarioOptions none;
  const ScenarioOptions *options = loader->options ? loader->options : &none;
  const LaunchDirective *grid = find_directive(loader, "grid", kernel);
  unsigned line = grid ? grid->line : program_kernel(loader->scenario->program, kernel)->line;
  ScenarioLaunch *launch = loader_launch_new(loader->file, line, grid ? grid->column : 1);
  launch->kernel = kernel;
  g_ptr_array_add(loader->scenario->launches, launch);
  if (!scenario_launch_may_run(loader->scenario, loader->scenario->launches->len - 1, loader->diag))
    return false;
  bool good = read_size(loader, launch, "grid", options->grid, read_grid);
  good &= read_size(loader, launch, "block", options->block, read_block);
  if (options->cluster)
    good &= read_size(loader, launch, "cluster", options->cluster, read_cluster);
  if (options->shared)
    good &= loader_option(loader, "--shared", options->shared, read_shared, launch);
  launch->cooperative = options->cooperative;
  OptionRead how = {",", read_args, launch};
  bool args = true;
  for (const char *const *arg = options->args; arg && *arg; arg++)
    args &= loader_option(loader, "--arg", *arg, read_option, &how);
  if (!options->args || !options->args[0])
    args &= each_directive(loader, "arg", (int)kernel, ",", read_args, launch);
  good &= args && loader_check_args(loader, launch, true);
  if (options->grid || options->block || options->cluster || options->shared)
    g_clear_pointer(&launch->file, g_free); /* its size stands on the command line */
  return good && loader_check_block(loader, launch);
}

static bool read_kernel(Loader *loader, const YamlNode *node, gpointer data) {
  int index = loader_find_kernel(loader, node);
  if (index >= 0)
    *(guint *)data = (guint)index;
  return index >= 0;
}

/* PTX has no directives that could say it; the names of its kernels are often mangled. */
static bool say_which_kernel(Loader *loader) {
  const Program *program = loader->scenario->program;
  g_auto(GStrv) names = programs_kernel_names(loader->scenario->programs);
  g_autofree char *list = g_strjoinv("`, `", names);
  diag_usage(loader->diag, "%s has %u kernels: say which with --kernel NAME", program->file, program->kernels->len);
  diag_hint(loader->diag, "kernels: `%s`", list);
  return false;
}

static bool say_scenario(Loader *loader) {
  g_autofree char *file = quote_name(loader->file);
  diag_usage(loader->diag, "%s says nothing of its launch, and this command has no options for it", file);
  diag_hint(loader->diag, "write a scenario: a .yaml with `program: %s`, its launches and buffers (doc/scenarios.md)",
            file);
  return false;
}

/* The kernel that the command line names, else the only one, else each that has a `.grid`, in order. */
static bool add_launches(Loader *loader) {
  const Program *program = loader->scenario->program;
  guint chosen = 0;
  if (loader->options && loader->options->scenario_only && program_is_compiled(program))
    return say_scenario(loader);
  if (loader->options && loader->options->kernel)
    return loader_option(loader, "--kernel", loader->options->kernel, read_kernel, &chosen) &&
           add_launch(loader, chosen);
  if (program->kernels->len == 1)
    return add_launch(loader, 0);
  bool good = true;
  for (guint i = 0; i < program->kernels->len; i++)
    if (find_directive(loader, "grid", i))
      good &= add_launch(loader, i);
  if (loader->scenario->launches->len == 0 && program->dialect == DIALECT_PTX)
    return say_which_kernel(loader);
  if (loader->scenario->launches->len == 0)
    return diag_usage(loader->diag, "%s has %u kernels: say which with --kernel NAME, or give it a `.grid`",
                      program->file, program->kernels->len);
  return good;
}

/* --buffer NAME=WORDS[:INIT] */
typedef struct BufferOption {
  const char *name, *text; /* the option's whole value */
  bool init;               /* it is INIT that is wanted */
} BufferOption;

static bool read_buffer_parts(Loader *loader, const YamlNode *list, gpointer data) {
  const BufferOption *option = data;
  guint count = list->values->len;
  if (count < 1 || count > 2)
    return loader_error(loader, list, "`%s`: expected NAME=WORDS or NAME=WORDS:INIT", option->text);
  YamlNode name = loader_scalar((char *)option->name, 0, 0);
  if (!option->init)
    return loader_add_buffer(loader, &name, g_ptr_array_index(list->values, 0));
  return count < 2 || loader_init_buffer(loader, &name, g_ptr_array_index(list->values, 1));
}

static bool read_buffer_option(Loader *loader, const YamlNode *node, gpointer init) {
  const char *equals = strchr(node->scalar, '=');
  if (!equals)
    return loader_error(loader, node, "`%s`: expected NAME=WORDS or NAME=WORDS:INIT", node->scalar);
  g_autofree char *name = g_strndup(node->scalar, (gsize)(equals - node->scalar));
  BufferOption option = {name, node->scalar, init != NULL};
  return with_pieces(loader, equals + 1, ":", 0, 0, read_buffer_parts, &option);
}

/* All buffers, or (`init`) what they hold; NULL: their places. */
static bool each_buffer(Loader *loader, gpointer init) {
  bool good = each_directive(loader, "buffer", -1, " \t", read_buffer, init);
  for (const char *const *p = loader->options ? loader->options->buffers : NULL; p && *p; p++) {
    const char *equals = strchr(*p, '='); /* messages say which of them */
    g_autofree char *option =
        g_strdup_printf("--buffer%s%.*s", equals ? " " : "", equals ? (int)(equals - *p) : 0, *p);
    good &= loader_option(loader, option, *p, read_buffer_option, init);
  }
  return good;
}

static bool check_directives(Loader *loader) {
  static const char *const once[] = {"grid", "block", "name", NULL};
  const GPtrArray *all = loader->scenario->program->launch;
  bool good = true;
  for (guint i = 0; i < all->len; i++) {
    const LaunchDirective *directive = g_ptr_array_index(all, i);
    const LaunchDirective *first = find_directive(loader, directive->name, directive->kernel);
    if (first != directive && g_strv_contains(once, directive->name))
      good = diag_error(loader->diag, loader->file, directive->line, directive->column,
                        "a second `.%s`; the first one is in line %u", directive->name, first->line);
  }
  return good;
}

static bool refuse_params(Loader *loader) {
  if (!loader->options || !loader->options->params || !loader->options->params[0])
    return true;
  return diag_usage(loader->diag, "-p %s: %s is a bare program, which has no params", loader->options->params[0],
                    loader->scenario->file);
}

static bool read_expectation(Loader *loader) {
  Scenario *scenario = loader->scenario;
  Verdict completed = VERDICT_COMPLETED;
  for (guint i = 0; i < scenario->program->launch->len; i++) {
    const LaunchDirective *directive = g_ptr_array_index(scenario->program->launch, i);
    scenario->has_expectation |= strcmp(directive->name, "expect") == 0 || strcmp(directive->name, "findings") == 0;
    if (strcmp(directive->name, "name") == 0 && *directive->text) {
      g_free(scenario->name);
      scenario->name = g_strdup(directive->text);
    }
  }
  if (!scenario->has_expectation)
    return true;
  expectation_init(&scenario->expect);
  bool good = each_directive(loader, "expect", -1, ", \t", read_verdicts, NULL);
  good &= each_directive(loader, "findings", -1, ", \t", read_findings, NULL);
  if (good && scenario->expect.verdicts->len == 0)
    g_array_append_val(scenario->expect.verdicts, completed);
  return good;
}

bool loader_read_bare(Loader *loader) {
  bool good = refuse_params(loader);
  good &= check_directives(loader);
  good &= each_buffer(loader, NULL);
  good &= loader_add_variables(loader);
  if (loader->options && loader->options->heap)
    good &= loader_option(loader, "--heap", loader->options->heap, loader_read_heap, NULL);
  good = good && each_buffer(loader, loader);
  good = good && add_launches(loader); /* without a buffer its arguments are wrong, too */
  return read_expectation(loader) && good;
}
