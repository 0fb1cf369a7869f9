#include "isa/flow/flow.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXTS_PER_BLOCK = 64, CONTEXTS_SPARE = 100000, DEPTH_MAX = 64 };

/* A stack of targets, as its top entry; equal stacks are the same node. */
typedef struct Frame {
  const struct Frame *below;
  uint16_t op; /* OP_SSY, OP_PBK, OP_PCNT, OP_CAL */
  uint16_t depth;
  uint32_t target; /* ninsts: a CAL at the very end */
} Frame;

/* A stack under which a block has been walked. */
typedef struct Context {
  const Frame *top;
  uint32_t block, next; /* next: index + 1 of the block's next context */
} Context;

typedef struct Edge {
  uint32_t from, to;
} Edge;

typedef struct Walk {
  const Kernel *kernel;
  Flow *flow;
  GHashTable *frames;
  GArray *contexts; /* also the queue */
  uint32_t *heads;  /* index + 1 of each block's newest context */
  uint8_t *counts;
  guint limit;
  GArray *edges;
  bool reachable; /* the walk began at the first instruction */
} Walk;

static guint hash_frame(gconstpointer key) {
  const Frame *frame = key;
  return g_direct_hash(frame->below) * 31u + frame->target * 7u + frame->op;
}

static gboolean equal_frames(gconstpointer x, gconstpointer y) {
  const Frame *a = x, *b = y;
  return a->below == b->below && a->op == b->op && a->target == b->target;
}

/* A push of what the stack already holds is a loop (or recursion) that pushes once more: back to that entry. For an
 * SSY on top nothing is lost: its target pops them all. */
static const Frame *push(Walk *walk, const Frame *top, Opcode op, uint32_t target) {
  for (const Frame *frame = top; frame; frame = frame->below)
    if (frame->op == op && frame->target == target) {
      walk->flow->incomplete |= frame != top || op != OP_SSY;
      return frame;
    }
  Frame key = {.below = top, .op = (uint16_t)op, .depth = (uint16_t)(top ? top->depth + 1 : 1), .target = target};
  if (key.depth > DEPTH_MAX) {
    walk->flow->incomplete = true;
    return top;
  }
  Frame *known = g_hash_table_lookup(walk->frames, &key);
  if (!known) {
    known = g_memdup2(&key, sizeof key);
    g_hash_table_add(walk->frames, known);
  }
  return known;
}

static const Frame *innermost(const Frame *top, Opcode op) {
  while (top && top->op != op)
    top = top->below;
  return top;
}

/* The path goes to instruction `to` with the stack `top`. */
static void go(Walk *walk, uint32_t from, uint32_t to, const Frame *top) {
  Flow *flow = walk->flow;
  uint32_t block = flow->block_of[from];
  if (to >= walk->kernel->ninsts) {
    flow->exits[block] = 1;
    if (walk->reachable && flow->past_end == NO_TARGET)
      flow->past_end = (int32_t)from;
    return;
  }
  Edge edge = {block, flow->block_of[to]};
  g_array_append_val(walk->edges, edge);
  /* A path that reaches the target of the top SSY has joined. */
  while (top && top->op == OP_SSY && top->target == to)
    top = top->below;
  for (uint32_t i = walk->heads[edge.to]; i; i = g_array_index(walk->contexts, Context, i - 1).next)
    if (g_array_index(walk->contexts, Context, i - 1).top == top)
      return;
  if (walk->counts[edge.to] == CONTEXTS_PER_BLOCK || (walk->counts[edge.to] && walk->contexts->len >= walk->limit)) {
    flow->incomplete = true;
    return;
  }
  Context context = {.top = top, .block = edge.to, .next = walk->heads[edge.to]};
  g_array_append_val(walk->contexts, context);
  walk->heads[edge.to] = walk->contexts->len;
  walk->counts[edge.to]++;
}

/* BRK, CONT, RET: to the innermost target of that kind, or out of the program if there is none. */
static void leave(Walk *walk, uint32_t pc, const Frame *top, Opcode kind) {
  const Frame *frame = innermost(top, kind);
  if (frame)
    go(walk, pc, frame->target, frame->below);
  else
    walk->flow->exits[walk->flow->block_of[pc]] = 1;
}

/* Where control goes from the last instruction of a block. */
static void end_block(Walk *walk, uint32_t pc, const Frame *top) {
  const Inst *inst = &walk->kernel->insts[pc];
  bool never = inst->guard == PRED_TRUE && (inst->flags & INST_GUARD_NOT), falls = inst_is_guarded(inst);
  const Frame *join = inst->flags & INST_POP ? innermost(top, OP_SSY) : NULL;
  if (join)
    go(walk, pc, join->target, join->below);
  switch (never ? OP_NOP : (Opcode)inst->op) {
  case OP_BRA:
    if (inst->target != NO_TARGET)
      go(walk, pc, (uint32_t)inst->target, top);
    break;
  case OP_BRADIV:
    go(walk, pc, (uint32_t)inst->target, top);
    falls = true;
    break;
  case OP_BRX:
    for (uint32_t i = 0; i < walk->kernel->njumps; i++)
      go(walk, pc, walk->kernel->jumps[i], top);
    break;
  case OP_CAL:
    if (inst->target != NO_TARGET)
      go(walk, pc, (uint32_t)inst->target, push(walk, top, OP_CAL, pc + 1));
    break;
  case OP_BRK: leave(walk, pc, top, OP_PBK); break;
  case OP_CONT: leave(walk, pc, top, OP_PCNT); break;
  case OP_RET: leave(walk, pc, top, OP_CAL); break;
  case OP_EXIT: walk->flow->exits[walk->flow->block_of[pc]] = 1; break;
  default: falls = true; break;
  }
  if (falls && !join)
    go(walk, pc, pc + 1, top);
}

static void walk_block(Walk *walk, Context context) {
  const Flow *flow = walk->flow;
  const Frame *top = context.top;
  uint32_t last = flow->first[context.block + 1] - 1;
  flow->reachable[context.block] |= walk->reachable;
  for (uint32_t pc = flow->first[context.block]; pc <= last; pc++) {
    const Inst *inst = &walk->kernel->insts[pc];
    if ((inst->op == OP_SSY || inst->op == OP_PBK || inst->op == OP_PCNT) && inst->target != NO_TARGET)
      top = push(walk, top, inst->op, (uint32_t)inst->target);
  }
  end_block(walk, last, top);
}

/* The queue grows while it is worked through. */
static void walk_from(Walk *walk, uint32_t block) {
  guint next = walk->contexts->len;
  Context root = {.block = block};
  g_array_append_val(walk->contexts, root);
  walk->heads[block] = walk->contexts->len;
  walk->counts[block]++;
  for (; next < walk->contexts->len; next++)
    walk_block(walk, g_array_index(walk->contexts, Context, next));
}

static bool ends_block(const Inst *inst) {
  return (op_info[inst->op].flags & OPF_BRANCH) || inst->op == OP_CAL || (inst->flags & INST_POP);
}

static void find_blocks(Flow *flow, const Kernel *kernel) {
  uint32_t n = kernel->ninsts;
  g_autofree uint8_t *leads = g_new0(uint8_t, n + 1);
  leads[0] = 1;
  for (uint32_t i = 0; i < n; i++) {
    if (ends_block(&kernel->insts[i]))
      leads[i + 1] = 1;
    if (kernel->insts[i].target != NO_TARGET)
      leads[kernel->insts[i].target] = 1;
  }
  for (uint32_t i = 0; i < n; i++)
    flow->nblocks += leads[i];
  flow->first = g_new(uint32_t, flow->nblocks + 1);
  flow->block_of = g_new(uint32_t, n);
  uint32_t block = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (leads[i])
      flow->first[block++] = i;
    flow->block_of[i] = block - 1;
  }
  flow->first[flow->nblocks] = n;
}

static int compare_edges(gconstpointer x, gconstpointer y) {
  const Edge *a = x, *b = y;
  if (a->from != b->from)
    return a->from < b->from ? -1 : 1;
  return a->to < b->to ? -1 : a->to > b->to;
}

/* Sorted by block, duplicates gone. */
static void fill_rows(FlowEdges *rows, GArray *edges, uint32_t nblocks) {
  if (edges->len)
    qsort(edges->data, edges->len, sizeof(Edge), compare_edges);
  rows->start = g_new0(uint32_t, nblocks + 1);
  rows->to = g_new(uint32_t, edges->len ? edges->len : 1);
  uint32_t count = 0;
  for (guint i = 0; i < edges->len; i++) {
    Edge edge = g_array_index(edges, Edge, i);
    if (i && compare_edges(&edge, &g_array_index(edges, Edge, i - 1)) == 0)
      continue;
    rows->to[count++] = edge.to;
    rows->start[edge.from + 1] = count;
  }
  for (uint32_t b = 1; b <= nblocks; b++)
    rows->start[b] = MAX(rows->start[b], rows->start[b - 1]);
}

static void fill_edges(Flow *flow, GArray *edges) {
  fill_rows(&flow->out, edges, flow->nblocks);
  for (guint i = 0; i < edges->len; i++) {
    Edge *edge = &g_array_index(edges, Edge, i);
    *edge = (Edge){edge->to, edge->from};
  }
  fill_rows(&flow->in, edges, flow->nblocks);
}

void flow_init(Flow *flow, const Kernel *kernel) {
  *flow = (Flow){.past_end = NO_TARGET};
  find_blocks(flow, kernel);
  flow->exits = g_new0(uint8_t, flow->nblocks + 1);
  flow->reachable = g_new0(uint8_t, flow->nblocks + 1);
  Walk walk = {
      .kernel = kernel,
      .flow = flow,
      .frames = g_hash_table_new_full(hash_frame, equal_frames, g_free, NULL),
      .contexts = g_array_new(FALSE, FALSE, sizeof(Context)),
      .heads = g_new0(uint32_t, flow->nblocks + 1),
      .counts = g_new0(uint8_t, flow->nblocks + 1),
      .limit = 2 * flow->nblocks + CONTEXTS_SPARE,
      .edges = g_array_new(FALSE, FALSE, sizeof(Edge)),
      .reachable = true,
  };
  for (uint32_t b = 0; b < flow->nblocks; b++) {
    if (walk.counts[b] == 0)
      walk_from(&walk, b);
    walk.reachable = false;
  }
  fill_edges(flow, walk.edges);
  g_hash_table_unref(walk.frames);
  g_array_unref(walk.contexts);
  g_array_unref(walk.edges);
  g_free(walk.heads);
  g_free(walk.counts);
}

/* True if the edge from `pc` to instruction `to` is one into a function or back. */
static bool changes_function(const Kernel *kernel, uint32_t pc, uint32_t to) {
  const Inst *inst = &kernel->insts[pc];
  if (to == pc + 1)
    return false;
  if (inst->op == OP_CAL)
    return (int32_t)to == inst->target;
  return inst->op == OP_RET && to > 0 && kernel->insts[to - 1].op == OP_CAL;
}

void flow_init_within_functions(Flow *local, const Flow *flow, const Kernel *kernel) {
  uint32_t nblocks = flow->nblocks;
  *local = (Flow){.nblocks = nblocks, .incomplete = flow->incomplete, .past_end = flow->past_end};
  local->first = g_memdup2(flow->first, (nblocks + 1) * sizeof *flow->first);
  local->block_of = g_memdup2(flow->block_of, kernel->ninsts * sizeof *flow->block_of);
  local->exits = g_memdup2(flow->exits, nblocks + 1);
  local->reachable = g_memdup2(flow->reachable, nblocks + 1);
  g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(Edge));
  for (uint32_t b = 0; b < nblocks; b++) {
    uint32_t last = flow->first[b + 1] - 1;
    const Inst *inst = &kernel->insts[last];
    bool never = inst->guard == PRED_TRUE && (inst->flags & INST_GUARD_NOT);
    for (uint32_t e = flow->out.start[b]; e < flow->out.start[b + 1]; e++) {
      Edge edge = {b, flow->out.to[e]};
      if (never || !changes_function(kernel, last, flow->first[edge.to]))
        g_array_append_val(edges, edge);
    }
    Edge behind = {b, b + 1};
    if (!never && inst->op == OP_CAL && behind.to < nblocks)
      g_array_append_val(edges, behind);
    else if (!never && (inst->op == OP_CAL || inst->op == OP_RET))
      local->exits[b] = 1;
  }
  fill_edges(local, edges);
}

void flow_clear(Flow *flow) {
  g_free(flow->first);
  g_free(flow->block_of);
  g_free(flow->out.start);
  g_free(flow->out.to);
  g_free(flow->in.start);
  g_free(flow->in.to);
  g_free(flow->exits);
  g_free(flow->reachable);
  *flow = (Flow){0};
}
