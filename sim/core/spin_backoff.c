#include "sim/core/spin_backoff.h"

#include "sim/core/state.h"
#include "sim/engine/rng.h"

/* Of the adaptive delay, recalled of the paper: spinning takes a tenth of the instructions; the useful share falls by
 * a fifth. */
#define MANY_SPINS 0.1
#define LESS_USEFUL 0.8

enum { COMPARED_MAX = 8 };

/* A backward branch: registers that the loop compares, and how many more turns than not were of spinning. */
typedef struct SpinBranch {
  const Kernel *kernel;
  uint32_t pc, confidence, count;
  int16_t compared[COMPARED_MAX];
} SpinBranch;

struct SpinBackoff {
  GHashTable *branches; /* SpinBranch, each its own key */
  uint32_t delay;
  uint64_t window;        /* when it began */
  uint64_t issued, spins; /* before it: warp instructions of the SM; in it: turns of spin loops */
  double useful;          /* instructions for each such turn in the window before; 0: there was none */
};

static guint branch_hash(gconstpointer key) {
  const SpinBranch *branch = key;
  return g_direct_hash(branch->kernel) ^ branch->pc;
}

static gboolean branch_equal(gconstpointer a, gconstpointer b) {
  const SpinBranch *left = a, *right = b;
  return left->kernel == right->kernel && left->pc == right->pc;
}

SpinBackoff *spin_backoff_new(const Machine *machine) {
  if (machine->sm.spin_backoff.confidence == 0)
    return NULL;
  SpinBackoff *backoff = g_new0(SpinBackoff, 1);
  backoff->branches = g_hash_table_new_full(branch_hash, branch_equal, g_free, NULL);
  backoff->delay = machine->sm.spin_backoff.least;
  return backoff;
}

void spin_backoff_free(SpinBackoff *backoff) {
  if (!backoff)
    return;
  g_hash_table_destroy(backoff->branches);
  g_free(backoff);
}

static bool compares(Opcode op) {
  return op == OP_ISETP || op == OP_ISETP64 || op == OP_ISETPX || op == OP_FSETP || op == OP_DSETP;
}

static void add_compared(SpinBranch *branch, int16_t slot) {
  if (slot >= 0 && branch->count < COMPARED_MAX)
    branch->compared[branch->count++] = slot;
}

static SpinBranch *branch_at(SpinBackoff *backoff, const Kernel *kernel, uint32_t pc) {
  SpinBranch key = {.kernel = kernel, .pc = pc};
  SpinBranch *branch = g_hash_table_lookup(backoff->branches, &key);
  if (branch)
    return branch;
  branch = g_memdup2(&key, sizeof key);
  for (uint32_t i = (uint32_t)kernel->insts[pc].target; i < pc; i++) {
    const Inst *inst = &kernel->insts[i];
    if (!compares(inst->op))
      continue;
    add_compared(branch, inst->a);
    add_compared(branch, inst->b);
  }
  g_hash_table_add(backoff->branches, branch);
  return branch;
}

/* What the loop compares, of the lowest lane that goes round. */
static uint64_t compared_values(const Issue *issue, const SpinBranch *branch) {
  uint32_t lane = (uint32_t)__builtin_ctz(issue->mask);
  uint64_t hash = lane;
  for (uint32_t i = 0; i < branch->count; i++)
    hash = rng_mix(hash ^ issue_operand(issue, branch->compared[i])[lane]);
  return hash;
}

/* At the end of a window: what share of the SM's instructions went into spinning? */
static void adapt(SpinBackoff *backoff, const Sm *sm, uint64_t now) {
  const Machine *machine = sm->gpu->machine;
  uint64_t all = sm->issued + sm->counters.warp_instructions, issued = all - backoff->issued;
  if (now < backoff->window + machine->sm.spin_backoff.window)
    return;
  double useful = backoff->spins ? (double)issued / (double)backoff->spins : 0;
  int64_t delay = backoff->delay;
  if ((double)backoff->spins > MANY_SPINS * (double)issued)
    delay += machine->sm.spin_backoff.step;
  if (useful > 0 && useful < LESS_USEFUL * backoff->useful)
    delay -= 2 * (int64_t)machine->sm.spin_backoff.step;
  int64_t least = machine->sm.spin_backoff.least, most = machine->sm.spin_backoff.most;
  backoff->delay = (uint32_t)CLAMP(delay, least, most);
  backoff->useful = useful;
  backoff->window = now;
  backoff->issued = all;
  backoff->spins = 0;
}

/* Counts the turn for its branch, up to `confidence`, where it stays. */
static void learn(SpinBranch *branch, bool again, uint32_t confidence) {
  if (branch->confidence == confidence)
    return;
  if (again)
    branch->confidence++;
  else if (branch->confidence)
    branch->confidence--;
}

void spin_backoff_turn(Issue *issue, uint32_t pc) {
  Warp *warp = issue->warp;
  SpinBackoff *backoff = issue->sm->spin_backoff;
  uint32_t confidence = issue->gpu->machine->sm.spin_backoff.confidence;
  SpinBranch *branch = branch_at(backoff, issue->block->launch->kernel, pc);
  uint64_t compared = compared_values(issue, branch);
  bool same_loop = warp->spin_pc == pc + 1, again = same_loop && warp->spin_compared == compared;
  if (same_loop)
    learn(branch, again, confidence);
  if (branch->confidence == confidence) {
    backoff->spins++;
    adapt(backoff, issue->sm, issue->now);
    if (again)
      issue->next = MAX(issue->next, warp->spin_turn + backoff->delay);
  }
  warp->spin_pc = pc + 1;
  warp->spin_compared = compared;
  warp->spin_turn = MAX(issue->now, issue->next);
}
