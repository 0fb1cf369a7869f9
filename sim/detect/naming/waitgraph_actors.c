/* Who would change what is waited for.
 *
 * First each lane alone: its own wait is taken to be over, it is explored from there on a layer of memory that
 * keeps its stores, and who waits for a word that it gives a new value is asked whether that helps. Where no lane
 * helps alone, the waits of all lanes are taken to be over at once, but those for the word in question: so a lane
 * that comes to a further wait on its way gets through if another lane's stores let it. */
#include "sim/core/host.h"
#include "sim/core/look.h"
#include "sim/detect/naming/lane_class.h"
#include "sim/detect/naming/waitgraph.h"
#include "sim/detect/proof/explore_step.h"
#include "sim/detect/proof/host_proof.h"

enum {
  ACTOR_STEPS_MAX = 20000000,
  EXCHANGED_STEPS_MAX = 2000000,
  WAITERS_ASKED = 8,
  OWN_PASSES_MAX = 16,
  JOINT_PASSES_MAX = 64,
  BEHIND_STEPS_MAX = 4000000,
  BEHIND_DEPTH_MAX = 4
};

/* At how many steps of the explorer the search for who would change something ends. What lanes exchange isn't
 * known of a lane that is let go, so that it may store nearly anything, and goes nearly anywhere: that says less,
 * and takes longer. */
static uint64_t actor_steps_to(const WaitGraph *graph) {
  return graph->explorer->steps + (graph->explorer->exchanged ? EXCHANGED_STEPS_MAX : ACTOR_STEPS_MAX);
}

/* The awaited word or bit of that key, or G_MAXUINT. */
static guint awaited(WaitGraph *graph, NodeKind kind, uint64_t key) {
  return wait_graph_find(graph, kind, 0, 0, key);
}

/* ---- a lane whose wait is over ---- */

/* The words and bits that it waits for; NULL where it waits for none. */
typedef struct Release {
  guint view;
  unsigned lane;
  GHashTable *words, *bits;
  GHashTable *later; /* keys, owned: those of `words` that it waits for behind the others; or NULL */
} Release;

static void add_key(GHashTable **set, uint64_t *key) {
  if (!*set)
    *set = wait_key_set();
  g_hash_table_add(*set, key);
}

static void release_init(Release *release, const WaitGraph *graph, guint view, unsigned lane, guint actor) {
  *release = (Release){.view = view, .lane = lane};
  for (uint32_t at = wait_node(graph, actor)->first_edge; at; at = wait_edge(graph, at - 1)->next) {
    Node *thing = wait_node(graph, wait_edge(graph, at - 1)->to);
    if (thing->kind == NODE_WORD)
      add_key(&release->words, &thing->key);
    else if (thing->kind == NODE_BIT)
      add_key(&release->bits, &thing->key);
  }
}

static void release_clear(Release *release) {
  g_clear_pointer(&release->words, g_hash_table_destroy);
  g_clear_pointer(&release->bits, g_hash_table_destroy);
  g_clear_pointer(&release->later, g_hash_table_destroy);
}

/* The words that the lane reads on its way, once its wait is over, until it waits again join the release. False if
 * there are none, or it needs no more. */
static bool add_later_words(WaitGraph *graph, const Node *lane, Release *release) {
  Footprint *touched = &graph->touched;
  Assumption over = {
      .free_words = release->words, .free_bits = release->bits, .all_open = true, .fresh = true, .read_only = true};
  LaneSpace start;
  WarpView *view = wait_view(graph, release->view);
  explorer_start(view, release->lane, &start.state);
  LaneReach reach = explorer_lane(graph->explorer, view, release->lane, &start.state, &over, touched);
  g_autoptr(GArray) reads = wait_touches(touched->reads);
  footprint_reset(touched);
  bool more = false;
  for (guint i = 0; i < reads->len && !reach.may_exit; i++) {
    uint64_t *key = &g_array_index(reads, Touch, i).key;
    if (g_hash_table_contains(lane->words, key) || g_hash_table_contains(release->words, key))
      continue;
    if (!release->later)
      release->later = wait_owned_keys();
    wait_add_owned(release->later, *key);
    add_key(&release->words, g_hash_table_lookup(release->later, key));
    more = true;
  }
  return more;
}

/* A lane that comes to a wait for another word as soon as this one is over, as in `while (a || b)`, waits for both:
 * its release gets the words behind, until it may exit. */
static void release_extend(WaitGraph *graph, guint actor, Release *release, uint64_t steps_to) {
  const Node *lane = wait_node(graph, actor);
  while (lane->words && release->words && graph->explorer->steps < steps_to &&
         add_later_words(graph, lane, release)) {
  }
}

static void explore_released(WaitGraph *graph, const Release *release, Footprint *footprint) {
  WarpView *view = wait_view(graph, release->view);
  Assumption assumption = {.free_words = release->words,
                           .free_bits = release->bits,
                           .all_open = true,
                           .fresh = true,
                           .read_only = true,
                           .stores = true};
  LaneSpace start;
  explorer_start(view, release->lane, &start.state);
  explorer_lane(graph->explorer, view, release->lane, &start.state, &assumption, footprint);
}

/* ---- does it help? ---- */

/* True if the lane, which spins, goes on with what the layer of memory holds. */
static bool lane_goes_on(WaitGraph *graph, const Node *lane) {
  Assumption assumption = {.fixed_words = lane->words, .fixed_bits = lane->bits, .fresh = true, .read_only = true};
  return lane->words && wait_frees(graph, wait_view(graph, lane->view), lane->index, &assumption);
}

static bool host_goes_on(WaitGraph *graph, const Node *word) {
  const Host *host = graph->explorer->gpu->host;
  const ValueSet *set = abstract_word(&graph->explorer->memory, NULL, word->key);
  bool goes = set->anything;
  for (uint32_t i = 0; i < set->count; i++)
    goes |= host_compares(&host->steps[host->at], set->value[i]);
  return goes;
}

/* True if one of the first `most` who wait for the thing goes on with what the layer of memory holds. */
static bool helps(WaitGraph *graph, guint thing, guint most) {
  guint asked = 0;
  if (wait_node(graph, thing)->kind == NODE_BIT)
    return true;
  for (guint i = 0; i < graph->edges->len && asked < most; i++) {
    const Edge *edge = wait_edge(graph, i);
    const Node *from = wait_node(graph, edge->from);
    if (edge->to != thing || (from->kind != NODE_LANE && from->kind != NODE_HOST))
      continue;
    if (from->kind == NODE_LANE ? lane_goes_on(graph, from) : host_goes_on(graph, wait_node(graph, thing)))
      return true;
    asked++;
  }
  return false;
}

/* The same where a warp goes round in a circle (Explorer.seen): if it found, once, what is stored there. */
static bool value_helps(WaitGraph *graph, guint thing, const Touch *stored) {
  for (guint i = 0; i < graph->edges->len && stored->values; i++) {
    const Edge *edge = wait_edge(graph, i);
    const Node *lane = wait_node(graph, edge->from);
    if (edge->to != thing || lane->kind != NODE_LANE || !lane->words)
      continue;
    Assumption assumption = {
        .fixed_words = lane->words, .fixed_bits = lane->bits, .stored = stored, .read_only = true};
    if (wait_frees(graph, wait_view(graph, lane->view), lane->index, &assumption))
      return true;
  }
  return !stored->values;
}

/* ---- each lane alone ---- */

bool wait_store_helps(WaitGraph *graph, guint thing, const Touch *stored) {
  if (!stored->values)
    return true;
  return graph->explorer->seen ? value_helps(graph, thing, stored) : helps(graph, thing, G_MAXUINT);
}

static void note_waiter(Node *thing, guint actor, uint32_t pc) {
  if (thing->waiter)
    return;
  thing->waiter = actor + 1; /* that it would take a lock and release it, say, helps nobody */
  thing->waiter_pc = pc;
}

/* The same of what a lane does to a word or bit (Footprint.stores while a circle is looked at, else
 * Footprint.writes or frees). */
static bool change_helps(WaitGraph *graph, guint thing, const Touch *touch) {
  return graph->explorer->seen && wait_node(graph, thing)->kind == NODE_WORD ? value_helps(graph, thing, touch)
                                                                             : helps(graph, thing, WAITERS_ASKED);
}

static void connect_changes(WaitGraph *graph, guint actor, GHashTable *table, NodeKind kind, EdgeKind edge) {
  GArray *touches = wait_touches(table);
  for (guint i = 0; i < touches->len; i++) {
    const Touch *touch = &g_array_index(touches, Touch, i);
    guint thing = awaited(graph, kind, touch->key);
    if (thing == G_MAXUINT)
      continue;
    if (wait_graph_has_edge(graph, actor, thing))
      note_waiter(wait_node(graph, thing), actor, touch->pc);
    else if (change_helps(graph, thing, touch))
      wait_connect(graph, thing, actor, edge, touch->pc, touch->physical);
  }
  g_array_free(touches, TRUE);
}

/* Into graph->touched, on a layer of memory: until the lane stores nothing that is new to itself. */
static void explore_alone(WaitGraph *graph, const Release *release) {
  GArray *woken = graph->explorer->memory.woken;
  unsigned passes = 0;
  do {
    g_array_set_size(woken, 0);
    explore_released(graph, release, &graph->touched);
  } while (woken->len && ++passes < OWN_PASSES_MAX);
}

/* What this lane would write and free if whatever it waits for came. */
static void release_lane(WaitGraph *graph, guint index, unsigned lane) {
  guint actor = wait_lane_node(graph, index, lane);
  MemoryLayer layer;
  Footprint *touched = &graph->touched;
  Release release;
  release_init(&release, graph, index, lane, actor);
  explorer_push_memory(graph->explorer, &layer, index, 1);
  explore_alone(graph, &release);
  connect_changes(graph, actor, graph->explorer->seen ? touched->stores : touched->writes, NODE_WORD, EDGE_WORD);
  connect_changes(graph, actor, touched->frees, NODE_BIT, EDGE_BIT);
  footprint_reset(touched);
  explorer_pop_memory(graph->explorer, &layer);
  release_clear(&release);
}

bool wait_changes_without(WaitGraph *graph, guint actor, guint thing, GHashTable *without) {
  const Node *lane = wait_node(graph, actor);
  uint64_t key = wait_node(graph, thing)->key;
  MemoryLayer layer;
  Release release;
  GHashTableIter iter;
  gpointer word;
  release_init(&release, graph, lane->view, lane->index, actor);
  g_hash_table_iter_init(&iter, without);
  while (release.words && g_hash_table_iter_next(&iter, &word, NULL))
    g_hash_table_remove(release.words, word);
  explorer_push_memory(graph->explorer, &layer, lane->view, 1);
  explore_alone(graph, &release);
  bool changes = g_hash_table_contains(graph->touched.writes, &key);
  footprint_reset(&graph->touched);
  explorer_pop_memory(graph->explorer, &layer);
  release_clear(&release);
  return changes;
}

/* ---- all lanes together ---- */

typedef struct Joint {
  WaitGraph *graph;
  guint thing;       /* those who wait for it go on waiting; G_MAXUINT: nobody does */
  GArray *lanes;     /* Release */
  uint64_t steps_to; /* of the explorer: then it ends */
} Joint;

/* `later`: with what they wait for behind their wait. */
static GArray *all_lanes(WaitGraph *graph, bool later) {
  uint64_t steps_to = actor_steps_to(graph);
  GArray *lanes = g_array_new(FALSE, FALSE, sizeof(Release));
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    Release release;
    if (node->kind != NODE_LANE)
      continue;
    release_init(&release, graph, node->view, node->index, i);
    if (later)
      release_extend(graph, i, &release, steps_to);
    g_array_append_val(lanes, release);
  }
  return lanes;
}

static bool is_waiter(const Joint *joint, const Release *release) {
  guint lane = wait_lane_node(joint->graph, release->view, release->lane);
  return joint->thing != G_MAXUINT && wait_graph_has_edge(joint->graph, lane, joint->thing);
}

/* A lane that comes back to a wait for `thing` is let through all others before. */
static void explore_in_joint(Joint *joint, guint number, Footprint *footprint) {
  Release release = g_array_index(joint->lanes, Release, number);
  uint64_t *thing = joint->thing == G_MAXUINT ? NULL : &wait_node(joint->graph, joint->thing)->key;
  bool waits_later = thing && release.later && g_hash_table_contains(release.later, thing);
  if (is_waiter(joint, &release))
    release.words = release.bits = NULL;
  else if (waits_later)
    g_hash_table_remove(release.words, thing);
  explore_released(joint->graph, &release, footprint);
  if (release.words && waits_later)
    g_hash_table_add(release.words, g_hash_table_lookup(release.later, thing));
}

/* Lanes of a joint that have to be explored (again). */
typedef struct Wakes {
  guint *number; /* by explore_lane_reader(): 1 + the lane's number in the joint; 0: it isn't in it */
  bool *woken;   /* by its number */
  guint count;   /* of those woken */
} Wakes;

static void wake_lane(Wakes *wakes, guint number) {
  wakes->count += !wakes->woken[number];
  wakes->woken[number] = true;
}

static void explore_woken(Joint *joint, guint number, Wakes *wakes) {
  GArray *readers = joint->graph->explorer->memory.woken;
  if (!wakes->woken[number])
    return;
  wakes->woken[number] = false;
  wakes->count--;
  explore_in_joint(joint, number, NULL);
  for (guint i = 0; i < readers->len; i++) {
    guint reader = wakes->number[g_array_index(readers, uint32_t, i)];
    if (reader)
      wake_lane(wakes, reader - 1);
  }
  g_array_set_size(readers, 0);
}

/* Each lane, and again as long as what it read grows. Forwards and backwards in turn: stores go along a chain of
 * lanes either way. */
static void explore_together(Joint *joint) {
  const Explorer *explorer = joint->graph->explorer;
  guint count = joint->lanes->len;
  g_autofree guint *number = g_new0(guint, (gsize)explorer->views->len * WARP_LANES);
  g_autofree bool *woken = g_new0(bool, count);
  Wakes wakes = {.number = number, .woken = woken};
  for (guint i = 0; i < count; i++) {
    const Release *release = &g_array_index(joint->lanes, Release, i);
    number[explore_lane_reader(wait_view(joint->graph, release->view), release->lane)] = i + 1;
    wake_lane(&wakes, i);
  }
  for (unsigned pass = 0; wakes.count && pass < JOINT_PASSES_MAX && explorer->steps < joint->steps_to; pass++)
    for (guint i = 0; i < count && explorer->steps < joint->steps_to; i++)
      explore_woken(joint, pass % 2 ? count - 1 - i : i, &wakes);
}

/* Once no lane alone helps who waits for `joint->thing`: those who store to it while all help each other. */
static void connect_together(Joint *joint) {
  WaitGraph *graph = joint->graph;
  MemoryLayer layer;
  explorer_push_memory(graph->explorer, &layer, 0, graph->explorer->views->len);
  explore_together(joint);
  uint64_t key = wait_node(graph, joint->thing)->key;
  bool useful = helps(graph, joint->thing, G_MAXUINT);
  for (guint i = 0; useful && i < joint->lanes->len; i++) {
    const Release *release = &g_array_index(joint->lanes, Release, i);
    Footprint footprint;
    if (is_waiter(joint, release))
      continue;
    footprint_init(&footprint);
    explore_in_joint(joint, i, &footprint);
    const Touch *touch = g_hash_table_lookup(footprint.writes, &key);
    if (touch)
      wait_connect(graph, joint->thing, wait_lane_node(graph, release->view, release->lane), EDGE_WORD, touch->pc, 0);
    footprint_clear(&footprint);
  }
  explorer_pop_memory(graph->explorer, &layer);
}

/* The words that a lane which doesn't wait for them would store to if nobody had to wait (keys, owned). None if it
 * takes too long to find out. */
static GHashTable *find_storable(Joint *joint) {
  WaitGraph *graph = joint->graph;
  GHashTable *words = wait_owned_keys();
  MemoryLayer layer;
  explorer_push_memory(graph->explorer, &layer, 0, graph->explorer->views->len);
  explore_together(joint);
  for (guint i = 0; i < joint->lanes->len && graph->explorer->steps < joint->steps_to; i++) {
    const Release *release = &g_array_index(joint->lanes, Release, i);
    GHashTableIter iter;
    gpointer key;
    explore_in_joint(joint, i, &graph->touched);
    g_hash_table_iter_init(&iter, graph->touched.writes);
    while (g_hash_table_iter_next(&iter, &key, NULL))
      if (!release->words || !g_hash_table_contains(release->words, key) ||
          (release->later && g_hash_table_contains(release->later, key)))
        wait_add_owned(words, *(uint64_t *)key);
    footprint_reset(&graph->touched);
  }
  if (graph->explorer->steps >= joint->steps_to)
    g_hash_table_remove_all(words);
  explorer_pop_memory(graph->explorer, &layer);
  return words;
}

/* The words that somebody waits for and nobody alone would change. */
static GHashTable *lacking_words(WaitGraph *graph) {
  GHashTable *words = wait_key_set();
  for (guint i = 0; i < graph->edges->len; i++) {
    Node *thing = wait_node(graph, wait_edge(graph, i)->to);
    if (wait_lacks_actor(thing))
      g_hash_table_add(words, &thing->key);
  }
  return words;
}

static bool some_wait_later(const GArray *lanes) {
  for (guint i = 0; i < lanes->len; i++)
    if (g_array_index(lanes, Release, i).later)
      return true;
  return false;
}

static void connect_all_together(Joint *joint, GHashTable *lacking) {
  WaitGraph *graph = joint->graph;
  guint nodes = graph->nodes->len;
  g_autoptr(GHashTable) storable = find_storable(joint);
  for (joint->thing = 0; joint->thing < nodes; joint->thing++) {
    const Node *thing = wait_node(graph, joint->thing);
    if (thing->kind == NODE_WORD && g_hash_table_contains(lacking, &thing->key) &&
        g_hash_table_contains(storable, &thing->key))
      connect_together(joint);
  }
}

/* `lacking`: the words for which somebody is sought. `later`: as all_lanes(); nothing if no lane waits for more
 * then. */
static void explore_joint_actors(WaitGraph *graph, GHashTable *lacking, bool later) {
  Joint joint = {.graph = graph,
                 .thing = G_MAXUINT,
                 .lanes = all_lanes(graph, later),
                 .steps_to = actor_steps_to(graph)};
  if (!later || some_wait_later(joint.lanes))
    connect_all_together(&joint, lacking);
  for (guint i = 0; i < joint.lanes->len; i++)
    release_clear(&g_array_index(joint.lanes, Release, i));
  g_array_free(joint.lanes, TRUE);
}

static bool waits_for(const WaitGraph *graph, guint lane, uint64_t key) {
  guint word = wait_graph_find(graph, NODE_WORD, 0, 0, key);
  return word != G_MAXUINT && wait_graph_has_edge(graph, lane, word);
}

/* Each lane waits for each of the words: nobody is left who would store to one while it goes on waiting. */
static bool all_wait_for(const WaitGraph *graph, GHashTable *words) {
  for (guint i = 0; i < graph->nodes->len; i++) {
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, words);
    while (wait_node(graph, i)->kind == NODE_LANE && g_hash_table_iter_next(&iter, &key, NULL))
      if (!waits_for(graph, i, *(uint64_t *)key))
        return false;
  }
  return true;
}

static void add_joint_actors(WaitGraph *graph, LaneClasses *classes) {
  g_autoptr(GHashTable) words = lacking_words(graph);
  if (g_hash_table_size(words) == 0 || graph->explorer->seen)
    return;
  if (!graph->of_each && all_wait_for(graph, words))
    return;
  if (!classes || !lane_classes_never_change(classes, words))
    explore_joint_actors(graph, words, false);
}

/* Once nobody is found who would change a word: who would if he also had what he waits for next. */
static void add_later_actors(WaitGraph *graph) {
  g_autoptr(GHashTable) words = lacking_words(graph);
  if (g_hash_table_size(words) && !graph->explorer->seen)
    explore_joint_actors(graph, words, true);
}

/* ---- a word behind the word ---- */

bool wait_would_change(WaitGraph *graph, const Node *lane, guint thing, uint64_t *other, uint32_t *pc) {
  MemoryLayer layer;
  Release release = {.view = lane->view, .lane = lane->index};
  Footprint *touched = &graph->touched;
  add_key(&release.words, other);
  explorer_push_memory(graph->explorer, &layer, lane->view, 1);
  explore_alone(graph, &release);
  uint64_t key = wait_node(graph, thing)->key;
  const Touch *stored = g_hash_table_lookup(graph->explorer->seen ? touched->stores : touched->writes, &key);
  const Touch *read = g_hash_table_lookup(touched->reads, other);
  bool changes = stored && read && change_helps(graph, thing, stored);
  *pc = read ? read->pc : 0;
  footprint_reset(touched);
  explorer_pop_memory(graph->explorer, &layer);
  release_clear(&release);
  return changes;
}

static gint compare_keys(gconstpointer a, gconstpointer b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static GArray *sorted_keys(GHashTable *keys) {
  GArray *sorted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, keys);
  while (g_hash_table_iter_next(&iter, &key, NULL))
    g_array_append_vals(sorted, key, 1);
  g_array_sort(sorted, compare_keys);
  return sorted;
}

/* The lane at edge `at`, which waits for a word that nobody else would change, waits for another one in its stead. */
static bool look_behind(WaitGraph *graph, guint at) {
  Edge edge = *wait_edge(graph, at);
  Node lane = *wait_node(graph, edge.from);
  g_autoptr(GArray) keys = sorted_keys(lane.words);
  for (guint i = 0; i < keys->len; i++) {
    uint64_t *other = &g_array_index(keys, uint64_t, i);
    uint32_t pc;
    const WarpView *view = wait_view(graph, lane.view);
    if (waits_for(graph, edge.from, *other) || wait_takes_turns(graph, view, *other))
      continue;
    if (wait_would_change(graph, &lane, edge.to, other, &pc) &&
        !wait_reads_own(graph, view, lane.index, *other, pc) &&
        (wait_reads_plainly(view, edge.pc) || !wait_reads_plainly(view, pc))) {
      wait_reconnect(graph, at, wait_node_of(graph, NODE_WORD, 0, 0, *other), pc);
      return true;
    }
  }
  return false;
}

/* A lane may wait for a word that it would set itself once it found another word changed: for a lock, say, until
 * it is told that it has it. True if there is one. */
static bool look_behind_words(WaitGraph *graph) {
  const Explorer *explorer = graph->explorer;
  uint64_t steps_to = explorer->steps + BEHIND_STEPS_MAX;
  bool found = false;
  for (guint i = 0; i < graph->edges->len && explorer->steps < steps_to; i++) {
    const Edge *edge = wait_edge(graph, i);
    const Node *from = wait_node(graph, edge->from), *thing = wait_node(graph, edge->to);
    if (from->kind == NODE_LANE && from->words && wait_lacks_actor(thing) && !edge->behind)
      found |= look_behind(graph, i);
  }
  return found;
}

/* ---- the host ---- */

/* What it would change if whatever it waits for came. */
static void release_host(WaitGraph *graph) {
  const Host *host = graph->explorer->gpu->host;
  if (!host || (host->state != HOST_POLLING && host->state != HOST_WAITING))
    return;
  guint node = wait_node_of(graph, NODE_HOST, 0, 0, 0);
  g_autoptr(GArray) steps = host_would_change(graph->explorer);
  for (guint i = 0; i < steps->len; i++) {
    const HostStep *step = &host->steps[g_array_index(steps, uint32_t, i)];
    uint64_t address = look_address(host->gpu, step->buffer, step->index);
    guint thing = awaited(graph, NODE_WORD, word_key_global(address));
    if (thing != G_MAXUINT && !wait_graph_has_edge(graph, node, thing))
      wait_connect(graph, thing, node, EDGE_WORD, g_array_index(steps, uint32_t, i), 0);
  }
}

static guint count_things(const WaitGraph *graph) {
  guint things = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    things += wait_node(graph, i)->kind == NODE_WORD || wait_node(graph, i)->kind == NODE_BIT;
  return things;
}

/* The lane waits for all that is awaited, and of each it is known already who would change it but waits itself. */
static bool has_nothing_to_add(const WaitGraph *graph, guint lane, guint things) {
  guint known = 0;
  for (uint32_t at = wait_node(graph, lane)->first_edge; at; at = wait_edge(graph, at - 1)->next)
    known += wait_node(graph, wait_edge(graph, at - 1)->to)->waiter != 0;
  return known == things;
}

static void release_lanes(WaitGraph *graph, LaneClasses *classes) {
  const Explorer *explorer = graph->explorer;
  uint64_t steps_to = actor_steps_to(graph);
  guint things = count_things(graph);
  for (guint i = 0; i < explorer->views->len; i++)
    for (uint32_t rest = wait_view(graph, i)->warp->alive; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      if (explorer->steps >= steps_to || wait_view(graph, i)->reach[lane].may_exit ||
          (!graph->of_each && has_nothing_to_add(graph, wait_lane_node(graph, i, lane), things)) ||
          (classes && lane_classes_changes_nothing(classes, i, lane)))
        continue;
      release_lane(graph, i, lane);
    }
}

/* Of a warp that goes round in a circle (Explorer.seen) each lane is asked: what its loads find is its own. */
static void add_actors(WaitGraph *graph) {
  LaneClasses *classes = graph->explorer->seen || graph->of_each ? NULL : lane_classes_new(graph);
  release_lanes(graph, classes);
  release_host(graph);
  wait_graph_add_pending(graph);
  add_joint_actors(graph, classes);
  g_clear_pointer(&classes, lane_classes_free);
}

void wait_graph_add_actors(WaitGraph *graph) {
  unsigned depth = 0;
  do
    add_actors(graph);
  while (look_behind_words(graph) && ++depth < BEHIND_DEPTH_MAX);
  add_later_actors(graph);
  wait_graph_drop_chances(graph);
}
