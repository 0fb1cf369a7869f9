/* plan_yaml.c - plans as YAML: read and written. */
#include "sim/study/sweep/plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "base/quote.h"
#include "sim/machine/yaml_tree.h"

enum { PLAN_FILE_MAX = 16 << 20 };

static const char *const part_keys[] = {"scenarios", "machines", "set", "params", NULL};
static const char *const plan_keys[] = {"about",        "scenarios",     "machines", "set",      "params",
                                        "parts",        "seed",          "seeds",    "counters", "code",
                                        "limit_cycles", "point_seconds", NULL};

typedef struct Reader {
  Plan *plan;
  YamlTree *tree;
  char *folder; /* where scenarios are looked for first */
  Diag *diag;
} Reader;

static bool fail(Reader *reader, const YamlNode *node, const char *expected) {
  g_autofree char *found = yaml_describe(node);
  return diag_error(reader->diag, reader->tree->file, node->line, node->column, "expected %s, found %s", expected,
                    found);
}

static AxisPlace place_of(const Reader *reader, const YamlNode *node) {
  return (AxisPlace){.file = reader->tree->file, .line = node->line, .column = node->column};
}

/* --- single values --- */

static bool read_count(Reader *reader, const YamlNode *root, const char *key, guint64 lowest, guint64 highest,
                       guint64 *value) {
  const YamlNode *node = yaml_get(root, key);
  if (!node)
    return true;
  g_autofree char *expected =
      g_strdup_printf("%s between %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, key, lowest, highest);
  return (node->type == YAML_NODE_SCALAR &&
          g_ascii_string_to_unsigned(node->scalar, 10, lowest, highest, value, NULL)) ||
         fail(reader, node, expected);
}

static bool read_seconds(Reader *reader, const YamlNode *root) {
  const YamlNode *node = yaml_get(root, "point_seconds");
  if (!node)
    return true;
  char *end = NULL;
  double value = node->type == YAML_NODE_SCALAR ? g_ascii_strtod(node->scalar, &end) : 0;
  if (!end || end == node->scalar || *end || !isfinite(value) || value <= 0)
    return fail(reader, node, "point_seconds above 0");
  reader->plan->point_seconds = value;
  return true;
}

static bool read_code(Reader *reader, const YamlNode *root) {
  const YamlNode *node = yaml_get(root, "code");
  const char *text = node && node->type == YAML_NODE_SCALAR ? node->scalar : NULL;
  if (node && !(text && (strcmp(text, "ptx") == 0 || strcmp(text, "sass") == 0)))
    return fail(reader, node, "`ptx` or `sass` as code");
  if (node)
    reader->plan->code = strcmp(text, "ptx") == 0 ? CODE_PTX : CODE_MACHINE;
  return true;
}

/* --- lists --- */

/* Calls `take` for each text of a list, or for the one that stands alone. */
static bool each_text(Reader *reader, const YamlNode *node, const char *what,
                      bool (*take)(Reader *reader, const YamlNode *node, gpointer user), gpointer user) {
  g_autofree char *expected = g_strdup_printf("a list of %s", what);
  g_autofree char *one = g_strdup_printf("one of the %s", what);
  if (node->type == YAML_NODE_SCALAR)
    return take(reader, node, user);
  if (node->type != YAML_NODE_SEQUENCE || node->values->len == 0)
    return fail(reader, node, expected);
  bool good = true;
  for (guint i = 0; i < node->values->len; i++) {
    const YamlNode *item = g_ptr_array_index(node->values, i);
    good &= item->type == YAML_NODE_SCALAR ? take(reader, item, user) : fail(reader, item, one);
  }
  return good;
}

/* A file that a plan names lies beside it; else the name is as it was written. Free with g_free. */
static char *beside_plan(const Reader *reader, const char *name) {
  g_autofree char *beside =
      g_path_is_absolute(name) || !*reader->folder ? g_strdup(name) : g_build_filename(reader->folder, name, NULL);
  return g_file_test(beside, G_FILE_TEST_EXISTS) ? g_steal_pointer(&beside) : g_strdup(name);
}

/* A machine's name is no path. */
static bool is_machine_file(const char *name) {
  return strchr(name, '/') || g_str_has_suffix(name, ".yaml") || g_str_has_suffix(name, ".yml");
}

static bool take_scenario(Reader *reader, const YamlNode *node, gpointer part) {
  g_autofree char *name = beside_plan(reader, node->scalar);
  AxisPlace place = place_of(reader, node);
  plan_part_name(((PlanPart *)part)->scenarios, name, &place);
  return *node->scalar || fail(reader, node, "a scenario");
}

static bool take_machine(Reader *reader, const YamlNode *node, gpointer part) {
  g_autofree char *name = is_machine_file(node->scalar) ? beside_plan(reader, node->scalar) : g_strdup(node->scalar);
  AxisPlace place = place_of(reader, node);
  plan_part_name(((PlanPart *)part)->machines, name, &place);
  return *node->scalar || fail(reader, node, "a machine");
}

static bool take_value(Reader *reader, const YamlNode *node, gpointer axis) {
  AxisPlace place = place_of(reader, node);
  return axis_parse(node->scalar, &place, ((Axis *)axis)->values, reader->diag);
}

static bool take_number(Reader *reader, const YamlNode *node, gpointer unused) {
  AxisPlace place = place_of(reader, node);
  return plan_add_number(reader->plan, node->scalar, &place, reader->diag);
}

static bool read_list(Reader *reader, const YamlNode *root, const char *key, GPtrArray *old,
                      bool (*take)(Reader *reader, const YamlNode *node, gpointer user), gpointer user) {
  const YamlNode *node = yaml_get(root, key);
  if (!node)
    return true;
  if (old)
    g_ptr_array_set_size(old, 0);
  return each_text(reader, node, key, take, user);
}

static bool read_axes(Reader *reader, const YamlNode *root, const char *key, AxisKind kind, PlanPart *part) {
  const YamlNode *node = yaml_get(root, key);
  if (!node)
    return true;
  if (node->type != YAML_NODE_MAPPING)
    return fail(reader, node,
                kind == AXIS_SETTING ? "`set` as a mapping of parameters of the machine to values"
                                     : "`params` as a mapping of the scenario's params to values");
  bool good = true;
  for (guint i = 0; i < node->keys->len; i++) {
    const YamlNode *name = g_ptr_array_index(node->keys, i);
    AxisPlace place = place_of(reader, name);
    Axis *axis = axis_new(kind, name->scalar, &place);
    good &= each_text(reader, g_ptr_array_index(node->values, i), "values", take_value, axis);
    plan_part_put(part, axis);
  }
  return good;
}

static bool read_part(Reader *reader, const YamlNode *node, PlanPart *part) {
  bool good = read_list(reader, node, "scenarios", part->scenarios, take_scenario, part);
  good &= read_list(reader, node, "machines", part->machines, take_machine, part);
  good &= read_axes(reader, node, "set", AXIS_SETTING, part);
  good &= read_axes(reader, node, "params", AXIS_PARAM, part);
  return good;
}

static bool read_parts(Reader *reader, const YamlNode *root, const PlanPart *common) {
  const YamlNode *node = yaml_get(root, "parts");
  if (!node) {
    g_ptr_array_add(reader->plan->parts, plan_part_copy(common));
    return true;
  }
  if (node->type != YAML_NODE_SEQUENCE || node->values->len == 0)
    return fail(reader, node, "a list of parts");
  bool good = true;
  for (guint i = 0; i < node->values->len; i++) {
    const YamlNode *item = g_ptr_array_index(node->values, i);
    PlanPart *part = plan_part_copy(common);
    part->line = item->line;
    part->column = item->column;
    g_ptr_array_add(reader->plan->parts, part);
    good &= item->type == YAML_NODE_MAPPING
                ? yaml_check_keys(reader->tree, item, part_keys, "a part of a plan", reader->diag) &&
                      read_part(reader, item, part)
                : fail(reader, item, "a part: a mapping");
  }
  return good;
}

static bool read_plan(Reader *reader) {
  const YamlNode *root = reader->tree->root;
  if (root->type != YAML_NODE_MAPPING)
    return fail(reader, root, "a plan: a mapping with `scenarios`");
  Plan *plan = reader->plan;
  guint64 seeds = plan->seeds;
  PlanPart *common = plan_part_new();
  common->line = root->line;
  common->column = root->column;
  const YamlNode *about = yaml_get(root, "about");
  bool good = yaml_check_keys(reader->tree, root, plan_keys, "a plan", reader->diag);
  good &= !about || about->type == YAML_NODE_SCALAR || fail(reader, about, "a line of text as about");
  good &= read_part(reader, root, common) && read_parts(reader, root, common);
  good &= read_count(reader, root, "seed", 0, G_MAXINT64, &plan->seed);
  good &= read_count(reader, root, "seeds", 1, PLAN_SEEDS_MAX, &seeds);
  good &= read_count(reader, root, "limit_cycles", 1, G_MAXINT64, &plan->limit_cycles);
  good &= read_seconds(reader, root) && read_code(reader, root);
  good &= read_list(reader, root, "counters", plan->numbers, take_number, NULL);
  plan->seeds = (unsigned)seeds;
  plan_part_free(common);
  return good && plan_check(plan, reader->diag);
}

Plan *plan_parse(const char *file, const char *text, gsize length, Diag *diag) {
  g_autoptr(YamlTree) tree = yaml_tree_parse(file, text, length, diag);
  if (!tree)
    return NULL;
  g_autoptr(Plan) plan = plan_empty();
  plan->file = g_strdup(file);
  g_autofree char *folder = strchr(file, '/') ? g_path_get_dirname(file) : g_strdup("");
  Reader reader = {.plan = plan, .tree = tree, .folder = folder, .diag = diag};
  return read_plan(&reader) ? g_steal_pointer(&plan) : NULL;
}

Plan *plan_load(const char *path, Diag *diag) {
  gsize length;
  g_autofree char *resolved = datadir_resolve(path);
  g_autofree char *text = datadir_read_file(resolved, PLAN_FILE_MAX, &length, NULL, 0, 0, diag);
  return text ? plan_parse(resolved, text, length, diag) : NULL;
}

/* A plan's keys that no scenario has, and words that are nearly one of its lists: who writes `scenario: x.yaml` wants
 * to hear of a plan. */
static bool is_for_plan(const char *key) {
  static const char *const lists[] = {"scenarios", "parts", NULL};
  static const char *const shared[] = {"about", "machines", "params", NULL};
  if (g_strv_contains(shared, key))
    return false;
  return g_strv_contains(plan_keys, key) || diag_nearest(key, lists);
}

static bool looks_like_plan(const YamlNode *root) {
  if (yaml_get(root, "scenarios") || yaml_get(root, "parts"))
    return true;
  bool some = false;
  for (guint i = 0; i < root->keys->len; i++)
    some |= is_for_plan(((const YamlNode *)g_ptr_array_index(root->keys, i))->scalar);
  return some && !yaml_get(root, "program") && !yaml_get(root, "launches");
}

bool plan_is_plan(const char *path) {
  gsize length;
  g_autoptr(Diag) ignored = diag_new();
  g_autofree char *resolved = datadir_resolve(path);
  if (!g_str_has_suffix(path, ".yaml") && !g_str_has_suffix(path, ".yml"))
    return false;
  g_autofree char *text = datadir_read_file(resolved, PLAN_FILE_MAX, &length, NULL, 0, 0, ignored);
  g_autoptr(YamlTree) tree = text ? yaml_tree_parse(resolved, text, length, ignored) : NULL;
  return tree && tree->root->type == YAML_NODE_MAPPING && looks_like_plan(tree->root);
}

/* --- writing --- */

/* In double quotes, so that YAML takes it as it is: it would fold line breaks, of which U+0085, U+2028 and U+2029 are
 * some. */
static void append_quoted(GString *out, const char *text) {
  g_string_append_c(out, '"');
  for (const char *next; *text; text = next) {
    gunichar letter = g_utf8_get_char_validated(text, -1);
    bool is_valid = letter < (gunichar)-2;
    next = is_valid ? g_utf8_next_char(text) : text + 1;
    if (*text == '"' || *text == '\\')
      g_string_append_c(out, '\\');
    if (is_valid && (g_unichar_iscntrl(letter) || letter == 0x2028 || letter == 0x2029))
      g_string_append_printf(out, "\\u%04x", letter);
    else
      g_string_append_len(out, text, next - text);
  }
  g_string_append_c(out, '"');
}

static const char *value_at(const GPtrArray *values, guint index) { return g_ptr_array_index(values, index); }

/* A list of texts, which `text_at` finds and `form` writes. */
static void append_list(GString *out, const char *key, const GPtrArray *texts,
                        const char *(*text_at)(const GPtrArray *texts, guint index),
                        char *(*form)(const char *text)) {
  append_quoted(out, key);
  g_string_append(out, ": [");
  for (guint i = 0; i < texts->len; i++) {
    g_autofree char *text = form(text_at(texts, i));
    g_string_append(out, i ? ", " : "");
    append_quoted(out, text);
  }
  g_string_append(out, "]\n");
}

static char *as_it_is(const char *text) { return g_strdup(text); }

/* A scenario may lie in the data folder. */
static char *absolute(const char *path) {
  g_autofree char *resolved = datadir_resolve(path);
  return g_file_test(resolved, G_FILE_TEST_EXISTS) ? g_canonicalize_filename(resolved, NULL) : g_strdup(path);
}

static char *machine_text(const char *name) {
  return is_machine_file(name) ? g_canonicalize_filename(name, NULL) : g_strdup(name);
}

static void append_axes(GString *out, const PlanPart *part, AxisKind kind) {
  bool first = true;
  for (guint i = 0; i < part->axes->len; i++) {
    const Axis *axis = g_ptr_array_index(part->axes, i);
    if (axis->kind != kind)
      continue;
    if (first)
      g_string_append_printf(out, "    %s:\n", kind == AXIS_SETTING ? "set" : "params");
    first = false;
    g_string_append(out, "      ");
    append_list(out, axis->name, axis->values, value_at, as_it_is);
  }
}

char *plan_text(const Plan *plan) {
  char seconds[G_ASCII_DTOSTR_BUF_SIZE];
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "seed: %" G_GUINT64_FORMAT "\nseeds: %u\nlimit_cycles: %" G_GUINT64_FORMAT "\n",
                         plan->seed, plan->seeds, plan->limit_cycles);
  if (plan->point_seconds > 0)
    g_string_append_printf(out, "point_seconds: %s\n", g_ascii_dtostr(seconds, sizeof seconds, plan->point_seconds));
  if (plan->code != CODE_BEST)
    g_string_append_printf(out, "code: %s\n", plan->code == CODE_PTX ? "ptx" : "sass");
  if (plan->numbers->len)
    append_list(out, "counters", plan->numbers, value_at, as_it_is);
  g_string_append(out, "parts:\n");
  for (guint i = 0; i < plan->parts->len; i++) {
    const PlanPart *part = g_ptr_array_index(plan->parts, i);
    g_string_append(out, "  - ");
    append_list(out, "scenarios", part->scenarios, plan_part_text, absolute);
    if (part->machines->len) {
      g_string_append(out, "    ");
      append_list(out, "machines", part->machines, plan_part_text, machine_text);
    }
    append_axes(out, part, AXIS_SETTING);
    append_axes(out, part, AXIS_PARAM);
  }
  return g_string_free(out, FALSE);
}
