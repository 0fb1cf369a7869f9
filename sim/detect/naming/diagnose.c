#include "sim/detect/naming/diagnose.h"

#include <string.h>

#include "sim/core/host.h"
#include "sim/core/lane_groups.h"
#include "sim/core/look.h"
#include "sim/core/queue_unit.h"
#include "sim/detect/naming/locate.h"

/* In order of precedence: which edge in a cycle gives it which name. */
static const struct {
  EdgeKind edge;
  Verdict verdict;
  FindingId finding;
} names[] = {
    {EDGE_ALIAS, VERDICT_ALIAS_DEADLOCK, FINDING_ALIAS_DEADLOCK},
    {EDGE_RESIDENCY, VERDICT_RESIDENCY_DEADLOCK, FINDING_RESIDENCY_DEADLOCK},
    {EDGE_JOIN, VERDICT_SIMD_DEADLOCK, FINDING_SIMD_DEADLOCK},
    {EDGE_BARRIER, VERDICT_BARRIER_DEADLOCK, FINDING_BARRIER_DEADLOCK},
    {EDGE_BIT, VERDICT_LOCK_ORDER_DEADLOCK, FINDING_LOCK_ORDER_DEADLOCK},
    {EDGE_WORD, VERDICT_LOCK_ORDER_DEADLOCK, FINDING_LOCK_ORDER_DEADLOCK},
};

bool diagnose_is_compiled(const WarpView *view) { return program_is_compiled(view->launch->program); }

const WarpView *diagnose_view(const WaitGraph *graph, const Node *node) {
  return g_ptr_array_index(graph->explorer->views, node->view);
}

/* Lanes of the same warp that wait for the same thing. */
uint32_t diagnose_companions(const WaitGraph *graph, const Node *lane, guint thing) {
  uint32_t lanes = 1u << lane->index;
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    const Node *from = wait_node(graph, edge->from);
    if (edge->to == thing && from->kind == NODE_LANE && from->view == lane->view)
      lanes |= 1u << from->index;
  }
  return lanes;
}

char *diagnose_lanes(const WaitGraph *graph, const Node *node, uint32_t lanes) {
  const WarpView *view = diagnose_view(graph, node);
  return locate_lanes_text(graph->explorer->gpu, view->launch, view->block->index, view->warp->warp_in_block, lanes);
}

const char *diagnose_verb(uint32_t lanes) { return lanes & (lanes - 1) ? "wait" : "waits"; }

char *diagnose_word(const WaitGraph *graph, WordKey key, const Block *block) {
  const Gpu *gpu = graph->explorer->gpu;
  if (word_key_is_shared(key) && block->cluster)
    return locate_cluster_text(gpu, &gpu->sms[word_key_sm(key)], (uint32_t)key * 4);
  if (word_key_is_shared(key))
    return locate_shared_text(block, (uint32_t)key * 4);
  return locate_global_text(graph->explorer->gpu, key * 4);
}

/* The word's first byte in the shared memory of its block, which in a cluster may be another one. */
static uint64_t shared_byte(const WaitGraph *graph, WordKey key, const Block *block) {
  const Gpu *gpu = graph->explorer->gpu;
  const Block *owner =
      block->cluster ? locate_shared_block(gpu, &gpu->sms[word_key_sm(key)], (uint32_t)key * 4) : block;
  return (uint64_t)(uint32_t)key * 4 - (owner ? owner : block)->shared_base;
}

uint32_t diagnose_word_value(const WaitGraph *graph, WordKey key) {
  const Gpu *gpu = graph->explorer->gpu;
  return word_key_is_shared(key) ? look_shared(&gpu->sms[(key >> 32) & 0x7fffffff], (uint32_t)key)
                                 : look_global(gpu, key * 4);
}

WordChange diagnose_word_change(const WaitGraph *graph, WordKey key) {
  const Gpu *gpu = graph->explorer->gpu;
  return word_key_is_shared(key) ? look_shared_change(&gpu->sms[(key >> 32) & 0x7fffffff], (uint32_t)key)
                                 : look_global_change(gpu, key * 4);
}

static const LockBit *bit_of(const WaitGraph *graph, BitKey key) {
  return look_bit(&graph->explorer->gpu->sms[bit_key_sm(key)], (uint32_t)key);
}

/* "held since cycle 12 by lane 0 ... (line 9) for shared address 0x0" */
static char *holder_text(const WaitGraph *graph, const Node *thing, const Block *block) {
  Gpu *gpu = graph->explorer->gpu;
  if (thing->kind == NODE_BIT) {
    const LockBit *bit = bit_of(graph, thing->key);
    g_autofree char *who = locate_thread_text(gpu, bit->owner), *where = locate_shared_text(block, bit->address);
    g_autofree char *line = locate_line_text(gpu_launch(gpu, bit->owner.launch), bit->pc);
    return g_strdup_printf("%s, since cycle %" G_GUINT64_FORMAT " (%s), for %s", who, bit->since, line, where);
  }
  WordChange change = diagnose_word_change(graph, thing->key);
  if (thread_is_none(change.thread))
    return NULL;
  g_autofree char *who = locate_thread_text(gpu, change.thread), *when = locate_change_text(gpu, &change);
  g_autofree char *value = number_text(diagnose_word_value(graph, thing->key));
  return g_strdup_printf("%s, which gave it the value %s in %s", who, value, when);
}

static char *barrier_text(const WaitGraph *graph, const Node *thing) {
  const Barrier *barrier = &diagnose_view(graph, thing)->block->barrier[thing->index];
  const Launch *launch = diagnose_view(graph, thing)->launch;
  if (thing->index == GRID_BARRIER) {
    g_autofree char *exited = launch->finished_blocks
                                  ? g_strdup_printf(", %" G_GUINT64_FORMAT " exited", launch->finished_blocks)
                                  : g_strdup("");
    return g_strdup_printf("at the barrier of all blocks (%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                           " have come%s)",
                           launch->blocks_met, launch->blocks, exited);
  }
  if (thing->index == CLUSTER_BARRIER)
    return g_strdup("at the barrier of the cluster");
  if (!barrier->expected)
    return g_strdup_printf("at barrier %u", thing->index);
  return g_strdup_printf("at barrier %u (%u of %u threads have come)", thing->index, barrier->threads,
                         barrier->expected);
}

/* "1", or "0, 1" for a word that keeps changing among values none of which helps. */
static char *values_text(const WaitGraph *graph, WordKey key) {
  enum { VALUES_SHOWN = 4 };
  const ValueSet *set = g_hash_table_lookup(graph->explorer->memory.words, &key);
  if (!set || set->count < 2)
    return number_text(diagnose_word_value(graph, key));
  GString *text = g_string_new(NULL);
  for (uint32_t i = 0; i < MIN(set->count, (uint32_t)VALUES_SHOWN); i++) {
    g_autofree char *value = number_text(set->value[i]);
    g_string_append_printf(text, "%s%s", i ? ", " : "", value);
  }
  if (set->count > VALUES_SHOWN)
    g_string_append(text, ", ...");
  return g_string_free(text, FALSE);
}

/* "for f[0] (global 0x10000) to change from 0, which is what a copy in the L1 holds" */
static char *copy_text(const WaitGraph *graph, const Node *thing) {
  g_autofree char *word = diagnose_word(graph, thing->key, NULL);
  uint32_t copy = 0;
  copies_keep(graph->explorer->copies, &graph->explorer->gpu->sms[thing->index], thing->key * 4, &copy);
  g_autofree char *value = number_text(copy);
  return g_strdup_printf("for %s to change from %s", word, value);
}

const Inst *diagnose_queue_wait(const WaitGraph *graph, const Edge *edge) {
  const Node *from = wait_node(graph, edge->from);
  if (from->kind != NODE_LANE || wait_node(graph, edge->to)->kind != NODE_WORD)
    return NULL;
  const Inst *inst = &diagnose_view(graph, from)->launch->kernel->insts[edge->pc];
  return queue_unit_has(inst) ? inst : NULL;
}

/* "for room in the queue at q[0] (global 0x10000), which is full: 7 values" */
static char *queue_text(const WaitGraph *graph, const Inst *inst, WordKey key) {
  g_autofree char *where = diagnose_word(graph, key, NULL);
  const char *what = inst->op == OP_ENQUEUE ? "room" : "a value";
  uint32_t word = diagnose_word_value(graph, key), count = word >> 8 & 0xff;
  if (!queue_unit_is_queue(word, graph->explorer->gpu->machine->memory.queue.bytes))
    return g_strdup_printf("for %s in the queue at %s, which holds 0x%x: no capacity that there is room for, or a "
                           "head or count beyond it",
                           what, where, word);
  if (inst->op == OP_ENQUEUE)
    return g_strdup_printf("for room in the queue at %s, which is full: %u value%s", where, count,
                           count > 1 ? "s" : "");
  return g_strdup_printf("for a value in the queue at %s, which is empty", where);
}

/* "waits for shared address 0x0 to change from 1" */
static char *thing_text(const WaitGraph *graph, const Edge *edge, const Block *block) {
  const Node *thing = wait_node(graph, edge->to);
  switch (thing->kind) {
  case NODE_WORD: {
    g_autofree char *word = diagnose_word(graph, thing->key, block);
    const Inst *queue = diagnose_queue_wait(graph, edge);
    if (queue)
      return queue_text(graph, queue, thing->key);
    if (graph->explorer->seen)
      return g_strdup_printf("for others to change %s in between", word);
    g_autofree char *value = values_text(graph, thing->key);
    return g_strdup_printf("for %s to %s %s", word, strchr(value, ',') ? "hold something other than" : "change from",
                           value);
  }
  case NODE_BIT: {
    const LockBit *bit = bit_of(graph, thing->key);
    g_autofree char *wanted = locate_shared_text(block, edge->physical),
                    *held = locate_shared_text(block, bit->address);
    if (thing->key & BIT_TAKEN)
      return g_strdup_printf("for lock bit %u of %s to be taken, to store and free it", (uint32_t)thing->key, wanted);
    if (edge->kind == EDGE_ALIAS)
      return g_strdup_printf("for lock bit %u of %s, which is held for %s: both addresses map to that bit",
                             (uint32_t)thing->key, wanted, held);
    return g_strdup_printf("for lock bit %u of %s to be freed", (uint32_t)thing->key, wanted);
  }
  case NODE_COPY: return copy_text(graph, thing);
  case NODE_BARRIER: return barrier_text(graph, thing);
  default: return wait_entry_text(diagnose_view(graph, thing), thing->index);
  }
}

/* True if some lanes of the warp have come to a barrier at which it hasn't arrived for want of the others. */
static bool some_came(const WarpView *view, uint32_t barrier) {
  return view->warp->groups && view->warp->groups->come[barrier];
}

/* Those lanes of a view that a node waits for. */
static char *missing_lanes_text(const WaitGraph *graph, const Node *node, guint view) {
  uint32_t lanes = 0;
  for (uint32_t at = node->first_edge; at; at = wait_edge(graph, at - 1)->next) {
    const Node *to = wait_node(graph, wait_edge(graph, at - 1)->to);
    lanes |= to->view == view ? 1u << to->index : 0;
  }
  return lanes_text(lanes);
}

/* The missing lanes or warps behind an entry or barrier. */
static char *missing_text(const WaitGraph *graph, guint thing) {
  const Node *node = wait_node(graph, thing);
  GString *text = g_string_new(NULL);
  uint32_t lanes = 0;
  guint last_view = G_MAXUINT;
  GArray *views = g_array_new(FALSE, FALSE, sizeof(guint));
  for (uint32_t at = node->first_edge; at; at = wait_edge(graph, at - 1)->next) {
    const Node *to = wait_node(graph, wait_edge(graph, at - 1)->to);
    lanes |= 1u << to->index;
    if (to->view != last_view)
      g_array_append_val(views, to->view);
    last_view = to->view;
  }
  if (node->kind == NODE_ENTRY) {
    g_autofree char *which = lanes_text(lanes);
    g_string_append_printf(text, "%s of the same warp", which);
  } else {
    for (guint i = views->len; i-- > 0;) {
      guint number = g_array_index(views, guint, i);
      const WarpView *view = g_ptr_array_index(graph->explorer->views, number);
      g_autofree char *which = some_came(view, node->index) ? missing_lanes_text(graph, node, number) : NULL;
      g_string_append_printf(text, "%s%s%swarp %u", text->len ? ", " : "", which ? which : "", which ? " of " : "",
                             view->warp->warp_in_block);
      if (node->index == GRID_BARRIER || node->index == CLUSTER_BARRIER)
        g_string_append_printf(text, " of block %" G_GUINT64_FORMAT, view->block->index);
    }
  }
  g_array_free(views, TRUE);
  return g_string_free(text, FALSE);
}

/* True if a lane waits for the warp to run it. */
bool diagnose_is_turn(const WaitGraph *graph, const Edge *edge) {
  const Node *thing = wait_node(graph, edge->to);
  return thing->kind == NODE_ENTRY && wait_entry_kind(diagnose_view(graph, thing), thing->index) == ENTRY_TURN;
}

/* One line of evidence: a lane (with its companions) and what it waits for. */
static void add_wait(const WaitGraph *graph, Finding *finding, const Edge *edge) {
  const Node *lane = wait_node(graph, edge->from), *thing = wait_node(graph, edge->to);
  const WarpView *view = diagnose_view(graph, lane);
  uint32_t lanes = diagnose_companions(graph, lane, edge->to);
  g_autofree char *who = diagnose_lanes(graph, lane, lanes), *what = thing_text(graph, edge, view->block);
  if (diagnose_is_turn(graph, edge)) {
    g_autofree char *missing = missing_text(graph, edge->to);
    locate_evidence(
        finding, view->launch, edge->pc,
        g_strdup_printf("%s can't go on here: the warp runs %s, which come to no point where it may switch", who,
                        missing));
    return;
  }
  if (thing->kind == NODE_ENTRY || thing->kind == NODE_BARRIER) {
    g_autofree char *missing = missing_text(graph, edge->to);
    locate_evidence(
        finding, view->launch, edge->pc,
        *missing ? g_strdup_printf("%s %s %s for %s", who, diagnose_verb(lanes), what, missing)
                 : g_strdup_printf("%s %s %s, and nobody is left who could come", who, diagnose_verb(lanes), what));
    return;
  }
  g_autofree char *holder =
      thing->key & BIT_TAKEN && thing->kind == NODE_BIT ? NULL : holder_text(graph, thing, view->block);
  locate_evidence(finding, view->launch, edge->pc, g_strdup_printf("%s %s %s", who, diagnose_verb(lanes), what));
  if (holder)
    finding_add_evidence(finding, 0,
                         g_strdup_printf("%s %s", thing->kind == NODE_BIT ? "held by" : "last changed by", holder));
}

/* Blocks that would act if they could start: too many of a launch under way, or a launch that waits for its turn. */
static void add_pending(Finding *finding, const Launch *launch, const Edge *edge) {
  bool waits_its_turn = launch->next_block == 0; /* some other launch has begun */
  if (!waits_its_turn) {
    locate_evidence(finding, launch, edge->pc,
                    g_strdup_printf("block %" G_GUINT64_FORMAT
                                    " of %s would change it here, but it is one of %" G_GUINT64_FORMAT
                                    " of %" G_GUINT64_FORMAT " that can't start until a resident block exits",
                                    edge->block, launch->name, launch->blocks - launch->next_block, launch->blocks));
    return;
  }
  locate_evidence(finding, launch, edge->pc,
                  g_strdup_printf("%s (launch %u) would change it here, but it starts only when the launches before "
                                  "it have finished or left room",
                                  launch->name, launch->index));
  g_free(finding->repair);
  finding->repair =
      g_strdup("launch the kernel that gives the signal first, or on a stream of its own, with room for both");
}

/* The word goes on changing, among values none of which helps, and the lane was the last to change it. */
static bool keeps_changing(const WaitGraph *graph, const Node *thing, const Node *actor) {
  if (thing->kind != NODE_WORD)
    return false;
  const ValueSet *set = g_hash_table_lookup(graph->explorer->memory.words, &thing->key);
  const WarpView *view = diagnose_view(graph, actor);
  ThreadId thread = warp_thread_base(view->block, view->warp);
  thread.thread += actor->index;
  return set && set->count > 1 && thread_equal(diagnose_word_change(graph, thing->key).thread, thread);
}

/* The other direction: who would act, and where. */
static void add_act(const WaitGraph *graph, Finding *finding, const Edge *edge) {
  const Node *thing = wait_node(graph, edge->from), *actor = wait_node(graph, edge->to);
  if (thing->kind == NODE_BARRIER && actor->kind == NODE_PENDING) {
    const Launch *launch = gpu_launch(graph->explorer->gpu, actor->index);
    finding_add_evidence(finding, 0,
                         g_strdup_printf("%" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
                                         " blocks can't start until a resident block exits",
                                         launch->blocks - launch->next_block, launch->blocks));
    return;
  }
  if (thing->kind == NODE_PENDING || (thing->kind != NODE_WORD && thing->kind != NODE_BIT))
    return;
  Gpu *gpu = graph->explorer->gpu;
  if (actor->kind == NODE_HOST) {
    g_autofree char *step = host_step_text(gpu->host, edge->pc);
    finding_add_evidence(finding, 0, g_strdup_printf("the host, %s, would change it, but can't get there", step));
    return;
  }
  if (actor->kind == NODE_PENDING) {
    add_pending(finding, gpu_launch(gpu, actor->index), edge);
    return;
  }
  if (thing->kind == NODE_BIT && bit_of(graph, thing->key)->held && edge->pc == bit_of(graph, thing->key)->pc)
    return; /* the holder was named already */
  const WarpView *view = diagnose_view(graph, actor);
  g_autofree char *who = diagnose_lanes(graph, actor, 1u << actor->index);
  bool changes = keeps_changing(graph, thing, actor);
  locate_evidence(finding, view->launch, edge->pc,
                  g_strdup_printf(changes ? "%s goes on changing it here, but to no value that ends the wait"
                                          : "%s would change it here, but can't get here",
                                  who));
  diagnose_mbarrier_circle(graph, finding, edge);
}

/* Why who must act in a simd-deadlock can't. */
static char *simd_reason(const WaitGraph *graph, const Edge *edge, const Edge *join, const char *these) {
  NodeKind thing = wait_node(graph, edge->to)->kind;
  if (diagnose_is_turn(graph, edge))
    return g_strdup_printf(" the running lanes come to none, since they wait for %s", these);
  if (thing == NODE_ENTRY || !join)
    return g_strdup_printf("; who is waited for there waits in turn for %s", these);
  if (diagnose_is_turn(graph, join))
    return g_strdup_printf("; who must do that can't run, since %s spin%s without a point where the warp may switch",
                           these, g_str_equal(these, "this lane") ? "s" : "");
  static const char *const places[] = {[ENTRY_PATH] = "at a reconvergence point",
                                       [ENTRY_JOIN] = "at a reconvergence point",
                                       [ENTRY_WARPSYNC] = "at a warp-wide synchronization",
                                       [ENTRY_MEETING] = "before a barrier"};
  const Node *entry = wait_node(graph, join->to);
  return g_strdup_printf("; who must do that waits %s for %s",
                         places[wait_entry_kind(diagnose_view(graph, entry), entry->index)], these);
}

/* The sentence that heads a finding: who waits for what, and why that can't come. */
static char *headline(const WaitGraph *graph, FindingId id, const Edge *edge, bool itself, const Edge *join) {
  const Node *lane = wait_node(graph, edge->from);
  const WarpView *view = diagnose_view(graph, lane);
  uint32_t lanes = diagnose_companions(graph, lane, edge->to);
  g_autofree char *who = diagnose_lanes(graph, lane, lanes), *what = thing_text(graph, edge, view->block);
  const char *these = lanes & (lanes - 1) ? "these lanes" : "this lane";
  NodeKind thing = wait_node(graph, edge->to)->kind;
  g_autofree char *why = NULL;
  switch (id) {
  case FINDING_SIMD_DEADLOCK: why = simd_reason(graph, edge, join, these); break;
  case FINDING_ALIAS_DEADLOCK:
    why =
        itself ? g_strdup_printf("; %s holds it itself", these) : g_strdup_printf("; its holder waits for %s", these);
    break;
  case FINDING_RESIDENCY_DEADLOCK: why = g_strdup("; the blocks that would do that can't start"); break;
  case FINDING_BARRIER_DEADLOCK:
    why = thing == NODE_BARRIER ? g_strdup("; the missing threads can't come")
                                : g_strdup_printf("; who must do that waits at a barrier for %s", these);
    break;
  case FINDING_LOCK_ORDER_DEADLOCK: why = g_strdup_printf("; who must do that waits in turn for %s", these); break;
  case FINDING_STALE_WAIT:
    why = g_strdup_printf("; it has changed, but %s a copy in the SM's L1 cache, and nothing makes that go",
                          lanes & (lanes - 1) ? "these lanes read" : "this lane reads");
    break;
  case FINDING_ORPHAN_WAIT:
    why = g_strdup(wait_node(graph, edge->to)->in_round ? "; only threads that wait for such words themselves could "
                                                          "do that"
                   : wait_node(graph, edge->to)->waiter ? "; only threads that wait for it themselves could do that"
                                                        : "; nobody is left who could do that");
    break;
  default: break;
  }
  return g_strdup_printf("%s %s %s%s", who, diagnose_verb(lanes), what, why ? why : "");
}

/* `itself`: the lane waits for what it holds. `join`: the cycle's wait for lanes of the same warp, or NULL. */
Finding *diagnose_finding(const WaitGraph *graph, FindingId id, const Edge *edge, bool itself, const Edge *join) {
  const Node *lane = wait_node(graph, edge->from), *thing = wait_node(graph, edge->to);
  const WarpView *view = diagnose_view(graph, lane);
  Finding *finding = locate_finding(id, headline(graph, id, edge, itself, join), view->launch, edge->pc);
  finding->cycle = graph->explorer->gpu->cycle;
  finding->block = (int64_t)view->block->index;
  finding->warp = view->warp->warp_in_block;
  finding->lanes = diagnose_companions(graph, lane, edge->to);
  if (thing->kind == NODE_WORD || thing->kind == NODE_COPY) {
    finding->space = g_strdup(word_key_is_shared(thing->key) ? "shared" : "global");
    finding->address = word_key_is_shared(thing->key) ? shared_byte(graph, thing->key, view->block) : thing->key * 4;
  } else if (thing->kind == NODE_BIT) {
    finding->space = g_strdup("shared");
    finding->address = edge->physical - view->block->shared_base;
    finding->lock_bit = (uint32_t)thing->key;
  }
  if (thing->kind == NODE_WORD || thing->kind == NODE_COPY ||
      (thing->kind == NODE_BIT && bit_of(graph, thing->key)->held))
    finding->holder = holder_text(graph, thing, view->block);
  finding->repair = g_strdup(diagnose_repair(graph, id, edge, join));
  return finding;
}

/* The first lane of the cycle that waits for others of its warp, as an edge; NULL if there is none. */
static const Edge *find_join(const WaitGraph *graph, const GArray *cycle) {
  for (guint i = 0; i < cycle->len; i++) {
    const Edge *edge = wait_edge(graph, g_array_index(cycle, guint, i));
    if (wait_node(graph, edge->to)->kind == NODE_ENTRY)
      return edge;
  }
  return NULL;
}

/* "the host, step 1 (poll flag[1]), polls flag[1] until it isn't 0, and sees 0" */
char *diagnose_host_text(const WaitGraph *graph) {
  const Host *host = graph->explorer->gpu->host;
  g_autofree char *step = host_step_text(host, host->at), *what = host_text(host);
  return g_strdup_printf("the host, %s, %s", step, what);
}

static void add_host_wait(const WaitGraph *graph, Finding *finding) {
  finding_add_evidence(finding, 0, diagnose_host_text(graph));
}

static Finding *explain_cycle(const WaitGraph *graph, FindingId id, const GArray *cycle) {
  Finding *finding = diagnose_finding(graph, id, wait_edge(graph, g_array_index(cycle, guint, 0)), cycle->len == 2,
                                      find_join(graph, cycle));
  for (guint i = 0; i < cycle->len; i++) {
    const Edge *edge = wait_edge(graph, g_array_index(cycle, guint, i));
    if (wait_node(graph, edge->from)->kind == NODE_HOST)
      add_host_wait(graph, finding);
    else if (wait_node(graph, edge->from)->kind == NODE_LANE && i > 0)
      add_wait(graph, finding, edge);
    else if (wait_node(graph, edge->from)->kind != NODE_LANE)
      add_act(graph, finding, edge);
  }
  return finding;
}

/* The lanes that an entry waits for come back to it by lanes of its own warp alone. */
static bool comes_back_in_warp(const WaitGraph *graph, guint entry) {
  const Node *home = wait_node(graph, entry);
  g_autofree bool *seen = g_new0(bool, graph->nodes->len);
  g_autoptr(GArray) behind = g_array_new(FALSE, FALSE, sizeof(guint));
  g_array_append_val(behind, entry);
  for (guint next = 0; next < behind->len; next++) {
    const Node *node = wait_node(graph, g_array_index(behind, guint, next));
    for (uint32_t at = node->first_edge; at; at = wait_edge(graph, at - 1)->next) {
      guint to = wait_edge(graph, at - 1)->to;
      const Node *other = wait_node(graph, to);
      bool of_warp = other->kind == NODE_LANE || other->kind == NODE_ENTRY
                         ? other->view == home->view
                         : other->kind == NODE_WORD || other->kind == NODE_BIT;
      if (to == entry)
        return true;
      if (of_warp && !seen[to])
        g_array_append_val(behind, to);
      seen[to] = true;
    }
  }
  return false;
}

/* Lanes of several warps, which wait for lanes of their own only where the program itself lets them: the same circle
 * would be there if each lane ran by itself. */
static bool is_of_warps(const WaitGraph *graph, uint32_t component) {
  guint view = G_MAXUINT;
  bool several = false;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    if (node->component != component)
      continue;
    if (node->kind == NODE_ENTRY &&
        (!wait_entry_is_meant(diagnose_view(graph, node), node->index) || comes_back_in_warp(graph, i)))
      return false;
    several |= node->kind == NODE_LANE && view != G_MAXUINT && node->view != view;
    view = node->kind == NODE_LANE ? node->view : view;
  }
  return several;
}

static bool gives_name(const WaitGraph *graph, uint32_t component, EdgeKind kind) {
  return wait_graph_has_kind(graph, component, kind) && !(kind == EDGE_JOIN && is_of_warps(graph, component));
}

/* The name of a component that has a cycle: index into names. */
static unsigned name_component(const WaitGraph *graph, uint32_t component) {
  unsigned i = 0;
  while (i + 1 < G_N_ELEMENTS(names) && !gives_name(graph, component, names[i].edge))
    i++;
  return i;
}

typedef struct Named {
  uint32_t component;
  unsigned name;
  bool leads_on;
} Named;

/* The verdict's own cycle first: one that waits for no other cycle, of the highest precedence, of the earliest node. */
static gint compare_named(gconstpointer a, gconstpointer b) {
  const Named *x = a, *y = b;
  if (x->leads_on != y->leads_on)
    return x->leads_on ? 1 : -1;
  if (x->name != y->name)
    return x->name < y->name ? -1 : 1;
  return x->component < y->component ? -1 : x->component > y->component;
}

/* How many lanes a cycle has. */
static guint lanes_of(const WaitGraph *graph, uint32_t component) {
  guint lanes = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    lanes += wait_node(graph, i)->component == component && wait_node(graph, i)->kind == NODE_LANE;
  return lanes;
}

/* Where what lanes exchange isn't known (Explorer.exchanged) not all are asked who would change a word. That a lane
 * waits for a word which nobody but that lane seems to change says little beside blocks that have no room, and would
 * end a wait. */
static void drop_guesses(const WaitGraph *graph, GArray *named) {
  bool starts_blocks = false;
  for (guint i = 0; i < named->len; i++)
    starts_blocks |= names[g_array_index(named, Named, i).name].edge == EDGE_RESIDENCY;
  for (guint i = named->len; graph->explorer->exchanged && starts_blocks && i-- > 0;) {
    const Named *entry = &g_array_index(named, Named, i);
    if (names[entry->name].edge == EDGE_WORD && lanes_of(graph, entry->component) == 1)
      g_array_remove_index(named, i);
  }
}

static GArray *name_cycles(const WaitGraph *graph) {
  GArray *named = g_array_new(FALSE, FALSE, sizeof(Named));
  gboolean *seen = g_new0(gboolean, graph->components + 1);
  for (guint i = 0; i < graph->nodes->len; i++) {
    const Node *node = wait_node(graph, i);
    if (!node->in_cycle || seen[node->component])
      continue;
    seen[node->component] = TRUE;
    Named entry = {node->component, name_component(graph, node->component),
                   wait_graph_leads_on(graph, node->component)};
    g_array_append_val(named, entry);
  }
  g_array_sort(named, compare_named);
  drop_guesses(graph, named);
  g_free(seen);
  return named;
}

static void explain_cycles(const WaitGraph *graph, const GArray *named, GPtrArray *findings) {
  for (guint i = 0; i < named->len && findings->len < FINDINGS_SHOWN_MAX; i++) {
    const Named *entry = &g_array_index(named, Named, i);
    GArray *cycle = wait_graph_cycle(graph, entry->component, names[entry->name].edge);
    if (!cycle)
      continue;
    g_ptr_array_add(findings, explain_cycle(graph, names[entry->name].finding, cycle));
    g_array_free(cycle, TRUE);
  }
}

Verdict diagnose(const WaitGraph *graph, GPtrArray *findings) {
  GArray *named = name_cycles(graph);
  Verdict cycle = named->len ? names[g_array_index(named, Named, 0).name].verdict : VERDICT_LIVELOCK, verdict;
  if (verdict_rank(cycle) > verdict_rank(VERDICT_STALE_WAIT)) {
    explain_cycles(graph, named, findings);
    diagnose_copies(graph, findings);
    verdict = cycle;
  } else if (diagnose_copies(graph, findings)) {
    explain_cycles(graph, named, findings);
    verdict = VERDICT_STALE_WAIT;
  } else if (named->len) {
    explain_cycles(graph, named, findings);
    verdict = cycle;
  } else {
    verdict = diagnose_waits(graph, findings);
  }
  g_array_free(named, TRUE);
  return verdict;
}
