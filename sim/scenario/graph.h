/* graph.h - seeded graphs for buffers (`init: {graph: ...}`): the edges, the arcs of each vertex, and what a
 * sequential program finds.
 * Ownership: a Graph owns its arrays. Random choices are SplitMix64's, so a graph is the same on every host. */
#ifndef LOCKSTEP_SCENARIO_GRAPH_H
#define LOCKSTEP_SCENARIO_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds. All may have several edges between two vertices, and random and rmat loops. */
#define GRAPH_KINDS(X)                                                                                             \
  X(GRAPH_RANDOM, "random")       /* both ends uniform */                                                          \
  X(GRAPH_RMAT, "rmat")           /* Graph500's: quadrants .57, .19, .19, .05; vertices are a power of two */      \
  X(GRAPH_ROAD, "road")           /* a square grid of width^2 vertices, joined to neighbours by `edges` edges */   \
  X(GRAPH_BIPARTITE, "bipartite") /* from the first `width` vertices to the others; low numbers have more edges */ \
  X(GRAPH_MESH, "mesh") /* Washington's: `width` rows, each vertex to three of the next column; source 0, sink last */

#define GRAPH_PARTS(X)                                                                                  \
  X(GRAPH_ROWS, "rows")             /* vertices + 1 words: where the arcs of each vertex begin */       \
  X(GRAPH_COLUMNS, "columns")       /* 2 * edges words: where each arc leads; an edge is two */         \
  X(GRAPH_WEIGHTS, "weights")       /* 2 * edges words: the weight of each arc's edge */                \
  X(GRAPH_CAPACITIES, "capacities") /* the same for the arc in the edge's direction, 0 for the other */ \
  X(GRAPH_PARTNERS, "partners")     /* 2 * edges words: the other arc of the edge */                    \
  X(GRAPH_FROM, "from")             /* edges words: one end of each edge, as drawn */                   \
  X(GRAPH_TO, "to")                 /* edges words: the other end */                                    \
  X(GRAPH_VALUES, "values")         /* edges words: its weight */                                       \
  X(GRAPH_TREE, "tree")             /* 1 word: the weight of a lightest spanning forest */              \
  X(GRAPH_FLOW, "flow")             /* 1 word: the greatest flow from vertex 0 to the last */           \
  X(GRAPH_ERROR, "error")           /* 1 word: what a pass of descent leaves of the error (descent.h) */

#define X(enumerator, spelling) enumerator,
typedef enum { GRAPH_KINDS(X) GRAPH_KIND_COUNT } GraphKind;
typedef enum { GRAPH_PARTS(X) GRAPH_PART_COUNT } GraphPart;
#undef X

/* Vertices and edges of road and mesh follow from `width` and `length`, and are set by graph_new(); a road's edges
 * only if they are 0, and then it has all of the grid's. */
typedef struct GraphSpec {
  GraphKind kind;
  uint32_t vertices, edges;
  uint32_t width, length; /* length: columns of a mesh */
  uint32_t below;         /* weights are 1 to below - 1 */
  uint64_t seed;
} GraphSpec;

typedef struct Graph {
  GraphSpec spec;
  uint32_t *from, *to, *value; /* of each edge */
  uint32_t *rows, *columns, *weights, *forward,
      *partner; /* of each arc but `rows`; forward: the edge leads this way */
} Graph;

enum { GRAPH_EDGES_MAX = 1 << 24 };

/* Needs at least a vertex, at most GRAPH_EDGES_MAX edges and vertices, a width that fits, below of at least 2. */
Graph *graph_new(const GraphSpec *spec);
void graph_free(Graph *graph);
/* How many words a part has; writes them to `words`, if that isn't NULL. */
uint32_t graph_part(const Graph *graph, GraphPart part, uint32_t *words);

extern const char *const graph_kind_names[], *const graph_part_names[]; /* NULL-terminated */

#endif
