#include "sim/detect/naming/waitgraph.h"
#include "base/bits.h"
#include "sim/core/cluster.h"
#include "sim/core/host.h"
#include "sim/core/look.h"
#include "sim/detect/proof/explore_groups.h"

/* ---- nodes and edges ---- */

/* What tells a node from all others. */
typedef struct NodeName {
  uint64_t key;
  guint view;
  uint32_t index;
  NodeKind kind;
} NodeName;

static guint hash_name(gconstpointer data) {
  const NodeName *name = data;
  uint64_t place = (uint64_t)name->view << 32 | name->index << 3 | name->kind;
  uint64_t hash = (place ^ name->key * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
  return (guint)(hash >> 32);
}

static gboolean is_same_name(gconstpointer a, gconstpointer b) {
  const NodeName *x = a, *y = b;
  return x->key == y->key && x->view == y->view && x->index == y->index && x->kind == y->kind;
}

static guint add_node(WaitGraph *graph, NodeKind kind, guint view, uint32_t index, uint64_t key) {
  Node node = {.kind = kind, .view = view, .index = index, .key = key};
  g_array_append_val(graph->nodes, node);
  return graph->nodes->len - 1;
}

guint wait_lane_node(WaitGraph *graph, guint view, unsigned lane) {
  guint *known = &graph->lanes[(gsize)view * WARP_LANES + lane];
  if (!*known)
    *known = 1 + add_node(graph, NODE_LANE, view, lane, 0);
  return *known - 1;
}

guint wait_node_of(WaitGraph *graph, NodeKind kind, guint view, uint32_t index, uint64_t key) {
  NodeName name = {.key = key, .view = view, .index = index, .kind = kind};
  gpointer found = g_hash_table_lookup(graph->index, &name);
  if (found)
    return GPOINTER_TO_UINT(found) - 1;
  guint node = add_node(graph, kind, view, index, key);
  g_hash_table_insert(graph->index, g_memdup2(&name, sizeof name), GUINT_TO_POINTER(node + 1));
  return node;
}

guint wait_graph_find(const WaitGraph *graph, NodeKind kind, guint view, uint32_t index, uint64_t key) {
  if (kind == NODE_LANE)
    return graph->lanes[(gsize)view * WARP_LANES + index] - 1;
  NodeName name = {.key = key, .view = view, .index = index, .kind = kind};
  gpointer found = g_hash_table_lookup(graph->index, &name);
  return found ? GPOINTER_TO_UINT(found) - 1 : G_MAXUINT;
}

/* A pair is its own key. */
static guint hash_pair(gconstpointer pair) {
  uint64_t value = (uint64_t)(uintptr_t)pair;
  return bits_hash_key(&value);
}

bool wait_graph_has_edge(const WaitGraph *graph, guint from, guint to) {
  return g_hash_table_contains(graph->pairs, wait_pair(from, to));
}

void wait_connect(WaitGraph *graph, guint from, guint to, EdgeKind kind, uint32_t pc, uint32_t physical) {
  if (!g_hash_table_add(graph->pairs, wait_pair(from, to)))
    return;
  Edge edge = {.from = from,
               .to = to,
               .kind = kind,
               .pc = pc,
               .physical = physical,
               .next = wait_node(graph, from)->first_edge};
  g_array_append_val(graph->edges, edge);
  wait_node(graph, from)->first_edge = graph->edges->len;
}

void wait_reconnect(WaitGraph *graph, guint at, guint to, uint32_t pc) {
  Edge *edge = wait_edge(graph, at);
  g_hash_table_remove(graph->pairs, wait_pair(edge->from, edge->to));
  g_hash_table_add(graph->pairs, wait_pair(edge->from, to));
  edge->to = to;
  edge->pc = pc;
  edge->behind = true;
}

/* Number of the first view of a block: its barriers are named after it. */
static guint block_view(const WarpView *view) {
  guint warp = 0;
  while (!view->of_block->warp[warp])
    warp++;
  return view->of_block->warp[warp]->index;
}

/* ---- what a lane waits for ---- */

/* A lane at an entry waits for the lanes that can't come to it. `pc`: where the lane is. */
static void connect_entry(WaitGraph *graph, guint index, guint node, uint32_t entry, uint32_t pc) {
  WarpView *view = wait_view(graph, index);
  guint there = wait_node_of(graph, NODE_ENTRY, index, entry, 0);
  bool fresh = wait_node(graph, there)->first_edge == 0;
  wait_connect(graph, node, there, EDGE_JOIN, pc, 0);
  for (uint32_t rest = fresh ? wait_entry_missing(view, entry) : 0; rest; rest &= rest - 1)
    wait_connect(graph, there, wait_lane_node(graph, index, (unsigned)__builtin_ctz(rest)), EDGE_JOIN, pc, 0);
}

/* What keeps a warp from a barrier: the lanes of its running path. Those that wait below them on the stack wait for
 * these, and don't belong to the cause. */
static uint32_t lanes_in_the_way(const WarpView *view) {
  uint32_t stuck = 0, running = 0;
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    if (view->reach[lane].may_exit)
      continue;
    stuck |= 1u << lane;
    running |= explorer_lane_runs(view, lane) ? 1u << lane : 0;
  }
  return running ? running : stuck;
}

/* Lane groups that wait at the barrier, though their warp may not have arrived there. */
static uint32_t lanes_at_barrier(const WarpView *view, uint32_t id) {
  const LaneGroups *groups = view->warp->groups;
  uint32_t lanes = 0;
  for (uint32_t i = 0; groups && i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_BARRIER && groups->group[i].which == id)
      lanes |= groups->group[i].mask;
  return lanes;
}

/* The warp of `view` takes part in the barrier, of all blocks of a launch or of a cluster, where that of `of` is. */
static bool takes_part(const WarpView *view, const WarpView *of, uint32_t id) {
  return id == GRID_BARRIER ? view->launch == of->launch : view->block->cluster == of->block->cluster;
}

/* Lanes of a warp that have come to such a barrier. */
static uint32_t lanes_there(const WarpView *view, uint32_t id) {
  return id == GRID_BARRIER ? lanes_at_barrier(view, id) : view->warp->groups->come[id];
}

/* A barrier of several blocks (SYNCBLOCKS, or that of a cluster) waits for the lanes that keep blocks from it, and
 * SYNCBLOCKS for blocks that aren't resident. */
static void connect_blocks(WaitGraph *graph, guint node, const WarpView *of, uint32_t id, uint32_t pc) {
  guint first = 0;
  while (!takes_part(wait_view(graph, first), of, id))
    first++;
  guint barrier = wait_node_of(graph, NODE_BARRIER, first, id, 0);
  bool fresh = wait_node(graph, barrier)->first_edge == 0;
  wait_connect(graph, node, barrier, EDGE_BARRIER, pc, 0);
  for (guint i = first; fresh && i < graph->explorer->views->len; i++) {
    const WarpView *view = wait_view(graph, i);
    const Barrier *at = &view->block->barrier[id];
    if (!takes_part(view, of, id) || at->arrived >> view->warp->warp_in_block & 1 || view->arrives[id])
      continue;
    for (uint32_t rest = lanes_in_the_way(view) & ~lanes_there(view, id); rest; rest &= rest - 1)
      wait_connect(graph, barrier, wait_lane_node(graph, i, (unsigned)__builtin_ctz(rest)), EDGE_BARRIER, pc, 0);
  }
  const Launch *launch = of->launch;
  if (id == GRID_BARRIER && fresh && launch->next_block < launch->blocks)
    wait_connect(graph, barrier, wait_node_of(graph, NODE_PENDING, 0, launch->index, 0), EDGE_RESIDENCY, pc, 0);
}

static void connect_barrier(WaitGraph *graph, guint node, const WarpView *of_block, uint32_t id, uint32_t pc) {
  if (id == GRID_BARRIER || (id == CLUSTER_BARRIER && of_block->block->cluster)) {
    connect_blocks(graph, node, of_block, id, pc);
    return;
  }
  guint barrier = wait_node_of(graph, NODE_BARRIER, block_view(of_block), id, 0);
  bool fresh = wait_node(graph, barrier)->first_edge == 0;
  wait_connect(graph, node, barrier, EDGE_BARRIER, pc, 0);
  for (guint warp = 0; fresh && warp < of_block->block->warps; warp++) { /* warps of a block lie in rising slots */
    const WarpView *view = of_block->of_block->warp[warp];
    if (!view || view->block->barrier[id].arrived >> warp & 1 || view->arrives[id])
      continue;
    uint32_t came = lanes_at_barrier(view, id);
    for (uint32_t rest = lanes_in_the_way(view) & ~came; rest; rest &= rest - 1)
      wait_connect(graph, barrier, wait_lane_node(graph, view->index, (unsigned)__builtin_ctz(rest)), EDGE_BARRIER,
                   pc, 0);
  }
}

/* The BAR at which an exploring lane stops at barrier `id`: the last one it was seen at, for the line. */
static uint32_t barrier_line_pc(const WarpView *view, uint32_t id) {
  const Kernel *kernel = view->launch->kernel;
  if (!view->warp->groups && view->warp->state == WARP_AT_BARRIER && view->warp->barrier == id)
    return view->warp->barrier_pc;
  for (uint32_t pc = view->warp->pc; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (id == GRID_BARRIER      ? inst->op == OP_SYNCBLOCKS
        : id == CLUSTER_BARRIER ? inst->op == OP_CLUSTERBAR && inst->mode == CLUSTERBAR_WAIT
                                : inst->op == OP_BAR && inst->mode != BAR_ARV)
      return pc;
  }
  return view->warp->pc;
}

/* Barriers that the lane may come to and that nobody can complete. */
static uint32_t closed_barriers(const WarpView *view, unsigned lane) {
  uint32_t closed = 0;
  for (uint32_t rest = view->reach[lane].block_barriers; rest; rest &= rest - 1)
    if (!explorer_barrier_opens(view, (uint32_t)__builtin_ctz(rest)))
      closed |= rest & -rest;
  return closed;
}

/* The lane's group waits at a barrier to which others have been connected, which is closed, therefore. */
static bool waits_at_known_barrier(WaitGraph *graph, const WarpView *view, unsigned lane) {
  const LaneGroup *group = view->warp->groups ? explore_group_of(view, lane) : NULL;
  return group && group->state == GROUP_AT_BARRIER && group->which < GRID_BARRIER &&
         wait_graph_find(graph, NODE_BARRIER, block_view(view), group->which, 0) != G_MAXUINT;
}

/* A lane whose group can't go on. */
static void connect_group(WaitGraph *graph, guint index, guint node, unsigned lane, bool closed) {
  WarpView *view = wait_view(graph, index);
  const LaneGroup *group = explore_group_of(view, lane);
  if (group->state == GROUP_AT_BARRIER && (closed || !explorer_barrier_opens(view, group->which)))
    connect_barrier(graph, node, view, group->which, group->pc);
  else
    connect_entry(graph, index, node, wait_entry_of_group(view, lane), group->pc);
}

static void connect_lane(WaitGraph *graph, guint index, unsigned lane) {
  WarpView *view = wait_view(graph, index);
  guint node = wait_lane_node(graph, index, lane);
  bool closed = waits_at_known_barrier(graph, view, lane), runs = !closed && explorer_lane_runs(view, lane);
  int entry = view->warp->groups ? -1 : explorer_waiting_entry(view, lane);
  uint32_t level = entry < 0 ? view->warp->depth : (uint32_t)entry;
  if (!runs && view->warp->groups) {
    connect_group(graph, index, node, lane, closed);
  } else if (!runs && entry >= 0) {
    connect_entry(graph, index, node, (uint32_t)entry, wait_entry_pc(view, (uint32_t)entry));
  } else if (!runs) {
    connect_barrier(graph, node, view, view->warp->barrier, view->warp->barrier_pc);
  } else if (view->reach[lane].lowest_entry < level && !view->entry_open[view->reach[lane].lowest_entry]) {
    connect_entry(graph, index, node, view->reach[lane].lowest_entry,
                  wait_entry_pc(view, view->reach[lane].lowest_entry));
  } else if (closed_barriers(view, lane)) {
    for (uint32_t rest = closed_barriers(view, lane); rest; rest &= rest - 1) {
      uint32_t id = (uint32_t)__builtin_ctz(rest);
      connect_barrier(graph, node, view, id, barrier_line_pc(view, id));
    }
  } else {
    wait_connect_spinner(graph, index, lane);
  }
}

/* A BAR.RED that lanes of the warp come to. */
static uint32_t reduction_pc(const WarpView *view) {
  const Kernel *kernel = view->launch->kernel;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_BAR && kernel->insts[pc].mode >= BAR_RED_POPC && view_explored(view, pc))
      return pc;
  return view->warp->pc;
}

/* A lane that reads nothing, and whose loop goes on until a BAR.RED says otherwise: it waits for the lanes that bring
 * the same there and would bring something else once their own wait were over. */
static void connect_reduction(WaitGraph *graph, guint index, unsigned lane, uint32_t id) {
  const WarpView *view = wait_view(graph, index);
  guint node = wait_lane_node(graph, index, lane), barrier = G_MAXUINT;
  uint32_t pc = reduction_pc(view);
  for (guint warp = 0; warp < view->block->warps; warp++) {
    const WarpView *other = view->of_block->warp[warp];
    for (uint32_t rest = other ? other->says[0][id] | other->says[1][id] : 0; rest; rest &= rest - 1) {
      unsigned decides = (unsigned)__builtin_ctz(rest);
      guint decider = wait_graph_find(graph, NODE_LANE, other->index, decides, 0);
      if (decider == G_MAXUINT || decider == node || !wait_node(graph, decider)->reads)
        continue;
      if (barrier == G_MAXUINT)
        barrier = wait_node_of(graph, NODE_BARRIER, block_view(view), id, 0);
      wait_connect(graph, barrier, decider, EDGE_WORD, pc, 0);
    }
  }
  if (barrier != G_MAXUINT)
    wait_connect(graph, node, barrier, EDGE_WORD, pc, 0);
}

/* Once all lanes are connected to what they read. */
static void connect_reductions(WaitGraph *graph) {
  for (guint i = 0; i < graph->nodes->len; i++)
    wait_node(graph, i)->reads = wait_node(graph, i)->kind == NODE_LANE && wait_node(graph, i)->first_edge;
  for (guint i = 0, lanes = graph->nodes->len; i < lanes; i++) {
    Node node = *wait_node(graph, i);
    if (node.kind != NODE_LANE || node.first_edge)
      continue;
    const uint32_t *says = wait_view(graph, node.view)->reach[node.index].says;
    for (uint32_t rest = says[0] | says[1]; rest; rest &= rest - 1)
      connect_reduction(graph, node.view, node.index, (uint32_t)__builtin_ctz(rest));
  }
}

void wait_graph_drop_edges(WaitGraph *graph, const bool *drop) {
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

/* ---- who holds what is waited for ---- */

static guint find_thread(WaitGraph *graph, ThreadId thread) {
  for (guint i = 0; i < graph->explorer->views->len; i++) {
    const WarpView *view = wait_view(graph, i);
    if (view->launch->index == thread.launch && view->block->index == thread.block &&
        view->warp->warp_in_block == thread_warp(thread) && view->warp->alive >> thread_lane(thread) & 1)
      return wait_lane_node(graph, i, thread_lane(thread));
  }
  return G_MAXUINT;
}

/* A held bit waits for its holder, whatever else might free it. */
static void connect_holders(WaitGraph *graph) {
  for (guint i = 0; i < graph->nodes->len; i++) {
    Node node = *wait_node(graph, i);
    if (node.kind != NODE_BIT || node.key & BIT_TAKEN)
      continue;
    const Sm *sm = &graph->explorer->gpu->sms[node.key >> 32];
    const LockBit *bit = look_bit(sm, (uint32_t)node.key);
    guint holder = bit->held ? find_thread(graph, bit->owner) : G_MAXUINT;
    if (holder != G_MAXUINT)
      wait_connect(graph, i, holder, EDGE_BIT, bit->pc, bit->address);
  }
}

/* ---- the host ---- */

/* It waits for a word, or for the lanes of a launch that don't exit. */
static void connect_host(WaitGraph *graph) {
  const Host *host = graph->explorer->gpu->host;
  if (!host || (host->state != HOST_POLLING && host->state != HOST_WAITING))
    return;
  const HostStep *step = &host->steps[host->at];
  guint node = wait_node_of(graph, NODE_HOST, 0, 0, 0);
  if (host->state == HOST_POLLING) {
    uint64_t address = look_address(host->gpu, step->buffer, step->index);
    wait_connect(graph, node, wait_node_of(graph, NODE_WORD, 0, 0, word_key_global(address)), EDGE_WORD, host->at, 0);
    return;
  }
  for (guint i = 0; i < graph->explorer->views->len; i++) {
    const WarpView *view = wait_view(graph, i);
    if (view->launch->index != step->launch + host->times[host->at])
      continue;
    for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1)
      if (!view->reach[__builtin_ctz(rest)].may_exit)
        wait_connect(graph, node, wait_lane_node(graph, i, (unsigned)__builtin_ctz(rest)), EDGE_WORD, host->at, 0);
  }
}

static void connect_all(WaitGraph *graph) {
  Explorer *explorer = graph->explorer;
  guint views = explorer->views->len;
  for (guint i = 0; i < views; i++)
    for (uint32_t rest = wait_view(graph, i)->warp->alive; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      if (!wait_view(graph, i)->reach[lane].may_exit)
        connect_lane(graph, i, lane);
    }
  wait_connect_writers(graph);
  connect_reductions(graph);
  connect_host(graph);
  connect_holders(graph);
  wait_graph_add_actors(graph);
}

static WaitGraph *build(Explorer *explorer, bool of_each) {
  WaitGraph *graph = g_new0(WaitGraph, 1);
  graph->explorer = explorer;
  graph->of_each = of_each;
  guint most = explorer->views->len * WARP_LANES; /* lanes; each waits for something */
  graph->nodes = g_array_sized_new(FALSE, FALSE, sizeof(Node), most);
  graph->edges = g_array_sized_new(FALSE, FALSE, sizeof(Edge), most);
  graph->pairs = g_hash_table_new(hash_pair, NULL);
  graph->lanes = g_new0(guint, most);
  graph->index = g_hash_table_new_full(hash_name, is_same_name, g_free, NULL);
  footprint_init(&graph->touched);
  connect_all(graph);
  wait_graph_find_components(graph);
  if (wait_graph_drop_rounds(graph))
    wait_graph_find_components(graph);
  return graph;
}

WaitGraph *wait_graph_new(Explorer *explorer) { return build(explorer, false); }

WaitGraph *wait_graph_new_of_each(Explorer *explorer) { return build(explorer, true); }

void wait_graph_free(WaitGraph *graph) {
  if (!graph)
    return;
  for (guint i = 0; i < graph->nodes->len; i++) {
    g_clear_pointer(&wait_node(graph, i)->words, g_hash_table_destroy);
    g_clear_pointer(&wait_node(graph, i)->bits, g_hash_table_destroy);
  }
  footprint_clear(&graph->touched);
  g_array_free(graph->nodes, TRUE);
  g_array_free(graph->edges, TRUE);
  g_hash_table_destroy(graph->index);
  g_free(graph->lanes);
  g_hash_table_destroy(graph->pairs);
  g_free(graph);
}
