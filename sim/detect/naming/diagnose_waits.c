/* Waits that nobody can end, without a cycle: for a change that nobody would make, a barrier that nobody can complete, a copy that
 * stays, or for nothing at all. */
#include "sim/core/host.h"
#include "sim/core/look.h"
#include "sim/core/queue_unit.h"
#include "sim/detect/naming/diagnose.h"
#include "sim/detect/naming/locate.h"

/* Of a barrier with a thread count, since others are complete once who is missing has exited. */
static void add_exited(Finding *finding, const Block *block) {
  GString *warps = g_string_new(NULL);
  for (uint32_t warp = 0; warp < block->warps; warp++)
    if (block->finished >> warp & 1)
      g_string_append_printf(warps, "%s%u", warps->len ? ", " : "", warp);
  if (warps->len)
    finding_add_evidence(
        finding, 0,
        g_strdup_printf("of the block, these warps have exited without coming: %s (a barrier with a thread "
                        "count waits for them all the same)",
                        warps->str));
  g_string_free(warps, TRUE);
  g_free(finding->repair);
  finding->repair =
      g_strdup("let as many threads come to the barrier as it counts, each time, in the same order as "
               "the others; give each group of threads that meets by itself a barrier of its own number");
}

/* The host waits for a word that nobody would change. */
static Finding *host_orphan(const WaitGraph *graph) {
  g_autofree char *what = diagnose_host_text(graph);
  Finding *finding =
      finding_new(FINDING_ORPHAN_WAIT, g_strdup_printf("%s; nobody is left who could change it", what));
  const GPtrArray *views = graph->explorer->views;
  finding->file = g_strdup(((const WarpView *)g_ptr_array_index(views, 0))->launch->program->file);
  finding->cycle = graph->explorer->gpu->cycle;
  finding->repair = g_strdup("let a thread store what the host waits for, or let the host stop waiting");
  return finding;
}

static bool some_lane_waits(const WaitGraph *graph) {
  for (guint i = 0; i < graph->edges->len; i++)
    if (wait_node(graph, wait_edge(graph, i)->from)->kind == NODE_LANE)
      return true;
  return false;
}

enum { WAITERS_SHOWN_MAX = 8 };

/* The word of grid.sync(), behind the size of the workspace of a cooperative launch: some block doesn't come. */
static bool add_grid(const WaitGraph *graph, Finding *finding, const Edge *first) {
  const Node *thing = wait_node(graph, first->to);
  const Launch *launch = diagnose_view(graph, wait_node(graph, first->from))->launch;
  if (thing->kind != NODE_WORD || !launch->envreg || thing->key != word_key_global(launch->envreg + 4))
    return false;
  finding_add_evidence(finding, 0,
                       g_strdup_printf("it is the barrier of a cooperative grid: all %" G_GUINT64_FORMAT
                                       " blocks have to come to it; exited: %" G_GUINT64_FORMAT,
                                       launch->blocks, launch->finished_blocks));
  g_free(finding->repair);
  finding->repair = g_strdup("let every block of the grid come to each grid.sync(), or none");
  return true;
}

/* The other warps that wait for the same word or bit, and who of them would change it. */
static void add_waiters(const WaitGraph *graph, Finding *finding, const Edge *first) {
  const Node *thing = wait_node(graph, first->to);
  guint last = wait_node(graph, first->from)->view, others = 0;
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    const Node *lane = wait_node(graph, edge->from);
    if (edge->to != first->to || lane->kind != NODE_LANE || lane->view == last ||
        lane->view == wait_node(graph, first->from)->view)
      continue;
    last = lane->view;
    if (others++ >= WAITERS_SHOWN_MAX)
      continue;
    uint32_t lanes = diagnose_companions(graph, lane, edge->to);
    g_autofree char *who = diagnose_lanes(graph, lane, lanes);
    locate_evidence(finding, diagnose_view(graph, lane)->launch, edge->pc,
                    g_strdup_printf("%s %s for it, too", who, diagnose_verb(lanes)));
  }
  if (others > WAITERS_SHOWN_MAX)
    finding_add_evidence(finding, 0, g_strdup_printf("so do lanes of %u more warps", others - WAITERS_SHOWN_MAX));
  if (add_grid(graph, finding, first))
    return;
  if (!thing->waiter) {
    diagnose_mbarrier_look(graph, finding, first);
    return;
  }
  const Node *waiter = wait_node(graph, thing->waiter - 1);
  const Launch *launch = diagnose_view(graph, waiter)->launch;
  const Inst *inst = &launch->kernel->insts[thing->waiter_pc];
  g_autofree char *who = diagnose_lanes(graph, waiter, 1u << waiter->index);
  locate_evidence(finding, launch, thing->waiter_pc,
                  g_strdup_printf("%s would change it here, but waits for it itself", who));
  if (diagnose_mbarrier_arrives(graph, finding, inst, thing->key))
    return;
  if (op_info[inst->op].flags & OPF_ATOMIC && !queue_unit_has(inst) &&
      (inst->mode == ATOM_ADD || inst->mode == ATOM_INC || inst->mode == ATOM_DEC)) {
    g_free(finding->repair);
    finding->repair = g_strdup(diagnose_repair_count);
  }
}

static gint compare_words(gconstpointer a, gconstpointer b) {
  WordKey one = *(const WordKey *)a, other = *(const WordKey *)b;
  return one < other ? -1 : one > other;
}

/* The other words that the same lane looks at in the same place, and that nobody would change either, aren't shown by
 * themselves: a lane that goes round an array waits once. */
static void fold_words(const WaitGraph *graph, Finding *finding, const Edge *first, gboolean *shown) {
  const Node *lane = wait_node(graph, first->from), *thing = wait_node(graph, first->to);
  g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(WordKey));
  for (uint32_t at = lane->first_edge; at && thing->kind == NODE_WORD; at = wait_edge(graph, at - 1)->next) {
    const Edge *edge = wait_edge(graph, at - 1);
    const Node *other = wait_node(graph, edge->to);
    if (edge->pc != first->pc || other->kind != NODE_WORD || other->first_edge || shown[edge->to] ||
        other->in_round != thing->in_round || other->waiter != thing->waiter)
      continue;
    shown[edge->to] = TRUE;
    g_array_append_val(words, other->key);
  }
  if (!words->len)
    return;
  g_array_sort(words, compare_words);
  const WarpView *view = diagnose_view(graph, lane);
  uint32_t lanes = diagnose_companions(graph, lane, first->to);
  const char *who = lanes & (lanes - 1) ? "these lanes look" : "this lane looks";
  g_autofree char *from = diagnose_word(graph, g_array_index(words, WordKey, 0), view->block),
                  *to = diagnose_word(graph, g_array_index(words, WordKey, words->len - 1), view->block);
  locate_evidence(finding, view->launch, first->pc,
                  words->len == 1
                      ? g_strdup_printf("%s at %s here, too, which nobody would change, either", who, from)
                      : g_strdup_printf("%s at %u more words here, %s to %s, which nobody would change, either", who,
                                        words->len, from, to));
}

/* True if the lane, which alone could change `thing`, waits as well for a word that nobody could change: that one holds it up.
 * (A producer compares its own count with that of the consumers, who are gone.) */
static bool waits_elsewhere(const WaitGraph *graph, const Node *lane, const Node *thing) {
  for (uint32_t at = thing->waiter ? lane->first_edge : 0; at; at = wait_edge(graph, at - 1)->next) {
    const Node *other = wait_node(graph, wait_edge(graph, at - 1)->to);
    if (other != thing && other->kind == NODE_WORD && !other->first_edge && !other->waiter)
      return true;
  }
  return false;
}

/* No cycle: somebody waits for a barrier or a change that nobody is left to bring. First the words of rounds, which
 * those would change who wait for the others. */
static Verdict diagnose_orphans(const WaitGraph *graph, GPtrArray *findings) {
  Verdict verdict = VERDICT_LIVELOCK;
  gboolean *shown = g_new0(gboolean, graph->nodes->len);
  for (guint i = 0; i < 2 * graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i % graph->edges->len);
    const Node *from = wait_node(graph, edge->from), *thing = wait_node(graph, edge->to);
    bool waits = from->kind == NODE_LANE || from->kind == NODE_HOST;
    if (!waits || thing->first_edge || thing->kind == NODE_LANE || shown[edge->to])
      continue;
    if (i < graph->edges->len && !thing->in_round)
      continue;
    shown[edge->to] = TRUE;
    if (from->kind == NODE_HOST) {
      if (!some_lane_waits(graph))
        continue; /* the threads loop for ever, and the host waits for them */
      g_ptr_array_add(findings, host_orphan(graph));
      verdict = verdict == VERDICT_LIVELOCK ? VERDICT_ORPHAN_WAIT : verdict;
      continue;
    }
    if (waits_elsewhere(graph, from, thing))
      continue;
    bool barrier = thing->kind == NODE_BARRIER;
    FindingId id = barrier ? FINDING_BARRIER_DEADLOCK : FINDING_ORPHAN_WAIT;
    Finding *finding = diagnose_finding(graph, id, edge, false, NULL);
    fold_words(graph, finding, edge, shown);
    if (barrier)
      add_exited(finding, diagnose_view(graph, thing)->block);
    else
      add_waiters(graph, finding, edge);
    verdict = barrier || verdict == VERDICT_BARRIER_DEADLOCK ? VERDICT_BARRIER_DEADLOCK : VERDICT_ORPHAN_WAIT;
    if (findings->len < FINDINGS_SHOWN_MAX)
      g_ptr_array_add(findings, finding);
    else
      finding_free(finding);
  }
  g_free(shown);
  return verdict;
}

/* A loop that waits for nothing and never ends. */
static void diagnose_endless(const WaitGraph *graph, GPtrArray *findings) {
  const WarpView *view = g_ptr_array_index(graph->explorer->views, 0);
  g_autofree char *who = locate_lanes_text(graph->explorer->gpu, view->launch, view->block->index,
                                           view->warp->warp_in_block, view->warp->active);
  Finding *finding =
      locate_finding(FINDING_LIVELOCK, g_strdup_printf("%s: loops for ever, whatever memory holds", who),
                     view->launch, view->warp->pc);
  finding->cycle = graph->explorer->gpu->cycle;
  finding->block = (int64_t)view->block->index;
  finding->warp = view->warp->warp_in_block;
  finding->lanes = view->warp->active;
  finding->repair =
      g_strdup(diagnose_is_compiled(view)
                   ? "give the loop an exit that something can reach; if it is to see what other threads write, "
                     "make that volatile or atomic: a plain load is taken out of the loop by the compiler"
                   : "give the loop an exit that something can reach");
  g_ptr_array_add(findings, finding);
}

Verdict diagnose_waits(const WaitGraph *graph, GPtrArray *findings) {
  Verdict verdict = diagnose_orphans(graph, findings);
  if (verdict == VERDICT_LIVELOCK)
    diagnose_endless(graph, findings);
  return verdict;
}

/* ---- copies ---- */

/* Where what memory holds was stored. */
static void add_newer(const WaitGraph *graph, Finding *finding, const Node *copy) {
  Gpu *gpu = graph->explorer->gpu;
  WordChange change = diagnose_word_change(graph, copy->key);
  if (thread_is_none(change.thread) || thread_is_host(change.thread))
    return;
  g_autofree char *who = locate_thread_text(gpu, change.thread);
  locate_evidence(finding, gpu_launch(gpu, change.thread.launch), change.pc,
                  g_strdup_printf("%s stores the newer value here", who));
}

/* Other copies that are waited for by the same instruction. */
static void add_other_copies(const WaitGraph *graph, Finding *finding, const Edge *first) {
  const Launch *launch = diagnose_view(graph, wait_node(graph, first->from))->launch;
  g_autoptr(GHashTable) others = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    if (edge->kind == EDGE_COPY && edge->pc == first->pc && edge->to != first->to &&
        diagnose_view(graph, wait_node(graph, edge->from))->launch == launch)
      g_hash_table_add(others, GUINT_TO_POINTER(edge->to));
  }
  guint count = g_hash_table_size(others);
  if (count)
    finding_add_evidence(finding, 0,
                         g_strdup_printf("%u more cop%s that stay%s %s waited for by the same load", count,
                                         count > 1 ? "ies" : "y", count > 1 ? "" : "s", count > 1 ? "are" : "is"));
}

/* One for each instruction that waits. */
bool diagnose_copies(const WaitGraph *graph, GPtrArray *findings) {
  g_autoptr(GHashTable) shown = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    if (edge->kind != EDGE_COPY)
      continue;
    const Launch *launch = diagnose_view(graph, wait_node(graph, edge->from))->launch;
    gint64 place = (gint64)((uint64_t)launch->index << 32 | edge->pc);
    if (!g_hash_table_add(shown, g_memdup2(&place, sizeof place)) || findings->len >= FINDINGS_SHOWN_MAX)
      continue;
    Finding *finding = diagnose_finding(graph, FINDING_STALE_WAIT, edge, false, NULL);
    add_newer(graph, finding, wait_node(graph, edge->to));
    add_waiters(graph, finding, edge);
    add_other_copies(graph, finding, edge);
    g_ptr_array_add(findings, finding);
  }
  return g_hash_table_size(shown);
}
