/* init_graph.c - a buffer that holds a part of a graph. */
#include "sim/scenario/graph.h"
#include "sim/scenario/loader.h"

/* Words of one list: its index in `words`. */
static bool choose(Loader *loader, const YamlNode *node, const char *key, const char *const *words, unsigned *index) {
  const YamlNode *word = yaml_get(node, key);
  if (!word)
    return loader_error(loader, node, "graph: `%s` is missing", key);
  if (!loader_expect(loader, word, YAML_NODE_SCALAR, key))
    return false;
  for (*index = 0; words[*index]; ++*index)
    if (g_str_equal(words[*index], word->scalar))
      return true;
  loader_error(loader, word, "graph: unknown %s `%s`", key, word->scalar);
  diag_hint_nearest(loader->diag, word->scalar, words);
  return false;
}

/* A number that the kind of graph needs; others stay as they are. */
static bool take(Loader *loader, const YamlNode *node, const char *key, int64_t least, int64_t most,
                 uint32_t *value) {
  const YamlNode *number = yaml_get(node, key);
  int64_t given;
  if (!number)
    return loader_error(loader, node, "graph: `%s` is missing", key);
  if (!loader_range(loader, number, key, least, most, &given))
    return false;
  *value = (uint32_t)given;
  return true;
}

static bool take_size(Loader *loader, const YamlNode *node, GraphSpec *spec) {
  int64_t most = GRAPH_EDGES_MAX;
  switch (spec->kind) {
  case GRAPH_ROAD:
    return take(loader, node, "width", 2, 2048, &spec->width) &&
           (!yaml_get(node, "edges") ||
            take(loader, node, "edges", 1, 2 * spec->width * (spec->width - 1), &spec->edges));
  case GRAPH_MESH:
    return take(loader, node, "width", 3, 2048, &spec->width) && take(loader, node, "length", 1, 2048, &spec->length);
  default: break;
  }
  if (!take(loader, node, "vertices", 2, most, &spec->vertices) ||
      !take(loader, node, "edges", 1, most, &spec->edges))
    return false;
  if (spec->kind == GRAPH_RMAT && (spec->vertices & (spec->vertices - 1)))
    return loader_error(loader, node, "graph: rmat has a power of two of vertices, not %u", spec->vertices);
  return spec->kind != GRAPH_BIPARTITE || take(loader, node, "width", 1, spec->vertices - 1, &spec->width);
}

bool loader_init_graph(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node) {
  static const char *const keys[] = {"kind", "part", "vertices", "edges", "width", "length", "below", "seed", NULL};
  unsigned kind, part;
  GraphSpec spec = {.below = 1000, .seed = 1};
  if (!loader_expect(loader, node, YAML_NODE_MAPPING, "graph") || !loader_check_keys(loader, node, keys, "`graph`") ||
      !choose(loader, node, "kind", graph_kind_names, &kind) ||
      !choose(loader, node, "part", graph_part_names, &part))
    return false;
  if (part == GRAPH_ERROR && kind != GRAPH_BIPARTITE)
    return loader_error(loader, yaml_get(node, "part"),
                        "graph: `error` is a part of `bipartite`, whose edges are ratings, not of `%s`",
                        graph_kind_names[kind]);
  spec.kind = kind;
  int64_t seed = 1;
  const YamlNode *seed_node = yaml_get(node, "seed");
  if (seed_node && !loader_range(loader, seed_node, "seed", 0, INT64_MAX, &seed))
    return false;
  spec.seed = (uint64_t)seed;
  if (!take_size(loader, node, &spec) ||
      (yaml_get(node, "below") && !take(loader, node, "below", 2, 1 << 20, &spec.below)))
    return false;
  Graph *graph = graph_new(&spec);
  uint32_t words = graph_part(graph, part, NULL);
  bool fits = words <= buffer->words;
  if (fits)
    graph_part(graph, part, buffer->init);
  graph_free(graph);
  return fits || loader_error(loader, node, "graph: its %s are %u words, but buffer `%s` has %u",
                              graph_part_names[part], words, buffer->name, buffer->words);
}
