/* waitgraph_build.h - what the files that build a wait-for graph share: nodes, edges, sets of keys.
 * waitgraph.c: what each lane waits for; waitgraph_actors.c: who would change it; waitgraph_pending.c: which blocks that
 * aren't resident would. */
#ifndef LOCKSTEP_DETECT_NAMING_WAITGRAPH_BUILD_H
#define LOCKSTEP_DETECT_NAMING_WAITGRAPH_BUILD_H

#include "base/bits.h"
#include "sim/detect/naming/waitgraph.h"

/* The node of that name, made if it is new: pointers to nodes are good until then. */
guint wait_node_of(WaitGraph *graph, NodeKind kind, guint view, uint32_t index, uint64_t key);
/* The node of that name, G_MAXUINT if there is none. */
guint wait_graph_find(const WaitGraph *graph, NodeKind kind, guint view, uint32_t index, uint64_t key);
guint wait_lane_node(WaitGraph *graph, guint view, unsigned lane);
bool wait_graph_has_edge(const WaitGraph *graph, guint from, guint to);
/* An edge, unless these two have one. */
void wait_connect(WaitGraph *graph, guint from, guint to, EdgeKind kind, uint32_t pc, uint32_t physical);
/* True if the lane gets further than the proof found, by what the assumption adds. */
bool wait_frees(WaitGraph *graph, WarpView *view, unsigned lane, const Assumption *assumption);
/* The touches of a footprint's table, sorted: hash tables have no order, and everything that is shown needs one. */
GArray *wait_touches(GHashTable *table);

/* Edges from what is awaited to those who would change it; to be called when all that is awaited has its node. */
void wait_graph_add_actors(WaitGraph *graph);
void wait_graph_add_pending(WaitGraph *graph);

static inline WarpView *wait_view(const WaitGraph *graph, guint index) {
  return g_ptr_array_index(graph->explorer->views, index);
}
/* A set of keys (uint64_t) that stay where they are. */
static inline GHashTable *wait_key_set(void) { return g_hash_table_new(bits_hash_key, g_int64_equal); }

#endif
