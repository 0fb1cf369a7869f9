/* Graphs of scenarios: their parts fit together; trees and flows by hand, and against other ways to find them. */
#include <glib.h>
#include <string.h>

#include "sim/scenario/graph.h"
#include "tests/unit/unit.h"

static uint32_t *part(const Graph *graph, GraphPart which, uint32_t count) {
  ck_assert_uint_eq(graph_part(graph, which, NULL), count);
  uint32_t *words = g_new(uint32_t, count);
  graph_part(graph, which, words);
  return words;
}

static const GraphSpec specs[] = {
    {.kind = GRAPH_RANDOM, .vertices = 100, .edges = 300, .below = 50, .seed = 3},
    {.kind = GRAPH_RMAT, .vertices = 128, .edges = 500, .below = 9, .seed = 1},
    {.kind = GRAPH_ROAD, .width = 7, .below = 100, .seed = 1},
    {.kind = GRAPH_BIPARTITE, .vertices = 90, .width = 60, .edges = 400, .below = 6, .seed = 1},
    {.kind = GRAPH_MESH, .width = 5, .length = 4, .below = 20, .seed = 1},
    {.kind = GRAPH_ROAD, .width = 7, .edges = 59, .below = 100, .seed = 1},
};

START_TEST(parts_fit_together) {
  Graph *graph = graph_new(&specs[_i]);
  uint32_t vertices = graph->spec.vertices, edges = graph->spec.edges, arcs = 2 * edges;
  g_autofree uint32_t *rows = part(graph, GRAPH_ROWS, vertices + 1), *columns = part(graph, GRAPH_COLUMNS, arcs);
  g_autofree uint32_t *weights = part(graph, GRAPH_WEIGHTS, arcs), *partners = part(graph, GRAPH_PARTNERS, arcs);
  g_autofree uint32_t *capacities = part(graph, GRAPH_CAPACITIES, arcs), *values = part(graph, GRAPH_VALUES, edges);
  g_autofree uint32_t *from = part(graph, GRAPH_FROM, edges), *to = part(graph, GRAPH_TO, edges);
  uint64_t all = 0, one_way = 0, of_edges = 0;
  ck_assert_uint_eq(rows[0], 0);
  ck_assert_uint_eq(rows[vertices], arcs);
  for (uint32_t vertex = 0; vertex < vertices; vertex++)
    for (uint32_t arc = rows[vertex]; arc < rows[vertex + 1]; arc++) {
      ck_assert_uint_lt(columns[arc], vertices);
      ck_assert_uint_eq(partners[partners[arc]], arc);
      ck_assert_uint_eq(columns[partners[arc]], vertex);
      ck_assert_uint_eq(weights[partners[arc]], weights[arc]);
      ck_assert_uint_eq(capacities[arc] + capacities[partners[arc]], weights[arc]);
      all += weights[arc];
      one_way += capacities[arc];
    }
  for (uint32_t edge = 0; edge < edges; edge++) {
    ck_assert_uint_ge(values[edge], 1);
    of_edges += values[edge];
    if (specs[_i].kind == GRAPH_BIPARTITE)
      ck_assert(from[edge] < 60 && to[edge] >= 60);
  }
  ck_assert_uint_eq(all, 2 * of_edges);
  ck_assert_uint_eq(one_way, of_edges);
  graph_free(graph);
}
END_TEST

/* Prim, by looking at all edges. */
static uint32_t prim(const Graph *graph) {
  uint32_t vertices = graph->spec.vertices, sum = 0;
  g_autofree bool *in = g_new0(bool, vertices);
  for (uint32_t count = 0; count < vertices; count++) {
    uint32_t best = UINT32_MAX, next = 0;
    for (uint32_t edge = 0; edge < graph->spec.edges; edge++)
      if (in[graph->from[edge]] != in[graph->to[edge]] && graph->value[edge] < best) {
        best = graph->value[edge];
        next = in[graph->from[edge]] ? graph->to[edge] : graph->from[edge];
      }
    for (; best == UINT32_MAX && in[next]; next++) /* another tree begins */
      ;
    sum += best == UINT32_MAX ? 0 : best;
    in[next] = true;
  }
  return sum;
}

/* Path by path, each the first that a search by depth finds: no levels. */
static bool push_one(const Graph *graph, uint32_t *rest, bool *seen, uint32_t vertex) {
  if (vertex == graph->spec.vertices - 1)
    return true;
  seen[vertex] = true;
  for (uint32_t arc = graph->rows[vertex]; arc < graph->rows[vertex + 1]; arc++)
    if (rest[arc] && !seen[graph->columns[arc]] && push_one(graph, rest, seen, graph->columns[arc])) {
      rest[arc]--;
      rest[graph->partner[arc]]++;
      return true;
    }
  return false;
}

static uint32_t ford_fulkerson(const Graph *graph) {
  uint32_t vertices = graph->spec.vertices, flow = 0;
  g_autofree uint32_t *rest = g_new(uint32_t, 2 * graph->spec.edges);
  g_autofree bool *seen = g_new0(bool, vertices);
  graph_part(graph, GRAPH_CAPACITIES, rest);
  for (; push_one(graph, rest, seen, 0); flow++)
    memset(seen, 0, vertices * sizeof *seen);
  return flow;
}

START_TEST(sequential_results) {
  for (uint64_t seed = 1; seed <= 5; seed++) {
    GraphSpec spec = specs[_i];
    spec.seed = seed;
    Graph *graph = graph_new(&spec);
    g_autofree uint32_t *tree = part(graph, GRAPH_TREE, 1), *flow = part(graph, GRAPH_FLOW, 1);
    ck_assert_uint_eq(*tree, prim(graph));
    ck_assert_uint_eq(*flow, ford_fulkerson(graph));
    graph_free(graph);
  }
}
END_TEST

/* Of 84 edges of the grid; each is left out by some seed, and kept by another. */
/* One thread of traces/irregular/gradient.cu leaves the same of these, as lockstep runs it: the order is the edges',
 * and the arithmetic is that of floats. */
START_TEST(descent_by_one_thread) {
  static const struct { uint32_t edges, error; } rows[] = {{1, 99}, {16, 9350}};
  for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
    GraphSpec spec = {
        .kind = GRAPH_BIPARTITE, .vertices = 192, .width = 128, .edges = rows[i].edges, .below = 6, .seed = 1};
    Graph *graph = graph_new(&spec);
    g_autofree uint32_t *error = part(graph, GRAPH_ERROR, 1);
    ck_assert_uint_eq(error[0], rows[i].error);
    graph_free(graph);
  }
}
END_TEST

START_TEST(roads_have_so_many_edges) {
  bool kept[49][2] = {{false}}, left_out[49][2] = {{false}};
  for (uint64_t seed = 1; seed <= 30; seed++) {
    GraphSpec spec = specs[5];
    spec.seed = seed;
    Graph *graph = graph_new(&spec);
    bool now[49][2] = {{false}};
    ck_assert_uint_eq(graph->spec.edges, 59);
    for (uint32_t edge = 0; edge < 59; edge++) {
      uint32_t from = graph->from[edge], down = graph->to[edge] != from + 1;
      ck_assert(down ? graph->to[edge] == from + 7 : from % 7 != 6);
      ck_assert(!now[from][down]);
      now[from][down] = kept[from][down] = true;
    }
    for (uint32_t i = 0; i < 2 * 49; i++)
      left_out[i / 2][i % 2] |= !now[i / 2][i % 2];
    graph_free(graph);
  }
  uint32_t both = 0;
  for (uint32_t i = 0; i < 2 * 49; i++)
    both += kept[i / 2][i % 2] && left_out[i / 2][i % 2];
  ck_assert_uint_eq(both, 84);
}
END_TEST

/* As many as there are: the same graph as without a number. */
START_TEST(roads_with_all_edges) {
  GraphSpec spec = specs[2];
  spec.edges = 2 * 7 * 6;
  Graph *all = graph_new(&spec), *grid = graph_new(&specs[2]);
  ck_assert_uint_eq(grid->spec.edges, 84);
  ck_assert_mem_eq(all->from, grid->from, 84 * sizeof *all->from);
  ck_assert_mem_eq(all->to, grid->to, 84 * sizeof *all->to);
  ck_assert_mem_eq(all->value, grid->value, 84 * sizeof *all->value);
  graph_free(all);
  graph_free(grid);
}
END_TEST

START_TEST(meshes_have_washingtons_size) {
  Graph *graph = graph_new(&specs[4]);
  ck_assert_uint_eq(graph->spec.vertices, 5 * 4 + 2);
  ck_assert_uint_eq(graph->spec.edges, 2 * 5 + 3 * (4 - 1) * 5);
  g_autofree uint32_t *flow = part(graph, GRAPH_FLOW, 1);
  ck_assert_uint_gt(*flow, 0);
  graph_free(graph);
}
END_TEST

/* Many edges at few vertices. */
START_TEST(skewed_kinds_are_skewed) {
  static const GraphKind kinds[] = {GRAPH_RANDOM, GRAPH_RMAT, GRAPH_BIPARTITE};
  uint32_t most[3] = {0};
  for (guint i = 0; i < 3; i++) {
    GraphSpec spec = {.kind = kinds[i], .vertices = 1024, .width = 512, .edges = 8192, .below = 2, .seed = 1};
    Graph *graph = graph_new(&spec);
    for (uint32_t vertex = 0; vertex < 1024; vertex++)
      most[i] = MAX(most[i], graph->rows[vertex + 1] - graph->rows[vertex]);
    graph_free(graph);
  }
  ck_assert_uint_lt(most[0], 16 * 3);
  ck_assert_uint_gt(most[1], 16 * 8);
  ck_assert_uint_gt(most[2], 16 * 8);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("graph");
  TCase *tcase = tcase_create("graph");
  tcase_add_loop_test(tcase, parts_fit_together, 0, G_N_ELEMENTS(specs));
  tcase_add_loop_test(tcase, sequential_results, 0, G_N_ELEMENTS(specs));
  tcase_add_test(tcase, descent_by_one_thread);
  tcase_add_test(tcase, roads_have_so_many_edges);
  tcase_add_test(tcase, roads_with_all_edges);
  tcase_add_test(tcase, meshes_have_washingtons_size);
  tcase_add_test(tcase, skewed_kinds_are_skewed);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
