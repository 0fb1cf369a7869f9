#include "isa/flow/yield.h"

#include <string.h>

#include "isa/flow/switch_arm.h"

enum { TAINT_ROUNDS = 16 };

/* What the rules ask of a loop, by its header. */
typedef struct LoopFacts {
  bool strong;         /* it has a strong load or an atomic */
  bool divergent_exit; /* some of its lanes may leave before others */
  bool depends;        /* an exit depends on what a strong load or atomic gave; only asked from sm_90 on */
} LoopFacts;

typedef struct Search {
  const VKernel *vkernel;
  unsigned capability;
  const Flow *flow;
  const Loops *loops;
  const Divergence *divergence;
  Yields *yields;
  LoopFacts *facts;
  uint32_t *seen, stamp;
  uint32_t *taint, taint_stamp; /* of each register, then each predicate */
  bool taint_grew;
  uint8_t *direct; /* of each block: its branch depends on a strong load or atomic by values alone */
} Search;

static const VInst *inst_at(const VKernel *vkernel, uint32_t i) { return &g_array_index(vkernel->insts, VInst, i); }

bool is_full_warpsync(const VKernel *vkernel, const VInst *vinst) {
  if (vinst->inst.op != OP_WARPSYNC || vinst_is_guarded(vinst) || vinst->a >= 0)
    return false;
  const ConstRef *mask = &vkernel->kernel->consts[~vinst->a];
  return mask->kind == CONST_IMMEDIATE && mask->value == UINT32_MAX;
}

bool is_aligned_barrier(const VInst *vinst) {
  return op_info[vinst->inst.op].flags & OPF_BARRIER && !vinst_is_guarded(vinst) &&
         !(vinst->inst.flags & INST_UNALIGNED);
}

/* -- facts -- */

static bool is_strong(const Inst *inst) {
  uint32_t flags = op_info[inst->op].flags;
  if (flags & (OPF_ATOMIC | OPF_LOCK))
    return true;
  return (flags & OPF_LOAD) && inst->op != OP_LDL && (inst->sem != SEM_WEAK || inst->cache == CACHE_CV);
}

static bool has_strong(const Search *search, uint32_t block) {
  for (uint32_t i = search->flow->first[block]; i < search->flow->first[block + 1]; i++)
    if (is_strong(&inst_at(search->vkernel, i)->inst))
      return true;
  return false;
}

static bool has_sleep(const Search *search, uint32_t block) {
  for (uint32_t i = search->flow->first[block]; i < search->flow->first[block + 1]; i++)
    if (inst_at(search->vkernel, i)->inst.op == OP_NANOSLEEP)
      return true;
  return false;
}

static const VInst *last_of(const Search *search, uint32_t block) {
  return inst_at(search->vkernel, search->flow->first[block + 1] - 1);
}

static bool leaves(const Search *search, uint32_t header, uint32_t block) {
  const Flow *flow = search->flow;
  if (flow->exits[block])
    return true;
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
    if (!loops_contains(search->loops, header, flow->out.to[e]))
      return true;
  return false;
}

static void find_facts(Search *search) {
  const Loops *loops = search->loops;
  for (uint32_t b = 0; b < search->flow->nblocks; b++) {
    int32_t loop = loops->loop_of[b];
    if (loop == NO_TARGET)
      continue;
    search->facts[loop].strong |= has_strong(search, b);
    search->facts[loop].divergent_exit |= loop == (int32_t)b && vkernel_is_apart(search->vkernel, search->flow, b);
    for (; search->divergence->branches[b] && loop != NO_TARGET && leaves(search, (uint32_t)loop, b);
         loop = loops->parent[loop])
      search->facts[loop].divergent_exit = true;
  }
  for (guint i = 0; i < loops->headers->len; i++) {
    uint32_t header = g_array_index(loops->headers, uint32_t, i);
    if (loops->parent[header] != NO_TARGET)
      search->facts[loops->parent[header]].strong |= search->facts[header].strong;
  }
}

/* What ends a way through a loop. */
typedef enum { PAST_ALL, UNTIL_SLEEP, UNTIL_YIELD } LoopWay;

static bool ends_way(const Search *search, uint32_t header, uint32_t block, LoopWay way) {
  return way == UNTIL_SLEEP ? has_sleep(search, block)
                            : way == UNTIL_YIELD && block != header && search->yields->at[block];
}

/* The blocks of a loop that its ways come to. */
static GArray *loop_blocks(Search *search, uint32_t header, LoopWay way, bool *comes_back) {
  const Flow *flow = search->flow;
  GArray *blocks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  *comes_back = false;
  search->stamp++;
  search->seen[header] = search->stamp;
  g_array_append_val(blocks, header);
  for (guint next = 0; next < blocks->len; next++) {
    uint32_t block = g_array_index(blocks, uint32_t, next);
    if (ends_way(search, header, block, way))
      continue;
    for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++) {
      uint32_t to = flow->out.to[e];
      *comes_back |= to == header;
      if (search->seen[to] == search->stamp || !loops_contains(search->loops, header, to))
        continue;
      search->seen[to] = search->stamp;
      g_array_append_val(blocks, to);
    }
  }
  return blocks;
}

static bool always_sleeps(Search *search, uint32_t header) {
  bool comes_back;
  g_array_unref(loop_blocks(search, header, UNTIL_SLEEP, &comes_back));
  return !comes_back;
}

/* True if a round comes to a strong load or an atomic before the YIELD of a loop within. */
static bool comes_to_strong(Search *search, uint32_t header) {
  bool comes_back, strong = false;
  g_autoptr(GArray) blocks = loop_blocks(search, header, UNTIL_YIELD, &comes_back);
  for (guint i = 0; i < blocks->len; i++) {
    uint32_t block = g_array_index(blocks, uint32_t, i);
    strong |= has_strong(search, block) && !ends_way(search, header, block, UNTIL_YIELD);
  }
  return strong;
}

/* -- what depends on a strong load -- */

static void taint_name(Search *search, uint32_t name) {
  search->taint_grew |= search->taint[name] != search->taint_stamp;
  search->taint[name] = search->taint_stamp;
}

static bool reads_taint(const Search *search, const VInst *vinst) {
  VRegUse uses[8];
  int32_t preds[4];
  unsigned count = vinst_reads(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    if (search->taint[uses[u].reg] == search->taint_stamp)
      return true;
  count = vinst_pred_reads(vinst, preds);
  for (unsigned p = 0; p < count; p++)
    if (search->taint[search->vkernel->rows->len + (uint32_t)preds[p]] == search->taint_stamp)
      return true;
  return false;
}

static void taint_results(Search *search, const VInst *vinst) {
  VRegUse uses[8];
  int32_t preds[2];
  unsigned count = vinst_writes(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    taint_name(search, (uint32_t)uses[u].reg);
  count = vinst_pred_writes(vinst, preds);
  for (unsigned p = 0; p < count; p++)
    taint_name(search, search->vkernel->rows->len + (uint32_t)preds[p]);
}

static void taint_whole_block(Search *search, uint32_t header, int32_t block) {
  const Flow *flow = search->flow;
  if (!loops_contains(search->loops, header, (uint32_t)block))
    return;
  for (uint32_t i = flow->first[block]; i < flow->first[block + 1]; i++)
    taint_results(search, inst_at(search->vkernel, i));
}

/* The next place behind `block` on the way to `meet`: where all its ways meet; else where some do that leads from
 * it alone, as behind the two of a `||`: who leaves for `meet` before that breaks out of the way. */
static int32_t next_place(const Search *search, int32_t block, int32_t meet) {
  const Flow *flow = &search->divergence->flow;
  int32_t all = search->divergence->ipdom[block];
  for (uint32_t b = (uint32_t)block + 1; all == meet && b < flow->nblocks; b++)
    if (search->loops->idom[b] == block && flow->in.start[b + 1] - flow->in.start[b] > 1 && (int32_t)b != meet)
      return (int32_t)b;
  return all;
}

/* From `block` to `meet` by places that all ways through the block come to, and no other ways: what lies to one side
 * of them doesn't count, be it another branch or a loop. */
static void taint_way(Search *search, uint32_t header, int32_t block, int32_t meet) {
  int32_t first = block;
  while (block != NO_TARGET && block != meet && loops_dominates(search->loops, (uint32_t)first, (uint32_t)block)) {
    taint_whole_block(search, header, block);
    block = next_place(search, block, meet);
  }
}

/* All ways to some test that may leave the loop go by `block`. */
static bool decides_exit(const Search *search, uint32_t header, uint32_t block) {
  for (uint32_t b = 0; b < search->flow->nblocks; b++)
    if (b != block && loops_contains(search->loops, header, b) && leaves(search, header, b) &&
        loops_dominates(search->loops, block, b))
      return true;
  return false;
}

/* What a branch in the loop decides depends on what the branch depends on. ptxas sees that only where the two ways
 * meet at a place to which all ways lead from this branch, or in the next round if the branch depends on the load by
 * values alone, and only of what is set on the straight way behind it: in a chain of tests that all lead to one
 * place, behind the first; in a switch, in the arm of the lowest value. */
static void taint_controlled(Search *search, uint32_t header, uint32_t block) {
  const Flow *flow = &search->divergence->flow;
  int32_t meet = search->divergence->ipdom[block];
  bool round = meet == (int32_t)header && search->direct[block]; /* the two ways only meet in the next round */
  if (leaves(search, header, block) || meet == NO_TARGET)
    return;
  if (!round && (search->loops->idom[meet] != (int32_t)block ||
                 !(leaves(search, header, header) || decides_exit(search, header, block))))
    return;
  int32_t arm = switch_first_arm(search->vkernel, search->flow, block);
  if (arm != NO_TARGET && arm != meet)
    taint_whole_block(search, header, arm);
  for (uint32_t e = flow->out.start[block]; arm == NO_TARGET && e < flow->out.start[block + 1]; e++)
    if (flow->out.to[e] != (uint32_t)meet)
      taint_way(search, header, (int32_t)flow->out.to[e], meet);
}

static void taint_block(Search *search, uint32_t header, uint32_t block, bool values_alone) {
  for (uint32_t i = search->flow->first[block]; i < search->flow->first[block + 1]; i++) {
    const VInst *vinst = inst_at(search->vkernel, i);
    if (is_strong(&vinst->inst) || reads_taint(search, vinst))
      taint_results(search, vinst);
  }
  const VInst *last = last_of(search, block);
  if (last->inst.op != OP_BRA || last->guard == VPRED_TRUE || !reads_taint(search, last))
    return;
  if (values_alone)
    search->direct[block] = 1;
  else
    taint_controlled(search, header, block);
}

static void taint_blocks(Search *search, uint32_t header, const GArray *blocks, bool values_alone) {
  search->taint_grew = true;
  for (unsigned round = 0; round < TAINT_ROUNDS && search->taint_grew; round++) {
    search->taint_grew = false;
    for (guint i = 0; i < blocks->len; i++)
      taint_block(search, header, g_array_index(blocks, uint32_t, i), values_alone);
  }
}

static int compare_blocks(gconstpointer x, gconstpointer y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

/* True if another block reads the register, or its value comes from an earlier round. */
static bool lives_on(const Search *search, uint32_t block, int32_t reg) {
  const Flow *flow = search->flow;
  bool written = false;
  for (uint32_t i = 0; i < flow->first[flow->nblocks]; i++) {
    bool inside = i >= flow->first[block] && i < flow->first[block + 1];
    VRegUse uses[8];
    unsigned count = vinst_reads(inst_at(search->vkernel, i), uses);
    for (unsigned u = 0; u < count; u++)
      if (uses[u].reg == reg && !(inside && written))
        return true;
    count = vinst_writes(inst_at(search->vkernel, i), uses);
    for (unsigned u = 0; u < count && inside; u++)
      written |= uses[u].reg == reg;
  }
  return false;
}

/* The block does nothing but work out where it branches to. */
static bool only_tests(const Search *search, uint32_t block) {
  for (uint32_t i = search->flow->first[block]; i + 1 < search->flow->first[block + 1]; i++) {
    const VInst *vinst = inst_at(search->vkernel, i);
    VRegUse uses[8];
    if (!unit_is_arithmetic(op_info[vinst->inst.op].unit))
      return false;
    unsigned count = vinst_writes(vinst, uses);
    for (unsigned u = 0; u < count; u++)
      if (lives_on(search, block, uses[u].reg))
        return false;
  }
  return true;
}

/* An exit of a loop: whether it goes where lanes only end, whether it depends on a strong load, and whether its block
 * does nothing else. */
typedef struct LoopExit {
  bool ends, depends, only_tests;
} LoopExit;

static GArray *find_exits(Search *search, uint32_t header, const GArray *blocks) {
  GArray *exits = g_array_new(FALSE, FALSE, sizeof(LoopExit));
  const Flow *flow = search->flow;
  for (guint i = 0; i < blocks->len; i++) {
    uint32_t block = g_array_index(blocks, uint32_t, i);
    if (!leaves(search, header, block))
      continue;
    LoopExit exit = {.ends = true,
                     .depends = reads_taint(search, last_of(search, block)),
                     .only_tests = only_tests(search, block)};
    for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
      if (!loops_contains(search->loops, header, flow->out.to[e]))
        exit.ends &= search->divergence->only_exits[flow->out.to[e]] != 0;
    g_array_append_val(exits, exit);
  }
  return exits;
}

/* ptxas joins ways out of a loop: a block that only tests to the exit before it, and exits that depend on a strong
 * load by twos. Of those that follow each other one is left if they are an odd number. The last exit counts in any
 * case; those by which lanes end count only there. */
static bool any_counts(const GArray *exits) {
  unsigned run = 0;
  bool odd = false, depends = false;
  for (guint i = 0; i < exits->len; i++) {
    const LoopExit *exit = &g_array_index(exits, LoopExit, i);
    if (exit->ends && i + 1 < exits->len)
      continue;
    if (exit->only_tests) {
      depends |= exit->depends;
      continue;
    }
    odd |= run % 2 && !exit->depends;
    run = exit->depends ? run + 1 : 0;
    depends = exit->depends;
  }
  return odd || depends;
}

/* From sm_90 on an exit has to depend on a strong load or atomic of the loop. */
static bool exits_depend(Search *search, uint32_t header) {
  bool comes_back;
  g_autoptr(GArray) blocks = loop_blocks(search, header, PAST_ALL, &comes_back);
  g_array_sort(blocks, compare_blocks);
  search->taint_stamp++;
  memset(search->direct, 0, search->flow->nblocks);
  taint_blocks(search, header, blocks, true);
  taint_blocks(search, header, blocks, false);
  g_autoptr(GArray) exits = find_exits(search, header, blocks);
  return any_counts(exits);
}

/* -- the rule -- */

static bool wants_yield(Search *search, uint32_t header) {
  const LoopFacts *facts = &search->facts[header];
  bool newer = search->capability >= 80;
  bool together =
      !facts->divergent_exit && !search->divergence->diverged[header] && !search->yields->unproven[header];
  if (search->capability == NO_YIELDS || !facts->strong || together)
    return false;
  if (newer && (!comes_to_strong(search, header) || always_sleeps(search, header)))
    return false;
  return search->capability < 90 || facts->depends;
}

bool yields_unproven_behind(const Yields *yields, const VKernel *vkernel, const Divergence *divergence,
                            uint32_t block, uint32_t i, bool unproven) {
  const VInst *vinst = inst_at(vkernel, i);
  if (i == divergence->flow.first[block] && yields->at[block])
    unproven = true;
  if (is_full_warpsync(vkernel, vinst) || is_aligned_barrier(vinst))
    return false;
  bool lets_go = vinst->inst.op == OP_NANOSLEEP || vinst->inst.op == OP_WARPSYNC;
  return unproven || (lets_go && divergence->diverged[block]);
}

/* Forwards from the blocks of `queue`. */
static bool spread(Yields *yields, const VKernel *vkernel, const Divergence *divergence, const Flow *flow,
                   GArray *queue) {
  bool changed = false;
  while (queue->len) {
    uint32_t block = g_array_index(queue, uint32_t, queue->len - 1);
    g_array_set_size(queue, queue->len - 1);
    bool unproven = yields->unproven[block];
    for (uint32_t i = flow->first[block]; i < flow->first[block + 1]; i++)
      unproven = yields_unproven_behind(yields, vkernel, divergence, block, i, unproven);
    for (uint32_t e = flow->out.start[block]; unproven && e < flow->out.start[block + 1]; e++) {
      uint32_t next = flow->out.to[e];
      if (yields->unproven[next])
        continue;
      yields->unproven[next] = 1;
      changed = true;
      g_array_append_val(queue, next);
    }
  }
  return changed;
}

static bool spread_all(const Search *search) {
  g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t b = search->flow->nblocks; b-- > 0;)
    g_array_append_val(queue, b);
  return spread(search->yields, search->vkernel, search->divergence, search->flow, queue);
}

void yields_part_at(Yields *yields, const VKernel *vkernel, const Divergence *divergence, const Flow *flow,
                    uint32_t block) {
  g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  if (yields->unproven[block])
    return;
  yields->unproven[block] = 1;
  g_array_append_val(queue, block);
  spread(yields, vkernel, divergence, flow, queue);
}

/* -- loops with several entries -- */

/* The blocks that `from` leads to, or with `edges` the other way round come from; not past `end`. */
static uint8_t *reachable(const Flow *flow, const FlowEdges *edges, uint32_t from, uint32_t end) {
  uint8_t *seen = g_new0(uint8_t, flow->nblocks + 1);
  g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_array_append_val(queue, from);
  seen[from] = 1;
  while (queue->len) {
    uint32_t block = g_array_index(queue, uint32_t, queue->len - 1);
    g_array_set_size(queue, queue->len - 1);
    for (uint32_t e = edges->start[block]; block != end && e < edges->start[block + 1]; e++) {
      uint32_t to = edges->to[e];
      if (!seen[to])
        g_array_append_val(queue, to);
      seen[to] = 1;
    }
  }
  return seen;
}

/* The header of the innermost loop around both blocks, or NO_TARGET. */
static int32_t loop_around(const Loops *loops, uint32_t first, uint32_t last) {
  int32_t header = loops->loop_of[first];
  while (header != NO_TARGET && !loops_contains(loops, (uint32_t)header, last))
    header = loops->parent[header];
  return header;
}

/* True if `first` leads to `last` without another round of the loop around both. */
static bool leads_on(const Search *search, uint32_t first, uint32_t last) {
  int32_t header = loop_around(search->loops, first, last);
  if (header == NO_TARGET || header == (int32_t)first)
    return true;
  g_autofree uint8_t *seen = reachable(search->flow, &search->flow->out, first, (uint32_t)header);
  return header != (int32_t)last && seen[last];
}

/* True if a round from `first` to `last` and back has a strong load or an atomic. */
static bool round_has_strong(const Search *search, uint32_t first, uint32_t last) {
  g_autofree uint8_t *down = reachable(search->flow, &search->flow->out, first, last);
  g_autofree uint8_t *up = reachable(search->flow, &search->flow->in, last, first);
  for (uint32_t b = 0; down[last] && b < search->flow->nblocks; b++)
    if (down[b] && up[b] && has_strong(search, b))
      return true;
  return false;
}

/* A jump back into the middle of a loop that can be entered elsewhere, too. A place that merely stands earlier in the
 * text is none. ptxas copies blocks until each loop has one entry, and then goes by the rules; here the place that is
 * jumped to has the YIELD. */
static void find_other_rounds(Search *search) {
  const Flow *flow = search->flow;
  for (uint32_t b = 0; b < flow->nblocks; b++)
    for (uint32_t e = flow->out.start[b]; flow->reachable[b] && e < flow->out.start[b + 1]; e++) {
      uint32_t to = flow->out.to[e];
      if (to <= b && !loops_dominates(search->loops, to, b) && leads_on(search, to, b) &&
          round_has_strong(search, to, b))
        search->yields->at[to] = 1;
    }
}

/* A YIELD makes loops behind it, and those around it, loops whose lanes aren't together: until nothing changes. */
static void find_yields(Search *search) {
  const Loops *loops = search->loops;
  do {
    for (guint i = 0; i < loops->headers->len; i++) {
      uint32_t header = g_array_index(loops->headers, uint32_t, i);
      search->yields->at[header] = wants_yield(search, header);
    }
  } while (spread_all(search));
}

static Search search_begin(const VKernel *vkernel, unsigned capability, const Flow *flow, const Loops *loops,
                           const Divergence *divergence) {
  gsize blocks = (gsize)flow->nblocks + 1, names = (gsize)vkernel->rows->len + vkernel->npreds + 1;
  Search search = {.vkernel = vkernel,
                   .capability = capability,
                   .flow = flow,
                   .loops = loops,
                   .divergence = divergence,
                   .facts = g_new0(LoopFacts, blocks),
                   .seen = g_new0(uint32_t, blocks),
                   .taint = g_new0(uint32_t, names),
                   .direct = g_new0(uint8_t, blocks)};
  find_facts(&search);
  return search;
}

static void search_end(Search *search) {
  g_free(search->facts);
  g_free(search->seen);
  g_free(search->taint);
  g_free(search->direct);
}

static bool is_marked(const Search *search, uint32_t header) {
  for (uint32_t i = search->flow->first[header]; i < search->flow->first[header + 1]; i++)
    if (inst_at(search->vkernel, i)->inst.flags & INST_AWAITS)
      return true;
  return false;
}

void yields_mark(VKernel *vkernel, unsigned capability) {
  Flow flow;
  Loops loops;
  Divergence divergence;
  if (capability < 90)
    return;
  vkernel_flow(vkernel, &flow);
  loops_init(&loops, &flow);
  divergence_init(&divergence, vkernel, &flow, &loops);
  Search search = search_begin(vkernel, capability, &flow, &loops, &divergence);
  for (guint i = 0; i < loops.headers->len; i++) {
    uint32_t header = g_array_index(loops.headers, uint32_t, i);
    bool awaits = search.facts[header].strong && exits_depend(&search, header);
    for (uint32_t k = flow.first[header]; awaits && k < flow.first[header + 1]; k++)
      g_array_index(vkernel->insts, VInst, k).inst.flags |= INST_AWAITS;
  }
  search_end(&search);
  divergence_clear(&divergence);
  loops_clear(&loops);
  flow_clear(&flow);
}

void yields_unmark(VKernel *vkernel) {
  for (guint i = 0; i < vkernel->insts->len; i++)
    g_array_index(vkernel->insts, VInst, i).inst.flags &= ~(uint32_t)INST_AWAITS;
}

void yields_init(Yields *yields, const VKernel *vkernel, unsigned capability, const Flow *flow, const Loops *loops,
                 const Divergence *divergence) {
  gsize blocks = (gsize)flow->nblocks + 1;
  *yields = (Yields){.at = g_new0(uint8_t, blocks), .unproven = g_new0(uint8_t, blocks)};
  Search search = search_begin(vkernel, capability, flow, loops, divergence);
  search.yields = yields;
  for (guint i = 0; i < loops->headers->len; i++) {
    uint32_t header = g_array_index(loops->headers, uint32_t, i);
    search.facts[header].depends = is_marked(&search, header);
  }
  find_yields(&search);
  if (capability != NO_YIELDS) {
    find_other_rounds(&search);
    spread_all(&search);
  }
  search_end(&search);
}

void yields_clear(Yields *yields) {
  g_free(yields->at);
  g_free(yields->unproven);
  *yields = (Yields){0};
}
