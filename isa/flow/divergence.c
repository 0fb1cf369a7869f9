#include "isa/flow/divergence.h"

#include <string.h>

#include "isa/flow/between.h"

/* Steps through the regions of divergent branches before the analysis takes every value for divergent. */
enum { REGION_STEPS_MAX = 50000000 };

/* -- the graph -- */

static const VInst *inst_at(const VKernel *vkernel, uint32_t i) { return &g_array_index(vkernel->insts, VInst, i); }

/* Nothing but an EXIT, or a branch to such a block. */
static bool only_exits(const VKernel *vkernel, const Flow *flow, const uint8_t *known, uint32_t block) {
  for (uint32_t i = flow->first[block]; i < flow->first[block + 1]; i++) {
    const VInst *vinst = inst_at(vkernel, i);
    if (vinst->inst.op == OP_NOP)
      continue;
    if (vinst_is_guarded(vinst))
      return false;
    return vinst->inst.op == OP_EXIT ||
           (vinst->inst.op == OP_BRA && vinst->inst.target != NO_TARGET && known[flow->block_of[vinst->inst.target]]);
  }
  return false;
}

static void find_ends(Divergence *divergence, const VKernel *vkernel, const Flow *flow) {
  enum { ROUNDS = 2 }; /* an EXIT, and branches to it */
  divergence->only_exits = g_new0(uint8_t, flow->nblocks + 1);
  for (unsigned round = 0; round < ROUNDS; round++)
    for (uint32_t b = 0; b < flow->nblocks; b++)
      divergence->only_exits[b] = only_exits(vkernel, flow, divergence->only_exits, b);
}

/* Whether a block keeps its edge to `to`: not if that only exits, unless there is no other way on. */
static bool keeps_edge(const Divergence *divergence, const Flow *flow, uint32_t from, uint32_t to) {
  if (!divergence->only_exits[to])
    return true;
  for (uint32_t e = flow->out.start[from]; e < flow->out.start[from + 1]; e++)
    if (flow->out.to[e] != to && (!divergence->only_exits[flow->out.to[e]] || flow->out.to[e] < to))
      return false;
  return true;
}

static void keep_edges(Divergence *divergence, const Flow *flow, const FlowEdges *from, FlowEdges *to, bool forward) {
  to->start = g_new0(uint32_t, flow->nblocks + 1);
  to->to = g_new(uint32_t, from->start[flow->nblocks] + 1);
  uint32_t count = 0;
  for (uint32_t b = 0; b < flow->nblocks; b++) {
    for (uint32_t e = from->start[b]; e < from->start[b + 1]; e++) {
      uint32_t other = from->to[e];
      if (forward ? keeps_edge(divergence, flow, b, other) : keeps_edge(divergence, flow, other, b))
        to->to[count++] = other;
    }
    to->start[b + 1] = count;
  }
}

static void build_graph(Divergence *divergence, const VKernel *vkernel, const Flow *flow) {
  uint32_t n = flow->nblocks;
  Flow *graph = &divergence->flow;
  find_ends(divergence, vkernel, flow);
  graph->nblocks = n;
  graph->first = g_memdup2(flow->first, (n + 1) * sizeof *flow->first);
  graph->block_of = g_memdup2(flow->block_of, vkernel->insts->len * sizeof *flow->block_of);
  graph->reachable = g_memdup2(flow->reachable, n + 1);
  graph->exits = g_new0(uint8_t, n + 1);
  keep_edges(divergence, flow, &flow->out, &graph->out, true);
  keep_edges(divergence, flow, &flow->in, &graph->in, false);
  for (uint32_t b = 0; b < n; b++)
    graph->exits[b] = graph->out.start[b] == graph->out.start[b + 1];
  divergence->ipdom = flow_postdominators(graph);
}

/* -- values -- */

typedef struct Values {
  const VKernel *vkernel;
  Divergence *divergence;
  const Loops *loops;
  LiveRanges ranges;
  uint32_t first_pred;
  uint8_t *divergent;                 /* of each unit */
  uint32_t *start, *read;             /* the instructions that read each unit */
  uint32_t *write_start, *written_in; /* the blocks that write each unit, once for each time */
  uint8_t *crosses;                   /* of each unit: it is wanted where ways meet */
  Between uniform;                    /* blocks that write what crosses and isn't divergent yet */
  GArray *queue;                      /* uint32_t: units that became divergent */
  uint32_t *seen, *seen_too, stamp;
  GArray *region, *other, *joins;
  uint64_t steps;
} Values;

static void mark_unit(Values *values, uint32_t unit) {
  if (values->divergent[unit])
    return;
  values->divergent[unit] = 1;
  g_array_append_val(values->queue, unit);
  for (uint32_t w = values->write_start[unit]; values->crosses[unit] && w < values->write_start[unit + 1]; w++)
    between_remove(&values->uniform, values->written_in[w]);
}

enum { UNITS_MAX = 24 };

static unsigned units_of_uses(const Values *values, const VRegUse *uses, unsigned count, uint32_t *units) {
  unsigned n = 0;
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++)
      units[n++] = values->ranges.unit_of_reg[uses[u].reg] + uses[u].row + row;
  return n;
}

static unsigned units_of_preds(const Values *values, const int32_t *preds, unsigned count, uint32_t *units) {
  for (unsigned p = 0; p < count; p++)
    units[p] = values->first_pred + (uint32_t)preds[p];
  return count;
}

static unsigned units_read(const Values *values, const VInst *vinst, uint32_t units[UNITS_MAX]) {
  VRegUse uses[8];
  int32_t preds[4];
  unsigned n = units_of_uses(values, uses, vinst_reads(vinst, uses), units);
  return n + units_of_preds(values, preds, vinst_pred_reads(vinst, preds), units + n);
}

static unsigned units_written(const Values *values, const VInst *vinst, uint32_t units[UNITS_MAX]) {
  VRegUse uses[8];
  int32_t preds[2];
  unsigned n = units_of_uses(values, uses, vinst_writes(vinst, uses), units);
  return n + units_of_preds(values, preds, vinst_pred_writes(vinst, preds), units + n);
}

static void mark_results(Values *values, const VInst *vinst) {
  uint32_t units[UNITS_MAX];
  unsigned count = units_written(values, vinst, units);
  for (unsigned u = 0; u < count; u++)
    mark_unit(values, units[u]);
}

static bool is_lane_register(uint8_t special) {
  switch ((SpecialReg)special) {
  case SR_LANEID:
  case SR_TID_X:
  case SR_TID_Y:
  case SR_TID_Z:
  case SR_LANEMASK_EQ:
  case SR_LANEMASK_LT:
  case SR_LANEMASK_LE:
  case SR_LANEMASK_GT:
  case SR_LANEMASK_GE: return true;
  default: return false;
  }
}

/* An addition of 0, which is how a loop polls, and ptxas makes one operation of the lanes' (isa/flow/merge.h): all
 * get what it gives. */
static bool adds_nothing(const VKernel *vkernel, const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  if (inst->op != OP_ATOM || inst->mode != ATOM_ADD || inst->cmp != MERGE_COUNT || vinst->b >= 0)
    return false;
  const ConstRef *constant = &vkernel->kernel->consts[~vinst->b];
  return constant->kind == CONST_IMMEDIATE && constant->value == 0;
}

/* Results that differ between the lanes whatever the operands. The result of a barrier with reduction is the same in
 * all lanes, but ptxas doesn't use that. */
static bool makes_divergence(const VKernel *vkernel, const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  uint32_t flags = op_info[inst->op].flags;
  if (inst->flags & INST_CARRY_IN) /* the carry isn't followed */
    return true;
  switch (inst->op) {
  case OP_S2R: return is_lane_register(inst->mode);
  case OP_SHFL:
  case OP_ELECT:
  case OP_LDL:
  case OP_BAR:
  case OP_PRINTF:
  case OP_MALLOC: return true;
  case OP_MATCH: return inst->mode == MATCH_ANY;
  case OP_LD:
    return inst->space == MEM_LOCAL || (inst->space == MEM_GENERIC && vkernel->hands_out_local);
  default:
    return (flags & OPF_LOAD) && (flags & (OPF_ATOMIC | OPF_LOCK)) && !adds_nothing(vkernel, vinst) &&
           !inst_is_syncs(inst);
  }
}

/* All lanes get one result. */
static bool ends_divergence(const Inst *inst) {
  return inst->op == OP_VOTE || inst->op == OP_REDUX || (inst->op == OP_MATCH && inst->mode == MATCH_ALL);
}

typedef unsigned UnitsOf(const Values *values, const VInst *vinst, uint32_t units[UNITS_MAX]);

/* Which instructions (or their blocks) have a unit among `units_of`: those of unit u are found[start[u]] to
 * found[start[u + 1] - 1]. */
static void index_units(const Values *values, UnitsOf *units_of, bool blocks, uint32_t **starts, uint32_t **found) {
  uint32_t units[UNITS_MAX], n = values->ranges.nunits;
  uint32_t *start = *starts = g_new0(uint32_t, n + 2);
  for (guint i = 0; i < values->vkernel->insts->len; i++) {
    unsigned count = units_of(values, inst_at(values->vkernel, i), units);
    for (unsigned u = 0; u < count; u++)
      start[units[u] + 1]++;
  }
  for (uint32_t u = 0; u < n; u++)
    start[u + 1] += start[u];
  *found = g_new(uint32_t, start[n] + 1);
  for (guint i = 0; i < values->vkernel->insts->len; i++) {
    unsigned count = units_of(values, inst_at(values->vkernel, i), units);
    for (unsigned u = 0; u < count; u++)
      (*found)[start[units[u]]++] = blocks ? values->divergence->flow.block_of[i] : i;
  }
  for (uint32_t u = n; u > 0; u--)
    start[u] = start[u - 1];
  start[0] = 0;
}

/* Blocks in which ways meet. */
static uint8_t *find_joins(const Divergence *divergence) {
  const Flow *flow = &divergence->flow;
  uint8_t *joins = g_new0(uint8_t, flow->nblocks + 1);
  for (uint32_t b = 0; b < flow->nblocks; b++) {
    joins[b] |= flow->in.start[b + 1] - flow->in.start[b] > 1;
    if (divergence_forks(divergence, b) && divergence->ipdom[b] != NO_TARGET)
      joins[divergence->ipdom[b]] = 1;
  }
  return joins;
}

/* The next join from each block on, or the number of blocks. */
static uint32_t *find_next_joins(const Divergence *divergence) {
  g_autofree uint8_t *joins = find_joins(divergence);
  uint32_t n = divergence->flow.nblocks, *next = g_new(uint32_t, n + 1);
  next[n] = n;
  for (uint32_t b = n; b-- > 0;)
    next[b] = joins[b] ? b : next[b + 1];
  return next;
}

static bool lives_at_join(const Flow *flow, const uint32_t *next_join, Span span) {
  uint32_t block = flow->block_of[span.from / 2];
  uint32_t join = next_join[2 * flow->first[block] >= span.from ? block : block + 1];
  return join < flow->nblocks && 2 * flow->first[join] < span.to;
}

/* What never lives where ways meet can't depend on the way. */
static void find_crossing(Values *values) {
  const LiveRanges *ranges = &values->ranges;
  g_autofree uint32_t *next_join = find_next_joins(values->divergence);
  values->crosses = g_new0(uint8_t, ranges->nunits + 1);
  between_init(&values->uniform, &values->divergence->flow);
  for (uint32_t unit = 0; unit < ranges->nunits; unit++) {
    for (uint32_t s = ranges->start[unit]; s < ranges->start[unit + 1] && !values->crosses[unit]; s++)
      values->crosses[unit] =
          lives_at_join(&values->divergence->flow, next_join, g_array_index(ranges->spans, Span, s));
    for (uint32_t w = values->write_start[unit]; values->crosses[unit] && w < values->write_start[unit + 1]; w++)
      between_add(&values->uniform, values->written_in[w]);
  }
}

/* -- joins -- */

static void reach(const Divergence *divergence, uint32_t from, int32_t end, uint32_t *seen, uint32_t stamp,
                  GArray *region) {
  const Flow *flow = &divergence->flow;
  guint next = region->len;
  if ((int32_t)from == end || seen[from] == stamp)
    return;
  seen[from] = stamp;
  g_array_append_val(region, from);
  for (; next < region->len; next++) {
    uint32_t block = g_array_index(region, uint32_t, next);
    for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++) {
      uint32_t to = flow->out.to[e];
      if ((int32_t)to == end || seen[to] == stamp)
        continue;
      seen[to] = stamp;
      g_array_append_val(region, to);
    }
  }
}

void divergence_region(const Divergence *divergence, uint32_t block, uint32_t *seen, uint32_t stamp, GArray *region) {
  const Flow *flow = &divergence->flow;
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
    reach(divergence, flow->out.to[e], divergence->ipdom[block], seen, stamp, region);
}

static bool is_live_in(const Values *values, uint32_t unit, uint32_t block) {
  uint32_t at = 2 * values->divergence->flow.first[block];
  uint32_t low = values->ranges.start[unit], high = values->ranges.start[unit + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (g_array_index(values->ranges.spans, Span, middle).to <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low < values->ranges.start[unit + 1] && g_array_index(values->ranges.spans, Span, low).from <= at;
}

static void mark_written(Values *values, uint32_t block) {
  const Flow *flow = &values->divergence->flow;
  for (uint32_t i = flow->first[block]; i < flow->first[block + 1]; i++) {
    uint32_t units[UNITS_MAX];
    unsigned count = units_written(values, inst_at(values->vkernel, i), units);
    for (unsigned u = 0; u < count; u++)
      for (guint j = 0; values->crosses[units[u]] && j < values->joins->len && !values->divergent[units[u]]; j++)
        if (is_live_in(values, units[u], g_array_index(values->joins, uint32_t, j)))
          mark_unit(values, units[u]);
    values->steps += count * values->joins->len + 1;
  }
}

/* The loops that lanes leave here, in different rounds. */
static void add_headers(Values *values, uint32_t block) {
  const Flow *flow = &values->divergence->flow;
  for (int32_t loop = values->loops->loop_of[block]; loop != NO_TARGET; loop = values->loops->parent[loop]) {
    bool leaves = false;
    for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
      leaves |= !loops_contains(values->loops, (uint32_t)loop, flow->out.to[e]);
    if (!leaves)
      return;
    g_array_append_val(values->joins, loop);
  }
}

/* What is written between the branch and where its ways meet depends, there, on the way taken; what a loop writes, on
 * the round in which a lane left it. */
static void part(Values *values, uint32_t block) {
  const Divergence *divergence = values->divergence;
  const Flow *flow = &divergence->flow;
  int32_t end = divergence->ipdom[block];
  uint32_t e = flow->out.start[block];
  if (!between_any(&values->uniform, block, end))
    return;
  g_array_set_size(values->region, 0);
  g_array_set_size(values->other, 0);
  g_array_set_size(values->joins, 0);
  values->stamp++;
  reach(divergence, flow->out.to[e], end, values->seen, values->stamp, values->region);
  reach(divergence, flow->out.to[e + 1], end, values->seen_too, values->stamp, values->other);
  if (end != NO_TARGET)
    g_array_append_val(values->joins, end);
  for (guint i = 0; i < values->other->len; i++) {
    uint32_t there = g_array_index(values->other, uint32_t, i);
    if (values->seen[there] == values->stamp)
      g_array_append_val(values->joins, there);
    else
      g_array_append_val(values->region, there);
  }
  add_headers(values, block);
  for (guint i = 0; i < values->region->len && values->steps < REGION_STEPS_MAX; i++)
    mark_written(values, g_array_index(values->region, uint32_t, i));
}

/* What loops count around one whose lanes are in different rounds. */
static void part_rounds(Values *values) {
  const Loops *loops = values->loops;
  for (guint h = 0; h < loops->headers->len; h++) {
    uint32_t header = g_array_index(loops->headers, uint32_t, h);
    g_array_set_size(values->joins, 0);
    for (int32_t loop = loops->parent[header]; loop != NO_TARGET; loop = loops->parent[loop])
      g_array_append_val(values->joins, loop);
    if (!values->joins->len || !vkernel_is_apart(values->vkernel, &values->divergence->flow, header))
      continue;
    uint32_t outermost = g_array_index(values->joins, uint32_t, values->joins->len - 1);
    for (uint32_t b = 0; b < loops->nblocks && values->steps < REGION_STEPS_MAX; b++)
      if (loops_contains(loops, outermost, b) && !loops_contains(loops, header, b))
        mark_written(values, b);
  }
}

bool divergence_forks(const Divergence *divergence, uint32_t block) {
  return divergence->flow.out.start[block + 1] - divergence->flow.out.start[block] > 1;
}

static void use_divergent(Values *values, uint32_t i) {
  const VInst *vinst = inst_at(values->vkernel, i);
  uint32_t block = values->divergence->flow.block_of[i];
  bool branches = vinst->inst.op == OP_BRA || vinst->inst.op == OP_EXIT;
  if (branches && !values->divergence->branches[block]) {
    values->divergence->branches[block] = 1;
    if (divergence_forks(values->divergence, block))
      part(values, block);
  }
  if (!ends_divergence(&vinst->inst))
    mark_results(values, vinst);
}

static void take_all_for_divergent(Values *values) {
  memset(values->divergent, 1, values->ranges.nunits);
  for (guint i = 0; i < values->vkernel->insts->len; i++) {
    const VInst *vinst = inst_at(values->vkernel, i);
    if (vinst->guard != VPRED_TRUE && (vinst->inst.op == OP_BRA || vinst->inst.op == OP_EXIT))
      values->divergence->branches[values->divergence->flow.block_of[i]] = 1;
  }
}

static bool differs(const Values *values, int32_t reg, uint8_t first, uint8_t rows) {
  bool divergent = false;
  for (unsigned row = 0; reg >= 0 && reg != VREG_SINK && row < rows; row++)
    divergent |= values->divergent[values->ranges.unit_of_reg[reg] + first + row];
  return divergent;
}

static void note_operands(Values *values) {
  for (guint i = 0; i < values->vkernel->insts->len; i++) {
    const VInst *vinst = inst_at(values->vkernel, i);
    VOperands rows = vinst_operands(vinst);
    uint8_t *found = &values->divergence->differs[i];
    *found |= differs(values, vinst->a, vinst->a_row, rows.a) ? DIFFERS_A : 0;
    *found |= differs(values, vinst->b, vinst->b_row, rows.b) ? DIFFERS_B : 0;
    *found |= differs(values, vinst->c, vinst->c_row, rows.c) ? DIFFERS_C : 0;
  }
}

static void find_divergent_branches(Divergence *divergence, const VKernel *vkernel, const Flow *flow,
                                    const Loops *loops) {
  Values values = {.vkernel = vkernel,
                   .divergence = divergence,
                   .loops = loops,
                   .queue = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
  bool ok = live_ranges_init(&values.ranges, vkernel, flow);
  values.first_pred = values.ranges.unit_of_reg[vkernel->rows->len];
  values.divergent = g_new0(uint8_t, values.ranges.nunits + 1);
  values.seen = g_new0(uint32_t, flow->nblocks + 1);
  values.seen_too = g_new0(uint32_t, flow->nblocks + 1);
  values.region = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  values.other = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  values.joins = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  index_units(&values, units_read, false, &values.start, &values.read);
  index_units(&values, units_written, true, &values.write_start, &values.written_in);
  if (ok)
    find_crossing(&values);
  for (guint i = 0; ok && i < vkernel->insts->len; i++)
    if (makes_divergence(vkernel, inst_at(vkernel, i)))
      mark_results(&values, inst_at(vkernel, i));
  if (ok)
    part_rounds(&values);
  while (ok && values.queue->len && values.steps < REGION_STEPS_MAX) {
    uint32_t unit = g_array_index(values.queue, uint32_t, values.queue->len - 1);
    g_array_set_size(values.queue, values.queue->len - 1);
    for (uint32_t r = values.start[unit]; r < values.start[unit + 1]; r++)
      use_divergent(&values, values.read[r]);
  }
  if (!ok || values.queue->len)
    take_all_for_divergent(&values);
  note_operands(&values);
  live_ranges_clear(&values.ranges);
  GArray *const arrays[] = {values.queue, values.region, values.other, values.joins};
  for (unsigned i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_unref(arrays[i]);
  g_free(values.divergent);
  g_free(values.seen);
  g_free(values.seen_too);
  g_free(values.start);
  g_free(values.read);
  g_free(values.write_start);
  g_free(values.written_in);
  g_free(values.crosses);
  between_clear(&values.uniform);
}

/* -- blocks -- */

/* Blocks whose execution a branch in `block` decides: up the post-dominator tree from each successor. */
static void mark_controlled(Divergence *divergence, uint32_t block, GArray *queue) {
  const Flow *flow = &divergence->flow;
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
    for (int32_t b = (int32_t)flow->out.to[e]; b != NO_TARGET && b != divergence->ipdom[block];
         b = divergence->ipdom[b])
      if (!divergence->diverged[b]) {
        divergence->diverged[b] = 1;
        g_array_append_val(queue, b);
      }
}

static void find_diverged_blocks(Divergence *divergence) {
  g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t b = 0; b < divergence->flow.nblocks; b++)
    if (divergence->branches[b] && divergence_forks(divergence, b))
      mark_controlled(divergence, b, queue);
  while (queue->len) {
    uint32_t block = g_array_index(queue, uint32_t, queue->len - 1);
    g_array_set_size(queue, queue->len - 1);
    if (divergence_forks(divergence, block))
      mark_controlled(divergence, block, queue);
  }
}

void divergence_init(Divergence *divergence, const VKernel *vkernel, const Flow *flow, const Loops *loops) {
  *divergence = (Divergence){0};
  build_graph(divergence, vkernel, flow);
  divergence->branches = g_new0(uint8_t, flow->nblocks + 1);
  divergence->diverged = g_new0(uint8_t, flow->nblocks + 1);
  divergence->differs = g_new0(uint8_t, vkernel->insts->len + 1);
  find_divergent_branches(divergence, vkernel, flow, loops);
  find_diverged_blocks(divergence);
}

void divergence_clear(Divergence *divergence) {
  flow_clear(&divergence->flow);
  g_free(divergence->ipdom);
  g_free(divergence->branches);
  g_free(divergence->diverged);
  g_free(divergence->differs);
  g_free(divergence->only_exits);
  *divergence = (Divergence){0};
}
