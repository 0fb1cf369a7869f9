/* host_steps.c - the `host:` list of a scenario: what the CPU does while the GPU runs, as steps of
 * sim/core/host.h. */
#include <assert.h>
#include <string.h>

#include "base/quote.h"
#include "sim/scenario/loader.h"

enum { HOST_STEPS_MAX = 10000 };
static_assert(YAML_DEPTH_MAX <= 2 * HOST_DEPTH_MAX,
              "a repetition is a mapping in a list, so YAML's own limit will do");

static const char *const step_names[] = {"poll",   "write", "add",    "modify", "delay",
                                         "launch", "wait",  "repeat", "leave",  NULL};
static const HostStepKind step_kinds[] = {HOST_POLL,   HOST_WRITE, HOST_ADD,    HOST_MODIFY, HOST_DELAY,
                                          HOST_LAUNCH, HOST_WAIT,  HOST_REPEAT, HOST_LEAVE};

/* ---- words and conditions ---- */

static bool unknown_buffer(Loader *loader, const YamlNode *node, const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < loader->scenario->buffers->len; i++)
    g_ptr_array_add(names, ((ScenarioBuffer *)g_ptr_array_index(loader->scenario->buffers, i))->name);
  g_ptr_array_add(names, NULL);
  g_autofree char *quoted = quote_text(name);
  loader_error(loader, node, "unknown buffer %s", quoted);
  diag_hint_nearest(loader->diag, name, (const char *const *)names->pdata);
  return false;
}

/* `flag`, its first word, or `flag[i + 1]`. The host sees host-mapped buffers only; a module variable becomes one. */
static bool read_word(Loader *loader, const YamlNode *node, HostStep *step) {
  if (!loader_expect(loader, node, YAML_NODE_SCALAR, "a word"))
    return false;
  g_autofree char *text = g_strdup(node->scalar);
  char *open = strchr(text, '['), *index_text = NULL;
  gsize length = strlen(text);
  if (open && text[length - 1] == ']') {
    text[length - 1] = '\0';
    *open = '\0';
    index_text = open + 1;
  }
  int found = loader_find_buffer(loader, g_strstrip(text));
  if (found < 0)
    return unknown_buffer(loader, node, text);
  ScenarioBuffer *buffer = g_ptr_array_index(loader->scenario->buffers, found);
  buffer->host |= buffer->variable >= 0;
  if (!buffer->host)
    return loader_error(loader, node, "buffer `%s` isn't mapped from the host; expected `host: true` in `buffers`",
                        text);
  int64_t index = 0;
  if (index_text) {
    YamlNode inner = loader_scalar(index_text, node->line, node->column + (unsigned)(index_text - text));
    g_autofree char *what = g_strdup_printf("the index into buffer `%s`", text);
    if (!loader_range(loader, &inner, what, 0, (int64_t)buffer->words - 1, &index))
      return false;
  }
  step->buffer = (guint)found;
  step->index = (uint32_t)index;
  return true;
}

/* `odd`, `even`, or {eq: 3} and the like. */
static bool read_condition(Loader *loader, const YamlNode *step_node, const char *key, HostStep *step) {
  static const char *const names[] = {"eq", "ne", "lt", "ge", NULL};
  static const HostCompare compares[] = {HOST_EQ, HOST_NE, HOST_LT, HOST_GE};
  const YamlNode *node = yaml_get(step_node, key);
  if (!node)
    return loader_error(loader, step_node, "the step has no `%s`", key);
  if (node->type == YAML_NODE_SCALAR && (strcmp(node->scalar, "odd") == 0 || strcmp(node->scalar, "even") == 0)) {
    step->compare = node->scalar[0] == 'o' ? HOST_ODD : HOST_EVEN;
    return true;
  }
  if (node->type != YAML_NODE_MAPPING || node->keys->len != 1) {
    g_autofree char *found = yaml_describe(node);
    return loader_error(loader, node,
                        "%s: expected odd, even, or one of {eq: N}, {ne: N}, {lt: N}, {ge: N}, found %s", key, found);
  }
  if (!loader_check_keys(loader, node, names, key))
    return false;
  for (guint i = 0; names[i]; i++) {
    const YamlNode *value = yaml_get(node, names[i]);
    int64_t number;
    if (!value)
      continue;
    step->compare = compares[i];
    if (!loader_word(loader, value, names[i], &number))
      return false;
    step->value = (uint32_t)number;
  }
  return true;
}

/* ---- the kinds of steps ---- */

static bool read_value(Loader *loader, const YamlNode *node, HostStep *step) {
  const YamlNode *value = yaml_get(node, "value");
  int64_t number;
  if (!value)
    return loader_error(loader, node, "the step has no `value`");
  if (!loader_word(loader, value, "value", &number))
    return false;
  step->value = (uint32_t)number;
  return true;
}

static bool read_cycles(Loader *loader, const YamlNode *owner, const YamlNode *node, HostStep *step) {
  int64_t cycles;
  if (!node)
    return loader_error(loader, owner, "the step has no `cycles`");
  if (!loader_range(loader, node, "cycles", 0, INT64_MAX / 2, &cycles))
    return false;
  step->cycles = (uint64_t)cycles;
  return true;
}

/* A launch by its number in `launches`, from 0. */
static bool read_launch(Loader *loader, const YamlNode *node, HostStep *step) {
  int64_t index, last = (int64_t)loader->scenario->launches->len - 1;
  if (!loader_range(loader, node, "the launch", 0, last, &index))
    return false;
  step->launch = (uint32_t)index;
  return true;
}

static bool read_steps(Loader *loader, const YamlNode *list, unsigned depth);

static bool read_repeat(Loader *loader, const YamlNode *node, const YamlNode *count_node, guint at, unsigned depth) {
  const YamlNode *list = yaml_get(node, "steps");
  int64_t count;
  if (!list)
    return loader_error(loader, node, "the repetition has no `steps`");
  if (list->type == YAML_NODE_SEQUENCE && list->values->len == 0)
    return loader_error(loader, list, "the repetition has nothing to repeat: `steps` is empty");
  if (!loader_range(loader, count_node, "repeat", 1, UINT32_MAX, &count) || !read_steps(loader, list, depth + 1))
    return false;
  GArray *steps = loader->scenario->host;
  g_array_index(steps, HostStep, at).count = (uint32_t)count;
  g_array_index(steps, HostStep, at).body = steps->len - at - 1;
  return true;
}

/* What a step may say besides its own name. */
static const char *const *keys_of(HostStepKind kind) {
  static const char *const poll[] = {"poll", "until", NULL}, *const write[] = {"write", "value", NULL};
  static const char *const add[] = {"add", "value", NULL}, *const modify[] = {"modify", "value", "cycles", NULL};
  static const char *const delay[] = {"delay", NULL}, *const launch[] = {"launch", NULL},
                           *const wait[] = {"wait", NULL};
  static const char *const repeat[] = {"repeat", "steps", NULL}, *const leave[] = {"leave", "if", NULL};
  static const char *const *const all[] = {[HOST_POLL] = poll,     [HOST_WRITE] = write,   [HOST_ADD] = add,
                                           [HOST_MODIFY] = modify, [HOST_DELAY] = delay,   [HOST_LAUNCH] = launch,
                                           [HOST_WAIT] = wait,     [HOST_REPEAT] = repeat, [HOST_LEAVE] = leave};
  return all[kind];
}

/* The step that a mapping describes: the first of its keys that is one; NULL after an error. */
static const YamlNode *find_kind(Loader *loader, const YamlNode *node, HostStepKind *kind) {
  for (guint i = 0; step_names[i]; i++) {
    const YamlNode *value = yaml_get(node, step_names[i]);
    if (value) {
      *kind = step_kinds[i];
      return value;
    }
  }
  g_autofree char *names = g_strjoinv(", ", (char **)step_names);
  const YamlNode *key = node->keys->len ? g_ptr_array_index(node->keys, 0) : NULL;
  g_autofree char *quoted = key ? quote_text(key->scalar) : g_strdup("an empty step");
  loader_error(loader, key ? key : node, "unknown step of the host: %s", quoted);
  if (key)
    diag_hint_nearest(loader->diag, key->scalar, step_names);
  diag_hint(loader->diag, "expected one of %s", names);
  return NULL;
}

static bool read_step(Loader *loader, const YamlNode *node, unsigned depth) {
  HostStep step = {.kind = HOST_DELAY};
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, "a step of the host"))
    return false;
  const YamlNode *value = find_kind(loader, node, &step.kind);
  if (!value || !loader_check_keys(loader, node, keys_of(step.kind), "a step of the host"))
    return false;
  if (step.kind == HOST_LEAVE && depth == 0)
    return loader_error(loader, node, "`leave` stands outside of a repetition");
  guint at = loader->scenario->host->len;
  if (at >= HOST_STEPS_MAX)
    return loader_error(loader, node, "the host has more than %d steps", HOST_STEPS_MAX);
  bool good = false;
  switch (step.kind) {
  case HOST_POLL: good = read_word(loader, value, &step) && read_condition(loader, node, "until", &step); break;
  case HOST_LEAVE: good = read_word(loader, value, &step) && read_condition(loader, node, "if", &step); break;
  case HOST_WRITE:
  case HOST_ADD: good = read_word(loader, value, &step) && read_value(loader, node, &step); break;
  case HOST_MODIFY:
    good = read_word(loader, value, &step) && read_value(loader, node, &step) &&
           read_cycles(loader, node, yaml_get(node, "cycles"), &step);
    break;
  case HOST_DELAY: good = read_cycles(loader, node, value, &step); break;
  case HOST_LAUNCH:
  case HOST_WAIT: good = read_launch(loader, value, &step); break;
  case HOST_REPEAT: good = true; break;
  }
  g_array_append_val(loader->scenario->host, step);
  return step.kind == HOST_REPEAT ? read_repeat(loader, node, value, at, depth) : good;
}

static bool read_steps(Loader *loader, const YamlNode *list, unsigned depth) {
  if (!loader_expect(loader, list, YAML_NODE_SEQUENCE, "host"))
    return false;
  bool good = true;
  for (guint i = 0; i < list->values->len; i++)
    good &= read_step(loader, g_ptr_array_index(list->values, i), depth);
  return good;
}

bool loader_read_host(Loader *loader, const YamlNode *root) {
  const YamlNode *node = yaml_get(root, "host");
  if (!node)
    return true;
  loader->scenario->host = g_array_new(FALSE, FALSE, sizeof(HostStep));
  loader->scenario->host_line = node->line;
  loader->scenario->host_column = node->column;
  return read_steps(loader, node, 0);
}
