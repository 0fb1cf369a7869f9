/* A lane may wait for one of several words: in flat combining for the answer of whoever has the lock, or for the
 * lock. What it would change once it had the lock doesn't help anybody if the lock never comes. So edges by which
 * it would are dropped, and those who waited for that wait for the lock alone: otherwise all of them seem to wait
 * in a circle.
 *
 * Nor do workers help who take entries of a queue and put in others: once it is empty each would put something into
 * the entry of another, or into its own. All of them wait at one place in such a round, and nobody has taken what
 * they wait for, as one takes a lock. Its edges are dropped. */
#include "sim/core/look.h"
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

static void drop_edges(WaitGraph *graph, const bool *drop) {
  guint kept = 0, count = graph->edges->len;
  g_hash_table_remove_all(graph->pairs);
  for (guint i = 0; i < graph->nodes->len; i++)
    wait_node(graph, i)->first_edge = 0;
  for (guint i = 0; i < count; i++) {
    Edge edge = *wait_edge(graph, i);
    if (drop[i])
      continue;
    g_hash_table_add(graph->pairs, wait_pair(edge.from, edge.to));
    edge.next = wait_node(graph, edge.from)->first_edge;
    *wait_edge(graph, kept) = edge;
    wait_node(graph, edge.from)->first_edge = ++kept;
  }
  g_array_set_size(graph->edges, kept);
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
    drop_edges(graph, drop);
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

/* ---- rounds ---- */

/* A thread that has changed the word, and goes on: it may have taken a lock, or a count of a semaphore. */
static bool is_held(const WaitGraph *graph, WordKey key) {
  const Gpu *gpu = graph->explorer->gpu;
  ThreadId by = (word_key_is_shared(key) ? look_shared_change(&gpu->sms[(key >> 32) & 0x7fffffff], (uint32_t)key)
                                         : look_global_change(gpu, key * 4))
                    .thread;
  for (guint i = 0; i < graph->explorer->views->len && !thread_is_none(by) && !thread_is_host(by); i++) {
    const WarpView *view = wait_view(graph, i);
    if (view->launch->index == by.launch && view->block->index == by.block &&
        view->warp->warp_in_block == thread_warp(by))
      return view->warp->alive >> thread_lane(by) & 1;
  }
  return false;
}

/* Where the first lane of the component waits. */
static const Edge *first_wait(const WaitGraph *graph, uint32_t component) {
  for (guint i = 0; i < graph->edges->len; i++) {
    const Node *from = wait_node(graph, wait_edge(graph, i)->from);
    if (from->component == component && from->kind == NODE_LANE)
      return wait_edge(graph, i);
  }
  return NULL;
}

/* The lane waits for words alone, where that one does. */
static bool waits_alike(const WaitGraph *graph, uint32_t component, const Node *lane) {
  const Edge *first = first_wait(graph, component);
  const WarpView *view = wait_view(graph, wait_node(graph, first->from)->view);
  for (uint32_t at = lane->first_edge; at; at = wait_edge(graph, at - 1)->next) {
    const Edge *edge = wait_edge(graph, at - 1);
    if (edge->pc != first->pc || wait_view(graph, lane->view)->launch != view->launch ||
        wait_node(graph, edge->to)->kind != NODE_WORD)
      return false;
  }
  return true;
}

/* Who waits for the word would change it by an instruction that changes the words of others of the round. */
static bool is_own(const WaitGraph *graph, uint32_t component, const Node *word) {
  for (guint i = 0; i < graph->edges->len && word->waiter; i++) {
    const Edge *edge = wait_edge(graph, i);
    const Node *from = wait_node(graph, edge->from), *to = wait_node(graph, edge->to);
    if (from->component == component && from->kind == NODE_WORD && to->component == component &&
        edge->pc == word->waiter_pc)
      return true;
  }
  return false;
}

/* Lanes that wait alike, for words that nobody holds. One of the words is changed by who waits for it: once others
 * come, this lane puts something there, too. */
static bool is_round(const WaitGraph *graph, uint32_t component) {
  bool own = false;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    if (node->component != component)
      continue;
    if (node->kind == NODE_LANE ? !waits_alike(graph, component, node)
                                : node->kind != NODE_WORD || is_held(graph, node->key))
      return false;
    own |= node->kind == NODE_WORD && is_own(graph, component, node);
  }
  return own && !wait_graph_leads_on(graph, component);
}

bool wait_graph_drop_rounds(WaitGraph *graph) {
  g_autofree bool *round = g_new0(bool, graph->components + 1), *drop = g_new0(bool, graph->edges->len);
  bool any = false;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    if (node->kind == NODE_WORD && node->in_cycle && !graph->explorer->seen)
      round[node->component] = round[node->component] || is_round(graph, node->component);
  }
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    const Node *from = wait_node(graph, edge->from), *to = wait_node(graph, edge->to);
    drop[i] = round[from->component] && from->kind == NODE_WORD && to->kind == NODE_LANE &&
              waits_alike(graph, from->component, to);
    any |= drop[i];
  }
  for (guint i = 0; i < graph->nodes->len && any; i++)
    wait_node(graph, i)->in_round = round[wait_node(graph, i)->component] && wait_node(graph, i)->kind == NODE_WORD;
  if (any)
    drop_edges(graph, drop);
  return any;
}
