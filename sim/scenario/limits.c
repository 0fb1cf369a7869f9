/* limits.c - `limits` of a scenario: which values its params may have. */
#include "sim/scenario/loader.h"

typedef struct Limit {
  int64_t least, most, multiple; /* of one param */
  bool power;
} Limit;

static bool is_power(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

static bool keeps(const Limit *limit, int64_t value) {
  return value >= limit->least && value <= limit->most && value % limit->multiple == 0 &&
         (!limit->power || is_power(value));
}

/* "a multiple of 32, 64 to 1024". */
static char *limit_text(const Limit *limit) {
  GString *text = g_string_new(limit->power ? "a power of two, " : "");
  if (limit->multiple > 1)
    g_string_append_printf(text, "a multiple of %" G_GINT64_FORMAT ", ", limit->multiple);
  if (limit->most == INT64_MAX)
    g_string_append_printf(text, "at least %" G_GINT64_FORMAT, limit->least);
  else
    g_string_append_printf(text, "%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, limit->least, limit->most);
  return g_string_free(text, FALSE);
}

static bool read_limit(Loader *loader, const YamlNode *name, const YamlNode *node) {
  static const char *const keys[] = {"least", "most", "multiple", "power", NULL};
  Limit limit = {.most = INT64_MAX, .multiple = 1};
  int64_t value;
  if (!loader_param(name->scalar, &value, loader))
    return loader_error(loader, name, "limits: no param is called `%s`", name->scalar);
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, "a limit") || !loader_check_keys(loader, node, keys, "a limit"))
    return false;
  const YamlNode *least = yaml_get(node, "least"), *most = yaml_get(node, "most");
  const YamlNode *multiple = yaml_get(node, "multiple"), *power = yaml_get(node, "power");
  if (!least)
    return loader_error(loader, name, "the limit has no `least`");
  if (!loader_integer(loader, least, "least", &limit.least) ||
      (most && !loader_range(loader, most, "most", limit.least, INT64_MAX, &limit.most)) ||
      (multiple && !loader_range(loader, multiple, "multiple", 1, INT64_MAX, &limit.multiple)) ||
      (power && !loader_bool(loader, power, "power", &limit.power)))
    return false;
  if (keeps(&limit, value))
    return true;
  g_autofree char *expected = limit_text(&limit);
  return loader_error(loader, name, "param `%s` is %" G_GINT64_FORMAT ", expected %s", name->scalar, value, expected);
}

bool loader_read_limits(Loader *loader, const YamlNode *root) {
  const YamlNode *node = yaml_get(root, "limits");
  if (!node)
    return true;
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, "limits"))
    return false;
  bool good = true;
  for (guint i = 0; i < node->keys->len; i++)
    good &= read_limit(loader, g_ptr_array_index(node->keys, i), g_ptr_array_index(node->values, i));
  return good;
}
