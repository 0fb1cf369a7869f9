/* Which blocks that aren't resident would change what is waited for.
 *
 * Any of them may, and they may be many. A block is placed on a scratch SM and explored from its start; words that its
 * lanes wait for themselves are taken to change, but none of those in question. Blocks that differ only in their number
 * store at addresses that lie in a row: where four blocks of an interval do, who would store to an awaited word is worked
 * out, and explored to see whether it does; any other interval is halved. One that stands for all says where blocks may store
 * at all: where none was seen to, intervals are halved until each is a block or can't.
 * Large blocks may take too long: then a thread that may store to an awaited word, as far as was seen, is taken to do
 * so, and who would change the other words isn't known. */
#include <string.h>

#include "sim/core/dispatch.h"
#include "sim/detect/naming/waitgraph.h"

/* VAIN_VALUES_MAX: to how many values of a word those who wait for it are asked; a store of another one counts as of use. */
enum { PENDING_PASSES_MAX = 16, VAIN_VALUES_MAX = 4 };
/* The search of a launch comes to so many states of lanes, some seconds, and what one block that stands for all may
 * do is looked at for so many. */
#define SEARCH_WORK UINT64_C(8000000)
#define ANY_WORK (SEARCH_WORK / 4)
/* Up to so many blocks are tried one by one before that. */
enum { FEW_BLOCKS = 4 };

/* A global word that some lane of a block stores to. */
typedef struct Store {
  uint32_t thread, pc; /* thread: of the block */
  WordKey key;
} Store;

/* A thread of any block may store to an awaited word there. */
typedef struct Suspect {
  uint32_t thread, pc;
} Suspect;

/* A store that helps none of those who wait for the word, unless another pending block goes on with it. */
typedef struct Vain {
  Touch touch;
  uint64_t block;
} Vain;

typedef struct Search {
  WaitGraph *graph;
  Launch *launch;
  uint64_t first, last; /* its blocks that aren't resident are among these */
  guint node;           /* they */
  Sm *scratch;          /* where one of them is placed at a time */
  GHashTable *targets;  /* WordKey * -> GUINT_TO_POINTER(node + 1): awaited words, not found yet */
  GHashTable *fixed;    /* WordKey *: all awaited words */
  GHashTable *tried;    /* uint64_t: numbers of blocks */
  GHashTable *handed;   /* WordKey *: other global words that blocks change */
  bool hands_on;        /* a block finds there what others may have left */
  GArray *suspects;     /* Suspect; without those that were seen to store */
  GArray *vain;         /* Vain, one for each word and value */
  uint64_t work, limit; /* states of lanes that were come to so far; with so many it takes too long */
  bool cut;             /* it took too long, and something may have been missed */
  GArray *may_store;    /* Touch: stores to awaited words by the block that stands for all */
  uint64_t block;       /* the one that is tried */
  bool any;             /* it stands for all */
} Search;

static bool is_too_long(const Search *search) { return search->work > search->limit; }

/* Or it takes too long. */
static bool all_found(const Search *search) { return g_hash_table_size(search->targets) == 0 || is_too_long(search); }

/* ---- one block ---- */

static void free_scratch(Search *search) {
  Sm *sm = search->scratch;
  for (uint32_t slot = 0; slot < sm->warp_slots; slot++)
    sm->warps[slot].state = WARP_FREE;
  sm->blocks[0].launch = NULL;
  sm->resident_blocks = sm->resident_warps = sm->resident_threads = sm->registers_used = 0;
}

/* How far the lane gets: it may exit, comes to so many instructions and words. */
static uint64_t explore_pending(Search *search, WarpView *view, unsigned lane, GHashTable *freed,
                                Footprint *footprint) {
  Assumption assumption = {.free_words = freed, .all_open = true, .read_only = true, .stores = true};
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  LaneReach reach = explorer_lane(search->graph->explorer, view, lane, &start.state, &assumption, footprint);
  search->work += view->facts->states.count;
  return reach.may_exit ? UINT64_MAX
                        : view->facts->states.dirty->len + g_hash_table_size(footprint->reads) +
                              g_hash_table_size(footprint->stores);
}

/* The lane would get further if it found another value in that word. */
static bool frees_pending(Search *search, WarpView *view, unsigned lane, GHashTable *freed, uint64_t *key,
                          uint64_t reach) {
  Footprint footprint;
  footprint_init(&footprint);
  g_hash_table_add(freed, key);
  bool further = explore_pending(search, view, lane, freed, &footprint) > reach;
  g_hash_table_steal(freed, key);
  footprint_clear(&footprint);
  return further;
}

/* Frees what the lane waits for: words that let it get further one by one, else all that it reads. False if there are
 * none. */
static bool free_waits(Search *search, WarpView *view, unsigned lane, GHashTable *freed, GHashTable *reads,
                       uint64_t reach) {
  GArray *touches = wait_touches(reads);
  g_autoptr(GPtrArray) single = g_ptr_array_new(), all = g_ptr_array_new();
  for (guint i = 0; i < touches->len; i++) {
    uint64_t *key = &g_array_index(touches, Touch, i).key;
    if (word_key_is_shared(*key) || g_hash_table_contains(freed, key) || g_hash_table_contains(search->fixed, key))
      continue;
    g_ptr_array_add(all, key);
    if (frees_pending(search, view, lane, freed, key, reach))
      g_ptr_array_add(single, key);
  }
  const GPtrArray *chosen = single->len ? single : all;
  for (guint i = 0; i < chosen->len; i++)
    g_hash_table_add(freed, g_memdup2(g_ptr_array_index(chosen, i), sizeof(uint64_t)));
  g_array_free(touches, TRUE);
  return chosen->len;
}

/* Explores a lane, through all that it waits for. The footprint is of this lane alone then. */
static void explore_through(Search *search, WarpView *view, unsigned lane, GHashTable *freed, Footprint *footprint) {
  uint64_t reach;
  bool freed_more;
  do {
    footprint_reset(footprint);
    reach = explore_pending(search, view, lane, freed, footprint);
    freed_more =
        reach != UINT64_MAX && !is_too_long(search) && free_waits(search, view, lane, freed, footprint->reads, reach);
  } while (freed_more);
}

static bool is_vain(const Search *search, const Touch *stored) {
  for (guint i = 0; i < search->vain->len && stored->one_value; i++) {
    const Touch *known = &g_array_index(search->vain, Vain, i).touch;
    if (known->key == stored->key && known->value == stored->value)
      return true;
  }
  return false;
}

/* True if somebody who waits for the thing goes on once that is stored. */
static bool is_of_use(Search *search, guint thing, const Touch *stored) {
  if (is_vain(search, stored))
    return false;
  unsigned vain_values = 0;
  for (guint i = 0; i < search->vain->len; i++)
    vain_values += g_array_index(search->vain, Vain, i).touch.key == stored->key;
  if (vain_values >= VAIN_VALUES_MAX || wait_store_helps(search->graph, thing, stored))
    return true;
  Vain vain = {*stored, search->block};
  g_array_append_val(search->vain, vain);
  return false;
}

static void connect(Search *search, guint thing, const Touch *touch, uint64_t block) {
  wait_connect(search->graph, thing, search->node, EDGE_RESIDENCY, touch->pc, 0);
  wait_edge(search->graph, search->graph->edges->len - 1)->block = block;
  g_hash_table_remove(search->targets, &touch->key);
}

static void note_found(Search *search, GHashTable *writes, GHashTable *stores) {
  GArray *touches = wait_touches(writes);
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    guint thing = GPOINTER_TO_UINT(g_hash_table_lookup(search->targets, &touch->key));
    if (!thing || !is_of_use(search, thing - 1, g_hash_table_lookup(stores, &touch->key)))
      continue;
    connect(search, thing - 1, touch, search->block);
  }
  g_array_free(touches, TRUE);
}

static void note_stores(GArray *stores, const WarpView *view, unsigned lane, GHashTable *table) {
  GArray *touches = wait_touches(table);
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    Store store = {view->warp->warp_in_block * WARP_LANES + lane, touch->pc, touch->key};
    if (!word_key_is_shared(touch->key) && !word_key_is_local(touch->key))
      g_array_append_val(stores, store);
  }
  g_array_free(touches, TRUE);
}

static gint compare_stores(gconstpointer a, gconstpointer b) {
  const Store *x = a, *y = b;
  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  if (x->pc != y->pc)
    return x->pc < y->pc ? -1 : 1;
  return x->key < y->key ? -1 : x->key > y->key;
}

static void add_suspects(Search *search, uint32_t thread, GHashTable *table, bool wild) {
  GArray *touches = wait_touches(table);
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    Suspect suspect = {thread, touch->pc};
    bool awaited = g_hash_table_contains(search->targets, &touch->key);
    if (wild || awaited)
      g_array_append_val(search->suspects, suspect);
    if (awaited)
      g_array_append_val(search->may_store, *touch);
  }
  g_array_free(touches, TRUE);
}

/* Whoever was seen to store where a suspect may store says what that does. */
static void clear_suspects(Search *search, const GArray *stores) {
  for (guint i = 0; i < stores->len && search->suspects->len; i++)
    for (guint k = search->suspects->len; k-- > 0;)
      if (g_array_index(search->suspects, Suspect, k).pc == g_array_index(stores, Store, i).pc)
        g_array_remove_index_fast(search->suspects, k);
}

/* What the blocks may hand on to each other, a ticket, say. */
static void note_handed(Search *search, GHashTable *writes) {
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, writes);
  while (!search->hands_on && g_hash_table_iter_next(&iter, &key, NULL)) {
    WordKey word = *(WordKey *)key;
    if (!word_key_is_shared(word) && !word_key_is_local(word) && !g_hash_table_contains(search->fixed, key))
      wait_add_owned(search->handed, word);
  }
}

/* What a block finds in any state. */
static GHashTable *freed_words(const Search *search) {
  GHashTable *freed = wait_owned_keys();
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, search->handed);
  while (search->hands_on && g_hash_table_iter_next(&iter, &key, NULL))
    wait_add_owned(freed, *(WordKey *)key);
  return freed;
}

/* One lane of the block placed. */
static void explore_one(Search *search, WarpView *view, unsigned lane, GHashTable *freed, Footprint *footprint,
                        GArray *stores) {
  uint32_t thread = view->warp->warp_in_block * WARP_LANES + lane;
  explore_through(search, view, lane, freed, footprint);
  note_handed(search, footprint->writes);
  if (search->any) {
    add_suspects(search, thread, footprint->wild, true);
    add_suspects(search, thread, footprint->writes, false);
  } else {
    note_found(search, search->graph->explorer->seen ? footprint->stores : footprint->writes, footprint->stores);
    note_stores(stores, view, lane, footprint->stores);
  }
}

/* `lanes` of each warp of the block placed, from view `first` on; in passes, as they see each other's stores. */
static void explore_lanes(Search *search, guint first, uint32_t lanes, GHashTable *freed, GArray *stores) {
  Explorer *explorer = search->graph->explorer;
  uint64_t version;
  unsigned pass = 0;
  Footprint footprint;
  footprint_init(&footprint);
  do {
    version = explorer->memory.version;
    g_array_set_size(stores, 0);
    for (guint i = first; i < explorer->views->len; i++) {
      WarpView *view = wait_view(search->graph, i);
      for (uint32_t rest = view->warp->alive & lanes; rest && !is_too_long(search); rest &= rest - 1)
        explore_one(search, view, (unsigned)__builtin_ctz(rest), freed, &footprint, stores);
    }
  } while (explorer->memory.version != version && (search->any || !all_found(search)) && ++pass < PENDING_PASSES_MAX);
  footprint_clear(&footprint);
}

/* All lanes of the block placed. First those that mostly act for their warp: they may be enough. */
static void explore_block(Search *search, guint first, GHashTable *freed, GArray *stores) {
  explore_lanes(search, first, 1, freed, stores);
  if (search->any || !all_found(search))
    explore_lanes(search, first, UINT32_MAX, freed, stores);
  g_array_sort(stores, compare_stores);
  if (!search->any)
    clear_suspects(search, stores);
}

/* Places the block on the scratch SM. False if there is no room, even there. */
static bool place(Search *search, uint64_t block, bool any) {
  Explorer *explorer = search->graph->explorer;
  Gpu *gpu = explorer->gpu;
  Sm *sm = search->scratch;
  search->block = block;
  search->any = any;
  if (!any && !dispatch_is_pending(gpu, search->launch, block))
    return false;
  if (!sm_try_place(sm, search->launch, block, NULL, gpu->cycle))
    return false;
  for (uint32_t warp = 0; warp < search->launch->block_warps; warp++) {
    WarpView *view = explorer_add_view(explorer, sm, &sm->warps[sm->blocks[0].warp_slot[warp]]);
    view->any_block = any;
    view->first_block = search->first;
    view->last_block = search->last;
  }
  return true;
}

static void unplace(Search *search, guint first) {
  explorer_drop_views(search->graph->explorer, first);
  free_scratch(search);
}

/* Explores a block, notes what it changes, and returns its stores. `any`: it stands for every one. */
static GArray *try_block(Search *search, uint64_t block, bool any) {
  Explorer *explorer = search->graph->explorer;
  GArray *stores = g_array_new(FALSE, FALSE, sizeof(Store));
  guint first = explorer->views->len;
  if (!any)
    g_hash_table_add(search->tried, g_memdup2(&block, sizeof block));
  if (!place(search, block, any))
    return stores;
  GHashTable *freed = freed_words(search);
  MemoryLayer layer;
  explorer_push_memory(explorer, &layer, first, explorer->views->len - first);
  explore_block(search, first, freed, stores);
  explorer_pop_memory(explorer, &layer);
  g_hash_table_destroy(freed);
  unplace(search, first);
  return stores;
}

/* ---- words that go from one pending block to the next ---- */

/* Of `words`, those to which the lane may store something that isn't known to be of no use come into `chained`. */
static void note_chained(const Search *search, const Footprint *footprint, GHashTable *words, GHashTable *chained) {
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, words);
  while (g_hash_table_iter_next(&iter, &key, NULL)) {
    const Touch *stored = g_hash_table_lookup(footprint->stores, key);
    if ((stored && !is_vain(search, stored)) || g_hash_table_size(footprint->wild))
      g_hash_table_add(chained, key);
  }
}

/* Which of `words` some block of the launch changes further once others have changed them. */
static void find_chained(Search *search, GHashTable *words, GHashTable *chained) {
  Explorer *explorer = search->graph->explorer;
  guint first = explorer->views->len;
  if (!place(search, search->first, true))
    return;
  MemoryLayer layer;
  explorer_push_memory(explorer, &layer, first, explorer->views->len - first);
  for (guint i = first; i < explorer->views->len; i++) {
    WarpView *view = wait_view(search->graph, i);
    for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
      GHashTable *freed = wait_owned_keys();
      GHashTableIter iter;
      gpointer key;
      g_hash_table_iter_init(&iter, words);
      while (g_hash_table_iter_next(&iter, &key, NULL))
        g_hash_table_add(freed, g_memdup2(key, sizeof(uint64_t)));
      Footprint footprint;
      footprint_init(&footprint);
      explore_through(search, view, (unsigned)__builtin_ctz(rest), freed, &footprint);
      note_chained(search, &footprint, words, chained);
      footprint_clear(&footprint);
      g_hash_table_destroy(freed);
    }
  }
  explorer_pop_memory(explorer, &layer);
  unplace(search, first);
}

/* A store that helps nobody yet counts if pending blocks hand the word on from one to the next. */
static void connect_chains(Search *search) {
  g_autoptr(GHashTable) words = g_hash_table_new(bits_hash_key, g_int64_equal),
                        chained = g_hash_table_new(bits_hash_key, g_int64_equal);
  for (guint i = 0; i < search->vain->len; i++) {
    Vain *vain = &g_array_index(search->vain, Vain, i);
    if (g_hash_table_contains(search->targets, &vain->touch.key))
      g_hash_table_add(words, &vain->touch.key);
  }
  if (g_hash_table_size(words))
    find_chained(search, words, chained);
  for (guint i = 0; i < search->vain->len; i++) {
    const Vain *vain = &g_array_index(search->vain, Vain, i);
    guint thing = GPOINTER_TO_UINT(g_hash_table_lookup(search->targets, &vain->touch.key));
    if (thing && g_hash_table_contains(chained, &vain->touch.key))
      connect(search, thing - 1, &vain->touch, vain->block);
  }
}

/* ---- all blocks ---- */

static bool was_tried(const Search *search, uint64_t block) { return g_hash_table_contains(search->tried, &block); }

/* A new block that a row of stores says would change an awaited word is tried. False if that doesn't. */
static bool try_predicted(Search *search, uint64_t block, WordKey key) {
  if (was_tried(search, block))
    return false;
  g_array_free(try_block(search, block, false), TRUE);
  return !g_hash_table_contains(search->targets, &key);
}

/* Store `low` of block `from`, and those of the blocks behind it, `stride` words further each. */
static bool try_row(Search *search, const Store *low, uint64_t from, uint64_t to, gint64 stride) {
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

static const Store *store_at(const GArray *stores, guint index) { return &g_array_index(stores, Store, index); }

/* True if the blocks' stores lie in rows, and whoever would change an awaited word by that does. */
static bool try_rows(Search *search, const uint64_t block[4], GArray *const stores[4]) {
  guint count = stores[0]->len;
  bool holds = true;
  for (unsigned i = 1; i < 4; i++)
    if (stores[i]->len != count)
      return false;
  g_autofree gint64 *stride = g_new(gint64, count + 1);
  for (guint at = 0; at < count; at++) {
    const Store *low = store_at(stores[0], at);
    stride[at] = (gint64)(store_at(stores[1], at)->key - low->key);
    for (unsigned i = 1; i < 4; i++) {
      const Store *store = store_at(stores[i], at);
      if (store->thread != low->thread || store->pc != low->pc ||
          (gint64)(store->key - low->key) != stride[at] * (gint64)(block[i] - block[0]))
        return false;
    }
  }
  for (guint at = 0; at < count && !all_found(search); at++)
    holds &= try_row(search, store_at(stores[0], at), block[0], block[3], stride[at]);
  return holds;
}

/* The blocks between two that have been tried. */
static void search_between(Search *search, uint64_t from, uint64_t to, GArray *low, GArray *high) {
  if (to - from < 2 || all_found(search))
    return;
  uint64_t middle = from + (to - from) / 2;
  GArray *next = try_block(search, from + 1, false);
  GArray *half = middle == from + 1 ? g_array_ref(next) : try_block(search, middle, false);
  const uint64_t block[4] = {from, from + 1, middle, to};
  GArray *const stores[4] = {low, next, half, high};
  if (!all_found(search) && !try_rows(search, block, stores)) {
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

static void add_around(const Search *search, GArray *blocks, uint64_t block) {
  for (uint64_t at = block ? block - 1 : 0; at <= block + 1; at++)
    if (at >= search->first && at <= search->last)
      g_array_append_val(blocks, at);
}

/* Where intervals begin: the first and the last block, and all that a number of the program or an argument names. */
static GArray *first_blocks(const Search *search) {
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

static void search_rows(Search *search) {
  GArray *blocks = first_blocks(search), *last = NULL;
  uint64_t at = 0;
  for (guint i = 0; i < blocks->len && !all_found(search); i++) {
    uint64_t block = g_array_index(blocks, uint64_t, i);
    if (last && block == at)
      continue;
    GArray *stores = try_block(search, block, false);
    if (last)
      search_between(search, at, block, last, stores);
    g_clear_pointer(&last, g_array_unref);
    last = stores;
    at = block;
  }
  g_clear_pointer(&last, g_array_unref);
  g_array_free(blocks, TRUE);
}

/* True if a suspect of some block of the interval may come to its store. */
static bool may_store(Search *search, uint64_t from, uint64_t to) {
  Explorer *explorer = search->graph->explorer;
  guint first = explorer->views->len;
  bool comes = false;
  if (!place(search, from, from < to))
    return false;
  GHashTable *freed = freed_words(search);
  MemoryLayer layer;
  explorer_push_memory(explorer, &layer, first, explorer->views->len - first);
  for (guint i = 0; i < search->suspects->len && !comes; i++) {
    Suspect suspect = g_array_index(search->suspects, Suspect, i);
    Footprint footprint;
    footprint_init(&footprint);
    WarpView *view = wait_view(search->graph, first + suspect.thread / WARP_LANES);
    view->first_block = from;
    view->last_block = to;
    explore_through(search, view, suspect.thread % WARP_LANES, freed, &footprint);
    comes = view->facts->states.count_at_pc[suspect.pc];
    footprint_clear(&footprint);
  }
  explorer_pop_memory(explorer, &layer);
  g_hash_table_destroy(freed);
  unplace(search, first);
  return comes;
}

/* Tries the blocks of the interval that may store where nobody was seen to. */
static void search_suspects(Search *search, uint64_t from, uint64_t to) {
  if (all_found(search) || search->suspects->len == 0 || (from == to && was_tried(search, from)) ||
      !may_store(search, from, to))
    return;
  uint64_t middle = from + (to - from) / 2;
  if (from == to) {
    g_array_free(try_block(search, from, false), TRUE);
  } else {
    search_suspects(search, from, middle);
    search_suspects(search, middle + 1, to);
  }
}

/* One block, which stands for all. */
static void search_any(Search *search) {
  search->limit = search->work + ANY_WORK;
  g_array_free(try_block(search, search->first, true), TRUE);
  search->cut |= is_too_long(search);
  search->limit = search->work + SEARCH_WORK;
}

static void search_all(Search *search) {
  bool few = search->last - search->first < FEW_BLOCKS;
  for (uint64_t block = search->first; few && block <= search->last && !all_found(search); block++)
    g_array_free(try_block(search, block, false), TRUE);
  search->cut |= is_too_long(search);
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
static void search_handed(Search *search) {
  if (all_found(search) || search->cut || search->first == search->last || !g_hash_table_size(search->handed))
    return;
  search->hands_on = true;
  g_hash_table_remove_all(search->tried);
  g_array_set_size(search->suspects, 0);
  search_all(search);
}

/* What wasn't found in time, and the block that stands for all may change: by a store there, or one that may be
 * anywhere. */
static void connect_unfound(Search *search) {
  for (guint i = 0; i < search->may_store->len; i++) {
    const Touch *touch = &g_array_index(search->may_store, Touch, i);
    guint thing = GPOINTER_TO_UINT(g_hash_table_lookup(search->targets, &touch->key));
    if (thing)
      connect(search, thing - 1, touch, search->first);
  }
  if (search->suspects->len == 0)
    return;
  g_autofree gpointer *keys = g_hash_table_get_keys_as_array(search->targets, NULL);
  guint count = g_hash_table_size(search->targets);
  for (guint i = 0; i < count; i++) {
    Touch touch = {.key = *(WordKey *)keys[i], .pc = g_array_index(search->suspects, Suspect, 0).pc};
    connect(search, GPOINTER_TO_UINT(g_hash_table_lookup(search->targets, &touch.key)) - 1, &touch, search->first);
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
  Search search = {.graph = graph,
                   .launch = launch,
                   .node = node,
                   .limit = SEARCH_WORK,
                   .scratch = g_new0(Sm, 1),
                   .targets = wait_owned_keys(),
                   .fixed = wait_owned_keys(),
                   .tried = wait_owned_keys(),
                   .handed = wait_owned_keys(),
                   .suspects = g_array_new(FALSE, FALSE, sizeof(Suspect)),
                   .may_store = g_array_new(FALSE, FALSE, sizeof(Touch)),
                   .vain = g_array_new(FALSE, FALSE, sizeof(Vain))};
  dispatch_pending_blocks(gpu, launch, &search.first, &search.last);
  add_targets(graph, search.targets, search.fixed);
  Probe *others = gpu_set_probes(gpu, NULL); /* nobody else is to see these blocks */
  sm_init(search.scratch, gpu, gpu->machine->gpu.sms + launch->index);
  if (!all_found(&search))
    search_all(&search);
  connect_chains(&search);
  search_handed(&search);
  if (search.cut || is_too_long(&search))
    connect_unfound(&search);
  gpu->counters = counters;
  gpu->progress = progress;
  gpu_set_probes(gpu, others);
  sm_clear(search.scratch);
  g_free(search.scratch);
  g_hash_table_destroy(search.targets);
  g_hash_table_destroy(search.fixed);
  g_hash_table_destroy(search.tried);
  g_hash_table_destroy(search.handed);
  g_array_free(search.suspects, TRUE);
  g_array_free(search.may_store, TRUE);
  g_array_free(search.vain, TRUE);
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
