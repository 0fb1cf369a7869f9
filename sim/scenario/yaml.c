/* yaml.c - the YAML form of a scenario (design, section 6). */
#include <string.h>

#include "base/quote.h"
#include "sim/machine/machine.h"
#include "sim/scenario/loader.h"

enum { LAUNCH_TIMES_MAX = 10000 };

/* Calls `each` for the entries of an optional mapping; true if all were good. */
static bool each_entry(Loader *loader, const YamlNode *root, const char *key,
                       bool (*each)(Loader *, const YamlNode *, const YamlNode *)) {
  const YamlNode *node = yaml_get(root, key);
  if (!node)
    return true;
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, key))
    return false;
  bool good = true;
  for (guint i = 0; i < node->keys->len; i++)
    good &= each(loader, g_ptr_array_index(node->keys, i), g_ptr_array_index(node->values, i));
  return good;
}

/* The value that the command line gives for a parameter, or NULL. */
static const char *given_param(const Loader *loader, const char *name) {
  gsize length = strlen(name);
  for (const char *const *p = loader->options ? loader->options->params : NULL; p && *p; p++)
    if (strncmp(*p, name, length) == 0 && (*p)[length] == '=')
      return *p + length + 1;
  return NULL;
}

static bool read_given(Loader *loader, const YamlNode *node, gpointer value) {
  return loader_integer(loader, node, "a param", value);
}

/* Whether expressions can use the name; `what` it is to name. */
static bool check_name(Loader *loader, const YamlNode *name, const char *what) {
  bool is_function = strcmp(name->scalar, "min") == 0 || strcmp(name->scalar, "max") == 0;
  if (expr_is_name(name->scalar) && !is_function)
    return true;
  g_autofree char *quoted = quote_text(name->scalar);
  if (is_function)
    return loader_error(loader, name, "%s can't name %s, since it is a function of expressions", quoted, what);
  return loader_error(loader, name, "%s can't name %s; expected letters, digits and `_`", quoted, what);
}

/* Parameters are evaluated in order, so that one may use those above it. After an error the name still exists, with
 * the scenario's value if that of the command line is none, to spare the user its follow-ups. */
static bool read_param(Loader *loader, const YamlNode *name, const YamlNode *node) {
  int64_t value = 0;
  g_autofree char *quoted = quote_text(name->scalar);
  if (!check_name(loader, name, "a param"))
    return false;
  const char *given = given_param(loader, name->scalar);
  g_autofree char *what = g_strdup_printf("param %s", quoted);
  g_autofree char *option = g_strdup_printf("-p %s", name->scalar);
  bool good = !given || loader_option(loader, option, given, read_given, &value);
  if (!given || !good)
    good = loader_integer(loader, node, what, &value) && good;
  loader_push_param(loader, name->scalar);
  loader_set_last_param(loader, value);
  return good;
}

static bool check_given_params(Loader *loader) {
  bool good = true;
  for (const char *const *p = loader->options ? loader->options->params : NULL; p && *p; p++) {
    const char *equals = strchr(*p, '=');
    int64_t ignored;
    if (!equals || equals == *p) {
      good = diag_usage(loader->diag, "-p %s: expected NAME=VALUE", *p);
      continue;
    }
    g_autofree char *name = g_strndup(*p, (gsize)(equals - *p));
    if (loader_param(name, &ignored, loader))
      continue;
    good = diag_usage(loader->diag, "-p %s: %s has no param `%s`", *p, loader->scenario->file, name);
    diag_hint_nearest(loader->diag, name, (const char *const *)loader->param_names->pdata);
  }
  return good;
}

static bool read_buffer(Loader *loader, const YamlNode *name, const YamlNode *node) {
  static const char *const keys[] = {"words", "init", "host", NULL};
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, "a buffer") ||
      !loader_check_keys(loader, node, keys, "a buffer"))
    return false;
  const YamlNode *words = yaml_get(node, "words");
  if (!words)
    return loader_error(loader, name, "the buffer has no `words`");
  const YamlNode *host = yaml_get(node, "host");
  bool is_host = false;
  if (!loader_add_buffer(loader, name, words) || (host && !loader_bool(loader, host, "host", &is_host)))
    return false;
  ScenarioBuffer *buffer = g_ptr_array_index(loader->scenario->buffers, loader->scenario->buffers->len - 1);
  buffer->host = is_host;
  return true;
}

static bool read_init(Loader *loader, const YamlNode *name, const YamlNode *node) {
  const YamlNode *init = node->type == YAML_NODE_MAPPING ? yaml_get(node, "init") : NULL;
  return !init || loader_init_buffer(loader, name, init);
}

static bool read_kernel(Loader *loader, ScenarioLaunch *launch, const YamlNode *node, const YamlNode *kernel) {
  const Program *program = loader->scenario->program;
  if (!kernel && program->kernels->len == 1)
    return true;
  if (!kernel)
    return loader_error(loader, node, "%s has %u kernels; expected `kernel` to say which", program->file,
                        program->kernels->len);
  if (!loader_expect(loader, kernel, YAML_NODE_SCALAR, "kernel"))
    return false;
  int index = loader_find_kernel(loader, kernel);
  launch->kernel = (guint)MAX(index, 0);
  return index >= 0;
}

static bool read_args(Loader *loader, ScenarioLaunch *launch, const YamlNode *node) {
  if (!node)
    return true;
  if (!loader_expect(loader, node, YAML_NODE_SEQUENCE, "args"))
    return false;
  bool good = true;
  for (guint i = 0; i < node->values->len; i++)
    good &= loader_add_arg(loader, launch, g_ptr_array_index(node->values, i));
  return good;
}

/* One launch, by the present value of its `index`. */
static bool read_one_launch(Loader *loader, const YamlNode *node) {
  ScenarioLaunch *launch = loader_launch_new(loader->file, node->line, node->column);
  g_ptr_array_add(loader->scenario->launches, launch);
  const YamlNode *grid = yaml_get(node, "grid"), *block = yaml_get(node, "block");
  const YamlNode *shared = yaml_get(node, "shared"), *stream = yaml_get(node, "stream");
  const YamlNode *cooperative = yaml_get(node, "cooperative"), *carveout = yaml_get(node, "carveout");
  const YamlNode *cluster = yaml_get(node, "cluster");
  int64_t shared_bytes = 0, stream_index = 0, percent = -1;
  bool has_kernel = read_kernel(loader, launch, node, yaml_get(node, "kernel")), good = has_kernel;
  good &=
      grid ? loader_dims(loader, grid, "grid", launch->grid) : loader_error(loader, node, "the launch has no `grid`");
  good &= block ? loader_dims(loader, block, "block", launch->block)
                : loader_error(loader, node, "the launch has no `block`");
  if (cluster)
    good &= loader_dims(loader, cluster, "cluster", launch->cluster);
  if (shared)
    good &= loader_range(loader, shared, "shared", 0, INT32_MAX, &shared_bytes);
  if (stream)
    good &= loader_range(loader, stream, "stream", 0, 1023, &stream_index);
  if (carveout)
    good &= loader_range(loader, carveout, "carveout", 0, 100, &percent);
  launch->carveout = (uint32_t)(percent + 1);
  launch->shared_bytes = (uint32_t)shared_bytes;
  launch->stream = (int)stream_index;
  if (cooperative)
    good &= loader_bool(loader, cooperative, "cooperative", &launch->cooperative);
  const Scenario *scenario = loader->scenario;
  if (!has_kernel || !scenario_launch_may_run(scenario, scenario->launches->len - 1, loader->diag))
    return false; /* its parameters aren't known */
  good &= read_args(loader, launch, yaml_get(node, "args"));
  return good && loader_check_args(loader, launch, false) && loader_check_block(loader, launch);
}

/* The name that `index` gives to a launch's number; it is a param, whose value comes with each launch. */
static bool read_index(Loader *loader, const YamlNode *index) {
  int64_t ignored;
  if (!loader_expect(loader, index, YAML_NODE_SCALAR, "index"))
    return false;
  if (!check_name(loader, index, "the number of a launch"))
    return false;
  if (loader_param(index->scalar, &ignored, loader))
    return loader_error(loader, index, "index: `%s` is a param already", index->scalar);
  loader_push_param(loader, index->scalar);
  return true;
}

/* The launch whose `index` is `number`. */
static bool read_numbered_launch(Loader *loader, const YamlNode *node, const YamlNode *index, int64_t number) {
  loader_set_last_param(loader, number);
  if (read_one_launch(loader, node))
    return true;
  diag_hint(loader->diag, "where `%s` is %" G_GINT64_FORMAT, index->scalar, number);
  return false;
}

/* `times`: so many launches like this one, each with arguments of its own. One that there is no time is checked all
 * the same. */
static bool read_launch_times(Loader *loader, const YamlNode *node, int64_t times, const YamlNode *index) {
  GPtrArray *launches = loader->scenario->launches;
  guint first = launches->len;
  if (!(index ? read_numbered_launch(loader, node, index, 0) : read_one_launch(loader, node)))
    return false;
  if (times == 0)
    g_ptr_array_set_size(launches, (gint)first);
  for (int64_t i = 1; i < times; i++) {
    if (!index)
      g_ptr_array_add(launches, loader_launch_copy(g_ptr_array_index(launches, first)));
    else if (!read_numbered_launch(loader, node, index, i))
      return false;
  }
  return true;
}

static bool read_launch(Loader *loader, const YamlNode *node) {
  static const char *const keys[] = {"kernel",      "grid",  "block", "shared",   "args",    "stream",
                                     "cooperative", "times", "index", "carveout", "cluster", NULL};
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, "a launch") ||
      !loader_check_keys(loader, node, keys, "a launch"))
    return false;
  const YamlNode *times = yaml_get(node, "times"), *index = yaml_get(node, "index");
  int64_t count = 1;
  if ((times && !loader_range(loader, times, "times", 0, LAUNCH_TIMES_MAX, &count)) ||
      (index && !read_index(loader, index)))
    return false;
  bool good = read_launch_times(loader, node, count, index);
  if (index)
    loader_pop_param(loader);
  return good;
}

static bool read_launches(Loader *loader, const YamlNode *root) {
  const YamlNode *node = yaml_get(root, "launches");
  if (!node)
    return loader_error(loader, root, "the scenario has no `launches`");
  if (!loader_expect(loader, node, YAML_NODE_SEQUENCE, "launches"))
    return false;
  if (node->values->len == 0)
    return loader_error(loader, node, "`launches` is empty");
  bool good = true;
  for (guint i = 0; i < node->values->len; i++)
    good &= read_launch(loader, g_ptr_array_index(node->values, i));
  if (good && loader->scenario->launches->len == 0)
    return loader_error(loader, node, "`launches`: all have `times: 0`");
  return good;
}

static bool has_mark(const Program *program, uint32_t number) {
  for (guint k = 0; k < program->kernels->len; k++) {
    const Kernel *kernel = program_kernel(program, k);
    for (uint32_t i = 0; i < kernel->nmarks; i++)
      if (kernel->marks[i].number == number)
        return true;
  }
  return false;
}

static bool read_pair(Loader *loader, const YamlNode *node, const char *what, uint32_t pair[2]) {
  if (!loader_expect(loader, node, YAML_NODE_SEQUENCE, what))
    return false;
  if (node->values->len != 2)
    return loader_error(loader, node, "%s: expected a list of two, found one of %u", what, node->values->len);
  for (guint i = 0; i < 2; i++) {
    int64_t value;
    if (!loader_range(loader, g_ptr_array_index(node->values, i), what, 0, INT32_MAX, &value))
      return false;
    pair[i] = (uint32_t)value;
  }
  return true;
}

static bool read_region(Loader *loader, const YamlNode *node) {
  ScenarioMeasure *measure = &loader->scenario->measure;
  uint32_t pair[2];
  if (!read_pair(loader, node, "region", pair))
    return false;
  for (guint i = 0; i < 2; i++)
    if (!has_mark(loader->scenario->program, pair[i]))
      return loader_error(loader, g_ptr_array_index(node->values, i), "%s has no `%s %u`",
                          loader->scenario->program->file,
                          loader->scenario->program->dialect == DIALECT_PTX ? "pmevent" : ".mark", pair[i]);
  measure->has_region = true;
  measure->region = (Region){pair[0], pair[1]};
  return true;
}

static bool read_transfers(Loader *loader, const YamlNode *node) {
  if (!loader_expect(loader, node, YAML_NODE_SCALAR, "transfers"))
    return false;
  int index = loader_known_buffer(loader, node);
  if (index < 0)
    return false;
  const ScenarioBuffer *buffer = g_ptr_array_index(loader->scenario->buffers, (guint)index);
  if (buffer->words < MEASURED_TRANSFER_WORDS)
    return loader_error(loader, node,
                        "transfers: buffer `%s` has %u words, expected %d: nanoseconds, transfers (.u64)",
                        buffer->name, buffer->words, MEASURED_TRANSFER_WORDS);
  loader->scenario->measure.has_transfers = true;
  loader->scenario->measure.transfers = (guint)index;
  return true;
}

static bool read_measure(Loader *loader, const YamlNode *root) {
  static const char *const keys[] = {"operations", "region", "longest_launch", "shared_data", "transfers",
                                     "window",     NULL};
  const YamlNode *node = yaml_get(root, "measure");
  ScenarioMeasure *measure = &loader->scenario->measure;
  if (!node)
    return true;
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, "measure") || !loader_check_keys(loader, node, keys, "measure"))
    return false;
  bool good = true;
  const YamlNode *operations = yaml_get(node, "operations"), *region = yaml_get(node, "region");
  const YamlNode *shared_data = yaml_get(node, "shared_data"), *longest = yaml_get(node, "longest_launch");
  int64_t is_longest = 0;
  if (longest)
    good &= loader_range(loader, longest, "longest_launch", 0, 1, &is_longest);
  measure->longest_launch = is_longest;
  if (operations) {
    measure->has_operations = true;
    good &= loader_range(loader, operations, "operations", 1, INT64_MAX, &measure->operations);
  }
  const YamlNode *transfers = yaml_get(node, "transfers"), *window = yaml_get(node, "window");
  int64_t window_cycles = 0;
  if (window)
    good &= loader_range(loader, window, "window", 0, INT64_MAX, &window_cycles);
  measure->window = (uint64_t)window_cycles;
  if (region)
    good &= read_region(loader, region);
  if (transfers)
    good &= read_transfers(loader, transfers);
  if (shared_data) {
    uint32_t pair[2] = {0, 0};
    good &= read_pair(loader, shared_data, "shared_data", pair);
    measure->has_shared_data = true;
    measure->shared_data_offset = pair[0];
    measure->shared_data_bytes = pair[1];
  }
  return good;
}

/* A name that no machine bears may be a machine of the user's own, so it is a warning; more often it is a slip. */
static void warn_of_unknown_machine(Loader *loader, const YamlNode *name) {
  g_auto(GStrv) known = machine_list();
  if (strchr(name->scalar, '/') || g_str_has_suffix(name->scalar, ".yaml") ||
      g_strv_contains((const char *const *)known, name->scalar))
    return;
  g_autofree char *quoted = quote_text(name->scalar);
  diag_warning(loader->diag, loader->file, name->line, name->column, "there is no machine %s", quoted);
  diag_hint_nearest(loader->diag, name->scalar, (const char *const *)known);
}

static bool read_machines(Loader *loader, const YamlNode *root) {
  const YamlNode *node = yaml_get(root, "machines");
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  bool good = !node || loader_expect(loader, node, YAML_NODE_SEQUENCE, "machines");
  for (guint i = 0; good && node && i < node->values->len; i++) {
    const YamlNode *name = g_ptr_array_index(node->values, i);
    good = loader_expect(loader, name, YAML_NODE_SCALAR, "a machine");
    if (good)
      warn_of_unknown_machine(loader, name);
    g_ptr_array_add(names, g_strdup(name->scalar));
  }
  g_ptr_array_add(names, NULL);
  g_strfreev(loader->scenario->machines);
  loader->scenario->machines = (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
  return good;
}

/* Calls `add` for a scalar, or for each entry of a list. */
static bool read_list(Loader *loader, Expectation *expect, const YamlNode *node, const char *what,
                      bool scalar_allowed, bool (*add)(Loader *, Expectation *, const YamlNode *)) {
  if (!node)
    return true;
  if (scalar_allowed && node->type == YAML_NODE_SCALAR)
    return add(loader, expect, node);
  if (!loader_expect(loader, node, YAML_NODE_SEQUENCE, what))
    return false;
  if (scalar_allowed && node->values->len == 0)
    return loader_error(loader, node, "%s: the list is empty", what);
  bool good = true;
  for (guint i = 0; i < node->values->len; i++)
    good &= add(loader, expect, g_ptr_array_index(node->values, i));
  return good;
}

/* An expectation in which a key of `own` replaces that of `common`; either may be NULL. */
static bool fill_expectation(Loader *loader, Expectation *expect, const YamlNode *common, const YamlNode *own) {
#define KEY(name) (own && yaml_get(own, name) ? yaml_get(own, name) : common ? yaml_get(common, name) : NULL)
  const YamlNode *buffers = KEY("buffers");
  expectation_init(expect);
  bool good = read_list(loader, expect, KEY("verdict"), "verdict", true, loader_add_verdict);
  good &= read_list(loader, expect, KEY("findings"), "findings", false, loader_add_finding);
#undef KEY
  if (buffers && !loader_expect(loader, buffers, YAML_NODE_MAPPING, "buffers"))
    return false;
  for (guint i = 0; buffers && i < buffers->keys->len; i++)
    good &= loader_add_expected_buffer(loader, expect, g_ptr_array_index(buffers->keys, i),
                                       g_ptr_array_index(buffers->values, i));
  Verdict completed = VERDICT_COMPLETED;
  if (good && expect->verdicts->len == 0)
    g_array_append_val(expect->verdicts, completed);
  return good;
}

static bool check_expectation(Loader *loader, const YamlNode *node, const char *what) {
  static const char *const keys[] = {"verdict", "buffers", "findings", NULL};
  return loader_expect(loader, node, YAML_NODE_MAPPING, what) && loader_check_keys(loader, node, keys, what);
}

static bool read_expect_on(Loader *loader, const YamlNode *common, const YamlNode *name, const YamlNode *node) {
  const char *const *machines = (const char *const *)loader->scenario->machines;
  if (!check_expectation(loader, node, "expect_on"))
    return false;
  if (machines[0] && !g_strv_contains(machines, name->scalar)) {
    g_autofree char *quoted = quote_text(name->scalar);
    loader_error(loader, name, "%s isn't one of the scenario's `machines`", quoted);
    diag_hint_nearest(loader->diag, name->scalar, machines);
    return false;
  }
  if (!machines[0])
    warn_of_unknown_machine(loader, name);
  Expectation *expect = g_new0(Expectation, 1);
  g_hash_table_insert(loader->scenario->expect_on, g_strdup(name->scalar), expect);
  return fill_expectation(loader, expect, common, node);
}

static bool read_expectations(Loader *loader, const YamlNode *root) {
  const YamlNode *common = yaml_get(root, "expect"), *on = yaml_get(root, "expect_on");
  bool good = true;
  if (common) {
    if (!check_expectation(loader, common, "expect") ||
        !fill_expectation(loader, &loader->scenario->expect, common, NULL))
      return false;
    loader->scenario->has_expectation = true;
  }
  if (!on)
    return true;
  if (!loader_expect(loader, on, YAML_NODE_MAPPING, "expect_on"))
    return false;
  for (guint i = 0; i < on->keys->len; i++)
    good &= read_expect_on(loader, common, g_ptr_array_index(on->keys, i), g_ptr_array_index(on->values, i));
  return good;
}

static bool refuse_bare_options(Loader *loader) {
  const ScenarioOptions *options = loader->options;
  if (!options)
    return true;
  const char *given = options->kernel                           ? "--kernel"
                      : options->grid                           ? "--grid"
                      : options->block                          ? "--block"
                      : options->cluster                        ? "--cluster"
                      : options->shared                         ? "--shared"
                      : options->cooperative                    ? "--cooperative"
                      : options->heap                           ? "--heap"
                      : options->buffers && options->buffers[0] ? "--buffer"
                      : options->args && options->args[0]       ? "--arg"
                                                                : NULL;
  return !given ||
         diag_usage(loader->diag, "%s is for bare programs; %s gives its own launch", given, loader->scenario->file);
}

/* Which kernels the program must have. What is wrong with a launch is said when it is read. */
static void collect_kernels(Loader *loader, const YamlNode *root) {
  const YamlNode *launches = yaml_get(root, "launches");
  loader->kernels = g_ptr_array_new();
  for (guint i = 0; launches && launches->type == YAML_NODE_SEQUENCE && i < launches->values->len; i++) {
    const YamlNode *launch = g_ptr_array_index(launches->values, i);
    const YamlNode *kernel = launch->type == YAML_NODE_MAPPING ? yaml_get(launch, "kernel") : NULL;
    if (kernel && kernel->type == YAML_NODE_SCALAR)
      g_ptr_array_add(loader->kernels, kernel->scalar);
  }
  g_ptr_array_add(loader->kernels, NULL);
}

bool loader_read_yaml(Loader *loader, const YamlTree *tree) {
  static const char *const keys[] = {"about", "program", "params",   "limits", "buffers",   "heap", "launches",
                                     "host",  "measure", "machines", "expect", "expect_on", NULL};
  const YamlNode *root = tree->root;
  if (!loader_expect(loader, root, YAML_NODE_MAPPING, "a scenario"))
    return false;
  bool good = loader_check_keys(loader, root, keys, "a scenario");
  const YamlNode *about = yaml_get(root, "about"), *program = yaml_get(root, "program");
  good &= refuse_bare_options(loader);
  if (about && (good &= loader_expect(loader, about, YAML_NODE_SCALAR, "about")))
    loader->scenario->about = g_strdup(about->scalar);
  good &= each_entry(loader, root, "params", read_param);
  good &= check_given_params(loader);
  if (!loader_read_limits(loader, root))
    return false;
  good &= each_entry(loader, root, "buffers", read_buffer);
  good &= read_machines(loader, root);
  if (!program)
    return loader_error(loader, root, "the scenario has no `program`");
  collect_kernels(loader, root);
  if (!loader_expect(loader, program, YAML_NODE_SCALAR, "program") || !loader_read_program(loader, program))
    return false;
  good &= loader_add_variables(loader);
  const YamlNode *buffers = yaml_get(root, "buffers");
  if (buffers && buffers->type == YAML_NODE_MAPPING) /* else that has been said */
    good &= each_entry(loader, root, "buffers", read_init);
  good &= !yaml_get(root, "heap") || loader_read_heap(loader, yaml_get(root, "heap"), NULL);
  good &= read_launches(loader, root);
  good &= loader_read_host(loader, root);
  good &= read_measure(loader, root);
  return good && read_expectations(loader, root);
}
