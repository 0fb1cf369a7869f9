/* Workers take entries of a queue and put in others: once it is empty each would put something into the entry of
 * another, or into its own. All of them wait alike in such a round, and nobody holds what they wait for, as one holds
 * a lock. They don't wait for each other, then: edges of the words to those lanes are dropped. */
#include <string.h>

#include "sim/core/look.h"
#include "sim/detect/naming/waitgraph.h"

enum { OWN_PASSES_MAX = 16, ROUND_STEPS_MAX = 4000000 };

/* ---- does somebody hold it? ---- */

/* The instructions at which the lane is while it waits. */
static bool *waiting_places(const WaitGraph *graph, WarpView *view, unsigned lane) {
  bool *places = g_new0(bool, view->launch->kernel->ninsts);
  Assumption as_it_is = {.fresh = true, .read_only = true};
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  explorer_lane(graph->explorer, view, lane, &start.state, &as_it_is, NULL);
  const StateSet *states = &view->facts->states;
  for (uint32_t i = 0; i < states->count; i++)
    places[state_set_at(states, i)->pc] = true;
  return places;
}

/* Some step of the newest exploration leads to one of the places from elsewhere. */
static bool leads_to(const StateSet *states, const bool *places) {
  for (guint i = 0; i < states->edges->len; i++) {
    const StateEdge *edge = &g_array_index(states->edges, StateEdge, i);
    if (!places[state_set_at(states, edge->from)->pc] && places[state_set_at(states, edge->to)->pc])
      return true;
  }
  return false;
}

/* Once its wait is over the lane may come to wait there again, and not have changed the word meanwhile. Who has taken
 * a lock gives it back first. */
static bool comes_round(WaitGraph *graph, const Node *lane, WordKey key) {
  g_autoptr(GHashTable) words = wait_key_set();
  for (uint32_t at = lane->first_edge; at; at = wait_edge(graph, at - 1)->next) {
    Node *thing = wait_node(graph, wait_edge(graph, at - 1)->to);
    if (thing->kind == NODE_WORD)
      g_hash_table_add(words, &thing->key);
  }
  WarpView *view = wait_view(graph, lane->view);
  Explorer *explorer = graph->explorer;
  StateSet *states = &view->facts->states;
  g_autofree bool *places = waiting_places(graph, view, lane->index);
  uint64_t end = key;
  Assumption over = {
      .free_words = words, .all_open = true, .fresh = true, .read_only = true, .stores = true, .ends_at = &end};
  bool keeps_edges = states->keeps_edges;
  unsigned passes = 0;
  MemoryLayer layer;
  LaneSpace start;
  states->keeps_edges = true;
  explorer_push_memory(explorer, &layer, lane->view, 1);
  do {
    g_array_set_size(explorer->memory.woken, 0);
    explorer_start(view, lane->index, &start.state);
    explorer_lane(explorer, view, lane->index, &start.state, &over, NULL);
  } while (explorer->memory.woken->len && ++passes < OWN_PASSES_MAX);
  bool comes = leads_to(states, places);
  explorer_pop_memory(explorer, &layer);
  states->keeps_edges = keeps_edges;
  return comes;
}

/* The lane that has changed the word last; NULL: it has exited, or there is none. */
static const Node *changer_of(const WaitGraph *graph, const WordChange *change) {
  ThreadId by = change->thread;
  for (guint i = 0; i < graph->nodes->len && !thread_is_none(by) && !thread_is_host(by); i++) {
    const Node *node = wait_node(graph, i);
    const WarpView *view = node->kind == NODE_LANE ? wait_view(graph, node->view) : NULL;
    if (view && node->index == thread_lane(by) && view->launch->index == by.launch &&
        view->block->index == by.block && view->warp->warp_in_block == thread_warp(by))
      return node;
  }
  return NULL;
}

/* Each time the instruction adds the same number, so it takes nothing that it would give back. */
static bool counts(const Inst *inst) {
  return (inst->op == OP_ATOM || inst->op == OP_RED) && inst->mode == ATOM_ADD && inst->b < 0;
}

/* A thread that has changed the word, and would change it again before it comes to wait as it does now: it may have
 * taken a lock, or a count of a semaphore. Who waits for the word itself doesn't hold it. */
static bool is_held(WaitGraph *graph, guint word) {
  WordKey key = wait_node(graph, word)->key;
  const Gpu *gpu = graph->explorer->gpu;
  WordChange change = word_key_is_shared(key) ? look_shared_change(&gpu->sms[(key >> 32) & 0x7fffffff], (uint32_t)key)
                                              : look_global_change(gpu, key * 4);
  const Node *by = changer_of(graph, &change);
  guint lane = by ? (guint)(by - wait_node(graph, 0)) : 0;
  if (!by || wait_graph_has_edge(graph, lane, word))
    return false;
  if (counts(&wait_view(graph, by->view)->launch->kernel->insts[change.pc]))
    for (uint32_t at = wait_node(graph, word)->first_edge; at; at = wait_edge(graph, at - 1)->next)
      if (wait_edge(graph, at - 1)->to == lane && wait_edge(graph, at - 1)->pc == change.pc)
        return false;
  return !comes_round(graph, by, key);
}

/* ---- rounds ---- */

/* Where the first lane of the component waits. */
static const Edge *first_wait(const WaitGraph *graph, uint32_t component) {
  for (guint i = 0; i < graph->edges->len; i++) {
    const Node *from = wait_node(graph, wait_edge(graph, i)->from);
    if (from->component == component && from->kind == NODE_LANE)
      return wait_edge(graph, i);
  }
  return NULL;
}

static bool waits_at(const WaitGraph *graph, const Node *lane, uint32_t pc) {
  for (uint32_t at = lane->first_edge; at; at = wait_edge(graph, at - 1)->next)
    if (wait_edge(graph, at - 1)->pc == pc)
      return true;
  return false;
}

/* Both go round at the same instructions, whichever words they wait for there. */
static bool same_places(const WaitGraph *graph, const Node *one, const Node *other) {
  WarpView *view = wait_view(graph, one->view);
  g_autofree bool *places = waiting_places(graph, view, one->index),
                  *others = waiting_places(graph, wait_view(graph, other->view), other->index);
  return memcmp(places, others, view->launch->kernel->ninsts * sizeof *places) == 0;
}

/* The lane waits for words alone, where that one does. */
static bool waits_alike(const WaitGraph *graph, uint32_t component, const Node *lane) {
  const Node *first = wait_node(graph, first_wait(graph, component)->from);
  bool alike = wait_view(graph, lane->view)->launch == wait_view(graph, first->view)->launch, same = true;
  for (uint32_t at = lane->first_edge; at; at = wait_edge(graph, at - 1)->next) {
    const Edge *edge = wait_edge(graph, at - 1);
    alike &= wait_node(graph, edge->to)->kind == NODE_WORD;
    same &= waits_at(graph, first, edge->pc);
  }
  return alike && (same || same_places(graph, lane, first));
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

static bool some_held(WaitGraph *graph, uint32_t component, uint64_t steps_to) {
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    if (node->component == component && node->kind == NODE_WORD &&
        (graph->explorer->steps >= steps_to || is_held(graph, i)))
      return true;
  }
  return false;
}

/* Lanes that wait alike, for words that nobody holds. One of the words is changed by who waits for it: once others
 * come, this lane puts something there, too. `steps_to`: of the explorer; then somebody may hold one. */
static bool is_round(WaitGraph *graph, uint32_t component, uint64_t steps_to) {
  bool own = false;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    if (node->component != component)
      continue;
    if (node->kind == NODE_LANE ? !waits_alike(graph, component, node) : node->kind != NODE_WORD)
      return false;
    own |= node->kind == NODE_WORD && is_own(graph, component, node);
  }
  return own && !wait_graph_leads_on(graph, component) && !some_held(graph, component, steps_to);
}

bool wait_graph_drop_rounds(WaitGraph *graph) {
  g_autofree bool *round = g_new0(bool, graph->components + 1), *drop = g_new0(bool, graph->edges->len),
                  *asked = g_new0(bool, graph->components + 1);
  uint64_t steps_to = graph->explorer->steps + ROUND_STEPS_MAX;
  bool any = false;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    if (node->kind != NODE_WORD || !node->in_cycle || graph->explorer->seen || asked[node->component])
      continue;
    asked[node->component] = true;
    round[node->component] = is_round(graph, node->component, steps_to);
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
    wait_graph_drop_edges(graph, drop);
  return any;
}
