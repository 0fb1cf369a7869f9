/* What would mend a deadlock: one sentence for each kind of wait. */
#include "sim/core/queue_unit.h"
#include "sim/detect/naming/diagnose.h"

static const char *simd_repair_of(bool ptx) {
  return ptx ? "give the lock back (or the signal) inside the loop, on the path of the lane that has it: while "
               "(!done) if "
               "(atomicCAS(lock, 0, 1) == 0) { ...; atomicExch(lock, 0); done = true; }, or let one lane of the warp "
               "take the lock; if it stands there and the compiler has moved it behind the loop, go on until all "
               "lanes are done: while (__any_sync(mask, !done)) if (!done && ...)"
             : "put the release (or the signal) on the path of the lane that must give it, before the lanes rejoin: "
               "loop over \"try, critical section, release\" until done (Listings 7 and 8 of Li et al.), or let one "
               "lane of the warp take the lock";
}

static const char *repair_of(FindingId id) {
  switch (id) {
  case FINDING_ALIAS_DEADLOCK:
    return "place the two words so that their lock bits differ (addresses less than bits * 4 bytes apart), or use "
           "fewer "
           "locks at a time; sm.lock_unit.bits says how many there are";
  case FINDING_RESIDENCY_DEADLOCK:
    return "launch no more blocks than can be resident at once, or let each block do the work of several in a loop";
  case FINDING_BARRIER_DEADLOCK:
    return "let every warp that the barrier counts reach it, in the same order as the others, and hold no lock that "
           "it needs "
           "on the way";
  case FINDING_LOCK_ORDER_DEADLOCK:
    return "take locks in one order everywhere, or release what is held when the second one is refused; let no two "
           "threads "
           "wait for each other's signal";
  case FINDING_STALE_WAIT:
    return "make the load volatile or atomic, with the scope of the GPU, or put a fence (__threadfence()) into the "
           "loop: a plain load, or one for its own block (.cta), may read the same copy again and again";
  case FINDING_ORPHAN_WAIT:
    return finding_repair_ways_out;
  default: return NULL;
  }
}

/* Some lane that the entry's lanes wait for waits at a block barrier. */
static bool waits_for_barrier(const WaitGraph *graph, const Node *entry) {
  uint32_t missing = wait_entry_missing(diagnose_view(graph, entry), entry->index);
  for (guint i = 0; i < graph->edges->len; i++) {
    const Edge *edge = wait_edge(graph, i);
    const Node *from = wait_node(graph, edge->from);
    if (edge->kind == EDGE_BARRIER && from->kind == NODE_LANE && from->view == entry->view &&
        missing >> from->index & 1)
      return true;
  }
  return false;
}

static const char *simd_repair(const WaitGraph *graph, const Edge *join, bool ptx) {
  const Node *entry = join ? wait_node(graph, join->to) : NULL;
  if (entry && diagnose_is_turn(graph, join))
    return "put a __nanosleep (nanosleep in PTX) into the waiting loop, so that the warp may run its other lanes; or "
           "loop over \"try, critical section, release\" until done";
  if (entry && wait_entry_kind(diagnose_view(graph, entry), entry->index) == ENTRY_WARPSYNC)
    return "synchronize the warp (__syncwarp, or bar.warp.sync in PTX) only where all lanes of its mask come without "
           "waiting for each other in between, or give it the mask of those that do";
  if (entry && (wait_entry_kind(diagnose_view(graph, entry), entry->index) == ENTRY_MEETING ||
                waits_for_barrier(graph, entry)))
    return "put the barrier where all lanes of the warp come to it: behind the branch, not in it";
  return simd_repair_of(ptx);
}

static const char *queue_repair(const WaitGraph *graph, const Inst *inst, WordKey key) {
  if (!queue_unit_is_queue(diagnose_word_value(graph, key), graph->explorer->gpu->machine->memory.queue.bytes))
    return "let the queue's first word be its capacity times 65536 before anybody uses it";
  return inst->op == OP_ENQUEUE ? "let others take values out meanwhile, or give the queue room for all of them"
                                : "put in as many values as are taken out, or one that says that no more will come";
}

/* True if the lane that waits by the edge has given the word its value itself: a lock that it takes again. */
static bool has_set(const WaitGraph *graph, const Edge *edge, WordKey key) {
  const Node *lane = wait_node(graph, edge->from);
  const WarpView *view = diagnose_view(graph, lane);
  ThreadId thread = diagnose_word_change(graph, key).thread;
  return !thread_is_none(thread) && thread.launch == view->launch->index && thread.block == view->block->index &&
         thread_warp(thread) == view->warp->warp_in_block && thread_lane(thread) == lane->index;
}

/* Of a word that only those who wait for it would change: who took the lock last, or the last of what is counted,
 * has gone without giving it back; or nobody has ever counted up. */
static bool is_taken_for_good(const WaitGraph *graph, const Node *thing) {
  const Node *waiter = wait_node(graph, thing->waiter - 1);
  const Inst *inst = &diagnose_view(graph, waiter)->launch->kernel->insts[thing->waiter_pc];
  ThreadId thread = diagnose_word_change(graph, thing->key).thread;
  return (!thread_is_none(thread) && !thread_is_host(thread)) ||
         (op_info[inst->op].flags & OPF_ATOMIC && inst->op != OP_RED && inst->mode == ATOM_CAS);
}

/* A lane that waits for the word has given it its value itself. */
static bool is_own(const WaitGraph *graph, const Edge *wait) {
  const Node *thing = wait_node(graph, wait->to);
  for (guint i = 0; i < graph->edges->len && thing->kind == NODE_WORD; i++) {
    const Edge *edge = wait_edge(graph, i);
    if (edge->to == wait->to && wait_node(graph, edge->from)->kind == NODE_LANE && has_set(graph, edge, thing->key))
      return true;
  }
  return false;
}

/* What gave the word its value last counts. */
static bool is_counted(const WaitGraph *graph, const Node *thing) {
  WordChange change = diagnose_word_change(graph, thing->key);
  if (thread_is_none(change.thread) || thread_is_host(change.thread))
    return false;
  const Inst *inst = &gpu_launch(graph->explorer->gpu, change.thread.launch)->kernel->insts[change.pc];
  return op_info[inst->op].flags & OPF_ATOMIC && !queue_unit_has(inst) &&
         (inst->mode == ATOM_ADD || inst->mode == ATOM_INC);
}

const char diagnose_repair_count[] =
    "let as many threads count as are waited for, on every path; or, if the count may have passed the awaited "
    "number, or been set back, before a thread looks, wait until it is at least that number, or use a counter for "
    "each round";

/* Of a word that only those who wait for it would change: who gave it its value is one of them, or has gone. */
static const char *orphan_repair(const WaitGraph *graph, const Edge *wait) {
  const Node *thing = wait_node(graph, wait->to);
  if (thing->in_round)
    return "only those who wait for such words change them: let them end once nothing is left that they could wait "
           "for, or let somebody else store it";
  if (thing->kind == NODE_WORD && !thing->waiter && has_set(graph, wait, thing->key))
    return "the thread that waits has given the word this value itself, maybe over a signal that had come: let it do "
           "that before it looks at what the signal tells of, or look and take by one atomic operation "
           "(atomicExch()); and let the signal be given on every path";
  if (thing->kind == NODE_WORD && thing->waiter && is_own(graph, wait))
    return is_counted(graph, thing)
               ? diagnose_repair_count
               : finding_repair_own_word;
  if (thing->kind == NODE_WORD && thing->waiter && is_taken_for_good(graph, thing))
    return "nobody gives back what was taken: release a lock on each way out, count a semaphore up as often as down, "
           "and let a signal come from somebody who doesn't wait for it";
  if (thing->kind == NODE_WORD && thing->waiter)
    return "who would change the word waits for it first: let it do so before it waits, or let it wait for another";
  if (thing->kind == NODE_WORD && is_counted(graph, thing))
    return finding_repair_count;
  return repair_of(FINDING_ORPHAN_WAIT);
}

const char *diagnose_repair(const WaitGraph *graph, FindingId id, const Edge *edge, const Edge *join) {
  const Node *from = wait_node(graph, edge->from);
  const Inst *queue = id == FINDING_ORPHAN_WAIT ? diagnose_queue_wait(graph, edge) : NULL;
  if (id == FINDING_SIMD_DEADLOCK)
    return simd_repair(graph, join, diagnose_is_compiled(diagnose_view(graph, from)));
  if (queue)
    return queue_repair(graph, queue, wait_node(graph, edge->to)->key);
  return id == FINDING_ORPHAN_WAIT ? orphan_repair(graph, edge) : repair_of(id);
}
