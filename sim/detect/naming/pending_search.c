#include "sim/detect/naming/pending_search.h"

#include <string.h>

#include "sim/core/dispatch.h"

/* VAIN_VALUES_MAX: to how many values of a word those who wait for it are asked; a store of another one counts as of
 * use. */
enum { PENDING_PASSES_MAX = 16, VAIN_VALUES_MAX = 4 };

/* ---- making ---- */

void pending_search_init(PendingSearch *search, WaitGraph *graph, Launch *launch, guint node) {
  Gpu *gpu = graph->explorer->gpu;
  *search = (PendingSearch){.graph = graph,
                            .launch = launch,
                            .node = node,
                            .limit = UINT64_MAX,
                            .scratch = g_new0(Sm, 1),
                            .targets = wait_owned_keys(),
                            .fixed = wait_owned_keys(),
                            .tried = wait_owned_keys(),
                            .handed = wait_owned_keys(),
                            .suspects = g_array_new(FALSE, FALSE, sizeof(PendingSuspect)),
                            .may_store = g_array_new(FALSE, FALSE, sizeof(Touch)),
                            .vain = g_array_new(FALSE, FALSE, sizeof(PendingVain))};
  dispatch_pending_blocks(gpu, launch, &search->first, &search->last);
  sm_init(search->scratch, gpu, gpu->machine->gpu.sms + launch->index);
}

void pending_search_clear(PendingSearch *search) {
  sm_clear(search->scratch);
  g_free(search->scratch);
  g_hash_table_destroy(search->targets);
  g_hash_table_destroy(search->fixed);
  g_hash_table_destroy(search->tried);
  g_hash_table_destroy(search->handed);
  g_array_free(search->suspects, TRUE);
  g_array_free(search->may_store, TRUE);
  g_array_free(search->vain, TRUE);
}

bool pending_is_too_long(const PendingSearch *search) { return search->work > search->limit; }

bool pending_all_found(const PendingSearch *search) {
  return g_hash_table_size(search->targets) == 0 || pending_is_too_long(search);
}

/* ---- one block ---- */

static void free_scratch(PendingSearch *search) {
  Sm *sm = search->scratch;
  for (uint32_t slot = 0; slot < sm->warp_slots; slot++)
    sm->warps[slot].state = WARP_FREE;
  sm->blocks[0].launch = NULL;
  sm->resident_blocks = sm->resident_warps = sm->resident_threads = sm->registers_used = 0;
}

/* How far the lane gets: it may exit, comes to so many instructions and words. */
static uint64_t explore_pending(PendingSearch *search, WarpView *view, unsigned lane, GHashTable *freed,
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
static bool frees_pending(PendingSearch *search, WarpView *view, unsigned lane, GHashTable *freed, uint64_t *key,
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
static bool free_waits(PendingSearch *search, WarpView *view, unsigned lane, GHashTable *freed, GHashTable *reads,
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
static void explore_through(PendingSearch *search, WarpView *view, unsigned lane, GHashTable *freed,
                            Footprint *footprint) {
  uint64_t reach;
  bool freed_more;
  do {
    footprint_reset(footprint);
    reach = explore_pending(search, view, lane, freed, footprint);
    freed_more = reach != UINT64_MAX && !pending_is_too_long(search) &&
                 free_waits(search, view, lane, freed, footprint->reads, reach);
  } while (freed_more);
}

static bool value_is_vain(const PendingSearch *search, uint64_t key, uint32_t value) {
  for (guint i = 0; i < search->vain->len; i++) {
    const Touch *known = &g_array_index(search->vain, PendingVain, i).touch;
    for (uint32_t k = 0; known->key == key && k < known->values; k++)
      if (known->value[k] == value)
        return true;
  }
  return false;
}

/* All that it stores is known to be of no use. */
static bool is_vain(const PendingSearch *search, const Touch *stored) {
  for (uint32_t i = 0; i < stored->values; i++)
    if (!value_is_vain(search, stored->key, stored->value[i]))
      return false;
  return stored->values;
}

/* True if somebody who waits for the thing goes on once that is stored. */
static bool is_of_use(PendingSearch *search, guint thing, const Touch *stored) {
  if (is_vain(search, stored))
    return false;
  unsigned vain_values = 0;
  for (guint i = 0; i < search->vain->len; i++)
    vain_values += g_array_index(search->vain, PendingVain, i).touch.key == stored->key;
  if (vain_values >= VAIN_VALUES_MAX || wait_store_helps(search->graph, thing, stored))
    return true;
  PendingVain vain = {*stored, search->block};
  g_array_append_val(search->vain, vain);
  return false;
}

void pending_connect(PendingSearch *search, guint thing, const Touch *touch, uint64_t block) {
  wait_connect(search->graph, thing, search->node, EDGE_RESIDENCY, touch->pc, 0);
  wait_edge(search->graph, search->graph->edges->len - 1)->block = block;
  g_hash_table_remove(search->targets, &touch->key);
}

static void note_found(PendingSearch *search, GHashTable *writes, GHashTable *stores) {
  GArray *touches = wait_touches(writes);
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    guint thing = GPOINTER_TO_UINT(g_hash_table_lookup(search->targets, &touch->key));
    if (!thing || !is_of_use(search, thing - 1, g_hash_table_lookup(stores, &touch->key)))
      continue;
    pending_connect(search, thing - 1, touch, search->block);
  }
  g_array_free(touches, TRUE);
}

static void note_stores(GArray *stores, const WarpView *view, unsigned lane, GHashTable *table) {
  GArray *touches = wait_touches(table);
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    PendingStore store = {view->warp->warp_in_block * WARP_LANES + lane, touch->pc, touch->key};
    if (!word_key_is_shared(touch->key) && !word_key_is_local(touch->key))
      g_array_append_val(stores, store);
  }
  g_array_free(touches, TRUE);
}

static gint compare_stores(gconstpointer a, gconstpointer b) {
  const PendingStore *x = a, *y = b;
  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  if (x->pc != y->pc)
    return x->pc < y->pc ? -1 : 1;
  return x->key < y->key ? -1 : x->key > y->key;
}

static void add_suspects(PendingSearch *search, uint32_t thread, GHashTable *table, bool wild) {
  GArray *touches = wait_touches(table);
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    PendingSuspect suspect = {thread, touch->pc};
    bool awaited = g_hash_table_contains(search->targets, &touch->key);
    if (wild || awaited)
      g_array_append_val(search->suspects, suspect);
    if (awaited)
      g_array_append_val(search->may_store, *touch);
  }
  g_array_free(touches, TRUE);
}

/* Whoever was seen to store where a suspect may store says what that does. */
static void clear_suspects(PendingSearch *search, const GArray *stores) {
  for (guint i = 0; i < stores->len && search->suspects->len; i++)
    for (guint k = search->suspects->len; k-- > 0;)
      if (g_array_index(search->suspects, PendingSuspect, k).pc == g_array_index(stores, PendingStore, i).pc)
        g_array_remove_index_fast(search->suspects, k);
}

/* What the blocks may hand on to each other, a ticket, say. */
static void note_handed(PendingSearch *search, GHashTable *writes) {
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
static GHashTable *freed_words(const PendingSearch *search) {
  GHashTable *freed = wait_owned_keys();
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, search->handed);
  while (search->hands_on && g_hash_table_iter_next(&iter, &key, NULL))
    wait_add_owned(freed, *(WordKey *)key);
  return freed;
}

/* One lane of the block placed. */
static void explore_one(PendingSearch *search, WarpView *view, unsigned lane, GHashTable *freed, Footprint *footprint,
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
static void explore_lanes(PendingSearch *search, guint first, uint32_t lanes, GHashTable *freed, GArray *stores) {
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
      for (uint32_t rest = view->warp->alive & lanes; rest && !pending_is_too_long(search); rest &= rest - 1)
        explore_one(search, view, (unsigned)__builtin_ctz(rest), freed, &footprint, stores);
    }
  } while (explorer->memory.version != version && (search->any || !pending_all_found(search)) &&
           ++pass < PENDING_PASSES_MAX);
  footprint_clear(&footprint);
}

/* All lanes of the block placed. First those that mostly act for their warp: they may be enough. */
static void explore_block(PendingSearch *search, guint first, GHashTable *freed, GArray *stores) {
  explore_lanes(search, first, 1, freed, stores);
  if (search->any || !pending_all_found(search))
    explore_lanes(search, first, UINT32_MAX, freed, stores);
  g_array_sort(stores, compare_stores);
  if (!search->any)
    clear_suspects(search, stores);
}

/* Places the block on the scratch SM. False if there is no room, even there. */
static bool place(PendingSearch *search, uint64_t block, bool any) {
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

static void unplace(PendingSearch *search, guint first) {
  explorer_drop_views(search->graph->explorer, first);
  free_scratch(search);
}

GArray *pending_try_block(PendingSearch *search, uint64_t block, bool any) {
  Explorer *explorer = search->graph->explorer;
  GArray *stores = g_array_new(FALSE, FALSE, sizeof(PendingStore));
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

bool pending_may_store(PendingSearch *search, uint64_t from, uint64_t to) {
  Explorer *explorer = search->graph->explorer;
  guint first = explorer->views->len;
  bool comes = false;
  if (!place(search, from, from < to))
    return false;
  GHashTable *freed = freed_words(search);
  MemoryLayer layer;
  explorer_push_memory(explorer, &layer, first, explorer->views->len - first);
  for (guint i = 0; i < search->suspects->len && !comes; i++) {
    PendingSuspect suspect = g_array_index(search->suspects, PendingSuspect, i);
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

/* ---- words that go from one pending block to the next ---- */

/* Of `words`, those to which the lane may store something that isn't known to be of no use come into `chained`. */
static void note_chained(const PendingSearch *search, const Footprint *footprint, GHashTable *words,
                         GHashTable *chained) {
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
static void find_chained(PendingSearch *search, GHashTable *words, GHashTable *chained) {
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

void pending_connect_chains(PendingSearch *search) {
  g_autoptr(GHashTable) words = g_hash_table_new(bits_hash_key, g_int64_equal),
                        chained = g_hash_table_new(bits_hash_key, g_int64_equal);
  for (guint i = 0; i < search->vain->len; i++) {
    PendingVain *vain = &g_array_index(search->vain, PendingVain, i);
    if (g_hash_table_contains(search->targets, &vain->touch.key))
      g_hash_table_add(words, &vain->touch.key);
  }
  if (g_hash_table_size(words))
    find_chained(search, words, chained);
  for (guint i = 0; i < search->vain->len; i++) {
    const PendingVain *vain = &g_array_index(search->vain, PendingVain, i);
    guint thing = GPOINTER_TO_UINT(g_hash_table_lookup(search->targets, &vain->touch.key));
    if (thing && g_hash_table_contains(chained, &vain->touch.key))
      pending_connect(search, thing - 1, &vain->touch, vain->block);
  }
}
