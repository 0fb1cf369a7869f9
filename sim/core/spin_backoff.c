#include "sim/core/spin_backoff.h"

#include "sim/core/spin_history.h"

/* Of the adaptive delay, recalled of the paper: spinning takes a tenth of the instructions; the useful share falls by
 * a fifth. */
#define MANY_SPINS 0.1
#define LESS_USEFUL 0.8

/* A backward branch: how many more turns than not were of spinning warps. */
typedef struct SpinBranch {
  const Kernel *kernel;
  uint32_t pc, confidence;
} SpinBranch;

/* A warp, by slot. */
typedef struct SpinWarp {
  uint64_t warp;   /* its age, plus 1 */
  uint64_t turn;   /* when it could go on behind the last spin loop's branch that it took; 0: it took none */
  uint64_t issued; /* Warp.issued there */
  SpinHistory history;
} SpinWarp;

struct SpinBackoff {
  GHashTable *branches; /* SpinBranch, each its own key */
  SpinWarp *warps;
  WarpSet behind; /* those that have taken such a branch, and perhaps issued since */
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
  backoff->warps = g_new0(SpinWarp, machine->sm.max_warps);
  backoff->delay = machine->sm.spin_backoff.least;
  return backoff;
}

void spin_backoff_free(SpinBackoff *backoff) {
  if (!backoff)
    return;
  g_hash_table_destroy(backoff->branches);
  g_free(backoff->warps);
  g_free(backoff);
}

static SpinBranch *branch_at(SpinBackoff *backoff, const Kernel *kernel, uint32_t pc) {
  SpinBranch key = {.kernel = kernel, .pc = pc};
  SpinBranch *branch = g_hash_table_lookup(backoff->branches, &key);
  if (branch)
    return branch;
  branch = g_memdup2(&key, sizeof key);
  g_hash_table_add(backoff->branches, branch);
  return branch;
}

static SpinWarp *warp_of(const Issue *issue) {
  SpinWarp *warp = &issue->sm->spin_backoff->warps[issue->warp->slot];
  if (warp->warp != issue->warp->age + 1)
    *warp = (SpinWarp){.warp = issue->warp->age + 1};
  return warp;
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
static void learn(SpinBranch *branch, bool spins, uint32_t confidence) {
  if (branch->confidence == confidence)
    return;
  if (spins)
    branch->confidence++;
  else if (branch->confidence)
    branch->confidence--;
}

void spin_backoff_compare(Issue *issue) {
  spin_history_add(&warp_of(issue)->history, issue);
  executors[issue->inst->op](issue);
}

void spin_backoff_turn(Issue *issue, uint32_t pc) {
  SpinBackoff *backoff = issue->sm->spin_backoff;
  uint32_t confidence = issue->gpu->machine->sm.spin_backoff.confidence;
  SpinBranch *branch = branch_at(backoff, issue->block->launch->kernel, pc);
  SpinWarp *warp = warp_of(issue);
  learn(branch, spin_history_spins(&warp->history), confidence);
  if (branch->confidence < confidence)
    return;
  backoff->spins++;
  adapt(backoff, issue->sm, issue->now);
  if (warp->turn)
    issue->next = MAX(issue->next, warp->turn + backoff->delay);
  warp->turn = MAX(issue->now, issue->next);
  warp->issued = issue->warp->issued;
  warp_set_add(&backoff->behind, issue->warp->slot);
}

WarpSet spin_backoff_first(const Sm *sm, WarpSet ready) {
  SpinBackoff *backoff = sm->spin_backoff;
  for (WarpSet rest = ready & backoff->behind; rest; rest = warp_set_rest(rest)) {
    unsigned slot = warp_set_first(rest);
    const Warp *warp = &sm->warps[slot];
    if (backoff->warps[slot].warp != warp->age + 1 || backoff->warps[slot].issued != warp->issued)
      warp_set_remove(&backoff->behind, slot);
  }
  WarpSet first = ready & ~backoff->behind;
  return first ? first : ready;
}
