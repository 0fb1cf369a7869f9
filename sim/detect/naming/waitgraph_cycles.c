/* Cycles of the wait-for graph. */
#include "sim/detect/naming/waitgraph.h"

/* ---- strongly connected components (Tarjan, without recursion) ---- */

typedef struct Visit {
  uint32_t order, low, next; /* next: edge to look at + 1, 0 when done */
  bool on_stack;
} Visit;

static void close_component(WaitGraph *graph, GArray *stack, Visit *visits, guint root) {
  uint32_t component = ++graph->components, members = 0;
  guint member;
  do {
    member = g_array_index(stack, guint, stack->len - 1);
    g_array_set_size(stack, stack->len - 1);
    visits[member].on_stack = false;
    wait_node(graph, member)->component = component;
    members++;
  } while (member != root);
  for (guint i = 0; members > 1 && i < graph->nodes->len; i++)
    if (wait_node(graph, i)->component == component)
      wait_node(graph, i)->in_cycle = true;
}

static void visit_from(WaitGraph *graph, guint root, Visit *visits, uint32_t *order, GArray *stack, GArray *path) {
  guint node = root;
  g_array_append_val(path, node);
  while (path->len > 0) {
    node = g_array_index(path, guint, path->len - 1);
    Visit *visit = &visits[node];
    if (visit->order == 0) {
      visit->order = visit->low = ++*order;
      visit->next = wait_node(graph, node)->first_edge;
      visit->on_stack = true;
      g_array_append_val(stack, node);
    }
    if (visit->next) {
      const Edge *edge = wait_edge(graph, visit->next - 1);
      guint to = edge->to;
      if (visits[to].order == 0) {
        g_array_append_val(path, to); /* the edge is looked at again when `to` is done */
        continue;
      }
      if (visits[to].on_stack)
        visit->low = MIN(visit->low, visits[to].low);
      visit->next = edge->next;
      continue;
    }
    if (visit->low == visit->order)
      close_component(graph, stack, visits, node);
    g_array_set_size(path, path->len - 1);
  }
}

void wait_graph_find_components(WaitGraph *graph) {
  Visit *visits = g_new0(Visit, graph->nodes->len);
  GArray *stack = g_array_new(FALSE, FALSE, sizeof(guint)), *path = g_array_new(FALSE, FALSE, sizeof(guint));
  uint32_t order = 0;
  graph->components = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    wait_node(graph, i)->in_cycle = false;
  for (guint i = 0; i < graph->nodes->len; i++)
    if (visits[i].order == 0)
      visit_from(graph, i, visits, &order, stack, path);
  g_free(visits);
  g_array_free(stack, TRUE);
  g_array_free(path, TRUE);
}

/* ---- questions ---- */

static bool inside(const WaitGraph *graph, const Edge *edge, uint32_t component) {
  return wait_node(graph, edge->from)->component == component && wait_node(graph, edge->to)->component == component;
}

bool wait_graph_has_kind(const WaitGraph *graph, uint32_t component, EdgeKind kind) {
  for (guint i = 0; i < graph->edges->len; i++)
    if (wait_edge(graph, i)->kind == kind && inside(graph, wait_edge(graph, i), component))
      return true;
  return false;
}

bool wait_graph_leads_on(const WaitGraph *graph, uint32_t component) {
  gboolean *reached = g_new0(gboolean, graph->components + 1);
  bool leads = false, grew = true;
  reached[component] = TRUE;
  while (grew) {
    grew = false;
    for (guint i = 0; i < graph->edges->len; i++) {
      const Node *from = wait_node(graph, wait_edge(graph, i)->from), *to = wait_node(graph, wait_edge(graph, i)->to);
      if (!reached[from->component] || reached[to->component])
        continue;
      reached[to->component] = TRUE;
      grew = true;
      leads |= to->in_cycle;
    }
  }
  g_free(reached);
  return leads;
}

/* A search may follow so many edges once it has a cycle: in a ring of thousands of lanes all cycles are as long. */
enum { CYCLE_EDGES_MAX = 5000000 };

/* Breadth first searches, one after another. */
typedef struct Search {
  guint *came_by; /* of each node: edge + 1 by which search number `reached` came there */
  guint *reached;
  guint number;
  GArray *queue;
  uint64_t followed; /* edges, by all searches */
} Search;

/* From the edge's end back to its start, inside the component. How many edges the cycle has; 0: there is none. */
static guint close_cycle(const WaitGraph *graph, uint32_t component, guint start, Search *search) {
  const Edge *first = wait_edge(graph, start);
  guint length = 1;
  bool closed = first->from == first->to;
  search->number++;
  g_array_set_size(search->queue, 0);
  g_array_append_val(search->queue, first->to);
  for (guint next = 0; next < search->queue->len && !closed; next++) {
    guint node = g_array_index(search->queue, guint, next);
    for (uint32_t at = wait_node(graph, node)->first_edge; at && !closed; at = wait_edge(graph, at - 1)->next) {
      guint to = wait_edge(graph, at - 1)->to;
      search->followed++;
      if (wait_node(graph, to)->component != component || search->reached[to] == search->number || to == first->to)
        continue;
      search->reached[to] = search->number;
      search->came_by[to] = at;
      closed = to == first->from;
      g_array_append_val(search->queue, to);
    }
  }
  if (!closed)
    return 0;
  for (guint node = first->from; node != first->to; length++)
    node = wait_edge(graph, search->came_by[node] - 1)->from;
  return length;
}

/* The cycle that the newest search has closed. */
static GArray *list_cycle(const WaitGraph *graph, guint start, guint length, const Search *search) {
  const Edge *first = wait_edge(graph, start);
  GArray *cycle = g_array_sized_new(FALSE, FALSE, sizeof(guint), length);
  g_array_set_size(cycle, length);
  g_array_index(cycle, guint, 0) = start;
  for (guint node = first->from, at = length; node != first->to;) {
    guint edge = search->came_by[node] - 1;
    g_array_index(cycle, guint, --at) = edge;
    node = wait_edge(graph, edge)->from;
  }
  return cycle;
}

/* The cycle starts at a lane that waits for a word or bit (or any lane), so that it reads from cause to cause. */
static void start_at_waiting_lane(const WaitGraph *graph, GArray *cycle) {
  for (int pass = 0; pass < 2; pass++)
    for (guint turn = 0; turn < cycle->len; turn++) {
      guint first = g_array_index(cycle, guint, 0);
      const Edge *edge = wait_edge(graph, first);
      NodeKind to = wait_node(graph, edge->to)->kind;
      if (wait_node(graph, edge->from)->kind == NODE_LANE && (pass || to == NODE_WORD || to == NODE_BIT))
        return;
      g_array_remove_index(cycle, 0);
      g_array_append_val(cycle, first);
    }
}

GArray *wait_graph_cycle(const WaitGraph *graph, uint32_t component, EdgeKind kind) {
  Search search = {.came_by = g_new0(guint, graph->nodes->len),
                   .reached = g_new0(guint, graph->nodes->len),
                   .queue = g_array_new(FALSE, FALSE, sizeof(guint))};
  GArray *best = NULL;
  for (guint i = 0; i < graph->edges->len && !(best && search.followed > CYCLE_EDGES_MAX); i++) {
    const Edge *edge = wait_edge(graph, i);
    if (edge->kind != kind || !inside(graph, edge, component))
      continue;
    guint length = close_cycle(graph, component, i, &search);
    if (length && (!best || length < best->len)) {
      g_clear_pointer(&best, g_array_unref);
      best = list_cycle(graph, i, length, &search);
    }
    if (best && best->len <= 4)
      break;
  }
  g_free(search.came_by);
  g_free(search.reached);
  g_array_free(search.queue, TRUE);
  if (best)
    start_at_waiting_lane(graph, best);
  return best;
}
