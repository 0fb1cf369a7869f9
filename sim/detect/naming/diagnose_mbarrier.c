/* Barriers in shared memory (mbarrier) that somebody waits for: how many arrivals and bytes are missing. */
#include "sim/core/look.h"
#include "sim/core/mbarrier.h"
#include "sim/detect/naming/diagnose.h"
#include "sim/detect/naming/paths.h"

static MbarrierCounts counts_of(const WaitGraph *graph, const Inst *inst, uint64_t key) {
  const Sm *sm = &graph->explorer->gpu->sms[(key >> 32) & 0x7fffffff];
  uint32_t first = (uint32_t)key & ~1u;
  uint64_t word = (uint64_t)look_shared(sm, first + 1) << 32 | look_shared(sm, first);
  return mbarrier_counts(inst, word);
}

/* "a barrier of which each phase expects 33 arrivals: 32 of this one have come, 1 is missing" */
static char *counts_text(const MbarrierCounts *counts) {
  GString *text = g_string_new(NULL);
  g_string_printf(text, "a barrier of which each phase expects %u arrival%s: %u of this one have come, %u %s missing",
                  counts->expected, counts->expected == 1 ? "" : "s", counts->expected - counts->missing,
                  counts->missing, counts->missing == 1 ? "is" : "are");
  if (counts->bytes && !counts->surplus)
    g_string_append_printf(text, ", and %u bytes that it expects", counts->bytes);
  else if (counts->bytes)
    g_string_append_printf(text, ", and %u bytes have come that nobody has expected", counts->bytes);
  return g_string_free(text, FALSE);
}

static const char repair_bytes[] =
    "let each phase expect as many bytes (expect_tx) as the copies that count at the barrier bring in it";

static bool lacks_bytes_alone(const MbarrierCounts *counts) { return counts->bytes && !counts->missing; }

static bool is_arrival(const Inst *inst, const void *user) {
  (void)user;
  return inst_arrives(inst);
}

/* Nobody has arrived since it was initialised, by a thread that may have arrived before that. */
static bool began_again(const WaitGraph *graph, WordKey key, const MbarrierCounts *counts) {
  WordChange change = diagnose_word_change(graph, key);
  if (thread_is_none(change.thread) || thread_is_host(change.thread) || counts->missing != counts->expected)
    return false;
  const Kernel *kernel = gpu_launch(graph->explorer->gpu, change.thread.launch)->kernel;
  const Inst *inst = &kernel->insts[change.pc];
  return inst->op == OP_ATOMS && inst->mode == ATOM_EXCH && paths_lead(kernel, is_arrival, NULL, change.pc);
}

/* It expects more than comes. */
static void add_counts(const WaitGraph *graph, Finding *finding, const Inst *inst, uint64_t key) {
  MbarrierCounts counts = counts_of(graph, inst, key);
  g_autofree char *text = counts_text(&counts);
  finding_add_evidence(finding, 0, g_strdup_printf("it is %s", text));
  g_free(finding->repair);
  finding->repair = g_strdup(
      lacks_bytes_alone(&counts) ? repair_bytes
      : began_again(graph, key, &counts)
          ? finding_repair_again
          : "initialise the barrier with the number of arrivals that really come in each phase, and before the first "
            "of them (__syncthreads(), or cluster.sync() where other blocks arrive); a thread that leaves early "
            "arrives a last time and drops out "
            "(arrive_and_drop()); and let each wait be for the next phase, by parity 0 first and then 1 and 0 "
            "in turn: one for a phase that is over waits for nothing");
}

static bool arrives(const Inst *inst, WordKey key) {
  return op_info[inst->op].flags & OPF_ATOMIC && inst->mode == ATOM_ARRIVE && word_key_is_shared(key);
}

bool diagnose_mbarrier_arrives(const WaitGraph *graph, Finding *finding, const Inst *inst, WordKey key) {
  if (!arrives(inst, key))
    return false;
  add_counts(graph, finding, inst, key);
  return true;
}

void diagnose_mbarrier_look(const WaitGraph *graph, Finding *finding, const Edge *wait) {
  const Inst *look = &diagnose_view(graph, wait_node(graph, wait->from))->launch->kernel->insts[wait->pc];
  WordKey key = wait_node(graph, wait->to)->key;
  if (look->op == OP_LDS && look->lop && word_key_is_shared(key))
    add_counts(graph, finding, look, key);
}

void diagnose_mbarrier_circle(const WaitGraph *graph, Finding *finding, const Edge *act) {
  const Node *thing = wait_node(graph, act->from), *actor = wait_node(graph, act->to);
  if (thing->kind != NODE_WORD || actor->kind != NODE_LANE)
    return;
  const Inst *inst = &diagnose_view(graph, actor)->launch->kernel->insts[act->pc];
  if (!arrives(inst, thing->key))
    return;
  MbarrierCounts counts = counts_of(graph, inst, thing->key);
  g_autofree char *text = counts_text(&counts);
  finding_add_evidence(finding, 0, g_strdup_printf("that word is %s", text));
  if (g_strcmp0(finding->repair, repair_bytes) == 0)
    return;
  g_free(finding->repair);
  if (lacks_bytes_alone(&counts) || began_again(graph, thing->key, &counts)) {
    finding->repair = g_strdup(lacks_bytes_alone(&counts) ? repair_bytes : finding_repair_again);
    return;
  }
  finding->repair = g_strdup(
      "initialise each barrier with the number of arrivals that really come in each phase, let every thread "
      "that it counts arrive in each round, and let each wait be for the next phase: with two barriers, one of "
      "full and one of empty buffers, who fills waits for parity 1 first, and who empties for parity 0");
}
