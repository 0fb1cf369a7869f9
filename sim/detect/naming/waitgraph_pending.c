/* Which blocks that aren't resident would change what is waited for.
 *
 * Any of them may, and they may be many. Blocks that differ only in their number store at addresses that lie in a
 * row: where four blocks of an interval do, who would store to an awaited word is worked out, and explored to see
 * whether it does; any other interval is halved. One that stands for all says where blocks may store at all: where
 * none was seen to, intervals are halved until each is a block or can't.
 * Large blocks may take too long: then a thread that may store to an awaited word, as far as was seen, is taken to do
 * so, and who would change the other words isn't known. */
#include <string.h>

#include "sim/core/dispatch.h"
#include "sim/detect/naming/pending_search.h"

/* The search of a launch comes to so many states of lanes, some seconds, and what one block that stands for all may
 * do is looked at for so many. */
#define SEARCH_WORK UINT64_C(8000000)
#define ANY_WORK (SEARCH_WORK / 4)
/* Up to so many blocks are tried one by one before that. */
enum { FEW_BLOCKS = 4 };

/* ---- all blocks ---- */

static bool was_tried(const PendingSearch *search, uint64_t block) {
  return g_hash_table_contains(search->tried, &block);
}

/* A new block that a row of stores says would change an awaited word is tried. False if that doesn't. */
static bool try_predicted(PendingSearch *search, uint64_t block, WordKey key) {
  if (was_tried(search, block))
    return false;
  g_array_free(pending_try_block(search, block, false), TRUE);
  return !g_hash_table_contains(search->targets, &key);
}

/* PendingStore `low` of block `from`, and those of the blocks behind it, `stride` words further each. */
static bool try_row(PendingSearch *search, const PendingStore *low, uint64_t from, uint64_t to, gint64 stride) {
  bool holds = true;
  if (stride == 0)
    return true;
  g_autofree gpointer *keys = g_hash_table_get_keys_as_array(search->targets, NULL);
  guint count = g_hash_table_size(search->targets);
  g_autofree WordKey *wanted = g_new(WordKey, count + 1);
  for (guint i = 0; i < count; i++)
    wanted[i] = *(WordKey *)keys[i];
  for (guint i = 0; i < count; i++) {
    gint64 distance = (gint64)(wanted[i] - low->key);
    if (distance % stride || distance / stride <= 0 || (uint64_t)(distance / stride) >= to - from)
      continue;
    if (g_hash_table_contains(search->targets, &wanted[i]))
      holds &= try_predicted(search, from + (uint64_t)(distance / stride), wanted[i]);
  }
  return holds;
}

static const PendingStore *store_at(const GArray *stores, guint index) {
  return &g_array_index(stores, PendingStore, index);
}

/* True if the blocks' stores lie in rows, and whoever would change an awaited word by that does. */
static bool try_rows(PendingSearch *search, const uint64_t block[4], GArray *const stores[4]) {
  guint count = stores[0]->len;
  bool holds = true;
  for (unsigned i = 1; i < 4; i++)
    if (stores[i]->len != count)
      return false;
  g_autofree gint64 *stride = g_new(gint64, count + 1);
  for (guint at = 0; at < count; at++) {
    const PendingStore *low = store_at(stores[0], at);
    stride[at] = (gint64)(store_at(stores[1], at)->key - low->key);
    for (unsigned i = 1; i < 4; i++) {
      const PendingStore *store = store_at(stores[i], at);
      if (store->thread != low->thread || store->pc != low->pc ||
          (gint64)(store->key - low->key) != stride[at] * (gint64)(block[i] - block[0]))
        return false;
    }
  }
  for (guint at = 0; at < count && !pending_all_found(search); at++)
    holds &= try_row(search, store_at(stores[0], at), block[0], block[3], stride[at]);
  return holds;
}

/* The blocks between two that have been tried. */
static void search_between(PendingSearch *search, uint64_t from, uint64_t to, GArray *low, GArray *high) {
  if (to - from < 2 || pending_all_found(search))
    return;
  uint64_t middle = from + (to - from) / 2;
  GArray *next = pending_try_block(search, from + 1, false);
  GArray *half = middle == from + 1 ? g_array_ref(next) : pending_try_block(search, middle, false);
  const uint64_t block[4] = {from, from + 1, middle, to};
  GArray *const stores[4] = {low, next, half, high};
  if (!pending_all_found(search) && !try_rows(search, block, stores)) {
    search_between(search, from + 1, middle, next, half);
    search_between(search, middle, to, half, high);
  }
  g_array_unref(next);
  g_array_unref(half);
}

static gint compare_blocks(gconstpointer a, gconstpointer b) {
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static void add_around(const PendingSearch *search, GArray *blocks, uint64_t block) {
  for (uint64_t at = block ? block - 1 : 0; at <= block + 1; at++)
    if (at >= search->first && at <= search->last)
      g_array_append_val(blocks, at);
}

/* Where intervals begin: the first and the last block, and all that a number of the program or an argument names. */
static GArray *first_blocks(const PendingSearch *search) {
  const Launch *launch = search->launch;
  GArray *blocks = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  add_around(search, blocks, search->first);
  add_around(search, blocks, search->last);
  add_around(search, blocks, launch->blocks / 2);
  for (uint32_t i = 0; i < launch->kernel->nconsts; i++)
    add_around(search, blocks, launch->const_rows[i * WARP_LANES]);
  for (uint32_t i = 0; i + 4 <= launch->param_bytes; i += 4) {
    uint32_t word;
    memcpy(&word, launch->params + i, sizeof word);
    add_around(search, blocks, word);
  }
  g_array_sort(blocks, compare_blocks);
  return blocks;
}

static void search_rows(PendingSearch *search) {
  GArray *blocks = first_blocks(search), *last = NULL;
  uint64_t at = 0;
  for (guint i = 0; i < blocks->len && !pending_all_found(search); i++) {
    uint64_t block = g_array_index(blocks, uint64_t, i);
    if (last && block == at)
      continue;
    GArray *stores = pending_try_block(search, block, false);
    if (last)
      search_between(search, at, block, last, stores);
    g_clear_pointer(&last, g_array_unref);
    last = stores;
    at = block;
  }
  g_clear_pointer(&last, g_array_unref);
  g_array_free(blocks, TRUE);
}

/* Tries the blocks of the interval that may store where nobody was seen to. */
static void search_suspects(PendingSearch *search, uint64_t from, uint64_t to) {
  if (pending_all_found(search) || search->suspects->len == 0 || (from == to && was_tried(search, from)) ||
      !pending_may_store(search, from, to))
    return;
  uint64_t middle = from + (to - from) / 2;
  if (from == to) {
    g_array_free(pending_try_block(search, from, false), TRUE);
  } else {
    search_suspects(search, from, middle);
    search_suspects(search, middle + 1, to);
  }
}

/* One block, which stands for all. */
static void search_any(PendingSearch *search) {
  search->limit = search->work + ANY_WORK;
  g_array_free(pending_try_block(search, search->first, true), TRUE);
  search->cut |= pending_is_too_long(search);
  search->limit = search->work + SEARCH_WORK;
}

static void search_all(PendingSearch *search) {
  bool few = search->last - search->first < FEW_BLOCKS;
  for (uint64_t block = search->first; few && block <= search->last && !pending_all_found(search); block++)
    g_array_free(pending_try_block(search, block, false), TRUE);
  search->cut |= pending_is_too_long(search);
  bool only = search->first == search->last;
  if (g_hash_table_size(search->targets) == 0 || (only && !search->cut))
    return;
  search_any(search);
  if (only || (search->suspects->len == 0 && !search->cut))
    return;
  search_rows(search);
  search_suspects(search, search->first, search->last);
}

/* Once no block alone would change a word: with what other blocks may have left for it. */
static void search_handed(PendingSearch *search) {
  if (pending_all_found(search) || search->cut || search->first == search->last || !g_hash_table_size(search->handed))
    return;
  search->hands_on = true;
  g_hash_table_remove_all(search->tried);
  g_array_set_size(search->suspects, 0);
  search_all(search);
}

/* What wasn't found in time, and the block that stands for all may change: by a store there, or one that may be
 * anywhere. */
static void connect_unfound(PendingSearch *search) {
  for (guint i = 0; i < search->may_store->len; i++) {
    const Touch *touch = &g_array_index(search->may_store, Touch, i);
    guint thing = GPOINTER_TO_UINT(g_hash_table_lookup(search->targets, &touch->key));
    if (thing)
      pending_connect(search, thing - 1, touch, search->first);
  }
  if (search->suspects->len == 0)
    return;
  g_autofree gpointer *keys = g_hash_table_get_keys_as_array(search->targets, NULL);
  guint count = g_hash_table_size(search->targets);
  for (guint i = 0; i < count; i++) {
    Touch touch = {.key = *(WordKey *)keys[i], .pc = g_array_index(search->suspects, PendingSuspect, 0).pc};
    pending_connect(search, GPOINTER_TO_UINT(g_hash_table_lookup(search->targets, &touch.key)) - 1, &touch,
                    search->first);
  }
}

/* ---- all launches ---- */

/* Words that were sought before aren't sought again: what a block would change is less if more words are awaited. */
static void add_targets(const WaitGraph *graph, GHashTable *targets, GHashTable *fixed) {
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    if (node->kind != NODE_WORD || word_key_is_shared(node->key))
      continue;
    if (!node->sought)
      g_hash_table_insert(targets, g_memdup2(&node->key, sizeof node->key), GUINT_TO_POINTER(i + 1));
    g_hash_table_add(fixed, g_memdup2(&node->key, sizeof node->key));
  }
}

static void search_launch(WaitGraph *graph, Launch *launch, guint node) {
  Gpu *gpu = graph->explorer->gpu;
  Counters counters = gpu->counters;
  uint64_t progress = gpu->progress;
  PendingSearch search;
  pending_search_init(&search, graph, launch, node);
  search.limit = SEARCH_WORK;
  add_targets(graph, search.targets, search.fixed);
  Probe *others = gpu_set_probes(gpu, NULL); /* nobody else is to see these blocks */
  if (!pending_all_found(&search))
    search_all(&search);
  pending_connect_chains(&search);
  search_handed(&search);
  if (search.cut || pending_is_too_long(&search))
    connect_unfound(&search);
  gpu->counters = counters;
  gpu->progress = progress;
  gpu_set_probes(gpu, others);
  pending_search_clear(&search);
}

void wait_graph_add_pending(WaitGraph *graph) {
  const Gpu *gpu = graph->explorer->gpu;
  guint resident_nodes = graph->nodes->len;
  for (guint i = 0; i < gpu->launches->len; i++) {
    Launch *launch = gpu_launch(gpu, i);
    if (launch->blocks == launch->next_block)
      continue;
    guint node = wait_node_of(graph, NODE_PENDING, 0, i, 0);
    search_launch(graph, launch, node);
    for (guint lane = 0; lane < resident_nodes; lane++) /* they wait for all that is resident */
      if (wait_node(graph, lane)->kind == NODE_LANE)
        wait_connect(graph, node, lane, EDGE_RESIDENCY, 0, 0);
  }
  for (guint i = 0; i < graph->nodes->len; i++)
    wait_node(graph, i)->sought = true;
}
