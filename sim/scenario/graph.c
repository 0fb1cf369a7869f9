#include "sim/scenario/graph.h"

#include <glib.h>
#include <string.h>

#include "sim/engine/rng.h"
#include "sim/scenario/descent.h"

#define X(enumerator, spelling) spelling,
const char *const graph_kind_names[] = {GRAPH_KINDS(X) NULL};
const char *const graph_part_names[] = {GRAPH_PARTS(X) NULL};
#undef X

/* ---- edges ---- */

typedef struct Draw {
  Graph *graph;
  Rng rng;
  uint32_t count; /* edges so far */
} Draw;

static void add_edge(Draw *draw, uint32_t from, uint32_t to, uint32_t value) {
  Graph *graph = draw->graph;
  graph->from[draw->count] = from;
  graph->to[draw->count] = to;
  graph->value[draw->count++] = value;
}

static uint32_t draw_weight(Draw *draw) { return 1 + rng_below(&draw->rng, draw->graph->spec.below - 1); }

/* An edge of rmat: a quadrant of the matrix for each bit. */
static void add_rmat(Draw *draw) {
  uint32_t from = 0, to = 0;
  for (uint32_t bit = draw->graph->spec.vertices >> 1; bit; bit >>= 1) {
    uint32_t quadrant = rng_below(&draw->rng, 100);
    from |= quadrant >= 76 ? bit : 0;
    to |= (quadrant >= 57 && quadrant < 76) || quadrant >= 95 ? bit : 0;
  }
  add_edge(draw, from, to, draw_weight(draw));
}

/* 0 to count-1, the lower the likelier: a square of a uniform number. */
static uint32_t draw_skewed(Draw *draw, uint32_t count) {
  uint64_t x = rng_next(&draw->rng) >> 40; /* 24 bits */
  return (uint32_t)((x * x >> 24) * count >> 24);
}

static void add_bipartite(Draw *draw) {
  const GraphSpec *spec = &draw->graph->spec;
  uint32_t from = draw_skewed(draw, spec->width);
  uint32_t to = spec->width + draw_skewed(draw, spec->vertices - spec->width);
  add_edge(draw, from, to, draw_weight(draw));
}

/* Edges of the whole grid, each as likely as another, until there are as many as the graph has. */
static void choose_edge(Draw *draw, uint32_t *left, uint32_t from, uint32_t to) {
  uint32_t wanted = draw->graph->spec.edges - draw->count;
  if (wanted == *left || rng_below(&draw->rng, *left) < wanted)
    add_edge(draw, from, to, draw_weight(draw));
  --*left;
}

static void add_road(Draw *draw) {
  uint32_t width = draw->graph->spec.width, left = 2 * width * (width - 1);
  for (uint32_t y = 0; y < width; y++)
    for (uint32_t x = 0; x < width; x++) {
      uint32_t vertex = y * width + x;
      if (x + 1 < width)
        choose_edge(draw, &left, vertex, vertex + 1);
      if (y + 1 < width)
        choose_edge(draw, &left, vertex, vertex + width);
    }
}

/* Washington's generator, function 1: rows wrap around; the source's and the sink's edges have thrice the largest
 * capacity. */
static void add_mesh(Draw *draw) {
  const GraphSpec *spec = &draw->graph->spec;
  uint32_t width = spec->width, sink = spec->vertices - 1;
  for (uint32_t row = 0; row < width; row++)
    add_edge(draw, 0, 1 + row, 3 * (spec->below - 1));
  for (uint32_t column = 0; column + 1 < spec->length; column++)
    for (uint32_t row = 0; row < width; row++)
      for (uint32_t step = 0; step < 3; step++)
        add_edge(draw, 1 + column * width + row, 1 + (column + 1) * width + (row + width + step - 1) % width,
                 draw_weight(draw));
  for (uint32_t row = 0; row < width; row++)
    add_edge(draw, 1 + (spec->length - 1) * width + row, sink, 3 * (spec->below - 1));
}

static void draw_edges(Draw *draw) {
  const GraphSpec *spec = &draw->graph->spec;
  if (spec->kind == GRAPH_ROAD || spec->kind == GRAPH_MESH) {
    (spec->kind == GRAPH_ROAD ? add_road : add_mesh)(draw);
    return;
  }
  while (draw->count < spec->edges) {
    if (spec->kind == GRAPH_RMAT) {
      add_rmat(draw);
    } else if (spec->kind == GRAPH_BIPARTITE) {
      add_bipartite(draw);
    } else {
      uint32_t from = rng_below(&draw->rng, spec->vertices), to = rng_below(&draw->rng, spec->vertices);
      add_edge(draw, from, to, draw_weight(draw));
    }
  }
}

/* ---- arcs ---- */

static void set_arc(Graph *graph, uint32_t arc, uint32_t edge, bool forward, uint32_t partner) {
  graph->columns[arc] = forward ? graph->to[edge] : graph->from[edge];
  graph->weights[arc] = graph->value[edge];
  graph->forward[arc] = forward;
  graph->partner[arc] = partner;
}

/* A vertex has its arcs in the order of edges. */
static void make_arcs(Graph *graph) {
  uint32_t vertices = graph->spec.vertices, edges = graph->spec.edges;
  for (uint32_t edge = 0; edge < edges; edge++) {
    graph->rows[graph->from[edge] + 1]++;
    graph->rows[graph->to[edge] + 1]++;
  }
  for (uint32_t vertex = 0; vertex < vertices; vertex++)
    graph->rows[vertex + 1] += graph->rows[vertex];
  g_autofree uint32_t *next = g_memdup2(graph->rows, vertices * sizeof *next);
  for (uint32_t edge = 0; edge < edges; edge++) {
    uint32_t there = next[graph->from[edge]]++, back = next[graph->to[edge]]++;
    set_arc(graph, there, edge, true, back);
    set_arc(graph, back, edge, false, there);
  }
}

Graph *graph_new(const GraphSpec *spec) {
  Graph *graph = g_new0(Graph, 1);
  graph->spec = *spec;
  if (spec->kind == GRAPH_ROAD) {
    graph->spec.vertices = spec->width * spec->width;
    graph->spec.edges = spec->edges ? spec->edges : 2 * spec->width * (spec->width - 1);
  } else if (spec->kind == GRAPH_MESH) {
    graph->spec.vertices = spec->width * spec->length + 2;
    graph->spec.edges = 2 * spec->width + 3 * (spec->length - 1) * spec->width;
  }
  uint32_t edges = graph->spec.edges;
  uint32_t **of_edges[] = {&graph->from, &graph->to, &graph->value};
  uint32_t **of_arcs[] = {&graph->columns, &graph->weights, &graph->forward, &graph->partner};
  for (guint i = 0; i < G_N_ELEMENTS(of_edges); i++)
    *of_edges[i] = g_new0(uint32_t, edges);
  for (guint i = 0; i < G_N_ELEMENTS(of_arcs); i++)
    *of_arcs[i] = g_new0(uint32_t, 2 * (gsize)edges);
  graph->rows = g_new0(uint32_t, graph->spec.vertices + 1);
  Draw draw = {.graph = graph};
  rng_seed(&draw.rng, spec->seed, 0);
  draw_edges(&draw);
  make_arcs(graph);
  return graph;
}

void graph_free(Graph *graph) {
  uint32_t *arrays[] = {graph->from,    graph->to,      graph->value,   graph->rows,
                        graph->columns, graph->weights, graph->forward, graph->partner};
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_free(arrays[i]);
  g_free(graph);
}

/* ---- what a sequential program finds ---- */

static gint by_value(gconstpointer a, gconstpointer b, gpointer user) {
  const uint32_t *value = user;
  uint32_t left = value[*(const uint32_t *)a], right = value[*(const uint32_t *)b];
  return left < right ? -1 : left > right;
}

static uint32_t root_of(uint32_t *parent, uint32_t vertex) {
  while (parent[vertex] != vertex)
    vertex = parent[vertex] = parent[parent[vertex]];
  return vertex;
}

/* Kruskal. */
static uint32_t tree_weight(const Graph *graph) {
  uint32_t edges = graph->spec.edges, sum = 0;
  g_autofree uint32_t *order = g_new(uint32_t, edges), *parent = g_new(uint32_t, graph->spec.vertices);
  for (uint32_t i = 0; i < edges; i++)
    order[i] = i;
  for (uint32_t i = 0; i < graph->spec.vertices; i++)
    parent[i] = i;
  g_qsort_with_data(order, (gint)edges, sizeof *order, by_value, graph->value);
  for (uint32_t i = 0; i < edges; i++) {
    uint32_t from = root_of(parent, graph->from[order[i]]), to = root_of(parent, graph->to[order[i]]);
    sum += from == to ? 0 : graph->value[order[i]];
    parent[from] = to;
  }
  return sum;
}

/* Dinic: levels by breadth, then flow along arcs to the next level, each arc once a phase. */
typedef struct Flow {
  const Graph *graph;
  uint32_t *rest; /* of each arc */
  uint32_t *level, *next, *queue, *path;
} Flow;

static bool find_levels(Flow *flow) {
  const Graph *graph = flow->graph;
  uint32_t vertices = graph->spec.vertices, tail = 0;
  memset(flow->level, 0, vertices * sizeof *flow->level);
  memcpy(flow->next, graph->rows, vertices * sizeof *flow->next);
  flow->level[0] = 1;
  flow->queue[tail++] = 0;
  for (uint32_t head = 0; head < tail; head++)
    for (uint32_t vertex = flow->queue[head], arc = graph->rows[vertex]; arc < graph->rows[vertex + 1]; arc++)
      if (flow->rest[arc] && !flow->level[graph->columns[arc]]) {
        flow->level[graph->columns[arc]] = flow->level[vertex] + 1;
        flow->queue[tail++] = graph->columns[arc];
      }
  return flow->level[vertices - 1] != 0;
}

/* Pushes what one path to the sink can take; 0: there is none any more. */
static uint32_t push_path(Flow *flow) {
  const Graph *graph = flow->graph;
  uint32_t length = 0, vertex = 0, least = UINT32_MAX;
  while (vertex != graph->spec.vertices - 1) {
    uint32_t arc = flow->next[vertex];
    if (arc == graph->rows[vertex + 1]) { /* nowhere to go: back, and not this way again */
      if (length == 0)
        return 0;
      vertex = graph->columns[graph->partner[flow->path[--length]]];
      flow->next[vertex]++;
    } else if (flow->rest[arc] && flow->level[graph->columns[arc]] == flow->level[vertex] + 1) {
      flow->path[length++] = arc;
      vertex = graph->columns[arc];
    } else {
      flow->next[vertex]++;
    }
  }
  for (uint32_t i = 0; i < length; i++)
    least = MIN(least, flow->rest[flow->path[i]]);
  for (uint32_t i = 0; i < length; i++) {
    flow->rest[flow->path[i]] -= least;
    flow->rest[graph->partner[flow->path[i]]] += least;
  }
  return least;
}

static uint32_t capacity(const Graph *graph, uint32_t arc) { return graph->forward[arc] ? graph->weights[arc] : 0; }

static uint32_t greatest_flow(const Graph *graph) {
  uint32_t vertices = graph->spec.vertices, sum = 0;
  Flow flow = {graph,
               g_new(uint32_t, 2 * (gsize)graph->spec.edges),
               g_new(uint32_t, vertices),
               g_new(uint32_t, vertices),
               g_new(uint32_t, vertices),
               g_new(uint32_t, vertices)};
  for (uint32_t arc = 0; arc < 2 * graph->spec.edges; arc++)
    flow.rest[arc] = capacity(graph, arc);
  while (vertices > 1 && find_levels(&flow))
    for (uint32_t more; (more = push_path(&flow));)
      sum += more;
  g_free(flow.rest);
  g_free(flow.level);
  g_free(flow.next);
  g_free(flow.queue);
  g_free(flow.path);
  return sum;
}

static uint32_t error_left(const Graph *graph) {
  Ratings ratings = {graph->spec.vertices, graph->spec.edges, graph->from, graph->to, graph->value};
  return descent_error(&ratings);
}

/* ---- parts ---- */

uint32_t graph_part(const Graph *graph, GraphPart part, uint32_t *words) {
  uint32_t edges = graph->spec.edges, arcs = 2 * edges;
  uint32_t one = 0, count = part == GRAPH_ROWS   ? graph->spec.vertices + 1
                            : part >= GRAPH_TREE ? 1
                            : part >= GRAPH_FROM ? edges
                                                 : arcs;
  const uint32_t *source[] = {[GRAPH_ROWS] = graph->rows,
                              [GRAPH_COLUMNS] = graph->columns,
                              [GRAPH_WEIGHTS] = graph->weights,
                              [GRAPH_CAPACITIES] = graph->weights,
                              [GRAPH_PARTNERS] = graph->partner,
                              [GRAPH_FROM] = graph->from,
                              [GRAPH_TO] = graph->to,
                              [GRAPH_VALUES] = graph->value,
                              [GRAPH_TREE] = &one,
                              [GRAPH_FLOW] = &one,
                              [GRAPH_ERROR] = &one};
  if (!words)
    return count;
  if (part >= GRAPH_TREE)
    one = part == GRAPH_TREE ? tree_weight(graph) : part == GRAPH_FLOW ? greatest_flow(graph) : error_left(graph);
  memcpy(words, source[part], count * sizeof *words);
  for (uint32_t arc = 0; part == GRAPH_CAPACITIES && arc < arcs; arc++)
    words[arc] = capacity(graph, arc);
  return count;
}
