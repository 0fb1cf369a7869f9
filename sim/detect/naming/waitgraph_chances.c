/* A lane may wait for one of several words: in flat combining for the answer of whoever has the lock, or for the
 * lock. What it would change once it had the lock doesn't help anybody if the lock never comes. So edges by which
 * it would are dropped, and those who waited for that wait for the lock alone: otherwise all of them seem to wait
 * in a circle. */
#include "sim/detect/naming/waitgraph.h"

enum { CHANCE_STEPS_MAX = 4000000 };

/* Of the words that the lane waits for those that nobody would change. False if that's none of them, or all. */
static bool some_lack_actors(const WaitGraph *graph, const Node *lane, GHashTable *lacking) {
  bool others = false;
  for (uint32_t at = lane->first_edge; at; at = wait_edge(graph, at - 1)->next) {
    Node *thing = wait_node(graph, wait_edge(graph, at - 1)->to);
    if (wait_lacks_actor(thing))
      g_hash_table_add(lacking, &thing->key);
    else
      others = true;
  }
  return others && g_hash_table_size(lacking);
}

/* The lane would change the thing, but for that it needs one of the words that nobody would change. */
static bool is_chance(WaitGraph *graph, const Edge *edge) {
  const Node *thing = wait_node(graph, edge->from), *lane = wait_node(graph, edge->to);
  g_autoptr(GHashTable) lacking = wait_key_set(), none = wait_key_set();
  return thing->kind == NODE_WORD && lane->kind == NODE_LANE && some_lack_actors(graph, lane, lacking) &&
         !wait_changes_without(graph, edge->to, edge->from, lacking) &&
         wait_changes_without(graph, edge->to, edge->from, none);
}

/* The lane would change the word itself if another one came for which it waits, and nobody would change either. */
static bool is_behind_another(WaitGraph *graph, guint at, const bool *drop) {
  const Edge *edge = wait_edge(graph, at);
  const Node *lane = wait_node(graph, edge->from);
  if (lane->kind != NODE_LANE || !lane->words || !wait_lacks_actor(wait_node(graph, edge->to)))
    return false;
  for (uint32_t next = lane->first_edge; next; next = wait_edge(graph, next - 1)->next) {
    Node *other = wait_node(graph, wait_edge(graph, next - 1)->to);
    uint32_t pc;
    if (next - 1 != at && !drop[next - 1] && wait_lacks_actor(other) &&
        wait_would_change(graph, lane, edge->to, &other->key, &pc))
      return true;
  }
  return false;
}

/* One round: true if an edge was dropped. `behind`: those of lanes to words, once no chance is left. */
static bool drop_some(WaitGraph *graph, uint64_t steps_to, bool behind) {
  g_autofree bool *drop = g_new0(bool, graph->edges->len);
  bool any = false;
  for (guint i = 0; i < graph->edges->len && graph->explorer->steps < steps_to; i++) {
    drop[i] = behind ? is_behind_another(graph, i, drop) : is_chance(graph, wait_edge(graph, i));
    any |= drop[i];
  }
  if (any)
    wait_graph_drop_edges(graph, drop);
  return any;
}

void wait_graph_drop_chances(WaitGraph *graph) {
  uint64_t steps_to = graph->explorer->steps + CHANCE_STEPS_MAX;
  bool any = false;
  if (graph->explorer->seen)
    return;
  while (drop_some(graph, steps_to, false))
    any = true;
  if (any)
    drop_some(graph, steps_to, true);
}
