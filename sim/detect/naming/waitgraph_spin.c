/* What a lane waits for that goes round in a loop: which of the words and bits that it reads there, or of the
 * copies of them in its L1, would have to change for it to go on. Each is tried by exploring the lane with other
 * contents of it. */
#include "sim/core/look.h"
#include "sim/detect/naming/waitgraph.h"

static bool goes_further(const LaneReach *now, const LaneReach *before) {
  return now->may_exit || now->lowest_entry < before->lowest_entry ||
         (now->block_barriers & ~before->block_barriers) || (now->says[0] & ~before->says[0]) ||
         (now->says[1] & ~before->says[1]) || (now->conv_barriers & ~before->conv_barriers) ||
         mask_set_lacks(&before->meets, &now->meets) || (now->meets_all && !before->meets_all) ||
         (now->may_switch && !before->may_switch);
}

bool wait_frees(WaitGraph *graph, WarpView *view, unsigned lane, const Assumption *assumption) {
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  LaneReach reach = explorer_lane(graph->explorer, view, lane, &start.state, assumption, NULL);
  return goes_further(&reach, &view->reach[lane]);
}

static gint compare_touches(gconstpointer a, gconstpointer b) {
  const Touch *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

GArray *wait_touches(GHashTable *table) {
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
  if (touch->key & BIT_TAKEN)
    return EDGE_BIT;
  const LockBit *bit = look_bit(view->sm, (uint32_t)touch->key);
  return bit->held && bit->address / 4 != touch->physical / 4 ? EDGE_ALIAS : EDGE_BIT;
}

static void connect_touch(WaitGraph *graph, guint node, const WarpView *view, const Touch *touch, bool is_bit) {
  if (is_bit)
    wait_connect(graph, node, wait_node_of(graph, NODE_BIT, 0, 0, touch->key), bit_edge_kind(view, touch), touch->pc,
                 touch->physical);
  else
    wait_connect(graph, node, wait_node_of(graph, NODE_WORD, 0, 0, touch->key), EDGE_WORD, touch->pc, 0);
}

/* What a spinning lane reads where it is: candidates for what it waits for. */
typedef struct Spin {
  WarpView *view;
  unsigned lane;
  GArray *words, *bits; /* Touch */
} Spin;

static void add_keys(GHashTable *set, const GArray *touches, const Touch *without) {
  for (guint i = 0; i < touches->len; i++)
    if (&g_array_index(touches, Touch, i) != without)
      g_hash_table_add(set, &g_array_index(touches, Touch, i).key);
}

/* True if the lane goes on once `cause` (NULL: all that it reads) is changed. `later`: as long as all that it comes
 * to read afterwards is as it needs it, too. */
static bool is_cause(WaitGraph *graph, const Spin *spin, const Touch *cause, bool later) {
  GHashTable *words = wait_key_set(), *bits = wait_key_set();
  Assumption assumption = {.read_only = true};
  if (later) {
    if (cause) {
      add_keys(words, spin->words, cause);
      add_keys(bits, spin->bits, cause);
    }
    assumption.fixed_words = words;
    assumption.fixed_bits = bits;
  } else {
    for (guint i = 0; i < spin->words->len; i++)
      if (!cause || cause == &g_array_index(spin->words, Touch, i))
        g_hash_table_add(words, &g_array_index(spin->words, Touch, i).key);
    for (guint i = 0; i < spin->bits->len; i++)
      if (!cause || cause == &g_array_index(spin->bits, Touch, i))
        g_hash_table_add(bits, &g_array_index(spin->bits, Touch, i).key);
    assumption.free_words = words;
    assumption.free_bits = bits;
  }
  bool frees = wait_frees(graph, spin->view, spin->lane, &assumption);
  g_hash_table_destroy(words);
  g_hash_table_destroy(bits);
  return frees;
}

static void connect_touches(WaitGraph *graph, guint node, const Spin *spin, bool is_bit) {
  const GArray *touches = is_bit ? spin->bits : spin->words;
  for (guint i = 0; i < touches->len; i++)
    connect_touch(graph, node, spin->view, &g_array_index(touches, Touch, i), is_bit);
}

bool wait_reads_plainly(const WarpView *view, uint32_t pc) {
  const Launch *launch = view->launch;
  const Inst *inst = &launch->kernel->insts[pc];
  return launch->program->dialect == DIALECT_PTX && inst->sem == SEM_WEAK && inst->cache != CACHE_CV &&
         !(op_info[inst->op].flags & OPF_ATOMIC);
}

bool wait_reads_own(const WaitGraph *graph, const WarpView *view, unsigned lane, WordKey word, uint32_t pc) {
  const Inst *inst = &view->launch->kernel->insts[pc];
  if (view->launch->program->dialect != DIALECT_MACHINE_CODE || !word_key_is_shared(word) || inst->op != OP_LDS ||
      inst->lop)
    return false;
  const Gpu *gpu = graph->explorer->gpu;
  ThreadId thread = look_shared_change(&gpu->sms[(word >> 32) & 0x7fffffff], (uint32_t)word).thread;
  return !thread_is_none(thread) && thread.launch == view->launch->index && thread.block == view->block->index &&
         thread_warp(thread) == view->warp->warp_in_block && thread_lane(thread) == lane;
}

bool wait_takes_turns(const WaitGraph *graph, const WarpView *view, WordKey word) {
  const ValueSet *set = abstract_word(&graph->explorer->memory, view->sm, word);
  return graph->explorer->exchanged && (set->anything || set->count > 1);
}

/* Of causes that are words, those count that some `counts` lets through, if there are any. */
static void prefer(const WaitGraph *graph, const Spin *spin, GArray *causes,
                   bool (*counts)(const WaitGraph *, const Spin *, const Touch *)) {
  bool any = false;
  for (guint i = 0; i < causes->len; i++)
    any |= counts(graph, spin, &g_array_index(causes, Touch, i));
  for (guint i = causes->len; any && i-- > 0;)
    if (!counts(graph, spin, &g_array_index(causes, Touch, i)))
      g_array_remove_index(causes, i);
}

/* The program expects it to change. */
static bool is_expected(const WaitGraph *graph, const Spin *spin, const Touch *word) {
  (void)graph;
  return !wait_reads_plainly(spin->view, word->pc);
}

static bool is_of_others(const WaitGraph *graph, const Spin *spin, const Touch *word) {
  return !wait_reads_own(graph, spin->view, spin->lane, word->key, word->pc);
}

static bool is_steady(const WaitGraph *graph, const Spin *spin, const Touch *word) {
  return !wait_takes_turns(graph, spin->view, word->key);
}

static unsigned connect_single_causes(WaitGraph *graph, guint node, const Spin *spin, bool is_bit, bool later) {
  const GArray *touches = is_bit ? spin->bits : spin->words;
  g_autoptr(GArray) causes = g_array_new(FALSE, FALSE, sizeof(Touch));
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    if (is_cause(graph, spin, touch, later))
      g_array_append_vals(causes, touch, 1);
  }
  if (!is_bit) {
    prefer(graph, spin, causes, is_expected);
    prefer(graph, spin, causes, is_of_others);
    prefer(graph, spin, causes, is_steady);
  }
  for (guint i = 0; i < causes->len; i++)
    connect_touch(graph, node, spin->view, &g_array_index(causes, Touch, i), is_bit);
  return causes->len;
}

/* True if the lane reads a copy of the word that its SM's L1 keeps, though memory may hold something else. */
static bool reads_old_copy(Explorer *explorer, const Sm *sm, WordKey key) {
  uint32_t copy;
  if (word_key_is_shared(key) || !copies_keep(explorer->copies, sm, key * 4, &copy))
    return false;
  const ValueSet *set = abstract_word(&explorer->memory, sm, key);
  return set->count != 1 || !abstract_has(set, copy);
}

/* The copies in the L1 among what the lane reads though memory may hold something else. */
static GArray *find_old_copies(const WaitGraph *graph, const Spin *spin) {
  GArray *old = g_array_new(FALSE, FALSE, sizeof(Touch));
  for (guint i = 0; i < spin->words->len; i++) {
    const Touch *touch = &g_array_index(spin->words, Touch, i);
    if (reads_old_copy(graph->explorer, spin->view->sm, touch->key))
      g_array_append_val(old, *touch);
  }
  return old;
}

static void connect_copies(WaitGraph *graph, guint node, const Sm *sm, const GArray *old) {
  for (guint i = 0; i < old->len; i++) {
    const Touch *touch = &g_array_index(old, Touch, i);
    wait_connect(graph, node, wait_node_of(graph, NODE_COPY, 0, sm->index, touch->key), EDGE_COPY, touch->pc, 0);
  }
}

/* True if the lane would go on with what memory holds. */
static bool goes_on_fresh(WaitGraph *graph, const Spin *spin) {
  GHashTable *words = wait_key_set(), *bits = wait_key_set();
  add_keys(words, spin->words, NULL);
  add_keys(bits, spin->bits, NULL);
  Assumption fresh = {.fixed_words = words, .fixed_bits = bits, .read_only = true, .fresh = true};
  bool goes_on = wait_frees(graph, spin->view, spin->lane, &fresh);
  g_hash_table_destroy(words);
  g_hash_table_destroy(bits);
  return goes_on;
}

/* The words and bits of which another content would let the lane go on; if only several together would, all. */
static bool connect_causes(WaitGraph *graph, guint node, const Spin *spin, bool later) {
  unsigned found = connect_single_causes(graph, node, spin, true, later);
  found += connect_single_causes(graph, node, spin, false, later);
  if (found || !is_cause(graph, spin, NULL, later))
    return found;
  connect_touches(graph, node, spin, true);
  connect_touches(graph, node, spin, false);
  return spin->bits->len + spin->words->len;
}

static GHashTable *keys_of(const GArray *touches) {
  GHashTable *keys = wait_owned_keys();
  for (guint i = 0; i < touches->len; i++)
    wait_add_owned(keys, g_array_index(touches, Touch, i).key);
  return keys;
}

static Spin look_at(WaitGraph *graph, guint index, unsigned lane) {
  Explorer *explorer = graph->explorer;
  WarpView *view = wait_view(graph, index);
  Footprint *touched = &graph->touched;
  Assumption look = {.read_only = true};
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  explorer_lane(explorer, view, lane, &start.state, &look, touched);
  Spin spin = {
      .view = view, .lane = lane, .words = wait_touches(touched->reads), .bits = wait_touches(touched->lock_reads)};
  footprint_reset(touched);
  for (guint i = spin.bits->len; i-- > 0;) {
    BitKey key = g_array_index(spin.bits, Touch, i).key;
    const BitSet *bit = abstract_bit(&explorer->memory, view->sm, (uint32_t)key);
    if (key & BIT_TAKEN ? bit->may_be_held : bit->may_be_free)
      g_array_remove_index(spin.bits, i); /* it is taken and freed all the time: not what the lane lacks */
  }
  return spin;
}

static void spin_clear(Spin *spin) {
  g_array_free(spin->bits, TRUE);
  g_array_free(spin->words, TRUE);
}

static void connect_all_causes(WaitGraph *graph, guint node, const Spin *spin) {
  if (!connect_causes(graph, node, spin, false))
    connect_causes(graph, node, spin, true);
}

void wait_connect_spinner(WaitGraph *graph, guint index, unsigned lane) {
  guint node = wait_lane_node(graph, index, lane);
  Spin spin = look_at(graph, index, lane);
  g_autoptr(GArray) old = find_old_copies(graph, &spin);
  if (old->len && goes_on_fresh(graph, &spin))
    connect_copies(graph, node, spin.view->sm, old);
  else if (old->len)
    wait_node(graph, node)->reads_old = true;
  else
    connect_all_causes(graph, node, &spin);
  wait_node(graph, node)->words = keys_of(spin.words);
  wait_node(graph, node)->bits = keys_of(spin.bits);
  spin_clear(&spin);
}

/* ---- copies that keep a lane from what others wait for ---- */

/* True if another lane that spins reads one of the words. */
static bool somebody_reads(const WaitGraph *graph, guint self, const GArray *words) {
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    for (guint k = 0; i != self && node->words && k < words->len; k++)
      if (g_hash_table_contains(node->words, &g_array_index(words, Touch, k).key))
        return true;
  }
  return false;
}

/* True if the lane, which would come back to its wait, would with what memory holds write something new on the way
 * that others wait for: a consumer that takes what is there, and says so. */
static bool copy_keeps_from_writing(WaitGraph *graph, guint index) {
  const Node *node = wait_node(graph, index);
  WarpView *view = wait_view(graph, node->view);
  Assumption fresh = {.read_only = true, .fresh = true};
  LaneSpace start;
  explorer_start(view, node->index, &start.state);
  explorer_lane(graph->explorer, view, node->index, &start.state, &fresh, &graph->touched);
  g_autoptr(GArray) writes = wait_touches(graph->touched.writes);
  footprint_reset(&graph->touched);
  return somebody_reads(graph, index, writes);
}

void wait_connect_writers(WaitGraph *graph) {
  for (guint i = 0, lanes = graph->nodes->len; i < lanes; i++) {
    Node node = *wait_node(graph, i);
    if (!node.reads_old)
      continue;
    Spin spin = look_at(graph, node.view, node.index);
    g_autoptr(GArray) old = find_old_copies(graph, &spin);
    if (copy_keeps_from_writing(graph, i))
      connect_copies(graph, i, spin.view->sm, old);
    else
      connect_all_causes(graph, i, &spin);
    spin_clear(&spin);
  }
}
