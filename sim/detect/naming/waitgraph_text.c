/* How a wait-for graph is shown: names of nodes, DOT and JSON. */
#include <json-glib/json-glib.h>

#include "sim/detect/naming/locate.h"
#include "sim/detect/naming/waitgraph.h"

static const char *const node_kinds[] = {"lane",    "word",           "lock-bit", "reconvergence",
                                         "barrier", "pending-blocks", "host",     "copy"};
static const char *const edge_kinds[] = {"word",    "lock-bit",  "alias", "reconvergence",
                                         "barrier", "residency", "copy"};
G_STATIC_ASSERT(G_N_ELEMENTS(node_kinds) == NODE_KINDS && G_N_ELEMENTS(edge_kinds) == EDGE_KINDS);

static const WarpView *view_of(const WaitGraph *graph, const Node *node) {
  return g_ptr_array_index(graph->explorer->views, node->view);
}

static char *lanes_text_of(const WaitGraph *graph, const Node *node, uint32_t lanes) {
  const WarpView *view = view_of(graph, node);
  return locate_lanes_text(graph->explorer->gpu, view->launch, view->block->index, view->warp->warp_in_block, lanes);
}

/* Names a node for people: "lane 3 of warp 0 of block 0". Free with g_free. */
static char *node_text(const WaitGraph *graph, const Node *node) {
  Gpu *gpu = graph->explorer->gpu;
  switch (node->kind) {
  case NODE_LANE: return lanes_text_of(graph, node, 1u << node->index);
  case NODE_WORD:
    return word_key_is_shared(node->key) ? g_strdup_printf("shared word 0x%x of SM %u", (uint32_t)node->key * 4,
                                                           (uint32_t)(node->key >> 32) & 0x7fffffffu)
                                         : locate_global_text(gpu, node->key * 4);
  case NODE_BIT:
    return g_strdup_printf("lock bit %u of SM %u%s", (uint32_t)node->key, bit_key_sm(node->key),
                           node->key & BIT_TAKEN ? ", to be taken" : "");
  case NODE_ENTRY: return wait_entry_name(view_of(graph, node), node->index);
  case NODE_BARRIER:
    if (node->index == GRID_BARRIER)
      return g_strdup_printf("barrier of all blocks of %s", view_of(graph, node)->launch->name);
    if (node->index == CLUSTER_BARRIER)
      return g_strdup_printf("barrier of the cluster of block %" G_GUINT64_FORMAT,
                             view_of(graph, node)->block->index);
    return g_strdup_printf("barrier %u of block %" G_GUINT64_FORMAT, node->index, view_of(graph, node)->block->index);
  case NODE_PENDING: return g_strdup_printf("blocks of %s that aren't resident", gpu_launch(gpu, node->index)->name);
  case NODE_HOST: return g_strdup("the host");
  case NODE_COPY: {
    g_autofree char *word = locate_global_text(gpu, node->key * 4);
    return g_strdup_printf("%s in the L1 of SM %u", word, node->index);
  }
  case NODE_KINDS: break;
  }
  return NULL;
}

/* ---- lanes of a warp with the same edges are shown as one node ---- */

typedef struct Grouping {
  guint *leader;   /* for each node: the node that stands for it */
  uint32_t *lanes; /* for a leader that is a lane: mask of its group */
} Grouping;

static gint compare_numbers(gconstpointer a, gconstpointer b) {
  const gint64 *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* What a node waits for and what waits for it, as numbers with the kind and direction of the edge. */
static GArray **gather_neighbours(const WaitGraph *graph) {
  GArray **neighbours = g_new(GArray *, graph->nodes->len + 1);
  for (guint i = 0; i < graph->nodes->len; i++)
    neighbours[i] = g_array_new(FALSE, FALSE, sizeof(gint64));
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    gint64 out = (gint64)edge->to << 4 | edge->kind << 1, in = (gint64)edge->from << 4 | edge->kind << 1 | 1;
    g_array_append_val(neighbours[edge->from], out);
    g_array_append_val(neighbours[edge->to], in);
  }
  for (guint i = 0; i < graph->nodes->len; i++)
    g_array_sort(neighbours[i], compare_numbers);
  return neighbours;
}

static char *group_key(const WaitGraph *graph, guint index, const GArray *neighbours) {
  const Node *node = wait_node(graph, index);
  GString *key = g_string_new(NULL);
  if (node->kind != NODE_LANE) {
    g_string_printf(key, "node %u", index);
    return g_string_free(key, FALSE);
  }
  g_string_printf(key, "view %u", node->view);
  for (guint i = 0; i < neighbours->len; i++)
    g_string_append_printf(key, " %" G_GINT64_FORMAT, g_array_index(neighbours, gint64, i));
  return g_string_free(key, FALSE);
}

static void group_lanes(const WaitGraph *graph, Grouping *grouping) {
  GArray **neighbours = gather_neighbours(graph);
  GHashTable *leaders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  grouping->leader = g_new(guint, graph->nodes->len + 1);
  grouping->lanes = g_new0(uint32_t, graph->nodes->len + 1);
  for (guint i = 0; i < graph->nodes->len; i++) {
    char *key = group_key(graph, i, neighbours[i]);
    gpointer known = g_hash_table_lookup(leaders, key);
    grouping->leader[i] = known ? GPOINTER_TO_UINT(known) - 1 : i;
    if (wait_node(graph, i)->kind == NODE_LANE)
      grouping->lanes[grouping->leader[i]] |= 1u << wait_node(graph, i)->index;
    if (known)
      g_free(key);
    else
      g_hash_table_insert(leaders, key, GUINT_TO_POINTER(i + 1));
    g_array_free(neighbours[i], TRUE);
  }
  g_hash_table_destroy(leaders);
  g_free(neighbours);
}

static void grouping_clear(Grouping *grouping) {
  g_free(grouping->leader);
  g_free(grouping->lanes);
}

static char *group_text(const WaitGraph *graph, const Grouping *grouping, guint index) {
  const Node *node = wait_node(graph, index);
  return node->kind == NODE_LANE ? lanes_text_of(graph, node, grouping->lanes[index]) : node_text(graph, node);
}

/* True if both ends of the edge stand for their groups: then it is shown. */
static bool is_shown(const Grouping *grouping, const Edge *edge) {
  return grouping->leader[edge->from] == edge->from && grouping->leader[edge->to] == edge->to;
}

char *wait_graph_dot(const WaitGraph *graph) {
  static const char *const shapes[] = {"box", "ellipse", "diamond", "hexagon", "octagon", "folder", "house", "note"};
  GString *out = g_string_new("digraph waits {\n  node [fontname=\"sans-serif\"];\n");
  Grouping grouping;
  group_lanes(graph, &grouping);
  for (guint i = 0; i < graph->nodes->len; i++) {
    if (grouping.leader[i] != i)
      continue;
    g_autofree char *plain = group_text(graph, &grouping, i), *text = g_strescape(plain, NULL);
    g_string_append_printf(out, "  n%u [shape=%s, label=\"%s\"%s];\n", i, shapes[wait_node(graph, i)->kind], text,
                           wait_node(graph, i)->in_cycle ? ", style=bold" : "");
  }
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    if (is_shown(&grouping, edge))
      g_string_append_printf(out, "  n%u -> n%u [label=\"%s\"];\n", edge->from, edge->to, edge_kinds[edge->kind]);
  }
  g_string_append(out, "}\n");
  grouping_clear(&grouping);
  return g_string_free(out, FALSE);
}

static void add_json_node(JsonBuilder *builder, const WaitGraph *graph, const Grouping *grouping, guint index) {
  const Node *node = wait_node(graph, index);
  g_autofree char *text = group_text(graph, grouping, index);
  json_builder_begin_object(builder);
  json_builder_set_member_name(builder, "id");
  json_builder_add_int_value(builder, index);
  json_builder_set_member_name(builder, "kind");
  json_builder_add_string_value(builder, node_kinds[node->kind]);
  json_builder_set_member_name(builder, "in_cycle");
  json_builder_add_boolean_value(builder, node->in_cycle);
  json_builder_set_member_name(builder, "text");
  json_builder_add_string_value(builder, text);
  json_builder_end_object(builder);
}

static void add_json_edge(JsonBuilder *builder, const Edge *edge) {
  json_builder_begin_object(builder);
  json_builder_set_member_name(builder, "from");
  json_builder_add_int_value(builder, edge->from);
  json_builder_set_member_name(builder, "to");
  json_builder_add_int_value(builder, edge->to);
  json_builder_set_member_name(builder, "kind");
  json_builder_add_string_value(builder, edge_kinds[edge->kind]);
  json_builder_end_object(builder);
}

char *wait_graph_json(const WaitGraph *graph) {
  g_autoptr(JsonBuilder) builder = json_builder_new();
  Grouping grouping;
  group_lanes(graph, &grouping);
  json_builder_begin_object(builder);
  json_builder_set_member_name(builder, "nodes");
  json_builder_begin_array(builder);
  for (guint i = 0; i < graph->nodes->len; i++)
    if (grouping.leader[i] == i)
      add_json_node(builder, graph, &grouping, i);
  json_builder_end_array(builder);
  json_builder_set_member_name(builder, "edges");
  json_builder_begin_array(builder);
  for (guint i = 0; i < graph->edges->len; i++)
    if (is_shown(&grouping, wait_edge(graph, i)))
      add_json_edge(builder, wait_edge(graph, i));
  json_builder_end_array(builder);
  json_builder_end_object(builder);
  grouping_clear(&grouping);
  g_autoptr(JsonNode) root = json_builder_get_root(builder);
  return json_to_string(root, FALSE);
}
