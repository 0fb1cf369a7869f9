#include "sim/detect/naming/waitgraph.h"

#include "base/bits.h"
#include "sim/core/host.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/proof/explore_groups.h"
#include "sim/detect/proof/host_proof.h"

enum { RELEASE_STEPS_MAX = 20000000, PENDING_BLOCKS_SHOWN = 32, SPINS_IN_A_ROW_MAX = 8 };

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

static guint node_of(WaitGraph *graph, NodeKind kind, guint view, uint32_t index, uint64_t key) {
  NodeName name = {.key = key, .view = view, .index = index, .kind = kind};
  gpointer found = g_hash_table_lookup(graph->index, &name);
  if (found)
    return GPOINTER_TO_UINT(found) - 1;
  Node node = {.kind = kind, .view = view, .index = index, .key = key};
  g_array_append_val(graph->nodes, node);
  NodeName *owned = g_new(NodeName, 1);
  *owned = name;
  g_hash_table_insert(graph->index, owned, GUINT_TO_POINTER(graph->nodes->len));
  return graph->nodes->len - 1;
}

static bool waits_for(const WaitGraph *graph, guint from, guint to) {
  gint64 pair = (gint64)((uint64_t)from << 32 | to);
  return g_hash_table_contains(graph->pairs, &pair);
}

static void connect(WaitGraph *graph, guint from, guint to, EdgeKind kind, uint32_t pc, uint32_t physical) {
  if (waits_for(graph, from, to))
    return;
  gint64 *pair = g_new(gint64, 1);
  *pair = (gint64)((uint64_t)from << 32 | to);
  g_hash_table_add(graph->pairs, pair);
  Edge edge = {.from = from,
               .to = to,
               .kind = kind,
               .pc = pc,
               .physical = physical,
               .next = wait_node(graph, from)->first_edge};
  g_array_append_val(graph->edges, edge);
  wait_node(graph, from)->first_edge = graph->edges->len;
}

static WarpView *view_at(const WaitGraph *graph, guint index) {
  return g_ptr_array_index(graph->explorer->views, index);
}

static guint lane_node(WaitGraph *graph, guint view, unsigned lane) {
  return node_of(graph, NODE_LANE, view, lane, 0);
}

/* Number of the first view of a block: its barriers are named after it. */
static guint block_view(const WarpView *view) {
  guint warp = 0;
  while (!view->of_block->warp[warp])
    warp++;
  return view->of_block->warp[warp]->index;
}

/* ---- what a lane waits for ---- */

static GHashTable *key_set(void) { return g_hash_table_new(bits_hash_key, g_int64_equal); }

static bool goes_further(const LaneReach *now, const LaneReach *before) {
  return now->exits || now->lowest < before->lowest || (now->barriers & ~before->barriers) ||
         (now->syncs & ~before->syncs) || (now->warpsyncs && !before->warpsyncs) || (now->meets && !before->meets) ||
         (now->stops && !before->stops);
}

/* Explores a lane as if words and bits of these sets held what it likes. */
static bool freed_by(WaitGraph *graph, WarpView *view, unsigned lane, GHashTable *words, GHashTable *bits) {
  Explorer *explorer = graph->explorer;
  Assumption assumption = {.free_words = words, .free_bits = bits, .read_only = true};
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  LaneReach reach = explorer_lane(explorer, view, lane, &start.state, &assumption, NULL);
  return goes_further(&reach, &view->reach[lane]);
}

static GArray *sorted_touches(GHashTable *table);

static gint compare_touches(gconstpointer a, gconstpointer b) {
  const Touch *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

/* Hash tables have no order of their own; everything that is shown goes through this. */
static GArray *sorted_touches(GHashTable *table) {
  GArray *touches = g_array_new(FALSE, FALSE, sizeof(Touch));
  GHashTableIter iter;
  gpointer key, value;
  g_hash_table_iter_init(&iter, table);
  while (g_hash_table_iter_next(&iter, &key, &value))
    g_array_append_val(touches, *(Touch *)value);
  g_array_sort(touches, compare_touches);
  return touches;
}

static EdgeKind bit_edge_kind(const WarpView *view, const Touch *touch) {
  const LockBit *bit = &view->sm->lock_unit.bit[(uint32_t)touch->key];
  return bit->held && bit->address / 4 != touch->physical / 4 ? EDGE_ALIAS : EDGE_BIT;
}

static void connect_touch(WaitGraph *graph, guint node, const WarpView *view, const Touch *touch, bool is_bit) {
  if (is_bit)
    connect(graph, node, node_of(graph, NODE_BIT, 0, 0, touch->key), bit_edge_kind(view, touch), touch->pc,
            touch->physical);
  else
    connect(graph, node, node_of(graph, NODE_WORD, 0, 0, touch->key), EDGE_WORD, touch->pc, 0);
}

/* What a spinning lane reads: candidates for what it waits for. `later_*`: what it would come to read if they changed. */
typedef struct Spin {
  WarpView *view;
  unsigned lane;
  GArray *words, *bits; /* Touch */
  GHashTable *later_words, *later_bits;
} Spin;

static void add_keys(GHashTable *set, const GArray *touches) {
  for (guint i = 0; i < touches->len; i++)
    g_hash_table_add(set, &g_array_index(touches, Touch, i).key);
}

static void add_all(GHashTable *set, GHashTable *keys) {
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, keys);
  while (g_hash_table_iter_next(&iter, &key, NULL))
    g_hash_table_add(set, key);
}

static unsigned connect_single_causes(WaitGraph *graph, guint node, Spin *spin, bool is_bit) {
  GArray *touches = is_bit ? spin->bits : spin->words;
  unsigned found = 0;
  for (guint i = 0; i < touches->len; i++) {
    Touch *touch = &g_array_index(touches, Touch, i);
    GHashTable *words = key_set(), *bits = key_set();
    add_all(words, spin->later_words);
    add_all(bits, spin->later_bits);
    g_hash_table_add(is_bit ? bits : words, &touch->key);
    if (freed_by(graph, spin->view, spin->lane, words, bits)) {
      connect_touch(graph, node, spin->view, touch, is_bit);
      found++;
    }
    g_hash_table_destroy(words);
    g_hash_table_destroy(bits);
  }
  return found;
}

static unsigned connect_all_causes(WaitGraph *graph, guint node, Spin *spin) {
  GHashTable *words = key_set(), *bits = key_set();
  unsigned found = 0;
  add_keys(words, spin->words);
  add_keys(bits, spin->bits);
  add_all(words, spin->later_words);
  add_all(bits, spin->later_bits);
  if (freed_by(graph, spin->view, spin->lane, words, bits)) {
    for (guint i = 0; i < spin->bits->len; i++)
      connect_touch(graph, node, spin->view, &g_array_index(spin->bits, Touch, i), true);
    for (guint i = 0; i < spin->words->len; i++)
      connect_touch(graph, node, spin->view, &g_array_index(spin->words, Touch, i), false);
    found = spin->bits->len + spin->words->len;
  }
  g_hash_table_destroy(words);
  g_hash_table_destroy(bits);
  return found;
}

static unsigned connect_causes(WaitGraph *graph, guint node, Spin *spin) {
  unsigned found = connect_single_causes(graph, node, spin, true);
  found += connect_single_causes(graph, node, spin, false);
  return found ? found : connect_all_causes(graph, node, spin);
}

static bool has_touch(const GArray *touches, uint64_t key) {
  for (guint i = 0; i < touches->len; i++)
    if (g_array_index(touches, Touch, i).key == key)
      return true;
  return false;
}

static bool add_later(GHashTable *later, const GArray *now, GHashTable *reads) {
  bool grew = false;
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, reads);
  while (g_hash_table_iter_next(&iter, &key, NULL))
    if (!has_touch(now, *(uint64_t *)key) && !g_hash_table_contains(later, key)) {
      g_hash_table_add(later, g_memdup2(key, sizeof(uint64_t)));
      grew = true;
    }
  return grew;
}

/* A lane that would go on only to wait for the next thing, such as for a lock that it holds now and would free on the
 * way, is let through there, too. */
static bool look_further(WaitGraph *graph, Spin *spin) {
  bool grew = false, grows = true;
  for (unsigned round = 0; round < SPINS_IN_A_ROW_MAX && grows; round++) {
    GHashTable *words = key_set(), *bits = key_set();
    add_keys(words, spin->words);
    add_keys(bits, spin->bits);
    add_all(words, spin->later_words);
    add_all(bits, spin->later_bits);
    Assumption assumption = {.free_words = words, .free_bits = bits, .read_only = true};
    Footprint footprint;
    footprint_init(&footprint);
    LaneSpace start;
    explorer_start(spin->view, spin->lane, &start.state);
    explorer_lane(graph->explorer, spin->view, spin->lane, &start.state, &assumption, &footprint);
    grows = add_later(spin->later_words, spin->words, footprint.reads);
    grows |= add_later(spin->later_bits, spin->bits, footprint.lock_reads);
    grew |= grows;
    footprint_clear(&footprint);
    g_hash_table_destroy(words);
    g_hash_table_destroy(bits);
  }
  return grew;
}

/* A lane that spins: the words and bits of which another content would let it go on; if only several together would,
 * all of them. */
static void connect_spinner(WaitGraph *graph, guint index, unsigned lane) {
  Explorer *explorer = graph->explorer;
  WarpView *view = view_at(graph, index);
  guint node = lane_node(graph, index, lane);
  Footprint footprint;
  footprint_init(&footprint);
  Assumption look = {.read_only = true};
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  explorer_lane(explorer, view, lane, &start.state, &look, &footprint);
  Spin spin = {.view = view,
               .lane = lane,
               .words = sorted_touches(footprint.reads),
               .bits = sorted_touches(footprint.lock_reads),
               .later_words = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL),
               .later_bits = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL)};
  for (guint i = spin.bits->len; i-- > 0;) {
    const BitSet *bit = abstract_bit(&explorer->memory, view->sm, (uint32_t)g_array_index(spin.bits, Touch, i).key);
    if (bit->may_be_free)
      g_array_remove_index(spin.bits, i); /* it is taken and freed all the time: not what the lane lacks */
  }
  if (connect_causes(graph, node, &spin) == 0 && look_further(graph, &spin))
    connect_causes(graph, node, &spin);
  g_array_free(spin.bits, TRUE);
  g_array_free(spin.words, TRUE);
  g_hash_table_destroy(spin.later_words);
  g_hash_table_destroy(spin.later_bits);
  footprint_clear(&footprint);
}

/* A lane at an entry waits for the lanes that can't come to it. `pc`: where the lane is. */
static void connect_entry(WaitGraph *graph, guint index, guint node, uint32_t entry, uint32_t pc) {
  WarpView *view = view_at(graph, index);
  guint there = node_of(graph, NODE_ENTRY, index, entry, 0);
  bool fresh = wait_node(graph, there)->first_edge == 0;
  connect(graph, node, there, EDGE_JOIN, pc, 0);
  for (uint32_t rest = fresh ? wait_entry_missing(view, entry) : 0; rest; rest &= rest - 1)
    connect(graph, there, lane_node(graph, index, (unsigned)__builtin_ctz(rest)), EDGE_JOIN, pc, 0);
}

/* What keeps a warp from a barrier: the lanes of its running path. Those that wait below them on the stack wait for
 * these, and don't belong to the cause. */
static uint32_t lanes_in_the_way(const WarpView *view) {
  uint32_t stuck = 0, running = 0;
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    LaneSpace start;
    if (view->reach[lane].exits)
      continue;
    stuck |= 1u << lane;
    running |= explorer_start(view, lane, &start.state) ? 1u << lane : 0;
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

static void connect_barrier(WaitGraph *graph, guint node, const WarpView *of_block, uint32_t id, uint32_t pc) {
  guint barrier = node_of(graph, NODE_BARRIER, block_view(of_block), id, 0);
  bool fresh = wait_node(graph, barrier)->first_edge == 0;
  connect(graph, node, barrier, EDGE_BARRIER, pc, 0);
  for (guint warp = 0; fresh && warp < of_block->block->warps; warp++) { /* warps of a block lie in rising slots */
    const WarpView *view = of_block->of_block->warp[warp];
    if (!view || view->block->barrier[id].arrived >> warp & 1 || view->arrives[id])
      continue;
    uint32_t came = lanes_at_barrier(view, id);
    for (uint32_t rest = lanes_in_the_way(view) & ~came; rest; rest &= rest - 1)
      connect(graph, barrier, lane_node(graph, view->index, (unsigned)__builtin_ctz(rest)), EDGE_BARRIER, pc, 0);
  }
}

/* The BAR at which an exploring lane stops at barrier `id`: the last one it was seen at, for the line. */
static uint32_t barrier_line_pc(const WarpView *view, uint32_t id) {
  const Kernel *kernel = view->launch->kernel;
  if (!view->warp->groups && view->warp->state == WARP_AT_BARRIER && view->warp->barrier == id)
    return view->warp->barrier_pc;
  for (uint32_t pc = view->warp->pc; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_BAR && kernel->insts[pc].mode != BAR_ARV)
      return pc;
  return view->warp->pc;
}

/* Barriers that the lane may come to and that nobody can complete. */
static uint32_t closed_barriers(const WarpView *view, unsigned lane) {
  uint32_t closed = 0;
  for (uint32_t rest = view->reach[lane].barriers; rest; rest &= rest - 1)
    if (!explorer_barrier_opens(view, (uint32_t)__builtin_ctz(rest)))
      closed |= rest & -rest;
  return closed;
}

/* A lane whose group can't go on. */
static void connect_group(WaitGraph *graph, guint index, guint node, unsigned lane) {
  WarpView *view = view_at(graph, index);
  const LaneGroup *group = explore_group_of(view, lane);
  if (group->state == GROUP_AT_BARRIER && !explorer_barrier_opens(view, group->which))
    connect_barrier(graph, node, view, group->which, group->pc);
  else
    connect_entry(graph, index, node, wait_entry_of_group(view, lane), group->pc);
}

static void connect_lane(WaitGraph *graph, guint index, unsigned lane) {
  WarpView *view = view_at(graph, index);
  guint node = lane_node(graph, index, lane);
  LaneSpace start;
  bool runs = explorer_start(view, lane, &start.state);
  int entry = explorer_waiting_entry(view, lane);
  if (!runs && view->warp->groups) {
    connect_group(graph, index, node, lane);
  } else if (!runs && entry >= 0) {
    connect_entry(graph, index, node, (uint32_t)entry, wait_entry_pc(view, (uint32_t)entry));
  } else if (!runs) {
    connect_barrier(graph, node, view, view->warp->barrier, view->warp->barrier_pc);
  } else if (view->reach[lane].lowest < start.state.level && !view->entry_open[view->reach[lane].lowest]) {
    connect_entry(graph, index, node, view->reach[lane].lowest, wait_entry_pc(view, view->reach[lane].lowest));
  } else if (closed_barriers(view, lane)) {
    for (uint32_t rest = closed_barriers(view, lane); rest; rest &= rest - 1) {
      uint32_t id = (uint32_t)__builtin_ctz(rest);
      connect_barrier(graph, node, view, id, barrier_line_pc(view, id));
    }
  } else {
    connect_spinner(graph, index, lane);
  }
}

/* ---- who would change what is waited for ---- */

/* The awaited word or bit of that key, or G_MAXUINT. */
static guint awaited(const WaitGraph *graph, NodeKind kind, uint64_t key) {
  NodeName name = {.key = key, .kind = kind};
  gpointer found = g_hash_table_lookup(graph->index, &name);
  return found ? GPOINTER_TO_UINT(found) - 1 : G_MAXUINT;
}

static void connect_changes(WaitGraph *graph, guint actor, GHashTable *table, NodeKind kind, EdgeKind edge) {
  GArray *touches = sorted_touches(table);
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    guint thing = awaited(graph, kind, touch->key);
    if (thing == G_MAXUINT)
      continue;
    Node *node = wait_node(graph, thing);
    if (!waits_for(graph, actor, thing)) {
      connect(graph, thing, actor, edge, touch->pc, touch->physical);
    } else if (!node->waiter) { /* that it would take a lock and release it, say, helps nobody */
      node->waiter = actor + 1;
      node->waiter_pc = touch->pc;
    }
  }
  g_array_free(touches, TRUE);
}

/* What this lane would write and free if whatever it waits for came. */
static void release_lane(WaitGraph *graph, guint index, unsigned lane, guint actor, EdgeKind edge) {
  Explorer *explorer = graph->explorer;
  WarpView *view = view_at(graph, index);
  GHashTable *words = key_set(), *bits = key_set();
  if (wait_node(graph, actor)->kind == NODE_LANE)
    for (uint32_t at = wait_node(graph, actor)->first_edge; at; at = wait_edge(graph, at - 1)->next) {
      Node *thing = wait_node(graph, wait_edge(graph, at - 1)->to);
      if (thing->kind == NODE_WORD)
        g_hash_table_add(words, &thing->key);
      else if (thing->kind == NODE_BIT)
        g_hash_table_add(bits, &thing->key);
    }
  Assumption assumption = {.free_words = words, .free_bits = bits, .all_open = true, .read_only = true};
  Footprint footprint;
  footprint_init(&footprint);
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  explorer_lane(explorer, view, lane, &start.state, &assumption, &footprint);
  connect_changes(graph, actor, footprint.writes, NODE_WORD, edge);
  connect_changes(graph, actor, footprint.frees, NODE_BIT, edge == EDGE_WORD ? EDGE_BIT : edge);
  footprint_clear(&footprint);
  g_hash_table_destroy(words);
  g_hash_table_destroy(bits);
}

static guint find_thread(WaitGraph *graph, ThreadId thread) {
  for (guint i = 0; i < graph->explorer->views->len; i++) {
    const WarpView *view = view_at(graph, i);
    if (view->launch->index == thread.launch && view->block->index == thread.block &&
        view->warp->warp_in_block == thread_warp(thread) && view->warp->alive >> thread_lane(thread) & 1)
      return lane_node(graph, i, thread_lane(thread));
  }
  return G_MAXUINT;
}

/* A held bit waits for its holder, whatever else might free it. */
static void connect_holders(WaitGraph *graph) {
  for (guint i = 0; i < graph->nodes->len; i++) {
    Node node = *wait_node(graph, i);
    if (node.kind != NODE_BIT)
      continue;
    const Sm *sm = &graph->explorer->gpu->sms[node.key >> 32];
    const LockBit *bit = &sm->lock_unit.bit[(uint32_t)node.key];
    guint holder = bit->held ? find_thread(graph, bit->owner) : G_MAXUINT;
    if (holder != G_MAXUINT)
      connect(graph, i, holder, EDGE_BIT, bit->pc, bit->address);
  }
}

/* ---- the host ---- */

/* It waits for a word, or for the lanes of a launch that don't exit. */
static void connect_host(WaitGraph *graph) {
  const Host *host = graph->explorer->gpu->host;
  if (!host || (host->state != HOST_POLLING && host->state != HOST_WAITING))
    return;
  const HostStep *step = &host->steps[host->at];
  guint node = node_of(graph, NODE_HOST, 0, 0, 0);
  if (host->state == HOST_POLLING) {
    uint64_t address = backing_buffer(host->gpu->backing, step->buffer)->base + 4 * (uint64_t)step->index;
    connect(graph, node, node_of(graph, NODE_WORD, 0, 0, word_key_global(address)), EDGE_WORD, host->at, 0);
    return;
  }
  for (guint i = 0; i < graph->explorer->views->len; i++) {
    const WarpView *view = view_at(graph, i);
    if (view->launch->index != step->launch + host->times[host->at])
      continue;
    for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1)
      if (!view->reach[__builtin_ctz(rest)].exits)
        connect(graph, node, lane_node(graph, i, (unsigned)__builtin_ctz(rest)), EDGE_WORD, host->at, 0);
  }
}

/* What it would change if whatever it waits for came. */
static void release_host(WaitGraph *graph) {
  const Host *host = graph->explorer->gpu->host;
  if (!host || (host->state != HOST_POLLING && host->state != HOST_WAITING))
    return;
  guint node = node_of(graph, NODE_HOST, 0, 0, 0);
  g_autoptr(GArray) steps = host_would_change(graph->explorer);
  for (guint i = 0; i < steps->len; i++) {
    const HostStep *step = &host->steps[g_array_index(steps, uint32_t, i)];
    uint64_t address = backing_buffer(host->gpu->backing, step->buffer)->base + 4 * (uint64_t)step->index;
    guint thing = awaited(graph, NODE_WORD, word_key_global(address));
    if (thing != G_MAXUINT && !waits_for(graph, node, thing))
      connect(graph, thing, node, EDGE_WORD, g_array_index(steps, uint32_t, i), 0);
  }
}

/* What the block would write if it could run: it is placed on a scratch SM. */
static void release_pending(WaitGraph *graph, const Launch *launch, uint64_t block, bool any_block, guint node) {
  Explorer *explorer = graph->explorer;
  Gpu *gpu = explorer->gpu;
  Sm *scratch = g_new0(Sm, 1);
  Counters counters = gpu->counters;
  Probe *probe = gpu->probe;
  gpu->probe = NULL; /* nobody else is to see this block */
  sm_init(scratch, gpu, gpu->machine->gpu.sms + launch->index);
  if (sm_try_place(scratch, gpu_launch(gpu, launch->index), block, gpu->cycle)) {
    guint first = explorer->views->len;
    for (uint32_t slot = 0; slot < launch->block_warps; slot++)
      explorer_add_view(explorer, scratch, &scratch->warps[scratch->blocks[0].warp_slot[slot]])->any_block =
          any_block;
    for (guint view = first; view < explorer->views->len; view++)
      for (uint32_t rest = view_at(graph, view)->warp->alive; rest; rest &= rest - 1)
        release_lane(graph, view, (unsigned)__builtin_ctz(rest), node, EDGE_RESIDENCY);
    explorer_drop_views(explorer, first);
  }
  gpu->counters = counters;
  gpu->probe = probe;
  sm_clear(scratch);
  g_free(scratch);
}

/* Blocks that aren't resident wait for all that is. Of many, the first and the last show what they would write. */
static void connect_pending(WaitGraph *graph) {
  Gpu *gpu = graph->explorer->gpu;
  guint resident_nodes = graph->nodes->len;
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(gpu, i);
    uint64_t pending = launch->blocks - launch->next_block;
    if (pending == 0)
      continue;
    guint node = node_of(graph, NODE_PENDING, 0, i, 0);
    for (uint64_t k = 0; k < MIN(pending, (uint64_t)PENDING_BLOCKS_SHOWN); k++)
      release_pending(graph, launch, k % 2 ? launch->blocks - 1 - k / 2 : launch->next_block + k / 2, false, node);
    release_pending(graph, launch, launch->next_block, true, node); /* one that stands for all */
    for (guint lane = 0; lane < resident_nodes; lane++)
      if (wait_node(graph, lane)->kind == NODE_LANE)
        connect(graph, node, lane, EDGE_RESIDENCY, 0, 0);
  }
}

static void connect_all(WaitGraph *graph) {
  Explorer *explorer = graph->explorer;
  guint views = explorer->views->len;
  for (guint i = 0; i < views; i++)
    for (uint32_t rest = view_at(graph, i)->warp->alive; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      if (!view_at(graph, i)->reach[lane].exits)
        connect_lane(graph, i, lane);
    }
  connect_host(graph);
  connect_holders(graph);
  uint64_t steps = explorer->steps;
  for (guint i = 0; i < views; i++)
    for (uint32_t rest = view_at(graph, i)->warp->alive; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      if (explorer->steps - steps < RELEASE_STEPS_MAX && !view_at(graph, i)->reach[lane].exits)
        release_lane(graph, i, lane, lane_node(graph, i, lane), EDGE_WORD);
    }
  release_host(graph);
  connect_pending(graph);
}

WaitGraph *wait_graph_new(Explorer *explorer) {
  WaitGraph *graph = g_new0(WaitGraph, 1);
  graph->explorer = explorer;
  graph->nodes = g_array_new(FALSE, TRUE, sizeof(Node));
  graph->edges = g_array_new(FALSE, TRUE, sizeof(Edge));
  graph->pairs = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL);
  graph->index = g_hash_table_new_full(hash_name, is_same_name, g_free, NULL);
  connect_all(graph);
  wait_graph_find_components(graph);
  return graph;
}

void wait_graph_free(WaitGraph *graph) {
  if (!graph)
    return;
  g_array_free(graph->nodes, TRUE);
  g_array_free(graph->edges, TRUE);
  g_hash_table_destroy(graph->index);
  g_hash_table_destroy(graph->pairs);
  g_free(graph);
}
