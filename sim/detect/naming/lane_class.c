#include "sim/detect/naming/lane_class.h"

#include "sim/detect/proof/explore_step.h"

/* A class with fewer members is asked lane by lane. */
enum { MEMBERS_MIN = 8, CLASS_PASSES_MAX = 16 };

typedef struct LaneClass {
  const Launch *launch;
  const Block *block; /* NULL: of any */
  uint32_t pc;
  uint32_t members;
  guint view; /* the first member */
  unsigned lane;
  GHashTable *words, *bits; /* uint64_t, owned: keys of what members wait for */
  bool asked, says_nothing;
  bool differs;    /* members have different accesses under way */
  GArray *things;  /* guint: nodes of awaited words that some member may change */
  LaneSpace start; /* in what members differ is unknown; last, as it ends with an array without a length */
} LaneClass;

struct LaneClasses {
  WaitGraph *graph;
  GPtrArray *all;      /* LaneClass * */
  bool outside;        /* some lane is in none */
  bool of_block;       /* classes are of one block each */
  bool awaits_shared;  /* somebody waits for a word of shared memory, or a lock bit: then they are, too */
  guint last;          /* of `all`: the one that was asked for last */
  LaneClasses *blocks; /* the same of one block each, where those of any say nothing; NULL: not needed yet */
};

static void class_free(gpointer data) {
  LaneClass *class = data;
  g_hash_table_destroy(class->words);
  g_hash_table_destroy(class->bits);
  g_array_free(class->things, TRUE);
  g_free(class);
}

/* Views of a block stand together, so its classes are the newest while its lanes are added, and then come one after
 * the other. */
static LaneClass *class_at(LaneClasses *classes, const WarpView *view, uint32_t pc) {
  const Block *block = classes->of_block ? view->block : NULL;
  for (guint i = classes->all->len + 1; i-- > 0;) {
    guint at = i == classes->all->len ? classes->last : i;
    LaneClass *class = at < classes->all->len ? g_ptr_array_index(classes->all, at) : NULL;
    if (class && class->launch == view->launch && class->block == block && class->pc == pc) {
      classes->last = at;
      return class;
    }
  }
  return NULL;
}

/* ---- members ---- */

/* What a lane does whose warp has entries on its SIMT stack depends on these. */
static bool has_class(const WarpView *view) { return view->warp->depth == 0; }

static void note_awaited(WaitGraph *graph, LaneClass *class, guint actor) {
  for (uint32_t at = wait_node(graph, actor)->first_edge; at; at = wait_edge(graph, at - 1)->next) {
    Node *thing = wait_node(graph, wait_edge(graph, at - 1)->to);
    if (thing->kind == NODE_WORD)
      wait_add_owned(class->words, thing->key);
    else if (thing->kind == NODE_BIT)
      wait_add_owned(class->bits, thing->key);
  }
}

/* The state in which only that is known in which both agree. */
static void join_states(LaneState *to, const LaneState *other, uint32_t nregs) {
  to->unknown = regset_or(to->unknown, other->unknown);
  for (uint32_t reg = 0; reg < nregs; reg++)
    if (to->regs[reg] != other->regs[reg])
      regset_put(&to->unknown, reg);
  for (uint32_t reg = 0; reg < nregs; reg++)
    if (regset_has(&to->unknown, reg))
      to->regs[reg] = 0;
  to->preds_unknown |= other->preds_unknown | (to->preds ^ other->preds);
  to->preds &= ~to->preds_unknown;
}

static void add_member(LaneClasses *classes, guint index, unsigned lane) {
  WarpView *view = wait_view(classes->graph, index);
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  explore_forget_loads(view, lane, &start.state);
  LaneClass *class = class_at(classes, view, start.state.pc);
  if (!class) {
    class = g_new0(LaneClass, 1);
    *class = (LaneClass){.launch = view->launch,
                         .block = classes->of_block ? view->block : NULL,
                         .pc = start.state.pc,
                         .view = index,
                         .lane = lane,
                         .words = wait_owned_keys(),
                         .bits = wait_owned_keys(),
                         .things = g_array_new(FALSE, FALSE, sizeof(guint))};
    lane_state_copy(&class->start.state, &start.state, view->launch->kernel->nregs);
    g_ptr_array_add(classes->all, class);
  }
  class->differs |= !explore_same_flights(wait_view(classes->graph, class->view), class->lane, view, lane, NULL);
  join_states(&class->start.state, &start.state, view->launch->kernel->nregs);
  class->members++;
  note_awaited(classes->graph, class, wait_lane_node(classes->graph, index, lane));
}

static LaneClasses *new_classes(WaitGraph *graph, bool of_block, bool awaits_shared) {
  LaneClasses *classes = g_new0(LaneClasses, 1);
  *classes = (LaneClasses){.graph = graph,
                           .all = g_ptr_array_new_with_free_func(class_free),
                           .of_block = of_block,
                           .awaits_shared = awaits_shared};
  for (guint i = 0; i < graph->explorer->views->len; i++) {
    const WarpView *view = wait_view(graph, i);
    for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      if (view->reach[lane].may_exit)
        continue;
      if (has_class(view))
        add_member(classes, i, lane);
      else
        classes->outside = true;
    }
  }
  return classes;
}

LaneClasses *lane_classes_new(WaitGraph *graph) {
  bool shared = false;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    shared |= node->kind == NODE_BIT || (node->kind == NODE_WORD && word_key_is_shared(node->key));
  }
  return new_classes(graph, shared, shared);
}

void lane_classes_free(LaneClasses *classes) {
  g_clear_pointer(&classes->blocks, lane_classes_free);
  g_ptr_array_free(classes->all, TRUE);
  g_free(classes);
}

/* ---- what a class may do ---- */

/* Lock bits of the first member's SM stand for those of every member's: a change of one says nothing where somebody
 * waits for such. Shared memory is the block's own, or nobody waits for it. */
static void note_changes(LaneClasses *classes, LaneClass *class, const Footprint *touched) {
  WaitGraph *graph = classes->graph;
  GHashTableIter iter;
  gpointer key;
  class->says_nothing |=
      g_hash_table_size(touched->wild) || (classes->awaits_shared && g_hash_table_size(touched->frees));
  g_hash_table_iter_init(&iter, touched->stores);
  while (!class->says_nothing && g_hash_table_iter_next(&iter, &key, NULL)) {
    uint64_t word = *(uint64_t *)key;
    guint thing = wait_graph_find(graph, NODE_WORD, 0, 0, word);
    if (thing != G_MAXUINT)
      g_array_append_val(class->things, thing);
  }
}

static void explore_class(LaneClasses *classes, const LaneClass *class) {
  Assumption assumption = {.free_words = class->words,
                           .free_bits = class->bits,
                           .all_open = true,
                           .any_lane = true,
                           .one_block = class->block != NULL,
                           .fresh = true,
                           .read_only = true,
                           .stores = true};
  WarpView *view = wait_view(classes->graph, class->view);
  LaneSpace start;
  lane_state_copy(&start.state, &class->start.state, view->launch->kernel->nregs);
  explorer_lane(classes->graph->explorer, view, class->lane, &start.state, &assumption, &classes->graph->touched);
}

static void ask_class(LaneClasses *classes, LaneClass *class) {
  Explorer *explorer = classes->graph->explorer;
  MemoryLayer layer;
  uint64_t version;
  unsigned passes = 0;
  class->asked = true;
  explorer_push_memory(explorer, &layer, class->view, 1);
  explorer->gave_up = false;
  do {
    version = explorer->memory.version;
    explore_class(classes, class);
  } while (explorer->memory.version != version && ++passes < CLASS_PASSES_MAX);
  class->says_nothing = class->differs || explorer->gave_up || explorer->memory.version != version;
  note_changes(classes, class, &classes->graph->touched);
  footprint_reset(&classes->graph->touched);
  explorer_pop_memory(explorer, &layer);
}

/* The same of its own block, whose index is known. */
static bool block_changes_nothing(LaneClasses *classes, guint index, unsigned lane) {
  if (classes->of_block)
    return false;
  if (!classes->blocks)
    classes->blocks = new_classes(classes->graph, true, classes->awaits_shared);
  return lane_classes_changes_nothing(classes->blocks, index, lane);
}

bool lane_classes_changes_nothing(LaneClasses *classes, guint index, unsigned lane) {
  WaitGraph *graph = classes->graph;
  const WarpView *view = wait_view(graph, index);
  if (!has_class(view))
    return false;
  LaneClass *class = class_at(classes, view, explorer_start_pc(view, lane));
  if (class->members < MEMBERS_MIN)
    return false;
  if (!class->asked)
    ask_class(classes, class);
  if (class->says_nothing)
    return block_changes_nothing(classes, index, lane);
  guint actor = wait_lane_node(graph, index, lane);
  for (guint i = 0; i < class->things->len; i++) {
    guint thing = g_array_index(class->things, guint, i);
    if (!wait_node(graph, thing)->waiter || !wait_graph_has_edge(graph, actor, thing))
      return false;
  }
  return true;
}

/* True if a class, as explored now, touched one of the words, or an address that isn't known. */
static bool touched_one(const LaneClasses *classes, GHashTable *words) {
  const Footprint *touched = &classes->graph->touched;
  GHashTableIter iter;
  gpointer key;
  if (g_hash_table_size(touched->wild))
    return true;
  g_hash_table_iter_init(&iter, touched->stores);
  while (g_hash_table_iter_next(&iter, &key, NULL))
    if (g_hash_table_contains(words, key))
      return true;
  return false;
}

bool lane_classes_never_change(LaneClasses *classes, GHashTable *words) {
  Explorer *explorer = classes->graph->explorer;
  MemoryLayer layer;
  uint64_t version;
  unsigned passes = 0;
  bool none = true;
  if (classes->outside)
    return false;
  explorer_push_memory(explorer, &layer, 0, explorer->views->len);
  explorer->gave_up = false;
  do {
    version = explorer->memory.version;
    for (guint i = 0; i < classes->all->len && none; i++) {
      explore_class(classes, g_ptr_array_index(classes->all, i));
      none = !explorer->gave_up && !touched_one(classes, words);
    }
  } while (none && explorer->memory.version != version && ++passes < CLASS_PASSES_MAX);
  none = none && explorer->memory.version == version;
  footprint_reset(&classes->graph->touched);
  explorer_pop_memory(explorer, &layer);
  return none;
}
