/* init.c - what a buffer holds at first. */
#include <string.h>

#include "base/quote.h"
#include "sim/engine/rng.h"
#include "sim/scenario/layout.h"

static bool init_list(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  if (node->values->len > buffer->words)
    return loader_error(loader, node, "init has %u values, but buffer `%s` has %u word%s", node->values->len,
                        buffer->name, buffer->words, buffer->words == 1 ? "" : "s");
  for (guint i = 0; i < node->values->len; i++) {
    int64_t value;
    const YamlNode *item = g_ptr_array_index(node->values, i);
    if (!loader_word(loader, item, "an initial value", &value)) {
      if (loader_is_fraction(item))
        diag_hint(loader->diag, "a list of floats is {f32: [...]}");
      return false;
    }
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

/* A float, in every word. */
static bool init_float(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  double value;
  if (!loader_real(loader, node, "f32", &value))
    return false;
  float narrow = (float)value;
  for (uint32_t i = 0; i < buffer->words; i++)
    memcpy(&buffer->init[i], &narrow, sizeof narrow);
  return true;
}

static bool init_floats(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  if (node->type == YAML_NODE_SCALAR)
    return init_float(loader, buffer, node);
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

/* So many too many can still be counted, for the message. */
enum { SLACK_BYTES = 65536 };

/* Members as in a struct of C, addresses of buffers among them. */
static bool init_struct(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(ScenarioAddress));
  if (!layout_members(loader, node, NULL, (uint64_t)buffer->words * 4 + SLACK_BYTES, bytes, addresses))
    return false;
  uint64_t words = ((uint64_t)bytes->len + 3) / 4;
  if (words > buffer->words)
    return loader_error(loader, node, "init has %u bytes, but buffer `%s` has %u word%s", bytes->len, buffer->name,
                        buffer->words, buffer->words == 1 ? "" : "s");
  for (guint i = 0; i < bytes->len; i++)
    buffer->init[i / 4] |= (uint32_t)bytes->data[i] << 8 * (i % 4);
  buffer->addresses = g_steal_pointer(&addresses);
  return true;
}

static bool init_buffer(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  static const char *const keys[] = {"random", "file", "f32", "struct", "graph", NULL};
  if (node->type == YAML_NODE_SEQUENCE)
    return layout_is_needed(loader, node) ? init_struct(loader, buffer, node) : init_list(loader, buffer, node);
  if (node->type == YAML_NODE_MAPPING) {
    if (!loader_check_keys(loader, node, keys, "`init`"))
      return false;
    const YamlNode *random = yaml_get(node, "random"), *file = yaml_get(node, "file");
    const YamlNode *floats = yaml_get(node, "f32");
    const YamlNode *members = yaml_get(node, "struct"), *graph = yaml_get(node, "graph");
    if (!!random + !!file + !!floats + !!members + !!graph != 1)
      return loader_error(loader, node, "init: expected one of `random`, `file`, `f32`, `struct` and `graph`");
    return random   ? init_random(loader, buffer, random)
           : graph  ? loader_init_graph(loader, buffer, graph)
           : file   ? init_file(loader, buffer, file)
           : floats ? init_floats(loader, buffer, floats)
                    : init_struct(loader, buffer, members);
  }
  static const char *const words[] = {"iota", "undefined", NULL};
  int64_t value = 0, ignored;
  bool iota = strcmp(node->scalar, "iota") == 0 && !loader_param("iota", &ignored, loader);
  buffer->undefined = strcmp(node->scalar, "undefined") == 0 && !loader_param("undefined", &ignored, loader);
  if (!iota && !buffer->undefined && !loader_word(loader, node, "init", &value)) {
    diag_hint_nearest(loader->diag, node->scalar, words);
    diag_hint(loader->diag,
              "init is a number, iota, undefined, a list, {random: ...}, {f32: 1.5}, {f32: [...]}, {struct: [...]}, "
              "{graph: ...} or {file: ...}");
    return false;
  }
  for (uint32_t i = 0; i < buffer->words; i++)
    buffer->init[i] = iota ? i : (uint32_t)value;
  return true;
}

bool loader_init_buffer(Loader *loader, const YamlNode *name, const YamlNode *init) {
  int index = loader_find_buffer(loader, name->scalar);
  ScenarioBuffer *buffer = index < 0 ? NULL : g_ptr_array_index(loader->scenario->buffers, index);
  if (!buffer || buffer->init || buffer->variable >= 0)
    return true; /* what is wrong with it has been said */
  buffer->init = g_new0(uint32_t, buffer->words);
  return init_buffer(loader, buffer, init);
}
